/* Any bytes as a model file: import, check, normalise, plan. Nothing may crash, and a refusal must
 * leave a message. What format the bytes are in, they tell themselves. */
#include <stdlib.h>

#include "import/import.h"
#include "normalize/normalize.h"
#include "plan/schedule.h"
#include "plan/summed.h"

/* Folding takes time with the size of the constants, planning with the number of nodes; the fuzzer looks
 * for crashes. */
static bool is_small(const tw_graph *graph)
{
    int64_t elements = 0;
    for (int i = 0; i < graph->value_count; i++)
        elements += tw_shape_elements(&graph->values[i]->shape);
    return graph->node_count <= 32 && elements < 200000 && tw_graph_macs(graph) < 1000000;
}

static void must_explain(bool ok, const tw_diag *diag)
{
    if (!ok && !*diag->message)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_compile_options options;
    tw_schedule schedule;
    tw_compile_options_default(&options);
    tw_graph *graph = tw_import_bytes(arena, data, bytes, "/nonexistent/model", NULL, NULL, &diag);
    must_explain(graph, &diag);
    if (graph) {
        tw_diag broken = {0};
        if (!tw_graph_check(graph, &broken))
            abort(); /* an importer may not hand out an inconsistent graph */
        bool ok = !is_small(graph) || tw_normalize(graph, &options, &diag);
        must_explain(ok, &diag);
        if (ok && is_small(graph))
            must_explain(tw_plan_summed(graph, &options, &schedule, &diag), &diag);
    }
    tw_arena_free(arena);
    return 0;
}
