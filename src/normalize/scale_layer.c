/* See scale_layer.h. */
#include "normalize/scale_layer.h"

static tw_value *bias_of(const tw_node *layer)
{
    return layer->in_count > 2 ? layer->in[2] : NULL;
}

bool tw_layer_takes_term(const tw_node *layer)
{
    return tw_is_weighted(layer) && !tw_has_clamp(layer) && layer->out[0]->shape.dtype == TW_F32 &&
           (!bias_of(layer) || tw_constant_behind(bias_of(layer)));
}

bool tw_layer_takes_factor(const tw_node *layer)
{
    return tw_layer_takes_term(layer) && layer->in[1]->data;
}

int32_t tw_layer_channels(const tw_node *layer)
{
    return layer->in[1]->shape.dim[tw_weight_axis(layer)];
}

/* Element c of a bias that is a constant or the Dequantize of one. */
static double bias_at(const tw_value *bias, int32_t c)
{
    if (!bias)
        return 0;
    if (bias->data)
        return tw_constant_at(bias, c);
    const tw_value *stored = tw_constant_behind(bias);
    const tw_quant *q = &stored->quant;
    int i = q->count > 1 ? c : 0;
    return (tw_constant_at(stored, c) - q->zero_point[i]) * (double)q->scale[i];
}

static tw_value *scaled_weights(tw_graph *graph, const tw_node *layer, const double *k)
{
    const tw_value *weights = layer->in[1];
    const tw_shape *shape = &weights->shape;
    int64_t inner = 1, count = tw_shape_elements(shape), channels = tw_layer_channels(layer);
    for (int i = tw_weight_axis(layer) + 1; i < shape->rank; i++)
        inner *= shape->dim[i];
    float *w;
    tw_value *scaled = tw_float_constant(graph, weights->name, shape->rank, shape->dim, &w);
    for (int64_t i = 0; i < count; i++)
        w[i] = (float)(tw_constant_at(weights, i) * k[i / inner % channels]);
    return scaled;
}

void tw_scale_layer(tw_graph *graph, tw_node *layer, const double *k, const double *t)
{
    const tw_value *bias = bias_of(layer);
    int32_t channels = tw_layer_channels(layer);
    tw_value *in[3] = {layer->in[0], layer->in[1], NULL};
    if (k)
        in[1] = scaled_weights(graph, layer, k);
    const char *name = bias ? bias->name : tw_format(graph->arena, "%s/bias", layer->name);
    float *b;
    in[2] = tw_float_constant(graph, name, 1, &channels, &b);
    for (int32_t c = 0; c < channels; c++)
        b[c] = (float)(bias_at(bias, c) * (k ? k[c] : 1) + t[c]);
    layer->in = tw_copy(graph->arena, in, sizeof in);
    layer->in_count = 3;
}
