/* Attention. Heads are an axis of their own in front of the steps; scores that a mask excludes get a large
 * negative number, as Keras has it. */
#include <math.h>
#include <string.h>

#include "import/keras/keras.h"

/* 0 where the mask is true, else the large number; to be added to scores. */
static tw_value *penalty(tw_kr_node *n, tw_value *mask)
{
    tw_value *real = mask ? tw_build_cast(n->b, tw_build_cast(n->b, mask, TW_BOOL), TW_F32) : NULL;
    tw_value *excluded = real ? tw_build2(n->b, "Sub", real, tw_kr_scalar(n, 1), NULL) : NULL;
    return excluded ? tw_build2(n->b, "Mul", excluded, tw_kr_scalar(n, -TW_KR_EXCLUDED), NULL)
                    : NULL;
}

/* What two masks both allow; null allows everything. */
static tw_value *both(tw_kr_node *n, tw_value *a, tw_value *b)
{
    return !a || !b ? (a ? a : b) : tw_build2(n->b, "And", a, b, NULL);
}

/* Queries see keys as far as `before` steps in front of them and `behind` steps behind. */
static tw_value *near(tw_kr_node *n, const tw_value *scores, int64_t before, int64_t behind)
{
    const int32_t *dim = &scores->shape.dim[scores->shape.rank - 2];
    if ((int64_t)dim[0] * dim[1] <= TW_BUILD_LIMIT)
        return tw_build_band(n->b, dim[0], dim[1], -before, behind);
    TW_KR_UNSUPPORTED(n, "a mask for %d and %d steps is too large", (int)dim[0], (int)dim[1]);
    return NULL;
}

/* Queries see themselves and what is in front of them. */
static tw_value *causal(tw_kr_node *n, const tw_value *scores)
{
    return near(n, scores, INT32_MAX, 0);
}

static tw_value *add(tw_kr_node *n, tw_value *scores, tw_value *more)
{
    return scores && more ? tw_build2(n->b, "Add", scores, more, NULL) : NULL;
}

static tw_value *product(tw_kr_node *n, tw_value *a, tw_value *b, bool transpose)
{
    return a && b
               ? tw_build2(n->b, "MatMul", a, b, TW_SETTINGS(tw_set_int("transpose_b", transpose)))
               : NULL;
}

/* The scores weighed, and the values by them: result 0, 0 at queries that do not count; and 1 where the
 * scores are asked for. */
static bool apply(tw_kr_node *n, tw_value *scores, tw_value *value, tw_value *mask)
{
    tw_value *weights = tw_kr_softmax(n, scores, "Softmax");
    tw_value *y = product(n, weights, value, false);
    return tw_kr_set(n, tw_kr_select(n, mask, y, tw_kr_scalar(n, 0))) &&
           (!tw_kr_argument_flag(n, -1, "return_attention_scores") || tw_kr_set(n, weights));
}

/* --- Attention, AdditiveAttention -------------------------------------------------------------- */

/* sum over the features of tanh(q + k), weighed: [N, Tq, Tv]. */
static tw_value *sums(tw_kr_node *n, tw_value *q, tw_value *k, tw_value *inside, tw_value *outside)
{
    static const int64_t last[] = {3};
    const int64_t batch = q->shape.dim[0], depth = q->shape.dim[2];
    q = tw_build_reshape(n->b, q, 4, (int64_t[]){batch, q->shape.dim[1], 1, depth});
    k = tw_build_reshape(n->b, k, 4, (int64_t[]){batch, 1, k->shape.dim[1], depth});
    tw_value *sum = add(n, q, k);
    if (inside)
        sum = sum ? tw_build2(n->b, "Mul", sum, inside, NULL) : NULL;
    sum = sum ? tw_build1(n->b, "Tanh", sum, NULL) : NULL;
    if (outside)
        sum = sum ? tw_build2(n->b, "Mul", sum, outside, NULL) : NULL;
    return sum ? tw_build1(n->b, "ReduceSum", sum,
                           TW_SETTINGS(tw_set_ints("axes", 1, last), tw_set_int("keepdims", 0)))
               : NULL;
}

static tw_value *dot_scores(tw_kr_node *n, tw_value *q, tw_value *k)
{
    const bool scaled = tw_kr_flag(n, "use_scale", false);
    tw_value *scale = scaled ? tw_kr_variable(n, n->store, 0, "scale", 0, NULL) : NULL;
    const char *mode = tw_kr_word(n, "score_mode", "dot");
    if (scaled && !scale)
        return NULL;
    if (strcmp(mode, "concat") == 0) {
        tw_value *weight =
            tw_kr_variable(n, n->store, scaled ? 1 : 0, "concat_score_weight", 0, NULL);
        tw_value *sum = weight ? sums(n, q, k, scale, NULL) : NULL;
        return sum ? tw_build2(n->b, "Mul", sum, weight, NULL) : NULL;
    }
    tw_value *scores = product(n, q, k, true);
    return scale && scores ? tw_build2(n->b, "Mul", scores, scale, NULL) : scores;
}

static tw_value *additive_scores(tw_kr_node *n, tw_value *q, tw_value *k)
{
    const int64_t depth = q->shape.dim[2];
    tw_value *scale = NULL;
    if (tw_kr_flag(n, "use_scale", true) &&
        !(scale = tw_kr_variable(n, n->store, 0, "scale", 1, &depth)))
        return NULL;
    return sums(n, q, k, NULL, scale);
}

/* kind 1: additive. Inputs: query, value and, where it is not the value, key. */
bool tw_kr_op_attention(tw_kr_node *n)
{
    if (n->in_count < 2 || n->in_count > 3)
        return TW_KR_FAIL(n,
                          "it is called with %d tensors, it takes query, value and at most a key",
                          n->in_count);
    tw_value *q = n->in[0], *v = n->in[1], *k = n->in[n->in_count - 1];
    if (q->shape.rank != 3 || v->shape.rank != 3 || k->shape.rank != 3)
        return TW_KR_UNSUPPORTED(n, "query, value and key must be batch, steps and features");
    if (q->shape.dim[2] != k->shape.dim[2] || q->shape.dim[0] != k->shape.dim[0])
        return TW_KR_FAIL(n, "query and key have different batches or features");
    tw_value *of_query = tw_kr_mask(n, 1, 0), *of_value = tw_kr_mask(n, 1, 1);
    tw_value *scores = n->row->kind == 1 ? additive_scores(n, q, k) : dot_scores(n, q, k);
    tw_value *seen = tw_kr_mask_axis(n, of_value, 1);
    if (scores && (tw_kr_argument_flag(n, -1, "use_causal_mask") || tw_kr_flag(n, "causal", false)))
        seen = both(n, seen, causal(n, scores));
    if (seen)
        scores = add(n, scores, penalty(n, seen));
    return apply(n, scores, v, tw_kr_mask_axis(n, of_query, 2));
}

/* --- in heads ---------------------------------------------------------------------------------- */

/* x [N, T, D] by a kernel [D, heads, size] to [N, T, heads, size], and the heads in front of the steps. */
static tw_value *project(tw_kr_node *n, const char *attribute, tw_value *x, int64_t heads,
                         int64_t size)
{
    static const int64_t perm[] = {0, 2, 1, 3};
    tw_kr_store *store = tw_kr_child(n->import, n->store, attribute);
    const int64_t dim[] = {x->shape.dim[2], heads, size};
    tw_value *w = tw_kr_variable(n, store, 0, attribute, 3, dim), *bias = NULL;
    if (!w || (tw_kr_flag(n, "use_bias", true) &&
               !(bias = tw_kr_variable(n, store, 1, attribute, 2, dim + 1))))
        return NULL;
    tw_value *y = tw_kr_product(n, x, w, 1, bias);
    y = y ? tw_build_reshape(n->b, y, 4, (int64_t[]){x->shape.dim[0], x->shape.dim[1], heads, size})
          : NULL;
    return y ? tw_build_transpose(n->b, y, 4, perm) : NULL;
}

/* [N, heads, T, size] by a kernel [heads, size, out..] to [N, T, out]. */
static tw_value *gather_heads(tw_kr_node *n, tw_value *y)
{
    static const int64_t perm[] = {0, 2, 1, 3};
    tw_kr_store *store = tw_kr_child(n->import, n->store, "output_dense");
    if (!y)
        return NULL;
    const int64_t dim[] = {y->shape.dim[1], y->shape.dim[3], -1};
    tw_value *w = tw_kr_variable(n, store, 0, "output_dense", 3, dim), *bias = NULL;
    const int64_t out = w ? w->shape.dim[2] : 0;
    if (!w || (tw_kr_flag(n, "use_bias", true) &&
               !(bias = tw_kr_variable(n, store, 1, "output_dense", 1, &out))))
        return NULL;
    y = tw_build_transpose(n->b, y, 4, perm);
    return y ? tw_kr_product(n, y, w, 2, bias) : NULL;
}

/* The argument's mask as the scores' axes have it: [N, T, S] or with heads [N, H, T, S]. */
static tw_value *given_mask(tw_kr_node *n)
{
    tw_value *mask = tw_kr_tensor(n, n->import->version >= 3 ? 6 : 3, "attention_mask");
    mask = mask ? tw_build_cast(n->b, mask, TW_BOOL) : NULL;
    if (mask && mask->shape.rank == 3)
        mask = tw_kr_mask_axis(n, mask, 1);
    if (mask && mask->shape.rank > 4)
        TW_KR_FAIL(n, "its attention mask has %d axes", mask->shape.rank);
    return mask;
}

/* What comes with the value or key: with the argument, or in one of its own. [N, S] to [N, 1, 1, S]. */
static tw_value *mask_of_keys(tw_kr_node *n, int place, const char *name)
{
    const tw_kr_argument *a = tw_kr_argument_of(n, place, name);
    tw_value *mask = tw_kr_tensor(n, -1, tw_format(n->b->arena, "%s_mask", name));
    mask = mask ? tw_build_cast(n->b, mask, TW_BOOL) : tw_kr_argument_mask(a, 0);
    return tw_kr_mask_axis(n, tw_kr_mask_axis(n, mask, 1), 1);
}

/* The pairs of query and key that count; null: all. */
static tw_value *pairs_seen(tw_kr_node *n, const tw_value *scores)
{
    tw_value *queries = n->masks ? n->masks[0] : NULL;
    const int64_t window = tw_kr_int(n, "sliding_window", 0);
    tw_value *seen = given_mask(n);
    seen = both(n, seen, tw_kr_mask_axis(n, tw_kr_mask_axis(n, queries, 1), 3));
    seen = both(n, seen, mask_of_keys(n, 1, "value"));
    seen = both(n, seen, mask_of_keys(n, 2, "key"));
    if (tw_kr_argument_flag(n, -1, "use_causal_mask"))
        seen = both(n, seen, causal(n, scores));
    if (window > 0)
        seen = both(n, seen, near(n, scores, window - 1, window - 1));
    return seen;
}

/* Shares of the values: where nothing counts, zeros if Keras computes the shares by themselves, which version 3
 * does where it must hand them out or drop some. */
static tw_value *shares(tw_kr_node *n, tw_value *scores)
{
    tw_value *seen = scores ? pairs_seen(n, scores) : NULL;
    const bool apart =
        n->import->version >= 3 &&
        (tw_kr_argument_flag(n, -1, "return_attention_scores") || tw_kr_real(n, "dropout", 0) > 0);
    if (seen)
        scores = add(n, scores, penalty(n, seen));
    tw_value *weights = tw_kr_softmax(n, scores, "Softmax");
    return seen && apart ? tw_kr_select(n, seen, weights, tw_kr_scalar(n, 0)) : weights;
}

typedef struct heads {
    int64_t query, key, size, value_size;
} heads;

/* Queries share a key where there are fewer of these: [N, H, T, K] to [N, keys, H / keys, T, K]. */
static tw_value *grouped(tw_kr_node *n, tw_value *x, int64_t keys)
{
    const int64_t dim[] = {x->shape.dim[0], keys, x->shape.dim[1] / keys, x->shape.dim[2],
                           x->shape.dim[3]};
    return tw_build_reshape(n->b, x, 5, dim);
}

static tw_value *ungrouped(tw_kr_node *n, tw_value *x)
{
    return x ? tw_build_reshape(n->b, x, 4,
                                (int64_t[]){x->shape.dim[0],
                                            (int64_t)x->shape.dim[1] * x->shape.dim[2],
                                            x->shape.dim[3], x->shape.dim[4]})
             : NULL;
}

/* a [N, H, ..] by b [N, keys, ..], each of which serves H / keys of a's. */
static tw_value *shared_product(tw_kr_node *n, tw_value *a, tw_value *b, bool transpose)
{
    if (!a || !b || a->shape.dim[1] == b->shape.dim[1])
        return product(n, a, b, transpose);
    const int64_t keys = b->shape.dim[1];
    a = grouped(n, a, keys);
    b = tw_build_reshape(n->b, b, 5,
                         (int64_t[]){b->shape.dim[0], keys, 1, b->shape.dim[2], b->shape.dim[3]});
    return ungrouped(n, product(n, a, b, transpose));
}

static bool attend(tw_kr_node *n, const heads *h)
{
    tw_value *q = n->in_count ? n->in[0] : NULL, *gate = NULL;
    tw_value *v = n->in_count > 1 ? n->in[1] : tw_kr_tensor(n, 1, "value");
    tw_value *k = tw_kr_tensor(n, 2, "key");
    k = k ? k : v;
    if (!q || !v || q->shape.rank != 3 || v->shape.rank != 3 || k->shape.rank != 3)
        return TW_KR_UNSUPPORTED(n, "query, value and key must be batch, steps and features");
    if (h->query < 1 || h->key < 1 || h->size < 1 || h->value_size < 1 || h->query % h->key != 0)
        return TW_KR_FAIL(n, "%lld and %lld heads of %lld and %lld", (long long)h->query,
                          (long long)h->key, (long long)h->size, (long long)h->value_size);
    /* In this order: `.h5` has the variables one behind the other. */
    tw_value *features = q;
    q = project(n, "query_dense", q, h->query, h->size);
    k = q ? project(n, "key_dense", k, h->key, h->size) : NULL;
    if (k && tw_kr_flag(n, "use_gate", false) &&
        !(gate = tw_build1(n->b, "Sigmoid",
                           project(n, "gate_dense", features, h->query, h->value_size), NULL)))
        return false;
    v = k ? project(n, "value_dense", v, h->key, h->value_size) : NULL;
    q = v ? tw_build2(n->b, "Mul", q, tw_kr_scalar(n, 1.0 / sqrt((double)h->size)), NULL) : NULL;
    tw_value *weights = shares(n, shared_product(n, q, k, true));
    tw_value *y = shared_product(n, weights, v, false);
    if (gate)
        y = y ? tw_build2(n->b, "Mul", y, gate, NULL) : NULL;
    return tw_kr_set(n, gather_heads(n, y)) &&
           (!tw_kr_argument_flag(n, -1, "return_attention_scores") || tw_kr_set(n, weights));
}

bool tw_kr_op_multi_head(tw_kr_node *n)
{
    const int64_t size = tw_kr_int(n, "key_dim", 0), count = tw_kr_int(n, "num_heads", 0);
    const heads h = {count, count, size, tw_kr_int(n, "value_dim", size)};
    int64_t axes[TW_MAX_RANK];
    if (tw_kr_get(n, "attention_axes") &&
        (tw_kr_ints(n, "attention_axes", TW_MAX_RANK, false, 1, axes) != 1 || axes[0] != 1))
        return TW_KR_UNSUPPORTED(n, "attention over other axes than the first behind the batch");
    return attend(n, &h);
}

bool tw_kr_op_grouped_query(tw_kr_node *n)
{
    const int64_t size = tw_kr_int(n, "head_dim", 0);
    const heads h = {tw_kr_int(n, "num_query_heads", 0), tw_kr_int(n, "num_key_value_heads", 0),
                     size, size};
    return attend(n, &h);
}
