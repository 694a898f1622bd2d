/* The checks of the multiply-accumulate and pooling kernels against mutated calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/conv.h"
#include "ops/depthwise_conv.h"
#include "ops/matmul.h"
#include "ops/pool.h"
#include "support/hostile.h"
#include "support/operate.h"

enum { TRIES = 3000 };

/* Shapes that take every path: groups, blocks and their rests, borders, dilation, batches. */
static const tw_conv_attributes conv = {.stride = {2, {1, 2}},
                                        .dilation = {2, {2, 1}},
                                        .pad_begin = {2, {1, 1}},
                                        .pad_end = {2, {2, 0}},
                                        .group = 2};
static const tw_conv_attributes plain = {.group = 1};
static const tw_depthwise_conv_attributes depthwise = {
    .stride = {2, {2, 1}}, .pad_begin = {2, {1, 2}}, .pad_end = {2, {1, 0}}};
static const tw_matmul_attributes straight = {0}, transposed = {1};
static const tw_pool_attributes pool = {.stride = {2, {2, 2}},
                                        .pad_begin = {2, {1, 1}},
                                        .pad_end = {2, {1, 0}},
                                        .kernel = {2, {3, 2}},
                                        .ceil = 1,
                                        .count_include_pad = 1};

typedef struct tw_subject {
    const char *op;
    const void *attributes;
    int rank[3];
    int32_t dim[3][4];
} tw_subject;

static const tw_subject subjects[] = {
    {"Conv", &conv, {4, 4, 1}, {{2, 6, 7, 8}, {22, 3, 2, 4}, {22}}},
    {"Conv", &plain, {4, 4, 1}, {{1, 4, 5, 9}, {8, 1, 1, 9}, {8}}},
    {"Conv", &plain, {3, 3, 1}, {{1, 9, 3}, {5, 3, 3}, {5}}},
    {"DepthwiseConv", &depthwise, {4, 3, 1}, {{1, 6, 7, 20}, {3, 3, 20}, {20}}},
    {"DepthwiseConv", &depthwise, {4, 3, 1}, {{1, 6, 7, 3}, {3, 3, 12}, {12}}},
    {"FullyConnected", NULL, {3, 2, 1}, {{2, 3, 10}, {11, 10}, {11}}},
    {"FullyConnected", NULL, {1, 2, 1}, {{10}, {11, 10}, {11}}},
    {"MatMul", &straight, {3, 4, 0}, {{2, 3, 10}, {2, 1, 10, 18}}},
    {"MatMul", &transposed, {3, 3, 0}, {{2, 3, 10}, {1, 7, 10}}},
    {"MaxPool", &pool, {4, 0, 0}, {{1, 6, 7, 18}}},
    {"AveragePool", &pool, {4, 0, 0}, {{1, 6, 7, 18}}},
};

static void run_subjects(tw_dtype dtype, uint64_t state)
{
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        const tw_subject *s = &subjects[i];
        tw_arena *arena = tw_arena_new();
        tw_graph *graph = tw_graph_new(arena, "hostile");
        tw_value *in[3] = {NULL, NULL, NULL};
        int count = 0;
        for (; count < 3 && s->rank[count]; count++) {
            tw_dtype type = count == 2 && dtype == TW_S8 ? TW_S32 : dtype;
            in[count] = tw_operate_value(graph, type, s->rank[count], s->dim[count], &state);
            if (type == TW_S8)
                in[count]->quant = tw_quant_per_tensor(arena, 0.5f, count ? 0 : -7);
            else if (type == TW_S32)
                memset((void *)(uintptr_t)in[2]->data, 0, tw_shape_bytes(&in[2]->shape));
        }
        tw_node *node = tw_operate_node(graph, s->op, in, count, s->attributes);
        if (dtype == TW_S8)
            node->out[0]->quant = tw_quant_per_tensor(arena, 0.25f, 3);
        int accepted = tw_hostile_calls(node, &state, TRIES);
        if (accepted < TRIES / 10)
            fail_msg("%s: only %d of %d calls were accepted", s->op, accepted, TRIES);
        tw_arena_free(arena);
    }
}

static void test_float(void **unused)
{
    (void)unused;
    run_subjects(TW_F32, 1);
}

static void test_int8(void **unused)
{
    (void)unused;
    run_subjects(TW_S8, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float),
        cmocka_unit_test(test_int8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
