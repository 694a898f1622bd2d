/* Quantised tensors in ONNX's terms: a tensor, its scale, its zero point and, where the scale is a
 * list, the axis it runs along; or a scale for each block of so many elements along that axis, and for
 * each index of the others. */
#ifndef TW_IMPORT_ONNX_QUANTISE_H
#define TW_IMPORT_ONNX_QUANTISE_H

#include "import/onnx/onnx.h"

typedef struct tw_onnx_scaled {
    tw_value *scale;
    tw_value *zero_point; /* null: 0 */
    int axis;
    int64_t block;                /* 0: none */
    const tw_onnx_narrow *narrow; /* what is quantised to, where its type is of few bits */
    bool lets_go;                 /* of a float: beyond its range it is infinite or NaN */
} tw_onnx_scaled;

/* Inputs `scale` and `zero` of the node (zero < 0: none). */
tw_onnx_scaled tw_onnx_scale_in(tw_onnx_node *n, int scale, int zero, int axis);

/* x as f32. Known scales become the value's quantisation and a Dequantize; scales that are computed
 * while the network runs become arithmetic. */
tw_value *tw_onnx_dequantized(tw_onnx_node *n, tw_value *x, tw_onnx_scaled by);
/* y quantised to a type, rounded half to even. */
tw_value *tw_onnx_quantized(tw_onnx_node *n, tw_value *y, tw_dtype dtype, tw_onnx_scaled by);

/* x as u8 by its own range, widened to hold 0; by: its scale and zero point. */
tw_value *tw_onnx_quantized_dynamically(tw_onnx_node *n, tw_value *x, tw_onnx_scaled *by);

#endif
