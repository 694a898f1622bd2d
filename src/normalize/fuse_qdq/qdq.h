/* The steps of fuse_qdq, in order. Each takes a checked graph to a checked graph. */
#ifndef TW_NORMALIZE_FUSE_QDQ_QDQ_H
#define TW_NORMALIZE_FUSE_QDQ_QDQ_H

#include "normalize/pass.h"

/* Quantised u8 tensors inside the graph become s8: the same scale, stored values and zero point less
 * 128. Graph inputs, outputs and states keep their type behind a Requantize. Exact. */
bool tw_qdq_signed(tw_graph *graph, tw_diag *diag);

/* Dequantize moves behind, and Quantize in front of, operators that only move or select elements,
 * so that both stand next to the arithmetic; equal Quantize nodes of one value become one. Exact. */
bool tw_qdq_exchange(tw_graph *graph, tw_diag *diag);

/* Quantize of Dequantize: nothing where the scales are equal, Requantize elsewhere. */
bool tw_qdq_pairs(tw_graph *graph, tw_diag *diag);

/* A float operator between Dequantize and Quantize becomes the int8 operator where there is one. */
bool tw_qdq_int8(tw_graph *graph, tw_diag *diag);

/* A recurrent layer whose hidden state a Quantize behind it reads becomes the int8 layer. */
bool tw_qdq_recurrent(tw_graph *graph, tw_diag *diag);

/* The s8 tensor, with one scale, that a float value is the Dequantize of; null: there is none. */
tw_value *tw_qdq_stored_tensor(const tw_value *value);
/* Constant s8 weights that a float value is the Dequantize of, with one scale or one an index of `axis`, and
 * zero points of 0: as they are, or moved by their zero points where they fit. Null: there are none. */
tw_value *tw_qdq_stored_weights(tw_graph *graph, const tw_value *value, int axis);

/* Dequantize of a Requantize that only changes the type reads what that reads. */
bool tw_qdq_tidy(tw_graph *graph, tw_diag *diag);

#endif
