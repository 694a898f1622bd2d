/* Random numbers, as dropout has them: followed as an interval. Where what is made of them is the same
 * whatever they are (dropout that is turned off), that is a constant; elsewhere they are refused by who
 * reads them.
 */
#include <math.h>
#include <string.h>

#include "import/tensorflow/random.h"

bool tw_tf_op_random_uniform(tw_tf_node *n)
{
    tw_tf_ints extents;
    if (!tw_tf_extents_in(n, 0, false, &extents))
        return false;
    tw_tf_item item = {.kind = TW_TF_RANDOM, .low = 0, .high = 1};
    item.shape = tw_shape_of(TW_F32, 0, NULL);
    item.shape.rank = extents.count;
    for (int i = 0; i < extents.count; i++)
        item.shape.dim[i] = (int32_t)extents.v[i];
    return tw_tf_set_item(n, 0, item);
}

bool tw_tf_reads_random(const tw_tf_node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i].kind == TW_TF_RANDOM)
            return true;
    return false;
}

/* The other operand, which must be one known number. */
static bool other(tw_tf_node *n, int i, double *number)
{
    tw_value *value = n->in[i].kind == TW_TF_RANDOM ? NULL : tw_tf_in(n, i);
    if (value && tw_build_known(n->b, value) && tw_shape_elements(&value->shape) == 1) {
        *number = tw_constant_at(value, 0);
        return true;
    }
    return tw_tf_in(n, n->in[0].kind == TW_TF_RANDOM ? 0 : 1) != NULL; /* says what to do */
}

static bool same_everywhere(tw_tf_node *n, const tw_tf_item *random, tw_dtype dtype, double value)
{
    tw_shape shape = random->shape;
    shape.dtype = dtype;
    return tw_tf_set(n, 0, tw_build_full(n->b, shape, value));
}

bool tw_tf_random_binary(tw_tf_node *n, const char *op)
{
    const int side = n->in[0].kind == TW_TF_RANDOM ? 0 : 1;
    tw_tf_item item = n->in[side];
    double c = 0;
    if (!other(n, 1 - side, &c))
        return false;
    if (strcmp(op, "Add") == 0) {
        item.low += c;
        item.high += c;
    } else if (strcmp(op, "Sub") == 0 && side == 0) {
        item.low -= c;
        item.high -= c;
    } else if (strcmp(op, "Mul") == 0 && c >= 0) {
        item.low *= c;
        item.high *= c;
    } else if (strcmp(op, "GreaterOrEqual") == 0 && side == 0 &&
               (c <= item.low || c >= item.high)) {
        return same_everywhere(n, &item, TW_BOOL, c <= item.low);
    } else {
        return tw_tf_in(n, side) != NULL;
    }
    return tw_tf_set_item(n, 0, item);
}

bool tw_tf_random_floor(tw_tf_node *n)
{
    const tw_tf_item *item = &n->in[0];
    if (floor(item->low) != ceil(item->high) - 1)
        return tw_tf_in(n, 0) != NULL;
    return same_everywhere(n, item, TW_F32, floor(item->low));
}
