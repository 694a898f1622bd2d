/* Attention: kernels. A row of scores stands in scratch, one a token that is seen; every sum runs over the
 * tokens from the oldest to the newest, wherever a ring keeps them. Of int8 queries the products are sums of
 * integers, the weights are floats, and a row of the result stands in scratch, too, until it is rounded. */
#include "ops/cache.h"

#include "ops/codes.h"
#include "ops/whole.h"
#include "runtime/math.h"

/* Keys or values of one head. */
typedef struct tw_cache_head {
    const char *data;
    ptrdiff_t step; /* elements from token to token */
    int32_t width, zero;
    float scale; /* 0: floats */
} tw_cache_head;

typedef struct tw_attention_row {
    const tw_call *call;
    const void *q;
    int32_t q_zero;
    float q_scale; /* 0: floats */
    float *out, *score;
    float scale;
    int32_t first, end; /* tokens that it sees */
    int32_t slots;
} tw_attention_row;

static const tw_attention_attributes *attributes_of(const tw_call *call)
{
    return (const tw_attention_attributes *)call->attributes;
}

static tw_cache_head head_of(const tw_call *call, uint32_t input, int32_t head)
{
    const tw_tensor *t = call->in[input].tensor;
    tw_cache_head h;
    h.step = t->stride[2];
    h.width = t->dim[3];
    h.zero = t->zero_point;
    h.scale = t->dtype == TW_S8 ? t->scale : 0.0f;
    h.data = (const char *)call->in[input].data +
             (ptrdiff_t)head * t->stride[1] * (ptrdiff_t)tw_dtype_bytes(t->dtype);
    return h;
}

static float dot_f32(const float *q, const tw_cache_head *h, int32_t slot)
{
    const float *k = (const float *)(const void *)h->data + slot * h->step;
    float sum = 0.0f;
    int32_t i;
    for (i = 0; i < h->width; i++)
        sum += q[i] * k[i];
    return sum;
}

static float dot_s8(const float *q, const tw_cache_head *h, int32_t slot)
{
    const int8_t *k = (const int8_t *)h->data + slot * h->step;
    float sum = 0.0f;
    int32_t i;
    for (i = 0; i < h->width; i++)
        sum += q[i] * (float)(k[i] - h->zero);
    return sum * h->scale;
}

/* Both int8; the check bounds the width, so that the sum cannot overflow. */
static float dot_narrow(const int8_t *q, int32_t zero, const tw_cache_head *h, int32_t slot)
{
    const int8_t *k = (const int8_t *)h->data + slot * h->step;
    int32_t sum = 0, i;
    for (i = 0; i < h->width; i++)
        sum += (q[i] - zero) * (k[i] - h->zero);
    return (float)sum * h->scale;
}

static float product_of(const tw_attention_row *r, const tw_cache_head *k, int32_t slot)
{
    if (r->q_scale != 0.0f)
        return dot_narrow((const int8_t *)r->q, r->q_zero, k, slot) * r->q_scale;
    return k->scale != 0.0f ? dot_s8((const float *)r->q, k, slot)
                            : dot_f32((const float *)r->q, k, slot);
}

static void add_f32(float *out, float weight, const tw_cache_head *h, int32_t slot)
{
    const float *v = (const float *)(const void *)h->data + slot * h->step;
    int32_t i;
    for (i = 0; i < h->width; i++)
        out[i] += weight * v[i];
}

static void add_s8(float *out, float weight, const tw_cache_head *h, int32_t slot)
{
    const int8_t *v = (const int8_t *)h->data + slot * h->step;
    const float step = weight * h->scale;
    int32_t i;
    for (i = 0; i < h->width; i++)
        out[i] += step * (float)(v[i] - h->zero);
}

static void attend(const tw_attention_row *r, const tw_cache_head *k, const tw_cache_head *v)
{
    float peak = -TW_INFINITY, sum = 0.0f;
    int32_t j, slot = r->first % r->slots;
    for (j = r->first; j < r->end; j++) {
        const float s = product_of(r, k, slot) * r->scale;
        r->score[j - r->first] = s;
        peak = s > peak ? s : peak;
        slot = slot + 1 == r->slots ? 0 : slot + 1;
    }
    for (j = 0; j < r->end - r->first; j++)
        sum += r->score[j] = tw_expf(r->score[j] - peak);
    memset(r->out, 0, (size_t)v->width * sizeof(float));
    slot = r->first % r->slots;
    for (j = r->first; j < r->end; j++) {
        const float weight = r->score[j - r->first] / sum;
        if (v->scale != 0.0f)
            add_s8(r->out, weight, v, slot);
        else
            add_f32(r->out, weight, v, slot);
        slot = slot + 1 == r->slots ? 0 : slot + 1;
    }
}

/* The tokens that row i of a run sees, and of which the caches still hold the keys. */
static void look(tw_attention_row *r, int32_t position, int32_t count, int32_t i)
{
    const tw_attention_attributes *a = attributes_of(r->call);
    const int32_t held = position + count - r->slots;
    r->end = position + (i < count ? i + 1 : count);
    r->first = a->window > 0 && r->end > a->window ? r->end - a->window : 0;
    r->first = a->ring && r->first < held ? held : r->first;
}

static int is_whole(const tw_call *call, uint32_t i)
{
    return !tw_given(call, i) || tw_is_present(&call->in[i]);
}

static void *row_at(const tw_view *v, int32_t head, int32_t i)
{
    const int32_t index[TW_MAX_RANK] = {0, head - (v->axis == 1 ? v->row : 0),
                                        i - (v->axis == 2 ? v->row : 0)};
    return (char *)v->data + ((ptrdiff_t)index[1] * v->tensor->stride[1] +
                              (ptrdiff_t)index[2] * v->tensor->stride[2]) *
                                 (ptrdiff_t)tw_dtype_bytes(v->tensor->dtype);
}

/* A row of the result, rounded. */
static void store_row(const tw_tensor *t, const float *row, int8_t *to)
{
    int32_t i;
    for (i = 0; i < t->dim[3]; i++)
        to[i] = (int8_t)tw_store_whole(tw_roundf(row[i] / t->scale), t->zero_point, -128, 127);
}

/* Bands are of heads or of rows; on other axes everything is there. */
static int holds(const tw_view *v, const tw_view *out)
{
    if (out->axis != 1 && out->axis != 2)
        return tw_is_present(v) && tw_is_present(out);
    return v->axis == out->axis && v->row <= out->row && v->row + v->rows >= out->row + out->rows;
}

static tw_status run(const tw_call *call)
{
    const tw_view *q = &call->in[TW_ATTENTION_Q], *out = &call->out[0];
    const tw_tensor *keys = call->in[TW_ATTENTION_K].tensor;
    const int32_t heads = q->tensor->dim[1], rows = q->tensor->dim[2];
    const int32_t from[2] = {out->axis == 1 ? out->row : 0, out->axis == 2 ? out->row : 0};
    const int32_t end[2] = {out->axis == 1 ? out->row + out->rows : heads,
                            out->axis == 2 ? out->row + out->rows : rows};
    int32_t position, count = rows, h, i;
    tw_attention_row r;
    for (i = TW_ATTENTION_K; i < TW_ATTENTION_OPERANDS; i++)
        if (!is_whole(call, (uint32_t)i))
            return TW_E_SCHEDULE;
    if (!holds(q, out))
        return TW_E_SCHEDULE;
    position = *(const int32_t *)call->in[TW_ATTENTION_POSITION].data;
    if (tw_given(call, TW_ATTENTION_COUNT))
        count = *(const int32_t *)call->in[TW_ATTENTION_COUNT].data;
    r.slots = keys->dim[2];
    if (position < 0 || count < 0 || count > rows || position > INT32_MAX - count ||
        (!attributes_of(call)->ring && position > r.slots - count))
        return TW_E_DATA;
    r.call = call;
    r.score = (float *)call->scratch;
    r.q_zero = q->tensor->zero_point;
    r.q_scale = q->tensor->dtype == TW_S8 ? q->tensor->scale : 0.0f;
    r.scale = attributes_of(call)->scale;
    if (r.scale == 0.0f)
        r.scale = 1.0f / tw_sqrtf((float)keys->dim[3]);
    for (h = from[0]; h < end[0]; h++) {
        const tw_cache_head k = head_of(call, TW_ATTENTION_K, h / (heads / keys->dim[1]));
        const tw_cache_head v = head_of(call, TW_ATTENTION_V, h / (heads / keys->dim[1]));
        for (i = from[1]; i < end[1]; i++) {
            r.q = row_at(q, h, i);
            r.out = r.q_scale != 0.0f ? r.score + r.slots : (float *)row_at(out, h, i);
            look(&r, position, count, i);
            attend(&r, &k, &v);
            if (r.q_scale != 0.0f)
                store_row(out->tensor, r.out, (int8_t *)row_at(out, h, i));
        }
    }
    return TW_OK;
}

/* ---- checks ---- */

static int is_number(const tw_view *v)
{
    return tw_is_plain(v, TW_S32, 1) && v->tensor->dim[0] == 1;
}

/* [1, heads, rows, width] with a width without gaps. */
static int is_rows(const tw_view *v, uint32_t dtype, int32_t heads, int32_t rows, int32_t width)
{
    const tw_tensor *t = v->tensor;
    return t && t->dtype == dtype && t->rank == 4 && t->dim[0] == 1 && t->dim[1] == heads &&
           t->dim[2] == rows && t->dim[3] == width && (width == 1 || t->stride[3] == 1);
}

/* Bytes of scratch. */
static uint64_t scratch_of(const tw_tensor *k, const tw_tensor *v, uint32_t queries)
{
    return ((uint64_t)k->dim[2] + (queries == TW_S8 ? (uint64_t)v->dim[3] : 0u)) * 4u;
}

static int is_scaled(const tw_tensor *t)
{
    return t->scale > 0.0f && t->zero_point >= -128 && t->zero_point <= 127;
}

/* Queries and results of one type, keys and values of another or the same. */
static tw_status check(const tw_call *call, uint32_t queries, uint32_t dtype, uint64_t *work)
{
    const tw_attention_attributes *a = attributes_of(call);
    const tw_tensor *q, *k, *v;
    if (call->in_count < 4 || call->in_count > TW_ATTENTION_OPERANDS || call->out_count != 1 ||
        call->attribute_bytes != sizeof *a || !tw_given(call, TW_ATTENTION_Q) ||
        !tw_given(call, TW_ATTENTION_K) || !tw_given(call, TW_ATTENTION_V) ||
        !is_number(&call->in[TW_ATTENTION_POSITION]) ||
        (tw_given(call, TW_ATTENTION_COUNT) && !is_number(&call->in[TW_ATTENTION_COUNT])))
        return TW_E_CHECK;
    q = call->in[TW_ATTENTION_Q].tensor;
    k = call->in[TW_ATTENTION_K].tensor;
    v = call->in[TW_ATTENTION_V].tensor;
    if (q->rank != 4 || k->rank != 4 || v->rank != 4 || k->dim[1] < 1 || k->dim[2] < 1 ||
        k->dim[3] < 1 || v->dim[3] < 0 || q->dim[1] % k->dim[1] != 0 || q->dim[2] > k->dim[2])
        return TW_E_CHECK;
    if (!is_rows(&call->in[TW_ATTENTION_Q], queries, q->dim[1], q->dim[2], k->dim[3]) ||
        !is_rows(&call->in[TW_ATTENTION_K], dtype, k->dim[1], k->dim[2], k->dim[3]) ||
        !is_rows(&call->in[TW_ATTENTION_V], dtype, k->dim[1], k->dim[2], v->dim[3]) ||
        !is_rows(&call->out[0], queries, q->dim[1], q->dim[2], v->dim[3]) ||
        (dtype == TW_S8 && (!is_scaled(k) || !is_scaled(v))) ||
        (queries == TW_S8 && (!is_scaled(q) || !is_scaled(call->out[0].tensor) ||
                              k->dim[3] > TW_ATTENTION_MOST_COLUMNS)) ||
        scratch_of(k, v, queries) > call->scratch_bytes || a->window < 0)
        return TW_E_CHECK;
    const uint64_t rows = (uint64_t)q->dim[1] * (uint64_t)q->dim[2]; /* below 2^31, as are others */
    const uint64_t width = (uint64_t)k->dim[3] + (uint64_t)v->dim[3];
    if (rows != 0 && (uint64_t)k->dim[2] * width > UINT64_MAX / rows)
        return TW_E_CHECK;
    *work = rows * (uint64_t)k->dim[2] * width;
    return TW_OK;
}

static tw_status check_f32(const tw_call *call, uint64_t *work)
{
    return check(call, TW_F32, TW_F32, work);
}

static tw_status check_f32w8(const tw_call *call, uint64_t *work)
{
    return check(call, TW_F32, TW_S8, work);
}

static tw_status check_s8(const tw_call *call, uint64_t *work)
{
    return check(call, TW_S8, TW_S8, work);
}

TW_KERNEL(attention, f32, run, check_f32);
TW_KERNEL(attention, f32w8, run, check_f32w8);
TW_KERNEL(attention, s8, run, check_s8);
