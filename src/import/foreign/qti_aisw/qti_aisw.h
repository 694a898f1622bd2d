/* What the files of the qti_aisw vocabulary share. */
#ifndef TW_IMPORT_FOREIGN_QTI_AISW_H
#define TW_IMPORT_FOREIGN_QTI_AISW_H

#include "import/foreign/foreign.h"

#define TW_QTI_AISW(Name, function, ...) bool tw_qti_aisw_##function(tw_foreign_node *node);
#include "import/foreign/qti_aisw.def"

/* The input that clears the state, where it is wired: one boolean. */
bool tw_qti_aisw_reset(tw_foreign_node *n, int input);

#endif
