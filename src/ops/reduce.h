/* Reductions: attributes and accumulators of the members of reduce.def. */
#ifndef TW_OPS_REDUCE_H
#define TW_OPS_REDUCE_H

#include "ops/attributes.h"

#define TW_REDUCE_ATTRIBUTES(A, T)                                                                 \
    A(T, INTS, axes, 0, -TW_MAX_RANK, TW_MAX_RANK - 1, "axes that are reduced; empty: all")        \
    A(T, BOOL, keepdims, 1, 0, 1, "reduced axes stay, with extent 1")
TW_ATTRIBUTE_STRUCT(reduce, TW_REDUCE_ATTRIBUTES);

/* How an int8 mean becomes an integer. */
enum {
    TW_MEAN_TFLITE = 0,    /* MEAN: 1/n is part of the multiplier */
    TW_MEAN_HALF_AWAY = 1, /* AVERAGE_POOL_2D: the sum divided, halves away from zero */
    TW_MEAN_HALF_EVEN = 2, /* the sum divided, halves to even */
    TW_MEAN_ROUNDINGS = 3
};

/* Begins as tw_reduce_attributes does. */
#define TW_REDUCE_MEAN_ATTRIBUTES(A, T)                                                            \
    TW_REDUCE_ATTRIBUTES(A, T)                                                                     \
    A(T, ENUM, rounding, 0, 0, TW_MEAN_ROUNDINGS - 1,                                              \
      "tflite|half_away|half_even: of int8: as TFLite's MEAN, as its AVERAGE_POOL_2D, or to even")
TW_ATTRIBUTE_STRUCT(reduce_mean, TW_REDUCE_MEAN_ATTRIBUTES);

/* int8: from the input's scale (and, of a mean, the number of elements) to the output's. Without one
 * the scales are equal and a mean is divided. */
typedef struct tw_reduce_table {
    int32_t multiplier, shift;
} tw_reduce_table;

/* Most elements to a result for which 32 bits hold an int8 sum. */
#define TW_REDUCE_S8_MOST (1 << 23)

/* int8 products, lengths and logarithms: from the accumulator to the output's scale. Of logarithms the numbers are
 * float32's with 20 fraction bits. */
typedef struct tw_reduce_s8_table {
    int32_t multiplier, shift; /* of a product: any shift */
    int32_t add;               /* of a LogSum: the logarithm of the input's scale */
    int32_t step;              /* of a LogSumExp: the input's scale */
} tw_reduce_s8_table;

/* Of a LogSumExp behind it: e^-(step * d) with 19 fraction bits. */
#define TW_REDUCE_EXPONENTIALS 256

/* Most elements to a result: sums of squares, and of exponentials, in 32 bits. */
#define TW_REDUCE_SQUARES_MOST (1 << 15)
#define TW_REDUCE_TERMS_MOST 4095

/* A running product of int8: mantissa * 2^exponent, the mantissa 0 or of 31 bits. */
typedef struct tw_scaled_product {
    int32_t mantissa, exponent;
} tw_scaled_product;

/* The greatest element so far, and the sum of e^(x - peak) with 19 fraction bits. */
typedef struct tw_peak_terms {
    int32_t peak, sum;
} tw_peak_terms;

/* A running log(sum(exp)): the largest element so far, and the sum of exp(x - peak). */
typedef struct tw_peak_sum {
    float peak, sum;
} tw_peak_sum;

/* What a reduction's axes come to. */
typedef struct tw_reduction {
    int32_t mask;         /* bit k: axis k is reduced */
    int32_t first;        /* outermost reduced axis of an extent other than 1, else the rank */
    int32_t count;        /* elements that make one result */
    int32_t accumulators; /* results that are being made at the same time: those behind `first` */
    int32_t out_rank;
    int32_t out_axis[TW_MAX_RANK]; /* where input axis k stands in the output; -1: nowhere */
} tw_reduction;

/* 0 when the attributes do not fit a tensor of these extents. */
int tw_reduce_resolve(const tw_reduce_attributes *a, int32_t rank, const int32_t *dim,
                      tw_reduction *r);

#endif
