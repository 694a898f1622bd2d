/* Steps: every node that is not a view becomes one, with its kernel, band axis and row maps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "plan/ends.h"
#include "plan/joins.h"

static tw_rowmap rows_of(const tw_node *node, int input, int axis)
{
    return (node->op->rows ? node->op->rows : tw_rows_default)(node, input, axis);
}

static bool is_final(const tw_node *node, int output)
{
    return node->op->final_output && node->op->final_output(node, output);
}

/* Can rows of this shape on this axis be contiguous slices? */
static bool has_rows(const tw_shape *shape, int axis)
{
    if (axis >= shape->rank)
        return shape->rank == 0 && axis == 0;
    for (int a = 0; a < axis; a++)
        if (shape->dim[a] != 1)
            return false;
    return true;
}

int tw_summed_axis(const tw_node *node)
{
    for (int i = 0; i < node->in_count; i++) {
        const tw_value *v = node->in[i];
        for (int axis = 0; v && !v->data && axis < v->shape.rank; axis++)
            if (v->shape.dim[axis] != 1 && has_rows(&v->shape, axis) &&
                rows_of(node, i, axis).rows == TW_ROWS_ACCUMULATED)
                return axis;
    }
    return -1;
}

/* The band axis: that of rows which are summed up; or the first on which an output, or an input whose rows matter, has more than one
 * row. Everything before it then has extent 1. Where there is none: the result's last. */
static int choose_axis(const tw_node *node)
{
    const tw_shape *result = &node->out[0]->shape;
    int rank = result->rank > 1 ? result->rank : 1;
    const int summed = tw_summed_axis(node);
    if (summed >= 0)
        return summed;
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i] && node->out[i]->shape.rank > rank)
            rank = node->out[i]->shape.rank;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && node->in[i]->shape.rank > rank && !node->in[i]->data)
            rank = node->in[i]->shape.rank;
    for (int axis = 0; axis < rank; axis++) {
        for (int i = 0; i < node->out_count; i++) {
            const tw_value *v = is_final(node, i) ? NULL : node->out[i];
            if (v && axis < v->shape.rank && v->shape.dim[axis] != 1)
                return axis;
        }
        for (int i = 0; i < node->in_count; i++) {
            const tw_value *v = node->in[i];
            if (v && axis < v->shape.rank && v->shape.dim[axis] != 1 &&
                rows_of(node, i, axis).rows != TW_ROWS_WHOLE)
                return axis;
        }
    }
    return result->rank ? result->rank - 1 : 0;
}

static void choose_rows(tw_step *step)
{
    const tw_node *node = step->node;
    step->axis = choose_axis(node);
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i])
            continue;
        step->map[i] = rows_of(node, i, step->axis);
        if (step->map[i].rows == TW_ROWS_ONCE)
            step->at_once = true;
        if (step->map[i].rows == TW_ROWS_ONCE || !has_rows(&node->in[i]->shape, step->axis))
            step->map[i] = tw_rows_whole();
        if (step->map[i].rows == TW_ROWS_ACCUMULATED) {
            step->accumulates = true;
            step->extent = node->in[i]->shape.rank ? node->in[i]->shape.dim[step->axis] : 1;
        }
    }
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i] && is_final(node, i))
            step->alone = true;
    const tw_shape *out = &node->out[0]->shape;
    if (!step->accumulates)
        step->extent = step->axis < out->rank ? out->dim[step->axis] : 1;
    step->band = step->extent > 0 ? step->extent : 1;
}

/* Are its pixels, row after row, one contiguous sequence of channels? Items of a batch are no rows of an
 * image. */
static bool has_pixels(const tw_shape *shape, int axis)
{
    return axis > 0 && axis + 2 < shape->rank && has_rows(shape, axis) && shape->dim[axis] > 0 &&
           shape->dim[axis + 1] > 0 &&
           (int64_t)shape->dim[axis] * shape->dim[axis + 1] <= TW_MAX_ROW_OFFSET;
}

/* Can the step make some columns of a row at a time? */
static void choose_columns(tw_step *step, int targets)
{
    const tw_node *node = step->node;
    const tw_shape *out = &node->out[0]->shape;
    const int axis = step->axis;
    step->columns =
        step->lowering.kernel->columns && !step->at_once && !step->alone && !step->accumulates;
    for (int t = 1; t < targets; t++) {
        const tw_kernel *native = step->native[t - 1].lowering.kernel;
        step->columns = step->columns && (!native || native->columns);
    }
    for (int i = 0; i < node->out_count; i++) {
        const tw_shape *shape = node->out[i] ? &node->out[i]->shape : out;
        step->columns = step->columns && has_pixels(shape, axis) &&
                        shape->dim[axis] == out->dim[axis] &&
                        shape->dim[axis + 1] == out->dim[axis + 1];
    }
    for (int i = 0; i < node->in_count && step->columns; i++) {
        if (!node->in[i] || step->map[i].rows != TW_ROWS_MAPPED)
            continue;
        step->column[i] = rows_of(node, i, axis + 1);
        step->columns =
            step->column[i].rows == TW_ROWS_MAPPED && has_pixels(&node->in[i]->shape, axis);
    }
}

bool tw_step_checks(const tw_schedule *s, const tw_step *step, const tw_lowering *l, uint64_t *work)
{
    const tw_node *node = step->node;
    tw_tensor tensors[TW_MAX_OPERANDS];
    tw_view views[TW_MAX_OPERANDS];
    tw_blob blobs[TW_MAX_BLOBS];
    int count = node->in_count + node->out_count;
    memset(views, 0, sizeof views);
    for (int i = 0; i < count; i++) {
        const tw_value *v = i < node->in_count ? node->in[i] : node->out[i - node->in_count];
        if (!v || (i < node->in_count && tw_is_unread(l, i)))
            continue;
        if (i < node->in_count)
            tw_lowered_input(node, l, i, &tensors[i]);
        else
            tensors[i] = tw_tensor_of(v);
        const tw_join *join = tw_join_of(s, v);
        if (join && join->stride)
            memcpy(tensors[i].stride, join->stride, sizeof tensors[i].stride);
        int axis = step->axis < (int)tensors[i].rank ? step->axis : 0;
        int32_t rows = tensors[i].dim[axis];
        views[i] = (tw_view){&tensors[i], NULL, axis, 0, rows, 0, rows, 0, 0};
    }
    for (int i = 0; i < l->blob_count; i++)
        blobs[i] = (tw_blob){l->blob[i].data, l->blob[i].bytes};
    tw_call call = {views,
                    views + node->in_count,
                    (uint32_t)node->in_count,
                    (uint32_t)node->out_count,
                    node->attributes,
                    node->op->attribute_bytes,
                    blobs,
                    (uint32_t)l->blob_count,
                    l->clamp_low,
                    l->clamp_high,
                    NULL,
                    l->scratch,
                    NULL,
                    l->memory};
    return l->kernel->check(&call, work) == TW_OK;
}

bool tw_step_takes(const tw_schedule *s, const tw_step *step)
{
    const tw_node *node = step->node;
    bool gaps = false;
    uint64_t work;
    for (int i = 0; i < node->in_count + node->out_count; i++) {
        const tw_value *v = i < node->in_count ? node->in[i] : node->out[i - node->in_count];
        const tw_join *join = v ? tw_join_of(s, v) : NULL;
        gaps |= join && join->stride;
    }
    for (int t = 1; gaps && !node->op->part && t < s->target_count; t++)
        if (step->native[t - 1].lowering.kernel)
            return false; /* libraries want tensors without gaps */
    return !gaps || tw_step_checks(s, step, &step->lowering, &work);
}

static bool check_step(const tw_schedule *s, tw_step *step, tw_diag *diag)
{
    const tw_node *node = step->node;
    int count = node->in_count + node->out_count;
    if (count > (int)TW_MAX_OPERANDS)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "%d operands; at most %u are supported", count, TW_MAX_OPERANDS);
    if (tw_step_checks(s, step, &step->lowering, &step->work))
        return true;
    char in[96], out[96];
    tw_shape_text(&node->in[0]->shape, in, sizeof in);
    tw_shape_text(&node->out[0]->shape, out, sizeof out);
    return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                   "the kernel does not take this combination of shapes and types (%s to %s)", in,
                   out);
}

/* An output that is kept in a state's memory, and may lie over what it is computed from. */
static bool is_state(const tw_graph *graph, const tw_node *node)
{
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i] && tw_state_written(graph, node->out[i]) >= 0)
            return true;
    return false;
}

/* Ask a target's back end; what it takes must fit the plan that the portable kernel has. */
static void lower_native(tw_schedule *s, tw_step *step, const tw_target *target,
                         tw_native_lowering *native)
{
    const tw_node *node = step->node;
    tw_lowering *l = &native->lowering;
    uint32_t aliases = 0;
    uint64_t work = 0;
    native->why = tw_lower_native(target, node, &step->lowering, s->arena, l, &aliases);
    native->whole = l->scratch;
    native->parts = 1;
    /* Planned with the least; plan/parts.c may give it more. */
    for (int i = 0; i < TW_MAX_HALVINGS && l->in_parts[i]; i++) {
        l->scratch = l->in_parts[i];
        native->parts = 2 << i;
    }
    if (!native->why && (!tw_step_checks(s, step, l, &work) || work != step->work))
        native->why = "the library's kernel does not take these shapes";
    else if (!native->why && (step->over & ~aliases) && is_state(s->graph, node))
        native->why = "the result is written over a state, which the library's kernel cannot do";
    if (native->why)
        l->kernel = NULL;
    else
        step->over &= aliases;
}

/* What both kernels allow. */
static tw_overlap narrower(tw_overlap a, tw_overlap b)
{
    return (tw_overlap){a.may && b.may, a.below > b.below ? a.below : b.below,
                        a.above > b.above ? a.above : b.above};
}

void tw_step_natives(tw_schedule *s, tw_step *step)
{
    const tw_node *node = step->node;
    uint32_t scratch = step->lowering.scratch, memory = step->lowering.memory;
    for (int i = 0; i < node->in_count && i < 32 && node->op->in_place; i++)
        step->over |= (uint32_t)(node->in[i] && node->op->in_place(node, i)) << i;
    step->native = tw_alloc_array(s->arena, (size_t)s->target_count, sizeof *step->native);
    for (int t = 1; t < s->target_count; t++) {
        tw_native_lowering *native = &step->native[t - 1];
        lower_native(s, step, &s->targets[t], native);
        if (!native->why)
            step->lowering.overlap = narrower(step->lowering.overlap, native->lowering.overlap);
        if (!native->why && native->lowering.scratch > scratch)
            scratch = native->lowering.scratch;
        if (!native->why && s->targets[t].pace > step->pace)
            step->pace = s->targets[t].pace;
        if (!native->why && native->lowering.memory > memory)
            memory = native->lowering.memory;
    }
    step->lowering.scratch = scratch;
    step->lowering.memory = memory;
}

static bool lower(tw_schedule *s, tw_step *step, tw_diag *diag)
{
    if (!tw_lower(step->node, s->arena, &step->lowering, diag))
        return false;
    choose_rows(step);
    if (!check_step(s, step, diag))
        return false;
    tw_step_natives(s, step);
    return true;
}

int tw_step_before(const tw_schedule *s, int step)
{
    const tw_node *node = tw_node_first(s->steps[step].node);
    int before = step - 1;
    while (before >= 0 && tw_node_first(s->steps[before].node) != node)
        before--;
    return before;
}

bool tw_plan_steps(tw_schedule *schedule, const tw_compile_options *options, tw_diag *diag)
{
    tw_graph *graph = schedule->graph;
    schedule->steps =
        tw_alloc_array(schedule->arena, (size_t)graph->node_count + 1, sizeof(tw_step));
    for (int n = 0; n < graph->node_count; n++) {
        tw_node *node = graph->nodes[n];
        if (node->op->kind == TW_VIEW)
            continue;
        tw_step *step = &schedule->steps[schedule->step_count++];
        step->node = node;
        step->scratch = step->memory = -1;
        const int same = tw_step_before(schedule, schedule->step_count - 1);
        if (same >= 0) { /* the same kernels and tables, which the plan then carries once */
            *step = schedule->steps[same];
            step->node = node;
            continue;
        }
        if (!lower(schedule, step, diag))
            return false;
        choose_columns(step, schedule->target_count);
        if (options->progress)
            options->progress(options->progress_user, "plan", (n + 1.0) / graph->node_count);
    }
    return true;
}
