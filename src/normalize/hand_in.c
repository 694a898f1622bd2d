/* hand_in: an operand of a branch or loop that is a constant, and that a loop does not change, becomes a
 * constant of the bodies, so that their weights are weights to the passes behind. Exact. */
#include "normalize/pass.h"

/* The first operand that is only read: of If, what follows the condition; of While, what follows what it
 * carries. */
static int first_read(const tw_node *node)
{
    return tw_is(node, TW_OPCODE_branch) ? 1 : node->out_count;
}

static void take_input(tw_graph *body, int input, const tw_value *constant)
{
    tw_value *v = body->inputs[input];
    v->is_input = false;
    v->data = constant->data;
    body->input_count--;
    for (int i = input; i < body->input_count; i++)
        body->inputs[i] = body->inputs[i + 1];
}

static void take_operand(tw_node *node, int operand)
{
    const int before = tw_is(node, TW_OPCODE_branch) ? 1 : 0; /* operands that no body takes */
    for (int k = 0; k < node->op->bodies; k++)
        take_input(node->body[k], operand - before, node->in[operand]);
    node->in_count--;
    for (int i = operand; i < node->in_count; i++)
        node->in[i] = node->in[i + 1];
}

bool tw_pass_hand_in(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    for (int n = 0; n < graph->node_count; n++) {
        tw_node *node = graph->nodes[n];
        if (!node->op->bodies)
            continue;
        for (int i = first_read(node); i < node->in_count;)
            if (node->in[i]->data)
                take_operand(node, i);
            else
                i++;
    }
    return tw_graph_sweep(graph, diag);
}
