/* sink_views: an element-wise operator that alone reads a reshaped value works on the value as it was
 * and the Reshape follows. Activations then stand next to the layer that they belong to, and a
 * Flatten next to the fully connected layer whose weights can absorb a change of layout. Exact. */
#include "normalize/pass.h"

/* Reshape, then node: exchanged by exchanging what they produce. */
static void exchange(tw_graph *graph, tw_node *view, tw_node *node, int data)
{
    tw_value *x = view->in[0], *y = node->out[0], *viewed = view->out[0];
    tw_shape shape = x->shape;
    shape.dtype = y->shape.dtype;
    tw_value *fresh = tw_graph_value(graph, viewed->name, shape);
    fresh->quant = y->quant;
    fresh->index = 1;
    node->in[data] = x;
    tw_set_output(node, fresh);
    view->in[0] = fresh;
    tw_set_output(view, y);
    viewed->producer = NULL;
}

static bool can_exchange(const tw_node *view, const tw_node *node, int data)
{
    return tw_is(view, TW_OPCODE_reshape) && view->out[0]->index == 1 &&
           view->in[0]->quant.count <= 1 && node->out[0]->quant.count <= 1 &&
           (node->in_count < 2 || node->in[1 - data]->shape.rank <= view->in[0]->shape.rank);
}

bool tw_pass_sink_views(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    tw_count_reads(graph);
    /* In order: what a view has passed it stands behind of, and passes the next. */
    int count = graph->node_count;
    for (int n = 0; n < count; n++) {
        tw_node *node = graph->nodes[n];
        int data;
        while (tw_is_elementwise(node, &data) && node->in[data]->producer &&
               can_exchange(node->in[data]->producer, node, data))
            exchange(graph, node->in[data]->producer, node, data);
    }
    return tw_graph_sweep(graph, diag);
}
