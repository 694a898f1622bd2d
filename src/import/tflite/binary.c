/* Functions of two elements, comparisons and logic. */
#include "import/tflite/tflite.h"

/* An integer tensor of 32 bits and more is computed with as it is stored, whatever scale it has. */
static tw_value *plain(tw_tfl_node *n, tw_value *x)
{
    bool wide = x && (x->shape.dtype == TW_S32 || x->shape.dtype == TW_S64);
    return wide ? tw_build_with_quant(n->b, x, (tw_quant){0, 0, NULL, NULL}) : x;
}

/* Sums of quantised tensors that the file calls FLOAT32: the interpreter takes the operands' type, so
 * it is taken here. */
static void mend_type(tw_tfl_node *n, const tw_value *x)
{
    if (!x || !tw_tfl_wants(n, 0) || x->quant.count == 0 ||
        tw_tfl_dtype(tw_tfl_out_tensor(n, 0)) != TW_F32 || !tw_tfl_has(n, 0))
        return;
    tw_tfl_tensor *out = &n->import->subgraph->tensors[n->operator->out[0]];
    tw_warn(n->b->diag, n->b->node, n->op, "the result's type is taken to be that of the operands");
    out->type = tw_tfl_in_tensor(n, 0)->type;
}

static bool apply(tw_tfl_node *n, const char *op, int activation)
{
    tw_value *in[] = {plain(n, tw_tfl_in(n, 0)), plain(n, tw_tfl_in(n, 1))};
    tw_clamp clamp;
    mend_type(n, in[0]);
    return in[0] && in[1] && tw_tfl_activation(n, activation, &clamp) &&
           tw_tfl_set(n, 0, tw_tfl_compute(n, 0, op, in, 2, NULL, clamp));
}

/* The row names the one IR operator that it is. */
bool tw_tfl_op_binary(tw_tfl_node *n)
{
    return apply(n, n->row->becomes, TW_TFL_ACTIVATION_NONE);
}

bool tw_tfl_op_add(tw_tfl_node *n)
{
    return apply(n, "Add", tw_tfl_byte(n, TW_FIELD(Add, fused_activation_function), 0));
}

bool tw_tfl_op_sub(tw_tfl_node *n)
{
    return apply(n, "Sub", tw_tfl_byte(n, TW_FIELD(Sub, fused_activation_function), 0));
}

bool tw_tfl_op_mul(tw_tfl_node *n)
{
    return apply(n, "Mul", tw_tfl_byte(n, TW_FIELD(Mul, fused_activation_function), 0));
}

bool tw_tfl_op_div(tw_tfl_node *n)
{
    return apply(n, "Div", tw_tfl_byte(n, TW_FIELD(Div, fused_activation_function), 0));
}

bool tw_tfl_op_add_n(tw_tfl_node *n)
{
    int count = (int)n->operator->in_count;
    tw_value **in = tw_alloc_array(n->import->scratch, (size_t)count, sizeof *in);
    for (int i = 0; i < count; i++) {
        in[i] = plain(n, tw_tfl_in(n, i));
        if (!in[i])
            return false;
    }
    if (in[0]->quant.count && count != 2)
        return TW_TFL_UNSUPPORTED(n, "quantised sums of more than two tensors are not supported");
    if (count == 2)
        return apply(n, "Add", TW_TFL_ACTIVATION_NONE);
    return tw_tfl_set(n, 0, tw_build_chain(n->b, "Add", in, count));
}

/* The second where the first is true, else the third. SELECT's condition of one axis picks whole rows
 * of the outermost axis. */
bool tw_tfl_op_select(tw_tfl_node *n)
{
    tw_value *in[] = {tw_tfl_in(n, 0), tw_tfl_in(n, 1), tw_tfl_in(n, 2)};
    if (!in[0] || !in[1] || !in[2])
        return false;
    int rank = in[1]->shape.rank;
    if (n->row->code == TW_TFL_BUILTIN_SELECT && in[0]->shape.rank == 1 && rank > 1) {
        int64_t dim[TW_MAX_RANK] = {in[0]->shape.dim[0], 1, 1, 1, 1, 1};
        in[0] = tw_build_reshape(n->b, in[0], rank, dim);
    }
    return tw_tfl_set(n, 0, tw_tfl_compute(n, 0, "Where", in, 3, NULL, tw_tfl_no_clamp()));
}
