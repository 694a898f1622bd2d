/* The inputs of the model's graph: their types, and extents for what the model leaves open. */
#include <stdio.h>
#include <string.h>

#include "import/onnx/model.h"

static bool refuse_type(tw_onnx *o, const char *name, const Tw__Onnx__Type *type)
{
    const char *kind = !type                          ? NULL
                       : type->sequence_type          ? "a sequence of sequences"
                       : type->has_map_type           ? "a map"
                       : type->optional_type          ? "an optional inside another or a sequence"
                       : type->has_sparse_tensor_type ? "a sparse tensor"
                       : type->has_opaque_type        ? "opaque"
                                                      : NULL;
    if (!kind)
        return tw_fail(o->b.diag, TW_CODE_FAILED, name, NULL, "the graph input has no type");
    return tw_fail(
        o->b.diag, TW_CODE_UNSUPPORTED, name, NULL,
        "the graph input is %s; tensors, sequences of tensors and optionals of either are "
        "supported",
        kind);
}

/* The extent of one axis: as the model fixes it, as the user gives it, as another input's axis of
 * the same symbol has it, or 1. */
static bool bind_axis(tw_onnx *o, const char *name, int axis, const Tw__Onnx__Dimension *dim,
                      const int32_t *given, int64_t *extent)
{
    const char *symbol = tw_onnx_or_empty(dim ? dim->symbol : NULL);
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
    if (!offer || !shape || offer->rank < 0)
        return offer && offer->rank >= 0 ? offer : NULL;
    bool fits = (size_t)offer->rank == shape->n_dim;
    for (size_t i = 0; fits && i < shape->n_dim; i++)
        fits = !shape->dim[i]->has_value || shape->dim[i]->value < 0 ||
               shape->dim[i]->value == offer->dim[i];
    return fits ? offer : NULL;
}

static bool import_input(tw_onnx *o, const Tw__Onnx__ValueInfo *info, bool first)
{
    tw_onnx_binding *binding = tw_onnx_find(o, tw_onnx_or_empty(info->name));
    const Tw__Onnx__TensorType *type = info->type ? info->type->tensor_type : NULL;
    if (!type)
        return refuse_type(o, binding->name, info->type);
    char what[300];
    snprintf(what, sizeof what, "graph input '%.256s'", binding->name);
    tw_dtype dtype = tw_onnx_held_as(type->elem_type);
    if (dtype == TW_NO_DTYPE)
        return tw_onnx_refuse_dtype(type->elem_type, what, o->b.diag);
    const tw_input_shape *given = tw_given_shape(o->b.options, binding->name, first);
    const tw_offered_input *offer = given ? NULL : fitting_offer(o, binding->name, type->shape);
    if (given && given->rank < 0)
        return tw_fail(o->b.diag, TW_CODE_USAGE, binding->name, NULL,
                       "the input is no optional; it cannot hold nothing");
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
    tw_value *input = tw_graph_input(o->b.graph, binding->name, shape);
    tw_onnx_name(o, binding, input);
    tw_onnx_note_type(o, input, tw_onnx_narrow_type(type->elem_type));
    return tw_fix_given_input(o->b.graph, input, o->b.options, o->b.diag);
}

/* Values offered under no name of the model's are meant by position. */
static void name_offers(tw_onnx *o, const Tw__Onnx__ValueInfo *const *open, size_t count)
{
    const tw_import_options *options = o->b.options;
    for (size_t i = 0; i < count && i < (size_t)options->offered_count; i++) {
        const tw_onnx_binding *known = tw_onnx_find(o, tw_onnx_or_empty(options->offered[i].name));
        const char *name = tw_onnx_find(o, tw_onnx_or_empty(open[i]->name))->name;
        if (!known || !known->input)
            tw_map_put(o->b.arena, &o->b.offered, name, (void *)(uintptr_t)&options->offered[i]);
    }
}

/* --- sequences and optionals ------------------------------------------------------------------- */

/* The graph's inputs that have no value yet, one by one: a sequence is as many inputs as shapes or values
 * are given for its tensors, NAME.0 and on. */
typedef struct tw_open_inputs {
    const Tw__Onnx__ValueInfo **info;
    size_t count;
    int capacity;
} tw_open_inputs;

static void add_open(tw_onnx *o, tw_open_inputs *open, const Tw__Onnx__ValueInfo *info)
{
    tw_grow(o->b.arena, &open->info, (int)open->count, &open->capacity, sizeof *open->info);
    open->info[open->count++] = info;
}

/* Is it said that the optional holds nothing? */
static bool is_nothing(const tw_onnx *o, const char *name)
{
    const tw_input_shape *given = tw_given_shape(o->b.options, name, false);
    const tw_offered_input *offer = tw_map_get(&o->b.offered, name);
    return given ? given->rank < 0 : offer && offer->rank < 0;
}

/* Tensor `i` of the sequence, if something is given for it. */
static bool add_element(tw_onnx *o, tw_open_inputs *open, const char *sequence, int i,
                        Tw__Onnx__Type *type)
{
    const char *name = tw_format(o->b.arena, "%s.%d", sequence, i);
    if (!tw_given_shape(o->b.options, name, false) && !tw_map_get(&o->b.offered, name))
        return false;
    tw_onnx_binding *binding = tw_onnx_declare(o, name, -1, "a tensor of a graph input");
    if (!binding)
        return false;
    binding->input = true;
    Tw__Onnx__ValueInfo *info = tw_alloc(o->b.arena, sizeof *info);
    tw__onnx__value_info__init(info);
    info->name = tw_strdup(o->b.arena, name);
    info->type = type;
    add_open(o, open, info);
    return true;
}

static bool open_input(tw_onnx *o, const Tw__Onnx__ValueInfo *info, tw_open_inputs *open)
{
    const char *name = tw_onnx_or_empty(info->name);
    Tw__Onnx__Type *type = info->type;
    int count = 0;
    if (type && type->optional_type) {
        type = type->optional_type->elem_type;
        if (is_nothing(o, name)) {
            tw_onnx_name(o, tw_onnx_find(o, name), tw_onnx_make_sequence(o, NULL, -1));
            return true;
        }
    }
    if (!type || !type->sequence_type) {
        Tw__Onnx__ValueInfo *inner = tw_copy(o->b.arena, info, sizeof *info);
        inner->type = type;
        add_open(o, open, inner);
        return true;
    }
    while (add_element(o, open, name, count, type->sequence_type->elem_type))
        count++;
    if (count == 0 && !is_nothing(o, name))
        tw_warn(o->b.diag, name, NULL,
                "the input is a sequence, and taken as empty; give the shapes of its tensors with "
                "--input-shape %.100s.0:..., and on",
                name);
    return o->b.diag->code == TW_CODE_OK;
}

/* The sequences' tensors are there now. */
static bool bind_sequence(tw_onnx *o, const char *name)
{
    tw_onnx_binding *binding = tw_onnx_find(o, name);
    tw_value **v = NULL;
    int count = 0, capacity = 0;
    for (const tw_onnx_binding *one; !binding->value; count++) {
        one = tw_onnx_find(o, tw_format(o->b.arena, "%s.%d", name, count));
        if (!one || !one->input || !one->value || !one->value->is_input)
            break;
        tw_grow(o->b.arena, &v, count, &capacity, sizeof *v);
        v[count] = one->value;
    }
    if (!binding->value)
        tw_onnx_name(o, binding, tw_onnx_make_sequence(o, v, count));
    return true;
}

bool tw_onnx_import_inputs(tw_onnx *o, const Tw__Onnx__Graph *g)
{
    /* Inputs with a shape given come first, so that they fix the symbols they share. */
    tw_open_inputs all = {NULL, 0, 0};
    for (size_t i = 0; i < g->n_input; i++)
        if (!tw_onnx_find(o, tw_onnx_or_empty(g->input[i]->name))->value &&
            !open_input(o, g->input[i], &all))
            return false;
    const Tw__Onnx__ValueInfo *const *open = all.info;
    const size_t count = all.count;
    name_offers(o, open, count);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            bool given =
                tw_given_shape(o->b.options, tw_onnx_or_empty(open[i]->name), i == 0) != NULL;
            if (given == (pass == 0) && !import_input(o, open[i], i == 0))
                return false;
        }
    }
    for (size_t i = 0; i < count; i++)
        o->b.graph->inputs[i] = tw_onnx_find(o, tw_onnx_or_empty(open[i]->name))->value;
    for (size_t i = 0; i < g->n_input; i++)
        bind_sequence(o, tw_onnx_or_empty(g->input[i]->name));
    for (int i = 0; i < o->b.options->input_shape_count; i++) {
        const char *name = tw_onnx_or_empty(o->b.options->input_shapes[i].name);
        const tw_onnx_binding *binding = tw_onnx_find(o, name);
        const bool nothing = binding && binding->value && tw_onnx_sequence_of(o, binding->value);
        if (*name && !nothing && (!binding || !binding->value || !binding->value->is_input))
            return tw_fail(o->b.diag, TW_CODE_USAGE, NULL, NULL,
                           "a shape is given for '%s', which is not an input of the model", name);
    }
    return true;
}
