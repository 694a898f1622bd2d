/* What the host halves of the CMSIS-NN back end share. */
#ifndef TW_BACKENDS_CMSIS_NN_H
#define TW_BACKENDS_CMSIS_NN_H

#include "backends/cmsis_nn/cpus.h"
#include "backends/cmsis_nn/kernels.h"
#include "backends/windowed.h"

#define TW_CMSIS_NN(name, operator_symbol, signature, variant)                                     \
    extern const tw_native tw_native_cmsis_nn_##name;
#include "backends/cmsis_nn/kernels.def"

/* Why a kernel is left out that the portable one beats on a processor that is to be served, as measured;
 * null where it does not. */
static inline const char *tw_cmsis_nn_slow(const tw_native_node *n, uint32_t slow_on)
{
    if (!(n->cpus & slow_on))
        return NULL;
    return slow_on == TW_CMSIS_NN_PLAIN
               ? "the portable kernel is faster on processors without DSP extension"
               : "the portable kernel is faster on processors without MVE";
}
enum { TW_CMSIS_NN_WITHOUT_MVE = TW_CMSIS_NN_PLAIN | TW_CMSIS_NN_DSP };

/* The head of every record. */
#define TW_CMSIS_NN_HEAD(symbol) .name = "tw_cmsis_nn_" #symbol, .kernel = &tw_cmsis_nn_##symbol

#endif
