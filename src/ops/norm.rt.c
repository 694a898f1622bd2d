/* Normalisation over axes: kernels of norm.def. In: x, and where present scale and bias, which
 * broadcast to it. Out: of each group of elements (those that differ on normalised axes only) the
 * distances from the mean or from 0, times one factor.
 *
 * Elements are read three times: for the mean; for the sums of distances from it and of terms; for
 * the result. The sum of distances is 0 but for rounding, and takes back from mean and variance what
 * the first sum lost. All sums run in row-major order, along a run of a group's own elements in
 * eight lanes that are added up at its end. Rows of the band axis are groups of their own, or one
 * call has them all: hence the same bits for any banding. */
#include "ops/norm_job.h"

#include "ops/axes.h"
#include "ops/codes.h"
#include "runtime/math.h"
#include "runtime/move.h"
#include "runtime/spans.h"

#define LANES 8

enum {
    X = TW_NORM_X,
    Y = TW_NORM_Y,
    SCALE = TW_NORM_SCALE,
    BIAS = TW_NORM_BIAS,
    POINTERS = TW_NORM_POINTERS
};

/* In scratch, of each group; sum becomes the factor. */
static float *means(const tw_norming *p)
{
    return (float *)p->call->scratch;
}

static float *rests(const tw_norming *p)
{
    return means(p) + p->axes.groups;
}

static float *sums(const tw_norming *p)
{
    return means(p) + 2 * (ptrdiff_t)p->axes.groups;
}

static const float *x_of(const tw_norming *p, const tw_norm_run *run)
{
    return (const float *)p->base[X] + run->w->at[X];
}

int tw_norm_resolve(const tw_norm_attributes *a, int32_t rank, const int32_t *dim, tw_norm_axes *n)
{
    int64_t count = 1, groups = 1;
    int32_t k;
    n->mask = tw_axis_mask(&a->axes, rank);
    n->first = rank;
    if (n->mask < 0)
        return 0;
    for (k = 0; k < rank; k++) {
        const int taken = (n->mask >> k & 1) != 0;
        if (taken && dim[k] != 1 && n->first == rank)
            n->first = k;
        if (taken)
            count *= dim[k];
        else if (n->first < rank)
            groups *= dim[k];
        if (count > INT32_MAX || groups > INT32_MAX / TW_NORM_GROUP_BYTES)
            return 0;
    }
    n->count = (int32_t)count;
    n->groups = (int32_t)groups;
    return 1;
}

/* ---- loops ---- */

static void add_loop(tw_norm_loops *w, int32_t extent, const ptrdiff_t *step, int32_t group_step)
{
    int32_t i;
    if (extent == 1)
        return;
    w->extent[w->rank] = extent;
    w->index[w->rank] = 0;
    w->group_step[w->rank] = group_step;
    for (i = 0; i < POINTERS; i++)
        w->step[w->rank][i] = step[i];
    w->rank++;
}

/* A walk of no loops visits one element. */
static void add_last(tw_norm_loops *w)
{
    static const ptrdiff_t none[POINTERS] = {0};
    if (w->rank > 0)
        return;
    add_loop(w, 0, none, 0);
    w->extent[0] = 1;
}

/* On to the next index of the outermost `loops` loops; 0 after the last, and back at the start. */
static int next(tw_norm_loops *w, int32_t loops)
{
    int32_t k, i;
    for (k = loops - 1; k >= 0; k--) {
        const int forward = ++w->index[k] < w->extent[k];
        const int32_t by = forward ? 1 : 1 - w->extent[k];
        for (i = 0; i < POINTERS; i++)
            w->at[i] += w->step[k][i] * by;
        w->group += w->group_step[k] * by;
        if (forward)
            return 1;
        w->index[k] = 0;
    }
    return 0;
}

/* ---- sums ---- */

/* Both kinds of sum are written once, for any step, and inlined for the step that is the rule, where
 * compilers then know what lies side by side. */
#define CALL_WITH_STEP(function, p, run)                                                           \
    ((run)->x_step == 1 ? function(p, run, 1) : function(p, run, (run)->x_step))

static float add_lanes(const float *v)
{
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

static inline void add_mean_step(const tw_norming *p, const tw_norm_run *run, ptrdiff_t step)
{
    float lane[LANES] = {0};
    float *mean = means(p) + run->group;
    const float *x = x_of(p, run);
    int32_t i = 0, k;
    if (run->group_step != 0) {
        for (; i < run->n; i++)
            mean[i * run->group_step] += x[i * step];
        return;
    }
    for (; run->n - i >= LANES; i += LANES)
        for (k = 0; k < LANES; k++)
            lane[k] += x[(i + k) * step];
    for (k = 0; i < run->n; i++, k++)
        lane[k] += x[i * step];
    *mean += add_lanes(lane);
}

static void add_mean(const tw_norming *p, const tw_norm_run *run)
{
    CALL_WITH_STEP(add_mean_step, p, run);
}

static inline float squares_term(float d)
{
    return d * d;
}

static inline float sizes_term(float d)
{
    return tw_absf(d);
}

/* The second pass with this term. */
#define ADD(symbol)                                                                                \
    static inline void symbol##_add_step(const tw_norming *p, const tw_norm_run *run,              \
                                         ptrdiff_t step)                                           \
    {                                                                                              \
        float lane[LANES] = {0}, rest_lane[LANES] = {0};                                           \
        const float *mean = means(p) + run->group, *x = x_of(p, run);                              \
        float *rest = rests(p) + run->group, *sum = sums(p) + run->group;                          \
        int32_t i = 0, k;                                                                          \
        if (run->group_step != 0) {                                                                \
            for (; i < run->n; i++) {                                                              \
                const ptrdiff_t g = (ptrdiff_t)i * run->group_step;                                \
                const float d = x[i * step] - mean[g];                                             \
                rest[g] += d;                                                                      \
                sum[g] += symbol##_term(d);                                                        \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (; run->n - i >= LANES; i += LANES)                                                    \
            for (k = 0; k < LANES; k++) {                                                          \
                const float d = x[(i + k) * step] - *mean;                                         \
                rest_lane[k] += d;                                                                 \
                lane[k] += symbol##_term(d);                                                       \
            }                                                                                      \
        for (k = 0; i < run->n; i++, k++) {                                                        \
            const float d = x[i * step] - *mean;                                                   \
            rest_lane[k] += d;                                                                     \
            lane[k] += symbol##_term(d);                                                           \
        }                                                                                          \
        *rest += add_lanes(rest_lane);                                                             \
        *sum += add_lanes(lane);                                                                   \
    }                                                                                              \
    static void symbol##_add(const tw_norming *p, const tw_norm_run *run)                          \
    {                                                                                              \
        CALL_WITH_STEP(symbol##_add_step, p, run);                                                 \
    }

ADD(squares)
ADD(sizes)

/* ---- results ---- */

static inline void give_steps(const tw_norming *p, const tw_norm_run *run, const ptrdiff_t *step,
                              ptrdiff_t group_step)
{
    const float *x = x_of(p, run), *scale = (const float *)p->base[SCALE] + run->w->at[SCALE];
    const float *bias = (const float *)p->base[BIAS] + run->w->at[BIAS];
    const float low = p->call->clamp_low.f32, high = p->call->clamp_high.f32;
    const float *mean = means(p) + run->group, *factor = sums(p) + run->group;
    float *y = (float *)(uintptr_t)p->base[Y] + run->w->at[Y];
    int32_t i;
    for (i = 0; i < run->n; i++) {
        const float d = (x[i * step[X]] - mean[i * group_step]) * factor[i * group_step];
        y[i * step[Y]] = tw_clampf(d * scale[i * step[SCALE]] + bias[i * step[BIAS]], low, high);
    }
}

static void give(const tw_norming *p, const tw_norm_run *run)
{
    static const ptrdiff_t scaled[POINTERS] = {1, 1, 1, 1}, plain[POINTERS] = {1, 1, 0, 0};
    const ptrdiff_t *step = run->w->step[run->w->rank - 1];
    const int is_scaled = memcmp(step, scaled, sizeof scaled) == 0;
    if (is_scaled && run->group_step == 0)
        give_steps(p, run, scaled, 0);
    else if (is_scaled && run->group_step == 1)
        give_steps(p, run, scaled, 1);
    else if (memcmp(step, plain, sizeof plain) == 0 && run->group_step == 0)
        give_steps(p, run, plain, 0);
    else
        give_steps(p, run, step, run->group_step);
}

void tw_norm_each_run(const tw_norming *p, const tw_norm_loops *inner, tw_norm_take take)
{
    tw_norm_loops w = *inner;
    const int32_t last = w.rank - 1;
    tw_norm_run run;
    run.w = &w;
    run.x_step = w.step[last][X];
    run.n = w.extent[last];
    run.group_step = w.group_step[last];
    do {
        run.group = w.group;
        take(p, &run);
    } while (next(&w, last));
}

static void normalise(const tw_norming *p, const tw_norm_loops *inner)
{
    const float n = (float)p->axes.count;
    float *mean = means(p), *rest = rests(p), *sum = sums(p);
    int32_t g;
    for (g = 0; g < p->axes.groups; g++)
        mean[g] = rest[g] = sum[g] = 0.0f;
    if (p->norm->centred) {
        tw_norm_each_run(p, inner, add_mean);
        for (g = 0; g < p->axes.groups; g++)
            mean[g] /= n;
    }
    tw_norm_each_run(p, inner, p->norm->add);
    for (g = 0; g < p->axes.groups; g++) {
        float s = sum[g];
        if (p->norm->centred) {
            const float off = rest[g] / n;
            mean[g] += off;
            s -= rest[g] * off;
            s = s < 0.0f ? 0.0f : s;
        }
        sum[g] = p->norm->factor(s, n, p->epsilon);
    }
    tw_norm_each_run(p, inner, give);
}

/* ---- one call ---- */

static const tw_view *operand(const tw_call *call, uint32_t i)
{
    return i < call->in_count && call->in[i].tensor ? &call->in[i] : NULL;
}

/* The loops outside and inside the groups. An absent operand stands still on its neutral element. */
static void set_loops(tw_norming *p, tw_norm_loops *outer, tw_norm_loops *inner)
{
    static const float neutral[POINTERS] = {0.0f, 0.0f, 1.0f, 0.0f};
    static const uint32_t input[POINTERS] = {0, 0, 1, 2};
    const tw_view *out = &p->call->out[0];
    const int32_t rank = (int32_t)out->tensor->rank;
    int32_t group_step[TW_MAX_RANK], groups = 1, k, i;
    memset(outer, 0, sizeof *outer);
    for (i = 0; i < POINTERS; i++) {
        const tw_view *v = i == Y ? out : operand(p->call, input[i]);
        p->base[i] = v ? (const void *)tw_span_start(v, out) : (const void *)&neutral[i];
    }
    *inner = *outer;
    for (k = rank - 1; k >= p->axes.first; k--) {
        group_step[k] = (p->axes.mask >> k & 1) != 0 ? 0 : groups;
        if (group_step[k] != 0)
            groups *= out->tensor->dim[k];
    }
    for (k = 0; k < rank; k++) {
        ptrdiff_t step[POINTERS];
        for (i = 0; i < POINTERS; i++) {
            const tw_view *v = i == Y ? out : operand(p->call, input[i]);
            step[i] = v ? tw_step_along(v->tensor, out->tensor, k) : 0;
        }
        if (k < p->axes.first)
            add_loop(outer, k == out->axis ? out->rows : out->tensor->dim[k], step, 0);
        else
            add_loop(inner, out->tensor->dim[k], step, group_step[k]);
    }
    add_last(inner);
}

tw_status tw_norm_run_call(const tw_call *call, const tw_norm *norm)
{
    const tw_norm_attributes *a = (const tw_norm_attributes *)call->attributes;
    const tw_view *out = &call->out[0];
    const int32_t rank = (int32_t)out->tensor->rank;
    tw_norm_loops outer, inner;
    tw_norming p;
    uint32_t i;
    if (!tw_norm_resolve(a, rank, out->tensor->dim, &p.axes))
        return TW_E_DATA;
    for (i = 0; i < 3; i++)
        if (operand(call, i) && !tw_has_rows(operand(call, i), out))
            return TW_E_SCHEDULE;
    if (rank > 0 && out->axis >= p.axes.first &&
        (out->row != 0 || out->rows != out->tensor->dim[out->axis]))
        return TW_E_SCHEDULE;
    if (tw_view_count(out) == 0)
        return TW_OK;
    p.call = call;
    p.norm = norm;
    p.epsilon = a->epsilon;
    set_loops(&p, &outer, &inner);
    do {
        memcpy(inner.at, outer.at, sizeof inner.at);
        norm->normalise(&p, &inner);
    } while (next(&outer, outer.rank));
    return TW_OK;
}

tw_status tw_norm_check(const tw_call *call, uint32_t dtype, uint32_t group_bytes, uint64_t *work)
{
    const tw_norm_attributes *a = (const tw_norm_attributes *)call->attributes;
    const tw_tensor *out;
    tw_norm_axes axes;
    uint32_t i;
    if (call->in_count < 1 || call->in_count > 3 || !call->in[0].tensor || call->out_count != 1 ||
        !call->out[0].tensor || call->attribute_bytes != sizeof *a || !(a->epsilon >= 0.0f))
        return TW_E_CHECK;
    out = call->out[0].tensor;
    for (i = 0; i < 3; i++)
        if (operand(call, i) && (call->in[i].tensor->dtype != (i == 0 ? dtype : (uint32_t)TW_F32) ||
                                 !tw_broadcasts(call->in[i].tensor, out)))
            return TW_E_CHECK;
    if (out->dtype != dtype || !tw_same_shape(call->in[0].tensor, out) ||
        !tw_norm_resolve(a, (int32_t)out->rank, out->dim, &axes) ||
        (uint64_t)axes.groups * group_bytes > call->scratch_bytes)
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(out);
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    return tw_norm_check(call, TW_F32, TW_NORM_GROUP_BYTES, work);
}

/* ---- the rows made into kernels ---- */

#define inverse tw_norm_inverse
#define IS_CENTRED 1
#define IS_PLAIN 0
#define ADD_SQUARES squares_add
#define ADD_SIZES sizes_add
#define TW_NORM(code, Name, symbol, CENTRED, TERMS, formula, factor_of)                            \
    static float symbol##_factor(float s, float n, float e)                                        \
    {                                                                                              \
        (void)n;                                                                                   \
        return factor_of;                                                                          \
    }                                                                                              \
    static tw_status symbol##_run(const tw_call *call)                                             \
    {                                                                                              \
        static const tw_norm norm = {IS_##CENTRED, ADD_##TERMS, symbol##_factor, normalise};       \
        return tw_norm_run_call(call, &norm);                                                      \
    }                                                                                              \
    TW_KERNEL(symbol, f32, symbol##_run, check);
#include "ops/norm.def"
