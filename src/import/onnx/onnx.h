/* The ONNX importer: what its files share. An operator is a row of onnx.def and a function
 * tw_onnx_op_NAME(node), which reads the node's inputs and attributes by the rules of the model's
 * opset and binds its outputs; operators of the IR's families need no row.
 */
#ifndef TW_IMPORT_ONNX_H
#define TW_IMPORT_ONNX_H

#include "import/build.h"
#include "import/tensor_file.h"
#include "onnx.pb-c.h"

#define TW_ONNX_OPSET 28 /* the newest opset of the standard operators whose rules are known */

typedef struct tw_onnx tw_onnx; /* an import in progress: model.h */
typedef struct tw_onnx_node tw_onnx_node;
typedef struct tw_onnx_narrow tw_onnx_narrow; /* an element type of few bits: tensor.h */

/* --- the ledger -------------------------------------------------------------------------------- */

typedef struct tw_onnx_row {
    const char *domain; /* "" for the standard operators */
    char name[48];
    bool (*import)(tw_onnx_node *node);
    int least_in, most_in, most_out;
    int keeps;           /* PLAIN, or what it takes as it is */
    const char *becomes; /* IR operators, space-separated */
    const char *limits;  /* what is refused, for the docs; "" for nothing */
} tw_onnx_row;

/* Every operator that is imported: the rows of onnx.def, then the families' names. False behind the
 * last. */
bool tw_onnx_row_at(int index, tw_onnx_row *row);
/* Every name of the standard, by position; null behind the last. */
const char *tw_onnx_standard_name(int index);

/* What operators take as it is: quantised integers, which others see as plain ones; floats of 16
 * bits, which others see as f32; floats of few bits, which no other takes. Moves take all. */
enum {
    PLAIN = 0,
    KEEPS = 1,
    HALVES = 2,
    CODES = 4,
    MOVES = KEEPS | HALVES | CODES,
    LISTS = 8 /* sequences and optionals, too */
};
#define TW_ONNX(domain, Name, function, least_in, most_in, most_out, keeps, becomes, limits)       \
    bool tw_onnx_op_##function(tw_onnx_node *node);
#include "import/onnx/onnx.def"

bool tw_onnx_op_family(tw_onnx_node *node);

/* Operators whose domain is a published vocabulary: foreign.c. */
extern const tw_onnx_row tw_onnx_foreign_row;

/* --- a node in hand ---------------------------------------------------------------------------- */

/* An attribute as the node has it, or as a function's call gives it. */
typedef struct tw_onnx_attribute_slot {
    const char *name;
    const Tw__Onnx__Attribute *value;
    bool read; /* somebody has looked at it */
} tw_onnx_attribute_slot;

struct tw_onnx_node {
    tw_onnx *onnx;
    tw_builder *b;
    const Tw__Onnx__Node *proto;
    const tw_onnx_row *row; /* null: a function of the model */
    const char *op;         /* as the model spells it */
    int64_t opset;          /* of the operator's domain */
    tw_value **in;          /* null: absent */
    int in_count;
    tw_value **out; /* to be bound */
    int out_count;
    tw_onnx_attribute_slot *attributes;
    int attribute_count;
};

#define TW_ONNX_FAIL(n, ...)                                                                       \
    tw_fail((n)->b->diag, TW_CODE_FAILED, (n)->b->node, (n)->op, __VA_ARGS__)
#define TW_ONNX_UNSUPPORTED(n, ...)                                                                \
    tw_fail((n)->b->diag, TW_CODE_UNSUPPORTED, (n)->b->node, (n)->op, __VA_ARGS__)

/* Bind output i; false when the value is null. Fits the end of a function. */
bool tw_onnx_bind(tw_onnx_node *n, int i, tw_value *value);

/* Is output i named, so that something may read it? */
bool tw_onnx_wants(const tw_onnx_node *n, int i);

/* --- inputs ------------------------------------------------------------------------------------ */

tw_value *tw_onnx_in(const tw_onnx_node *n, int i);   /* null when absent */
tw_value *tw_onnx_need(const tw_onnx_node *n, int i); /* null with a message when absent */

typedef struct tw_onnx_list {
    int count; /* -1: absent */
    const int64_t *v;
} tw_onnx_list;

/* Input i as a list of integers (rank 0 or 1) that must be known now; count -1 when absent.
 * what: what it fixes, for the message. */
bool tw_onnx_list_in(tw_onnx_node *n, int i, const char *what, tw_onnx_list *list);

/* An axis, counted from the end where negative, of `rank` axes. */
bool tw_onnx_axis(tw_onnx_node *n, int64_t axis, int rank, int *out);
/* A set of axes, each at most once, as a flag for each of `rank` axes. */
bool tw_onnx_axes(tw_onnx_node *n, const tw_onnx_list *axes, int rank, bool *flag);

/* --- attributes -------------------------------------------------------------------------------- */

/* Reading an attribute marks it as known; what nobody reads is refused by name. One of the wrong
 * kind leaves a message and gives the fallback. */
bool tw_onnx_has(tw_onnx_node *n, const char *name);
int64_t tw_onnx_int(tw_onnx_node *n, const char *name, int64_t fallback);
float tw_onnx_float(tw_onnx_node *n, const char *name, float fallback);
const char *tw_onnx_text(tw_onnx_node *n, const char *name, const char *fallback);
tw_onnx_list tw_onnx_ints(tw_onnx_node *n, const char *name);
const Tw__Onnx__Attribute *tw_onnx_attribute(tw_onnx_node *n, const char *name);
/* Which of its fields counts; files of the first IR version do not say it. */
enum {
    TW_ONNX_FLOAT = 1,
    TW_ONNX_INT = 2,
    TW_ONNX_STRING = 3,
    TW_ONNX_TENSOR = 4,
    TW_ONNX_FLOATS = 6,
    TW_ONNX_INTS = 7,
    TW_ONNX_STRINGS = 8
};
int tw_onnx_attribute_kind(const Tw__Onnx__Attribute *a);
/* Behind the message that refuses the node: those of its attributes that the message does not name. */
void tw_onnx_name_attributes(const tw_onnx_node *n);
/* Does the operator have the attribute in the node's opset? versions.c. */
bool tw_onnx_knows(const tw_onnx_node *n, const char *attribute);
/* Is the text one of the words, which stand between spaces? A message where it is not. */
bool tw_onnx_word(tw_onnx_node *n, const char *name, const char *value, const char *words);
/* The attribute has no influence on the result. */
void tw_onnx_ignore(tw_onnx_node *n, const char *name);
/* The elements of a tensor attribute; null fails too. */
bool tw_onnx_tensor_of(tw_onnx_node *n, const Tw__Onnx__Tensor *tensor, tw_tensor_data *data);

/* --- element types: types.c -------------------------------------------------------------------- */

/* A tensor of few bits an element stands in bytes here; which type it is is remembered. null: none. */
void tw_onnx_note_type(tw_onnx *o, tw_value *value, const tw_onnx_narrow *type);
const tw_onnx_narrow *tw_onnx_narrow_of(const tw_onnx *o, const tw_value *value);
/* Codes of a float type of few bits as f32; integers stay as they are. */
tw_value *tw_onnx_decoded(tw_onnx_node *n, tw_value *x, const tw_onnx_narrow *type);
/* Numbers as the type has them: integers wrap, of floats see ToSmallFloat. */
tw_value *tw_onnx_encoded(tw_onnx_node *n, tw_value *x, const tw_onnx_narrow *type, bool saturate,
                          const char *power);
/* Floats of 16 bits as f32, which everything computes with. Others stay as they are. */
tw_value *tw_onnx_widened(tw_onnx *o, tw_value *x);
bool tw_onnx_is_widened(tw_dtype dtype);

/* Result i has as many rows along `axis` as the data decides, at most `most`. The extent that it has here: as
 * the model's output is declared, or `most`. False, said, where it is not an output of the model, or where
 * something else reads it. counted.c */
bool tw_onnx_open_extent(tw_onnx_node *n, int i, int axis, int64_t most, int64_t *extent);
/* How many there are (s64, one element), also of those behind the extent: output NAME.count. */
bool tw_onnx_count(tw_onnx_node *n, int i, tw_value *count);

/* A sequence: known while importing, one tensor after the other. count -1: an optional of nothing (one of
 * something is the thing itself). */
typedef struct tw_onnx_sequence {
    int count;
    tw_value **v;
} tw_onnx_sequence;

/* A value that stands for a sequence of these (copied), and holds nothing itself: sequences.c */
tw_value *tw_onnx_make_sequence(tw_onnx *o, tw_value *const *v, int count);
/* Null for a tensor. */
const tw_onnx_sequence *tw_onnx_sequence_of(const tw_onnx *o, const tw_value *value);

/* Import the nodes of an attribute's graph here, its inputs being `in`; out: its outputs. */
bool tw_onnx_graph_here(tw_onnx_node *n, const Tw__Onnx__Graph *graph, tw_value *const *in,
                        int in_count, tw_value **out, int out_count);

/* --- parts that operators share ---------------------------------------------------------------- */

/* Integers that a float holds, and booleans, as floats, and back: rounded, halves to even, and limited to
 * the type. Others stay as they are. */
tw_value *tw_onnx_as_float(tw_onnx_node *n, tw_value *x);
tw_value *tw_onnx_from_float(tw_onnx_node *n, tw_value *y, tw_dtype dtype);

/* A sliding window over the spatial axes of [N, C, spatial..]. */
typedef struct tw_onnx_window {
    int spatial;
    int64_t kernel[TW_MAX_RANK], stride[TW_MAX_RANK], dilation[TW_MAX_RANK];
    int64_t begin[TW_MAX_RANK], end[TW_MAX_RANK]; /* pads */
    bool valid;                                   /* auto_pad VALID */
} tw_onnx_window;

/* A list of one number a spatial axis, or `fallback` for all where it is absent. */
bool tw_onnx_read_list(tw_onnx_node *n, const char *name, int count, int64_t least,
                       int64_t fallback, int64_t *out);

/* Read kernel_shape, strides and dilations; tw_onnx_read_window: also pads and auto_pad. kernel: extents by the weights, which
 * kernel_shape must equal; null: kernel_shape is required. */
bool tw_onnx_read_steps(tw_onnx_node *n, const tw_shape *x, const int64_t *kernel,
                        tw_onnx_window *w);
bool tw_onnx_read_window(tw_onnx_node *n, const tw_shape *x, const int64_t *kernel,
                         tw_onnx_window *w);

/* The results of Conv, AveragePool, MatMul and global pooling for operands that are not the node's
 * own: what quantised operators are made of. */
tw_value *tw_onnx_conv(tw_onnx_node *n, tw_value *x, tw_value *w, tw_value *bias);
tw_value *tw_onnx_average_pool(tw_onnx_node *n, tw_value *x);
tw_value *tw_onnx_max_pool(tw_onnx_node *n, tw_value *x);
tw_value *tw_onnx_matmul(tw_onnx_node *n, tw_value *a, tw_value *b);
tw_value *tw_onnx_gemm(tw_onnx_node *n, tw_value *a, tw_value *b, tw_value *c);
tw_value *tw_onnx_global_pool(tw_onnx_node *n, tw_value *x, const char *reduce);

/* Softmax over one axis, or over the axes from it on as opsets before 13 have it. */
tw_value *tw_onnx_softmax(tw_onnx_node *n, tw_value *x);

#endif
