/* C names derived from the ledger: names, kinds, kernel lists, records. */
#ifndef TW_OPS_LEDGER_H
#define TW_OPS_LEDGER_H

#include "ops/codes.h"
#include "ops/op.h"

enum {
#define TW_K(symbol, signature)
#define TW_OP(code, Name, symbol, KIND, kernels) TW_OPKIND_##symbol = TW_##KIND,
#include "ops/ops.def"
};

#define TW_K(symbol, signature)
#define TW_OP(code, Name, symbol, KIND, kernels)                                                   \
    extern const char tw_opname_##symbol[];                                                        \
    extern const tw_kernel *const tw_kernels_##symbol[];                                           \
    extern const tw_opdef tw_op_##symbol;
#include "ops/ops.def"

/* The head of every record. */
#define TW_OP_LEDGER(symbol)                                                                       \
    .code = TW_OPCODE_##symbol, .kind = (tw_op_kind)TW_OPKIND_##symbol,                            \
    .name = tw_opname_##symbol, .kernels = tw_kernels_##symbol

#endif
