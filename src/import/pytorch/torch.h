/* The PyTorch importer: what its files share. A program comes as TorchScript (code text: script.h) or as
 * an exported program (JSON: program.c); both call ATen operators. An operator is a row of pytorch.def and
 * a function tw_torch_op_NAME(call), which reads the arguments by the row's signature and gives a result.
 *
 * Types: floats of any width are computed in float32; integers and bool keep theirs. Axes stay in the
 * program's order; operators defined channels last stand between transposes.
 */
#ifndef TW_IMPORT_PYTORCH_TORCH_H
#define TW_IMPORT_PYTORCH_TORCH_H

#include "import/archive.h"
#include "import/build.h"
#include "import/pytorch/object.h"

enum { TW_TORCH_ARGUMENTS = 32 };

/* Where storages lie: members PREFIX + key of an archive, little-endian. */
typedef struct tw_torch_place {
    tw_archive *archive;
    const char *prefix;
    tw_map loaded; /* key -> bytes, see tensor.c */
} tw_torch_place;

/* An import in hand. */
typedef struct tw_torch {
    tw_builder b;
    tw_arena *scratch; /* as long as the import */
    tw_torch_place place;
    size_t made, most; /* bytes of constants so far, and how many there may be */
    int operators;     /* called so far */
    tw_map symbols;    /* names of extents -> int64_t */
    /* Inputs that turn out to be indices: TorchScript does not say the types of its inputs, so that the
     * import begins anew when it has found out. */
    const tw_value *is_index;
} tw_torch;

/* --- the ledger -------------------------------------------------------------------------------- */

typedef struct tw_torch_call tw_torch_call;

typedef struct tw_torch_row {
    const char *name;      /* of the operator, without namespace and overload */
    const char *signature; /* "Tensor self, int dim=0": call.c has the types */
    bool (*import)(tw_torch_call *call);
    bool view;           /* the result may share elements with the first argument */
    const char *becomes; /* IR operators, space-separated */
    const char *limits;  /* what is refused, for the docs; "" for nothing */
} tw_torch_row;

/* Every operator by position; null behind the last. */
const tw_torch_row *tw_torch_row_at(int index);

#define TW_ATEN(name, signature, function, view, becomes, limits)                                  \
    bool tw_torch_op_##function(tw_torch_call *call);
#include "import/pytorch/pytorch.def"

/* --- a call in hand ---------------------------------------------------------------------------- */

struct tw_torch_call {
    tw_torch *t;
    tw_builder *b;
    const tw_torch_row *row;
    const char *name;
    tw_torch_object *arg[TW_TORCH_ARGUMENTS]; /* as the signature has them; never null */
    int count;
    tw_torch_object *result;
};

#define TW_TORCH_FAIL(c, ...)                                                                      \
    tw_fail((c)->b->diag, TW_CODE_FAILED, (c)->b->node, (c)->name, __VA_ARGS__)
#define TW_TORCH_UNSUPPORTED(c, ...)                                                               \
    tw_fail((c)->b->diag, TW_CODE_UNSUPPORTED, (c)->b->node, (c)->name, __VA_ARGS__)

/* Arguments as a program gives them: by position, then by name. */
typedef struct tw_torch_given {
    tw_torch_object *const *position;
    int positions;
    const char *const *name; /* of the rest */
    tw_torch_object *const *named;
    int names;
    /* What every position is called, or null: where a signature has that name, it counts and not the place
     * (programs before schema 8 do not say which of the two was meant). */
    const char *const *called;
} tw_torch_given;

/* Call an operator ("relu", "add_"). Null with a message. */
tw_torch_object *tw_torch_operator(tw_torch *t, const char *name, const tw_torch_given *given);

/* --- arguments: call.c ------------------------------------------------------------------------- */

static inline bool tw_torch_has(const tw_torch_call *c, int i)
{
    return c->arg[i]->kind != TW_TORCH_NONE;
}
/* A tensor, or a number as one; null where the argument is None, or with a message. */
tw_value *tw_torch_in(tw_torch_call *c, int i);
/* A float tensor: integers are cast. */
tw_value *tw_torch_real_in(tw_torch_call *c, int i);
int64_t tw_torch_int(const tw_torch_call *c, int i);
double tw_torch_real(const tw_torch_call *c, int i);
bool tw_torch_flag(const tw_torch_call *c, int i);
const char *tw_torch_text(const tw_torch_call *c, int i); /* "" for None */
/* How many elements a list has (of a single number 1), and a list of exactly `count`, of which a single
 * number is `count` times that number. */
int tw_torch_length(const tw_torch_call *c, int i);
bool tw_torch_ints(tw_torch_call *c, int i, int count, int64_t *to);
/* An axis, counted from the end where negative, of `rank` axes. */
bool tw_torch_axis(tw_torch_call *c, int64_t axis, int rank, int *to);
/* The axis of x that argument i says; a number has none. */
bool tw_torch_axis_of(tw_torch_call *c, const tw_value *x, int i, int *axis);
/* Axes from argument i as flags; all where the list is None or empty. */
bool tw_torch_axes(tw_torch_call *c, int i, int rank, bool *flag);
/* A type argument's type in the graph, or `otherwise` where it is None. */
bool tw_torch_type(tw_torch_call *c, int i, tw_dtype otherwise, tw_dtype *to);

/* Two operands (tensors or numbers) in the type that PyTorch computes in; true_division: in floats. */
bool tw_torch_pair(tw_torch_call *c, int i, int j, bool true_division, tw_value *pair[2]);
/* The type of some operands together. */
tw_dtype tw_torch_common_type(tw_torch_call *c, const int *which, int count);
tw_value *tw_torch_in_as(tw_torch_call *c, int i, tw_dtype dtype);

/* Set the result; false where a value is null. */
bool tw_torch_give(tw_torch_call *c, tw_value *value);
bool tw_torch_give_int(tw_torch_call *c, int64_t number);
bool tw_torch_give_all(tw_torch_call *c, tw_value *const *values, int count);
/* A tuple of `count`, of which only the first is here: what training reads, and indices of pools. */
bool tw_torch_give_first(tw_torch_call *c, tw_value *value, int count);
bool tw_torch_give_list(tw_torch_call *c, tw_value *const *values, int count);

/* Indices must be integers: a float graph input that is asked for them is noted (tw_torch.is_index). */
tw_value *tw_torch_index_in(tw_torch_call *c, int i);

/* --- tensors: tensor.c ------------------------------------------------------------------------- */

/* The tensor's value in the graph; made of the file's bytes at first. Null with a message. */
tw_value *tw_torch_value(tw_torch *t, tw_torch_tensor *tensor);
/* Is the extent list one that a tensor may have? */
bool tw_torch_shape(tw_torch *t, tw_dtype dtype, int rank, const int64_t *dim, tw_shape *shape);

/* --- inputs and results: ends.c ---------------------------------------------------------------- */

/* What a program says of an input. */
typedef struct tw_torch_declared {
    const char *name;
    int position;
    tw_dtype dtype;
    int rank;                        /* -1: not said */
    int64_t dim[TW_MAX_RANK];        /* -1: open */
    const char *symbol[TW_MAX_RANK]; /* open axes of one symbol have one extent; null: none */
} tw_torch_declared;

/* The graph input; open extents are those that the options give. Null with a message. */
tw_value *tw_torch_input(tw_torch *t, const tw_torch_declared *declared);
/* Were all shapes and values that the options give asked for? */
bool tw_torch_inputs_used(tw_torch *t);
/* Every tensor in a result becomes an output. */
bool tw_torch_output(tw_torch *t, const tw_torch_object *result);

/* --- the two containers ------------------------------------------------------------------------ */

/* What a try at a script teaches the next one. */
enum { TW_TORCH_INPUTS = 64, TW_TORCH_CHANGES = 256 };
typedef struct tw_torch_lesson {
    bool index_inputs[TW_TORCH_INPUTS]; /* inputs that hold indices */
    int changes;
    struct {
        int64_t module; /* its number in the pickle */
        const char *name;
        tw_torch_kind kind; /* after a run */
        tw_shape shape;
        int64_t number;
        double real;
    } change[TW_TORCH_CHANGES]; /* attributes that runs change */
} tw_torch_lesson;
/* TorchScript: code below ROOT/code/. again: something was learnt, begin anew. */
bool tw_torch_script(tw_torch *t, const char *root, tw_torch_lesson *lesson, bool *again);
/* An exported program: the archive of torch 2.8 and later, with everything below `root`, and the files of
 * before. */
bool tw_torch_program(tw_torch *t, const char *root);

/* --- shared by operators ----------------------------------------------------------------------- */

tw_value *tw_torch_linear(tw_torch_call *c, tw_value *x, tw_value *w, tw_value *bias);
tw_value *tw_torch_product(tw_torch_call *c, tw_value *x, tw_value *y);
tw_value *tw_torch_with_axis(tw_torch_call *c, tw_value *x, int axis);
tw_value *tw_torch_without_axis(tw_torch_call *c, tw_value *x, int axis);
tw_value *tw_torch_scaled(tw_torch_call *c, tw_value *x, double factor);

#endif
