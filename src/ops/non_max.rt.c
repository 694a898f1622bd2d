/* NonMaxSuppression: kernel. In: boxes and scores, whole. Out: places and their count, whole. The best box that
 * is left is taken again and again, and takes those away that it overlaps: no list is sorted. */
#include "ops/non_max.h"

#include "ops/codes.h"
#include "ops/product.h"
#include "runtime/math.h"

typedef struct tw_suppression {
    const float *x; /* boxes of the batch in hand ... */
    int32_t step;   /* ... from one to the next */
    int32_t boxes, centre;
    float overlap;
    uint8_t *left; /* a box may still be taken */
    int64_t *out;
    int32_t out_step;
    int64_t count;
    int32_t most;
} tw_suppression;

typedef struct tw_area {
    float top, left, bottom, right;
} tw_area;

static tw_area area_at(const tw_suppression *s, int32_t box)
{
    const float *x = s->x + tw_steps(box, s->step);
    tw_area a;
    if (s->centre) {
        a.top = x[1] - 0.5f * x[3];
        a.bottom = x[1] + 0.5f * x[3];
        a.left = x[0] - 0.5f * x[2];
        a.right = x[0] + 0.5f * x[2];
    } else {
        a.top = tw_minf(x[0], x[2]);
        a.bottom = tw_maxf(x[0], x[2]);
        a.left = tw_minf(x[1], x[3]);
        a.right = tw_maxf(x[1], x[3]);
    }
    return a;
}

static float size_of(const tw_area *a)
{
    return (a->bottom - a->top) * (a->right - a->left);
}

/* Boxes without an area overlap nothing. */
static int overlaps(const tw_suppression *s, const tw_area *a, const tw_area *b)
{
    const float one = size_of(a), other = size_of(b);
    const float high = tw_minf(a->bottom, b->bottom) - tw_maxf(a->top, b->top);
    const float wide = tw_minf(a->right, b->right) - tw_maxf(a->left, b->left);
    float common;
    if (!(one > 0.0f) || !(other > 0.0f) || !(high > 0.0f) || !(wide > 0.0f))
        return 0;
    common = high * wide;
    return common / (one + other - common) > s->overlap;
}

static int32_t best_left(const tw_suppression *s, const float *score)
{
    int32_t i, best = -1;
    for (i = 0; i < s->boxes; i++)
        if (s->left[i] && (best < 0 || score[i] > score[best]))
            best = i;
    return best;
}

static void take(const tw_suppression *s, int32_t taken)
{
    const tw_area area = area_at(s, taken);
    int32_t i;
    s->left[taken] = 0;
    for (i = 0; i < s->boxes; i++)
        if (s->left[i]) {
            const tw_area other = area_at(s, i);
            if (overlaps(s, &area, &other))
                s->left[i] = 0;
        }
}

static void put(tw_suppression *s, int32_t batch, int32_t class_index, int32_t box)
{
    if (s->count < s->most) {
        int64_t *to = s->out + tw_steps((int32_t)s->count, s->out_step);
        to[0] = batch;
        to[1] = class_index;
        to[2] = box;
    }
    s->count++;
}

/* One class of one batch. threshold null: any score that is a number. */
static void choose(tw_suppression *s, const float *score, const float *threshold, int64_t limit,
                   int32_t batch, int32_t class_index)
{
    int64_t kept;
    int32_t i;
    for (i = 0; i < s->boxes; i++)
        s->left[i] = threshold ? score[i] > *threshold : score[i] >= -TW_INFINITY;
    for (kept = 0; kept < limit; kept++) {
        const int32_t best = best_left(s, score);
        if (best < 0)
            break;
        take(s, best);
        put(s, batch, class_index, best);
    }
}

/* ---- the kernel ---- */

static int is_whole(const tw_view *v)
{
    return !v->tensor ||
           (v->row == 0 && (v->tensor->rank == 0 || v->rows == v->tensor->dim[v->axis]));
}

/* Operand i's element, or null where it is absent. */
static const void *element(const tw_call *call, uint32_t i)
{
    return i < call->in_count && call->in[i].tensor ? call->in[i].data : NULL;
}

static tw_status run(const tw_call *call)
{
    const tw_non_max_attributes *a = (const tw_non_max_attributes *)call->attributes;
    const tw_tensor *scores = call->in[1].tensor;
    const int64_t *limit = (const int64_t *)element(call, 2);
    const float *overlap = (const float *)element(call, 3);
    const float *score = (const float *)call->in[1].data;
    tw_suppression s;
    uint32_t i;
    int32_t batch, c, k;
    for (i = 0; i < call->in_count; i++)
        if (!is_whole(&call->in[i]))
            return TW_E_SCHEDULE;
    for (i = 0; i < call->out_count; i++)
        if (!is_whole(&call->out[i]))
            return TW_E_SCHEDULE;
    s.x = (const float *)call->in[0].data;
    s.boxes = scores->dim[2];
    s.centre = a->centre;
    s.overlap = overlap ? *overlap : 0.0f;
    s.left = (uint8_t *)call->scratch;
    s.step = call->in[0].tensor->stride[1];
    s.out = (int64_t *)call->out[0].data;
    s.out_step = call->out[0].tensor->stride[0];
    s.count = 0;
    s.most = a->most;
    for (batch = 0; batch < scores->dim[0]; batch++) {
        for (c = 0; c < scores->dim[1]; c++, score += s.boxes)
            choose(&s, score, (const float *)element(call, 4), limit ? *limit : s.boxes, batch, c);
        s.x += call->in[0].tensor->stride[0];
    }
    for (k = (int32_t)(s.count < s.most ? s.count : s.most); k < s.most; k++)
        for (i = 0; i < 3; i++)
            s.out[tw_steps(k, s.out_step) + (ptrdiff_t)i] = -1;
    if (call->out_count > 1 && call->out[1].tensor)
        ((int64_t *)call->out[1].data)[0] = s.count;
    return TW_OK;
}

static int is_dense(const tw_view *v, uint32_t dtype, int rank)
{
    return tw_extents_check(v, dtype, rank, rank) && tw_is_dense(v->tensor);
}

/* Absent, or one element of this type. */
static int is_one(const tw_call *call, uint32_t i, uint32_t dtype)
{
    const tw_tensor *t = i < call->in_count ? call->in[i].tensor : NULL;
    return !t || (t->dtype == dtype && t->rank <= 1 && tw_element_count(t) == 1);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_non_max_attributes *a = (const tw_non_max_attributes *)call->attributes;
    const tw_tensor *x, *s, *y;
    if (call->attribute_bytes != sizeof *a || a->most < 0 || a->most > TW_NON_MAX_MOST ||
        call->in_count < 2 || call->in_count > 5 || call->out_count < 1 || call->out_count > 2 ||
        !tw_operand_check(&call->in[0], TW_F32, 3, 3) || !is_dense(&call->in[1], TW_F32, 3) ||
        !tw_operand_check(&call->out[0], TW_S64, 2, 2) || !is_one(call, 2, TW_S64) ||
        !is_one(call, 3, TW_F32) || !is_one(call, 4, TW_F32))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    s = call->in[1].tensor;
    y = call->out[0].tensor;
    if (x->dim[0] != s->dim[0] || x->dim[1] != s->dim[2] || x->dim[2] != 4 ||
        y->dim[0] != a->most || y->dim[1] != 3 || call->scratch_bytes < (uint32_t)x->dim[1])
        return TW_E_CHECK;
    if (call->out_count > 1 && call->out[1].tensor &&
        (!is_dense(&call->out[1], TW_S64, 1) || call->out[1].tensor->dim[0] != 1))
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(y);
    return TW_OK;
}

TW_KERNEL(non_max, f32, run, check);
