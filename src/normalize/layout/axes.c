/* The algebra of axis orders. See axes.h. */
#include "normalize/layout/axes.h"

#include <string.h>

#include "ops/axes.h"

/* ---- orders ---- */

tw_order tw_order_identity(int rank)
{
    tw_order o = {(int8_t)rank, {0}};
    for (int i = 0; i < rank; i++)
        o.axis[i] = (int8_t)i;
    return o;
}

tw_order tw_order_channels_last(int rank)
{
    tw_order o = tw_order_identity(rank);
    for (int i = 1; i + 1 < rank; i++)
        o.axis[i] = (int8_t)(i + 1);
    if (rank > 2)
        o.axis[rank - 1] = 1;
    return o;
}

bool tw_order_equal(const tw_order *a, const tw_order *b)
{
    return a->rank == b->rank && memcmp(a->axis, b->axis, (size_t)a->rank) == 0;
}

/* The next axis at or behind position *at that is longer than 1; -1 at the end. */
static int next_core(const tw_shape *shape, const tw_order *o, int *at)
{
    while (*at < o->rank && shape->dim[o->axis[*at]] == 1)
        ++*at;
    return *at < o->rank ? o->axis[(*at)++] : -1;
}

bool tw_order_same_bytes(const tw_shape *shape, const tw_order *a, const tw_order *b)
{
    int i = 0, j = 0, axis;
    do {
        axis = next_core(shape, a, &i);
        if (axis != next_core(shape, b, &j))
            return false;
    } while (axis >= 0);
    return true;
}

int tw_order_find(const tw_order *order, int axis)
{
    int i = 0;
    while (i < order->rank - 1 && order->axis[i] != axis)
        i++;
    return i;
}

tw_shape tw_order_shape(const tw_shape *shape, const tw_order *order)
{
    tw_shape stored = *shape;
    for (int i = 0; i < shape->rank; i++)
        stored.dim[i] = shape->dim[order->axis[i]];
    return stored;
}

/* Insert an axis behind the axis numbered one less, or in front. */
static void insert_axis(tw_order *o, int axis)
{
    int at = 0;
    for (int i = 0; i < o->rank; i++)
        if (o->axis[i] == axis - 1)
            at = i + 1;
    memmove(&o->axis[at + 1], &o->axis[at], (size_t)(o->rank - at));
    o->axis[at] = (int8_t)axis;
    o->rank++;
}

/* ---- reshapes ---- */

/* Group the axes longer than 1 of two shapes of equal element count into the shortest runs of equal
 * product. group[i]: the run, -1 for axes of extent 1. False: no elements. */
static bool find_groups(const tw_shape *a, const tw_shape *b, int *group_a, int *group_b)
{
    int i = 0, j = 0, group = 0;
    int64_t left = 1, right = 1;
    while (i < a->rank || j < b->rank) {
        if (i < a->rank && a->dim[i] == 1) {
            group_a[i++] = -1;
        } else if (j < b->rank && b->dim[j] == 1) {
            group_b[j++] = -1;
        } else if (i < a->rank && (left <= right || j >= b->rank)) {
            left *= a->dim[i];
            group_a[i++] = group;
        } else {
            right *= b->dim[j];
            group_b[j++] = group;
        }
        if (left == 0 || right == 0)
            return false;
        if (left == right && left > 1) {
            group++;
            left = right = 1;
        }
    }
    return left == right;
}

/* The order of `to` that holds the same bytes as an order of `from`. */
static bool reshape_order(const tw_shape *from, const tw_shape *to, const tw_order *order,
                          tw_order *result)
{
    int group_from[TW_MAX_RANK], group_to[TW_MAX_RANK];
    if (!find_groups(from, to, group_from, group_to))
        return false;
    result->rank = 0;
    int at = 0, axis = next_core(from, order, &at);
    while (axis >= 0) {
        int group = group_from[axis];
        for (int i = 0; i < from->rank; i++) {
            if (group_from[i] != group)
                continue;
            if (axis != i)
                return false;
            axis = next_core(from, order, &at);
        }
        for (int i = 0; i < to->rank; i++)
            if (group_to[i] == group)
                result->axis[result->rank++] = (int8_t)i;
    }
    for (int i = 0; i < to->rank; i++)
        if (group_to[i] < 0)
            insert_axis(result, i);
    return true;
}

int tw_leading_axes(const tw_shape *from, const tw_shape *to)
{
    int lead = 0;
    while (lead < from->rank && lead < to->rank && from->dim[lead] == to->dim[lead])
        lead++;
    return lead;
}

/* Do the kept axes stand first and in order? */
static bool flattens(const tw_node *node, const tw_order *space)
{
    const tw_shape *shape = &node->in[0]->shape;
    int lead = tw_leading_axes(shape, &node->out[0]->shape);
    int at = 0;
    for (int i = 0; i < lead; i++)
        if (shape->dim[i] != 1 && next_core(shape, space, &at) != i)
            return false;
    return true;
}

/* ---- operators ---- */

static bool carries_axes(const tw_node *node)
{
    switch (node->op->code) {
    case TW_OPCODE_softmax:
    case TW_OPCODE_log_softmax:
    case TW_OPCODE_lrn:
    case TW_OPCODE_concat:
    case TW_OPCODE_slice:
    case TW_OPCODE_pad:
    case TW_OPCODE_tile:
    case TW_OPCODE_gather_elements:
    case TW_OPCODE_scatter_elements:
    case TW_OPCODE_top_indices:
    case TW_OPCODE_cum_sum:
    case TW_OPCODE_cum_prod: return true;
    default: return tw_is_norm(node);
    }
}

/* Element-wise, whatever broadcasts into what. */
static bool is_elementwise(const tw_node *node)
{
    return tw_is(node, TW_OPCODE_identity) || tw_is_conversion(node) || tw_is_unary(node) ||
           tw_is_binary(node) || tw_is(node, TW_OPCODE_where);
}

tw_carry tw_carry_of(const tw_node *node, bool flatten)
{
    if (node->out_count != 1 || node->in_count < 1)
        return TW_CARRY_FIXED;
    if (is_elementwise(node))
        return TW_CARRY_ELEMENTWISE;
    if (carries_axes(node))
        return TW_CARRY_AXES;
    if (tw_is_reduce(node))
        return *tw_int_of(node, "keepdims") ? TW_CARRY_AXES : TW_CARRY_REDUCE;
    if (tw_is(node, TW_OPCODE_transpose))
        return TW_CARRY_TRANSPOSE;
    if (tw_is(node, TW_OPCODE_fully_connected))
        return TW_CARRY_ROWS;
    if (tw_is(node, TW_OPCODE_reshape) && node->in[0]->quant.count <= 1) {
        const tw_shape *from = &node->in[0]->shape, *to = &node->out[0]->shape;
        return flatten && to->rank >= 2 && tw_leading_axes(from, to) == to->rank - 1 &&
                       from->rank > to->rank
                   ? TW_CARRY_FLATTEN
                   : TW_CARRY_RESHAPE;
    }
    return TW_CARRY_FIXED;
}

int tw_space_rank(const tw_node *node, tw_carry carry)
{
    return carry == TW_CARRY_ELEMENTWISE ? node->out[0]->shape.rank : node->in[0]->shape.rank;
}

/* Bit i: the reduction removes axis i. (The checker has refused axes that are not there.) */
static unsigned reduced_axes(const tw_node *node)
{
    int rank = node->in[0]->shape.rank;
    int32_t mask = rank > 0 ? tw_axis_mask(tw_ints_of(node, "axes"), rank) : 0;
    return mask < 0 ? 0 : (unsigned)mask;
}

/* The axis of the result that axis `axis` of the operand is; kept axes only. */
static int kept_axis(unsigned removed, int axis)
{
    int kept = 0;
    for (int i = 0; i < axis; i++)
        kept += !(removed >> i & 1);
    return kept;
}

bool tw_order_of_result(const tw_node *node, tw_carry carry, const tw_order *space,
                        tw_order *result)
{
    *result = *space;
    int32_t perm[TW_MAX_RANK];
    switch (carry) {
    case TW_CARRY_FIXED: *result = tw_order_identity(node->out[0]->shape.rank); return true;
    case TW_CARRY_ELEMENTWISE:
    case TW_CARRY_AXES: return true;
    case TW_CARRY_REDUCE: {
        unsigned removed = reduced_axes(node);
        result->rank = 0;
        for (int i = 0; i < space->rank; i++)
            if (!(removed >> space->axis[i] & 1))
                result->axis[result->rank++] = (int8_t)kept_axis(removed, space->axis[i]);
        return true;
    }
    case TW_CARRY_TRANSPOSE:
        tw_perm_of(node, perm);
        for (int i = 0; i < space->rank; i++)
            for (int k = 0; k < space->rank; k++)
                if (perm[k] == space->axis[i])
                    result->axis[i] = (int8_t)k;
        return true;
    case TW_CARRY_RESHAPE:
        return reshape_order(&node->in[0]->shape, &node->out[0]->shape, space, result);
    case TW_CARRY_ROWS: return space->axis[space->rank - 1] == space->rank - 1;
    case TW_CARRY_FLATTEN:
        *result = tw_order_identity(node->out[0]->shape.rank);
        return flattens(node, space);
    }
    return false;
}

tw_order tw_order_of_operand(const tw_node *node, tw_carry carry, int i, const tw_order *space)
{
    int rank = node->in[i]->shape.rank;
    if (carry == TW_CARRY_FIXED || (carry == TW_CARRY_ROWS && i > 0))
        return tw_order_identity(rank);
    if (!tw_carry_broadcasts(carry))
        return *space;
    /* Shapes are aligned at their last axes. */
    tw_order order = {0, {0}};
    int missing = space->rank - rank;
    for (int k = 0; k < space->rank; k++)
        if (space->axis[k] >= missing)
            order.axis[order.rank++] = (int8_t)(space->axis[k] - missing);
    return order;
}

bool tw_space_of_result(const tw_node *node, tw_carry carry, const tw_order *result,
                        tw_order *space)
{
    *space = *result;
    int32_t perm[TW_MAX_RANK];
    switch (carry) {
    case TW_CARRY_FIXED: return false;
    case TW_CARRY_ELEMENTWISE:
    case TW_CARRY_AXES:
    case TW_CARRY_ROWS: break;
    case TW_CARRY_REDUCE: {
        unsigned removed = reduced_axes(node);
        int rank = node->in[0]->shape.rank, kept[TW_MAX_RANK] = {0}, count = 0;
        for (int a = 0; a < rank; a++)
            if (!(removed >> a & 1))
                kept[count++] = a;
        for (int i = 0; i < result->rank; i++)
            space->axis[i] = (int8_t)kept[result->axis[i]];
        for (int a = 0; a < rank; a++)
            if (removed >> a & 1)
                insert_axis(space, a);
        break;
    }
    case TW_CARRY_TRANSPOSE:
        tw_perm_of(node, perm);
        for (int i = 0; i < result->rank; i++)
            space->axis[i] = (int8_t)perm[result->axis[i]];
        break;
    case TW_CARRY_RESHAPE:
        return reshape_order(&node->out[0]->shape, &node->in[0]->shape, result, space);
    case TW_CARRY_FLATTEN: *space = tw_order_identity(node->in[0]->shape.rank); break;
    }
    tw_order check;
    return tw_order_of_result(node, carry, space, &check);
}

bool tw_space_of_operand(const tw_node *node, tw_carry carry, int i, const tw_order *order,
                         tw_order *space)
{
    if (carry == TW_CARRY_FIXED || (carry == TW_CARRY_ROWS && i > 0))
        return false;
    *space = *order;
    int missing = tw_space_rank(node, carry) - order->rank;
    if (missing > 0) {
        *space = tw_order_identity(order->rank + missing);
        for (int k = 0; k < order->rank; k++)
            space->axis[k + missing] = (int8_t)(order->axis[k] + missing);
    }
    tw_order result;
    return tw_order_of_result(node, carry, space, &result);
}

/* ---- attributes ---- */

/* A list with one entry an axis of the tensor. */
static void permute_list(tw_ints *list, const tw_order *space)
{
    if (!list || list->count == 0)
        return;
    tw_ints old = *list;
    list->count = space->rank;
    for (int i = 0; i < space->rank; i++)
        list->v[i] = tw_item(&old, space->axis[i], 0);
}

/* A list of axes. */
static void rename_list(tw_ints *list, const tw_order *space)
{
    if (!list)
        return;
    unsigned mask = 0;
    for (int i = 0; i < list->count; i++) {
        int axis = list->v[i] < 0 ? list->v[i] + space->rank : list->v[i];
        mask |= 1u << tw_order_find(space, axis);
    }
    int count = 0;
    for (int a = 0; a < space->rank; a++)
        if (mask >> a & 1)
            list->v[count++] = a;
    list->count = count;
}

void tw_rename_axes(tw_node *node, tw_carry carry, const tw_order *space, const tw_order *result)
{
    static const char *const by_axis[] = {"begin", "size", "step", "before", "after", "repeats"};
    if (carry == TW_CARRY_RESHAPE || carry == TW_CARRY_FLATTEN) {
        tw_ints *shape = tw_ints_of(node, "shape");
        tw_shape stored = tw_order_shape(&node->out[0]->shape, result);
        shape->count = stored.rank;
        memcpy(shape->v, stored.dim, sizeof(int32_t) * (size_t)stored.rank);
    }
    if (carry != TW_CARRY_AXES && carry != TW_CARRY_REDUCE)
        return;
    int32_t *axis = tw_int_of(node, "axis");
    if (axis)
        *axis = tw_order_find(space, *axis < 0 ? *axis + space->rank : *axis);
    rename_list(tw_ints_of(node, "axes"), space);
    for (size_t i = 0; i < sizeof by_axis / sizeof *by_axis; i++)
        permute_list(tw_ints_of(node, by_axis[i]), space);
}
