/* Numbers to places in a list: bins, categories and vocabularies of integers. A place comes as it is, or as the
 * truths of all places. */
#include <string.h>

#include "import/keras/keras.h"

enum { MOST_ENTRIES = 1 << 16 }; /* of a list, each of which is compared with each element */

/* --- results ----------------------------------------------------------------------------------- */

/* Of the result: Keras 3's layers have types of their own for some, which the configuration does not say. */
static tw_dtype own_type(const tw_kr_node *n, bool hot, tw_dtype third)
{
    static const struct {
        const char *name;
        tw_dtype type;
    } types[] = {{"float32", TW_F32}, {"int32", TW_S32}, {"int64", TW_S64},
                 {"bool", TW_BOOL},   {"int8", TW_S8},   {"uint8", TW_U8}};
    const json_t *value = tw_kr_get(n, "dtype");
    if (n->import->version >= 3 && third != TW_NO_DTYPE)
        return third;
    if (json_is_object(value)) /* Keras 3's record of a policy */
        value = json_object_get(json_object_get(value, "config"), "name");
    const char *name = tw_kr_or_empty(json_string_value(value));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].type;
    return hot ? TW_F32 : TW_S64;
}

/* The truths of each row's places, taken together: whether one is there, or how many are. */
static tw_value *together(tw_kr_node *n, tw_value *hot, const char *reduce, tw_value *weights)
{
    const int64_t axes[] = {1};
    int64_t dim[] = {0, 0, 1};
    if (hot->shape.rank != 3) {
        TW_KR_UNSUPPORTED(n,
                          "multi_hot and count of an input of %d axes, the batch included; two "
                          "are supported: use one_hot",
                          hot->shape.rank - 1);
        return NULL;
    }
    if (weights) {
        for (int i = 0; i < 2 && weights->shape.rank == 2; i++)
            dim[i] = weights->shape.dim[i];
        weights = tw_build_reshape(n->b, tw_kr_real_value(n, weights), 3, dim);
        hot = weights ? tw_build2(n->b, "Mul", hot, weights, NULL) : NULL;
    }
    return hot ? tw_build1(n->b, reduce, hot,
                           TW_SETTINGS(tw_set_ints("axes", 1, axes), tw_set_int("keepdims", 0)))
               : NULL;
}

/* Types of Keras 3's results that are not the configuration's; TW_NO_DTYPE: they are. */
typedef struct own_types {
    tw_dtype place, hot;
} own_types;

/* Sets the result of places below `depth`, by the configuration's output_mode. */
static bool set_encoded(tw_kr_node *n, tw_value *places, int64_t depth, const char *otherwise,
                        own_types third)
{
    const char *mode = tw_kr_word(n, "output_mode", otherwise);
    const bool several = strcmp(mode, "multi_hot") == 0 || strcmp(mode, "binary") == 0;
    const bool count = strcmp(mode, "count") == 0;
    if (!places)
        return false;
    if (tw_kr_flag(n, "sparse", false))
        return TW_KR_UNSUPPORTED(n, "sparse results are not supported; leave out `sparse`");
    if (strcmp(mode, "int") == 0)
        return tw_kr_set(n, tw_build_cast(n->b, places, own_type(n, false, third.place)));
    if (!several && !count && strcmp(mode, "one_hot") != 0)
        return TW_KR_UNSUPPORTED(
            n, "output_mode '%.40s'; int, one_hot, multi_hot and count are supported", mode);
    int rank = places->shape.rank;
    int64_t dim[TW_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dim[i] = places->shape.dim[i];
    if (!several && !count && rank > 1 && dim[rank - 1] == 1)
        places = tw_build_reshape(n->b, places, --rank, dim);
    tw_value *hot = tw_build_hot(n->b, n->op, places, rank, depth);
    hot = tw_kr_real_value(n, hot);
    if (hot && (several || count))
        hot = together(n, hot, count ? "ReduceSum" : "ReduceMax",
                       count ? tw_kr_tensor(n, 1, "count_weights") : NULL);
    return hot && tw_kr_set(n, tw_build_cast(n->b, hot, own_type(n, true, third.hot)));
}

/* --- places ------------------------------------------------------------------------------------ */

/* x with an axis more, compared with each number of a list, and what the comparisons are worth summed up. */
static tw_value *compared(tw_kr_node *n, const char *op, tw_value *x, tw_value *list,
                          tw_value *worth)
{
    int64_t dim[TW_MAX_RANK + 1];
    if (!x || !list)
        return NULL;
    const int rank = x->shape.rank;
    const int64_t last = rank;
    for (int i = 0; i < rank; i++)
        dim[i] = x->shape.dim[i];
    dim[rank] = 1;
    if (rank == TW_MAX_RANK) {
        TW_KR_UNSUPPORTED(n, "an input of %d axes", rank);
        return NULL;
    }
    x = tw_build_reshape(n->b, x, rank + 1, dim);
    x = x ? tw_kr_real_value(n, tw_build2(n->b, op, x, list, NULL)) : NULL;
    x = x && worth ? tw_build2(n->b, "Mul", x, worth, NULL) : x;
    return x ? tw_build1(n->b, "ReduceSum", x,
                         TW_SETTINGS(tw_set_ints("axes", 1, &last), tw_set_int("keepdims", 0)))
             : NULL;
}

/* The numbers of a list in the configuration; null with a message. */
static double *list_of(tw_kr_node *n, const char *key, int *count)
{
    const json_t *value = tw_kr_get(n, key);
    if (json_is_object(value)) /* Keras 3's records of arrays and tuples */
        value = json_object_get(value, "items")
                    ? json_object_get(value, "items")
                    : json_object_get(json_object_get(value, "config"), "value");
    const size_t entries = json_array_size(value);
    if (!json_is_array(value) || entries == 0 || entries > MOST_ENTRIES) {
        TW_KR_UNSUPPORTED(
            n,
            "its configuration has no %s of at most %d numbers; make the layer with them, or "
            "encode before the network",
            key, MOST_ENTRIES);
        return NULL;
    }
    double *list = tw_alloc_array(n->import->scratch, entries, sizeof *list);
    for (size_t i = 0; i < entries; i++) {
        const json_t *entry = json_array_get(value, i);
        if (!json_is_number(entry)) {
            TW_KR_FAIL(n, "%s is no list of numbers", key);
            return NULL;
        }
        list[i] = json_number_value(entry);
    }
    *count = (int)entries;
    return list;
}

/* As many places as boundaries that are not above x. */
bool tw_kr_op_discretization(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 1, TW_MAX_RANK - 1));
    int count = 0;
    const double *list = x ? list_of(n, "bin_boundaries", &count) : NULL;
    x = list ? compared(n, "GreaterOrEqual", x, tw_kr_list(n, count, list), NULL) : NULL;
    return set_encoded(n, tw_build_cast(n->b, x, TW_S32), (int64_t)count + 1, "int",
                       (own_types){TW_S32, TW_NO_DTYPE});
}

bool tw_kr_op_category_encoding(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 1, TW_MAX_RANK - 1);
    const int64_t depth = tw_kr_int(n, "num_tokens", 0);
    if (x && depth < 1)
        return TW_KR_FAIL(n, "num_tokens is %lld", (long long)depth);
    return set_encoded(n, tw_build_cast(n->b, x, TW_S32), depth, "multi_hot",
                       (own_types){TW_NO_DTYPE, TW_NO_DTYPE});
}

/* Where a vocabulary's places begin, and what stands before them. */
typedef struct lookup {
    bool masked;
    int special; /* tokens in front: the mask's, where it has a place, and that of all other numbers */
    double mask; /* its place: 0, or -1 where it has none */
} lookup;

static lookup read_lookup(const tw_kr_node *n)
{
    const bool masked = tw_kr_get(n, "mask_token") != NULL;
    const bool placed = masked && strcmp(tw_kr_word(n, "output_mode", "int"), "int") == 0;
    return (lookup){masked, 1 + placed, placed ? 0 : -1};
}

/* The list without the tokens in front, where it begins with them. */
static double *own_entries(const tw_kr_node *n, double *list, int *count, int special)
{
    if (*count <= special || list[special - 1] != tw_kr_real(n, "oov_token", -1) ||
        (special > 1 && list[0] != tw_kr_real(n, "mask_token", 0)))
        return list;
    *count -= special;
    return list + special;
}

/* The mask's place; then that of all other numbers; then the vocabulary's. */
bool tw_kr_op_integer_lookup(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 1, TW_MAX_RANK - 1);
    const lookup l = read_lookup(n);
    int count = 0, at = 0;
    if (x && (tw_kr_flag(n, "invert", false) || tw_kr_flag(n, "pad_to_max_tokens", false) ||
              tw_kr_int(n, "num_oov_indices", 1) != 1))
        return TW_KR_UNSUPPORTED(
            n, "invert, pad_to_max_tokens and num_oov_indices other than 1 are not "
               "supported; encode before the network");
    double *list = x ? list_of(n, "vocabulary", &count) : NULL;
    if (!list)
        return false;
    list = own_entries(n, list, &count, l.special);
    int32_t *keys = tw_alloc_array(n->b->arena, (size_t)count + 1, sizeof *keys);
    double *worth = tw_alloc_array(n->import->scratch, (size_t)count + 1, sizeof *worth);
    const double others = l.special - 1;
    for (int i = l.masked ? -1 : 0; i < count; i++) {
        const double key = i < 0 ? tw_kr_real(n, "mask_token", 0) : list[i];
        if (!(key >= INT32_MIN && key <= INT32_MAX))
            return TW_KR_UNSUPPORTED(n, "its vocabulary has a number of more than 32 bits; encode "
                                        "before the network");
        keys[at] = (int32_t)key;
        worth[at++] = (i < 0 ? l.mask : l.special + i) - others;
    }
    const int32_t dim[] = {at};
    x = compared(n, "Equal", tw_build_cast(n->b, x, TW_S32),
                 tw_build_data(n->b, tw_shape_of(TW_S32, 1, dim), keys), tw_kr_list(n, at, worth));
    x = x ? tw_build2(n->b, "Add", x, tw_kr_scalar(n, others), NULL) : NULL;
    return set_encoded(n, tw_build_cast(n->b, x, TW_S32), (int64_t)count + l.special, "int",
                       (own_types){TW_S64, TW_S64});
}
