/* The reference executor. See reference.h. */
#include "support/reference.h"

#include <math.h>
#include <string.h>

#include "ops/op.h"

static float epsilon_of(const tw_node *node)
{
    float epsilon = 1e-5f;
    for (int i = 0; i < node->op->attribute_count; i++)
        if (strcmp(node->op->attributes[i].name, "epsilon") == 0)
            memcpy(&epsilon, (const char *)node->attributes + node->op->attributes[i].offset,
                   sizeof epsilon);
    return epsilon;
}

/* Channels are the last axis. */
static void batch_norm(tw_node *node, tw_arena *arena)
{
    const tw_shape *shape = &node->out[0]->shape;
    const float *x = node->in[0]->data;
    float *y = tw_alloc(arena, tw_shape_bytes(shape) + 16);
    int64_t count = tw_shape_elements(shape), channels = shape->dim[shape->rank - 1];
    for (int64_t i = 0; i < count; i++) {
        int64_t c = i % channels;
        double k = tw_constant_at(node->in[1], c) /
                   sqrt(tw_constant_at(node->in[4], c) + (double)epsilon_of(node));
        y[i] = (float)(((double)x[i] - tw_constant_at(node->in[3], c)) * k +
                       tw_constant_at(node->in[2], c));
    }
    node->out[0]->data = y;
}

static bool run_node(tw_node *node, tw_arena *arena, int band, tw_diag *diag)
{
    if (strcmp(node->op->name, "BatchNorm") == 0) {
        batch_norm(node, arena);
        return true;
    }
    return tw_evaluate(node, arena, band, diag);
}

bool tw_reference_run(tw_graph *graph, tw_arena *arena, const void *const *inputs,
                      const void **outputs, int band, tw_diag *diag)
{
    bool ok = true;
    for (int i = 0; i < graph->input_count; i++)
        graph->inputs[i]->data = inputs[i];
    for (int i = 0; i < graph->state_count; i++) {
        tw_state *state = &graph->states[i];
        uint32_t bytes = tw_shape_bytes(&state->current->shape);
        state->current->data = state->initial ? state->initial : tw_alloc(arena, bytes + 16);
    }
    for (int n = 0; ok && n < graph->node_count; n++)
        ok = run_node(graph->nodes[n], arena, band, diag);
    for (int i = 0; i < graph->output_count; i++)
        outputs[i] = graph->outputs[i]->data;
    for (int i = 0; i < graph->input_count; i++)
        graph->inputs[i]->data = NULL;
    for (int i = 0; i < graph->state_count; i++)
        graph->states[i].current->data = NULL;
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n]->out_count; i++)
            if (graph->nodes[n]->out[i])
                graph->nodes[n]->out[i]->data = NULL;
    return ok;
}

uint64_t tw_reference_next(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9E3779B97F4A7C15u);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void store(void *data, tw_dtype dtype, int64_t i, double v)
{
    switch (dtype) {
    case TW_F32: ((float *)data)[i] = (float)v; break;
    case TW_S8: ((int8_t *)data)[i] = (int8_t)v; break;
    case TW_U8: ((uint8_t *)data)[i] = (uint8_t)v; break;
    case TW_BOOL: ((uint8_t *)data)[i] = v > 0; break;
    case TW_S16: ((int16_t *)data)[i] = (int16_t)v; break;
    case TW_S32: ((int32_t *)data)[i] = (int32_t)v; break;
    case TW_S64: ((int64_t *)data)[i] = (int64_t)v; break;
    default: break;
    }
}

void *tw_reference_random(tw_arena *arena, const tw_shape *shape, uint64_t *seed, double low,
                          double high, double step)
{
    void *data = tw_alloc(arena, tw_shape_bytes(shape) + 16);
    int64_t count = tw_shape_elements(shape);
    for (int64_t i = 0; i < count; i++) {
        double u = (double)(tw_reference_next(seed) >> 11) / 9007199254740992.0;
        double v = low + (high - low) * u;
        if (shape->dtype != TW_F32)
            v = floor(low + (high - low + 1) * u);
        else if (step > 0)
            v = round(v / step) * step;
        store(data, shape->dtype, i, v);
    }
    return data;
}

double tw_reference_difference(const tw_shape *shape, const void *a, const void *b)
{
    tw_value left = {.shape = *shape, .data = a}, right = {.shape = *shape, .data = b};
    double largest = 0;
    int64_t count = tw_shape_elements(shape);
    for (int64_t i = 0; i < count; i++) {
        double l = tw_constant_at(&left, i), r = tw_constant_at(&right, i);
        if (l == r || (isnan(l) && isnan(r)))
            continue;
        double d = fabs(l - r);
        largest = isnan(d) ? INFINITY : fmax(largest, d);
    }
    return largest;
}
