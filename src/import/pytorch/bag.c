/* Embedding bags: rows of a table, gathered and folded bag by bag. */
#include <math.h>

#include "import/pytorch/torch.h"

enum { BAG_SUM, BAG_MEAN, BAG_MAX };

typedef struct tw_torch_bags {
    tw_value *rows;    /* of all bags in order: [N, D] */
    tw_value *offsets; /* where bags begin */
    tw_value *counted; /* which rows are not padding, [N]; null: all */
    int64_t count;     /* of bags */
    int mode;
    bool last; /* the offsets have the end of the last bag too */
} tw_torch_bags;

/* How many rows every bag has; 0 where they differ or are not known. */
static int64_t common_length(tw_torch_call *c, const tw_torch_bags *bags)
{
    const int64_t all = bags->rows->shape.dim[0];
    const int64_t length = bags->count > 0 && all % bags->count == 0 ? all / bags->count : 0;
    if (bags->counted || length == 0 || !tw_build_known(c->b, bags->offsets))
        return 0;
    for (int64_t i = 0; i < bags->offsets->shape.dim[0]; i++)
        if (tw_build_int_at(bags->offsets, i) != i * length)
            return 0;
    return length;
}

static tw_value *folded(tw_torch_call *c, const char *op, tw_value *x, int axis, bool keep)
{
    const int64_t axes[] = {axis};
    return tw_build1(c->b, op, x,
                     TW_SETTINGS(tw_set_ints("axes", 1, axes), tw_set_int("keepdims", keep)));
}

static tw_value *of_one_length(tw_torch_call *c, const tw_torch_bags *bags, int64_t length)
{
    static const char *const ops[] = {"ReduceSum", "ReduceMean", "ReduceMax"};
    const int64_t dim[] = {bags->count, length, bags->rows->shape.dim[1]};
    return folded(c, ops[bags->mode], tw_build_reshape(c->b, bags->rows, 3, dim), 1, false);
}

/* [bags, N]: which rows are in which bag. */
static tw_value *membership(tw_torch_call *c, const tw_torch_bags *bags)
{
    const int32_t all = bags->rows->shape.dim[0];
    const int64_t count = bags->count, column[] = {count, 1};
    const tw_dtype dtype = bags->offsets->shape.dtype;
    tw_value *begin = bags->offsets, *end;
    if (bags->last) {
        begin = tw_build_slice(c->b, bags->offsets, 0, 0, count, 1);
        end = tw_build_slice(c->b, bags->offsets, 0, 1, count, 1);
    } else {
        const int64_t one[] = {1};
        tw_value *parts[] = {count > 1 ? tw_build_slice(c->b, begin, 0, 1, count - 1, 1) : NULL,
                             tw_build_reshape(c->b, tw_build_scalar(c->b, dtype, all), 1, one)};
        end = count > 1 ? tw_build_concat(c->b, parts, 2, 0) : parts[1];
    }
    tw_value *place = tw_build_iota(c->b, dtype, 2, 1, all);
    tw_value *inside = tw_build2(
        c->b, "And",
        tw_build2(c->b, "GreaterOrEqual", place, tw_build_reshape(c->b, begin, 2, column), NULL),
        tw_build2(c->b, "Less", place, tw_build_reshape(c->b, end, 2, column), NULL), NULL);
    return bags->counted ? tw_build2(c->b, "And", inside, bags->counted, NULL) : inside;
}

/* Sums are a product with the membership; an empty bag is 0. */
static tw_value *of_any_length(tw_torch_call *c, const tw_torch_bags *bags)
{
    tw_value *inside = membership(c, bags);
    if (bags->mode == BAG_MAX) {
        tw_value *in[] = {tw_torch_with_axis(c, inside, 2), tw_torch_with_axis(c, bags->rows, 0),
                          tw_build_scalar(c->b, TW_F32, -INFINITY)};
        if (!in[0] || !in[1])
            return NULL;
        tw_value *most = folded(c, "ReduceMax", tw_build(c->b, "Where", in, 3, NULL), 1, false);
        tw_value *some[] = {folded(c, "ReduceAny", inside, 1, true), most,
                            tw_build_scalar(c->b, TW_F32, 0)};
        return some[0] && most ? tw_build(c->b, "Where", some, 3, NULL) : NULL;
    }
    tw_value *ones = tw_build_cast(c->b, inside, TW_F32);
    tw_value *y = tw_torch_product(c, ones, bags->rows);
    if (bags->mode == BAG_SUM)
        return y;
    tw_value *count = tw_build2(c->b, "Max", folded(c, "ReduceSum", ones, 1, true),
                                tw_build_scalar(c->b, TW_F32, 1), NULL);
    return tw_build2(c->b, "Div", y, count, NULL);
}

/* (weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
 * padding_idx); wraps: a negative padding index counts from the end, else there is none */
static bool embedding_bag(tw_torch_call *c, bool wraps)
{
    tw_value *w = tw_torch_real_in(c, 0), *index = tw_torch_index_in(c, 1);
    tw_torch_bags bags = {.offsets = tw_torch_index_in(c, 2), .last = tw_torch_flag(c, 7)};
    const int64_t mode = tw_torch_int(c, 4);
    if (!w || !index || !bags.offsets)
        return false;
    if (w->shape.rank != 2 || index->shape.rank != 1 || bags.offsets->shape.rank != 1 || mode < 0 ||
        mode > BAG_MAX)
        return TW_TORCH_FAIL(c, "a table, a list of indices, a list of offsets and mode 0 to 2 are "
                                "needed");
    bags.mode = (int)mode;
    bags.count = bags.offsets->shape.dim[0] - bags.last;
    bags.rows = tw_build_gather(c->b, w, index, 0, 0);
    if (bags.count < 1 || !bags.rows)
        return false;
    if (tw_torch_has(c, 6))
        bags.rows = tw_build2(c->b, "Mul", bags.rows,
                              tw_torch_with_axis(c, tw_torch_real_in(c, 6), 1), NULL);
    int64_t padding = tw_torch_has(c, 8) ? tw_torch_int(c, 8) : INT64_MIN;
    padding += wraps && padding < 0 && padding != INT64_MIN ? w->shape.dim[0] : 0;
    if (padding >= 0 && padding < w->shape.dim[0])
        bags.counted = tw_build2(c->b, "NotEqual", index,
                                 tw_build_scalar(c->b, index->shape.dtype, (double)padding), NULL);
    if (!bags.rows || bags.rows->shape.rank != 2)
        return bags.rows && TW_TORCH_FAIL(c, "the weights of samples are not a list");
    const int64_t length = common_length(c, &bags);
    return tw_torch_give_first(
        c, length ? of_one_length(c, &bags, length) : of_any_length(c, &bags), 4);
}

bool tw_torch_op_embedding_bag(tw_torch_call *c)
{
    return embedding_bag(c, true);
}

bool tw_torch_op_embedding_bag_core(tw_torch_call *c)
{
    return embedding_bag(c, false);
}
