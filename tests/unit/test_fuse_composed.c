/* fuse_composed: what exporters write out becomes the operator that it is, and what only looks like
 * it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "ops/op.h"
#include "support/normalized.h"

/* Before the nodes of each case: x, and constants after their values. */
#define HEAD                                                                                       \
    "graph \"g\" {\n  input %x : f32[2,3,4]\n  input %z : f32[2,3,4]\n"                            \
    "  const %half : f32[] = [0.5]\n  const %one : f32[] = [1]\n  const %two : f32[1] = [2]\n"     \
    "  const %three : f32[] = [3]\n  const %six : f32[] = [6]\n  const %sixth : f32[] = "          \
    "[0.16666667]\n"                                                                               \
    "  const %eps : f32[] = [0.01]\n  const %root2 : f32[] = [1.4142135]\n"                        \
    "  const %inverse2 : f32[] = [0.70710677]\n  const %c : f32[] = [0.044715]\n"                  \
    "  const %rootpi : f32[] = [0.7978846]\n  const %scale : f32[4] = random 1 1 2\n"              \
    "  const %bias : f32[3,1] = random 2 1 2\n  const %wide : f32[1,1,1,1] = [1]\n"
#define MEAN(to, from) "  %" to " = ReduceMean (%" from ") {axes=[-1]}\n"
#define VARIANCE                                                                                   \
    MEAN("m", "x")                                                                                 \
    "  %d = Sub (%x, %m)\n  %p = Pow (%d, %two)\n" MEAN("v", "p") "  %w = Add (%v, %eps)\n"
#define MEAN_SQUARE "  %p = Mul (%x, %x)\n" MEAN("v", "p") "  %w = Add (%v, %eps)\n"
#define ERF "  %a = Div (%x, %root2)\n  %b = Erf (%a)\n  %s = Add (%b, %one)\n"

/* name: the one operator left. */
static const struct {
    const char *name, *nodes;
} fused[] = {
    {"Swish", "  %s = Sigmoid (%x)\n  %y = Mul (%s, %x)\n"},
    {"Mish", "  %s = Softplus (%x)\n  %t = Tanh (%s)\n  %y = Mul (%x, %t)\n"},
    {"HardSwish", "  %s = HardSigmoid (%x) {alpha=0.16666667, beta=0.5}\n  %y = Mul (%x, %s)\n"},
    {"HardSwish", "  %s = Add (%x, %three)\n  %t = Clip (%s) {alpha=0, beta=6}\n"
                  "  %u = Mul (%x, %t)\n  %y = Div (%u, %six)\n"},
    {"HardSwish", "  %s = Add (%three, %x)\n  %t = Clip (%s) {alpha=0, beta=6}\n"
                  "  %u = Mul (%t, %sixth)\n  %y = Mul (%u, %x)\n"},
    {"Gelu", ERF "  %t = Mul (%x, %s)\n  %y = Mul (%t, %half)\n"},
    {"Gelu", ERF "  %t = Mul (%x, %half)\n  %y = Mul (%t, %s)\n"},
    {"Gelu", "  %a = Mul (%inverse2, %x)\n  %b = Erf (%a)\n  %s = Add (%one, %b)\n"
             "  %t = Mul (%half, %s)\n  %y = Mul (%x, %t)\n"},
    {"GeluTanh", "  %a = Pow (%x, %three)\n  %b = Mul (%a, %c)\n  %d = Add (%x, %b)\n"
                 "  %e = Mul (%rootpi, %d)\n  %f = Tanh (%e)\n  %s = Add (%f, %one)\n"
                 "  %t = Mul (%x, %half)\n  %y = Mul (%t, %s)\n"},
    {"GeluTanh", "  %a = Mul (%x, %x)\n  %b = Mul (%a, %c)\n  %d = Add (%one, %b)\n"
                 "  %e = Mul (%rootpi, %x)\n  %g = Mul (%e, %d)\n  %f = Tanh (%g)\n"
                 "  %s = Add (%f, %one)\n  %t = Mul (%half, %s)\n  %y = Mul (%x, %t)\n"},
    {"Normalize", VARIANCE "  %r = Sqrt (%w)\n  %y = Div (%d, %r)\n"},
    {"Normalize", VARIANCE "  %r = Sqrt (%w)\n  %q = Div (%one, %r)\n  %n = Mul (%d, %q)\n"
                           "  %t = Mul (%n, %scale)\n  %y = Add (%bias, %t)\n"},
    {"Normalize", MEAN("m", "x") "  %d = Sub (%x, %m)\n  %p = SquaredDifference (%x, %m)\n" MEAN(
                      "v", "p") "  %w = Add (%v, %eps)\n  %r = Rsqrt (%w)\n  %n = Mul (%r, %d)\n"
                                "  %y = Add (%n, %bias)\n"},
    {"RmsNormalize", MEAN_SQUARE "  %r = Sqrt (%w)\n  %y = Div (%x, %r)\n"},
    {"RmsNormalize", MEAN_SQUARE "  %r = Sqrt (%w)\n  %q = Reciprocal (%r)\n  %n = Mul (%x, %q)\n"
                                 "  %y = Mul (%scale, %n)\n"},
    {"RmsNormalize",
     "  %p = Pow (%x, %two)\n" MEAN("v", "p") "  %w = Add (%v, %eps)\n"
                                              "  %r = Rsqrt (%w)\n  %y = Mul (%x, %r)\n"},
    {"Standardize", MEAN("m", "x") "  %d = Sub (%x, %m)\n  %p = Mul (%d, %d)\n" MEAN(
                        "v", "p") "  %r = Sqrt (%v)\n  %w = Add (%r, %eps)\n  %y = Div (%d, %w)\n"},
    {"L2Normalize",
     "  %r = ReduceL2 (%x) {axes=[1]}\n  %w = Max (%r, %eps)\n  %y = Div (%x, %w)\n"},
    {"L1Normalize",
     "  %r = ReduceL1 (%x) {axes=[1]}\n  %w = Max (%r, %eps)\n  %y = Div (%x, %w)\n"},
};

/* name: what must not appear. */
static const struct {
    const char *name, *nodes;
} distinct[] = {
    {"Swish", "  %s = Sigmoid (%z)\n  %y = Mul (%s, %x)\n"},              /* of another value */
    {"Swish", "  %s = Sigmoid (%x)\n  %y = Mul (%s, %x)\n  output %s\n"}, /* seen outside */
    {"Swish", "  %s = Sigmoid (%x)\n  %t = Mul (%s, %x)\n  %y = Add (%s, %t)\n"}, /* read twice */
    {"HardSwish", "  %s = HardSigmoid (%x) {alpha=0.2, beta=0.5}\n  %y = Mul (%x, %s)\n"},
    {"Gelu", ERF "  %t = Mul (%x, %s)\n  %y = Mul (%t, %two)\n"},
    {"Gelu",
     ERF "  %t = Mul (%s, %half)\n  %u = Mul (%t, %wide)\n  %v = Reshape (%u) {shape=[2,3,4]}\n"
         "  %y = Sub (%v, %x)\n"},
    {"Normalize", MEAN("m", "z") "  %d = Sub (%x, %m)\n  %p = Pow (%d, %two)\n" MEAN(
                      "v", "p") "  %w = Add (%v, %eps)\n  %r = Sqrt (%w)\n  %y = Div (%d, %r)\n"},
    {"Normalize",
     "  %m = ReduceMean (%x) {axes=[1]}\n  %d = Sub (%x, %m)\n  %p = Pow (%d, %two)\n" MEAN(
         "v", "p") "  %w = Add (%v, %eps)\n  %r = Sqrt (%w)\n  %y = Div (%d, %r)\n"},
    {"RmsNormalize", "  %p = Mul (%x, %x)\n  %v = ReduceMean (%p) {axes=[0], keepdims=0}\n"
                     "  %w = Add (%v, %eps)\n  %r = Sqrt (%w)\n  %y = Div (%x, %r)\n"},
};

static tw_normalized normalized(const char *nodes)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s  output %%y\n}\n", HEAD, nodes);
    tw_normalize_case c = {text, TW_IO_KEEP, 0, -3, 3};
    tw_normalized n = tw_normalize_text(&c);
    if (!(n.difference < 1e-5))
        fail_msg("differs by %g:\n%s", n.difference, nodes);
    return n;
}

static void test_fused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fused / sizeof *fused; i++) {
        tw_normalized n = normalized(fused[i].nodes);
        if (n.after->node_count != 1 || strcmp(n.after->nodes[0]->op->name, fused[i].name) != 0)
            fail_msg("%d nodes are left of\n%s", n.after->node_count, fused[i].nodes);
        tw_normalized_free(&n);
    }
}

static void test_distinct(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof distinct / sizeof *distinct; i++) {
        tw_normalized n = normalized(distinct[i].nodes);
        if (tw_count_nodes(n.after, distinct[i].name) != 0)
            fail_msg("%s was found in\n%s", distinct[i].name, distinct[i].nodes);
        tw_normalized_free(&n);
    }
}

/* Of several factors behind a normalisation one becomes its scale; a term of more axes than x, or a
 * computed one, stays outside. */
static void test_operands(void **state)
{
    (void)state;
    static const struct {
        const char *nodes;
        int left;
    } cases[] = {
        {"  %n = Normalize (%x) {axes=[2], epsilon=0.1}\n  %t = Mul (%n, %scale)\n"
         "  %y = Mul (%t, %bias)\n",
         2},
        {"  %n = Normalize (%x) {axes=[2], epsilon=0.1}\n  %t = Add (%n, %scale)\n"
         "  %y = Mul (%t, %bias)\n",
         2},
        {"  %n = Normalize (%x) {axes=[2], epsilon=0.1}\n  %y = Add (%n, %z)\n", 2},
        {"  %n = Normalize (%x) {axes=[2], epsilon=0.1}\n  %y = Add (%n, %wide)\n", 2},
        {"  %n = Normalize (%x) {axes=[2], epsilon=0.1}\n  %y = Mul (%n, %scale)\n  output %n\n",
         2},
        {"  %n = Normalize (%x) {axes=[2], epsilon=0.1}\n  %t = Mul (%n, %scale)\n"
         "  %y = Relu (%t)\n",
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_normalized n = normalized(cases[i].nodes);
        if (n.after->node_count != cases[i].left)
            fail_msg("%d nodes are left of\n%s", n.after->node_count, cases[i].nodes);
        tw_normalized_free(&n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fused),
                                       cmocka_unit_test(test_distinct),
                                       cmocka_unit_test(test_operands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
