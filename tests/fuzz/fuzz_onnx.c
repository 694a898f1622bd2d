/* Any bytes as an ONNX model, by the importer alone, which is fast: nothing may crash, a refusal
 * leaves a message, an accepted model is a consistent graph. The model stands in a folder of its own,
 * where a file w.bin is, so that tensors in other files are read too. The same bytes as a tensor file. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "import/onnx/onnx.h"
#include "import/onnx/tensor.h"

static char folder[] = "/tmp/tilewright-fuzz-XXXXXX";
static char model[64], weights[64];

static void remove_folder(void)
{
    unlink(weights);
    rmdir(folder);
}

/* Once a process. */
static void make_folder(void)
{
    if (model[0])
        return;
    if (!mkdtemp(folder))
        abort();
    snprintf(model, sizeof model, "%s/model", folder);
    snprintf(weights, sizeof weights, "%s/w.bin", folder);
    FILE *f = fopen(weights, "wb");
    for (int i = 0; f && i < 4096; i++)
        fputc(i % 251, f);
    if (!f || fclose(f) != 0 || atexit(remove_folder) != 0)
        abort();
}

static void must_explain(bool ok, const tw_diag *diag)
{
    if (!ok && (diag->code == TW_CODE_OK || !*diag->message))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    make_folder();
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_tensor_data tensor;
    tw_graph *graph = tw_import_onnx(arena, data, bytes, model, NULL, &diag);
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
