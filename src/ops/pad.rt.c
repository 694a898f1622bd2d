/* Pad: kernel. In: x, and for mode constant a table of one element. Out: the band, line by line; a
 * line is the innermost run that can be taken at once, in mode constant a padded axis with all the
 * unpadded ones inside it. */
#include "ops/codes.h"
#include "ops/pad.h"
#include "runtime/move.h"

/* One loop over output positions [first, first + count) of an axis that holds n input elements
 * behind `before` added ones. */
typedef struct tw_pad_loop {
    int32_t first, count, before, n;
    int32_t base;                /* the input position that the view's address stands for */
    ptrdiff_t out_step, in_step; /* bytes */
} tw_pad_loop;

typedef struct tw_padding {
    int32_t mode, rank;
    uint32_t bytes;
    const char *fill; /* one element; null in the other modes */
    tw_pad_loop loop[TW_MAX_RANK];
} tw_padding;

static void fill_run(char *to, int32_t count, ptrdiff_t step, const char *element, uint32_t bytes)
{
    int32_t i;
    uint32_t b;
    int same = step == (ptrdiff_t)bytes;
    for (b = 1; b < bytes; b++)
        same = same && element[b] == element[0];
    if (count <= 0)
        return;
    if (same) {
        memset(to, element[0], (size_t)count * bytes);
        return;
    }
    for (i = 0; i < count; i++, to += step)
        for (b = 0; b < bytes; b++)
            to[b] = element[b];
}

static void copy_run(char *to, const char *from, int32_t count, const tw_pad_loop *l,
                     uint32_t bytes)
{
    int32_t i;
    if (count <= 0)
        return;
    if (l->out_step == (ptrdiff_t)bytes && l->in_step == (ptrdiff_t)bytes) {
        memmove(to, from, (size_t)count * bytes);
        return;
    }
    for (i = 0; i < count; i++)
        memmove(to + i * l->out_step, from + i * l->in_step, bytes);
}

/* The innermost loop; from: the line's input position `base`, null where all of it is added. */
static void pad_line(const tw_padding *p, char *to, const char *from)
{
    const tw_pad_loop *l = &p->loop[p->rank - 1];
    const int32_t end = l->first + l->count;
    int32_t inside = l->before < l->first ? l->first : l->before; /* first position inside x */
    int32_t outside = l->before + l->n > end ? end : l->before + l->n;
    int32_t i;
    if (!from || inside > outside) /* none is */
        inside = outside = end;
    if (p->fill) {
        fill_run(to, inside - l->first, l->out_step, p->fill, p->bytes);
        fill_run(to + (outside - l->first) * l->out_step, end - outside, l->out_step, p->fill,
                 p->bytes);
    } else if (from) {
        for (i = l->first; i < end; i++)
            if (i < inside || i >= outside)
                memmove(to + (i - l->first) * l->out_step,
                        from + (tw_pad_source(p->mode, i - l->before, l->n) - l->base) * l->in_step,
                        p->bytes);
    }
    if (outside > inside)
        copy_run(to + (inside - l->first) * l->out_step,
                 from + (inside - l->before - l->base) * l->in_step, outside - inside, l, p->bytes);
}

/* All lines; the views' rows have been checked. */
static void pad_lines(const tw_padding *p, char *to, const char *from)
{
    int32_t index[TW_MAX_RANK] = {0}, k;
    for (;;) {
        char *t = to;
        const char *f = from;
        for (k = 0; k < p->rank - 1; k++) {
            const tw_pad_loop *l = &p->loop[k];
            const int32_t source = tw_pad_source(p->mode, l->first + index[k] - l->before, l->n);
            t += index[k] * l->out_step;
            f = source < 0 || !f ? NULL : f + (source - l->base) * l->in_step;
        }
        pad_line(p, t, f);
        for (k = p->rank - 2; k >= 0 && ++index[k] == p->loop[k].count; k--)
            index[k] = 0;
        if (k < 0)
            return;
    }
}

/* Append an axis, taken into the loop outside it where it is unpadded and contiguous there. */
static void add_loop(tw_padding *p, const tw_pad_loop *l)
{
    tw_pad_loop *outer = p->rank > 0 ? &p->loop[p->rank - 1] : NULL;
    const int whole = l->first == 0 && l->count == l->n && l->before == 0;
    const int plain = outer && outer->before == 0 && outer->first + outer->count <= outer->n;
    if (whole && l->n == 1)
        return;
    if (outer && whole && l->base == 0 && (p->fill || plain) &&
        tw_steps_join(outer->out_step, l->out_step, l->n) &&
        tw_steps_join(outer->in_step, l->in_step, l->n)) {
        outer->base *= l->n;
        outer->first *= l->n;
        outer->count *= l->n;
        outer->before *= l->n;
        outer->n *= l->n;
        outer->out_step = l->out_step;
        outer->in_step = l->in_step;
        return;
    }
    p->loop[p->rank++] = *l;
}

/* Are the input rows that the band takes present? */
static int rows_present(const tw_view *in, const tw_pad_loop *l, int32_t mode)
{
    int32_t i, low = INT32_MAX, high = -1;
    for (i = 0; i < l->count; i++) {
        const int32_t source = tw_pad_source(mode, l->first + i - l->before, l->n);
        low = source >= 0 && source < low ? source : low;
        high = source > high ? source : high;
    }
    return high < 0 || tw_holds(in, low, (int64_t)high - low + 1);
}

static tw_status run(const tw_call *call)
{
    const tw_pad_attributes *a = (const tw_pad_attributes *)call->attributes;
    const tw_view *in = &call->in[0], *out = &call->out[0];
    const int32_t rank = (int32_t)out->tensor->rank;
    int32_t k;
    tw_padding p;
    memset(&p, 0, sizeof p);
    p.mode = a->mode;
    p.bytes = tw_dtype_bytes(out->tensor->dtype);
    p.fill = a->mode == TW_PAD_CONSTANT ? (const char *)call->blobs[0].data : NULL;
    for (k = 0; k < rank; k++) {
        tw_pad_loop l;
        l.first = k == out->axis ? out->row : 0;
        l.count = k == out->axis ? out->rows : out->tensor->dim[k];
        l.before = tw_pad_before(a, k);
        l.n = in->tensor->dim[k];
        l.base = k == in->axis ? in->row : 0;
        l.out_step = tw_step(out->tensor->stride[k], p.bytes);
        l.in_step = tw_step(in->tensor->stride[k], p.bytes);
        if (l.count <= 0)
            return TW_OK;
        if (k == in->axis && !rows_present(in, &l, a->mode))
            return TW_E_SCHEDULE;
        add_loop(&p, &l);
    }
    if (p.rank == 0) {
        p.rank = 1;
        p.loop[0].count = p.loop[0].n = 1;
    }
    pad_lines(&p, (char *)out->data, (const char *)in->data);
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_pad_attributes *a = (const tw_pad_attributes *)call->attributes;
    const tw_tensor *in, *out;
    int32_t k;
    const tw_status status = tw_check_move(call, 1, 1, work);
    if (status != TW_OK || call->attribute_bytes != sizeof *a || a->mode < 0 ||
        a->mode >= TW_PAD_MODES)
        return TW_E_CHECK;
    in = call->in[0].tensor;
    out = call->out[0].tensor;
    if (in->rank != out->rank || call->blob_count != (a->mode == TW_PAD_CONSTANT ? 1u : 0u) ||
        (call->blob_count != 0 && call->blobs[0].bytes != tw_dtype_bytes(in->dtype)) ||
        (a->before.count != 0 && a->before.count != (int32_t)in->rank) ||
        (a->after.count != 0 && a->after.count != (int32_t)in->rank))
        return TW_E_CHECK;
    for (k = 0; k < (int32_t)in->rank; k++) {
        const int32_t before = tw_pad_before(a, k), after = tw_pad_after(a, k);
        if (before < 0 || after < 0 ||
            (int64_t)before + in->dim[k] + after != (int64_t)out->dim[k] ||
            (a->mode != TW_PAD_CONSTANT && in->dim[k] == 0 && out->dim[k] != 0))
            return TW_E_CHECK;
    }
    return TW_OK;
}

TW_KERNEL(pad, any, run, check);
