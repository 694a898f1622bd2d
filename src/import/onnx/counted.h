/* Operators whose results have as many rows as the data decides, where that is only known when the network
 * runs: counted.c, unique_counted.c. */
#ifndef TW_IMPORT_ONNX_COUNTED_H
#define TW_IMPORT_ONNX_COUNTED_H

#include "import/onnx/onnx.h"

bool tw_onnx_non_zero_counted(tw_onnx_node *n);
bool tw_onnx_compress_counted(tw_onnx_node *n, tw_value *x, tw_value *condition, int axis);
bool tw_onnx_unique_counted(tw_onnx_node *n, int axis,
                            bool sorted); /* axis -1: of single elements */

/* Places 0, 1, ... [extent] below the count, as booleans. */
tw_value *tw_onnx_below(tw_builder *b, int64_t extent, tw_value *count);
/* x, and `fill` where `mask`, which runs along its axis, is false. */
tw_value *tw_onnx_filled(tw_builder *b, tw_value *x, tw_value *mask, int axis, double fill);
/* How many of a list of booleans are true: s64, one element. */
tw_value *tw_onnx_truths(tw_builder *b, tw_value *flags);

#endif
