/* The filter layer's kernels. The new memory is complete before it is read, and written front to
 * back, so that it may lie over the old one. */
#include "ops/svdf.h"

#include "ops/codes.h"
#include "ops/hybrid.h"
#include "ops/product.h"
#include "runtime/fixed.h"
#include "runtime/math.h"

enum { X, FEATURE, TIME, BIAS, STATE };

typedef struct tw_svdf_job {
    const tw_call *call;
    int32_t first, end; /* sequences */
    int32_t inputs, filters, length, rank, units;
} tw_svdf_job;

/* Bands are of sequences: those that out[0] holds are computed, all else is there. */
static tw_status open(tw_svdf_job *job, const tw_call *call)
{
    const tw_tensor *f = call->in[FEATURE].tensor, *t = call->in[TIME].tensor;
    const tw_view *y = &call->out[0];
    if (!f || !t)
        return TW_E_SCHEDULE;
    for (uint32_t i = 0; i < call->in_count; i++)
        if (call->in[i].tensor && !tw_is_whole(&call->in[i]))
            return TW_E_SCHEDULE;
    if ((y->axis != 0 && !tw_is_whole(y)) ||
        (call->out_count > 1 && call->out[1].tensor && !tw_is_whole(&call->out[1])))
        return TW_E_SCHEDULE;
    job->call = call;
    job->first = y->axis == 0 ? y->row : 0;
    job->end = y->axis == 0 ? y->row + y->rows : y->tensor->dim[0];
    job->inputs = f->dim[1];
    job->filters = f->dim[0];
    job->length = t->dim[1];
    job->rank = ((const tw_svdf_attributes *)call->attributes)->rank;
    job->units = job->filters / job->rank;
    return TW_OK;
}

static const void *input_row(const tw_svdf_job *job, uint32_t i, int32_t row, uint32_t bytes)
{
    const tw_view *v = &job->call->in[i];
    return (const uint8_t *)v->data + (ptrdiff_t)row * v->tensor->stride[0] * (ptrdiff_t)bytes;
}

static void *output_row(const tw_svdf_job *job, uint32_t i, int32_t row, uint32_t bytes)
{
    const tw_view *v = &job->call->out[i];
    return (uint8_t *)v->data + (ptrdiff_t)row * v->tensor->stride[0] * (ptrdiff_t)bytes;
}

/* Where sequence n's new memory goes: scratch, where nobody reads it. */
static void *memory_of(const tw_svdf_job *job, int32_t n, uint32_t bytes)
{
    return job->call->out_count > 1 && job->call->out[1].tensor ? output_row(job, 1, n, bytes)
                                                                : job->call->scratch;
}

/* ---- f32 ---- */

/* s' of one sequence from x, the one before, and the filters. */
typedef void (*tw_svdf_remember)(const tw_svdf_job *job, const float *x, const float *was,
                                 float *is);

/* Element i of the weights over time. */
typedef float (*tw_svdf_weight)(const tw_call *call, ptrdiff_t i);

/* Each memory moves up by one and takes what its filter sees. */
static void move_up(const tw_svdf_job *job, const float *was, float *is, int32_t k, float seen)
{
    const ptrdiff_t at = (ptrdiff_t)k * job->length;
    for (int32_t m = 1; m < job->length; m++)
        is[at + m - 1] = was[at + m];
    is[at + job->length - 1] = seen;
}

static void remember_f32(const tw_svdf_job *job, const float *x, const float *was, float *is)
{
    const float *f = (const float *)job->call->in[FEATURE].data;
    for (int32_t k = 0; k < job->filters; k++, f += job->inputs) {
        float sum = 0.0f;
        for (int32_t i = 0; i < job->inputs; i++)
            sum += x[i] * f[i];
        move_up(job, was, is, k, sum);
    }
}

static float weight_f32(const tw_call *call, ptrdiff_t i)
{
    return ((const float *)call->in[TIME].data)[i];
}

static TW_INLINE tw_status run_real(const tw_call *call, tw_svdf_remember remember,
                                    tw_svdf_weight weight)
{
    tw_svdf_job job;
    if (open(&job, call) != TW_OK)
        return TW_E_SCHEDULE;
    const float *bias = call->in[BIAS].tensor ? (const float *)call->in[BIAS].data : 0;
    for (int32_t n = job.first; n < job.end; n++) {
        float *is = (float *)memory_of(&job, n, 4),
              *y = (float *)output_row(&job, 0, n - job.first, 4);
        ptrdiff_t at = 0;
        remember(&job, (const float *)input_row(&job, X, n, 4),
                 (const float *)input_row(&job, STATE, n, 4), is);
        for (int32_t u = 0; u < job.units; u++) {
            float sum = bias ? bias[u] : 0.0f;
            for (int32_t k = 0; k < job.rank; k++) {
                float part = 0.0f;
                for (int32_t m = 0; m < job.length; m++, at++)
                    part += weight(call, at) * is[at];
                sum += part;
            }
            y[u] = tw_clampf(sum, call->clamp_low.f32, call->clamp_high.f32);
        }
    }
    return TW_OK;
}

static tw_status run_f32(const tw_call *call)
{
    return run_real(call, remember_f32, weight_f32);
}

/* ---- f32 by s8 ---- */

/* Bytes of scratch in front of the quantised x. */
static uint64_t scratch_memory(const tw_call *call)
{
    return call->out_count > 1 && call->out[1].tensor
               ? 0
               : (uint64_t)call->in[STATE].tensor->dim[1] * sizeof(float);
}

static void remember_f32w8(const tw_svdf_job *job, const float *x, const float *was, float *is)
{
    const tw_call *call = job->call;
    const tw_svdf_hybrid *table = (const tw_svdf_hybrid *)call->blobs[0].data;
    const int8_t *f = (const int8_t *)call->in[FEATURE].data;
    int8_t *row = (int8_t *)call->scratch + scratch_memory(call);
    tw_hybrid h;
    h.asymmetric = table->asymmetric;
    tw_hybrid_row(&h, x, job->inputs, row);
    for (int32_t k = 0; k < job->filters; k++, f += job->inputs)
        move_up(job, was, is, k,
                (float)tw_hybrid_dot(row, h.in_zero, f, job->inputs) *
                    (h.in_scale * table->feature));
}

static float weight_f32w8(const tw_call *call, ptrdiff_t i)
{
    return ((const tw_svdf_hybrid *)call->blobs[0].data)->time *
           (float)((const int8_t *)call->in[TIME].data)[i];
}

static tw_status run_f32w8(const tw_call *call)
{
    return run_real(call, remember_f32w8, weight_f32w8);
}

/* ---- s8 ---- */

/* Element i of a memory or of weights over time. */
static int32_t get(const void *data, uint32_t bytes, ptrdiff_t i)
{
    return bytes == 2 ? ((const int16_t *)data)[i] : ((const int8_t *)data)[i];
}

/* Wraps around, as the reference does where the zero point is not 0. */
static void put(void *data, uint32_t bytes, ptrdiff_t i, int32_t v)
{
    if (bytes == 2)
        ((int16_t *)data)[i] = (int16_t)(uint16_t)v;
    else
        ((int8_t *)data)[i] = (int8_t)(uint8_t)v;
}

static void remember_s8(const tw_svdf_job *job, const int8_t *x, const void *was, void *is)
{
    const tw_tensor *state = job->call->in[STATE].tensor;
    const tw_svdf_scales *s = (const tw_svdf_scales *)job->call->blobs[TW_SVDF_BLOB_SCALES].data;
    const int32_t *folded = (const int32_t *)job->call->blobs[TW_SVDF_BLOB_FEATURE].data;
    const int8_t *f = (const int8_t *)job->call->in[FEATURE].data;
    const uint32_t bytes = state->dtype == TW_S16 ? 2 : 1;
    const int32_t most = bytes == 2 ? INT16_MAX : INT8_MAX;
    for (int32_t k = 0; k < job->filters; k++, f += job->inputs) {
        const ptrdiff_t at = (ptrdiff_t)k * job->length;
        uint32_t sum = (uint32_t)folded[k];
        for (int32_t i = 0; i < job->inputs; i++)
            sum += (uint32_t)((int32_t)x[i] * f[i]);
        int32_t v = tw_requantize((int32_t)sum, s->feature_multiplier, s->feature_shift);
        for (int32_t m = 1; m < job->length; m++)
            put(is, bytes, at + m - 1, get(was, bytes, at + m));
        put(is, bytes, at + job->length - 1, tw_clamp_s32(v, -most - 1, most) + state->zero_point);
    }
}

static tw_status run_s8(const tw_call *call)
{
    tw_svdf_job job;
    if (open(&job, call) != TW_OK)
        return TW_E_SCHEDULE;
    const tw_svdf_scales *s = (const tw_svdf_scales *)call->blobs[TW_SVDF_BLOB_SCALES].data;
    const int32_t *bias = (const int32_t *)call->blobs[TW_SVDF_BLOB_BIAS].data;
    const uint32_t bytes = call->in[STATE].tensor->dtype == TW_S16 ? 2 : 1;
    const int32_t zero = call->out[0].tensor->zero_point;
    for (int32_t n = job.first; n < job.end; n++) {
        void *is = memory_of(&job, n, bytes);
        int8_t *y = (int8_t *)output_row(&job, 0, n - job.first, 1);
        ptrdiff_t at = 0;
        remember_s8(&job, (const int8_t *)input_row(&job, X, n, 1),
                    input_row(&job, STATE, n, bytes), is);
        for (int32_t u = 0; u < job.units; u++) {
            uint32_t sum = (uint32_t)bias[u];
            for (int32_t k = 0; k < job.rank * job.length; k++, at++)
                sum += (uint32_t)(get(call->in[TIME].data, bytes, at) * get(is, bytes, at));
            int32_t v = tw_requantize((int32_t)sum, s->out_multiplier, s->out_shift) + zero;
            y[u] = (int8_t)tw_clamp_s32(v, call->clamp_low.s32, call->clamp_high.s32);
        }
    }
    return TW_OK;
}

/* ---- checks ---- */

static int is_matrix(const tw_view *v, uint32_t dtype, int32_t rows, int64_t columns)
{
    return tw_operand_check(v, dtype, 2, 2) && v->tensor->dim[0] == rows &&
           v->tensor->dim[1] == columns;
}

/* Types of x and y, of the filters, of the weights over time, of the memory. */
typedef struct tw_svdf_types {
    uint32_t x, feature, time, memory;
} tw_svdf_types;

static tw_status check(const tw_call *call, const tw_svdf_types *types, uint64_t *work)
{
    const tw_svdf_attributes *a = (const tw_svdf_attributes *)call->attributes;
    int32_t extents[3];
    uint64_t part;
    if (call->in_count != 5 || call->out_count < 1 || call->out_count > 2 ||
        call->attribute_bytes != sizeof *a || a->rank < 1 ||
        !tw_operand_check(&call->in[X], types->x, 2, 2) ||
        !tw_operand_check(&call->in[FEATURE], types->feature, 2, 2) ||
        !tw_operand_check(&call->in[TIME], types->time, 2, 2))
        return TW_E_CHECK;
    const tw_tensor *f = call->in[FEATURE].tensor, *t = call->in[TIME].tensor;
    const int32_t batch = call->in[X].tensor->dim[0];
    const int64_t memory = (int64_t)f->dim[0] * t->dim[1];
    if (t->dim[1] < 1 || t->dim[0] != f->dim[0] || f->dim[0] % a->rank != 0 || !tw_is_dense(f) ||
        !tw_is_dense(t) || call->in[X].tensor->dim[1] != f->dim[1] ||
        !is_matrix(&call->in[STATE], types->memory, batch, memory) ||
        !(call->out_count > 1 && call->out[1].tensor
              ? is_matrix(&call->out[1], types->memory, batch, memory)
              : (uint64_t)memory * tw_dtype_bytes(types->memory) <= call->scratch_bytes) ||
        !is_matrix(&call->out[0], types->x, batch, f->dim[0] / a->rank))
        return TW_E_CHECK;
    extents[0] = batch;
    extents[1] = f->dim[0];
    extents[2] = f->dim[1];
    if (!tw_work(&part, extents, 3))
        return TW_E_CHECK;
    extents[2] = t->dim[1];
    if (!tw_work(work, extents, 3) || *work + part < part)
        return TW_E_CHECK;
    *work += part;
    return TW_OK;
}

static tw_status check_real(const tw_call *call, uint32_t weights, uint64_t *work)
{
    const tw_svdf_types types = {TW_F32, weights, weights, TW_F32};
    if (check(call, &types, work) != TW_OK ||
        !tw_vector_check(&call->in[BIAS], TW_F32, call->out[0].tensor->dim[1]))
        return TW_E_CHECK;
    return TW_OK;
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    return check_real(call, TW_F32, work);
}

static tw_status check_f32w8(const tw_call *call, uint64_t *work)
{
    const tw_svdf_hybrid *table;
    if (check_real(call, TW_S8, work) != TW_OK || call->blob_count != 1 ||
        call->blobs[0].bytes != sizeof *table ||
        scratch_memory(call) + (uint64_t)call->in[X].tensor->dim[1] > call->scratch_bytes)
        return TW_E_CHECK;
    table = (const tw_svdf_hybrid *)call->blobs[0].data;
    return (table->asymmetric & ~1) == 0 ? TW_OK : TW_E_CHECK;
}

static int is_rescale(int32_t multiplier, int32_t shift)
{
    return multiplier >= 0 && shift >= -31 && shift <= 30;
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    if (call->in_count != 5 || !call->in[STATE].tensor || call->blob_count != TW_SVDF_BLOBS)
        return TW_E_CHECK;
    const uint32_t time = call->in[STATE].tensor->dtype;
    const tw_svdf_types types = {TW_S8, TW_S8, time, time};
    if ((time != TW_S16 && time != TW_S8) || check(call, &types, work) != TW_OK)
        return TW_E_CHECK;
    const tw_blob *blob = call->blobs;
    const tw_svdf_scales *s = (const tw_svdf_scales *)blob[TW_SVDF_BLOB_SCALES].data;
    const int32_t filters = call->in[FEATURE].tensor->dim[0],
                  zero = call->out[0].tensor->zero_point;
    const int32_t memory_zero = call->in[STATE].tensor->zero_point;
    if (blob[TW_SVDF_BLOB_SCALES].bytes != sizeof *s ||
        blob[TW_SVDF_BLOB_FEATURE].bytes != (uint64_t)filters * 4u ||
        blob[TW_SVDF_BLOB_BIAS].bytes != (uint64_t)call->out[0].tensor->dim[1] * 4u ||
        !is_rescale(s->feature_multiplier, s->feature_shift) ||
        !is_rescale(s->out_multiplier, s->out_shift) || zero < INT8_MIN || zero > INT8_MAX ||
        memory_zero < INT16_MIN || memory_zero > INT16_MAX || call->clamp_low.s32 < INT8_MIN ||
        call->clamp_high.s32 > INT8_MAX)
        return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(svdf, f32, run_f32, check_f32);
TW_KERNEL(svdf, f32w8, run_f32w8, check_f32w8);
TW_KERNEL(svdf, s8, run_s8, check_s8);
