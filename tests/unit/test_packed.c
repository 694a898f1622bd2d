/* Weights that 4 bits hold, and floats that 16 bits hold: the packed kernels against the plain ones, the table byte
 * by byte, and what a plan carries. The fixtures of CMSIS-NN's int4 kernels are in test_mac_goldens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "backends/backend.h"
#include "base/half.h"
#include "ops/codes.h"
#include "ops/packed.h"
#include "support/operate.h"
#include "support/plans.h"
#include "support/samples.h"
#include "tilewright/compiler.h"

static bool is_packed(const tw_kernel *kernel)
{
    return (kernel->id & 255u) == TW_SIG_s8w4;
}

/* Constants are folded by the int8 kernel; what runs is the packed one. */
static void compare(tw_node *node, tw_arena *arena, void *count)
{
    tw_lowering lowering = {0};
    tw_diag diag = {0};
    tw_operate_lower(node, arena, &lowering);
    if (!is_packed(lowering.kernel))
        return;
    const void *packed = tw_operate_whole(node, arena);
    size_t bytes = tw_shape_bytes(&node->out[0]->shape);
    void *copy = tw_copy(arena, packed, bytes);
    assert_true(tw_evaluate(node, arena, 0, &diag));
    assert_memory_equal(node->out[0]->data, copy, bytes);
    ++*(int *)count;
}

static void test_same(void **state)
{
    (void)state;
    int count = 0;
    for (int i = 0; i < tw_op_count; i++)
        if (tw_ops[i]->pack)
            tw_each_sample(tw_ops[i], compare, &count);
    assert_true(count >= 5);
}

/* As TensorFlow Lite packs: the lower half of a byte first, an odd one ends in a half of zeros. */
static void look(tw_node *node, tw_arena *arena, void *unused)
{
    tw_lowering l = {0};
    const tw_value *w = node->in[1];
    (void)unused;
    tw_operate_lower(node, arena, &l);
    assert_true(is_packed(l.kernel));
    assert_int_equal(l.unread, 6);
    assert_int_equal(l.blob[TW_BLOB_PACKED].bytes, sizeof(tw_packed_head) + 23);
    const tw_packed_head *head = l.blob[TW_BLOB_PACKED].data;
    const uint8_t *pairs = (const uint8_t *)(head + 1);
    assert_int_equal(head->rank, 2);
    assert_int_equal(head->dim[0], 5);
    assert_int_equal(head->dim[1], 9);
    for (int i = 0; i < 46; i++) {
        int half = pairs[i / 2] >> (i % 2 ? 4 : 0) & 15;
        assert_int_equal(half, i < 45 ? ((const int8_t *)w->data)[i] & 15 : 0);
    }
}

#define LAYER(low, high)                                                                           \
    "graph \"g\" {\n  input %x : s8[4,9] quant(scale=0.05, zero=-3)\n"                             \
    "  const %w : s8[5,9] quant(scale=0.1, zero=0) = random 1 " low " " high "\n"                  \
    "  const %b : s32[5] = random 2 -9 9\n"                                                        \
    "  %y : s8[4,5] quant(scale=0.5, zero=1) = FullyConnected (%x, %w, %b)\n  output %y\n}\n"

static void plain(tw_node *node, tw_arena *arena, void *unused)
{
    tw_lowering l = {0};
    (void)unused;
    tw_operate_lower(node, arena, &l);
    assert_false(is_packed(l.kernel));
}

static void test_table(void **state)
{
    (void)state;
    tw_each_graph(LAYER("-8", "8"), look, NULL);
    tw_each_graph(LAYER("-8", "19"), plain, NULL); /* 8 is one too many */
}

#define NETWORK(low, high)                                                                         \
    "graph \"g\" {\n  input %x : s8[1,16,16,8] quant(scale=0.05, zero=-3)\n"                       \
    "  const %v : s8[3,3,8] quant(scale=0.1, zero=0) = random 1 " low " " high "\n"                \
    "  const %w : s8[64,3,3,8] quant(scale=0.1, zero=0) = random 2 " low " " high "\n"             \
    "  const %u : s8[10,64] quant(scale=0.1, zero=0) = random 3 " low " " high "\n"                \
    "  %d : s8[1,16,16,8] quant(scale=0.2, zero=1) = DepthwiseConv (%x, %v) "                      \
    "{pad_begin=[1,1], pad_end=[1,1]}\n"                                                           \
    "  %c : s8[1,14,14,64] quant(scale=0.5, zero=1) = Conv (%d, %w)\n"                             \
    "  %y : s8[1,14,14,10] quant(scale=0.5, zero=1) = FullyConnected (%c, %u)\n"                   \
    "  output %y\n}\n"

/* Its last step runs when the largest tensor is gone. */
#define LATE(low, high)                                                                            \
    "graph \"g\" {\n  input %x : s8[1,64,64,8] quant(scale=0.05, zero=-3)\n"                       \
    "  const %w : s8[16,512] quant(scale=0.1, zero=0) = random 2 " low " " high "\n"               \
    "  %p : s8[1,8,8,8] quant(scale=0.05, zero=-3) = MaxPool (%x) {kernel=[8,8], stride=[8,8]}\n"  \
    "  %r : s8[1,8,8,8] quant(scale=0.05, zero=-3) = Sub (%p, %p)\n"                               \
    "  %f : s8[1,512] quant(scale=0.05, zero=-3) = Reshape (%r) {shape=[1,512]}\n"                 \
    "  %y : s8[1,16] quant(scale=0.5, zero=1) = FullyConnected (%f, %w)\n"                         \
    "  output %y\n}\n"

/* Compile; how many of the plan's three steps have packed weights, its flash and its fast memory. */
typedef struct tw_sized {
    int packed;
    uint32_t flash, memory, least;
} tw_sized;

static tw_sized sizes_of(const char *text, const tw_compile_options *options)
{
    tw_compiled compiled;
    tw_test_compile(text, options, &compiled);
    assert_int_equal(compiled.report.step_count, 3);
    tw_sized sizes = {0, (uint32_t)compiled.report.flash.total, compiled.report.memory.total,
                      compiled.report.smallest_budget};
    for (int i = 0; i < 3; i++)
        sizes.packed += (compiled.report.steps[i].kernel & 255u) == TW_SIG_s8w4 ||
                        (compiled.report.steps[i].kernel & 255u) == TW_SIG_f32w16;
    tw_compiled_free(&compiled);
    return sizes;
}

static void test_flash(void **state)
{
    (void)state;
    const uint32_t weights = 3 * 3 * 8 + 64 * 3 * 3 * 8 + 10 * 64;
    tw_compile_options options;
    tw_compile_options_default(&options);
    tw_sized all = sizes_of(NETWORK("-100", "100"), &options);
    assert_int_equal(all.packed, 0);
    tw_sized half = sizes_of(NETWORK("-8", "8"), &options);
    assert_int_equal(half.packed, 3);
    printf("flash %u, packed %u, of %u weights\n", all.flash, half.flash, weights);
    assert_true(half.flash + weights / 2 <= all.flash + 3 * (sizeof(tw_packed_head) + 32));
    /* As long as no target gives a kernel of its own up: the library's depthwise ones read int8, and on a
     * processor without MVE those of several rows are none. */
    options.backends = "cmsis-nn:m55";
    assert_int_equal(sizes_of(NETWORK("-8", "8"), &options).packed, 2);
    options.backends = "cmsis-nn:m4";
    assert_int_equal(sizes_of(NETWORK("-8", "8"), &options).packed, 2);
    options.backends = "cmsis-nn:m4,cmsis-nn:m55";
    assert_int_equal(sizes_of(NETWORK("-8", "8"), &options).packed, 2);
    options.backends = "esp-nn"; /* int8 alone: of these the fully connected layer */
    assert_int_equal(sizes_of(NETWORK("-8", "8"), &options).packed, 2);
    options.backends = "cmsis-nn:m55";
    options.prefer = TW_PREFER_SPEED;
    assert_int_equal(sizes_of(NETWORK("-8", "8"), &options).packed, 0);
}

/* Packing never decides what fits: what it costs is taken from what is left of the budget, or not at all. */
static void test_budget(void **state)
{
    (void)state;
    tw_compile_options options;
    tw_compile_options_default(&options);
    tw_sized plain = sizes_of(NETWORK("-100", "100"), &options);
    tw_sized packed = sizes_of(NETWORK("-8", "8"), &options);
    assert_int_equal(packed.least, plain.least);
    options.memories.fast.bounded = true;
    for (int part = 0; part <= 8; part++) {
        uint32_t budget = plain.least + (packed.memory - plain.least) / 8 * (uint32_t)part;
        options.memories.fast.bytes = part < 8 ? budget : packed.memory;
        tw_sized within = sizes_of(NETWORK("-8", "8"), &options);
        assert_true(within.memory <= options.memories.fast.bytes);
        assert_true(part < 8 || within.packed == 3);
    }
    tw_compile_options_default(&options);
    for (tw_prefer prefer = TW_PREFER_MEMORY; prefer <= TW_PREFER_SPEED; prefer++) {
        options.prefer = prefer;
        plain = sizes_of(NETWORK("-100", "100"), &options);
        assert_int_equal(sizes_of(NETWORK("-8", "8"), &options).memory, plain.memory);
        plain = sizes_of(LATE("-100", "100"), &options);
        packed = sizes_of(LATE("-8", "8"), &options);
        assert_int_equal(packed.memory, plain.memory);
        assert_int_equal(packed.packed, prefer == TW_PREFER_MEMORY);
    }
}

/* ---- floats of 16 bits ---- */

typedef struct tw_short_count {
    tw_dtype dtype;
    int kernels, bands;
} tw_short_count;

/* A sample of floats, its weights rounded. */
static void compare_short(tw_node *node, tw_arena *arena, void *user)
{
    tw_short_count *count = user;
    tw_lowering lowering = {0};
    tw_diag diag = {0};
    tw_value *w = node->in[1];
    if (node->in[0]->shape.dtype != TW_F32 || w->shape.dtype != TW_F32)
        return;
    float *rounded = tw_copy(arena, w->data, tw_shape_bytes(&w->shape));
    for (int64_t i = 0; i < tw_shape_elements(&w->shape); i++) {
        const double x =
            (double)rounded[i] * (i % 7 == 3 ? 1e-6 : 1); /* some below float16's least */
        rounded[i] = count->dtype == TW_F16 ? tw_float_from_half(tw_half_from_double(x))
                                            : tw_float_from_bfloat(tw_bfloat_from_double(x));
    }
    w->data = rounded;
    tw_operate_lower(node, arena, &lowering);
    if ((lowering.kernel->id & 255u) != TW_SIG_f32w16)
        return;
    const tw_short_head *head = lowering.blob[TW_BLOB_SHORT].data;
    assert_int_equal(head->dtype, count->dtype);
    const size_t bytes = tw_shape_bytes(&node->out[0]->shape);
    void *copy = tw_copy(arena, tw_operate_whole(node, arena), bytes);
    assert_true(tw_evaluate(node, arena, 0, &diag));
    assert_memory_equal(node->out[0]->data, copy, bytes);
    for (uint64_t seed = 0; seed < 4; seed++) {
        uint64_t state = seed;
        count->bands += tw_operate_bands(node, &state);
    }
    count->kernels++;
}

/* In one round and, where outputs need more than the scratch, in several. */
#define LONG                                                                                       \
    "graph \"g\" {\n  const %x : f32[1,5,1371] = random 1 -1 1\n"                                  \
    "  const %w : f32[5,1371] = random 2 -1 1\n  const %b : f32[5] = random 3 -1 1\n"              \
    "  %y = FullyConnected (%x, %w, %b)\n  output %y\n}\n"
#define WIDE                                                                                       \
    "graph \"g\" {\n  const %x : f32[1,5,4,96] = random 1 -1 1\n"                                  \
    "  const %w : f32[14,3,3,48] = random 2 -1 1\n  const %b : f32[14] = random 3 -1 1\n"          \
    "  %y = Conv (%x, %w, %b) {group=2, pad_begin=[1,1], pad_end=[1,1]}\n  output %y\n}\n"

static void test_same_short(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        tw_short_count count = {i ? TW_BF16 : TW_F16, 0, 0};
        for (int k = 0; k < tw_op_count; k++)
            if (tw_op_kernel(tw_ops[k], TW_SIG_f32w16))
                tw_each_sample(tw_ops[k], compare_short, &count);
        tw_each_graph(LONG, compare_short, &count);
        tw_each_graph(WIDE, compare_short, &count);
        printf("%d layers, %d banded runs\n", count.kernels, count.bands);
        assert_true(count.kernels >= 7 && count.bands > 10);
    }
}

#define SHORT(type)                                                                                \
    "graph \"g\" {\n  input %x : f32[1,16,16,8]\n"                                                 \
    "  const %v : " type "[64,3,3,8] = random 2 -1 1\n  %w = Cast (%v) {dtype=f32}\n"              \
    "  const %u : " type "[64,64] = random 3 -1 1\n  %m = Cast (%u) {dtype=f32}\n"                 \
    "  const %t : " type "[64,10] = random 4 -1 1\n  %n = Cast (%t) {dtype=f32}\n"                 \
    "  %c = Conv (%x, %w)\n  %f = FullyConnected (%c, %m)\n  %y = MatMul (%f, %n)\n"               \
    "  output %y\n}\n"

/* What is float16 in the model is float16 in the plan. */
static void test_short_flash(void **state)
{
    (void)state;
    const uint32_t weights = 64 * 3 * 3 * 8 + 64 * 64 + 64 * 10;
    tw_compile_options options;
    tw_compile_options_default(&options);
    const tw_sized all = sizes_of(SHORT("f32"), &options);
    const tw_sized half = sizes_of(SHORT("f16"), &options);
    printf("flash %u, of 16 bits %u, of %u weights\n", all.flash, half.flash, weights);
    assert_int_equal(all.packed, 0);
    assert_int_equal(half.packed, 3);
    assert_int_equal(half.least, all.least);
    assert_true(half.flash + weights * 2 <= all.flash + 3 * (sizeof(tw_short_head) + 32));
    assert_int_equal(sizes_of(SHORT("bf16"), &options).packed, 3);
    options.prefer = TW_PREFER_SPEED;
    assert_int_equal(sizes_of(SHORT("f16"), &options).packed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),       cmocka_unit_test(test_table),
        cmocka_unit_test(test_flash),      cmocka_unit_test(test_budget),
        cmocka_unit_test(test_same_short), cmocka_unit_test(test_short_flash)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
