/* Is what came out what should have come out? */
#ifndef TW_HOST_COMPARE_H
#define TW_HOST_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "tilewright/runtime.h"

/* Floats agree when |got - want| <= atol + rtol * |want|, or both are NaN, or the same infinity.
 * Integers and booleans agree when they differ by at most lsb. */
typedef struct tw_tolerance {
    double rtol, atol;
    uint64_t lsb;
} tw_tolerance;

typedef struct tw_difference {
    double max_abs, max_rel; /* infinite where a NaN met a number */
    uint64_t max_ulp;        /* representable values between the two; of integers: the difference */
    int64_t differing;       /* elements beyond the tolerance */
    int64_t first;           /* the first of them, or -1 */
    double got, want;        /* its two values */
} tw_difference;

/* Adds what the `count` elements show to *difference, which starts as tw_no_difference. `first` is
 * counted from `base`. True when none is beyond the tolerance. */
bool tw_compare(tw_dtype dtype, int64_t count, const void *got, const void *want,
                const tw_tolerance *tolerance, int64_t base, tw_difference *difference);
tw_difference tw_no_difference(void);

/* A tensor of any strides from and to dense elements. */
void tw_gather(const tw_tensor *tensor, const void *strided, void *dense);
void tw_scatter(const tw_tensor *tensor, void *strided, const void *dense);

#endif
