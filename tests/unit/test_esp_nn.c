/* The ESP-NN back end with the library's plain C functions linked in: on every sample that it takes, whole
 * and in random bands, the bytes of the portable kernels. Skipped, loudly, where the library is absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "backends/esp_nn/interface/esp_nn.h"
#include "support/native.h"

static void every_sample(void **state)
{
    (void)state;
    assert_int_equal(tw_native_samples("esp-nn:s3"), tw_native_operators(&tw_backend_esp_nn));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample),
    };
    const int8_t x = 0;
    int8_t y = 1, table[256] = {7};
    esp_nn_logistic_s8(&x, &y, 1, table);
    if (y != 7) {
        print_message("SKIPPED: no ESP-NN for this machine; configure with ESP_NN_DIR set to a "
                      "folder with include/ and lib/host/libesp-nn.a (cmake/FindESPNN.cmake)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
