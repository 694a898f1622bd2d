/* Graph outputs that no step computes: constants are copied into memory. */
#include "plan/outputs.h"

#include "base/diag.h"
#include "ops/op.h"

static const tw_value *root_of(const tw_value *v)
{
    while (v->producer && v->producer->op->kind == TW_VIEW)
        v = v->producer->in[0];
    return v;
}

bool tw_own_outputs(tw_graph *graph, tw_diag *diag)
{
    for (int i = 0; i < graph->output_count; i++) {
        tw_value *out = graph->outputs[i];
        if (!root_of(out)->data)
            continue;
        tw_node *copy = tw_graph_node(graph, tw_op_by_name("Copy"), out->name, &out, 1, 1, NULL,
                                      NULL, diag);
        if (!copy)
            return false;
        const char *name = out->name;
        out->name = copy->out[0]->name;
        copy->out[0]->name = name; /* the output keeps its name */
        copy->out[0]->quant = out->quant;
        copy->out[0]->is_output = true;
        graph->outputs[i] = copy->out[0];
        out->is_output = false;
        for (int k = i + 1; k < graph->output_count; k++)
            if (graph->outputs[k] == out)
                graph->outputs[k] = copy->out[0];
    }
    return true;
}
