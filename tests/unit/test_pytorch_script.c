/* What TorchScript computes beside tensors: numbers, texts, lists and choices, each with the value that Python
 * gives them. Traced and scripted networks (scripts/fixtures/pytorch.py) have the most usual ones only. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "graph/graph.h"
#include "import/import.h"
#include "support/reference.h"
#include "support/zip_writer.h"

/* A module of no attributes whose forward method adds to x what `body` has put into y. */
static void make_module(tw_test_zip *zip, tw_arena *arena, const char *body)
{
    static const char pickle[] = "\x80\x02"
                                 "c__torch__\nM\n)\x81}b.";
    const char *code = tw_format(arena,
                                 "class M(Module):\n"
                                 "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                                 "%s    return torch.add(x, y)\n",
                                 body);
    tw_test_zip_begin(zip, arena);
    tw_test_zip_add(zip, "m/data.pkl", pickle, sizeof pickle - 1, false);
    tw_test_zip_add(zip, "m/code/__torch__.py", code, strlen(code), true);
    tw_test_zip_end(zip);
}

static void check(const char *body, float want)
{
    static const float zeros[2] = {0, 0};
    static const tw_offered_input offered[] = {{.name = "x", .rank = 1, .dim = {2}}};
    static const tw_import_options options = {.offered = offered, .offered_count = 1};
    const void *in[] = {zeros}, *out[] = {zeros};
    tw_arena *arena = tw_arena_new();
    tw_test_zip zip;
    tw_diag diag = {0};
    make_module(&zip, arena, body);
    tw_graph *graph =
        tw_import_bytes(arena, zip.data, zip.bytes, "model.pt", &options, NULL, &diag);
    if (!graph || !tw_reference_run(graph, arena, in, out, 0, &diag))
        fail_msg("%s: %s", body, diag.message);
    for (int i = 0; i < 2; i++)
        if (((const float *)out[0])[i] != want)
            fail_msg("%s gives %g, not %g", body, (double)((const float *)out[0])[i], (double)want);
    tw_arena_free(arena);
}

typedef struct tw_expression {
    const char *text;
    float value;
} tw_expression;

static void check_all(const tw_expression *expression, size_t count)
{
    tw_arena *arena = tw_arena_new();
    for (size_t i = 0; i < count; i++)
        check(tw_format(arena, "    y = %s\n", expression[i].text), expression[i].value);
    tw_arena_free(arena);
}
#define CHECK_ALL(expressions) check_all(expressions, sizeof(expressions) / sizeof *(expressions))

static void numbers(void **state)
{
    static const tw_expression of_numbers[] = {
        {"ops.prim.min(3, -2)", -2},
        {"ops.prim.max(3, -2)", 3},
        {"ops.prim.max(2.5, 1)", 2.5F},
        {"ops.prim.abs(-4)", 4},
        {"ops.prim.abs(-1.5)", 1.5F},
        {"torch.add(torch.sub(7, 2), torch.mul(3, 4))", 17},
        {"torch.div(7, 2)", 3.5F},
        {"torch.floordiv(-7, 2)", -4},
        {"torch.floordiv(7, -2)", -4},
        {"torch.floordiv(-7.5, 2.)", -4},
        {"torch.floor_divide(9, 4)", 2},
        {"torch.remainder(-7, 3)", 2},
        {"torch.remainder(7, -3)", -2},
        {"torch.remainder(-7.5, 2.)", 0.5F},
        {"torch.pow(2, -1)", 0.5F},
        {"torch.__and__(6, 3)", 2},
        {"torch.__or__(6, 3)", 7},
        {"torch.__xor__(6, 3)", 5},
        {"int(torch.__xor__(True, True))", 0},
        {"torch.neg(5)", -5},
        {"torch.neg(-2.5)", 2.5F},
        {"torch.floor(-2.5)", -3},
        {"torch.ceil(-2.5)", -2},
        {"torch.sqrt(2.25)", 1.5F},
        {"int(-2.75)", -2},
        {"torch.mul(float(3), 0.5)", 1.5F},
        {"int(torch.lt(2, 2))", 0},
        {"int(torch.le(2, 2))", 1},
        {"int(torch.gt(2.5, 2))", 1},
        {"int(torch.ge(1, 2))", 0},
        {"int(torch.eq(2, 2.))", 1},
        {"int(torch.ne(2, 2))", 0},
        {"int(bool(0.5))", 1},
        {"int(torch.__not__(3))", 0},
        /* of tensors that are known */
        {"int(torch.tensor(2.75))", 2},
        {"torch.IntImplicit(torch.tensor(5))", 5},
        {"torch.FloatImplicit(torch.tensor(2.5))", 2.5F},
        {"torch.ScalarImplicit(torch.tensor(6))", 6},
        {"torch.item(torch.tensor(7))", 7},
        {"ops.prim.NumToTensor(3)", 3},
    };
    (void)state;
    CHECK_ALL(of_numbers);
}

static void groups(void **state)
{
    static const tw_expression of_groups[] = {
        {"torch.len([4, 5, 6])", 3},
        {"torch.len(\"four\")", 4},
        {"[4, 5, 6][-1]", 6},
        {"torch.__getitem__([4, 5, 6], -3)", 4},
        {"torch.len(torch.slice([1, 2, 3, 4], 1, None, 2))", 2},
        {"(torch.slice([1, 2, 3, 4], 1, None, 2))[1]", 4},
        {"(torch.add([1, 2], [3]))[2]", 3},
        {"torch.len(torch.mul([1, 2], 3))", 6},
        {"int(torch.__contains__([1, 2, 3], 2))", 1},
        {"int(torch.__contains__([1, 2, 3], 4))", 0},
        {"int(torch.eq([1, 2], [1, 2]))", 1},
        {"int(torch.ne([1, 2], [1, 2, 3]))", 1},
        {"int(torch.eq(torch.add(\"a\", \"b\"), \"ab\"))", 1},
        {"torch.__range_length(0, 10, 3)", 4},
        {"torch.__range_length(10, 0, -4)", 3},
        {"torch.__range_length(3, 3, 1)", 0},
        {"torch.__derive_index(2, 5, -3)", -1},
        {"int(torch.__is__(None, None))", 1},
        {"int(torch.__isnot__(x, None))", 1},
        {"int(torch.__is__(x, None))", 0},
        {"ops.prim.unchecked_unwrap_optional(5)", 5},
        {"int(torch.is_floating_point(x))", 1},
        {"int(torch.eq(ops.prim.dtype(x), 6))", 1},
        {"int(ops.prim.is_cuda(x))", 0},
        {"torch.len(torch.size(x))", 1},
    };
    (void)state;
    CHECK_ALL(of_groups);
    /* a copy is one, and the list itself is not */
    check("    a = [1]\n    b = torch.list(a)\n    c = a\n    _0 = torch.append(a, 2)\n"
          "    y = torch.add(torch.mul(torch.len(b), 10), torch.len(c))\n",
          12);
}

static void choices(void **state)
{
    (void)state;
    check("    y = 0\n    for i in range(4):\n      y = torch.add(y, i)\n", 6);
    check("    y = 1\n    _0 = torch.lt(y, 100)\n    while _0:\n      y = torch.mul(y, 3)\n"
          "      _0 = torch.lt(y, 100)\n",
          243);
    check("    if torch.gt(torch.size(x, 0), 1):\n      y = 5\n    else:\n"
          "      ops.prim.RaiseException(\"no\", \"E\")\n      y = 6\n",
          5);
    check("    if False:\n      y = 5\n    else:\n      if True:\n        y = 7\n      else:\n"
          "        y = 8\n",
          7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(groups),
                                       cmocka_unit_test(choices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
