/* Test vectors: small graphs with inputs and expected outputs from an independent oracle, in the
 * text IR's own spelling (docs/text-ir.md). */
#ifndef TW_IMPORT_TEXT_VECTORS_H
#define TW_IMPORT_TEXT_VECTORS_H

#include "graph/graph.h"

/* A tensor that a case feeds or expects. */
typedef struct tw_vector {
    const tw_value *value; /* the graph's input or output */
    const void *data;      /* of the value's type and shape, dense */
} tw_vector;

typedef struct tw_vector_case {
    const char *name, *oracle;
    int line;          /* where it begins */
    double rtol, atol; /* for floats: |got - want| <= atol + rtol * |want| */
    int ulp;           /* for integers: the most by which they may differ */
    tw_graph *graph;
    tw_vector *feeds;   /* one an input, in the graph's order */
    tw_vector *expects; /* one an output, in the graph's order */
} tw_vector_case;

typedef struct tw_vector_file {
    tw_vector_case *cases;
    int count;
} tw_vector_file;

/* Every input must be fed and every output expected. Where a case says nothing, rtol is 1e-3, atol
 * 1e-7 and ulp 0. Everything lives in the arena. */
bool tw_vectors_parse(tw_arena *arena, const char *text, size_t bytes, const char *path,
                      tw_vector_file *file, tw_diag *diag);

#endif
