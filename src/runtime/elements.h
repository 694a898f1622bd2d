/* Operators that take each element to one element of another type: runs of elements, and integers of
 * any width as int32. */
#ifndef TW_RUNTIME_ELEMENTS_H
#define TW_RUNTIME_ELEMENTS_H

#include "runtime/walk.h"

/* n elements of a line, steps in bytes. Element i has index channel + i * channel_step on the marked
 * axis. */
typedef struct tw_line {
    char *to;
    const char *from;
    ptrdiff_t to_step, from_step;
    int32_t n, channel, channel_step;
} tw_line;

typedef void (*tw_run_elements)(const tw_call *call, const tw_line *run);

/* The band of out[0] from in[0], in runs as long as the strides allow. axis: the marked one, or -1. */
tw_status tw_elements(const tw_call *call, int32_t axis, tw_run_elements elements);

/* One input and one output of the same shape. */
tw_status tw_check_elements(const tw_call *call, uint64_t *work);

/* Bounds of s8, u8, s16, u16, s32; 0 for other types. */
int tw_integer_limits(uint32_t dtype, int32_t *low, int32_t *high);

/* n integers of one of these types to and from int32. */
void tw_load_integers(int32_t *to, const char *from, ptrdiff_t step, uint32_t dtype, int32_t n);
void tw_store_integers(char *to, ptrdiff_t step, uint32_t dtype, const int32_t *from, int32_t n);

#endif
