/* Answers of the order search, by the region's description: networks repeat their blocks, and equal
 * blocks have equal orders. */
#ifndef TW_PLAN_ORDER_MEMO_H
#define TW_PLAN_ORDER_MEMO_H

#include "base/arena.h"

#include <stdint.h>

/* The last answers; zero-initialise all but the arena, which owns what is kept. */
enum { TW_ORDER_MEMO_ROWS = 16 };
typedef struct tw_order_memo {
    tw_arena *arena;
    struct tw_order_memo_row {
        int64_t *words;
        int word_count;
        int *rank;
    } row[TW_ORDER_MEMO_ROWS];
    unsigned next;
} tw_order_memo;

/* The ranks kept for the words, or null. */
const int *tw_order_memo_find(const tw_order_memo *memo, const int64_t *words, int word_count);

/* Keeps copies, in place of the oldest row. rank: one number a task of the region. */
void tw_order_memo_keep(tw_order_memo *memo, const int64_t *words, int word_count, const int *rank,
                        int task_count);

#endif
