/* Masks: which steps of a sequence count. A value of bool [batch, steps] goes with a tensor from the layer that
 * makes it through the layers that let it pass to those that leave out steps. Which layers do is told in
 * keras.def; versions of Keras differ where inputs with several masks meet. */
#include <string.h>

#include "import/keras/keras.h"

/* --- what a layer sees ------------------------------------------------------------------------- */

tw_value *tw_kr_argument_mask(const tw_kr_argument *a, int i)
{
    return a && a->mask && i < a->count ? a->mask[i] : NULL;
}

/* Mask i of the argument: one tensor, or a list with nulls where an input has none. */
static tw_value *given_mask(const tw_kr_node *n, const tw_kr_argument *a, int i)
{
    const json_t *list = a->json;
    int at = 0;
    if (!json_is_array(list) || json_is_string(json_array_get(list, 0)))
        return i == 0 && a->count > 0 ? tw_build_cast(n->b, a->value[0], TW_BOOL) : NULL;
    for (int k = 0; k < i; k++)
        at += !json_is_null(json_array_get(list, (size_t)k));
    return at < a->count && !json_is_null(json_array_get(list, (size_t)i))
               ? tw_build_cast(n->b, a->value[at], TW_BOOL)
               : NULL;
}

/* Keras 3 hands over an input's mask where the input is the only argument with tensors. */
tw_value *tw_kr_mask(const tw_kr_node *n, int place, int i)
{
    const tw_kr_argument *given = tw_kr_argument_of(n, place, "mask");
    int with_tensors = 0;
    if (given)
        return given_mask(n, given, i);
    for (int k = 0; k < n->argument_count; k++)
        with_tensors += n->arguments[k].count > 0;
    if (with_tensors > 1 && n->import->version >= 3)
        return NULL;
    return n->masks && i < n->in_count ? n->masks[i] : NULL;
}

/* Input i's, whether the layer reads it or not. */
static tw_value *mask_before(const tw_kr_node *n, int i)
{
    const tw_kr_argument *given = tw_kr_argument_of(n, -1, "mask");
    return given ? given_mask(n, given, i) : n->masks && i < n->in_count ? n->masks[i] : NULL;
}

tw_value *tw_kr_mask_axis(tw_kr_node *n, tw_value *mask, int axis)
{
    int64_t dim[TW_MAX_RANK + 1];
    if (!mask)
        return NULL;
    for (int i = 0, k = 0; i <= mask->shape.rank; i++)
        dim[i] = i == axis ? 1 : mask->shape.dim[k++];
    if (mask->shape.rank < TW_MAX_RANK)
        return tw_build_reshape(n->b, mask, mask->shape.rank + 1, dim);
    TW_KR_UNSUPPORTED(n, "a mask of more than %d axes", TW_MAX_RANK - 1);
    return NULL;
}

tw_value *tw_kr_select(tw_kr_node *n, tw_value *mask, tw_value *x, tw_value *y)
{
    tw_value *in[] = {mask, x, y};
    if (!mask || !x || !y)
        return mask && x ? NULL : x;
    return tw_build(n->b, "Where", in, 3, NULL);
}

/* --- what its results have --------------------------------------------------------------------- */

bool tw_kr_mask_pass(tw_kr_node *n)
{
    n->out_mask[0] = mask_before(n, 0);
    return true;
}

bool tw_kr_mask_pass3(tw_kr_node *n)
{
    return n->import->version < 3 || tw_kr_mask_pass(n);
}

bool tw_kr_mask_sequences(tw_kr_node *n)
{
    return !tw_kr_flag(n, "return_sequences", false) || tw_kr_mask_pass(n);
}

/* Two masks joined, either of which may be absent. */
static tw_value *joined(tw_kr_node *n, const char *op, tw_value *a, tw_value *b)
{
    return !a || !b ? (a ? a : b) : tw_build2(n->b, op, a, b, NULL);
}

/* Keras 3: a step counts where it does in some input, and only if all have masks. Keras 2: where it does
 * in all that have one. */
bool tw_kr_mask_merge(tw_kr_node *n)
{
    const bool some = n->import->version >= 3;
    tw_value *made = NULL;
    for (int i = 0; i < n->in_count; i++) {
        tw_value *own = mask_before(n, i);
        if (!own && some)
            return true;
        made = joined(n, some ? "Or" : "And", made, own);
    }
    n->out_mask[0] = made;
    return n->b->diag->code == TW_CODE_OK;
}

/* Along the features, as for a merge, but that an input without a mask counts everywhere; along the steps,
 * end to end. */
bool tw_kr_mask_concatenate(tw_kr_node *n)
{
    const bool some = n->import->version >= 3;
    const int rank = n->in[0]->shape.rank, axis = tw_kr_axis(n, "axis", rank, -1);
    tw_value **parts = tw_alloc_array(n->import->scratch, (size_t)n->in_count + 1, sizeof *parts);
    bool any = false;
    for (int i = 0; i < n->in_count; i++)
        any = (parts[i] = mask_before(n, i)) || any;
    for (int i = 0; i < n->in_count && any; i++) {
        tw_shape all = n->in[i]->shape;
        all.dtype = TW_BOOL;
        all.rank = rank - 1;
        if (!parts[i] && !(parts[i] = tw_build_full(n->b, all, 1)))
            return false;
        if (parts[i]->shape.rank != rank - 1)
            return TW_KR_UNSUPPORTED(n, "a mask of %d axes on an input of %d", parts[i]->shape.rank,
                                     rank);
    }
    if (any)
        n->out_mask[0] = axis == rank - 1
                             ? tw_build_chain(n->b, some ? "Or" : "And", parts, n->in_count)
                             : tw_build_concat(n->b, parts, n->in_count, axis);
    return !any || n->out_mask[0];
}

#define TW_KERAS_MASKED(Name, function) {#Name, tw_kr_mask_##function},
static const struct {
    const char *name;
    bool (*masks)(tw_kr_node *n);
} masked[] = {
#include "import/keras/keras.def"
};

bool tw_kr_set_masks(tw_kr_node *n)
{
    for (size_t i = 0; !n->row->functions && i < sizeof masked / sizeof *masked; i++)
        if (strcmp(masked[i].name, n->row->name) == 0)
            return masked[i].masks(n);
    return true;
}

/* --- Masking ----------------------------------------------------------------------------------- */

/* A step counts where one of its features is another number; the others become 0. */
bool tw_kr_op_masking(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 2, TW_MAX_RANK));
    if (!x)
        return false;
    const int64_t last = x->shape.rank - 1;
    tw_value *other =
        tw_build2(n->b, "NotEqual", x, tw_kr_scalar(n, tw_kr_real(n, "mask_value", 0)), NULL);
    tw_value *counts =
        other ? tw_build1(n->b, "ReduceAny", other,
                          TW_SETTINGS(tw_set_ints("axes", 1, &last), tw_set_int("keepdims", 0)))
              : NULL;
    n->out_mask[0] = counts;
    return counts && tw_kr_set(n, tw_kr_select(n, tw_kr_mask_axis(n, counts, (int)last), x,
                                               tw_kr_scalar(n, 0)));
}
