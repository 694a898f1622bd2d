/* The IR: values, nodes, a graph. Nothing here knows a file format, a pass or a plan.
 *
 * A graph is in static single assignment: each value has one producer (a node, an input, or
 * constant data, a state). Nodes stand in an order in which every value is produced before it is read.
 * Activations are channels last, batch first, once `normalize/layout` has run; the operators
 * themselves are defined channels last only, so importers of other layouts put Transposes around
 * them and the layout pass takes them away.
 *
 * Control flow that is decided while the network runs is a node with bodies: graphs of their own,
 * which see nothing of the graph around them but what the node's operands hand to their inputs.
 *
 * Everything lives in the graph's arena.
 */
#ifndef TW_GRAPH_GRAPH_H
#define TW_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "runtime/kernel.h"

struct tw_opdef;
typedef struct tw_node tw_node;

#define TW_MAX_NODE_OPERANDS 64 /* inputs, and results, of a node; of one with a kernel fewer */
#define TW_MAX_BODIES 2
#define TW_MAX_DEPTH 8 /* bodies inside each other */

/* Shape and element type. A tensor has at most INT32_MAX elements and bytes. */
typedef struct tw_shape {
    tw_dtype dtype;
    int rank; /* 0..TW_MAX_RANK */
    int32_t dim[TW_MAX_RANK];
} tw_shape;

/* real = scale[i] * (stored - zero_point[i]), i = 0 when count is 1, else the index on `axis`. */
typedef struct tw_quant {
    int count; /* 0: not quantised; 1: per tensor; dim[axis]: per channel */
    int axis;
    const float *scale;
    const int32_t *zero_point;
} tw_quant;

typedef struct tw_value {
    const char *name; /* unique in the graph, never empty; any bytes */
    tw_shape shape;
    tw_quant quant;
    const void *data;      /* constant elements, dense, little-endian; null: computed or an input */
    tw_node *producer;     /* null: input or constant */
    int index;             /* scratch number for passes (see tw_graph_number) */
    struct tw_value *into; /* its elements are written where this value lies; plan/control.h */
    bool is_target;        /* some value's `into` */
    struct tw_value *forward; /* within a pass: what its readers are to read instead, or null */
    bool is_input;
    bool is_state;      /* what a state holds when a run begins */
    bool is_output;     /* read from outside: a graph output, or what a state becomes */
    bool channels_last; /* an input or output that the model has channels first (TW_IO_NHWC) */
} tw_value;

/* The float bounds of a fused activation, in real (dequantised) terms. */
typedef struct tw_clamp {
    float low, high; /* -INFINITY and INFINITY: none */
} tw_clamp;

struct tw_node {
    const struct tw_opdef *op;
    const char *name;     /* for messages; may equal an output's name, never null */
    const char *spelling; /* the operator of the model's file that it came of; null: of none */
    int in_count, out_count;
    tw_value **in;    /* null entries: optional operands that are absent */
    tw_value **out;   /* null entries: optional outputs nobody reads */
    void *attributes; /* op->attribute_bytes bytes, 32-bit words; null when the op has none */
    tw_clamp clamp;
    struct tw_graph **body; /* op->bodies of them, of this node alone; see tw_graph_control */
    const tw_node
        *again;   /* what it computes once more, from the same operands and constants, for readers
                               that come late (plan/recompute.h); null: nothing */
    bool removed; /* by a pass; swept by tw_graph_sweep */
    int index;    /* scratch number for passes */
};

/* A named tensor that survives the run: `current` is read by nodes, and what `next` is at the end
 * of a run is `current` in the next one. Both have one shape, type and quantisation. */
typedef struct tw_state {
    tw_value *current;
    tw_value *next;      /* null until set: the state never changes */
    const void *initial; /* dense elements after a reset; null: all bytes zero */
} tw_state;

/* What the model's file says beside the graph: "signature", "metadata", ..., for people. */
typedef struct tw_note {
    const char *kind, *text;
} tw_note;

typedef struct tw_graph {
    tw_arena *arena;
    const char *name;
    tw_node **nodes;
    int node_count, node_capacity;
    tw_value **values; /* every value, in order of creation */
    int value_count, value_capacity;
    tw_value **inputs;
    int input_count, input_capacity;
    tw_value **outputs; /* may repeat a value, an input or a constant */
    int output_count, output_capacity;
    tw_state *states;
    int state_count, state_capacity;
    const char **fixed; /* names of what were inputs in the model and are constants here */
    int fixed_count, fixed_capacity;
    struct tw_control *controls; /* of a graph whose bodies have been laid out: plan/control.h */
    int control_count, control_capacity;
    tw_note *notes;
    int note_count, note_capacity;
    void *names; /* name table, see tw_unique_name */
    const char
        *spelling; /* while a model is imported: the operator in hand, as its file calls it */
    struct {
        bool begun;
        uint64_t bytes, work;
    } folding; /* what computing constants may still take, see normalize/fold.c */
} tw_graph;

tw_graph *tw_graph_new(tw_arena *arena, const char *name);

/* A name not yet taken in the graph: `base`, or base with a number behind it. */
const char *tw_unique_name(tw_graph *graph, const char *base);

/* New values. Names are made unique. Data is not copied and must live as long as the graph. */
tw_value *tw_graph_value(tw_graph *graph, const char *name, tw_shape shape);
tw_value *tw_graph_input(tw_graph *graph, const char *name, tw_shape shape);
tw_value *tw_graph_constant(tw_graph *graph, const char *name, tw_shape shape, const void *data);
void tw_graph_output(tw_graph *graph, tw_value *value);

/* A state; returns its current value. Set what it becomes with tw_graph_state_next. */
tw_value *tw_graph_state(tw_graph *graph, const char *name, tw_shape shape, const void *initial);
/* An input, no longer in the graph's list of them, becomes a state that is zero at first. */
void tw_graph_make_state(tw_graph *graph, tw_value *input);
/* A note; the text is copied. kind: a literal. */
void tw_graph_note(tw_graph *graph, const char *kind, const char *text);
bool tw_graph_state_next(tw_graph *graph, tw_value *current, tw_value *next, tw_diag *diag);

/* Append a node: attribute ranges are checked, output shapes computed by the operator's `shape`,
 * outputs created (named `out_names[i]`, or after the node where null). `attributes` is copied;
 * null takes the defaults. Returns null with a message on failure: never a half-built node.
 * Quantisation of outputs is the caller's to set (node->out[i]->quant) unless the operator is a
 * MOVE or VIEW, whose output takes its first input's. */
tw_node *tw_graph_node(tw_graph *graph, const struct tw_opdef *op, const char *name,
                       tw_value *const *in, int in_count, int out_count,
                       const char *const *out_names, const void *attributes, tw_diag *diag);

/* A node with bodies: what their inputs and outputs must be, the operator says (ops/control.c). Names
 * in a body are its own. The outputs take the quantisation of the last body's. */
tw_node *tw_graph_control(tw_graph *graph, const struct tw_opdef *op, const char *name,
                          tw_value *const *in, int in_count, int out_count,
                          const char *const *out_names, const void *attributes,
                          tw_graph *const *body, tw_diag *diag);

/* The same, placed before `position` instead of at the end (linear in the number of nodes behind).
 * Passes that insert many nodes build a new node list instead: tw_graph_rebuild. */
tw_node *tw_graph_node_before(tw_graph *graph, const tw_node *position, const struct tw_opdef *op,
                              const char *name, tw_value *const *in, int in_count, int out_count,
                              const void *attributes, tw_diag *diag);

/* The same graph in another arena, values and nodes by the same indices; attributes and constants are
 * shared. Of a graph without bodies and control entries. */
tw_graph *tw_graph_copy(const tw_graph *graph, tw_arena *arena);

/* Every reader of `from`, graph outputs and states included, reads `to` instead (linear in the graph). */
void tw_graph_replace(tw_graph *graph, tw_value *from, tw_value *to);

/* Drop removed nodes and restore a topological order (stable); values that nothing produces or
 * reads any more are forgotten. Bodies are swept too. */
bool tw_graph_sweep(tw_graph *graph, tw_diag *diag);

/* Readers of each value, as of the call: readers[first[v->index] .. first[v->index + 1]) . Numbers
 * all values (v->index) and nodes (n->index) by position. Allocated in `arena`. */
typedef struct tw_uses {
    int *first;
    tw_node **readers;
} tw_uses;
tw_uses tw_graph_uses(tw_graph *graph, tw_arena *arena);
int tw_use_count(const tw_uses *uses, const tw_value *value); /* nodes only, not graph outputs */

/* Everything above that must hold, checked: run between any two passes. */
bool tw_graph_check(const tw_graph *graph, tw_diag *diag);

/* Multiply-accumulates of the whole graph. */
uint64_t tw_graph_macs(const tw_graph *graph);

/* The node itself, or that whose results it computes once more. */
static inline const tw_node *tw_node_first(const tw_node *node)
{
    return node->again ? node->again : node;
}

/* Shape helpers. */
int64_t tw_shape_elements(const tw_shape *shape);
uint32_t tw_shape_bytes(const tw_shape *shape);
bool tw_shape_equal(const tw_shape *a, const tw_shape *b); /* type and extents */
tw_shape tw_shape_of(tw_dtype dtype, int rank, const int32_t *dim);
const char *tw_dtype_name(tw_dtype dtype);     /* "f32", "s8", ... */
tw_dtype tw_dtype_from_name(const char *name); /* TW_NO_DTYPE when unknown */
/* "f32[1,3,16,16]" into text. */
void tw_shape_text(const tw_shape *shape, char *text, unsigned bytes);

bool tw_quant_equal(const tw_quant *a, const tw_quant *b);
/* A per-tensor quantisation in the arena. */
tw_quant tw_quant_per_tensor(tw_arena *arena, float scale, int32_t zero_point);
/* Element i of a constant as a number (integers exact to 2^53; scale not applied). */
double tw_constant_at(const tw_value *value, int64_t i);

/* The dense tensor record of a value (offset and region 0), as kernels see it. */
tw_tensor tw_tensor_of(const tw_value *value);

#endif
