/* Operators that only change or tell shapes, and those that make constants. */
#include <math.h>
#include <string.h>

#include "graph/number.h"
#include "import/onnx/onnx.h"
#include "import/onnx/tensor.h"

bool tw_onnx_op_identity(tw_onnx_node *n)
{
    if (tw_onnx_sequence_of(n->onnx, n->in[0]))
        return tw_onnx_bind(n, 0, n->in[0]);
    return tw_onnx_bind(n, 0, tw_build1(n->b, "Identity", n->in[0], NULL));
}

/* Dropout does something in training only. Its mask then says that everything was kept. */
bool tw_onnx_op_dropout(tw_onnx_node *n)
{
    tw_value *x = n->in[0], *ratio = tw_onnx_in(n, 1), *training = tw_onnx_in(n, 2);
    tw_onnx_ignore(n, "ratio");
    tw_onnx_ignore(n, "seed");
    if (n->opset < 6)
        tw_onnx_ignore(n, "consumed_inputs");
    if (n->opset < 7 && tw_onnx_int(n, "is_test", 0) == 0)
        return TW_ONNX_UNSUPPORTED(n, "the node is in training mode (is_test 0); export the model "
                                      "for inference");
    if (training && !tw_build_constant(n->b, training))
        return TW_ONNX_UNSUPPORTED(n, "training_mode must be constant");
    bool active =
        training && tw_shape_elements(&training->shape) == 1 && tw_constant_at(training, 0) != 0;
    if (active && ratio && tw_build_constant(n->b, ratio) &&
        tw_shape_elements(&ratio->shape) == 1 && tw_constant_at(ratio, 0) == 0)
        active = false;
    if (active)
        return TW_ONNX_UNSUPPORTED(n, "the node is in training mode; export the model for "
                                      "inference");
    if (tw_onnx_wants(n, 1)) {
        tw_shape mask = x->shape;
        if (n->opset >= 10)
            mask.dtype = TW_BOOL;
        if (!tw_onnx_bind(n, 1, tw_build_full(n->b, mask, 1)))
            return false;
    }
    return tw_onnx_op_identity(n);
}

/* --- reshaping --------------------------------------------------------------------------------- */

bool tw_onnx_op_reshape(tw_onnx_node *n)
{
    const tw_shape *from = &n->in[0]->shape;
    tw_onnx_list list;
    bool zero_stays = n->opset >= 14 && tw_onnx_int(n, "allowzero", 0) != 0;
    if (n->opset < 5) {
        list = tw_onnx_ints(n, "shape");
        tw_onnx_ignore(n, "consumed_inputs");
    } else if (!tw_onnx_need(n, 1) || !tw_onnx_list_in(n, 1, "the shape", &list)) {
        return false;
    }
    if (list.count < 0)
        return TW_ONNX_FAIL(n, "the shape is missing");
    if (list.count > TW_MAX_RANK)
        return TW_ONNX_UNSUPPORTED(n, "the shape has rank %d; ranks up to %d are supported",
                                   list.count, TW_MAX_RANK);
    int64_t dim[TW_MAX_RANK], known = 1, total = tw_shape_elements(from);
    int open = -1;
    for (int i = 0; i < list.count; i++) {
        dim[i] = list.v[i];
        if (dim[i] == 0 && !zero_stays) {
            if (i >= from->rank)
                return TW_ONNX_FAIL(n, "extent %d is to be copied, the input has rank %d", i,
                                    from->rank);
            dim[i] = from->dim[i];
        }
        if (dim[i] == -1 && open < 0) {
            open = i;
            continue;
        }
        if (dim[i] < 0 || dim[i] > INT32_MAX || known * (dim[i] ? dim[i] : 1) > INT32_MAX)
            return TW_ONNX_FAIL(n, "extent %d of the shape is %lld", i, (long long)dim[i]);
        known *= dim[i];
    }
    if (open >= 0) {
        if (known == 0 || total % known != 0)
            return TW_ONNX_FAIL(n, "%lld elements do not divide into rows of %lld",
                                (long long)total, (long long)known);
        dim[open] = total / known;
    }
    return tw_onnx_bind(n, 0, tw_build_reshape(n->b, n->in[0], list.count, dim));
}

bool tw_onnx_op_flatten(tw_onnx_node *n)
{
    const tw_shape *from = &n->in[0]->shape;
    int64_t axis = tw_onnx_int(n, "axis", 1), dim[2] = {1, 1};
    if (axis < -from->rank || axis > from->rank)
        return TW_ONNX_FAIL(n, "axis %lld does not exist: the tensor has rank %d", (long long)axis,
                            from->rank);
    axis += axis < 0 ? from->rank : 0;
    for (int i = 0; i < from->rank; i++)
        dim[i >= axis] *= from->dim[i];
    return tw_onnx_bind(n, 0, tw_build_reshape(n->b, n->in[0], 2, dim));
}

/* The axes stand in an input from opset 13 on. */
static bool read_axes(tw_onnx_node *n, tw_onnx_list *axes)
{
    if (n->opset >= 13)
        return tw_onnx_list_in(n, 1, "axes", axes);
    *axes = tw_onnx_ints(n, "axes");
    if (tw_onnx_in(n, 1))
        return TW_ONNX_FAIL(n, "the axes are an attribute in opset %lld", (long long)n->opset);
    return true;
}

bool tw_onnx_op_squeeze(tw_onnx_node *n)
{
    const tw_shape *from = &n->in[0]->shape;
    tw_onnx_list axes;
    bool flag[TW_MAX_RANK] = {false};
    if (!read_axes(n, &axes) || !tw_onnx_axes(n, &axes, from->rank, flag))
        return false;
    int64_t dim[TW_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < from->rank; i++) {
        if (flag[i] && from->dim[i] != 1)
            return TW_ONNX_FAIL(n, "axis %d has extent %d; only 1 can be dropped", i,
                                (int)from->dim[i]);
        if (!flag[i] && (axes.count >= 0 || from->dim[i] != 1))
            dim[rank++] = from->dim[i];
    }
    return tw_onnx_bind(n, 0, tw_build_reshape(n->b, n->in[0], rank, dim));
}

bool tw_onnx_op_unsqueeze(tw_onnx_node *n)
{
    const tw_shape *from = &n->in[0]->shape;
    tw_onnx_list axes;
    bool flag[2 * TW_MAX_RANK] = {false};
    if (!read_axes(n, &axes))
        return false;
    if (axes.count < 0)
        return TW_ONNX_FAIL(n, "the axes are missing");
    int rank = from->rank + axes.count;
    if (axes.count > TW_MAX_RANK || rank > TW_MAX_RANK)
        return TW_ONNX_UNSUPPORTED(n, "the result has rank %lld; ranks up to %d are supported",
                                   (long long)from->rank + axes.count, TW_MAX_RANK);
    if (!tw_onnx_axes(n, &axes, rank, flag))
        return false;
    int64_t dim[TW_MAX_RANK];
    for (int i = 0, at = 0; i < rank; i++)
        dim[i] = flag[i] ? 1 : from->dim[at++];
    return tw_onnx_bind(n, 0, tw_build_reshape(n->b, n->in[0], rank, dim));
}

bool tw_onnx_op_transpose(tw_onnx_node *n)
{
    int rank = n->in[0]->shape.rank;
    tw_onnx_list given = tw_onnx_ints(n, "perm");
    int64_t perm[TW_MAX_RANK];
    bool used[TW_MAX_RANK] = {false};
    if (given.count >= 0 && given.count != rank)
        return TW_ONNX_FAIL(n, "perm has %d elements, the tensor has rank %d", given.count, rank);
    for (int i = 0; i < rank; i++) {
        int axis = rank - 1 - i;
        if (given.count >= 0 && !tw_onnx_axis(n, given.v[i], rank, &axis))
            return false;
        if (used[axis])
            return TW_ONNX_FAIL(n, "perm holds axis %d twice", axis);
        used[axis] = true;
        perm[i] = axis;
    }
    return tw_onnx_bind(n, 0, tw_build_transpose(n->b, n->in[0], rank, perm));
}

bool tw_onnx_op_expand(tw_onnx_node *n)
{
    tw_value *x = n->in[0];
    tw_onnx_list list;
    if (!tw_onnx_list_in(n, 1, "the shape", &list))
        return false;
    int rank = list.count > x->shape.rank ? list.count : x->shape.rank;
    if (rank > TW_MAX_RANK)
        return TW_ONNX_UNSUPPORTED(n, "the result has rank %d; ranks up to %d are supported", rank,
                                   TW_MAX_RANK);
    int64_t dim[TW_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        int own = i - (rank - x->shape.rank), asked = i - (rank - list.count);
        int64_t a = own < 0 ? 1 : x->shape.dim[own], b = asked < 0 ? 1 : list.v[asked];
        if (a != b && a != 1 && b != 1)
            return TW_ONNX_FAIL(n, "extent %lld cannot be expanded to %lld", (long long)a,
                                (long long)b);
        dim[i] = a == 1 ? b : a;
    }
    tw_shape shape;
    return tw_shape_from_file("the result", x->shape.dtype, (size_t)rank, dim, &shape,
                              n->b->diag) &&
           tw_onnx_bind(n, 0, tw_build_expand(n->b, x, &shape));
}

/* --- telling shapes ---------------------------------------------------------------------------- */

static int64_t clamp_axis(int64_t axis, int rank)
{
    axis += axis < 0 ? rank : 0;
    return axis < 0 ? 0 : axis > rank ? rank : axis;
}

bool tw_onnx_op_shape(tw_onnx_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    int64_t start = 0, end = x->rank, dim[TW_MAX_RANK];
    if (n->opset >= 15) {
        start = clamp_axis(tw_onnx_int(n, "start", 0), x->rank);
        end = clamp_axis(tw_onnx_int(n, "end", x->rank), x->rank);
    }
    int count = 0;
    for (int64_t i = start; i < end; i++)
        dim[count++] = x->dim[i];
    return tw_onnx_bind(n, 0, tw_build_list(n->b, count, dim));
}

bool tw_onnx_op_size(tw_onnx_node *n)
{
    return tw_onnx_bind(n, 0,
                        tw_build_scalar(n->b, TW_S64, (double)tw_shape_elements(&n->in[0]->shape)));
}

/* --- making constants -------------------------------------------------------------------------- */

static tw_value *tensor_constant(tw_onnx_node *n, const Tw__Onnx__Tensor *tensor)
{
    tw_tensor_data t;
    if (!tw_onnx_tensor_of(n, tensor, &t))
        return NULL;
    tw_value *y = tw_build_data(n->b, t.shape, t.data);
    tw_onnx_note_type(n->onnx, y, tw_onnx_narrow_type(tensor->data_type));
    return y;
}

bool tw_onnx_op_constant(tw_onnx_node *n)
{
    const Tw__Onnx__Attribute *a;
    if (n->attribute_count != 1)
        return TW_ONNX_FAIL(n, "a constant has one attribute, this one has %d%s%s",
                            n->attribute_count, n->attribute_count ? ", the last one " : "",
                            n->attribute_count ? n->attributes[n->attribute_count - 1].name : "");
    tw_value *y = NULL;
    int32_t count[1];
    if ((a = tw_onnx_attribute(n, "value"))) {
        y = tensor_constant(n, a->t);
    } else if (tw_onnx_has(n, "value_float")) {
        y = tw_build_scalar(n->b, TW_F32, (double)tw_onnx_float(n, "value_float", 0));
    } else if (tw_onnx_has(n, "value_int")) {
        int64_t v = tw_onnx_int(n, "value_int", 0);
        y = tw_build_reshape(n->b, tw_build_list(n->b, 1, &v), 0, NULL);
    } else if ((a = tw_onnx_attribute(n, "value_floats"))) {
        count[0] = (int32_t)a->n_floats;
        y = tw_build_data(n->b, tw_shape_of(TW_F32, 1, count),
                          count[0] ? a->floats : tw_alloc(n->b->arena, 1));
    } else if ((a = tw_onnx_attribute(n, "value_ints"))) {
        y = tw_build_list(n->b, (int)a->n_ints, a->ints);
    } else {
        return TW_ONNX_UNSUPPORTED(n, "a constant given as %s is not supported",
                                   n->attributes[0].name);
    }
    return tw_onnx_bind(n, 0, y);
}

bool tw_onnx_op_constant_of_shape(tw_onnx_node *n)
{
    const Tw__Onnx__Attribute *a = tw_onnx_attribute(n, "value");
    tw_onnx_list list;
    tw_shape shape;
    tw_tensor_data one = {.shape = tw_shape_of(TW_F32, 0, NULL), .data = NULL};
    if (!tw_onnx_list_in(n, 0, "the shape", &list))
        return false;
    if (a && (!tw_onnx_tensor_of(n, a->t, &one) || tw_shape_elements(&one.shape) != 1))
        return TW_ONNX_FAIL(n, "the attribute value must hold one element");
    if (!tw_shape_from_file("the result", one.shape.dtype, (size_t)list.count, list.v, &shape,
                            n->b->diag))
        return false;
    /* Zeros of the right size, then copies of the element. */
    size_t size = tw_dtype_bytes(shape.dtype), bytes = tw_shape_bytes(&shape);
    if (bytes > TW_BUILD_LIMIT)
        return TW_ONNX_UNSUPPORTED(n, "a constant of %zu bytes; at most %d are made", bytes,
                                   TW_BUILD_LIMIT);
    uint8_t *data = tw_alloc(n->b->arena, bytes + 1);
    for (size_t at = 0; one.data && at < bytes; at += size)
        memcpy(data + at, one.data, size);
    return tw_onnx_bind(n, 0, tw_build_data(n->b, shape, data));
}

bool tw_onnx_op_range(tw_onnx_node *n)
{
    return tw_onnx_bind(n, 0, tw_build_range(n->b, n->op, n->in));
}
