/* Weights in fewer bytes than the loops read: a table of the step that begins with their extents; operand 1 is
 * absent. A kernel unpacks the weights of some outputs into scratch, of as many as it has room for, and
 * runs the plain loops on them, then those of the next.
 *
 * int8 of 4 bits: two to a byte, the lower half first, in the order of the elements, as TensorFlow Lite packs
 * them; behind the tables of product.h. float32 of 16 bits: float16 or bfloat16, all outputs of a tap side by
 * side; the only table. Device code. */
#ifndef TW_OPS_PACKED_H
#define TW_OPS_PACKED_H

#include "ops/matrix.h"
#include "ops/product.h"

enum { TW_BLOB_PACKED = TW_BLOB_COUNT, TW_PACKED_BLOB_COUNT };
enum { TW_BLOB_SHORT, TW_SHORT_BLOB_COUNT }; /* of float32 */

typedef struct tw_packed_head {
    int32_t rank, dim[4];
} tw_packed_head;

/* The same of float32, and what its 16 bits are: TW_F16 or TW_BF16. */
typedef struct tw_short_head {
    tw_packed_head head;
    uint32_t dtype;
} tw_short_head;

/* Which axis counts the outputs: the first, as for most, or the last. */
typedef enum tw_packed_axis { TW_PACKED_FIRST, TW_PACKED_LAST } tw_packed_axis;

typedef struct tw_packed {
    tw_call call; /* as the int8 kernel takes it; its weights are in scratch, not all of them */
    tw_view in[3];
    tw_tensor tensor;
    const uint8_t *pairs;
    const uint16_t *shorts;
    uint32_t dtype; /* of shorts */
    int32_t outputs, taps;
    int32_t at_once; /* outputs that scratch has room for */
    tw_packed_axis axis;
} tw_packed;

/* 0 where table or operands do not fit: the call for kernels that read the pairs themselves. Its weights have
 * no data. */
int tw_packed_read(const tw_call *call, tw_packed_axis axis, tw_packed *packed);

/* 0 where table, scratch or operands do not fit. It is the check, too. */
int tw_packed_open(const tw_call *call, tw_packed_axis axis, tw_packed *packed);

/* The same of float32, whose first axis counts the outputs. */
int tw_short_open(const tw_call *call, tw_packed *packed);

/* The outputs of a round: the first of `present` from `begin` on. */
tw_range tw_packed_round(const tw_packed *packed, tw_range present, int32_t begin);

/* Unpack the weights of a round into scratch; they stand there as if its first output were the first. */
const int8_t *tw_packed_weights(const tw_packed *packed, tw_range round);
const float *tw_short_weights(const tw_packed *packed, tw_range round);

#endif
