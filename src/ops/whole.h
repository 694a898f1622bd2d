/* Operands that a kernel takes whole and without gaps. */
#ifndef TW_OPS_WHOLE_H
#define TW_OPS_WHOLE_H

#include "runtime/kernel.h"

/* For `check`: is it there, of this type (0: any) and rank (-1: any), and dense? */
static inline int tw_is_plain(const tw_view *v, uint32_t dtype, int32_t rank)
{
    return v->tensor && (dtype == TW_NO_DTYPE || v->tensor->dtype == dtype) &&
           (rank < 0 || v->tensor->rank == (uint32_t)rank) && tw_is_dense(v->tensor);
}

/* For `run`: are all rows of it present? */
static inline int tw_is_present(const tw_view *v)
{
    return v->axis >= (int32_t)v->tensor->rank ||
           (v->row == 0 && v->rows == v->tensor->dim[v->axis]);
}

/* Input i, or null where it is absent. */
static inline const tw_view *tw_given(const tw_call *call, uint32_t i)
{
    return i < call->in_count && call->in[i].tensor ? &call->in[i] : NULL;
}

/* Output i, likewise. */
static inline const tw_view *tw_wanted(const tw_call *call, uint32_t i)
{
    return i < call->out_count && call->out[i].tensor ? &call->out[i] : NULL;
}

#endif
