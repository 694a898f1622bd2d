/* Back ends: who runs a node, and what the kernel needs for it. Every plan can be run by the portable
 * kernels; a back end takes the operators that it is faster at and declines the others, with a reason.
 * In: nodes, and a list such as "reference,cmsis-nn:m55". Out: lowerings. */
#ifndef TW_BACKENDS_BACKEND_H
#define TW_BACKENDS_BACKEND_H

#include "ops/op.h"

/* A node for a kernel of a back end. */
typedef struct tw_native_node {
    const tw_node *node;
    uint32_t cpus; /* the processors to serve: bits of tw_backend.cpus; several: all of them */
    const tw_lowering
        *portable; /* how the portable kernel runs it, constants unpacked: its tables may be
                                    shared */
} tw_native_node;

/* Rows of the first output that one call makes. */
typedef struct tw_native_band {
    int axis;
    int32_t row, rows, extent; /* of `extent` rows in all */
} tw_native_band;

/* A kernel of a back end, as the compiler sees it: its host half. Null functions mean the default. */
typedef struct tw_native {
    const char *name;        /* of the kernel's record in C */
    const tw_kernel *kernel; /* the device half */
    uint32_t align; /* rows of activations must begin at multiples of so many bytes; 0: any */
    /* Null where the kernel computes the node exactly; otherwise why it does not, for people. */
    const char *(*can)(const tw_native_node *n);
    /* Bytes of scratch for a band, as the maximum over the processors to serve and the compilers that
     * the library is built with. Asked for the first, a middle, the last band and the whole; by
     * formula, never by a call of the library. Default: none. */
    uint32_t (*scratch)(const tw_native_node *n, const tw_native_band *band);
    /* Bytes of scratch for the same in so many parts, more slowly; 0: not in so many. The device half sees
     * by its scratch how many to make. Default: not in parts. */
    uint32_t (*parts)(const tw_native_node *n, int32_t parts);
    /* Fill in the tables (blob, blob_count) and what is not read (unread); they begin as the portable
     * kernel's. A table that is the portable kernel's own is stored once. Default: as they begin. */
    void (*prepare)(const tw_native_node *n, tw_arena *arena, tw_lowering *lowering);
    /* May the output lie exactly over input i, where the operator allows it at all? Default: no. */
    bool (*alias)(const tw_native_node *n, int input);
} tw_native;

/* A processor by the name that --backend takes. */
typedef struct tw_native_cpu {
    const char *name;
    uint32_t bit;
    int pace; /* of its kernels, in tenths of the portable kernels': 50 are five times as fast */
} tw_native_cpu;

/* An operator that a back end leaves to the portable kernels although its library has a function for it. */
typedef struct tw_native_left {
    uint32_t code;
    const char *why; /* null: the end */
} tw_native_left;

typedef struct tw_backend {
    const char *name;
    const char *summary;             /* one line for the docs */
    const char *kernels;             /* the header that declares its kernels; null: ops/codes.h */
    const char *library;             /* what firmware must bring: "CMSIS-NN"; null: nothing */
    const char *finder;              /* the CMake module that finds it; null: none */
    const tw_native_cpu *cpus;       /* ends with a null name; without a name given: all of them */
    const tw_native *const *natives; /* the first that can, runs the node; null-terminated */
    const tw_native_left *left;      /* null: none */
} tw_backend;

#define TW_BACKEND(symbol) extern const tw_backend tw_backend_##symbol;
#include "backends/backends.def"

extern const tw_backend *const tw_backends[]; /* by number */
extern const int tw_backend_count;

/* A back end for certain processors, as a plan serves it. */
typedef struct tw_target {
    const tw_backend *backend;
    uint32_t number; /* of the back end */
    uint32_t cpus;
    int pace;         /* of its kernels on the fastest of them: tw_native_cpu */
    const char *text; /* "cmsis-nn:m55" */
} tw_target;

/* "cmsis-nn" or "cmsis-nn:m55", `length` bytes of it; false with a usage message. */
bool tw_target_parse(tw_arena *arena, const char *text, size_t length, tw_target *target,
                     tw_diag *diag);

/* A comma-separated list; null: reference. The portable kernels come first, asked for or not: this
 * machine runs and verifies plans with them. No target twice. */
bool tw_targets_parse(tw_arena *arena, const char *list, tw_target **targets, int *count,
                      tw_diag *diag);

/* By the portable kernels, constants as back ends share them: not packed (tw_opdef.pack). */
bool tw_lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag);

/* By a back end. Where it declines: lowering->kernel is null and the reason is returned. `aliases`: bit
 * i: the output may lie over input i. */
const char *tw_lower_native(const tw_target *target, const tw_node *node,
                            const tw_lowering *portable, tw_arena *arena, tw_lowering *lowering,
                            uint32_t *aliases);

/* Has a back end a kernel for an operator at all? */
bool tw_backend_has(const tw_backend *backend, const tw_opdef *op);

/* A kernel of any back end by its id, and its record's name in C; null when there is none. */
const tw_kernel *tw_any_kernel_by_id(uint32_t id);
const char *tw_native_kernel_name(const tw_kernel *kernel);

#endif
