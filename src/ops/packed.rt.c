/* See packed.h. */
#include "ops/packed.h"

#include "runtime/math.h"

/* Weights of this type and the table's extents; their number, or 0 where these are none. */
static int32_t read_head(tw_packed *p, const tw_blob *blob, uint32_t dtype)
{
    const tw_packed_head *head = (const tw_packed_head *)blob->data;
    tw_tensor *t = &p->tensor;
    int64_t count = 1;
    int i;
    memset(t, 0, sizeof *t);
    if (blob->bytes < sizeof *head || ((uintptr_t)blob->data & 3u) != 0 || head->rank < 2 ||
        head->rank > 4)
        return 0;
    t->dtype = (uint8_t)dtype;
    t->rank = (uint8_t)head->rank;
    for (i = 0; i < head->rank; i++) {
        if (head->dim[i] < 1 || (count *= head->dim[i]) > INT32_MAX)
            return 0;
        t->dim[i] = head->dim[i];
    }
    return (int32_t)count;
}

/* As many outputs lie side by side in scratch as fit. */
static void lay_out(tw_packed *p)
{
    tw_tensor *t = &p->tensor;
    int32_t stride = 1;
    int i;
    for (i = (int)t->rank - 1; i >= 0; i--) {
        t->stride[i] = stride;
        stride *= p->axis == TW_PACKED_LAST && i == (int)t->rank - 1 ? p->at_once : t->dim[i];
    }
}

/* Outputs innermost, whatever the axis that counts them. */
static void lay_out_short(tw_packed *p)
{
    tw_tensor *t = &p->tensor;
    int32_t stride = p->at_once;
    int i;
    t->stride[0] = 1;
    for (i = (int)t->rank - 1; i > 0; i--) {
        t->stride[i] = stride;
        stride *= t->dim[i];
    }
}

/* So many outputs of taps of `bytes` have room in scratch; 0 for none. */
static int fit(tw_packed *p, const tw_call *call, int32_t outputs, int32_t count, uint32_t bytes)
{
    p->outputs = outputs;
    p->taps = count / outputs;
    const uint32_t fits = call->scratch_bytes / bytes / (uint32_t)p->taps;
    p->at_once = fits < (uint32_t)outputs ? (int32_t)fits : outputs;
    return fits >= 1;
}

static int is_packed(const tw_call *call, uint32_t blobs)
{
    return call->blob_count == blobs && call->in_count >= 2 && call->in_count <= 3 &&
           !call->in[1].tensor;
}

/* The call with weights in scratch, and the first `blobs` tables. */
static void open_call(const tw_call *call, uint32_t blobs, tw_packed *p)
{
    uint32_t i;
    for (i = 0; i < call->in_count; i++)
        p->in[i] = call->in[i];
    memset(&p->in[1], 0, sizeof p->in[1]);
    p->in[1].tensor = &p->tensor;
    p->in[1].data = call->scratch;
    p->in[1].rows = p->in[1].fresh_rows = p->tensor.dim[0];
    p->call = *call;
    p->call.in = p->in;
    p->call.blob_count = blobs;
}

int tw_packed_read(const tw_call *call, tw_packed_axis axis, tw_packed *p)
{
    const tw_blob *blob = &call->blobs[TW_BLOB_PACKED];
    int32_t count;
    if (!is_packed(call, TW_PACKED_BLOB_COUNT) || !(count = read_head(p, blob, TW_S8)) ||
        blob->bytes != sizeof(tw_packed_head) + ((size_t)count + 1) / 2)
        return 0;
    p->pairs = (const uint8_t *)blob->data + sizeof(tw_packed_head);
    p->axis = axis;
    p->outputs = p->at_once = p->tensor.dim[axis == TW_PACKED_FIRST ? 0 : p->tensor.rank - 1];
    p->taps = count / p->outputs;
    lay_out(p);
    open_call(call, TW_BLOB_COUNT, p);
    p->in[1].data = NULL;
    return 1;
}

int tw_packed_open(const tw_call *call, tw_packed_axis axis, tw_packed *p)
{
    if (!tw_packed_read(call, axis, p) || !fit(p, call, p->outputs, p->taps * p->outputs, 1))
        return 0;
    lay_out(p);
    p->in[1].data = call->scratch;
    return 1;
}

int tw_short_open(const tw_call *call, tw_packed *p)
{
    const tw_blob *blob = &call->blobs[TW_BLOB_SHORT];
    const tw_short_head *head;
    int32_t count;
    if (!is_packed(call, TW_SHORT_BLOB_COUNT) || !(count = read_head(p, blob, TW_F32)) ||
        blob->bytes != sizeof *head + (size_t)count * 2u ||
        !fit(p, call, p->tensor.dim[0], count, sizeof(float)))
        return 0;
    head = (const tw_short_head *)blob->data;
    if (head->dtype != TW_F16 && head->dtype != TW_BF16)
        return 0;
    p->shorts = (const uint16_t *)(const void *)(head + 1);
    p->dtype = head->dtype;
    lay_out_short(p);
    open_call(call, 0, p);
    return 1;
}

tw_range tw_packed_round(const tw_packed *p, tw_range present, int32_t begin)
{
    tw_range round;
    round.begin = begin;
    round.end = present.end - begin < p->at_once ? present.end : begin + p->at_once;
    return round;
}

static int8_t half(uint32_t bits)
{
    return (int8_t)((int32_t)((bits & 15u) ^ 8u) - 8);
}

/* n elements, the first of them number `first`. */
static void unpack(const uint8_t *pairs, int32_t first, int32_t n, int8_t *to)
{
    int32_t i = 0;
    pairs += first / 2;
    if (first % 2 != 0 && n > 0)
        to[i++] = half((uint32_t)*pairs++ >> 4);
    for (; i + 2 <= n; i += 2, pairs++) {
        to[i] = half(*pairs);
        to[i + 1] = half((uint32_t)*pairs >> 4);
    }
    if (i < n)
        to[i] = half(*pairs);
}

const int8_t *tw_packed_weights(const tw_packed *p, tw_range round)
{
    int8_t *to = (int8_t *)p->call.scratch;
    const int32_t n = round.end - round.begin;
    int32_t tap;
    if (p->axis == TW_PACKED_FIRST)
        unpack(p->pairs, round.begin * p->taps, n * p->taps, to);
    else
        for (tap = 0; tap < p->taps; tap++)
            unpack(p->pairs, tap * p->outputs + round.begin, n, to + tap * p->at_once);
    return to;
}

/* A float16 as a float32: exact. */
static float widened(uint32_t half)
{
    const uint32_t sign = (half & 0x8000u) << 16, rest = half & 0x7FFFu;
    if (rest >= 0x7C00u) /* infinities and NaN */
        return tw_float_of(sign | 0x7F800000u | (rest & 0x3FFu) << 13);
    if (rest >= 0x400u)
        return tw_float_of(sign | ((rest << 13) + 0x38000000u));
    return tw_float_of(sign | tw_bits_of((float)(int32_t)rest * 0x1p-24f)); /* below 2^-14 */
}

const float *tw_short_weights(const tw_packed *p, tw_range round)
{
    float *to = (float *)p->call.scratch;
    const int32_t n = round.end - round.begin;
    int32_t tap, o;
    for (tap = 0; tap < p->taps; tap++) {
        const uint16_t *from = p->shorts + (ptrdiff_t)tap * p->outputs + round.begin;
        float *row = to + (ptrdiff_t)tap * p->at_once;
        for (o = 0; o < n; o++)
            row[o] = p->dtype == TW_BF16 ? tw_float_of((uint32_t)from[o] << 16) : widened(from[o]);
    }
    return to;
}
