/* Any bytes as an ONNX model, by the importer alone, which is fast: nothing may crash, a refusal
 * leaves a message, an accepted model is a consistent graph. The same bytes as a tensor file too. */
#include <stdlib.h>

#include "import/onnx/onnx.h"
#include "import/onnx/tensor.h"

static void must_explain(bool ok, const tw_diag *diag)
{
    if (!ok && (diag->code == TW_CODE_OK || !*diag->message))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_tensor_data tensor;
    tw_graph *graph = tw_import_onnx(arena, data, bytes, "/nonexistent/model", NULL, &diag);
    must_explain(graph, &diag);
    diag = (tw_diag){0};
    if (graph && !tw_graph_check(graph, &diag))
        abort();
    diag = (tw_diag){0};
    must_explain(tw_onnx_tensor_parse(arena, data, bytes, &tensor, &diag), &diag);
    diag = (tw_diag){0};
    must_explain(tw_npy_parse(arena, data, bytes, &tensor, &diag), &diag);
    tw_arena_free(arena);
    return 0;
}
