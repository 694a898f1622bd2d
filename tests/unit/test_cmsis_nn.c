/* The CMSIS-NN back end with the library linked in: on every sample that it takes, whole and in random
 * bands, the bytes of the portable kernels. Skipped, loudly, where the library is absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "backends/cmsis_nn/interface/arm_nnfunctions.h"
#include "support/native.h"

static void every_processor(void **state)
{
    static const char *const names[] = {"cmsis-nn:m0", "cmsis-nn:m4", "cmsis-nn:m55", "cmsis-nn"};
    (void)state;
    int most = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const int operators = tw_native_samples(names[i]);
        most = operators > most ? operators : most;
    }
    assert_int_equal(most, tw_native_operators(&tw_backend_cmsis_nn));
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
