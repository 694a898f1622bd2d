/* Normalisation of int8: kernels of norm.def. Sums are of whole numbers and exact, whatever their order: of the
 * elements less their zero point, then of the terms of their distances from a whole number next to the
 * mean, which the rest of the first sum corrects. The factor and the results are floats; a result is rounded
 * once, ties away from zero. See norm.rt.c for the walk. */
#include "ops/codes.h"
#include "ops/norm_job.h"
#include "runtime/math.h"

/* Of one group, in scratch. */
typedef struct tw_norm_group {
    int64_t sum, terms;
    int32_t middle; /* a whole number next to the mean */
    float off;      /* from there to the mean */
    float factor;   /* of a stored element, to a real result */
    int32_t unused;
} tw_norm_group;

static tw_norm_group *groups_of(const tw_norming *p)
{
    return (tw_norm_group *)p->call->scratch;
}

static const int8_t *x_of(const tw_norming *p, const tw_norm_run *run)
{
    return (const int8_t *)p->base[TW_NORM_X] + run->w->at[TW_NORM_X];
}

static void add_sum(const tw_norming *p, const tw_norm_run *run)
{
    tw_norm_group *group = groups_of(p) + run->group;
    const int8_t *x = x_of(p, run);
    const int32_t zero = p->call->in[0].tensor->zero_point;
    int32_t i;
    for (i = 0; i < run->n; i++)
        group[i * run->group_step].sum += x[i * run->x_step] - zero;
}

static inline void add_terms(const tw_norming *p, const tw_norm_run *run, int squares)
{
    tw_norm_group *group = groups_of(p) + run->group;
    const int8_t *x = x_of(p, run);
    const int32_t zero = p->call->in[0].tensor->zero_point;
    int32_t i;
    for (i = 0; i < run->n; i++) {
        tw_norm_group *g = &group[i * run->group_step];
        const int32_t d = x[i * run->x_step] - zero - g->middle;
        g->terms += squares ? d * d : d < 0 ? -d : d;
    }
}

static void add_squares(const tw_norming *p, const tw_norm_run *run)
{
    add_terms(p, run, 1);
}

static void add_sizes(const tw_norming *p, const tw_norm_run *run)
{
    add_terms(p, run, 0);
}

static void give(const tw_norming *p, const tw_norm_run *run)
{
    const tw_call *call = p->call;
    const tw_tensor *out = call->out[0].tensor;
    const ptrdiff_t *step = run->w->step[run->w->rank - 1];
    const tw_norm_group *group = groups_of(p) + run->group;
    const int8_t *x = x_of(p, run);
    const float *scale = (const float *)p->base[TW_NORM_SCALE] + run->w->at[TW_NORM_SCALE];
    const float *bias = (const float *)p->base[TW_NORM_BIAS] + run->w->at[TW_NORM_BIAS];
    int8_t *y = (int8_t *)(uintptr_t)p->base[TW_NORM_Y] + run->w->at[TW_NORM_Y];
    const int32_t zero = call->in[0].tensor->zero_point;
    const float inverse = 1.0f / out->scale;
    int32_t i;
    for (i = 0; i < run->n; i++) {
        const tw_norm_group *g = &group[i * run->group_step];
        const float d = (float)(x[i * step[TW_NORM_X]] - zero - g->middle) - g->off;
        const float v =
            d * g->factor * scale[i * step[TW_NORM_SCALE]] + bias[i * step[TW_NORM_BIAS]];
        y[i * step[TW_NORM_Y]] = (int8_t)tw_store_whole(tw_roundf(v * inverse), out->zero_point,
                                                        call->clamp_low.s32, call->clamp_high.s32);
    }
}

/* The sum of terms about the mean, in steps of x's scale. */
static float about_mean(const tw_norm_group *g, float n, float rest)
{
    const float s = (float)g->terms - rest * (rest / n);
    return s < 0.0f ? 0.0f : s;
}

static inline void normalise(const tw_norming *p, const tw_norm_loops *inner, int squares)
{
    const float n = (float)p->axes.count, scale = p->call->in[0].tensor->scale;
    tw_norm_group *group = groups_of(p);
    int32_t g;
    memset(group, 0, (size_t)p->axes.groups * sizeof *group);
    if (p->norm->centred)
        tw_norm_each_run(p, inner, add_sum);
    for (g = 0; p->norm->centred && g < p->axes.groups; g++)
        group[g].middle = tw_whole_to_s32(tw_roundf((float)group[g].sum / n));
    tw_norm_each_run(p, inner, p->norm->add);
    for (g = 0; g < p->axes.groups; g++) {
        const float rest = p->norm->centred
                               ? (float)(group[g].sum - (int64_t)p->axes.count * group[g].middle)
                               : 0.0f;
        const float s = about_mean(&group[g], n, rest);
        group[g].off = rest / n;
        group[g].factor =
            p->norm->factor(squares ? s * scale * scale : s * scale, n, p->epsilon) * scale;
    }
    tw_norm_each_run(p, inner, give);
}

static void normalise_squares(const tw_norming *p, const tw_norm_loops *inner)
{
    normalise(p, inner, 1);
}

static void normalise_sizes(const tw_norming *p, const tw_norm_loops *inner)
{
    normalise(p, inner, 0);
}

static int has_scale(const tw_tensor *t)
{
    return t->scale > 0.0f && t->scale <= 3.4e38f && t->zero_point >= INT8_MIN &&
           t->zero_point <= INT8_MAX;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    if (tw_norm_check(call, TW_S8, TW_NORM_S8_GROUP_BYTES, work) != TW_OK ||
        !has_scale(call->in[0].tensor) || !has_scale(call->out[0].tensor) ||
        call->clamp_low.s32 < INT8_MIN || call->clamp_high.s32 > INT8_MAX ||
        sizeof(tw_norm_group) != TW_NORM_S8_GROUP_BYTES)
        return TW_E_CHECK;
    return TW_OK;
}

/* ---- the rows made into kernels ---- */

#define inverse tw_norm_inverse
#define IS_CENTRED 1
#define IS_PLAIN 0
#define PASSES_SQUARES add_squares
#define PASSES_SIZES add_sizes
#define NORMALISE_SQUARES normalise_squares
#define NORMALISE_SIZES normalise_sizes
#define TW_NORM(code, Name, symbol, CENTRED, TERMS, formula, factor_of)                            \
    static float symbol##_factor(float s, float n, float e)                                        \
    {                                                                                              \
        (void)n;                                                                                   \
        return factor_of;                                                                          \
    }                                                                                              \
    static tw_status symbol##_run(const tw_call *call)                                             \
    {                                                                                              \
        static const tw_norm norm = {IS_##CENTRED, PASSES_##TERMS, symbol##_factor,                \
                                     NORMALISE_##TERMS};                                           \
        return tw_norm_run_call(call, &norm);                                                      \
    }                                                                                              \
    TW_KERNEL(symbol, s8, symbol##_run, check);
#include "ops/norm.def"
