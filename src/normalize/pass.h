/* What the passes share. A pass is a function from a checked graph to a checked graph of the same
 * meaning; it keeps the name of the operator that does the work on the node that survives, and the
 * names of graph inputs and outputs on them. */
#ifndef TW_NORMALIZE_PASS_H
#define TW_NORMALIZE_PASS_H

#include "normalize/normalize.h"
#include "ops/ledger.h"

typedef bool tw_pass(tw_graph *graph, const tw_compile_options *options, tw_diag *diag);

#define TW_PASS(stage, function, meaning) tw_pass tw_pass_##function;
#include "normalize/passes.def"

/* ---- asking ---- */

static inline bool tw_is(const tw_node *node, int code)
{
    return node && node->op->code == code;
}

/* Families by their range of codes (ops.def). */
static inline bool tw_is_unary(const tw_node *node)
{
    return node && node->op->code >= 200 && node->op->code < 300;
}
static inline bool tw_is_binary(const tw_node *node)
{
    return node && node->op->code >= 300 && node->op->code < 400;
}
static inline bool tw_is_reduce(const tw_node *node)
{
    return node && node->op->code >= 400 && node->op->code < 450;
}
/* Normalize and its relatives (norm.def). */
static inline bool tw_is_norm(const tw_node *node)
{
    return node && node->op->code >= TW_OPCODE_normalize &&
           node->op->code <= TW_OPCODE_l2_normalize;
}

/* Cast, Quantize, Dequantize, Requantize. */
bool tw_is_conversion(const tw_node *node);

/* Conv, DepthwiseConv, ConvTranspose, FullyConnected: operands x, weights, optional bias. */
bool tw_is_weighted(const tw_node *node);
/* The axis of a weighted node's weights that counts output channels. */
int tw_weight_axis(const tw_node *node);

/* One input that matters, one output, element i from element i: unary operators, conversions between
 * types, binary operators whose other operand is a single constant element. *data: that input. */
bool tw_is_elementwise(const tw_node *node, int *data);

bool tw_has_clamp(const tw_node *node);

/* The constant that a value is, or that it is the Dequantize of; null otherwise. */
const tw_value *tw_constant_behind(const tw_value *value);

/* Are all elements of a float constant equal? *element: the first. */
bool tw_is_uniform(const tw_value *value, float *element);

/* An attribute of a node by its name; null when the operator has none of the name and kind. */
int32_t *tw_int_of(const tw_node *node, const char *name);
float *tw_float_of(const tw_node *node, const char *name);
tw_ints *tw_ints_of(const tw_node *node, const char *name);
/* Give an ENUM attribute the value that another node's attribute of that name has, by its word. Both
 * may lack it, and `to` may not know the word: then nothing changes. */
void tw_copy_word(tw_node *to, const tw_node *from, const char *name);
/* Element i of a list, or the default when the list is empty. */
static inline int32_t tw_item(const tw_ints *list, int i, int32_t initial)
{
    return list && i < list->count ? list->v[i] : initial;
}

/* Set value->index of every value to the number of its readers: operands of nodes, graph outputs and
 * states.
 * tw_remove and tw_forward keep it true; other changes of operands are for the pass to count. */
void tw_count_reads(tw_graph *graph);

/* The permutation of a Transpose: result axis i is axis perm[i]. */
void tw_perm_of(const tw_node *node, int32_t *perm);

/* ---- changing ---- */

/* Mark for the sweep; its operands are read once less. */
void tw_remove(tw_node *node);

/* Append a node with one output, attributes defaulted. Null with a message on failure. The node is
 * put in place by tw_graph_sweep, with which every pass ends. */
tw_node *tw_append(tw_graph *graph, int code, const char *name, tw_value *const *in, int in_count,
                   const void *attributes, tw_diag *diag);
tw_value *tw_append_reshape(tw_graph *graph, const char *name, tw_value *value,
                            const tw_shape *shape, tw_diag *diag);
/* perm: value->shape.rank entries; result axis i is axis perm[i]. */
tw_value *tw_append_transpose(tw_graph *graph, const char *name, tw_value *value,
                              const int32_t *perm, tw_diag *diag);

/* Make a node another operator, with that operator's default attributes. Outputs stay. */
void tw_become(tw_graph *graph, tw_node *node, int code);

/* Let `node` produce `value` in place of the output it has (which nothing may read any more). */
void tw_set_output(tw_node *node, tw_value *value);

/* Can the value take the place of a graph output, with its name? Not an input, a constant, a state
 * or what is an output already. */
bool tw_takes_name(const tw_value *value);

/* Mark `to` as what is read outside in place of `from`, and exchange their names. */
void tw_hand_over(tw_value *from, tw_value *to);

/* Every reader of `from` is to read `to` instead: graph outputs and states at once (an output keeps
 * its name), nodes when tw_follow or tw_finish comes to them. False, and nothing changed, when `from`
 * is a graph output and `to` cannot take its name. */
bool tw_forward(tw_graph *graph, tw_value *from, tw_value *to);

/* Bring the node's operands up to date. A pass that forwards does so before it looks at a node. */
void tw_follow(tw_node *node);

/* The end of a pass: tw_follow for every node, then tw_graph_sweep. */
bool tw_finish(tw_graph *graph, tw_diag *diag);

/* A constant of float elements in the graph's arena, named after `base`. */
tw_value *tw_float_constant(tw_graph *graph, const char *base, int rank, const int32_t *dim,
                            float **data);

/* The quantisation of a MOVE or VIEW node's result, given that of its input: axes renamed. False
 * where scales by channel do not survive. */
bool tw_quant_through(const tw_node *node, const tw_quant *in, tw_quant *out);

/* Do shapes that follow from attributes and inputs equal those of the outputs? For a change in
 * place that is taken back when the operator refuses it. */
bool tw_shape_holds(const tw_node *node);
/* And does a portable kernel take the node, its types, its scales? */
bool tw_has_kernel(const tw_node *node);

/* Does the permutation leave every byte of a tensor where it is? */
bool tw_moves_nothing(const tw_shape *shape, const int32_t *perm);

#endif
