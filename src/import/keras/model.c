/* Models: the outermost and those that are layers of others. A Sequential is a chain. */
#include <string.h>

#include "import/keras/keras.h"
#include "import/tensor_file.h"

bool tw_kr_is_model(const char *class)
{
    return strcmp(class, "Sequential") == 0 || strcmp(class, "Functional") == 0 ||
           strcmp(class, "Model") == 0;
}

/* --- inputs of the graph ----------------------------------------------------------------------- */

/* The extents that the user gives an input: by name, or without one for the first input. */
static const tw_input_shape *given_shape(const tw_kr_import *import, const char *name)
{
    const tw_import_options *options = import->b.options;
    for (int i = 0; i < options->input_shape_count; i++) {
        const char *given = tw_kr_or_empty(options->input_shapes[i].name);
        if (*given ? strcmp(given, name) == 0 : import->b.graph->input_count == 0)
            return &options->input_shapes[i];
    }
    return NULL;
}

static bool bind_axis(tw_kr_import *import, const char *name, size_t axis, const json_t *extent,
                      const tw_input_shape *given, int64_t *dim)
{
    const bool open = !json_is_integer(extent);
    *dim = !open ? json_integer_value(extent) : given ? given->dim[axis] : 1;
    if (open && !given)
        tw_warn(import->b.diag, name, NULL,
                "axis %zu of the input is open and taken as 1; set it with --input-shape", axis);
    return open || !given || given->dim[axis] == *dim ||
           tw_fail(import->b.diag, TW_CODE_FAILED, name, NULL,
                   "axis %zu of the input has extent %lld, the shape given says %d", axis,
                   (long long)*dim, (int)given->dim[axis]);
}

static tw_dtype input_type(tw_kr_import *import, const char *name, const char *dtype)
{
    static const struct {
        const char *name;
        tw_dtype type;
    } types[] = {{"float32", TW_F32}, {"int32", TW_S32},   {"int64", TW_S64}, {"uint8", TW_U8},
                 {"int8", TW_S8},     {"int16", TW_S16},   {"bool", TW_BOOL}, {"uint16", TW_U16},
                 {"uint32", TW_U32},  {"float64", TW_F32}, {"", TW_F32}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, dtype) == 0)
            return types[i].type;
    tw_fail(import->b.diag, TW_CODE_UNSUPPORTED, name, "InputLayer",
            "an input of %.40s; float32, integers and bool are supported", dtype);
    return TW_NO_DTYPE;
}

tw_value *tw_kr_input(tw_kr_import *import, const char *name, const json_t *shape,
                      const char *dtype)
{
    const tw_input_shape *given = given_shape(import, name);
    size_t rank = json_array_size(shape);
    int64_t dim[TW_MAX_RANK] = {0};
    tw_shape made;
    tw_diag *diag = import->b.diag;
    tw_dtype type = input_type(import, name, dtype);
    if (type == TW_NO_DTYPE)
        return NULL;
    if (!json_is_array(shape)) {
        tw_fail(
            diag, TW_CODE_FAILED, name, "InputLayer",
            "the model does not say the input's shape; build it (model.build or an Input) before "
            "saving");
        return NULL;
    }
    if (given && (size_t)given->rank != rank) {
        tw_fail(diag, TW_CODE_FAILED, name, NULL,
                "the input has rank %zu, the shape given has rank %d", rank, given->rank);
        return NULL;
    }
    for (size_t i = 0; i < rank && rank <= TW_MAX_RANK; i++)
        if (!bind_axis(import, name, i, json_array_get(shape, i), given, &dim[i]))
            return NULL;
    if (!tw_shape_from_file(name, type, rank, dim, &made, diag))
        return NULL;
    tw_value *input = tw_graph_input(import->b.graph, name, made);
    return tw_fix_given_input(import->b.graph, input, import->b.options, diag) ? input : NULL;
}

/* --- Sequential -------------------------------------------------------------------------------- */

static const json_t *first_of(const json_t *object, const char *const *keys)
{
    for (; *keys; keys++) {
        const json_t *value = json_object_get(object, *keys);
        if (json_is_array(value))
            return value;
    }
    return NULL;
}

/* The shape that a chain begins with: its first layer's, or the model's own record. */
static const json_t *begin_shape(const json_t *model, const json_t **layer)
{
    static const char *const of_layer[] = {"batch_shape", "batch_input_shape", NULL};
    static const char *const built[] = {"build_input_shape", "input_shape", NULL};
    const json_t *shape = NULL;
    for (int depth = 0; depth < TW_KR_MOST_DEPTH && !shape; depth++) {
        *layer = json_array_get(tw_kr_layers(model), 0);
        shape = first_of(tw_kr_config(*layer), of_layer);
        if (!shape)
            shape = first_of(tw_kr_config(model), built);
        if (!shape)
            shape = first_of(json_object_get(model, "build_config"), built);
        if (!shape)
            shape = first_of(json_object_get(*layer, "build_config"), built);
        if (!tw_kr_is_model(tw_kr_class(*layer)))
            break;
        model = *layer;
    }
    return shape;
}

/* Keras 2 calls an input that was not given a name after the first layer. */
static tw_value *make_input(tw_kr_import *import, const json_t *model)
{
    const json_t *layer = NULL, *shape = begin_shape(model, &layer);
    bool own = strcmp(tw_kr_class(layer), "InputLayer") == 0;
    const char *name = tw_kr_name(layer), *dtype = "float32";
    const json_t *type = json_object_get(tw_kr_config(layer), "dtype");
    if (json_is_string(type) && (own || json_object_get(tw_kr_config(layer), "batch_input_shape")))
        dtype = json_string_value(type);
    if (strstr(dtype, "float"))
        dtype = "float32";
    name = own ? name : tw_format(import->b.arena, "%s_input", name);
    return tw_kr_input(import, name, shape, dtype);
}

bool tw_kr_sequential(tw_kr_import *import, const json_t *model, tw_kr_store *store,
                      const tw_kr_argument *in, tw_kr_results *results)
{
    const json_t *layers = tw_kr_layers(model);
    tw_kr_store **stores = tw_kr_stores(import, store, layers);
    const char *name = tw_kr_name(model);
    tw_value *x = in ? in->value[0] : NULL, *mask = in ? tw_kr_argument_mask(in, 0) : NULL;
    if (!stores || (!x && !(x = make_input(import, model))))
        return false;
    for (size_t i = 0; i < json_array_size(layers); i++) {
        const json_t *layer = json_array_get(layers, i);
        const tw_kr_argument argument = {.value = &x, .mask = &mask, .count = 1};
        tw_kr_results own;
        if (strcmp(tw_kr_class(layer), "InputLayer") == 0)
            continue;
        name = tw_kr_name(layer);
        stores[i]->next = 0;
        if (!tw_kr_call(import, layer, name, stores[i], &argument, 1, &own))
            return false;
        if (own.count != 1)
            return tw_fail(import->b.diag, TW_CODE_FAILED, name, tw_kr_class(layer),
                           "a layer with %d results stands in a chain", own.count);
        x = own.value[0];
        mask = own.mask[0];
    }
    *results = (tw_kr_results){tw_copy(import->scratch, &x, sizeof x),
                               tw_copy(import->scratch, &mask, sizeof mask), 1,
                               tw_copy(import->scratch, &name, sizeof name)};
    return true;
}

bool tw_kr_model(tw_kr_import *import, const json_t *model, tw_kr_store *store,
                 const tw_kr_argument *in, tw_kr_results *results)
{
    if (!json_is_array(tw_kr_layers(model)))
        return tw_fail(import->b.diag, TW_CODE_FAILED, tw_kr_name(model), tw_kr_class(model),
                       "the model has no list of layers");
    if (strcmp(tw_kr_class(model), "Sequential") != 0)
        return tw_kr_network(import, model, store, in, results);
    if (in && in->count != 1)
        return tw_fail(import->b.diag, TW_CODE_FAILED, tw_kr_name(model), "Sequential",
                       "it is called with %d tensors, it takes one", in->count);
    return tw_kr_sequential(import, model, store, in, results);
}
