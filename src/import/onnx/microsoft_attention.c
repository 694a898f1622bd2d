/* com.microsoft: Attention, MultiHeadAttention and GroupQueryAttention. What pads a sequence is masked by a number that
 * is added to scores, as ONNX Runtime does it. */
#include <math.h>
#include <string.h>

#include "import/onnx/attention.h"

/* --- masks ------------------------------------------------------------------------------------- */

/* A flag for each key, 0 where it is padding, as an addend of scores. keep: any integers or booleans, shaped to broadcast to
 * scores. */
static bool add_padding(tw_attention *a, tw_value *keep)
{
    float filter = tw_onnx_float(a->n, "mask_filter_value", -10000);
    tw_value *in[] = {tw_build_cast(a->b, keep, TW_BOOL), tw_build_scalar(a->b, TW_F32, 0),
                      tw_build_scalar(a->b, TW_F32, (double)filter)};
    return in[0] && tw_attention_add(a, tw_build(a->b, "Where", in, 3, NULL));
}

/* [batch] keys that count, the rest being padding behind them. */
static bool add_lengths(tw_attention *a, tw_value *lengths)
{
    int64_t dim[] = {a->batch, 1, 1, 1};
    lengths = tw_build_reshape(a->b, tw_build_cast(a->b, lengths, TW_S64), 4, dim);
    return add_padding(a,
                       tw_build2(a->b, "Less", tw_build_iota(a->b, TW_S64, 4, 3, (int32_t)a->keys),
                                 lengths, NULL));
}

/* The padding's mask: of keys, of keys for each query, or how many keys count. */
static bool read_padding(tw_attention *a, tw_value *mask)
{
    if (!mask)
        return true;
    const tw_shape *m = &mask->shape;
    int64_t of_keys[] = {a->batch, 1, 1, a->keys}, of_pairs[] = {a->batch, 1, a->rows, a->keys};
    bool fits = m->rank > 0 && m->dim[0] == a->batch && m->dim[m->rank - 1] == a->keys;
    if (m->rank == 1 && m->dim[0] == a->batch)
        return add_lengths(a, mask);
    if (m->rank == 2 && fits)
        return add_padding(a, tw_build_reshape(a->b, mask, 4, of_keys));
    if (m->rank == 3 && fits && m->dim[1] == a->rows)
        return add_padding(a, tw_build_reshape(a->b, mask, 4, of_pairs));
    return TW_ONNX_UNSUPPORTED(a->n,
                               "a mask of rank %d and extent %d is not supported; [batch], [batch, "
                               "keys] and [batch, queries, keys] are",
                               m->rank, m->rank ? (int)m->dim[0] : 1);
}

static bool read_bias(tw_attention *a, tw_value *bias)
{
    if (bias && (bias->shape.rank != 4 || bias->shape.dtype != TW_F32))
        return TW_ONNX_FAIL(a->n, "attention_bias must be FLOAT and have rank 4");
    return !bias || tw_attention_add(a, bias);
}

static bool read_causal(tw_attention *a)
{
    return tw_onnx_int(a->n, "unidirectional", 0) == 0 ||
           tw_attention_allow_band(a, INT64_MIN, 0, NULL);
}

/* Refuse inputs from `first` on: how caches are shared or stand is the caller's there. */
static bool refuse_inputs(tw_onnx_node *n, int first, int behind, const char *what)
{
    for (int i = first; i < behind; i++)
        if (tw_onnx_in(n, i))
            return TW_ONNX_UNSUPPORTED(n, "input %d (%s) is not supported", i, what);
    return true;
}

/* --- operands ---------------------------------------------------------------------------------- */

static tw_value *columns(tw_onnx_node *n, tw_value *x, int64_t begin, int64_t size)
{
    return x ? tw_build_slice(n->b, x, x->shape.rank - 1, begin, size, 1) : NULL;
}

/* [batch, rows, heads, parts, size]: part `i`, by heads. */
static tw_value *packed_part(tw_onnx_node *n, tw_value *x, int64_t i)
{
    static const int64_t perm[] = {0, 2, 1, 3};
    const int32_t *d = x->shape.dim;
    int64_t dim[] = {d[0], d[1], d[2], d[4]};
    tw_value *part = tw_build_reshape(n->b, tw_build_slice(n->b, x, 3, i, 1, 1), 4, dim);
    return tw_build_transpose(n->b, part, 4, perm);
}

/* A bias, a list of so many columns of it from `begin`, on an operand by heads. */
static tw_value *biased(tw_attention *a, tw_value *x, tw_value *bias, int64_t begin)
{
    if (!x || !bias)
        return x;
    int64_t heads = x->shape.dim[1], size = x->shape.dim[3], dim[] = {1, heads, 1, size};
    if (bias->shape.rank != 1 || begin + heads * size > bias->shape.dim[0]) {
        TW_ONNX_FAIL(a->n,
                     "the bias has fewer elements than queries, keys and values have columns");
        return NULL;
    }
    bias = tw_build_reshape(a->b, columns(a->n, bias, begin, heads * size), 4, dim);
    return tw_build2(a->b, "Add", x, bias, NULL);
}

static bool join_past(tw_attention *a, tw_value *past_k, tw_value *past_v)
{
    if (!past_k != !past_v)
        return TW_ONNX_FAIL(a->n, "past keys and values go together");
    if (!past_k)
        return a->k && a->v;
    if (past_k->shape.rank != 4 || past_v->shape.rank != 4)
        return TW_ONNX_FAIL(a->n, "past keys and values must have rank 4");
    a->past = past_k->shape.dim[2];
    a->k = a->k ? tw_build_concat(a->b, (tw_value *[]){past_k, a->k}, 2, 2) : NULL;
    a->v = a->v ? tw_build_concat(a->b, (tw_value *[]){past_v, a->v}, 2, 2) : NULL;
    return a->k && a->v;
}

/* --- MultiHeadAttention ------------------------------------------------------------------------ */

static bool read_separate(tw_attention *a, int64_t heads)
{
    tw_onnx_node *n = a->n;
    tw_value *query = n->in[0], *key = tw_onnx_in(n, 1), *value = tw_onnx_in(n, 2);
    if (query->shape.rank == 5 && query->shape.dim[3] == 3 && !key && !value) {
        a->q = packed_part(n, query, 0);
        a->k = packed_part(n, query, 1);
        a->v = packed_part(n, query, 2);
        return true;
    }
    if (!key)
        return TW_ONNX_FAIL(n, "there are no keys, nor are they packed with the queries");
    a->q = tw_onnx_split_heads(n, query, heads);
    if (key->shape.rank == 5 && key->shape.dim[3] == 2 && !value) {
        a->k = packed_part(n, key, 0);
        a->v = packed_part(n, key, 1);
        return true;
    }
    if (!value)
        return TW_ONNX_FAIL(n, "there are no values, nor are they packed with the keys");
    a->k = key->shape.rank == 4 ? key : tw_onnx_split_heads(n, key, heads);
    a->v = value->shape.rank == 4 ? value : tw_onnx_split_heads(n, value, heads);
    return true;
}

bool tw_onnx_op_multi_head_attention(tw_onnx_node *n)
{
    tw_attention a = {.n = n, .b = n->b, .scores_out = -1};
    tw_value *bias = tw_onnx_in(n, 3);
    if (!refuse_inputs(n, 8, n->in_count, "of a shared cache") ||
        !read_separate(&a, tw_onnx_int(n, "num_heads", 0)) || !a.q || !a.k || !a.v)
        return false;
    int64_t q_columns = (int64_t)a.q->shape.dim[1] * a.q->shape.dim[3];
    int64_t k_columns = (int64_t)a.k->shape.dim[1] * a.k->shape.dim[3];
    a.q = biased(&a, a.q, bias, 0);
    a.k = biased(&a, a.k, bias, q_columns);
    a.v = biased(&a, a.v, bias, q_columns + k_columns);
    if (!join_past(&a, tw_onnx_in(n, 6), tw_onnx_in(n, 7)) ||
        !tw_attention_extents(&a, tw_onnx_float(n, "scale", 0)) ||
        !read_padding(&a, tw_onnx_in(n, 4)) || !read_bias(&a, tw_onnx_in(n, 5)) || !read_causal(&a))
        return false;
    return tw_onnx_bind(n, 0, tw_onnx_merge_heads(n, tw_attention_result(&a))) &&
           (!tw_onnx_wants(n, 1) || tw_onnx_bind(n, 1, a.k)) &&
           (!tw_onnx_wants(n, 2) || tw_onnx_bind(n, 2, a.v));
}

/* --- Attention --------------------------------------------------------------------------------- */

/* Queries, keys and values of one input by one matrix. */
static bool project(tw_attention *a)
{
    tw_onnx_node *n = a->n;
    tw_value *bias = tw_onnx_in(n, 2);
    tw_onnx_list sizes = tw_onnx_ints(n, "qkv_hidden_sizes");
    int64_t heads = tw_onnx_int(n, "num_heads", 0);
    if (n->in[0]->shape.rank != 3 || n->in[1]->shape.rank != 2)
        return TW_ONNX_FAIL(n, "the input must be [batch, rows, columns], the weights a matrix");
    int64_t third = n->in[1]->shape.dim[1] / 3, even[] = {third, third, third};
    const int64_t *size = sizes.count < 0 ? even : sizes.v;
    if ((sizes.count >= 0 && sizes.count != 3) || size[0] < 1 || size[1] < 1 || size[2] < 1 ||
        size[0] > INT32_MAX || size[1] > INT32_MAX || size[2] > INT32_MAX ||
        size[0] + size[1] + size[2] != n->in[1]->shape.dim[1])
        return TW_ONNX_FAIL(n,
                            "the weights have %d columns, which are not those of queries, keys "
                            "and values",
                            (int)n->in[1]->shape.dim[1]);
    tw_value *all = tw_onnx_matmul(n, n->in[0], n->in[1]);
    if (bias)
        all = tw_build2(n->b, "Add", all, bias, NULL);
    a->q = tw_onnx_split_heads(n, columns(n, all, 0, size[0]), heads);
    a->k = tw_onnx_split_heads(n, columns(n, all, size[0], size[1]), heads);
    a->v = tw_onnx_split_heads(n, columns(n, all, size[0] + size[1], size[2]), heads);
    return a->q && a->k && a->v;
}

/* Keys or values of the past, [2, batch, heads, keys, size]. */
static tw_value *past_part(tw_onnx_node *n, tw_value *past, int64_t i)
{
    if (!past)
        return NULL;
    const int32_t *d = past->shape.dim;
    int64_t dim[] = {d[1], d[2], d[3], d[4]};
    return tw_build_reshape(n->b, tw_build_slice(n->b, past, 0, i, 1, 1), 4, dim);
}

static tw_value *present(tw_attention *a)
{
    int64_t dim[] = {1, a->batch, a->heads, a->keys, a->size};
    tw_value *part[] = {tw_build_reshape(a->b, a->k, 5, dim), tw_build_reshape(a->b, a->v, 5, dim)};
    return part[0] && part[1] ? tw_build_concat(a->b, part, 2, 0) : NULL;
}

bool tw_onnx_op_ms_attention(tw_onnx_node *n)
{
    tw_attention a = {.n = n, .b = n->b, .scores_out = -1};
    tw_value *past = tw_onnx_in(n, 4);
    if (tw_onnx_int(n, "do_rotary", 0) != 0 || tw_onnx_int(n, "past_present_share_buffer", 0) != 0)
        return TW_ONNX_UNSUPPORTED(n, "do_rotary and past_present_share_buffer are not supported");
    if (past && (past->shape.rank != 5 || past->shape.dim[0] != 2))
        return TW_ONNX_FAIL(n, "past must be [2, batch, heads, keys, size]");
    if (!refuse_inputs(n, 6, n->in_count, "of a shared cache") || !project(&a) ||
        !join_past(&a, past_part(n, past, 0), past_part(n, past, 1)) ||
        !tw_attention_extents(&a, tw_onnx_float(n, "scale", 0)) ||
        !read_padding(&a, tw_onnx_in(n, 3)) || !read_bias(&a, tw_onnx_in(n, 5)) || !read_causal(&a))
        return false;
    if (tw_onnx_wants(n, 1) && a.size != a.v_size)
        return TW_ONNX_FAIL(n, "keys and values of different sizes cannot be one result");
    return tw_onnx_bind(n, 0, tw_onnx_merge_heads(n, tw_attention_result(&a))) &&
           (!tw_onnx_wants(n, 1) || tw_onnx_bind(n, 1, present(&a)));
}

/* --- GroupQueryAttention ----------------------------------------------------------------------- */

typedef struct tw_grouped {
    tw_attention a;
    int64_t total;     /* keys in all, this call's included; -1: past and this call's */
    tw_value *lengths; /* [batch, 1, 1, 1]: keys of each entry */
    tw_value
        *before; /* [batch, 1]: those before this call's; null: as many in every entry, a.past */
} tw_grouped;

static bool read_grouped(tw_grouped *g)
{
    tw_attention *a = &g->a;
    tw_onnx_node *n = a->n;
    tw_value *query = n->in[0], *key = tw_onnx_in(n, 1), *value = tw_onnx_in(n, 2);
    int64_t heads = tw_onnx_int(n, "num_heads", 0), kv_heads = tw_onnx_int(n, "kv_num_heads", 0);
    if (query->shape.rank != 3 || heads < 1 || kv_heads < 1 || heads > INT32_MAX ||
        kv_heads > INT32_MAX || !key != !value)
        return TW_ONNX_FAIL(n, "queries must have rank 3, num_heads and kv_num_heads be given, and "
                               "keys and values go together");
    if (!key) { /* packed behind one another */
        int64_t all = query->shape.dim[2], size = all / (heads + 2 * kv_heads);
        if (size < 1 || size * (heads + 2 * kv_heads) != all)
            return TW_ONNX_FAIL(n, "%lld columns do not divide into the heads", (long long)all);
        key = columns(n, query, heads * size, kv_heads * size);
        value = columns(n, query, (heads + kv_heads) * size, kv_heads * size);
        query = columns(n, query, 0, heads * size);
    }
    a->q = tw_onnx_split_heads(n, query, heads);
    a->k = tw_onnx_split_heads(n, key, kv_heads);
    a->v = tw_onnx_split_heads(n, value, kv_heads);
    return a->q && a->k && a->v;
}

/* How many keys there are in each entry, and where this call's stand. */
static bool read_lengths(tw_grouped *g, const tw_value *past)
{
    tw_attention *a = &g->a;
    tw_onnx_node *n = a->n;
    int64_t batch = a->q->shape.dim[0], rows = a->q->shape.dim[2], dim[] = {batch, 1, 1, 1};
    tw_value *seqlens = tw_onnx_in(n, 5), *total = tw_onnx_in(n, 6);
    if (!seqlens || tw_shape_elements(&seqlens->shape) != batch)
        return TW_ONNX_FAIL(n, "seqlens_k must have an element for each of %lld batch entries",
                            (long long)batch);
    if (!total || tw_shape_elements(&total->shape) != 1)
        return TW_ONNX_FAIL(n, "total_sequence_length must be one number");
    int64_t held = past ? past->shape.dim[2] : 0;
    g->total = tw_build_constant(a->b, total) ? tw_build_int_at(total, 0) : held + rows;
    if (g->total < rows || g->total > held + rows)
        return TW_ONNX_FAIL(n, "total_sequence_length is %lld for %lld new and %lld past keys",
                            (long long)g->total, (long long)rows, (long long)held);
    tw_value *count = tw_build_cast(a->b, seqlens, TW_S64);
    count = tw_build2(a->b, "Add", count, tw_build_scalar(a->b, TW_S64, 1), NULL);
    g->lengths = tw_build_reshape(a->b, count, 4, dim);
    bool prompt = g->total == rows, grows = batch == 1 && g->total == held + rows;
    a->past = prompt ? 0 : held;
    if (!prompt && !grows)
        g->before = tw_build_reshape(
            a->b, tw_build2(a->b, "Sub", count, tw_build_scalar(a->b, TW_S64, (double)rows), NULL),
            2, dim);
    return g->lengths && (prompt || grows || g->before);
}

/* Positions of this call's tokens, [batch or 1, rows]. */
static tw_value *positions_of(tw_grouped *g)
{
    tw_attention *a = &g->a;
    tw_value *given = tw_onnx_in(a->n, 9);
    tw_value *begin = g->before ? g->before : tw_build_scalar(a->b, TW_S64, (double)a->past);
    tw_value *row = tw_build_iota(a->b, TW_S64, 2, 1, a->q->shape.dim[2]);
    return given ? given : tw_build2(a->b, "Add", row, begin, NULL);
}

static bool turn_operands(tw_grouped *g)
{
    tw_onnx_node *n = g->a.n;
    tw_rotation by = {.cosine = tw_onnx_in(n, 7), .sine = tw_onnx_in(n, 8)};
    by.interleaved = tw_onnx_int(n, "rotary_interleaved", 0) != 0;
    if (tw_onnx_int(n, "do_rotary", 0) == 0)
        return true;
    if (!by.cosine || !by.sine || by.cosine->shape.rank != 2)
        return TW_ONNX_FAIL(n, "do_rotary needs cos_cache and sin_cache, of rank 2");
    by.turned = 2 * (int64_t)by.cosine->shape.dim[1];
    by.positions = positions_of(g);
    if (!by.positions)
        return false;
    g->a.q = tw_onnx_rotated(n, g->a.q, by);
    g->a.k = tw_onnx_rotated(n, g->a.k, by);
    return g->a.q && g->a.k;
}

/* The past with this call's rows: behind it, or written where they belong in each entry. */
static tw_value *extended(tw_grouped *g, tw_value *past, tw_value *x)
{
    tw_builder *b = g->a.b;
    const int32_t *d = x->shape.dim;
    if (!past)
        return x;
    if (past->shape.rank != 4 || past->shape.dim[0] != d[0] || past->shape.dim[1] != d[1] ||
        past->shape.dim[3] != d[3]) {
        TW_ONNX_FAIL(g->a.n, "the past does not fit the keys or values of this call");
        return NULL;
    }
    int64_t held = past->shape.dim[2], first[] = {d[0], 1, 1, 1}, after[4] = {0};
    if (!g->before && g->a.past == held)
        return tw_build_concat(b, (tw_value *[]){past, x}, 2, 2);
    after[2] = g->total > held ? g->total - held : 0;
    if (after[2])
        past = tw_build1(b, "Pad", past, TW_SETTINGS(tw_set_ints("after", 4, after)));
    tw_shape shape = x->shape;
    shape.dtype = TW_S64;
    tw_value *at = tw_build_iota(b, TW_S64, 4, 2, d[2]);
    if (g->before)
        at = tw_build2(b, "Add", at, tw_build_reshape(b, g->before, 4, first), NULL);
    tw_value *in[] = {past, tw_build_expand(b, at, &shape), x};
    return in[0] && in[1]
               ? tw_build(b, "ScatterElements", in, 3, TW_SETTINGS(tw_set_int("axis", 2)))
               : NULL;
}

/* Each query sees the keys up to itself, of those that there are, and of these the last ones of a window. */
static bool limit_grouped(tw_grouped *g)
{
    tw_attention *a = &g->a;
    int64_t window = tw_onnx_int(a->n, "local_window_size", -1);
    tw_value *at = tw_build_iota(a->b, TW_S64, 4, 3, (int32_t)a->keys);
    if (!tw_attention_allow(a, tw_build2(a->b, "Less", at, g->lengths, NULL)))
        return false;
    return tw_attention_allow_band(a, window > 0 ? 1 - window : INT64_MIN, 0,
                                   g->before ? g->lengths : NULL);
}

/* One entry whose caches have room for all that will ever come: nothing is masked, only read as far as it goes. */
static bool has_whole_caches(const tw_grouped *g, const tw_value *past_k, const tw_value *past_v)
{
    const tw_attention *a = &g->a;
    return past_k && g->before && a->q->shape.dim[0] == 1 && past_k->shape.rank == 4 &&
           past_v->shape.rank == 4 && past_k->shape.dtype == TW_F32 &&
           past_v->shape.dtype == TW_F32 && g->total == past_k->shape.dim[2] &&
           g->total == past_v->shape.dim[2] && !tw_onnx_in(a->n, 10) &&
           tw_onnx_float(a->n, "softcap", 0) == 0 && tw_onnx_float(a->n, "scale", 0) >= 0;
}

static tw_value *cached_result(tw_grouped *g, tw_value *past_k, tw_value *past_v)
{
    tw_attention *a = &g->a;
    const int64_t window = tw_onnx_int(a->n, "local_window_size", -1);
    a->k = tw_onnx_appended(a->b, past_k, a->k, g->before, false);
    a->v = tw_onnx_appended(a->b, past_v, a->v, g->before, false);
    if (!tw_attention_extents(a, tw_onnx_float(a->n, "scale", 0)))
        return NULL;
    return tw_attention_over_caches(a, g->before, window > 0 ? window : 0);
}

bool tw_onnx_op_group_query_attention(tw_onnx_node *n)
{
    tw_grouped g = {.a = {.n = n, .b = n->b, .scores_out = -1}};
    tw_attention *a = &g.a;
    tw_value *past_k = tw_onnx_in(n, 3), *past_v = tw_onnx_in(n, 4);
    if (tw_onnx_int(n, "smooth_softmax", 0) > 0)
        return TW_ONNX_UNSUPPORTED(n, "smooth_softmax is not supported");
    if (!past_k != !past_v)
        return TW_ONNX_FAIL(n, "past keys and values go together");
    if (!refuse_inputs(n, 11, n->in_count, "of a sink, or of scales") || !read_grouped(&g) ||
        !read_lengths(&g, past_k) || !turn_operands(&g))
        return false;
    tw_value *y;
    if (has_whole_caches(&g, past_k, past_v)) {
        y = cached_result(&g, past_k, past_v);
    } else {
        a->k = extended(&g, past_k, a->k);
        a->v = extended(&g, past_v, a->v);
        if (!tw_attention_extents(a, tw_onnx_float(n, "scale", 0)) || !limit_grouped(&g) ||
            !read_bias(a, tw_onnx_in(n, 10)))
            return false;
        a->cap = tw_onnx_float(n, "softcap", 0);
        y = tw_attention_result(a);
    }
    return tw_onnx_bind(n, 0, tw_onnx_merge_heads(n, y)) &&
           (!tw_onnx_wants(n, 1) || tw_onnx_bind(n, 1, a->k)) &&
           (!tw_onnx_wants(n, 2) || tw_onnx_bind(n, 2, a->v));
}
