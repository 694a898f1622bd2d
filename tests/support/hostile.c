/* Mutated calls: hostile.h says what for. */
#include "support/hostile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/operate.h"

enum { GUARD = 64, MARK = 0x5C, MOST_BYTES = 1 << 18, MOST_WORK = 1 << 18, MOST_WORDS = 128 };

typedef struct tw_hostile {
    tw_tensor tensor[TW_MAX_OPERANDS];
    tw_view view[TW_MAX_OPERANDS];
    unsigned char *memory[TW_MAX_OPERANDS]; /* guard, the view's bytes, guard */
    size_t bytes[TW_MAX_OPERANDS];
    const char *op;
    int operands;
    bool blocks; /* views may be blocks of columns */
    uint32_t attributes[MOST_WORDS];
    tw_blob blob[TW_MAX_BLOBS];
    void *table[TW_MAX_BLOBS]; /* their memory */
    tw_call call;
} tw_hostile;

/* Numbers that are interesting to a check. */
static int32_t random_number(uint64_t *state)
{
    static const int32_t edges[] = {INT32_MIN, INT32_MAX, -1,      0,       1,
                                    2,         3,         127,     128,     -128,
                                    -129,      1 << 20,   1 << 24, 1 << 29, 1 << 30};
    switch (tw_operate_range(state, 0, 3)) {
    case 0: return edges[tw_operate_range(state, 0, (int32_t)(sizeof edges / sizeof *edges) - 1)];
    case 1: return (int32_t)tw_operate_random(state);
    default: return tw_operate_range(state, -2, 12);
    }
}

static void mutate_tensor(tw_tensor *t, uint64_t *state)
{
    int k = tw_operate_range(state, 0, TW_MAX_RANK - 1);
    switch (tw_operate_range(state, 0, 6)) {
    case 0:
    case 1: t->dim[k] = random_number(state); break;
    case 2:
    case 3: t->stride[k] = random_number(state); break;
    case 4: t->zero_point = random_number(state); break;
    case 5: t->rank = (uint8_t)tw_operate_range(state, 0, TW_MAX_RANK); break;
    default: t->dtype = (uint8_t)tw_operate_range(state, 1, 13); break;
    }
}

static void mutate(tw_hostile *h, uint64_t *state)
{
    int i = tw_operate_range(state, 0, h->operands - 1);
    tw_call *c = &h->call;
    switch (tw_operate_range(state, 0, 9)) {
    case 0:
        if (c->attribute_bytes)
            h->attributes[tw_operate_range(state, 0, (int32_t)c->attribute_bytes / 4 - 1)] =
                (uint32_t)random_number(state);
        break;
    case 1:
        if (c->blob_count) {
            tw_blob *b = &h->blob[tw_operate_range(state, 0, (int32_t)c->blob_count - 1)];
            if (tw_operate_range(state, 0, 1))
                b->bytes = (uint32_t)tw_operate_range(state, 0, (int32_t)b->bytes);
            else if (b->bytes >= 4)
                ((int32_t *)(uintptr_t)
                     b->data)[tw_operate_range(state, 0, (int32_t)b->bytes / 4 - 1)] =
                    random_number(state);
        }
        break;
    case 2: c->clamp_low.s32 = random_number(state); break;
    case 3: c->clamp_high.s32 = random_number(state); break;
    case 4: h->view[i].tensor = NULL; break;
    case 5:
        switch (tw_operate_range(state, 0, 5)) {
        case 0: c->in_count = (uint32_t)tw_operate_range(state, 0, (int32_t)c->in_count); break;
        case 1: c->out_count = 0; break;
        case 2: c->attribute_bytes = (uint32_t)tw_operate_range(state, 0, 8) * 4; break;
        case 3: c->blob_count = (uint32_t)tw_operate_range(state, 0, (int32_t)c->blob_count); break;
        case 4: c->scratch_bytes /= 2; break;
        default: c->memory_bytes /= 2; break;
        }
        break;
    default: mutate_tensor(&h->tensor[i], state); break;
    }
}

/* What the loader enforces: extents and strides of any tensor, an output that is there. Also what
 * keeps the test small: spans. */
static bool is_loadable(tw_hostile *h)
{
    if (h->call.out_count == 0 || !h->call.out[0].tensor)
        return false;
    for (int i = 0; i < h->operands; i++) {
        tw_tensor *t = &h->tensor[i];
        int64_t count = 1, span = 1;
        for (int k = 0; k < TW_MAX_RANK; k++) {
            if (k >= t->rank)
                t->dim[k] = 1, t->stride[k] = 0;
            if (t->dim[k] < 0 || t->stride[k] < 0 || (count *= t->dim[k]) > INT32_MAX)
                return false;
            if (t->dim[k] > 1 && (span += (int64_t)(t->dim[k] - 1) * t->stride[k]) > MOST_BYTES)
                return false;
        }
    }
    return true;
}

/* The view becomes a band of any rows on the axis, in memory of its own. */
static void open_view(tw_hostile *h, int i, int axis, bool whole, uint64_t *state)
{
    tw_view *v = &h->view[i];
    const tw_tensor *t = v->tensor;
    if (!t)
        return;
    v->axis = axis < t->rank ? axis : 0;
    int32_t extent = t->dim[v->axis];
    v->row = whole ? 0 : tw_operate_range(state, 0, extent);
    v->rows = whole ? extent : tw_operate_range(state, 0, extent - v->row);
    v->fresh = v->row;
    v->fresh_rows = v->rows;
    v->column = v->columns = 0;
    if (h->blocks && v->axis + 1 < (int32_t)t->rank && t->dim[v->axis + 1] > 0 &&
        tw_operate_range(state, 0, 1) == 0) {
        v->column = tw_operate_range(state, 0, t->dim[v->axis + 1] - 1);
        v->columns = tw_operate_range(state, 1, t->dim[v->axis + 1] - v->column);
    }
    size_t span = 1;
    for (int k = 0; k < t->rank; k++) {
        int32_t dim = k == v->axis ? v->rows : t->dim[k];
        if (v->columns != 0 && k == v->axis + 1)
            dim = v->columns;
        span = dim == 0 ? 0 : span + (span ? (size_t)(dim - 1) * (size_t)t->stride[k] : 0);
        if (dim == 0)
            break;
    }
    h->bytes[i] = span * tw_dtype_bytes(t->dtype);
    h->memory[i] = malloc(h->bytes[i] + 2 * GUARD);
    assert_non_null(h->memory[i]);
    memset(h->memory[i], MARK, h->bytes[i] + 2 * GUARD);
    v->data = h->memory[i] + GUARD;
#if defined(__SANITIZE_ADDRESS__)
    free(h->memory[i]); /* the sanitizer's own guards are better */
    h->memory[i] = malloc(h->bytes[i] ? h->bytes[i] : 1);
    memset(h->memory[i], 1, h->bytes[i]);
    v->data = h->memory[i];
#endif
}

static void close_view(tw_hostile *h, int i)
{
#if !defined(__SANITIZE_ADDRESS__)
    for (size_t k = 0; h->memory[i] && k < GUARD; k++)
        if (h->memory[i][k] != MARK || h->memory[i][GUARD + h->bytes[i] + k] != MARK)
            fail_msg("%s: a byte outside operand %d was written", h->op, i);
#endif
    free(h->memory[i]);
    h->memory[i] = NULL;
}

static void run(tw_hostile *h, const tw_kernel *kernel, uint64_t *state)
{
    int axis = tw_operate_range(state, 0, 4);
    bool whole = tw_operate_range(state, 0, 3) == 0;
    h->blocks = kernel->columns != 0 && !whole && tw_operate_range(state, 0, 2) == 0;
    for (int i = 0; i < h->operands; i++)
        open_view(h, i, axis, whole || tw_operate_range(state, 0, 2) == 0, state);
    tw_status status = kernel->run(&h->call);
    if (status != TW_OK && status != TW_E_DATA && status != TW_E_SCHEDULE)
        fail_msg("run returned %s", tw_status_text(status));
    for (int i = 0; i < h->operands; i++)
        close_view(h, i);
}

static void prepare(tw_hostile *h, const tw_node *node, const tw_lowering *l)
{
    memset(h, 0, sizeof *h);
    h->op = node->op->name;
    h->operands = node->in_count + node->out_count;
    for (int i = 0; i < h->operands; i++) {
        const tw_value *v = i < node->in_count ? node->in[i] : node->out[i - node->in_count];
        if (i < node->in_count && v && !tw_is_unread(l, i))
            tw_lowered_input(node, l, i, &h->tensor[i]);
        else if (i >= node->in_count && v)
            h->tensor[i] = tw_tensor_of(v);
        else
            continue;
        h->view[i].tensor = &h->tensor[i];
    }
    assert_true(node->op->attribute_bytes <= sizeof h->attributes);
    if (node->op->attribute_bytes)
        memcpy(h->attributes, node->attributes, node->op->attribute_bytes);
    for (int i = 0; i < l->blob_count; i++) {
        h->table[i] = malloc(l->blob[i].bytes + 1u);
        assert_non_null(h->table[i]);
        memcpy(h->table[i], l->blob[i].data, l->blob[i].bytes);
        h->blob[i] = (tw_blob){h->table[i], l->blob[i].bytes};
    }
    h->call = (tw_call){.in = h->view,
                        .out = h->view + node->in_count,
                        .in_count = (uint32_t)node->in_count,
                        .out_count = (uint32_t)node->out_count,
                        .attributes = h->attributes,
                        .attribute_bytes = node->op->attribute_bytes,
                        .blobs = h->blob,
                        .blob_count = (uint32_t)l->blob_count,
                        .clamp_low = l->clamp_low,
                        .clamp_high = l->clamp_high,
                        .scratch_bytes = l->scratch,
                        .memory_bytes = l->memory};
}

static int attack(const tw_node *node, const tw_lowering *l, uint64_t *state, int tries)
{
    int accepted = 0;
    for (int i = 0; i < tries; i++) {
        tw_hostile h;
        uint64_t work = 0;
        prepare(&h, node, l);
        for (int n = tw_operate_range(state, 0, 3); n > 0; n--)
            mutate(&h, state);
        for (int k = 0; k < h.operands; k++) { /* views of whole tensors */
            tw_view *v = &h.view[k];
            if (v->tensor)
                v->rows = v->fresh_rows = v->tensor->dim[0];
        }
        if (is_loadable(&h) && l->kernel->check(&h.call, &work) == TW_OK && work <= MOST_WORK) {
            h.call.scratch = malloc(h.call.scratch_bytes + 1u);
            h.call.memory = malloc(h.call.memory_bytes + 1u);
            run(&h, l->kernel, state);
            free(h.call.scratch);
            free(h.call.memory);
            accepted++;
        }
        for (int k = 0; k < (int)TW_MAX_BLOBS; k++)
            free(h.table[k]);
    }
    return accepted;
}

int tw_hostile_calls(const tw_node *node, uint64_t *state, int tries)
{
    tw_arena *arena = tw_arena_new();
    tw_lowering l = {0};
    tw_operate_lower(node, arena, &l);
    const int accepted = attack(node, &l, state, tries);
    tw_arena_free(arena);
    return accepted;
}

int tw_hostile_native_calls(const tw_node *node, const tw_target *target, bool packs,
                            uint64_t *state, int tries)
{
    tw_arena *arena = tw_arena_new();
    tw_lowering portable = {0}, l = {0};
    uint32_t aliases = 0;
    int accepted = -1;
    if (tw_operate_shared(node, packs, arena, &portable) &&
        !tw_lower_native(target, node, &portable, arena, &l, &aliases)) {
        tw_operate_part(&l, state);
        accepted = attack(node, &l, state, tries);
    }
    tw_arena_free(arena);
    return accepted;
}
