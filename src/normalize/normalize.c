/* The driver: the stages of passes.def in order, with the checker after each. */
#include "normalize/normalize.h"

#include "normalize/pass.h"

const char *const tw_pass_stages[] = {
#define TW_PASS(stage, function, meaning) #stage,
#include "normalize/passes.def"
};
const int tw_pass_stage_count = (int)(sizeof tw_pass_stages / sizeof *tw_pass_stages);

static tw_pass *const passes[] = {
#define TW_PASS(stage, function, meaning) tw_pass_##function,
#include "normalize/passes.def"
};

/* The stage, on the graph and then on the bodies in it, whose inputs and outputs keep their axes. */
static bool run_stage(tw_pass *pass, tw_graph *graph, const tw_compile_options *options,
                      tw_diag *diag)
{
    tw_compile_options inside = *options;
    inside.io_layout = TW_IO_KEEP;
    if (!pass(graph, options, diag))
        return false;
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n]->op->bodies; i++)
            if (!run_stage(pass, graph->nodes[n]->body[i], &inside, diag))
                return false;
    return true;
}

bool tw_normalize(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    if (!tw_graph_check(graph, diag))
        return false;
    for (int i = 0; i < tw_pass_stage_count; i++) {
        if (options->progress)
            options->progress(options->progress_user, tw_pass_stages[i],
                              (double)i / tw_pass_stage_count);
        if (!run_stage(passes[i], graph, options, diag) || !tw_graph_check(graph, diag))
            return false;
        if (options->dump)
            options->dump(options->dump_user, tw_pass_stages[i], graph);
    }
    return true;
}
