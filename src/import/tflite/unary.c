/* Functions of one element. */
#include "import/tflite/tflite.h"

static bool apply(tw_tfl_node *n, const char *op, const tw_setting *settings)
{
    tw_value *x = tw_tfl_in(n, 0);
    return x && tw_tfl_set(n, 0, tw_tfl_compute(n, 0, op, &x, 1, settings, tw_tfl_no_clamp()));
}

/* The row names the one IR operator that it is. */
bool tw_tfl_op_unary(tw_tfl_node *n)
{
    return apply(n, n->row->becomes, NULL);
}

bool tw_tfl_op_leaky_relu(tw_tfl_node *n)
{
    float alpha = tw_tfl_float(n, TW_FIELD(LeakyRelu, alpha), 0);
    return apply(n, "LeakyRelu", TW_SETTINGS(tw_set_float("alpha", alpha)));
}

/* Between two bounds. The reference clamps what is stored: the result is stored as the input is. */
static bool clip(tw_tfl_node *n, float low, float high)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_node *node =
        x ? tw_build_node(n->b, "Clip", &x, 1,
                          TW_SETTINGS(tw_set_float("alpha", low), tw_set_float("beta", high)))
          : NULL;
    if (!node)
        return false;
    node->out[0]->quant = x->quant;
    return tw_tfl_set(n, 0, node->out[0]);
}

bool tw_tfl_op_relu6(tw_tfl_node *n)
{
    return clip(n, 0, 6);
}

bool tw_tfl_op_relu_n1_to_1(tw_tfl_node *n)
{
    return clip(n, -1, 1);
}

bool tw_tfl_op_relu_0_to_1(tw_tfl_node *n)
{
    return clip(n, 0, 1);
}

bool tw_tfl_op_gelu(tw_tfl_node *n)
{
    return apply(n, tw_tfl_flag(n, TW_FIELD(Gelu, approximate)) ? "GeluTanh" : "Gelu", NULL);
}
