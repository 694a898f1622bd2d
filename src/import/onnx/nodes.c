/* Nodes: in which order, by which row, with which inputs and attributes; functions and branches in
 * place. */
#include <stdio.h>
#include <string.h>

#include "import/foreign/foreign.h"
#include "import/onnx/model.h"

/* For messages: the node's name, or its first output's. */
static const char *node_name(tw_onnx *o, const Tw__Onnx__Node *proto, int index)
{
    const char *name = tw_onnx_or_empty(proto->name);
    for (size_t i = 0; !*name && i < proto->n_output; i++)
        name = proto->output[i];
    return *name ? tw_format(o->b.arena, "%s%s", o->scope->prefix, name)
                 : tw_format(o->b.arena, "%snode %d", o->scope->prefix, index);
}

/* --- what a node is given ---------------------------------------------------------------------- */

/* The attribute that one of a function's body refers to: as the call gives it, or the function's
 * default. Null where neither has it. */
static const Tw__Onnx__Attribute *referred(const tw_onnx_scope *scope, const char *name)
{
    for (int i = 0; i < scope->call->attribute_count; i++)
        if (strcmp(scope->call->attributes[i].name, name) == 0) {
            scope->call->attributes[i].read = true;
            return scope->call->attributes[i].value;
        }
    for (size_t i = 0; i < scope->function->n_attribute_proto; i++)
        if (strcmp(tw_onnx_or_empty(scope->function->attribute_proto[i]->name), name) == 0)
            return scope->function->attribute_proto[i];
    return NULL;
}

static bool bind_attributes(const tw_onnx *o, tw_onnx_node *n)
{
    size_t count = n->proto->n_attribute;
    if (count > TW_ONNX_ATTRIBUTES)
        return TW_ONNX_FAIL(n, "it has %zu attributes; no operator has so many", count);
    n->attributes = tw_alloc_array(n->b->arena, count + 1, sizeof *n->attributes);
    for (size_t i = 0; i < count; i++) {
        const Tw__Onnx__Attribute *a = n->proto->attribute[i];
        const char *name = tw_onnx_or_empty(a->name), *other = tw_onnx_or_empty(a->ref_attr_name);
        for (int k = 0; k < n->attribute_count; k++)
            if (strcmp(name, n->attributes[k].name) == 0)
                return TW_ONNX_FAIL(n, "the attribute %s is given twice", name);
        if (*other && !o->scope->call)
            return TW_ONNX_FAIL(n,
                                "the attribute %s refers to one of a function, of which this "
                                "node is no part",
                                name);
        if (*other)
            a = referred(o->scope, other);
        if (a)
            n->attributes[n->attribute_count++] = (tw_onnx_attribute_slot){name, a, false};
    }
    return true;
}

/* As the row takes floats that are not f32. Functions take all as it is. */
static bool bind_element_type(tw_onnx *o, tw_onnx_node *n, int i)
{
    const tw_onnx_narrow *type = n->row ? tw_onnx_narrow_of(o, n->in[i]) : NULL;
    if (type && type->format && !(n->row->keeps & CODES))
        return TW_ONNX_UNSUPPORTED(n,
                                   "input %d has element type %s, which can be moved, cast, "
                                   "quantised and dequantised, but not computed with: cast it",
                                   i, type->name);
    if (n->row && !(n->row->keeps & HALVES))
        n->in[i] = tw_onnx_widened(o, n->in[i]);
    return n->in[i] != NULL;
}

static bool bind_inputs(tw_onnx *o, tw_onnx_node *n)
{
    for (int i = 0; i < n->in_count; i++) {
        const char *name = n->proto->input[i];
        const tw_onnx_binding *binding = *name ? tw_onnx_find(o, name) : NULL;
        bool absent = !*name || (binding && binding->input && !binding->value);
        if (absent) /* an empty name, or a function's input that the call leaves out */
            continue;
        if (!binding || !binding->value)
            return TW_ONNX_FAIL(n,
                                "input %d, '%s', comes from nowhere: it is neither a graph input "
                                "nor an initializer nor the result of a node",
                                i, name);
        n->in[i] = tw_onnx_value_of(o, binding);
        if (n->in[i] && tw_onnx_sequence_of(o, n->in[i])) {
            if (n->row && !(n->row->keeps & LISTS))
                return TW_ONNX_UNSUPPORTED(
                    n, "input %d, '%s', is %s; the operator takes tensors", i, name,
                    tw_onnx_sequence_of(o, n->in[i])->count < 0 ? "an optional that holds nothing"
                                                                : "a sequence");
            continue;
        }
        if (n->row && !(n->row->keeps & KEEPS))
            n->in[i] = tw_build_with_quant(n->b, n->in[i], (tw_quant){0, 0, NULL, NULL});
        if (!n->in[i] || !bind_element_type(o, n, i))
            return false;
    }
    return true;
}

static bool check_counts(const tw_onnx_node *n)
{
    const tw_onnx_row *row = n->row;
    if (n->in_count < row->least_in || (row->most_in >= 0 && n->in_count > row->most_in))
        return TW_ONNX_FAIL(n, "it has %d inputs, %d to %d are possible", n->in_count,
                            row->least_in, row->most_in < 0 ? INT32_MAX : row->most_in);
    if (n->out_count < 1 || (row->most_out >= 0 && n->out_count > row->most_out))
        return TW_ONNX_FAIL(n, "it has %d outputs, 1 to %d are possible", n->out_count,
                            row->most_out < 0 ? INT32_MAX : row->most_out);
    for (int i = 0; i < row->least_in; i++)
        if (!n->in[i])
            return TW_ONNX_FAIL(n, "input %d is missing", i);
    return true;
}

/* --- what a node leaves ------------------------------------------------------------------------ */

/* Does the value have a name that it must keep: one of this scope or of one around it? */
static bool is_taken(const tw_onnx *o, const tw_value *value)
{
    const tw_onnx_binding *named = tw_map_get(&o->named, value->name);
    return named && named->value == value && named->depth <= o->scope->depth;
}

/* Give results the model's names. A result that already has one gets a second through Identity. */
static bool bind_outputs(tw_onnx *o, tw_onnx_node *n)
{
    for (int i = 0; i < n->out_count; i++) {
        if (!tw_onnx_wants(n, i))
            continue;
        tw_value *value = n->out[i];
        if (!value)
            return TW_ONNX_UNSUPPORTED(n, "its output %d, '%s', is not supported", i,
                                       n->proto->output[i]);
        const tw_onnx_sequence *sequence = tw_onnx_sequence_of(o, value);
        if (sequence && is_taken(o, value))
            value = tw_onnx_make_sequence(o, sequence->v, sequence->count);
        bool moved = n->row && (n->row->keeps & MOVES) == MOVES && n->in_count && n->in[0] &&
                     n->in[0]->shape.dtype == value->shape.dtype;
        const tw_onnx_narrow *type = tw_onnx_narrow_of(o, moved ? n->in[0] : value);
        if (is_taken(o, value))
            value = tw_build1(n->b, "Identity", value, NULL);
        if (!value)
            return false;
        tw_onnx_name(o, tw_onnx_find(o, n->proto->output[i]), value);
        tw_onnx_note_type(o, value, type);
    }
    return true;
}

static bool refuse_unread(const tw_onnx_node *n)
{
    for (int i = 0; i < n->attribute_count; i++)
        if (!n->attributes[i].read)
            return TW_ONNX_UNSUPPORTED(n, "the attribute %s is not supported (opset %lld)",
                                       n->attributes[i].name, (long long)n->opset);
    return true;
}

/* --- bodies in place --------------------------------------------------------------------------- */

/* The inputs of a function stand for the call's; those that the call leaves out have no value. */
static bool declare_parameters(tw_onnx_node *n, const Tw__Onnx__Function *f)
{
    for (size_t i = 0; i < f->n_input; i++) {
        tw_onnx_binding *b = tw_onnx_declare(n->onnx, f->input[i], -1, "an input of the function");
        if (!b)
            return false;
        b->input = true;
        b->value = tw_onnx_in(n, (int)i);
    }
    return true;
}

/* How much a body weighs: what importing it goes through. */
static size_t body_parts(const tw_onnx_scope *scope, size_t more)
{
    size_t parts = more + scope->node_count;
    for (size_t i = 0; i < scope->node_count; i++)
        parts +=
            scope->nodes[i]->n_input + scope->nodes[i]->n_output + scope->nodes[i]->n_attribute;
    return parts;
}

/* Output i of a body that has been imported. */
static bool take_output(tw_onnx_node *n, int i, bool wanted, const char *name, tw_value **out)
{
    const tw_onnx_binding *b = tw_onnx_find(n->onnx, tw_onnx_or_empty(name));
    if ((!b || (!b->value && !b->input)) && wanted)
        return TW_ONNX_FAIL(n, "its output %d, '%s', comes from nowhere in its body", i,
                            tw_onnx_or_empty(name));
    *out = b ? tw_onnx_value_of(n->onnx, b) : NULL;
    return true;
}

/* Output i of an attribute's graph. Floats are f32, so that all graphs of a node agree. */
static bool take_result(tw_onnx_node *n, int i, const char *name, tw_value **out)
{
    if (!take_output(n, i, true, name, out))
        return false;
    *out = *out ? tw_onnx_widened(n->onnx, *out) : NULL;
    return true;
}

/* The inputs of an attribute's graph stand for values that are there. */
static bool declare_inputs(tw_onnx_node *n, const Tw__Onnx__Graph *g, tw_value *const *in)
{
    for (size_t i = 0; i < g->n_input; i++) {
        tw_onnx_binding *b = tw_onnx_declare(n->onnx, tw_onnx_or_empty(g->input[i]->name), -1,
                                             "an input of the body");
        if (!b)
            return false;
        b->input = true;
        b->value = in[i];
    }
    return true;
}

/* Enter a function's or an attribute's graph's scope, unless there are too many; *around: to come back. */
static bool enter(tw_onnx_node *n, tw_onnx_scope *scope, size_t more, tw_onnx_scope **around)
{
    tw_onnx *o = n->onnx;
    *around = o->scope;
    if (o->scope->depth >= TW_ONNX_DEPTH)
        return TW_ONNX_UNSUPPORTED(n, "more than %d functions and branches are inside each other",
                                   TW_ONNX_DEPTH);
    o->expanded += body_parts(scope, more);
    if (o->expanded > TW_ONNX_EXPANSION)
        return TW_ONNX_UNSUPPORTED(
            n, "functions and branches expand to more than %d nodes and names", TW_ONNX_EXPANSION);
    scope->depth = o->scope->depth + 1;
    scope->prefix = tw_format(n->b->arena, "%s/", n->b->node);
    o->scope = scope;
    return true;
}

static bool import_call(tw_onnx_node *n, const Tw__Onnx__Function *f)
{
    tw_onnx_scope scope = {.nodes = f->node,
                           .node_count = f->n_node,
                           .opsets = f->opset_import,
                           .opset_count = f->n_opset_import,
                           .call = n,
                           .function = f};
    if ((size_t)n->in_count > f->n_input || (size_t)n->out_count > f->n_output)
        return TW_ONNX_FAIL(n,
                            "the function takes %zu inputs and gives %zu outputs, the call has "
                            "%d and %d",
                            f->n_input, f->n_output, n->in_count, n->out_count);
    tw_onnx_scope *around;
    const char *name = n->b->node;
    if (!enter(n, &scope, f->n_input + f->n_attribute_proto, &around))
        return false;
    bool ok =
        declare_parameters(n, f) && tw_onnx_declare_nodes(n->onnx) && tw_onnx_import_nodes(n->onnx);
    for (int i = 0; ok && i < n->out_count; i++)
        ok = take_output(n, i, tw_onnx_wants(n, i), f->output[i], &n->out[i]);
    n->onnx->scope = around;
    n->b->node = name;
    return ok;
}

bool tw_onnx_graph_here(tw_onnx_node *n, const Tw__Onnx__Graph *g, tw_value *const *in,
                        int in_count, tw_value **out, int out_count)
{
    tw_onnx *o = n->onnx;
    tw_onnx_scope scope = {.outer = o->scope,
                           .nodes = g->node,
                           .node_count = g->n_node,
                           .opsets = o->scope->opsets,
                           .opset_count = o->scope->opset_count,
                           .call = o->scope->call,
                           .function = o->scope->function};
    tw_onnx_scope *around;
    const char *name = n->b->node;
    if ((size_t)in_count != g->n_input || (size_t)out_count > g->n_output)
        return TW_ONNX_FAIL(n, "the body takes %zu and gives %zu tensors, not %d and %d",
                            g->n_input, g->n_output, in_count, out_count);
    if (!enter(n, &scope, g->n_initializer + g->n_input, &around))
        return false;
    bool ok = declare_inputs(n, g, in) && tw_onnx_import_initializers(o, g) &&
              tw_onnx_declare_nodes(o) && tw_onnx_import_nodes(o);
    for (int i = 0; ok && i < out_count; i++)
        ok = take_result(n, i, g->output[i]->name, &out[i]);
    o->scope = around;
    n->b->node = name;
    return ok;
}

/* --- one node ---------------------------------------------------------------------------------- */

static const char *function_key(const tw_onnx *o, const char *domain, const char *name,
                                const char *overload)
{
    return tw_format(o->b.arena, "%s/%s/%s", tw_onnx_domain(domain), tw_onnx_or_empty(name),
                     tw_onnx_or_empty(overload));
}

bool tw_onnx_declare_functions(tw_onnx *o)
{
    for (size_t i = 0; i < o->model->n_functions; i++) {
        Tw__Onnx__Function *f = o->model->functions[i];
        const char *key = function_key(o, f->domain, f->name, f->overload);
        if (tw_map_get(&o->functions, key))
            return tw_fail(o->b.diag, TW_CODE_FAILED, f->name, NULL,
                           "two functions of the model have this name");
        tw_map_put(o->b.arena, &o->functions, key, f);
    }
    return true;
}

/* By our own row where there is one, else by the model's function. */
static bool import_by(tw_onnx *o, tw_onnx_node *n)
{
    const char *domain = tw_onnx_domain(n->proto->domain), *shown = *domain ? domain : "ai.onnx";
    n->opset = tw_onnx_opset_of(o, domain);
    n->row = tw_map_get(&o->rows, tw_format(n->b->arena, "%s/%s", domain, n->op));
    if (!n->row && tw_vocabulary_by_name(domain, strlen(domain)))
        n->row = &tw_onnx_foreign_row;
    const Tw__Onnx__Function *function =
        n->row ? NULL
               : tw_map_get(&o->functions, function_key(o, domain, n->op, n->proto->overload));
    if (!n->row && !function)
        return TW_ONNX_UNSUPPORTED(n,
                                   "the operator %s of domain '%s' (opset %lld) is not "
                                   "supported; `tilewright ops --system onnx` lists those that "
                                   "are",
                                   n->op, shown, (long long)n->opset);
    if (n->opset == 0)
        return TW_ONNX_FAIL(n, "the model does not import the operators of domain '%s'", shown);
    if (!bind_attributes(o, n) || !bind_inputs(o, n))
        return false;
    if (function)
        return import_call(n, function);
    const bool ok = check_counts(n) && n->row->import(n) && n->b->diag->code == TW_CODE_OK;
    if (!ok && n->row != &tw_onnx_foreign_row)
        tw_onnx_name_attributes(n);
    return ok && refuse_unread(n);
}

/* Whatever the nodes do, together they take no more than the limit. */
static bool is_affordable(const tw_onnx *o, const tw_onnx_node *n)
{
    return tw_arena_bytes(n->b->arena) <= o->limit ||
           TW_ONNX_UNSUPPORTED(n,
                               "with this node the import has taken %zu MB of memory, which is too "
                               "much for a file of this size; fold its constants when exporting it",
                               tw_arena_bytes(n->b->arena) >> 20);
}

static bool import_node(tw_onnx *o, const Tw__Onnx__Node *proto, int index)
{
    tw_builder *b = &o->b;
    const char *name = node_name(o, proto, index);
    b->node = name;
    tw_onnx_node n = {.onnx = o,
                      .b = b,
                      .proto = proto,
                      .op = tw_onnx_or_empty(proto->op_type),
                      .in_count = (int)proto->n_input,
                      .out_count = (int)proto->n_output};
    b->graph->spelling = tw_strdup(b->arena, n.op);
    n.in = tw_alloc_array(b->arena, proto->n_input + 1, sizeof *n.in);
    n.out = tw_alloc_array(b->arena, proto->n_output + 1, sizeof *n.out);
    bool fresh = b->diag->code == TW_CODE_OK;
    if (fresh && import_by(o, &n) && bind_outputs(o, &n) && is_affordable(o, &n))
        return true;
    if (b->diag->code == TW_CODE_OK)
        TW_ONNX_FAIL(&n, "the operator cannot be imported");
    /* Messages from below speak of IR operators; the user knows the model's. What failed inside a
     * function or branch has been named there. */
    if (!o->failed) {
        snprintf(b->diag->operator_name, sizeof b->diag->operator_name, "%s", n.op);
        if (!b->diag->node[0])
            snprintf(b->diag->node, sizeof b->diag->node, "%s", name);
    }
    o->failed = true;
    return false;
}

/* --- all nodes --------------------------------------------------------------------------------- */

bool tw_onnx_declare_nodes(tw_onnx *o)
{
    for (size_t n = 0; n < o->scope->node_count; n++) {
        const Tw__Onnx__Node *proto = o->scope->nodes[n];
        for (size_t i = 0; i < proto->n_output; i++)
            if (proto->output[i][0] && !tw_onnx_declare(o, proto->output[i], (int)n, "an output"))
                return false;
    }
    return true;
}

/* What is kept of each node while the order is found: the names it reads, its branches' included,
 * of which those before `next` are imported. */
typedef struct tw_visit {
    enum { NEW, WAITING, IMPORTED } state;
    const char **reads;
    int count, capacity, next;
} tw_visit;

static void add_read(tw_onnx *o, tw_visit *v, const char *name)
{
    tw_grow(o->b.arena, &v->reads, v->count, &v->capacity, sizeof *v->reads);
    v->reads[v->count++] = name;
}

/* Names that a branch makes itself, and those of the branches around it. */
typedef struct tw_local {
    const struct tw_local *around;
    tw_map names;
} tw_local;

static bool is_local(const tw_local *local, const char *name)
{
    for (; local; local = local->around)
        if (tw_map_get(&local->names, name))
            return true;
    return false;
}

static void collect_branch(tw_onnx *o, const Tw__Onnx__Graph *g, const tw_local *around,
                           tw_visit *v);

static void collect_reads(tw_onnx *o, const Tw__Onnx__Node *proto, const tw_local *local,
                          tw_visit *v)
{
    for (size_t i = 0; i < proto->n_input; i++)
        if (!is_local(local, proto->input[i]))
            add_read(o, v, proto->input[i]);
    for (size_t a = 0; a < proto->n_attribute; a++)
        if (proto->attribute[a]->g)
            collect_branch(o, proto->attribute[a]->g, local, v);
}

/* No deeper than the pre-pass allows messages to be nested. */
static void collect_branch(tw_onnx *o, const Tw__Onnx__Graph *g, const tw_local *around,
                           tw_visit *v)
{
    tw_local local = {.around = around};
    for (size_t n = 0; n < g->n_node; n++)
        for (size_t i = 0; i < g->node[n]->n_output; i++)
            tw_map_put(o->b.arena, &local.names, g->node[n]->output[i], v);
    for (size_t i = 0; i < g->n_initializer; i++)
        tw_map_put(o->b.arena, &local.names, tw_onnx_or_empty(g->initializer[i]->name), v);
    for (size_t n = 0; n < g->n_node; n++)
        collect_reads(o, g->node[n], &local, v);
    for (size_t i = 0; i < g->n_output; i++)
        if (!is_local(&local, tw_onnx_or_empty(g->output[i]->name)))
            add_read(o, v, tw_onnx_or_empty(g->output[i]->name));
}

/* A node of this scope that must be imported before `at`; -1 for none. */
static int node_behind(tw_onnx *o, tw_visit *visit, int at)
{
    tw_visit *v = &visit[at];
    for (; v->next < v->count; v->next++) {
        const tw_onnx_binding *binding = tw_map_get(&o->scope->bindings, v->reads[v->next]);
        if (binding && binding->producer >= 0 && visit[binding->producer].state != IMPORTED)
            return binding->producer;
    }
    return -1;
}

/* Import the node behind those it depends on. ONNX asks for a topological order, which not every
 * exporter keeps. stack: room for every node. */
static bool import_behind(tw_onnx *o, int root, tw_visit *visit, int *stack)
{
    int depth = 0;
    stack[depth++] = root;
    while (depth) {
        int at = stack[depth - 1];
        const Tw__Onnx__Node *proto = o->scope->nodes[at];
        if (visit[at].state == NEW)
            collect_reads(o, proto, NULL, &visit[at]);
        visit[at].state = WAITING;
        int behind = node_behind(o, visit, at);
        if (behind < 0) {
            if (!import_node(o, proto, at))
                return false;
            visit[at].state = IMPORTED;
            depth--;
        } else if (visit[behind].state == WAITING) {
            o->failed = true;
            return tw_fail(o->b.diag, TW_CODE_FAILED, node_name(o, proto, at),
                           tw_onnx_or_empty(proto->op_type),
                           "the node depends on its own result; break the cycle");
        } else {
            stack[depth++] = behind;
        }
    }
    return true;
}

bool tw_onnx_import_nodes(tw_onnx *o)
{
    size_t count = o->scope->node_count;
    tw_visit *visit = tw_alloc_array(o->b.arena, count + 1, sizeof *visit);
    int *stack = tw_alloc_array(o->b.arena, count + 1, sizeof *stack);
    for (size_t n = 0; n < count; n++)
        if (visit[n].state == NEW && !import_behind(o, (int)n, visit, stack))
            return false;
    return true;
}
