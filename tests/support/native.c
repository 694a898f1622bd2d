/* Kernels of back ends under test: native.h. */
#include "support/native.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "import/text/text.h"
#include "runtime/rows.h"
#include "support/operate.h"
#include "support/samples.h"

/* ---- all samples ---- */

enum { BAND_SEEDS = 3, TW_MOST_CODES = 1024 };

typedef struct tw_tally {
    const tw_target *target;
    int taken, declined, banded;
    unsigned char of[TW_MOST_CODES]; /* by operator code: samples taken */
} tw_tally;

static void run_native(const tw_node *node, bool packs, tw_tally *tally)
{
    const char *why;
    for (uint64_t seed = 0; seed < BAND_SEEDS; seed++) {
        uint64_t state = seed;
        const int banded = tw_operate_native(node, tally->target, packs, &state, &why);
        if (banded < 0) {
            tally->declined++;
            return;
        }
        tally->banded += banded;
    }
    tally->taken++;
    assert_true(node->op->code < TW_MOST_CODES);
    tally->of[node->op->code] = 1;
}

static void run_sample(tw_node *node, tw_arena *arena, void *user)
{
    tw_operate_whole(node, arena);
    for (int packs = 0; packs <= (node->op->pack != NULL); packs++)
        run_native(node, packs != 0, user);
}

void tw_native_each_sample(const tw_target *target, void (*visit)(tw_node *, tw_arena *, void *),
                           void *user)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    for (int i = 0; i < tw_op_count; i++)
        if (tw_backend_has(target->backend, tw_ops[i]))
            tw_each_sample(tw_ops[i], visit, user);
    void *text;
    size_t bytes;
    if (tw_read_file(arena, "tests/data/native-samples.txt", 1 << 20, &text, &bytes, &diag))
        tw_each_graph(tw_strndup(arena, text, bytes), visit, user);
    else
        fail_msg("%s", diag.message);
    tw_arena_free(arena);
}

int tw_native_samples(const char *name)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_target target;
    assert_true(tw_target_parse(arena, name, strlen(name), &target, &diag));
    tw_tally tally = {.target = &target};
    int operators = 0;
    tw_native_each_sample(&target, run_sample, &tally);
    print_message("%s: %d samples in %d banded runs, %d declined:", name, tally.taken, tally.banded,
                  tally.declined);
    for (int i = 0; i < tw_op_count; i++)
        if (tally.of[tw_ops[i]->code]) {
            print_message(" %s", tw_ops[i]->name);
            operators++;
        } else if (tw_backend_has(target.backend, tw_ops[i])) {
            print_message(" (no %s)", tw_ops[i]->name);
        }
    print_message("\n");
    tw_arena_free(arena);
    return operators;
}

int tw_native_operators(const tw_backend *backend)
{
    int known = 0;
    for (int i = 0; i < tw_op_count; i++)
        known += tw_backend_has(backend, tw_ops[i]);
    return known;
}

/* ---- one node ---- */

static void open_scene(tw_native_scene *s, const char *target_name, bool packs, const char *text)
{
    tw_diag diag = {0};
    tw_target target;
    tw_lowering portable = {0};
    uint32_t aliases;
    memset(s, 0, sizeof *s);
    s->arena = tw_arena_new();
    tw_graph *graph = tw_text_parse(s->arena, text, strlen(text), NULL, &diag);
    if (!graph) {
        fail_msg("%s", diag.message);
        return;
    }
    s->node = graph->nodes[0];
    assert_true(tw_target_parse(s->arena, target_name, strlen(target_name), &target, &diag));
    assert_true(tw_operate_shared(s->node, packs, s->arena, &portable));
    const char *why =
        tw_lower_native(&target, s->node, &portable, s->arena, &s->lowering, &aliases);
    if (why)
        fail_msg("%s", why);
    s->x = tw_alloc(s->arena, TW_NATIVE_ROOM);
    s->y = tw_alloc(s->arena, TW_NATIVE_ROOM);
    s->scratch = tw_alloc(s->arena, TW_NATIVE_ROOM);
    s->memory = tw_alloc(s->arena, TW_NATIVE_ROOM);
}

void tw_native_open(tw_native_scene *s, const char *target, const char *text)
{
    open_scene(s, target, false, text);
}

void tw_native_open_packed(tw_native_scene *s, const char *target, const char *text)
{
    open_scene(s, target, true, text);
}

void tw_native_close(tw_native_scene *s)
{
    tw_arena_free(s->arena);
}

static tw_view view_of(const tw_tensor *tensor, void *data, int32_t axis, int32_t row, int32_t rows)
{
    return (tw_view){.tensor = tensor,
                     .data = data,
                     .axis = axis,
                     .row = row,
                     .rows = rows,
                     .fresh = row,
                     .fresh_rows = rows};
}

tw_status tw_native_band_call(tw_native_scene *s, int32_t row, int32_t rows)
{
    const tw_node *node = s->node;
    tw_blob blobs[TW_MAX_BLOBS];
    const tw_rowmap map = node->op->rows(node, 0, 1);
    const tw_plan_operand o = {.num = map.num, .den = map.den, .off = map.off, .off2 = map.off2};
    const int32_t extent = node->in[0]->shape.dim[1];
    const int32_t first = tw_rows_first(&o, row, extent);
    const int32_t end = tw_rows_needed(&o, row + rows, extent);
    for (int i = 0; i <= node->in_count; i++) {
        const tw_value *v = i < node->in_count ? node->in[i] : node->out[0];
        if (i < node->in_count && tw_is_unread(&s->lowering, i))
            continue;
        s->tensor[i] = tw_tensor_of(v);
        s->view[i] = view_of(&s->tensor[i], (void *)(uintptr_t)v->data, 0, 0, s->tensor[i].dim[0]);
    }
    s->view[0] = view_of(&s->tensor[0], s->x, 1, first, end - first);
    s->view[node->in_count] = view_of(&s->tensor[node->in_count], s->y, 1, row, rows);
    for (int i = 0; i < s->lowering.blob_count; i++)
        blobs[i] = (tw_blob){s->lowering.blob[i].data, s->lowering.blob[i].bytes};
    const tw_call call = {.in = s->view,
                          .out = s->view + node->in_count,
                          .in_count = (uint32_t)node->in_count,
                          .out_count = 1,
                          .attributes = node->attributes,
                          .attribute_bytes = node->op->attribute_bytes,
                          .blobs = blobs,
                          .blob_count = (uint32_t)s->lowering.blob_count,
                          .clamp_low = s->lowering.clamp_low,
                          .clamp_high = s->lowering.clamp_high,
                          .scratch = s->scratch,
                          .scratch_bytes = s->lowering.scratch,
                          .memory = s->memory,
                          .memory_bytes = s->lowering.memory};
    return s->lowering.kernel->run(&call);
}
