/* The checker: everything graph.h promises, verified between any two passes. */
#include "graph/graph.h"

#include <math.h>
#include <string.h>

#include "ops/op.h"

static bool is_quantisable(tw_dtype dtype)
{
    return dtype == TW_S8 || dtype == TW_U8 || dtype == TW_S16 || dtype == TW_U16 ||
           dtype == TW_S32;
}

static bool check_value(const tw_value *v, tw_diag *diag)
{
    const tw_quant *q = &v->quant;
    if (!v->name || !*v->name)
        return tw_fail(diag, TW_CODE_FAILED, "", "", "a value has no name");
    if ((v->data != NULL) + (v->producer != NULL) + v->is_input + v->is_state != 1)
        return tw_fail(diag, TW_CODE_FAILED, v->name, "",
                       "a value must be exactly one of: input, constant, state, result of a node");
    if (q->count == 0)
        return true;
    if (!is_quantisable(v->shape.dtype))
        return tw_fail(diag, TW_CODE_FAILED, v->name, "", "%s values cannot carry a scale",
                       tw_dtype_name(v->shape.dtype));
    if (q->count > 1 &&
        (q->axis < 0 || q->axis >= v->shape.rank || q->count != v->shape.dim[q->axis]))
        return tw_fail(diag, TW_CODE_FAILED, v->name, "",
                       "%d scales do not match the extent of axis %d", q->count, q->axis);
    for (int i = 0; i < q->count; i++)
        if (!(q->scale[i] > 0) || !isfinite(q->scale[i]))
            return tw_fail(diag, TW_CODE_FAILED, v->name, "",
                           "scale %d is %g; scales must be positive and finite", i,
                           (double)q->scale[i]);
    return true;
}

static bool check_graph(const tw_graph *graph, int depth, tw_diag *diag);

/* Bodies are whole graphs, without states: those belong to the network. */
static bool check_bodies(const tw_node *node, int depth, tw_diag *diag)
{
    const tw_opdef *op = node->op;
    if (op->bodies && depth == TW_MAX_DEPTH)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, op->name,
                       "more than %d branches and loops inside each other", TW_MAX_DEPTH);
    for (int i = 0; i < op->bodies; i++) {
        if (node->body[i]->state_count)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, op->name,
                           "a branch or loop that keeps a state of its own is not supported; keep "
                           "the state outside and hand it in");
        if (!check_graph(node->body[i], depth + 1, diag))
            return false;
    }
    return true;
}

static bool check_node(const tw_node *node, tw_diag *diag)
{
    const tw_opdef *op = node->op;
    if (node->removed)
        return tw_fail(diag, TW_CODE_FAILED, node->name, op->name, "a removed node was not swept");
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && node->in[i]->producer && node->in[i]->producer->index >= node->index)
            return tw_fail(diag, TW_CODE_FAILED, node->name, op->name,
                           "input %d (%s) is produced after it is read", i, node->in[i]->name);
    tw_shape shapes[TW_MAX_NODE_OPERANDS] = {{TW_NO_DTYPE, 0, {0}}};
    tw_shape_call call = {op,        node->name,       node->in_count, node->out_count,
                          node->in,  node->attributes, shapes,         diag,
                          node->body};
    if (op->attribute_bytes && !tw_attributes_check(op, node->name, node->attributes, diag))
        return false;
    if (!(op->shape ? op->shape : tw_shape_default)(&call))
        return false;
    for (int i = 0; i < node->out_count; i++) {
        if (!node->out[i])
            continue;
        if (node->out[i]->producer != node)
            return tw_fail(diag, TW_CODE_FAILED, node->name, op->name,
                           "output %d (%s) does not name it as its producer", i,
                           node->out[i]->name);
        if (!tw_shape_equal(&shapes[i], &node->out[i]->shape)) {
            char want[96], have[96];
            tw_shape_text(&shapes[i], want, sizeof want);
            tw_shape_text(&node->out[i]->shape, have, sizeof have);
            return tw_fail(diag, TW_CODE_FAILED, node->name, op->name,
                           "output %d (%s) is %s where the operator gives %s", i,
                           node->out[i]->name, have, want);
        }
    }
    if (isnan(node->clamp.low) || isnan(node->clamp.high) || node->clamp.low > node->clamp.high)
        return tw_fail(diag, TW_CODE_FAILED, node->name, op->name, "clamp bounds are out of order");
    return true;
}

static bool check_state(const tw_state *state, tw_diag *diag)
{
    const tw_value *current = state->current, *next = state->next;
    if (!current->is_state || (next && !next->is_output))
        return tw_fail(diag, TW_CODE_FAILED, current->name, "", "a state is not marked as one");
    if (next && (!tw_shape_equal(&current->shape, &next->shape) ||
                 !tw_quant_equal(&current->quant, &next->quant)))
        return tw_fail(diag, TW_CODE_FAILED, current->name, "",
                       "the state and what it becomes (%s) differ in shape, type or scale",
                       next->name);
    return true;
}

static bool check_graph(const tw_graph *graph, int depth, tw_diag *diag)
{
    for (int i = 0; i < graph->value_count; i++)
        if (!check_value(graph->values[i], diag))
            return false;
    for (int n = 0; n < graph->node_count; n++)
        graph->nodes[n]->index = n;
    for (int n = 0; n < graph->node_count; n++)
        if (!check_node(graph->nodes[n], diag) || !check_bodies(graph->nodes[n], depth, diag))
            return false;
    for (int i = 0; i < graph->state_count; i++)
        if (!check_state(&graph->states[i], diag))
            return false;
    for (int i = 0; i < graph->output_count; i++)
        if (!graph->outputs[i]->is_output)
            return tw_fail(diag, TW_CODE_FAILED, graph->outputs[i]->name, "",
                           "an output is not marked as one");
    return true;
}

bool tw_graph_check(const tw_graph *graph, tw_diag *diag)
{
    return check_graph(graph, 0, diag);
}
