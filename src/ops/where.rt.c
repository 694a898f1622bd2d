/* Where's kernel, for every element size: operands broadcast, any strides, any band. */
#include "ops/codes.h"
#include "runtime/spans.h"

/* One loop an element size. */
#define CHOOSE(type)                                                                               \
    do {                                                                                           \
        const type *pa = (const type *)s->in[1], *pb = (const type *)s->in[2];                     \
        type *out = (type *)s->out;                                                                \
        for (int32_t i = 0; i < s->count; i++) {                                                   \
            out[i] = *condition ? *pa : *pb;                                                       \
            condition += s->in_step[0];                                                            \
            pa += s->in_step[1];                                                                   \
            pb += s->in_step[2];                                                                   \
        }                                                                                          \
    } while (0)

static tw_status span(const tw_span *s)
{
    const uint8_t *condition = (const uint8_t *)s->in[0];
    switch (tw_dtype_bytes(s->call->out[0].tensor->dtype)) {
    case 1: CHOOSE(uint8_t); break;
    case 2: CHOOSE(uint16_t); break;
    case 4: CHOOSE(uint32_t); break;
    default: CHOOSE(uint64_t); break;
    }
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    return tw_for_each_span(call, 3, span);
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    tw_status status = tw_check_spans(call, 3, work);
    if (status != TW_OK || call->in_count != 3 || call->in[0].tensor->dtype != TW_BOOL ||
        call->in[1].tensor->dtype != call->out[0].tensor->dtype ||
        call->in[2].tensor->dtype != call->out[0].tensor->dtype)
        return TW_E_CHECK;
    return TW_OK;
}

TW_KERNEL(where, any, run, check);
