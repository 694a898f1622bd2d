/* Products of matrices, whatever the container: by numpy's rules, and by an equation of named axes.
 * Messages name the builder's node and `op`; a null operand gives null.
 */
#ifndef TW_IMPORT_PRODUCT_H
#define TW_IMPORT_PRODUCT_H

#include "import/build.h"

/* Of a type that is multiplied in whole numbers, which wrap around? */
static inline bool tw_is_integer_matrix(const tw_value *x)
{
    const tw_dtype dtype = x->shape.dtype;
    return dtype == TW_S32 || dtype == TW_U32 || dtype == TW_S64 || dtype == TW_U64;
}

/* Batches of matrices, vectors among them; a constant matrix on the right becomes a layer's weights. */
tw_value *tw_build_matmul(tw_builder *b, const char *op, tw_value *x, tw_value *y);
/* "ab,bc->ac": sums of products of 1 to 16 operands, in the type of the first. */
tw_value *tw_build_einsum(tw_builder *b, const char *op, const char *equation, tw_value *const *in,
                          int count);

#endif
