/* The planner's result: what runs when, on which rows, and where every byte lives. In: a normalised
 * graph. Out: steps, segments and placed buffers, from which src/emit writes the plan and the
 * report. */
#ifndef TW_PLAN_SCHEDULE_H
#define TW_PLAN_SCHEDULE_H

#include "backends/backend.h"
#include "tilewright/compiler.h"

/* Where a result lies to the input of the call that makes it. */
typedef enum tw_side { TW_SIDE_OPEN, TW_SIDE_BELOW, TW_SIDE_ABOVE, TW_SIDE_APART } tw_side;

/* A range of bytes over a range of steps. */
typedef struct tw_buffer {
    const char *name;
    tw_buffer_use use;
    uint32_t bytes;  /* a multiple of TW_PLAN_ALIGN */
    int first, last; /* steps, both included; a graph input's first is 0 */
    uint32_t region; /* TW_REGION_FAST, _SLOW or _STATE */
    uint32_t offset;
    bool is_input, is_output;
    int bed;      /* the buffer whose consumed bytes this one's take the place of, or -1 */
    int64_t lead; /* bytes by which it begins before its bed; negative: behind its beginning */
    tw_side side; /* of its bed, where it has an overlap */
    const tw_overlap *overlap; /* where its bed is the input of the one call that makes it: what its
                                  kernel allows; else null */
} tw_buffer;

/* Where a value lives: in a buffer, or among the constants. */
typedef struct tw_place {
    int buffer;           /* index, or -1: a constant */
    const tw_value *root; /* the value that owns the bytes: itself, or what it is a view of */
    int64_t offset;       /* bytes from the buffer's beginning, and strides: of a value that lies */
    const int32_t *stride; /* inside another (plan/joins.h); null: it has no gaps */
} tw_place;

/* How a target's own kernel runs a step, or why none does. */
typedef struct tw_native_lowering {
    tw_lowering lowering; /* kernel null: the portable one runs it */
    const char *why;
    uint32_t
        whole; /* bytes of scratch to do the work at once; lowering.scratch: in `parts` parts */
    int parts;
} tw_native_lowering;

typedef struct tw_join tw_join;

typedef struct tw_step {
    tw_node *node;
    tw_lowering
        lowering; /* by the portable kernel; scratch and memory are the most of all targets */
    tw_native_lowering *native; /* by each target, the first left out */
    uint32_t over;              /* bit i: every target's kernel may write the output over input i */
    uint64_t work;
    int pace;       /* of the fastest kernel of all targets: tw_native_cpu; 0: the portable one */
    int axis;       /* the band axis of its segment */
    int32_t extent; /* rows it makes (or takes, where it accumulates) */
    int32_t band;   /* rows a firing */
    bool accumulates;
    bool at_once; /* all rows in one firing */
    bool alone;   /* it has an output that is complete only at its end: it rolls with nobody */
    tw_side side; /* where its result is to lie to its input: anywhere, or as said */
    bool joined;  /* it joins or cuts, and the parts lie inside the whole: it moves nothing */
    tw_rowmap map[TW_MAX_OPERANDS]; /* of the inputs */
    bool columns;                   /* it can be cut by columns, and the maps of these are there */
    tw_rowmap column[TW_MAX_OPERANDS];
    int segment;
    int scratch, memory; /* buffers, or -1; the steps of a segment share one scratch */
    uint32_t calls;      /* of its kernel in a run, and what they move (plan/traffic.c) */
    tw_traffic traffic;
} tw_step;

/* How much of a value is kept while its segment rolls. */
typedef struct tw_window {
    int32_t rows;         /* 0: all of it, and it stays */
    const tw_value *over; /* its rows take the place of this value's, in one window; or null */
    const tw_value *bed;  /* likewise of a resident tensor's that the segment consumes; or null */
    uint32_t lead;        /* bytes by which it begins before its bed */
} tw_window;

typedef struct tw_segment {
    int first_step, step_count;
    int axis;
    bool columns;        /* by columns: bands and windows count pixels */
    int32_t source_band; /* rows by which an input that comes by rows advances */
    int counters;        /* the buffer of its row counters */
} tw_segment;

typedef struct tw_schedule {
    tw_arena *arena;
    tw_graph *graph;
    const tw_memories *memories; /* as the options have them */
    tw_target *targets;          /* the first is the portable kernels */
    int target_count;
    tw_step *steps;
    int step_count;
    tw_segment *segments;
    int segment_count;
    struct tw_control *controls; /* plan/control.h */
    int control_count;
    int *maker;                    /* by value->index: the step that makes its root, or -1 */
    const tw_value *fed, *drained; /* the input and the output that go by rows, or null */
    tw_place *places;              /* by value->index */
    tw_window *windows;            /* by value->index */
    const bool *slow; /* by value->index: whole tensors that lie in slow memory; or null */
    bool to_edges;    /* results over their input lie at the edges of what is shared */
    tw_join *joins;   /* by value->index, or null: what may lie inside what */
    struct tw_assign_memo *assigned; /* addresses asked for before */
    tw_buffer *buffers;
    int buffer_count, buffer_capacity;
    int counters; /* the buffer of the row counters */
    uint32_t counter_count;
    uint32_t region_bytes[TW_MAX_REGIONS];
    uint32_t activations, scratch, context, state;
    uint32_t total; /* what -m covers: fast + slow + state + the context structure */
    uint32_t bound; /* largest sum of live bytes at any step, counters included */
    int bound_step; /* where */
    uint64_t layerwise;
    uint32_t smallest_budget;  /* of fast memory, without slow memory */
    uint32_t smallest_by_rows; /* the same, without segments by columns */
    bool fits;
    tw_report_point *pareto; /* budgets at which the plan changes, where asked for */
    int pareto_count;
} tw_schedule;

/* Plan. On false with schedule->fits false and everything else filled in, the plan exists but does
 * not fit; any other failure leaves no usable schedule. */
bool tw_plan(tw_graph *graph, const tw_compile_options *options, tw_schedule *schedule,
             tw_diag *diag);

/* The least memory that rows and columns reach, as smallest_budget, and roughly where it goes: segments, buffers and
 * the fullest step of such a plan. Several times quicker; nothing is written from it. */
bool tw_plan_sketch(tw_graph *graph, const tw_compile_options *options, tw_schedule *schedule,
                    tw_diag *diag);

/* ---- the planner's parts, in order ---- */

/* Steps: kernels of all targets, band axes, row maps. */
bool tw_plan_steps(tw_schedule *schedule, const tw_compile_options *options, tw_diag *diag);
/* The axis on which the node takes rows of an input one by one and gives its result after the last; -1: it does not. */
int tw_summed_axis(const tw_node *node);
/* May a step's only output lie over its input i? */
static inline bool tw_may_lie_over(const tw_step *step, int i)
{
    return i < 32 && (step->over >> i & 1u);
}
/* The kernel's own check of this lowering, on the very call that the loader will build: a plan that its
 * loader would refuse is never written. *work: its multiply-accumulates. */
bool tw_step_checks(const tw_schedule *schedule, const tw_step *step, const tw_lowering *lowering,
                    uint64_t *work);
/* The step's lowering by every target but the portable kernels, with the least scratch, and what all of them
 * together leave of the portable one's. */
void tw_step_natives(tw_schedule *schedule, tw_step *step);
/* Does the step's kernel take its operands with the strides that the joins give them? */
bool tw_step_takes(const tw_schedule *schedule, const tw_step *step);
/* An earlier step that computes the same, or -1. */
int tw_step_before(const tw_schedule *schedule, int step);
/* The order of the steps: low peak (plan/order). */
bool tw_plan_order(tw_schedule *schedule, tw_diag *diag);
/* Segments and bands: one segment a step, whole; with options->random_bands, random runs of steps
 * that roll through each other in random bands (all tensors still whole). */
void tw_plan_segments(tw_schedule *schedule, const tw_compile_options *options);
/* Bytes of a segment's row counters. */
uint32_t tw_counter_bytes(const tw_schedule *schedule, const tw_segment *segment);
/* Buffers with lifetimes: views and in-place results share their source's. */
void tw_plan_buffers(tw_schedule *schedule, bool in_place);
/* Bytes that a buffer and its bed take together while both live, at the least: less than their sum. */
uint32_t tw_bed_bytes(const tw_schedule *schedule, const tw_buffer *upper);
/* Does all of the value lie in slow memory? A window never does. */
static inline bool tw_is_slow(const tw_schedule *s, const tw_value *v)
{
    return s->slow && s->slow[v->index] && s->windows[v->index].rows == 0 &&
           !s->windows[v->index].over;
}
/* Largest sum of bytes live in the fast region over the steps; *step receives where (may be null). */
uint32_t tw_live_peak(const tw_schedule *schedule, bool activations_only, int *step);
/* The fast memory a placed schedule takes of a budget: arena, state, context structure. */
uint32_t tw_fast_total(const tw_schedule *schedule);
/* Move one more buffer to slow memory: the largest where the fast part is tightest. False: nothing
 * is left to move. */
bool tw_spill(tw_schedule *schedule);
/* What a run of the plan as it stands will read and write: the calls and the traffic of every step. */
void tw_plan_traffic(tw_schedule *schedule);
/* Offsets in one region for all buffers, or for those of uses up to `most` in the order ACTIVATION,
 * MEMORY, STATE; SCRATCH; CONTEXT: what the ones before would take alone. `nodes`: of the search, a try
 * (20,000 take about a tenth of a second). Returns its bytes. */
typedef enum tw_layer { TW_LAYER_TENSORS, TW_LAYER_SCRATCH, TW_LAYER_ALL } tw_layer;
uint32_t tw_place_buffers(tw_schedule *schedule, uint32_t region, tw_layer most, uint64_t nodes);

#endif
