/* Products of matrices, and what attention over a growing context is made of. The stateful wrappers
 * are what one call of them gives when nothing has come before; `past_seqlen` is a history of zeros. */
#include <string.h>

#include "import/foreign/mobilint/mobilint.h"

/* What a masked score gets added: e^-10000 is 0 in every type, and no type overflows. */
enum { MASKED = -10000 };

/* --- products ----------------------------------------------------------------------------------- */

/* Copies of the operand behind one another along the heads: copy t of head i is head t * heads + i. */
static tw_value *repeated(tw_foreign_node *n, tw_value *x, int64_t times)
{
    int64_t repeats[TW_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    const int axis = x->shape.rank - 3;
    if (axis < 0) {
        TW_FOREIGN_FAIL(n, "the attribute repeat needs heads; the operand has rank %d",
                        x->shape.rank);
        return NULL;
    }
    repeats[axis] = times;
    return tw_build1(n->b, "Tile", x, TW_SETTINGS(tw_set_ints("repeats", x->shape.rank, repeats)));
}

bool tw_mobilint_mat_mul(tw_foreign_node *n)
{
    tw_foreign_list repeat = tw_foreign_ints(n, "repeat");
    tw_value *in[2] = {n->in[0], n->in_count > 1 ? n->in[1] : NULL};
    if (!in[1] == !tw_foreign_has(n, "constant"))
        return TW_FOREIGN_FAIL(n, "%s",
                               in[1] ? "the attribute constant stands for a second input, "
                                       "which is there too"
                                     : "the attribute constant is missing, and so is a "
                                       "second input");
    if (!in[1]) {
        const bool first = tw_foreign_flag(n, "is_const_first");
        in[first ? 1 : 0] = n->in[0];
        in[first ? 0 : 1] = tw_foreign_weight(n, "constant");
    }
    if (repeat.count != 0 && repeat.count != 2)
        return TW_FOREIGN_FAIL(n, "the attribute repeat has %d entries, not 2", repeat.count);
    if (repeat.count == 2 && !(repeat.v[0] == -1 && repeat.v[1] == -1)) {
        if (repeat.v[0] < 0 || repeat.v[0] > 1 || repeat.v[1] < 1 || repeat.v[1] > INT32_MAX)
            return TW_FOREIGN_FAIL(n,
                                   "the attribute repeat is [%lld, %lld]; operand 0 or 1 and a "
                                   "number of copies are possible",
                                   (long long)repeat.v[0], (long long)repeat.v[1]);
        in[repeat.v[0]] = repeated(n, in[repeat.v[0]], repeat.v[1]);
    }
    return tw_foreign_result(n, tw_build(n->b, "MatMul", in, 2, NULL));
}

/* --- masks -------------------------------------------------------------------------------------- */

/* Constants [rows, rows + past]: 0 where a row may look, else MASKED. */
static tw_value *causal_bias(tw_foreign_node *n, int64_t rows, int64_t past)
{
    tw_builder *b = n->b;
    const int64_t columns = rows + past;
    const bool sliding = tw_foreign_flag(n, "is_sliding");
    const int64_t window = tw_foreign_int(n, "sliding_window");
    if (rows * columns > TW_BUILD_LIMIT / 4) {
        TW_FOREIGN_UNSUPPORTED(n, "a mask of %lld rows and %lld columns", (long long)rows,
                               (long long)columns);
        return NULL;
    }
    tw_value *bias =
        tw_build_full(b, tw_shape_of(TW_F32, 2, (int32_t[]){(int32_t)rows, (int32_t)columns}), 0);
    float *data = bias ? (float *)(uintptr_t)bias->data : NULL;
    for (int64_t i = 0; data && i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            if (j > past + i || (sliding && j <= past + i - window))
                data[i * columns + j] = MASKED;
    return bias;
}

/* [1, S] or [1, 1, 1, S], true where there is a token, as what is added to scores. */
static tw_value *keep_bias(tw_foreign_node *n, tw_value *mask)
{
    tw_builder *b = n->b;
    tw_value *zero = tw_build_scalar(b, mask->shape.dtype, 0);
    tw_value *out = mask->shape.dtype == TW_BOOL ? tw_build1(b, "Not", mask, NULL)
                                                 : tw_build2(b, "Equal", mask, zero, NULL);
    tw_value *in[] = {out, tw_build_scalar(b, TW_F32, MASKED), tw_build_scalar(b, TW_F32, 0)};
    return tw_build(b, "Where", in, 3, NULL);
}

static bool is_keep_mask(const tw_shape *x)
{
    bool list = x->rank == 4 && x->dtype != TW_F32;
    for (int k = 0; list && k < 3; k++)
        list = x->dim[k] == 1;
    return list || (x->rank == 2 && x->dim[0] == 1);
}

/* Scores [1, heads, T, S] are masked; of a mask of tokens, S of them, the bias [1, 1, T, S] is made
 * that scores are to get. S is past_seqlen + T. */
bool tw_mobilint_stateful_attention_mask(tw_foreign_node *n)
{
    tw_builder *b = n->b;
    tw_value *x = n->in[0];
    const char *type = tw_foreign_text(n, "mask_type");
    const bool causal = strcmp(type, "causal_mask") == 0, keep = is_keep_mask(&x->shape);
    const int64_t past = tw_foreign_int(n, "past_seqlen");
    if (!causal && strcmp(type, "padding_mask") != 0)
        return TW_FOREIGN_FAIL(n,
                               "the attribute mask_type is '%.40s'; causal_mask and "
                               "padding_mask are possible",
                               type);
    if (!keep && !tw_foreign_rank(n, x, 4))
        return false;
    const int64_t columns = x->shape.dim[x->shape.rank - 1];
    const int64_t rows = keep ? columns - past : x->shape.dim[2];
    if (rows < 1 || columns != rows + past)
        return TW_FOREIGN_FAIL(n,
                               "the attribute past_seqlen is %lld, but there are %lld columns "
                               "for %lld rows",
                               (long long)past, (long long)columns, (long long)rows);
    tw_value *bias = causal ? causal_bias(n, rows, past) : NULL;
    if (causal && !bias)
        return false;
    if (!keep)
        return tw_foreign_result(n, causal ? tw_build2(b, "Add", x, bias, NULL)
                                           : tw_build1(b, "Identity", x, NULL));
    const int64_t one[] = {1, 1, 1, columns};
    tw_value *kept = keep_bias(n, tw_build_reshape(b, x, 4, one));
    if (!causal) {
        const int32_t dim[] = {1, 1, (int32_t)rows, (int32_t)columns};
        const tw_shape full = tw_shape_of(TW_F32, 4, dim);
        return tw_foreign_result(n, tw_build_expand(b, kept, &full));
    }
    return tw_foreign_result(n, tw_build2(b, "Min", bias, kept, NULL));
}

/* --- caches ------------------------------------------------------------------------------------- */

/* `rows` rows of zeros on axis 2, then x: what a cache holds after its first call. */
static tw_value *behind_zeros(tw_foreign_node *n, tw_value *x, int64_t rows)
{
    const int64_t before[] = {0, 0, rows, 0};
    return rows == 0 ? tw_build1(n->b, "Identity", x, NULL)
                     : tw_build1(n->b, "Pad", x, TW_SETTINGS(tw_set_ints("before", 4, before)));
}

/* Caches of one name are one cache, so their rows are alike. */
static bool claim_cache(tw_foreign_node *n)
{
    tw_builder *b = n->b;
    const char *name = tw_foreign_text(n, "cache_name");
    const char *key = tw_format(b->arena, "cache/%s", name);
    const tw_shape *x = &n->in[0]->shape, *before = tw_map_get(&b->shared, key);
    if (!*name)
        return TW_FOREIGN_FAIL(n, "the attribute cache_name is empty");
    if (!before) {
        tw_map_put(b->arena, &b->shared, key, &n->in[0]->shape);
        return true;
    }
    return (x->rank == before->rank && x->dim[1] == before->dim[1] &&
            x->dim[3] == before->dim[3]) ||
           TW_FOREIGN_FAIL(
               n, "the attribute cache_name '%.40s' is that of a cache of another shape", name);
}

bool tw_mobilint_stateful_kv_cache(tw_foreign_node *n)
{
    tw_value *x = n->in[0];
    const int64_t past = tw_foreign_int(n, "past_seqlen"),
                  most = tw_foreign_int(n, "max_cache_len");
    if (!tw_foreign_rank(n, x, 4) || !claim_cache(n))
        return false;
    if (past + x->shape.dim[2] > most)
        return TW_FOREIGN_FAIL(n, "the attribute max_cache_len is %lld: %lld rows are too many",
                               (long long)most, (long long)past + x->shape.dim[2]);
    const int64_t window = tw_foreign_int(n, "sliding_window") - 1;
    const bool trimmed = tw_foreign_flag(n, "is_sliding") && past > window;
    return tw_foreign_result(n, behind_zeros(n, x, trimmed ? window : past));
}

bool tw_mobilint_stateful_causal_conv_cache(tw_foreign_node *n)
{
    return tw_foreign_rank(n, n->in[0], 4) && claim_cache(n) &&
           tw_foreign_result(n, behind_zeros(n, n->in[0], tw_foreign_int(n, "cache_len")));
}

/* --- rotary embedding --------------------------------------------------------------------------- */

/* llama: (-x2, x1) of halves. cohere2: (-x[2k + 1], x[2k]) of neighbours. */
static tw_value *rotated(tw_foreign_node *n, tw_value *x, int64_t size, bool neighbours)
{
    tw_builder *b = n->b;
    const int64_t step = neighbours ? 2 : 1, half = size / 2;
    const int32_t *d = x->shape.dim;
    tw_value *first = tw_build_slice(b, x, 3, 0, half, step);
    tw_value *second = tw_build_slice(b, x, 3, neighbours ? 1 : half, half, step);
    tw_value *parts[] = {tw_build1(b, "Neg", second, NULL), first};
    if (!neighbours)
        return tw_build_concat(b, parts, 2, 3);
    const int64_t pairs[] = {d[0], d[1], d[2], half, 1}, full[] = {d[0], d[1], d[2], size};
    for (int i = 0; i < 2; i++)
        parts[i] = tw_build_reshape(b, parts[i], 5, pairs);
    return tw_build_reshape(b, tw_build_concat(b, parts, 2, 4), 4, full);
}

/* A table's rows for the tokens of the first call. */
static tw_value *table_rows(tw_foreign_node *n, int i, int64_t tokens, int64_t size)
{
    tw_value *table = n->in[i];
    if (!tw_foreign_rank(n, table, 4))
        return NULL;
    if (table->shape.dim[2] < tokens || table->shape.dim[3] < size) {
        TW_FOREIGN_FAIL(n, "input %d has %d rows of %d; %lld of %lld are needed", i,
                        (int)table->shape.dim[2], (int)table->shape.dim[3], (long long)tokens,
                        (long long)size);
        return NULL;
    }
    if (table->shape.dim[2] > tokens)
        table = tw_build_slice(n->b, table, 2, 0, tokens, 1);
    return table && table->shape.dim[3] > size ? tw_build_slice(n->b, table, 3, 0, size, 1) : table;
}

bool tw_mobilint_stateful_rope(tw_foreign_node *n)
{
    tw_builder *b = n->b;
    tw_value *x = n->in[0];
    const int64_t type = tw_foreign_int(n, "rope_type"), length = tw_foreign_int(n, "seqlen");
    int64_t size = tw_foreign_int(n, "rotary_emb_dim");
    if (type != 0 && type != 1)
        return TW_FOREIGN_FAIL(n, "the attribute rope_type is %lld; 0 and 1 are possible",
                               (long long)type);
    if (!tw_foreign_rank(n, x, 4) || !tw_foreign_rank(n, n->in[1], 4))
        return false;
    const int64_t wide = n->in[1]->shape.dim[3], tokens = x->shape.dim[2];
    if (size <= 0 || (size == 2 && wide > 2))
        size = wide; /* the published default says nothing */
    if (size % 2 != 0 || size > x->shape.dim[3])
        return TW_FOREIGN_FAIL(n,
                               "the attribute rotary_emb_dim is %lld; an even number up to %d "
                               "is possible",
                               (long long)size, (int)x->shape.dim[3]);
    if (length != 0 && tokens > length)
        return TW_FOREIGN_FAIL(n, "the attribute seqlen is %lld, the input has %lld tokens",
                               (long long)length, (long long)tokens);
    tw_value *cosine = table_rows(n, 1, tokens, size), *sine = table_rows(n, 2, tokens, size);
    const int64_t rest = x->shape.dim[3] - size;
    tw_value *head = rest ? tw_build_slice(b, x, 3, 0, size, 1) : x;
    if (!cosine || !sine || !head)
        return false;
    tw_value *turned = tw_build2(b, "Mul", rotated(n, head, size, type == 1), sine, NULL);
    tw_value *y = tw_build2(b, "Add", tw_build2(b, "Mul", head, cosine, NULL), turned, NULL);
    tw_value *parts[] = {y, rest ? tw_build_slice(b, x, 3, size, rest, 1) : NULL};
    return tw_foreign_result(n, rest ? tw_build_concat(b, parts, 2, 3) : y);
}
