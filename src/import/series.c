/* Places and series: what counts along an axis. Messages name the builder's node and `op`. */
#include <math.h>
#include <string.h>

#include "graph/number.h"
#include "import/build.h"

/* Element i of start + i * step, in the type of start; false for types that have none. */
static bool range_element(const tw_value *start, const tw_value *step, int32_t i, void *to)
{
    const double from = tw_constant_at(start, 0), by = tw_constant_at(step, 0);
    const uint64_t wide = (uint64_t)tw_build_int_at(start, 0) +
                          (uint64_t)(int64_t)i * (uint64_t)tw_build_int_at(step, 0);
    const float single = (float)from + (float)i * (float)by;
    const double twice = from + i * by;
    switch (start->shape.dtype) {
    case TW_F32: memcpy(to, &single, sizeof single); return true;
    case TW_F64: memcpy(to, &twice, sizeof twice); return true;
    case TW_F16:
    case TW_BF16: tw_number_store(start->shape.dtype, twice, to); return true;
    case TW_S16:
    case TW_S32:
    case TW_S64: memcpy(to, &wide, tw_dtype_bytes(start->shape.dtype)); return true;
    default: return false;
    }
}

static bool read_bounds(tw_builder *b, const char *op, tw_value *const *bounds, double *v)
{
    static const char *const what[] = {"start", "limit", "step"};
    for (int i = 0; i < 3; i++) {
        if (!bounds[i])
            return false;
        if (bounds[i]->shape.dtype != bounds[0]->shape.dtype ||
            tw_shape_elements(&bounds[i]->shape) != 1)
            return tw_fail(b->diag, TW_CODE_FAILED, b->node, op,
                           "%s must be one element of the others' type", what[i]);
        if (!tw_build_constant(b, bounds[i]))
            return tw_fail(b->diag, TW_CODE_UNSUPPORTED, b->node, op,
                           "%s must be constant: it fixes a shape", what[i]);
        v[i] = tw_constant_at(bounds[i], 0);
    }
    return true;
}

tw_value *tw_build_range(tw_builder *b, const char *op, tw_value *const *bounds)
{
    double v[3];
    if (!read_bounds(b, op, bounds, v))
        return NULL;
    const double count = v[2] != 0 ? ceil((v[1] - v[0]) / v[2]) : NAN;
    if (!(fabs(count) <= (double)TW_BUILD_LIMIT / 8)) {
        tw_fail(b->diag, TW_CODE_FAILED, b->node, op,
                "the range from %g to %g in steps of %g has too many elements", v[0], v[1], v[2]);
        return NULL;
    }
    const int32_t dim[1] = {count > 0 ? (int32_t)count : 0};
    const tw_dtype type = bounds[0]->shape.dtype;
    const uint32_t size = tw_dtype_bytes(type);
    uint8_t *data = tw_alloc(b->arena, (size_t)dim[0] * size + 1);
    for (int32_t i = 0; i < dim[0]; i++)
        if (!range_element(bounds[0], bounds[2], i, data + (size_t)i * size)) {
            tw_fail(b->diag, TW_CODE_UNSUPPORTED, b->node, op, "ranges of %s are not supported",
                    tw_dtype_name(type));
            return NULL;
        }
    return tw_build_data(b, tw_shape_of(type, 1, dim), data);
}

tw_value *tw_build_hot(tw_builder *b, const char *op, tw_value *indices, int axis, int64_t depth)
{
    int64_t dim[TW_MAX_RANK];
    if (!indices)
        return NULL;
    const int rank = indices->shape.rank + 1;
    if (rank > TW_MAX_RANK || depth < 0 || depth > TW_BUILD_LIMIT / 8) {
        tw_fail(b->diag, TW_CODE_UNSUPPORTED, b->node, op,
                "depth %lld behind %d axes is not supported", (long long)depth, rank - 1);
        return NULL;
    }
    for (int i = 0, k = 0; i < rank; i++)
        dim[i] = i == axis ? 1 : indices->shape.dim[k++];
    tw_value *place = tw_build_iota(b, indices->shape.dtype, rank, axis, (int32_t)depth);
    return tw_build2(b, "Equal", tw_build_reshape(b, indices, rank, dim), place, NULL);
}
