/* Sequences and optionals. Which tensors a sequence is made of, and whether an optional holds something, is
 * known while the model is imported: operators on them move tensors about here, and leave no nodes. */
#include <stdio.h>

#include "import/onnx/model.h"

enum { MOST_PARTS = 4096 };

/* ---- values that stand for sequences ---- */

tw_value *tw_onnx_make_sequence(tw_onnx *o, tw_value *const *v, int count)
{
    static const uint8_t nothing[1] = {0};
    const tw_shape empty = {TW_U8, 1, {0, 1, 1, 1, 1, 1}};
    tw_onnx_sequence *s = tw_alloc(o->b.arena, sizeof *s);
    tw_value *value = tw_graph_constant(o->b.graph, "sequence", empty, nothing);
    s->count = count;
    s->v = tw_alloc_array(o->b.arena, (size_t)(count > 0 ? count : 0) + 1, sizeof *s->v);
    for (int i = 0; i < count; i++)
        if (!(s->v[i] = v[i]))
            return NULL;
    tw_map_put(o->b.arena, &o->sequences, tw_format(o->b.arena, "%p", (void *)value), s);
    return value;
}

const tw_onnx_sequence *tw_onnx_sequence_of(const tw_onnx *o, const tw_value *value)
{
    char text[32];
    if (!o->sequences.count)
        return NULL;
    snprintf(text, sizeof text, "%p", (const void *)value);
    return tw_map_get(&o->sequences, text);
}

/* Input i, which must be a sequence. */
static const tw_onnx_sequence *sequence_in(tw_onnx_node *n, int i)
{
    const tw_onnx_sequence *s = n->in[i] ? tw_onnx_sequence_of(n->onnx, n->in[i]) : NULL;
    if (s && s->count >= 0)
        return s;
    TW_ONNX_FAIL(n, "input %d is %s, not a sequence", i,
                 s ? "an optional that holds nothing" : "a tensor");
    return NULL;
}

static bool is_tensor(tw_onnx_node *n, int i)
{
    return !tw_onnx_sequence_of(n->onnx, n->in[i]) ||
           TW_ONNX_UNSUPPORTED(n, "input %d is a sequence; sequences of tensors are supported", i);
}

static bool give(tw_onnx_node *n, int i, tw_value *const *v, int count)
{
    return tw_onnx_bind(n, i, tw_onnx_make_sequence(n->onnx, v, count));
}

/* A position in the sequence that input i gives, counted from the end where negative; the last one where
 * the input is absent. more: 1, behind the last too. */
static bool position_in(tw_onnx_node *n, int i, const tw_onnx_sequence *s, int more, int *position)
{
    tw_onnx_list list;
    if (!tw_onnx_list_in(n, i, "the position", &list))
        return false;
    if (list.count >= 0 && list.count != 1)
        return TW_ONNX_FAIL(n, "the position has %d elements; it must have one", list.count);
    const int64_t last = s->count - 1 + more, given = list.count < 0 ? last : list.v[0];
    if (given < -s->count || given > last || last < 0)
        return TW_ONNX_FAIL(n, "position %lld is not in a sequence of %d", (long long)given,
                            s->count);
    *position = (int)(given < 0 ? given + s->count : given);
    return true;
}

/* ---- sequences ---- */

bool tw_onnx_op_sequence_empty(tw_onnx_node *n)
{
    tw_onnx_ignore(n, "dtype");
    return give(n, 0, NULL, 0);
}

bool tw_onnx_op_sequence_construct(tw_onnx_node *n)
{
    for (int i = 0; i < n->in_count; i++)
        if (!tw_onnx_need(n, i))
            return false;
    return give(n, 0, n->in, n->in_count);
}

bool tw_onnx_op_sequence_insert(tw_onnx_node *n)
{
    const tw_onnx_sequence *s = sequence_in(n, 0);
    int at;
    if (!s || !is_tensor(n, 1) || !position_in(n, 2, s, 1, &at))
        return false;
    tw_value **v = tw_alloc_array(n->b->arena, (size_t)s->count + 1, sizeof *v);
    for (int i = 0; i <= s->count; i++)
        v[i] = i < at ? s->v[i] : i == at ? n->in[1] : s->v[i - 1];
    return give(n, 0, v, s->count + 1);
}

bool tw_onnx_op_sequence_erase(tw_onnx_node *n)
{
    const tw_onnx_sequence *s = sequence_in(n, 0);
    int at, kept = 0;
    if (!s || !position_in(n, 1, s, 0, &at))
        return false;
    tw_value **v = tw_alloc_array(n->b->arena, (size_t)s->count + 1, sizeof *v);
    for (int i = 0; i < s->count; i++)
        if (i != at)
            v[kept++] = s->v[i];
    return give(n, 0, v, kept);
}

bool tw_onnx_op_sequence_at(tw_onnx_node *n)
{
    const tw_onnx_sequence *s = sequence_in(n, 0);
    int at;
    return s && position_in(n, 1, s, 0, &at) && tw_onnx_bind(n, 0, s->v[at]);
}

bool tw_onnx_op_sequence_length(tw_onnx_node *n)
{
    const tw_onnx_sequence *s = sequence_in(n, 0);
    return s && tw_onnx_bind(n, 0, tw_build_scalar(n->b, TW_S64, s->count));
}

/* ---- from tensors, to tensors ---- */

/* Sizes of the parts that `split` asks for; without one, of one row each. */
static bool part_sizes(tw_onnx_node *n, int64_t extent, int64_t **sizes, int *count)
{
    tw_onnx_list list;
    if (!tw_onnx_list_in(n, 1, "the sizes", &list))
        return false;
    const bool each = list.count < 0 || n->in[1]->shape.rank == 0;
    int64_t size = list.count < 0 ? 1 : each ? list.v[0] : 0;
    if (each && size < 1)
        return TW_ONNX_FAIL(n, "parts of %lld rows", (long long)size);
    size = size > extent ? extent + 1 : size;
    const int64_t parts = each ? (extent + size - 1) / size : list.count;
    if (parts > MOST_PARTS)
        return TW_ONNX_UNSUPPORTED(n, "%lld parts; at most %d are supported", (long long)parts,
                                   MOST_PARTS);
    *count = (int)parts;
    *sizes = tw_alloc_array(n->b->arena, (size_t)parts + 1, sizeof **sizes);
    int64_t left = extent;
    for (int i = 0; i < *count; i++) {
        int64_t s = each ? (left < size ? left : size) : list.v[i];
        if (s < 0 || s > left)
            return TW_ONNX_FAIL(n, "the sizes do not add up to the axis's extent %lld",
                                (long long)extent);
        (*sizes)[i] = s;
        left -= s;
    }
    return left == 0 ||
           TW_ONNX_FAIL(n, "the sizes do not add up to the axis's extent %lld", (long long)extent);
}

/* x with an axis of extent 1 less, or one more. */
static tw_value *with_rank(tw_builder *b, tw_value *x, int axis, int change)
{
    int64_t dim[TW_MAX_RANK];
    int rank = 0;
    if (!x)
        return NULL;
    for (int i = 0; i < x->shape.rank; i++) {
        if (change > 0 && i == axis)
            dim[rank++] = 1;
        if (change > 0 || i != axis)
            dim[rank++] = x->shape.dim[i];
    }
    if (change > 0 && axis == x->shape.rank)
        dim[rank++] = 1;
    return tw_build_reshape(b, x, rank, dim);
}

bool tw_onnx_op_split_to_sequence(tw_onnx_node *n)
{
    tw_value *x = n->in[0];
    int axis, count;
    int64_t *sizes, begin = 0;
    const bool keep = tw_onnx_int(n, "keepdims", 1) != 0 || tw_onnx_in(n, 1);
    if (!tw_onnx_axis(n, tw_onnx_int(n, "axis", 0), x->shape.rank, &axis) ||
        !part_sizes(n, x->shape.dim[axis], &sizes, &count))
        return false;
    tw_value **v = tw_alloc_array(n->b->arena, (size_t)count + 1, sizeof *v);
    for (int i = 0; i < count; begin += sizes[i++]) {
        v[i] = tw_build_slice(n->b, x, axis, begin, sizes[i], 1);
        if (!keep)
            v[i] = with_rank(n->b, v[i], axis, -1);
    }
    return give(n, 0, v, count);
}

bool tw_onnx_op_concat_from_sequence(tw_onnx_node *n)
{
    const tw_onnx_sequence *s = sequence_in(n, 0);
    const bool fresh = tw_onnx_int(n, "new_axis", 0) != 0;
    int axis;
    if (!s)
        return false;
    if (s->count == 0)
        return TW_ONNX_UNSUPPORTED(n, "the sequence is empty, so that the result has no shape");
    const int rank = s->v[0]->shape.rank + fresh;
    if (rank > TW_MAX_RANK)
        return TW_ONNX_UNSUPPORTED(n, "the result has rank %d; ranks up to %d are supported", rank,
                                   TW_MAX_RANK);
    if (!tw_onnx_has(n, "axis"))
        return TW_ONNX_FAIL(n, "the attribute axis is missing");
    if (!tw_onnx_axis(n, tw_onnx_int(n, "axis", 0), rank, &axis))
        return false;
    tw_value **v = tw_alloc_array(n->b->arena, (size_t)s->count + 1, sizeof *v);
    for (int i = 0; i < s->count; i++) {
        if (s->v[i]->shape.rank + fresh != rank)
            return TW_ONNX_FAIL(n, "tensors 0 and %d of the sequence have different ranks", i);
        v[i] = fresh ? with_rank(n->b, s->v[i], axis, 1) : s->v[i];
    }
    return tw_onnx_bind(n, 0, tw_build_concat(n->b, v, s->count, axis));
}

/* ---- a body for each tensor ---- */

/* What the body is given in round `round`: tensors of sequences, and tensors as they are. */
static bool round_inputs(tw_onnx_node *n, int round, int count, tw_value **in)
{
    for (int i = 0; i < n->in_count; i++) {
        if (!tw_onnx_need(n, i))
            return false;
        const tw_onnx_sequence *s = tw_onnx_sequence_of(n->onnx, n->in[i]);
        if (s && s->count != count)
            return TW_ONNX_FAIL(n, "its sequences have %d and %d tensors", count, s->count);
        in[i] = s ? s->v[round] : n->in[i];
    }
    return true;
}

bool tw_onnx_op_sequence_map(tw_onnx_node *n)
{
    const tw_onnx_sequence *s = sequence_in(n, 0);
    const Tw__Onnx__Attribute *body = tw_onnx_attribute(n, "body");
    const int outputs = n->out_count;
    if (!s)
        return false;
    if (!body || !body->g)
        return TW_ONNX_FAIL(n, "the body is missing");
    if ((int64_t)outputs * s->count > TW_ONNX_EXPANSION)
        return TW_ONNX_UNSUPPORTED(n, "it makes more than %d tensors", TW_ONNX_EXPANSION);
    tw_value **in = tw_alloc_array(n->b->arena, (size_t)n->in_count + 1, sizeof *in);
    tw_value **out = tw_alloc_array(n->b->arena, (size_t)outputs + 1, sizeof *out);
    tw_value **made =
        tw_alloc_array(n->b->arena, (size_t)outputs * (size_t)s->count + 1, sizeof *made);
    for (int round = 0; round < s->count; round++) {
        if (!round_inputs(n, round, s->count, in) ||
            !tw_onnx_graph_here(n, body->g, in, n->in_count, out, outputs))
            return false;
        for (int i = 0; i < outputs; i++) {
            if (!out[i] || tw_onnx_sequence_of(n->onnx, out[i]))
                return TW_ONNX_FAIL(n, "result %d of the body is not a tensor", i);
            made[(size_t)i * (size_t)s->count + (size_t)round] = out[i];
        }
    }
    for (int i = 0; i < outputs; i++)
        if (!give(n, i, made + (size_t)i * (size_t)s->count, s->count))
            return false;
    return true;
}

/* ---- optionals ---- */

/* One that holds something is the thing itself. */
bool tw_onnx_op_optional(tw_onnx_node *n)
{
    tw_onnx_ignore(n, "type");
    return tw_onnx_in(n, 0) ? tw_onnx_bind(n, 0, n->in[0]) : give(n, 0, NULL, -1);
}

bool tw_onnx_op_optional_has_element(tw_onnx_node *n)
{
    const tw_value *x = tw_onnx_in(n, 0);
    const tw_onnx_sequence *s = x ? tw_onnx_sequence_of(n->onnx, x) : NULL;
    return tw_onnx_bind(n, 0, tw_build_scalar(n->b, TW_BOOL, x && !(s && s->count < 0)));
}

bool tw_onnx_op_optional_get_element(tw_onnx_node *n)
{
    const tw_onnx_sequence *s = tw_onnx_sequence_of(n->onnx, n->in[0]);
    if (s && s->count < 0)
        return TW_ONNX_FAIL(n, "the optional holds nothing");
    return tw_onnx_bind(n, 0, n->in[0]);
}
