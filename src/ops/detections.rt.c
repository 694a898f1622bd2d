/* Detections: kernel. In: boxes, scores and anchors, whole. Out: detections, whole. The best box
 * that is left is taken again and again, and takes those away that it overlaps: no list is sorted. */
#include "ops/detections.h"

#include "ops/codes.h"
#include "ops/product.h"
#include "runtime/math.h"

typedef struct tw_detector {
    const tw_detections_attributes *a;
    const float *x, *s;
    int32_t boxes, columns; /* columns: of s */
    int32_t first;          /* column of the first class */
    int32_t step;           /* from box to box of x */
    tw_box *box;
    float *best;
    tw_detection *found;
    int32_t count;
    uint8_t *left; /* a box may still be taken */
} tw_detector;

/* ---- boxes ---- */

static float half_of(float size, float scale, float anchor)
{
    return 0.5f * tw_expf(size / scale) * anchor;
}

/* TW_E_DATA where a box is empty or no box at all. */
static tw_status decode(const tw_detector *d, const float *anchor)
{
    const tw_detections_attributes *a = d->a;
    int32_t i;
    for (i = 0; i < d->boxes; i++, anchor += 4) {
        const float *x = d->x + tw_steps(i, d->step);
        const float y = x[0] / a->y_scale * anchor[2] + anchor[0];
        const float z = x[1] / a->x_scale * anchor[3] + anchor[1];
        const float high = half_of(x[2], a->h_scale, anchor[2]);
        const float wide = half_of(x[3], a->w_scale, anchor[3]);
        tw_box *box = &d->box[i];
        box->top = y - high;
        box->left = z - wide;
        box->bottom = y + high;
        box->right = z + wide;
        if (!(box->top < box->bottom && box->left < box->right))
            return TW_E_DATA;
    }
    return TW_OK;
}

static float area_of(const tw_box *b)
{
    return (b->bottom - b->top) * (b->right - b->left);
}

static float overlap_of(const tw_box *a, const tw_box *b)
{
    tw_box both;
    float common;
    both.top = tw_maxf(a->top, b->top);
    both.left = tw_maxf(a->left, b->left);
    both.bottom = tw_minf(a->bottom, b->bottom);
    both.right = tw_minf(a->right, b->right);
    common = tw_maxf(both.bottom - both.top, 0.0f) * tw_maxf(both.right - both.left, 0.0f);
    return common / (area_of(a) + area_of(b) - common);
}

/* ---- the choice ---- */

/* The box left with the highest score, scores `step` apart; -1: none is. */
static int32_t best_left(const tw_detector *d, const float *score, int32_t step)
{
    int32_t i, best = -1;
    for (i = 0; i < d->boxes; i++)
        if (d->left[i] && (best < 0 || score[i * step] > score[best * step]))
            best = i;
    return best;
}

static void keep_above_threshold(const tw_detector *d, const float *score, int32_t step)
{
    int32_t i;
    for (i = 0; i < d->boxes; i++)
        d->left[i] = score[i * step] >= d->a->threshold; /* NaN: no */
}

static void take(const tw_detector *d, int32_t taken)
{
    int32_t i;
    d->left[taken] = 0;
    for (i = 0; i < d->boxes; i++)
        if (d->left[i] && overlap_of(&d->box[taken], &d->box[i]) > d->a->overlap)
            d->left[i] = 0;
}

/* Into the list, which is ordered by score, behind equal ones; what does not fit falls out. */
static void insert(tw_detector *d, tw_detection one)
{
    int32_t at = d->count;
    while (at > 0 && one.score > d->found[at - 1].score)
        at--;
    if (at == d->a->most)
        return;
    if (d->count < d->a->most)
        d->count++;
    memmove(d->found + at + 1, d->found + at, (size_t)(d->count - 1 - at) * sizeof *d->found);
    d->found[at] = one;
}

static void choose_by_class(tw_detector *d)
{
    tw_detection one;
    int32_t c, k;
    for (c = 0; c < d->a->classes; c++) {
        const float *score = d->s + d->first + c;
        keep_above_threshold(d, score, d->columns);
        one.class_index = c;
        for (k = 0; k < d->a->per_class; k++) {
            one.box = best_left(d, score, d->columns);
            if (one.box < 0)
                break;
            one.score = score[one.box * d->columns];
            take(d, one.box);
            insert(d, one);
        }
    }
}

static void choose_fast(tw_detector *d)
{
    int32_t i, c;
    for (i = 0; i < d->boxes; i++) {
        const float *score = d->s + i * d->columns + d->first;
        d->best[i] = score[0];
        for (c = 1; c < d->a->classes; c++)
            d->best[i] = score[c] > d->best[i] ? score[c] : d->best[i];
    }
    keep_above_threshold(d, d->best, 1);
    while (d->count < d->a->most) {
        const int32_t best = best_left(d, d->best, 1);
        if (best < 0)
            break;
        take(d, best);
        d->found[d->count++].box = best;
    }
}

/* ---- results ---- */

typedef struct tw_detected {
    float *box, *class_index, *score;
    int32_t step; /* from box to box */
} tw_detected;

/* Where output i's elements go; null: nobody reads it. */
static float *result(const tw_call *call, uint32_t i)
{
    return i < call->out_count && call->out[i].tensor ? (float *)call->out[i].data : NULL;
}

static void put(const tw_detector *d, const tw_detected *to, int32_t at, tw_detection one)
{
    memcpy(to->box + tw_steps(at, to->step), &d->box[one.box], sizeof(tw_box));
    if (to->class_index)
        to->class_index[at] = (float)one.class_index;
    if (to->score)
        to->score[at] = one.score;
}

/* The class of the box with the highest score below that of `before`, of equal ones the next. */
static int32_t next_class(const tw_detector *d, const float *score, int32_t before)
{
    int32_t c, best = -1;
    for (c = 0; c < d->a->classes; c++) {
        const int after =
            before < 0 || score[c] < score[before] || (!(score[c] > score[before]) && c > before);
        if (after && (best < 0 || score[c] > score[best]))
            best = c;
    }
    return best;
}

/* The box's best classes, from detection `at` on. */
static void put_classes(const tw_detector *d, const tw_detected *to, int32_t at, int32_t box)
{
    const float *score = d->s + box * d->columns + d->first;
    tw_detection one;
    int32_t k;
    one.box = box;
    one.class_index = -1;
    for (k = 0; k < tw_detections_of_box(d->a); k++) {
        one.class_index = next_class(d, score, one.class_index);
        if (one.class_index < 0)
            return; /* scores that are no numbers */
        one.score = score[one.class_index];
        put(d, to, at + k, one);
    }
}

static void clear(float *to, int32_t elements)
{
    if (to)
        memset(to, 0, (size_t)elements * sizeof *to);
}

static void put_all(const tw_call *call, const tw_detector *d)
{
    const int32_t room = (int32_t)tw_detections_room(d->a);
    float *count = result(call, 3);
    tw_detected to;
    int32_t i;
    to.box = result(call, 0);
    to.class_index = result(call, 1);
    to.score = result(call, 2);
    to.step = call->out[0].tensor->stride[1];
    for (i = 0; i < room; i++)
        clear(to.box + tw_steps(i, to.step), 4);
    clear(to.class_index, room);
    clear(to.score, room);
    for (i = 0; i < d->count; i++) {
        if (d->a->regular)
            put(d, &to, i, d->found[i]);
        else
            put_classes(d, &to, i * d->a->per_box, d->found[i].box);
    }
    if (count)
        count[0] = (float)d->count;
}

/* ---- the kernel ---- */

static int is_whole(const tw_view *v)
{
    return !v->tensor ||
           (v->row == 0 && (v->tensor->rank == 0 || v->rows == v->tensor->dim[v->axis]));
}

static tw_status run(const tw_call *call)
{
    tw_detector d;
    tw_status status;
    uint32_t i;
    for (i = 0; i < call->in_count; i++)
        if (!is_whole(&call->in[i]))
            return TW_E_SCHEDULE;
    for (i = 0; i < call->out_count; i++)
        if (!is_whole(&call->out[i]))
            return TW_E_SCHEDULE;
    memset(&d, 0, sizeof d);
    d.a = (const tw_detections_attributes *)call->attributes;
    d.x = (const float *)call->in[0].data;
    d.s = (const float *)call->in[1].data;
    d.boxes = call->in[0].tensor->dim[1];
    d.step = call->in[0].tensor->stride[1];
    d.columns = call->in[1].tensor->dim[2];
    d.first = d.columns - d.a->classes;
    d.box = (tw_box *)call->scratch;
    d.best = (float *)(void *)(d.box + d.boxes);
    d.found = (tw_detection *)(void *)(d.best + d.boxes);
    d.left = (uint8_t *)(void *)(d.found + d.a->most);
    status = decode(&d, (const float *)call->in[2].data);
    if (status != TW_OK)
        return status;
    if (d.a->regular)
        choose_by_class(&d);
    else
        choose_fast(&d);
    put_all(call, &d);
    return TW_OK;
}

/* Present f32 of rank 3, [1, rows, columns], whose rows may lie apart. */
static int is_rows(const tw_view *v, int32_t rows, int32_t columns)
{
    const tw_tensor *t = v->tensor;
    return tw_operand_check(v, TW_F32, 3, 3) && t->dim[0] == 1 && t->dim[1] == rows &&
           t->dim[2] == columns;
}

/* Present and dense f32 whose last extents are these, all before them 1. */
static int is_dense(const tw_view *v, int rank, int32_t rows, int32_t columns)
{
    const tw_tensor *t = v->tensor;
    return tw_extents_check(v, TW_F32, rank, rank) && tw_is_dense(t) &&
           t->dim[rank - 1] == columns && (rank < 2 || t->dim[rank - 2] == rows) &&
           (rank < 3 || t->dim[0] == 1);
}

static int check_attributes(const tw_detections_attributes *a)
{
    return a->most >= 1 && a->most <= TW_DETECTIONS_MOST && a->classes >= 1 &&
           a->classes <= TW_DETECTIONS_MOST && a->per_box >= 1 && a->per_class >= 1;
}

static int check_results(const tw_call *call, int32_t most)
{
    uint32_t i;
    if (call->out_count < 1 || call->out_count > 4 || !is_rows(&call->out[0], most, 4))
        return 0;
    for (i = 1; i < call->out_count; i++)
        if (call->out[i].tensor &&
            !(i == 3 ? is_dense(&call->out[i], 1, 1, 1) : is_dense(&call->out[i], 2, 1, most)))
            return 0;
    return 1;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_detections_attributes *a = (const tw_detections_attributes *)call->attributes;
    const tw_tensor *x, *s;
    int64_t most;
    if (call->attribute_bytes != sizeof *a || !check_attributes(a) || call->in_count != 3 ||
        !tw_extents_check(&call->in[0], TW_F32, 3, 3) ||
        !tw_extents_check(&call->in[1], TW_F32, 3, 3))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    s = call->in[1].tensor;
    most = tw_detections_room(a);
    if (x->dim[2] < 4 || (s->dim[2] != a->classes && s->dim[2] != a->classes + 1) ||
        !is_rows(&call->in[0], x->dim[1], x->dim[2]) ||
        !is_dense(&call->in[1], 3, x->dim[1], s->dim[2]) ||
        !is_dense(&call->in[2], 2, x->dim[1], 4) || most > TW_DETECTIONS_MOST ||
        !check_results(call, (int32_t)most) ||
        call->scratch_bytes < tw_detections_scratch(a, x->dim[1]))
        return TW_E_CHECK;
    *work = (uint64_t)most * 4;
    return TW_OK;
}

TW_KERNEL(detections, f32, run, check);
