/* Any bytes as a PyTorch file: the archive, and the parts that a mutated archive hardly ever reaches, which
 * are tried by themselves: pickles and code, and, of what begins with '{', an exported program without
 * weights, around which an archive is made. Nothing may crash, a refusal must leave a message, and what is
 * handed out must be a consistent graph. */
#include <stdlib.h>

#include "graph/graph.h"
#include "import/import.h"
#include "import/pytorch/script.h"
#include "support/zip_writer.h"

static void try_file(tw_arena *arena, const uint8_t *data, size_t bytes)
{
    static const tw_offered_input offered[] = {{.name = "x", .rank = 2, .dim = {2, 4}}};
    static const tw_import_options options = {.offered = offered, .offered_count = 1};
    tw_diag diag = {0}, broken = {0};
    tw_graph *graph = tw_import_pytorch(arena, data, bytes, "/nonexistent/model", &options, &diag);
    if (graph ? !tw_graph_check(graph, &broken) : !*diag.message)
        abort();
}

static void try_program(tw_arena *arena, const uint8_t *data, size_t bytes)
{
    tw_test_zip zip;
    tw_test_zip_begin(&zip, arena);
    tw_test_zip_add(&zip, "serialized_exported_program.json", data, bytes, false);
    tw_test_zip_end(&zip);
    try_file(arena, zip.data, zip.bytes);
}

static void try_pickle(tw_arena *arena, const uint8_t *data, size_t bytes)
{
    tw_diag diag = {0};
    if (!tw_torch_unpickle(arena, data, bytes, "data.pkl", &diag) && !*diag.message)
        abort();
}

static void try_code(tw_arena *arena, const uint8_t *data, size_t bytes)
{
    tw_diag diag = {0};
    tw_map functions = {0};
    const char *text = tw_strndup(arena, (const char *)data, bytes);
    if (!tw_script_parse(arena, text, "m.py", "__torch__", &functions, &diag) && !*diag.message)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    tw_arena *arena = tw_arena_new();
    if (bytes > 0 && data[0] == '{') {
        try_program(arena, data, bytes);
    } else {
        try_file(arena, data, bytes);
        try_pickle(arena, data, bytes);
        try_code(arena, data, bytes);
    }
    tw_arena_free(arena);
    return 0;
}
