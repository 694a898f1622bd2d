/* What the adapters of windowed operators share. Device code. */
#ifndef TW_BACKENDS_ESP_NN_WINDOWS_H
#define TW_BACKENDS_ESP_NN_WINDOWS_H

#include "backends/esp_nn/fits.h"
#include "backends/esp_nn/strips.h"

static inline int tw_esp_nn_is_dilated(const tw_window_spans *w)
{
    return (w->axis[0].kernel > 1 && w->axis[0].dilation > 1) ||
           (w->axis[1].kernel > 1 && w->axis[1].dilation > 1);
}

/* A table of the plan; the library takes some without const but only reads them. */
static inline int32_t *tw_esp_nn_table(const tw_call *call, int blob, int32_t first)
{
    return (int32_t *)(uintptr_t)call->blobs[blob].data + first;
}

static inline quant_data_t tw_esp_nn_scales(const tw_call *call, int32_t first)
{
    quant_data_t scales;
    scales.shift = tw_esp_nn_table(call, TW_BLOB_SHIFT, first);
    scales.mult = tw_esp_nn_table(call, TW_BLOB_MULTIPLIER, first);
    return scales;
}

/* The rest of a fit: is the scratch a number that can be asked for? */
static inline tw_esp_nn_fit tw_esp_nn_fit_bytes(tw_esp_nn_window *window, int64_t library)
{
    window->fixed = window->each = 0;
    window->columns = 0;
    window->bytes = window->copied + tw_esp_nn_aligned(library);
    return window->bytes > INT32_MAX ? TW_ESP_NN_LARGE : TW_ESP_NN_FITS;
}

/* The same where the library can be asked for some outputs at a time, by what it takes for all together
 * (a multiple of 16) and for each. */
static inline tw_esp_nn_fit tw_esp_nn_fit_parts(tw_esp_nn_window *window, int64_t outputs,
                                                int64_t fixed, int64_t each)
{
    const tw_esp_nn_fit fit = tw_esp_nn_fit_bytes(window, fixed + outputs * each);
    window->fixed = fixed;
    window->each = each;
    window->columns = window->spans.axis[1].out;
    return fit;
}

#endif
