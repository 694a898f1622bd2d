/* The back end table, and the portable back end: every operator's own `lower`. */
#include "backends/backend.h"

#include <string.h>

#include "base/diag.h"

static bool lower_portable(const tw_node *node, tw_arena *arena, tw_lowering *lowering,
                           tw_diag *diag)
{
    const tw_opdef *op = node->op;
    if (op->kind == TW_HOST)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, op->name,
                       "the operator could not be folded or lowered; its attributes must be "
                       "constant");
    return (op->lower ? op->lower : tw_lower_default)(node, arena, lowering, diag);
}

#define TW_BACKEND(symbol, name, summary)                                                          \
    static const tw_backend tw_backend_##symbol = {name, summary, lower_portable};
#include "backends/backends.def"

const tw_backend *const tw_backends[] = {
#define TW_BACKEND(symbol, name, summary) &tw_backend_##symbol,
#include "backends/backends.def"
};
const int tw_backend_count = (int)(sizeof tw_backends / sizeof *tw_backends);

const tw_backend *tw_backend_find(const char *name, tw_diag *diag)
{
    size_t length = strcspn(name, ":,");
    for (int i = 0; i < tw_backend_count; i++)
        if (strlen(tw_backends[i]->name) == length &&
            strncmp(tw_backends[i]->name, name, length) == 0)
            return tw_backends[i];
    tw_fail(diag, TW_CODE_USAGE, NULL, NULL, "unknown back end \"%.*s\"; there is: reference",
            (int)length, name);
    return NULL;
}

bool tw_lower(const tw_backend *backend, const tw_node *node, tw_arena *arena,
              tw_lowering *lowering, tw_diag *diag)
{
    if (!backend->lower(node, arena, lowering, diag))
        return false;
    return lowering->kernel ? true : lower_portable(node, arena, lowering, diag);
}
