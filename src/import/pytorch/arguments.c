/* Arguments of a call: tensors, numbers, lists, and the type that operands have together. */
#include <string.h>

#include "import/pytorch/torch.h"

static tw_dtype dtype_of(tw_torch_call *c, const tw_torch_object *o)
{
    const tw_value *v = o->kind == TW_TORCH_TENSOR ? tw_torch_value(c->t, o->tensor) : NULL;
    return v                           ? v->shape.dtype
           : o->kind == TW_TORCH_FLOAT ? TW_F32
           : o->kind == TW_TORCH_INT   ? TW_S64
                                       : TW_BOOL;
}

tw_value *tw_torch_in_as(tw_torch_call *c, int i, tw_dtype dtype)
{
    const tw_torch_object *o = c->arg[i];
    if (o->kind == TW_TORCH_TENSOR)
        return tw_build_cast(c->b, tw_torch_value(c->t, o->tensor), dtype);
    if (!tw_torch_is_number(o))
        return NULL;
    return dtype == TW_S64 && o->kind != TW_TORCH_FLOAT
               ? tw_build_reshape(c->b, tw_build_list(c->b, 1, &o->number), 0, NULL)
               : tw_build_scalar(c->b, dtype, tw_torch_number(o));
}

tw_value *tw_torch_in(tw_torch_call *c, int i)
{
    return tw_torch_in_as(c, i, dtype_of(c, c->arg[i]));
}

tw_value *tw_torch_real_in(tw_torch_call *c, int i)
{
    return tw_torch_in_as(c, i, TW_F32);
}

tw_value *tw_torch_index_in(tw_torch_call *c, int i)
{
    tw_value *x = tw_torch_in(c, i);
    if (!x || x->shape.dtype != TW_F32)
        return x;
    /* Through what only rearranges: is it an input whose type nobody has said? */
    const tw_value *from = x;
    while (from->producer && from->producer->in_count > 0 && from->producer->in[0])
        from = from->producer->in[0];
    if (from->is_input)
        c->t->is_index = from;
    TW_TORCH_FAIL(c, "the indices are floats");
    return NULL;
}

int64_t tw_torch_int(const tw_torch_call *c, int i)
{
    const tw_torch_object *o = c->arg[i];
    return o->kind == TW_TORCH_FLOAT ? (int64_t)o->real : o->number;
}

double tw_torch_real(const tw_torch_call *c, int i)
{
    return tw_torch_number(c->arg[i]);
}

bool tw_torch_flag(const tw_torch_call *c, int i)
{
    return c->arg[i]->number != 0;
}

const char *tw_torch_text(const tw_torch_call *c, int i)
{
    return c->arg[i]->text ? c->arg[i]->text : "";
}

static bool is_list(const tw_torch_object *o)
{
    return o->kind == TW_TORCH_LIST || o->kind == TW_TORCH_TUPLE;
}

int tw_torch_length(const tw_torch_call *c, int i)
{
    const tw_torch_object *o = c->arg[i];
    return is_list(o) ? o->count : o->kind == TW_TORCH_NONE ? 0 : 1;
}

bool tw_torch_ints(tw_torch_call *c, int i, int count, int64_t *to)
{
    const tw_torch_object *o = c->arg[i];
    const int length = tw_torch_length(c, i);
    if (length != count && length != 1)
        return TW_TORCH_FAIL(c, "argument %d has %d elements, %d are needed", i, length, count);
    for (int k = 0; k < count; k++)
        to[k] = !is_list(o) ? o->number : o->items[length == 1 ? 0 : k]->number;
    return true;
}

bool tw_torch_axis(tw_torch_call *c, int64_t axis, int rank, int *to)
{
    const int axes = rank ? rank : 1; /* a number has an axis 0, for this purpose */
    if (axis < -axes || axis >= axes)
        return TW_TORCH_FAIL(c, "axis %lld of a tensor of rank %d", (long long)axis, rank);
    *to = (int)(axis < 0 ? axis + axes : axis);
    return true;
}

bool tw_torch_axis_of(tw_torch_call *c, const tw_value *x, int i, int *axis)
{
    return x && tw_torch_axis(c, tw_torch_int(c, i), x->shape.rank, axis) &&
           (x->shape.rank > 0 || TW_TORCH_FAIL(c, "a number has no axes"));
}

bool tw_torch_axes(tw_torch_call *c, int i, int rank, bool *flag)
{
    const int count = tw_torch_length(c, i);
    memset(flag, 0, TW_MAX_RANK * sizeof *flag);
    if (count > TW_MAX_RANK)
        return TW_TORCH_FAIL(c, "%d axes of a tensor of rank %d", count, rank);
    int64_t axes[TW_MAX_RANK] = {0};
    if (count && !tw_torch_ints(c, i, count, axes))
        return false;
    for (int k = 0; k < count; k++) {
        int axis;
        if (!tw_torch_axis(c, axes[k], rank, &axis))
            return false;
        flag[axis] = axis < rank;
    }
    for (int k = 0; count == 0 && k < rank; k++)
        flag[k] = true;
    return true;
}

bool tw_torch_type(tw_torch_call *c, int i, tw_dtype otherwise, tw_dtype *to)
{
    *to = tw_torch_has(c, i) ? tw_torch_dtype((int)c->arg[i]->number) : otherwise;
    return *to != TW_NO_DTYPE || TW_TORCH_UNSUPPORTED(c, "elements of type %lld are not supported",
                                                      (long long)c->arg[i]->number);
}

/* --- types together ---------------------------------------------------------------------------- */

static int category(tw_dtype dtype)
{
    return dtype == TW_BOOL ? 1 : dtype == TW_F32 ? 3 : 2;
}

/* Of two types of one level. */
static tw_dtype wider(tw_dtype a, tw_dtype b)
{
    if (category(a) != category(b))
        return category(a) > category(b) ? a : b;
    if (a != b && tw_dtype_bytes(a) == tw_dtype_bytes(b))
        return TW_S16; /* uint8 and int8 */
    return tw_dtype_bytes(a) >= tw_dtype_bytes(b) ? a : b;
}

/* Tensors with axes decide; those without, and then numbers, only where their kind is greater. */
tw_dtype tw_torch_common_type(tw_torch_call *c, const int *which, int count)
{
    tw_dtype best = TW_NO_DTYPE;
    for (int level = 0; level < 3; level++) {
        tw_dtype own = TW_NO_DTYPE;
        for (int k = 0; k < count; k++) {
            const tw_torch_object *o = c->arg[which[k]];
            const tw_value *v = o->kind == TW_TORCH_TENSOR ? tw_torch_value(c->t, o->tensor) : NULL;
            if ((v ? v->shape.rank == 0 : 2) != level)
                continue;
            const tw_dtype dtype = dtype_of(c, o);
            own = own == TW_NO_DTYPE ? dtype : wider(own, dtype);
        }
        if (own != TW_NO_DTYPE && (best == TW_NO_DTYPE || category(own) > category(best)))
            best = own;
    }
    return best;
}

bool tw_torch_pair(tw_torch_call *c, int i, int j, bool true_division, tw_value *pair[2])
{
    tw_dtype dtype = tw_torch_common_type(c, (const int[]){i, j}, 2);
    if (true_division)
        dtype = TW_F32;
    pair[0] = tw_torch_in_as(c, i, dtype);
    pair[1] = tw_torch_in_as(c, j, dtype);
    return pair[0] && pair[1];
}

/* --- results ----------------------------------------------------------------------------------- */

bool tw_torch_give(tw_torch_call *c, tw_value *value)
{
    if (!value)
        return false;
    c->result = tw_torch_new_tensor(c->t->scratch, value);
    return true;
}

bool tw_torch_give_int(tw_torch_call *c, int64_t number)
{
    c->result = tw_torch_new_int(c->t->scratch, number);
    return true;
}

static bool give_group(tw_torch_call *c, tw_torch_kind kind, tw_value *const *values, int count)
{
    c->result = tw_torch_new(c->t->scratch, kind);
    for (int i = 0; i < count; i++) {
        if (!values[i])
            return false;
        tw_torch_push(c->t->scratch, c->result, tw_torch_new_tensor(c->t->scratch, values[i]));
    }
    return true;
}

bool tw_torch_give_all(tw_torch_call *c, tw_value *const *values, int count)
{
    return give_group(c, TW_TORCH_TUPLE, values, count);
}

bool tw_torch_give_list(tw_torch_call *c, tw_value *const *values, int count)
{
    return give_group(c, TW_TORCH_LIST, values, count);
}

bool tw_torch_give_first(tw_torch_call *c, tw_value *value, int count)
{
    if (!tw_torch_give(c, value))
        return false;
    tw_torch_object *all = tw_torch_new(c->t->scratch, TW_TORCH_TUPLE);
    tw_torch_push(c->t->scratch, all, c->result);
    for (int i = 1; i < count; i++)
        tw_torch_push(c->t->scratch, all, tw_torch_new(c->t->scratch, TW_TORCH_NONE));
    c->result = all;
    return true;
}
