/* Matrix products, and attention, which is made of them. */
#include <math.h>

#include "import/product.h"
#include "import/pytorch/torch.h"

static tw_value *with_axes(tw_torch_call *c, tw_value *x, int axis, bool add)
{
    int64_t dim[TW_MAX_RANK + 1];
    int rank = 0;
    if (!x)
        return NULL;
    for (int i = 0; i <= x->shape.rank; i++) {
        if (add && i == axis)
            dim[rank++] = 1;
        if (i < x->shape.rank && (add || i != axis))
            dim[rank++] = x->shape.dim[i];
    }
    if (rank > TW_MAX_RANK) {
        TW_TORCH_UNSUPPORTED(c, "a result of rank %d; at most %d are supported", rank, TW_MAX_RANK);
        return NULL;
    }
    return tw_build_reshape(c->b, x, rank, dim);
}

tw_value *tw_torch_with_axis(tw_torch_call *c, tw_value *x, int axis)
{
    return with_axes(c, x, axis, true);
}

tw_value *tw_torch_without_axis(tw_torch_call *c, tw_value *x, int axis)
{
    return x && x->shape.rank ? with_axes(c, x, axis, false) : x;
}

tw_value *tw_torch_linear(tw_torch_call *c, tw_value *x, tw_value *w, tw_value *bias)
{
    if (!x || !w)
        return NULL;
    const int rank = x->shape.rank;
    if (w->shape.rank == 1) /* one output, whose axis goes */
        return tw_torch_without_axis(c, tw_torch_linear(c, x, tw_torch_with_axis(c, w, 0), bias),
                                     rank - 1);
    if (rank < 1 || w->shape.rank != 2 || x->shape.dim[rank - 1] != w->shape.dim[1]) {
        TW_TORCH_FAIL(c, "weights of rank %d do not fit the input", w->shape.rank);
        return NULL;
    }
    if (tw_build_is_weight(w) && (!bias || tw_build_is_weight(bias)))
        return tw_build(c->b, "FullyConnected", (tw_value *const[]){x, w, bias}, bias ? 3 : 2,
                        NULL);
    tw_value *wide = rank == 1 ? tw_torch_with_axis(c, x, 0) : x;
    tw_value *y = tw_build2(c->b, "MatMul", wide, w, TW_SETTINGS(tw_set_int("transpose_b", 1)));
    if (rank == 1)
        y = tw_torch_without_axis(c, y, 0);
    return bias ? tw_build2(c->b, "Add", y, bias, NULL) : y;
}

bool tw_torch_op_linear(tw_torch_call *c)
{
    return tw_torch_give(c, tw_torch_linear(c, tw_torch_real_in(c, 0), tw_torch_real_in(c, 1),
                                            tw_torch_has(c, 2) ? tw_torch_real_in(c, 2) : NULL));
}

/* A transpose of the last two axes of a matrix: what it is of. */
static tw_value *swapped(tw_torch_call *c, tw_value *x)
{
    int64_t perm[TW_MAX_RANK];
    const int rank = x->shape.rank;
    for (int i = 0; i < rank; i++)
        perm[i] = i < rank - 2 ? i : i == rank - 2 ? rank - 1 : rank - 2;
    return rank == 2 && tw_build_is_weight(x) ? tw_build_weight(c->b, x, perm, 0, NULL)
                                              : tw_build_transpose(c->b, x, rank, perm);
}

tw_value *tw_torch_product(tw_torch_call *c, tw_value *x, tw_value *y)
{
    if (!x || !y)
        return NULL;
    const int x_rank = x->shape.rank, y_rank = y->shape.rank;
    if (x_rank < 1 || y_rank < 1 ||
        x->shape.dim[x_rank - 1] != y->shape.dim[y_rank > 1 ? y_rank - 2 : 0]) {
        TW_TORCH_FAIL(c, "the columns of the first operand do not meet the rows of the second");
        return NULL;
    }
    if (y_rank == 2 && tw_build_is_weight(y))
        return tw_torch_linear(c, x, swapped(c, y), NULL);
    /* A vector on the left is a row, on the right a column; its axis goes again afterwards. */
    if (x_rank == 1)
        x = tw_torch_with_axis(c, x, 0);
    if (y_rank == 1)
        y = tw_torch_with_axis(c, y, 1);
    tw_value *z = tw_build2(c->b, "MatMul", x, y, NULL);
    if (z && y_rank == 1)
        z = tw_torch_without_axis(c, z, z->shape.rank - 1);
    if (z && x_rank == 1)
        z = tw_torch_without_axis(c, z, z->shape.rank - (y_rank == 1 ? 1 : 2));
    return z;
}

bool tw_torch_op_matmul(tw_torch_call *c)
{
    return tw_torch_give(c, tw_torch_product(c, tw_torch_real_in(c, 0), tw_torch_real_in(c, 1)));
}

/* Two vectors: every product. */
bool tw_torch_op_outer(tw_torch_call *c)
{
    tw_value *pair[2];
    if (!tw_torch_pair(c, 0, 1, false, pair))
        return false;
    if (pair[0]->shape.rank != 1 || pair[1]->shape.rank != 1)
        return TW_TORCH_FAIL(c, "operands of rank %d and %d; they must be vectors",
                             pair[0]->shape.rank, pair[1]->shape.rank);
    return tw_torch_give(c, tw_build2(c->b, "Mul", tw_torch_with_axis(c, pair[0], 1),
                                      tw_torch_with_axis(c, pair[1], 0), NULL));
}

/* (equation, operands) */
bool tw_torch_op_einsum(tw_torch_call *c)
{
    const tw_torch_object *list = c->arg[1];
    tw_value *in[16];
    if (list->count < 1 || list->count > 16)
        return TW_TORCH_UNSUPPORTED(c, "%d operands; 1 to 16 are supported", list->count);
    for (int i = 0; i < list->count; i++) {
        in[i] = list->items[i]->kind == TW_TORCH_TENSOR
                    ? tw_build_cast(c->b, tw_torch_value(c->t, list->items[i]->tensor), TW_F32)
                    : NULL;
        if (!in[i])
            return c->b->diag->code != TW_CODE_OK ? false
                                                  : TW_TORCH_FAIL(c, "operand %d is no tensor", i);
    }
    return tw_torch_give(c, tw_build_einsum(c->b, c->name, tw_torch_text(c, 0), in, list->count));
}

/* (v, g, dim): v with the lengths that g says, along all axes but one. Known at once, for what takes
 * weights. */
static tw_value *weight_of_norm(tw_torch_call *c)
{
    tw_value *v = tw_torch_real_in(c, 0), *g = tw_torch_real_in(c, 1);
    int64_t axes[TW_MAX_RANK];
    int kept = 0, count = 0;
    if (!v || !g ||
        (tw_torch_int(c, 2) != -1 && !tw_torch_axis(c, tw_torch_int(c, 2), v->shape.rank, &kept)))
        return NULL;
    for (int i = 0; i < v->shape.rank; i++)
        if (tw_torch_int(c, 2) == -1 || i != kept)
            axes[count++] = i;
    tw_value *length =
        count > 0
            ? tw_build1(c->b, "ReduceL2", v,
                        TW_SETTINGS(tw_set_ints("axes", count, axes), tw_set_int("keepdims", 1)))
            : tw_build1(c->b, "Abs", v, NULL);
    tw_value *w = tw_build2(c->b, "Mul", v, tw_build2(c->b, "Div", g, length, NULL), NULL);
    if (w)
        (void)tw_build_known(c->b, w);
    return w;
}

bool tw_torch_op_weight_norm(tw_torch_call *c)
{
    return tw_torch_give(c, weight_of_norm(c));
}

/* The second result are the norms. */
bool tw_torch_op_weight_norm_interface(tw_torch_call *c)
{
    return tw_torch_give_first(c, weight_of_norm(c), 2);
}

/* (add, x, y, beta, alpha): beta * add + alpha * x . y */
bool tw_torch_op_addmm(tw_torch_call *c)
{
    const double beta = tw_torch_real(c, 3), alpha = tw_torch_real(c, 4);
    tw_value *add = tw_torch_real_in(c, 0), *x = tw_torch_real_in(c, 1);
    tw_value *y = tw_torch_real_in(c, 2);
    if (!add || !x || !y)
        return false;
    if (beta == 1 && alpha == 1 && y->shape.rank == 2 && tw_build_is_weight(y) &&
        tw_build_is_weight(add) && add->shape.rank == 1 && add->shape.dim[0] == y->shape.dim[1] &&
        x->shape.rank == 2 && x->shape.dim[1] == y->shape.dim[0])
        return tw_torch_give(c, tw_torch_linear(c, x, swapped(c, y), add));
    tw_value *product = tw_torch_scaled(c, tw_torch_product(c, x, y), alpha);
    if (beta == 0)
        return tw_torch_give(c, product);
    return tw_torch_give(c, tw_build2(c->b, "Add", product, tw_torch_scaled(c, add, beta), NULL));
}

/* --- attention --------------------------------------------------------------------------------- */

/* [.., heads, rows, width] with fewer heads, each used several times. */
static tw_value *repeated_heads(tw_torch_call *c, tw_value *x, int64_t heads)
{
    const int rank = x->shape.rank;
    int64_t dim[TW_MAX_RANK + 1], repeats[TW_MAX_RANK + 1];
    if (rank < 3 || x->shape.dim[rank - 3] == heads)
        return x;
    const int64_t own = x->shape.dim[rank - 3];
    if (own < 1 || heads % own != 0 || rank + 1 > TW_MAX_RANK) {
        TW_TORCH_FAIL(c, "%lld heads of keys for %lld of queries", (long long)own,
                      (long long)heads);
        return NULL;
    }
    for (int i = 0; i <= rank; i++) {
        dim[i] = i < rank - 2 ? x->shape.dim[i] : i == rank - 2 ? 1 : x->shape.dim[i - 1];
        repeats[i] = i == rank - 2 ? heads / own : 1;
    }
    x = tw_build_reshape(c->b, x, rank + 1, dim);
    x = tw_build1(c->b, "Tile", x, TW_SETTINGS(tw_set_ints("repeats", rank + 1, repeats)));
    for (int i = 0; i < rank; i++)
        dim[i] = i == rank - 3 ? heads : i < rank - 3 ? dim[i] : dim[i + 1];
    return tw_build_reshape(c->b, x, rank, dim);
}

/* Where the arguments of an attention stand that not every one has; 0: it has none. */
typedef struct tw_attention_places {
    int mask, dropout, causal, scale, few_heads;
} tw_attention_places;

/* What is added to the scores: a mask of bool is 0 and -infinity. */
static tw_value *mask_of(tw_torch_call *c, const tw_attention_places *at, const tw_shape *scores)
{
    tw_value *mask = NULL;
    if (tw_torch_flag(c, at->causal))
        mask = tw_build_band(c->b, scores->dim[scores->rank - 2], scores->dim[scores->rank - 1],
                             -INT32_MAX, 0);
    else
        mask = tw_torch_in(c, at->mask);
    if (!mask || mask->shape.dtype != TW_BOOL)
        return tw_build_cast(c->b, mask, TW_F32);
    tw_value *in[] = {mask, tw_build_scalar(c->b, TW_F32, 0),
                      tw_build_scalar(c->b, TW_F32, -INFINITY)};
    return tw_build(c->b, "Where", in, 3, NULL);
}

/* (query, key, value, ..) */
static tw_value *attention(tw_torch_call *c, const tw_attention_places *at)
{
    tw_value *q = tw_torch_real_in(c, 0), *k = tw_torch_real_in(c, 1);
    tw_value *v = tw_torch_real_in(c, 2);
    if (!q || !k || !v)
        return NULL;
    const int rank = q->shape.rank;
    if (rank < 2 || k->shape.rank != rank || v->shape.rank != rank) {
        TW_TORCH_FAIL(c, "queries, keys and values must have one rank, from 2 on");
        return NULL;
    }
    if (tw_torch_real(c, at->dropout) != 0) {
        TW_TORCH_UNSUPPORTED(c, "dropout_p is not 0; call eval() before exporting");
        return NULL;
    }
    if (at->few_heads && tw_torch_flag(c, at->few_heads) && rank > 2) {
        k = repeated_heads(c, k, q->shape.dim[rank - 3]);
        v = repeated_heads(c, v, q->shape.dim[rank - 3]);
    }
    const double scale = tw_torch_has(c, at->scale) ? tw_torch_real(c, at->scale)
                                                    : 1 / sqrt((double)q->shape.dim[rank - 1]);
    tw_value *scores = k && v ? tw_build2(c->b, "MatMul", tw_torch_scaled(c, q, scale), k,
                                          TW_SETTINGS(tw_set_int("transpose_b", 1)))
                              : NULL;
    if (!scores)
        return NULL;
    if ((at->mask && tw_torch_has(c, at->mask)) || tw_torch_flag(c, at->causal))
        scores = tw_build2(c->b, "Add", scores, mask_of(c, at, &scores->shape), NULL);
    scores = tw_build1(c->b, "Softmax", scores, TW_SETTINGS(tw_set_int("axis", rank - 1)));
    return tw_build2(c->b, "MatMul", scores, v, NULL);
}

/* (query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa) */
bool tw_torch_op_attention(tw_torch_call *c)
{
    return tw_torch_give(c, attention(c, &(tw_attention_places){3, 4, 5, 6, 7}));
}

/* (query, key, value, dropout_p, is_causal, return_debug_mask, scale): what torch 2.1 and 2.2 export */
bool tw_torch_op_flash_attention(tw_torch_call *c)
{
    return tw_torch_give_first(c, attention(c, &(tw_attention_places){0, 3, 4, 6, 0}), 9);
}

/* (query, key, value, dropout_p, is_causal, attn_mask, scale) */
bool tw_torch_op_cpu_attention(tw_torch_call *c)
{
    return tw_torch_give_first(c, attention(c, &(tw_attention_places){5, 3, 4, 6, 0}), 2);
}
