/* Any bytes as a Keras model. What begins with '{' is the configuration of a network without weights, so
 * that the reading of graphs and layers is reached at once; all else is a file: HDF5, or an archive. Nothing
 * may crash, a refusal must leave a message, and what is handed out must be a consistent graph. */
#include <stdlib.h>

#include "graph/graph.h"
#include "import/import.h"
#include "import/keras/keras.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const tw_import_options options;
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0}, broken = {0};
    tw_graph *graph =
        bytes > 0 && data[0] == '{'
            ? tw_kr_import_config(arena, (const char *)data, bytes, 3, &options, &diag)
            : tw_import_keras(arena, data, bytes, "/nonexistent/model", &options, &diag);
    if (graph ? !tw_graph_check(graph, &broken) : !*diag.message)
        abort();
    tw_arena_free(arena);
    return 0;
}
