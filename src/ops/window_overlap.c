/* How near the results of a windowed operator may lie to its input in memory that both share. In: the
 * geometry, and in which order the kernel goes (tw_walk). Out: distances at which no byte of the input is
 * overwritten before the last read of it, whatever the target.
 *
 * tw_window_walk goes through rows upwards, or downwards where the output begins inside the input. Going
 * up, what is still to be read begins ever higher and what is written ends ever higher: the output must
 * begin so far below the input that the end never passes the beginning. Going down, mirrored. */
#include "ops/product.h"
#include "ops/window_shape.h"

/* More pixels than this are not looked at one by one. */
enum { MOST_PIXELS = 1 << 20 };

typedef struct tw_geometry {
    tw_span rows, columns;
    int64_t in_pixel, out_pixel; /* bytes */
} tw_geometry;

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The first index of the input that output o, or one behind it, reads. */
static int64_t first_read(const tw_span *s, int64_t o)
{
    int64_t first = o * s->stride - s->pad_begin;
    return first < 0 ? 0 : first > s->in ? s->in : first;
}

/* The first index behind what output o, or one before it, reads. */
static int64_t end_read(const tw_span *s, int64_t o)
{
    int64_t end = o * s->stride - s->pad_begin + tw_window_reach(s);
    return end < 0 ? 0 : end > s->in ? s->in : end;
}

/* Pixels of the input before all that output pixel (row, column) or one behind it reads. */
static int64_t pixels_done(const tw_geometry *g, int64_t row, int64_t column)
{
    int64_t here = first_read(&g->rows, row) * g->columns.in + first_read(&g->columns, column);
    int64_t next = first_read(&g->rows, row + 1) * g->columns.in;
    return row + 1 < g->rows.out && next < here ? next : here;
}

/* Row by row: while a row is written its reads and those of the rows behind it are outstanding. */
static int64_t below_by_rows(const tw_geometry *g)
{
    int64_t most = 0;
    for (int64_t row = 0; row < g->rows.out; row++)
        most = larger(most, (row + 1) * g->columns.out * g->out_pixel -
                                first_read(&g->rows, row) * g->columns.in * g->in_pixel);
    return most;
}

/* Pixel by pixel: pixel n may be outstanding while `ahead` more are written (panels of any phase). */
static int64_t below_by_pixels(const tw_geometry *g, int64_t ahead)
{
    int64_t most = 0, all = (int64_t)g->rows.out * g->columns.out, n = 0;
    for (int64_t row = 0; row < g->rows.out; row++)
        for (int64_t column = 0; column < g->columns.out; column++, n++) {
            int64_t written = n + ahead < all ? n + ahead : all;
            most = larger(most, written * g->out_pixel - pixels_done(g, row, column) * g->in_pixel);
        }
    return most;
}

/* Downwards it is always row by row; and never where both begin at one address. */
static int64_t above_by_rows(const tw_geometry *g)
{
    int64_t most = g->in_pixel;
    for (int64_t row = 0; row < g->rows.out; row++)
        most = larger(most, end_read(&g->rows, row) * g->columns.in * g->in_pixel -
                                row * g->columns.out * g->out_pixel);
    return most;
}

static tw_overlap overlap_of(const tw_geometry *g, tw_walk walk)
{
    if ((int64_t)g->rows.out * g->columns.out > MOST_PIXELS)
        return (tw_overlap){false, 0, 0};
    int64_t below = walk == TW_WALK_ROWS     ? below_by_rows(g)
                    : walk == TW_WALK_COPIED ? below_by_pixels(g, 0)
                                             : below_by_pixels(g, TW_PANEL_MOST_PIXELS);
    return (tw_overlap){true, below, above_by_rows(g)};
}

tw_overlap tw_window_overlap(const tw_node *node, const tw_window_lists *lists,
                             const int32_t *kernel, tw_walk walk)
{
    const tw_shape *in = &node->in[0]->shape, *out = &node->out[0]->shape;
    static const tw_span single = {1, 1, 1, 1, 1, 0, 0};
    tw_geometry g = {single, single, 0, 0};
    int spatial = in->rank - 2;
    if (spatial < 1 || spatial > 2 || node->out_count != 1 || in->dim[0] != 1 ||
        tw_shape_elements(out) == 0 || tw_shape_elements(in) == 0)
        return (tw_overlap){false, 0, 0};
    for (int i = 0; i < spatial; i++) {
        tw_span *s = i == spatial - 1 ? &g.columns : &g.rows;
        s->in = in->dim[1 + i];
        s->out = out->dim[1 + i];
        s->kernel = kernel[i];
        if (!tw_window_entry(s, lists, spatial, i))
            return (tw_overlap){false, 0, 0};
    }
    g.in_pixel = (int64_t)in->dim[in->rank - 1] * tw_dtype_bytes(in->dtype);
    g.out_pixel = (int64_t)out->dim[out->rank - 1] * tw_dtype_bytes(out->dtype);
    return overlap_of(&g, walk);
}

tw_overlap tw_rows_overlap(const tw_shape *in, const tw_shape *out, tw_walk walk)
{
    static const tw_span single = {1, 1, 1, 1, 1, 0, 0};
    tw_geometry g = {single, single, 0, 0};
    int64_t channels = in->rank ? in->dim[in->rank - 1] : 1;
    if (channels == 0 || tw_shape_elements(in) == 0 || tw_shape_elements(out) == 0)
        return (tw_overlap){false, 0, 0};
    g.columns.in = g.columns.out = (int32_t)(tw_shape_elements(in) / channels);
    g.in_pixel = channels * tw_dtype_bytes(in->dtype);
    g.out_pixel = (int64_t)tw_shape_bytes(out) / g.columns.out;
    return overlap_of(&g, walk);
}
