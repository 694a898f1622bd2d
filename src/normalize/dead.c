/* dead: nodes whose results nothing reads go, last first so that chains go at once; unused constants
 * go with the sweep. Exact. */
#include "normalize/pass.h"

static bool is_read(const tw_node *node)
{
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i] && node->out[i]->index > 0)
            return true;
    return false;
}

bool tw_pass_dead(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    tw_count_reads(graph);
    for (int n = graph->node_count - 1; n >= 0; n--) {
        tw_node *node = graph->nodes[n];
        if (!is_read(node)) {
            tw_remove(node);
            continue;
        }
        for (int i = 0; i < node->out_count; i++)
            if (node->out[i] && node->out[i]->index == 0 && i >= node->op->min_out)
                node->out[i] = NULL; /* an optional output nobody reads */
    }
    return tw_graph_sweep(graph, diag);
}
