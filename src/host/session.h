/* A plan on the host: its kernels found in the ledger, its arenas allocated, its errors put in
 * words. The plan runs on the very runtime and kernels that the device uses. */
#ifndef TW_HOST_SESSION_H
#define TW_HOST_SESSION_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "runtime/kernel.h"

typedef struct tw_session {
    tw_arena *arena; /* everything below */
    tw_model model;
    tw_context context;
    tw_memory memory[TW_MAX_REGIONS - 1];
    /* Texts of the plan's names section, in plan order; "" where it was stripped. */
    const char *model_name;
    const char **input_names, **output_names, **step_names, **tensor_names;
    const char *format, *options; /* of the origin section */
    tw_status status; /* of the latest run: TW_OK, or TW_NO_OUTPUT where it yields nothing yet */
    char **fed;       /* by input: all rows of one that the plan takes by rows; else null */
    char **drained;   /* by output: the same of one that the plan gives by rows */
} tw_session;

/* Load a plan and bind it to fresh, zeroed arenas. The bytes are copied. On failure nothing is left
 * behind. Close with tw_session_close either way. */
bool tw_session_open(tw_session *session, const void *plan, size_t bytes, tw_diag *diag);
void tw_session_close(tw_session *session);

/* Where input `index` is to be put before a run: in the arena, or, where the plan takes it by rows, in
 * a buffer of the session that the run is fed from. Dense. Null when out of range. */
void *tw_session_input(tw_session *session, uint32_t index);

/* Bytes of one row of an input that the plan takes by rows, of an output that it gives by rows; 0 for
 * any other. */
uint32_t tw_session_row_bytes(const tw_session *session, uint32_t index);
uint32_t tw_session_output_row_bytes(const tw_session *session, uint32_t index);

/* Where output `index` is after a run, likewise. */
const void *tw_session_output(tw_session *session, uint32_t index);

/* Run once on the inputs in place; `status` says whether that gave outputs. */
bool tw_session_run(tw_session *session, tw_diag *diag);

/* A runtime failure as a message that names the step's node and operator. Returns false. */
bool tw_session_fail(const tw_session *session, tw_status status, tw_diag *diag);

#endif
