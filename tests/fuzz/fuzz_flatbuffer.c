/* Any bytes as a FlatBuffer of TensorFlow Lite's schema: the reader and the model made of it, nothing
 * behind. All that a successful read hands out is then touched. */
#include <stdlib.h>
#include <string.h>

#include "import/tflite/model.h"

static unsigned touched;

static void touch(const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        touched += ((const uint8_t *)data)[i];
}

static void touch_subgraph(const tw_tfl_subgraph *g)
{
    touch(g->name, strlen(g->name));
    touch(g->in, 4 * (size_t)g->in_count);
    touch(g->out, 4 * (size_t)g->out_count);
    for (uint32_t i = 0; i < g->tensor_count; i++) {
        const tw_tfl_tensor *t = &g->tensors[i];
        touch(t->name, strlen(t->name));
        touch(t->shape, 4 * (size_t)t->rank);
        touch(t->signature, 4 * (size_t)t->signature_rank);
        touch(t->quant.scale, 4 * (size_t)t->quant.count);
        touch(t->quant.zero_point, 8 * (size_t)t->quant.zero_count);
    }
    for (uint32_t i = 0; i < g->operator_count; i++) {
        const tw_tfl_operator *o = &g->operators[i];
        touch(o->in, 4 * (size_t)o->in_count);
        touch(o->out, 4 * (size_t)o->out_count);
        touch(o->intermediates, 4 * (size_t)o->intermediate_count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_tfl_model model;
    if (tw_tfl_read(&model, arena, data, bytes, &diag)) {
        for (uint32_t i = 0; i < model.subgraph_count; i++)
            touch_subgraph(&model.subgraphs[i]);
        for (uint32_t i = 0; i < model.buffer_count; i++)
            if (model.buffers[i].bytes)
                touch(model.buffers[i].data + model.buffers[i].bytes - 1, 1);
    } else if (!*diag.message) {
        abort();
    }
    tw_arena_free(arena);
    return 0;
}
