/* The Keras importer: what its files share. A layer is a row of keras.def and a function
 * tw_kr_op_NAME(node), which reads the layer's configuration and variables and sets its results.
 *
 * Two generations of files are read. Keras 3 (and 2.12 on, `.keras`) keeps variables in groups that
 * follow the objects' attributes; older ones (`.h5`) keep a list of them for each layer of the model.
 */
#ifndef TW_IMPORT_KERAS_KERAS_H
#define TW_IMPORT_KERAS_KERAS_H

#include <jansson.h>

#include "import/build.h"
#include "import/hdf5/hdf5.h"

typedef struct tw_kr_node tw_kr_node;

/* --- the ledger -------------------------------------------------------------------------------- */

typedef struct tw_kr_row {
    const char *name;      /* the class, as Keras spells it */
    const char *functions; /* of an operation: TensorFlow's names of it, space-separated */
    bool (*import)(tw_kr_node *node); /* null: refused by name */
    int kind;                         /* what the function does for this class of its family */
    const char *op;                   /* IR operator of this class, or what it becomes */
    const char *limits;               /* of a refused one: what to do instead */
} tw_kr_row;

#define TW_KERAS(Name, function, kind, op, limits) bool tw_kr_op_##function(tw_kr_node *node);
#define TW_KERAS_OPERATION(Name, functions, function, kind, op)                                    \
    bool tw_kr_op_##function(tw_kr_node *node);
#define TW_KERAS_REFUSED(Name, instead)
#define TW_KERAS_MASKED(Name, function) bool tw_kr_mask_##function(tw_kr_node *node);
#include "import/keras/keras.def"

/* The row of a layer's class, or of an operation. Null where it is not known. */
const tw_kr_row *tw_kr_find_layer(const char *class);
const tw_kr_row *tw_kr_find_operation(const char *class);
const tw_kr_row *tw_kr_find_function(const char *function); /* of TensorFlow: "math.add" */
/* Rows by position, layers first; false behind the last. */
bool tw_kr_row_at(int index, tw_kr_row *row);

/* --- the import in hand ------------------------------------------------------------------------ */

enum {
    TW_KR_MOST_DEPTH = 16,    /* models and wrappers inside each other */
    TW_KR_MOST_CALLS = 50000, /* of layers, all together */
    TW_KR_MOST_OUT = 16       /* results of a layer that is no model */
};

typedef struct tw_kr_import {
    tw_builder b;
    tw_arena *scratch;  /* as long as the import */
    tw_h5 *weights;     /* null: there are none, and variables are 0 */
    bool legacy;        /* variables in lists by layer */
    int version, minor; /* of Keras, the first two numbers */
    tw_map tensors;     /* path in the weights' file -> its constant */
    int calls, depth;
} tw_kr_import;

/* Where the variables of a layer are. */
typedef struct tw_kr_store {
    const char *path; /* the group */
    /* Legacy: the list, which a layer and the layers in it read in order. */
    const char *const *names;
    int count, next;
} tw_kr_store;

/* An argument of a call: the tensors in it, in order, or a plain value. */
typedef struct tw_kr_argument {
    const char *name; /* null: by position */
    const json_t *json;
    tw_value **value;
    tw_value **mask; /* of each tensor: which steps count; null: all */
    int count;
} tw_kr_argument;

typedef struct tw_kr_results {
    tw_value **value;
    tw_value **mask; /* as an argument's */
    int count;
    const char **name; /* of a model: the layers that make them */
} tw_kr_results;

struct tw_kr_node {
    tw_kr_import *import;
    tw_builder *b;
    const tw_kr_row *row;
    const char *name, *op; /* the layer's, and its class, for messages */
    const json_t *config;
    tw_kr_store *store;
    const tw_kr_argument *arguments;
    int argument_count;
    tw_value **in;    /* the tensors of the first argument */
    tw_value **masks; /* and which of their steps count: tw_kr_mask tells what a layer sees of it */
    int in_count;
    tw_value *out[TW_KR_MOST_OUT];
    tw_value *out_mask[TW_KR_MOST_OUT]; /* bool [batch, steps]; null: every step counts */
    int out_count;
};

#define TW_KR_FAIL(n, ...) tw_fail((n)->b->diag, TW_CODE_FAILED, (n)->name, (n)->op, __VA_ARGS__)
#define TW_KR_UNSUPPORTED(n, ...)                                                                  \
    tw_fail((n)->b->diag, TW_CODE_UNSUPPORTED, (n)->name, (n)->op, __VA_ARGS__)

/* A configuration alone, of this version of Keras: its layers' variables are 0 and of the shapes that
 * the layers ask for. For tests. */
tw_graph *tw_kr_import_config(tw_arena *arena, const char *text, size_t bytes, int version,
                              const tw_import_options *options, tw_diag *diag);

/* --- models: model.c, sequence.c, network.c ------------------------------------------------------ */

bool tw_kr_is_model(const char *class);
/* A model as a layer: `in` null for the outermost, which makes the graph's inputs. */
bool tw_kr_model(tw_kr_import *import, const json_t *layer, tw_kr_store *store,
                 const tw_kr_argument *in, tw_kr_results *results);
bool tw_kr_sequential(tw_kr_import *import, const json_t *layer, tw_kr_store *store,
                      const tw_kr_argument *in, tw_kr_results *results);
bool tw_kr_network(tw_kr_import *import, const json_t *layer, tw_kr_store *store,
                   const tw_kr_argument *in, tw_kr_results *results);

/* Call a layer. The store is rewound first, so that each call reads the same variables. */
bool tw_kr_call(tw_kr_import *import, const json_t *layer, const char *name, tw_kr_store *store,
                const tw_kr_argument *arguments, int argument_count, tw_kr_results *results);
/* A layer inside another, on one tensor, with the outer one's name; null with a message. mask: the
 * tensor's; becomes the result's. */
tw_value *tw_kr_inner(tw_kr_node *n, const json_t *layer, tw_kr_store *store, tw_value *x,
                      tw_value **mask);

/* Make an input of the graph. shape: with nulls where an axis is open. */
tw_value *tw_kr_input(tw_kr_import *import, const char *name, const json_t *shape,
                      const char *dtype);

/* The class, configuration and name of a layer's record; "" and null where they are not there. */
const char *tw_kr_class(const json_t *layer);
const json_t *tw_kr_config(const json_t *layer);
const char *tw_kr_name(const json_t *layer);
/* The layers of a model's record. */
const json_t *tw_kr_layers(const json_t *model);
const char *tw_kr_or_empty(const char *text);

/* --- the weights' file: weights.c ---------------------------------------------------------------- */

/* The text attribute of a group, in one piece or, where that is not there, in pieces NAME0, NAME1, ...
 * Null without a message where there is none; null with one where it is damaged. */
const char *tw_kr_text(tw_kr_import *import, const char *path, const char *attribute);
/* A list of texts, kept the same way. Count -1: not there, or damaged (with a message). */
int tw_kr_texts(tw_kr_import *import, const char *path, const char *attribute,
                const char *const **texts);
/* A dataset's type and extents: numbers of a type we have. False with a message. */
bool tw_kr_weight_shape(tw_kr_import *import, const char *path, tw_shape *shape);
/* Its elements, dense and little-endian, in the graph's arena. f16, bf16 and f64 come as f32 (`shape`
 * says so). Null with a message. */
const void *tw_kr_weights(tw_kr_import *import, const char *path, tw_shape *shape);

/* --- variables: store.c -------------------------------------------------------------------------- */

/* Of the outermost model. */
tw_kr_store *tw_kr_root(tw_kr_import *import);
/* Of each layer of a model, in order. Null with a message. */
tw_kr_store **tw_kr_stores(tw_kr_import *import, tw_kr_store *model, const json_t *layers);
/* Of each object in a list that a layer has; store: of the list. */
tw_kr_store **tw_kr_cells(tw_kr_import *import, tw_kr_store *store, const json_t *objects);
/* Of an object that a layer has under this attribute. */
tw_kr_store *tw_kr_child(tw_kr_import *import, tw_kr_store *store, const char *attribute);
/* Variable i of the layer; legacy: the next. dim: the extents, -1 where any is right. Null with a message. */
tw_value *tw_kr_variable(tw_kr_node *n, tw_kr_store *store, int i, const char *what, int rank,
                         const int64_t *dim);

/* --- configuration: config.c --------------------------------------------------------------------- */

/* Null where it is absent or null. */
const json_t *tw_kr_get(const tw_kr_node *n, const char *key);
bool tw_kr_flag(const tw_kr_node *n, const char *key, bool otherwise);
int64_t tw_kr_int(const tw_kr_node *n, const char *key, int64_t otherwise);
double tw_kr_real(const tw_kr_node *n, const char *key, double otherwise);
const char *tw_kr_word(const tw_kr_node *n, const char *key, const char *otherwise);
/* A number or a list of numbers, at most `most`: how many, or -1 with a message. One number stands for
 * `most` where `spread`. Absent: `otherwise` in each. */
int tw_kr_ints(tw_kr_node *n, const char *key, int most, bool spread, int64_t otherwise,
               int64_t *list);
/* Axes of x by `key`, counted from the end where negative, ascending and different: how many, or -1. */
int tw_kr_axes(tw_kr_node *n, const char *key, const tw_value *x, int64_t otherwise, int64_t *axes);
/* Axis of `rank` ones, 0..rank-1, or -1 with a message. */
int tw_kr_axis(tw_kr_node *n, const char *key, int rank, int64_t otherwise);
/* Does the configuration say channels_first? */
bool tw_kr_channels_first(tw_kr_node *n);

/* --- calls: node.c ------------------------------------------------------------------------------- */

/* An argument by its place or its name; null where it is not given. */
const tw_kr_argument *tw_kr_argument_of(const tw_kr_node *n, int place, const char *name);
/* Its one tensor; null where it is not given. */
tw_value *tw_kr_tensor(const tw_kr_node *n, int place, const char *name);
/* Its truth; false where it is not given. */
bool tw_kr_argument_flag(const tw_kr_node *n, int place, const char *name);
/* The input, of one of these ranks (most 0: least alone); null with a message. */
tw_value *tw_kr_in(tw_kr_node *n, int least, int most);
/* Append a result: false when it is null. */
bool tw_kr_set(tw_kr_node *n, tw_value *value);
/* Integers as f32. */
tw_value *tw_kr_real_value(tw_kr_node *n, tw_value *x);
/* A constant list of floats, rank 1. */
tw_value *tw_kr_list(tw_kr_node *n, int count, const double *values);
tw_value *tw_kr_scalar(tw_kr_node *n, double value);

/* What takes the place of a score that a mask leaves out. */
#define TW_KR_EXCLUDED (-1e9)

/* --- masks: mask.c ------------------------------------------------------------------------------- */

/* The mask of the layer's input i, as Keras hands it to the layer: given by the argument `mask`, at this
 * place, or what comes with the input. bool; null: every step counts. */
tw_value *tw_kr_mask(const tw_kr_node *n, int place, int i);
/* What comes with tensor `value` of an argument. */
tw_value *tw_kr_argument_mask(const tw_kr_argument *a, int i);
/* Sets the masks of the results, by the layer's class. */
bool tw_kr_set_masks(tw_kr_node *n);
/* The mask with an axis more at `axis`. */
tw_value *tw_kr_mask_axis(tw_kr_node *n, tw_value *mask, int axis);
/* x where the mask, which broadcasts to it, is true, else y. Null mask: x. */
tw_value *tw_kr_select(tw_kr_node *n, tw_value *mask, tw_value *x, tw_value *y);

/* --- shared by layers ---------------------------------------------------------------------------- */

/* activation.c: by the configuration's `key`; x itself where there is none. */
tw_value *tw_kr_activate(tw_kr_node *n, const char *key, tw_value *x);
tw_value *tw_kr_function(tw_kr_node *n, const char *name, tw_value *x);
/* The one IR operator that it becomes; null: none, or several. */
const char *tw_kr_function_operator(const char *name);
tw_value *tw_kr_softmax(tw_kr_node *n, tw_value *x, const char *op);
/* conv.c: the input of a layer of so many spatial axes, channels last; and its result from such an image,
 * activated. */
tw_value *tw_kr_image(tw_kr_node *n, int spatial);
bool tw_kr_set_image(tw_kr_node *n, tw_value *y);
/* A kernel [spatial.., in, out] as convolutions take it. */
tw_value *tw_kr_filters(tw_kr_node *n, tw_value *kernel, int spatial);
/* A convolution of an image, channels last, by the layer's kernel size, strides, dilation and padding; same: by
 * its kernel size alone, to a result as large as the image. */
tw_value *tw_kr_convolve(tw_kr_node *n, int spatial, tw_value *x, tw_value *filters, tw_value *bias,
                         bool same);
/* shape.c: a number or a list of numbers, as constants; where the value is neither: `otherwise`. */
tw_value *tw_kr_numbers(tw_kr_node *n, const char *key, const json_t *value, double otherwise);
/* dense.c: x times w [in.., out..] over x's last axes, as many as `contracted`. */
tw_value *tw_kr_product(tw_kr_node *n, tw_value *x, tw_value *w, int contracted, tw_value *bias);

#endif
