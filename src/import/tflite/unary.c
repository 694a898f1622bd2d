/* Functions of one element. */
#include <string.h>

#include "import/tflite/tables.h"
#include "import/tflite/tflite.h"

static bool is_quantised_s8(const tw_tfl_node *n, const tw_value *x)
{
    return x->shape.dtype == TW_S8 && x->quant.count == 1 && tw_tfl_wants(n, 0) &&
           tw_tfl_dtype(tw_tfl_out_tensor(n, 0)) == TW_S8;
}

/* An int8 function by its table. */
static tw_value *look_up(tw_tfl_node *n, tw_value *x, tw_tfl_table fill, float alpha)
{
    tw_quant out;
    if (!tw_tfl_quant(n->import, tw_tfl_out_tensor(n, 0), &out))
        return NULL;
    if (out.count != 1) {
        TW_TFL_FAIL(n, "the int8 result has no scale");
        return NULL;
    }
    const tw_tfl_table_call call = {x->quant.scale[0], out.scale[0], x->quant.zero_point[0],
                                    out.zero_point[0], alpha};
    const int32_t dim[1] = {256};
    int8_t *table = tw_alloc(n->b->arena, 256);
    fill(&call, table);
    tw_value *in[] = {x, tw_build_data(n->b, tw_shape_of(TW_S8, 1, dim), table)};
    return tw_tfl_compute(n, 0, "Lut", in, 2, NULL, tw_tfl_no_clamp());
}

/* The IR operator of the row; int8 by the table where one is given. */
static bool apply(tw_tfl_node *n, tw_tfl_table fill, float alpha, const tw_setting *settings)
{
    tw_value *x = tw_tfl_in(n, 0);
    if (!x)
        return false;
    tw_value *y = fill && is_quantised_s8(n, x)
                      ? look_up(n, x, fill, alpha)
                      : tw_tfl_compute(n, 0, n->row->becomes, &x, 1, settings, tw_tfl_no_clamp());
    return tw_tfl_set(n, 0, y);
}

/* The row names the one IR operator that it is. */
bool tw_tfl_op_unary(tw_tfl_node *n)
{
    return apply(n, NULL, 0, NULL);
}

bool tw_tfl_op_relu(tw_tfl_node *n)
{
    return apply(n, tw_tfl_table_relu, 0, NULL);
}

bool tw_tfl_op_logistic(tw_tfl_node *n)
{
    return apply(n, tw_tfl_table_logistic, 0, NULL);
}

bool tw_tfl_op_tanh(tw_tfl_node *n)
{
    return apply(n, tw_tfl_table_tanh, 0, NULL);
}

bool tw_tfl_op_hard_swish(tw_tfl_node *n)
{
    return apply(n, tw_tfl_table_hard_swish, 0, NULL);
}

bool tw_tfl_op_elu(tw_tfl_node *n)
{
    return apply(n, tw_tfl_table_elu, 0, NULL);
}

bool tw_tfl_op_abs(tw_tfl_node *n)
{
    return apply(n, tw_tfl_table_abs, 0, NULL);
}

bool tw_tfl_op_rsqrt(tw_tfl_node *n)
{
    return apply(n, tw_tfl_table_rsqrt, 0, NULL);
}

bool tw_tfl_op_leaky_relu(tw_tfl_node *n)
{
    float alpha = tw_tfl_float(n, TW_FIELD(LeakyRelu, alpha), 0);
    return apply(n, tw_tfl_table_leaky_relu, alpha, TW_SETTINGS(tw_set_float("alpha", alpha)));
}

/* Between two bounds. */
static bool clip(tw_tfl_node *n, float low, float high, tw_tfl_table fill)
{
    return apply(n, fill, 0, TW_SETTINGS(tw_set_float("alpha", low), tw_set_float("beta", high)));
}

bool tw_tfl_op_relu6(tw_tfl_node *n)
{
    return clip(n, 0, 6, tw_tfl_table_relu6);
}

bool tw_tfl_op_relu_n1_to_1(tw_tfl_node *n)
{
    return clip(n, -1, 1, NULL);
}

bool tw_tfl_op_relu_0_to_1(tw_tfl_node *n)
{
    return clip(n, 0, 1, NULL);
}

bool tw_tfl_op_gelu(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    const char *op = tw_tfl_flag(n, TW_FIELD(Gelu, approximate)) ? "GeluTanh" : "Gelu";
    return x && tw_tfl_set(n, 0, tw_tfl_compute(n, 0, op, &x, 1, NULL, tw_tfl_no_clamp()));
}
