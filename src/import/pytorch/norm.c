/* Normalisations, for inference. */
#include <string.h>

#include "import/pytorch/torch.h"

static tw_value *normalise(tw_torch_call *c, const char *op, tw_value *x, tw_value *scale,
                           tw_value *bias, int first, int last, double epsilon)
{
    int64_t axes[TW_MAX_RANK];
    int count = 0;
    for (int k = first; k <= last; k++)
        axes[count++] = k;
    if (bias && !scale && x)
        scale = tw_build_full(c->b, bias->shape, 1);
    return x ? tw_build(c->b, op, (tw_value *const[]){x, scale, bias},
                        bias    ? 3
                        : scale ? 2
                                : 1,
                        TW_SETTINGS(tw_set_ints("axes", count, axes),
                                    tw_set_float("epsilon", (float)epsilon)))
             : NULL;
}

static tw_value *optional(tw_torch_call *c, int i)
{
    return tw_torch_has(c, i) ? tw_torch_real_in(c, i) : NULL;
}

/* A list of one number a channel, with axes of extent 1 behind. */
static bool by_channel(tw_torch_call *c, int i, int64_t channels, int behind, tw_value **to)
{
    int64_t dim[TW_MAX_RANK] = {channels, 1, 1, 1, 1, 1};
    *to = optional(c, i);
    if (*to && tw_shape_elements(&(*to)->shape) != channels)
        return TW_TORCH_FAIL(c, "argument %d has not one element for each of %lld channels", i,
                             (long long)channels);
    if (*to)
        *to = tw_build_reshape(c->b, *to, behind + 1, dim);
    return true;
}

static bool needs_rank(tw_torch_call *c, const tw_value *x, int least)
{
    return x && (x->shape.rank >= least ||
                 TW_TORCH_FAIL(c, "the input has rank %d; %d are needed", x->shape.rank, least));
}

/* --- by channel, with statistics of training ---------------------------------------------------- */

static tw_value *batch_norm(tw_torch_call *c, const int place[4], double epsilon)
{
    tw_value *x = tw_torch_real_in(c, 0), *in[5] = {NULL};
    if (!needs_rank(c, x, 2))
        return NULL;
    const int32_t channels = x->shape.dim[1];
    for (int i = 0; i < 4; i++) {
        if (!by_channel(c, place[i], channels, 0, &in[i + 1]))
            return NULL;
        if (!in[i + 1])
            in[i + 1] = tw_build_full(c->b, tw_shape_of(TW_F32, 1, &channels), i % 3 == 0);
    }
    in[0] = tw_build_channels_last(c->b, x);
    tw_value *y =
        tw_build(c->b, "BatchNorm", in, 5, TW_SETTINGS(tw_set_float("epsilon", (float)epsilon)));
    return tw_build_channels_first(c->b, y);
}

/* (x, weight, bias, mean, var, training, momentum, eps, cudnn) */
bool tw_torch_op_batch_norm(tw_torch_call *c)
{
    if (tw_torch_flag(c, 5) || !tw_torch_has(c, 3) || !tw_torch_has(c, 4))
        return TW_TORCH_UNSUPPORTED(c, "with statistics of the batch; call eval() before "
                                       "exporting");
    return tw_torch_give(c, batch_norm(c, (const int[]){1, 2, 3, 4}, tw_torch_real(c, 7)));
}

/* (x, weight, bias, mean, var, momentum, eps) */
bool tw_torch_op_batch_norm_no_training(tw_torch_call *c)
{
    return tw_torch_give_first(c, batch_norm(c, (const int[]){1, 2, 3, 4}, tw_torch_real(c, 6)), 3);
}

/* (x, weight, bias, mean, var, training, momentum, eps) */
bool tw_torch_op_native_batch_norm(tw_torch_call *c)
{
    if (tw_torch_flag(c, 5))
        return TW_TORCH_UNSUPPORTED(c, "in training; call eval() before exporting");
    return tw_torch_give_first(c, batch_norm(c, (const int[]){1, 2, 3, 4}, tw_torch_real(c, 7)), 3);
}

/* (x, weight, bias, training, momentum, eps): by channel, over the batch and space; what instance
 * normalisation becomes */
bool tw_torch_op_batch_statistics(tw_torch_call *c)
{
    tw_value *x = tw_torch_real_in(c, 0), *in[3] = {x};
    int64_t axes[TW_MAX_RANK] = {0};
    if (!needs_rank(c, x, 2))
        return false;
    const int rank = x->shape.rank;
    for (int i = 1; i < 3; i++)
        if (!by_channel(c, i, x->shape.dim[1], rank - 2, &in[i]))
            return false;
    for (int k = 2; k < rank; k++)
        axes[k - 1] = k;
    if (in[2] && !in[1])
        in[1] = tw_build_full(c->b, in[2]->shape, 1);
    return tw_torch_give_first(
        c,
        tw_build(c->b, "Normalize", in,
                 in[2]   ? 3
                 : in[1] ? 2
                         : 1,
                 TW_SETTINGS(tw_set_ints("axes", rank - 1, axes),
                             tw_set_float("epsilon", (float)tw_torch_real(c, 5)))),
        3);
}

/* --- over the last axes ------------------------------------------------------------------------ */

static tw_value *last_axes(tw_torch_call *c, const char *op, int scale, int bias, double epsilon)
{
    tw_value *x = tw_torch_real_in(c, 0);
    const int count = tw_torch_length(c, 1);
    int64_t dim[TW_MAX_RANK];
    if (!x || count < 1 || count > x->shape.rank || !tw_torch_ints(c, 1, count, dim))
        return NULL;
    const int first = x->shape.rank - count;
    for (int k = 0; k < count; k++)
        if (dim[k] != x->shape.dim[first + k]) {
            TW_TORCH_FAIL(c, "normalized_shape differs from the input's last axes");
            return NULL;
        }
    return normalise(c, op, x, optional(c, scale), bias < 0 ? NULL : optional(c, bias), first,
                     x->shape.rank - 1, epsilon);
}

/* (x, shape, weight, bias, eps, cudnn) */
bool tw_torch_op_layer_norm(tw_torch_call *c)
{
    return tw_torch_give(c, last_axes(c, "Normalize", 2, 3, tw_torch_real(c, 4)));
}

bool tw_torch_op_native_layer_norm(tw_torch_call *c)
{
    return tw_torch_give_first(c, last_axes(c, "Normalize", 2, 3, tw_torch_real(c, 4)), 3);
}

/* (x, shape, weight, eps): without one the smallest distance from 1 */
bool tw_torch_op_rms_norm(tw_torch_call *c)
{
    const double epsilon = tw_torch_has(c, 3) ? tw_torch_real(c, 3) : 0x1p-23;
    return tw_torch_give(c, last_axes(c, "RmsNormalize", 2, -1, epsilon));
}

/* --- over space -------------------------------------------------------------------------------- */

/* (x, weight, bias, mean, var, use_input_stats, momentum, eps, cudnn) */
bool tw_torch_op_instance_norm(tw_torch_call *c)
{
    tw_value *x = tw_torch_real_in(c, 0), *scale, *bias;
    if (!tw_torch_flag(c, 5))
        return tw_torch_give(c, batch_norm(c, (const int[]){1, 2, 3, 4}, tw_torch_real(c, 7)));
    if (!needs_rank(c, x, 3))
        return false;
    const int rank = x->shape.rank;
    if (!by_channel(c, 1, x->shape.dim[1], rank - 2, &scale) ||
        !by_channel(c, 2, x->shape.dim[1], rank - 2, &bias))
        return false;
    return tw_torch_give(
        c, normalise(c, "Normalize", x, scale, bias, 2, rank - 1, tw_torch_real(c, 7)));
}

/* Channels as groups: [N, G, C / G, space..] */
static tw_value *group_norm(tw_torch_call *c, int64_t groups, int scale, int bias, double epsilon)
{
    tw_value *x = tw_torch_real_in(c, 0), *list[2];
    int64_t dim[TW_MAX_RANK + 1];
    if (!needs_rank(c, x, 2))
        return NULL;
    const int rank = x->shape.rank;
    const int64_t channels = x->shape.dim[1];
    if (groups < 1 || channels % groups != 0 || rank == TW_MAX_RANK) {
        TW_TORCH_FAIL(c, "%lld groups of %lld channels, rank %d", (long long)groups,
                      (long long)channels, rank);
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        if (!by_channel(c, i ? bias : scale, channels, 0, &list[i]))
            return NULL;
        for (int k = 0; k <= rank; k++)
            dim[k] = k == 0 ? groups : k == 1 ? channels / groups : 1;
        if (list[i])
            list[i] = tw_build_reshape(c->b, list[i], rank, dim);
    }
    for (int k = 0; k <= rank; k++)
        dim[k] = k == 0   ? x->shape.dim[0]
                 : k == 1 ? groups
                 : k == 2 ? channels / groups
                          : x->shape.dim[k - 1];
    tw_value *y = tw_build_reshape(c->b, x, rank + 1, dim);
    y = normalise(c, "Normalize", y, list[0], list[1], 2, rank, epsilon);
    for (int k = 0; k < rank; k++)
        dim[k] = x->shape.dim[k];
    return tw_build_reshape(c->b, y, rank, dim);
}

/* (x, groups, weight, bias, eps, cudnn) */
bool tw_torch_op_group_norm(tw_torch_call *c)
{
    return tw_torch_give(c, group_norm(c, tw_torch_int(c, 1), 2, 3, tw_torch_real(c, 4)));
}

/* (x, weight, bias, N, C, HxW, group, eps) */
bool tw_torch_op_native_group_norm(tw_torch_call *c)
{
    return tw_torch_give_first(c, group_norm(c, tw_torch_int(c, 6), 1, 2, tw_torch_real(c, 7)), 3);
}
