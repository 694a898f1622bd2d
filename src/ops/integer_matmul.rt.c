/* IntegerMatMul: kernel. */
#include "ops/integer_matmul.h"

#include "ops/codes.h"
#include "ops/matrix.h"
#include "runtime/move.h"

typedef struct tw_integer_job {
    const tw_view *a, *b, *out, *a_zero, *b_zero; /* zero points: null where there are none */
    int32_t first_row, first_column, columns, depth;
} tw_integer_job;

static int32_t byte_at(const tw_view *v, ptrdiff_t at)
{
    return v->tensor->dtype == TW_S8 ? ((const int8_t *)v->data)[at]
                                     : ((const uint8_t *)v->data)[at];
}

static int32_t zero_at(const tw_view *zero, int32_t i)
{
    if (!zero)
        return 0;
    return byte_at(zero, zero->tensor->dim[0] == 1 ? 0 : (ptrdiff_t)i * zero->tensor->stride[0]);
}

static void visit_bytes(const void *of, const tw_matrix_part *part)
{
    const tw_integer_job *job = (const tw_integer_job *)of;
    const tw_tensor *a = job->a->tensor, *b = job->b->tensor, *out = job->out->tensor;
    const ptrdiff_t a_row = a->stride[a->rank - 2], a_step = a->stride[a->rank - 1];
    const ptrdiff_t b_row = b->stride[b->rank - 2], b_step = b->stride[b->rank - 1];
    const ptrdiff_t out_row = out->stride[out->rank - 2], out_step = out->stride[out->rank - 1];
    int32_t m, n, k;
    for (m = 0; m < part->rows; m++) {
        const int32_t a_zero = zero_at(job->a_zero, job->first_row + m);
        int32_t *to = (int32_t *)job->out->data + part->out + m * out_row;
        for (n = 0; n < job->columns; n++) {
            const int32_t b_zero = zero_at(job->b_zero, job->first_column + n);
            ptrdiff_t a_at = part->a + m * a_row, b_at = part->b + n * b_step;
            int32_t sum = 0;
            for (k = 0; k < job->depth; k++) {
                sum += (byte_at(job->a, a_at) - a_zero) * (byte_at(job->b, b_at) - b_zero);
                a_at += a_step;
                b_at += b_row;
            }
            to[n * out_step] = sum;
        }
    }
}

/* 32 and 64 bits wrap around, which is the same for signed and unsigned. */
#define VISIT_WIDE(bits)                                                                           \
    static void visit_##bits(const void *of, const tw_matrix_part *part)                           \
    {                                                                                              \
        const tw_integer_job *job = (const tw_integer_job *)of;                                    \
        const tw_tensor *a = job->a->tensor, *b = job->b->tensor, *out = job->out->tensor;         \
        const ptrdiff_t a_row = a->stride[a->rank - 2], a_step = a->stride[a->rank - 1];           \
        const ptrdiff_t b_row = b->stride[b->rank - 2], b_step = b->stride[b->rank - 1];           \
        const ptrdiff_t out_row = out->stride[out->rank - 2], step = out->stride[out->rank - 1];   \
        int32_t m, n, k;                                                                           \
        for (m = 0; m < part->rows; m++) {                                                         \
            uint##bits##_t *to = (uint##bits##_t *)job->out->data + part->out + m * out_row;       \
            for (n = 0; n < job->columns; n++) {                                                   \
                const uint##bits##_t *x =                                                          \
                    (const uint##bits##_t *)job->a->data + part->a + m * a_row;                    \
                const uint##bits##_t *y =                                                          \
                    (const uint##bits##_t *)job->b->data + part->b + n * b_step;                   \
                uint##bits##_t sum = 0;                                                            \
                for (k = 0; k < job->depth; k++)                                                   \
                    sum += x[k * a_step] * y[k * b_row];                                           \
                to[n * step] = sum;                                                                \
            }                                                                                      \
        }                                                                                          \
    }
VISIT_WIDE(32)
VISIT_WIDE(64)

static tw_status run(const tw_call *call)
{
    const tw_tensor *a = call->in[0].tensor;
    const uint32_t bytes = tw_dtype_bytes(a->dtype);
    const int32_t rank = (int32_t)call->out[0].tensor->rank;
    const tw_range rows = tw_present(&call->out[0], rank - 2);
    const tw_range columns = tw_present(&call->out[0], rank - 1);
    tw_integer_job job;
    uint32_t i;
    for (i = 2; i < call->in_count; i++)
        if (call->in[i].tensor && !tw_holds(&call->in[i], 0, call->in[i].tensor->dim[0]))
            return TW_E_SCHEDULE;
    job.a = &call->in[0];
    job.b = &call->in[1];
    job.out = &call->out[0];
    job.a_zero = call->in_count > 2 && call->in[2].tensor ? &call->in[2] : NULL;
    job.b_zero = call->in_count > 3 && call->in[3].tensor ? &call->in[3] : NULL;
    job.first_row = rows.begin;
    job.first_column = columns.begin;
    job.columns = columns.end - columns.begin;
    job.depth = a->dim[a->rank - 1];
    return tw_matrix_walk(&call->in[0], &call->in[1], 0, &call->out[0],
                          bytes == 8   ? visit_64
                          : bytes == 4 ? visit_32
                                       : visit_bytes,
                          &job);
}

static int is_byte(const tw_tensor *t)
{
    return t->dtype == TW_S8 || t->dtype == TW_U8;
}

static int is_zero(const tw_call *call, uint32_t i, const tw_tensor *of, int32_t count)
{
    const tw_tensor *t = i < call->in_count ? call->in[i].tensor : NULL;
    return !t || (t->dtype == of->dtype && t->rank == 1 && (t->dim[0] == 1 || t->dim[0] == count));
}

static int is_wide(const tw_tensor *t)
{
    return t->dtype == TW_S32 || t->dtype == TW_U32 || t->dtype == TW_S64 || t->dtype == TW_U64;
}

/* Bytes with zero points to s32, or wide integers without to their own type. */
static int types_fit(const tw_call *call, const tw_tensor *a, const tw_tensor *b,
                     const tw_tensor *out)
{
    if (is_byte(a))
        return is_byte(b) && out->dtype == TW_S32 &&
               a->dim[a->rank - 1] <= TW_INTEGER_MATMUL_DEEPEST &&
               is_zero(call, 2, a, a->dim[a->rank - 2]) && is_zero(call, 3, b, b->dim[b->rank - 1]);
    return is_wide(a) && b->dtype == a->dtype && out->dtype == a->dtype && call->in_count == 2;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_tensor *a, *b, *out;
    if (call->in_count < 2 || call->in_count > 4 || call->out_count != 1 || !call->in[0].tensor ||
        !call->in[1].tensor || !call->out[0].tensor)
        return TW_E_CHECK;
    a = call->in[0].tensor;
    b = call->in[1].tensor;
    out = call->out[0].tensor;
    if (a->rank < 2 || b->rank < 2 || out->rank < 2 || !tw_matrix_check(a, b, 0, out) ||
        !types_fit(call, a, b, out))
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(out) * (uint64_t)a->dim[a->rank - 1];
    return TW_OK;
}

TW_KERNEL(integer_matmul, any, run, check);
