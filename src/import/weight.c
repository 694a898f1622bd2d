/* Convolutions' weights, channels first to channels last. */
#include "import/weight.h"

tw_value *tw_build_conv_weight(tw_builder *b, tw_value *w)
{
    const int rank = w->shape.rank;
    int64_t perm[TW_MAX_RANK] = {0};
    for (int i = 1; i < rank; i++)
        perm[i] = i + 1 < rank ? i + 1 : 1;
    return tw_build_weight(b, w, perm, 0, NULL);
}

tw_value *tw_build_depthwise_weight(tw_builder *b, tw_value *w)
{
    const int rank = w->shape.rank;
    int64_t perm[TW_MAX_RANK] = {0}, dim[TW_MAX_RANK] = {0};
    for (int i = 0; i < rank - 2; i++) {
        perm[i] = i + 2;
        dim[i] = w->shape.dim[i + 2];
    }
    perm[rank - 2] = 0;
    perm[rank - 1] = 1;
    dim[rank - 2] = w->shape.dim[0];
    return tw_build_weight(b, w, perm, rank - 1, dim);
}

tw_value *tw_build_transposed_weight(tw_builder *b, tw_value *w, int64_t group)
{
    const int rank = w->shape.rank;
    int64_t perm[TW_MAX_RANK] = {0}, dim[TW_MAX_RANK] = {0};
    if (group == 1) {
        for (int i = 0; i < rank - 1; i++)
            perm[i] = i + 1;
        return tw_build_weight(b, w, perm, 0, NULL);
    }
    for (int i = 0; i <= rank; i++) /* the groups as an axis of their own, in front */
        dim[i] = i == 0 ? group : i == 1 ? w->shape.dim[0] / group : w->shape.dim[i - 1];
    w = tw_build_reshape(b, w, rank + 1, dim);
    for (int i = 1; i < rank; i++)
        perm[i] = i + 1;
    perm[rank] = 1;
    w = tw_build_transpose(b, w, rank + 1, perm);
    if (!w)
        return NULL;
    dim[0] = (int64_t)w->shape.dim[0] * w->shape.dim[1];
    for (int i = 1; i < rank; i++)
        dim[i] = w->shape.dim[i + 1];
    return tw_build_reshape(b, w, rank, dim);
}
