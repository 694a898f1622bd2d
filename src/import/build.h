/* What importers build graphs with: nodes by operator and attribute name, folded at once where that
 * fixes shapes, and the compositions that every format needs.
 *
 * A null value stands for an earlier failure or an absent operand: builders given one where an
 * operand is required return null, so that a chain of calls needs one check, at its end.
 */
#ifndef TW_IMPORT_BUILD_H
#define TW_IMPORT_BUILD_H

#include "base/map.h"
#include "import/import.h"
#include "ops/op.h"

/* Constants that an importer makes itself (a filled tensor, a range) stay below this, so that a
 * small file cannot ask for gigabytes. */
#define TW_BUILD_LIMIT (64 << 20)
/* Operations that computing constants may take while a file is imported. */
#define TW_BUILD_WORK (UINT64_C(1) << 29)

typedef struct tw_builder {
    tw_arena *arena;
    tw_graph *graph;
    const tw_import_options *options;
    tw_map offered;   /* graph input's name -> tw_offered_input */
    tw_map shared;    /* what nodes leave for later ones of the same layer or cache, by its name */
    const char *node; /* the foreign node in hand: names and messages are after it */
    int search;       /* number of the latest search through producers, left in node->index */
    int take;         /* which offered inputs that search may take */
    uint64_t work;    /* spent on constants so far */
    tw_diag *diag;
} tw_builder;

void tw_builder_init(tw_builder *b, tw_graph *graph, const tw_import_options *options,
                     tw_diag *diag);

/* --- nodes ------------------------------------------------------------------------------------- */

/* An attribute by name. `ints` are checked against the 32 bits they are stored in. */
typedef struct tw_setting {
    const char *name;
    enum { TW_SET_INT, TW_SET_INTS, TW_SET_FLOAT, TW_SET_FLOATS, TW_SET_WORD } kind;
    int64_t number; /* TW_SET_INT: the value; TW_SET_INTS, TW_SET_FLOATS: how many */
    const int64_t *ints;
    const float *reals;
    float real;
    const char *word; /* of an ENUM */
} tw_setting;

static inline tw_setting tw_set_int(const char *name, int64_t value)
{
    return (tw_setting){.name = name, .kind = TW_SET_INT, .number = value};
}
static inline tw_setting tw_set_ints(const char *name, int count, const int64_t *values)
{
    return (tw_setting){.name = name, .kind = TW_SET_INTS, .number = count, .ints = values};
}
static inline tw_setting tw_set_float(const char *name, float value)
{
    return (tw_setting){.name = name, .kind = TW_SET_FLOAT, .real = value};
}
static inline tw_setting tw_set_floats(const char *name, int count, const float *values)
{
    return (tw_setting){.name = name, .kind = TW_SET_FLOATS, .number = count, .reals = values};
}
static inline tw_setting tw_set_word(const char *name, const char *word)
{
    return (tw_setting){.name = name, .kind = TW_SET_WORD, .word = word};
}
#define TW_SETTINGS(...) ((const tw_setting[]){__VA_ARGS__, {.name = NULL}})

/* Append a node with one output and return that; attributes not named have their defaults, settings
 * may be null. Small integer results of constants are computed at once (the node is gone then). */
tw_value *tw_build(tw_builder *b, const char *op, tw_value *const *in, int in_count,
                   const tw_setting *settings);
tw_value *tw_build1(tw_builder *b, const char *op, tw_value *x, const tw_setting *settings);
tw_value *tw_build2(tw_builder *b, const char *op, tw_value *x, tw_value *y,
                    const tw_setting *settings);

/* The node itself, with one output, for callers that give the result scales or bounds: never folded
 * here. Null with a message on failure. */
tw_node *tw_build_node(tw_builder *b, const char *op, tw_value *const *in, int in_count,
                       const tw_setting *settings);

/* Is the operator in this build's ledger? */
bool tw_build_has(const char *op);

/* --- constants --------------------------------------------------------------------------------- */

/* The value as a constant: it is one, or it is computed from constants, or offered inputs make it
 * one (they are taken, and stop being inputs). False otherwise, without a message. */
bool tw_build_constant(tw_builder *b, tw_value *value);
/* The same without taking offered inputs: for data that may as well stay open until run time. */
bool tw_build_known(tw_builder *b, tw_value *value);
/* The same taking only offers that are the same in every run. */
bool tw_build_fixed(tw_builder *b, tw_value *value);

/* Is it computed from constants alone, through operators that only rearrange or rescale? Weights
 * are; tw_build_constant would say yes too, but would also compute it. */
bool tw_build_is_weight(const tw_value *value);

tw_value *tw_build_scalar(tw_builder *b, tw_dtype dtype, double value); /* rank 0 */
/* Every element `value` (exact in the type). Null with a message above TW_BUILD_LIMIT. */
tw_value *tw_build_full(tw_builder *b, tw_shape shape, double value);
tw_value *tw_build_list(tw_builder *b, int count, const int64_t *values); /* s64, rank 1 */
tw_value *tw_build_data(tw_builder *b, tw_shape shape, const void *data);

/* One element of an integer constant. */
int64_t tw_build_int_at(const tw_value *constant, int64_t i);

/* --- compositions ------------------------------------------------------------------------------ */

tw_value *tw_build_transpose(tw_builder *b, tw_value *x, int rank, const int64_t *perm);
tw_value *tw_build_reshape(tw_builder *b, tw_value *x, int rank, const int64_t *dim);
/* Axis 1 to the end, and back: [N, C, spatial..] to [N, spatial.., C]. */
tw_value *tw_build_channels_last(tw_builder *b, tw_value *x);
tw_value *tw_build_channels_first(tw_builder *b, tw_value *x);
/* The value itself when it has the type already. */
tw_value *tw_build_cast(tw_builder *b, tw_value *x, tw_dtype dtype);
/* Any number of parts, as a tree where an operator takes fewer. */
tw_value *tw_build_concat(tw_builder *b, tw_value *const *parts, int count, int axis);
/* Elements begin, begin + step, ... of one axis. */
tw_value *tw_build_slice(tw_builder *b, tw_value *x, int axis, int64_t begin, int64_t size,
                         int64_t step);
/* Bounds of a slice of an axis, counted from the end where negative and clamped to the extent: what
 * they take. step: not 0. */
typedef struct tw_range {
    int64_t begin, size, step;
} tw_range;
tw_range tw_range_of(int64_t extent, int64_t start, int64_t end, int64_t step);
/* A range of every axis. */
tw_value *tw_build_ranges(tw_builder *b, tw_value *x, const tw_range *ranges);
/* Fold a binary operator over the values, from the left. */
tw_value *tw_build_chain(tw_builder *b, const char *op, tw_value *const *in, int in_count);
/* Broadcast to a shape that the value broadcasts to. */
tw_value *tw_build_expand(tw_builder *b, tw_value *x, const tw_shape *shape);
/* Constants: 0, 1, ... on one axis of `rank`, the others of extent 1 (f32 or integers); true where
 * low <= column - row <= high. */
tw_value *tw_build_iota(tw_builder *b, tw_dtype dtype, int rank, int axis, int32_t count);
tw_value *tw_build_band(tw_builder *b, int32_t rows, int32_t columns, int64_t low, int64_t high);
/* start, start + step, ... below the limit: bounds[0], [2] and [1], one constant of one type each. */
tw_value *tw_build_range(tw_builder *b, const char *op, tw_value *const *bounds);
/* True where the place along a new axis of `depth` is what `indices` (integers) say. */
tw_value *tw_build_hot(tw_builder *b, const char *op, tw_value *indices, int axis, int64_t depth);
/* The places of a constant's elements that are not zero, as s64: a row or a column for each. */
tw_value *tw_build_places(tw_builder *b, const tw_value *x, bool by_row);
tw_value *tw_build_gather(tw_builder *b, tw_value *x, tw_value *indices, int axis, int batch);

/* The same elements under another quantisation (count 0: none). */
tw_value *tw_build_with_quant(tw_builder *b, tw_value *x, tw_quant quant);
/* f32 to integers: out = saturate(round(x / scale) + zero_point), halves by the word `rounding` of
 * Quantize. */
tw_value *tw_build_quantize(tw_builder *b, tw_value *x, tw_dtype dtype, tw_quant quant,
                            const char *rounding);

/* A weight rearranged: a transpose, then (dim not null) a reshape to `rank` extents that keeps the
 * quantised axis last or whole. Where the weight is a Dequantize of a constant, the constant is
 * rearranged below it, so that quantised weights stay recognisable. */
tw_value *tw_build_weight(tw_builder *b, tw_value *w, const int64_t *perm, int rank,
                          const int64_t *dim);

#endif
