/* Protobuf and ONNX by hand: field numbers as onnx.proto has them. */
#include "support/onnx_model.h"

#include <string.h>

static void put(tw_wire_bytes *w, const void *data, size_t bytes)
{
    if (w->bytes + bytes > w->capacity) {
        size_t larger = 2 * (w->bytes + bytes) + 64;
        uint8_t *fresh = tw_alloc(w->arena, larger);
        if (w->bytes)
            memcpy(fresh, w->data, w->bytes);
        w->data = fresh;
        w->capacity = larger;
    }
    if (bytes)
        memcpy(w->data + w->bytes, data, bytes);
    w->bytes += bytes;
}

void tw_wire_varint(tw_wire_bytes *w, uint64_t value)
{
    for (; value > 127; value >>= 7)
        put(w, &(uint8_t){(uint8_t)(value | 128)}, 1);
    put(w, &(uint8_t){(uint8_t)value}, 1);
}

void tw_wire_number(tw_wire_bytes *w, uint32_t field, uint64_t value)
{
    tw_wire_varint(w, field << 3);
    tw_wire_varint(w, value);
}

void tw_wire_float(tw_wire_bytes *w, uint32_t field, float value)
{
    tw_wire_varint(w, field << 3 | 5);
    put(w, &value, sizeof value);
}

void tw_wire_data(tw_wire_bytes *w, uint32_t field, const void *data, size_t bytes)
{
    tw_wire_varint(w, field << 3 | 2);
    tw_wire_varint(w, bytes);
    put(w, data, bytes);
}

void tw_wire_text(tw_wire_bytes *w, uint32_t field, const char *text)
{
    tw_wire_data(w, field, text, strlen(text));
}

void tw_wire_message(tw_wire_bytes *w, uint32_t field, const tw_wire_bytes *message)
{
    tw_wire_data(w, field, message->data, message->bytes);
}

/* --- ONNX -------------------------------------------------------------------------------------- */

tw_onnx_writer tw_onnx_write(tw_arena *arena, int opset)
{
    tw_wire_bytes none = {.arena = arena};
    return (tw_onnx_writer){
        .graph = none, .node = none, .functions = none, .node_field = 1, .opset = opset};
}

tw_onnx_writer tw_onnx_write_body(tw_arena *arena, int opset)
{
    tw_onnx_writer w = tw_onnx_write(arena, opset);
    w.node_field = 7;
    return w;
}

static void end_node(tw_onnx_writer *w)
{
    if (w->node.bytes)
        tw_wire_message(&w->graph, w->node_field, &w->node);
    w->node = (tw_wire_bytes){.arena = w->graph.arena};
}

static void value_info(tw_onnx_writer *w, uint32_t field, const char *name, int type, int rank,
                       const int64_t *dim)
{
    tw_arena *arena = w->graph.arena;
    tw_wire_bytes info = {.arena = arena}, shape = info, tensor = info, types = info;
    for (int i = 0; i < rank; i++) {
        tw_wire_bytes one = {.arena = arena};
        if (dim[i] < 0)
            tw_wire_text(&one, 2, "n");
        else
            tw_wire_number(&one, 1, (uint64_t)dim[i]);
        tw_wire_message(&shape, 1, &one);
    }
    tw_wire_number(&tensor, 1, (uint64_t)type);
    if (rank >= 0)
        tw_wire_message(&tensor, 2, &shape);
    tw_wire_message(&types, 1, &tensor);
    tw_wire_text(&info, 1, name);
    tw_wire_message(&info, 2, &types);
    tw_wire_message(&w->graph, field, &info);
}

void tw_onnx_write_input(tw_onnx_writer *w, const char *name, int type, int rank,
                         const int64_t *dim)
{
    value_info(w, 11, name, type, rank, dim);
}

void tw_onnx_write_output(tw_onnx_writer *w, const char *name, int type)
{
    value_info(w, 12, name, type, -1, NULL);
}

tw_wire_bytes tw_onnx_tensor_bytes(tw_arena *arena, const char *name, int type, int rank,
                                   const int64_t *dim, const void *data, size_t bytes)
{
    tw_wire_bytes t = {.arena = arena};
    for (int i = 0; i < rank; i++)
        tw_wire_number(&t, 1, (uint64_t)dim[i]);
    tw_wire_number(&t, 2, (uint64_t)type);
    tw_wire_text(&t, 8, name);
    tw_wire_data(&t, 9, data, bytes);
    return t;
}

void tw_onnx_write_tensor(tw_onnx_writer *w, const char *name, int type, int rank,
                          const int64_t *dim, const void *data, size_t bytes)
{
    tw_wire_bytes t = tw_onnx_tensor_bytes(w->graph.arena, name, type, rank, dim, data, bytes);
    tw_wire_message(&w->graph, 5, &t);
}

static void names(tw_wire_bytes *node, uint32_t field, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, " ");
        tw_wire_data(node, field, text, length == 1 && *text == '-' ? 0 : length);
        text += length + (text[length] == ' ');
    }
}

void tw_onnx_write_node(tw_onnx_writer *w, const char *op, const char *inputs, const char *outputs)
{
    end_node(w);
    names(&w->node, 1, inputs);
    names(&w->node, 2, outputs);
    tw_wire_text(&w->node, 4, op);
}

void tw_onnx_write_domain(tw_onnx_writer *w, const char *domain)
{
    tw_wire_text(&w->node, 7, domain);
}

void tw_onnx_write_name(tw_onnx_writer *w, const char *name)
{
    tw_wire_text(&w->node, 3, name);
}

static tw_wire_bytes attribute(tw_onnx_writer *w, const char *name, unsigned type)
{
    tw_wire_bytes a = {.arena = w->graph.arena};
    tw_wire_text(&a, 1, name);
    tw_wire_number(&a, 20, type);
    return a;
}

void tw_onnx_write_int(tw_onnx_writer *w, const char *name, int64_t value)
{
    tw_wire_bytes a = attribute(w, name, 2);
    tw_wire_number(&a, 3, (uint64_t)value);
    tw_wire_message(&w->node, 5, &a);
}

void tw_onnx_write_ints(tw_onnx_writer *w, const char *name, int count, const int64_t *values)
{
    tw_wire_bytes a = attribute(w, name, 7);
    for (int i = 0; i < count; i++)
        tw_wire_number(&a, 8, (uint64_t)values[i]);
    tw_wire_message(&w->node, 5, &a);
}

void tw_onnx_write_real(tw_onnx_writer *w, const char *name, float value)
{
    tw_wire_bytes a = attribute(w, name, 1);
    tw_wire_float(&a, 2, value);
    tw_wire_message(&w->node, 5, &a);
}

void tw_onnx_write_word(tw_onnx_writer *w, const char *name, const char *value)
{
    tw_wire_bytes a = attribute(w, name, 3);
    tw_wire_text(&a, 4, value);
    tw_wire_message(&w->node, 5, &a);
}

void tw_onnx_write_reals(tw_onnx_writer *w, const char *name, int count, const float *values)
{
    tw_wire_bytes a = attribute(w, name, 6);
    for (int i = 0; i < count; i++)
        tw_wire_float(&a, 7, values[i]);
    tw_wire_message(&w->node, 5, &a);
}

void tw_onnx_write_words(tw_onnx_writer *w, const char *name, int count, const char *const *values)
{
    tw_wire_bytes a = attribute(w, name, 8);
    for (int i = 0; i < count; i++)
        tw_wire_text(&a, 9, values[i]);
    tw_wire_message(&w->node, 5, &a);
}

static void external_entry(tw_wire_bytes *t, const char *key, const char *value)
{
    tw_wire_bytes entry = {.arena = t->arena};
    if (!value)
        return;
    tw_wire_text(&entry, 1, key);
    tw_wire_text(&entry, 2, value);
    tw_wire_message(t, 13, &entry);
}

void tw_onnx_write_external(tw_onnx_writer *w, const char *name, int type, int rank,
                            const int64_t *dim, const char *location, const char *offset,
                            const char *length)
{
    tw_wire_bytes t = {.arena = w->graph.arena};
    for (int i = 0; i < rank; i++)
        tw_wire_number(&t, 1, (uint64_t)dim[i]);
    tw_wire_number(&t, 2, (uint64_t)type);
    tw_wire_text(&t, 8, name);
    external_entry(&t, "location", location);
    external_entry(&t, "offset", offset);
    external_entry(&t, "length", length);
    tw_wire_number(&t, 14, 1);
    tw_wire_message(&w->graph, 5, &t);
}

void tw_onnx_write_reference(tw_onnx_writer *w, const char *name, unsigned type, const char *of)
{
    tw_wire_bytes a = attribute(w, name, type);
    tw_wire_text(&a, 21, of);
    tw_wire_message(&w->node, 5, &a);
}

void tw_onnx_write_constant(tw_onnx_writer *w, const char *name, int type, int rank,
                            const int64_t *dim, const void *data, size_t bytes)
{
    tw_wire_bytes a = attribute(w, name, 4);
    tw_wire_bytes t = tw_onnx_tensor_bytes(w->graph.arena, name, type, rank, dim, data, bytes);
    tw_wire_message(&a, 5, &t);
    tw_wire_message(&w->node, 5, &a);
}

void tw_onnx_write_branch(tw_onnx_writer *w, const char *name, tw_onnx_writer *branch)
{
    tw_wire_bytes a = attribute(w, name, 5);
    end_node(branch);
    tw_wire_message(&a, 6, &branch->graph);
    tw_wire_message(&w->node, 5, &a);
}

static void import_opset(tw_wire_bytes *to, uint32_t field, const char *domain, int version)
{
    tw_wire_bytes set = {.arena = to->arena};
    tw_wire_text(&set, 1, domain);
    tw_wire_number(&set, 2, (uint64_t)version);
    tw_wire_message(to, field, &set);
}

/* Everything of a function but its attributes, which the caller puts into `body` first. */
static void end_function(tw_onnx_writer *w, tw_onnx_writer *body, const char *domain,
                         const char *name, const char *inputs, const char *outputs)
{
    end_node(body);
    tw_wire_bytes f = body->graph;
    tw_wire_text(&f, 1, name);
    names(&f, 4, inputs);
    names(&f, 5, outputs);
    import_opset(&f, 9, "", body->opset);
    import_opset(&f, 9, "local", 1);
    tw_wire_text(&f, 10, domain);
    tw_wire_message(&w->functions, 25, &f);
}

void tw_onnx_write_function(tw_onnx_writer *w, tw_onnx_writer *body, const char *name,
                            const char *inputs, const char *outputs, const char *attributes)
{
    names(&body->graph, 6, attributes);
    end_function(w, body, "local", name, inputs, outputs);
}

void tw_onnx_write_function_of(tw_onnx_writer *w, tw_onnx_writer *body, const char *domain,
                               const char *name, const char *inputs, const char *outputs)
{
    end_function(w, body, domain, name, inputs, outputs);
}

void tw_onnx_write_function_default(tw_onnx_writer *w, tw_onnx_writer *body, const char *name,
                                    const char *inputs, const char *outputs,
                                    const char *attribute_name, float value)
{
    tw_wire_bytes a = attribute(body, attribute_name, 1);
    tw_wire_float(&a, 2, value);
    end_node(body);
    tw_wire_message(&body->graph, 11, &a);
    end_function(w, body, "local", name, inputs, outputs);
}

tw_wire_bytes tw_onnx_write_end(tw_onnx_writer *w)
{
    tw_wire_bytes model = {.arena = w->graph.arena};
    end_node(w);
    tw_wire_number(&model, 1, 8);
    tw_wire_text(&w->graph, 2, "g");
    tw_wire_message(&model, 7, &w->graph);
    import_opset(&model, 8, "", w->opset);
    put(&model, w->functions.data, w->functions.bytes);
    import_opset(&model, 8, "local", 1);
    import_opset(&model, 8, "com.microsoft", 1);
    import_opset(&model, 8, "mobilint", 1);
    import_opset(&model, 8, "qti_aisw", 1);
    import_opset(&model, 8, "tigris", 1);
    return model;
}
