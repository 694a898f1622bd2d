/* Products of matrices, and masks of attention. A mask over a cache (cache.c) goes by the position; one over
 * the tokens of a single run is constant. */
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

/* 0 where a row of this run may look at a column of the caches, else MASKED: [1, 1, rows, columns]. */
static tw_value *cache_bias(tw_foreign_node *n, const tw_mobilint_position *p, int64_t columns,
                            bool causal)
{
    tw_builder *b = n->b;
    const bool sliding = tw_foreign_flag(n, "is_sliding");
    tw_value *at =
        tw_build2(b, "Add", tw_build_iota(b, TW_S32, 4, 2, (int32_t)p->tokens), p->state, NULL);
    tw_value *key = tw_build_iota(b, TW_S32, 4, 3, (int32_t)columns), *allowed = NULL;
    if (columns != p->rows) { /* the caches slide: their last rows are those of this run */
        tw_value *first = tw_build_scalar(b, TW_S32, (double)(columns - p->tokens));
        key = tw_build2(b, "Sub", tw_build2(b, "Add", key, p->state, NULL), first, NULL);
        allowed = tw_build2(b, "GreaterOrEqual", key, tw_build_scalar(b, TW_S32, 0), NULL);
    }
    tw_value *end = causal ? at
                           : tw_build2(b, "Add", p->state,
                                       tw_build_scalar(b, TW_S32, (double)p->tokens - 1), NULL);
    tw_value *past = tw_build2(b, "LessOrEqual", key, end, NULL);
    allowed = allowed ? tw_build2(b, "And", allowed, past, NULL) : past;
    if (causal && sliding) {
        tw_value *window = tw_build_scalar(b, TW_S32, (double)tw_foreign_int(n, "sliding_window"));
        tw_value *seen = tw_build2(b, "Greater", key, tw_build2(b, "Sub", at, window, NULL), NULL);
        allowed = tw_build2(b, "And", allowed, seen, NULL);
    }
    tw_value *in[] = {allowed, tw_build_scalar(b, TW_F32, 0), tw_build_scalar(b, TW_F32, MASKED)};
    return tw_build(b, "Where", in, 3, NULL);
}

/* The caches that scores of so many columns are over, or null. */
static const tw_mobilint_position *caches_of(tw_foreign_node *n, int64_t rows, int64_t columns)
{
    const tw_mobilint_position *p = tw_mobilint_find_position(n);
    return p && (rows < 0 || rows == p->tokens) && (columns == p->rows || columns == p->sliding)
               ? p
               : NULL;
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
 * that scores are to get. S is the caches' rows, or past_seqlen + T where no cache is that long. */
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
    const tw_mobilint_position *p = caches_of(n, keep ? -1 : x->shape.dim[2], columns);
    const int64_t rows = !keep ? x->shape.dim[2] : p ? p->tokens : columns - past;
    if (!p && (rows < 1 || columns != rows + past))
        return TW_FOREIGN_FAIL(n,
                               "the attribute past_seqlen is %lld, but there are %lld columns "
                               "for %lld rows",
                               (long long)past, (long long)columns, (long long)rows);
    tw_value *bias = p        ? cache_bias(n, p, columns, causal)
                     : causal ? causal_bias(n, rows, past)
                              : NULL;
    if ((causal || p) && !bias)
        return false;
    if (!keep)
        return tw_foreign_result(n, bias ? tw_build2(b, "Add", x, bias, NULL)
                                         : tw_build1(b, "Identity", x, NULL));
    const int64_t one[] = {1, 1, 1, columns};
    tw_value *kept = keep_bias(n, tw_build_reshape(b, x, 4, one));
    if (!bias) {
        const int32_t dim[] = {1, 1, (int32_t)rows, (int32_t)columns};
        const tw_shape full = tw_shape_of(TW_F32, 4, dim);
        return tw_foreign_result(n, tw_build_expand(b, kept, &full));
    }
    return tw_foreign_result(n, tw_build2(b, "Min", bias, kept, NULL));
}
