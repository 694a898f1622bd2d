/* Normalisation over axes: kernels of norm.def. In: x, and where present scale and bias, which
 * broadcast to it. Out: of each group of elements (those that differ on normalised axes only) the
 * distances from the mean or from 0, times one factor.
 *
 * Elements are read three times: for the mean; for the sums of distances from it and of terms; for
 * the result. The sum of distances is 0 but for rounding, and takes back from mean and variance what
 * the first sum lost. All sums run in row-major order, along a run of a group's own elements in
 * eight lanes that are added up at its end. Rows of the band axis are groups of their own, or one
 * call has them all: hence the same bits for any banding. */
#include "ops/norm.h"

#include "ops/axes.h"
#include "ops/codes.h"
#include "runtime/math.h"
#include "runtime/move.h"
#include "runtime/spans.h"

#define LANES 8

/* What a walk steps through; a group's numbers have one index, kept as the number of the group. */
enum { X, Y, SCALE, BIAS, POINTERS };

/* Nested loops, outermost first. Steps in elements and in groups. */
typedef struct tw_loops {
    int32_t rank, extent[TW_MAX_RANK], index[TW_MAX_RANK];
    ptrdiff_t step[TW_MAX_RANK][POINTERS];
    int32_t group_step[TW_MAX_RANK];
    float *at[POINTERS];
    int32_t group;
} tw_loops;

/* A run of n elements at the innermost loop of some walk. */
typedef struct tw_norm_run {
    const tw_loops *w;
    const float *x;
    ptrdiff_t x_step;
    int32_t n, group, group_step;
} tw_norm_run;

typedef struct tw_norming {
    const tw_call *call;
    tw_norm_axes axes;
    float *mean, *rest, *sum; /* of each group; sum becomes the factor */
    float epsilon;
} tw_norming;

/* One row of norm.def. */
typedef struct tw_norm {
    int centred;
    void (*add)(const tw_norming *p, const tw_norm_run *run);
    float (*factor)(float s, float n, float e);
} tw_norm;

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

static void add_loop(tw_loops *w, int32_t extent, const ptrdiff_t *step, int32_t group_step)
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
static void add_last(tw_loops *w)
{
    static const ptrdiff_t none[POINTERS] = {0};
    if (w->rank > 0)
        return;
    add_loop(w, 0, none, 0);
    w->extent[0] = 1;
}

/* On to the next index of the outermost `loops` loops; 0 after the last, and back at the start. */
static int next(tw_loops *w, int32_t loops)
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
    float *mean = p->mean + run->group;
    const float *x = run->x;
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

/* The second pass of a row with this term. */
#define ADD(symbol, TERM)                                                                          \
    static inline float symbol##_term(float d)                                                     \
    {                                                                                              \
        return TERM;                                                                               \
    }                                                                                              \
    static inline void symbol##_add_step(const tw_norming *p, const tw_norm_run *run,              \
                                         ptrdiff_t step)                                           \
    {                                                                                              \
        float lane[LANES] = {0}, rest_lane[LANES] = {0};                                           \
        const float *mean = p->mean + run->group, *x = run->x;                                     \
        float *rest = p->rest + run->group, *sum = p->sum + run->group;                            \
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

/* ---- results ---- */

static inline void give_steps(const tw_norming *p, const tw_norm_run *run, const ptrdiff_t *step,
                              ptrdiff_t group_step)
{
    const float *x = run->x, *scale = run->w->at[SCALE], *bias = run->w->at[BIAS];
    const float low = p->call->clamp_low.f32, high = p->call->clamp_high.f32;
    const float *mean = p->mean + run->group, *factor = p->sum + run->group;
    float *y = run->w->at[Y];
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

/* Every run behind one outer index. */
static void each_run(const tw_norming *p, const tw_loops *inner,
                     void (*take)(const tw_norming *p, const tw_norm_run *run))
{
    tw_loops w = *inner;
    const int32_t last = w.rank - 1;
    tw_norm_run run;
    run.w = &w;
    run.x_step = w.step[last][X];
    run.n = w.extent[last];
    run.group_step = w.group_step[last];
    do {
        run.x = w.at[X];
        run.group = w.group;
        take(p, &run);
    } while (next(&w, last));
}

static void normalise(const tw_norming *p, const tw_loops *inner, const tw_norm *norm)
{
    const float n = (float)p->axes.count;
    int32_t g;
    for (g = 0; g < p->axes.groups; g++)
        p->mean[g] = p->rest[g] = p->sum[g] = 0.0f;
    if (norm->centred) {
        each_run(p, inner, add_mean);
        for (g = 0; g < p->axes.groups; g++)
            p->mean[g] /= n;
    }
    each_run(p, inner, norm->add);
    for (g = 0; g < p->axes.groups; g++) {
        float s = p->sum[g];
        if (norm->centred) {
            const float off = p->rest[g] / n;
            p->mean[g] += off;
            s -= p->rest[g] * off;
            s = s < 0.0f ? 0.0f : s;
        }
        p->sum[g] = norm->factor(s, n, p->epsilon);
    }
    each_run(p, inner, give);
}

/* ---- one call ---- */

static const tw_view *operand(const tw_call *call, uint32_t i)
{
    return i < call->in_count && call->in[i].tensor ? &call->in[i] : NULL;
}

/* The loops outside and inside the groups. An absent operand stands still on its neutral element. */
static void set_loops(const tw_norming *p, tw_loops *outer, tw_loops *inner)
{
    static const float neutral[POINTERS] = {0.0f, 0.0f, 1.0f, 0.0f};
    static const uint32_t input[POINTERS] = {0, 0, 1, 2};
    const tw_view *out = &p->call->out[0];
    const int32_t rank = (int32_t)out->tensor->rank;
    int32_t group_step[TW_MAX_RANK], groups = 1, k, i;
    memset(outer, 0, sizeof *outer);
    for (i = 0; i < POINTERS; i++) {
        const tw_view *v = i == Y ? out : operand(p->call, input[i]);
        const void *start = v ? (const void *)tw_span_start(v, out) : (const void *)&neutral[i];
        outer->at[i] = (float *)(uintptr_t)start;
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

static tw_status run_norm(const tw_call *call, const tw_norm *norm)
{
    const tw_norm_attributes *a = (const tw_norm_attributes *)call->attributes;
    const tw_view *out = &call->out[0];
    const int32_t rank = (int32_t)out->tensor->rank;
    tw_loops outer, inner;
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
    p.epsilon = a->epsilon;
    p.mean = (float *)call->scratch;
    p.rest = p.mean + p.axes.groups;
    p.sum = p.rest + p.axes.groups;
    set_loops(&p, &outer, &inner);
    do {
        memcpy(inner.at, outer.at, sizeof inner.at);
        normalise(&p, &inner, norm);
    } while (next(&outer, outer.rank));
    return TW_OK;
}

static tw_status check_norm(const tw_call *call, uint64_t *work)
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
        if (operand(call, i) &&
            (call->in[i].tensor->dtype != TW_F32 || !tw_broadcasts(call->in[i].tensor, out)))
            return TW_E_CHECK;
    if (out->dtype != TW_F32 || !tw_same_shape(call->in[0].tensor, out) ||
        !tw_norm_resolve(a, (int32_t)out->rank, out->dim, &axes) ||
        (uint64_t)axes.groups * TW_NORM_GROUP_BYTES > call->scratch_bytes)
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(out);
    return TW_OK;
}

/* ---- the rows made into kernels ---- */

static float inverse(float v)
{
    return v == 0.0f ? 0.0f : 1.0f / v;
}

#define IS_CENTRED 1
#define IS_PLAIN 0
#define TW_NORM(code, Name, symbol, CENTRED, formula, term, factor_of)                             \
    ADD(symbol, term)                                                                              \
    static float symbol##_factor(float s, float n, float e)                                        \
    {                                                                                              \
        (void)n;                                                                                   \
        return factor_of;                                                                          \
    }                                                                                              \
    static tw_status symbol##_run(const tw_call *call)                                             \
    {                                                                                              \
        static const tw_norm norm = {IS_##CENTRED, symbol##_add, symbol##_factor};                 \
        return run_norm(call, &norm);                                                              \
    }                                                                                              \
    TW_KERNEL(symbol, f32, symbol##_run, check_norm);
#include "ops/norm.def"
