/* Attention: scaled products of queries and keys, masked, softmaxed, and the values weighted by them.
 * Heads that share keys stand behind one another as rows of one matrix, so that nothing is copied. What
 * is masked takes no part: its score is the least number, its weight 0, also where a whole row is. */
#include "import/onnx/attention.h"

#include <math.h>
#include <string.h>

#include "import/onnx/tensor.h"

/* --- operands ---------------------------------------------------------------------------------- */

static const int64_t heads_first[] = {0, 2, 1, 3};

tw_value *tw_onnx_split_heads(tw_onnx_node *n, tw_value *x, int64_t heads)
{
    if (!x)
        return NULL;
    if (x->shape.rank != 3 || heads < 1 || x->shape.dim[2] % heads != 0) {
        TW_ONNX_FAIL(n, "%d columns of a tensor of rank %d do not divide into %lld heads",
                     x->shape.rank ? (int)x->shape.dim[x->shape.rank - 1] : 0, x->shape.rank,
                     (long long)heads);
        return NULL;
    }
    int64_t dim[] = {x->shape.dim[0], x->shape.dim[1], heads, x->shape.dim[2] / heads};
    return tw_build_transpose(n->b, tw_build_reshape(n->b, x, 4, dim), 4, heads_first);
}

tw_value *tw_onnx_merge_heads(tw_onnx_node *n, tw_value *y)
{
    if (!y)
        return NULL;
    const int32_t *d = y->shape.dim;
    int64_t dim[] = {d[0], d[2], (int64_t)d[1] * d[3]};
    return tw_build_reshape(n->b, tw_build_transpose(n->b, y, 4, heads_first), 3, dim);
}

static bool read_operands(tw_attention *a, bool *flat)
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
    *flat = rank == 3;
    a->q = *flat ? tw_onnx_split_heads(n, n->in[0], q_heads) : n->in[0];
    a->k = *flat ? tw_onnx_split_heads(n, n->in[1], kv_heads) : n->in[1];
    a->v = *flat ? tw_onnx_split_heads(n, n->in[2], kv_heads) : n->in[2];
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

bool tw_attention_extents(tw_attention *a, float scale)
{
    if (!a->q || !a->k || !a->v)
        return false;
    if (a->q->shape.rank != 4 || a->k->shape.rank != 4 || a->v->shape.rank != 4)
        return TW_ONNX_FAIL(a->n, "queries, keys and values by heads must have rank 4");
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
    a->scale = scale != 0 ? scale : 1.0f / sqrtf((float)a->size);
    return true;
}

/* --- masks ------------------------------------------------------------------------------------- */

bool tw_attention_allow(tw_attention *a, tw_value *more)
{
    a->allowed = a->allowed ? tw_build2(a->b, "And", a->allowed, more, NULL) : more;
    return a->allowed != NULL;
}

bool tw_attention_add(tw_attention *a, tw_value *more)
{
    a->bias = a->bias ? tw_build2(a->b, "Add", a->bias, more, NULL) : more;
    return a->bias != NULL;
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
    if (is_bool)
        return tw_attention_allow(a, mask);
    tw_value *masked = mask ? tw_build1(a->b, "IsNegativeInf", mask, NULL) : NULL;
    return tw_attention_add(a, mask) && tw_attention_allow(a, tw_build1(a->b, "Not", masked, NULL));
}

/* position of a query = its row + the keys before it. low <= key - position <= high is allowed. */
bool tw_attention_allow_band(tw_attention *a, int64_t low, int64_t high, tw_value *lengths)
{
    if (low == INT64_MIN && high == INT64_MAX)
        return true;
    if (!lengths)
        return tw_attention_allow(a, tw_build_band(a->b, (int32_t)a->rows, (int32_t)a->keys,
                                                   low == INT64_MIN ? low : low + a->past,
                                                   high == INT64_MAX ? high : high + a->past));
    /* The keys before a batch entry's queries: its length less their number. */
    tw_value *before =
        tw_build2(a->b, "Sub", lengths, tw_build_scalar(a->b, TW_S64, (double)a->rows), NULL);
    tw_value *at =
        tw_build2(a->b, "Add", before, tw_build_iota(a->b, TW_S64, 4, 2, (int32_t)a->rows), NULL);
    tw_value *apart =
        tw_build2(a->b, "Sub", tw_build_iota(a->b, TW_S64, 4, 3, (int32_t)a->keys), at, NULL);
    tw_value *bound = tw_build_scalar(a->b, TW_S64, (double)high);
    if (high != INT64_MAX &&
        !tw_attention_allow(a, tw_build2(a->b, "LessOrEqual", apart, bound, NULL)))
        return false;
    bound = tw_build_scalar(a->b, TW_S64, (double)low);
    return low == INT64_MIN ||
           tw_attention_allow(a, tw_build2(a->b, "GreaterOrEqual", apart, bound, NULL));
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
        tw_value *at = tw_build_iota(a->b, TW_S64, 4, 3, (int32_t)a->keys);
        if (!tw_attention_allow(a, tw_build2(a->b, "Less", at, lengths, NULL)))
            return false;
    }
    if (causal)
        right = 0;
    return tw_attention_allow_band(a, left < 0 ? INT64_MIN : -left, right < 0 ? INT64_MAX : right,
                                   lengths);
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
    tw_value *step[4];
    tw_value *q =
        tw_build2(a->b, "Mul", a->q, tw_build_scalar(a->b, TW_F32, (double)a->scale), NULL);
    step[0] = tw_build2(a->b, "MatMul", grouped(a, q, a->size), a->k,
                        TW_SETTINGS(tw_set_int("transpose_b", 1)));
    step[0] = step[1] = ungrouped(a, step[0], a->keys);
    if (a->cap != 0) {
        tw_value *limit = tw_build_scalar(a->b, TW_F32, (double)a->cap);
        tw_value *bent =
            tw_build1(a->b, "Tanh", tw_build2(a->b, "Div", step[0], limit, NULL), NULL);
        step[1] = tw_build2(a->b, "Mul", bent, limit, NULL);
    }
    tw_value *sum = a->bias ? tw_build2(a->b, "Add", step[1], a->bias, NULL) : step[1];
    step[2] = a->scores_out >= 0 && a->mode == 2 ? choose(a, sum, -INFINITY) : sum;
    step[3] = tw_build1(a->b, "Softmax", choose(a, sum, -3.4028234663852886e38),
                        TW_SETTINGS(tw_set_int("axis", 3)));
    step[3] = choose(a, step[3], 0);
    return a->scores_out < 0 || tw_onnx_bind(a->n, a->scores_out, step[a->mode]) ? step[3] : NULL;
}

tw_value *tw_attention_result(tw_attention *a)
{
    tw_value *p = weights(a);
    return p ? ungrouped(a, tw_build2(a->b, "MatMul", grouped(a, p, a->keys), a->v, NULL),
                         a->v_size)
             : NULL;
}

/* --- caches ------------------------------------------------------------------------------------ */

static tw_value *one_number(tw_builder *b, tw_value *x)
{
    static const int64_t one[] = {1};
    return tw_build_reshape(b, tw_build_cast(b, x, TW_S32), 1, one);
}

tw_value *tw_onnx_appended(tw_builder *b, tw_value *cache, tw_value *x, tw_value *position,
                           bool ring)
{
    tw_value *in[] = {cache, x, one_number(b, position)};
    return in[0] && in[1] && in[2]
               ? tw_build(b, "Append", in, 3, TW_SETTINGS(tw_set_int("ring", ring)))
               : NULL;
}

bool tw_attention_can_read_caches(const tw_attention *a)
{
    const tw_value *const operands[] = {a->q, a->k, a->v};
    for (int i = 0; i < 3; i++)
        if (!operands[i] || operands[i]->shape.rank != 4 || operands[i]->shape.dtype != TW_F32 ||
            operands[i]->shape.dim[0] != 1)
            return false;
    return !a->allowed && !a->bias && a->cap == 0 && a->scores_out < 0 &&
           a->q->shape.dim[2] <= a->k->shape.dim[2];
}

tw_value *tw_attention_over_caches(tw_attention *a, tw_value *position, int64_t window)
{
    tw_value *in[] = {a->q, a->k, a->v, one_number(a->b, position)};
    return in[3] ? tw_build(
                       a->b, "Attention", in, 4,
                       TW_SETTINGS(tw_set_float("scale", a->scale), tw_set_int("window", window)))
                 : NULL;
}

/* Are the keys a cache that this call's have just been put into? */
static bool reads_caches(const tw_attention *a, const tw_value *lengths)
{
    const tw_node *k = a->k->producer, *v = a->v->producer;
    return lengths && tw_onnx_int(a->n, "is_causal", 0) != 0 && a->past == 0 && a->scale > 0 &&
           tw_attention_can_read_caches(a) && k && v && strcmp(k->op->name, "Append") == 0 &&
           strcmp(v->op->name, "Append") == 0;
}

static tw_value *cached_result(tw_attention *a, tw_value *lengths)
{
    const int64_t left = a->n->opset >= 25 ? tw_onnx_int(a->n, "left_window_size", -1) : -1;
    tw_value *position = tw_build2(a->b, "Sub", tw_build_cast(a->b, lengths, TW_S64),
                                   tw_build_scalar(a->b, TW_S64, (double)a->rows), NULL);
    return position ? tw_attention_over_caches(a, position, left < 0 ? 0 : left + 1) : NULL;
}

bool tw_onnx_op_attention(tw_onnx_node *n)
{
    tw_attention a = {.n = n, .b = n->b, .scores_out = tw_onnx_wants(n, 3) ? 3 : -1};
    int64_t precision = tw_onnx_int(n, "softmax_precision", 1);
    bool flat;
    a.mode = tw_onnx_int(n, "qk_matmul_output_mode", 0);
    a.cap = tw_onnx_float(n, "softcap", 0);
    if (a.mode < 0 || a.mode > 3)
        return TW_ONNX_FAIL(n, "qk_matmul_output_mode is %lld; 0 to 3 are possible",
                            (long long)a.mode);
    if (tw_onnx_dtype(precision) != TW_F32 && !tw_onnx_is_widened(tw_onnx_dtype(precision)))
        return TW_ONNX_UNSUPPORTED(n, "softmax_precision must be a float of at most 32 bits");
    if (!read_operands(&a, &flat) || !tw_attention_extents(&a, 0))
        return false;
    if (tw_onnx_has(n, "scale"))
        a.scale = tw_onnx_float(n, "scale", 0);
    if (!read_mask(&a))
        return false;
    tw_value *lengths = tw_onnx_in(n, 6), *y;
    if (reads_caches(&a, lengths))
        y = cached_result(&a, lengths);
    else if (read_limits(&a))
        y = tw_attention_result(&a);
    else
        return false;
    return tw_onnx_bind(n, 0, flat ? tw_onnx_merge_heads(n, y) : y) &&
           (!tw_onnx_wants(n, 1) || tw_onnx_bind(n, 1, a.k)) &&
           (!tw_onnx_wants(n, 2) || tw_onnx_bind(n, 2, a.v));
}

/* --- with bodies on the way -------------------------------------------------------------------- */

/* The graph that the attribute holds, which takes and gives tensors of one shape; x itself without one. */
static tw_value *modified(tw_onnx_node *n, const char *name, tw_value *x)
{
    const Tw__Onnx__Attribute *a = tw_onnx_attribute(n, name);
    tw_value *y = x;
    if (!a || !x)
        return x;
    if (!a->g) {
        TW_ONNX_FAIL(n, "the attribute %s holds no graph", name);
        return NULL;
    }
    if (!tw_onnx_graph_here(n, a->g, &x, 1, &y, 1))
        return NULL;
    if (!tw_shape_equal(&x->shape, &y->shape)) {
        TW_ONNX_FAIL(n, "the graph of %s changes the shape or type", name);
        return NULL;
    }
    return y;
}

bool tw_onnx_op_flex_attention(tw_onnx_node *n)
{
    tw_attention a = {.n = n, .b = n->b, .q = n->in[0], .k = n->in[1], .v = n->in[2]};
    int64_t precision = tw_onnx_int(n, "softmax_precision", 1);
    for (int i = 0; i < 3; i++)
        if (n->in[i]->shape.dtype != TW_F32)
            return TW_ONNX_UNSUPPORTED(
                n, "queries, keys and values must be floats of at most 32 bits");
    if (tw_onnx_dtype(precision) != TW_F32 && !tw_onnx_is_widened(tw_onnx_dtype(precision)))
        return TW_ONNX_UNSUPPORTED(n, "softmax_precision must be a float of at most 32 bits");
    if (!tw_attention_extents(&a, 0))
        return false;
    if (tw_onnx_has(n, "scale"))
        a.scale = tw_onnx_float(n, "scale", 0);
    tw_value *s = tw_build2(a.b, "MatMul", grouped(&a, a.q, a.size), a.k,
                            TW_SETTINGS(tw_set_int("transpose_b", 1)));
    s = tw_build2(a.b, "Mul", ungrouped(&a, s, a.keys),
                  tw_build_scalar(a.b, TW_F32, (double)a.scale), NULL);
    s = modified(n, "score_mod", s);
    tw_value *p = s ? tw_build1(a.b, "Softmax", s, TW_SETTINGS(tw_set_int("axis", 3))) : NULL;
    p = modified(n, "prob_mod", p);
    tw_value *y = p ? tw_build2(a.b, "MatMul", grouped(&a, p, a.keys), a.v, NULL) : NULL;
    return tw_onnx_bind(n, 0, ungrouped(&a, y, a.v_size));
}
