/* The yardstick: convolution as anybody writes it first, six loops over channels-last images with the
 * bounds test and the zero point inside. plain.c is compiled twice, with the vectoriser held back
 * and without. */
#ifndef TW_BENCH_PLAIN_H
#define TW_BENCH_PLAIN_H

#include <stdint.h>

/* One image. x [in_rows, in_columns, channels], y [out_rows, out_columns, outputs]; w
 * [outputs, kernel_rows, kernel_columns, channels], or [kernel_rows, kernel_columns, outputs] where
 * each channel is for itself. */
typedef struct tw_plain {
    int in_rows, in_columns, channels;
    int out_rows, out_columns, outputs;
    int kernel_rows, kernel_columns, stride, pad_top, pad_left;
    const void *x, *w, *bias;
    void *y;
    int32_t x_zero, y_zero, low, high; /* of int8 */
    const int32_t *multiplier, *shift; /* one an output */
} tw_plain;

typedef void (*tw_plain_run)(const tw_plain *p);

/* By build and by kind: 2 * is_float + is_depthwise. */
extern const tw_plain_run tw_plain_scalar[4], tw_plain_vectorised[4];

#endif
