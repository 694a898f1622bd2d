/* Normalisation: the driver of the passes. */
#include "normalize/normalize.h"

bool tw_normalize(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    return tw_graph_check(graph, diag);
}
