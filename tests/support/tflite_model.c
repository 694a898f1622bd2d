/* See tflite_model.h. Field numbers are those of the schema of TensorFlow Lite, version 3. */
#include "support/tflite_model.h"

#include <string.h>

static size_t list(tw_flat *f, size_t table, int field, const tw_tflt_list *l)
{
    return tw_flat_vector(f, tw_flat_field(f, table, field), 4, (uint32_t)l->count, l->v);
}

static void tensor(const tw_tflt_tensor *t, tw_flat *f, size_t slot, int index,
                   tw_tflt_places *places)
{
    size_t at = tw_flat_table(f, slot, t->scale > 0 ? "41444" : "4144");
    places->tensors[index] = at;
    places->shapes[index] = list(f, at, 0, &t->shape);
    tw_flat_set(f, at, 1, 1, t->type);
    tw_flat_set(f, at, 2, 4, t->buffer);
    tw_flat_string(f, tw_flat_field(f, at, 3), t->name);
    if (t->scale <= 0)
        return;
    size_t quant = tw_flat_table(f, tw_flat_field(f, at, 4), "0044");
    tw_flat_vector(f, tw_flat_field(f, quant, 2), 4, 1, &t->scale);
    tw_flat_vector(f, tw_flat_field(f, quant, 3), 8, 1, &t->zero_point);
}

static void subgraph(const tw_tflt_model *m, tw_flat *f, size_t slot, tw_tflt_places *places)
{
    size_t at = tw_flat_table(f, slot, "44444");
    places->subgraph = at;
    size_t tensors = tw_flat_references(f, tw_flat_field(f, at, 0), (uint32_t)m->tensor_count);
    for (int i = 0; i < m->tensor_count; i++)
        tensor(&m->tensors[i], f, tensors + 4 * (size_t)i, i, places);
    list(f, at, 1, &m->in);
    list(f, at, 2, &m->out);
    size_t operators = tw_flat_references(f, tw_flat_field(f, at, 3), (uint32_t)m->operator_count);
    for (int i = 0; i < m->operator_count; i++) {
        size_t o = tw_flat_table(f, operators + 4 * (size_t)i, "444");
        places->operators[i] = o;
        tw_flat_set(f, o, 0, 4, m->operators[i].code);
        list(f, o, 1, &m->operators[i].in);
        list(f, o, 2, &m->operators[i].out);
    }
    tw_flat_string(f, tw_flat_field(f, at, 4), "main");
}

void tw_tflt_make(const tw_tflt_model *m, tw_flat *f, tw_tflt_places *places)
{
    tw_tflt_places unwanted;
    if (!places)
        places = &unwanted;
    memset(places, 0, sizeof *places);
    tw_flat_start(f, "TFL3");
    size_t root = tw_flat_table(f, 0, "44444");
    places->root = root;
    tw_flat_set(f, root, 0, 4, 3);
    size_t codes = tw_flat_references(f, tw_flat_field(f, root, 1), (uint32_t)m->code_count);
    for (int i = 0; i < m->code_count; i++) {
        size_t code = tw_flat_table(f, codes + 4 * (size_t)i, "1044");
        tw_flat_set(f, code, 0, 1, m->codes[i] < 127 ? m->codes[i] : 127);
        tw_flat_set(f, code, 2, 4, 1);
        tw_flat_set(f, code, 3, 4, m->codes[i]);
    }
    size_t graphs = tw_flat_references(f, tw_flat_field(f, root, 2), 1);
    subgraph(m, f, graphs, places);
    tw_flat_string(f, tw_flat_field(f, root, 3), "a test");
    size_t buffers =
        tw_flat_references(f, tw_flat_field(f, root, 4), (uint32_t)m->buffer_count + 1);
    tw_flat_table(f, buffers, "0");
    for (int i = 0; i < m->buffer_count; i++) {
        const size_t slot = buffers + 4 * (size_t)(i + 1);
        if (m->buffers[i].offset) {
            size_t outside = tw_flat_table(f, slot, "088");
            tw_flat_set(f, outside, 1, 8, (int64_t)m->buffers[i].offset);
            tw_flat_set(f, outside, 2, 8, (int64_t)m->buffers[i].bytes);
            continue;
        }
        size_t buffer = tw_flat_table(f, slot, "4");
        tw_flat_vector(f, tw_flat_field(f, buffer, 0), 1, m->buffers[i].bytes, m->buffers[i].data);
    }
}

/* ---- examples ---- */

enum { ADD = 0, FULLY_CONNECTED = 9, RESHAPE = 22, SUM = 74, GELU = 150 };

/* y = x + c, then a reduction. */
static void sums(tw_tflt_model *m)
{
    static const float term[] = {1, 2, 3, 4};
    static const int32_t axis[] = {1};
    *m = (tw_tflt_model){
        .tensor_count = 5,
        .tensors = {{"x", {2, {2, 4}}, 0, 0, 0, 0},
                    {"c", {1, {4}}, 0, 1, 0, 0},
                    {"y", {2, {2, 4}}, 0, 0, 0, 0},
                    {"axis", {1, {1}}, 2, 2, 0, 0},
                    {"z", {1, {2}}, 0, 0, 0, 0}},
        .operator_count = 2,
        .operators = {{0, {2, {0, 1}}, {1, {2}}}, {1, {2, {2, 3}}, {1, {4}}}},
        .buffer_count = 2,
        .buffers = {{term, sizeof term, 0}, {axis, sizeof axis, 0}},
        .code_count = 2,
        .codes = {ADD, SUM},
        .in = {1, {0}},
        .out = {1, {4}},
    };
}

/* An int8 layer with a bias and a code above 127 behind it. */
static void layer(tw_tflt_model *m)
{
    static const int8_t weights[] = {1, -2, 3, 4, -5, 6};
    static const int32_t bias[] = {10, -20};
    *m = (tw_tflt_model){
        .tensor_count = 5,
        .tensors = {{"x", {2, {1, 3}}, 9, 0, 0.05f, 0},
                    {"w", {2, {2, 3}}, 9, 1, 0.01f, 0},
                    {"b", {1, {2}}, 2, 2, 0.0005f, 0},
                    {"y", {2, {1, 2}}, 9, 0, 0.1f, 0},
                    {"z", {2, {1, 2}}, 9, 0, 0.1f, 0}},
        .operator_count = 2,
        .operators = {{0, {3, {0, 1, 2}}, {1, {3}}}, {1, {1, {3}}, {1, {4}}}},
        .buffer_count = 2,
        .buffers = {{weights, sizeof weights, 0}, {bias, sizeof bias, 0}},
        .code_count = 2,
        .codes = {FULLY_CONNECTED, GELU},
        .in = {1, {0}},
        .out = {1, {4}},
    };
}

/* A reshape by a shape tensor. */
static void reshape(tw_tflt_model *m)
{
    static const int32_t shape[] = {4, -1};
    *m = (tw_tflt_model){
        .tensor_count = 3,
        .tensors = {{"x", {2, {2, 4}}, 0, 0, 0, 0},
                    {"shape", {1, {2}}, 2, 1, 0, 0},
                    {"y", {2, {4, 2}}, 0, 0, 0, 0}},
        .operator_count = 1,
        .operators = {{0, {2, {0, 1}}, {1, {2}}}},
        .buffer_count = 1,
        .buffers = {{shape, sizeof shape, 0}},
        .code_count = 1,
        .codes = {RESHAPE},
        .in = {1, {0}},
        .out = {1, {2}},
    };
}

const char *tw_tflt_example(int index, tw_tflt_model *m)
{
    switch (index) {
    case 0: sums(m); return "sums";
    case 1: layer(m); return "layer";
    case 2: reshape(m); return "reshape";
    case 3:
        sums(m);
        m->tensors[1].buffer = 77;
        return "bad-buffer";
    case 4:
        sums(m);
        m->operators[0].in.v[1] = 99;
        return "bad-tensor";
    case 5:
        sums(m);
        m->operators[1].code = 13;
        return "bad-code";
    case 6:
        sums(m);
        m->operators[1].in.v[0] = -2;
        return "bad-absent";
    case 7:
        sums(m);
        m->out.v[0] = 5;
        return "bad-output";
    case 8:
        reshape(m);
        m->tensors[1].shape.v[0] = 4;
        return "bad-short-shape";
    case 9:
        layer(m);
        m->buffers[0].bytes = 5;
        return "bad-short-weights";
    case 10:
        sums(m);
        m->tensors[0].shape.v[0] = -7;
        return "bad-extent";
    case 11:
        layer(m);
        m->tensors[1].shape = (tw_tflt_list){2, {65536, 65536}};
        return "bad-huge";
    default: return 0;
    }
}
