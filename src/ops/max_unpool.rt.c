/* MaxUnpool: kernel. In: elements and their indices, whole. Out: the band, zeros and the elements whose
 * indices lie in it. An index beyond the output is an error of the data. */
#include "ops/max_unpool.h"

#include "ops/codes.h"
#include "ops/product.h"

/* On to the next index in row-major order; 0 after the last. */
static int next_index(int32_t *index, const int32_t *begin, const int32_t *end, int32_t rank)
{
    int32_t k;
    for (k = rank - 1; k >= 0; k--) {
        if (++index[k] < end[k])
            return 1;
        index[k] = begin[k];
    }
    return 0;
}

/* What is present of a view; 0: nothing. */
static int present(const tw_view *v, int32_t *begin, int32_t *end)
{
    int32_t k, some = 1;
    for (k = 0; k < (int32_t)v->tensor->rank; k++) {
        begin[k] = k == v->axis ? v->row : 0;
        end[k] = k == v->axis ? v->row + v->rows : v->tensor->dim[k];
        some = some && end[k] > begin[k];
    }
    return some;
}

static ptrdiff_t offset(const tw_view *v, const int32_t *index)
{
    ptrdiff_t at = 0;
    int32_t k;
    for (k = 0; k < (int32_t)v->tensor->rank; k++)
        at += (ptrdiff_t)(index[k] - (k == v->axis ? v->row : 0)) * v->tensor->stride[k];
    return at;
}

/* The output's index from its number with channels behind the batch; 0: there is none. */
static int resolve(const tw_tensor *y, int64_t number, int32_t *index)
{
    const int32_t last = (int32_t)y->rank - 1;
    int32_t k;
    if (number < 0 || number >= tw_element_count(y))
        return 0;
    for (k = last - 1; k >= 1; k--) {
        index[k] = (int32_t)(number % y->dim[k]);
        number /= y->dim[k];
    }
    index[last] = (int32_t)(number % y->dim[last]);
    index[0] = (int32_t)(number / y->dim[last]);
    return 1;
}

static tw_status run(const tw_call *call)
{
    const tw_view *x = &call->in[0], *numbers = &call->in[1], *out = &call->out[0];
    const int32_t rank = (int32_t)out->tensor->rank;
    int32_t begin[TW_MAX_RANK], end[TW_MAX_RANK], index[TW_MAX_RANK] = {0}, to[TW_MAX_RANK] = {0};
    float *y = (float *)out->data;
    if (!tw_is_whole(x) || !tw_is_whole(numbers))
        return TW_E_SCHEDULE;
    if (!present(out, begin, end))
        return TW_OK;
    memcpy(index, begin, sizeof *index * (size_t)rank);
    do
        y[offset(out, index)] = 0.0f;
    while (next_index(index, begin, end, rank));
    if (!present(x, begin, end))
        return TW_OK;
    memcpy(index, begin, sizeof *index * (size_t)rank);
    do {
        if (!resolve(out->tensor, ((const int64_t *)numbers->data)[offset(numbers, index)], to))
            return TW_E_DATA;
        if (to[out->axis] >= out->row && to[out->axis] < out->row + out->rows)
            y[offset(out, to)] = ((const float *)x->data)[offset(x, index)];
    } while (next_index(index, begin, end, rank));
    return TW_OK;
}

/* Work counts what is written and what is read. */
static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_tensor *x, *y;
    int32_t k;
    if (call->in_count != 2 || call->out_count != 1 ||
        call->attribute_bytes != sizeof(tw_max_unpool_attributes) ||
        !tw_extents_check(&call->in[0], TW_F32, 3, TW_MAX_RANK) ||
        !tw_extents_check(&call->in[1], TW_S64, 3, TW_MAX_RANK) ||
        !tw_extents_check(&call->out[0], TW_F32, 3, TW_MAX_RANK))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    y = call->out[0].tensor;
    if (!tw_same_shape(x, call->in[1].tensor) || x->rank != y->rank || x->dim[0] != y->dim[0])
        return TW_E_CHECK;
    k = (int32_t)x->rank - 1;
    if (x->dim[k] != y->dim[k])
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(x) + (uint64_t)tw_element_count(y);
    return TW_OK;
}

TW_KERNEL(max_unpool, f32, run, check);
