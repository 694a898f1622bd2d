/* Row arithmetic shared by the loader, the execution loop and the planner. plan.h defines the row
 * maps.
 *
 * A segment by columns counts pixels, row after row: the functions tw_pixels_* say of pixels what
 * tw_rows_* say of rows. An input's pixel can be needed on by rows that follow: where a window's rows
 * overlap, all of the overlap stays. */
#ifndef TW_RUNTIME_ROWS_H
#define TW_RUNTIME_ROWS_H

#include "runtime/kernel.h"

/* Bytes of an element by its type, of a tensor that has been verified: tw_dtype_bytes takes any number. */
#define TW_DTYPE_ONE(name, symbol, value, bytes) +1
enum { TW_ELEMENT_TYPES = 1 TW_DTYPE_LIST(TW_DTYPE_ONE) };
#undef TW_DTYPE_ONE
extern const uint8_t tw_element_bytes[TW_ELEMENT_TYPES];

/* Of an operand that is not there. Defined out of sight of those who assign it: a compiler that sees zeros calls
 * memset, at every firing. */
extern const tw_view tw_absent_view;

/* b > 0. Most maps have 1 there, and division in 64 bits is a long call on small processors. */
static inline int64_t tw_floor_div(int64_t a, int64_t b)
{
    if (b == 1)
        return a;
    if (a >= 0 && a <= INT32_MAX && b <= INT32_MAX)
        return (int32_t)a / (int32_t)b;
    return a / b - (a % b < 0);
}

static inline int32_t tw_within(int64_t v, int32_t most)
{
    return v < 0 ? 0 : v > most ? most : (int32_t)v;
}

/* floor((a * scale + add) / div), for |a| <= TW_ALL_ROWS and terms of a row map; what is further than
 * INT32_MAX from 0 becomes that. */
int32_t tw_map_rows(int32_t a, int32_t scale, int32_t add, int32_t div);

static inline int32_t tw_limit_rows(int32_t v, int32_t most)
{
    return v < 0 ? 0 : v > most ? most : v;
}

/* Rows of a tensor on a band axis; a tensor that ends before the axis is one row. */
static inline int32_t tw_extent(const tw_tensor *t, uint32_t axis)
{
    return axis < t->rank ? t->dim[axis] : 1;
}

/* Columns behind the band axis; 1 where a segment counts rows. */
static inline int32_t tw_width(const tw_tensor *t, const tw_plan_segment *g)
{
    return g->columns != 0 ? tw_extent(t, g->axis + 1u) : 1;
}

/* What the segment counts of a tensor: rows or pixels. */
static inline int32_t tw_units(const tw_tensor *t, const tw_plan_segment *g)
{
    return tw_extent(t, g->axis) * tw_width(t, g);
}

/* Bytes of one of them. */
static inline uint32_t tw_unit_bytes(const tw_tensor *t, const tw_plan_segment *g)
{
    const uint32_t axis = g->axis + g->columns;
    return axis < t->rank ? (uint32_t)t->stride[axis] * tw_element_bytes[t->dtype] : 0;
}

/* Every axis before the band axis has extent 1: a band of rows is one contiguous slice. */
static inline int tw_rows_are_slices(const tw_tensor *t, uint32_t axis)
{
    uint32_t i;
    for (i = 0; i < axis && i < t->rank; i++)
        if (t->dim[i] != 1)
            return 0;
    return 1;
}

/* Are the terms of a row map within their bounds? */
static inline int tw_is_map(int32_t num, int32_t den, int32_t off, int32_t off2)
{
    const int32_t far = TW_MAX_ROW_OFFSET;
    return num >= 1 && den >= 1 && num <= far && den <= far && off >= -far && off <= far &&
           off2 >= -far && off2 <= far;
}

/* Output rows that v input rows allow. */
static inline int32_t tw_rows_allowed(const tw_plan_operand *o, int32_t v)
{
    return v >= TW_ALL_ROWS ? TW_ALL_ROWS
                            : tw_limit_rows(tw_map_rows(v, o->num, o->off, o->den), TW_ALL_ROWS);
}

/* First input row that output row `row` needs, within 0..extent. */
static inline int32_t tw_rows_first(const tw_plan_operand *o, int32_t row, int32_t extent)
{
    return tw_limit_rows(tw_map_rows(row, o->den, o->off2, o->num), extent);
}

/* Input rows needed to have `rows` output rows allowed, within 0..extent. */
static inline int32_t tw_rows_needed(const tw_plan_operand *o, int32_t rows, int32_t extent)
{
    return tw_limit_rows(-tw_map_rows(-rows, o->den, o->off, o->num), extent);
}

/* How pixels relate: the maps of rows and of columns, and the columns of either side. */
typedef struct tw_pixel_map {
    const tw_plan_operand *rows;
    const tw_plan_column *columns;
    int32_t in, out;
} tw_pixel_map;

static inline int32_t tw_columns_first(const tw_pixel_map *m, int32_t column)
{
    const tw_plan_column *c = m->columns;
    return tw_within(tw_floor_div((int64_t)column * c->den + c->off2, c->num), m->in);
}

static inline int32_t tw_columns_needed(const tw_pixel_map *m, int32_t columns)
{
    const tw_plan_column *c = m->columns;
    return tw_within(-tw_floor_div(-((int64_t)columns * c->den - c->off), c->num), m->in);
}

/* Output pixels that v input pixels allow: rows that whole rows allow, and of one that the row begun
 * will allow, the columns that are there already. */
static inline int32_t tw_pixels_allowed(const tw_pixel_map *m, int32_t v)
{
    const tw_plan_column *c = m->columns;
    int32_t row, rows;
    int64_t columns = 0;
    if (v >= TW_ALL_ROWS)
        return TW_ALL_ROWS;
    row = v / m->in;
    rows = tw_rows_allowed(m->rows, row);
    if (tw_rows_allowed(m->rows, row + 1) > rows)
        columns = tw_within(tw_floor_div((int64_t)(v % m->in) * c->num + c->off, c->den), m->out);
    return tw_within((int64_t)rows * m->out + columns, TW_ALL_ROWS);
}

/* First input pixel that output pixel `pixel` or a later one needs. */
static inline int32_t tw_pixels_first(const tw_pixel_map *m, int32_t pixel, int32_t extent)
{
    const tw_plan_operand *o = m->rows;
    const int64_t r = pixel / m->out;
    const int64_t row = tw_floor_div(r * o->den + o->off2, o->num);
    const int64_t next = tw_floor_div((r + 1) * o->den + o->off2, o->num);
    const int32_t column = next > row ? tw_columns_first(m, pixel % m->out) : 0;
    return tw_within(row * m->in + column, extent);
}

/* Input pixels needed to have `pixels` output pixels allowed. */
static inline int32_t tw_pixels_needed(const tw_pixel_map *m, int32_t pixels, int32_t extent)
{
    const tw_plan_operand *o = m->rows;
    int64_t r, above, row, needed;
    if (pixels <= 0)
        return 0;
    r = (pixels - 1) / m->out;
    above = r > 0 ? -tw_floor_div(-(r * o->den - o->off), o->num) : 0;
    row = -tw_floor_div(-((r + 1) * o->den - o->off), o->num);
    needed = (row - 1) * m->in + tw_columns_needed(m, (pixels - 1) % m->out + 1);
    return tw_within(above * m->in > needed ? above * m->in : needed, extent);
}

#endif
