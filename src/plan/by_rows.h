/* Ends of a network that go by rows: an input that the firmware feeds, an output that it is given. */
#ifndef TW_PLAN_BY_ROWS_H
#define TW_PLAN_BY_ROWS_H

#include "plan/schedule.h"

/* The values that the options name, as s->fed and s->drained. */
bool tw_find_by_rows(tw_schedule *s, const tw_compile_options *options, tw_diag *diag);

/* Always false: says that the named end cannot go by rows in any plan. */
bool tw_refuse_by_rows(const tw_compile_options *options, tw_diag *diag);

/* May this input or output go by rows, as far as the steps that touch it say? */
bool tw_may_go_by_rows(const tw_schedule *s, const tw_value *end);

#endif
