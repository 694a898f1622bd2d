/* What a kernel sees: views of tensors, attributes, prepared tables, scratch and step memory.
 *
 * A kernel computes in whole-tensor coordinates on the rows its views hold; it contains no tiling
 * code. All kernels have one signature and one check, which the loader runs once on whole-tensor
 * views: after a check has passed, no call on any band of those tensors may touch a byte outside
 * the views, the scratch and the memory, whatever the data.
 */
#ifndef TW_RUNTIME_KERNEL_H
#define TW_RUNTIME_KERNEL_H

#include "runtime/plan.h"

/* A band of a tensor. `data` is the address of the first row present (index 0 on every other axis).
 * A whole tensor has row 0 and all rows. A rank-0 tensor has axis 0 and one row.
 * An absent optional operand has tensor == NULL.
 *
 * For kernels: element (i0, i1, ...) of the whole tensor is at
 *     data + sum(i[k] * stride[k]) - row * stride[axis]     (elements)
 * and exists when row <= i[axis] < row + rows.
 *
 * Where columns is not 0, the view is a block: of its rows, only `columns` indices from `column` on are
 * present on the axis behind the band axis, and `data` is the address of the first of them. Only kernels
 * that say so are given blocks. */
typedef struct tw_view {
    const tw_tensor *tensor;
    void *data;
    int32_t axis;
    int32_t row, rows; /* present */
    /* Of an accumulated input: the rows new in this call, else as above. */
    int32_t fresh, fresh_rows;
    int32_t column, columns; /* 0, 0: every column */
} tw_view;

typedef struct tw_blob {
    const void *data;
    uint32_t bytes;
} tw_blob;

/* Bounds to which a kernel clamps its results: fused activations. */
typedef union tw_bound {
    uint32_t bits;
    int32_t s32;
    float f32;
} tw_bound;

typedef struct tw_call {
    const tw_view *in, *out; /* out[0]'s rows are what this call must compute */
    uint32_t in_count, out_count;
    const void *attributes; /* the operator's attribute structure */
    uint32_t attribute_bytes;
    const tw_blob *blobs;
    uint32_t blob_count;
    tw_bound clamp_low, clamp_high;
    void *scratch; /* contents undefined; aligned to 16 */
    uint32_t scratch_bytes;
    void *memory;          /* kept over the firings of one run; undefined before the first */
    uint32_t memory_bytes; /* aligned to 16 */
} tw_call;

/* TW_OK; TW_E_DATA for a value out of the operator's range; TW_E_SCHEDULE (or TW_E_DATA) where an
 * operand lacks rows that the band needs, as a hostile plan can bring about. */
typedef tw_status (*tw_kernel_run)(const tw_call *call);

/* TW_OK and *work (multiply-accumulates, or else output elements) of the whole tensors, or
 * TW_E_CHECK. Views are whole; their data pointers must not be followed, those of tables may be
 * (what a table holds can be as hostile as its size). Everything that `run` relies on is verified
 * here: operand counts and presence, types, ranks, extents, strides where it needs them dense,
 * attribute ranges, table, scratch and memory sizes (the latter for the largest band). */
typedef tw_status (*tw_kernel_check)(const tw_call *call, uint64_t *work);

typedef struct tw_kernel {
    uint32_t id; /* TW_KERNEL_ID */
    tw_kernel_run run;
    tw_kernel_check check;
    uint32_t columns; /* 1: views may be blocks */
} tw_kernel;

/* Type signatures of kernels: what the tensors that matter are made of. */
/* clang-format off */
#define TW_SIGNATURE_LIST(X)                                                                       \
    X(f32, 1)  /* float32 */                                                                       \
    X(s8, 2)   /* int8, TFLite quantisation */                                                     \
    X(any, 3)  /* bytes: moves that look at element sizes only */                                  \
    X(s32, 4)                                                                                      \
    X(s64, 5)                                                                                      \
    X(u8, 6)                                                                                       \
    X(bool, 7)                                                                                     \
    X(s16, 8)  /* int16 activations, int8 weights */                                               \
    X(s8w4, 9) /* int8 activations, int4 weights */                                                \
    X(f32w8, 10) /* float32 activations, int8 weights */                                           \
    X(u32, 11)                                                                                     \
    X(u64, 12)                                                                                     \
    X(s16x, 13) /* plain int16 arithmetic */                                                       \
    X(f64, 14)  /* host only */                                                                    \
    X(u16, 15)                                                                                     \
    X(s8x, 16)  /* plain int8 arithmetic, wrapping, without scales */                              \
    X(f32w16, 17) /* float32 activations, weights of 16-bit floats */

enum {
#define TW_SIGNATURE_ENUM(name, value) TW_SIG_##name = value,
    TW_SIGNATURE_LIST(TW_SIGNATURE_ENUM)
#undef TW_SIGNATURE_ENUM
    TW_SIGNATURE_LIMIT = 18
};
/* clang-format on */

/* Back end (0: portable), operator code, signature. */
#define TW_KERNEL_ID(backend, code, signature)                                                     \
    ((uint32_t)(backend) << 24 | (uint32_t)(code) << 8 | (uint32_t)(signature))

/* Is the view stored without gaps (its band is one contiguous slice)? Follows strides only. */
static inline int tw_is_dense(const tw_tensor *t)
{
    int64_t expected = 1;
    for (int i = (int)t->rank - 1; i >= 0; i--) {
        if (t->dim[i] != 1 && t->stride[i] != expected)
            return 0;
        expected *= t->dim[i];
    }
    return 1;
}

static inline int64_t tw_element_count(const tw_tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < (int)t->rank; i++)
        n *= t->dim[i];
    return n;
}

/* Elements of the band a view holds. */
static inline int64_t tw_view_count(const tw_view *v)
{
    int64_t n = 1;
    for (int i = 0; i < (int)v->tensor->rank; i++)
        n *= i == v->axis ? v->rows : v->tensor->dim[i];
    return n;
}

static inline int tw_same_shape(const tw_tensor *a, const tw_tensor *b)
{
    if (a->rank != b->rank)
        return 0;
    for (int i = 0; i < (int)a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return 0;
    return 1;
}

#endif
