/* fold: nodes whose operands are all constants are computed now, with the device kernels, and their
 * results become constants. Exact.
 *
 * A Dequantize of a constant stays, so that quantised weights keep their scales until fuse_qdq has
 * looked at them; a Transpose or Reshape of one is computed on the stored integers instead. The
 * stage fold_quantized runs after that and folds them too.
 *
 * A result may be at most RESULT_FACTOR times as large as the operands and RESULT_FREE bytes more, so
 * that a file of a few bytes cannot ask for gigabytes. */
#include <string.h>

#include "normalize/pass.h"

#define RESULT_FACTOR 4
#define RESULT_FREE (1 << 20)

static bool is_small_enough(const tw_node *node)
{
    int64_t in = 0, out = 0;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i])
            in += tw_shape_bytes(&node->in[i]->shape);
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i])
            out += tw_shape_bytes(&node->out[i]->shape);
    return out <= in * RESULT_FACTOR + RESULT_FREE;
}

static bool has_constant_operands(const tw_node *node)
{
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && !node->in[i]->data)
            return false;
    return node->op->kind != TW_HOST;
}

/* Compute the node in an arena of its own and keep the results only. False: it stays a node. */
static bool compute(tw_graph *graph, tw_node *node)
{
    tw_arena *scratch = tw_arena_new();
    tw_diag ignored = {0};
    bool ok = tw_evaluate(node, scratch, 0, &ignored);
    for (int i = 0; i < node->out_count; i++) {
        tw_value *out = node->out[i];
        if (!out)
            continue;
        if (!ok)
            out->data = NULL;
        else if (node->op->kind != TW_VIEW)
            out->data = tw_copy(graph->arena, out->data, tw_shape_bytes(&out->shape) + 1);
    }
    tw_arena_free(scratch);
    return ok;
}

static void fold_node(tw_graph *graph, tw_node *node)
{
    if (!is_small_enough(node) || !compute(graph, node))
        return;
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i])
            node->out[i]->producer = NULL;
    node->removed = true;
}

/* MOVE or VIEW of Dequantize of a constant: the same of the constant, then Dequantize. */
static bool fold_stored(tw_graph *graph, tw_node *node, tw_diag *diag)
{
    tw_node *dequantize = node->in[0]->producer;
    tw_value *stored = dequantize->in[0], *real = node->out[0];
    tw_quant quant;
    if (!tw_quant_through(node, &stored->quant, &quant) || !is_small_enough(node))
        return true;
    tw_node *move =
        tw_graph_node(graph, node->op, node->name, &stored, 1, 1, NULL, node->attributes, diag);
    if (!move)
        return false;
    tw_value *moved = move->out[0];
    moved->quant = quant;
    fold_node(graph, move);
    tw_node *after =
        tw_append(graph, TW_OPCODE_dequantize, dequantize->name, &moved, 1, NULL, diag);
    if (!after)
        return false;
    tw_set_output(after, real);
    node->removed = true;
    return true;
}

static bool moves_stored_constant(const tw_node *node)
{
    return (tw_is(node, TW_OPCODE_transpose) || node->op->kind == TW_VIEW) &&
           tw_is(node->in[0]->producer, TW_OPCODE_dequantize) && node->in[0]->producer->in[0]->data;
}

static bool fold(tw_graph *graph, bool quantized, tw_diag *diag)
{
    int count = graph->node_count; /* those appended meanwhile are done */
    for (int n = 0; n < count; n++) {
        tw_node *node = graph->nodes[n];
        bool stored = tw_is(node, TW_OPCODE_dequantize) && !quantized;
        if (has_constant_operands(node) && !stored)
            fold_node(graph, node);
        else if (!quantized && moves_stored_constant(node) && !fold_stored(graph, node, diag))
            return false;
    }
    return tw_graph_sweep(graph, diag);
}

bool tw_pass_fold(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    return fold(graph, false, diag);
}

bool tw_pass_fold_quantized(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    return fold(graph, true, diag);
}
