/* Attention: scaled products of queries and keys, masked, softmaxed, and the values weighted by them.
 * Heads that share keys stand behind one another as rows of one matrix, so that nothing is copied. What
 * is masked takes no part: its score is the least number, its weight 0, also where a whole row is. */
#include <math.h>
#include <string.h>

#include "import/onnx/onnx.h"

typedef struct tw_attention {
    tw_onnx_node *n;
    tw_builder *b;
    tw_value *q, *k, *v; /* [batch, heads, rows, size] */
    bool flat;           /* the operands are [batch, rows, heads * size] */
    int64_t batch, heads, kv_heads, rows, keys, size, v_size, past;
    tw_value *allowed; /* bool, broadcasts to [batch, heads, rows, keys]; null: everything */
    tw_value *bias;    /* float, the same; null: none */
} tw_attention;

/* [batch, rows, heads * size] as [batch, heads, rows, size]. */
static tw_value *split_heads(tw_attention *a, tw_value *x, int64_t heads)
{
    static const int64_t perm[] = {0, 2, 1, 3};
    if (heads < 1 || x->shape.dim[2] % heads != 0) {
        TW_ONNX_FAIL(a->n, "%d columns do not divide into %lld heads", (int)x->shape.dim[2],
                     (long long)heads);
        return NULL;
    }
    int64_t dim[] = {x->shape.dim[0], x->shape.dim[1], heads, x->shape.dim[2] / heads};
    return tw_build_transpose(a->b, tw_build_reshape(a->b, x, 4, dim), 4, perm);
}

static bool read_operands(tw_attention *a)
{
    tw_onnx_node *n = a->n;
    int rank = n->in[0]->shape.rank;
    int64_t q_heads = tw_onnx_int(n, "q_num_heads", 0),
            kv_heads = tw_onnx_int(n, "kv_num_heads", 0);
    tw_value *past_k = tw_onnx_in(n, 4), *past_v = tw_onnx_in(n, 5);
    for (int i = 0; i < 3; i++)
        if (n->in[i]->shape.rank != rank || n->in[i]->shape.dtype != TW_F32)
            return TW_ONNX_UNSUPPORTED(n,
                                       "queries, keys and values must have one rank and be FLOAT");
    if (rank != 3 && rank != 4)
        return TW_ONNX_FAIL(n, "the operands have rank %d; 3 or 4 are possible", rank);
    a->flat = rank == 3;
    a->q = a->flat ? split_heads(a, n->in[0], q_heads) : n->in[0];
    a->k = a->flat ? split_heads(a, n->in[1], kv_heads) : n->in[1];
    a->v = a->flat ? split_heads(a, n->in[2], kv_heads) : n->in[2];
    if (!a->q || !a->k || !a->v)
        return false;
    if (!past_k != !past_v)
        return TW_ONNX_FAIL(n, "past keys and values go together");
    a->past = past_k && past_k->shape.rank == 4 ? past_k->shape.dim[2] : 0;
    if (past_k) {
        a->k = tw_build_concat(a->b, (tw_value *[]){past_k, a->k}, 2, 2);
        a->v = tw_build_concat(a->b, (tw_value *[]){past_v, a->v}, 2, 2);
    }
    return a->k && a->v;
}

static bool read_extents(tw_attention *a)
{
    const int32_t *q = a->q->shape.dim, *k = a->k->shape.dim, *v = a->v->shape.dim;
    a->batch = q[0];
    a->heads = q[1];
    a->rows = q[2];
    a->size = q[3];
    a->kv_heads = k[1];
    a->keys = k[2];
    a->v_size = v[3];
    if (k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || v[2] != k[2] || k[3] != q[3] || k[1] < 1 ||
        q[1] % k[1] != 0)
        return TW_ONNX_FAIL(a->n, "queries, keys and values do not fit each other");
    return true;
}

/* --- masks ------------------------------------------------------------------------------------- */

static void allow(tw_attention *a, tw_value *more)
{
    a->allowed = a->allowed ? tw_build2(a->b, "And", a->allowed, more, NULL) : more;
}

/* The given mask: what may be attended, or what is added to scores. Keys behind its end are masked. */
static bool read_mask(tw_attention *a)
{
    tw_value *mask = tw_onnx_in(a->n, 3);
    if (!mask)
        return true;
    int rank = mask->shape.rank;
    bool is_bool = mask->shape.dtype == TW_BOOL;
    if (rank < 1 || rank > 4 || (!is_bool && mask->shape.dtype != TW_F32))
        return TW_ONNX_UNSUPPORTED(a->n, "the mask must be BOOL or FLOAT, of rank 1 to 4");
    int64_t missing = a->keys - mask->shape.dim[rank - 1];
    if (missing > 0 && mask->shape.dim[rank - 1] != 1) {
        int64_t before[4] = {0}, after[4] = {0};
        after[rank - 1] = missing;
        mask = tw_build1(a->b, "Pad", mask,
                         TW_SETTINGS(tw_set_ints("before", rank, before),
                                     tw_set_ints("after", rank, after),
                                     tw_set_float("value", is_bool ? 0 : -INFINITY)));
    }
    if (is_bool) {
        allow(a, mask);
        return a->allowed != NULL;
    }
    a->bias = mask; /* minus infinity masks */
    allow(a, tw_build1(a->b, "Not", tw_build1(a->b, "IsNegativeInf", mask, NULL), NULL));
    return a->allowed != NULL;
}

/* position of a query = its row + the keys before it. low <= key - position <= high is allowed. */
static bool allow_band(tw_attention *a, int64_t low, int64_t high, tw_value *lengths)
{
    if (low == INT64_MIN && high == INT64_MAX)
        return true;
    if (!lengths) {
        allow(a, tw_build_band(a->b, (int32_t)a->rows, (int32_t)a->keys,
                               low == INT64_MIN ? low : low + a->past,
                               high == INT64_MAX ? high : high + a->past));
        return a->allowed != NULL;
    }
    /* The keys before a batch entry's queries: its length less their number. */
    tw_value *before =
        tw_build2(a->b, "Sub", lengths, tw_build_scalar(a->b, TW_S64, (double)a->rows), NULL);
    tw_value *at =
        tw_build2(a->b, "Add", before, tw_build_iota(a->b, TW_S64, 4, 2, (int32_t)a->rows), NULL);
    tw_value *apart =
        tw_build2(a->b, "Sub", tw_build_iota(a->b, TW_S64, 4, 3, (int32_t)a->keys), at, NULL);
    if (high != INT64_MAX)
        allow(a, tw_build2(a->b, "LessOrEqual", apart, tw_build_scalar(a->b, TW_S64, (double)high),
                           NULL));
    if (low != INT64_MIN)
        allow(a, tw_build2(a->b, "GreaterOrEqual", apart,
                           tw_build_scalar(a->b, TW_S64, (double)low), NULL));
    return a->allowed != NULL;
}

static bool read_limits(tw_attention *a)
{
    tw_onnx_node *n = a->n;
    bool causal = tw_onnx_int(n, "is_causal", 0) != 0;
    int64_t left = n->opset >= 25 ? tw_onnx_int(n, "left_window_size", -1) : -1;
    int64_t right = n->opset >= 25 ? tw_onnx_int(n, "right_window_size", -1) : -1;
    tw_value *lengths = tw_onnx_in(n, 6);
    if (lengths) {
        int64_t dim[] = {a->batch, 1, 1, 1};
        if (tw_shape_elements(&lengths->shape) != a->batch)
            return TW_ONNX_FAIL(n, "a length for each of %lld batch entries is needed",
                                (long long)a->batch);
        lengths = tw_build_reshape(a->b, tw_build_cast(a->b, lengths, TW_S64), 4, dim);
        allow(a, tw_build2(a->b, "Less", tw_build_iota(a->b, TW_S64, 4, 3, (int32_t)a->keys),
                           lengths, NULL));
        if (!a->allowed)
            return false;
    }
    if (causal)
        right = 0;
    return allow_band(a, left < 0 ? INT64_MIN : -left, right < 0 ? INT64_MAX : right, lengths);
}

/* --- products ---------------------------------------------------------------------------------- */

/* [batch, heads, rows, x] with the heads of a group behind one another, and back. */
static tw_value *grouped(tw_attention *a, tw_value *x, int64_t columns)
{
    int64_t dim[] = {a->batch, a->kv_heads, a->heads / a->kv_heads * a->rows, columns};
    return a->heads == a->kv_heads ? x : tw_build_reshape(a->b, x, 4, dim);
}

static tw_value *ungrouped(tw_attention *a, tw_value *x, int64_t columns)
{
    int64_t dim[] = {a->batch, a->heads, a->rows, columns};
    return a->heads == a->kv_heads ? x : tw_build_reshape(a->b, x, 4, dim);
}

static tw_value *choose(tw_attention *a, tw_value *x, double other)
{
    tw_value *in[] = {a->allowed, x, tw_build_scalar(a->b, TW_F32, other)};
    return !a->allowed || !x ? x : tw_build(a->b, "Where", in, 3, NULL);
}

/* Scores, what may be read of them on the way, and the weights that come of them. */
static tw_value *weights(tw_attention *a)
{
    tw_onnx_node *n = a->n;
    int64_t mode = tw_onnx_int(n, "qk_matmul_output_mode", 0);
    float scale = tw_onnx_float(n, "scale", 0), cap = tw_onnx_float(n, "softcap", 0);
    if (!tw_onnx_has(n, "scale"))
        scale = 1.0f / sqrtf((float)a->size);
    tw_value *step[4];
    tw_value *q = tw_build2(a->b, "Mul", a->q, tw_build_scalar(a->b, TW_F32, (double)scale), NULL);
    step[0] = tw_build2(a->b, "MatMul", grouped(a, q, a->size), a->k,
                        TW_SETTINGS(tw_set_int("transpose_b", 1)));
    step[0] = step[1] = ungrouped(a, step[0], a->keys);
    if (cap != 0) {
        tw_value *limit = tw_build_scalar(a->b, TW_F32, (double)cap);
        tw_value *bent =
            tw_build1(a->b, "Tanh", tw_build2(a->b, "Div", step[0], limit, NULL), NULL);
        step[1] = tw_build2(a->b, "Mul", bent, limit, NULL);
    }
    tw_value *sum = a->bias ? tw_build2(a->b, "Add", step[1], a->bias, NULL) : step[1];
    step[2] = tw_onnx_wants(n, 3) && mode == 2 ? choose(a, sum, -INFINITY) : sum;
    step[3] = tw_build1(a->b, "Softmax", choose(a, sum, -3.4028234663852886e38),
                        TW_SETTINGS(tw_set_int("axis", 3)));
    step[3] = choose(a, step[3], 0);
    if (mode < 0 || mode > 3) {
        TW_ONNX_FAIL(n, "qk_matmul_output_mode is %lld; 0 to 3 are possible", (long long)mode);
        return NULL;
    }
    return !tw_onnx_wants(n, 3) || tw_onnx_bind(n, 3, step[mode]) ? step[3] : NULL;
}

bool tw_onnx_op_attention(tw_onnx_node *n)
{
    static const int64_t perm[] = {0, 2, 1, 3};
    tw_attention a = {.n = n, .b = n->b};
    int64_t precision = tw_onnx_int(n, "softmax_precision", 1);
    if (precision != 1)
        return TW_ONNX_UNSUPPORTED(n, "softmax_precision other than FLOAT is not supported");
    if (!read_operands(&a) || !read_extents(&a) || !read_mask(&a) || !read_limits(&a))
        return false;
    tw_value *p = weights(&a);
    if (!p)
        return false;
    tw_value *y = tw_build2(a.b, "MatMul", grouped(&a, p, a.keys), a.v, NULL);
    y = ungrouped(&a, y, a.v_size);
    if (a.flat) {
        int64_t dim[] = {a.batch, a.rows, a.heads * a.v_size};
        y = tw_build_reshape(a.b, tw_build_transpose(a.b, y, 4, perm), 3, dim);
    }
    return tw_onnx_bind(n, 0, y) && (!tw_onnx_wants(n, 1) || tw_onnx_bind(n, 1, a.k)) &&
           (!tw_onnx_wants(n, 2) || tw_onnx_bind(n, 2, a.v));
}
