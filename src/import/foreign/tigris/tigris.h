/* What the files of the TiGrIS vocabulary share. */
#ifndef TW_IMPORT_FOREIGN_TIGRIS_H
#define TW_IMPORT_FOREIGN_TIGRIS_H

#include "import/foreign/foreign.h"

#define TW_TIGRIS(Name, function, ...) bool tw_tigris_##function(tw_foreign_node *node);
#include "import/foreign/tigris.def"

/* The IR's operator on the node's operands, with the attributes that are given under the names that
 * the IR has for them. */
tw_value *tw_tigris_node(tw_foreign_node *n, const char *op, tw_value *const *in, int in_count);

#endif
