/* Nodes with bodies, see bodies.h. */
#include "import/bodies.h"

tw_outside tw_body_enter(tw_builder *b, tw_graph *body)
{
    const tw_outside outside = {b->graph, b->offered};
    b->graph = body;
    b->offered = (tw_map){NULL, 0, 0};
    return outside;
}

void tw_body_leave(tw_builder *b, const tw_outside *outside)
{
    b->graph = outside->graph;
    b->offered = outside->offered;
}

tw_value *tw_body_value(tw_graph *body, const tw_value *outer, bool carried, tw_value **input)
{
    tw_value *own;
    if (outer->data && !carried)
        own = tw_graph_constant(body, outer->name, outer->shape, outer->data);
    else
        own = *input = tw_graph_input(body, outer->name, outer->shape);
    own->quant = outer->quant;
    own->index = 1; /* read: it keeps its scale */
    return own;
}

bool tw_pair_add(tw_pair *p, tw_value *outer, tw_value *first, tw_value *second)
{
    if (p->operands == TW_MAX_NODE_OPERANDS)
        return tw_fail(p->b->diag, TW_CODE_UNSUPPORTED, p->b->node, p->op,
                       "more than %d tensors go into its bodies", TW_MAX_NODE_OPERANDS);
    outer->index = 1;
    p->input[0][p->operands] = first;
    p->input[1][p->operands] = second;
    p->operand[p->operands++] = outer;
    return true;
}

tw_node *tw_pair_finish(tw_pair *p, const char *op, const void *attributes)
{
    for (int k = 0; k < 2; k++) {
        tw_graph *body = p->graph[k];
        body->inputs = tw_copy(p->b->arena, p->input[k] + p->first,
                               sizeof(tw_value *) * (size_t)(p->operands - p->first));
        body->input_count = body->input_capacity = p->operands - p->first;
    }
    return tw_graph_control(p->b->graph, tw_op_by_name(op), p->b->node, p->operand, p->operands,
                            p->graph[1]->output_count, NULL, attributes, p->graph, p->b->diag);
}
