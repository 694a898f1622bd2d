/* Patterns of operators as text, and finding them in a graph. composed.def says how they are written. */
#ifndef TW_NORMALIZE_FUSE_COMPOSED_PATTERN_H
#define TW_NORMALIZE_FUSE_COMPOSED_PATTERN_H

#include "normalize/pass.h"

typedef struct tw_pattern tw_pattern;

/* Null when the text is malformed or names an operator that the ledger lacks. */
const tw_pattern *tw_pattern_read(tw_arena *arena, const char *text);

enum { TW_PATTERN_NODES = 20 };

/* What a pattern was found to be. */
typedef struct tw_found {
    tw_value *x;
    tw_node *node[TW_PATTERN_NODES]; /* node[0]: the one that computes the result */
    int node_count;
    float epsilon;   /* negative: the pattern has none */
    int32_t reduced; /* axes of the reductions, a bit each; 0: none */
} tw_found;

/* Does `root` compute the pattern of some x, and does nothing else read what is computed on the way?
 * Read counts must be true (tw_count_reads). */
bool tw_pattern_find(const tw_pattern *pattern, tw_node *root, tw_found *found);

#endif
