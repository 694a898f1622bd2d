/* The float operator between Dequantize and Quantize becomes the int8 operator. See qdq.h.
 *
 * The operator itself is asked: it is given the stored operands and result, and stays so if its
 * shapes hold and its lowering finds a kernel for the scales; else everything is put back. */
#include <math.h>
#include <string.h>

#include "normalize/fuse_qdq/qdq.h"

/* ---- operands ---- */

/* A float constant of equal elements, stored exactly: +1, 0 or -1 times its magnitude. */
static tw_value *stored_uniform(tw_graph *graph, const tw_value *value)
{
    float element;
    if (!tw_is_uniform(value, &element) || !isfinite(element))
        return NULL;
    tw_shape shape = value->shape;
    shape.dtype = TW_S8;
    int q = element > 0 ? 1 : element < 0 ? -1 : 0;
    size_t count = (size_t)tw_shape_elements(&shape);
    int8_t *data = tw_alloc(graph->arena, count + 1);
    memset(data, q, count);
    tw_value *stored = tw_graph_constant(graph, value->name, shape, data);
    stored->quant = tw_quant_per_tensor(graph->arena, q ? fabsf(element) : 1.0f, 0);
    return stored;
}

tw_value *tw_qdq_stored_tensor(const tw_value *value)
{
    if (!value || !tw_is(value->producer, TW_OPCODE_dequantize))
        return NULL;
    tw_value *stored = value->producer->in[0];
    return stored->shape.dtype == TW_S8 && stored->quant.count == 1 ? stored : NULL;
}

tw_value *tw_qdq_stored_weights(tw_graph *graph, const tw_value *value, int axis)
{
    if (!value || !tw_is(value->producer, TW_OPCODE_dequantize))
        return NULL;
    tw_value *stored = value->producer->in[0];
    const tw_quant *q = &stored->quant;
    if (!stored->data || stored->shape.dtype != TW_S8 || (q->count > 1 && q->axis != axis))
        return NULL;
    bool symmetric = true;
    for (int i = 0; i < q->count; i++)
        symmetric = symmetric && q->zero_point[i] == 0;
    if (symmetric)
        return stored;
    int64_t inner = 1, count = tw_shape_elements(&stored->shape);
    for (int i = axis + 1; i < stored->shape.rank; i++)
        inner *= stored->shape.dim[i];
    const int8_t *from = stored->data;
    int8_t *to = tw_alloc(graph->arena, (size_t)count + 1);
    for (int64_t i = 0; i < count; i++) {
        int64_t k = q->count > 1 ? i / inner % q->count : 0;
        int32_t w = from[i] - q->zero_point[k];
        if (w < INT8_MIN || w > INT8_MAX)
            return NULL;
        to[i] = (int8_t)w;
    }
    tw_value *moved = tw_graph_constant(graph, stored->name, stored->shape, to);
    moved->quant = *q;
    moved->quant.zero_point = tw_alloc_array(graph->arena, (size_t)q->count, sizeof(int32_t));
    return moved;
}

/* A real bias, element c. */
static double bias_at(const tw_value *bias, int32_t c)
{
    const tw_value *constant = tw_constant_behind(bias);
    double v = tw_constant_at(constant, c);
    if (constant == bias)
        return v;
    const tw_quant *q = &constant->quant;
    int i = q->count > 1 ? c : 0;
    return (v - q->zero_point[i]) * (double)q->scale[i];
}

/* s32 in steps of input scale times weight scale. Whatever scale the model's bias has, what counts
 * is its real value. Null where it does not fit. */
static tw_value *stored_bias(tw_graph *graph, const tw_value *bias, const tw_quant *x,
                             const tw_quant *w)
{
    if (!tw_constant_behind(bias) || bias->shape.rank != 1)
        return NULL;
    int32_t channels = bias->shape.dim[0];
    float *scale = tw_alloc_array(graph->arena, (size_t)w->count, sizeof *scale);
    int32_t *data = tw_alloc_array(graph->arena, (size_t)channels + 1, sizeof *data);
    for (int i = 0; i < w->count; i++) {
        scale[i] = x->scale[0] * w->scale[i];
        if (!(scale[i] > 0) || !isfinite(scale[i]))
            return NULL;
    }
    for (int32_t c = 0; c < channels; c++) {
        double step = (double)x->scale[0] * (double)w->scale[w->count > 1 ? c : 0];
        double v = round(bias_at(bias, c) / step);
        if (!(fabs(v) <= INT32_MAX))
            return NULL;
        data[c] = (int32_t)v;
    }
    tw_shape shape = tw_shape_of(TW_S32, 1, &channels);
    tw_value *stored = tw_graph_constant(graph, bias->name, shape, data);
    stored->quant = (tw_quant){w->count, 0, scale,
                               tw_alloc_array(graph->arena, (size_t)w->count, sizeof(int32_t))};
    return stored;
}

static bool stored_layer_operands(tw_graph *graph, const tw_node *node, tw_value **in)
{
    in[0] = tw_qdq_stored_tensor(node->in[0]);
    in[1] = in[0] ? tw_qdq_stored_weights(graph, node->in[1], tw_weight_axis(node)) : NULL;
    if (!in[1])
        return false;
    if (node->in_count > 2 && node->in[2]) {
        in[2] = stored_bias(graph, node->in[2], &in[0]->quant, &in[1]->quant);
        return in[2] != NULL;
    }
    return true;
}

/* A position or a length: it has no scale, and stays. */
static bool is_count(const tw_value *value)
{
    return value && value->shape.dtype == TW_S32 && value->quant.count == 0;
}

/* All operands stored, at least one of them computed. */
static bool stored_operands(tw_graph *graph, const tw_node *node, tw_value **in)
{
    memset(in, 0, sizeof *in * (size_t)node->in_count);
    if (tw_is_weighted(node))
        return stored_layer_operands(graph, node, in);
    if (tw_is_norm(node)) { /* scale and bias stay floats */
        memcpy(in, node->in, sizeof *in * (size_t)node->in_count);
        in[0] = tw_qdq_stored_tensor(node->in[0]);
        return in[0] != NULL;
    }
    bool computed = false;
    for (int i = 0; i < node->in_count; i++) {
        in[i] = is_count(node->in[i]) ? node->in[i] : NULL;
        if (in[i])
            continue;
        in[i] = tw_qdq_stored_tensor(node->in[i]);
        computed = computed || in[i];
        if (!in[i] && node->in[i])
            in[i] = stored_uniform(graph, node->in[i]);
        if (!in[i])
            return false;
    }
    return computed;
}

/* ---- operators ---- */

static bool is_arithmetic(const tw_node *node)
{
    return node && !node->removed && node->out_count == 1 && node->in_count >= 1 &&
           node->out[0]->shape.dtype == TW_F32 && !tw_is_conversion(node) &&
           (node->op->kind == TW_MATH || node->op->kind == TW_LUT);
}

static void make_int8(tw_graph *graph, tw_node *quantize)
{
    tw_value *real = quantize->in[0], *stored = quantize->out[0];
    tw_node *node = real->producer;
    tw_value *in[TW_MAX_OPERANDS];
    if (!is_arithmetic(node) || real->index != 1 || stored->shape.dtype != TW_S8 ||
        stored->quant.count != 1 || !stored_operands(graph, node, in))
        return;
    tw_value **old_in = node->in;
    void *old_attributes = node->attributes;
    node->in = tw_copy(graph->arena, in, sizeof *in * (size_t)node->in_count);
    if (node->attributes)
        node->attributes = tw_copy(graph->arena, old_attributes, node->op->attribute_bytes);
    tw_copy_word(node, quantize, "rounding"); /* averages round as the Quantize did */
    tw_set_output(node, stored);
    if (tw_has_kernel(node)) {
        quantize->removed = true;
        real->producer = NULL;
        return;
    }
    node->in = old_in;
    node->attributes = old_attributes;
    tw_set_output(node, real);
    stored->producer = quantize;
}

bool tw_qdq_int8(tw_graph *graph, tw_diag *diag)
{
    tw_count_reads(graph);
    for (int n = 0; n < graph->node_count; n++)
        if (tw_is(graph->nodes[n], TW_OPCODE_quantize))
            make_int8(graph, graph->nodes[n]);
    return tw_graph_sweep(graph, diag);
}

/* ---- pairs ---- */

bool tw_qdq_pairs(tw_graph *graph, tw_diag *diag)
{
    tw_count_reads(graph);
    for (int n = 0; n < graph->node_count; n++) {
        tw_node *node = graph->nodes[n];
        if (!tw_is(node, TW_OPCODE_quantize) || !tw_is(node->in[0]->producer, TW_OPCODE_dequantize))
            continue;
        tw_value *from = node->in[0]->producer->in[0], *to = node->out[0];
        bool same =
            from->shape.dtype == to->shape.dtype && tw_quant_equal(&from->quant, &to->quant);
        if (same && tw_forward(graph, to, from)) {
            tw_remove(node);
        } else if (same) {
            tw_become(graph, node, TW_OPCODE_identity);
            node->in[0] = from;
        } else if (from->shape.dtype == TW_S8 && to->shape.dtype == TW_S8 &&
                   from->quant.count == 1 && to->quant.count == 1) {
            tw_node quantize = *node;
            tw_become(graph, node, TW_OPCODE_requantize);
            *tw_int_of(node, "dtype") = (int32_t)to->shape.dtype;
            tw_copy_word(node, &quantize, "rounding");
            node->in[0] = from;
        }
    }
    return tw_finish(graph, diag);
}

bool tw_qdq_tidy(tw_graph *graph, tw_diag *diag)
{
    for (int n = 0; n < graph->node_count; n++) {
        tw_node *node = graph->nodes[n];
        const tw_node *inner = tw_is(node, TW_OPCODE_dequantize) ? node->in[0]->producer : NULL;
        if (!tw_is(inner, TW_OPCODE_requantize))
            continue;
        const tw_quant *from = &inner->in[0]->quant, *to = &node->in[0]->quant;
        int shift =
            inner->in[0]->shape.dtype == TW_U8 && node->in[0]->shape.dtype == TW_S8 ? 128 : 0;
        if (shift && from->count == 1 && from->scale[0] == to->scale[0] &&
            from->zero_point[0] == to->zero_point[0] + shift)
            node->in[0] = inner->in[0];
    }
    return tw_graph_sweep(graph, diag);
}
