/* Slice: record. */
#include "ops/slice.h"

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(slice, TW_SLICE_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_slice_attributes *a = call->attributes;
    const tw_shape *in = &call->in[0]->shape;
    const tw_ints *lists[] = {&a->begin, &a->size, &a->step};
    for (int i = 0; i < 3; i++)
        if (lists[i]->count != 0 && lists[i]->count != in->rank)
            return TW_SHAPE_FAIL(call,
                                 "begin, size and step need one entry for each of the input's %d "
                                 "axes, or none",
                                 in->rank);
    call->out[0] = *in;
    for (int k = 0; k < in->rank; k++) {
        tw_slice_axis s = {0, 0, 0};
        if (!tw_slice_resolve(a, in->rank, k, in->dim[k], &s))
            return TW_SHAPE_FAIL(call,
                                 "axis %d: begin %d, size %d, step %d leave its extent of %d; "
                                 "resolve and clamp them first",
                                 k, (int)s.begin, (int)s.size, (int)s.step, (int)in->dim[k]);
        call->out[0].dim[k] = s.size;
    }
    return true;
}

/* Output row o is input row begin + o * step. */
static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_shape *in = &node->in[input]->shape;
    tw_slice_axis s = {0, 0, 0};
    if (axis >= in->rank ||
        !tw_slice_resolve(node->attributes, in->rank, axis, in->dim[axis], &s) || s.step < 0)
        return tw_rows_whole();
    return tw_rows_mapped(1, s.step, (int64_t)s.step - 1 - s.begin, s.begin);
}

static bool part(const tw_node *node, int input, tw_part *part)
{
    const tw_shape *in = &node->in[input]->shape;
    part->of_input = true;
    for (int k = 0; k < in->rank; k++) {
        tw_slice_axis s;
        if (!tw_slice_resolve(node->attributes, in->rank, k, in->dim[k], &s) || s.step != 1)
            return false;
        part->begin[k] = s.begin;
    }
    return true;
}

/* clang-format off */
static const char samples[] =
    TW_SAMPLE("rows", "f32[1,9,4]", "-3", "3", "", "Slice (%x) {begin=[0,2,1], size=[1,5,2]}")
    TW_SAMPLE("steps", "s16[1,9,4]", "-99", "99",
              "", "Slice (%x) {begin=[0,1,3], size=[1,3,2], step=[1,3,-2]}")
    TW_SAMPLE("reverse", "u8[1,6,2]", "0", "256", "", "Slice (%x) {step=[1,-1,1]}");
/* clang-format on */

const tw_opdef tw_op_slice = {
    TW_OP_LEDGER(slice),
    TW_OP_ATTRIBUTES(slice),
    .formula = "out[i] = x[begin + i * step]",
    .min_in = 1,
    .max_in = 1,
    .min_out = 1,
    .max_out = 1,
    .shape = shape,
    .rows = rows,
    .part = part,
    .limits = "rows map where the step on the band axis is positive",
    .samples = samples,
    .onnx = "",
};
