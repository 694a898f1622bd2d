/* A table of lists; what is kept is bounded, later questions are then answered afresh. */
#include "plan/assign_memo.h"

#include <string.h>

enum { MOST_BYTES = 16 << 20 };

struct tw_assign_memo_row {
    struct tw_assign_memo_row *next;
    uint64_t node_limit, size;
    int count;
    const tw_interval *intervals; /* with their offsets */
};

static bool is_same(const tw_interval *a, const tw_interval *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i].first != b[i].first || a[i].last != b[i].last || a[i].bytes != b[i].bytes ||
            a[i].tie != b[i].tie || a[i].above != b[i].above)
            return false;
    return true;
}

/* All that the answer depends on (FNV-1a, by words). */
static uint64_t hash_of(const tw_interval *in, int count, uint64_t node_limit)
{
    const uint64_t prime = 1099511628211U;
    uint64_t hash = (14695981039346656037U ^ node_limit) * prime;
    for (int i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)in[i].first) * prime;
        hash = (hash ^ (uint64_t)in[i].last) * prime;
        hash = (hash ^ in[i].bytes) * prime;
        hash = (hash ^ (uint64_t)in[i].tie) * prime;
        hash = (hash ^ in[i].above) * prime;
    }
    return hash ^ hash >> 32;
}

uint64_t tw_assign_remembered(tw_assign_memo *memo, tw_interval *intervals, int count,
                              uint64_t node_limit)
{
    struct tw_assign_memo_row **list =
        &memo->row[hash_of(intervals, count, node_limit) % TW_ASSIGN_MEMO_ROWS];
    for (const struct tw_assign_memo_row *row = *list; row; row = row->next) {
        if (row->count != count || row->node_limit != node_limit ||
            !is_same(row->intervals, intervals, count))
            continue;
        for (int i = 0; i < count; i++)
            intervals[i].offset = row->intervals[i].offset;
        return row->size;
    }
    uint64_t size = tw_assign_best(intervals, count, node_limit);
    size_t bytes = sizeof *intervals * (size_t)count;
    if (memo->bytes + bytes > MOST_BYTES)
        return size;
    struct tw_assign_memo_row *row = tw_alloc(memo->arena, sizeof *row);
    *row = (struct tw_assign_memo_row){*list, node_limit, size, count,
                                       tw_copy(memo->arena, intervals, bytes)};
    *list = row;
    memo->bytes += bytes;
    return size;
}
