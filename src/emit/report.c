/* The report: what the plan does with memory, for people and scripts. */
#include <string.h>

#include "backends/cost.h"
#include "emit/emit.h"
#include "ops/ledger.h"
#include "plan/by_rows.h"

static uint32_t constant_bytes_of(const tw_schedule *s, const tw_step *step)
{
    uint32_t bytes = 0;
    for (int i = 0; i < step->node->in_count; i++) {
        const tw_value *v = step->node->in[i];
        if (v && s->places[v->index].buffer < 0 && !tw_is_unread(&step->lowering, i))
            bytes += tw_shape_bytes(&v->shape);
    }
    for (int i = 0; i < step->lowering.blob_count; i++)
        bytes += step->lowering.blob[i].bytes;
    return bytes;
}

static void report_steps(const tw_schedule *s, tw_report *report)
{
    tw_report_step *rows = tw_alloc_array(s->arena, (size_t)s->step_count + 1, sizeof *rows);
    for (int i = 0; i < s->step_count; i++) {
        const tw_step *step = &s->steps[i];
        const tw_node *node = step->node;
        tw_report_step *r = &rows[i];
        r->name = node->name;
        r->operator_name = node->op->name;
        r->backend = s->targets[0].backend->name;
        r->kernel = step->lowering.kernel->id;
        r->segment = (uint32_t)step->segment;
        r->dtype = node->out[0]->shape.dtype;
        r->rank = node->out[0]->shape.rank;
        memcpy(r->dim, node->out[0]->shape.dim, sizeof r->dim);
        r->band_rows = s->segments[step->segment].columns ? 1 : (uint32_t)step->band;
        r->scratch = step->lowering.scratch;
        r->memory = step->lowering.memory;
        r->constant_bytes = constant_bytes_of(s, step);
        r->macs = node->op->macs ? node->op->macs(node) : 0;
        r->again = tw_step_before(s, i) >= 0;
        *(r->again ? &report->macs_recomputed : &report->macs) += r->macs;
        r->work = step->work;
        r->calls = step->calls;
        r->traffic = step->traffic;
        r->cycles = tw_cost_of_step(node->op, r, s->memories);
    }
    for (int b = 0; b < s->buffer_count; b++)
        for (int i = s->buffers[b].first; i <= s->buffers[b].last && i < s->step_count; i++)
            rows[i].live_bytes += s->buffers[b].bytes;
    for (int b = 0; b < s->buffer_count; b++) { /* what lies in its bed takes less than both */
        const tw_buffer *f = &s->buffers[b], *bed = f->bed < 0 ? NULL : &s->buffers[f->bed];
        for (int i = f->first; bed && bed->region == f->region && i <= bed->last; i++)
            rows[i].live_bytes -= f->bytes + bed->bytes - tw_bed_bytes(s, f);
    }
    report->steps = rows;
    report->step_count = s->step_count;
}

static void report_segments(const tw_schedule *s, tw_report *report)
{
    tw_report_segment *rows = tw_alloc_array(s->arena, (size_t)s->segment_count + 1, sizeof *rows);
    for (int i = 0; i < s->segment_count; i++) {
        const tw_segment *g = &s->segments[i];
        rows[i].first_step = (uint32_t)g->first_step;
        rows[i].step_count = (uint32_t)g->step_count;
        rows[i].rolling = g->step_count > 1 || g->columns ||
                          s->steps[g->first_step].band < s->steps[g->first_step].extent;
        rows[i].axis = (uint32_t)g->axis;
        rows[i].band_rows = g->columns ? 1 : (uint32_t)s->steps[g->first_step].band;
        rows[i].columns = g->columns ? (uint32_t)s->steps[g->first_step].band : 0;
        for (int k = 0; k < g->step_count; k++) {
            const tw_report_step *step = &report->steps[g->first_step + k];
            rows[i].bytes = step->live_bytes > rows[i].bytes ? step->live_bytes : rows[i].bytes;
            rows[i].macs_recomputed += step->again ? step->macs : 0;
        }
    }
    report->segments = rows;
    report->segment_count = s->segment_count;
}

static void report_buffers(const tw_schedule *s, tw_report *report)
{
    tw_report_buffer *rows = tw_alloc_array(s->arena, (size_t)s->buffer_count + 1, sizeof *rows);
    for (int i = 0; i < s->buffer_count; i++) {
        const tw_buffer *b = &s->buffers[i];
        rows[i] = (tw_report_buffer){b->name,           b->use,      b->region,
                                     b->offset,         b->bytes,    (uint32_t)b->first,
                                     (uint32_t)b->last, b->is_input, b->is_output};
    }
    report->buffers = rows;
    report->buffer_count = s->buffer_count;
}

/* What the steps move, in all. */
static void report_traffic(const tw_schedule *s, tw_report *report)
{
    for (int i = 0; i < report->step_count; i++) {
        const tw_report_step *step = &report->steps[i];
        for (int r = 0; r < TW_MAX_REGIONS; r++) {
            report->traffic.read[r] += step->traffic.read[r];
            report->traffic.written[r] += step->traffic.written[r];
        }
        report->calls += step->calls;
        report->cycles += step->cycles;
    }
    report->slow.bytes = s->region_bytes[TW_REGION_SLOW];
    report->slow.traffic_read = report->traffic.read[TW_REGION_SLOW];
    report->slow.traffic_written = report->traffic.written[TW_REGION_SLOW];
}

static bool is_conversion(const tw_node *node)
{
    int code = node->op->code;
    return code == TW_OPCODE_cast || code == TW_OPCODE_quantize || code == TW_OPCODE_dequantize ||
           code == TW_OPCODE_requantize;
}

/* Is the value an input, or one converted element by element? */
static bool comes_from_input(const tw_schedule *s, const tw_value *value)
{
    value = s->places[value->index].root;
    while (value->producer && is_conversion(value->producer))
        value = s->places[value->producer->in[0]->index].root;
    return value->is_input;
}

/* Is the result of step i an output, or made one by conversions? */
static bool goes_to_output(const tw_schedule *s, int i)
{
    const tw_value *value = s->steps[i].node->out[0];
    int b = s->places[value->index].buffer;
    if (b >= 0 && s->buffers[b].is_output)
        return true;
    for (i++; i < s->step_count; i++) {
        const tw_node *reader = s->steps[i].node;
        if (!is_conversion(reader) || s->places[reader->in[0]->index].root != value)
            continue;
        value = reader->out[0];
        b = s->places[value->index].buffer;
        if (b >= 0 && s->buffers[b].is_output)
            return true;
    }
    return false;
}

/* A transpose at an end may stand between conversions, where its elements are smallest. */
static void report_transposes(const tw_schedule *s, tw_report *report)
{
    for (int i = 0; i < s->step_count; i++) {
        if (s->steps[i].node->op->code != TW_OPCODE_transpose)
            continue;
        if (comes_from_input(s, s->steps[i].node->in[0]) || goes_to_output(s, i))
            report->boundary_transposes++;
        else
            report->transposes++;
    }
}

static const tw_report_tensor *ends_by_rows(const tw_schedule *s, tw_value *const *values,
                                            const tw_report_tensor *ends, int count)
{
    tw_report_tensor *rows = tw_copy(s->arena, ends, sizeof *rows * (size_t)count);
    for (int i = 0; i < count; i++)
        rows[i].by_rows =
            values[i] != s->fed && values[i] != s->drained && tw_may_go_by_rows(s, values[i]);
    return rows;
}

void tw_emit_report(const tw_schedule *s, uint32_t plan_bytes, uint32_t weight_bytes,
                    tw_report *report)
{
    report->planned = true;
    report->fits = s->fits;
    report->memory.total = s->total;
    report->memory.activations = s->activations;
    report->memory.scratch = s->scratch;
    report->memory.state = s->state;
    report->memory.context = s->context;
    report->flash.weights = weight_bytes;
    report->flash.plan = plan_bytes - weight_bytes;
    report->flash.total = plan_bytes;
    report->layerwise = s->layerwise;
    report->bound = s->bound + (uint32_t)sizeof(tw_context);
    report->smallest_budget = s->smallest_budget;
    report->smallest_by_rows = s->smallest_by_rows;
    report->tightest_step = s->bound_step;
    report->pareto = s->pareto;
    report->pareto_count = s->pareto_count;
    report_steps(s, report);
    report_segments(s, report);
    report_buffers(s, report);
    report_traffic(s, report);
    report_transposes(s, report);
    report->inputs = ends_by_rows(s, s->graph->inputs, report->inputs, report->input_count);
    report->outputs = ends_by_rows(s, s->graph->outputs, report->outputs, report->output_count);
}
