/* One operator at a time: operate.h says how. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/rows.h"
#include "support/blocks.h"
#include "support/operate.h"

enum { GAP = 0xA5 };

uint64_t tw_operate_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

int32_t tw_operate_range(uint64_t *state, int32_t low, int32_t high)
{
    return low + (int32_t)(tw_operate_random(state) % (uint64_t)((int64_t)high - low + 1));
}

tw_value *tw_operate_value(tw_graph *graph, tw_dtype dtype, int rank, const int32_t *dim,
                           uint64_t *state)
{
    tw_shape shape = tw_shape_of(dtype, rank, dim);
    int64_t n = tw_shape_elements(&shape);
    char *data = tw_alloc(graph->arena, tw_shape_bytes(&shape) + 8);
    for (int64_t i = 0; i < n; i++) {
        uint64_t r = tw_operate_random(state);
        if (dtype == TW_F32) {
            float f = (float)(r >> 40) * 0x1p-24f * 6 - 3;
            memcpy(data + 4 * i, &f, 4);
        } else if (dtype == TW_BOOL) {
            data[i] = (char)(r & 1);
        } else {
            memcpy(data + i * tw_dtype_bytes(dtype), &r, tw_dtype_bytes(dtype));
        }
    }
    return tw_graph_constant(graph, "x", shape, data);
}

tw_node *tw_operate_node(tw_graph *graph, const char *name, tw_value *const *in, int in_count,
                         const void *attributes)
{
    tw_diag diag = {0};
    const tw_opdef *op = tw_op_by_name(name);
    if (!op)
        fail_msg("no operator %s", name);
    tw_node *node = tw_graph_node(graph, op, NULL, in, in_count, 1, NULL, attributes, &diag);
    if (!node)
        fail_msg("%s: %s", name, diag.message);
    return node;
}

/* ---- one run ---- */

typedef struct tw_operand_run {
    tw_tensor tensor; /* with the strides of this run */
    tw_rowmap map;    /* of inputs */
    char *dense;      /* the whole tensor, without gaps */
    char *band;       /* a buffer of its own for the rows at hand; freed after the call */
    size_t band_bytes;
    int axis;
} tw_operand_run;

typedef struct tw_operation {
    const tw_node *node;
    int axis;
    tw_lowering lowering;
    tw_operand_run in[TW_MAX_OPERANDS], out;
    tw_view in_view[TW_MAX_OPERANDS], out_view;
    tw_blob blobs[TW_MAX_BLOBS];
    tw_call call;
} tw_operation;

/* Row-major strides with gaps behind rows and pixels; the innermost stays 1. */
static void spread(tw_tensor *t, uint64_t *state, bool gaps)
{
    int32_t next = 1;
    for (int k = (int)t->rank - 1; k >= 0; k--) {
        t->stride[k] = next;
        next *= t->dim[k] ? t->dim[k] : 1;
        if (gaps && k > 0 && tw_operate_range(state, 0, 2) == 0)
            next += tw_operate_range(state, 1, 3);
    }
}

static size_t span(const tw_tensor *t, int axis, int32_t rows)
{
    size_t n = 1;
    for (int k = 0; k < (int)t->rank; k++) {
        int32_t dim = k == axis ? rows : t->dim[k];
        if (dim == 0)
            return 0;
        n += (size_t)(dim - 1) * (size_t)t->stride[k];
    }
    return n;
}

/* Copy rows [row, row + rows) between the dense tensor and its band buffer. With a null destination
 * in the band, mark instead: `mark` gets 1 for each byte of an element. */
static void each_element(const tw_operand_run *o, int32_t row, int32_t rows, int to_band,
                         char *mark)
{
    const tw_tensor *t = &o->tensor;
    uint32_t bytes = tw_dtype_bytes(t->dtype);
    int32_t index[TW_MAX_RANK] = {0};
    if (span(t, o->axis, rows) == 0)
        return;
    for (;;) {
        int64_t dense = 0, at = 0, k;
        for (k = 0; k < t->rank; k++) {
            int32_t i = k == o->axis ? index[k] + row : index[k];
            dense = dense * t->dim[k] + i;
            at += (int64_t)index[k] * t->stride[k];
        }
        if (mark)
            memset(mark + at * bytes, 1, bytes);
        else if (to_band)
            memcpy(o->band + at * bytes, o->dense + dense * bytes, bytes);
        else
            memcpy(o->dense + dense * bytes, o->band + at * bytes, bytes);
        for (k = t->rank - 1; k >= 0; k--) {
            if (++index[k] < (k == o->axis ? rows : t->dim[k]))
                break;
            index[k] = 0;
        }
        if (k < 0)
            return;
    }
}

/* A buffer that ends with the last element of the rows, so that a sanitizer sees one byte more. */
static tw_view open_band(tw_operand_run *o, int32_t row, int32_t rows, int fill)
{
    tw_view v = {&o->tensor, NULL, o->axis, row, rows, row, rows, 0, 0};
    o->band_bytes = span(&o->tensor, o->axis, rows) * tw_dtype_bytes(o->tensor.dtype);
    o->band = malloc(o->band_bytes ? o->band_bytes : 1);
    assert_non_null(o->band);
    memset(o->band, GAP, o->band_bytes);
    if (fill)
        each_element(o, row, rows, 1, NULL);
    v.data = o->band;
    return v;
}

static void check_gaps(const tw_operand_run *o, int32_t rows)
{
    char *mark = calloc(1, o->band_bytes ? o->band_bytes : 1);
    assert_non_null(mark);
    each_element(o, 0, rows, 0, mark);
    for (size_t i = 0; i < o->band_bytes; i++)
        if (!mark[i] && (unsigned char)o->band[i] != GAP)
            fail_msg("byte %zu between the output's rows was written", i);
    free(mark);
}

static void run_call(tw_operation *p, int32_t row, int32_t rows)
{
    tw_status status;
    p->out_view = open_band(&p->out, row, rows, 0);
    p->call.memory_bytes = p->lowering.memory;
    p->call.scratch = malloc(p->lowering.scratch + 1u);
    status = p->lowering.kernel->run(&p->call);
    if (status != TW_OK)
        fail_msg("%s: rows %d+%d on axis %d: %s", p->node->op->name, (int)row, (int)rows, p->axis,
                 tw_status_text(status));
    free(p->call.scratch);
    check_gaps(&p->out, rows);
}

static void close_bands(tw_operation *p)
{
    for (int i = 0; i < p->node->in_count; i++)
        free(p->in[i].band);
    free(p->out.band);
    p->out.band = NULL;
}

/* Whose kernels are tried; null: the portable ones. */
static const tw_target *target_tried;
static uint32_t aliases_tried;

static void lower_plain(const tw_node *node, tw_arena *arena, tw_lowering *lowering)
{
    tw_diag diag = {0};
    if (!tw_lower_portable(node, arena, lowering, &diag))
        fail_msg("%s: %s", node->op->name, diag.message);
}

void tw_operate_lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering)
{
    lower_plain(node, arena, lowering);
    if (node->op->pack)
        node->op->pack(node, arena, lowering);
}

void tw_operate_part(tw_lowering *lowering, uint64_t *state)
{
    int halvings = 0;
    while (halvings < TW_MAX_HALVINGS && lowering->in_parts[halvings])
        halvings++;
    if (halvings == 0)
        return;
    halvings = tw_operate_range(state, 0, halvings);
    if (halvings > 0)
        lowering->scratch = lowering->in_parts[halvings - 1];
}

/* As a plan has it that packs the constants, where that is asked for. */
static bool packs_tried;

static bool lower_shared(const tw_node *node, bool packs, tw_arena *arena, tw_lowering *lowering,
                         tw_diag *diag)
{
    if (!tw_lower(node, arena, lowering, diag))
        return false;
    const tw_kernel *plain = lowering->kernel;
    if (packs && node->op->pack)
        node->op->pack(node, arena, lowering);
    return !packs || lowering->kernel != plain;
}

static void lower(tw_operation *p, tw_arena *arena, uint64_t *state)
{
    tw_lowering portable = {0};
    if (!target_tried) {
        tw_operate_lower(p->node, arena, &p->lowering);
        return;
    }
    tw_diag diag = {0};
    if (!lower_shared(p->node, packs_tried, arena, &portable, &diag))
        fail_msg("%s: %s", p->node->op->name, diag.message);
    const char *why =
        tw_lower_native(target_tried, p->node, &portable, arena, &p->lowering, &aliases_tried);
    if (why)
        fail_msg("%s: declined: %s", p->node->op->name, why);
    tw_operate_part(&p->lowering, state);
}

static void begin(tw_operation *p, const tw_node *node, int axis, uint64_t *state, bool gaps)
{
    const tw_opdef *op = node->op;
    uint64_t work = 0;
    memset(p, 0, sizeof *p);
    p->node = node;
    p->axis = axis;
    tw_arena *arena = tw_arena_new(); /* prepared tables; freed by end */
    gaps = gaps && !target_tried;
    lower(p, arena, state);
    for (int i = 0; i < node->in_count; i++) {
        tw_operand_run *o = &p->in[i];
        o->map = tw_rows_whole();
        if (!node->in[i] || tw_is_unread(&p->lowering, i))
            continue;
        o->tensor = tw_tensor_of(node->in[i]);
        o->axis = axis < node->in[i]->shape.rank ? axis : 0;
        o->dense = (char *)(uintptr_t)node->in[i]->data;
        o->map = (op->rows ? op->rows : tw_rows_default)(node, i, axis);
        if (p->lowering.stored[i].data)
            tw_lowered_input(node, &p->lowering, i, &o->tensor);
        else
            spread(&o->tensor, state, gaps && (i == 0 || o->map.rows != TW_ROWS_WHOLE));
        p->in_view[i] = (tw_view){
            &o->tensor, NULL, o->axis, 0, o->tensor.dim[o->axis], 0, o->tensor.dim[o->axis], 0, 0};
    }
    p->out.tensor = tw_tensor_of(node->out[0]);
    p->out.axis = axis < node->out[0]->shape.rank ? axis : 0;
    p->out.dense = calloc(1, tw_shape_bytes(&node->out[0]->shape) + 1);
    spread(&p->out.tensor, state, gaps);
    p->out_view = (tw_view){&p->out.tensor,
                            NULL,
                            p->out.axis,
                            0,
                            p->out.tensor.dim[p->out.axis],
                            0,
                            p->out.tensor.dim[p->out.axis],
                            0,
                            0};
    for (int i = 0; i < p->lowering.blob_count; i++) {
        void *own = malloc(p->lowering.blob[i].bytes + 1u);
        memcpy(own, p->lowering.blob[i].data, p->lowering.blob[i].bytes);
        p->blobs[i] = (tw_blob){own, p->lowering.blob[i].bytes};
    }
    tw_arena_free(arena);
    p->call = (tw_call){.in = p->in_view,
                        .out = &p->out_view,
                        .in_count = (uint32_t)node->in_count,
                        .out_count = 1,
                        .attributes = node->attributes,
                        .attribute_bytes = op->attribute_bytes,
                        .blobs = p->blobs,
                        .blob_count = (uint32_t)p->lowering.blob_count,
                        .clamp_low = p->lowering.clamp_low,
                        .clamp_high = p->lowering.clamp_high,
                        .scratch_bytes = p->lowering.scratch,
                        .memory = malloc(p->lowering.memory + 1u),
                        .memory_bytes = p->lowering.memory};
    if (p->lowering.kernel->check(&p->call, &work) != TW_OK)
        fail_msg("%s: the check refuses", op->name);
    if (op->macs && op->macs(node) != work)
        fail_msg("%s: macs and the check's work differ", op->name);
}

static void end(tw_operation *p)
{
    for (int i = 0; i < p->lowering.blob_count; i++)
        free((void *)(uintptr_t)p->blobs[i].data);
    free(p->call.memory);
    free(p->out.dense);
}

static void run_whole(tw_operation *p)
{
    for (int i = 0; i < p->node->in_count; i++)
        if (p->in[i].dense)
            p->in_view[i] = open_band(&p->in[i], 0, p->in[i].tensor.dim[p->in[i].axis], 1);
    int32_t rows = p->out.tensor.dim[p->out.axis];
    run_call(p, 0, rows);
    each_element(&p->out, 0, rows, 0, NULL);
    close_bands(p);
}

/* Rows of input i for output rows [row, row + rows): what its map declares, no row more. */
static void open_input(tw_operation *p, int i, int32_t row, int32_t rows)
{
    tw_operand_run *o = &p->in[i];
    if (!o->dense)
        return;
    int32_t extent = o->tensor.dim[o->axis], first = 0, last = extent;
    if (o->map.rows == TW_ROWS_MAPPED) {
        tw_plan_operand map = {
            .num = o->map.num, .den = o->map.den, .off = o->map.off, .off2 = o->map.off2};
        first = tw_rows_first(&map, row, extent);
        last = tw_rows_needed(&map, row + rows, extent);
        if (last < first)
            last = first;
    } else if (o->map.rows == TW_ROWS_ACCUMULATED) {
        first = row;
        last = row + rows;
    }
    p->in_view[i] = open_band(o, first, last - first, 1);
}

static bool accumulates(const tw_operation *p)
{
    for (int i = 0; i < p->node->in_count; i++)
        if (p->in[i].map.rows == TW_ROWS_ACCUMULATED)
            return true;
    return false;
}

/* Must the output come all at once? */
static bool is_once(const tw_operation *p)
{
    for (int i = 0; i < p->node->in_count; i++)
        if (p->in[i].map.rows == TW_ROWS_ONCE)
            return true;
    return false;
}

static void run_bands(tw_operation *p, uint64_t *state)
{
    bool gather = accumulates(p);
    int32_t out_rows = p->out.tensor.dim[p->out.axis];
    int32_t total = gather ? p->in[0].tensor.dim[p->axis] : out_rows;
    int32_t most = tw_operate_range(state, 1, total < 1 ? 1 : total);
    for (int32_t row = 0; row < total;) {
        int32_t rows = is_once(p) ? total : tw_operate_range(state, 1, most);
        rows = rows > total - row ? total - row : rows;
        for (int i = 0; i < p->node->in_count; i++)
            open_input(p, i, row, rows);
        run_call(p, gather ? 0 : row, gather ? out_rows : rows);
        row += rows;
        if (!gather)
            each_element(&p->out, row - rows, rows, 0, NULL);
        else if (row == total)
            each_element(&p->out, 0, out_rows, 0, NULL);
        close_bands(p);
    }
}

const void *tw_operate_whole(tw_node *node, tw_arena *arena)
{
    tw_operation p;
    uint64_t state = 0;
    uint32_t bytes = tw_shape_bytes(&node->out[0]->shape);
    char *data = tw_alloc(arena, bytes + 1u);
    begin(&p, node, 0, &state, false);
    run_whole(&p);
    memcpy(data, p.out.dense, bytes);
    end(&p);
    node->out[0]->data = data;
    return data;
}

static void compare(const tw_operation *p, const char *how)
{
    const tw_shape *s = &p->node->out[0]->shape;
    uint32_t bytes = tw_shape_bytes(s), each = tw_dtype_bytes(s->dtype);
    const char *want = p->node->out[0]->data;
    char text[96];
    if (!bytes || memcmp(p->out.dense, want, bytes) == 0)
        return;
    uint32_t at = 0;
    while (p->out.dense[at] == want[at])
        at++;
    tw_shape_text(s, text, sizeof text);
    fail_msg("%s %s, axis %d, %s: element %u differs", p->node->op->name, text, p->axis, how,
             at / each);
}

/* Where the operator allows it, the output over an input. */
static void run_in_place(tw_operation *p, int input)
{
    char *shared;
    for (int i = 0; i < p->node->in_count; i++)
        if (p->in[i].dense)
            p->in_view[i] = open_band(&p->in[i], 0, p->in[i].tensor.dim[p->in[i].axis], 1);
    shared = p->in[input].band;
    p->out_view.data = shared;
    p->call.scratch = malloc(p->lowering.scratch + 1u);
    if (p->lowering.kernel->run(&p->call) != TW_OK)
        fail_msg("%s: in place: the kernel refuses", p->node->op->name);
    free(p->call.scratch);
    p->out.band = shared;
    each_element(&p->out, 0, p->out.tensor.dim[p->out.axis], 0, NULL);
    p->out.band = NULL;
    close_bands(p);
}

/* The output as near to input 0 as the lowering allows, `distance` bytes from its beginning to the
 * output's, with nothing but them in the buffer and canaries around both. */
static void run_overlapped(tw_operation *p, int64_t distance, const char *how)
{
    enum { CANARY = 64 };
    size_t in = tw_tensor_bytes(&p->in[0].tensor), out = tw_tensor_bytes(&p->out.tensor);
    size_t in_at = CANARY + (distance < 0 ? (size_t)-distance : 0);
    size_t out_at = CANARY + (distance > 0 ? (size_t)distance : 0);
    size_t end = (in_at + in > out_at + out ? in_at + in : out_at + out) + CANARY;
    char *shared = malloc(end);
    assert_non_null(shared);
    memset(shared, GAP, end);
    for (int i = 0; i < p->node->in_count; i++)
        if (p->in[i].dense)
            p->in_view[i] = open_band(&p->in[i], 0, p->in[i].tensor.dim[p->in[i].axis], 1);
    memcpy(shared + in_at, p->in[0].band, in);
    p->in_view[0].data = shared + in_at;
    p->out_view.data = shared + out_at;
    p->call.scratch = malloc(p->lowering.scratch + 1u);
    if (p->lowering.kernel->run(&p->call) != TW_OK)
        fail_msg("%s: %s: the kernel refuses", p->node->op->name, how);
    free(p->call.scratch);
    for (size_t i = 0; i < end; i++)
        if ((unsigned char)shared[i] != GAP && (i < CANARY || i >= end - CANARY))
            fail_msg("%s: %s: a canary is gone", p->node->op->name, how);
    memcpy(p->out.dense, shared + out_at, out);
    free(shared);
    close_bands(p);
    compare(p, how);
}

/* Can rows of this axis be bands: every axis before it has extent 1 in what is banded? */
static bool can_band(const tw_operation *p)
{
    const tw_shape *out = &p->node->out[0]->shape;
    bool gather = accumulates(p), any = false;
    for (int i = 0; i < p->node->in_count; i++) {
        if (p->in[i].map.rows == TW_ROWS_WHOLE)
            continue;
        const tw_shape *in = &p->node->in[i]->shape;
        any = true;
        if (p->axis >= in->rank)
            return false;
        for (int k = 0; k < p->axis; k++)
            if (in->dim[k] != 1)
                return false;
    }
    for (int k = 0; !gather && k < p->axis && k < out->rank; k++)
        if (out->dim[k] != 1)
            return false;
    return gather || (p->axis < out->rank && (any || out->dim[p->axis] > 1));
}

int tw_operate_bands(const tw_node *node, uint64_t *state)
{
    int banded = 0;
    tw_operation p;
    begin(&p, node, 0, state, true);
    run_whole(&p);
    compare(&p, "whole with gaps");
    end(&p);
    for (int i = 0; node->op->in_place && i < node->in_count; i++) {
        begin(&p, node, 0, state, false);
        if (node->in[i] && node->op->in_place(node, i) &&
            (!target_tried || (aliases_tried >> i & 1u)) &&
            tw_shape_bytes(&node->in[i]->shape) == tw_shape_bytes(&node->out[0]->shape)) {
            run_in_place(&p, i);
            compare(&p, "in place");
        }
        end(&p);
    }
    begin(&p, node, 0, state, false);
    if (p.lowering.overlap.may) {
        /* Both keep the alignment of their elements. */
        int64_t in = tw_dtype_bytes(node->in[0]->shape.dtype);
        int64_t out = tw_dtype_bytes(node->out[0]->shape.dtype), each = in > out ? in : out;
        int64_t below = (p.lowering.overlap.below + each - 1) / each * each;
        int64_t above = (p.lowering.overlap.above + each - 1) / each * each;
        int64_t further = each * tw_operate_range(state, 0, 40);
        run_overlapped(&p, -below, "as near below as may be");
        run_overlapped(&p, above, "as near above as may be");
        run_overlapped(&p, -below - further, "below");
        run_overlapped(&p, above + further, "above");
    }
    end(&p);
    for (int axis = 0; axis < TW_MAX_RANK; axis++) {
        if (axis >= node->in[0]->shape.rank && axis >= node->out[0]->shape.rank)
            break;
        begin(&p, node, axis, state, tw_operate_range(state, 0, 1) != 0);
        if (can_band(&p)) {
            run_bands(&p, state);
            compare(&p, "in bands");
            banded++;
        }
        end(&p);
    }
    tw_operate_blocks(node, state);
    return banded;
}

bool tw_operate_shared(const tw_node *node, bool packs, tw_arena *arena, tw_lowering *lowering)
{
    tw_diag diag = {0};
    return lower_shared(node, packs, arena, lowering, &diag);
}

int tw_operate_native(const tw_node *node, const tw_target *target, bool packs, uint64_t *state,
                      const char **why)
{
    tw_arena *arena = tw_arena_new();
    tw_lowering portable = {0}, native;
    tw_diag diag = {0};
    int banded = -1;
    *why = "the portable kernels do not take it";
    if (lower_shared(node, packs, arena, &portable, &diag))
        *why = tw_lower_native(target, node, &portable, arena, &native, &aliases_tried);
    tw_arena_free(arena);
    if (*why)
        return banded;
    target_tried = target;
    packs_tried = packs;
    banded = tw_operate_bands(node, state);
    target_tried = NULL;
    return banded;
}
