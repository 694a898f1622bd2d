/* What the host halves of the CMSIS-NN back end share. */
#ifndef TW_BACKENDS_CMSIS_NN_H
#define TW_BACKENDS_CMSIS_NN_H

#include "backends/backend.h"
#include "backends/cmsis_nn/cpus.h"
#include "backends/cmsis_nn/kernels.h"
#include "ops/prepare.h"
#include "ops/window_shape.h"

#define TW_CMSIS_NN(name, operator_symbol, signature, variant)                                     \
    extern const tw_native tw_native_cmsis_nn_##name;
#include "backends/cmsis_nn/kernels.def"

/* The head of every record. */
#define TW_CMSIS_NN_HEAD(symbol) .name = "tw_cmsis_nn_" #symbol, .kernel = &tw_cmsis_nn_##symbol

/* Why no kernel for int8 fits types and quantisation of a node that the portable int8 kernel runs; null
 * where it does. */
const char *tw_cmsis_nn_types(const tw_native_node *n);

/* Why bands of a windowed operator cannot be images; null where they can. The kernel's extents, outermost
 * first. */
const char *tw_cmsis_nn_bands(const tw_native_node *n, const tw_window_lists *lists,
                              const int32_t *kernel);

/* Why a function that counts on every window covering an element, without dilation, does not take a
 * node; null where it does. */
const char *tw_cmsis_nn_touch(const tw_native_node *n, const tw_window_lists *lists,
                              const int32_t *kernel);

/* The bias as the model has it, or zeros, in place of the portable kernel's. `channels` of them. */
void tw_cmsis_nn_plain_bias(const tw_native_node *n, int32_t channels, tw_arena *arena,
                            tw_lowering *lowering);

#endif
