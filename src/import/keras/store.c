/* Which dataset of the weights' file a variable is.
 *
 * Keras 3 walks the objects: the layers of a model are in its group "layers", each under its class in
 * snake case, with a number from the second of that class on; a layer's own variables are vars/0, vars/1,
 * ...; objects in it are groups named after their attributes. Legacy files have a group for each layer
 * of the outermost model with a list of names, in the order in which the layer made its variables, those
 * that are trained first; layers of a model inside are found by their name in these. */
#include <ctype.h>
#include <string.h>

#include "import/keras/keras.h"
#include "import/tensor_file.h"

static tw_kr_store *store_at(tw_kr_import *import, const char *path)
{
    tw_kr_store *store = tw_alloc(import->scratch, sizeof *store);
    store->path = path;
    return store;
}

static const char *join(tw_kr_import *import, const char *path, const char *name)
{
    return *path ? tw_format(import->scratch, "%s/%s", path, name) : name;
}

tw_kr_store *tw_kr_root(tw_kr_import *import)
{
    return store_at(import, import->legacy && tw_h5_has(import->weights, "model_weights")
                                ? "model_weights"
                                : "");
}

/* MaxPooling2D to max_pooling2d, PReLU to p_re_lu: an underscore in front of a capital that small letters
 * follow, and between a small letter and a capital. */
static const char *snake_case(tw_kr_import *import, const char *class)
{
    size_t length = strlen(class), made = 0;
    char *out = tw_alloc(import->scratch, 2 * length + 1);
    size_t free_from = 1; /* a match takes its letters: the next one begins behind them */
    for (size_t i = 0; i < length; i++) {
        bool capital = isupper((unsigned char)class[i]), begins = false;
        if (capital && i >= free_from && islower((unsigned char)class[i + 1])) {
            begins = true;
            free_from = i + 1;
            while (islower((unsigned char)class[free_from]))
                free_from++;
            free_from++;
        }
        begins |= capital && i > 0 && islower((unsigned char)class[i - 1]);
        if (begins)
            out[made++] = '_';
        out[made++] = (char)tolower((unsigned char)class[i]);
    }
    return out;
}

/* The group of each layer, by its class and number. */
static void walk_groups(tw_kr_import *import, const char *folder, const json_t *layers,
                        tw_kr_store **stores)
{
    tw_map seen = {0}; /* name -> how many before */
    for (size_t i = 0; i < json_array_size(layers); i++) {
        const char *class = tw_kr_class(json_array_get(layers, i));
        /* The one class that has another name in configurations than in Keras. */
        const bool grouped = strcmp(class, "GroupQueryAttention") == 0;
        const char *name = snake_case(import, grouped ? "GroupedQueryAttention" : class);
        if (grouped && !tw_h5_has(import->weights, join(import, folder, name)))
            name = snake_case(import, class);
        int *count = tw_map_get(&seen, name);
        if (!count) {
            count = tw_alloc(import->scratch, sizeof *count);
            tw_map_put(import->scratch, &seen, name, count);
        }
        const char *own = *count ? tw_format(import->scratch, "%s_%d", name, *count) : name;
        ++*count;
        stores[i] = store_at(import, join(import, folder, own));
    }
}

/* Is this one of the names in the path in front of the last? */
static bool passes(const char *path, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = path, *end; (end = strchr(at, '/')); at = end + 1)
        if ((size_t)(end - at) == length && memcmp(at, name, length) == 0)
            return true;
    return false;
}

/* Of an outermost model's layer: the list in its group; of another's: what has the name in its path. */
static bool fill_list(tw_kr_import *import, const tw_kr_store *model, const char *name,
                      tw_kr_store *store)
{
    if (!model->names) {
        store->path = join(import, model->path, name);
        store->count = *name && tw_h5_has(import->weights, store->path)
                           ? tw_kr_texts(import, store->path, "weight_names", &store->names)
                           : 0;
        if (store->count < 0)
            store->count = 0;
        if (!store->names)
            store->names = tw_alloc(import->scratch, sizeof *store->names);
        return import->b.diag->code == TW_CODE_OK;
    }
    const char **own = tw_alloc_array(import->scratch, (size_t)model->count + 1, sizeof *own);
    for (int i = 0; i < model->count; i++)
        if (passes(model->names[i], name))
            own[store->count++] = model->names[i];
    store->names = own;
    return true;
}

tw_kr_store **tw_kr_stores(tw_kr_import *import, tw_kr_store *model, const json_t *layers)
{
    size_t count = json_array_size(layers);
    tw_kr_store **stores = tw_alloc_array(import->scratch, count + 1, sizeof *stores);
    if (!import->legacy) {
        const char *folder = join(import, model->path, "layers");
        if (!tw_h5_has(import->weights, folder))
            folder = join(import, model->path, "_layer_checkpoint_dependencies");
        walk_groups(import, folder, layers, stores);
        return stores;
    }
    for (size_t i = 0; i < count; i++) {
        stores[i] = store_at(import, model->path);
        if (!fill_list(import, model, tw_kr_name(json_array_get(layers, i)), stores[i]))
            return NULL;
    }
    return stores;
}

tw_kr_store **tw_kr_cells(tw_kr_import *import, tw_kr_store *store, const json_t *objects)
{
    size_t count = json_array_size(objects);
    tw_kr_store **stores = tw_alloc_array(import->scratch, count + 1, sizeof *stores);
    if (!import->legacy)
        walk_groups(import, store->path, objects, stores);
    for (size_t i = 0; import->legacy && i < count; i++)
        stores[i] = store;
    return stores;
}

tw_kr_store *tw_kr_child(tw_kr_import *import, tw_kr_store *store, const char *attribute)
{
    if (import->legacy)
        return store;
    const char *path = join(import, store->path, attribute);
    /* Keras 2 has what is private to a layer under its private name. */
    if (!tw_h5_has(import->weights, path)) {
        const char *hidden =
            join(import, store->path, tw_format(import->scratch, "_%s", attribute));
        if (tw_h5_has(import->weights, hidden))
            path = hidden;
    }
    return store_at(import, path);
}

/* The message of a variable that has other extents than its layer gives it. */
static bool check_shape(tw_kr_node *n, const char *path, const char *what, const tw_shape *shape,
                        int rank, const int64_t *dim)
{
    char have[96], wanted[96] = "";
    bool fits = shape->rank == rank;
    size_t at = 0;
    for (int i = 0; i < rank; i++) {
        fits = fits && (dim[i] == -1 || dim[i] == shape->dim[i]);
        if (at < sizeof wanted)
            at += (size_t)snprintf(wanted + at, sizeof wanted - at, dim[i] == -1 ? "%s?" : "%s%lld",
                                   i ? "," : "", (long long)dim[i]);
    }
    if (fits)
        return true;
    tw_shape_text(shape, have, sizeof have);
    return TW_KR_FAIL(n, "%s is %s in the file (%.200s) where the layer has [%s]", what, have, path,
                      wanted);
}

/* Where there are no weights: zeros; axes of any extent have one element. */
static tw_value *made_up(tw_kr_node *n, const char *path, const char *what, int rank,
                         const int64_t *dim)
{
    int64_t own[TW_MAX_RANK];
    tw_shape shape;
    if (rank > TW_MAX_RANK)
        return NULL;
    for (int i = 0; i < rank; i++)
        own[i] = dim[i] == -1 ? 1 : dim[i];
    if (!tw_shape_from_file(what, TW_F32, (size_t)rank, own, &shape, n->b->diag))
        return NULL;
    tw_value *v = tw_build_full(n->b, shape, 0);
    if (v)
        tw_map_put(n->import->scratch, &n->import->tensors, path, v);
    return v;
}

tw_value *tw_kr_variable(tw_kr_node *n, tw_kr_store *store, int i, const char *what, int rank,
                         const int64_t *dim)
{
    tw_kr_import *import = n->import;
    const char *path;
    if (n->b->diag->code != TW_CODE_OK)
        return NULL;
    if (!import->legacy) {
        path = tw_format(import->scratch, "%s%svars/%d", store->path, *store->path ? "/" : "", i);
    } else if (store->next < store->count) {
        path = join(import, store->path, store->names[store->next++]);
    } else {
        TW_KR_FAIL(n, "the file has no %s for it; save the whole model again, as .keras", what);
        return NULL;
    }
    tw_value *known = tw_map_get(&import->tensors, path);
    tw_shape shape;
    if (!import->weights)
        return known ? known : made_up(n, path, what, rank, dim);
    if (!known && !tw_h5_has(import->weights, path)) {
        TW_KR_FAIL(n, "the file has no %s for it (%.200s); save the whole model again", what, path);
        return NULL;
    }
    if (known ? !check_shape(n, path, what, &known->shape, rank, dim)
              : !tw_kr_weight_shape(import, path, &shape) ||
                    !check_shape(n, path, what, &shape, rank, dim))
        return NULL;
    if (known)
        return known;
    const void *data = tw_kr_weights(import, path, &shape);
    if (!data)
        return NULL;
    known =
        tw_graph_constant(n->b->graph, tw_format(n->b->arena, "%s/%s", n->name, what), shape, data);
    tw_map_put(import->scratch, &import->tensors, path, known);
    return known;
}
