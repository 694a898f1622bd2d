/* The CMSIS-NN back end with the library linked in: on every sample that it takes, whole and in random
 * bands, the bytes of the portable kernels. Skipped, loudly, where the library is absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cmsis_nn/interface/arm_nnfunctions.h"
#include "base/file.h"
#include "support/operate.h"
#include "support/samples.h"

enum { BAND_SEEDS = 3, TW_MOST_CODES = 1024 };

typedef struct tw_tally {
    const tw_target *target;
    int taken, declined, banded;
    unsigned char of[TW_MOST_CODES]; /* by operator code: samples taken */
} tw_tally;

static void run_sample(tw_node *node, tw_arena *arena, void *user)
{
    tw_tally *tally = user;
    const char *why;
    tw_operate_whole(node, arena);
    for (uint64_t seed = 0; seed < BAND_SEEDS; seed++) {
        uint64_t state = seed;
        const int banded = tw_operate_native(node, tally->target, &state, &why);
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

/* Operators of which a sample was taken; each that the back end has a kernel for must be, but those that
 * it keeps to some processors. */
static int samples_as(const char *name)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_target target;
    assert_true(tw_target_parse(arena, name, strlen(name), &target, &diag));
    tw_tally tally = {.target = &target};
    int operators = 0;
    for (int i = 0; i < tw_op_count; i++)
        if (tw_backend_has(target.backend, tw_ops[i]))
            tw_each_sample(tw_ops[i], run_sample, &tally);
    void *text;
    size_t bytes;
    if (!tw_read_file(arena, "tests/data/native-samples.txt", 1 << 20, &text, &bytes, &diag))
        fail_msg("%s", diag.message);
    tw_each_graph(tw_strndup(arena, text, bytes), run_sample, &tally);
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

static void every_processor(void **state)
{
    static const char *const names[] = {"cmsis-nn:m0", "cmsis-nn:m4", "cmsis-nn:m55", "cmsis-nn"};
    (void)state;
    int most = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const int operators = samples_as(names[i]);
        most = operators > most ? operators : most;
    }
    const tw_backend *backend = &tw_backend_cmsis_nn;
    int known = 0;
    for (int i = 0; i < tw_op_count; i++)
        known += tw_backend_has(backend, tw_ops[i]);
    assert_int_equal(most, known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_processor),
    };
    int8_t nothing = 0;
    if (arm_elementwise_mul_s8(&nothing, &nothing, 0, 0, &nothing, 0, 0, 0, 0, 0, 0) ==
        ARM_CMSIS_NN_NO_IMPL_ERROR) {
        print_message(
            "SKIPPED: no CMSIS-NN for this machine; configure with CMSIS_NN_DIR set to a "
            "folder with Include/ and lib/host/libcmsis-nn.a (cmake/FindCMSISNN.cmake)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
