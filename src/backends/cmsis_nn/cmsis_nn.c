/* The CMSIS-NN back end's record, its processors and kernels. */
#include "backends/cmsis_nn/cmsis_nn.h"

static const tw_native_cpu cpus[] = {
    {"m0", TW_CMSIS_NN_PLAIN, 10}, {"m0plus", TW_CMSIS_NN_PLAIN, 10}, {"m3", TW_CMSIS_NN_PLAIN, 10},
    {"dsp", TW_CMSIS_NN_DSP, 15},  {"m4", TW_CMSIS_NN_DSP, 15},       {"m7", TW_CMSIS_NN_DSP, 15},
    {"m33", TW_CMSIS_NN_DSP, 15},  {"mve", TW_CMSIS_NN_MVE, 50},      {"m52", TW_CMSIS_NN_MVE, 50},
    {"m55", TW_CMSIS_NN_MVE, 50},  {"m85", TW_CMSIS_NN_MVE, 50},      {NULL, 0, 0},
};

static const tw_native *const natives[] = {
#define TW_CMSIS_NN(name, operator_symbol, signature, variant) &tw_native_cmsis_nn_##name,
#include "backends/cmsis_nn/kernels.def"
    NULL};

static const tw_native_left left[] = {
    {TW_OPCODE_softmax, "int8: the portable kernel is faster: it looks exponentials up"},
    {0, NULL},
};

const tw_backend tw_backend_cmsis_nn = {
    .name = "cmsis-nn",
    .summary = "Arm's CMSIS-NN, int8 and int16, on Cortex-M: plain C, DSP extension or MVE",
    .kernels = "backends/cmsis_nn/kernels.h",
    .library = "CMSIS-NN",
    .finder = "cmake/FindCMSISNN.cmake",
    .cpus = cpus,
    .natives = natives,
    .left = left,
};
