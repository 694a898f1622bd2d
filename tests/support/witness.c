/* Running a plan under observation: witness.h says what is observed. The kernels of the plan are replaced
 * by ones that look before and after; a kernel has no argument to tell it which one it is, so that each of
 * them is a function of its own. */
#include "support/witness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/op.h"
#include "runtime/rows.h"
#include "support/plans.h"

enum { SLOTS = 24, CANARY = 64, MARK = 0xC7, FAST = TW_REGION_FAST, REGIONS = TW_MAX_REGIONS };

typedef struct tw_witness_state {
    tw_model model;
    tw_context context;
    const tw_kernel *real[SLOTS], *table[SLOTS];
    tw_kernel shim[SLOTS];
    uint8_t *block[REGIONS]; /* canaries, the region, canaries */
    uint8_t *before;         /* the fast region before a call */
    uint8_t **made;          /* by tensor: what was made of it, all rows; null: nothing yet */
    int *when;               /* by tensor: the call that made it last */
    uint64_t random;
    const char *what;
    tw_witnessed *seen;
} tw_witness_state;

static tw_witness_state now;

/* ---- what a view holds ---- */

static uint8_t *region_at(uint32_t region)
{
    return now.block[region] + CANARY;
}

static uint32_t index_of(const tw_tensor *t)
{
    return (uint32_t)(t - now.model.tensors);
}

/* What a view has of axis k: the first index, and how many. */
static size_t first_index(const tw_view *v, int k)
{
    return (size_t)(k == v->axis ? v->row : v->columns != 0 && k == v->axis + 1 ? v->column : 0);
}

static size_t indices(const tw_view *v, int k)
{
    if (k == v->axis)
        return (size_t)v->rows;
    return (size_t)(v->columns != 0 && k == v->axis + 1 ? v->columns : v->tensor->dim[k]);
}

/* Bytes of a view's elements, without gaps. */
static size_t view_bytes(const tw_view *v)
{
    size_t bytes = tw_dtype_bytes(v->tensor->dtype);
    for (int k = 0; k < (int)v->tensor->rank; k++)
        bytes *= indices(v, k);
    return bytes;
}

/* From the first byte to the last, gaps included. */
static size_t span_bytes(const tw_view *v)
{
    size_t last = 0;
    for (int k = 0; k < (int)v->tensor->rank; k++)
        last += (indices(v, k) - 1) * (size_t)v->tensor->stride[k];
    return (last + 1) * tw_dtype_bytes(v->tensor->dtype);
}

/* Copy the elements of a view to memory without gaps, or (back) from memory laid out like the view's own,
 * `other`. */
static void each_element(const tw_view *v, uint8_t *dense, uint8_t *other)
{
    const tw_tensor *t = v->tensor;
    size_t each = tw_dtype_bytes(t->dtype), count = view_bytes(v) / each;
    const uint8_t *from = v->data;
    for (size_t i = 0; i < count; i++) {
        size_t left = i, at = 0;
        for (int k = (int)t->rank - 1; k >= 0; k--) {
            size_t dim = indices(v, k);
            at += left % dim * (size_t)t->stride[k];
            left /= dim;
        }
        memcpy(dense ? dense + i * each : other + at * each, from + at * each, each);
    }
}

/* Copy between memory without gaps and the view's part of its tensor, `made`, which has none either. */
static void each_part(const tw_view *v, uint8_t *dense, uint8_t *made, bool to_made)
{
    const tw_tensor *t = v->tensor;
    size_t each = tw_dtype_bytes(t->dtype), count = view_bytes(v) / each;
    for (size_t i = 0; i < count; i++) {
        size_t left = i, at = 0, stride = 1;
        for (int k = (int)t->rank - 1; k >= 0; k--) {
            at += (first_index(v, k) + left % indices(v, k)) * stride;
            left /= indices(v, k);
            stride *= (size_t)t->dim[k];
        }
        memcpy(to_made ? made + at * each : dense + i * each,
               to_made ? dense + i * each : made + at * each, each);
    }
}

static uint8_t *packed(const tw_view *v)
{
    uint8_t *dense = malloc(view_bytes(v) + 1u);
    assert_non_null(dense);
    each_element(v, dense, NULL);
    return dense;
}

static bool is_present(const tw_view *v)
{
    return v->tensor && v->tensor->region != TW_REGION_CONSTANT && view_bytes(v) > 0;
}

static bool meets(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* What was made of a tensor; of a view of another, what was made last in its place. */
static uint8_t *made_of(const tw_tensor *t)
{
    int last = -1;
    uint8_t *own = now.made[index_of(t)], *found = own;
    for (uint32_t i = 0; !own && i < now.model.tensor_count; i++) {
        const tw_tensor *other = &now.model.tensors[i];
        if (!now.made[i] || other->region != t->region || other->offset != t->offset ||
            other->window != 0 || tw_tensor_bytes(other) != tw_tensor_bytes(t) ||
            now.when[i] <= last)
            continue;
        last = now.when[i];
        found = now.made[i];
    }
    return found;
}

static uint8_t *made_room(const tw_tensor *t)
{
    uint8_t **made = &now.made[index_of(t)];
    if (!*made)
        *made = calloc(1, tw_tensor_bytes(t) + 1u);
    assert_non_null(*made);
    now.when[index_of(t)] = now.seen->calls;
    return *made;
}

/* ---- a call ---- */

static void check_inputs(const tw_call *call)
{
    for (uint32_t i = 0; i < call->in_count; i++) {
        const tw_view *v = &call->in[i];
        uint8_t *made = is_present(v) ? made_of(v->tensor) : NULL;
        if (is_present(v) && !made)
            fail_msg("%s: call %d reads a tensor that nothing made", now.what, now.seen->calls);
        if (!made)
            continue;
        uint8_t *has = packed(v), *want = malloc(view_bytes(v));
        assert_non_null(want);
        each_part(v, want, made, false);
        if (memcmp(has, want, view_bytes(v)) != 0)
            fail_msg("%s: step %u, rows %d+%d: input %u is not what was made", now.what,
                     now.context.error_step, (int)v->row, (int)v->rows, i);
        free(has);
        free(want);
    }
}

static void count_sharing(const tw_call *call)
{
    bool overlapped = false, replaced = false;
    for (uint32_t i = 0; i < call->in_count; i++) {
        const tw_view *in = &call->in[i], *out = &call->out[0];
        if (!is_present(in) || !is_present(out))
            continue;
        now.seen->strided += !tw_is_dense(in->tensor) || !tw_is_dense(out->tensor);
        if (!tw_is_dense(in->tensor) || !tw_is_dense(out->tensor))
            continue;
        const uint8_t *all = region_at(in->tensor->region) + in->tensor->offset;
        bool now_read = meets(out->data, span_bytes(out), in->data, span_bytes(in));
        overlapped |= now_read;
        replaced |= !now_read && in->tensor->window == 0 &&
                    meets(out->data, span_bytes(out), all, tw_tensor_bytes(in->tensor));
    }
    now.seen->overlapped += overlapped;
    now.seen->replaced += replaced;
}

static void *copy_of(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 16);
    assert_non_null(to);
    if (bytes)
        memcpy(to, from, bytes);
    return to;
}

/* The same call in memory of its own; views of `apart` point there. */
static tw_status run_apart(const tw_kernel *kernel, const tw_call *call, tw_view *apart)
{
    tw_call copy = *call;
    uint32_t count = call->in_count + call->out_count;
    for (uint32_t i = 0; i < count; i++) {
        apart[i] = call->in[i]; /* outputs stand behind inputs */
        if (is_present(&apart[i]))
            apart[i].data = copy_of(call->in[i].data, span_bytes(&call->in[i]));
    }
    copy.in = apart;
    copy.out = apart + call->in_count;
    copy.scratch = malloc(call->scratch_bytes + 1u);
    copy.memory = copy_of(call->memory, call->memory_bytes);
    tw_status status = kernel->run(&copy);
    free(copy.scratch);
    free(copy.memory);
    return status;
}

/* Of the fast region, only the outputs' rows, scratch and step memory may have changed. */
static void check_rest(const tw_call *call)
{
    uint8_t *arena = region_at(FAST);
    for (uint32_t i = 0; i < call->out_count; i++)
        if (is_present(&call->out[i]) && call->out[i].tensor->region == FAST)
            each_element(&call->out[i], NULL, now.before + ((uint8_t *)call->out[i].data - arena));
    if (call->scratch_bytes)
        memcpy(now.before + ((uint8_t *)call->scratch - arena), call->scratch, call->scratch_bytes);
    if (call->memory_bytes)
        memcpy(now.before + ((uint8_t *)call->memory - arena), call->memory, call->memory_bytes);
    if (memcmp(now.before, arena, now.model.header->region_bytes[FAST]) != 0)
        fail_msg("%s: step %u writes outside its output", now.what, now.context.error_step);
}

static tw_status observe(int slot, const tw_call *call)
{
    tw_view apart[TW_MAX_OPERANDS];
    uint32_t i;
    check_inputs(call);
    count_sharing(call);
    memcpy(now.before, region_at(FAST), now.model.header->region_bytes[FAST]);
    tw_status status = run_apart(now.real[slot], call, apart);
    assert_int_equal(now.real[slot]->run(call), status);
    check_rest(call);
    now.seen->calls++;
    for (i = 0; i < call->out_count; i++) {
        const tw_view *out = &call->out[i];
        if (!is_present(out))
            continue;
        uint8_t *has = packed(out), *want = packed(&apart[call->in_count + i]);
        if (memcmp(has, want, view_bytes(out)) != 0)
            fail_msg("%s: step %u, rows %d+%d: another result than with memory of its own",
                     now.what, now.context.error_step, (int)out->row, (int)out->rows);
        each_part(out, has, made_room(out->tensor), true);
        free(has);
        free(want);
    }
    for (i = 0; i < call->in_count + call->out_count; i++)
        if (is_present(&apart[i]))
            free(apart[i].data);
    return status;
}

/* clang-format off */
#define EACH_SLOT(X)                                                                               \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)    \
    X(17) X(18) X(19) X(20) X(21) X(22) X(23)
/* clang-format on */
#define FUNCTION(n)                                                                                \
    static tw_status run_##n(const tw_call *call)                                                  \
    {                                                                                              \
        return observe(n, call);                                                                   \
    }
EACH_SLOT(FUNCTION)
#define NAME(n) run_##n,
static const tw_kernel_run runs[SLOTS] = {EACH_SLOT(NAME)};

/* ---- a plan ---- */

static void load(const tw_compiled *compiled)
{
    const uint8_t *plan = compiled->plan;
    const tw_plan_header *h = (const tw_plan_header *)(const void *)plan;
    const tw_plan_section *s = (const tw_plan_section *)(const void *)(h + 1);
    assert_int_equal(s->kind, TW_SECTION_KERNELS);
    uint32_t count = s->bytes / 4;
    assert_in_range(count, 1, SLOTS);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id;
        memcpy(&id, plan + s->offset + 4 * i, sizeof id);
        now.real[i] = tw_kernel_by_id(id);
        assert_non_null(now.real[i]);
        now.shim[i] = (tw_kernel){id, runs[i], now.real[i]->check, now.real[i]->columns};
        now.table[i] = &now.shim[i];
    }
    assert_int_equal(tw_load(&now.model, plan, (uint32_t)compiled->plan_bytes, now.table, count),
                     TW_OK);
}

static void open(void)
{
    tw_memory memory[REGIONS - 1];
    for (uint32_t r = 1; r < REGIONS; r++) {
        size_t bytes = now.model.header->region_bytes[r];
        now.block[r] = aligned_alloc(TW_PLAN_ALIGN, (bytes + 2 * CANARY + 15) / 16 * 16);
        assert_non_null(now.block[r]);
        memset(now.block[r], MARK, bytes + 2 * CANARY);
        memory[r - 1] = (tw_memory){region_at(r), (uint32_t)bytes};
    }
    now.before = malloc(now.model.header->region_bytes[FAST] + 1u);
    now.made = calloc(now.model.tensor_count + 1u, sizeof *now.made);
    now.when = calloc(now.model.tensor_count + 1u, sizeof *now.when);
    assert_non_null(now.before);
    assert_non_null(now.made);
    assert_non_null(now.when);
    assert_int_equal(tw_init(&now.context, &now.model, memory, REGIONS - 1), TW_OK);
}

static void check_canaries(void)
{
    for (uint32_t r = 1; r < REGIONS; r++) {
        size_t bytes = now.model.header->region_bytes[r];
        for (size_t i = 0; i < CANARY; i++)
            if (now.block[r][i] != MARK || now.block[r][CANARY + bytes + i] != MARK)
                fail_msg("%s: a canary of region %u is gone", now.what, r);
    }
}

/* Random elements: whole, as tw_test_fill makes them, of which the feed takes rows. */
static void make_input(uint32_t index)
{
    const tw_tensor *t = &now.model.tensors[now.model.inputs[index]];
    void *data = calloc(1, tw_tensor_bytes(t) + 1u);
    assert_non_null(data);
    tw_test_fill(t, data, &now.random);
    memcpy(made_room(t), data, tw_tensor_bytes(t));
    if (tw_input(&now.context, index))
        memcpy(tw_input(&now.context, index), data, tw_tensor_bytes(t));
    free(data);
}

static int feed(void *user, uint32_t input, int32_t row, int32_t rows, void *to)
{
    const tw_tensor *t = &now.model.tensors[now.model.inputs[input]];
    size_t bytes = 0;
    (void)user;
    for (uint32_t g = 0; g < now.model.segment_count; g++)
        if (now.model.segments[g].source != TW_ABSENT)
            bytes = tw_tensor_bytes(t) / (size_t)tw_extent(t, now.model.segments[g].axis);
    memcpy(to, now.made[now.model.inputs[input]] + bytes * (size_t)row, bytes * (size_t)rows);
    return 0;
}

static int drain(void *user, uint32_t output, int32_t row, int32_t rows, const void *from)
{
    (void)user;
    (void)output;
    (void)row;
    (void)rows;
    (void)from;
    return 0;
}

/* What the outputs hold at the end is what was made of them. */
static void check_outputs(void)
{
    for (uint32_t i = 0; i < now.model.output_count; i++) {
        const tw_tensor *t = &now.model.tensors[now.model.outputs[i]];
        const void *data = tw_output(&now.context, i);
        const uint8_t *made = data ? made_of(t) : NULL;
        if (made && memcmp(data, made, tw_tensor_bytes(t)) != 0)
            fail_msg("%s: output %u was overwritten", now.what, i);
    }
}

void tw_witness(const tw_compiled *compiled, const char *what, tw_witnessed *seen)
{
    memset(&now, 0, sizeof now);
    now.what = what;
    now.seen = seen;
    now.random = 21;
    load(compiled);
    open();
    for (uint32_t i = 0; i < now.model.input_count; i++)
        make_input(i);
    tw_set_feed(&now.context, feed, NULL);
    tw_set_drain(&now.context, drain, NULL);
    tw_status status = tw_run(&now.context);
    if (status != TW_OK)
        fail_msg("%s: %s", what, tw_status_text(status));
    check_outputs();
    check_canaries();
    for (uint32_t r = 1; r < REGIONS; r++)
        free(now.block[r]);
    for (uint32_t i = 0; i < now.model.tensor_count; i++)
        free(now.made[i]);
    free(now.made);
    free(now.when);
    free(now.before);
}
