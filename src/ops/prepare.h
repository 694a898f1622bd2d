/* What the compiler prepares for the multiply-accumulate kernels: the int8 tables of product.h, and
 * weights in another order. */
#ifndef TW_OPS_PREPARE_H
#define TW_OPS_PREPARE_H

#include "ops/op.h"

/* Where the weights (input 1) of output channel c stand: element c * channel + k * tap, k < taps. */
typedef struct tw_weight_layout {
    int32_t channels, taps;
    int64_t channel, tap;
    int axis;           /* of a per-channel quantisation */
    bool zero_points;   /* one weights' zero point other than 0 is allowed */
    bool float_product; /* one scale: input and weights' scales are multiplied in float, as
                              TFLite does for FULLY_CONNECTED and BATCH_MATMUL */
    bool wide_sums;     /* int16 without a bias: sums of 64 bits */
} tw_weight_layout;

/* int8 and int16 activations: tables multiplier, shift and bias (input 2, or zero, less what the zero points add) from
 * constant weights. Warns where a sum could leave 32 bits, and fails where the tables cannot be made.
 * The bias operand is then unread. int16: the tables of product_s16.h. */
bool tw_prepare_channels(const tw_node *node, const tw_weight_layout *layout, tw_arena *arena,
                         tw_lowering *lowering, tw_diag *diag);

/* Float activations and int8 weights: the table of hybrid.h, its kernel, and scratch for `scratch` int8
 * elements. axis: of a per-channel quantisation of the weights. */
bool tw_prepare_hybrid(const tw_node *node, int32_t channels, int axis, int64_t scratch,
                       tw_arena *arena, tw_lowering *lowering, tw_diag *diag);

/* Is the node one of these: f32 by s8? */
bool tw_is_hybrid(const tw_node *node);

/* int8 weights that 4 bits hold (their zero points are 0) become the table of packed.h, where that is
 * smaller, and its kernel runs the node; else the lowering stays as it is. */
void tw_prepare_packed(const tw_node *node, int outputs_axis, tw_arena *arena,
                       tw_lowering *lowering);

/* One multiplier for real scale `real`, and a bias of 0. */
void tw_prepare_single(double real, tw_arena *arena, tw_lowering *lowering);

/* The same in the wide form of product_s16.h; fails where the scale is too large for it. */
bool tw_prepare_single_wide(const tw_node *node, double real, tw_arena *arena,
                            tw_lowering *lowering, tw_diag *diag);

/* float32 weights that float16 or bfloat16 hold to the bit become the table of packed.h of these, and its kernel
 * runs the node; else the lowering stays as it is. Axis 0 of the weights counts the outputs. */
void tw_prepare_short(const tw_node *node, tw_arena *arena, tw_lowering *lowering);

/* Store constant input i with its axes in `order`, outermost first. Does nothing when it is not
 * constant: kernels take any strides. */
void tw_prepare_order(const tw_node *node, int i, const int *order, tw_arena *arena,
                      tw_lowering *lowering);

#endif
