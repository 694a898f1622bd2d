/* Unique, of what is known when the model is imported: its results have no fixed shape otherwise. */
#include <string.h>

#include "import/onnx/counted.h"

enum { MOST = 4096 };

/* The input as slices of one axis, or as single elements. */
typedef struct tw_slices {
    const tw_value *x;
    int64_t outer, count, inner; /* element i of part o of slice s: (o * count + s) * inner + i */
    int *order;                  /* slices as they are sorted, the first of equal ones first */
    int *group;                  /* of each slice: which of the results it is */
    int *first;                  /* of each result: the first slice that is it */
    int groups;
} tw_slices;

static int compare_elements(const tw_value *x, int64_t a, int64_t b)
{
    if (x->shape.dtype == TW_S64) {
        int64_t p = tw_build_int_at(x, a), q = tw_build_int_at(x, b);
        return (p > q) - (p < q);
    }
    double p = tw_constant_at(x, a), q = tw_constant_at(x, b);
    return (p > q) - (p < q);
}

static int compare(const tw_slices *s, int a, int b)
{
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t i = 0; i < s->inner; i++) {
            int c = compare_elements(s->x, (o * s->count + a) * s->inner + i,
                                     (o * s->count + b) * s->inner + i);
            if (c)
                return c;
        }
    return 0;
}

/* Insertion keeps equal slices in order. */
static void sort(tw_slices *s)
{
    for (int i = 0; i < s->count; i++) {
        int at = i;
        for (; at > 0 && compare(s, s->order[at - 1], i) > 0; at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = i;
    }
}

static void find_groups(tw_slices *s)
{
    for (int i = 0; i < s->count; i++) {
        int slice = s->order[i];
        if (i == 0 || compare(s, s->order[i - 1], slice) != 0)
            s->first[s->groups++] = slice;
        s->group[slice] = s->groups - 1;
    }
}

/* Results in the order in which their first slices stand. */
static void restore_order(tw_onnx_node *n, tw_slices *s)
{
    int *renamed = tw_alloc_array(n->b->arena, (size_t)s->groups + 1, sizeof *renamed), made = 0;
    for (int i = 0; i < s->count; i++)
        if (s->first[s->group[i]] == i)
            renamed[s->group[i]] = made++;
    for (int i = 0; i < s->count; i++)
        s->group[i] = renamed[s->group[i]];
    for (int i = (int)s->count - 1; i >= 0; i--)
        s->first[s->group[i]] = i;
}

static tw_value *results(tw_onnx_node *n, const tw_slices *s, int axis)
{
    tw_shape shape = s->x->shape;
    if (axis < 0)
        shape.rank = 1;
    shape.dim[axis < 0 ? 0 : axis] = s->groups;
    size_t bytes = tw_dtype_bytes(shape.dtype) * (size_t)s->inner;
    char *data = tw_alloc(n->b->arena, tw_shape_bytes(&shape) + 1);
    for (int64_t o = 0; o < s->outer; o++)
        for (int g = 0; g < s->groups; g++)
            memcpy(data + (size_t)(o * s->groups + g) * bytes,
                   (const char *)s->x->data + (size_t)(o * s->count + s->first[g]) * bytes, bytes);
    return tw_build_data(n->b, shape, data);
}

/* Where each result stands first, which result each slice is, how many slices each result is. */
static bool bind_lists(tw_onnx_node *n, const tw_slices *s)
{
    int64_t *list = tw_alloc_array(n->b->arena, (size_t)s->count + 1, sizeof *list);
    for (int g = 0; g < s->groups; g++)
        list[g] = s->first[g];
    if (!tw_onnx_bind(n, 1, tw_build_list(n->b, s->groups, list)))
        return false;
    for (int i = 0; i < s->count; i++)
        list[i] = s->group[i];
    if (!tw_onnx_bind(n, 2, tw_build_list(n->b, (int)s->count, list)))
        return false;
    memset(list, 0, sizeof *list * (size_t)s->count);
    for (int i = 0; i < s->count; i++)
        list[s->group[i]]++;
    return tw_onnx_bind(n, 3, tw_build_list(n->b, s->groups, list));
}

bool tw_onnx_op_unique(tw_onnx_node *n)
{
    tw_value *x = n->in[0];
    bool sorted = tw_onnx_int(n, "sorted", 1) != 0, has_axis = tw_onnx_has(n, "axis");
    tw_slices s = {.x = x, .outer = 1, .count = tw_shape_elements(&x->shape), .inner = 1};
    int axis = -1;
    if (has_axis && !tw_onnx_axis(n, tw_onnx_int(n, "axis", 0), x->shape.rank, &axis))
        return false;
    if (!tw_build_known(n->b, x))
        return tw_onnx_unique_counted(n, has_axis ? axis : -1, sorted);
    for (int i = 0; has_axis && i < x->shape.rank; i++)
        *(i < axis ? &s.outer : &s.inner) *= i == axis ? 1 : x->shape.dim[i];
    if (has_axis)
        s.count = x->shape.dim[axis];
    if (s.count > MOST)
        return TW_ONNX_UNSUPPORTED(n, "%lld elements or slices; at most %d are sorted",
                                   (long long)s.count, MOST);
    s.order = tw_alloc_array(n->b->arena, (size_t)s.count + 1, sizeof *s.order);
    s.group = tw_alloc_array(n->b->arena, (size_t)s.count + 1, sizeof *s.group);
    s.first = tw_alloc_array(n->b->arena, (size_t)s.count + 1, sizeof *s.first);
    sort(&s);
    find_groups(&s);
    if (!sorted)
        restore_order(n, &s);
    return tw_onnx_bind(n, 0, results(n, &s, axis)) && bind_lists(n, &s);
}
