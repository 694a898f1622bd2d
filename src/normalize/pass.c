/* Shared by the passes: see pass.h. */
#include "normalize/pass.h"

#include <math.h>
#include <string.h>

#include "ops/transpose.h"
#include "ops/view.h"

/* ---- asking ---- */

bool tw_is_weighted(const tw_node *node)
{
    return tw_is(node, TW_OPCODE_conv) || tw_is(node, TW_OPCODE_depthwise_conv) ||
           tw_is(node, TW_OPCODE_conv_transpose) || tw_is(node, TW_OPCODE_conv3d) ||
           tw_is(node, TW_OPCODE_conv_transpose3d) || tw_is(node, TW_OPCODE_fully_connected);
}

int tw_weight_axis(const tw_node *node)
{
    return tw_is(node, TW_OPCODE_depthwise_conv) ? node->in[1]->shape.rank - 1 : 0;
}

bool tw_is_conversion(const tw_node *node)
{
    return tw_is(node, TW_OPCODE_cast) || tw_is(node, TW_OPCODE_quantize) ||
           tw_is(node, TW_OPCODE_dequantize) || tw_is(node, TW_OPCODE_requantize);
}

static bool is_single(const tw_value *value)
{
    return value->data && tw_shape_elements(&value->shape) == 1;
}

bool tw_is_elementwise(const tw_node *node, int *data)
{
    *data = 0;
    if (!node || node->out_count != 1)
        return false;
    if (tw_is_unary(node) || tw_is_conversion(node))
        return node->in_count == 1;
    if (!tw_is_binary(node))
        return false;
    *data = is_single(node->in[0]) ? 1 : 0;
    const tw_value *other = node->in[1 - *data];
    return is_single(other) && other->shape.rank <= node->in[*data]->shape.rank;
}

bool tw_has_clamp(const tw_node *node)
{
    return node->clamp.low > -INFINITY || node->clamp.high < INFINITY;
}

const tw_value *tw_constant_behind(const tw_value *value)
{
    if (value && tw_is(value->producer, TW_OPCODE_dequantize))
        value = value->producer->in[0];
    return value && value->data ? value : NULL;
}

bool tw_is_uniform(const tw_value *value, float *element)
{
    int64_t count = tw_shape_elements(&value->shape);
    if (!value->data || value->shape.dtype != TW_F32 || count == 0)
        return false;
    const float *f = value->data;
    for (int64_t i = 1; i < count; i++)
        if (f[i] != f[0] || signbit(f[i]) != signbit(f[0])) /* NaN is not uniform */
            return false;
    *element = f[0];
    return true;
}

static void *attribute_of(const tw_node *node, const char *name, bool (*of)(tw_attribute_kind))
{
    for (int i = 0; i < node->op->attribute_count; i++) {
        const tw_attribute *a = &node->op->attributes[i];
        if (strcmp(a->name, name) == 0 && of(a->kind))
            return (char *)node->attributes + a->offset;
    }
    return NULL;
}

static bool is_int(tw_attribute_kind kind)
{
    return kind < TW_ATTRIBUTE_FLOAT;
}
static bool is_float(tw_attribute_kind kind)
{
    return kind == TW_ATTRIBUTE_FLOAT;
}
static bool is_ints(tw_attribute_kind kind)
{
    return kind == TW_ATTRIBUTE_INTS;
}

int32_t *tw_int_of(const tw_node *node, const char *name)
{
    return attribute_of(node, name, is_int);
}
float *tw_float_of(const tw_node *node, const char *name)
{
    return attribute_of(node, name, is_float);
}
tw_ints *tw_ints_of(const tw_node *node, const char *name)
{
    return attribute_of(node, name, is_ints);
}

static const tw_attribute *enum_of(const tw_node *node, const char *name)
{
    for (int i = 0; i < node->op->attribute_count; i++)
        if (strcmp(node->op->attributes[i].name, name) == 0 &&
            node->op->attributes[i].kind == TW_ATTRIBUTE_ENUM)
            return &node->op->attributes[i];
    return NULL;
}

/* Words stand in order of value in front of the meaning: "a|b|c: ...". */
static const char *next_word(const char *word)
{
    word += strcspn(word, "|: ");
    return *word == '|' ? word + 1 : NULL;
}

void tw_copy_word(tw_node *to, const tw_node *from, const char *name)
{
    const tw_attribute *source = enum_of(from, name), *target = enum_of(to, name);
    if (!source || !target)
        return;
    const char *wanted = source->meaning;
    for (int32_t i = *tw_int_of(from, name); i > 0 && wanted; i--)
        wanted = next_word(wanted);
    int32_t value = 0;
    for (const char *word = target->meaning; word && wanted; word = next_word(word), value++) {
        size_t length = strcspn(wanted, "|: ");
        if (strcspn(word, "|: ") == length && strncmp(word, wanted, length) == 0)
            *tw_int_of(to, name) = value;
    }
}

void tw_perm_of(const tw_node *node, int32_t *perm)
{
    int32_t rank = node->in[0]->shape.rank;
    const tw_transpose_attributes *attributes = node->attributes;
    if (!tw_transpose_perm(&attributes->perm, rank, perm)) /* the checker has refused it before */
        for (int32_t i = 0; i < rank; i++)
            perm[i] = i;
}

void tw_count_reads(tw_graph *graph)
{
    for (int v = 0; v < graph->value_count; v++)
        graph->values[v]->index = 0;
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n]->in_count; i++)
            if (graph->nodes[n]->in[i])
                graph->nodes[n]->in[i]->index++;
    for (int i = 0; i < graph->output_count; i++)
        graph->outputs[i]->index++;
    for (int i = 0; i < graph->state_count; i++)
        if (graph->states[i].next)
            graph->states[i].next->index++;
}

/* ---- changing ---- */

void tw_remove(tw_node *node)
{
    node->removed = true;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i])
            node->in[i]->index--;
}

tw_node *tw_append(tw_graph *graph, int code, const char *name, tw_value *const *in, int in_count,
                   const void *attributes, tw_diag *diag)
{
    return tw_graph_node(graph, tw_op_by_code((uint32_t)code), name, in, in_count, 1, NULL,
                         attributes, diag);
}

tw_value *tw_append_reshape(tw_graph *graph, const char *name, tw_value *value,
                            const tw_shape *shape, tw_diag *diag)
{
    tw_reshape_attributes attributes = {0};
    attributes.shape.count = shape->rank;
    memcpy(attributes.shape.v, shape->dim, sizeof(int32_t) * (size_t)shape->rank);
    tw_node *node = tw_append(graph, TW_OPCODE_reshape, name, &value, 1, &attributes, diag);
    return node ? node->out[0] : NULL;
}

tw_value *tw_append_transpose(tw_graph *graph, const char *name, tw_value *value,
                              const int32_t *perm, tw_diag *diag)
{
    tw_transpose_attributes attributes = {0};
    attributes.perm.count = value->shape.rank;
    for (int i = 0; i < value->shape.rank; i++)
        attributes.perm.v[i] = perm[i];
    tw_node *node = tw_append(graph, TW_OPCODE_transpose, name, &value, 1, &attributes, diag);
    if (node && value->quant.count > 1 &&
        !tw_quant_through(node, &value->quant, &node->out[0]->quant))
        return NULL;
    return node ? node->out[0] : NULL;
}

void tw_become(tw_graph *graph, tw_node *node, int code)
{
    node->op = tw_op_by_code((uint32_t)code);
    node->attributes = NULL;
    if (node->op->attribute_bytes) {
        node->attributes = tw_alloc(graph->arena, node->op->attribute_bytes);
        tw_attributes_default(node->op, node->attributes);
    }
}

void tw_set_output(tw_node *node, tw_value *value)
{
    node->out[0] = value;
    value->producer = node;
}

bool tw_takes_name(const tw_value *value)
{
    return value->producer && !value->is_output;
}

void tw_hand_over(tw_value *from, tw_value *to)
{
    const char *name = from->name;
    from->name = to->name;
    to->name = name;
    to->channels_last = from->channels_last;
    from->is_output = false;
    to->is_output = true;
}

bool tw_forward(tw_graph *graph, tw_value *from, tw_value *to)
{
    if (from->is_output) {
        if (!tw_takes_name(to))
            return false;
        tw_hand_over(from, to);
        for (int i = 0; i < graph->output_count; i++)
            if (graph->outputs[i] == from)
                graph->outputs[i] = to;
        for (int i = 0; i < graph->state_count; i++)
            if (graph->states[i].next == from)
                graph->states[i].next = to;
    }
    from->forward = to;
    to->index += from->index;
    from->index = 0;
    return true;
}

static tw_value *latest(tw_value *value)
{
    tw_value *last = value;
    while (last->forward)
        last = last->forward;
    while (value->forward) { /* the next search is shorter */
        tw_value *next = value->forward;
        value->forward = last;
        value = next;
    }
    return last;
}

void tw_follow(tw_node *node)
{
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i])
            node->in[i] = latest(node->in[i]);
}

bool tw_finish(tw_graph *graph, tw_diag *diag)
{
    for (int n = 0; n < graph->node_count; n++)
        tw_follow(graph->nodes[n]);
    return tw_graph_sweep(graph, diag);
}

tw_value *tw_float_constant(tw_graph *graph, const char *base, int rank, const int32_t *dim,
                            float **data)
{
    tw_shape shape = tw_shape_of(TW_F32, rank, dim);
    *data = tw_alloc(graph->arena, tw_shape_bytes(&shape) + 4);
    return tw_graph_constant(graph, base, shape, *data);
}

/* ---- axes ---- */

/* The axis of `to` that counts the same thing as `axis` of `from`: same extent, as many elements
 * before it. -1: none. */
static int axis_through_reshape(const tw_shape *from, const tw_shape *to, int axis)
{
    int64_t before = 1, product = 1;
    for (int i = 0; i < axis; i++)
        before *= from->dim[i];
    for (int i = 0; i < to->rank; i++) {
        if (product == before && to->dim[i] == from->dim[axis])
            return i;
        product *= to->dim[i];
    }
    return -1;
}

bool tw_quant_through(const tw_node *node, const tw_quant *in, tw_quant *out)
{
    *out = *in;
    if (in->count <= 1)
        return true;
    const tw_shape *from = &node->in[0]->shape, *to = &node->out[0]->shape;
    if (tw_is(node, TW_OPCODE_transpose)) {
        int32_t perm[TW_MAX_RANK];
        tw_perm_of(node, perm);
        for (int i = 0; i < from->rank; i++)
            if (perm[i] == in->axis)
                out->axis = i;
        return true;
    }
    if (node->op->kind == TW_VIEW) {
        out->axis = axis_through_reshape(from, to, in->axis);
        return out->axis >= 0;
    }
    return false;
}

bool tw_shape_holds(const tw_node *node)
{
    tw_diag ignored = {0};
    tw_shape shapes[TW_MAX_NODE_OPERANDS] = {{TW_NO_DTYPE, 0, {0}}};
    tw_shape_call call = {node->op,         node->name, node->in_count, node->out_count, node->in,
                          node->attributes, shapes,     &ignored,       node->body};
    if (node->op->attribute_bytes &&
        !tw_attributes_check(node->op, node->name, node->attributes, &ignored))
        return false;
    if (!(node->op->shape ? node->op->shape : tw_shape_default)(&call))
        return false;
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i] && !tw_shape_equal(&shapes[i], &node->out[i]->shape))
            return false;
    return true;
}

bool tw_has_kernel(const tw_node *node)
{
    tw_arena *scratch = tw_arena_new();
    tw_lowering lowering = {0};
    tw_diag ignored = {0};
    bool ok = tw_shape_holds(node) && tw_lower_portable(node, scratch, &lowering, &ignored);
    tw_arena_free(scratch);
    return ok;
}

bool tw_moves_nothing(const tw_shape *shape, const int32_t *perm)
{
    int last = -1;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[perm[i]] == 1)
            continue;
        if (perm[i] < last)
            return false;
        last = perm[i];
    }
    return true;
}
