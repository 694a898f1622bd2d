/* The ESP-NN back end's record and its kernels; what its host halves share. */
#include "backends/esp_nn/host.h"
#include "ops/product.h"

/* On other chips of the family the library is plain C, which the portable kernels are faster than. */
static const tw_native_cpu cpus[] = {{"s3", 1u, 40}, {NULL, 0, 0}};

static const tw_native *const natives[] = {
#define TW_ESP_NN(name, operator_symbol, signature, variant) &tw_native_esp_nn_##name,
#include "backends/esp_nn/kernels.def"
    NULL};

static const tw_native_left left[] = {
    {TW_OPCODE_softmax, "the portable kernel is faster: it looks exponentials up"},
    {0, NULL},
};

const tw_backend tw_backend_esp_nn = {
    .name = "esp-nn",
    .summary = "Espressif's ESP-NN, int8, on the ESP32-S3",
    .kernels = "backends/esp_nn/kernels.h",
    .library = "ESP-NN",
    .finder = "cmake/FindESPNN.cmake",
    .cpus = cpus,
    .natives = natives,
    .left = left,
};

static void add_view(tw_esp_nn_whole *whole, int slot, const tw_value *v)
{
    whole->tensor[slot] = tw_tensor_of(v);
    whole->view[slot] =
        (tw_view){.tensor = &whole->tensor[slot],
                  .data = (void *)(uintptr_t)v->data,
                  .rows = whole->tensor[slot].rank ? whole->tensor[slot].dim[0] : 1};
}

void tw_esp_nn_whole_of(const tw_native_node *n, tw_esp_nn_whole *whole)
{
    const tw_node *node = n->node;
    *whole = (tw_esp_nn_whole){.call = {.in = whole->view,
                                        .out = whole->view + TW_ESP_NN_OPERANDS - 1,
                                        .in_count = (uint32_t)node->in_count,
                                        .out_count = 1,
                                        .attributes = node->attributes,
                                        .attribute_bytes = node->op->attribute_bytes}};
    for (int i = 0; i < node->in_count && i < TW_ESP_NN_OPERANDS - 1; i++)
        if (node->in[i])
            add_view(whole, i, node->in[i]);
    add_view(whole, TW_ESP_NN_OPERANDS - 1, node->out[0]);
}

const char *tw_esp_nn_sums(const tw_native_node *n, int32_t channels, const tw_esp_nn_taps *taps)
{
    const int8_t *w = n->node->in[1]->data;
    const int32_t *bias = n->portable->blob[TW_BLOB_BIAS].data;
    const int32_t *shift = n->portable->blob[TW_BLOB_SHIFT].data;
    for (int32_t o = 0; o < channels; o++) {
        int64_t most = bias[o] < 0 ? -(int64_t)bias[o] : bias[o];
        for (int64_t t = 0; t < taps->count; t++) {
            const int8_t v = w[o * taps->channel + t * taps->tap];
            most += 128 * (int64_t)(v < 0 ? -v : v);
        }
        if (most << (shift[o] > 0 ? shift[o] : 0) >= (int64_t)1 << 30)
            return "sums that may exceed 30 bits";
    }
    return NULL;
}
