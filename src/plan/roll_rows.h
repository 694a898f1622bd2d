/* Row maps as the planner asks them: the runtime's arithmetic (runtime/rows.h) on what a segment reads
 * (plan/roll.h). */
#ifndef TW_PLAN_ROLL_ROWS_H
#define TW_PLAN_ROLL_ROWS_H

#include "plan/roll.h"
#include "runtime/rows.h"

static inline int32_t tw_min32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t tw_max32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* The maps of a read as the runtime has them. `o` and `c` must live as long as the result. */
static inline tw_pixel_map tw_read_map(const tw_roll_read *r, tw_plan_operand *o, tw_plan_column *c)
{
    const tw_rowmap *m = &r->map;
    *o = (tw_plan_operand){0, 0, (uint32_t)m->rows, m->num, m->den, m->off, m->off2, 0};
    *c = (tw_plan_column){r->column.num, r->column.den, r->column.off, r->column.off2};
    return (tw_pixel_map){o, c, r->width, r->out};
}

/* Output rows that v rows of a mapped input allow. */
static inline int32_t tw_read_allowed(const tw_roll_read *r, int32_t v)
{
    tw_plan_operand o;
    tw_plan_column c;
    tw_pixel_map m = tw_read_map(r, &o, &c);
    return r->out ? tw_pixels_allowed(&m, v) : tw_rows_allowed(&o, v);
}

/* Rows of the input that are needed to have `rows` output rows (or, accumulating, taken). */
static inline int32_t tw_read_needed(const tw_roll_read *r, int32_t rows, int32_t extent)
{
    tw_plan_operand o;
    tw_plan_column c;
    tw_pixel_map m = tw_read_map(r, &o, &c);
    if (rows <= 0)
        return 0;
    if (r->map.rows == TW_ROWS_MAPPED)
        return r->out ? tw_pixels_needed(&m, rows, extent) : tw_rows_needed(&o, rows, extent);
    return r->map.rows == TW_ROWS_ACCUMULATED ? tw_min32(rows, extent) : extent;
}

/* First row of the input still needed when `rows` of `all` have been made (or taken). */
static inline int32_t tw_read_first(const tw_roll_read *r, int32_t rows, int32_t all,
                                    int32_t extent)
{
    tw_plan_operand o;
    tw_plan_column c;
    tw_pixel_map m = tw_read_map(r, &o, &c);
    if (rows >= all)
        return TW_ALL_ROWS;
    if (r->map.rows == TW_ROWS_MAPPED)
        return r->out ? tw_pixels_first(&m, rows, extent) : tw_rows_first(&o, rows, extent);
    return r->map.rows == TW_ROWS_ACCUMULATED ? rows : 0;
}

#endif
