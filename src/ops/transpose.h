/* Transpose: out[i0, i1, ...] = x[j] with j[perm[k]] = i[k]. */
#ifndef TW_OPS_TRANSPOSE_H
#define TW_OPS_TRANSPOSE_H

#include "ops/attributes.h"

#define TW_TRANSPOSE_ATTRIBUTES(A, T)                                                              \
    A(T, INTS, perm, 0, 0, TW_MAX_RANK - 1,                                                        \
      "input axis that becomes each output axis; empty: the axes in reverse")
TW_ATTRIBUTE_STRUCT(transpose, TW_TRANSPOSE_ATTRIBUTES);

/* Fill perm[rank]; 0 when the attribute is no permutation of 0..rank-1. */
static inline int tw_transpose_perm(const tw_ints *attribute, int32_t rank, int32_t *perm)
{
    int32_t seen = 0, k;
    if (attribute->count != 0 && attribute->count != rank)
        return 0;
    for (k = 0; k < rank; k++) {
        perm[k] = attribute->count == 0 ? rank - 1 - k : attribute->v[k];
        if (perm[k] < 0 || perm[k] >= rank || (seen >> perm[k] & 1) != 0)
            return 0;
        seen |= 1 << perm[k];
    }
    return 1;
}

#endif
