/* Answers of the address search, by its question: the planner asks for the addresses of the same
 * segmentation from many sides, and most of a plan's buffers do not change from one try to the next. */
#ifndef TW_PLAN_ASSIGN_MEMO_H
#define TW_PLAN_ASSIGN_MEMO_H

#include "base/arena.h"
#include "plan/assign.h"

/* Zero-initialise all but the arena, which owns what is kept. */
enum { TW_ASSIGN_MEMO_ROWS = 1024 };
typedef struct tw_assign_memo {
    tw_arena *arena;
    struct tw_assign_memo_row *row[TW_ASSIGN_MEMO_ROWS];
    size_t bytes;
} tw_assign_memo;

/* tw_assign_best, asked once a question. */
uint64_t tw_assign_remembered(tw_assign_memo *memo, tw_interval *intervals, int count,
                              uint64_t node_limit);

#endif
