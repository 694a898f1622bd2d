/* Products of 8-bit integers less their zero points (null: 0), summed exactly in 32 bits. A zero point is
 * one number, or a list: one a row of a, one a column of b, one an output channel of w. Operands have no
 * scales. Null with a message. */
#ifndef TW_IMPORT_ONNX_INTEGER_H
#define TW_IMPORT_ONNX_INTEGER_H

#include "import/onnx/onnx.h"

/* Matrices of rank 2 and more. */
tw_value *tw_onnx_integer_matmul(tw_onnx_node *n, tw_value *a, tw_value *b, tw_value *a_zero,
                                 tw_value *b_zero);

/* A convolution of x by w, by the node's attributes, where these types, ranks and windows have one. */
bool tw_onnx_has_integer_conv(const tw_value *x, const tw_value *w);
tw_value *tw_onnx_integer_conv(tw_onnx_node *n, tw_value *x, tw_value *w, tw_value *x_zero,
                               tw_value *w_zero);

#endif
