/* See scale_layer.h. */
#include "normalize/scale_layer.h"

#include <math.h>

static tw_value *bias_of(const tw_node *layer)
{
    return layer->in_count > 2 ? layer->in[2] : NULL;
}

bool tw_layer_takes_term(const tw_node *layer)
{
    return tw_is_weighted(layer) && !tw_has_clamp(layer) && layer->out[0]->shape.dtype == TW_F32 &&
           (!bias_of(layer) || tw_constant_behind(bias_of(layer)));
}

int32_t tw_layer_channels(const tw_node *layer)
{
    return layer->in[1]->shape.dim[tw_weight_axis(layer)];
}

/* Elements of the weights from one index of the channel axis to the next. */
static int64_t channel_step(const tw_node *layer)
{
    const tw_shape *shape = &layer->in[1]->shape;
    int64_t step = 1;
    for (int i = tw_weight_axis(layer) + 1; i < shape->rank; i++)
        step *= shape->dim[i];
    return step;
}

/* Is the scale still one after the factor, and the sign storable? */
static bool takes_stored_factor(const tw_node *layer, const tw_value *stored, const double *k)
{
    const tw_quant *q = &stored->quant;
    int64_t step = channel_step(layer), channels = tw_layer_channels(layer);
    int64_t count = tw_shape_elements(&stored->shape);
    if (stored->shape.dtype != TW_S8 || q->count == 0 ||
        (q->count > 1 && q->axis != tw_weight_axis(layer)))
        return false;
    for (int64_t c = 0; c < channels; c++) {
        int64_t i = q->count > 1 ? c : 0;
        float scale = (float)((double)q->scale[i] * fabs(k[c]));
        if (q->zero_point[i] != 0 || (k[c] != 0 && !isnormal(scale)))
            return false;
    }
    const int8_t *w = stored->data;
    for (int64_t i = 0; i < count; i++)
        if (w[i] == INT8_MIN && k[i / step % channels] < 0)
            return false;
    return true;
}

bool tw_layer_takes_factor(const tw_node *layer, const double *k)
{
    if (!tw_layer_takes_term(layer))
        return false;
    const tw_value *stored = tw_constant_behind(layer->in[1]);
    if (layer->in[1]->shape.dtype != TW_F32)
        return false; /* int8 weights that are multiplied as they are */
    return layer->in[1]->data || (stored && takes_stored_factor(layer, stored, k));
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
    int64_t step = channel_step(layer), channels = tw_layer_channels(layer);
    int64_t count = tw_shape_elements(shape);
    float *w;
    tw_value *scaled = tw_float_constant(graph, weights->name, shape->rank, shape->dim, &w);
    for (int64_t i = 0; i < count; i++)
        w[i] = (float)(tw_constant_at(weights, i) * k[i / step % channels]);
    return scaled;
}

/* Scales by channel times |k|, stored elements times its sign, and a Dequantize of them. */
static tw_value *scaled_stored_weights(tw_graph *graph, const tw_node *layer, const double *k,
                                       tw_diag *diag)
{
    const tw_node *dequantize = layer->in[1]->producer;
    const tw_value *stored = dequantize->in[0];
    int32_t channels = tw_layer_channels(layer);
    int64_t step = channel_step(layer), count = tw_shape_elements(&stored->shape);
    float *scale = tw_alloc_array(graph->arena, (size_t)channels + 1, sizeof *scale);
    int32_t *zero = tw_alloc_array(graph->arena, (size_t)channels + 1, sizeof *zero);
    int8_t *w = tw_alloc(graph->arena, (size_t)count + 1);
    for (int32_t c = 0; c < channels; c++) {
        double old = (double)stored->quant.scale[stored->quant.count > 1 ? c : 0];
        scale[c] = k[c] != 0 ? (float)(old * fabs(k[c])) : 1.0f;
    }
    for (int64_t i = 0; i < count; i++) {
        double factor = k[i / step % channels];
        int sign = factor > 0 ? 1 : factor < 0 ? -1 : 0;
        w[i] = (int8_t)(((const int8_t *)stored->data)[i] * sign);
    }
    tw_value *scaled = tw_graph_constant(graph, stored->name, stored->shape, w);
    scaled->quant = (tw_quant){channels, tw_weight_axis(layer), scale, zero};
    tw_node *node =
        tw_append(graph, TW_OPCODE_dequantize, dequantize->name, &scaled, 1, NULL, diag);
    return node ? node->out[0] : NULL;
}

bool tw_scale_layer(tw_graph *graph, tw_node *layer, const double *k, const double *t,
                    tw_diag *diag)
{
    const tw_value *bias = bias_of(layer);
    int32_t channels = tw_layer_channels(layer);
    tw_value *in[3] = {layer->in[0], layer->in[1], NULL};
    if (k)
        in[1] = layer->in[1]->data ? scaled_weights(graph, layer, k)
                                   : scaled_stored_weights(graph, layer, k, diag);
    if (!in[1])
        return false;
    const char *name = bias ? bias->name : tw_format(graph->arena, "%s/bias", layer->name);
    float *b;
    in[2] = tw_float_constant(graph, name, 1, &channels, &b);
    for (int32_t c = 0; c < channels; c++)
        b[c] = (float)(bias_at(bias, c) * (k ? k[c] : 1) + t[c]);
    layer->in = tw_copy(graph->arena, in, sizeof in);
    layer->in_count = 3;
    return true;
}
