/* See packed.h. */
#include "ops/packed.h"

/* Dense int8 weights of the table's extents; 0 where these are none. */
static int read_head(tw_packed *p, const tw_blob *blob, tw_packed_axis axis)
{
    const tw_packed_head *head = (const tw_packed_head *)blob->data;
    tw_tensor *t = &p->tensor;
    int64_t count = 1;
    int i;
    memset(t, 0, sizeof *t);
    if (blob->bytes < sizeof *head || ((uintptr_t)blob->data & 3u) != 0 || head->rank < 2 ||
        head->rank > 4)
        return 0;
    t->dtype = TW_S8;
    t->rank = (uint8_t)head->rank;
    for (i = 0; i < head->rank; i++) {
        if (head->dim[i] < 1 || (count *= head->dim[i]) > INT32_MAX)
            return 0;
        t->dim[i] = head->dim[i];
    }
    p->pairs = (const uint8_t *)(head + 1);
    p->outputs = t->dim[axis == TW_PACKED_FIRST ? 0 : head->rank - 1];
    p->taps = (int32_t)count / p->outputs;
    return blob->bytes == sizeof *head + (size_t)(count + 1) / 2;
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

int tw_packed_open(const tw_call *call, tw_packed_axis axis, tw_packed *p)
{
    uint32_t i, fits;
    if (call->blob_count != TW_PACKED_BLOB_COUNT || call->in_count < 2 || call->in_count > 3 ||
        call->in[1].tensor || !read_head(p, &call->blobs[TW_BLOB_PACKED], axis))
        return 0;
    fits = call->scratch_bytes / (uint32_t)p->taps;
    if (fits < 1)
        return 0;
    p->axis = axis;
    p->at_once = fits < (uint32_t)p->outputs ? (int32_t)fits : p->outputs;
    lay_out(p);
    for (i = 0; i < call->in_count; i++)
        p->in[i] = call->in[i];
    memset(&p->in[1], 0, sizeof p->in[1]);
    p->in[1].tensor = &p->tensor;
    p->in[1].data = call->scratch;
    p->in[1].rows = p->in[1].fresh_rows = p->tensor.dim[0];
    p->call = *call;
    p->call.in = p->in;
    p->call.blob_count = TW_BLOB_COUNT;
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
