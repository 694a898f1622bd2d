/* ONNX model in, graph out. What comes in has passed the wire pre-pass; what goes out is a graph
 * whose values have the names that the model gives them. The nodes are imported one after another,
 * each with the shapes of its inputs known, so that constant shapes are constants when they are
 * needed.
 */
#include <string.h>

#include "base/file.h"
#include "import/onnx/model.h"
#include "import/wire.h"

static void load_rows(tw_onnx *o)
{
    tw_onnx_row row;
    for (int i = 0; tw_onnx_row_at(i, &row); i++)
        tw_map_put(o->b.arena, &o->rows, tw_format(o->b.arena, "%s/%s", row.domain, row.name),
                   tw_copy(o->b.arena, &row, sizeof row));
}

/* --- opsets ------------------------------------------------------------------------------------ */

static bool check_opset(const Tw__Onnx__OperatorSet *set, tw_diag *diag)
{
    const char *domain = tw_onnx_domain(set->domain);
    long long version = set->version;
    if (version < 1)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "opset %lld of domain '%s' does not exist",
                       version, domain);
    if (!*domain && version > TW_ONNX_OPSET)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "the model uses ONNX opset %lld; opsets 1 to %d are supported: export it "
                       "with one of these",
                       version, TW_ONNX_OPSET);
    return true;
}

static bool check_opsets(Tw__Onnx__OperatorSet *const *sets, size_t count, tw_diag *diag)
{
    if (count > TW_ONNX_OPSETS)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "%zu sets of operators are imported",
                       count);
    for (size_t i = 0; i < count; i++) {
        const char *domain = tw_onnx_domain(sets[i]->domain);
        if (!check_opset(sets[i], diag))
            return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(tw_onnx_domain(sets[k]->domain), domain) == 0)
                return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                               "the operators of domain '%s' are imported twice", domain);
    }
    return true;
}

static bool check_model(const tw_onnx *o)
{
    const Tw__Onnx__Model *m = o->model;
    if (!m->graph)
        return tw_fail(o->b.diag, TW_CODE_FAILED, NULL, NULL, "the ONNX model has no graph");
    for (size_t i = 0; i < m->n_functions; i++)
        if (!check_opsets(m->functions[i]->opset_import, m->functions[i]->n_opset_import,
                          o->b.diag))
            return false;
    return check_opsets(m->opset_import, m->n_opset_import, o->b.diag);
}

/* --- the graph --------------------------------------------------------------------------------- */

bool tw_onnx_import_initializers(tw_onnx *o, const Tw__Onnx__Graph *g)
{
    if (g->n_sparse_initializer)
        return tw_fail(o->b.diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "sparse initializers are not supported; store them dense");
    for (size_t i = 0; i < g->n_initializer; i++) {
        const Tw__Onnx__Tensor *proto = g->initializer[i];
        tw_onnx_binding *binding =
            tw_onnx_declare(o, tw_onnx_or_empty(proto->name), -1, "an initializer");
        tw_tensor_data t;
        if (!binding || !tw_onnx_tensor(o->files, proto, &t, o->b.diag))
            return false;
        binding->initializer = true;
        tw_onnx_name(o, binding, tw_graph_constant(o->b.graph, binding->name, t.shape, t.data));
        tw_onnx_note_type(o, binding->value, tw_onnx_narrow_type(proto->data_type));
    }
    return true;
}

/* An input with an initializer has that as its default: it is taken as the constant. */
static bool declare_input(tw_onnx *o, const char *name)
{
    tw_onnx_binding *known = tw_onnx_find(o, name);
    bool has_default = known && known->initializer && !known->input;
    tw_onnx_binding *binding = has_default ? known : tw_onnx_declare(o, name, -1, "a graph input");
    if (binding)
        binding->input = true;
    return binding != NULL;
}

static bool declare_inputs(tw_onnx *o, const Tw__Onnx__Graph *g)
{
    for (size_t i = 0; i < g->n_input; i++)
        if (!declare_input(o, tw_onnx_or_empty(g->input[i]->name)))
            return false;
    return true;
}

/* Where the output is declared as a float of 16 bits and was computed as f32, it is stored as declared, and has
 * the name. */
static tw_value *as_declared(tw_onnx *o, const char *name, tw_value *value, tw_dtype declared)
{
    if (!tw_onnx_is_widened(declared) || value->shape.dtype != TW_F32)
        return value;
    o->b.node = name;
    tw_value *stored = tw_build_cast(&o->b, value, declared);
    if (stored) {
        value->name = tw_unique_name(o->b.graph, tw_format(o->b.arena, "%s/f32", name));
        stored->name = name;
    }
    return stored;
}

/* One tensor as an output; type: as declared, or null. */
static bool import_tensor_output(tw_onnx *o, const char *name, tw_value *value,
                                 const Tw__Onnx__Type *type)
{
    int64_t elements = type && type->tensor_type ? type->tensor_type->elem_type : 0;
    tw_dtype declared = tw_onnx_held_as(elements);
    if (elements != 0 && declared == TW_NO_DTYPE)
        return tw_onnx_refuse_dtype(elements, tw_format(o->b.arena, "graph output '%.256s'", name),
                                    o->b.diag);
    value = as_declared(o, name, value, declared);
    if (!value)
        return false;
    const tw_onnx_narrow *computed = tw_onnx_narrow_of(o, value),
                         *said = tw_onnx_narrow_type(elements);
    if (elements != 0 && (declared != value->shape.dtype || said != computed))
        return tw_fail(o->b.diag, TW_CODE_FAILED, name, NULL,
                       "the graph output is declared as %s but computed as %s",
                       said ? said->name : tw_dtype_name(declared),
                       computed ? computed->name : tw_dtype_name(value->shape.dtype));
    tw_graph_output(o->b.graph, value);
    return true;
}

/* The tensors of a sequence are outputs of their own, NAME.0 and on. */
static bool import_sequence_output(tw_onnx *o, const char *name, const tw_onnx_sequence *s,
                                   const Tw__Onnx__Type *type)
{
    if (s->count < 1)
        return tw_fail(o->b.diag, TW_CODE_UNSUPPORTED, name, NULL, "the graph output is %s",
                       s->count < 0 ? "an optional that holds nothing" : "an empty sequence");
    for (int i = 0; i < s->count; i++) {
        o->b.node = tw_unique_name(o->b.graph, tw_format(o->b.arena, "%s.%d", name, i));
        tw_value *value = tw_build1(&o->b, "Identity", s->v[i], NULL);
        if (!value)
            return false;
        tw_onnx_note_type(o, value, tw_onnx_narrow_of(o, s->v[i]));
        value->name = o->b.node;
        if (!import_tensor_output(o, value->name, value, type))
            return false;
    }
    return true;
}

static bool import_output(tw_onnx *o, const Tw__Onnx__ValueInfo *info)
{
    const char *name = tw_onnx_or_empty(info->name);
    const tw_onnx_binding *binding = tw_onnx_find(o, name);
    if (!binding || !binding->value)
        return tw_fail(o->b.diag, TW_CODE_FAILED, name, NULL,
                       "the graph output comes from nowhere: no node has it as an output");
    const Tw__Onnx__Type *type = info->type;
    if (type && type->optional_type)
        type = type->optional_type->elem_type;
    const tw_onnx_sequence *sequence = tw_onnx_sequence_of(o, binding->value);
    if (sequence)
        return import_sequence_output(o, binding->name, sequence,
                                      type && type->sequence_type ? type->sequence_type->elem_type
                                                                  : NULL);
    return import_tensor_output(o, binding->name, binding->value, type);
}

static bool import_outputs(tw_onnx *o, const Tw__Onnx__Graph *g)
{
    if (g->n_output == 0)
        return tw_fail(o->b.diag, TW_CODE_FAILED, NULL, NULL, "the graph has no outputs");
    for (size_t i = 0; i < g->n_output; i++)
        if (!import_output(o, g->output[i]))
            return false;
    for (int i = 0; i < o->count_count; i++)
        tw_graph_output(o->b.graph, o->counts[i]);
    return true;
}

bool tw_recognise_onnx(const void *data, size_t bytes)
{
    /* Nearly every writer begins with the IR version: field 1, a small number. */
    const uint8_t *at = data;
    if (bytes > 1 && at[0] == 0x08 && at[1] < 0x40)
        return true;
    tw_diag quiet = {.code = TW_CODE_OK};
    return bytes > 1 && tw_wire_check(&tw__onnx__model__descriptor, "model", data, bytes, &quiet);
}

static bool import_graph(tw_onnx *o, const Tw__Onnx__Graph *g)
{
    tw_onnx_scope scope = {.nodes = g->node,
                           .node_count = g->n_node,
                           .opsets = o->model->opset_import,
                           .opset_count = o->model->n_opset_import,
                           .prefix = ""};
    o->scope = &scope;
    /* All names are known before anything is named after them. */
    if (!tw_onnx_declare_functions(o) || !tw_onnx_declare_nodes(o) ||
        !tw_onnx_import_initializers(o, g) || !declare_inputs(o, g) || !tw_onnx_import_inputs(o, g))
        return false;
    /* What has been taken so far is the file and what it names. */
    size_t taken = tw_arena_bytes(o->b.arena);
    o->limit = taken + (taken - o->begun) * TW_ONNX_GROWTH + TW_ONNX_HEAD;
    return tw_onnx_import_nodes(o) && import_outputs(o, g) && tw_graph_sweep(o->b.graph, o->b.diag);
}

tw_graph *tw_import_onnx(tw_arena *arena, const void *data, size_t bytes, const char *path,
                         const tw_import_options *options, tw_diag *diag)
{
    if (bytes > INT32_MAX) {
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                "the file has %zu bytes, of its kind none has more than 2 GiB; store the weights "
                "beside it, as external data",
                bytes);
        return NULL;
    }
    tw_onnx *o = tw_alloc(arena, sizeof *o);
    o->begun = tw_arena_bytes(arena);
    tw_onnx_files files = {.arena = arena, .folder = path ? tw_path_folder(arena, path) : NULL};
    o->files = &files;
    o->model = (const Tw__Onnx__Model *)tw_wire_unpack(&tw__onnx__model__descriptor, "model", data,
                                                       bytes, arena, diag);
    if (!o->model)
        return NULL;
    const Tw__Onnx__Graph *g = o->model->graph;
    tw_builder_init(&o->b, tw_graph_new(arena, g ? tw_onnx_or_empty(g->name) : ""), options, diag);
    load_rows(o);
    return check_model(o) && g && import_graph(o, g) ? o->b.graph : NULL;
}
