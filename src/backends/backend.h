/* Back ends: who runs a node, and what the kernel needs for it. A back end answers for the
 * operators it is faster on and declines the others, which fall back to the portable kernels. */
#ifndef TW_BACKENDS_BACKEND_H
#define TW_BACKENDS_BACKEND_H

#include "ops/op.h"

typedef struct tw_backend {
    const char *name;
    const char *summary; /* one line for the docs */
    /* As tw_opdef.lower. Null `lowering->kernel` with success: declined. */
    bool (*lower)(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag);
} tw_backend;

extern const tw_backend *const tw_backends[];
extern const int tw_backend_count;

/* By name, before any ":cpu"; null with a usage message when unknown. */
const tw_backend *tw_backend_find(const char *name, tw_diag *diag);

/* Lower by `backend`, or by the portable kernels where it declines. */
bool tw_lower(const tw_backend *backend, const tw_node *node, tw_arena *arena,
              tw_lowering *lowering, tw_diag *diag);

#endif
