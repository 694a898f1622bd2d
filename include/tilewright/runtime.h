/* The tilewright runtime: the only header a firmware includes.
 *
 * In:  a plan (bytes in flash or RAM, written by `tilewright compile`), the kernels it names, and
 *      memory that the caller owns.
 * Out: the network's outputs, inside that memory.
 *
 * The runtime allocates nothing, keeps nothing global and recurses nowhere. A `tw_model` is
 * read-only once loaded and may be shared; a `tw_context` is one running instance of it.
 *
 *     tw_model model;
 *     tw_status s = tw_load(&model, plan, sizeof plan, kernels, kernel_count);
 *     tw_memory memory[] = {{arena, sizeof arena}};
 *     s = tw_init(&context, &model, memory, 1);
 *     memcpy(tw_input(&context, 0), samples, tw_tensor_bytes(tw_input_tensor(&model, 0)));
 *     s = tw_run(&context);
 *     const int8_t *scores = tw_output(&context, 0);
 */
#ifndef TILEWRIGHT_RUNTIME_H
#define TILEWRIGHT_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

/* The four functions of the C library that the runtime calls. Bare-metal toolchains without
 * <string.h> still provide them; C++ wants them declared as there. */
#ifdef __cplusplus
#if __has_include(<string.h>)
#include <string.h>
#define TW_HAS_STRING_H
#endif
extern "C" {
#endif

#ifndef TW_HAS_STRING_H
void *memcpy(void *destination, const void *source, size_t bytes);
void *memmove(void *destination, const void *source, size_t bytes);
void *memset(void *destination, int value, size_t bytes);
int memcmp(const void *left, const void *right, size_t bytes);
#endif

/* Name, value, meaning. Zero is done, positive is "no output yet", negative is an error. */
#define TW_STATUS_LIST(X)                                                                          \
    X(TW_OK, 0, "done")                                                                            \
    X(TW_RUNNING, 1, "the slice is used up; call tw_run_some again")                               \
    X(TW_NO_OUTPUT, 2, "the run is complete but yields nothing yet; outputs are untouched")        \
    X(TW_E_ARGUMENT, -1, "an argument is null or out of range")                                    \
    X(TW_E_ALIGNMENT, -2, "the plan or an arena is not aligned to 16 bytes")                       \
    X(TW_E_MAGIC, -3, "not a tilewright plan")                                                     \
    X(TW_E_VERSION, -4, "the plan's format version is not the runtime's; recompile the model")     \
    X(TW_E_TRUNCATED, -5, "the plan is shorter or longer than it says")                            \
    X(TW_E_CHECKSUM, -6, "a checksum does not match; the plan is damaged")                         \
    X(TW_E_FORMAT, -7, "a field of the plan is out of range or contradicts another")               \
    X(TW_E_KERNEL, -8, "a kernel or a part of the runtime that the plan needs is missing")         \
    X(TW_E_CHECK, -9, "a kernel refuses the shapes, types or attributes of its step")              \
    X(TW_E_MEMORY, -10, "an arena is missing or smaller than the plan needs")                      \
    X(TW_E_SCHEDULE, -11, "rows needed by a step are not in its window")                           \
    X(TW_E_CALLBACK, -12, "a callback reported failure")                                           \
    X(TW_E_DIRTY, -13, "an earlier run failed midway; reset or restore the context first")         \
    X(TW_E_STATE, -14, "a saved state is damaged or belongs to another plan")                      \
    X(TW_E_DATA, -15, "a value met at run time is out of the operator's range")                    \
    X(TW_E_ROUNDS, -16,                                                                            \
      "a loop would take more rounds than the plan allows; compile with a larger --loop-limit")    \
    X(TW_E_BUSY, -17,                                                                              \
      "another context is in a library that serves one at a time; run them one after the other")   \
    X(TW_E_FULL, -18,                                                                              \
      "the caches have no room for what this run brings; nothing has changed: reset or rewind "    \
      "the context")

typedef enum tw_status {
#define TW_STATUS_ENUM(name, value, meaning) name = value,
    TW_STATUS_LIST(TW_STATUS_ENUM)
#undef TW_STATUS_ENUM
} tw_status;

/* Element types: name, value stored in plans, bytes an element. */
#define TW_DTYPE_LIST(X)                                                                           \
    X(f32, TW_F32, 1, 4)                                                                           \
    X(s8, TW_S8, 2, 1)                                                                             \
    X(u8, TW_U8, 3, 1)                                                                             \
    X(s16, TW_S16, 4, 2)                                                                           \
    X(u16, TW_U16, 5, 2)                                                                           \
    X(s32, TW_S32, 6, 4)                                                                           \
    X(u32, TW_U32, 7, 4)                                                                           \
    X(s64, TW_S64, 8, 8)                                                                           \
    X(u64, TW_U64, 9, 8)                                                                           \
    X(bool, TW_BOOL, 10, 1)                                                                        \
    X(f16, TW_F16, 11, 2)                                                                          \
    X(bf16, TW_BF16, 12, 2)                                                                        \
    X(f64, TW_F64, 13, 8)

typedef enum tw_dtype {
    TW_NO_DTYPE = 0,
#define TW_DTYPE_ENUM(name, symbol, value, bytes) symbol = value,
    TW_DTYPE_LIST(TW_DTYPE_ENUM)
#undef TW_DTYPE_ENUM
} tw_dtype;

/* Bytes of one element; 0 for an unknown type. */
uint32_t tw_dtype_bytes(uint32_t dtype);

#define TW_MAX_RANK 6
#define TW_MAX_REGIONS 4 /* constants, fast arena, state, slow arena */

/* Where a tensor lives. */
enum {
    TW_REGION_CONSTANT = 0, /* inside the plan, read-only */
    TW_REGION_FAST = 1,     /* activations, scratch and row counters */
    TW_REGION_STATE = 2,    /* what survives a run */
    TW_REGION_SLOW = 3      /* activations that the budget pushed out */
};

/* A tensor as the plan records it. Channels last, batch first. 72 bytes, little-endian. */
typedef struct tw_tensor {
    uint8_t dtype;               /* tw_dtype */
    uint8_t rank;                /* 0..TW_MAX_RANK */
    uint8_t region;              /* TW_REGION_* */
    uint8_t reserved0;           /* 0 */
    uint32_t offset;             /* bytes from the region's start to its first element */
    int32_t dim[TW_MAX_RANK];    /* extents, from 0 up; unused ones are 1 */
    int32_t stride[TW_MAX_RANK]; /* elements from one index to the next; unused ones are 0 */
    float scale;                 /* real = scale * (stored - zero_point); 0 when not quantised */
    int32_t zero_point;
    uint32_t window;    /* rows kept while a segment rolls; 0: the whole tensor */
    uint32_t reserved1; /* 0 */
} tw_tensor;

/* Bytes of the tensor's elements when stored densely. */
uint32_t tw_tensor_bytes(const tw_tensor *tensor);

struct tw_call;
struct tw_kernel;
struct tw_parts;
struct tw_plan_header;
struct tw_plan_segment;
struct tw_plan_step;
struct tw_plan_operand;
struct tw_plan_blob;
struct tw_plan_stream;
struct tw_plan_state;
struct tw_plan_control;
struct tw_plan_position;
struct tw_plan_column;

/* A verified plan. Filled by tw_load, read-only afterwards; it points into the plan's bytes and at
 * the kernel table, which must outlive it. */
typedef struct tw_model {
    const uint8_t *plan;
    const struct tw_plan_header *header;
    const struct tw_kernel *const *kernels; /* kernels[i] is the plan's i-th kernel */
    const struct tw_parts *parts;           /* of the runtime; runtime/parts.h */
    const tw_tensor *tensors;
    const struct tw_plan_segment *segments;
    const struct tw_plan_step *steps;
    const struct tw_plan_operand *operands;
    const struct tw_plan_blob *blobs;
    const struct tw_plan_stream *streams;
    const struct tw_plan_state *states;
    const struct tw_plan_control *controls;
    const struct tw_plan_column *columns;
    const struct tw_plan_position *positions;
    const uint32_t *attributes; /* 32-bit words */
    const uint32_t *inputs;     /* tensor indices */
    const uint32_t *outputs;    /* tensor indices */
    const uint8_t *constants;
    uint32_t constants_bytes;
    uint32_t tensor_count, segment_count, step_count, operand_count, blob_count, stream_count;
    uint32_t attribute_words, input_count, output_count, state_count, control_count, column_count;
    uint32_t position_count;
    uint32_t error_step;     /* after a failed load: the step refused, or UINT32_MAX */
    uint32_t error_operator; /* its operator code, or 0 */
} tw_model;

typedef struct tw_memory {
    void *base; /* aligned to 16 bytes */
    uint32_t bytes;
} tw_memory;

/* A pointer in a slot of eight bytes, so that a context has one size on every target. */
typedef union tw_slot {
    void *pointer;
    const void *constant;
    uint64_t bits;
} tw_slot;

/* What a profile hook is told after each firing (one kernel call on a band of rows). */
typedef struct tw_firing {
    uint32_t step, operator_code;
    int32_t row, rows; /* output rows computed (input rows taken, where the step accumulates); of a
                          segment by columns: pixels */
    const struct tw_call
        *call; /* what the kernel was given (runtime/kernel.h); gone after the hook */
} tw_firing;

struct tw_context;

/* Called after each firing; a return other than 0 ends the run with TW_E_CALLBACK. */
typedef int (*tw_hook)(void *user, struct tw_context *context, const tw_firing *firing);

typedef union tw_hook_slot {
    tw_hook function;
    uint64_t bits;
} tw_hook_slot;

/* Called for an input that the plan takes by rows (compile --input-rows), as rows are needed: fill
 * rows [row, row + rows) into `to`, one dense row after another, each row once and in order. A return
 * other than 0 ends the run with TW_E_CALLBACK. */
typedef int (*tw_feed)(void *user, uint32_t input, int32_t row, int32_t rows, void *to);

typedef union tw_feed_slot {
    tw_feed function;
    uint64_t bits;
} tw_feed_slot;

/* Called for an output that the plan gives by rows (compile --output-rows), as rows are made: `from`
 * holds rows [row, row + rows), one dense row after another, until the call returns; each row comes
 * once and in order. A return other than 0 ends the run with TW_E_CALLBACK. */
typedef int (*tw_drain)(void *user, uint32_t output, int32_t row, int32_t rows, const void *from);

typedef union tw_drain_slot {
    tw_drain function;
    uint64_t bits;
} tw_drain_slot;

/* One running instance. 112 bytes on every target, counted in the announced memory. Holds no
 * pointer into itself: it may be copied or moved between runs. */
typedef struct tw_context {
    tw_slot model;
    tw_slot region[TW_MAX_REGIONS];
    tw_hook_slot hook;
    tw_slot hook_user;
    uint32_t segment; /* next segment to work on; segment_count: none */
    uint32_t flags;
    uint32_t error_step, error_operator; /* after a failed run, else UINT32_MAX and 0 */
    uint32_t firings;                    /* kernel calls of the current run */
    uint32_t moved;                      /* bytes moved to slide windows in the current run */
    tw_feed_slot feed;
    tw_slot feed_user;
    tw_drain_slot drain;
    tw_slot drain_user;
} tw_context;

/* Verify a plan once: structure, bounds, checksums, and each step by its kernel's own check.
 * plan: aligned to 16 bytes, must stay in place and unchanged while the model is used.
 * kernels: in the order of the plan's kernel list. Firmware that codegen writes has a function of its
 * own instead, which brings no more of the runtime than its plan needs. */
tw_status tw_load(tw_model *model, const void *plan, uint32_t bytes,
                  const struct tw_kernel *const *kernels, uint32_t kernel_count);

/* Bytes that tw_init needs of each region (index TW_REGION_*; constants need none). */
uint32_t tw_region_bytes(const tw_model *model, uint32_t region);

/* Bind a model to memory. memory[i] serves region i + 1 (fast, state, slow); a region that the
 * plan does not use may be absent. Ends with tw_reset. */
tw_status tw_init(tw_context *context, const tw_model *model, const tw_memory *memory,
                  uint32_t memory_count);

/* Forget all state and any half-finished run. */
tw_status tw_reset(tw_context *context);

/* Run once. Inputs must be in place; they may be overwritten by the run. */
tw_status tw_run(tw_context *context);

/* Run at most `firings` kernel calls; TW_RUNNING until the run is complete. */
tw_status tw_run_some(tw_context *context, uint32_t firings);

/* State: what survives a run (recurrent state, ring buffers, caches). Between runs it can be saved
 * to a blob and restored into any context of the same plan. The blob is checksummed and names its
 * plan; a refused restore changes nothing. */
uint32_t tw_saved_bytes(const tw_model *model);
tw_status tw_save(const tw_context *context, void *blob, uint32_t bytes);
tw_status tw_restore(tw_context *context, const void *blob, uint32_t bytes);

/* The states of a plan. Their elements may be read and changed between runs. Null out of range; the
 * name is "" where the plan was compiled without names. */
uint32_t tw_state_count(const tw_model *model);
const tw_tensor *tw_state_tensor(const tw_model *model, uint32_t index);
void *tw_state_data(tw_context *context, uint32_t index);
const char *tw_state_name(const tw_model *model, uint32_t index);

/* Caches that grow a few tokens a run: the tokens that are in them; 0 where the plan has none. Rewound, the
 * next run goes on behind the first `tokens` of them. TW_E_ARGUMENT, and nothing changes: there are not so
 * many, or sliding caches have dropped some that would be needed. Rewinding to 0 is always possible. */
uint32_t tw_tokens(const tw_context *context);
tw_status tw_rewind(tw_context *context, uint32_t tokens);

/* Install a hook called after every firing; null removes it. */
void tw_set_hook(tw_context *context, tw_hook hook, void *user);

/* Where rows of inputs come from that the plan takes by rows. A run that needs it and has none ends
 * with TW_E_CALLBACK. */
void tw_set_feed(tw_context *context, tw_feed feed, void *user);

/* Where rows of outputs go that the plan gives by rows. A run that needs it and has none ends with
 * TW_E_CALLBACK. */
void tw_set_drain(tw_context *context, tw_drain drain, void *user);

/* Inputs and outputs in the model's order. Null when the index is out of range, and the data of one
 * that is taken or given by rows (its tensor has a window). */
const tw_tensor *tw_input_tensor(const tw_model *model, uint32_t index);
const tw_tensor *tw_output_tensor(const tw_model *model, uint32_t index);
void *tw_input(tw_context *context, uint32_t index);
void *tw_output(tw_context *context, uint32_t index);

/* A status in words, for logs; never null. */
const char *tw_status_text(tw_status status);

#ifdef __cplusplus
}
#endif

#endif
