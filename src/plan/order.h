/* Execution order as a problem of its own: which task next, so that the most bytes ever live at once
 * are as few as possible. */
#ifndef TW_PLAN_ORDER_H
#define TW_PLAN_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Something a task makes, or that is there from the start (maker -1). */
typedef struct tw_item {
    int64_t bytes;
    int maker;
    bool kept; /* live to the end: a result */
} tw_item;

typedef struct tw_task {
    const int *reads; /* items, none twice */
    int read_count;
    const int *makes;
    int make_count;
    const int *after; /* tasks that must be done before it, beside the makers of what it reads */
    int after_count;
    int64_t extra; /* bytes it needs only while it runs */
    int over;      /* it may write its first item over this one (if it dies here), or -1 */
} tw_task;

/* Find an order of low peak. order[0..task_count) holds a valid order on entry and the best one found
 * on return (the given one wherever nothing better was found). Exact where the tasks between two
 * points that everything passes through are few (about thirty); a beam, then greedy rules, above.
 * Returns the peak. */
int64_t tw_order_search(const tw_task *tasks, int task_count, const tw_item *items, int item_count,
                        int *order);

/* The peak of a given order. */
int64_t tw_order_peak(const tw_task *tasks, int task_count, const tw_item *items, int item_count,
                      const int *order);

#endif
