/* What the library is compiled for. Device and host code. */
#ifndef TW_BACKENDS_CMSIS_NN_CPUS_H
#define TW_BACKENDS_CMSIS_NN_CPUS_H

#include <stdint.h>

enum {
    TW_CMSIS_NN_PLAIN = 1u, /* no extension: Cortex-M0, M3, and this machine */
    TW_CMSIS_NN_DSP = 2u,   /* Cortex-M4, M7, M33 */
    TW_CMSIS_NN_MVE = 4u    /* Cortex-M52, M55, M85 */
};

/* Where this is compiled for. A kernel's check asks for the scratch that its library needs here; no
 * formula gives less for another processor than for TW_CMSIS_NN_PLAIN, so that a plan for any passes its
 * checks on this machine. */
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#define TW_CMSIS_NN_HERE TW_CMSIS_NN_MVE
#define TW_CMSIS_NN_HAS_DSP 1
#define TW_CMSIS_NN_HAS_MVE 1
#elif defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP
#define TW_CMSIS_NN_HERE TW_CMSIS_NN_DSP
#define TW_CMSIS_NN_HAS_DSP 1
#define TW_CMSIS_NN_HAS_MVE 0
#else
#define TW_CMSIS_NN_HERE TW_CMSIS_NN_PLAIN
#define TW_CMSIS_NN_HAS_DSP 0
#define TW_CMSIS_NN_HAS_MVE 0
#endif

#endif
