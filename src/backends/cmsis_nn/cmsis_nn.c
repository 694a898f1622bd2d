/* The CMSIS-NN back end's record, and what its host halves share. */
#include "backends/cmsis_nn/cmsis_nn.h"

#include <string.h>

#include "ops/product.h"

static const tw_native_cpu cpus[] = {
    {"m0", TW_CMSIS_NN_PLAIN}, {"m0plus", TW_CMSIS_NN_PLAIN}, {"m3", TW_CMSIS_NN_PLAIN},
    {"dsp", TW_CMSIS_NN_DSP},  {"m4", TW_CMSIS_NN_DSP},       {"m7", TW_CMSIS_NN_DSP},
    {"m33", TW_CMSIS_NN_DSP},  {"mve", TW_CMSIS_NN_MVE},      {"m52", TW_CMSIS_NN_MVE},
    {"m55", TW_CMSIS_NN_MVE},  {"m85", TW_CMSIS_NN_MVE},      {NULL, 0},
};

static const tw_native *const natives[] = {
#define TW_CMSIS_NN(name, operator_symbol, signature, variant) &tw_native_cmsis_nn_##name,
#include "backends/cmsis_nn/kernels.def"
    NULL};

const tw_backend tw_backend_cmsis_nn = {
    .name = "cmsis-nn",
    .summary = "Arm's CMSIS-NN, int8, on Cortex-M: plain C, DSP extension or MVE",
    .kernels = "backends/cmsis_nn/kernels.h",
    .library = "CMSIS-NN",
    .finder = "cmake/FindCMSISNN.cmake",
    .cpus = cpus,
    .natives = natives,
};

const char *tw_cmsis_nn_types(const tw_native_node *n)
{
    return (n->portable->kernel->id & 0xFFu) == TW_SIG_s8
               ? NULL
               : "the library's kernel is for int8 with scales";
}

const char *tw_cmsis_nn_bands(const tw_native_node *n, const tw_window_lists *lists,
                              const int32_t *kernel)
{
    const tw_shape *x = &n->node->in[0]->shape, *y = &n->node->out[0]->shape;
    const int spatial = x->rank - 2;
    for (int i = 0; i < x->rank; i++)
        if (x->dim[i] < 1 || x->dim[i] > INT16_MAX || y->dim[i] < 1 || y->dim[i] > INT16_MAX)
            return "an extent is 0 or above 32767";
    for (int i = 0; i < spatial; i++) {
        tw_window_spans w = {{{1, 1, kernel[i], 1, 1, 0, 0}, {1, 1, 1, 1, 1, 0, 0}}};
        if (!tw_window_entry(&w.axis[0], lists, spatial, i) ||
            tw_window_reach(&w.axis[0]) > INT16_MAX || w.axis[0].stride > INT16_MAX ||
            w.axis[0].pad_begin > INT16_MAX)
            return "a kernel, stride or padding is above 32767";
    }
    if (x->rank == 4 && y->dim[1] == 1 && x->dim[1] > 1 && y->dim[2] > 1)
        return "one output row of several input rows: bands of columns would have gaps";
    return NULL;
}

const char *tw_cmsis_nn_touch(const tw_native_node *n, const tw_window_lists *lists,
                              const int32_t *kernel)
{
    const tw_shape *x = &n->node->in[0]->shape, *y = &n->node->out[0]->shape;
    for (int i = 0; i < x->rank - 2; i++) {
        tw_span s = {1, 1, kernel[i], 1, 1, 0, 0};
        if (!tw_window_entry(&s, lists, x->rank - 2, i) || s.dilation != 1)
            return "dilation";
        if (s.pad_begin >= s.kernel ||
            (int64_t)(y->dim[i + 1] - 1) * s.stride - s.pad_begin >= x->dim[i + 1])
            return "a window that covers padding alone";
    }
    return NULL;
}

void tw_cmsis_nn_plain_bias(const tw_native_node *n, int32_t channels, tw_arena *arena,
                            tw_lowering *lowering)
{
    const tw_value *bias = n->node->in_count > 2 ? n->node->in[2] : NULL;
    const uint32_t bytes = (uint32_t)channels * 4u;
    void *table = tw_alloc(arena, bytes);
    if (bias)
        memcpy(table, bias->data, bytes);
    lowering->blob[TW_BLOB_BIAS].data = table;
    lowering->blob[TW_BLOB_BIAS].bytes = bytes;
}
