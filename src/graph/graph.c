/* The graph: building, replacing, sweeping, counting readers. graph.h says what must hold. */
#include "graph/graph.h"

#include <math.h>
#include <string.h>

#include "ops/op.h"

/* ---- names: an open hash from name to the next number tried behind it ---- */

typedef struct tw_names {
    int count, size; /* size: a power of two */
    struct {
        const char *name;
        int next;
    } * slot;
} tw_names;

static uint32_t hash_text(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

static int find_slot(const tw_names *names, const char *name)
{
    uint32_t mask = (uint32_t)names->size - 1, at = hash_text(name) & mask;
    while (names->slot[at].name && strcmp(names->slot[at].name, name) != 0)
        at = (at + 1) & mask;
    return (int)at;
}

static void grow_names(tw_arena *arena, tw_names *names)
{
    tw_names larger = {names->count, names->size ? names->size * 2 : 64, NULL};
    larger.slot = tw_alloc_array(arena, (size_t)larger.size, sizeof *larger.slot);
    for (int i = 0; i < names->size; i++)
        if (names->slot[i].name)
            larger.slot[find_slot(&larger, names->slot[i].name)] = names->slot[i];
    *names = larger;
}

const char *tw_unique_name(tw_graph *graph, const char *base)
{
    tw_names *names = graph->names;
    if (names->count * 2 >= names->size)
        grow_names(graph->arena, names);
    if (!base || !*base)
        base = "t";
    const char *name = base;
    int at = find_slot(names, name);
    while (names->slot[at].name) {
        int first = find_slot(names, base);
        name = tw_format(graph->arena, "%s_%d", base, ++names->slot[first].next);
        at = find_slot(names, name);
    }
    names->slot[at].name = name == base ? tw_strdup(graph->arena, base) : name;
    names->count++;
    return names->slot[at].name;
}

/* ---- building ---- */

tw_graph *tw_graph_new(tw_arena *arena, const char *name)
{
    tw_graph *graph = tw_alloc(arena, sizeof *graph);
    graph->arena = arena;
    graph->name = tw_strdup(arena, name && *name ? name : "graph");
    graph->names = tw_alloc(arena, sizeof(tw_names));
    return graph;
}

tw_value *tw_graph_value(tw_graph *graph, const char *name, tw_shape shape)
{
    tw_value *value = tw_alloc(graph->arena, sizeof *value);
    value->name = tw_unique_name(graph, name);
    value->shape = shape;
    tw_grow(graph->arena, &graph->values, graph->value_count, &graph->value_capacity,
            sizeof *graph->values);
    graph->values[graph->value_count++] = value;
    return value;
}

tw_value *tw_graph_input(tw_graph *graph, const char *name, tw_shape shape)
{
    tw_value *value = tw_graph_value(graph, name, shape);
    value->is_input = true;
    tw_grow(graph->arena, &graph->inputs, graph->input_count, &graph->input_capacity,
            sizeof *graph->inputs);
    graph->inputs[graph->input_count++] = value;
    return value;
}

tw_value *tw_graph_constant(tw_graph *graph, const char *name, tw_shape shape, const void *data)
{
    tw_value *value = tw_graph_value(graph, name, shape);
    value->data = data;
    return value;
}

void tw_graph_output(tw_graph *graph, tw_value *value)
{
    value->is_output = true;
    tw_grow(graph->arena, &graph->outputs, graph->output_count, &graph->output_capacity,
            sizeof *graph->outputs);
    graph->outputs[graph->output_count++] = value;
}

static tw_value *add_state(tw_graph *graph, tw_value *value, const void *initial)
{
    value->is_state = true;
    tw_grow(graph->arena, &graph->states, graph->state_count, &graph->state_capacity,
            sizeof *graph->states);
    graph->states[graph->state_count++] = (tw_state){value, NULL, initial};
    return value;
}

tw_value *tw_graph_state(tw_graph *graph, const char *name, tw_shape shape, const void *initial)
{
    return add_state(graph, tw_graph_value(graph, name, shape), initial);
}

void tw_graph_note(tw_graph *graph, const char *kind, const char *text)
{
    tw_grow(graph->arena, &graph->notes, graph->note_count, &graph->note_capacity,
            sizeof *graph->notes);
    graph->notes[graph->note_count++] = (tw_note){kind, tw_strdup(graph->arena, text)};
}

void tw_graph_make_state(tw_graph *graph, tw_value *input)
{
    input->is_input = false;
    add_state(graph, input, NULL);
}

bool tw_graph_state_next(tw_graph *graph, tw_value *current, tw_value *next, tw_diag *diag)
{
    for (int i = 0; i < graph->state_count; i++) {
        if (graph->states[i].current != current)
            continue;
        if (!tw_shape_equal(&current->shape, &next->shape)) {
            char have[96], given[96];
            tw_shape_text(&current->shape, have, sizeof have);
            tw_shape_text(&next->shape, given, sizeof given);
            return tw_fail(diag, TW_CODE_FAILED, current->name, "",
                           "the state is %s and cannot become %s (%s)", have, next->name, given);
        }
        graph->states[i].next = next;
        next->is_output = true;
        return true;
    }
    return tw_fail(diag, TW_CODE_FAILED, current->name, "", "is not a state");
}

bool tw_attributes_check(const tw_opdef *op, const char *node, const void *attributes,
                         tw_diag *diag)
{
    for (int i = 0; i < op->attribute_count; i++) {
        const tw_attribute *a = &op->attributes[i];
        const char *field = (const char *)attributes + a->offset;
        tw_ints ints = {1, {0}};
        tw_floats floats = {1, {0}};
        bool is_float = a->kind == TW_ATTRIBUTE_FLOAT || a->kind == TW_ATTRIBUTE_FLOATS;
        if (a->kind == TW_ATTRIBUTE_INTS)
            memcpy(&ints, field, sizeof ints);
        else if (a->kind == TW_ATTRIBUTE_FLOATS)
            memcpy(&floats, field, sizeof floats);
        else
            memcpy(is_float ? (void *)floats.v : (void *)ints.v, field, 4);
        int count = is_float ? floats.count : ints.count;
        if (count < 0 || count > TW_MAX_RANK)
            return tw_fail(diag, TW_CODE_FAILED, node, op->name,
                           "%s holds %d elements, at most %d are allowed", a->name, count,
                           TW_MAX_RANK);
        for (int k = 0; k < count; k++) {
            double v = is_float ? (double)floats.v[k] : ints.v[k];
            if (!(v >= a->least && v <= a->greatest) && !(is_float && isnan(v)))
                return tw_fail(diag, TW_CODE_FAILED, node, op->name,
                               "%s is %g, it must lie between %g and %g", a->name, v, a->least,
                               a->greatest);
        }
    }
    return true;
}

void tw_attributes_default(const tw_opdef *op, void *attributes)
{
    memset(attributes, 0, op->attribute_bytes);
    for (int i = 0; i < op->attribute_count; i++) {
        const tw_attribute *a = &op->attributes[i];
        char *field = (char *)attributes + a->offset;
        float f = (float)a->initial;
        if (a->kind == TW_ATTRIBUTE_FLOAT) {
            memcpy(field, &f, sizeof f);
        } else if (a->kind < TW_ATTRIBUTE_FLOAT) {
            int32_t v = (int32_t)a->initial;
            memcpy(field, &v, sizeof v);
        }
    }
}

static bool check_out_shape(const tw_opdef *op, const char *name, const tw_shape *shape,
                            tw_diag *diag)
{
    int64_t bytes = tw_dtype_bytes(shape->dtype);
    if (bytes == 0 || shape->rank < 0 || shape->rank > TW_MAX_RANK)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, name, op->name,
                       "the result has rank %d; at most %d is supported", shape->rank, TW_MAX_RANK);
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[i] < 0)
            return tw_fail(diag, TW_CODE_FAILED, name, op->name,
                           "extent %d of the result is %d; check pads, kernel and input shape", i,
                           (int)shape->dim[i]);
        bytes *= shape->dim[i];
        if (bytes > INT32_MAX)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, name, op->name,
                           "the result is larger than 2 GB");
    }
    return true;
}

/* All that can fail, before anything is added to the graph. */
static bool infer(const tw_opdef *op, const char *name, tw_value *const *in, int in_count,
                  int out_count, const void *attributes, tw_graph *const *body, tw_shape *out,
                  tw_diag *diag)
{
    if (op->bodies && !body)
        return tw_fail(diag, TW_CODE_FAILED, name, op->name, "its %d bodies are missing",
                       op->bodies);
    if (in_count < op->min_in || in_count > op->max_in)
        return tw_fail(diag, TW_CODE_FAILED, name, op->name, "%d inputs given, it takes %d to %d",
                       in_count, op->min_in, op->max_in);
    if (out_count < op->min_out || out_count > op->max_out)
        return tw_fail(diag, TW_CODE_FAILED, name, op->name, "%d outputs named, it has %d to %d",
                       out_count, op->min_out, op->max_out);
    for (int i = 0; i < op->min_in; i++)
        if (!in[i])
            return tw_fail(diag, TW_CODE_FAILED, name, op->name, "input %d is missing", i);
    if (op->attribute_bytes && !tw_attributes_check(op, name, attributes, diag))
        return false;
    tw_shape_call call = {op, name, in_count, out_count, in, attributes, out, diag, body};
    if (!(op->shape ? op->shape : tw_shape_default)(&call))
        return false;
    for (int i = 0; i < out_count; i++) {
        for (int k = out[i].rank < 0 ? 0 : out[i].rank; k < TW_MAX_RANK; k++)
            out[i].dim[k] = 1;
        if (!check_out_shape(op, name, &out[i], diag))
            return false;
    }
    return true;
}

static tw_node *make_node(tw_graph *graph, const tw_opdef *op, const char *name,
                          tw_value *const *in, int in_count, int out_count,
                          const char *const *out_names, const void *attributes,
                          tw_graph *const *body, tw_diag *diag)
{
    tw_arena *arena = graph->arena;
    void *own = NULL;
    if (op->attribute_bytes) {
        own = tw_alloc(arena, op->attribute_bytes);
        if (attributes)
            memcpy(own, attributes, op->attribute_bytes);
        else
            tw_attributes_default(op, own);
    }
    if (!name)
        name = out_names && out_names[0] ? out_names[0] : op->name;
    tw_shape shapes[TW_MAX_NODE_OPERANDS] = {{TW_NO_DTYPE, 0, {0}}};
    if (out_count > TW_MAX_NODE_OPERANDS || out_count < 1) {
        tw_fail(diag, TW_CODE_UNSUPPORTED, name, op->name, "%d outputs; at most %d are supported",
                out_count, TW_MAX_NODE_OPERANDS);
        return NULL;
    }
    if (!infer(op, name, in, in_count, out_count, own, body, shapes, diag))
        return NULL;

    tw_node *node = tw_alloc(arena, sizeof *node);
    node->op = op;
    node->name = tw_strdup(arena, name);
    node->spelling = graph->spelling;
    node->in_count = in_count;
    node->out_count = out_count;
    node->in = tw_copy(arena, in, sizeof(tw_value *) * (size_t)in_count);
    node->out = tw_alloc_array(arena, (size_t)out_count, sizeof(tw_value *));
    node->attributes = own;
    node->clamp = (tw_clamp){-INFINITY, INFINITY};
    if (op->bodies)
        node->body = tw_copy(arena, body, sizeof *body * (size_t)op->bodies);
    for (int i = 0; i < out_count; i++) {
        const char *out_name = out_names && out_names[i] ? out_names[i] : node->name;
        node->out[i] = tw_graph_value(graph, out_name, shapes[i]);
        node->out[i]->producer = node;
        if ((op->kind == TW_MOVE || op->kind == TW_VIEW) && in_count && in[0]->quant.count == 1)
            node->out[i]->quant = in[0]->quant;
        if (op->bodies)
            node->out[i]->quant = body[op->bodies - 1]->outputs[i]->quant;
    }
    return node;
}

tw_node *tw_graph_node(tw_graph *graph, const tw_opdef *op, const char *name, tw_value *const *in,
                       int in_count, int out_count, const char *const *out_names,
                       const void *attributes, tw_diag *diag)
{
    return tw_graph_control(graph, op, name, in, in_count, out_count, out_names, attributes, NULL,
                            diag);
}

tw_node *tw_graph_control(tw_graph *graph, const tw_opdef *op, const char *name,
                          tw_value *const *in, int in_count, int out_count,
                          const char *const *out_names, const void *attributes,
                          tw_graph *const *body, tw_diag *diag)
{
    tw_node *node =
        make_node(graph, op, name, in, in_count, out_count, out_names, attributes, body, diag);
    if (!node)
        return NULL;
    tw_grow(graph->arena, &graph->nodes, graph->node_count, &graph->node_capacity,
            sizeof *graph->nodes);
    graph->nodes[graph->node_count++] = node;
    return node;
}

tw_node *tw_graph_node_before(tw_graph *graph, const tw_node *position, const tw_opdef *op,
                              const char *name, tw_value *const *in, int in_count, int out_count,
                              const void *attributes, tw_diag *diag)
{
    tw_node *node = tw_graph_node(graph, op, name, in, in_count, out_count, NULL, attributes, diag);
    if (!node)
        return NULL;
    int at = graph->node_count - 1;
    while (at > 0 && graph->nodes[at - 1] != position) {
        graph->nodes[at] = graph->nodes[at - 1];
        at--;
    }
    if (at > 0) {
        graph->nodes[at] = graph->nodes[at - 1];
        graph->nodes[at - 1] = node;
    } else {
        graph->nodes[0] = node;
    }
    return node;
}

void tw_graph_replace(tw_graph *graph, tw_value *from, tw_value *to)
{
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n]->in_count; i++)
            if (graph->nodes[n]->in[i] == from)
                graph->nodes[n]->in[i] = to;
    for (int i = 0; i < graph->output_count; i++)
        if (graph->outputs[i] == from)
            graph->outputs[i] = to;
    for (int i = 0; i < graph->state_count; i++)
        if (graph->states[i].next == from)
            graph->states[i].next = to;
    if (from->is_output) {
        from->is_output = false;
        to->is_output = true;
    }
}

/* ---- sweeping ---- */

/* Append node and, before it, every live producer it depends on that is not placed yet. An explicit
 * stack: graphs are deep. state: 0 new, 1 on the stack, 2 placed. */
static bool place(tw_node *root, tw_node **order, int *count, char *state, tw_node **stack,
                  tw_diag *diag)
{
    int depth = 0;
    stack[depth++] = root;
    while (depth) {
        tw_node *node = stack[depth - 1];
        tw_node *waiting = NULL;
        state[node->index] = 1;
        for (int i = 0; i < node->in_count && !waiting; i++) {
            tw_node *p = node->in[i] ? node->in[i]->producer : NULL;
            if (p && !p->removed && state[p->index] != 2)
                waiting = p;
        }
        if (!waiting) {
            depth--;
            state[node->index] = 2;
            order[(*count)++] = node;
        } else if (state[waiting->index] == 1) {
            return tw_fail(diag, TW_CODE_FAILED, node->name, node->op->name,
                           "the node depends on its own result; break the cycle");
        } else {
            stack[depth++] = waiting;
        }
    }
    return true;
}

static bool sweep_bodies(const tw_graph *graph, tw_diag *diag)
{
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n]->op->bodies; i++)
            if (!tw_graph_sweep(graph->nodes[n]->body[i], diag))
                return false;
    return true;
}

bool tw_graph_sweep(tw_graph *graph, tw_diag *diag)
{
    int live = 0;
    for (int n = 0; n < graph->node_count; n++)
        if (!graph->nodes[n]->removed)
            graph->nodes[n]->index = live++;
    tw_arena *scratch = tw_arena_new();
    tw_node **order = tw_alloc_array(scratch, (size_t)live + 1, sizeof *order);
    tw_node **stack = tw_alloc_array(scratch, (size_t)live + 1, sizeof *stack);
    char *state = tw_alloc(scratch, (size_t)live + 1);
    int count = 0;
    bool ok = true;
    for (int n = 0; ok && n < graph->node_count; n++)
        if (!graph->nodes[n]->removed && state[graph->nodes[n]->index] == 0)
            ok = place(graph->nodes[n], order, &count, state, stack, diag);
    if (ok) {
        if (count)
            memcpy(graph->nodes, order, sizeof *order * (size_t)count);
        graph->node_count = count;
        for (int i = 0; i < graph->value_count; i++)
            graph->values[i]->index = graph->values[i]->is_input || graph->values[i]->is_state ||
                                      graph->values[i]->is_output;
        for (int n = 0; n < count; n++) {
            for (int i = 0; i < graph->nodes[n]->in_count; i++)
                if (graph->nodes[n]->in[i])
                    graph->nodes[n]->in[i]->index = 1;
            for (int i = 0; i < graph->nodes[n]->out_count; i++)
                if (graph->nodes[n]->out[i])
                    graph->nodes[n]->out[i]->index = 1;
        }
        int kept = 0;
        for (int i = 0; i < graph->value_count; i++)
            if (graph->values[i]->index)
                graph->values[kept++] = graph->values[i];
        graph->value_count = kept;
    }
    tw_arena_free(scratch);
    return ok && sweep_bodies(graph, diag);
}

/* ---- readers ---- */

tw_uses tw_graph_uses(tw_graph *graph, tw_arena *arena)
{
    tw_uses uses = {tw_alloc_array(arena, (size_t)graph->value_count + 2, sizeof(int)), NULL};
    for (int v = 0; v < graph->value_count; v++)
        graph->values[v]->index = v;
    int total = 0;
    for (int n = 0; n < graph->node_count; n++) {
        tw_node *node = graph->nodes[n];
        node->index = n;
        for (int i = 0; i < node->in_count; i++)
            if (node->in[i]) {
                uses.first[node->in[i]->index + 2]++;
                total++;
            }
    }
    for (int v = 0; v < graph->value_count; v++)
        uses.first[v + 2] += uses.first[v + 1];
    uses.readers = tw_alloc_array(arena, (size_t)total + 1, sizeof *uses.readers);
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n]->in_count; i++)
            if (graph->nodes[n]->in[i])
                uses.readers[uses.first[graph->nodes[n]->in[i]->index + 1]++] = graph->nodes[n];
    return uses;
}

int tw_use_count(const tw_uses *uses, const tw_value *value)
{
    return uses->first[value->index + 1] - uses->first[value->index];
}

uint64_t tw_graph_macs(const tw_graph *graph)
{
    uint64_t macs = 0;
    for (int n = 0; n < graph->node_count; n++)
        if (graph->nodes[n]->op->macs)
            macs += graph->nodes[n]->op->macs(graph->nodes[n]);
    return macs;
}
