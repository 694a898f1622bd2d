/* The text IR as one of the model formats. */
#include "import/import.h"
#include "import/text/text.h"

bool tw_recognise_text(const void *data, size_t bytes)
{
    return tw_text_recognise(data, bytes);
}

/* Shapes are all in the text: only inputs that never change are for options to fix. */
tw_graph *tw_import_text(tw_arena *arena, const void *data, size_t bytes, const char *path,
                         const tw_import_options *options, tw_diag *diag)
{
    if (bytes > INT32_MAX) {
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                "the text has %zu bytes; keep weights in .npy files beside it", bytes);
        return NULL;
    }
    tw_graph *graph = tw_text_parse(arena, data, bytes, path, diag);
    for (int i = graph ? graph->input_count - 1 : -1; i >= 0; i--)
        if (!tw_fix_given_input(graph, graph->inputs[i], options, diag))
            return NULL;
    return graph;
}
