/* ONNX model in, graph out. What comes in has passed the wire pre-pass; what goes out is a graph
 * whose values have the names that the model gives them. The nodes are imported one after another,
 * each with the shapes of its inputs known, so that constant shapes are constants when they are
 * needed.
 */
#include <stdio.h>
#include <string.h>

#include "import/onnx/onnx.h"
#include "import/onnx/tensor.h"
#include "import/onnx/wire.h"

/* A tensor name of the model. */
typedef struct tw_binding {
    const char *name; /* reserved in the graph */
    tw_value *value;  /* null until it is imported */
    int producer;     /* index of the node, or -1 */
    bool initializer, input;
} tw_binding;

enum { MOST_OPSETS = 64, MOST_ATTRIBUTES = 64 }; /* of a model, of a node */

typedef struct tw_onnx {
    tw_builder b;
    const Tw__Onnx__Model *model;
    tw_map rows;     /* "domain/operator" -> tw_onnx_row */
    tw_map bindings; /* name -> tw_binding */
    tw_map symbols;  /* name of an open axis -> its extent (int32_t) */
} tw_onnx;

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* "ai.onnx" is another name of the standard domain. */
static const char *domain_of(const char *domain)
{
    return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

static void load_rows(tw_onnx *o)
{
    tw_onnx_row row;
    for (int i = 0; tw_onnx_row_at(i, &row); i++)
        tw_map_put(o->b.arena, &o->rows, tw_format(o->b.arena, "%s/%s", row.domain, row.name),
                   tw_copy(o->b.arena, &row, sizeof row));
}

/* --- opsets ------------------------------------------------------------------------------------ */

static bool check_model(const tw_onnx *o)
{
    tw_diag *diag = o->b.diag;
    const Tw__Onnx__Model *m = o->model;
    if (!m->graph)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the ONNX model has no graph");
    if (m->graph->n_sparse_initializer)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "sparse initializers are not supported; store them dense");
    if (m->n_opset_import > MOST_OPSETS)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the model imports %zu sets of operators",
                       m->n_opset_import);
    for (size_t i = 0; i < m->n_opset_import; i++) {
        const Tw__Onnx__OperatorSet *set = m->opset_import[i];
        bool standard = !*domain_of(set->domain);
        for (size_t k = 0; k < i; k++)
            if (strcmp(domain_of(m->opset_import[k]->domain), domain_of(set->domain)) == 0)
                return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                               "the model imports the operators of domain '%s' twice",
                               domain_of(set->domain));
        if (standard && set->version > TW_ONNX_OPSET)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                           "the model uses ONNX opset %lld; opsets 1 to %d are supported: export "
                           "it with one of these",
                           (long long)set->version, TW_ONNX_OPSET);
        if (set->version < 1)
            return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                           "opset %lld of domain '%s' does not "
                           "exist",
                           (long long)set->version, domain_of(set->domain));
    }
    return true;
}

/* The version of a domain that the model imports; models before IR version 3 name none. */
static int64_t opset_of(const tw_onnx *o, const char *domain)
{
    for (size_t i = 0; i < o->model->n_opset_import; i++)
        if (strcmp(domain_of(o->model->opset_import[i]->domain), domain) == 0)
            return o->model->opset_import[i]->version;
    return !*domain && o->model->ir_version < 3 ? 1 : 0;
}

/* --- names ------------------------------------------------------------------------------------- */

static tw_binding *find(const tw_onnx *o, const char *name)
{
    return tw_map_get(&o->bindings, name);
}

/* Make a name known. Each name has one origin. */
static tw_binding *declare(tw_onnx *o, const char *name, int producer, const char *what)
{
    if (!*name) {
        tw_fail(o->b.diag, TW_CODE_FAILED, NULL, NULL, "%s has no name", what);
        return NULL;
    }
    if (find(o, name)) {
        tw_fail(o->b.diag, TW_CODE_FAILED, name, NULL,
                "two tensors have this name; a name stands for one tensor");
        return NULL;
    }
    tw_binding *binding = tw_alloc(o->b.arena, sizeof *binding);
    *binding = (tw_binding){.name = tw_unique_name(o->b.graph, name), .producer = producer};
    tw_map_put(o->b.arena, &o->bindings, binding->name, binding);
    return binding;
}

/* An input with an initializer has that as its default: it is taken as the constant. */
static bool declare_input(tw_onnx *o, const char *name)
{
    tw_binding *known = find(o, name);
    bool has_default = known && known->initializer && !known->input;
    tw_binding *binding = has_default ? known : declare(o, name, -1, "a graph input");
    if (binding)
        binding->input = true;
    return binding != NULL;
}

static bool declare_all(tw_onnx *o, const Tw__Onnx__Graph *g)
{
    for (size_t i = 0; i < g->n_initializer; i++) {
        tw_binding *binding = declare(o, text_of(g->initializer[i]->name), -1, "an initializer");
        if (!binding)
            return false;
        binding->initializer = true;
    }
    for (size_t i = 0; i < g->n_input; i++)
        if (!declare_input(o, text_of(g->input[i]->name)))
            return false;
    for (size_t n = 0; n < g->n_node; n++)
        for (size_t i = 0; i < g->node[n]->n_output; i++)
            if (g->node[n]->output[i][0] && !declare(o, g->node[n]->output[i], (int)n, "an output"))
                return false;
    return true;
}

/* --- inputs and initializers ------------------------------------------------------------------- */

static bool import_initializers(tw_onnx *o, const Tw__Onnx__Graph *g)
{
    for (size_t i = 0; i < g->n_initializer; i++) {
        tw_tensor_data t;
        if (!tw_onnx_tensor(o->b.arena, g->initializer[i], &t, o->b.diag))
            return false;
        tw_binding *binding = find(o, text_of(g->initializer[i]->name));
        binding->value = tw_graph_constant(o->b.graph, binding->name, t.shape, t.data);
        binding->value->name = binding->name;
    }
    return true;
}

/* The extents that the user gives an input: by name, or without one for the first input. */
static const tw_input_shape *given_shape(const tw_onnx *o, const char *name, bool first)
{
    const tw_import_options *options = o->b.options;
    for (int i = 0; i < options->input_shape_count; i++) {
        const char *given = text_of(options->input_shapes[i].name);
        if (*given ? strcmp(given, name) == 0 : first)
            return &options->input_shapes[i];
    }
    return NULL;
}

static bool refuse_type(tw_onnx *o, const char *name, const Tw__Onnx__Type *type)
{
    const char *kind = !type                          ? NULL
                       : type->has_sequence_type      ? "a sequence"
                       : type->has_map_type           ? "a map"
                       : type->has_optional_type      ? "an optional"
                       : type->has_sparse_tensor_type ? "a sparse tensor"
                       : type->has_opaque_type        ? "opaque"
                                                      : NULL;
    if (!kind)
        return tw_fail(o->b.diag, TW_CODE_FAILED, name, NULL, "the graph input has no type");
    return tw_fail(o->b.diag, TW_CODE_UNSUPPORTED, name, NULL,
                   "the graph input is %s; only tensors are supported", kind);
}

/* The extent of one axis: as the model fixes it, as the user gives it, as another input's axis of
 * the same symbol has it, or 1. */
static bool bind_axis(tw_onnx *o, const char *name, int axis, const Tw__Onnx__Dimension *dim,
                      const int32_t *given, int64_t *extent)
{
    const char *symbol = text_of(dim ? dim->symbol : NULL);
    bool fixed = dim && dim->has_value && dim->value >= 0 && !*symbol;
    const int32_t *known = *symbol ? tw_map_get(&o->symbols, symbol) : NULL;
    if (fixed && given && *given != dim->value)
        return tw_fail(o->b.diag, TW_CODE_FAILED, name, NULL,
                       "axis %d of the input has extent %lld, the shape given says %d", axis,
                       (long long)dim->value, (int)*given);
    *extent = fixed ? dim->value : given ? *given : known ? *known : 1;
    if (fixed || known || *extent > INT32_MAX)
        return true;
    if (!given)
        tw_warn(o->b.diag, name, NULL,
                "axis %d%s%s is open and taken as 1; set it with --input-shape", axis,
                *symbol ? ", " : "", symbol);
    int32_t narrow = (int32_t)*extent;
    if (*symbol)
        tw_map_put(o->b.arena, &o->symbols, symbol, tw_copy(o->b.arena, &narrow, sizeof narrow));
    return true;
}

/* A value offered for the input also says how far its open axes go, unless it does not fit. */
static const tw_offered_input *fitting_offer(const tw_onnx *o, const char *name,
                                             const Tw__Onnx__Shape *shape)
{
    const tw_offered_input *offer = tw_map_get(&o->b.offered, name);
    if (!offer || !shape)
        return offer;
    bool fits = (size_t)offer->rank == shape->n_dim;
    for (size_t i = 0; fits && i < shape->n_dim; i++)
        fits = !shape->dim[i]->has_value || shape->dim[i]->value < 0 ||
               shape->dim[i]->value == offer->dim[i];
    return fits ? offer : NULL;
}

static bool import_input(tw_onnx *o, const Tw__Onnx__ValueInfo *info, bool first)
{
    tw_binding *binding = find(o, text_of(info->name));
    const Tw__Onnx__TensorType *type = info->type ? info->type->tensor_type : NULL;
    if (!type)
        return refuse_type(o, binding->name, info->type);
    char what[300];
    snprintf(what, sizeof what, "graph input '%.256s'", binding->name);
    tw_dtype dtype = tw_onnx_dtype(type->elem_type);
    if (dtype == TW_NO_DTYPE)
        return tw_onnx_refuse_dtype(type->elem_type, what, o->b.diag);
    const tw_input_shape *given = given_shape(o, binding->name, first);
    const tw_offered_input *offer = given ? NULL : fitting_offer(o, binding->name, type->shape);
    int given_rank = given ? given->rank : offer ? offer->rank : -1;
    const int32_t *given_dim = given ? given->dim : offer ? offer->dim : NULL;
    if (!type->shape && given_rank < 0)
        return tw_fail(o->b.diag, TW_CODE_FAILED, binding->name, NULL,
                       "the model does not say the input's shape; give it with --input-shape");
    size_t rank = type->shape ? type->shape->n_dim : (size_t)given_rank;
    if (given_rank >= 0 && rank != (size_t)given_rank)
        return tw_fail(o->b.diag, TW_CODE_FAILED, binding->name, NULL,
                       "the input has rank %zu, the shape given has rank %d", rank, given_rank);
    int64_t dim[TW_MAX_RANK] = {0};
    for (size_t i = 0; i < rank && rank <= TW_MAX_RANK; i++)
        if (!bind_axis(o, binding->name, (int)i, type->shape ? type->shape->dim[i] : NULL,
                       given_dim ? &given_dim[i] : NULL, &dim[i]))
            return false;
    tw_shape shape;
    if (!tw_shape_from_file(what, dtype, rank, dim, &shape, o->b.diag))
        return false;
    binding->value = tw_graph_input(o->b.graph, binding->name, shape);
    binding->value->name = binding->name;
    return true;
}

/* Values offered under no name of the model's are meant by position. */
static void name_offers(tw_onnx *o, const Tw__Onnx__ValueInfo *const *open, size_t count)
{
    const tw_import_options *options = o->b.options;
    for (size_t i = 0; i < count && i < (size_t)options->offered_count; i++) {
        const tw_binding *known = find(o, text_of(options->offered[i].name));
        const char *name = find(o, text_of(open[i]->name))->name;
        if (!known || !known->input)
            tw_map_put(o->b.arena, &o->b.offered, name, (void *)(uintptr_t)&options->offered[i]);
    }
}

static bool import_inputs(tw_onnx *o, const Tw__Onnx__Graph *g)
{
    /* Inputs with a shape given come first, so that they fix the symbols they share. */
    const Tw__Onnx__ValueInfo **open = tw_alloc_array(o->b.arena, g->n_input + 1, sizeof *open);
    size_t count = 0;
    for (size_t i = 0; i < g->n_input; i++)
        if (!find(o, text_of(g->input[i]->name))->value)
            open[count++] = g->input[i];
    name_offers(o, open, count);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            bool given = given_shape(o, text_of(open[i]->name), i == 0) != NULL;
            if (given == (pass == 0) && !import_input(o, open[i], i == 0))
                return false;
        }
    }
    for (size_t i = 0; i < count; i++)
        o->b.graph->inputs[i] = find(o, text_of(open[i]->name))->value;
    for (int i = 0; i < o->b.options->input_shape_count; i++) {
        const char *name = text_of(o->b.options->input_shapes[i].name);
        const tw_binding *binding = find(o, name);
        if (*name && (!binding || !binding->value || !binding->value->is_input))
            return tw_fail(o->b.diag, TW_CODE_USAGE, NULL, NULL,
                           "a shape is given for '%s', which is not an input of the model", name);
    }
    return true;
}

/* --- nodes ------------------------------------------------------------------------------------- */

/* For messages: the node's name, or its first output's. */
static const char *node_name(tw_onnx *o, const Tw__Onnx__Node *proto, int index)
{
    if (*text_of(proto->name))
        return proto->name;
    for (size_t i = 0; i < proto->n_output; i++)
        if (proto->output[i][0])
            return proto->output[i];
    return tw_format(o->b.arena, "node %d", index);
}

static bool find_row(tw_onnx *o, tw_onnx_node *n)
{
    const char *domain = domain_of(n->proto->domain);
    tw_builder *b = n->b;
    n->opset = opset_of(o, domain);
    n->row = tw_map_get(&o->rows, tw_format(b->arena, "%s/%s", domain, n->op));
    for (size_t i = 0; i < o->model->n_functions && !n->row; i++)
        if (strcmp(text_of(o->model->functions[i]->name), n->op) == 0 &&
            strcmp(domain_of(o->model->functions[i]->domain), domain) == 0)
            return TW_ONNX_UNSUPPORTED(n, "the operator is a function of the model, which is not "
                                          "supported; export the model without functions");
    if (!n->row)
        return TW_ONNX_UNSUPPORTED(
            n,
            "the operator %s of domain '%s' (opset %lld) is not supported; `tilewright ops "
            "--system onnx` lists those that are",
            n->op, *domain ? domain : "ai.onnx", (long long)n->opset);
    if (n->opset == 0)
        return TW_ONNX_FAIL(n, "the model does not import the operators of domain '%s'",
                            *domain ? domain : "ai.onnx");
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
    if (n->proto->n_attribute > MOST_ATTRIBUTES)
        return TW_ONNX_FAIL(n, "it has %zu attributes; no operator has so many",
                            n->proto->n_attribute);
    for (size_t i = 0; i < n->proto->n_attribute; i++) {
        const Tw__Onnx__Attribute *a = n->proto->attribute[i];
        if (*text_of(a->ref_attr_name))
            return TW_ONNX_FAIL(n, "the attribute %s refers to one of a function that is not there",
                                text_of(a->name));
        for (size_t k = 0; k < i; k++)
            if (strcmp(text_of(a->name), text_of(n->proto->attribute[k]->name)) == 0)
                return TW_ONNX_FAIL(n, "the attribute %s is given twice", text_of(a->name));
    }
    return true;
}

static bool bind_inputs(tw_onnx *o, tw_onnx_node *n)
{
    for (int i = 0; i < n->in_count; i++) {
        const char *name = n->proto->input[i];
        const tw_binding *binding = *name ? find(o, name) : NULL;
        if (*name && (!binding || !binding->value))
            return TW_ONNX_FAIL(n,
                                "input %d, '%s', comes from nowhere: it is neither a graph "
                                "input nor an initializer nor the result of a node",
                                i, name);
        n->in[i] = binding ? binding->value : NULL;
        if (n->in[i] && !n->row->keeps)
            n->in[i] = tw_build_with_quant(n->b, n->in[i], (tw_quant){0, 0, NULL, NULL});
        if (binding && !n->in[i])
            return false;
    }
    return true;
}

/* Give results the model's names. A result that already has one gets a second through Identity. */
static bool bind_outputs(tw_onnx *o, tw_onnx_node *n)
{
    for (int i = 0; i < n->out_count; i++) {
        if (!tw_onnx_wants(n, i))
            continue;
        tw_binding *binding = find(o, n->proto->output[i]);
        tw_value *value = n->out[i];
        if (!value)
            return TW_ONNX_UNSUPPORTED(n, "its output %d, '%s', is not supported", i,
                                       n->proto->output[i]);
        const tw_binding *named = find(o, value->name);
        if (named && named->value == value)
            value = tw_build1(n->b, "Identity", value, NULL);
        if (!value)
            return false;
        value->name = binding->name;
        binding->value = value;
    }
    return true;
}

static bool refuse_unread(tw_onnx_node *n)
{
    for (size_t i = 0; i < n->proto->n_attribute; i++)
        if (!n->read[i])
            return TW_ONNX_UNSUPPORTED(n, "the attribute %s is not supported (opset %lld)",
                                       text_of(n->proto->attribute[i]->name), (long long)n->opset);
    return true;
}

static bool import_node(tw_onnx *o, const Tw__Onnx__Node *proto, int index)
{
    tw_builder *b = &o->b;
    b->node = node_name(o, proto, index);
    tw_onnx_node n = {.b = b,
                      .proto = proto,
                      .op = text_of(proto->op_type),
                      .in_count = (int)proto->n_input,
                      .out_count = (int)proto->n_output};
    n.in = tw_alloc_array(b->arena, proto->n_input + 1, sizeof *n.in);
    n.out = tw_alloc_array(b->arena, proto->n_output + 1, sizeof *n.out);
    n.read = tw_alloc(b->arena, proto->n_attribute + 1);
    bool ok = find_row(o, &n) && bind_inputs(o, &n) && check_counts(&n) && n.row->import(&n) &&
              b->diag->code == TW_CODE_OK && refuse_unread(&n) && bind_outputs(o, &n);
    if (ok)
        return true;
    /* Messages from below speak of IR operators; the user knows the model's. */
    if (b->diag->code == TW_CODE_OK)
        TW_ONNX_FAIL(&n, "the operator cannot be imported");
    snprintf(b->diag->operator_name, sizeof b->diag->operator_name, "%s", n.op);
    if (!b->diag->node[0])
        snprintf(b->diag->node, sizeof b->diag->node, "%s", b->node);
    return false;
}

/* What import_behind keeps of each node. */
typedef struct tw_visit {
    enum { NEW, WAITING, IMPORTED } state;
    size_t input; /* the first whose producer may still be missing */
} tw_visit;

/* Import the node behind those it depends on. ONNX asks for a topological order, which not every
 * exporter keeps. stack: room for every node. */
static bool import_behind(tw_onnx *o, const Tw__Onnx__Graph *g, int root, tw_visit *visit,
                          int *stack)
{
    int depth = 0;
    stack[depth++] = root;
    while (depth) {
        int at = stack[depth - 1], behind = -1;
        const Tw__Onnx__Node *proto = g->node[at];
        visit[at].state = WAITING;
        for (; visit[at].input < proto->n_input && behind < 0; visit[at].input += behind < 0) {
            const tw_binding *binding = find(o, proto->input[visit[at].input]);
            if (binding && binding->producer >= 0 && visit[binding->producer].state != IMPORTED)
                behind = binding->producer;
        }
        if (behind < 0) {
            if (!import_node(o, proto, at))
                return false;
            visit[at].state = IMPORTED;
            depth--;
        } else if (visit[behind].state == WAITING) {
            return tw_fail(o->b.diag, TW_CODE_FAILED, node_name(o, proto, at),
                           text_of(proto->op_type),
                           "the node depends on its own result; break the cycle");
        } else {
            stack[depth++] = behind;
        }
    }
    return true;
}

static bool import_nodes(tw_onnx *o, const Tw__Onnx__Graph *g)
{
    tw_visit *visit = tw_alloc_array(o->b.arena, g->n_node + 1, sizeof *visit);
    int *stack = tw_alloc_array(o->b.arena, g->n_node + 1, sizeof *stack);
    for (size_t n = 0; n < g->n_node; n++)
        if (visit[n].state == NEW && !import_behind(o, g, (int)n, visit, stack))
            return false;
    return true;
}

/* --- outputs ----------------------------------------------------------------------------------- */

static bool import_outputs(tw_onnx *o, const Tw__Onnx__Graph *g)
{
    if (g->n_output == 0)
        return tw_fail(o->b.diag, TW_CODE_FAILED, NULL, NULL, "the graph has no outputs");
    for (size_t i = 0; i < g->n_output; i++) {
        const char *name = text_of(g->output[i]->name);
        const Tw__Onnx__Type *type = g->output[i]->type;
        const tw_binding *binding = find(o, name);
        if (!binding || !binding->value)
            return tw_fail(o->b.diag, TW_CODE_FAILED, name, NULL,
                           "the graph output comes from nowhere: no node has it as an output");
        tw_dtype declared =
            type && type->tensor_type ? tw_onnx_dtype(type->tensor_type->elem_type) : TW_NO_DTYPE;
        if (declared != TW_NO_DTYPE && declared != binding->value->shape.dtype)
            return tw_fail(o->b.diag, TW_CODE_FAILED, name, NULL,
                           "the graph output is declared as %s but computed as %s",
                           tw_dtype_name(declared), tw_dtype_name(binding->value->shape.dtype));
        tw_graph_output(o->b.graph, binding->value);
    }
    return true;
}

/* --- the whole --------------------------------------------------------------------------------- */

bool tw_recognise_onnx(const void *data, size_t bytes)
{
    /* Nearly every writer begins with the IR version: field 1, a small number. */
    const uint8_t *at = data;
    if (bytes > 1 && at[0] == 0x08 && at[1] < 0x40)
        return true;
    tw_diag quiet = {.code = TW_CODE_OK};
    return bytes > 1 && tw_wire_check(&tw__onnx__model__descriptor, "model", data, bytes, &quiet);
}

tw_graph *tw_import_onnx(tw_arena *arena, const void *data, size_t bytes, const char *path,
                         const tw_import_options *options, tw_diag *diag)
{
    (void)path;
    tw_onnx *o = tw_alloc(arena, sizeof *o);
    o->model = (const Tw__Onnx__Model *)tw_wire_unpack(&tw__onnx__model__descriptor, "model", data,
                                                       bytes, arena, diag);
    if (!o->model)
        return NULL;
    const Tw__Onnx__Graph *g = o->model->graph;
    tw_builder_init(&o->b, tw_graph_new(arena, g ? text_of(g->name) : ""), options, diag);
    load_rows(o);
    bool ok = check_model(o) && declare_all(o, g) && import_initializers(o, g) &&
              import_inputs(o, g) && import_nodes(o, g) && import_outputs(o, g) &&
              tw_graph_sweep(o->b.graph, diag);
    return ok ? o->b.graph : NULL;
}
