/* Compositions of IR operators that every importer needs. */
#include <string.h>

#include "import/build.h"

tw_value *tw_build_transpose(tw_builder *b, tw_value *x, int rank, const int64_t *perm)
{
    return tw_build1(b, "Transpose", x, TW_SETTINGS(tw_set_ints("perm", rank, perm)));
}

tw_value *tw_build_reshape(tw_builder *b, tw_value *x, int rank, const int64_t *dim)
{
    return tw_build1(b, "Reshape", x, TW_SETTINGS(tw_set_ints("shape", rank, dim)));
}

tw_value *tw_build_channels_last(tw_builder *b, tw_value *x)
{
    int64_t perm[TW_MAX_RANK] = {0};
    int rank = x ? x->shape.rank : 0;
    for (int i = 1; i < rank; i++)
        perm[i] = i + 1 < rank ? i + 1 : 1;
    return rank < 3 ? x : tw_build_transpose(b, x, rank, perm);
}

tw_value *tw_build_channels_first(tw_builder *b, tw_value *x)
{
    int64_t perm[TW_MAX_RANK] = {0};
    int rank = x ? x->shape.rank : 0;
    for (int i = 1; i < rank; i++)
        perm[i] = i == 1 ? rank - 1 : i - 1;
    return rank < 3 ? x : tw_build_transpose(b, x, rank, perm);
}

tw_value *tw_build_cast(tw_builder *b, tw_value *x, tw_dtype dtype)
{
    if (!x || x->shape.dtype == dtype)
        return x;
    return tw_build1(b, "Cast", x, TW_SETTINGS(tw_set_int("dtype", dtype)));
}

tw_value *tw_build_concat(tw_builder *b, tw_value *const *parts, int count, int axis)
{
    const tw_opdef *op = tw_op_by_name("Concat");
    int most = op && op->max_in > 1 ? op->max_in : 2;
    tw_value **level = tw_copy(b->arena, parts, sizeof *parts * (size_t)count);
    while (count > 1) {
        int made = 0;
        for (int at = 0; at < count; at += most) {
            int n = count - at < most ? count - at : most;
            level[made++] = n == 1 ? level[at]
                                   : tw_build(b, "Concat", level + at, n,
                                              TW_SETTINGS(tw_set_int("axis", axis)));
        }
        count = made;
    }
    return count ? level[0] : NULL;
}

tw_value *tw_build_ranges(tw_builder *b, tw_value *x, const tw_range *ranges)
{
    int64_t begin[TW_MAX_RANK], size[TW_MAX_RANK], step[TW_MAX_RANK];
    const int rank = x ? x->shape.rank : 0;
    for (int k = 0; k < rank; k++) {
        begin[k] = ranges[k].begin;
        size[k] = ranges[k].size;
        step[k] = ranges[k].step;
    }
    return tw_build1(b, "Slice", x,
                     TW_SETTINGS(tw_set_ints("begin", rank, begin), tw_set_ints("size", rank, size),
                                 tw_set_ints("step", rank, step)));
}

tw_value *tw_build_slice(tw_builder *b, tw_value *x, int axis, int64_t begin, int64_t size,
                         int64_t step)
{
    tw_range ranges[TW_MAX_RANK];
    if (!x)
        return NULL;
    for (int k = 0; k < x->shape.rank; k++)
        ranges[k] = (tw_range){0, x->shape.dim[k], 1};
    ranges[axis] = (tw_range){begin, size, step};
    return tw_build_ranges(b, x, ranges);
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

tw_range tw_range_of(int64_t extent, int64_t start, int64_t end, int64_t step)
{
    /* Steps beyond any extent are all the same. */
    tw_range r = {0, 0, clamp(step, -INT32_MAX, INT32_MAX)};
    if (extent == 0)
        return r;
    const bool back = step < 0;
    start = clamp(start < 0 ? start + extent : start, 0, back ? extent - 1 : extent);
    end = clamp(end < 0 ? end + extent : end, back ? -1 : 0, back ? extent - 1 : extent);
    const int64_t span = back ? start - end : end - start;
    if (span > 0) {
        r.size = (span - 1) / (back ? -r.step : r.step) + 1;
        r.begin = start;
    }
    return r;
}

tw_value *tw_build_chain(tw_builder *b, const char *op, tw_value *const *in, int in_count)
{
    tw_value *sum = in_count ? in[0] : NULL;
    for (int i = 1; i < in_count; i++)
        sum = tw_build2(b, op, sum, in[i], NULL);
    return sum;
}

tw_value *tw_build_expand(tw_builder *b, tw_value *x, const tw_shape *shape)
{
    if (!x || tw_shape_equal(&x->shape, shape))
        return x;
    int64_t dim[TW_MAX_RANK], repeats[TW_MAX_RANK];
    int lead = shape->rank - x->shape.rank;
    for (int i = 0; i < shape->rank; i++) {
        dim[i] = i < lead ? 1 : x->shape.dim[i - lead];
        repeats[i] = dim[i] == shape->dim[i] ? 1 : shape->dim[i];
    }
    if (lead > 0)
        x = tw_build_reshape(b, x, shape->rank, dim);
    return tw_build1(b, "Tile", x, TW_SETTINGS(tw_set_ints("repeats", shape->rank, repeats)));
}

tw_value *tw_build_iota(tw_builder *b, tw_dtype dtype, int rank, int axis, int32_t count)
{
    int32_t dim[TW_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    if (rank > 0)
        dim[axis] = count;
    tw_value *out = tw_build_full(b, tw_shape_of(dtype, rank, dim), 0);
    for (int32_t i = 0; out && i < count; i++) {
        const int64_t wide = i; /* little-endian: the low bytes come first */
        const float real = (float)i;
        uint32_t size = tw_dtype_bytes(dtype);
        memcpy((char *)(uintptr_t)out->data + (size_t)i * size,
               dtype == TW_F32 ? (const void *)&real : &wide, size);
    }
    return out;
}

tw_value *tw_build_band(tw_builder *b, int32_t rows, int32_t columns, int64_t low, int64_t high)
{
    const int32_t dim[2] = {rows, columns};
    tw_value *out = tw_build_full(b, tw_shape_of(TW_BOOL, 2, dim), 0);
    uint8_t *data = out ? (uint8_t *)(uintptr_t)out->data : NULL;
    for (int64_t i = 0; out && i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            data[i * columns + j] = j - i >= low && j - i <= high;
    return out;
}

tw_value *tw_build_gather(tw_builder *b, tw_value *x, tw_value *indices, int axis, int batch)
{
    return tw_build2(b, "Gather", x, indices,
                     TW_SETTINGS(tw_set_int("axis", axis), tw_set_int("batch_dims", batch)));
}

tw_value *tw_build_places(tw_builder *b, const tw_value *x, bool by_row)
{
    int rank = x->shape.rank;
    int64_t elements = tw_shape_elements(&x->shape), count = 0, found = 0;
    for (int64_t i = 0; i < elements; i++)
        count += tw_constant_at(x, i) != 0;
    if (count * rank * 8 > TW_BUILD_LIMIT) {
        tw_fail(b->diag, TW_CODE_UNSUPPORTED, b->node, NULL,
                "a list of %lld places; at most %d bytes of them are made", (long long)count,
                TW_BUILD_LIMIT);
        return NULL;
    }
    const int32_t dim[2] = {by_row ? (int32_t)count : rank, by_row ? rank : (int32_t)count};
    int64_t *data = tw_alloc(b->arena, (size_t)(count * rank) * 8 + 1);
    for (int64_t i = 0; i < elements; i++) {
        if (tw_constant_at(x, i) == 0)
            continue;
        for (int64_t k = rank - 1, rest = i; k >= 0; rest /= x->shape.dim[k--])
            data[by_row ? found * rank + k : k * count + found] = rest % x->shape.dim[k];
        found++;
    }
    return tw_build_data(b, tw_shape_of(TW_S64, 2, dim), data);
}

/* --- weights ----------------------------------------------------------------------------------- */

static bool is_op(const tw_value *value, const char *op)
{
    return value->producer && strcmp(value->producer->op->name, op) == 0;
}

static const void *attribute_of(const tw_node *node, const char *name)
{
    for (int i = 0; i < node->op->attribute_count; i++)
        if (strcmp(node->op->attributes[i].name, name) == 0)
            return (const char *)node->attributes + node->op->attributes[i].offset;
    return NULL;
}

static tw_value *rearrange(tw_builder *b, tw_value *w, const int64_t *perm, int rank,
                           const int64_t *dim)
{
    tw_quant quant = w->quant;
    int from = w->shape.rank;
    for (int i = 0; quant.count > 1 && i < from; i++)
        if (perm[i] == w->quant.axis)
            quant.axis = i;
    tw_value *out = tw_build_transpose(b, w, from, perm);
    if (dim)
        out = tw_build_reshape(b, out, rank, dim);
    if (out)
        out->quant = quant;
    return out;
}

tw_value *tw_build_weight(tw_builder *b, tw_value *w, const int64_t *perm, int rank,
                          const int64_t *dim)
{
    int64_t both[TW_MAX_RANK], next[TW_MAX_RANK];
    while (w && is_op(w, "Transpose") && tw_build_is_weight(w)) {
        const tw_ints *inner = attribute_of(w->producer, "perm");
        if (!inner || inner->count != w->shape.rank)
            break;
        for (int i = 0; i < w->shape.rank; i++)
            next[i] = inner->v[perm[i]];
        memcpy(both, next, sizeof both);
        perm = both;
        w = w->producer->in[0];
    }
    if (!w)
        return NULL;
    if (!is_op(w, "Dequantize") || !tw_build_is_weight(w))
        return rearrange(b, w, perm, rank, dim);
    return tw_build1(b, "Dequantize", rearrange(b, w->producer->in[0], perm, rank, dim), NULL);
}
