/* The tilewright compiler as a library: a model file and options in, the bytes of a plan and a
 * report on where every byte lives out. The command line is a client of this header.
 *
 *     tw_diag diag = {0};
 *     tw_compile_options options;
 *     tw_compile_options_default(&options);
 *     tw_compiled compiled;
 *     if (tw_parse_memories("256K", &options.memories, &diag) &&
 *         tw_compile_file("model.onnx", &options, &compiled, &diag))
 *         fwrite(compiled.plan, 1, compiled.plan_bytes, file);
 *     tw_compiled_free(&compiled);
 */
#ifndef TILEWRIGHT_COMPILER_H
#define TILEWRIGHT_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tilewright/diag.h"
#include "tilewright/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TW_VERSION "0.1.0"

struct tw_graph;
struct tw_arena;

/* --- options ---------------------------------------------------------------------------------- */

/* One memory that the plan may use. */
typedef struct tw_memory_spec {
    char name[16];
    bool given;   /* named by the user */
    bool bounded; /* `bytes` is a limit; otherwise as large as it takes */
    uint32_t bytes;
    double cost; /* of a byte moved, relative to a byte of the fast memory */
} tw_memory_spec;

typedef struct tw_memories {
    tw_memory_spec fast; /* activations, scratch, state, context. Unbounded when nothing is given */
    tw_memory_spec slow; /* what the fast memory cannot hold. Unused unless given */
    tw_memory_spec flash; /* weights, read in place */
} tw_memories;

/* Nothing given: one unbounded fast memory. */
void tw_memories_default(tw_memories *memories);

/* What `-m` takes: `256K`; `256K+4M` (fast + slow); `sram:128K,psram:8M@6,flash@4` (name, bytes,
 * cost; the memory called flash holds the weights; of the others the cheapest is the fast one).
 * K is 1,024, M 1,048,576. Fails with TW_CODE_USAGE. */
bool tw_parse_memories(const char *text, tw_memories *memories, tw_diag *diag);

typedef enum tw_io_layout {
    TW_IO_KEEP, /* inputs and outputs have the axes of the model, whatever transposes that takes */
    TW_IO_NHWC  /* inputs and outputs are channels last */
} tw_io_layout;

typedef enum tw_prefer {
    TW_PREFER_BALANCED, /* the least memory whose cost is within 10% of the best that fits */
    TW_PREFER_MEMORY,
    TW_PREFER_SPEED
} tw_prefer;

/* An extent for every axis of an input that the model leaves open. */
typedef struct tw_input_shape {
    const char *name; /* null or empty: the first input */
    int rank;         /* -1: nothing is in it, of an optional (or a sequence) */
    int32_t dim[TW_MAX_RANK];
} tw_input_shape;

/* A value offered for an input. It is taken, and the input disappears, only where the model cannot
 * be compiled otherwise: where it fixes a shape, an axis, a count or a pad. */
typedef struct tw_offered_input {
    const char *name; /* one that the model does not have: the input at this entry's position */
    tw_dtype dtype;
    int rank; /* -1: nothing is in it */
    int32_t dim[TW_MAX_RANK];
    const void *data; /* dense, little-endian; must live until tw_compiled_free. Null: it is never
                         taken, only its extents are, where the model leaves them open */
    bool fixed;       /* the same in every run: then it may also decide which branch of an If the
                         plan has */
} tw_offered_input;

/* An input that is the same in every run: it becomes a constant, is folded, and is asked for no more. */
typedef struct tw_input_value {
    const char *name;
    const char *value; /* a number, of which every element is one, or a file as `run` takes it */
} tw_input_value;

/* A state that the model carries by hand: what this output is at the end of a run, this input is in
 * the next; zero in the first. Neither is an end of the plan then. */
typedef struct tw_state_binding {
    const char *output, *input;
} tw_state_binding;

/* A network over a whole clip becomes one that takes a few new frames a run and yields what it yields on
 * the latest window of them. */
typedef struct tw_stream_spec {
    bool given;
    const char *input; /* that the frames come by; null: the first */
    int axis;          /* of the input, as the model has it, that is time; negative: from the end */
    uint32_t hop;      /* frames a run; 0: as few as the network's stride in time allows */
    bool
        history; /* where the network pads time with zeros, take the frames that came before in their
                     place: another function */
} tw_stream_spec;

typedef struct tw_compile_options {
    tw_memories memories;
    const tw_input_shape *input_shapes;
    int input_shape_count;
    const tw_offered_input *offered;
    int offered_count;
    const tw_input_value *constants;
    int constant_count;
    const tw_state_binding *states;
    int state_count;
    tw_stream_spec stream;
    const char *signature; /* which one, of a model that has several; null: the usual one */
    tw_io_layout io_layout;
    tw_prefer prefer;
    const char
        *backends; /* comma-separated, `name` or `name:cpu`, that the plan must serve beside the
                               portable kernels; null: no more */
    const char *input_rows; /* the input that the caller feeds row by row while the plan runs; null:
                               every input is whole before the run */
    const char *output_rows; /* the output that the caller is given row by row while the plan runs;
                                null: every output is whole after the run */
    const char *only; /* compile the model up to this tensor, which is its only output then; null:
                               the whole model */
    uint32_t loop_limit;   /* rounds that a loop without a bound of its own may take in a run */
    bool no_recompute;     /* never compute anything twice, even where only that meets the budget */
    bool pareto;           /* report at which budgets the plan changes, too */
    bool strip;            /* leave names out of the plan */
    uint64_t random_bands; /* for tests: not 0 splits every step into random bands of this seed */

    /* Called after each stage and pass with its name ("import", "fold", ...); may be null. */
    void (*dump)(void *user, const char *stage, const struct tw_graph *graph);
    void *dump_user;
    /* Called now and then with what is being done and how much of it, 0 to 1; may be null. */
    void (*progress)(void *user, const char *stage, double fraction);
    void *progress_user;
} tw_compile_options;

void tw_compile_options_default(tw_compile_options *options);

/* --- report ----------------------------------------------------------------------------------- */

/* Bytes that kernels are given to read and to write in a run, by TW_REGION_*: at every call the rows
 * that its views hold, and the constants that it reads (which lie in flash). Results that are complete
 * only when their step is count once; an operator that only moves elements reads of an input that it has
 * whole no more than it writes. */
typedef struct tw_traffic {
    uint64_t read[TW_MAX_REGIONS], written[TW_MAX_REGIONS];
} tw_traffic;

typedef struct tw_report_step {
    const char *name; /* of the node, or "" */
    const char *operator_name;
    const char *backend; /* that runs it in the plan as it is: "reference" */
    uint32_t kernel;     /* kernel id */
    uint32_t segment;    /* index */
    tw_dtype dtype;      /* of the first output */
    int rank;
    int32_t dim[TW_MAX_RANK];
    uint32_t band_rows;       /* rows a firing, at most */
    uint32_t scratch, memory; /* bytes */
    uint32_t constant_bytes;  /* weights and tables it reads */
    uint32_t live_bytes;      /* sum of the buffers live while it runs, slow memory included */
    uint64_t macs, work;      /* multiply-accumulates; those or element operations */
    bool again;               /* it computes what an earlier step has computed, too */
    uint32_t calls;           /* of its kernel, a run */
    tw_traffic traffic;
    double cycles; /* estimated, of a small core (src/backends/costs.def); 0: not estimated */
} tw_report_step;

typedef struct tw_report_segment {
    uint32_t first_step, step_count;
    bool rolling;             /* several steps are streamed through each other by rows */
    uint32_t axis;            /* the band axis */
    uint32_t columns;         /* by which its first step advances in a row; 0: by whole rows */
    uint32_t band_rows;       /* by which its source advances */
    uint32_t bytes;           /* peak of the activations while it runs */
    uint64_t macs_recomputed; /* of its steps that compute something again */
} tw_report_segment;

typedef enum tw_buffer_use {
    TW_BUFFER_ACTIVATION,
    TW_BUFFER_SCRATCH,
    TW_BUFFER_MEMORY, /* accumulators and other step memory */
    TW_BUFFER_STATE,
    TW_BUFFER_CONTEXT /* row counters */
} tw_buffer_use;

/* A range of bytes of a region over a range of steps. */
typedef struct tw_report_buffer {
    const char *name; /* of the value or the node */
    tw_buffer_use use;
    uint32_t region; /* TW_REGION_* */
    uint32_t offset, bytes;
    uint32_t first_step, last_step; /* both included; an input starts at 0 */
    bool is_input, is_output;
} tw_report_buffer;

typedef struct tw_report_tensor {
    const char *name;
    tw_dtype dtype;
    int rank;
    int32_t dim[TW_MAX_RANK];
    float scale; /* 0: not quantised, or not per tensor */
    int32_t zero_point;
    bool by_rows; /* whole in this plan, and nothing known forbids that it goes by rows */
} tw_report_tensor;

/* With a budget of so many bytes, the cheapest plan has this cost: 1 is the cheapest of all. */
typedef struct tw_report_point {
    uint32_t budget;
    double cost;
} tw_report_point;

/* A back end that the plan serves, the portable kernels included. */
typedef struct tw_report_target {
    const char *name;     /* "cmsis-nn:m55" */
    int native, fallback; /* steps that it runs itself, and that the portable kernels run for it */
    uint32_t scratch;     /* the most that its own kernels need */
    uint32_t flash;       /* bytes of the plan that a firmware with it carries */
} tw_report_target;

/* What streaming made of the network. */
typedef struct tw_report_stream {
    bool given, history;
    const char *input;
    int axis;
    uint32_t hop;     /* frames a run */
    uint32_t clip;    /* frames of the clip that the model takes */
    uint32_t window;  /* frames, from the newest back, that outputs depend on */
    uint32_t latency; /* frames from the newest back to the last of the clip that outputs are of */
    uint32_t first_run; /* counted from 1: the first that yields outputs */
    uint64_t clip_macs; /* of the network on a clip; `macs` are a run's */
} tw_report_stream;

/* Why an operator between quantised tensors is computed in float32. */
typedef enum tw_float_reason {
    TW_FLOAT_NO_FORM,  /* it has no int8 form */
    TW_FLOAT_NO_SCALE, /* an operand or its result is a float that the model gives no scale */
    TW_FLOAT_REFUSED   /* its int8 form does not take these types, scales or extents */
} tw_float_reason;

/* Such an operator: dequantised before and quantised behind, itself or with its neighbours. */
typedef struct tw_report_float_step {
    const char *name, *operator_name;
    tw_float_reason reason;
} tw_report_float_step;

typedef struct tw_report {
    /* the model */
    const char *model_name;
    const char *format;  /* "onnx", "text", ... */
    int operators;       /* nodes after normalisation */
    uint64_t parameters; /* elements of constants after normalisation */
    const tw_report_tensor *inputs, *outputs;
    int input_count, output_count;
    const tw_state_binding *state_candidates; /* ends that look like a state carried by hand */
    int state_candidate_count;
    tw_report_stream stream;
    const tw_report_float_step *float_steps; /* between quantised tensors */
    int float_step_count;

    /* the plan; meaningless unless `planned` */
    bool planned;
    bool fits;
    struct {
        uint32_t total; /* what the fast and slow memories and the state hold, context included */
        uint32_t activations, scratch, state, context;
    } memory;
    struct {
        uint32_t weights, plan, total;
    } flash;
    uint64_t layerwise;       /* live peak when every operator runs whole and nothing is in place */
    uint32_t bound;           /* no assignment of addresses can use less for this order */
    uint64_t macs;            /* the network's: of every step that computes something first */
    uint64_t macs_recomputed; /* what a run takes beyond them, so that tensors need not be held */
    struct {
        uint32_t bytes;
        uint64_t traffic_read, traffic_written; /* bytes a run */
    } slow;
    tw_traffic traffic;        /* of all steps */
    uint64_t calls;            /* of kernels, a run */
    double cycles;             /* of all steps */
    uint32_t smallest_budget;  /* the least `-m` that works with these options */
    uint32_t smallest_by_rows; /* the least that whole rows take: below it, segments by columns */
    int transposes;            /* inside the graph */
    int boundary_transposes;   /* at inputs and outputs, from TW_IO_KEEP */
    const tw_report_step *steps;
    int step_count;
    const tw_report_segment *segments;
    int segment_count;
    const tw_report_buffer *buffers;
    int buffer_count;
    int tightest_step;               /* where the fast memory is fullest */
    const tw_report_target *targets; /* the memory announced is the same for all */
    int target_count;
    const tw_report_point *pareto; /* with options.pareto: budgets ascending, costs falling */
    int pareto_count;
} tw_report;

/* --- compiling -------------------------------------------------------------------------------- */

typedef struct tw_compiled {
    const void *plan; /* aligned to 16 bytes; null when compiling failed */
    uint32_t plan_bytes;
    tw_report report;
    struct tw_arena *arena; /* holds everything above */
} tw_compiled;

/* Compile the file. False: the message is in `diag`. When the model was planned but does not fit,
 * the message names the operator, the bytes and the smallest budget, and the report stays filled
 * in, for the plan of least memory, with `fits` false. `out` needs tw_compiled_free either way. */
bool tw_compile_file(const char *model, const tw_compile_options *options, tw_compiled *out,
                     tw_diag *diag);
void tw_compiled_free(tw_compiled *compiled);

#ifdef __cplusplus
}
#endif

#endif
