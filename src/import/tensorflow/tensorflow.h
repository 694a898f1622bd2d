/* The TensorFlow importer: SavedModels and frozen GraphDefs. What its files share. An operator is a row
 * of tensorflow.def and a function tw_tf_op_NAME(node), which reads the node's inputs and attributes and
 * sets its results.
 *
 * A signature of a SavedModel is imported, or all of a GraphDef: from the tensors asked for backwards,
 * so that what only trains, saves or restores is never looked at. Functions are inlined where they are
 * called. Variables have the values that the model's own restoring operator gives them; those that the
 * signature assigns become states.
 */
#ifndef TW_IMPORT_TENSORFLOW_H
#define TW_IMPORT_TENSORFLOW_H

#include "import/build.h"
#include "tensorflow.pb-c.h"

/* TensorFlow's numbers for element types, as far as anything asks for one by name. */
enum { TW_TF_STRING = 7, TW_TF_RESOURCE = 20, TW_TF_VARIANT = 21, TW_TF_REF = 100 };

enum {
    TW_TF_DEPTH = 64,      /* functions inside each other */
    TW_TF_NODES = 1 << 20, /* imported, functions counted as often as they are called */
    TW_TF_ROUNDS = 1024,   /* of a loop that is unrolled */
    TW_TF_RESULTS = 8,     /* of a node that does not say how many it has */
    TW_TF_MOST_RESULTS = 4096
};

typedef struct tw_tf_import tw_tf_import;
typedef struct tw_tf_scope tw_tf_scope;
typedef struct tw_tf_node tw_tf_node;

/* --- what flows along an edge ------------------------------------------------------------------ */

/* A variable, by its name in the file. */
typedef struct tw_tf_variable {
    const char *name;
    const char *node;                  /* that declares it, for messages */
    tw_shape shape;                    /* as declared; dtype TW_NO_DTYPE: not known */
    const struct tw_tf_stored *stored; /* its value in the checkpoint, or null */
    int index;                         /* among the variables */
    tw_shape stored_shape;             /* of `data` */
    const void *data;                  /* its first value, read from the checkpoint once */
    tw_value *initial;     /* the same as a constant of the graph in hand; null: not asked for */
    tw_value *state, *now; /* in the run; now: in the body in hand */
    tw_value *taken; /* the input of the body in hand that stands for it; null: not asked for */
    bool assigned;   /* by the signature: it is a state */
} tw_tf_variable;

/* A list of tensors, whose length is known. Never changed: operators make new ones. */
typedef struct tw_tf_list {
    int count;
    tw_value **items; /* null: not yet set */
    tw_shape element; /* dtype, and extents where they are known (rank -1: not) */
} tw_tf_list;

/* Behind a Switch of TensorFlow 1 that the data decide: on which side. */
typedef struct tw_tf_branch {
    tw_value *condition;
    bool side;
    int depth;
    const struct tw_tf_branch *outer;
} tw_tf_branch;

typedef struct tw_tf_item {
    enum {
        TW_TF_NOTHING, /* not there, or of a kind that nothing can read */
        TW_TF_TENSOR,
        TW_TF_HANDLE,
        TW_TF_LIST,
        TW_TF_TEXT,          /* a constant of strings */
        TW_TF_STORED_TENSOR, /* in the checkpoint, not read yet */
        TW_TF_RANDOM,        /* numbers that differ from run to run, within [low, high) */
        TW_TF_DEAD           /* behind the branch of a Switch that is not taken */
    } kind;
    tw_value *value;
    tw_tf_variable *variable;
    const tw_tf_list *list;
    const Tw__Tf__Tensor *text;
    const struct tw_tf_stored *stored;
    double low, high;
    tw_shape shape;             /* of random numbers */
    const tw_tf_branch *branch; /* null: behind none */
} tw_tf_item;

static inline tw_tf_item tw_tf_tensor_item(tw_value *value)
{
    return (tw_tf_item){.kind = value ? TW_TF_TENSOR : TW_TF_NOTHING, .value = value};
}

/* --- the ledger -------------------------------------------------------------------------------- */

typedef struct tw_tf_row {
    const char *name;
    bool (*import)(tw_tf_node *node); /* null: refused by name */
    int least_in, most_in;            /* most_in -1: any number */
    const char *results; /* their names, where there is more than one and they are no list */
    const char *becomes; /* IR operators, space-separated */
    const char *limits;  /* what is refused, for the docs; of a refused one: what to do instead */
} tw_tf_row;

/* Every operator by position; false behind the last. */
bool tw_tf_row_at(int index, tw_tf_row *row);

#define TW_TENSORFLOW(Name, function, least_in, most_in, results, becomes, limits)                 \
    bool tw_tf_op_##function(tw_tf_node *node);
#define TW_TENSORFLOW_REFUSED(Name, instead)
#include "import/tensorflow/tensorflow.def"

/* --- the import in hand ------------------------------------------------------------------------ */

struct tw_tf_import {
    tw_builder b;
    tw_arena *scratch; /* as long as the import */
    const Tw__Tf__Graph *graph;
    struct tw_tf_checkpoint *checkpoint; /* null: a GraphDef, or a model without variables */
    tw_map rows;                         /* name -> tw_tf_row */
    tw_map functions;                    /* name -> Tw__Tf__Function */
    tw_map effects;   /* name of a function -> what tw_tf_has_effect found, see scope.c */
    tw_map variables; /* name -> tw_tf_variable */
    tw_tf_variable **variable_list;
    int variable_count, variable_capacity;
    bool restoring; /* assignments are initial values */
    int nodes;      /* imported so far */
    int depth;
    tw_tf_scope *scope;      /* in hand */
    struct tw_tf_body *body; /* of an If or While; null: the network itself */
};

/* --- a node in hand ---------------------------------------------------------------------------- */

struct tw_tf_node {
    tw_tf_import *import;
    tw_builder *b;
    const Tw__Tf__Node *proto;
    const tw_tf_row *row; /* null: a function, called by its name */
    const char *op;
    const tw_tf_item *in;
    int in_count;
    tw_tf_item *out;
    int out_count;
    const tw_tf_branch *branch; /* the innermost that it reads from, or waits for */
    bool dead;                  /* behind one that is not taken */
};

#define TW_TF_FAIL(n, ...) tw_fail((n)->b->diag, TW_CODE_FAILED, (n)->b->node, (n)->op, __VA_ARGS__)
#define TW_TF_UNSUPPORTED(n, ...)                                                                  \
    tw_fail((n)->b->diag, TW_CODE_UNSUPPORTED, (n)->b->node, (n)->op, __VA_ARGS__)

/* Input i as a tensor; null with a message where it is none. */
tw_value *tw_tf_in(tw_tf_node *n, int i);
/* Room for so many results. */
bool tw_tf_results(tw_tf_node *n, int64_t count);
/* Set result i; false when there is none. Fits the end of a function. */
bool tw_tf_set(tw_tf_node *n, int i, tw_value *value);
bool tw_tf_set_item(tw_tf_node *n, int i, tw_tf_item item);

/* A list of integers (rank 0 or 1) that must be known now; `what` it fixes, for the message. */
typedef struct tw_tf_ints {
    int count;
    const int64_t *v;
} tw_tf_ints;
bool tw_tf_list_in(tw_tf_node *n, int i, const char *what, tw_tf_ints *list);
/* The single integer of input i, which must be known now. */
bool tw_tf_int_in(tw_tf_node *n, int i, const char *what, int64_t *value);
/* An axis, counted from the end where negative, of `rank` axes. */
bool tw_tf_axis(tw_tf_node *n, int64_t axis, int rank, int *out);
/* Extents from input i; each from 0 up, but `open` for -1, which is allowed where open is true. */
bool tw_tf_extents_in(tw_tf_node *n, int i, bool open, tw_tf_ints *extents);
/* A constant of integers: rank 0 or 1, of the type that attribute `type` names, or int32. */
bool tw_tf_set_list(tw_tf_node *n, int i, const char *type, int rank, int count, const int64_t *v);

/* Attributes; one of the wrong kind leaves a message and gives the fallback. */
const Tw__Tf__Attribute *tw_tf_attribute(const tw_tf_node *n, const char *name);
int64_t tw_tf_int(tw_tf_node *n, const char *name, int64_t fallback);
bool tw_tf_flag(tw_tf_node *n, const char *name);
float tw_tf_float(tw_tf_node *n, const char *name, float fallback);
const char *tw_tf_text(tw_tf_node *n, const char *name, const char *fallback);
tw_tf_ints tw_tf_ints_of(tw_tf_node *n, const char *name); /* count -1: absent */
/* The type that an attribute names; TW_NO_DTYPE with a message for one that is not supported, or
 * without one where the attribute is absent. */
tw_dtype tw_tf_type(tw_tf_node *n, const char *name);
const char *tw_tf_function(tw_tf_node *n, const char *name); /* null with a message */

/* --- tensors: tensor.c ------------------------------------------------------------------------- */

/* What tensors of a type are computed in, and how the file has them. TW_NO_DTYPE: not supported. */
tw_dtype tw_tf_dtype(int64_t type);
tw_dtype tw_tf_stored_dtype(int64_t type);
/* A constant of a shape as it is stored, in the type it is computed in. */
tw_value *tw_tf_from_stored(tw_tf_node *n, tw_shape shape, const void *data);
const char *tw_tf_type_name(int64_t type);
/* A constant as it stands in the file: its data in the graph's arena. */
tw_value *tw_tf_constant(tw_tf_node *n, const Tw__Tf__Tensor *tensor);
/* Extents as the file has them; false (with a message naming `what`) where they are no shape. Open axes
 * are -1; rank -1: not known. */
bool tw_tf_shape(const Tw__Tf__Shape *shape, const char *what, int *rank, int64_t *dim,
                 tw_diag *diag);

/* --- the checkpoint: checkpoint.c -------------------------------------------------------------- */

typedef struct tw_tf_stored {
    const char *key;
    int32_t type;
    int rank;
    int64_t dim[TW_MAX_RANK];
    bool fits;   /* the shape is one of ours */
    bool sliced; /* stored in pieces */
    int32_t shard;
    uint64_t offset, bytes;
    uint32_t crc;
} tw_tf_stored;

typedef struct tw_tf_checkpoint tw_tf_checkpoint;
/* The checkpoint FOLDER/variables/variables.*; null with a message where it is damaged; *there: it
 * exists. */
tw_tf_checkpoint *tw_tf_checkpoint_open(tw_arena *arena, const char *folder, bool *there,
                                        tw_diag *diag);
const tw_tf_stored *tw_tf_checkpoint_find(const tw_tf_checkpoint *checkpoint, const char *key);
/* The value of the variable that the saved objects call so; null where none or several are. */
const tw_tf_stored *tw_tf_checkpoint_variable(tw_tf_checkpoint *checkpoint, const char *full_name);
/* The tensor as a constant; its data in the graph's arena. */
tw_value *tw_tf_checkpoint_read(tw_tf_node *n, const tw_tf_stored *stored);

/* --- evaluation: scope.c ----------------------------------------------------------------------- */

/* A tensor of the graph by "name" or "name:3". */
typedef struct tw_tf_feed {
    const char *tensor;
    tw_tf_item item;
} tw_tf_feed;

/* Import what the tensors, or nodes, named `wanted` need of the model's graph, with feeds in the place
 * of what computes them; out: what they are, one for each (TW_TF_NOTHING for a node without results). */
bool tw_tf_evaluate(tw_tf_import *import, const tw_tf_feed *feeds, int feed_count,
                    const char *const *wanted, int wanted_count, tw_tf_item *out);
/* Import a function's body in the node's place. */
bool tw_tf_call(tw_tf_node *n, const char *function, const tw_tf_item *in, int in_count,
                tw_tf_item **out, int *out_count);

/* --- variables: variables.c -------------------------------------------------------------------- */

/* The variable as it is now; null with a message. */
tw_value *tw_tf_variable_read(tw_tf_node *n, tw_tf_variable *variable);
/* Is one assigned that was taken for a constant? */
bool tw_tf_variables_changed(const tw_tf_import *import);
/* Forget what a graph made of the variables: another begins. */
void tw_tf_variables_reset(tw_tf_import *import);
/* Tell the graph what the variables are in the next run. */
bool tw_tf_variables_finish(tw_tf_import *import);

/* --- control flow that the data decide: bodies.c ----------------------------------------------- */

/* An If or While whose condition is computed while the network runs. */
bool tw_tf_make_if(tw_tf_node *n, tw_value *condition, const char *yes, const char *no);
bool tw_tf_make_while(tw_tf_node *n, const char *condition, const char *body);

/* Variables as a body sees them: forgotten when it begins, and as they were when it ends. Out: what stands
 * for them inside, and what they are at its end (null: not read; not assigned), by their index. */
typedef struct tw_tf_variables {
    int count;
    tw_value **initial, **state, **now, **taken;
} tw_tf_variables;
tw_tf_variables tw_tf_variables_save(const tw_tf_import *import);
void tw_tf_variables_begin(tw_tf_import *import);
void tw_tf_variables_restore(tw_tf_import *import, const tw_tf_variables *saved);
/* The input that stands for a variable in a body that has ended, made where it has none. */
tw_value *tw_tf_variable_inside(tw_graph *body, const tw_tf_variables *end, int index,
                                const tw_value *outer);
/* The variable is now a result of a node with bodies. */
void tw_tf_variable_becomes(tw_tf_variable *variable, tw_value *value);

/* --- shared by operators ----------------------------------------------------------------------- */

/* Where the channels are, by data_format. The tensor with them last; back again. */
bool tw_tf_channels_first(tw_tf_node *n, bool *first);
tw_value *tw_tf_to_last(tw_tf_node *n, tw_value *x, bool first);
tw_value *tw_tf_from_last(tw_tf_node *n, tw_value *x, bool first);

#endif
