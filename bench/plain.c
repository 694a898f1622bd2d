/* The loops of plain.h, in their plainest form. In: operands of the right sizes. Out: y. */
#include "plain.h"

#include "runtime/fixed.h"

static int8_t finish(const tw_plain *p, int o, int32_t sum)
{
    int32_t v = tw_requantize(sum, p->multiplier[o], p->shift[o]) + p->y_zero;
    return (int8_t)(v < p->low ? p->low : v > p->high ? p->high : v);
}

static void conv_s8(const tw_plain *p)
{
    const int8_t *x = p->x, *w = p->w;
    const int32_t *bias = p->bias;
    int8_t *y = p->y;
    for (int oy = 0; oy < p->out_rows; oy++)
        for (int ox = 0; ox < p->out_columns; ox++)
            for (int oc = 0; oc < p->outputs; oc++) {
                int32_t sum = bias[oc];
                for (int ky = 0; ky < p->kernel_rows; ky++)
                    for (int kx = 0; kx < p->kernel_columns; kx++) {
                        int iy = oy * p->stride - p->pad_top + ky;
                        int ix = ox * p->stride - p->pad_left + kx;
                        if (iy < 0 || iy >= p->in_rows || ix < 0 || ix >= p->in_columns)
                            continue;
                        for (int ic = 0; ic < p->channels; ic++)
                            sum += (x[(iy * p->in_columns + ix) * p->channels + ic] - p->x_zero) *
                                   w[((oc * p->kernel_rows + ky) * p->kernel_columns + kx) *
                                         p->channels +
                                     ic];
                    }
                y[(oy * p->out_columns + ox) * p->outputs + oc] = finish(p, oc, sum);
            }
}

static void depthwise_s8(const tw_plain *p)
{
    const int8_t *x = p->x, *w = p->w;
    const int32_t *bias = p->bias;
    int8_t *y = p->y;
    for (int oy = 0; oy < p->out_rows; oy++)
        for (int ox = 0; ox < p->out_columns; ox++)
            for (int oc = 0; oc < p->outputs; oc++) {
                int32_t sum = bias[oc];
                for (int ky = 0; ky < p->kernel_rows; ky++)
                    for (int kx = 0; kx < p->kernel_columns; kx++) {
                        int iy = oy * p->stride - p->pad_top + ky;
                        int ix = ox * p->stride - p->pad_left + kx;
                        if (iy < 0 || iy >= p->in_rows || ix < 0 || ix >= p->in_columns)
                            continue;
                        sum += (x[(iy * p->in_columns + ix) * p->channels + oc] - p->x_zero) *
                               w[(ky * p->kernel_columns + kx) * p->outputs + oc];
                    }
                y[(oy * p->out_columns + ox) * p->outputs + oc] = finish(p, oc, sum);
            }
}

static void conv_f32(const tw_plain *p)
{
    const float *x = p->x, *w = p->w, *bias = p->bias;
    float *y = p->y;
    for (int oy = 0; oy < p->out_rows; oy++)
        for (int ox = 0; ox < p->out_columns; ox++)
            for (int oc = 0; oc < p->outputs; oc++) {
                float sum = bias[oc];
                for (int ky = 0; ky < p->kernel_rows; ky++)
                    for (int kx = 0; kx < p->kernel_columns; kx++) {
                        int iy = oy * p->stride - p->pad_top + ky;
                        int ix = ox * p->stride - p->pad_left + kx;
                        if (iy < 0 || iy >= p->in_rows || ix < 0 || ix >= p->in_columns)
                            continue;
                        for (int ic = 0; ic < p->channels; ic++)
                            sum += x[(iy * p->in_columns + ix) * p->channels + ic] *
                                   w[((oc * p->kernel_rows + ky) * p->kernel_columns + kx) *
                                         p->channels +
                                     ic];
                    }
                y[(oy * p->out_columns + ox) * p->outputs + oc] = sum;
            }
}

static void depthwise_f32(const tw_plain *p)
{
    const float *x = p->x, *w = p->w, *bias = p->bias;
    float *y = p->y;
    for (int oy = 0; oy < p->out_rows; oy++)
        for (int ox = 0; ox < p->out_columns; ox++)
            for (int oc = 0; oc < p->outputs; oc++) {
                float sum = bias[oc];
                for (int ky = 0; ky < p->kernel_rows; ky++)
                    for (int kx = 0; kx < p->kernel_columns; kx++) {
                        int iy = oy * p->stride - p->pad_top + ky;
                        int ix = ox * p->stride - p->pad_left + kx;
                        if (iy < 0 || iy >= p->in_rows || ix < 0 || ix >= p->in_columns)
                            continue;
                        sum += x[(iy * p->in_columns + ix) * p->channels + oc] *
                               w[(ky * p->kernel_columns + kx) * p->outputs + oc];
                    }
                y[(oy * p->out_columns + ox) * p->outputs + oc] = sum;
            }
}

const tw_plain_run TW_PLAIN_TABLE[4] = {conv_s8, depthwise_s8, conv_f32, depthwise_f32};
