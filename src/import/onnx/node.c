/* A node in hand: its attributes, inputs and outputs. */
#include <string.h>

#include "import/onnx/model.h"
#include "import/resize.h"

/* --- attributes -------------------------------------------------------------------------------- */

const Tw__Onnx__Attribute *tw_onnx_attribute(tw_onnx_node *n, const char *name)
{
    for (int i = 0; i < n->attribute_count && tw_onnx_knows(n, name); i++)
        if (strcmp(n->attributes[i].name, name) == 0) {
            n->attributes[i].read = true;
            return n->attributes[i].value;
        }
    return NULL;
}

/* The attribute when it is present and of this kind. `there`: the field of that kind is filled;
 * files of the first IR version do not say the kind. */
static bool is_kind(tw_onnx_node *n, const char *name, const Tw__Onnx__Attribute *a, int kind,
                    bool there)
{
    if (a->has_type ? a->type == kind : there)
        return true;
    return TW_ONNX_FAIL(n, "the attribute %s is of the wrong kind (%d)", name, (int)a->type);
}

bool tw_onnx_has(tw_onnx_node *n, const char *name)
{
    return tw_onnx_attribute(n, name) != NULL;
}

int64_t tw_onnx_int(tw_onnx_node *n, const char *name, int64_t fallback)
{
    const Tw__Onnx__Attribute *a = tw_onnx_attribute(n, name);
    return a && is_kind(n, name, a, TW_ONNX_INT, a->has_i) ? a->i : fallback;
}

float tw_onnx_float(tw_onnx_node *n, const char *name, float fallback)
{
    const Tw__Onnx__Attribute *a = tw_onnx_attribute(n, name);
    return a && is_kind(n, name, a, TW_ONNX_FLOAT, a->has_f) ? a->f : fallback;
}

const char *tw_onnx_text(tw_onnx_node *n, const char *name, const char *fallback)
{
    const Tw__Onnx__Attribute *a = tw_onnx_attribute(n, name);
    if (!a || !is_kind(n, name, a, TW_ONNX_STRING, a->has_s))
        return fallback;
    return tw_strndup(n->b->arena, a->s.len ? (const char *)a->s.data : "", a->s.len);
}

tw_onnx_list tw_onnx_ints(tw_onnx_node *n, const char *name)
{
    const Tw__Onnx__Attribute *a = tw_onnx_attribute(n, name);
    if (!a || !is_kind(n, name, a, TW_ONNX_INTS, a->n_ints > 0))
        return (tw_onnx_list){-1, NULL};
    return (tw_onnx_list){(int)a->n_ints, a->ints};
}

bool tw_onnx_word(tw_onnx_node *n, const char *name, const char *value, const char *words)
{
    return tw_is_word(value, words) ||
           TW_ONNX_FAIL(n, "%s is '%s'; possible are: %s", name, value, words);
}

void tw_onnx_ignore(tw_onnx_node *n, const char *name)
{
    tw_onnx_attribute(n, name);
}

bool tw_onnx_tensor_of(tw_onnx_node *n, const Tw__Onnx__Tensor *tensor, tw_tensor_data *data)
{
    if (!tensor)
        return TW_ONNX_FAIL(n, "an attribute holds no tensor");
    return tw_onnx_tensor(n->onnx->files, tensor, data, n->b->diag);
}

/* --- inputs and outputs ------------------------------------------------------------------------ */

tw_value *tw_onnx_in(const tw_onnx_node *n, int i)
{
    return i < n->in_count ? n->in[i] : NULL;
}

tw_value *tw_onnx_need(const tw_onnx_node *n, int i)
{
    tw_value *value = tw_onnx_in(n, i);
    if (!value)
        TW_ONNX_FAIL(n, "input %d is missing", i);
    return value;
}

bool tw_onnx_wants(const tw_onnx_node *n, int i)
{
    return i < n->out_count && n->proto->output[i][0];
}

bool tw_onnx_bind(tw_onnx_node *n, int i, tw_value *value)
{
    if (!value)
        return false;
    if (i < n->out_count)
        n->out[i] = value;
    return true;
}

bool tw_onnx_list_in(tw_onnx_node *n, int i, const char *what, tw_onnx_list *list)
{
    tw_value *value = tw_onnx_in(n, i);
    *list = (tw_onnx_list){-1, NULL};
    if (!value)
        return true;
    if (value->shape.dtype != TW_S64 && value->shape.dtype != TW_S32)
        return TW_ONNX_FAIL(n, "%s (input %d) must be of type INT64 or INT32, not %s", what, i,
                            tw_dtype_name(value->shape.dtype));
    if (value->shape.rank > 1)
        return TW_ONNX_FAIL(n, "%s (input %d) must be a list, it has rank %d", what, i,
                            value->shape.rank);
    if (!tw_build_constant(n->b, value))
        return TW_ONNX_UNSUPPORTED(n,
                                   "%s (input %d, '%s') is computed while the network runs; it "
                                   "must be constant: simplify the model when exporting it",
                                   what, i, value->name);
    int count = (int)tw_shape_elements(&value->shape);
    int64_t *v = tw_alloc_array(n->b->arena, (size_t)count + 1, sizeof *v);
    for (int k = 0; k < count; k++)
        v[k] = tw_build_int_at(value, k);
    *list = (tw_onnx_list){count, v};
    return true;
}

bool tw_onnx_axis(tw_onnx_node *n, int64_t axis, int rank, int *out)
{
    if (axis < -rank || axis >= rank)
        return TW_ONNX_FAIL(n, "axis %lld does not exist: the tensor has rank %d", (long long)axis,
                            rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

bool tw_onnx_axes(tw_onnx_node *n, const tw_onnx_list *axes, int rank, bool *flag)
{
    for (int i = 0; i < axes->count; i++) {
        int axis;
        if (!tw_onnx_axis(n, axes->v[i], rank, &axis))
            return false;
        if (flag[axis])
            return TW_ONNX_FAIL(n, "axis %d is given twice", axis);
        flag[axis] = true;
    }
    return true;
}
