/* The parts of the text IR's parser. One parser reads one graph, or a case of test vectors. */
#ifndef TW_IMPORT_TEXT_PARSE_H
#define TW_IMPORT_TEXT_PARSE_H

#include "base/map.h"
#include "import/foreign/foreign.h"
#include "import/text/lex.h"
#include "ops/op.h"

typedef struct tw_text_parser {
    tw_lexer lexer;
    tw_graph *graph;
    tw_builder builder;  /* of foreign operators */
    bool foreign;        /* there was one in the graph */
    tw_map values;       /* name to tw_value */
    int depth;           /* nodes around it whose body it is in */
    size_t random_bytes; /* made by `random` so far, which costs a file nothing to ask for */
    size_t file_bytes;   /* read from side files so far, which may be one file again and again */
} tw_text_parser;

/* graph "NAME" { ... } at hand; fills parser->graph, checked. */
bool tw_text_graph(tw_text_parser *parser);

/* ":" DTYPE "[" extents "]" [quant]. The shape is in bounds, the quantisation agrees with it. */
bool tw_text_type(tw_text_parser *parser, tw_shape *shape, tw_quant *quant);

/* Constant data: a list, a file or random numbers; exactly the elements of the shape. */
bool tw_text_data(tw_text_parser *parser, const tw_shape *shape, const void **data);

/* { NAME = ... } into the operator's attribute structure, already set to the defaults. */
bool tw_text_attributes(tw_text_parser *parser, const tw_opdef *op, void *attributes);

/* A value that has been defined. */
bool tw_text_value(tw_text_parser *parser, tw_value **value);

/* Attributes as they are written, for an operator of another vocabulary. */
bool tw_text_foreign_attributes(tw_text_parser *parser, tw_foreign_attribute **attributes,
                                int *count);

#endif
