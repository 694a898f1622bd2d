/* Every case of src/ops/NAME.txt, through the whole compiler and runtime: its expected values come
 * from an independent oracle. And every operator of the ledger has a case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ops/op.h"
#include "support/vector_files.h"

enum { MAX_OPS = 1000 };

static bool covered[MAX_OPS]; /* by position in the ledger */
static int cases_run, cases_failed;

static void mark_covered(const tw_graph *graph)
{
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < tw_op_count && i < MAX_OPS; i++)
            if (tw_ops[i] == graph->nodes[n]->op)
                covered[i] = true;
}

static void visit(const tw_vector_case *one, bool passed, void *context)
{
    (void)context;
    mark_covered(one->graph);
    cases_run++;
    cases_failed += !passed;
}

static void test_cases(void **state)
{
    (void)state;
    const int files = tw_vector_files("src/ops", visit, NULL);
    print_message("%d cases of %d files\n", cases_run, files);
    assert_true(files > 0);
    assert_int_equal(cases_failed, 0);
}

static void test_every_operator_has_a_case(void **state)
{
    int missing = 0;
    (void)state;
    assert_true(tw_op_count < MAX_OPS);
    for (int i = 0; i < tw_op_count; i++)
        if (!covered[i]) {
            missing++;
            print_error("%s has no case in any src/ops/*.txt\n", tw_ops[i]->name);
        }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_every_operator_has_a_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
