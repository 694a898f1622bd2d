/* Any bytes as text IR, and as test vectors. A refusal must leave a message; what is read must print
 * to text that reads back and prints to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "graph/print.h"
#include "import/text/text.h"
#include "import/text/vectors.h"

static char *print(const tw_graph *graph, size_t *bytes)
{
    char *text = NULL;
    tw_diag diag = {0};
    FILE *file = open_memstream(&text, bytes);
    if (!file || !tw_text_print(graph, file, NULL, &diag))
        abort();
    fclose(file);
    return text;
}

static void round_trip(const tw_graph *graph)
{
    size_t bytes, again_bytes;
    char *text = print(graph, &bytes);
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_graph *copy = tw_text_parse(arena, text, bytes, NULL, &diag);
    if (!copy)
        abort();
    char *again = print(copy, &again_bytes);
    if (bytes != again_bytes || memcmp(text, again, bytes) != 0)
        abort();
    free(text);
    free(again);
    tw_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0}, vector_diag = {0};
    tw_vector_file vectors;
    int64_t elements = 0;
    tw_graph *graph = tw_text_parse(arena, (const char *)data, bytes, NULL, &diag);
    if (!graph && (!diag.message[0] || diag.code == TW_CODE_OK))
        abort();
    for (int i = 0; graph && i < graph->value_count; i++)
        elements += tw_shape_elements(&graph->values[i]->shape);
    if (graph && elements < 100000) /* printing takes time with the constants' size */
        round_trip(graph);
    if (!tw_vectors_parse(arena, (const char *)data, bytes, NULL, &vectors, &vector_diag) &&
        !vector_diag.message[0])
        abort();
    tw_arena_free(arena);
    return 0;
}
