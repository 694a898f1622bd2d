/* Attend: kernel. A row of scores stands in scratch. Sums are those of product.h and softmax.rt.c, in their
 * order, so that results are the same bytes. */
#include "ops/attend.h"

#include "ops/codes.h"
#include "ops/product.h"
#include "runtime/math.h"
#include "runtime/move.h"

/* Keys or values of one head, or what the mask says of one row: elements and the steps between them. */
typedef struct tw_attend_tokens {
    const float *data;
    ptrdiff_t step;
    int32_t count, width;
} tw_attend_tokens;

static tw_attend_tokens tokens_of(const tw_view *v, int32_t batch, int32_t head, int32_t heads)
{
    const int32_t width = v->tensor->dim[2] / heads;
    const int32_t index[TW_MAX_RANK] = {batch, 0, head * width};
    tw_attend_tokens t;
    t.data = (const float *)(const void *)tw_element(v, index);
    t.step = v->tensor->stride[1];
    t.count = v->tensor->dim[1];
    t.width = width;
    return t;
}

static float dot(const float *q, const float *k, int32_t n)
{
    float sum = 0.0f;
    int32_t i;
    for (i = 0; i < n; i++)
        sum += q[i] * k[i];
    return sum;
}

/* Products of a query with every key, four keys at a time. */
static void score(const float *q, const tw_attend_tokens *k, float *s)
{
    int32_t j = 0, i;
    for (; j + 4 <= k->count; j += 4) {
        const float *at = k->data + j * k->step;
        float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
        for (i = 0; i < k->width; i++, at++) {
            const float v = q[i];
            a += v * at[0];
            b += v * at[k->step];
            c += v * at[2 * k->step];
            d += v * at[3 * k->step];
        }
        s[j] = a;
        s[j + 1] = b;
        s[j + 2] = c;
        s[j + 3] = d;
    }
    for (; j < k->count; j++)
        s[j] = dot(q, k->data + j * k->step, k->width);
}

static void scale_scores(const tw_call *call, float *s, int32_t n)
{
    const tw_attend_attributes *a = (const tw_attend_attributes *)call->attributes;
    int32_t j;
    if (a->divide)
        for (j = 0; j < n; j++)
            s[j] /= a->scale;
    else if (a->scale != 1.0f)
        for (j = 0; j < n; j++)
            s[j] *= a->scale;
}

static void add_mask(const tw_view *mask, int32_t batch, int32_t head, int32_t row, float *s,
                     int32_t n)
{
    const tw_tensor *t = mask->tensor;
    const int32_t index[TW_MAX_RANK] = {t->dim[0] > 1 ? batch : 0, t->dim[1] > 1 ? head : 0,
                                        t->dim[2] > 1 ? row : 0, 0};
    const float *m = (const float *)(const void *)tw_element(mask, index);
    const ptrdiff_t step = t->dim[3] > 1 ? t->stride[3] : 0;
    int32_t j;
    for (j = 0; j < n; j++)
        s[j] += m[j * step];
}

static void soften(float *s, int32_t n)
{
    float peak = -TW_INFINITY, sum = 0.0f;
    int32_t j;
    for (j = 0; j < n; j++)
        peak = s[j] > peak ? s[j] : peak;
    for (j = 0; j < n; j++) {
        s[j] = tw_expf(s[j] - peak);
        sum += s[j];
    }
    for (j = 0; j < n; j++)
        s[j] /= sum;
}

static void mix(const float *s, const tw_attend_tokens *v, float *out)
{
    int32_t j, i;
    for (i = 0; i < v->width; i++)
        out[i] = 0.0f;
    for (j = 0; j < v->count; j++) {
        const float *at = v->data + j * v->step;
        for (i = 0; i < v->width; i++)
            out[i] += s[j] * at[i];
    }
}

/* Does the view hold every index of the axis, or those that `out` holds? */
static int holds(const tw_view *v, const tw_view *out, int32_t axis, int same)
{
    return same ? tw_holds_of(v, axis, tw_first_of(out, axis), tw_count_of(out, axis))
                : tw_holds_of(v, axis, 0, v->tensor->dim[axis]);
}

static int are_held(const tw_call *call)
{
    const tw_view *out = &call->out[0];
    uint32_t i;
    int32_t k;
    for (i = 0; i < call->in_count; i++)
        for (k = 0; call->in[i].tensor && k < (int32_t)call->in[i].tensor->rank; k++)
            if (!holds(&call->in[i], out, k,
                       i == TW_ATTEND_Q ? k < 2 : i != TW_ATTEND_MASK && k == 0))
                return 0;
    return holds(out, out, 2, 0);
}

/* Of one item of the batch and one head, the query rows that `out` holds. */
static void attend(const tw_call *call, int32_t batch, int32_t head, int32_t heads)
{
    const tw_view *q = &call->in[TW_ATTEND_Q], *out = &call->out[0];
    const tw_view *mask = call->in_count > TW_ATTEND_MASK ? &call->in[TW_ATTEND_MASK] : NULL;
    const tw_attend_tokens k = tokens_of(&call->in[TW_ATTEND_K], batch, head, heads);
    const tw_attend_tokens v = tokens_of(&call->in[TW_ATTEND_V], batch, head, heads);
    float *const s = (float *)call->scratch;
    int32_t n;
    for (n = 0; n < tw_count_of(out, 1); n++) {
        const int32_t row = tw_first_of(out, 1) + n;
        const int32_t from[TW_MAX_RANK] = {batch, row, head * k.width};
        const int32_t to[TW_MAX_RANK] = {batch, row, head * v.width};
        score((const float *)(const void *)tw_element(q, from), &k, s);
        scale_scores(call, s, k.count);
        if (mask && mask->tensor)
            add_mask(mask, batch, head, row, s, k.count);
        soften(s, k.count);
        mix(s, &v, (float *)(void *)tw_element(out, to));
    }
}

static tw_status run(const tw_call *call)
{
    const tw_view *out = &call->out[0];
    const int32_t heads = ((const tw_attend_attributes *)call->attributes)->heads;
    int32_t b, h;
    if (!are_held(call))
        return TW_E_SCHEDULE;
    for (b = 0; b < tw_count_of(out, 0); b++)
        for (h = 0; h < heads; h++)
            attend(call, tw_first_of(out, 0) + b, h, heads);
    return TW_OK;
}

/* ---- check ---- */

static int are_extents(const tw_tensor *t, int32_t batch, int32_t tokens, int32_t width)
{
    return t->dim[0] == batch && t->dim[1] == tokens && t->dim[2] == width;
}

static int mask_fits(const tw_call *call, const tw_tensor *q, const tw_tensor *k, int32_t heads)
{
    const int32_t full[4] = {q->dim[0], heads, q->dim[1], k->dim[1]};
    int32_t i;
    if (call->in_count <= TW_ATTEND_MASK || !call->in[TW_ATTEND_MASK].tensor)
        return 1;
    if (!tw_extents_check(&call->in[TW_ATTEND_MASK], TW_F32, 4, 4))
        return 0;
    for (i = 0; i < 4; i++) {
        const int32_t n = call->in[TW_ATTEND_MASK].tensor->dim[i];
        if (n != 1 && n != full[i])
            return 0;
    }
    return 1;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_attend_attributes *a = (const tw_attend_attributes *)call->attributes;
    const tw_tensor *q, *k, *v;
    int32_t extents[4];
    uint32_t i;
    if (call->in_count < TW_ATTEND_MASK || call->in_count > TW_ATTEND_OPERANDS ||
        call->out_count != 1 || call->attribute_bytes != sizeof *a || a->heads < 1 ||
        !tw_operand_check(&call->out[0], TW_F32, 3, 3))
        return TW_E_CHECK;
    for (i = 0; i < TW_ATTEND_MASK; i++)
        if (!tw_operand_check(&call->in[i], TW_F32, 3, 3))
            return TW_E_CHECK;
    q = call->in[TW_ATTEND_Q].tensor;
    k = call->in[TW_ATTEND_K].tensor;
    v = call->in[TW_ATTEND_V].tensor;
    if (!are_extents(k, q->dim[0], k->dim[1], q->dim[2]) ||
        !are_extents(v, q->dim[0], k->dim[1], v->dim[2]) ||
        !are_extents(call->out[0].tensor, q->dim[0], q->dim[1], v->dim[2]) ||
        q->dim[2] % a->heads != 0 || v->dim[2] % a->heads != 0 ||
        !mask_fits(call, q, k, a->heads) || call->scratch_bytes / 4u < (uint32_t)k->dim[1] ||
        q->dim[2] > INT32_MAX - v->dim[2] || (a->heads > 1 && a->heads > q->dim[2]))
        return TW_E_CHECK;
    extents[0] = q->dim[0];
    extents[1] = q->dim[1];
    extents[2] = k->dim[1];
    extents[3] = q->dim[2] + v->dim[2];
    return tw_work(work, extents, 4) ? TW_OK : TW_E_CHECK;
}

TW_KERNEL(attend, f32, run, check);
