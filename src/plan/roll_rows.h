/* Row maps as the planner asks them: the runtime's arithmetic (runtime/rows.h) on what operators say
 * (ops/op.h). */
#ifndef TW_PLAN_ROLL_ROWS_H
#define TW_PLAN_ROLL_ROWS_H

#include "ops/op.h"
#include "runtime/rows.h"

static inline int32_t tw_min32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t tw_max32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline tw_plan_operand tw_map_operand(const tw_rowmap *m)
{
    return (tw_plan_operand){0, 0, (uint32_t)m->rows, m->num, m->den, m->off, m->off2, 0};
}

/* Output rows that v rows of a mapped input allow. */
static inline int32_t tw_map_allowed(const tw_rowmap *m, int32_t v)
{
    tw_plan_operand o = tw_map_operand(m);
    return tw_rows_allowed(&o, v);
}

/* Rows of the input that are needed to have `rows` output rows (or, accumulating, taken). */
static inline int32_t tw_map_needed(const tw_rowmap *m, int32_t rows, int32_t extent)
{
    tw_plan_operand o = tw_map_operand(m);
    if (rows <= 0)
        return 0;
    if (m->rows == TW_ROWS_MAPPED)
        return tw_rows_needed(&o, rows, extent);
    return m->rows == TW_ROWS_ACCUMULATED ? tw_min32(rows, extent) : extent;
}

/* First row of the input still needed when `rows` of `all` have been made (or taken). */
static inline int32_t tw_map_first(const tw_rowmap *m, int32_t rows, int32_t all, int32_t extent)
{
    tw_plan_operand o = tw_map_operand(m);
    if (rows >= all)
        return TW_ALL_ROWS;
    if (m->rows == TW_ROWS_MAPPED)
        return tw_rows_first(&o, rows, extent);
    return m->rows == TW_ROWS_ACCUMULATED ? rows : 0;
}

#endif
