/* See blocks.h. Inputs are as a window has them: pixels behind each other, from the first needed to the
 * last. */
#include "support/blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/op.h"
#include "runtime/rows.h"
#include "support/operate.h"

typedef struct tw_block_input {
    tw_tensor tensor;
    const char *data;
    tw_rowmap rows, columns;
    char *pixels; /* of this call */
} tw_block_input;

typedef struct tw_block_run {
    const tw_node *node;
    int axis;
    tw_lowering lowering;
    tw_block_input in[TW_MAX_OPERANDS];
    tw_tensor out;
    tw_view views[TW_MAX_OPERANDS];
    tw_blob blobs[TW_MAX_BLOBS];
} tw_block_run;

static tw_rowmap map_of(const tw_node *node, int input, int axis)
{
    return (node->op->rows ? node->op->rows : tw_rows_default)(node, input, axis);
}

/* Are there pixels on this axis and the next one, contiguous? Items of a batch are no rows. */
static bool has_pixels(const tw_shape *s, int axis)
{
    for (int k = 0; k < axis && k < s->rank; k++)
        if (s->dim[k] != 1)
            return false;
    return axis > 0 && axis + 2 < s->rank && tw_shape_elements(s) > 0;
}

static bool read_inputs(tw_block_run *r)
{
    const tw_node *node = r->node;
    for (int i = 0; i < node->in_count; i++) {
        tw_block_input *in = &r->in[i];
        if (!node->in[i] || tw_is_unread(&r->lowering, i))
            continue;
        in->data = tw_lowered_input(node, &r->lowering, i, &in->tensor);
        in->rows = map_of(node, i, r->axis);
        in->columns = map_of(node, i, r->axis + 1);
        if (in->rows.rows == TW_ROWS_MAPPED &&
            (in->columns.rows != TW_ROWS_MAPPED || !has_pixels(&node->in[i]->shape, r->axis)))
            return false;
        if (in->rows.rows != TW_ROWS_MAPPED && in->rows.rows != TW_ROWS_WHOLE)
            return false;
    }
    return true;
}

static tw_view whole(const tw_tensor *t, const void *data)
{
    return (tw_view){
        .tensor = t, .data = (void *)(uintptr_t)data, .rows = t->dim[0], .fresh_rows = t->dim[0]};
}

/* What input i is to show of itself for columns [from, end) of an output row. */
static void open_input(tw_block_run *r, int i, int32_t row, int32_t from, int32_t end)
{
    tw_block_input *in = &r->in[i];
    const tw_tensor *t = &in->tensor;
    if (!in->data)
        return;
    r->views[i] = whole(t, in->data);
    if (in->rows.rows != TW_ROWS_MAPPED)
        return;
    const int32_t height = t->dim[r->axis], width = t->dim[r->axis + 1];
    const tw_plan_operand o = {
        .num = in->rows.num, .den = in->rows.den, .off = in->rows.off, .off2 = in->rows.off2};
    const tw_plan_column c = {in->columns.num, in->columns.den, in->columns.off, in->columns.off2};
    const tw_pixel_map m = {&o, &c, width, r->out.dim[r->axis + 1]};
    int32_t top = tw_rows_first(&o, row, height), bottom = tw_rows_needed(&o, row + 1, height);
    int32_t left = tw_columns_first(&m, from), right = tw_columns_needed(&m, end);
    size_t pixel = (size_t)t->stride[r->axis + 1] * tw_dtype_bytes(t->dtype);
    size_t count = 0;
    if (bottom > top && right > left)
        count = (size_t)((bottom - 1 - top) * width + right - left);
    const size_t bytes = count * pixel;
    in->pixels = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(in->pixels);
    memcpy(in->pixels, in->data + (size_t)(top * width + left) * pixel * (count > 0), bytes);
    r->views[i] = (tw_view){.tensor = t,
                            .data = in->pixels,
                            .axis = r->axis,
                            .row = top,
                            .rows = count ? bottom - top : 0,
                            .fresh = top,
                            .fresh_rows = count ? bottom - top : 0,
                            .column = count ? left : 0,
                            .columns = count ? right - left : 0};
}

static void run_block(tw_block_run *r, int32_t row, int32_t from, int32_t end)
{
    const tw_node *node = r->node;
    const tw_lowering *l = &r->lowering;
    const size_t pixel = (size_t)r->out.stride[r->axis + 1] * tw_dtype_bytes(r->out.dtype);
    const size_t bytes = (size_t)(end - from) * pixel;
    const size_t at = (size_t)(row * r->out.dim[r->axis + 1] + from) * pixel;
    char *out = malloc(bytes), *scratch = malloc(l->scratch + 1u);
    assert_non_null(out);
    for (int i = 0; i < node->in_count; i++)
        open_input(r, i, row, from, end);
    r->views[node->in_count] = (tw_view){.tensor = &r->out,
                                         .data = out,
                                         .axis = r->axis,
                                         .row = row,
                                         .rows = 1,
                                         .fresh = row,
                                         .fresh_rows = 1,
                                         .column = from,
                                         .columns = end - from};
    const tw_call call = {.in = r->views,
                          .out = r->views + node->in_count,
                          .in_count = (uint32_t)node->in_count,
                          .out_count = 1,
                          .attributes = node->attributes,
                          .attribute_bytes = node->op->attribute_bytes,
                          .blobs = r->blobs,
                          .blob_count = (uint32_t)l->blob_count,
                          .clamp_low = l->clamp_low,
                          .clamp_high = l->clamp_high,
                          .scratch = scratch,
                          .scratch_bytes = l->scratch};
    tw_status status = l->kernel->run(&call);
    if (status != TW_OK)
        fail_msg("%s: row %d, columns %d to %d on axis %d: %s", node->op->name, row, from, end - 1,
                 r->axis, tw_status_text(status));
    if (memcmp(out, (const char *)node->out[0]->data + at, bytes) != 0)
        fail_msg("%s: row %d, columns %d to %d on axis %d differ", node->op->name, row, from,
                 end - 1, r->axis);
    for (int i = 0; i < node->in_count; i++) {
        free(r->in[i].pixels);
        r->in[i].pixels = NULL;
    }
    free(scratch);
    free(out);
}

int tw_operate_blocks(const tw_node *node, uint64_t *state)
{
    tw_block_run r = {.node = node, .out = tw_tensor_of(node->out[0])};
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    int axes = 0;
    if (!tw_lower_portable(node, arena, &r.lowering, &diag))
        fail_msg("%s: %s", node->op->name, diag.message);
    for (int i = 0; i < r.lowering.blob_count; i++)
        r.blobs[i] = (tw_blob){r.lowering.blob[i].data, r.lowering.blob[i].bytes};
    for (r.axis = 0; r.lowering.kernel->columns && r.axis < TW_MAX_RANK; r.axis++) {
        if (!has_pixels(&node->out[0]->shape, r.axis) || !read_inputs(&r))
            continue;
        const int32_t width = r.out.dim[r.axis + 1];
        for (int32_t row = 0; row < r.out.dim[r.axis]; row++)
            for (int32_t from = 0, end; from < width; from = end) {
                end = from + tw_operate_range(state, 1, width);
                end = end < width ? end : width;
                run_block(&r, row, from, end);
            }
        axes++;
    }
    tw_arena_free(arena);
    return axes;
}
