/* Reports: the keys of the JSON form, and the lines of the text form. */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"
#include "streaming.h"

/* ---- JSON ---- */

static const char *const region_names[TW_MAX_REGIONS] = {"constant", "fast", "state", "slow"};

static void set_number(json_t *object, const char *key, uint64_t number)
{
    json_object_set_new(object, key, json_integer((json_int_t)number));
}

json_t *cli_json_tensors(const tw_report_tensor *tensors, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "name", cli_json_text(tensors[i].name));
        json_object_set_new(one, "dtype", json_string(tw_dtype_name(tensors[i].dtype)));
        json_object_set_new(one, "shape", cli_json_shape(tensors[i].rank, tensors[i].dim));
        if (tensors[i].scale > 0) {
            json_object_set_new(one, "scale", json_real((double)tensors[i].scale));
            json_object_set_new(one, "zero_point", json_integer(tensors[i].zero_point));
        }
        json_array_append_new(array, one);
    }
    return array;
}

/* By memory: {fast, slow, state, flash}, each {read, written}. */
json_t *cli_json_traffic(const tw_traffic *traffic)
{
    json_t *object = json_object();
    for (int r = 0; r < TW_MAX_REGIONS; r++) {
        json_t *one = json_object();
        set_number(one, "read", traffic->read[r]);
        set_number(one, "written", traffic->written[r]);
        json_object_set_new(object, r == TW_REGION_CONSTANT ? "flash" : region_names[r], one);
    }
    return object;
}

static json_t *json_segments(const tw_report *r)
{
    json_t *array = json_array();
    for (int i = 0; i < r->segment_count; i++) {
        const tw_report_segment *s = &r->segments[i];
        json_t *one = json_object(), *operators = json_array();
        for (uint32_t k = 0; k < s->step_count && (int)(s->first_step + k) < r->step_count; k++)
            json_array_append_new(operators, cli_json_text(r->steps[s->first_step + k].name));
        json_object_set_new(one, "operators", operators);
        json_object_set_new(one, "kind", json_string(s->rolling ? "rolling" : "whole"));
        set_number(one, "first_step", s->first_step);
        set_number(one, "step_count", s->step_count);
        set_number(one, "axis", s->axis);
        set_number(one, "band_rows", s->band_rows);
        set_number(one, "band_columns", s->columns);
        set_number(one, "bytes", s->bytes);
        set_number(one, "macs_recomputed", s->macs_recomputed);
        json_array_append_new(array, one);
    }
    return array;
}

static json_t *json_steps(const tw_report *r)
{
    json_t *array = json_array();
    for (int i = 0; i < r->step_count; i++) {
        const tw_report_step *s = &r->steps[i];
        json_t *one = json_object();
        json_object_set_new(one, "name", cli_json_text(s->name));
        json_object_set_new(one, "operator", cli_json_text(s->operator_name));
        json_object_set_new(one, "backend", cli_json_text(s->backend));
        json_object_set_new(one, "dtype", json_string(tw_dtype_name(s->dtype)));
        json_object_set_new(one, "shape", cli_json_shape(s->rank, s->dim));
        set_number(one, "segment", s->segment);
        set_number(one, "band_rows", s->band_rows);
        set_number(one, "scratch", s->scratch);
        set_number(one, "step_memory", s->memory);
        set_number(one, "constants", s->constant_bytes);
        set_number(one, "live", s->live_bytes);
        set_number(one, "macs", s->macs);
        json_object_set_new(one, "again", json_boolean(s->again));
        set_number(one, "calls", s->calls);
        set_number(one, "cycles", (uint64_t)s->cycles);
        json_object_set_new(one, "traffic", cli_json_traffic(&s->traffic));
        json_array_append_new(array, one);
    }
    return array;
}

static const char *const use_names[] = {
    [TW_BUFFER_ACTIVATION] = "activation", [TW_BUFFER_SCRATCH] = "scratch",
    [TW_BUFFER_MEMORY] = "step memory",    [TW_BUFFER_STATE] = "state",
    [TW_BUFFER_CONTEXT] = "context",
};

static json_t *json_buffers(const tw_report *r)
{
    json_t *array = json_array();
    for (int i = 0; i < r->buffer_count; i++) {
        const tw_report_buffer *b = &r->buffers[i];
        json_t *one = json_object();
        json_object_set_new(one, "name", cli_json_text(b->name));
        json_object_set_new(one, "use", json_string(use_names[b->use]));
        json_object_set_new(one, "memory", json_string(region_names[b->region % TW_MAX_REGIONS]));
        set_number(one, "offset", b->offset);
        set_number(one, "bytes", b->bytes);
        set_number(one, "first_step", b->first_step);
        set_number(one, "last_step", b->last_step);
        json_object_set_new(one, "input", json_boolean(b->is_input));
        json_object_set_new(one, "output", json_boolean(b->is_output));
        json_array_append_new(array, one);
    }
    return array;
}

static json_t *json_targets(const tw_report *r)
{
    json_t *array = json_array();
    for (int i = 0; i < r->target_count; i++) {
        const tw_report_target *t = &r->targets[i];
        json_t *one = json_object();
        json_object_set_new(one, "name", json_string(t->name));
        set_number(one, "native", (uint64_t)t->native);
        set_number(one, "fallback", (uint64_t)t->fallback);
        set_number(one, "scratch", t->scratch);
        set_number(one, "flash", t->flash);
        json_array_append_new(array, one);
    }
    return array;
}

static json_t *json_states(const tw_report *r)
{
    json_t *array = json_array();
    for (int i = 0; i < r->state_candidate_count; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "output", cli_json_text(r->state_candidates[i].output));
        json_object_set_new(one, "input", cli_json_text(r->state_candidates[i].input));
        json_array_append_new(array, one);
    }
    return array;
}

static const struct {
    const char *word, *sentence;
} float_reasons[] = {
    [TW_FLOAT_NO_FORM] = {"no-int8-form", "which has no int8 form"},
    [TW_FLOAT_NO_SCALE] = {"no-scale", "whose operands or result the model gives no scale"},
    [TW_FLOAT_REFUSED] = {"refused", "whose int8 form does not take these scales or extents"},
};

static json_t *json_float_steps(const tw_report *r)
{
    json_t *array = json_array();
    for (int i = 0; i < r->float_step_count; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "name", cli_json_text(r->float_steps[i].name));
        json_object_set_new(one, "operator", json_string(r->float_steps[i].operator_name));
        json_object_set_new(one, "reason",
                            json_string(float_reasons[r->float_steps[i].reason].word));
        json_array_append_new(array, one);
    }
    return array;
}

static json_t *json_pareto(const tw_report *r)
{
    json_t *array = json_array();
    for (int i = 0; i < r->pareto_count; i++) {
        json_t *one = json_object();
        set_number(one, "budget", r->pareto[i].budget);
        json_object_set_new(one, "cost", json_real(r->pareto[i].cost));
        json_array_append_new(array, one);
    }
    return array;
}

void cli_report_json(const tw_report *r, json_t *object)
{
    json_object_set_new(object, "model", cli_json_text(r->model_name));
    json_object_set_new(object, "format", cli_json_text(r->format));
    set_number(object, "operators", (uint64_t)r->operators);
    set_number(object, "parameters", r->parameters);
    json_object_set_new(object, "inputs", cli_json_tensors(r->inputs, r->input_count));
    json_object_set_new(object, "outputs", cli_json_tensors(r->outputs, r->output_count));
    if (!r->planned)
        return;
    if (r->stream.given)
        json_object_set_new(object, "stream", cli_json_stream(r));
    if (r->state_candidate_count > 0)
        json_object_set_new(object, "state_candidates", json_states(r));
    json_object_set_new(object, "fits", json_boolean(r->fits));
    json_t *memory = json_object(), *flash = json_object(), *slow = json_object();
    set_number(memory, "total", r->memory.total);
    set_number(memory, "activations", r->memory.activations);
    set_number(memory, "scratch", r->memory.scratch);
    set_number(memory, "state", r->memory.state);
    set_number(memory, "context", r->memory.context);
    /* Nothing is known of it before a compiler has seen the firmware: `make stack` in codegen's program. */
    json_object_set_new(memory, "stack", json_null());
    json_object_set_new(object, "memory", memory);
    set_number(flash, "weights", r->flash.weights);
    set_number(flash, "plan", r->flash.plan);
    set_number(flash, "total", r->flash.total);
    json_object_set_new(object, "flash", flash);
    if (r->target_count)
        json_object_set_new(object, "backends", json_targets(r));
    set_number(object, "layerwise", r->layerwise);
    set_number(object, "bound", r->bound);
    set_number(object, "macs", r->macs);
    set_number(object, "macs_recomputed", r->macs_recomputed);
    set_number(slow, "bytes", r->slow.bytes);
    set_number(slow, "traffic_read", r->slow.traffic_read);
    set_number(slow, "traffic_written", r->slow.traffic_written);
    json_object_set_new(object, "slow", slow);
    json_object_set_new(object, "traffic", cli_json_traffic(&r->traffic));
    set_number(object, "calls", r->calls);
    set_number(object, "cycles", (uint64_t)r->cycles);
    json_object_set_new(object, "limits", cli_json_limits(r));
    set_number(object, "smallest_budget", r->smallest_budget);
    set_number(object, "transposes", (uint64_t)r->transposes);
    set_number(object, "boundary_transposes", (uint64_t)r->boundary_transposes);
    json_object_set_new(object, "float_steps", json_float_steps(r));
    if (r->pareto_count)
        json_object_set_new(object, "pareto", json_pareto(r));
    json_object_set_new(object, "segments", json_segments(r));
    json_object_set_new(object, "steps", json_steps(r));
    json_object_set_new(object, "buffers", json_buffers(r));
}

/* ---- text ---- */

/* The segments that roll, a line each. */
void cli_report_rolling(const tw_report *r, FILE *file)
{
    char bytes[32];
    for (int i = 0; i < r->segment_count; i++) {
        const tw_report_segment *s = &r->segments[i];
        char steps[48];
        if (!s->rolling)
            continue;
        if (s->step_count == 1)
            snprintf(steps, sizeof steps, "step %u", s->first_step);
        else
            snprintf(steps, sizeof steps, "steps %u to %u", s->first_step,
                     s->first_step + s->step_count - 1);
        fprintf(file, "rolling: %s by %s of axis %u, %u at a time, %s bytes\n", steps,
                s->columns ? "columns" : "rows", s->columns ? s->axis + 1 : s->axis,
                s->columns ? s->columns : s->band_rows, cli_grouped(s->bytes, bytes));
    }
}

void cli_report_float_steps(const tw_report *r, FILE *file)
{
    enum { MOST = 8 };
    char name[CLI_VISIBLE];
    for (int i = 0; i < r->float_step_count && i < MOST; i++) {
        const tw_report_float_step *s = &r->float_steps[i];
        fprintf(file, "in float32, dequantised before and quantised behind: %s (%s), %s\n",
                cli_visible(s->name, name), s->operator_name, float_reasons[s->reason].sentence);
    }
    if (r->float_step_count > MOST)
        fprintf(file, "in float32, likewise: %d more operators\n", r->float_step_count - MOST);
}

void cli_report_totals(const tw_report *r, FILE *file)
{
    char a[32], b[32], c[32], d[32], e[32];
    fprintf(file, "RAM    %s bytes (activations %s, scratch %s, state %s, context %s)\n",
            cli_grouped(r->memory.total, a), cli_grouped(r->memory.activations, b),
            cli_grouped(r->memory.scratch, c), cli_grouped(r->memory.state, d),
            cli_grouped(r->memory.context, e));
    if (r->slow.bytes)
        fprintf(file, "slow   %s of these bytes, %s read and %s written a run\n",
                cli_grouped(r->slow.bytes, a), cli_grouped(r->slow.traffic_read, b),
                cli_grouped(r->slow.traffic_written, c));
    fprintf(file, "flash  %s bytes (weights %s, plan %s)\n", cli_grouped(r->flash.total, a),
            cli_grouped(r->flash.weights, b), cli_grouped(r->flash.plan, c));
    for (int i = 0; i < r->target_count; i++)
        fprintf(file, "%s: %d of %d steps native, scratch %s, firmware's plan %s bytes\n",
                r->targets[i].name, r->targets[i].native,
                r->targets[i].native + r->targets[i].fallback,
                cli_grouped(r->targets[i].scratch, a), cli_grouped(r->targets[i].flash, b));
    cli_report_streaming(r, file);
}

void cli_report_traffic(const tw_report *r, FILE *file)
{
    char a[32], b[32], c[32], d[32], e[32];
    fprintf(
        file,
        "a run  %s calls of kernels, %s multiply-accumulates done twice; %s bytes read, %s "
        "written, %s of flash read\n",
        cli_grouped(r->calls, a), r->macs_recomputed ? cli_grouped(r->macs_recomputed, e) : "no",
        cli_grouped(r->traffic.read[TW_REGION_FAST] + r->traffic.read[TW_REGION_STATE], b),
        cli_grouped(r->traffic.written[TW_REGION_FAST] + r->traffic.written[TW_REGION_STATE], c),
        cli_grouped(r->traffic.read[TW_REGION_CONSTANT], d));
}

/* The steps that compute what another has computed, and what share of the network that is. */
void cli_report_again(const tw_report *r, FILE *file)
{
    enum { MOST = 8 };
    char name[CLI_VISIBLE];
    int count = 0;
    for (int i = 0; i < r->step_count; i++) {
        if (!r->steps[i].again || count++ >= MOST)
            continue;
        fprintf(file, "%s%s",
                count == 1 ? "computed again, so that tensors need not be held: " : ", ",
                cli_visible(r->steps[i].name, name));
    }
    if (count > MOST)
        fprintf(file, " and %d more", count - MOST);
    if (count && r->macs)
        fprintf(file, "; %.1f%% more multiply-accumulates",
                100.0 * (double)r->macs_recomputed / (double)r->macs);
    if (count)
        fputc('\n', file);
}

/* Segments that run whole one behind the other are one row of the table. */
static int alike(const tw_report *r, int from)
{
    int count = 1;
    while (!r->segments[from].rolling && from + count < r->segment_count &&
           !r->segments[from + count].rolling)
        count++;
    return count;
}

static void print_segments(const tw_report *r, int from, int count, FILE *file)
{
    const tw_report_segment *s = &r->segments[from], *last = &r->segments[from + count - 1];
    const uint32_t end = last->first_step + last->step_count;
    char steps[32], how[48], text[4][32];
    uint64_t calls = 0, macs = 0, moved = 0;
    uint32_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes = s[i].bytes > bytes ? s[i].bytes : bytes;
    for (uint32_t i = s->first_step; i < end; i++) {
        const tw_traffic *t = &r->steps[i].traffic;
        calls += r->steps[i].calls;
        macs += r->steps[i].macs;
        for (int region = 0; region < TW_MAX_REGIONS; region++)
            moved += t->read[region] + t->written[region];
    }
    snprintf(steps, sizeof steps, end - s->first_step > 1 ? "%u to %u" : "%u", s->first_step,
             end - 1);
    if (s->rolling)
        snprintf(how, sizeof how, "%s of axis %u, %u at a time", s->columns ? "columns" : "rows",
                 s->columns ? s->axis + 1 : s->axis, s->columns ? s->columns : s->band_rows);
    fprintf(file, "  %-12s %-28s %8s %14s %14s %12s\n", steps, s->rolling ? how : "whole",
            cli_grouped(calls, text[0]), cli_grouped(macs, text[1]), cli_grouped(moved, text[2]),
            cli_grouped(bytes, text[3]));
}

void cli_report_segments(const tw_report *r, FILE *file)
{
    if (r->step_count == 0)
        return;
    fprintf(file, "  %-12s %-28s %8s %14s %14s %12s\n", "steps", "run", "calls", "macs",
            "bytes moved", "bytes held");
    for (int i = 0, count = 0; i < r->segment_count; i += count) {
        count = alike(r, i);
        print_segments(r, i, count, file);
    }
}

/* Exactly `width` characters for a name, its end where it is longer. */
static void print_name(FILE *file, const char *name, int width)
{
    char room[CLI_VISIBLE];
    fprintf(file, "%-*s", width, cli_short(name, width, room));
}

/* A bar of `most` characters for value / peak. */
static void print_bar(FILE *file, uint64_t value, uint64_t peak, int most, bool unicode)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    uint64_t parts = peak ? value * (uint64_t)most * 8 / peak : 0;
    for (uint64_t i = 0; i < parts / 8; i++)
        fputs(unicode ? "█" : "#", file);
    if (unicode)
        fputs(eighths[parts % 8], file);
}

void cli_report_steps(const tw_report *r, const cli_terminal *terminal, FILE *file)
{
    enum { FIXED = 82, NARROWEST = 8, WIDEST = 30 };
    char shape[80], live[32], macs[32];
    uint32_t peak = 0;
    int bar = terminal->width - FIXED;
    for (int i = 0; i < r->step_count; i++)
        peak = r->steps[i].live_bytes > peak ? r->steps[i].live_bytes : peak;
    fprintf(file, "step  %-22s %-17s %-14s %10s  %10s\n", "name", "operator", "output", "macs",
            "live bytes");
    for (int i = 0; i < r->step_count; i++) {
        const tw_report_step *s = &r->steps[i];
        fprintf(file, "%4d  ", i);
        print_name(file, s->name, 22);
        fprintf(file, " %-17.17s %-14s %10s  %10s", s->operator_name,
                cli_shape_text(s->rank, s->dim, shape), cli_grouped(s->macs, macs),
                cli_grouped(s->live_bytes, live));
        if (bar >= NARROWEST && s->live_bytes) {
            fputc(' ', file);
            print_bar(file, s->live_bytes, peak, bar > WIDEST ? WIDEST : bar, terminal->unicode);
        }
        fputc('\n', file);
    }
}
