/* The text IR as an importer: text in, graph out. The grammar is docs/text-ir.md; the printer is
 * graph/print.h. */
#ifndef TW_IMPORT_TEXT_H
#define TW_IMPORT_TEXT_H

#include "graph/graph.h"

/* Parse a file of one graph. text need not end in a zero byte. path: the file, for messages
 * (LINE:COLUMN stand before each) and for the folder in which `file` data is looked for; null: no
 * files. Returns null with a message on failure. */
tw_graph *tw_text_parse(tw_arena *arena, const char *text, size_t bytes, const char *path,
                        tw_diag *diag);

/* Does the file look like text IR? (Its first word is `graph`.) */
bool tw_text_recognise(const char *text, size_t bytes);

#endif
