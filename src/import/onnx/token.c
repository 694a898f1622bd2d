/* Parts of transformers and of their streaming relatives, beside Attention. */
#include <string.h>

#include "import/onnx/attention.h"

/* --- rotary embedding -------------------------------------------------------------------------- */

/* A cache of angles, by the positions of the tokens where they are given: as [batch or 1, 1, rows, half]. */
static tw_value *angles(tw_onnx_node *n, tw_value *cache, tw_value *positions, const tw_shape *x,
                        int64_t half)
{
    int64_t batch = x->dim[0], rows = x->dim[2], each = rows * half;
    if (positions)
        cache = tw_build_gather(n->b, cache, positions, 0, 0);
    int64_t count = cache ? tw_shape_elements(&cache->shape) : 0;
    if (!cache || cache->shape.rank < 1 || cache->shape.dim[cache->shape.rank - 1] != half ||
        (count != each && count != batch * each)) {
        TW_ONNX_FAIL(n, "caches must hold %lld angles a position, for %lld rows", (long long)half,
                     (long long)rows);
        return NULL;
    }
    int64_t dim[] = {count == batch * each ? batch : 1, 1, rows, half};
    return tw_build_reshape(n->b, cache, 4, dim);
}

/* Pairs (x, y) become (x cos - y sin, x sin + y cos). */
static void turn(tw_builder *b, tw_value *const *pair, tw_value *cosine, tw_value *sine,
                 tw_value **turned)
{
    turned[0] = tw_build2(b, "Sub", tw_build2(b, "Mul", pair[0], cosine, NULL),
                          tw_build2(b, "Mul", pair[1], sine, NULL), NULL);
    turned[1] = tw_build2(b, "Add", tw_build2(b, "Mul", pair[0], sine, NULL),
                          tw_build2(b, "Mul", pair[1], cosine, NULL), NULL);
}

/* Two tensors [.., half] element by element in turn: [.., 2 * half]. */
static tw_value *interleave(tw_builder *b, tw_value *const *part)
{
    if (!part[0] || !part[1])
        return NULL;
    const int32_t *d = part[0]->shape.dim;
    int64_t apart[] = {d[0], d[1], d[2], d[3], 1}, both[] = {d[0], d[1], d[2], 2 * (int64_t)d[3]};
    tw_value *in[] = {tw_build_reshape(b, part[0], 5, apart),
                      tw_build_reshape(b, part[1], 5, apart)};
    return in[0] && in[1] ? tw_build_reshape(b, tw_build_concat(b, in, 2, 4), 4, both) : NULL;
}

tw_value *tw_onnx_rotated(tw_onnx_node *n, tw_value *x, tw_rotation by)
{
    if (!x || !by.cosine || !by.sine)
        return NULL;
    int64_t size = x->shape.dim[3], turned = by.turned ? by.turned : size, half = turned / 2;
    if (turned < 2 || turned % 2 != 0 || turned > size) {
        TW_ONNX_FAIL(n, "%lld of %lld columns cannot be turned in pairs", (long long)turned,
                     (long long)size);
        return NULL;
    }
    tw_value *cosine = angles(n, by.cosine, by.positions, &x->shape, half);
    tw_value *sine = cosine ? angles(n, by.sine, by.positions, &x->shape, half) : NULL;
    tw_value *pair[2], *out[3];
    if (!sine)
        return NULL;
    for (int i = 0; i < 2; i++)
        pair[i] = by.interleaved ? tw_build_slice(n->b, x, 3, i, half, 2)
                                 : tw_build_slice(n->b, x, 3, i * half, half, 1);
    turn(n->b, pair, cosine, sine, out);
    if (!out[0] || !out[1])
        return NULL;
    tw_value *y = by.interleaved ? interleave(n->b, out) : tw_build_concat(n->b, out, 2, 3);
    out[0] = y;
    out[1] = turned < size ? tw_build_slice(n->b, x, 3, turned, size - turned, 1) : NULL;
    return out[1] && y ? tw_build_concat(n->b, out, 2, 3) : y;
}

/* Whether x is [batch, rows, heads * size] or by heads, so is the result. */
static bool rotary_embedding(tw_onnx_node *n, tw_rotation by)
{
    tw_value *x = n->in[0];
    int64_t heads = tw_onnx_int(n, "num_heads", 0);
    bool flat = x->shape.rank == 3;
    by.turned = tw_onnx_int(n, "rotary_embedding_dim", 0);
    by.interleaved = tw_onnx_int(n, "interleaved", 0) != 0;
    if (x->shape.dtype != TW_F32 || (!flat && x->shape.rank != 4))
        return TW_ONNX_UNSUPPORTED(n, "tensors of FLOAT and rank 3 or 4 are supported");
    /* Without heads, as com.microsoft allows: by the caches' angles. */
    if (flat && heads == 0 && *n->row->domain && by.cosine->shape.rank == 2 &&
        by.cosine->shape.dim[1] > 0)
        heads = x->shape.dim[2] / (2 * (int64_t)by.cosine->shape.dim[1]);
    if (flat)
        x = tw_onnx_split_heads(n, x, heads);
    tw_value *y = tw_onnx_rotated(n, x, by);
    return tw_onnx_bind(n, 0, flat ? tw_onnx_merge_heads(n, y) : y);
}

bool tw_onnx_op_rotary_embedding(tw_onnx_node *n)
{
    return rotary_embedding(
        n, (tw_rotation){.cosine = n->in[1], .sine = n->in[2], .positions = tw_onnx_in(n, 3)});
}

/* Positions come first, and may be that of the first token only. */
bool tw_onnx_op_ms_rotary_embedding(tw_onnx_node *n)
{
    const tw_shape *x = &n->in[0]->shape;
    tw_value *positions = n->in[1];
    float scale = tw_onnx_float(n, "scale", 1);
    if (tw_onnx_int(n, "is_packed_batching", 0) != 0 || scale != 1)
        return TW_ONNX_UNSUPPORTED(
            n, "is_packed_batching, and a scale other than 1, are not supported");
    if (positions->shape.rank == 1 && tw_shape_elements(&positions->shape) == 1 && x->rank >= 3) {
        int32_t rows = x->dim[x->rank == 3 ? 1 : 2];
        positions = tw_build2(n->b, "Add", tw_build_cast(n->b, positions, TW_S64),
                              tw_build_iota(n->b, TW_S64, 2, 1, rows), NULL);
    }
    return positions &&
           rotary_embedding(
               n, (tw_rotation){.cosine = n->in[2], .sine = n->in[3], .positions = positions});
}

/* --- causal convolution ------------------------------------------------------------------------ */

/* Each channel by its own kernel over its past; what the next step will need of it is a result too. */
bool tw_onnx_op_causal_conv_with_state(tw_onnx_node *n)
{
    static const int64_t last[] = {0, 2, 1};
    tw_value *x = n->in[0], *w = n->in[1], *bias = tw_onnx_in(n, 2), *past = tw_onnx_in(n, 3);
    const char *activation = tw_onnx_text(n, "activation", "none");
    bool swish = strcmp(activation, "silu") == 0 || strcmp(activation, "swish") == 0;
    if (!swish && strcmp(activation, "none") != 0)
        return TW_ONNX_FAIL(n, "activation is '%s'; none, silu and swish are possible", activation);
    if (x->shape.rank != 3 || w->shape.rank != 3 || w->shape.dim[0] != x->shape.dim[1] ||
        w->shape.dim[1] != 1 || w->shape.dim[2] < 1)
        return TW_ONNX_FAIL(n, "input and weights must be [batch, channels, length] and [channels, "
                               "1, length]");
    int64_t channels = x->shape.dim[1], behind = w->shape.dim[2] - 1, before[] = {0, 0, behind};
    if (past && behind > 0)
        x = tw_build_concat(n->b, (tw_value *[]){past, x}, 2, 2);
    else if (behind > 0)
        x = tw_build1(n->b, "Pad", x, TW_SETTINGS(tw_set_ints("before", 3, before)));
    if (!x)
        return false;
    tw_value *in[] = {tw_build_channels_last(n->b, x), tw_build_transpose(n->b, w, 3, last), bias};
    tw_value *y =
        tw_build(n->b, "Conv", in, bias ? 3 : 2, TW_SETTINGS(tw_set_int("group", channels)));
    y = tw_build_channels_first(n->b, y);
    if (swish)
        y = tw_build1(n->b, "Swish", y, NULL);
    return tw_onnx_bind(n, 0, y) &&
           (!tw_onnx_wants(n, 1) ||
            tw_onnx_bind(n, 1, tw_build_slice(n->b, x, 2, x->shape.dim[2] - behind, behind, 1)));
}
