/* float_steps: a quantised operator that no kernel takes, for its types, scales or extents, is computed in
 * float32, between Dequantize and Quantize. What stays in floats so, or was found so in the model, is listed
 * for the report (tw_float_steps).
 *
 * The result is the float operator's, rounded once, ties away from zero. Where no float kernel takes the
 * operator either, it stays as it is, and planning says why. */
#include "normalize/pass.h"
#include "ops/quantize.h"

static bool is_stored(const tw_value *v)
{
    return v && v->quant.count > 0 &&
           (v->shape.dtype == TW_S8 || v->shape.dtype == TW_U8 || v->shape.dtype == TW_S16);
}

static bool computes(const tw_node *node)
{
    return !node->removed && !tw_is_conversion(node) && !node->op->bodies &&
           (node->op->kind == TW_MATH || node->op->kind == TW_LUT);
}

static bool touches_stored(const tw_node *node)
{
    bool stored = false;
    for (int i = 0; i < node->in_count; i++)
        stored = stored || is_stored(node->in[i]);
    for (int i = 0; i < node->out_count; i++)
        stored = stored || is_stored(node->out[i]);
    return stored;
}

/* A bias of whole numbers counts in steps of input scale times weight scale. */
static bool give_bias_scale(tw_graph *graph, const tw_node *node)
{
    const tw_value *bias = node->in_count > 2 ? node->in[2] : NULL;
    if (!tw_is_weighted(node) || !bias || bias->shape.dtype != TW_S32 || bias->quant.count > 0)
        return true;
    const tw_quant *x = &node->in[0]->quant, *w = &node->in[1]->quant;
    if (!bias->data || x->count != 1 || w->count < 1)
        return false;
    float *scale = tw_alloc_array(graph->arena, (size_t)w->count, sizeof *scale);
    for (int i = 0; i < w->count; i++)
        scale[i] = x->scale[0] * w->scale[i];
    node->in[2] = tw_graph_constant(graph, bias->name, bias->shape, bias->data);
    node->in[2]->quant = (tw_quant){
        w->count, 0, scale, tw_alloc_array(graph->arena, (size_t)w->count, sizeof(int32_t))};
    return true;
}

static tw_value *real_twin(tw_graph *graph, const tw_value *stored)
{
    tw_shape shape = stored->shape;
    shape.dtype = TW_F32;
    return tw_graph_value(graph, stored->name, shape);
}

/* The stored operand behind a float twin, and the stored result in front of one. */
static bool convert(tw_graph *graph, tw_node *node, tw_value *const *in, tw_value *const *out,
                    tw_diag *diag)
{
    for (int i = 0; i < node->in_count; i++) {
        if (node->in[i] == in[i])
            continue;
        tw_node *before = tw_append(graph, TW_OPCODE_dequantize, node->name, &in[i], 1, NULL, diag);
        if (!before)
            return false;
        tw_set_output(before, node->in[i]);
    }
    for (int i = 0; i < node->out_count; i++) {
        if (node->out[i] == out[i])
            continue;
        tw_node *after =
            tw_append(graph, TW_OPCODE_quantize, node->name, &node->out[i], 1, NULL, diag);
        if (!after)
            return false;
        *tw_int_of(after, "dtype") = (int32_t)out[i]->shape.dtype;
        *tw_int_of(after, "rounding") = TW_ROUND_HALF_AWAY;
        tw_set_output(after, out[i]);
    }
    return true;
}

static bool step_in_float(tw_graph *graph, tw_node *node, tw_diag *diag)
{
    const size_t in_bytes = sizeof(tw_value *) * (size_t)node->in_count;
    const size_t out_bytes = sizeof(tw_value *) * (size_t)node->out_count;
    tw_value **was_in = node->in, **was_out = node->out;
    node->in = tw_copy(graph->arena, was_in, in_bytes);
    node->out = tw_copy(graph->arena, was_out, out_bytes);
    bool ok = give_bias_scale(graph, node);
    tw_value **in = tw_copy(graph->arena, node->in, in_bytes);
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && node->in[i]->quant.count > 0 && node->in[i]->shape.dtype != TW_F32)
            node->in[i] = real_twin(graph, node->in[i]);
    for (int i = 0; i < node->out_count; i++) {
        if (!is_stored(node->out[i]))
            continue;
        node->out[i] = real_twin(graph, node->out[i]);
        node->out[i]->producer = node;
    }
    if (ok && tw_has_kernel(node))
        return convert(graph, node, in, was_out, diag);
    node->in = was_in;
    node->out = was_out;
    return true;
}

bool tw_pass_float_steps(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    const int count = graph->node_count;
    for (int n = 0; n < count; n++) {
        tw_node *node = graph->nodes[n];
        if (computes(node) && touches_stored(node) && !tw_has_kernel(node) &&
            !step_in_float(graph, node, diag))
            return false;
    }
    return tw_graph_sweep(graph, diag);
}

/* ---- what the report says ---- */

enum { FED = 1, KEPT = 2 }; /* floats that come of stored elements, and that become such */

static bool passes(const tw_node *node)
{
    return !tw_is(node, TW_OPCODE_quantize) && !tw_is(node, TW_OPCODE_dequantize);
}

static bool has_mark(tw_value *const *values, int count, const uint8_t *mark, int which)
{
    for (int i = 0; i < count; i++)
        if (values[i] && values[i]->shape.dtype == TW_F32 && (mark[values[i]->index] & which))
            return true;
    return false;
}

static void set_mark(tw_value *const *values, int count, uint8_t *mark, int which)
{
    for (int i = 0; i < count; i++)
        if (values[i] && values[i]->shape.dtype == TW_F32)
            mark[values[i]->index] |= (uint8_t)which;
}

/* Through the float operators, forwards from every Dequantize and backwards from every Quantize. */
static void mark_values(tw_graph *graph, uint8_t *mark)
{
    for (int v = 0; v < graph->value_count; v++)
        graph->values[v]->index = v;
    for (int n = 0; n < graph->node_count; n++) {
        const tw_node *node = graph->nodes[n];
        if (passes(node) ? has_mark(node->in, node->in_count, mark, FED)
                         : !node->in[0]->data && is_stored(node->in[0]))
            set_mark(node->out, node->out_count, mark, FED);
    }
    for (int n = graph->node_count - 1; n >= 0; n--) {
        const tw_node *node = graph->nodes[n];
        if (passes(node) ? has_mark(node->out, node->out_count, mark, KEPT)
                         : is_stored(node->out[0]))
            set_mark(node->in, node->in_count, mark, KEPT);
    }
}

static bool has_int8_form(const tw_opdef *op)
{
    return op->kind == TW_LUT || tw_op_kernel(op, TW_SIG_s8) || tw_op_kernel(op, TW_SIG_any);
}

/* Are the operands that come of stored elements dequantised just before, and is the result read by a
 * Quantize? quantised: by value, whether that is so. */
static bool has_scales(const tw_node *node, const uint8_t *mark, const bool *quantised)
{
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && (mark[node->in[i]->index] & FED) &&
            !tw_is(node->in[i]->producer, TW_OPCODE_dequantize))
            return false;
    return quantised[node->out[0]->index];
}

static tw_float_reason reason_of(const tw_node *node, const uint8_t *mark, const bool *quantised)
{
    if (!has_int8_form(node->op))
        return TW_FLOAT_NO_FORM;
    return has_scales(node, mark, quantised) ? TW_FLOAT_REFUSED : TW_FLOAT_NO_SCALE;
}

const tw_report_float_step *tw_float_steps(tw_graph *graph, tw_arena *arena, int *count)
{
    uint8_t *mark = tw_alloc_array(arena, (size_t)graph->value_count + 1, 1);
    tw_report_float_step *rows = tw_alloc_array(arena, (size_t)graph->node_count + 1, sizeof *rows);
    bool *quantised = tw_alloc_array(arena, (size_t)graph->value_count + 1, sizeof *quantised);
    *count = 0;
    mark_values(graph, mark);
    for (int n = 0; n < graph->node_count; n++)
        if (tw_is(graph->nodes[n], TW_OPCODE_quantize))
            quantised[graph->nodes[n]->in[0]->index] = true;
    for (int n = 0; n < graph->node_count; n++) {
        const tw_node *node = graph->nodes[n];
        if (computes(node) && has_mark(node->in, node->in_count, mark, FED) &&
            has_mark(node->out, node->out_count, mark, KEPT))
            rows[(*count)++] = (tw_report_float_step){node->name, node->op->name,
                                                      reason_of(node, mark, quantised)};
    }
    return rows;
}
