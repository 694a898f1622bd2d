/* Row arithmetic shared by the loader and the execution loop. plan.h defines the row maps. */
#ifndef TW_RUNTIME_ROWS_H
#define TW_RUNTIME_ROWS_H

#include "runtime/kernel.h"

static inline int64_t tw_floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

/* Rows of a tensor on a band axis; a tensor that ends before the axis is one row. */
static inline int32_t tw_extent(const tw_tensor *t, uint32_t axis)
{
    return axis < t->rank ? t->dim[axis] : 1;
}

/* Output rows that v input rows allow. */
static inline int32_t tw_rows_allowed(const tw_plan_operand *o, int32_t v)
{
    int64_t rows;
    if (v >= TW_ALL_ROWS)
        return TW_ALL_ROWS;
    rows = tw_floor_div((int64_t)v * o->num + o->off, o->den);
    return rows < 0 ? 0 : rows > TW_ALL_ROWS ? TW_ALL_ROWS : (int32_t)rows;
}

/* First input row that output row `row` needs, within 0..extent. */
static inline int32_t tw_rows_first(const tw_plan_operand *o, int32_t row, int32_t extent)
{
    int64_t first = tw_floor_div((int64_t)row * o->den + o->off2, o->num);
    return first < 0 ? 0 : first > extent ? extent : (int32_t)first;
}

/* Input rows needed to have `rows` output rows allowed, within 0..extent. */
static inline int32_t tw_rows_needed(const tw_plan_operand *o, int32_t rows, int32_t extent)
{
    int64_t needed = -tw_floor_div(-((int64_t)rows * o->den - o->off), o->num);
    return needed < 0 ? 0 : needed > extent ? extent : (int32_t)needed;
}

#endif
