/* Strided moves. In: views and which indices go where. Out: the bytes, moved in runs where both
 * sides are contiguous, element by element in two inner loops where they are not. */
#include "runtime/move.h"

/* Elements are moved whatever their type is. */
typedef uint16_t __attribute__((may_alias)) tw_bits16;
typedef uint32_t __attribute__((may_alias)) tw_bits32;
typedef uint64_t __attribute__((may_alias)) tw_bits64;

/* The two innermost loops. */
typedef struct tw_plane {
    int32_t lines, count;
    ptrdiff_t to_line, from_line, to_step, from_step;
} tw_plane;

#define TW_MOVE_PLANE(name, type)                                                                  \
    static void name(char *to, const char *from, const tw_plane *p)                                \
    {                                                                                              \
        int32_t j, i;                                                                              \
        for (j = 0; j < p->lines; j++) {                                                           \
            char *t = to + j * p->to_line;                                                         \
            const char *f = from + j * p->from_line;                                               \
            for (i = 0; i < p->count; i++) {                                                       \
                *(type *)(void *)t = *(const type *)(const void *)f;                               \
                t += p->to_step;                                                                   \
                f += p->from_step;                                                                 \
            }                                                                                      \
        }                                                                                          \
    }
TW_MOVE_PLANE(move_plane_8, char)
TW_MOVE_PLANE(move_plane_16, tw_bits16)
TW_MOVE_PLANE(move_plane_32, tw_bits32)
TW_MOVE_PLANE(move_plane_64, tw_bits64)

static void move_plane(char *to, const char *from, const tw_plane *p, uint32_t element_bytes)
{
    switch (element_bytes) {
    case 1: move_plane_8(to, from, p); break;
    case 2: move_plane_16(to, from, p); break;
    case 4: move_plane_32(to, from, p); break;
    default: move_plane_64(to, from, p); break;
    }
}

void tw_move_walk(tw_walk *w, uint32_t element_bytes)
{
    const int32_t last = w->rank - 1;
    tw_plane p;
    if (w->to_step[last] == (ptrdiff_t)element_bytes &&
        w->from_step[last] == (ptrdiff_t)element_bytes) {
        do
            /* memmove: a plan may lay the two sides over each other */
            memmove(w->to, w->from, (size_t)w->extent[last] * element_bytes);
        while (tw_walk_next(w, last));
        return;
    }
    p.lines = last > 0 ? w->extent[last - 1] : 1;
    p.to_line = last > 0 ? w->to_step[last - 1] : 0;
    p.from_line = last > 0 ? w->from_step[last - 1] : 0;
    p.count = w->extent[last];
    p.to_step = w->to_step[last];
    p.from_step = w->from_step[last];
    do
        move_plane(w->to, w->from, &p, element_bytes);
    while (tw_walk_next(w, last - 1));
}

void tw_move_same(tw_move *m, const tw_view *out)
{
    int32_t k;
    for (k = 0; k < TW_MAX_RANK; k++) {
        m->extent[k] = tw_count_of(out, k);
        m->to[k] = m->from[k] = tw_first_of(out, k);
        m->step[k] = 1;
        m->axis[k] = k;
    }
}

/* Do the views hold what output axis k touches? */
static int is_present(const tw_view *out, const tw_view *in, const tw_move *m, int32_t k)
{
    const int64_t last = (int64_t)m->from[k] + (int64_t)(m->extent[k] - 1) * m->step[k];
    const int64_t low = m->step[k] < 0 ? last : m->from[k];
    const int64_t high = m->step[k] < 0 ? m->from[k] : last;
    return tw_holds_of(out, k, m->to[k], m->extent[k]) &&
           tw_holds_of(in, m->axis[k], low, high - low + 1);
}

/* Is every element where it goes? */
static int is_there(const tw_walk *w)
{
    int32_t k;
    if (w->to != w->from)
        return 0;
    for (k = 0; k < w->rank; k++)
        if (w->extent[k] > 1 && w->to_step[k] != w->from_step[k])
            return 0;
    return 1;
}

tw_status tw_move_elements(const tw_view *out, const tw_view *in, const tw_move *m)
{
    const uint32_t bytes = tw_dtype_bytes(out->tensor->dtype);
    const int32_t rank = (int32_t)out->tensor->rank;
    int32_t from[TW_MAX_RANK] = {0}, k;
    tw_walk w;
    for (k = 0; k < rank; k++) {
        if (m->extent[k] <= 0)
            return TW_OK;
        from[m->axis[k]] = m->from[k];
    }
    for (k = 0; k < rank; k++)
        if (!is_present(out, in, m, k))
            return TW_E_SCHEDULE;
    tw_walk_begin(&w, tw_element(out, m->to), tw_element(in, from));
    for (k = 0; k < rank; k++)
        tw_walk_axis(
            &w, m->extent[k], tw_step(out->tensor->stride[k], bytes),
            m->extent[k] == 1 ? 0 : tw_step(in->tensor->stride[m->axis[k]], bytes) * m->step[k]);
    if (tw_walk_open(&w) && !is_there(&w))
        tw_move_walk(&w, bytes);
    return TW_OK;
}

tw_status tw_check_move(const tw_call *call, uint32_t least, uint32_t most, uint64_t *work)
{
    uint32_t i;
    if (call->out_count != 1 || !call->out[0].tensor || call->in_count < least ||
        call->in_count > most)
        return TW_E_CHECK;
    for (i = 0; i < call->in_count; i++)
        if (!call->in[i].tensor || call->in[i].tensor->dtype != call->out[0].tensor->dtype)
            return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(call->out[0].tensor);
    return TW_OK;
}
