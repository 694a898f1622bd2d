/* What a layer's configuration says: JSON, from a file that nobody vouches for. A number where a list is
 * meant stands for all of it, as Keras itself has it. */
#include <string.h>

#include "import/keras/keras.h"

const char *tw_kr_or_empty(const char *text)
{
    return text ? text : "";
}

const char *tw_kr_class(const json_t *layer)
{
    return tw_kr_or_empty(json_string_value(json_object_get(layer, "class_name")));
}

const json_t *tw_kr_config(const json_t *layer)
{
    return json_object_get(layer, "config");
}

const char *tw_kr_name(const json_t *layer)
{
    const char *name = json_string_value(json_object_get(layer, "name"));
    return name ? name
                : tw_kr_or_empty(json_string_value(json_object_get(tw_kr_config(layer), "name")));
}

const json_t *tw_kr_layers(const json_t *model)
{
    const json_t *config = tw_kr_config(model);
    return json_is_array(config) ? config : json_object_get(config, "layers");
}

const json_t *tw_kr_get(const tw_kr_node *n, const char *key)
{
    const json_t *value = json_object_get(n->config, key);
    return json_is_null(value) ? NULL : value;
}

bool tw_kr_flag(const tw_kr_node *n, const char *key, bool otherwise)
{
    const json_t *value = tw_kr_get(n, key);
    return json_is_boolean(value)   ? json_is_true(value)
           : json_is_integer(value) ? json_integer_value(value) != 0
                                    : otherwise;
}

int64_t tw_kr_int(const tw_kr_node *n, const char *key, int64_t otherwise)
{
    const json_t *value = tw_kr_get(n, key);
    double real = json_is_real(value) ? json_real_value(value) : 0;
    return json_is_integer(value)                     ? json_integer_value(value)
           : real != 0 && real > -1e15 && real < 1e15 ? (int64_t)real
                                                      : otherwise;
}

double tw_kr_real(const tw_kr_node *n, const char *key, double otherwise)
{
    const json_t *value = tw_kr_get(n, key);
    /* Keras 2 writes NumPy's scalars as arrays of a class of their own. */
    if (json_is_object(value))
        value = json_object_get(value, json_object_get(value, "value") ? "value" : "config");
    if (json_is_object(value))
        value = json_object_get(value, "value");
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

const char *tw_kr_word(const tw_kr_node *n, const char *key, const char *otherwise)
{
    const char *word = json_string_value(tw_kr_get(n, key));
    return word ? word : otherwise;
}

int tw_kr_ints(tw_kr_node *n, const char *key, int most, bool spread, int64_t otherwise,
               int64_t *list)
{
    const json_t *value = tw_kr_get(n, key);
    if (!value || json_is_integer(value)) {
        int count = spread ? most : 1;
        for (int i = 0; i < count; i++)
            list[i] = value ? json_integer_value(value) : otherwise;
        return count;
    }
    /* Keras 3 marks tuples. */
    if (json_is_object(value))
        value = json_object_get(value, "items");
    size_t count = json_array_size(value);
    bool sound =
        json_is_array(value) && count <= (size_t)most && (!spread || count == (size_t)most);
    for (size_t i = 0; sound && i < count; i++) {
        sound = json_is_integer(json_array_get(value, i));
        list[i] = json_integer_value(json_array_get(value, i));
    }
    if (sound)
        return (int)count;
    TW_KR_FAIL(n, "%s is no list of at most %d whole numbers", key, most);
    return -1;
}

static bool normal_axis(tw_kr_node *n, const char *key, int rank, int64_t *axis)
{
    *axis += *axis < 0 ? rank : 0;
    return (*axis >= 0 && *axis < rank) ||
           TW_KR_FAIL(n, "%s leaves the input's %d axes", key, rank);
}

int tw_kr_axes(tw_kr_node *n, const char *key, const tw_value *x, int64_t otherwise, int64_t *axes)
{
    int count = x ? tw_kr_ints(n, key, TW_MAX_RANK, false, otherwise, axes) : -1;
    for (int i = 0; i < count; i++) {
        if (!normal_axis(n, key, x->shape.rank, &axes[i]))
            return -1;
        for (int k = i; k > 0 && axes[k] <= axes[k - 1]; k--) {
            if (axes[k] == axes[k - 1]) {
                TW_KR_FAIL(n, "%s names an axis twice", key);
                return -1;
            }
            int64_t swap = axes[k];
            axes[k] = axes[k - 1];
            axes[k - 1] = swap;
        }
    }
    return count;
}

int tw_kr_axis(tw_kr_node *n, const char *key, int rank, int64_t otherwise)
{
    int64_t axis[1];
    return tw_kr_ints(n, key, 1, false, otherwise, axis) == 1 && normal_axis(n, key, rank, axis)
               ? (int)axis[0]
               : -1;
}

bool tw_kr_channels_first(tw_kr_node *n)
{
    return strcmp(tw_kr_word(n, "data_format", "channels_last"), "channels_first") == 0;
}
