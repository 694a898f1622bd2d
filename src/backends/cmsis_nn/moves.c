/* Which moves of bytes CMSIS-NN makes. */
#include "backends/cmsis_nn/cmsis_nn.h"
#include "ops/axes.h"
#include "ops/concat.h"
#include "ops/pad.h"
#include "ops/transpose.h"

static const char not_bytes[] = "elements of more than one byte";

static const char *can_pad(const tw_native_node *n)
{
    const tw_pad_attributes *a = n->node->attributes;
    const tw_shape *x = &n->node->in[0]->shape;
    if (tw_dtype_bytes(x->dtype) != 1)
        return not_bytes;
    if (a->mode != TW_PAD_CONSTANT)
        return "the padding is no constant";
    return x->rank >= 1 && x->rank <= 4 && tw_shape_elements(x) > 0
               ? NULL
               : "no element, or more than four axes";
}

const tw_native tw_native_cmsis_nn_pad_bytes = {
    TW_CMSIS_NN_HEAD(pad_bytes),
    .can = can_pad,
};

static const char *can_concat(const tw_native_node *n)
{
    const tw_concat_attributes *a = n->node->attributes;
    const tw_shape *y = &n->node->out[0]->shape;
    int64_t row = 1;
    if (tw_dtype_bytes(y->dtype) != 1)
        return not_bytes;
    for (int k = tw_axis(a->axis, y->rank); k < y->rank; k++)
        row *= y->dim[k];
    return n->node->in_count > 1 && row <= UINT16_MAX
               ? NULL
               : "one input, or more than 65535 bytes from the joined axis on";
}

const tw_native tw_native_cmsis_nn_concat_bytes = {
    TW_CMSIS_NN_HEAD(concat_bytes),
    .can = can_concat,
};

static const char *can_transpose(const tw_native_node *n)
{
    const tw_transpose_attributes *a = n->node->attributes;
    const tw_shape *x = &n->node->in[0]->shape;
    int32_t perm[TW_MAX_RANK];
    if (tw_dtype_bytes(x->dtype) != 1)
        return not_bytes;
    if (x->rank != 4 || !tw_transpose_perm(&a->perm, 4, perm) || perm[0] != 0 || perm[1] != 1 ||
        perm[2] != 3 || (x->dim[0] == 1 && x->dim[1] == 1))
        return "its bands are not bands of the input";
    for (int k = 0; k < 4; k++)
        if (x->dim[k] > UINT16_MAX)
            return "an extent above 65535";
    return tw_cmsis_nn_slow(n, TW_CMSIS_NN_WITHOUT_MVE);
}

const tw_native tw_native_cmsis_nn_transpose_bytes = {
    TW_CMSIS_NN_HEAD(transpose_bytes),
    .can = can_transpose,
};
