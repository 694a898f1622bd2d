/* Graphs as text IR: the inverse of import/text. */
#ifndef TW_GRAPH_PRINT_H
#define TW_GRAPH_PRINT_H

#include <stdio.h>

#include "graph/graph.h"

/* Print the graph so that it reads back to the same graph, bit for bit. side_folder: where constants
 * of more than TW_PRINT_INLINE elements are written as .npy files, which must be the folder the
 * text will stand in; null: all data is printed inline. */
enum { TW_PRINT_INLINE = 64 };
bool tw_text_print(const tw_graph *graph, FILE *file, const char *side_folder, tw_diag *diag);

/* A shorter form to read, not to parse: no data of constants beyond `most` elements. */
bool tw_text_sketch(const tw_graph *graph, FILE *file, int most, tw_diag *diag);

/* "stride=[2, 2]": an attribute as the text IR has it. field: its place in the operator's structure. */
struct tw_attribute;
void tw_attribute_print(FILE *file, const struct tw_attribute *attribute, const void *field);

#endif
