/* Calls, branches and loops. What decides them must be known now: a branch is inlined, a loop unrolled. */
#include <string.h>

#include "import/tensorflow/tensorflow.h"

/* --- functions --------------------------------------------------------------------------------- */

static bool call_with(tw_tf_node *n, const char *function, const tw_tf_item *in, int in_count)
{
    tw_tf_item *out;
    int count;
    if (!function || !tw_tf_call(n, function, in, in_count, &out, &count))
        return false;
    n->out = out;
    n->out_count = count;
    return true;
}

bool tw_tf_op_call(tw_tf_node *n)
{
    return call_with(n, tw_tf_function(n, "f"), n->in, n->in_count);
}

/* Is the value, which must be known now, true? */
static bool decide(tw_tf_node *n, tw_value *value, const char *what, bool *yes)
{
    if (!value)
        return false;
    if (!tw_build_known(n->b, value))
        return TW_TF_UNSUPPORTED(n,
                                 "%s is computed while the network runs; fix what decides it, with "
                                 "--constant where it is an input",
                                 what);
    if (tw_shape_elements(&value->shape) != 1)
        return TW_TF_FAIL(n, "%s must be one element", what);
    *yes = tw_constant_at(value, 0) != 0;
    return true;
}

bool tw_tf_op_if(tw_tf_node *n)
{
    bool yes;
    if (!decide(n, tw_tf_in(n, 0), "the condition", &yes))
        return false;
    return call_with(n, tw_tf_function(n, yes ? "then_branch" : "else_branch"), n->in + 1,
                     n->in_count - 1);
}

bool tw_tf_op_while(tw_tf_node *n)
{
    const char *cond = tw_tf_function(n, "cond"), *body = tw_tf_function(n, "body");
    const tw_tf_item *now = n->in;
    bool more = true;
    for (int round = 0; cond && body; round++) {
        tw_tf_item *out;
        int count;
        if (!tw_tf_call(n, cond, now, n->in_count, &out, &count))
            return false;
        if (count != 1 || out[0].kind != TW_TF_TENSOR)
            return TW_TF_FAIL(n, "its condition must be one tensor");
        if (!decide(n, out[0].value, "the loop's condition", &more))
            return false;
        if (!more)
            break;
        if (round == TW_TF_ROUNDS)
            return TW_TF_UNSUPPORTED(n, "more than %d rounds", TW_TF_ROUNDS);
        if (!tw_tf_call(n, body, now, n->in_count, &out, &count))
            return false;
        if (count != n->in_count)
            return TW_TF_FAIL(n, "its body gives %d results for %d variables", count, n->in_count);
        now = out;
    }
    if (!cond || !body || !tw_tf_results(n, n->in_count))
        return false;
    for (int i = 0; i < n->in_count; i++)
        n->out[i] = now[i];
    return true;
}

/* --- TensorFlow 1 ------------------------------------------------------------------------------ */

bool tw_tf_op_switch(tw_tf_node *n)
{
    bool yes;
    if (!decide(n, tw_tf_in(n, 1), "the predicate", &yes))
        return false;
    n->out[0] = n->out[1] = (tw_tf_item){.kind = TW_TF_DEAD};
    return tw_tf_set_item(n, yes, n->in[0]);
}

bool tw_tf_op_merge(tw_tf_node *n)
{
    int alive = -1;
    for (int i = 0; i < n->in_count; i++) {
        if (n->in[i].kind == TW_TF_DEAD)
            continue;
        if (alive >= 0)
            return TW_TF_UNSUPPORTED(n,
                                     "inputs %d and %d are both there: which of them it takes "
                                     "differs from run to run",
                                     alive, i);
        alive = i;
    }
    if (alive < 0)
        return tw_tf_set_item(n, 0, (tw_tf_item){.kind = TW_TF_DEAD});
    const int64_t index = alive;
    return tw_tf_set_item(n, 0, n->in[alive]) && tw_tf_set_list(n, 1, NULL, 0, 1, &index);
}

/* --- lists of tensors -------------------------------------------------------------------------- */

static tw_tf_list *new_list(tw_tf_node *n, int64_t count, tw_dtype dtype)
{
    if (count < 0 || count > TW_TF_MOST_RESULTS) {
        TW_TF_UNSUPPORTED(n, "a list of %lld tensors; at most %d are supported", (long long)count,
                          TW_TF_MOST_RESULTS);
        return NULL;
    }
    tw_tf_list *list = tw_alloc(n->import->scratch, sizeof *list);
    list->count = (int)count;
    list->items = tw_alloc_array(n->import->scratch, (size_t)count + 1, sizeof(tw_value *));
    list->element.dtype = dtype;
    list->element.rank = -1;
    return list;
}

static bool set_list(tw_tf_node *n, const tw_tf_list *list)
{
    return list && tw_tf_set_item(n, 0, (tw_tf_item){.kind = TW_TF_LIST, .list = list});
}

static const tw_tf_list *list_in(tw_tf_node *n)
{
    if (n->in[0].kind != TW_TF_LIST)
        TW_TF_FAIL(n, "input 0 is no list of tensors");
    return n->in[0].kind == TW_TF_LIST ? n->in[0].list : NULL;
}

/* A copy, so much longer. */
static tw_tf_list *copy_list(tw_tf_node *n, const tw_tf_list *list, int more)
{
    tw_tf_list *copy = new_list(n, (int64_t)list->count + more, list->element.dtype);
    if (copy) {
        copy->element = list->element;
        for (int i = 0; i < list->count && i < copy->count; i++)
            copy->items[i] = list->items[i];
    }
    return copy;
}

bool tw_tf_op_list_reserve(tw_tf_node *n)
{
    int64_t count;
    return tw_tf_int_in(n, 1, "the number of tensors", &count) &&
           set_list(n, new_list(n, count, tw_tf_type(n, "element_dtype")));
}

bool tw_tf_op_list_empty(tw_tf_node *n)
{
    return set_list(n, new_list(n, 0, tw_tf_type(n, "element_dtype")));
}

/* Element i of the first axis, without that axis. */
static tw_value *part_of(tw_tf_node *n, tw_value *x, int i)
{
    int64_t dim[TW_MAX_RANK];
    for (int k = 1; k < x->shape.rank; k++)
        dim[k - 1] = x->shape.dim[k];
    return tw_build_reshape(n->b, tw_build_slice(n->b, x, 0, i, 1, 1), x->shape.rank - 1, dim);
}

bool tw_tf_op_list_from_tensor(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    if (!x)
        return false;
    if (x->shape.rank < 1)
        return TW_TF_FAIL(n, "the tensor must have at least one axis");
    tw_tf_list *list = new_list(n, x->shape.dim[0], x->shape.dtype);
    for (int i = 0; list && i < list->count; i++) {
        list->items[i] = part_of(n, x, i);
        if (!list->items[i])
            return false;
    }
    return set_list(n, list);
}

static bool index_in(tw_tf_node *n, const tw_tf_list *list, int64_t *index)
{
    if (!list || !tw_tf_int_in(n, 1, "the index", index))
        return false;
    return (*index >= 0 && *index < list->count) ||
           TW_TF_FAIL(n, "element %lld of a list of %d", (long long)*index, list->count);
}

/* What has not been set is zero, of the shape that is asked for. */
static tw_value *element(tw_tf_node *n, const tw_tf_list *list, int i, int shape_input)
{
    tw_tf_ints extents;
    if (list->items[i])
        return list->items[i];
    for (int k = 0; k < list->count; k++)
        if (list->items[k])
            return tw_build_full(n->b, list->items[k]->shape, 0);
    if (!tw_tf_extents_in(n, shape_input, false, &extents))
        return NULL;
    tw_shape shape = {.dtype = list->element.dtype, .rank = extents.count};
    for (int k = 0; k < extents.count; k++)
        shape.dim[k] = (int32_t)extents.v[k];
    return shape.dtype == TW_NO_DTYPE ? NULL : tw_build_full(n->b, shape, 0);
}

bool tw_tf_op_list_get(tw_tf_node *n)
{
    const tw_tf_list *list = list_in(n);
    int64_t index;
    return index_in(n, list, &index) && tw_tf_set(n, 0, element(n, list, (int)index, 2));
}

bool tw_tf_op_list_set(tw_tf_node *n)
{
    const tw_tf_list *list = list_in(n);
    tw_value *value = tw_tf_in(n, 2);
    int64_t index;
    if (!value || !index_in(n, list, &index))
        return false;
    tw_tf_list *next = copy_list(n, list, 0);
    if (next)
        next->items[index] = value;
    return set_list(n, next);
}

bool tw_tf_op_list_push(tw_tf_node *n)
{
    const tw_tf_list *list = list_in(n);
    tw_value *value = tw_tf_in(n, 1);
    if (!list || !value)
        return false;
    tw_tf_list *next = copy_list(n, list, 1);
    if (next)
        next->items[next->count - 1] = value;
    return set_list(n, next);
}

bool tw_tf_op_list_length(tw_tf_node *n)
{
    const tw_tf_list *list = list_in(n);
    const int64_t count = list ? list->count : 0;
    return list && tw_tf_set_list(n, 0, NULL, 0, 1, &count);
}

bool tw_tf_op_list_stack(tw_tf_node *n)
{
    const tw_tf_list *list = list_in(n);
    if (!list)
        return false;
    if (list->count == 0)
        return TW_TF_UNSUPPORTED(n, "an empty list has no shape");
    tw_value **parts = tw_alloc_array(n->import->scratch, (size_t)list->count, sizeof(tw_value *));
    for (int i = 0; i < list->count; i++) {
        tw_value *part = element(n, list, i, 1);
        int64_t dim[TW_MAX_RANK + 1] = {1};
        if (!part)
            return false;
        if (part->shape.rank == TW_MAX_RANK)
            return TW_TF_UNSUPPORTED(n, "a result of more than %d axes", TW_MAX_RANK);
        for (int k = 0; k < part->shape.rank; k++)
            dim[k + 1] = part->shape.dim[k];
        parts[i] = tw_build_reshape(n->b, part, part->shape.rank + 1, dim);
    }
    return tw_tf_set(n, 0, tw_build_concat(n->b, parts, list->count, 0));
}
