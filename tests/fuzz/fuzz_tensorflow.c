/* Any bytes as a TensorFlow model, a SavedModel or a frozen graph, whatever they begin with. Nothing may crash,
 * a refusal must leave a message, and what is handed out must be a consistent graph. */
#include <stdlib.h>

#include "graph/graph.h"
#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const tw_import_options options;
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0}, broken = {0};
    tw_graph *graph =
        tw_import_tensorflow(arena, data, bytes, "/nonexistent/model", &options, &diag);
    if (graph ? !tw_graph_check(graph, &broken) : !*diag.message)
        abort();
    tw_arena_free(arena);
    return 0;
}
