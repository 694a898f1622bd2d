/* Matrix products over batches of matrices: the walk that FullyConnected and MatMul share.
 *
 * a [.., M, K], b [.., K, N] or, transposed, [.., N, K], out [.., M, N]. The axes before the last two
 * are batches, aligned at the right; an extent of 1 (or a missing axis) of a or b stands for every
 * index of out. Device code. */
#ifndef TW_OPS_MATRIX_H
#define TW_OPS_MATRIX_H

#include "runtime/kernel.h"

/* One batch's rows, all that are present in out. Elements from the views' data. */
typedef struct tw_matrix_part {
    ptrdiff_t a, b, out;
    int32_t rows;
} tw_matrix_part;

typedef void (*tw_matrix_function)(const void *job, const tw_matrix_part *part);

/* What is present of an axis: begin <= index < end. */
typedef struct tw_range {
    int32_t begin, end;
} tw_range;

tw_range tw_present(const tw_view *view, int axis);

/* Do the extents of a, b and out fit? Ranks from 2 up. */
int tw_matrix_check(const tw_tensor *a, const tw_tensor *b, int transposed, const tw_tensor *out);

/* Call `visit` for each batch present in out. The part's b points to the first column present in out.
 * TW_E_DATA: a or b lack rows, columns or batches that are needed. */
tw_status tw_matrix_walk(const tw_view *a, const tw_view *b, int transposed, const tw_view *out,
                         tw_matrix_function visit, const void *job);

#endif
