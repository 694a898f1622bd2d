/* What device code knows of the ledger: operator codes, TW_OPCODE_symbol, and kernels,
 * tw_k_symbol_signature. */
#ifndef TW_OPS_CODES_H
#define TW_OPS_CODES_H

#include "runtime/kernel.h"

enum {
#define TW_K(symbol, signature)
#define TW_OP(code, Name, symbol, KIND, kernels) TW_OPCODE_##symbol = code,
#include "ops/ops.def"
};

/* Firmware that loads no plan (codegen --format direct) leaves the checks out. */
#ifdef TW_WITHOUT_CHECKS
#define TW_KERNEL_CHECK(check) (0 ? check : NULL)
#else
#define TW_KERNEL_CHECK(check) check
#endif

/* The record of a portable kernel, at the end of its .rt.c; of one that takes blocks of columns, too. */
#define TW_KERNEL_RECORD(symbol, signature, run, check, columns)                                   \
    const tw_kernel tw_k_##symbol##_##signature = {                                                \
        TW_KERNEL_ID(0, TW_OPCODE_##symbol, TW_SIG_##signature), run, TW_KERNEL_CHECK(check),      \
        columns}
#define TW_KERNEL(symbol, signature, run, check) TW_KERNEL_RECORD(symbol, signature, run, check, 0)
#define TW_KERNEL_BLOCKS(symbol, signature, run, check)                                            \
    TW_KERNEL_RECORD(symbol, signature, run, check, 1)

/* Their declarations. */
#define TW_K(symbol, signature) extern const tw_kernel tw_k_##symbol##_##signature;
#define TW_OP(code, Name, symbol, KIND, kernels) kernels
#include "ops/ops.def"

#endif
