/* What models compute with tensors between layers: Keras 3's operations and, in Keras 2, calls of
 * TensorFlow's functions. Parameters stand in the configuration (3) or among the arguments (2), under
 * names that differ a little. */
#include <string.h>

#include "import/keras/keras.h"

/* A parameter by place or by one of its names, space-separated; null where it is not given. */
static const json_t *parameter(const tw_kr_node *n, int place, const char *names)
{
    for (const char *at = names; *at; at += strspn(at, " ")) {
        char name[32] = "";
        const size_t length = strcspn(at, " ");
        memcpy(name, at, length < sizeof name ? length : sizeof name - 1);
        const tw_kr_argument *a = tw_kr_argument_of(n, place, name);
        if (a && a->count == 0)
            return a->json;
        if (tw_kr_get(n, name))
            return tw_kr_get(n, name);
        at += length;
    }
    return NULL;
}

/* The whole numbers of a parameter. -1: it is not given, or damaged (with a message). */
static int whole_numbers(tw_kr_node *n, int place, const char *names, int64_t *list)
{
    const json_t *value = parameter(n, place, names);
    int count = -1;
    if (json_is_integer(value)) {
        list[0] = json_integer_value(value);
        return 1;
    }
    if (json_is_object(value))
        value = json_object_get(value, "items");
    if (json_is_array(value) && json_array_size(value) <= TW_MAX_RANK)
        for (count = 0; (size_t)count < json_array_size(value); count++) {
            if (!json_is_integer(json_array_get(value, (size_t)count))) {
                TW_KR_FAIL(n, "%s is no list of whole numbers", names);
                return -1;
            }
            list[count] = json_integer_value(json_array_get(value, (size_t)count));
        }
    return count;
}

static bool normal(tw_kr_node *n, int64_t *axis, int rank)
{
    *axis += *axis < 0 ? rank : 0;
    return (*axis >= 0 && *axis < rank) || TW_KR_FAIL(n, "axis %lld of %d", (long long)*axis, rank);
}

/* The one axis of a parameter, `otherwise` where it is not given; -1 with a message. */
static int one_axis(tw_kr_node *n, int place, int rank, int64_t otherwise)
{
    int64_t axis[TW_MAX_RANK] = {otherwise};
    int count = whole_numbers(n, place, "axis", axis);
    if (count < 0)
        axis[0] = otherwise;
    return n->b->diag->code == TW_CODE_OK && normal(n, axis, rank) ? (int)axis[0] : -1;
}

/* An operand: a tensor, or a number of the type of the other. */
static tw_value *operand(tw_kr_node *n, int place, const char *names, tw_dtype dtype)
{
    for (const char *at = names; *at; at += strspn(at, " ")) {
        char name[32] = "";
        const size_t length = strcspn(at, " ");
        memcpy(name, at, length < sizeof name ? length : sizeof name - 1);
        tw_value *tensor = tw_kr_tensor(n, place, name);
        if (tensor)
            return tensor;
        at += length;
    }
    const json_t *number = parameter(n, place, names);
    if (json_is_number(number))
        return tw_build_scalar(n->b, dtype, json_number_value(number));
    TW_KR_UNSUPPORTED(n, "operand %d is neither a tensor nor a number", place);
    return NULL;
}

/* kind 1: the result is a truth. */
bool tw_kr_op_binary(tw_kr_node *n)
{
    tw_value *one = tw_kr_tensor(n, 0, "x1"), *two = tw_kr_tensor(n, 1, "y");
    const tw_dtype dtype = one ? one->shape.dtype : two ? two->shape.dtype : TW_F32;
    tw_value *x = operand(n, 0, "x1 x a", dtype);
    tw_value *y = x ? operand(n, 1, "y x2 b", dtype) : NULL;
    return y && tw_kr_set(n, tw_build2(n->b, n->row->op, x, y, NULL));
}

bool tw_kr_op_unary(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 0, TW_MAX_RANK);
    return x && tw_kr_set(n, tw_build1(n->b, n->row->op, x, NULL));
}

/* What an activation does, with the numbers that it has by itself. */
bool tw_kr_op_function(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 0, TW_MAX_RANK);
    const json_t *approximate = parameter(n, 1, "approximate");
    if (!x)
        return false;
    if (strcmp(n->row->op, "gelu") == 0 &&
        (json_is_true(approximate) || (!approximate && n->import->version >= 3)))
        return tw_kr_set(n, tw_build1(n->b, "GeluTanh", x, NULL));
    return tw_kr_set(n, tw_kr_function(n, n->row->op, x));
}

bool tw_kr_op_softmax(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 1, TW_MAX_RANK);
    const int axis = x ? one_axis(n, 1, x->shape.rank, -1) : -1;
    return axis >= 0 &&
           tw_kr_set(n, tw_build1(n->b, n->row->op, x, TW_SETTINGS(tw_set_int("axis", axis))));
}

bool tw_kr_op_clip(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 0, TW_MAX_RANK);
    const json_t *low = parameter(n, 1, "x_min clip_value_min min_value");
    const json_t *high = parameter(n, 2, "x_max clip_value_max max_value");
    if (!x || !json_is_number(low) || !json_is_number(high))
        return x ? TW_KR_UNSUPPORTED(n, "its bounds must be numbers") : false;
    return tw_kr_set(n,
                     tw_build1(n->b, "Clip", x,
                               TW_SETTINGS(tw_set_float("alpha", (float)json_number_value(low)),
                                           tw_set_float("beta", (float)json_number_value(high)))));
}

bool tw_kr_op_reduce(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 0, TW_MAX_RANK);
    int64_t axes[TW_MAX_RANK];
    int count = x ? whole_numbers(n, 1, "axis", axes) : -1;
    if (!x || n->b->diag->code != TW_CODE_OK)
        return false;
    for (int i = 0; i < count; i++)
        if (!normal(n, &axes[i], x->shape.rank))
            return false;
    return tw_kr_set(
        n,
        tw_build1(n->b, n->row->op, x,
                  TW_SETTINGS(tw_set_ints("axes", count < 0 ? 0 : count, axes),
                              tw_set_int("keepdims", json_is_true(parameter(n, 2, "keepdims"))))));
}

/* --- shapes ------------------------------------------------------------------------------------ */

bool tw_kr_op_new_shape(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 0, TW_MAX_RANK);
    int64_t dim[TW_MAX_RANK], known = 1;
    const int count = x ? whole_numbers(n, 1, "newshape shape", dim) : -1;
    int open = -1;
    if (!x)
        return false;
    if (count < 0)
        return TW_KR_UNSUPPORTED(n, "its shape must be a list of numbers");
    for (int i = 0; i < count; i++) {
        if (dim[i] < -1 || dim[i] > INT32_MAX || (dim[i] == -1 && open >= 0) || known > INT32_MAX)
            return TW_KR_FAIL(n, "its shape is damaged");
        known *= dim[i] == -1 ? 1 : dim[i];
        open = dim[i] == -1 ? i : open;
    }
    if (open >= 0)
        dim[open] = known > 0 ? tw_shape_elements(&x->shape) / known : 0;
    return tw_kr_set(n, tw_build_reshape(n->b, x, count, dim));
}

bool tw_kr_op_expand_dims(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 0, TW_MAX_RANK - 1);
    int64_t dim[TW_MAX_RANK];
    const int axis = x ? one_axis(n, 1, x->shape.rank + 1, -1) : -1;
    for (int i = 0; axis >= 0 && i <= x->shape.rank; i++)
        dim[i] = i == axis ? 1 : x->shape.dim[i < axis ? i : i - 1];
    return axis >= 0 && tw_kr_set(n, tw_build_reshape(n->b, x, x->shape.rank + 1, dim));
}

bool tw_kr_op_squeeze(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 0, TW_MAX_RANK);
    int64_t axes[TW_MAX_RANK], dim[TW_MAX_RANK];
    const int count = x ? whole_numbers(n, 1, "axis squeeze_dims", axes) : -1;
    int rank = 0;
    for (int k = 0; k < count; k++)
        if (!normal(n, &axes[k], x->shape.rank))
            return false;
    for (int i = 0; x && i < x->shape.rank; i++) {
        bool gone = count <= 0 && x->shape.dim[i] == 1;
        for (int k = 0; k < count; k++)
            gone |= axes[k] == i;
        if (!gone)
            dim[rank++] = x->shape.dim[i];
    }
    return x && tw_kr_set(n, tw_build_reshape(n->b, x, rank, dim));
}

bool tw_kr_op_transpose(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 0, TW_MAX_RANK);
    int64_t perm[TW_MAX_RANK];
    int count = x ? whole_numbers(n, 1, "axes perm", perm) : -1;
    if (!x)
        return false;
    for (int i = 0; count < 0 && i < x->shape.rank; i++)
        perm[i] = x->shape.rank - 1 - i;
    for (int i = 0; i < count; i++)
        if (!normal(n, &perm[i], x->shape.rank))
            return false;
    return tw_kr_set(n, tw_build_transpose(n->b, x, count < 0 ? x->shape.rank : count, perm));
}

/* kind 1: along an axis of its own. */
bool tw_kr_op_join(tw_kr_node *n)
{
    if (n->in_count < 1)
        return TW_KR_FAIL(n, "it joins no tensor");
    const int rank = n->in[0]->shape.rank + n->row->kind;
    const int axis = one_axis(n, 1, rank, n->row->kind ? 0 : -1);
    tw_value **parts = tw_alloc_array(n->import->scratch, (size_t)n->in_count, sizeof *parts);
    int64_t dim[TW_MAX_RANK];
    if (axis < 0 || rank > TW_MAX_RANK)
        return axis < 0 ? false : TW_KR_UNSUPPORTED(n, "a result of more than six axes");
    for (int k = 0; k < n->in_count; k++) {
        parts[k] = n->in[k];
        if (!n->row->kind)
            continue;
        if (!tw_shape_equal(&parts[k]->shape, &n->in[0]->shape))
            return TW_KR_FAIL(n, "its tensors have different shapes");
        for (int i = 0; i < rank; i++)
            dim[i] = i == axis ? 1 : parts[k]->shape.dim[i < axis ? i : i - 1];
        if (!(parts[k] = tw_build_reshape(n->b, parts[k], rank, dim)))
            return false;
    }
    return tw_kr_set(n, tw_build_concat(n->b, parts, n->in_count, axis));
}

bool tw_kr_op_split(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 1, TW_MAX_RANK);
    const int axis = x ? one_axis(n, 2, x->shape.rank, 0) : -1;
    const json_t *number = parameter(n, 1, "num_or_size_splits indices_or_sections");
    const int64_t count = json_integer_value(number);
    if (axis < 0)
        return false;
    if (!json_is_integer(number) || count < 1 || count > TW_KR_MOST_OUT ||
        x->shape.dim[axis] % count != 0)
        return TW_KR_UNSUPPORTED(
            n, "an axis of %d elements in parts that are not at most %d equal ones",
            (int)x->shape.dim[axis], TW_KR_MOST_OUT);
    const int64_t size = x->shape.dim[axis] / count;
    for (int64_t i = 0; i < count; i++)
        if (!tw_kr_set(n, tw_build_slice(n->b, x, axis, i * size, size, 1)))
            return false;
    return true;
}

/* One entry of x[...]: a range in Keras 2's or 3's spelling, or a number, which takes the axis away. */
static bool read_entry(tw_kr_node *n, const json_t *entry, int64_t extent, tw_range *range,
                       bool *gone)
{
    *gone = json_is_integer(entry);
    if (*gone) {
        int64_t at = json_integer_value(entry);
        at += at < 0 ? extent : 0;
        *range = (tw_range){at, 1, 1};
        return (at >= 0 && at < extent) ||
               TW_KR_FAIL(n, "index %lld of %lld", (long long)at, (long long)extent);
    }
    const json_t *own = strcmp(tw_kr_class(entry), "__slice__") == 0 ? tw_kr_config(entry) : entry;
    const json_t *start = json_object_get(own, "start"), *stop = json_object_get(own, "stop");
    const json_t *step = json_object_get(own, "step");
    const bool known = json_is_object(own) &&
                       (!start || json_is_null(start) || json_is_integer(start)) &&
                       (!stop || json_is_null(stop) || json_is_integer(stop)) &&
                       (!step || json_is_null(step) || json_integer_value(step) != 0);
    if (!known)
        return TW_KR_UNSUPPORTED(n, "its indices must be numbers and ranges of numbers");
    const int64_t by = json_is_integer(step) ? json_integer_value(step) : 1;
    const int64_t first = json_is_integer(start) ? json_integer_value(start)
                          : by < 0               ? extent - 1
                                                 : 0;
    const int64_t behind = json_is_integer(stop) ? json_integer_value(stop)
                           : by < 0              ? -extent - 1
                                                 : extent;
    *range = tw_range_of(extent, first, behind, by);
    return range->size > 0 || TW_KR_FAIL(n, "a range is empty");
}

bool tw_kr_op_get_item(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 1, TW_MAX_RANK);
    const json_t *entries = parameter(n, 1, "slice_spec key");
    tw_range ranges[TW_MAX_RANK];
    int64_t dim[TW_MAX_RANK];
    int rank = 0;
    if (!x)
        return false;
    if (json_is_object(entries) && json_object_get(entries, "items"))
        entries = json_object_get(entries, "items");
    const size_t count = json_is_array(entries) ? json_array_size(entries) : 1;
    if (!entries || count > (size_t)x->shape.rank)
        return TW_KR_FAIL(n, "it has %zu indices for %d axes", count, x->shape.rank);
    for (int i = 0; i < x->shape.rank; i++) {
        bool gone = false;
        const json_t *entry = json_is_array(entries) ? json_array_get(entries, (size_t)i) : entries;
        ranges[i] = (tw_range){0, x->shape.dim[i], 1};
        if ((size_t)i < count && !read_entry(n, entry, x->shape.dim[i], &ranges[i], &gone))
            return false;
        if (!gone)
            dim[rank++] = ranges[i].size;
    }
    const int before = x->shape.rank;
    x = tw_build_ranges(n->b, x, ranges);
    return x && tw_kr_set(n, rank == before ? x : tw_build_reshape(n->b, x, rank, dim));
}

/* --- the rest ---------------------------------------------------------------------------------- */

/* The last two axes of b turned, as MatMul has it. */
bool tw_kr_op_matmul(tw_kr_node *n)
{
    tw_value *a = tw_kr_tensor(n, 0, "x1"), *b = operand(n, 1, "b x2", TW_F32);
    const bool turned = json_is_true(parameter(n, -1, "transpose_b"));
    if (!a || !b || a->shape.rank < 2 || b->shape.rank < 2)
        return TW_KR_UNSUPPORTED(n, "it takes two tensors of at least two axes");
    if (json_is_true(parameter(n, -1, "transpose_a")))
        return TW_KR_UNSUPPORTED(n, "transpose_a is not supported; transpose before");
    return tw_kr_set(
        n, tw_build2(n->b, "MatMul", a, b, TW_SETTINGS(tw_set_int("transpose_b", turned))));
}

bool tw_kr_op_where(tw_kr_node *n)
{
    tw_value *one = tw_kr_tensor(n, 1, "x"), *two = tw_kr_tensor(n, 2, "y");
    const tw_dtype dtype = one ? one->shape.dtype : two ? two->shape.dtype : TW_F32;
    tw_value *in[] = {tw_build_cast(n->b, tw_kr_tensor(n, 0, "condition"), TW_BOOL),
                      operand(n, 1, "x x1", dtype), operand(n, 2, "y x2", dtype)};
    return in[0] && in[1] && in[2] && tw_kr_set(n, tw_build(n->b, "Where", in, 3, NULL));
}

/* The type that a parameter names; `otherwise` where there is none. TW_NO_DTYPE with a message. */
static tw_dtype type_named(tw_kr_node *n, int place, tw_dtype otherwise)
{
    static const struct {
        const char *name;
        tw_dtype type;
    } types[] = {{"float32", TW_F32}, {"int32", TW_S32}, {"int64", TW_S64},
                 {"bool", TW_BOOL},   {"int8", TW_S8},   {"uint8", TW_U8}};
    const char *name = tw_kr_or_empty(json_string_value(parameter(n, place, "dtype")));
    if (!*name && otherwise != TW_NO_DTYPE)
        return otherwise;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].type;
    TW_KR_UNSUPPORTED(n, "the type '%.20s'%s", name,
                      *name ? "" : ": the file does not say which; leave the cast out");
    return TW_NO_DTYPE;
}

bool tw_kr_op_cast(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 0, TW_MAX_RANK);
    const tw_dtype type = x ? type_named(n, 1, TW_NO_DTYPE) : TW_NO_DTYPE;
    return type != TW_NO_DTYPE && tw_kr_set(n, tw_build_cast(n->b, x, type));
}

/* kind: the number that all elements are. */
bool tw_kr_op_like(tw_kr_node *n)
{
    const tw_value *x = tw_kr_in(n, 0, TW_MAX_RANK);
    tw_shape shape = x ? x->shape : (tw_shape){.rank = 0};
    if (!x || (shape.dtype = type_named(n, 1, shape.dtype)) == TW_NO_DTYPE)
        return false;
    return tw_kr_set(n, tw_build_full(n->b, shape, n->row->kind));
}
