/* Quantize, Dequantize, Requantize: attributes, and the scales as the kernels get them.
 *
 *     Quantize    out = round(x / scale) + zero, within the type
 *     Dequantize  out = (x - zero) * scale
 *     Requantize  out = round((x - zero_in) * scale_in / scale_out) + zero_out, within the type
 */
#ifndef TW_OPS_QUANTIZE_H
#define TW_OPS_QUANTIZE_H

#include "ops/attributes.h"
#include "runtime/kernel.h"

#define TW_QUANTIZE_ATTRIBUTES(A, T)                                                               \
    A(T, DTYPE, dtype, TW_S8, 1, 13, "type of the result: s8, u8, s16, u16 or s32")                \
    A(T, ENUM, rounding, 0, 0, 2,                                                                  \
      "half_even|half_away|tflite: of halves, as ONNX or as TFLite does; tflite: an integer "      \
      "operator that is made of the step in front, too, rounds as TFLite's does")
TW_ATTRIBUTE_STRUCT(quantize, TW_QUANTIZE_ATTRIBUTES);

enum { TW_ROUND_HALF_EVEN = 0, TW_ROUND_HALF_AWAY = 1 };

#define TW_REQUANTIZE_ATTRIBUTES(A, T)                                                             \
    A(T, DTYPE, dtype, TW_S8, 1, 13, "type of the result: s8, u8, s16, u16 or s32")                \
    A(T, ENUM, rounding, 0, 0, 2,                                                                  \
      "tflite|half_even|half_away: fixed point as TFLite, or through f32 as ONNX")
TW_ATTRIBUTE_STRUCT(requantize, TW_REQUANTIZE_ATTRIBUTES);

enum { TW_REQUANTIZE_TFLITE = 0, TW_REQUANTIZE_HALF_EVEN = 1, TW_REQUANTIZE_HALF_AWAY = 2 };

/* One scale, or one for each index of an axis. The input's part is unused (scale 1, zero 0) where
 * the input is f32, the output's where the output is. */
typedef struct tw_scale_row {
    float in_scale, out_scale;
    int32_t in_zero, out_zero;
    int32_t multiplier, shift; /* of in_scale / out_scale */
} tw_scale_row;

typedef struct tw_scale_table {
    int32_t axis;  /* -1: one row for all */
    int32_t count; /* rows behind this head */
} tw_scale_table;

/* Device: the rows, and whether a step's only blob is a valid table for its first output. */
static inline const tw_scale_row *tw_scale_rows(const tw_call *call)
{
    return (const tw_scale_row *)(const void *)((const char *)call->blobs[0].data +
                                                sizeof(tw_scale_table));
}
static inline int32_t tw_scale_axis(const tw_call *call)
{
    return ((const tw_scale_table *)call->blobs[0].data)->axis;
}
int tw_scale_table_ok(const tw_call *call);

#endif
