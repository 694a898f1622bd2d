/* fold: nodes whose operands are all constants are computed now, with the device kernels, and their
 * results become constants. Exact.
 *
 * A Dequantize of a constant stays, so that quantised weights keep their scales until fuse_qdq has
 * looked at them; a Transpose or Reshape of one is computed on the stored integers instead. The
 * stage fold_quantized runs after that and folds them too.
 *
 * A result may be at most RESULT_FACTOR times as large as the operands and RESULT_FREE bytes more, and
 * all results together TOTAL_FACTOR times as large as the graph's constants and TOTAL_FREE bytes more,
 * so that a file of a few bytes cannot ask for gigabytes. What costs more than WORK operations, all
 * together, is left for the network's own run. */
#include <string.h>

#include "normalize/pass.h"

#define RESULT_FACTOR 4
#define RESULT_FREE (1 << 20)
#define TOTAL_FACTOR 16
#define TOTAL_FREE (64 << 20)
#define WORK (UINT64_C(1) << 32)

/* Before the first fold: what may be spent on this graph. */
static void begin_folding(tw_graph *graph)
{
    if (graph->folding.begun)
        return;
    graph->folding.begun = true;
    graph->folding.bytes = TOTAL_FREE;
    graph->folding.work = WORK;
    for (int i = 0; i < graph->value_count; i++)
        if (graph->values[i]->data)
            graph->folding.bytes +=
                TOTAL_FACTOR * (uint64_t)tw_shape_bytes(&graph->values[i]->shape);
}

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

/* Take what the node costs from what is left; false where that is not enough. */
static bool afford(tw_graph *graph, const tw_node *node)
{
    uint64_t work = node->op->macs ? node->op->macs(node) : 0, bytes = 0;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i])
            work += (uint64_t)tw_shape_elements(&node->in[i]->shape);
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i])
            bytes += tw_shape_bytes(&node->out[i]->shape);
    work += bytes;
    if (work > graph->folding.work || bytes > graph->folding.bytes)
        return false;
    graph->folding.work -= work;
    graph->folding.bytes -= bytes;
    return true;
}

static void fold_node(tw_graph *graph, tw_node *node)
{
    if (!is_small_enough(node) || !afford(graph, node) || !compute(graph, node))
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
    begin_folding(graph);
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
