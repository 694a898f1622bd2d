/* A node in hand: its attributes, inputs and results. */
#include <string.h>

#include "import/tensorflow/tensorflow.h"

/* --- attributes -------------------------------------------------------------------------------- */

const Tw__Tf__Attribute *tw_tf_attribute(const tw_tf_node *n, const char *name)
{
    for (size_t i = 0; i < n->proto->n_attr; i++)
        if (n->proto->attr[i]->key && strcmp(n->proto->attr[i]->key, name) == 0)
            return n->proto->attr[i]->value;
    return NULL;
}

/* The attribute, when it is there and of the kind that is asked for. */
static const Tw__Tf__Attribute *of_kind(tw_tf_node *n, const char *name, const Tw__Tf__Attribute *a,
                                        bool is)
{
    if (a && !is)
        TW_TF_FAIL(n, "the attribute %s is of the wrong kind", name);
    return is ? a : NULL;
}

int64_t tw_tf_int(tw_tf_node *n, const char *name, int64_t fallback)
{
    const Tw__Tf__Attribute *a = tw_tf_attribute(n, name);
    a = of_kind(n, name, a, a && a->has_i);
    return a ? a->i : fallback;
}

bool tw_tf_flag(tw_tf_node *n, const char *name)
{
    const Tw__Tf__Attribute *a = tw_tf_attribute(n, name);
    a = of_kind(n, name, a, a && a->has_b);
    return a && a->b;
}

float tw_tf_float(tw_tf_node *n, const char *name, float fallback)
{
    const Tw__Tf__Attribute *a = tw_tf_attribute(n, name);
    a = of_kind(n, name, a, a && a->has_f);
    return a ? a->f : fallback;
}

const char *tw_tf_text(tw_tf_node *n, const char *name, const char *fallback)
{
    const Tw__Tf__Attribute *a = tw_tf_attribute(n, name);
    a = of_kind(n, name, a, a && a->has_s);
    return a ? tw_strndup(n->import->scratch, a->s.len ? (const char *)a->s.data : "", a->s.len)
             : fallback;
}

tw_tf_ints tw_tf_ints_of(tw_tf_node *n, const char *name)
{
    const Tw__Tf__Attribute *a = tw_tf_attribute(n, name);
    a = of_kind(n, name, a, a && a->list);
    if (!a || a->list->n_i > INT32_MAX)
        return (tw_tf_ints){-1, NULL};
    return (tw_tf_ints){(int)a->list->n_i, a->list->i};
}

tw_dtype tw_tf_type(tw_tf_node *n, const char *name)
{
    const Tw__Tf__Attribute *a = tw_tf_attribute(n, name);
    a = of_kind(n, name, a, a && a->has_type);
    if (!a)
        return TW_NO_DTYPE;
    tw_dtype dtype = tw_tf_dtype(a->type);
    if (dtype == TW_NO_DTYPE)
        TW_TF_UNSUPPORTED(n, "%s is %s, which is not supported", name, tw_tf_type_name(a->type));
    return dtype;
}

const char *tw_tf_function(tw_tf_node *n, const char *name)
{
    const Tw__Tf__Attribute *a = tw_tf_attribute(n, name);
    if (!a || !a->func || !a->func->name) {
        TW_TF_FAIL(n, "the attribute %s names no function", name);
        return NULL;
    }
    return a->func->name;
}

/* --- inputs ------------------------------------------------------------------------------------ */

static const char *kind_name(const tw_tf_item *item)
{
    switch (item->kind) {
    case TW_TF_HANDLE: return "a variable's handle";
    case TW_TF_LIST: return "a list of tensors";
    case TW_TF_TEXT: return "text";
    case TW_TF_RANDOM: return "random numbers";
    case TW_TF_DEAD: return "behind a branch that is not taken";
    default: return "nothing that can be read";
    }
}

tw_value *tw_tf_in(tw_tf_node *n, int i)
{
    if (i >= n->in_count) {
        TW_TF_FAIL(n, "input %d is missing", i);
        return NULL;
    }
    const tw_tf_item *item = &n->in[i];
    switch (item->kind) {
    case TW_TF_TENSOR: return item->value;
    case TW_TF_HANDLE:
        return tw_tf_variable_read(n, item->variable); /* TensorFlow 1's references */
    case TW_TF_STORED_TENSOR: return tw_tf_checkpoint_read(n, item->stored);
    case TW_TF_RANDOM:
        TW_TF_UNSUPPORTED(n,
                          "it reads random numbers; where they are of dropout, fix what turns it "
                          "off with --constant, as in keep_prob=1");
        return NULL;
    default:
        TW_TF_UNSUPPORTED(n, "input %d is %s, it needs a tensor", i, kind_name(item));
        return NULL;
    }
}

bool tw_tf_list_in(tw_tf_node *n, int i, const char *what, tw_tf_ints *list)
{
    tw_value *value = tw_tf_in(n, i);
    *list = (tw_tf_ints){-1, NULL};
    if (!value)
        return false;
    if (value->shape.dtype != TW_S32 && value->shape.dtype != TW_S64)
        return TW_TF_FAIL(n, "%s (input %d) must be of type int32 or int64, not %s", what, i,
                          tw_dtype_name(value->shape.dtype));
    if (value->shape.rank > 1)
        return TW_TF_FAIL(n, "%s (input %d) must be a list, it has rank %d", what, i,
                          value->shape.rank);
    if (!tw_build_constant(n->b, value))
        return TW_TF_UNSUPPORTED(n,
                                 "%s (input %d) is computed while the network runs; it must be "
                                 "constant",
                                 what, i);
    int count = (int)tw_shape_elements(&value->shape);
    int64_t *v = tw_alloc_array(n->import->scratch, (size_t)count + 1, sizeof *v);
    for (int k = 0; k < count; k++)
        v[k] = tw_build_int_at(value, k);
    *list = (tw_tf_ints){count, v};
    return true;
}

bool tw_tf_int_in(tw_tf_node *n, int i, const char *what, int64_t *value)
{
    tw_tf_ints list;
    if (!tw_tf_list_in(n, i, what, &list))
        return false;
    if (list.count != 1)
        return TW_TF_FAIL(n, "%s (input %d) must be one number, not %d", what, i, list.count);
    *value = list.v[0];
    return true;
}

bool tw_tf_axis(tw_tf_node *n, int64_t axis, int rank, int *out)
{
    if (axis < -rank || axis >= rank)
        return TW_TF_FAIL(n, "axis %lld does not exist: the tensor has rank %d", (long long)axis,
                          rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

bool tw_tf_extents_in(tw_tf_node *n, int i, bool open, tw_tf_ints *extents)
{
    if (!tw_tf_list_in(n, i, "the shape", extents))
        return false;
    if (extents->count > TW_MAX_RANK)
        return TW_TF_UNSUPPORTED(n, "a result of %d axes; at most %d are supported", extents->count,
                                 TW_MAX_RANK);
    for (int k = 0; k < extents->count; k++)
        if (extents->v[k] < (open ? -1 : 0) || extents->v[k] > INT32_MAX)
            return TW_TF_FAIL(n, "extent %lld at axis %d of the shape is out of range",
                              (long long)extents->v[k], k);
    return true;
}

/* --- results ----------------------------------------------------------------------------------- */

bool tw_tf_results(tw_tf_node *n, int64_t count)
{
    if (count < 0 || count > TW_TF_MOST_RESULTS)
        return TW_TF_UNSUPPORTED(n, "%lld results; at most %d are supported", (long long)count,
                                 TW_TF_MOST_RESULTS);
    if (count > n->out_count) {
        n->out = tw_alloc_array(n->import->scratch, (size_t)count, sizeof *n->out);
        n->out_count = (int)count;
    }
    return true;
}

bool tw_tf_set_item(tw_tf_node *n, int i, tw_tf_item item)
{
    if (i < n->out_count)
        n->out[i] = item;
    return i < n->out_count;
}

bool tw_tf_set(tw_tf_node *n, int i, tw_value *value)
{
    return value && tw_tf_set_item(n, i, tw_tf_tensor_item(value));
}

bool tw_tf_set_list(tw_tf_node *n, int i, const char *type, int rank, int count, const int64_t *v)
{
    const int32_t dim[1] = {count};
    tw_dtype dtype = type ? tw_tf_type(n, type) : TW_NO_DTYPE;
    if (dtype != TW_S64)
        dtype = TW_S32;
    size_t size = tw_dtype_bytes(dtype);
    uint8_t *data = tw_alloc(n->b->arena, size * (size_t)count + 1);
    for (int k = 0; k < count; k++)
        memcpy(data + (size_t)k * size, &v[k], size);
    return tw_tf_set(n, i, tw_build_data(n->b, tw_shape_of(dtype, rank, dim), data));
}

/* --- the order of axes ------------------------------------------------------------------------- */

bool tw_tf_channels_first(tw_tf_node *n, bool *first)
{
    const char *format = tw_tf_text(n, "data_format", "NHWC");
    *first = strcmp(format, "NCHW") == 0 || strcmp(format, "NCDHW") == 0;
    return *first || strcmp(format, "NHWC") == 0 || strcmp(format, "NDHWC") == 0 ||
           TW_TF_UNSUPPORTED(n, "data_format %s is not supported", format);
}

tw_value *tw_tf_to_last(tw_tf_node *n, tw_value *x, bool first)
{
    return first ? tw_build_channels_last(n->b, x) : x;
}

tw_value *tw_tf_from_last(tw_tf_node *n, tw_value *x, bool first)
{
    return first ? tw_build_channels_first(n->b, x) : x;
}
