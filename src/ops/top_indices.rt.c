/* TopIndices: kernel. A heap in scratch holds the k best so far, the worst of them on top. */
#include "ops/top_indices.h"

#include "ops/axes.h"
#include "ops/codes.h"
#include "runtime/indices.h"

typedef struct tw_ranking {
    const char *from;
    ptrdiff_t step;
    uint32_t dtype;
    int32_t largest, last;
    int32_t *heap;
    int32_t size;
} tw_ranking;

#define TW_ORDER(type)                                                                             \
    do {                                                                                           \
        const type x = *(const type *)(const void *)a, y = *(const type *)(const void *)b;         \
        return (x > y) - (x < y);                                                                  \
    } while (0)

static int order_f32(float x, float y)
{
    return x == x && y == y ? (x > y) - (x < y) : (x != x) - (y != y);
}

/* 1 where a is greater than b, -1 where it is less. */
static int order(const char *a, const char *b, uint32_t dtype)
{
    switch (dtype) {
    case TW_F32: return order_f32(*(const float *)(const void *)a, *(const float *)(const void *)b);
    case TW_S8: TW_ORDER(int8_t);
    case TW_S16: TW_ORDER(int16_t);
    case TW_U16: TW_ORDER(uint16_t);
    case TW_S32: TW_ORDER(int32_t);
    case TW_U32: TW_ORDER(uint32_t);
    case TW_S64: TW_ORDER(int64_t);
    case TW_U64: TW_ORDER(uint64_t);
    default: TW_ORDER(uint8_t);
    }
}

/* Does element i come before element j in the result? */
static int precedes(const tw_ranking *r, int32_t i, int32_t j)
{
    int c = order(r->from + i * r->step, r->from + j * r->step, r->dtype);
    c = r->largest ? c : -c;
    return c != 0 ? c > 0 : r->last ? i > j : i < j;
}

static void sift_down(const tw_ranking *r, int32_t at, int32_t index)
{
    int32_t child = 2 * at + 1;
    while (child < r->size) {
        if (child + 1 < r->size && precedes(r, r->heap[child], r->heap[child + 1]))
            child++;
        if (!precedes(r, index, r->heap[child]))
            break;
        r->heap[at] = r->heap[child];
        at = child;
        child = 2 * at + 1;
    }
    r->heap[at] = index;
}

static void sift_up(const tw_ranking *r, int32_t at, int32_t index)
{
    while (at > 0 && precedes(r, r->heap[(at - 1) / 2], index)) {
        r->heap[at] = r->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    r->heap[at] = index;
}

/* Leaves the best k of n elements in the heap's memory, in order. */
static void rank_lane(tw_ranking *r, int32_t k, int32_t n)
{
    int32_t i;
    r->size = 0;
    for (i = 0; i < n && k > 0; i++) {
        if (r->size < k) {
            r->size++;
            sift_up(r, r->size - 1, i);
        } else if (precedes(r, i, r->heap[0])) {
            sift_down(r, 0, i);
        }
    }
    while (r->size > 1) { /* the worst to the end, then that of the rest */
        const int32_t worst = r->heap[0], moved = r->heap[--r->size];
        sift_down(r, 0, moved);
        r->heap[r->size] = worst;
    }
}

static void store(char *to, uint32_t dtype, int32_t index)
{
    if (dtype == TW_S64)
        *(int64_t *)(void *)to = index;
    else
        *(int32_t *)(void *)to = index;
}

static tw_status run(const tw_call *call)
{
    const tw_top_indices_attributes *a = (const tw_top_indices_attributes *)call->attributes;
    const tw_view *x = &call->in[0], *out = &call->out[0];
    const int32_t rank = (int32_t)out->tensor->rank, axis = tw_axis(a->axis, rank);
    const int32_t n = x->tensor->dim[axis];
    tw_ranking r;
    tw_box box;
    int32_t first, end;
    r.dtype = x->tensor->dtype;
    r.step = tw_step(x->tensor->stride[axis], tw_dtype_bytes(r.dtype));
    r.largest = a->largest;
    r.last = a->last;
    r.heap = (int32_t *)call->scratch;
    if (!tw_box_of(&box, out, rank))
        return TW_OK;
    first = box.low[axis];
    end = box.high[axis];
    box.low[axis] = box.index[axis] = 0; /* one visit a lane */
    box.high[axis] = 1;
    do {
        int32_t at[TW_MAX_RANK], i;
        memcpy(at, box.index, sizeof at);
        if (x->axis == axis ? !tw_holds(x, 0, n) : !tw_holds(x, at[x->axis], 1))
            return TW_E_SCHEDULE;
        r.from = tw_element(x, at);
        rank_lane(&r, a->k, n);
        for (i = first; i < end; i++) {
            at[axis] = i;
            store(tw_element(out, at), out->tensor->dtype, r.heap[i]);
        }
    } while (tw_box_next(&box));
    return TW_OK;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_top_indices_attributes *a = (const tw_top_indices_attributes *)call->attributes;
    const tw_tensor *x, *out;
    int32_t axis, k;
    if (call->in_count != 1 || call->out_count != 1 || !call->in[0].tensor ||
        !call->out[0].tensor || call->attribute_bytes != sizeof *a)
        return TW_E_CHECK;
    x = call->in[0].tensor;
    out = call->out[0].tensor;
    axis = tw_axis(a->axis, (int32_t)x->rank);
    if (axis < 0 || x->rank != out->rank || !tw_is_index(out) || x->dtype == TW_F16 ||
        x->dtype == TW_BF16 || x->dtype == TW_F64)
        return TW_E_CHECK;
    for (k = 0; k < (int32_t)x->rank; k++)
        if (out->dim[k] != (k == axis ? a->k : x->dim[k]))
            return TW_E_CHECK;
    if (a->k < 0 || a->k > x->dim[axis] || call->scratch_bytes / 4 < (uint32_t)a->k)
        return TW_E_CHECK;
    *work = (uint64_t)tw_element_count(x) + (uint64_t)tw_element_count(out);
    return TW_OK;
}

TW_KERNEL(top_indices, any, run, check);
