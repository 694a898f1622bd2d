/* THE PIPELINE: a model file in, a plan out. One line a stage. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/sha256.h"
#include "emit/emit.h"
#include "import/import.h"
#include "normalize/pass.h"
#include "plan/control.h"
#include "plan/ends.h"
#include "plan/recompute.h"
#include "stream/stream.h"

static void dump(const tw_compile_options *options, const char *stage, const tw_graph *graph)
{
    if (options->dump)
        options->dump(options->dump_user, stage, graph);
}

/* What the plan records of the options: only those that change it, in one order. */
static const char *options_text(tw_arena *arena, const tw_compile_options *options)
{
    const tw_memory_spec *fast = &options->memories.fast, *slow = &options->memories.slow;
    const char *memory = !fast->bounded ? "unbounded"
                         : slow->given  ? tw_format(arena, "%u+%u", fast->bytes, slow->bytes)
                                        : tw_format(arena, "%u", fast->bytes);
    const char *text = tw_format(arena, "memory=%s io-layout=%s backend=%s", memory,
                                 options->io_layout == TW_IO_NHWC ? "nhwc" : "keep",
                                 options->backends ? options->backends : "reference");
    if (options->signature)
        text = tw_format(arena, "%s signature=%s", text, options->signature);
    if (options->no_recompute)
        text = tw_format(arena, "%s recompute=no", text);
    for (int i = 0; i < options->constant_count; i++)
        text = tw_format(arena, "%s %s=%s", text, options->constants[i].name,
                         options->constants[i].value);
    for (int i = 0; i < options->state_count; i++)
        text = tw_format(arena, "%s state=%s=%s", text, options->states[i].output,
                         options->states[i].input);
    if (options->stream.given)
        text = tw_format(arena, "%s stream=%s%s%d:%u%s", text,
                         options->stream.input ? options->stream.input : "",
                         options->stream.input ? ":" : "", options->stream.axis,
                         options->stream.hop, options->stream.history ? " padding=history" : "");
    return text;
}

static void report_model(const tw_graph *graph, const char *format, tw_report *report)
{
    report->model_name = graph->name;
    report->format = format;
    report->operators = graph->node_count;
    for (int i = 0; i < graph->value_count; i++)
        if (graph->values[i]->data)
            report->parameters += (uint64_t)tw_shape_elements(&graph->values[i]->shape);
}

static const tw_report_tensor *report_tensors(tw_arena *arena, tw_value *const *values, int count)
{
    tw_report_tensor *rows = tw_alloc_array(arena, (size_t)count + 1, sizeof *rows);
    for (int i = 0; i < count; i++) {
        const tw_value *v = values[i];
        rows[i].name = v->name;
        rows[i].dtype = v->shape.dtype;
        rows[i].rank = v->shape.rank;
        memcpy(rows[i].dim, v->shape.dim, sizeof rows[i].dim);
        if (v->quant.count == 1) {
            rows[i].scale = v->quant.scale[0];
            rows[i].zero_point = v->quant.zero_point[0];
        }
    }
    return rows;
}

/* The graph with that one output, and nothing that it does not need. */
static bool keep_only(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    const char *name = options->only;
    if (!name)
        return true;
    for (int i = 0; i < graph->value_count; i++) {
        if (strcmp(graph->values[i]->name, name) != 0)
            continue;
        graph->output_count = 0;
        tw_graph_output(graph, graph->values[i]);
        return tw_pass_dead(graph, options, diag);
    }
    return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the model has no tensor '%.256s'", name);
}

/* The stages. `graph` and `out->report` stay filled in as far as the pipeline came. */
static bool compile(const char *model, const tw_compile_options *options, tw_compiled *out,
                    tw_diag *diag)
{
    tw_arena *arena = out->arena;
    tw_origin origin = {.options = options_text(arena, options), .strip = options->strip};
    tw_schedule schedule;

    const tw_import_options import = tw_import_options_of(options);
    tw_graph *graph = tw_import(arena, model, &import, &origin.format, diag);
    if (!graph || !keep_only(graph, options, diag) ||
        !tw_bind_states(graph, options->states, options->state_count, diag) ||
        !tw_graph_check(graph, diag))
        return false;
    dump(options, "import", graph);
    if (!tw_normalize(graph, options, diag))
        return false;
    if (!tw_stream(graph, options, &out->report.stream, diag))
        return false;
    if (options->stream.given)
        dump(options, "stream", graph);
    if (!tw_own_outputs(graph, diag) || !tw_own_states(graph, diag) || !tw_order_waits(graph, diag))
        return false;
    dump(options, "plan", graph);
    report_model(graph, origin.format, &out->report);
    out->report.inputs = report_tensors(arena, graph->inputs, graph->input_count);
    out->report.input_count = graph->input_count;
    out->report.outputs = report_tensors(arena, graph->outputs, graph->output_count);
    out->report.output_count = graph->output_count;
    out->report.state_candidates = tw_guess_states(graph, &out->report.state_candidate_count);
    out->report.float_steps = tw_float_steps(graph, arena, &out->report.float_step_count);

    if (!tw_lay_out_bodies(graph, options->loop_limit, diag))
        return false;
    bool fits = tw_plan_recomputing(graph, options, &schedule, diag);
    if (!fits && !schedule.smallest_budget)
        return false;
    tw_diag ignored = {0}; /* a plan that does not fit is still written, to report its sizes */
    if (!tw_sha256_file(tw_model_file(arena, model), origin.sha256, diag) ||
        !tw_emit_plan(&schedule, &origin, &out->plan, &out->plan_bytes, fits ? diag : &ignored))
        return false;
    tw_emit_report(&schedule, out->plan_bytes, tw_constant_bytes(out->plan), &out->report);
    if (fits && schedule.target_count > 1 &&
        !tw_report_targets(&schedule, out->plan, out->plan_bytes, &out->report, diag))
        return false;
    if (!fits)
        out->plan = NULL;
    return fits;
}

bool tw_compile_file(const char *model, const tw_compile_options *options, tw_compiled *out,
                     tw_diag *diag)
{
    memset(out, 0, sizeof *out);
    out->arena = tw_arena_new();
    if (!*diag->file)
        snprintf(diag->file, sizeof diag->file, "%s", model);
    bool ok = compile(model, options, out, diag);
    if (!ok)
        out->plan = NULL;
    return ok;
}

void tw_compiled_free(tw_compiled *compiled)
{
    tw_arena_free(compiled->arena);
    memset(compiled, 0, sizeof *compiled);
}
