/* Run one node on constant inputs with the device kernels, whole or in bands: constant folding and
 * property tests. In: a node whose inputs all have data. Out: data for its outputs. */
#include <string.h>

#include "ops/op.h"
#include "runtime/rows.h"

typedef struct tw_evaluation {
    tw_node *node;
    tw_tensor tensors[TW_MAX_OPERANDS];
    tw_view in[TW_MAX_OPERANDS], out[TW_MAX_OPERANDS];
    char *base[TW_MAX_OPERANDS]; /* of the inputs: element 0 */
    tw_rowmap map[TW_MAX_OPERANDS];
    tw_blob blobs[TW_MAX_BLOBS];
    tw_lowering lowering;
    tw_call call;
    int axis;
} tw_evaluation;

static tw_view whole_view(const tw_tensor *tensor, void *data, int axis)
{
    int a = axis < (int)tensor->rank ? axis : 0;
    return (tw_view){tensor, data, a, 0, tensor->dim[a], 0, tensor->dim[a], 0, 0};
}

static void set_rows(tw_view *view, char *base, int32_t row, int32_t rows)
{
    view->row = view->fresh = row;
    view->rows = view->fresh_rows = rows;
    view->data = base + (int64_t)row * view->tensor->stride[view->axis] *
                            (int64_t)tw_dtype_bytes(view->tensor->dtype);
}

/* The axis to band on: the first with more than one output row, all before it of extent 1. */
static int band_axis(const tw_node *node)
{
    const tw_shape *out = &node->out[0]->shape;
    for (int axis = 0; axis < out->rank; axis++)
        if (out->dim[axis] != 1)
            return axis;
    return 0;
}

/* Narrow every mapped input to exactly the rows that output rows [row, row + rows) need. */
static void narrow(tw_evaluation *e, int32_t row, int32_t rows)
{
    for (int i = 0; i < e->node->in_count; i++) {
        const tw_rowmap *m = &e->map[i];
        tw_view *v = &e->in[i];
        if (!v->tensor || m->rows != TW_ROWS_MAPPED)
            continue;
        int64_t first = tw_floor_div((int64_t)row * m->den + m->off2, m->num);
        int64_t end = -tw_floor_div(-((int64_t)(row + rows) * m->den - m->off), m->num);
        int32_t extent = v->tensor->dim[v->axis];
        first = first < 0 ? 0 : first > extent ? extent : first;
        end = end < first ? first : end > extent ? extent : end;
        set_rows(v, e->base[i], (int32_t)first, (int32_t)(end - first));
    }
}

static bool is_final(const tw_node *node, int output)
{
    return node->op->final_output && node->op->final_output(node, output);
}

/* Feed an accumulated input in bands, or compute the output in bands of rows. */
static tw_status run_bands(tw_evaluation *e, int band)
{
    tw_view *out = &e->out[0];
    for (int i = 0; i < e->node->in_count; i++) {
        tw_view *v = &e->in[i];
        if (!v->tensor || e->map[i].rows != TW_ROWS_ACCUMULATED)
            continue;
        int32_t extent = v->tensor->dim[v->axis];
        for (int32_t row = 0; row < extent; row += band) {
            int32_t rows = extent - row < band ? extent - row : band;
            set_rows(v, e->base[i], row, rows);
            tw_status status = e->lowering.kernel->run(&e->call);
            if (status != TW_OK)
                return status;
        }
        return TW_OK;
    }
    int32_t extent = out->tensor->dim[out->axis];
    for (int32_t row = 0; row < extent; row += band) {
        int32_t rows = extent - row < band ? extent - row : band;
        narrow(e, row, rows);
        for (int i = 0; i < e->node->out_count; i++)
            if (e->out[i].tensor && !is_final(e->node, i))
                set_rows(&e->out[i], (char *)(uintptr_t)e->node->out[i]->data, row, rows);
        tw_status status = e->lowering.kernel->run(&e->call);
        if (status != TW_OK)
            return status;
    }
    return TW_OK;
}

static bool can_band(const tw_evaluation *e)
{
    for (int i = 0; i < e->node->in_count; i++)
        if (e->node->in[i] && e->map[i].rows == TW_ROWS_ONCE)
            return false;
    for (int i = 0; i < e->node->in_count; i++)
        if (e->map[i].rows == TW_ROWS_ACCUMULATED || e->map[i].rows == TW_ROWS_MAPPED)
            for (int a = 0; a < e->axis; a++)
                if (e->node->in[i] && e->node->in[i]->shape.dim[a] != 1)
                    return false;
    return e->axis < e->node->out[0]->shape.rank;
}

static bool run_view(tw_node *node)
{
    node->out[0]->data = node->in[0]->data;
    return true;
}

bool tw_evaluate(tw_node *node, tw_arena *arena, int band, tw_diag *diag)
{
    const tw_opdef *op = node->op;
    if (op->kind == TW_VIEW)
        return run_view(node);
    tw_evaluation *e = tw_alloc(arena, sizeof *e);
    e->node = node;
    if (!op->kernels || op->kind == TW_HOST)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, op->name, "it has no kernel to run");
    if (!tw_lower_portable(node, arena, &e->lowering, diag))
        return false;
    tw_lowering *l = &e->lowering;
    e->axis = band_axis(node);
    int t = 0;
    bool banded = band > 0;
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i] || tw_is_unread(l, i))
            continue;
        e->base[i] = (char *)(uintptr_t)tw_lowered_input(node, l, i, &e->tensors[t]);
        e->in[i] = whole_view(&e->tensors[t++], e->base[i], e->axis);
        e->map[i] = (op->rows ? op->rows : tw_rows_default)(node, i, e->axis);
    }
    for (int i = 0; i < node->out_count; i++) {
        if (!node->out[i])
            continue;
        e->tensors[t] = tw_tensor_of(node->out[i]);
        node->out[i]->data = tw_alloc(arena, tw_shape_bytes(&node->out[i]->shape) + 16);
        e->out[i] = whole_view(&e->tensors[t++], (void *)(uintptr_t)node->out[i]->data, e->axis);
    }
    for (int i = 0; i < l->blob_count; i++)
        e->blobs[i] = (tw_blob){l->blob[i].data, l->blob[i].bytes};
    e->call = (tw_call){e->in,
                        e->out,
                        (uint32_t)node->in_count,
                        (uint32_t)node->out_count,
                        node->attributes,
                        op->attribute_bytes,
                        e->blobs,
                        (uint32_t)l->blob_count,
                        l->clamp_low,
                        l->clamp_high,
                        tw_alloc(arena, l->scratch + 16),
                        l->scratch,
                        tw_alloc(arena, l->memory + 16),
                        l->memory};
    uint64_t work = 0;
    tw_status status = l->kernel->check(&e->call, &work);
    if (status == TW_OK)
        status = banded && can_band(e) ? run_bands(e, band) : l->kernel->run(&e->call);
    if (status != TW_OK)
        return tw_fail(diag, TW_CODE_FAILED, node->name, op->name, "the kernel refused: %s",
                       tw_status_text(status));
    return true;
}
