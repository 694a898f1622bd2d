/* What operators share whose indices are data: reading an index, boxes of indices, elements that a
 * view may or may not hold. An index counts from the end where it is negative; one outside its axis
 * ends the run with TW_E_DATA, nothing is read there. */
#ifndef TW_RUNTIME_INDICES_H
#define TW_RUNTIME_INDICES_H

#include "runtime/move.h"

static inline int tw_is_index(const tw_tensor *t)
{
    return t->dtype == TW_S32 || t->dtype == TW_S64;
}

/* The integer at an address of a tensor that tw_is_index. */
static inline int64_t tw_read_index(const char *at, uint32_t dtype)
{
    return dtype == TW_S64 ? *(const int64_t *)(const void *)at
                           : *(const int32_t *)(const void *)at;
}

/* The same within 0..extent-1; 0 where it is outside. */
static inline int tw_index_within(const char *at, uint32_t dtype, int32_t extent, int32_t *index)
{
    int64_t i = tw_read_index(at, dtype);
    i += i < 0 ? extent : 0;
    *index = (int32_t)i;
    return i >= 0 && i < extent;
}

/* Address of an element; null where the view does not hold its row. */
static inline char *tw_held(const tw_view *v, const int32_t *index)
{
    return v->tensor->rank == 0 || tw_holds(v, index[v->axis], 1) ? tw_element(v, index) : NULL;
}

/* A box of indices, visited in row-major order. */
typedef struct tw_box {
    int32_t rank;
    int32_t low[TW_MAX_RANK], high[TW_MAX_RANK]; /* low <= index < high */
    int32_t index[TW_MAX_RANK];                  /* 0 on axes from `rank` on */
} tw_box;

/* The first `rank` axes of the band that a view holds. 0: it is empty. */
static inline int tw_box_of(tw_box *box, const tw_view *v, int32_t rank)
{
    int32_t k, some = tw_view_count(v) > 0;
    memset(box, 0, sizeof *box);
    box->rank = rank;
    for (k = 0; k < rank; k++) {
        box->low[k] = k == v->axis ? v->row : 0;
        box->high[k] = k == v->axis ? v->row + v->rows : v->tensor->dim[k];
        box->index[k] = box->low[k];
    }
    return some;
}

static inline int tw_box_next(tw_box *box)
{
    int32_t k;
    for (k = box->rank - 1; k >= 0; k--) {
        if (++box->index[k] < box->high[k])
            return 1;
        box->index[k] = box->low[k];
    }
    return 0;
}

/* What operators with an operand of indices check: so many inputs, all present, input `index` of an
 * index type, input 0 and the output of one element type. *work: elements of the output. */
tw_status tw_check_indexed(const tw_call *call, uint32_t inputs, uint32_t index, uint64_t *work);

/* Moves out[to[0..to_lead-1], ...] from in[from[0..from_lead-1], ...]; what stands behind those axes is
 * alike in both. Of a band along such an axis, the rows that `out` holds. Rows that a view lacks are
 * refused with TW_E_SCHEDULE. Indices inside the tensors. */
tw_status tw_move_block(const tw_view *out, const int32_t *to, int32_t to_lead, const tw_view *in,
                        const int32_t *from, int32_t from_lead);

/* --- combining ---------------------------------------------------------------------------------- */

enum { TW_COMBINE_NONE, TW_COMBINE_ADD, TW_COMBINE_MUL, TW_COMBINE_MAX, TW_COMBINE_MIN };
#define TW_COMBINE_WORDS "none|add|mul|max|min: "

/* May elements of the type be combined so? */
int tw_can_combine(uint32_t dtype, int32_t how);

/* *to = *to combined with *from; integers wrap around. */
void tw_combine(char *to, const char *from, uint32_t dtype, int32_t how);

/* out[to.., ...] combined with in[from.., ...], element by element, as tw_move_block moves. */
tw_status tw_combine_block(const tw_view *out, const int32_t *to, int32_t to_lead,
                           const tw_view *in, const int32_t *from, int32_t from_lead, int32_t how);

/* The band of `out` as it is in an input of the same shape: what scattering begins with. Nothing to do
 * where they lie over each other. */
tw_status tw_begin_with(const tw_view *out, const tw_view *in);

#endif
