/* Fully connected layers of floats with int8 weights: hybrid.h has the arithmetic; each row of the input
 * is quantised for itself. */
#include "ops/codes.h"
#include "ops/connected_job.h"
#include "ops/hybrid.h"

typedef struct tw_connected_f32w8 {
    tw_connected_job job;
    tw_hybrid hybrid;
    int8_t *row; /* scratch */
} tw_connected_f32w8;

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_connected_check(call, TW_F32, TW_S8, work);
    const tw_tensor *w = status == TW_OK ? call->in[1].tensor : NULL;
    if (!w)
        return status;
    return (w->dim[1] <= 1 || w->stride[1] == 1) &&
                   tw_hybrid_check(call, w->dim[0], (uint64_t)w->dim[1])
               ? TW_OK
               : TW_E_CHECK;
}

static void visit(const void *of, const tw_matrix_part *part)
{
    const tw_connected_f32w8 *all = (const tw_connected_f32w8 *)of;
    const tw_product *p = &all->job.product;
    const tw_range outputs = all->job.outputs;
    tw_hybrid h = all->hybrid;
    int32_t row, o;
    for (row = 0; row < part->rows; row++) {
        const int8_t *w = (const int8_t *)all->job.w + part->b;
        float *y = (float *)all->job.y + part->out + row * p->y_pixel;
        tw_hybrid_row(&h, (const float *)all->job.x + part->a + row * p->x_pixel, p->depth,
                      all->row);
        for (o = outputs.begin; o < outputs.end; o++, w += p->w_output)
            y[o - outputs.begin] =
                tw_hybrid_finish(&h, o, tw_hybrid_dot(all->row, h.in_zero, w, p->depth));
    }
}

static tw_status run(const tw_call *call)
{
    tw_connected_f32w8 all;
    tw_status status = tw_hybrid_open(call, &all.hybrid);
    all.row = (int8_t *)call->scratch;
    return status == TW_OK ? tw_connected_run(call, &all.job, visit, &all) : status;
}

TW_KERNEL(fully_connected, f32w8, run, check);
