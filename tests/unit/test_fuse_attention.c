/* fuse_attention: what exporters write out for attention becomes one operator that gives the same bytes, and what
 * only looks like it stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/normalized.h"

/* Queries, keys and values of two heads, tokens first; keys also with their width before the tokens. */
#define HEAD                                                                                       \
    "graph \"g\" {\n  input %x : f32[1,5,2,4]\n  input %z : f32[1,7,2,4]\n  input %u : "           \
    "f32[1,7,2,3]\n"                                                                               \
    "  input %some : f32[1,1,1,7]\n  const %c : f32[1] = [0.3]\n  const %d : f32[1,5,7] = random " \
    "4 -2 2\n"                                                                                     \
    "  const %wide : f32[2] = [1, 2]\n"                                                            \
    "  %q = Transpose (%x) {perm=[0,2,1,3]}\n  %k = Transpose (%z) {perm=[0,2,3,1]}\n"             \
    "  %v = Transpose (%u) {perm=[0,2,1,3]}\n"
#define PRODUCT "  %p = MatMul (%q, %k)\n"
#define END                                                                                        \
    "  %m = MatMul (%s, %v)\n  %t = Transpose (%m) {perm=[0,2,1,3]}\n"                             \
    "  %y = Reshape (%t) {shape=[1,5,6]}\n"

static const char *const fused[] = {
    PRODUCT "  %s = Softmax (%p) {axis=3}\n" END,
    PRODUCT "  %a = Mul (%c, %p)\n  %s = Softmax (%a) {axis=-1}\n" END,
    PRODUCT "  %a = Div (%p, %c)\n  %s = Softmax (%a) {axis=3}\n" END,
    PRODUCT "  %a = Mul (%p, %c)\n  %b = Add (%a, %d)\n  %s = Softmax (%b) {axis=3}\n" END,
    PRODUCT "  %b = Add (%some, %p)\n  %s = Softmax (%b) {axis=3}\n" END,
    "  %a = Mul (%q, %c)\n  %p = MatMul (%a, %k)\n  %s = Softmax (%p) {axis=3}\n" END,
    "  %n = Transpose (%z) {perm=[0,2,1,3]}\n  %p = MatMul (%q, %n) {transpose_b=1}\n"
    "  %s = Softmax (%p) {axis=3}\n" END,
    /* heads as the first of three axes */
    "  %q3 = Reshape (%q) {shape=[2,5,4]}\n  %k3 = Reshape (%k) {shape=[2,4,7]}\n"
    "  %v3 = Reshape (%v) {shape=[2,7,3]}\n  %p = MatMul (%q3, %k3)\n"
    "  %s = Softmax (%p) {axis=2}\n  %m = MatMul (%s, %v3)\n"
    "  %t = Transpose (%m) {perm=[1,0,2]}\n  %y = Reshape (%t) {shape=[1,5,6]}\n",
};

static const char *const distinct[] = {
    PRODUCT "  %s = Softmax (%p) {axis=2}\n" END,
    PRODUCT "  %s = Softmax (%p) {axis=3, beta=2}\n" END,
    PRODUCT "  %s = Softmax (%p) {axis=3}\n  output %s\n" END,         /* seen outside */
    PRODUCT "  %a = Add (%p, %p)\n  %s = Softmax (%a) {axis=3}\n" END, /* read twice */
    PRODUCT "  %b = Exp (%p)\n  %s = Softmax (%b) {axis=3}\n" END,     /* something between */
};

static void check(const char *nodes, int attends)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s  output %%y\n}\n", HEAD, nodes);
    const tw_normalize_case c = {text, TW_IO_KEEP, 0, -3, 3};
    tw_normalized n = tw_normalize_text(&c);
    if (n.difference != 0)
        fail_msg("differs by %g:\n%s", n.difference, nodes);
    if (tw_count_nodes(n.after, "Attend") != attends ||
        tw_count_nodes(n.after, "MatMul") != 2 - 2 * attends)
        fail_msg("not what was expected of:\n%s", nodes);
    if (attends && tw_count_nodes(n.after, "Transpose") != 0)
        fail_msg("transposes are left of:\n%s", nodes);
    tw_normalized_free(&n);
}

static void test_fused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fused / sizeof *fused; i++)
        check(fused[i], 1);
}

static void test_distinct(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof distinct / sizeof *distinct; i++)
        check(distinct[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fused),
        cmocka_unit_test(test_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
