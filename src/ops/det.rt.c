/* Det: kernel. Elimination with the greatest element of each column as pivot, in scratch. */
#include "ops/codes.h"
#include "runtime/indices.h"
#include "runtime/math.h"

/* Row `a` of an n x n matrix changes places with row `b`. */
static void swap_rows(float *m, int32_t n, int32_t a, int32_t b)
{
    int32_t k;
    for (k = 0; k < n; k++) {
        const float kept = m[a * n + k];
        m[a * n + k] = m[b * n + k];
        m[b * n + k] = kept;
    }
}

static float determinant(float *m, int32_t n)
{
    float product = 1.0f;
    int32_t c, r, k;
    for (c = 0; c < n; c++) {
        int32_t pivot = c;
        for (r = c + 1; r < n; r++)
            if (tw_absf(m[r * n + c]) > tw_absf(m[pivot * n + c]))
                pivot = r;
        if (m[pivot * n + c] == 0.0f)
            return 0.0f;
        if (pivot != c) {
            swap_rows(m, n, pivot, c);
            product = -product;
        }
        product *= m[c * n + c];
        for (r = c + 1; r < n; r++) {
            const float factor = m[r * n + c] / m[c * n + c];
            for (k = c + 1; k < n; k++)
                m[r * n + k] -= factor * m[c * n + k];
        }
    }
    return product;
}

static tw_status run(const tw_call *call)
{
    const tw_view *x = &call->in[0], *out = &call->out[0];
    const int32_t rank = (int32_t)out->tensor->rank, n = x->tensor->dim[rank];
    float *m = (float *)call->scratch;
    tw_box box;
    if (!tw_box_of(&box, out, rank))
        return TW_OK;
    do {
        int32_t at[TW_MAX_RANK], r, c;
        memcpy(at, box.index, sizeof at);
        if (x->axis < rank ? !tw_holds(x, at[x->axis], 1) : !tw_holds(x, 0, n))
            return TW_E_SCHEDULE;
        for (r = 0; r < n; r++)
            for (c = 0; c < n; c++) {
                at[rank] = r;
                at[rank + 1] = c;
                m[r * n + c] = *(const float *)(const void *)tw_element(x, at);
            }
        *(float *)(void *)tw_element(out, box.index) = determinant(m, n);
    } while (tw_box_next(&box));
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_tensor *x, *out;
    int32_t rank, n, k;
    if (call->in_count != 1 || call->out_count != 1 || !call->in[0].tensor || !call->out[0].tensor)
        return TW_E_CHECK;
    x = call->in[0].tensor;
    out = call->out[0].tensor;
    rank = (int32_t)out->rank;
    if ((int32_t)x->rank != rank + 2 || x->dtype != TW_F32 || out->dtype != TW_F32)
        return TW_E_CHECK;
    for (k = 0; k < rank; k++)
        if (x->dim[k] != out->dim[k])
            return TW_E_CHECK;
    n = x->dim[rank];
    if (n != x->dim[rank + 1] || n > 1024 || call->scratch_bytes / 4 < (uint32_t)(n * n))
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(out) * (uint64_t)n * (uint64_t)n * (uint64_t)(n + 1);
    return TW_OK;
}

TW_KERNEL(det, f32, run, check);
