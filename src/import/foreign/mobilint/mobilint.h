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

/* How many tokens came before this run, one state for all caches of a model. */
struct tw_advance_attributes;
typedef struct tw_mobilint_position {
    tw_value *state;       /* s32[1] */
    int64_t tokens, past;  /* of a run; at first, or -1: nobody has said */
    int64_t rows, sliding; /* of the caches: that grow, that slide, a run's own included; 0: none */
    int32_t *initial;      /* of the state */
    struct tw_advance_attributes *advance;
} tw_mobilint_position;

/* Null: there is none. */
tw_mobilint_position *tw_mobilint_find_position(tw_foreign_node *n);
/* The same, made where there is none; past: -1, not said. The position never goes beyond `limit`. */
tw_mobilint_position *tw_mobilint_position_of(tw_foreign_node *n, int64_t tokens, int64_t past,
                                              int64_t limit);

#endif
