/* A SavedModel or a frozen GraphDef to a graph: which of the two it is, which signature, its ends. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "import/tensorflow/tensorflow.h"
#include "import/wire.h"

/* What the caller asked for: tensors that come in, and tensors that go out. */
typedef struct tw_end {
    const char *name;   /* for people */
    const char *tensor; /* of the graph */
    int64_t type;
    const Tw__Tf__Shape *shape; /* null: not declared */
} tw_end;

typedef struct tw_ends {
    tw_end *in, *out;
    int in_count, out_count;
} tw_ends;

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static bool is_message(const ProtobufCMessageDescriptor *type, const void *data, size_t bytes)
{
    tw_diag quiet = {.code = TW_CODE_OK};
    return tw_wire_check(type, "model", data, bytes, &quiet);
}

/* A SavedModel begins with its version, 1, and a graph; a GraphDef with a node. */
static bool is_saved_model(const void *data, size_t bytes)
{
    static const char head[] = {0x08, 0x01, 0x12};
    return bytes > sizeof head && memcmp(data, head, sizeof head) == 0 &&
           is_message(&tw__tf__saved_model__descriptor, data, bytes);
}

bool tw_recognise_tensorflow(const void *data, size_t bytes)
{
    const uint8_t *at = data;
    return is_saved_model(data, bytes) ||
           (bytes > 1 && at[0] == 0x0a && is_message(&tw__tf__graph__descriptor, data, bytes));
}

/* --- tables ------------------------------------------------------------------------------------ */

static void load_rows(tw_tf_import *import)
{
    tw_tf_row row;
    for (int i = 0; tw_tf_row_at(i, &row); i++)
        tw_map_put(import->scratch, &import->rows, row.name,
                   tw_copy(import->scratch, &row, sizeof row));
}

static bool load_functions(tw_tf_import *import)
{
    const Tw__Tf__Library *library = import->graph->library;
    for (size_t i = 0; library && i < library->n_function; i++) {
        Tw__Tf__Function *f = library->function[i];
        const char *name = f->signature ? or_empty(f->signature->name) : "";
        if (tw_map_get(&import->functions, name))
            return tw_fail(import->b.diag, TW_CODE_FAILED, NULL, NULL,
                           "two functions are called '%.200s'", name);
        tw_map_put(import->scratch, &import->functions, name, f);
    }
    return true;
}

/* --- signatures -------------------------------------------------------------------------------- */

static bool is_call(const char *name)
{
    return strcmp(name, "__saved_model_init_op") != 0 &&
           strcmp(name, "__saved_model_train_op") != 0;
}

/* "a, b and c" of the model's signatures, for a message. */
static const char *list_signatures(tw_arena *arena, const Tw__Tf__MetaGraph *m)
{
    const char *text = "";
    for (size_t i = 0; i < m->n_signature; i++)
        if (is_call(or_empty(m->signature[i]->key)))
            text = tw_format(arena, "%s%s%.100s", text, *text ? ", " : "",
                             or_empty(m->signature[i]->key));
    return text;
}

static const Tw__Tf__SignatureDef *inside(tw_tf_import *import, const Tw__Tf__SignatureEntry *entry)
{
    if (!entry->value)
        tw_fail(import->b.diag, TW_CODE_FAILED, NULL, NULL,
                "the signature '%.100s' says neither inputs nor outputs", or_empty(entry->key));
    return entry->value;
}

/* The one of that name; without a name serving_default, or the only one. */
static const Tw__Tf__SignatureDef *find_signature(tw_tf_import *import, const Tw__Tf__MetaGraph *m,
                                                  const char *wanted)
{
    const Tw__Tf__SignatureEntry *only = NULL;
    int count = 0;
    for (size_t i = 0; i < m->n_signature; i++) {
        const Tw__Tf__SignatureEntry *entry = m->signature[i];
        if (strcmp(or_empty(entry->key), wanted ? wanted : "serving_default") == 0)
            return inside(import, entry);
        count += is_call(or_empty(entry->key));
        if (is_call(or_empty(entry->key)))
            only = entry;
    }
    if (!wanted && count == 1)
        return inside(import, only);
    const char *names = list_signatures(import->scratch, m);
    if (count == 0)
        tw_fail(import->b.diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                "the model has no signature: save it with signatures= or as a frozen graph");
    else if (wanted)
        tw_fail(import->b.diag, TW_CODE_USAGE, NULL, NULL,
                "the model has no signature '%.100s'; it has %s", wanted, names);
    else
        tw_fail(import->b.diag, TW_CODE_USAGE, NULL, NULL,
                "which signature? Choose one with --signature: %s", names);
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tw_end *)a)->name, ((const tw_end *)b)->name);
}

/* Maps have no order: ends are sorted by name, so that a model always gives the same plan. */
static tw_end *sorted_ends(tw_tf_import *import, Tw__Tf__TensorInfoEntry *const *entries,
                           size_t count)
{
    tw_end *ends = tw_alloc_array(import->scratch, count + 1, sizeof *ends);
    for (size_t i = 0; i < count; i++) {
        const Tw__Tf__TensorInfo *info = entries[i]->value;
        ends[i] = (tw_end){.name = or_empty(entries[i]->key),
                           .tensor = info ? or_empty(info->name) : "",
                           .type = info ? info->dtype : 0,
                           .shape = info ? info->shape : NULL};
    }
    qsort(ends, count, sizeof *ends, by_name);
    return ends;
}

static void note_signatures(tw_tf_import *import, const Tw__Tf__MetaGraph *m)
{
    for (size_t i = 0; i < m->n_signature; i++) {
        const Tw__Tf__SignatureDef *s = m->signature[i]->value;
        const char *text = tw_format(import->scratch, "%.64s:", or_empty(m->signature[i]->key));
        if (!s || !is_call(or_empty(m->signature[i]->key)))
            continue;
        for (size_t k = 0; k < s->n_inputs && k < 16; k++)
            text = tw_format(import->scratch, "%s%s %.64s", text, k ? "," : "",
                             or_empty(s->inputs[k]->key));
        text = tw_format(import->scratch, "%s ->", text);
        for (size_t k = 0; k < s->n_outputs && k < 16; k++)
            text = tw_format(import->scratch, "%s%s %.64s", text, k ? "," : "",
                             or_empty(s->outputs[k]->key));
        tw_graph_note(import->b.graph, "signature", text);
    }
}

/* --- the ends of a GraphDef -------------------------------------------------------------------- */

static const Tw__Tf__Attribute *attribute_of(const Tw__Tf__Node *node, const char *name)
{
    const tw_tf_node n = {.proto = node};
    return tw_tf_attribute(&n, name);
}

/* Where the signature does not say a tensor's shape, the placeholder may. */
static void add_shapes(const Tw__Tf__Graph *g, tw_end *ends, int count)
{
    for (int i = 0; i < count; i++) {
        if (ends[i].shape && !ends[i].shape->unknown_rank)
            continue;
        const size_t length = strcspn(ends[i].tensor, ":");
        for (size_t k = 0; k < g->n_node; k++) {
            const char *name = or_empty(g->node[k]->name);
            if (strncmp(name, ends[i].tensor, length) != 0 || name[length])
                continue;
            const Tw__Tf__Attribute *shape = attribute_of(g->node[k], "shape");
            const Tw__Tf__Attribute *shapes = attribute_of(g->node[k], "_output_shapes");
            if (shape && shape->shape && !shape->shape->unknown_rank)
                ends[i].shape = shape->shape;
            else if (shapes && shapes->list && shapes->list->n_shape)
                ends[i].shape = shapes->list->shape[0];
        }
    }
}

/* Is it no result, though nothing reads it? */
static bool is_left_over(const char *op)
{
    static const char *const ops[] = {
        "NoOp", "Assert", "Const", "Placeholder", "PlaceholderWithDefault", "Print", "PrintV2"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(op, ops[i]) == 0)
            return true;
    return false;
}

/* The type of a node's results, where it has floats: integers and truth values keep theirs. */
static int64_t result_type(const Tw__Tf__Node *node)
{
    const Tw__Tf__Attribute *a = attribute_of(node, "DstT");
    a = a ? a : attribute_of(node, "T");
    a = a ? a : attribute_of(node, "dtype");
    return a ? a->type : 0;
}

/* Inputs are the placeholders, outputs what no node reads. */
static void graph_ends(tw_tf_import *import, tw_ends *ends)
{
    const Tw__Tf__Graph *g = import->graph;
    static char read[] = "";
    tw_map readers = {0};
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_input; k++) {
            const char *text = g->node[i]->input[k] + (g->node[i]->input[k][0] == '^');
            tw_map_put(import->scratch, &readers,
                       tw_strndup(import->scratch, text, strcspn(text, ":")), read);
        }
    ends->in = tw_alloc_array(import->scratch, g->n_node + 1, sizeof *ends->in);
    ends->out = tw_alloc_array(import->scratch, g->n_node + 1, sizeof *ends->out);
    for (size_t i = 0; i < g->n_node; i++) {
        const char *name = or_empty(g->node[i]->name), *op = or_empty(g->node[i]->op);
        const Tw__Tf__Attribute *type = attribute_of(g->node[i], "dtype"),
                                *shape = attribute_of(g->node[i], "shape");
        if (strcmp(op, "Placeholder") == 0)
            ends->in[ends->in_count++] = (tw_end){.name = name,
                                                  .tensor = name,
                                                  .type = type ? type->type : 0,
                                                  .shape = shape ? shape->shape : NULL};
        else if (!is_left_over(op) && !tw_map_get(&readers, name))
            ends->out[ends->out_count++] =
                (tw_end){.name = name, .tensor = name, .type = result_type(g->node[i])};
    }
}

/* --- the graph --------------------------------------------------------------------------------- */

/* The shape that --input-shape gives, or else the one of a value offered for the input. */
static const tw_input_shape *wished_shape(tw_tf_import *import, const char *name, bool first)
{
    const tw_import_options *options = import->b.options;
    const tw_input_shape *given = tw_given_shape(options, name, first);
    for (int i = 0; !given && i < options->offered_count; i++) {
        const tw_offered_input *o = &options->offered[i];
        if (!o->name || strcmp(o->name, name) != 0 || o->rank < 0 || o->rank > TW_MAX_RANK)
            continue;
        tw_input_shape *own = tw_alloc(import->scratch, sizeof *own);
        *own = (tw_input_shape){.name = o->name, .rank = o->rank};
        memcpy(own->dim, o->dim, sizeof own->dim);
        return own;
    }
    return given;
}

static bool input_shape(tw_tf_import *import, const tw_end *end, bool first, bool quiet,
                        tw_shape *shape)
{
    tw_diag *diag = import->b.diag;
    int64_t dim[TW_MAX_RANK] = {0};
    int rank;
    const tw_input_shape *given = wished_shape(import, end->name, first);
    if (!tw_tf_shape(end->shape, end->name, &rank, dim, diag))
        return false;
    if (rank < 0 && !given && !quiet)
        tw_warn(diag, end->name, NULL,
                "the model does not say the input's shape, a scalar is taken; set it with "
                "--input-shape");
    if (rank >= 0 && given && given->rank != rank)
        return tw_fail(diag, TW_CODE_FAILED, end->name, NULL,
                       "the input has rank %d, the shape given has rank %d", rank, given->rank);
    *shape = tw_shape_of(tw_tf_stored_dtype(end->type), 0, NULL);
    shape->rank = rank >= 0 ? rank : given ? given->rank : 0;
    for (int i = 0; i < shape->rank; i++) {
        const bool open = rank < 0 || dim[i] < 0;
        if (!open && given && given->dim[i] != dim[i])
            return tw_fail(diag, TW_CODE_FAILED, end->name, NULL,
                           "axis %d of the input has extent %lld, the shape given says %d", i,
                           (long long)dim[i], (int)given->dim[i]);
        if (open && !given && !quiet)
            tw_warn(diag, end->name, NULL,
                    "axis %d is open and taken as 1; set it with --input-shape", i);
        shape->dim[i] = open ? (given ? given->dim[i] : 1) : (int32_t)dim[i];
    }
    return true;
}

static bool make_inputs(tw_tf_import *import, const tw_ends *ends, bool quiet, tw_tf_feed *feeds)
{
    for (int i = 0; i < ends->in_count; i++) {
        const tw_end *end = &ends->in[i];
        tw_shape shape;
        if (tw_tf_dtype(end->type) == TW_NO_DTYPE)
            return tw_fail(import->b.diag, TW_CODE_UNSUPPORTED, end->name, NULL,
                           "the input is %s, which is not supported", tw_tf_type_name(end->type));
        if (!input_shape(import, end, i == 0, quiet, &shape))
            return false;
        tw_value *input = tw_graph_input(import->b.graph, end->name, shape);
        feeds[i] = (tw_tf_feed){end->tensor, tw_tf_tensor_item(input)};
    }
    for (int i = 0; i < ends->in_count; i++)
        if (!tw_fix_given_input(import->b.graph, feeds[i].item.value, import->b.options,
                                import->b.diag))
            return false;
    for (int i = 0; i < ends->in_count;
         i++) { /* as they are declared outside, as computed inside */
        import->b.node = ends->in[i].name;
        feeds[i].item.value =
            tw_build_cast(&import->b, feeds[i].item.value, tw_tf_dtype(ends->in[i].type));
        if (!feeds[i].item.value)
            return false;
    }
    return true;
}

/* An output has a name of its own, reserved before any node has it, and may be of a value that has
 * others. */
static bool make_output(tw_tf_import *import, const tw_end *end, const char *name, tw_tf_item item)
{
    tw_tf_node n = {.import = import, .b = &import->b, .op = "", .in = &item, .in_count = 1};
    import->b.node = end->name;
    if (item.kind == TW_TF_NOTHING)
        return tw_fail(import->b.diag, TW_CODE_UNSUPPORTED, end->name, NULL,
                       "the output '%.200s' is not a tensor", end->tensor);
    tw_value *value = tw_tf_in(&n, 0);
    const tw_dtype stored = tw_tf_stored_dtype(end->type);
    if (value && value->shape.dtype == TW_F32 && stored != TW_NO_DTYPE && stored != TW_F32 &&
        tw_tf_dtype(end->type) == TW_F32)
        value = tw_build_cast(&import->b, value, stored);
    tw_node *node = value ? tw_build_node(&import->b, "Identity", &value, 1, NULL) : NULL;
    if (!node)
        return false;
    node->out[0]->name = name;
    tw_graph_output(import->b.graph, node->out[0]);
    return true;
}

/* The values that the model's own restoring operator gives its variables. */
static bool restore(tw_tf_import *import, const Tw__Tf__MetaGraph *m)
{
    const char *name = m->saver ? or_empty(m->saver->restore_op_name) : "";
    tw_tf_item nothing;
    if (!import->checkpoint || !*name)
        return true;
    const char *wanted = tw_format(import->scratch, "^%s", name);
    tw_builder_init(&import->b, tw_graph_new(import->scratch, "restore"), import->b.options,
                    import->b.diag);
    import->restoring = true;
    bool ok = tw_tf_evaluate(import, NULL, 0, &wanted, 1, &nothing);
    import->restoring = false;
    return ok;
}

static bool import_once(tw_tf_import *import, const tw_ends *ends, tw_arena *arena, bool quiet)
{
    const tw_import_options *options = import->b.options;
    tw_tf_feed *feeds = tw_alloc_array(import->scratch, (size_t)ends->in_count + 1, sizeof *feeds);
    const char **wanted =
        tw_alloc_array(import->scratch, (size_t)ends->out_count + 1, sizeof *wanted);
    const char **names =
        tw_alloc_array(import->scratch, (size_t)ends->out_count + 1, sizeof *names);
    tw_tf_item *out = tw_alloc_array(import->scratch, (size_t)ends->out_count + 1, sizeof *out);
    tw_builder_init(&import->b, tw_graph_new(arena, "main"), options, import->b.diag);
    tw_tf_variables_reset(import);
    import->nodes = 0;
    if (!make_inputs(import, ends, quiet, feeds))
        return false;
    for (int i = 0; i < ends->out_count; i++) {
        wanted[i] = ends->out[i].tensor;
        names[i] = tw_unique_name(import->b.graph, ends->out[i].name);
    }
    if (!tw_tf_evaluate(import, feeds, ends->in_count, wanted, ends->out_count, out))
        return false;
    for (int i = 0; i < ends->out_count; i++)
        if (!make_output(import, &ends->out[i], names[i], out[i]))
            return false;
    return true;
}

/* Which variables change is known when all has been imported: then once more, with these as states. */
static bool import_ends(tw_tf_import *import, const tw_ends *ends, tw_arena *arena)
{
    enum { MOST_PASSES = 8 };
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        if (!import_once(import, ends, arena, pass > 0))
            return false;
        if (!tw_tf_variables_changed(import))
            return tw_tf_variables_finish(import) &&
                   tw_graph_sweep(import->b.graph, import->b.diag) &&
                   tw_graph_check(import->b.graph, import->b.diag);
    }
    return tw_fail(import->b.diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                   "which variables change depends on their values");
}

/* --- files ------------------------------------------------------------------------------------- */

static const Tw__Tf__MetaGraph *serving_graph(const Tw__Tf__SavedModel *model)
{
    for (size_t i = 0; i < model->n_meta_graph; i++) {
        const Tw__Tf__MetaInfo *info = model->meta_graph[i]->meta_info;
        for (size_t k = 0; info && k < info->n_tags; k++)
            if (strcmp(or_empty(info->tags[k]), "serve") == 0)
                return model->meta_graph[i];
    }
    return model->n_meta_graph ? model->meta_graph[0] : NULL;
}

static bool import_saved_model(tw_tf_import *import, const Tw__Tf__SavedModel *model,
                               const char *path, tw_arena *arena)
{
    tw_diag *diag = import->b.diag;
    const Tw__Tf__MetaGraph *m = serving_graph(model);
    bool there = false;
    if (!m || !m->graph)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the SavedModel holds no graph");
    import->graph = m->graph;
    const Tw__Tf__SignatureDef *s = find_signature(import, m, import->b.options->signature);
    if (!s)
        return false;
    tw_ends ends = {.in = sorted_ends(import, s->inputs, s->n_inputs),
                    .out = sorted_ends(import, s->outputs, s->n_outputs),
                    .in_count = (int)s->n_inputs,
                    .out_count = (int)s->n_outputs};
    add_shapes(m->graph, ends.in, ends.in_count);
    const char *folder = path ? tw_path_folder(import->scratch, path) : ".";
    import->checkpoint = tw_tf_checkpoint_open(import->scratch, folder, &there, diag);
    if (there && !import->checkpoint)
        return false;
    if (!load_functions(import) || !restore(import, m) || !import_ends(import, &ends, arena))
        return false;
    note_signatures(import, m);
    return ends.out_count > 0 ||
           tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the signature has no outputs");
}

static bool import_graph_def(tw_tf_import *import, const Tw__Tf__Graph *graph, tw_arena *arena)
{
    tw_ends ends = {0};
    if (import->b.options->signature)
        return tw_fail(import->b.diag, TW_CODE_USAGE, NULL, NULL,
                       "--signature is for SavedModels; a frozen graph has none");
    import->graph = graph;
    graph_ends(import, &ends);
    add_shapes(graph, ends.in, ends.in_count);
    if (ends.out_count == 0)
        return tw_fail(import->b.diag, TW_CODE_FAILED, NULL, NULL,
                       "the graph has no outputs: every node is read by another");
    return load_functions(import) && import_ends(import, &ends, arena);
}

tw_graph *tw_import_tensorflow(tw_arena *arena, const void *data, size_t bytes, const char *path,
                               const tw_import_options *options, tw_diag *diag)
{
    tw_arena *scratch = tw_arena_new();
    tw_tf_import import = {.scratch = scratch};
    const bool saved = is_saved_model(data, bytes);
    tw_builder_init(&import.b, tw_graph_new(scratch, ""), options, diag);
    load_rows(&import);
    ProtobufCMessage *message =
        tw_wire_unpack(saved ? &tw__tf__saved_model__descriptor : &tw__tf__graph__descriptor,
                       "model", data, bytes, scratch, diag);
    bool ok =
        message && (saved ? import_saved_model(&import, (Tw__Tf__SavedModel *)message, path, arena)
                          : import_graph_def(&import, (Tw__Tf__Graph *)message, arena));
    tw_graph *graph = ok ? import.b.graph : NULL;
    tw_arena_free(scratch);
    return graph;
}
