/* What the execution loop does with a plan, call by call: the schedule that `direct` writes down. Rows,
 * windows and moves do not depend on data, so one run with kernels that do nothing shows all of it. Branches,
 * loops and waits are passed over: what is in them comes once, in its place. */
#ifndef TW_EMIT_FIRMWARE_TRACE_H
#define TW_EMIT_FIRMWARE_TRACE_H

#include "host/session.h"

typedef enum tw_event_kind {
    TW_EVENT_CALL, /* of step `id`; of each operand: first row, rows, bytes from its
                      tensor, first column, columns */
    TW_EVENT_MOVE, /* in the tensor `id`: bytes to skip, bytes to keep */
    TW_EVENT_FEED  /* of input `id`: first row, rows, bytes from its tensor */
} tw_event_kind;

enum { TW_VIEW_NUMBERS = 5, TW_EVENT_NUMBERS = TW_VIEW_NUMBERS * TW_MAX_OPERANDS };

typedef struct tw_event {
    tw_event_kind kind;
    uint32_t segment, id;
    int32_t count; /* of numbers */
    const int32_t *number;
} tw_event;

typedef struct tw_trace {
    tw_arena *arena;
    tw_event *events;
    int count, capacity;
} tw_trace;

/* The events of one run, in `arena`. */
bool tw_trace_plan(const tw_session *session, tw_arena *arena, tw_trace *trace, tw_diag *diag);

/* Events first .. first + times * length - 1 are `times` rounds of `length` events, alike but for numbers
 * that grow by the same amount from round to round. */
typedef struct tw_rounds {
    int length, times;
} tw_rounds;

/* The repetition from event `first` that saves most, before event `end`; times 1 where there is none. */
tw_rounds tw_trace_rounds(const tw_trace *trace, int first, int end);

#endif
