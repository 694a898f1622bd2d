/* Buffer: kernel. The output may be the held frames' own memory: what stays is moved first, then the
 * rest is filled. */
#include "ops/buffer.h"

#include "ops/codes.h"
#include "ops/whole.h"
#include "runtime/move.h"

typedef struct tw_buffer_job {
    int32_t frames, size; /* that come, that there is room for */
    int32_t count, removed, clears;
} tw_buffer_job;

/* What happens to what is held: frames [from, from + kept) move to `to`, the new ones go to `put`. */
typedef struct tw_buffer_moves {
    int32_t from, to, kept, put;
} tw_buffer_moves;

static const tw_buffer_attributes *attributes_of(const tw_call *call)
{
    return (const tw_buffer_attributes *)call->attributes;
}

static tw_buffer_moves decide(tw_buffer_job *j, const tw_buffer_attributes *a)
{
    tw_buffer_moves m;
    const int32_t at_right = a->right && !j->removed;
    m.from = at_right ? j->size - j->count : 0;
    m.kept = j->count;
    if (j->count + j->frames > j->size) {
        const int32_t drop = a->stride < j->count ? a->stride : j->count;
        j->removed = 1;
        m.from += drop;
        m.kept -= drop;
        m.to = 0;
        m.put = m.kept;
    } else {
        m.to = at_right ? m.from - j->frames : 0;
        m.put = at_right ? j->size - j->frames : j->count;
    }
    j->count = m.kept + j->frames;
    return m;
}

/* `count` frames of `in` from frame `from` on become those of the output from frame `to` on. They never
 * move to the right, so that both may be the same memory. */
static tw_status move(const tw_call *call, const tw_view *in, int32_t from, int32_t to,
                      int32_t count)
{
    const int32_t axis = attributes_of(call)->axis;
    tw_move m;
    tw_move_same(&m, &call->out[0]);
    m.extent[axis] = count;
    m.from[axis] = from;
    m.to[axis] = to;
    return count > 0 ? tw_move_elements(&call->out[0], in, &m) : TW_OK;
}

/* Frames [from, end) become zeros, in the tensor's own terms. */
static tw_status clear(const tw_call *call, int32_t from, int32_t end)
{
    const uint64_t zero =
        (uint64_t)(int64_t)(call->out[0].tensor->scale != 0.0f ? call->out[0].tensor->zero_point
                                                               : 0);
    tw_tensor all = *call->out[0].tensor;
    tw_view zeros = call->out[0];
    memset(all.stride, 0, sizeof all.stride);
    zeros.tensor = &all;
    zeros.data = (void *)(uintptr_t)&zero;
    return move(call, &zeros, from, from, end - from);
}

static tw_status gather(const tw_call *call, const tw_buffer_job *j, const tw_buffer_moves *m)
{
    const int32_t begin = m->kept ? m->to : m->put, end = m->put + j->frames;
    tw_status status = move(call, &call->in[TW_BUFFER_HELD], m->from, m->to, m->kept);
    if (status == TW_OK && j->clears) /* what was kept are zeros */
        status = clear(call, m->to, m->to + m->kept);
    if (status == TW_OK)
        status = clear(call, 0, begin);
    if (status == TW_OK)
        status = move(call, &call->in[TW_BUFFER_X], 0, m->put, j->frames);
    return status == TW_OK ? clear(call, end, j->size) : status;
}

/* The rows of frames are seen to by the moves. */
static int all_present(const tw_call *call)
{
    const tw_view *reset = tw_given(call, TW_BUFFER_RESET);
    uint32_t i;
    for (i = 0; i < call->out_count; i++)
        if (tw_wanted(call, i) && !tw_is_present(&call->out[i]))
            return 0;
    return tw_is_present(&call->in[TW_BUFFER_COUNT]) && (!reset || tw_is_present(reset));
}

static tw_status run(const tw_call *call)
{
    const int32_t *counts = (const int32_t *)call->in[TW_BUFFER_COUNT].data;
    const tw_view *reset = tw_given(call, TW_BUFFER_RESET);
    const tw_buffer_attributes *a = attributes_of(call);
    tw_buffer_job j;
    tw_buffer_moves m;
    tw_status status;
    if (!all_present(call))
        return TW_E_SCHEDULE;
    j.frames = call->in[TW_BUFFER_X].tensor->dim[a->axis];
    j.size = call->out[0].tensor->dim[a->axis];
    j.clears = reset && *(const uint8_t *)reset->data != 0;
    j.count = j.clears ? a->padding : counts[0];
    j.removed = !j.clears && counts[1] != 0;
    if (j.count < 0 || j.count > j.size)
        return TW_E_DATA;
    m = decide(&j, a);
    status = gather(call, &j, &m);
    if (status != TW_OK)
        return status;
    if (tw_wanted(call, 1)) {
        ((int32_t *)call->out[1].data)[0] = j.count;
        ((int32_t *)call->out[1].data)[1] = j.removed;
    }
    if (tw_wanted(call, 2))
        *(uint8_t *)call->out[2].data = j.count == j.size;
    return TW_OK;
}

static int is_pair(const tw_view *v)
{
    return tw_is_plain(v, TW_S32, 1) && v->tensor->dim[0] == 2;
}

static int is_one_bool(const tw_view *v)
{
    return v->tensor->dtype == TW_BOOL && tw_element_count(v->tensor) == 1;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_buffer_attributes *a = attributes_of(call);
    const tw_tensor *x, *held, *out;
    int32_t k;
    if (call->in_count < 3 || call->in_count > TW_BUFFER_OPERANDS || call->out_count < 1 ||
        call->out_count > 3 || call->attribute_bytes != sizeof *a || !tw_given(call, TW_BUFFER_X) ||
        !tw_given(call, TW_BUFFER_HELD) || !call->out[0].tensor ||
        !is_pair(&call->in[TW_BUFFER_COUNT]))
        return TW_E_CHECK;
    x = call->in[TW_BUFFER_X].tensor;
    held = call->in[TW_BUFFER_HELD].tensor;
    out = call->out[0].tensor;
    if (!tw_same_shape(held, out) || x->rank != out->rank || a->axis < 0 ||
        a->axis >= (int32_t)x->rank || x->dtype != out->dtype || held->dtype != out->dtype ||
        tw_dtype_bytes(out->dtype) == 0)
        return TW_E_CHECK;
    for (k = 0; k < (int32_t)x->rank; k++)
        if (k != a->axis && x->dim[k] != out->dim[k])
            return TW_E_CHECK;
    if (x->dim[a->axis] < 1 || a->stride < x->dim[a->axis] || a->stride > out->dim[a->axis] ||
        a->padding < 0 || a->padding > out->dim[a->axis])
        return TW_E_CHECK;
    if ((tw_given(call, TW_BUFFER_RESET) && !is_one_bool(&call->in[TW_BUFFER_RESET])) ||
        (tw_wanted(call, 1) && !is_pair(&call->out[1])) ||
        (tw_wanted(call, 2) && !is_one_bool(&call->out[2])))
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(out);
    return TW_OK;
}

TW_KERNEL(buffer, any, run, check);
