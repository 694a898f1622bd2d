/* A plan as firmware: the C that carries plan, runtime and the kernels it uses into a project. In: a
 * plan on the host. Out: a folder that a firmware engineer adds to a build. */
#ifndef TW_EMIT_FIRMWARE_FIRMWARE_H
#define TW_EMIT_FIRMWARE_FIRMWARE_H

#include "backends/backend.h"
#include "host/session.h"

/* One run with its results, as the host computed them: dense tensors, one an input and one an
 * output. A silent run yields nothing yet. */
typedef struct tw_firmware_vector {
    const uint8_t *const *inputs;
    const uint8_t *const *outputs;
    bool silent;
} tw_firmware_vector;

typedef struct tw_firmware_options {
    const char *name;    /* a C identifier, what everything is called by; see tw_firmware_name */
    const char *project; /* the build it is for: a folder of templates/ */
    const tw_backend *backend; /* whose kernels the plan has, beside portable ones */
    bool direct;               /* no plan: calls of the kernels, written out */
    bool external;             /* the plan is not in the C: the caller passes its address */
    uint32_t align;            /* of arenas, a power of two from 16 up */
    bool app;                  /* with a main that runs the vectors */
    const tw_firmware_vector *vectors;
    int vector_count;
} tw_firmware_options;

/* What was made, for the report. */
typedef struct tw_firmware_report {
    int files;
    uint64_t bytes; /* of the files */
    const char *const *kernels;
    int kernel_count;
    const char *const *sources; /* of the runtime and the kernels */
    int source_count;
} tw_firmware_report;

/* A safe identifier from any text: a given name, or a file's. In `arena`. */
const char *tw_firmware_name(tw_arena *arena, const char *text);
/* May this be the name as it is? */
bool tw_firmware_name_is_safe(const char *name);

/* "tw_k_conv_s8"; null for a kernel that the ledger does not have. */
const char *tw_firmware_kernel_name(const tw_kernel *kernel);

/* The projects there are templates for, in order; false behind the last. */
bool tw_firmware_project(tw_arena *arena, int index, const char **name);

/* Write the folder. Every file is written beside it first and then put in its place, so that a
 * failure leaves what was there; a file in the folder that an earlier call did not write, or that was
 * changed since, is not overwritten but refused. */
bool tw_firmware_write(const tw_session *session, const tw_firmware_options *options,
                       const char *folder, tw_firmware_report *report, tw_arena *arena,
                       tw_diag *diag);

#endif
