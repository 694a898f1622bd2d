/* The matrix product of float64, on the host: sums in ascending order. */
#include "ops/double.h"
#include "ops/matmul_job.h"

#include "ops/codes.h"

static void multiply(const void *of, const tw_matrix_part *part)
{
    const tw_matmul_job *job = of;
    const tw_product *p = &job->product;
    for (int32_t row = 0; row < part->rows; row++)
        for (int32_t column = 0; column < job->columns; column++) {
            const double *a = (const double *)job->a + part->a + (ptrdiff_t)row * p->x_pixel;
            const double *b = (const double *)job->b + part->b + (ptrdiff_t)column * p->w_output;
            double sum = 0;
            for (int32_t k = 0; k < p->depth; k++)
                sum += a[k] * b[(ptrdiff_t)k * p->w_depth];
            ((double *)job->y)[part->out + (ptrdiff_t)row * p->y_pixel + column] = sum;
        }
}

static tw_status run(const tw_call *call)
{
    tw_matmul_job job;
    return tw_matmul_run(call, &job, multiply, &job);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    return tw_matmul_check(call, TW_F64, work);
}

const tw_kernel tw_double_matmul = {TW_KERNEL_ID(0, TW_OPCODE_matmul, TW_SIG_f64), run, check, 0};
