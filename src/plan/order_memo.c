/* A few rows, searched one by one: a network has few kinds of blocks, one behind the other. */
#include "plan/order_memo.h"

#include <string.h>

const int *tw_order_memo_find(const tw_order_memo *memo, const int64_t *words, int word_count)
{
    for (int i = 0; i < TW_ORDER_MEMO_ROWS; i++)
        if (memo->row[i].word_count == word_count &&
            memcmp(memo->row[i].words, words, sizeof *words * (size_t)word_count) == 0)
            return memo->row[i].rank;
    return NULL;
}

void tw_order_memo_keep(tw_order_memo *memo, const int64_t *words, int word_count, const int *rank,
                        int task_count)
{
    memo->row[memo->next % TW_ORDER_MEMO_ROWS] = (struct tw_order_memo_row){
        tw_copy(memo->arena, words, sizeof *words * (size_t)word_count), word_count,
        tw_copy(memo->arena, rank, sizeof *rank * (size_t)task_count)};
    memo->next++;
}
