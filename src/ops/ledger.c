/* The ledger made into tables, and look-up by name, code and kernel id. */
#include "ops/ledger.h"

#include <string.h>

#include "ops/double.h"

#define TW_K(symbol, signature) &tw_k_##symbol##_##signature,
#define TW_OP(code, Name, symbol, KIND, ...)                                                       \
    const char tw_opname_##symbol[] = #Name;                                                       \
    const tw_kernel *const tw_kernels_##symbol[] = {__VA_ARGS__ NULL};
#include "ops/ops.def"

const tw_opdef *const tw_ops[] = {
#define TW_K(symbol, signature)
#define TW_OP(code, Name, symbol, KIND, kernels) &tw_op_##symbol,
#include "ops/ops.def"
};
const int tw_op_count = (int)(sizeof tw_ops / sizeof *tw_ops);

const tw_opdef *tw_op_by_name(const char *name)
{
    for (int i = 0; i < tw_op_count; i++)
        if (tw_ops[i]->name[0] == name[0] && strcmp(tw_ops[i]->name, name) == 0)
            return tw_ops[i];
    return NULL;
}

const tw_opdef *tw_op_by_code(uint32_t code)
{
    for (int i = 0; i < tw_op_count; i++)
        if (tw_ops[i]->code == code)
            return tw_ops[i];
    return NULL;
}

const tw_kernel *tw_kernel_by_id(uint32_t id)
{
    if ((id & 255u) == TW_SIG_f64)
        return id >> 24 == 0 ? tw_double_kernel(id >> 8 & 0xFFFFu) : NULL;
    for (int i = 0; i < tw_op_count; i++)
        for (const tw_kernel *const *k = tw_ops[i]->kernels; *k; k++)
            if ((*k)->id == id)
                return *k;
    return NULL;
}
