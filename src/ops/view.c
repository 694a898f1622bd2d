/* Views: records of view.def. What comes in goes out under another shape; quantisation stays. */
#include "ops/view.h"

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(reshape, TW_RESHAPE_ATTRIBUTES);

static bool shape_reshape(const tw_shape_call *call)
{
    const tw_reshape_attributes *a = call->attributes;
    const tw_shape *in = &call->in[0]->shape;
    int64_t elements = 1;
    call->out[0].dtype = in->dtype;
    call->out[0].rank = a->shape.count;
    for (int k = 0; k < a->shape.count; k++) {
        call->out[0].dim[k] = a->shape.v[k];
        elements *= a->shape.v[k];
        if (elements > INT32_MAX)
            return TW_SHAPE_FAIL(call, "extents up to axis %d multiply to more than %d elements", k,
                                 INT32_MAX);
    }
    if (elements != tw_shape_elements(in))
        return TW_SHAPE_FAIL(call, "shape holds %lld elements, the input %lld; they must agree",
                             (long long)elements, (long long)tw_shape_elements(in));
    return true;
}

static bool shape_identity(const tw_shape_call *call)
{
    return tw_shape_default(call);
}

static int64_t product(const tw_shape *s, int from, int to)
{
    int64_t n = 1;
    for (int k = from; k < to; k++)
        n *= s->dim[k];
    return n;
}

/* Rows hold a whole number of elements each: input rows of `a` elements and output rows of `b`
 * cover each other in the ratio of the two, given the same axes' elements before them. */
static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_shape *in = &node->in[input]->shape, *out = &node->out[0]->shape;
    if (axis >= in->rank || axis >= out->rank)
        return tw_rows_whole();
    int64_t a = product(in, axis + 1, in->rank), b = product(out, axis + 1, out->rank);
    if (product(in, 0, axis) != product(out, 0, axis) || a == 0 || b == 0)
        return tw_rows_whole();
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return tw_rows_mapped(a / x, b / x, 0, 0);
}

#define TW_NO_ATTRIBUTES .attributes = NULL
#define TW_VIEW_ROW(code, Name, symbol, attributes, onnx_names, text, call)                        \
    const tw_opdef tw_op_##symbol = {                                                              \
        TW_OP_LEDGER(symbol), attributes,   .formula = text,    .min_in = 1,                       \
        .max_in = 1,          .min_out = 1, .max_out = 1,       .shape = shape_##symbol,           \
        .rows = rows,         .limits = "", .onnx = onnx_names,                                    \
    };
#include "ops/view.def"
#undef TW_VIEW_ROW
