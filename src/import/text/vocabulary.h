/* Foreign operators in the text IR: `mobilint.OrderedPatchify(%x) {order=1}` belongs to the
 * vocabulary `mobilint`, whose importer turns the call into IR nodes. */
#ifndef TW_IMPORT_TEXT_VOCABULARY_H
#define TW_IMPORT_TEXT_VOCABULARY_H

#include "graph/graph.h"

/* An attribute as written. A single number is a list of one. */
typedef struct tw_foreign_attribute {
    const char *name;
    const char *text; /* a string or a bare name; null for numbers */
    const double *numbers;
    int number_count;
} tw_foreign_attribute;

typedef struct tw_foreign_call {
    const char *name;    /* without the vocabulary */
    const char *node;    /* for messages */
    tw_value *const *in; /* null entries: absent */
    int in_count;
    const char *const *out_names; /* names that the results must have; null entries: not wanted */
    int out_count;
    const tw_foreign_attribute *attributes;
    int attribute_count;
} tw_foreign_call;

typedef struct tw_vocabulary {
    const char *name; /* what stands before the dot */
    /* Appends nodes to the graph and sets out[i] for every named result. */
    bool (*lower)(tw_graph *graph, const tw_foreign_call *call, tw_value **out, tw_diag *diag);
} tw_vocabulary;

/* Null when nobody has registered the name. */
const tw_vocabulary *tw_vocabulary_by_name(const char *name, size_t bytes);

/* "a, b, c" of all registered ones, or "none", for messages. */
void tw_vocabulary_names(char *text, size_t bytes);

#endif
