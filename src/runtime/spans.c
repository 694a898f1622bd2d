/* The walk of element-wise kernels: see spans.h. */
#include "runtime/spans.h"

#define OPERANDS (TW_SPAN_INPUTS + 1) /* the output is operand 0 */
#define AXES (TW_MAX_RANK + 1)

/* Axes innermost first; steps in elements. */
typedef struct span_walk {
    int axes;
    int32_t extent[AXES], index[AXES];
    int32_t step[OPERANDS][AXES];
    int32_t bytes[OPERANDS]; /* of an element */
    const char *at[OPERANDS];
    uint32_t operands;
} span_walk;

static const tw_view *operand(const tw_call *call, uint32_t i)
{
    return i == 0 ? &call->out[0] : &call->in[i - 1];
}

int32_t tw_step_along(const tw_tensor *t, const tw_tensor *out, int k)
{
    int own = k - ((int)out->rank - (int)t->rank);
    return own < 0 || t->dim[own] == 1 ? 0 : t->stride[own];
}

int tw_broadcasts(const tw_tensor *t, const tw_tensor *out)
{
    if (t->rank > out->rank)
        return 0;
    for (int k = 0; k < (int)t->rank; k++)
        if (t->dim[k] != 1 && t->dim[k] != out->dim[k + (int)out->rank - (int)t->rank])
            return 0;
    return 1;
}

int tw_has_rows(const tw_view *v, const tw_view *out)
{
    int own = (int)out->axis - ((int)out->tensor->rank - (int)v->tensor->rank);
    int32_t extent = v->tensor->rank == 0 ? 1 : v->tensor->dim[v->axis];
    if (v->row < 0 || v->row > extent - v->rows)
        return 0;
    if (v->columns != 0 && (out->columns == 0 || own != (int)v->axis || v->column > out->column ||
                            out->columns > v->columns - (out->column - v->column)))
        return 0;
    if (own == (int)v->axis && extent != 1)
        return v->row <= out->row && out->rows <= v->rows - (out->row - v->row);
    return v->row == 0 && v->rows == extent;
}

const char *tw_span_start(const tw_view *v, const tw_view *out)
{
    const int64_t along = v->tensor->rank == 0 ? 0 : v->tensor->stride[v->axis];
    const int64_t band =
        out->tensor->rank == 0 ? 0 : tw_step_along(v->tensor, out->tensor, (int)out->axis);
    int64_t at = out->row * band - v->row * along;
    if (out->columns != 0)
        at += (int64_t)out->column * tw_step_along(v->tensor, out->tensor, (int)out->axis + 1);
    if (v->columns != 0)
        at -= (int64_t)v->column * v->tensor->stride[v->axis + 1];
    return (const char *)v->data + at * (int64_t)tw_dtype_bytes(v->tensor->dtype);
}

/* Add one axis outside those present, merged with the outermost where every operand's steps run on. */
static void add_axis(span_walk *w, int32_t extent, const int32_t *step)
{
    int last = w->axes - 1, merge = last >= 0;
    for (uint32_t i = 0; merge && i < w->operands; i++)
        merge = (int64_t)w->step[i][last] * w->extent[last] == step[i];
    if (merge) {
        w->extent[last] *= extent;
        return;
    }
    for (uint32_t i = 0; i < w->operands; i++)
        w->step[i][w->axes] = step[i];
    w->index[w->axes] = 0;
    w->extent[w->axes++] = extent;
}

/* Kernels are spared other steps than 0 and 1: runs with those fall apart into single elements. */
static void add_run(span_walk *w)
{
    int32_t least = w->operands > 2 ? 0 : 1;
    int plain = w->axes > 0 && w->step[0][0] == 1;
    for (uint32_t i = 1; plain && i < w->operands; i++)
        plain = w->step[i][0] >= least && w->step[i][0] <= 1;
    if (plain)
        return;
    for (int k = w->axes; k > 0; k--) {
        w->extent[k] = w->extent[k - 1];
        w->index[k] = 0;
        for (uint32_t i = 0; i < w->operands; i++)
            w->step[i][k] = w->step[i][k - 1];
    }
    w->axes++;
    w->extent[0] = 1;
    for (uint32_t i = 0; i < w->operands; i++)
        w->step[i][0] = 1;
}

/* 0 when the band holds no element. */
static int begin(span_walk *w, const tw_call *call, uint32_t inputs)
{
    const tw_view *out = &call->out[0];
    w->axes = 0;
    w->operands = inputs + 1;
    for (uint32_t i = 0; i < w->operands; i++) {
        w->bytes[i] = (int32_t)tw_dtype_bytes(operand(call, i)->tensor->dtype);
        w->at[i] = tw_span_start(operand(call, i), out);
    }
    if (out->rows == 0)
        return 0;
    for (int k = (int)out->tensor->rank - 1; k >= 0; k--) {
        int32_t extent = out->tensor->dim[k];
        if (k == (int)out->axis)
            extent = out->rows;
        else if (k == (int)out->axis + 1 && out->columns != 0)
            extent = out->columns;
        int32_t step[OPERANDS];
        if (extent == 0)
            return 0;
        if (extent == 1)
            continue;
        for (uint32_t i = 0; i < w->operands; i++)
            step[i] = tw_step_along(operand(call, i)->tensor, out->tensor, k);
        add_axis(w, extent, step);
    }
    add_run(w);
    return 1;
}

/* On to the next run; 0 after the last. */
static int next(span_walk *w)
{
    for (int k = 1; k < w->axes; k++) {
        int forward = ++w->index[k] < w->extent[k];
        int32_t rows = forward ? 1 : 1 - w->extent[k];
        for (uint32_t i = 0; i < w->operands; i++)
            w->at[i] += (int64_t)w->step[i][k] * rows * w->bytes[i];
        if (forward)
            return 1;
        w->index[k] = 0;
    }
    return 0;
}

tw_status tw_for_each_span(const tw_call *call, uint32_t inputs, tw_span_function function)
{
    span_walk w;
    tw_span span;
    tw_status status = TW_OK;
    for (uint32_t i = 0; i < inputs; i++)
        if (!tw_has_rows(&call->in[i], &call->out[0]))
            return TW_E_SCHEDULE;
    if (!begin(&w, call, inputs))
        return TW_OK;
    span.call = call;
    span.count = w.extent[0];
    for (uint32_t i = 0; i < TW_SPAN_INPUTS; i++) {
        span.in[i] = NULL;
        span.in_step[i] = i < inputs ? w.step[i + 1][0] : 0;
    }
    do {
        span.out = (void *)(uintptr_t)w.at[0];
        for (uint32_t i = 0; i < inputs; i++)
            span.in[i] = w.at[i + 1];
        status = function(&span);
    } while (status == TW_OK && next(&w));
    return status;
}

tw_status tw_check_spans(const tw_call *call, uint32_t inputs, uint64_t *work)
{
    if (call->in_count < inputs || inputs > TW_SPAN_INPUTS || call->out_count != 1 ||
        !call->out[0].tensor)
        return TW_E_CHECK;
    const tw_tensor *out = call->out[0].tensor;
    for (uint32_t i = 0; i < inputs; i++)
        if (!call->in[i].tensor || !tw_broadcasts(call->in[i].tensor, out))
            return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(out);
    return TW_OK;
}
