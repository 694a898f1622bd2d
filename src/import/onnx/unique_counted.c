/* Unique of what is computed while the network runs, from tables of which slice equals which. In: slices of
 * an axis, or single elements. Out: results with room for all of them (or as many as the model's outputs
 * declare), how many there are beside them. */
#include "import/onnx/counted.h"

enum { MOST = 1 << 22 /* elements of a table of slices by slices */ };

/* Tables [n, n] have slice i down and slice j across. */
typedef struct tw_tables {
    tw_builder *b;
    int64_t n;
    tw_value *slices;       /* [n, size] */
    tw_value *equal;        /* bool: i is j */
    tw_value *first;        /* bool [n]: none before it is the same */
    tw_value *first_across; /* the same as [1, n] */
} tw_tables;

static tw_value *reduce(tw_builder *b, const char *op, tw_value *x, int64_t axis)
{
    return tw_build1(b, op, x,
                     TW_SETTINGS(tw_set_ints("axes", 1, &axis), tw_set_int("keepdims", 0)));
}

/* The slices down, or across. */
static tw_value *turned(const tw_tables *t, bool across)
{
    const int64_t size = t->slices->shape.dim[1];
    const int64_t down[3] = {t->n, 1, size}, beside[3] = {1, t->n, size};
    return tw_build_reshape(t->b, t->slices, 3, across ? beside : down);
}

static tw_value *across(const tw_tables *t, tw_value *list)
{
    const int64_t dim[2] = {1, t->n};
    return tw_build_reshape(t->b, list, 2, dim);
}

static bool make_tables(tw_tables *t)
{
    tw_builder *b = t->b;
    t->equal =
        reduce(b, "ReduceAll", tw_build2(b, "Equal", turned(t, false), turned(t, true), NULL), 2);
    tw_value *before = tw_build_band(b, (int32_t)t->n, (int32_t)t->n, -t->n, -1);
    tw_value *again = reduce(b, "ReduceAny", tw_build2(b, "And", t->equal, before, NULL), 1);
    t->first = tw_build1(b, "Not", again, NULL);
    t->first_across = t->first ? across(t, t->first) : NULL;
    return t->first_across != NULL;
}

/* bool [n, n]: slice j comes before slice i, element by element. */
static tw_value *smaller(const tw_tables *t)
{
    tw_builder *b = t->b;
    tw_value *down = turned(t, false), *beside = turned(t, true);
    tw_value *less = tw_build2(b, "Less", beside, down, NULL);
    if (!less || t->slices->shape.dim[1] == 1)
        return less ? reduce(b, "ReduceAny", less, 2) : NULL;
    tw_value *other = tw_build2(b, "NotEqual", beside, down, NULL);
    tw_value *differing = other ? tw_build_cast(b, other, TW_S32) : NULL;
    tw_value *so_far = tw_build1(b, "CumSum", differing,
                                 TW_SETTINGS(tw_set_int("axis", 2), tw_set_int("exclusive", 1)));
    tw_value *even = tw_build2(b, "Equal", so_far, tw_build_scalar(b, TW_S32, 0), NULL);
    return reduce(b, "ReduceAny", tw_build2(b, "And", less, even, NULL), 2);
}

/* s64 [n]: which result each slice is. */
static tw_value *group(const tw_tables *t, bool sorted)
{
    tw_builder *b = t->b;
    if (sorted) {
        tw_value *below = tw_build2(b, "And", smaller(t), t->first_across, NULL);
        return below ? reduce(b, "ReduceSum", tw_build_cast(b, below, TW_S64), 1) : NULL;
    }
    tw_value *number = tw_build1(b, "CumSum", tw_build_cast(b, t->first, TW_S64),
                                 TW_SETTINGS(tw_set_int("axis", 0), tw_set_int("exclusive", 1)));
    tw_value *in[] = {tw_build2(b, "And", t->equal, t->first_across, NULL),
                      number ? across(t, number) : NULL, tw_build_scalar(b, TW_S64, 0)};
    return in[0] && in[1] ? reduce(b, "ReduceSum", tw_build(b, "Where", in, 3, NULL), 1) : NULL;
}

/* s64 [extent]: the slice that each result is, those that stand first in its order. */
static tw_value *order(const tw_tables *t, tw_value *groups, int64_t extent)
{
    tw_builder *b = t->b;
    tw_value *behind = tw_build2(b, "Add", tw_build_iota(b, TW_S64, 1, 0, (int32_t)t->n),
                                 tw_build_scalar(b, TW_S64, (double)t->n), NULL);
    tw_value *in[] = {t->first, groups, behind};
    if (!groups || !behind)
        return NULL;
    return tw_build1(
        b, "TopIndices", tw_build(b, "Where", in, 3, NULL),
        TW_SETTINGS(tw_set_int("axis", 0), tw_set_int("k", extent), tw_set_int("largest", 0)));
}

static tw_value *slices_of(tw_builder *b, tw_value *x, int axis, int64_t n)
{
    int64_t perm[TW_MAX_RANK], dim[2] = {n, n ? tw_shape_elements(&x->shape) / n : 0};
    if (axis > 0) {
        for (int k = 0; k < x->shape.rank; k++)
            perm[k] = k == 0 ? axis : k - (k <= axis);
        x = tw_build_transpose(b, x, x->shape.rank, perm);
    }
    return x ? tw_build_reshape(b, x, 2, dim) : NULL;
}

/* The results' extent; *which: the first that is wanted, whose count stands beside it, or -1. */
static bool read_extent(tw_onnx_node *n, int axis, int64_t slices, int64_t *extent, int *which)
{
    static const int results[] = {0, 1, 3};
    *extent = slices;
    *which = -1;
    for (int i = 0; i < 3; i++) {
        const int at = results[i];
        int64_t one;
        if (!tw_onnx_wants(n, at))
            continue;
        if (!tw_onnx_open_extent(n, at, at == 0 && axis > 0 ? axis : 0, slices, &one))
            return false;
        *extent = one < *extent ? one : *extent;
        *which = *which < 0 ? at : *which;
    }
    return true;
}

static bool bind_results(tw_onnx_node *n, const tw_tables *t, tw_value *x, int axis,
                         tw_value *places, tw_value *mask)
{
    tw_builder *b = n->b;
    if (tw_onnx_wants(n, 0) &&
        !tw_onnx_bind(n, 0,
                      tw_onnx_filled(b, tw_build_gather(b, x, places, axis, 0), mask, axis, 0)))
        return false;
    if (tw_onnx_wants(n, 1) && !tw_onnx_bind(n, 1, tw_onnx_filled(b, places, mask, 0, -1)))
        return false;
    if (!tw_onnx_wants(n, 3))
        return true;
    tw_value *counts = reduce(b, "ReduceSum", tw_build_cast(b, t->equal, TW_S64), 1);
    return counts &&
           tw_onnx_bind(n, 3,
                        tw_onnx_filled(b, tw_build_gather(b, counts, places, 0, 0), mask, 0, 0));
}

bool tw_onnx_unique_counted(tw_onnx_node *n, int axis, bool sorted)
{
    tw_value *x = n->in[0];
    const int64_t elements = tw_shape_elements(&x->shape);
    int64_t extent;
    int which;
    tw_tables t = {.b = n->b, .n = axis < 0 ? elements : x->shape.dim[axis]};
    if (elements == 0 || t.n > MOST / elements)
        return TW_ONNX_UNSUPPORTED(
            n,
            "%lld slices of %lld elements in all, computed while the network "
            "runs; their product must be from 1 to %d",
            (long long)t.n, (long long)elements, MOST);
    if (!read_extent(n, axis, t.n, &extent, &which))
        return false;
    if (axis < 0)
        x = tw_build_reshape(n->b, x, 1, &elements);
    t.slices = x ? slices_of(n->b, x, axis, t.n) : NULL;
    if (!t.slices || !make_tables(&t))
        return false;
    tw_value *groups = group(&t, sorted), *count = tw_onnx_truths(n->b, t.first);
    tw_value *places = order(&t, groups, extent), *mask = tw_onnx_below(n->b, extent, count);
    if (!places || !mask || !bind_results(n, &t, x, axis < 0 ? 0 : axis, places, mask))
        return false;
    if (tw_onnx_wants(n, 2) && !tw_onnx_bind(n, 2, groups))
        return false;
    return which < 0 || tw_onnx_count(n, which, count);
}
