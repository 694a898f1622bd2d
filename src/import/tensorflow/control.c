/* Calls, branches and loops. Where what decides them is known a branch is inlined and a loop unrolled;
 * where it is computed while the network runs they become If and While (bodies.c). */
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

/* Is the value true? Not known: when the network runs. */
static bool decide(tw_tf_node *n, tw_value *value, const char *what, bool *known, bool *yes)
{
    if (!value)
        return false;
    if (tw_shape_elements(&value->shape) != 1)
        return TW_TF_FAIL(n, "%s must be one element", what);
    *known = tw_build_known(n->b, value);
    *yes = *known && tw_constant_at(value, 0) != 0;
    return true;
}

/* One truth value, as the graph's own If and While take it: numbers are true where they are not 0. */
static tw_value *as_condition(tw_tf_node *n, tw_value *value)
{
    if (value->shape.dtype == TW_BOOL)
        return value;
    return tw_build2(n->b, "NotEqual", value, tw_build_scalar(n->b, value->shape.dtype, 0), NULL);
}

bool tw_tf_op_if(tw_tf_node *n)
{
    tw_value *condition = tw_tf_in(n, 0);
    const char *then = tw_tf_function(n, "then_branch"), *other = tw_tf_function(n, "else_branch");
    bool known, yes;
    if (!then || !other || !decide(n, condition, "the condition", &known, &yes))
        return false;
    if (known)
        return call_with(n, yes ? then : other, n->in + 1, n->in_count - 1);
    condition = as_condition(n, condition);
    return condition && tw_tf_make_if(n, condition, then, other);
}

/* Round by round while the condition is known; `known` false: it is not, or not for so many rounds. */
static bool unroll(tw_tf_node *n, const char *cond, const char *body, const tw_tf_item **now,
                   bool *known)
{
    for (int round = 0;; round++) {
        tw_tf_item *out;
        int count;
        bool more;
        if (!tw_tf_call(n, cond, *now, n->in_count, &out, &count))
            return false;
        if (count != 1 || out[0].kind != TW_TF_TENSOR)
            return TW_TF_FAIL(n, "its condition must be one tensor");
        if (!decide(n, out[0].value, "the loop's condition", known, &more))
            return false;
        *known &= !more || round < TW_TF_ROUNDS;
        if (!*known || !more)
            return true;
        if (!tw_tf_call(n, body, *now, n->in_count, &out, &count))
            return false;
        if (count != n->in_count)
            return TW_TF_FAIL(n, "its body gives %d results for %d variables", count, n->in_count);
        *now = out;
    }
}

bool tw_tf_op_while(tw_tf_node *n)
{
    const char *cond = tw_tf_function(n, "cond"), *body = tw_tf_function(n, "body");
    const tw_tf_item *now = n->in;
    const tw_tf_variables before = tw_tf_variables_save(n->import);
    bool known;
    if (!cond || !body || !unroll(n, cond, body, &now, &known))
        return false;
    if (!known) { /* what was unrolled so far is forgotten */
        tw_tf_variables_restore(n->import, &before);
        return tw_tf_make_while(n, cond, body);
    }
    if (!tw_tf_results(n, n->in_count))
        return false;
    for (int i = 0; i < n->in_count; i++)
        n->out[i] = now[i];
    return true;
}

/* --- TensorFlow 1 ------------------------------------------------------------------------------ */

/* One side is alive; where the data decide both are, and know on which side they are. */
bool tw_tf_op_switch(tw_tf_node *n)
{
    tw_value *condition = tw_tf_in(n, 1);
    bool known, yes;
    if (!decide(n, condition, "the predicate", &known, &yes))
        return false;
    for (int side = 0; side < 2; side++) {
        n->out[side] = n->in[0];
        n->out[side].branch = n->branch;
        if (known && yes != (side != 0))
            n->out[side] = (tw_tf_item){.kind = TW_TF_DEAD};
        if (known)
            continue;
        tw_tf_branch *branch = tw_alloc(n->import->scratch, sizeof *branch);
        *branch =
            (tw_tf_branch){condition, side != 0, n->branch ? n->branch->depth + 1 : 1, n->branch};
        n->out[side].branch = branch;
    }
    return true;
}

/* Both sides of one Switch have been computed: the condition chooses between them. */
static bool merge_sides(tw_tf_node *n, int a, int b)
{
    const tw_tf_branch *one = n->in[a].branch, *other = n->in[b].branch;
    if (!one || !other || one->condition != other->condition || one->side == other->side)
        return TW_TF_UNSUPPORTED(n,
                                 "inputs %d and %d are both there: which of them it takes differs "
                                 "from run to run",
                                 a, b);
    const int yes = one->side ? a : b, no = one->side ? b : a;
    tw_value *condition = one->condition, *x = n->in[yes].value, *y = n->in[no].value;
    if (n->in[a].kind != TW_TF_TENSOR || n->in[b].kind != TW_TF_TENSOR ||
        !tw_shape_equal(&x->shape, &y->shape))
        return TW_TF_UNSUPPORTED(n, "inputs %d and %d differ in kind, shape or type", a, b);
    if (condition->shape.rank)
        condition = tw_build_reshape(n->b, condition, 0, NULL);
    tw_value *in[] = {condition ? as_condition(n, condition) : NULL, x, y};
    tw_value *which[] = {in[0], tw_build_scalar(n->b, TW_S32, yes),
                         tw_build_scalar(n->b, TW_S32, no)};
    if (!in[0] || !tw_tf_set(n, 0, tw_build(n->b, "Where", in, 3, NULL)) ||
        !tw_tf_set(n, 1, tw_build(n->b, "Where", which, 3, NULL)))
        return false;
    n->out[0].branch = n->out[1].branch = one->outer;
    return true;
}

bool tw_tf_op_merge(tw_tf_node *n)
{
    int alive[2] = {-1, -1}, count = 0;
    for (int i = 0; i < n->in_count; i++) {
        if (n->in[i].kind == TW_TF_DEAD)
            continue;
        if (count == 2)
            return TW_TF_UNSUPPORTED(n, "more than two inputs are there: which of them it takes "
                                        "differs from run to run");
        alive[count++] = i;
    }
    if (count == 0)
        return tw_tf_set_item(n, 0, (tw_tf_item){.kind = TW_TF_DEAD});
    if (count == 2)
        return merge_sides(n, alive[0], alive[1]);
    const int64_t index = alive[0];
    if (!tw_tf_set_item(n, 0, n->in[alive[0]]) || !tw_tf_set_list(n, 1, NULL, 0, 1, &index))
        return false;
    n->out[1].branch = n->in[alive[0]].branch;
    return true;
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
