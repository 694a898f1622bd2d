/* Operators on int8 that are a table of 256 bytes, by ESP-NN: its function for the logistic curve takes any
 * table, indexed as ours are. */
#include "ops/lut.h"

#include "backends/esp_nn/library.h"
#include "runtime/spans.h"

static tw_status check(const tw_call *call, uint64_t *work)
{
    return tw_k_lut_s8.check(call, work) == TW_OK && call->in_count == 1 ? TW_OK : TW_E_CHECK;
}

static tw_status span(const tw_span *s)
{
    esp_nn_logistic_s8((const int8_t *)s->in[0], (int8_t *)s->out, s->count,
                       (const int8_t *)s->call->blobs[0].data);
    return TW_OK;
}

static tw_status run(const tw_call *call)
{
    return tw_for_each_span(call, 1, span);
}

#define TW_ESP_NN_TABLE(operator_symbol) TW_ESP_NN_KERNEL(operator_symbol##_table, run, check);
#include "backends/esp_nn/kernels.def"
