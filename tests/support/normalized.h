/* A graph in text IR before and after tw_normalize, held against each other by the reference
 * executor. For tests of the passes: every failure stops the test. */
#ifndef TW_TESTS_NORMALIZED_H
#define TW_TESTS_NORMALIZED_H

#include "graph/graph.h"
#include "tilewright/compiler.h"

typedef struct tw_normalized {
    tw_arena *arena;
    tw_graph *before, *after;
    double difference; /* the largest, of any element of any output of any run */
} tw_normalized;

/* Parse the text, round its float constants and random inputs to multiples of `step` (0: not at
 * all), normalise a second copy, run both on a few random inputs in [low, high]. */
typedef struct tw_normalize_case {
    const char *text;
    tw_io_layout io_layout;
    double step, low, high;
} tw_normalize_case;
tw_normalized tw_normalize_text(const tw_normalize_case *c);
void tw_normalized_free(tw_normalized *n);

/* The graph of a text, checked, its float constants rounded to multiples of `step`. */
tw_graph *tw_parse_rounded(tw_arena *arena, const char *text, double step);

/* Nodes with this operator; the first of them or null; all nodes when the name is null. */
int tw_count_nodes(const tw_graph *graph, const char *op);
tw_node *tw_find_node(const tw_graph *graph, const char *op);

#endif
