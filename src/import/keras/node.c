/* A call of a layer: which row of the ledger it is, and what its function is given. */
#include <string.h>

#include "import/keras/keras.h"

/* --- the ledger -------------------------------------------------------------------------------- */

#define TW_KERAS(Name, function, kind, op, limits)                                                 \
    {#Name, NULL, tw_kr_op_##function, kind, op, limits},
#define TW_KERAS_OPERATION(Name, functions, function, kind, op)
#define TW_KERAS_REFUSED(Name, instead) {#Name, NULL, NULL, 0, NULL, instead},
static const tw_kr_row layers[] = {
#include "import/keras/keras.def"
};

#define TW_KERAS(Name, function, kind, op, limits)
#define TW_KERAS_OPERATION(Name, functions, function, kind, op)                                    \
    {#Name, functions, tw_kr_op_##function, kind, op, ""},
#define TW_KERAS_REFUSED(Name, instead)
static const tw_kr_row operations[] = {
#include "import/keras/keras.def"
};

enum {
    LAYERS = sizeof layers / sizeof *layers,
    OPERATIONS = sizeof operations / sizeof *operations
};

static const tw_kr_row *find(const tw_kr_row *rows, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

const tw_kr_row *tw_kr_find_layer(const char *class)
{
    return find(layers, LAYERS, class);
}

const tw_kr_row *tw_kr_find_operation(const char *class)
{
    return find(operations, OPERATIONS, class);
}

const tw_kr_row *tw_kr_find_function(const char *function)
{
    size_t length = strlen(function);
    for (int i = 0; i < OPERATIONS; i++)
        for (const char *at = operations[i].functions; *at; at += strspn(at, " ")) {
            size_t n = strcspn(at, " ");
            if (n == length && memcmp(at, function, n) == 0)
                return &operations[i];
            at += n;
        }
    return NULL;
}

bool tw_kr_row_at(int index, tw_kr_row *row)
{
    if (index >= LAYERS + OPERATIONS)
        return false;
    *row = index < LAYERS ? layers[index] : operations[index - LAYERS];
    return true;
}

/* --- calls ------------------------------------------------------------------------------------- */

/* Operations stand between layers where a model computes with tensors itself. Of the module there is no
 * word in `.h5`: there, what is no layer has nothing that could be trained. */
static bool is_operation(const tw_kr_import *import, const json_t *layer)
{
    const char *module = json_string_value(json_object_get(layer, "module"));
    if (module)
        return strncmp(module, "keras", 5) == 0 && strstr(module, ".ops");
    return import->legacy && import->version >= 3 &&
           !json_object_get(tw_kr_config(layer), "trainable") &&
           tw_kr_find_operation(tw_kr_class(layer));
}

static const tw_kr_row *row_of(const tw_kr_import *import, const json_t *layer, const char **name)
{
    *name = tw_kr_class(layer);
    if (is_operation(import, layer))
        return tw_kr_find_operation(*name);
    if (strcmp(*name, "TFOpLambda") != 0 && strcmp(*name, "SlicingOpLambda") != 0)
        return tw_kr_find_layer(*name);
    const char *function = json_string_value(json_object_get(tw_kr_config(layer), "function"));
    *name = function ? function : *name;
    return function ? tw_kr_find_function(function) : NULL;
}

static bool run_row(tw_kr_node *n)
{
    if (!n->row)
        return TW_KR_UNSUPPORTED(
            n, "the class is not one of Keras's own that are supported; the file does not "
               "hold the code of others: write the layer in Keras's own layers, or "
               "convert the model to TFLite");
    if (!n->row->import)
        return TW_KR_UNSUPPORTED(n, "the layer is not supported; %s", n->row->limits);
    bool ok = n->row->import(n) && n->b->diag->code == TW_CODE_OK;
    if (!ok && n->b->diag->code == TW_CODE_OK)
        return TW_KR_FAIL(n, "the layer could not be imported");
    return ok;
}

bool tw_kr_call(tw_kr_import *import, const json_t *layer, const char *name, tw_kr_store *store,
                const tw_kr_argument *arguments, int argument_count, tw_kr_results *results)
{
    const char *before = import->b.node;
    tw_kr_node n = {.import = import,
                    .b = &import->b,
                    .name = name,
                    .config = tw_kr_config(layer),
                    .store = store,
                    .arguments = arguments,
                    .argument_count = argument_count};
    *results = (tw_kr_results){NULL, NULL, 0, NULL};
    if (argument_count > 0) {
        n.in = arguments[0].value;
        n.masks = arguments[0].mask;
        n.in_count = arguments[0].count;
    }
    n.row = row_of(import, layer, &n.op);
    n.op = tw_strdup(import->b.arena, n.op);
    if (++import->calls > TW_KR_MOST_CALLS)
        return TW_KR_UNSUPPORTED(&n, "more than %d layers", TW_KR_MOST_CALLS);
    if (import->depth == TW_KR_MOST_DEPTH)
        return TW_KR_UNSUPPORTED(&n, "more than %d models and wrappers inside one another",
                                 TW_KR_MOST_DEPTH);
    import->depth++;
    import->b.node = *name ? name : n.op;
    bool ok;
    if (tw_kr_is_model(tw_kr_class(layer))) {
        const tw_kr_argument none = {.count = 0};
        ok = tw_kr_model(import, layer, store, argument_count > 0 ? &arguments[0] : &none, results);
    } else if ((ok = run_row(&n) && tw_kr_set_masks(&n))) {
        results->count = n.out_count;
        results->value = tw_copy(import->scratch, n.out, sizeof n.out);
        results->mask = tw_copy(import->scratch, n.out_mask, sizeof n.out_mask);
    }
    import->depth--;
    import->b.node = before;
    return ok;
}

tw_value *tw_kr_inner(tw_kr_node *n, const json_t *layer, tw_kr_store *store, tw_value *x,
                      tw_value **mask)
{
    const tw_kr_argument argument = {.value = &x, .mask = mask, .count = 1};
    tw_kr_results results;
    if (!x || !tw_kr_call(n->import, layer, n->name, store, &argument, 1, &results))
        return NULL;
    if (results.count == 1) {
        *mask = results.mask[0];
        return results.value[0];
    }
    TW_KR_UNSUPPORTED(n, "the layer in it has %d results; one is supported", results.count);
    return NULL;
}

/* --- what functions ask ------------------------------------------------------------------------ */

const tw_kr_argument *tw_kr_argument_of(const tw_kr_node *n, int place, const char *name)
{
    for (int i = 0; i < n->argument_count; i++) {
        const tw_kr_argument *a = &n->arguments[i];
        if (a->name ? strcmp(a->name, name) == 0 : i == place)
            return a->count > 0 || (a->json && !json_is_null(a->json)) ? a : NULL;
    }
    return NULL;
}

tw_value *tw_kr_tensor(const tw_kr_node *n, int place, const char *name)
{
    const tw_kr_argument *a = tw_kr_argument_of(n, place, name);
    return a && a->count == 1 ? a->value[0] : NULL;
}

bool tw_kr_argument_flag(const tw_kr_node *n, int place, const char *name)
{
    const tw_kr_argument *a = tw_kr_argument_of(n, place, name);
    return a && json_is_true(a->json);
}

tw_value *tw_kr_in(tw_kr_node *n, int least, int most)
{
    if (n->in_count != 1 || !n->in[0]) {
        TW_KR_FAIL(n, "it is called with %d tensors, it takes one", n->in_count);
        return NULL;
    }
    const int rank = n->in[0]->shape.rank;
    if (rank >= least && rank <= (most ? most : least))
        return n->in[0];
    TW_KR_FAIL(n, "its input has %d axes, the batch included; it takes %d%s", rank, least,
               most ? " or more" : "");
    return NULL;
}

bool tw_kr_set(tw_kr_node *n, tw_value *value)
{
    if (!value || n->out_count == TW_KR_MOST_OUT)
        return false;
    n->out[n->out_count++] = value;
    return true;
}

tw_value *tw_kr_real_value(tw_kr_node *n, tw_value *x)
{
    return tw_build_cast(n->b, x, TW_F32);
}

tw_value *tw_kr_list(tw_kr_node *n, int count, const double *values)
{
    const int32_t dim[1] = {count};
    float *data = tw_alloc(n->b->arena, sizeof *data * (size_t)count + 1);
    for (int i = 0; i < count; i++)
        data[i] = (float)values[i];
    return tw_build_data(n->b, tw_shape_of(TW_F32, 1, dim), data);
}

tw_value *tw_kr_scalar(tw_kr_node *n, double value)
{
    return tw_build_scalar(n->b, TW_F32, value);
}
