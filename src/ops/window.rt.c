/* The device half of window.h. In: geometry that may be hostile (tw_window_read) or has been
 * verified (the rest). Out: windows whose taps never leave the rows and columns that are present. */
#include "ops/window.h"

/* b > 0. Division in 64 bits is a long call on small processors. */
static int64_t floor_divide(int64_t a, int32_t b)
{
    int64_t q;
    if (a >= 0 && a <= INT32_MAX)
        return (int32_t)a / b;
    q = a / b;
    return q - (a % b < 0 ? 1 : 0);
}

int64_t tw_window_extent(const tw_span *s, int ceil)
{
    int64_t room = (int64_t)s->in + s->pad_begin + s->pad_end - tw_window_reach(s);
    int64_t out = floor_divide(room + (ceil ? s->stride - 1 : 0), s->stride) + 1;
    if (ceil && (out - 1) * s->stride >= (int64_t)s->in + s->pad_begin)
        out--;
    return out;
}

/* Entry `entry` of a list; `neutral` where it is empty. */
static int32_t entry_of(const tw_ints *list, int entry, int32_t neutral)
{
    return list->count == 0 ? neutral : list->v[entry];
}

static void read_span(tw_span *s, const tw_window_lists *lists, int entry)
{
    s->stride = entry_of(lists->stride, entry, 1);
    s->dilation = entry_of(lists->dilation, entry, 1);
    s->pad_begin = entry_of(lists->pad_begin, entry, 0);
    s->pad_end = entry_of(lists->pad_end, entry, 0);
}

/* Is a list empty, or has it `count` entries and a number within bounds at `entry`? */
static int is_list(const tw_ints *list, int count, int entry, int32_t least)
{
    return list->count == 0 ||
           (list->count == count && list->v[entry] >= least && list->v[entry] <= TW_WINDOW_MOST);
}

int tw_window_entry(tw_span *s, const tw_window_lists *lists, int count, int entry)
{
    if (!is_list(lists->stride, count, entry, 1) || !is_list(lists->dilation, count, entry, 1) ||
        !is_list(lists->pad_begin, count, entry, 0) || !is_list(lists->pad_end, count, entry, 0))
        return 0;
    read_span(s, lists, entry);
    return 1;
}

void tw_window_of(tw_window_spans *w, const tw_tensor *in, const tw_tensor *out,
                  const int32_t kernel[2], const tw_window_lists *lists)
{
    static const tw_span single = {1, 1, 1, 1, 1, 0, 0}; /* the one row of a rank-3 image */
    const int missing = 4 - (int)in->rank;
    int i;
    w->axis[0] = single;
    for (i = missing; i < 2; i++) {
        tw_span *s = &w->axis[i];
        const int entry = i - missing;
        read_span(s, lists, entry);
        s->in = in->dim[1 + entry];
        s->out = out->dim[1 + entry];
        s->kernel = kernel[i];
    }
}

int tw_window_read(tw_window_spans *w, const tw_tensor *in, const tw_tensor *out,
                   const int32_t kernel[2], const tw_window_lists *lists, int ceil)
{
    const int spatial = (int)in->rank - 2;
    int i;
    if (in->rank < 3 || in->rank > 4 || out->rank != in->rank || in->dim[0] != out->dim[0] ||
        (spatial == 1 && kernel[0] != 1))
        return 0;
    for (i = 0; i < spatial; i++)
        if (!tw_window_entry(&w->axis[0], lists, spatial, i))
            return 0;
    tw_window_of(w, in, out, kernel, lists);
    for (i = 2 - spatial; i < 2; i++) {
        const tw_span *s = &w->axis[i];
        if (s->in < 0 || s->kernel < 1 || tw_window_reach(s) > TW_WINDOW_LIMIT ||
            (int64_t)s->in + s->pad_begin + s->pad_end > TW_WINDOW_LIMIT ||
            s->out != tw_window_extent(s, ceil))
            return 0;
    }
    return 1;
}

/* An axis of an image of which so much is present; where it ends, in elements from its first. */
static size_t open_axis(tw_image *m, int axis, int32_t dim, int32_t stride, int32_t begin,
                        int32_t count)
{
    m->dim[axis] = dim;
    m->stride[axis] = stride;
    m->begin[axis] = begin;
    m->end[axis] = begin + count;
    return (size_t)(count - 1) * (size_t)stride;
}

void tw_image_of(const tw_view *view, tw_image *image)
{
    const tw_tensor *t = view->tensor;
    const int missing = 4 - (int)t->rank; /* 1 when there are no rows */
    size_t last = missing > 0 ? open_axis(image, 1, 1, 0, 0, 1) : 0;
    int i;
    for (i = 0; i < (int)t->rank; i++) {
        const int axis = i == 0 ? 0 : i + missing;
        if (i == view->axis)
            last += open_axis(image, axis, t->dim[i], t->stride[i], view->row, view->rows);
        else if (view->columns != 0 && i == view->axis + 1)
            last += open_axis(image, axis, t->dim[i], t->stride[i], view->column, view->columns);
        else
            last += open_axis(image, axis, t->dim[i], t->stride[i], 0, t->dim[i]);
    }
    image->low = (uintptr_t)view->data;
    image->high = image->low + (last + 1) * tw_dtype_bytes(t->dtype);
}

static tw_taps taps_inside(const tw_span *s, int32_t begin, int32_t end, int32_t o)
{
    int32_t base = o * s->stride - s->pad_begin;
    int32_t before = begin - base; /* positions before the first one present */
    int32_t until = end - base;    /* positions before the first one behind */
    int32_t d = s->dilation;
    tw_taps taps;
    taps.first = before <= 0 ? 0 : d == 1 ? before : (before - 1) / d + 1;
    taps.last = until <= 0 ? 0 : d == 1 ? until : (until - 1) / d + 1;
    if (taps.last > s->kernel)
        taps.last = s->kernel;
    if (taps.first >= taps.last)
        taps.first = taps.last = 0;
    return taps;
}

/* Outputs from o on for which, like for o, every tap is inside. */
static int32_t run_length(const tw_span *s, int32_t end, int32_t o)
{
    int32_t last = end - (s->kernel - 1) * s->dilation - 1 + s->pad_begin; /* of the first tap */
    return last / s->stride - o + 1;
}

static int is_single(const tw_span *s)
{
    return s->kernel == 1 && s->stride == 1 && s->pad_begin == 0 && s->pad_end == 0;
}

/* Rows of pixels without a gap between them, all columns present. */
static int is_joined(const tw_image *m)
{
    return m->begin[2] == 0 && m->end[2] == m->dim[2] &&
           m->stride[1] == (int64_t)m->dim[2] * m->stride[2] &&
           (int64_t)m->dim[1] * m->dim[2] < TW_WINDOW_LIMIT;
}

/* Can the images be taken as one long row of pixels? */
static int is_flat(const tw_window_spans *w, const tw_image *in, const tw_image *out)
{
    return is_single(&w->axis[0]) && is_single(&w->axis[1]) && is_joined(in) && is_joined(out);
}

static void flatten(tw_image *m)
{
    m->begin[2] = m->begin[1] * m->dim[2];
    m->end[2] = m->end[1] * m->dim[2];
    m->dim[2] *= m->dim[1];
    m->dim[1] = m->end[1] = 1;
    m->begin[1] = 0;
}

/* Pixels from column x on with the same taps: how many, and their place. */
static void find_patch(const tw_window_spans *w, const tw_image *in, const tw_image *out,
                       int32_t batch, tw_taps rows_inside, int32_t x, tw_patch *patch)
{
    const tw_span *rows = &w->axis[0], *columns = &w->axis[1];
    tw_taps none = {0, 0};
    patch->batch = batch;
    patch->column = x;
    patch->pixels = 1;
    patch->rows = rows_inside;
    patch->columns = taps_inside(columns, in->begin[2], in->end[2], x);
    if (patch->columns.last - patch->columns.first == columns->kernel) {
        int32_t n = run_length(columns, in->end[2], x);
        patch->pixels = n < out->end[2] - x ? n : out->end[2] - x;
    }
    patch->in = 0;
    patch->out = tw_image_at(out, batch, patch->row, x, out->begin[3]);
    if (rows_inside.first == rows_inside.last || patch->columns.first == patch->columns.last) {
        patch->rows = patch->columns = none;
    } else {
        int32_t top = patch->row * rows->stride - rows->pad_begin;
        int32_t left = x * columns->stride - columns->pad_begin;
        patch->in = tw_image_at(in, batch, top + rows_inside.first * rows->dilation,
                                left + patch->columns.first * columns->dilation, 0);
    }
}

static void walk_row(const tw_window_spans *w, const tw_image *in, const tw_image *out,
                     int32_t batch, int backwards, tw_patch *patch, tw_patch_function visit,
                     const void *job)
{
    tw_taps inside = taps_inside(&w->axis[0], in->begin[1], in->end[1], patch->row);
    int32_t x;
    for (x = out->begin[2]; x < out->end[2]; x += patch->pixels) {
        find_patch(w, in, out, batch, inside, x, patch);
        patch->behind -= patch->pixels;
        patch->closes = backwards && x + patch->pixels >= out->end[2];
        visit(job, patch);
    }
}

tw_status tw_window_walk(const tw_window_spans *w, const tw_image *in, const tw_image *out,
                         tw_patch_function visit, const void *job)
{
    const int shared = in->low < out->high && out->low < in->high;
    const int backwards = shared && out->low > in->low;
    tw_image from = *in, to = *out;
    tw_patch patch;
    int32_t batch, i, rows;
    if (from.begin[3] != 0 || from.end[3] != from.dim[3] || from.begin[0] > to.begin[0] ||
        from.end[0] < to.end[0])
        return TW_E_DATA;
    if (!shared && is_flat(w, in, out)) {
        flatten(&from);
        flatten(&to);
    }
    memset(&patch, 0, sizeof patch);
    rows = to.end[1] - to.begin[1];
    patch.behind = (int64_t)rows * (to.end[2] - to.begin[2]) * (to.end[0] - to.begin[0]);
    for (batch = to.begin[0]; batch < to.end[0]; batch++)
        for (i = 0; i < rows; i++) {
            patch.row = to.begin[1] + (backwards ? rows - 1 - i : i);
            walk_row(w, &from, &to, batch, backwards, &patch, visit, job);
        }
    return TW_OK;
}
