/* What a back end's two halves share: numbers and records of its kernels. Device and host code. */
#ifndef TW_BACKENDS_NATIVE_H
#define TW_BACKENDS_NATIVE_H

#include "ops/codes.h"

/* The back ends' numbers. */
enum {
#define TW_BACKEND(symbol) TW_BACKEND_##symbol,
#include "backends/backends.def"
};

/* The bits of a kernel's id that say which types it is for; the variant is above them. */
enum { TW_SIGNATURE_BITS = 0x1F };

/* A back end may have several kernels for one operator and type; the variant, 0..7, tells them apart. */
#define TW_NATIVE_ID(backend, operator_symbol, signature, variant)                                 \
    TW_KERNEL_ID(TW_BACKEND_##backend, TW_OPCODE_##operator_symbol,                                \
                 TW_SIG_##signature | (variant) << 5)

#endif
