/* Functional models: layers by name, and for each the calls of it. A call names the results it takes by
 * layer, call and position, in one of two spellings; it is made once these are there, whatever the order
 * in the file. */
#include <string.h>

#include "import/keras/keras.h"

enum { MOST_LAYERS = 20000, MOST_NESTING = 8, MOST_TENSORS = 1024, MOST_ATTEMPTS = 20000000 };

/* A layer of the model, and what its calls gave. */
typedef struct member {
    const json_t *layer, *calls;
    const char *name;
    tw_kr_store *store;
    tw_kr_results *results; /* one a call */
    bool *done;
    int call_count;
    int first; /* what the file calls the first call: 1 where the layer is a model that has been called
                  when it was made */
} member;

typedef struct network {
    tw_kr_import *import;
    const json_t *model;
    member *members;
    int count;
    tw_map by_name;
    long attempts;
    tw_value **buffer, **masks; /* the tensors of the argument in hand */
} network;

#define NET_FAIL(net, node, ...)                                                                   \
    tw_fail((net)->import->b.diag, TW_CODE_FAILED, node, tw_kr_class((net)->model), __VA_ARGS__)

typedef enum found { FOUND, NOT_YET, WRONG } found;

/* --- references -------------------------------------------------------------------------------- */

/* ["layer", call, tensor, ...] */
static bool is_reference(const json_t *value)
{
    return json_is_array(value) && json_array_size(value) >= 3 &&
           json_is_string(json_array_get(value, 0)) && json_is_integer(json_array_get(value, 1)) &&
           json_is_integer(json_array_get(value, 2));
}

/* The reference in Keras 3's record of a tensor; null where it is none. */
static const json_t *history_of(const json_t *value)
{
    return strcmp(tw_kr_class(value), "__keras_tensor__") == 0
               ? json_object_get(tw_kr_config(value), "keras_history")
               : NULL;
}

static found resolve(network *net, const json_t *reference, tw_value **value, tw_value **mask)
{
    const char *name = json_string_value(json_array_get(reference, 0));
    const member *m = tw_map_get(&net->by_name, name);
    if (!m) {
        NET_FAIL(net, name, "the model has no layer of this name, which another one reads");
        return WRONG;
    }
    json_int_t call = json_integer_value(json_array_get(reference, 1)) - m->first;
    json_int_t tensor = json_integer_value(json_array_get(reference, 2));
    if (m->call_count == 1)
        call = 0; /* versions disagree on how the calls of models are counted */
    if (call < 0 || call >= m->call_count) {
        NET_FAIL(net, name, "another layer reads its call %lld; there are %d",
                 (long long)call + m->first, m->call_count);
        return WRONG;
    }
    if (!m->done[call])
        return NOT_YET;
    if (tensor < 0 || tensor >= m->results[call].count) {
        NET_FAIL(net, name, "another layer reads its result %lld; there are %d", (long long)tensor,
                 m->results[call].count);
        return WRONG;
    }
    *value = m->results[call].value[tensor];
    *mask = m->results[call].mask[tensor];
    return FOUND;
}

/* All tensors in a value, in order, appended to the argument. */
static found collect(network *net, const json_t *value, int depth, tw_kr_argument *a)
{
    const json_t *reference = is_reference(value) ? value : history_of(value);
    if (reference) {
        if (!is_reference(reference) || a->count == MOST_TENSORS) {
            NET_FAIL(net, NULL, "a reference to a tensor is damaged");
            return WRONG;
        }
        if (strcmp(json_string_value(json_array_get(reference, 0)), "_CONSTANT_VALUE") == 0)
            return FOUND;
        return resolve(net, reference, &a->value[a->count], &a->mask[a->count]) == FOUND
                   ? (a->count++, FOUND)
                   : (net->import->b.diag->code == TW_CODE_OK ? NOT_YET : WRONG);
    }
    found all = FOUND;
    if (depth == MOST_NESTING)
        return FOUND;
    for (size_t i = 0; all == FOUND && json_is_array(value) && i < json_array_size(value); i++)
        all = collect(net, json_array_get(value, i), depth + 1, a);
    if (json_is_object(value) && !*tw_kr_class(value))
        for (void *at = json_object_iter((json_t *)(uintptr_t)value); at && all == FOUND;
             at = json_object_iter_next((json_t *)(uintptr_t)value, at))
            all = collect(net, json_object_iter_value(at), depth + 1, a);
    return all;
}

/* --- calls ------------------------------------------------------------------------------------- */

typedef struct call {
    tw_kr_argument argument[32];
    int count;
} call;
enum { MOST_ARGUMENTS = 32 };

static found add_argument(network *net, call *c, const char *name, const json_t *value)
{
    if (c->count == MOST_ARGUMENTS) {
        NET_FAIL(net, NULL, "a call has more than %d arguments", MOST_ARGUMENTS);
        return WRONG;
    }
    tw_kr_argument *a = &c->argument[c->count++];
    *a = (tw_kr_argument){.name = name, .json = value};
    a->value = net->buffer;
    a->mask = net->masks;
    found all = collect(net, value, 0, a);
    const size_t bytes = sizeof *a->value * (size_t)a->count;
    if (all == FOUND) {
        a->value = tw_copy(net->import->scratch, net->buffer, bytes);
        a->mask = tw_copy(net->import->scratch, net->masks, bytes);
    }
    return all;
}

static found add_named(network *net, call *c, const json_t *named)
{
    found all = FOUND;
    for (void *at = json_object_iter((json_t *)(uintptr_t)named); at && all == FOUND;
         at = json_object_iter_next((json_t *)(uintptr_t)named, at))
        all = add_argument(net, c, json_object_iter_key(at), json_object_iter_value(at));
    return all;
}

/* Keras 3: {"args": [...], "kwargs": {...}}. Keras 2: a list of references, each with the named arguments
 * behind it, which are all the same; where an operation is called, one reference and no list. */
static found read_call(network *net, const json_t *record, call *c)
{
    found all = FOUND;
    c->count = 0;
    if (json_is_object(record)) {
        const json_t *places = json_object_get(record, "args");
        for (size_t i = 0; all == FOUND && i < json_array_size(places); i++)
            all = add_argument(net, c, NULL, json_array_get(places, i));
        return all == FOUND ? add_named(net, c, json_object_get(record, "kwargs")) : all;
    }
    const bool alone = json_is_string(json_array_get(record, 0));
    const json_t *first = alone ? record : json_array_get(record, 0);
    /* A number may stand in a reference's place. */
    const char *name = tw_kr_or_empty(json_string_value(json_array_get(first, 0)));
    const bool number = strcmp(name, "_CONSTANT_VALUE") == 0;
    all = add_argument(net, c, NULL, number ? json_array_get(first, 2) : record);
    return all == FOUND ? add_named(net, c, json_array_get(first, 3)) : all;
}

static found make_call(network *net, member *m, int i)
{
    call c;
    found all = read_call(net, json_array_get(m->calls, (size_t)i), &c);
    if (all != FOUND)
        return all;
    m->store->next = 0;
    if (!tw_kr_call(net->import, m->layer, m->name, m->store, c.argument, c.count, &m->results[i]))
        return WRONG;
    m->done[i] = true;
    return FOUND;
}

/* Whatever can be called, until nothing is left or nothing can. */
static bool make_calls(network *net)
{
    for (;;) {
        const member *waiting = NULL;
        bool progress = false;
        for (int k = 0; k < net->count; k++) {
            member *m = &net->members[k];
            for (int i = 0; i < m->call_count; i++) {
                if (m->done[i])
                    continue;
                if (++net->attempts > MOST_ATTEMPTS)
                    return NET_FAIL(net, m->name, "the layers stand in too wild an order");
                found result = make_call(net, m, i);
                if (result == WRONG)
                    return false;
                progress |= result == FOUND;
                if (result == NOT_YET)
                    waiting = m;
            }
        }
        if (!waiting)
            return true;
        if (!progress)
            return NET_FAIL(
                net, waiting->name,
                "the layer waits for its own result: the calls in the file make a circle");
    }
}

/* --- the model --------------------------------------------------------------------------------- */

static bool read_members(network *net, tw_kr_store *store)
{
    const json_t *layers = tw_kr_layers(net->model);
    tw_arena *scratch = net->import->scratch;
    if (json_array_size(layers) > MOST_LAYERS)
        return NET_FAIL(net, NULL, "more than %d layers", MOST_LAYERS);
    net->count = (int)json_array_size(layers);
    net->members = tw_alloc_array(scratch, (size_t)net->count + 1, sizeof *net->members);
    tw_kr_store **stores = tw_kr_stores(net->import, store, layers);
    for (int i = 0; stores && i < net->count; i++) {
        member *m = &net->members[i];
        const json_t *layer = json_array_get(layers, (size_t)i);
        const char *class = tw_kr_class(layer);
        *m = (member){.layer = layer, .name = tw_kr_name(layer), .store = stores[i]};
        m->calls = json_object_get(layer, "inbound_nodes");
        bool input = strcmp(class, "InputLayer") == 0;
        m->call_count = input ? 1 : (int)json_array_size(m->calls);
        m->first =
            tw_kr_is_model(class) && (strcmp(class, "Sequential") != 0 || net->import->version < 3);
        m->results = tw_alloc_array(scratch, (size_t)m->call_count + 1, sizeof *m->results);
        m->done = tw_alloc(scratch, (size_t)m->call_count + 1);
        if (!*m->name || tw_map_get(&net->by_name, m->name))
            return NET_FAIL(net, m->name,
                            "two layers of the model have this name, or one has none");
        tw_map_put(scratch, &net->by_name, m->name, m);
    }
    return stores != NULL;
}

/* Every reference in a list of them, however nested. */
static bool list_references(network *net, const json_t *value, int depth, const json_t **list,
                            int *count)
{
    bool sound = depth < MOST_NESTING;
    if (is_reference(value)) {
        if (*count == MOST_TENSORS)
            return NET_FAIL(net, NULL, "more than %d inputs or outputs", MOST_TENSORS);
        list[(*count)++] = value;
        return true;
    }
    for (size_t i = 0; sound && json_is_array(value) && i < json_array_size(value); i++)
        sound = list_references(net, json_array_get(value, i), depth + 1, list, count);
    if (json_is_object(value))
        for (void *at = json_object_iter((json_t *)(uintptr_t)value); at && sound;
             at = json_object_iter_next((json_t *)(uintptr_t)value, at))
            sound = list_references(net, json_object_iter_value(at), depth + 1, list, count);
    return sound || NET_FAIL(net, NULL, "the list of inputs or outputs is damaged");
}

/* The model's inputs are results of its input layers. */
static bool bind_inputs(network *net, const tw_kr_argument *in)
{
    const json_t **list = tw_alloc_array(net->import->scratch, MOST_TENSORS, sizeof *list);
    int count = 0;
    const json_t *config = tw_kr_config(net->model);
    if (!list_references(net, json_object_get(config, "input_layers"), 0, list, &count))
        return false;
    if (in && count != in->count)
        return NET_FAIL(net, tw_kr_name(net->model), "it is called with %d tensors, it takes %d",
                        in->count, count);
    for (int i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(list[i], 0));
        member *m = tw_map_get(&net->by_name, name);
        if (!m || strcmp(tw_kr_class(m->layer), "InputLayer") != 0 || m->done[0])
            return NET_FAIL(net, name, "the model's input is no input layer, or is one twice");
        const json_t *own = tw_kr_config(m->layer), *shape = json_object_get(own, "batch_shape");
        if (!shape)
            shape = json_object_get(own, "batch_input_shape");
        const char *dtype = json_string_value(json_object_get(own, "dtype"));
        tw_value *value =
            in ? in->value[i] : tw_kr_input(net->import, name, shape, tw_kr_or_empty(dtype));
        tw_value *mask = in ? tw_kr_argument_mask(in, i) : NULL;
        if (!value)
            return false;
        m->results[0] = (tw_kr_results){tw_copy(net->import->scratch, &value, sizeof value),
                                        tw_copy(net->import->scratch, &mask, sizeof mask), 1, NULL};
        m->done[0] = true;
    }
    for (int k = 0; k < net->count; k++)
        if (strcmp(tw_kr_class(net->members[k].layer), "InputLayer") == 0 &&
            !net->members[k].done[0])
            return NET_FAIL(net, net->members[k].name, "the input layer is no input of the model");
    return true;
}

static bool take_outputs(network *net, tw_kr_results *results)
{
    const json_t **list = tw_alloc_array(net->import->scratch, MOST_TENSORS, sizeof *list);
    int count = 0;
    if (!list_references(net, json_object_get(tw_kr_config(net->model), "output_layers"), 0, list,
                         &count))
        return false;
    results->value = tw_alloc_array(net->import->scratch, (size_t)count + 1, sizeof(tw_value *));
    results->mask = tw_alloc_array(net->import->scratch, (size_t)count + 1, sizeof(tw_value *));
    results->name = tw_alloc_array(net->import->scratch, (size_t)count + 1, sizeof(char *));
    for (results->count = 0; results->count < count; results->count++) {
        const json_t *reference = list[results->count];
        results->name[results->count] = json_string_value(json_array_get(reference, 0));
        if (resolve(net, reference, &results->value[results->count],
                    &results->mask[results->count]) != FOUND)
            return false;
    }
    return true;
}

bool tw_kr_network(tw_kr_import *import, const json_t *model, tw_kr_store *store,
                   const tw_kr_argument *in, tw_kr_results *results)
{
    network net = {.import = import, .model = model};
    net.buffer = tw_alloc_array(import->scratch, MOST_TENSORS, sizeof *net.buffer);
    net.masks = tw_alloc_array(import->scratch, MOST_TENSORS, sizeof *net.masks);
    return read_members(&net, store) && bind_inputs(&net, in) && make_calls(&net) &&
           take_outputs(&net, results);
}
