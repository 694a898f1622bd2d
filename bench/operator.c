/* operator.h: graph node, lowering and call by hand, as the runtime would make it. */
#include "operator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/conv.h"
#include "ops/depthwise_conv.h"
#include "ops/product.h"

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static tw_value *random_constant(tw_graph *graph, tw_shape shape, uint32_t seed, int32_t range)
{
    int64_t count = tw_shape_elements(&shape);
    char *data = tw_alloc(graph->arena, tw_shape_bytes(&shape) + 16);
    for (int64_t i = 0; i < count; i++) {
        int32_t whole = (int32_t)(next_random(&seed) % (uint32_t)(2 * range)) - range;
        if (shape.dtype == TW_F32)
            ((float *)(void *)data)[i] = (float)whole / (float)range;
        else if (shape.dtype == TW_S32)
            ((int32_t *)(void *)data)[i] = whole;
        else
            ((int8_t *)data)[i] = (int8_t)whole;
    }
    return tw_graph_constant(graph, "t", shape, data);
}

/* One scale an output channel, no two neighbours alike. */
static tw_quant weight_scales(tw_arena *arena, int outputs, int axis)
{
    float *scale = tw_alloc(arena, (size_t)outputs * sizeof *scale);
    int32_t *zero = tw_alloc(arena, (size_t)outputs * sizeof *zero);
    for (int o = 0; o < outputs; o++) {
        scale[o] = 0.004f * (float)(3 + o % 5);
        zero[o] = 0;
    }
    return (tw_quant){outputs, axis, scale, zero};
}

typedef struct tw_padding {
    int out, before, after;
} tw_padding;

static tw_padding padding_of(int in, int kernel, int stride, bool valid)
{
    tw_padding p = {(in - kernel) / stride + 1, 0, 0};
    if (valid)
        return p;
    p.out = (in + stride - 1) / stride;
    int total = (p.out - 1) * stride + kernel - in;
    total = total > 0 ? total : 0;
    p.before = total / 2;
    p.after = total - p.before;
    return p;
}

static tw_node *make_node(tw_operator *o, tw_graph *graph, const tw_layer *l, tw_dtype dtype)
{
    tw_padding r = padding_of(l->rows, l->kernel_rows, l->stride, l->valid);
    tw_padding c = padding_of(l->columns, l->kernel_columns, l->stride, l->valid);
    const int32_t image[] = {1, l->rows, l->columns, l->channels}, flat[] = {1, l->channels};
    const int32_t ohwi[] = {l->outputs, l->kernel_rows, l->kernel_columns, l->channels};
    const int32_t hwo[] = {l->kernel_rows, l->kernel_columns, l->outputs};
    const int32_t matrix[] = {l->outputs, l->channels}, vector[] = {l->outputs};
    tw_value *in[3];
    in[0] = random_constant(
        graph, l->is_connected ? tw_shape_of(dtype, 2, flat) : tw_shape_of(dtype, 4, image), 1,
        128);
    in[1] = random_constant(graph,
                            l->is_connected   ? tw_shape_of(dtype, 2, matrix)
                            : l->is_depthwise ? tw_shape_of(dtype, 3, hwo)
                                              : tw_shape_of(dtype, 4, ohwi),
                            2, 127);
    in[2] = random_constant(graph, tw_shape_of(dtype == TW_S8 ? TW_S32 : dtype, 1, vector), 3, 900);
    if (dtype == TW_S8) {
        in[0]->quant = tw_quant_per_tensor(graph->arena, 0.05f, 3);
        in[1]->quant = weight_scales(graph->arena, l->outputs, l->is_depthwise ? 2 : 0);
    }
    tw_conv_attributes conv = {.stride = {2, {l->stride, l->stride}},
                               .pad_begin = {2, {r.before, c.before}},
                               .pad_end = {2, {r.after, c.after}},
                               .group = 1};
    tw_depthwise_conv_attributes depthwise = {
        .stride = conv.stride, .pad_begin = conv.pad_begin, .pad_end = conv.pad_end};
    o->plain = (tw_plain){.in_rows = l->rows,
                          .in_columns = l->columns,
                          .channels = l->channels,
                          .out_rows = r.out,
                          .out_columns = c.out,
                          .outputs = l->outputs,
                          .kernel_rows = l->kernel_rows,
                          .kernel_columns = l->kernel_columns,
                          .stride = l->stride,
                          .pad_top = r.before,
                          .pad_left = c.before,
                          .x = in[0]->data,
                          .w = in[1]->data,
                          .bias = in[2]->data};
    const void *attributes = l->is_depthwise ? (void *)&depthwise : (void *)&conv;
    const char *name = l->is_connected   ? "FullyConnected"
                       : l->is_depthwise ? "DepthwiseConv"
                                         : "Conv";
    tw_diag diag = {0};
    tw_node *node = tw_graph_node(graph, tw_op_by_name(name), l->name, in, 3, 1, NULL,
                                  l->is_connected ? NULL : attributes, &diag);
    if (!node) {
        fprintf(stderr, "%s: %s\n", l->name, diag.message);
        exit(1);
    }
    if (dtype == TW_S8)
        node->out[0]->quant = tw_quant_per_tensor(graph->arena, 0.5f, -5);
    return node;
}

static tw_view whole(const tw_tensor *t, const void *data)
{
    int axis = t->rank == 4 ? 1 : 0;
    return (tw_view){.tensor = t,
                     .data = (void *)(uintptr_t)data,
                     .axis = axis,
                     .rows = t->dim[axis],
                     .fresh_rows = t->dim[axis]};
}

void tw_operator_open(tw_operator *o, const tw_layer *layer, tw_dtype dtype)
{
    memset(o, 0, sizeof *o);
    o->arena = tw_arena_new();
    tw_graph *graph = tw_graph_new(o->arena, layer->name);
    tw_node *node = o->node = make_node(o, graph, layer, dtype);
    tw_lowering *l = &o->lowering;
    tw_diag diag = {0};
    if (!node->op->lower(node, o->arena, l, &diag)) {
        fprintf(stderr, "%s: %s\n", layer->name, diag.message);
        exit(1);
    }
    for (int i = 0; i < 3; i++)
        if (!tw_is_unread(l, i)) {
            const void *data = tw_lowered_input(node, l, i, &o->tensors[i]);
            o->in[i] = whole(&o->tensors[i], data);
        }
    o->tensors[3] = tw_tensor_of(node->out[0]);
    o->bytes = tw_shape_bytes(&node->out[0]->shape);
    o->out = whole(&o->tensors[3], tw_alloc(o->arena, o->bytes + 16));
    o->plain.y = tw_alloc(o->arena, o->bytes + 16);
    for (int i = 0; i < l->blob_count; i++)
        o->blobs[i] = (tw_blob){l->blob[i].data, l->blob[i].bytes};
    o->call = (tw_call){.in = o->in,
                        .out = &o->out,
                        .in_count = 3,
                        .out_count = 1,
                        .attributes = node->attributes,
                        .attribute_bytes = node->op->attribute_bytes,
                        .blobs = o->blobs,
                        .blob_count = (uint32_t)l->blob_count,
                        .clamp_low = l->clamp_low,
                        .clamp_high = l->clamp_high,
                        .scratch = tw_alloc(o->arena, l->scratch + 16),
                        .scratch_bytes = l->scratch,
                        .memory = tw_alloc(o->arena, l->memory + 16),
                        .memory_bytes = l->memory};
    if (dtype == TW_S8) {
        o->plain.x_zero = 3;
        o->plain.y_zero = -5;
        o->plain.low = INT8_MIN;
        o->plain.high = INT8_MAX;
        o->plain.multiplier = o->blobs[TW_BLOB_MULTIPLIER].data;
        o->plain.shift = o->blobs[TW_BLOB_SHIFT].data;
    }
    tw_status status = l->kernel->check(&o->call, &o->macs);
    if (status == TW_OK)
        status = l->kernel->run(&o->call);
    if (status != TW_OK) {
        fprintf(stderr, "%s: the kernel refuses: %s\n", layer->name, tw_status_text(status));
        exit(1);
    }
}

void tw_operator_close(tw_operator *o)
{
    tw_arena_free(o->arena);
}

int tw_operator_compare(const tw_operator *o)
{
    const char *a = o->out.data, *b = o->plain.y;
    uint32_t each = tw_dtype_bytes(o->tensors[3].dtype);
    for (uint32_t i = 0; i < o->bytes; i++)
        if (a[i] != b[i])
            return (int)(i / each);
    return -1;
}
