/* The host half of window.h: output shapes, messages and row maps of windowed operators. */
#ifndef TW_OPS_WINDOW_SHAPE_H
#define TW_OPS_WINDOW_SHAPE_H

#include "ops/op.h"
#include "ops/window.h"

/* The output's shape from input 0, a kernel of `spatial` extents and the attributes: rank, batch and
 * type from the input, `channels` last. Fails with a message on anything that does not fit. */
bool tw_window_shape(const tw_shape_call *call, const tw_window_lists *lists, const int32_t *kernel,
                     int spatial, int ceil, int32_t channels);

/* Do the lists have an entry for each spatial axis, or none? False with a message. */
bool tw_window_check_list(const tw_shape_call *call, const char *name, const tw_ints *list,
                          int spatial);
bool tw_window_check_lists(const tw_shape_call *call, const tw_window_lists *lists, int spatial);

/* How rows of the windowed input relate to rows of the output: identity on the batch axis, the
 * window's own map on a spatial axis, whole on the channel axis. */
tw_rowmap tw_window_rows(const tw_node *node, const tw_window_lists *lists, const int32_t *kernel,
                         int axis);

/* In which order a kernel that walks windows reads and writes. */
typedef enum tw_walk {
    TW_WALK_ROWS,   /* row after row, within one in any order */
    TW_WALK_PANELS, /* pixel after pixel, in panels of which all may be written before all is read */
    TW_WALK_COPIED  /* pixel after pixel, in panels of which all is read before any is written */
} tw_walk;

/* The overlap that such a walk allows. */
tw_overlap tw_window_overlap(const tw_node *node, const tw_window_lists *lists,
                             const int32_t *kernel, tw_walk walk);

/* Of kernels that make row after row, each from the row of the same index, upwards whatever lies where. */
tw_overlap tw_rows_overlap(const tw_shape *in, const tw_shape *out, tw_walk walk);

/* Checks of operands that the multiply-accumulate operators share. */

/* Of an operator on floats with int8 weights, which quantises an image as a whole. */
tw_rowmap tw_hybrid_rows(int axis);

/* Elements of an image. */
static inline int64_t tw_image_elements(const tw_shape *x)
{
    return x->dim[0] ? tw_shape_elements(x) / x->dim[0] : 0;
}

/* Types that go together: x and w alike and b alike or, for int8, s32; or x float32 and w int8 and b float32, or x int16 and w int8 and b s32
 * or s64; b a vector of `channels`. */
bool tw_check_weights(const tw_shape_call *call, int32_t channels);

/* Samples for the property tests: shapes as text, o output channels, y the output's shape. */
#define TW_WINDOW_SAMPLE_F32(Op, title, x, w, o, attributes)                                       \
    "graph \"f32 " title "\" {\n"                                                                  \
    "  const %x : f32" x " = random 1 -1 1\n"                                                      \
    "  const %w : f32" w " = random 2 -1 1\n"                                                      \
    "  const %b : f32[" o "] = random 3 -1 1\n"                                                    \
    "  %y = " Op " (%x, %w, %b) " attributes "\n"                                                  \
    "  output %y\n}\n"
#define TW_WINDOW_SAMPLE_S8(Op, title, x, w, o, y, attributes)                                     \
    "graph \"s8 " title "\" {\n"                                                                   \
    "  const %x : s8" x " quant(scale=0.05, zero=-20) = random 1 -128 128\n"                       \
    "  const %w : s8" w " quant(scale=0.01, zero=0) = random 2 -127 128\n"                         \
    "  const %b : s32[" o "] = random 3 -4000 4000\n"                                              \
    "  %y : s8" y " quant(scale=0.15, zero=5) = " Op " (%x, %w, %b) " attributes "\n"              \
    "  output %y\n}\n"
#define TW_WINDOW_SAMPLE_S8W4(Op, title, x, w, o, y, attributes)                                   \
    "graph \"s8w4 " title "\" {\n"                                                                 \
    "  const %x : s8" x " quant(scale=0.05, zero=-20) = random 1 -128 128\n"                       \
    "  const %w : s8" w " quant(scale=0.1, zero=0) = random 2 -8 8\n"                              \
    "  const %b : s32[" o "] = random 3 -400 400\n"                                                \
    "  %y : s8" y " quant(scale=0.15, zero=5) = " Op " (%x, %w, %b) " attributes "\n"              \
    "  output %y\n}\n"
/* sums: s32 or s64, the bias's type and width of the sums. */
#define TW_WINDOW_SAMPLE_S16(Op, title, sums, x, w, o, y, attributes)                              \
    "graph \"s16 " title "\" {\n"                                                                  \
    "  const %x : s16" x " quant(scale=0.0005, zero=0) = random 1 -32768 32768\n"                  \
    "  const %w : s8" w " quant(scale=0.01, zero=0) = random 2 -127 128\n"                         \
    "  const %b : " sums "[" o "] = random 3 -400000 400000\n"                                     \
    "  %y : s16" y " quant(scale=0.002, zero=0) = " Op " (%x, %w, %b) " attributes "\n"            \
    "  output %y\n}\n"
#define TW_WINDOW_SAMPLE_F32W8(Op, title, x, w, o, attributes)                                     \
    "graph \"f32w8 " title "\" {\n"                                                                \
    "  const %x : f32" x " = random 1 -1 1\n"                                                      \
    "  const %w : s8" w " quant(scale=0.01, zero=0) = random 2 -127 128\n"                         \
    "  const %b : f32[" o "] = random 3 -1 1\n"                                                    \
    "  %y = " Op " (%x, %w, %b) " attributes "\n"                                                  \
    "  output %y\n}\n"
#define TW_WINDOW_SAME "{pad_begin=[1,1], pad_end=[1,1]}"

#endif
