/* Operators of com.microsoft that optimised models contain: normalisations with their sums, activations, and linear
 * layers with an activation behind. */
#include <math.h>
#include <string.h>

#include "import/onnx/model.h"

/* --- normalisations ---------------------------------------------------------------------------- */

/* x over its last axis, times gamma, plus beta where it is given. */
static tw_value *normalised(tw_onnx_node *n, const char *op, tw_value *x, tw_value *gamma,
                            tw_value *beta, float epsilon)
{
    if (!x || !gamma)
        return NULL;
    int64_t axis = x->shape.rank - 1;
    if (x->shape.rank < 1 || gamma->shape.rank != 1 || gamma->shape.dim[0] != x->shape.dim[axis] ||
        (beta && !tw_shape_equal(&beta->shape, &gamma->shape))) {
        TW_ONNX_FAIL(n, "gamma and beta must have as many elements as the last axis");
        return NULL;
    }
    tw_value *in[] = {x, gamma, beta};
    return tw_build(n->b, op, in, beta ? 3 : 2,
                    TW_SETTINGS(tw_set_ints("axes", 1, &axis), tw_set_float("epsilon", epsilon)));
}

/* Input plus skip plus bias, which is a result too, normalised. */
static bool skip_normalised(tw_onnx_node *n, const char *op, int beta, int bias)
{
    float epsilon = tw_onnx_float(n, "epsilon", 9.999999960041972e-13f);
    tw_value *added = tw_onnx_in(n, bias);
    tw_value *sum = tw_build2(n->b, "Add", n->in[0], n->in[1], NULL);
    if (added)
        sum = tw_build2(n->b, "Add", sum, added, NULL);
    tw_value *y = normalised(n, op, sum, n->in[2], beta < 0 ? NULL : tw_onnx_in(n, beta), epsilon);
    return tw_onnx_bind(n, 0, y) && (!tw_onnx_wants(n, 3) || tw_onnx_bind(n, 3, sum));
}

bool tw_onnx_op_skip_layer_normalization(tw_onnx_node *n)
{
    return skip_normalised(n, "Normalize", 3, 4);
}

bool tw_onnx_op_skip_simplified_layer_normalization(tw_onnx_node *n)
{
    return skip_normalised(n, "RmsNormalize", -1, 3);
}

/* How many of each sequence's tokens count. */
static bool bind_mask_index(tw_onnx_node *n)
{
    tw_value *mask = tw_onnx_in(n, 7);
    int32_t batch = n->in[0]->shape.dim[0];
    const int64_t axis = 1;
    if (!tw_onnx_wants(n, 1))
        return true;
    if (!mask)
        return tw_onnx_bind(n, 1, tw_build_full(n->b, tw_shape_of(TW_S32, 1, &batch), 0));
    return tw_onnx_bind(
        n, 1,
        tw_build1(n->b, "ReduceSum", mask,
                  TW_SETTINGS(tw_set_ints("axes", 1, &axis), tw_set_int("keepdims", 0))));
}

/* Words, positions and segments, added up and normalised. */
bool tw_onnx_op_embed_layer_normalization(tw_onnx_node *n)
{
    tw_value *ids = n->in[0], *segments = tw_onnx_in(n, 1), *table = tw_onnx_in(n, 4);
    tw_value *positions = tw_onnx_in(n, 8);
    float epsilon = tw_onnx_float(n, "epsilon", 9.999999960041972e-13f);
    if (tw_onnx_int(n, "mask_index_type", 0) != 0)
        return TW_ONNX_UNSUPPORTED(n, "mask_index_type other than 0 is not supported");
    if (ids->shape.rank != 2 || !segments != !table)
        return TW_ONNX_FAIL(n, "ids must be [batch, tokens], and segments come with their table");
    for (int i = 2; i < 7; i++)
        if (i != 4 && !tw_onnx_need(n, i))
            return false;
    if (!positions)
        positions = tw_build_iota(n->b, TW_S64, 2, 1, ids->shape.dim[1]);
    tw_value *sum = tw_build2(n->b, "Add", tw_build_gather(n->b, n->in[2], ids, 0, 0),
                              tw_build_gather(n->b, n->in[3], positions, 0, 0), NULL);
    if (table)
        sum = tw_build2(n->b, "Add", sum, tw_build_gather(n->b, table, segments, 0, 0), NULL);
    tw_value *y = normalised(n, "Normalize", sum, n->in[5], n->in[6], epsilon);
    return tw_onnx_bind(n, 0, y) && bind_mask_index(n) &&
           (!tw_onnx_wants(n, 2) || tw_onnx_bind(n, 2, sum));
}

/* --- activations ------------------------------------------------------------------------------- */

/* Gelu, BiasGelu and FastGelu, of the operand and a bias where there is one. */
bool tw_onnx_op_bias_gelu(tw_onnx_node *n)
{
    tw_value *x = n->in[0], *bias = tw_onnx_in(n, 1);
    if (bias)
        x = tw_build2(n->b, "Add", x, bias, NULL);
    return tw_onnx_bind(n, 0, tw_build1(n->b, n->op[0] == 'F' ? "GeluTanh" : "Gelu", x, NULL));
}

bool tw_onnx_op_quick_gelu(tw_onnx_node *n)
{
    float alpha = tw_onnx_float(n, "alpha", 1.702f);
    return tw_onnx_bind(
        n, 0, tw_build1(n->b, "Swish", n->in[0], TW_SETTINGS(tw_set_float("alpha", alpha))));
}

/* The activation that a fused operator names, with up to two parameters. */
static tw_value *activated(tw_onnx_node *n, tw_value *x, const char *name, const float *parameter)
{
    static const struct {
        const char *name;
        int parameters;
    } known[] = {{"Relu", 0},      {"Tanh", 0}, {"Sigmoid", 0},
                 {"LeakyRelu", 1}, {"Clip", 2}, {"HardSigmoid", 2}};
    if (!x || !*name)
        return x;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            tw_setting settings[] = {tw_set_float("alpha", parameter[0]),
                                     tw_set_float("beta", parameter[1]),
                                     {.name = NULL}};
            settings[known[i].parameters].name = NULL;
            return tw_build1(n->b, name, x, settings);
        }
    TW_ONNX_UNSUPPORTED(n, "the activation %s is not supported", name);
    return NULL;
}

/* Defaults of LeakyRelu, Clip and HardSigmoid where no parameters are given. */
static void default_parameters(const char *name, float *parameter)
{
    parameter[0] = strcmp(name, "Clip") == 0          ? -INFINITY
                   : strcmp(name, "HardSigmoid") == 0 ? 0.2f
                                                      : 0.01f;
    parameter[1] = strcmp(name, "Clip") == 0 ? INFINITY : 0.5f;
}

/* --- linear layers ----------------------------------------------------------------------------- */

/* Conv, plus a tensor of the result's shape, activated. */
bool tw_onnx_op_fused_conv(tw_onnx_node *n)
{
    const char *name = tw_onnx_text(n, "activation", "");
    const Tw__Onnx__Attribute *given = tw_onnx_attribute(n, "activation_params");
    float parameter[2];
    default_parameters(name, parameter);
    for (size_t i = 0; given && i < given->n_floats && i < 2; i++)
        parameter[i] = given->floats[i];
    tw_value *y = tw_onnx_conv(n, n->in[0], n->in[1], tw_onnx_in(n, 2)), *z = tw_onnx_in(n, 3);
    if (z)
        y = tw_build2(n->b, "Add", y, z, NULL);
    return tw_onnx_bind(n, 0, activated(n, y, name, parameter));
}

bool tw_onnx_op_fused_gemm(tw_onnx_node *n)
{
    const char *name = tw_onnx_text(n, "activation", "");
    float parameter[2];
    default_parameters(name, parameter);
    parameter[0] = tw_onnx_float(n, "activation_alpha", parameter[0]);
    parameter[1] = tw_onnx_float(n, "activation_beta", parameter[1]);
    tw_onnx_ignore(n, "activation_gamma"); /* of no activation that is imported */
    tw_value *y = tw_onnx_gemm(n, n->in[0], n->in[1], tw_onnx_in(n, 2));
    return tw_onnx_bind(n, 0, activated(n, y, name, parameter));
}

/* An operand of a product, of which the last two axes are exchanged, or the first ones rotated to the end:
 * [x, batch.., y] becomes [batch.., x, y]. */
static tw_value *oriented(tw_onnx_node *n, tw_value *x, bool transposed, bool batch)
{
    int rank = x->shape.rank;
    int64_t perm[TW_MAX_RANK];
    if (rank < 2 || (!transposed && !batch))
        return x;
    for (int i = 0; i < rank; i++)
        perm[i] = batch && i < rank - 1 ? (i + 1 < rank - 1 ? i + 1 : 0) : i;
    if (transposed) {
        int64_t last = perm[rank - 1];
        perm[rank - 1] = perm[rank - 2];
        perm[rank - 2] = last;
    }
    return rank == 2 && transposed ? tw_build_weight(n->b, x, perm, 0, NULL)
                                   : tw_build_transpose(n->b, x, rank, perm);
}

bool tw_onnx_op_fused_matmul(tw_onnx_node *n)
{
    float alpha = tw_onnx_float(n, "alpha", 1);
    tw_value *a = oriented(n, n->in[0], tw_onnx_int(n, "transA", 0) != 0,
                           tw_onnx_int(n, "transBatchA", 0) != 0);
    tw_value *b = oriented(n, n->in[1], tw_onnx_int(n, "transB", 0) != 0,
                           tw_onnx_int(n, "transBatchB", 0) != 0);
    tw_value *y = tw_onnx_matmul(n, a, b);
    if (alpha != 1)
        y = tw_build2(n->b, "Mul", y, tw_build_scalar(n->b, TW_F32, (double)alpha), NULL);
    return tw_onnx_bind(n, 0, y);
}
