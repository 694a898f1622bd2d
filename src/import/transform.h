/* Fourier transforms as matrices, whatever the container: a transform of a fixed length is a product with
 * a constant. Messages name the builder's node and `op`. */
#ifndef TW_IMPORT_TRANSFORM_H
#define TW_IMPORT_TRANSFORM_H

#include "import/build.h"

/* What goes in: `points` points of `parts` parts (1: real, 2: real and imaginary); what comes out. */
typedef struct tw_transform {
    int32_t length; /* of the transform */
    int32_t points, parts;
    int32_t results, result_parts;
    bool inverse, folded; /* folded: of a spectrum's first half, its mirror image is added */
} tw_transform;

/* Results by points, as weights are: [results * parts, points * parts]. Null with a message. */
tw_value *tw_build_transform(tw_builder *b, const char *op, const tw_transform *t);

#endif
