/* Which tables ESP-NN applies: any of 256 bytes. */
#include "ops/lut.h"

#include "backends/esp_nn/host.h"

static const char *can(const tw_native_node *n)
{
    return n->portable->kernel == &tw_k_lut_s8 && n->portable->blob_count == 1
               ? NULL
               : "no table: the library's kernel is for int8 with scales";
}

static bool alias(const tw_native_node *n, int input)
{
    (void)n;
    return input == 0; /* byte for byte */
}

#define TW_ESP_NN_TABLE(operator_symbol)                                                           \
    const tw_native tw_native_esp_nn_##operator_symbol##_table = {                                 \
        TW_ESP_NN_HEAD(operator_symbol##_table), .can = can, .alias = alias};
#include "backends/esp_nn/kernels.def"
