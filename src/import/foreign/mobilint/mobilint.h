/* What the files of the Mobilint vocabulary share. */
#ifndef TW_IMPORT_FOREIGN_MOBILINT_H
#define TW_IMPORT_FOREIGN_MOBILINT_H

#include "import/foreign/foreign.h"

#define TW_MOBILINT(Name, function, ...) bool tw_mobilint_##function(tw_foreign_node *node);
#include "import/foreign/mobilint.def"

/* The activation with its channels last and, in front of the result, back again: channel_last=false
 * puts the channels of a rank-4 tensor on axis 1. Null with a message where the rank is not 4. */
tw_value *tw_mobilint_image(tw_foreign_node *n);
bool tw_mobilint_image_result(tw_foreign_node *n, tw_value *y);

#endif
