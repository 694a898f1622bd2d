/* The TensorFlow Lite importer: what its files share. An operator is a row of tflite.def and a
 * function tw_tfl_op_NAME(node), which reads the operator's tensors and options and sets its
 * results.
 *
 * Types: int8 comes as it is. uint8 with scales becomes int8, stored value and zero point less 128;
 * inputs and outputs of the model keep their declared type. int4 weights are unpacked to int8;
 * the plan packs them again (ops/packed.h).
 * Shapes in the file are those of constants and inputs only: all others are computed.
 */
#ifndef TW_IMPORT_TFLITE_H
#define TW_IMPORT_TFLITE_H

#include "import/build.h"
#include "import/tflite/model.h"
#include "import/window.h"

typedef struct tw_tfl_node tw_tfl_node;

/* --- the ledger -------------------------------------------------------------------------------- */

typedef struct tw_tfl_row {
    int32_t code;     /* builtin code; TW_TFL_BUILTIN_CUSTOM for custom operators */
    const char *name; /* as the schema spells it; of a custom operator, its own name */
    int32_t version;  /* the newest that is known */
    int32_t options;  /* number of its option table, 0: none that is read */
    bool (*import)(tw_tfl_node *node); /* null: refused by name */
    int least_in, most_in;             /* inputs; most_in -1: any number */
    const char *becomes;               /* IR operators, space-separated */
    const char *limits;                /* what is refused, for the docs */
} tw_tfl_row;

/* Every operator by position; false behind the last. */
bool tw_tfl_row_at(int index, tw_tfl_row *row);

#define TW_TFLITE(code, NAME, version, options, function, least_in, most_in, becomes, limits)      \
    bool tw_tfl_op_##function(tw_tfl_node *node);
#define TW_TFLITE_CUSTOM(Name, function, least_in, most_in, becomes, limits)                       \
    bool tw_tfl_op_##function(tw_tfl_node *node);
#define TW_TFLITE_REFUSED(code, NAME)
#include "import/tflite/tflite.def"

/* --- the import in hand ------------------------------------------------------------------------ */

typedef struct tw_tfl_variable tw_tfl_variable;

/* From node `nodes` of the graph on, things count only in runs in which `open` is true. */
typedef struct tw_tfl_gate_record {
    int nodes;
    tw_value *open;
} tw_tfl_gate_record;
enum { TW_TFL_MOST_GATES = 32 };

enum { TW_TFL_VARIABLES = 1024 }; /* of a model */

typedef struct tw_tfl_import {
    tw_builder b;
    tw_arena *scratch; /* as long as the import */
    const tw_tfl_model *model;
    const struct tw_tfl_ledger *ledger;
    size_t made;      /* bytes of constants made so far */
    int operators;    /* imported so far */
    tw_map variables; /* resource variables by name */
    tw_tfl_variable **variable_list;
    int variable_count, variable_capacity;
    bool initialising;        /* inside CALL_ONCE: assignments are initial values */
    struct tw_tfl_body *body; /* in hand, or null: the network itself */
    tw_tfl_gate_record gates[TW_TFL_MOST_GATES]; /* the last one open means that all are */
    int gate_count;

    /* the subgraph in hand */
    const tw_tfl_subgraph *subgraph;
    tw_value **values;         /* its tensors; null: not yet defined */
    tw_tfl_variable **handles; /* its tensors that are handles; null: not one */
    int depth;                 /* subgraphs around it */
} tw_tfl_import;

struct tw_tfl_node {
    tw_tfl_import *import;
    tw_builder *b;
    const tw_tfl_row *row;
    const tw_tfl_operator *operator;
    const char *op; /* the operator's name, for messages */
};

#define TW_TFL_FAIL(n, ...)                                                                        \
    tw_fail((n)->b->diag, TW_CODE_FAILED, (n)->b->node, (n)->op, __VA_ARGS__)
#define TW_TFL_UNSUPPORTED(n, ...)                                                                 \
    tw_fail((n)->b->diag, TW_CODE_UNSUPPORTED, (n)->b->node, (n)->op, __VA_ARGS__)

/* --- tensors: tensor.c ------------------------------------------------------------------------- */

/* The type a tensor has in the graph; TW_NO_DTYPE where there is none. */
tw_dtype tw_tfl_dtype(const tw_tfl_tensor *tensor);
const char *tw_tfl_type_name(int type);
/* Its quantisation in the graph; count 0: none. In the graph's arena. */
bool tw_tfl_quant(tw_tfl_import *import, const tw_tfl_tensor *tensor, tw_quant *quant);
/* The shape the file gives it, in the graph's type. */
bool tw_tfl_shape(tw_tfl_import *import, const tw_tfl_tensor *tensor, tw_shape *shape);
/* The tensor as a constant of the graph: null with a message where it is none. */
tw_value *tw_tfl_constant(tw_tfl_import *import, const tw_tfl_tensor *tensor);
bool tw_tfl_has_data(const tw_tfl_import *import, const tw_tfl_tensor *tensor);
/* A sparse constant's elements, all of them, into `to`; false with the path of what is damaged. */
bool tw_tfl_densify(tw_tfl_import *import, const tw_tfl_tensor *tensor, const tw_shape *shape,
                    tw_tfl_buffer buffer, void *to);
/* Make graph inputs of the subgraph's inputs, and outputs of its outputs. */
bool tw_tfl_inputs(tw_tfl_import *import);
bool tw_tfl_outputs(tw_tfl_import *import);

/* --- a node: node.c ---------------------------------------------------------------------------- */

/* Input i: null when absent, or with a message when it is not there yet. */
tw_value *tw_tfl_in(tw_tfl_node *n, int i);
bool tw_tfl_has(const tw_tfl_node *n, int i);
/* The record of input or output i, which must be present. */
const tw_tfl_tensor *tw_tfl_in_tensor(const tw_tfl_node *n, int i);
const tw_tfl_tensor *tw_tfl_out_tensor(const tw_tfl_node *n, int i);
/* Is output i named, so that something may read it? */
bool tw_tfl_wants(const tw_tfl_node *n, int i);

/* Set result i: checks the type, gives it the file's quantisation. False when the value is null. */
bool tw_tfl_set(tw_tfl_node *n, int i, tw_value *value);

/* A node for an operator that computes (not a move or a view): its output gets the quantisation of
 * result i (where it is of a quantised type) and the bounds. */
tw_value *tw_tfl_compute(tw_tfl_node *n, int i, const char *op, tw_value *const *in, int in_count,
                         const tw_setting *settings, tw_clamp clamp);
tw_clamp tw_tfl_no_clamp(void);

/* A list of integers (rank 0 or 1) that must be known now; count -1 when the input is absent. */
typedef struct tw_tfl_list {
    int count;
    const int64_t *v;
} tw_tfl_list;
bool tw_tfl_list_in(tw_tfl_node *n, int i, const char *what, tw_tfl_list *list);

/* Extents from input i, each from 0 up, as a shape of the type. */
bool tw_tfl_shape_in(tw_tfl_node *n, int i, tw_dtype dtype, tw_shape *shape);
/* An axis, counted from the end where negative, of `rank` axes. */
bool tw_tfl_axis(tw_tfl_node *n, int64_t axis, int rank, int *out);

/* Options; a damaged one leaves a message and gives the fallback. */
int32_t tw_tfl_int(tw_tfl_node *n, tw_fb_field field, int32_t fallback);
int tw_tfl_byte(tw_tfl_node *n, tw_fb_field field, int fallback);
bool tw_tfl_flag(tw_tfl_node *n, tw_fb_field field);
float tw_tfl_float(tw_tfl_node *n, tw_fb_field field, float fallback);
const char *tw_tfl_text(tw_tfl_node *n, tw_fb_field field);
bool tw_tfl_ints(tw_tfl_node *n, tw_fb_field field, tw_tfl_list *list);

/* The bounds of a fused activation; refuses what bounds cannot say (TANH, SIGN_BIT). */
bool tw_tfl_activation(tw_tfl_node *n, int activation, tw_clamp *clamp);

/* --- shared by operators ----------------------------------------------------------------------- */

/* Fills in the pads for an input of batch, `spatial` axes and channels; kernel, stride and dilation are
 * set. */
bool tw_tfl_pads(tw_tfl_node *n, const tw_shape *x, int spatial, int padding, tw_window *w);

/* Of a transposed convolution: the pads on spatial axis i, and the additions, that make the `extent`
 * outputs that the file asks for of x elements; kernel, stride and dilation are set. */
bool tw_tfl_transposed_axis(tw_tfl_node *n, int64_t x, int64_t extent, int padding,
                            tw_window *window, int64_t *added, int i);
/* The shape of a transposed convolution's result: input 0, or as the file declares it. */
bool tw_tfl_result_extents(tw_tfl_node *n, tw_tfl_list *extents);
/* A bias in units of the sums, whatever its own scale says; null where input i is absent. */
tw_value *tw_tfl_bias(tw_tfl_node *n, int i);

/* Weights of a float operator that are int8: dequantised, or as they are where the operator has kernels
 * for them and they are symmetric. Other weights are returned as they are. */
typedef enum tw_tfl_weights_as {
    TW_TFL_DEQUANTIZED,
    TW_TFL_HYBRID,           /* inputs quantised symmetrically where the weights have one scale */
    TW_TFL_HYBRID_ASYMMETRIC /* inputs always quantised with a zero point */
} tw_tfl_weights_as;
tw_value *tw_tfl_weights(tw_tfl_node *n, const tw_value *x, tw_value *w, tw_tfl_weights_as as);
/* Is it constant int8 with scales and zero points of 0? */
bool tw_tfl_is_symmetric(const tw_value *w);

/* Elements of constant integers or floats as doubles; false with a message when not constant. */
bool tw_tfl_known(tw_tfl_node *n, int i, const char *what);

/* What a subgraph is given: values, or handles of variables where a value is null. */
typedef struct tw_tfl_arguments {
    tw_value **in;
    tw_tfl_variable **handle;
    uint32_t count;
} tw_tfl_arguments;

/* Import the operators of another subgraph in the node's place. out: set to what its outputs are; null
 * where they are handles. */
bool tw_tfl_call(tw_tfl_node *n, int32_t subgraph, const tw_tfl_arguments *arguments,
                 tw_value **out, uint32_t out_count);

/* A subgraph as a body of If or While: a graph of its own. Its inputs stand for the arguments, but for
 * those that are constant and not carried by a loop, and for the variables that it reads. */
typedef struct tw_tfl_body {
    struct tw_tfl_body *around;
    tw_graph *graph;
    tw_value **in;     /* by argument: its input, or null */
    tw_value **out;    /* what the subgraph gives */
    tw_value **before; /* by variable: what it is around the body */
    tw_value **taken;  /* by variable: the body's input, or null */
    tw_value **after;  /* by variable: what the body leaves, or null: as it was */
    int variables;
} tw_tfl_body;
bool tw_tfl_body_of(tw_tfl_node *n, int32_t subgraph, const tw_tfl_arguments *arguments,
                    const bool *carried, uint32_t out_count, tw_tfl_body *body);
/* The value with another quantisation, in the body. */
tw_value *tw_tfl_body_relabel(tw_tfl_node *n, tw_tfl_body *body, tw_value *value, tw_quant quant);

/* Variables in control flow: state.c. */
tw_value **tw_tfl_variables_now(const tw_tfl_import *import);
void tw_tfl_variables_restore(tw_tfl_import *import, tw_value *const *now, int count);
/* Variable i, as one that the body takes: it becomes an input where it is none yet. */
tw_value *tw_tfl_variable_taken(tw_tfl_import *import, tw_tfl_body *body, int i,
                                const tw_value *like);
/* Variable i as it is here, read or made if need be; `like`: shape and scale where nothing else says. */
tw_value *tw_tfl_variable_read(tw_tfl_node *n, int i, const tw_value *like);
bool tw_tfl_variable_assign(tw_tfl_node *n, int i, tw_value *value);

/* Tell the graph what the variables are in the next run: state.c. */
bool tw_tfl_finish_states(tw_tfl_import *import);

/* A number of a custom operator's options, which it must have. */
int32_t tw_tfl_option(tw_tfl_node *n, const char *key);
float tw_tfl_real_option(tw_tfl_node *n, const char *key);
/* The same where it may be absent. */
int32_t tw_tfl_option_or(tw_tfl_node *n, const char *key, int32_t otherwise);

/* Description, signatures and metadata as notes of the graph: notes.c. */
void tw_tfl_notes(tw_tfl_import *import);

/* --- runs that end early: gate.c --------------------------------------------------------------- */

/* What is imported from here on counts only in runs in which `open` (one bool) is true. */
bool tw_tfl_gate(tw_tfl_node *n, tw_value *open);
/* `next` in runs that come this far, else `before`. */
tw_value *tw_tfl_gated(tw_tfl_node *n, tw_value *next, tw_value *before);
/* What a state becomes, in runs that come this far; false where next is null or does not fit. */
bool tw_tfl_state_becomes(tw_tfl_node *n, tw_value *state, tw_value *next);
/* Outputs behind a gate keep their last value. */
bool tw_tfl_hold_outputs(tw_tfl_import *import);

/* The real value 0 everywhere as a state's initial data; null: zero bytes say it. */
const void *tw_tfl_zeros(tw_tfl_import *import, const tw_shape *shape, const tw_quant *quant);

#endif
