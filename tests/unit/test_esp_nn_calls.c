/* What the ESP-NN adapters ask of the library, without the library: functions with its documented arguments
 * stand in for it, hold the adapters to what its ESP32-S3 functions want, and write down what they are
 * given. First, middle and last bands, whole images: extents, padding, tables, alignment, scratch; and a
 * second context in the library at the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "backends/esp_nn/interface/esp_nn.h"
#include "backends/esp_nn/scratch.h"
#include "ops/product.h"
#include "support/native.h"

/* ---- the stand-in ---- */

typedef struct tw_record {
    const char *function;
    int calls;
    data_dims_t in, out, filter;
    data_2d_t stride, padding;
    int32_t input_offset, output_offset, least, most, count;
    const int8_t *input, *weights;
    int8_t *output;
    const int32_t *bias, *multiplier;
    int8_t first[64];   /* bytes of the input as it was at the call */
    int8_t *results[8]; /* of the first calls */
} tw_record;

static tw_record record;
static const void *conv_scratch, *depthwise_scratch;

static void begin(const char *function)
{
    const int calls = record.calls;
    int8_t *results[8];
    memcpy(results, record.results, sizeof results);
    memset(&record, 0, sizeof record);
    memcpy(record.results, results, sizeof results);
    record.function = function;
    record.calls = calls + 1;
}

static void expect_aligned(const void *at, uintptr_t bytes)
{
    assert_int_equal((uintptr_t)at % bytes, 0);
}

void esp_nn_set_conv_scratch_buf(const void *buffer)
{
    conv_scratch = buffer;
}

void esp_nn_set_depthwise_conv_scratch_buf(const void *buffer)
{
    depthwise_scratch = buffer;
}

/* What is common: the library copies the input once more unless its extents are exactly these. */
static void window(const data_dims_t *in, const int8_t *input, const data_dims_t *filter,
                   const data_dims_t *out, int8_t *output, data_2d_t stride, data_2d_t padding)
{
    assert_int_equal(padding.width, 0);
    assert_int_equal(padding.height, 0);
    assert_int_equal(in->width, out->width * stride.width + filter->width - 1);
    assert_int_equal(in->height, out->height * stride.height + filter->height - 1);
    record.in = *in;
    record.input = input;
    record.filter = *filter;
    record.out = *out;
    record.output = output;
    record.stride = stride;
    memcpy(record.first, input, sizeof record.first);
}

void esp_nn_conv_s8(TW_ESP_NN_WINDOW_ARGUMENTS(conv_params_t))
{
    begin("convolution");
    assert_non_null(conv_scratch);
    expect_aligned(conv_scratch, 16);
    expect_aligned(filter, 16);
    if (filter_dims->width == 1)
        expect_aligned(input, 8);
    window(input_dims, input, filter_dims, output_dims, output, params->stride, params->padding);
    record.input_offset = params->in_offset;
    record.output_offset = params->out_offset;
    record.least = params->activation.min;
    record.most = params->activation.max;
    record.weights = filter;
    record.bias = bias;
    record.multiplier = scales->mult;
    if (record.calls <= 8)
        record.results[record.calls - 1] = output;
    /* A result tells its channel by its table, and its pixel. */
    for (int32_t i = 0; i < output_dims->width * output_dims->height; i++)
        for (int32_t c = 0; c < output_dims->channels; c++)
            output[i * output_dims->channels + c] = (int8_t)(bias[c] + i);
}

void esp_nn_depthwise_conv_s8(TW_ESP_NN_WINDOW_ARGUMENTS(dw_conv_params_t))
{
    begin("depthwise");
    assert_non_null(depthwise_scratch);
    expect_aligned(depthwise_scratch, 16);
    expect_aligned(input, 16);
    expect_aligned(output, 16);
    expect_aligned(bias, 16);
    assert_int_equal(params->ch_mult, 1);
    assert_int_equal(input_dims->channels % 16, 0);
    window(input_dims, input, filter_dims, output_dims, output, params->stride, params->padding);
    record.weights = filter;
    record.bias = bias;
    record.multiplier = scales->mult;
}

void esp_nn_fully_connected_s8(TW_ESP_NN_CONNECTED_ARGUMENTS(int32_t))
{
    (void)least;
    (void)most;
    (void)shift;
    begin("connected");
    expect_aligned(input, 16);
    assert_true(depth >= 16);
    assert_true(outputs <= 64); /* sums on the stack */
    assert_int_equal(filter_offset, 0);
    record.input_offset = input_offset;
    record.output_offset = output_offset;
    record.input = input;
    record.weights = filter;
    record.bias = bias;
    record.output = output;
    record.count = outputs;
    record.multiplier = (const int32_t *)(uintptr_t)(multiplier != 0);
}

void esp_nn_avg_pool_s8(TW_ESP_NN_POOL_ARGUMENTS)
{
    begin("average");
    assert_int_equal(out_rows, 1);
    assert_int_equal(channels % 8, 0);
    record.in = (data_dims_t){in_columns, in_rows, channels, 0};
    record.out = (data_dims_t){out_columns, out_rows, channels, 0};
    record.filter = (data_dims_t){filter_columns, filter_rows, channels, 0};
    record.stride = (data_2d_t){stride_columns, stride_rows};
    record.padding = (data_2d_t){pad_columns, pad_rows};
    record.input = input;
    record.output = output;
    record.least = least;
    record.most = most;
}

void esp_nn_add_elementwise_s8(const int8_t *a, const int8_t *b, int32_t a_offset, int32_t b_offset,
                               int32_t a_multiplier, int32_t b_multiplier, int32_t a_shift,
                               int32_t b_shift, int32_t left_shift, int8_t *output, int32_t offset,
                               int32_t multiplier, int32_t shift, int32_t least, int32_t most,
                               int32_t count)
{
    begin("add");
    expect_aligned(a, 16);
    expect_aligned(b, 16);
    expect_aligned(output, 8);
    assert_int_equal(count % 16, 0);
    assert_int_equal(left_shift, 20);
    assert_true(a_shift <= 0 && b_shift <= 0 && shift <= 0);
    assert_true(a_multiplier > 0 && b_multiplier > 0 && multiplier > 0);
    record.input_offset = a_offset;
    record.least = b_offset;
    record.output_offset = offset;
    record.most = most - least;
    record.count = count;
}

/* ---- the tests ---- */

static void expect_dims(data_dims_t got, int32_t height, int32_t width, int32_t channels)
{
    assert_int_equal(got.height, height);
    assert_int_equal(got.width, width);
    assert_int_equal(got.channels, channels);
}

static void open_scene(tw_native_scene *s, const char *text)
{
    tw_native_open(s, "esp-nn:s3", text);
    record.calls = 0;
    conv_scratch = depthwise_scratch = NULL;
    memset(s->x, 77, 1 << 12);
}

/* 9 rows of 7, kernel 3, stride 2, padding all around: outputs 0..4 of 4 columns. */
static void convolution_in_bands(void **state)
{
    (void)state;
    tw_native_scene s;
    open_scene(&s, TW_NATIVE_CONV("Conv", "[1,9,7,16]", "[10,3,3,16]", "10", "[1,5,4,10]",
                                  "{stride=[2,2], pad_begin=[1,1], pad_end=[1,1]}"));
    /* Three rows of 4 * 2 + 2 columns, and a sum an output. */
    assert_int_equal(s.lowering.scratch, 3 * 10 * 16 + 48);
    assert_int_equal(tw_native_band_call(&s, 0, 5), TW_OK);
    assert_int_equal(record.calls, 5); /* row by row, whatever the band */
    assert_int_equal(tw_native_band_call(&s, 0, 1), TW_OK);
    expect_dims(record.in, 4, 10, 16);
    expect_dims(record.out, 1, 4, 10);
    expect_dims(record.filter, 3, 3, 16);
    assert_ptr_equal(record.input, s.scratch);
    assert_ptr_equal(conv_scratch, s.scratch + 3 * 10 * 16);
    assert_int_equal(record.first[0], -20); /* the row above: the zero point */
    assert_int_equal(s.scratch[10 * 16 + 0], -20);
    assert_int_equal(s.scratch[10 * 16 + 16], 77);
    assert_int_equal(s.scratch[10 * 16 + 7 * 16 + 15], 77);
    assert_int_equal(s.scratch[10 * 16 + 8 * 16], -20);
    assert_int_equal(record.input_offset, 0); /* it is in the bias */
    assert_int_equal(record.output_offset, 5);
    assert_int_equal(record.least, -128);
    assert_int_equal(record.most, 127);
    assert_ptr_equal(record.weights, s.node->in[1]->data);
    assert_ptr_equal(record.bias, s.lowering.blob[TW_BLOB_BIAS].data);
    assert_ptr_equal(record.multiplier, s.lowering.blob[TW_BLOB_MULTIPLIER].data);
    assert_int_equal(tw_native_band_call(&s, 2, 1), TW_OK); /* middle: padding aside alone */
    assert_int_equal(record.first[0], -20);
    assert_int_equal(record.first[16], 77);
    assert_int_equal(tw_native_band_call(&s, 4, 1), TW_OK); /* last: the row below is padding */
    assert_int_equal(s.scratch[10 * 16 + 16], 77);
    assert_int_equal(s.scratch[2 * 10 * 16 + 16], -20);
    tw_native_close(&s);
}

/* Every window inside: nothing is copied, a band is one call. */
static void convolution_in_place(void **state)
{
    (void)state;
    tw_native_scene s;
    open_scene(&s, TW_NATIVE_CONV("Conv", "[1,9,8,16]", "[10,3,3,16]", "10", "[1,7,6,10]", "{}"));
    assert_int_equal(s.lowering.scratch, 48);
    assert_int_equal(tw_native_band_call(&s, 2, 3), TW_OK);
    assert_int_equal(record.calls, 1);
    expect_dims(record.in, 5, 8, 16);
    expect_dims(record.out, 3, 6, 10);
    assert_ptr_equal(record.input, s.x);
    assert_ptr_equal(conv_scratch, s.scratch);
    tw_native_close(&s);
    /* Without neighbours: eight pixels of 24 channels as int16. */
    open_scene(&s, TW_NATIVE_CONV("Conv", "[1,4,6,24]", "[17,1,1,24]", "17", "[1,4,6,17]", "{}"));
    assert_int_equal(s.lowering.scratch, 24 * 16);
    assert_int_equal(tw_native_band_call(&s, 1, 2), TW_OK);
    expect_dims(record.in, 2, 6, 24);
    tw_native_close(&s);
    /* One row of a 3x3 convolution from 64 to 64 channels takes far less than the library asks for. */
    open_scene(&s, TW_NATIVE_CONV("Conv", "[1,8,8,64]", "[64,3,3,64]", "64", "[1,8,8,64]",
                                  "{pad_begin=[1,1], pad_end=[1,1]}"));
    assert_int_equal(s.lowering.scratch, 3 * 10 * 64 + 4 * 64);
    tw_native_close(&s);
    /* Few channels: whole windows of 27 taps, and the weights so laid out. */
    open_scene(&s, TW_NATIVE_CONV("Conv", "[1,9,9,3]", "[8,3,3,3]", "8", "[1,7,7,8]", "{}"));
    assert_int_equal(s.lowering.scratch, 4 * 8 + 9 * 32);
    tw_native_close(&s);
}

/* Every result where its channel and pixel belong. */
static void expect_results(const tw_native_scene *s, int32_t pixels, int32_t outputs)
{
    const int32_t *bias = s->lowering.blob[TW_BLOB_BIAS].data;
    for (int32_t i = 0; i < pixels; i++)
        for (int32_t c = 0; c < outputs; c++)
            assert_int_equal(s->y[i * outputs + c], (int8_t)(bias[c] + i));
}

/* Few channels and many outputs: 16 of them at a time take a fraction of the scratch. */
static void convolution_in_parts(void **state)
{
    (void)state;
    tw_native_scene s;
    open_scene(&s, TW_NATIVE_CONV("Conv", "[1,9,7,3]", "[40,3,3,3]", "40", "[1,9,7,40]",
                                  "{pad_begin=[1,1], pad_end=[1,1]}"));
    const int32_t rows = 3 * 9 * 3 + 15; /* laid out: 96 */
    assert_int_equal(s.lowering.scratch, rows + 4 * 40 + 41 * 32);
    assert_int_equal(s.lowering.in_parts[0], rows + 33 * 32 + 32 * (4 + 7)); /* 32 and 8 */
    assert_int_equal(s.lowering.in_parts[1], rows + 17 * 32 + 16 * (4 + 7)); /* 16, 16 and 8 */
    assert_int_equal(s.lowering.in_parts[2], 0);
    assert_int_equal(tw_native_band_call(&s, 3, 1), TW_OK);
    assert_int_equal(record.calls, 1);
    assert_ptr_equal(record.output, s.y);
    expect_results(&s, 7, 40);
    record.calls = 0;
    s.lowering.scratch = s.lowering.in_parts[1];
    memset(s.y, 0, 7 * 40);
    assert_int_equal(tw_native_band_call(&s, 3, 1), TW_OK);
    assert_int_equal(record.calls, 3);
    expect_dims(record.out, 1, 7, 8);
    expect_dims(record.in, 3, 9, 3);
    assert_ptr_equal(record.weights, (const int8_t *)s.node->in[1]->data + 32 * 27);
    assert_ptr_equal(record.multiplier,
                     (const int32_t *)s.lowering.blob[TW_BLOB_MULTIPLIER].data + 32);
    for (int i = 0; i < 3; i++) /* behind what the library touches */
        assert_ptr_equal(record.results[i], s.scratch + rows + 17 * 32 + 16 * 4);
    assert_ptr_equal(conv_scratch, s.scratch + rows);
    expect_results(&s, 7, 40);
    /* In between, as many as there is room for; one byte less than the least is refused. */
    record.calls = 0;
    s.lowering.scratch = s.lowering.in_parts[0] + 40;
    assert_int_equal(tw_native_band_call(&s, 2, 2), TW_OK);
    assert_int_equal(record.calls, 4);
    tw_native_close(&s);
}

/* Rows of weights that are no multiples of 16 bytes: the library lays them out, of some outputs at a time
 * where it must; without padding, row by row of the input in place. */
static void convolution_of_uneven_rows(void **state)
{
    (void)state;
    tw_native_scene s;
    open_scene(&s, TW_NATIVE_CONV("Conv", "[1,9,8,12]", "[40,3,3,12]", "40", "[1,7,6,40]", "{}"));
    assert_int_equal(s.lowering.scratch, 40 * (4 + 3 * 48));
    assert_int_equal(s.lowering.in_parts[0], 32 * (4 + 3 * 48 + 6));
    assert_int_equal(s.lowering.in_parts[1], 16 * (4 + 3 * 48 + 6));
    assert_int_equal(tw_native_band_call(&s, 2, 3), TW_OK);
    assert_int_equal(record.calls, 1);
    expect_dims(record.in, 5, 8, 12);
    record.calls = 0;
    s.lowering.scratch = s.lowering.in_parts[1];
    assert_int_equal(tw_native_band_call(&s, 2, 3), TW_OK);
    assert_int_equal(record.calls, 9);
    expect_dims(record.in, 3, 8, 12);
    expect_dims(record.out, 1, 6, 8);
    assert_ptr_equal(record.input, s.x + 2 * 8 * 12);
    for (int32_t row = 0; row < 3; row++) {
        tw_native_scene one = s;
        one.y += row * 6 * 40;
        expect_results(&one, 6, 40);
    }
    tw_native_close(&s);
    /* 33 outputs: with 32 of them at a time, their results take more than that saves. */
    open_scene(&s, TW_NATIVE_CONV("Conv", "[1,9,8,12]", "[33,3,3,12]", "33", "[1,7,6,33]", "{}"));
    assert_int_equal(s.lowering.scratch, (33 * (4 + 3 * 48) + 15) / 16 * 16);
    assert_int_equal(s.lowering.in_parts[0], s.lowering.scratch);
    assert_int_equal(s.lowering.in_parts[1], 16 * (4 + 3 * 48 + 6));
    assert_int_equal(s.lowering.in_parts[2], 0);
    tw_native_close(&s);
}

static void depthwise(void **state)
{
    (void)state;
    tw_native_scene s;
    open_scene(&s, TW_NATIVE_CONV("DepthwiseConv", "[1,7,8,32]", "[3,3,32]", "32", "[1,7,8,32]",
                                  "{pad_begin=[1,1], pad_end=[1,1]}"));
    assert_int_equal(s.lowering.scratch, 3 * 10 * 32 + 9 * 32);
    assert_int_equal(tw_native_band_call(&s, 5, 2), TW_OK);
    assert_int_equal(record.calls, 2);
    expect_dims(record.in, 3, 10, 32);
    expect_dims(record.out, 1, 8, 32);
    assert_ptr_equal(record.output, s.y + 8 * 32);
    assert_ptr_equal(depthwise_scratch, s.scratch + 3 * 10 * 32);
    tw_native_close(&s);
}

static void connected(void **state)
{
    (void)state;
    tw_native_scene s;
    open_scene(&s,
               "graph \"g\" {\n  const %x : " TW_NATIVE_S8(
                   "[1,9,48]", "0.05",
                   "-20") " = random 1 -128 128\n  const %w "
                          ": " TW_NATIVE_S8(
                              "[70,48]", "0.01",
                              "0") " = random 2 -127 128\n  "
                                   "%y : " TW_NATIVE_S8(
                                       "[1,"
                                       "9,"
                                       "70]",
                                       "0.2", "5") " = FullyConnected (%x, %w)\n  output %y\n}\n");
    assert_int_equal(tw_native_band_call(&s, 4, 3), TW_OK);
    assert_int_equal(record.calls, 6); /* three rows, 64 and 6 outputs */
    assert_int_equal(record.count, 6);
    assert_int_equal(record.input_offset, 0);
    assert_ptr_equal(record.input, s.x + 2 * 48);
    assert_ptr_equal(record.output, s.y + 2 * 70 + 64);
    assert_ptr_equal(record.weights, (const int8_t *)s.node->in[1]->data + 64 * 48);
    assert_ptr_equal(record.bias, (const int32_t *)s.lowering.blob[TW_BLOB_BIAS].data + 64);
    tw_native_close(&s);
}

static void averages(void **state)
{
    (void)state;
    tw_native_scene s;
    open_scene(
        &s,
        "graph \"g\" {\n  const %x : " TW_NATIVE_S8(
            "[1,9,9,16]", "0.05",
            "-3") " = random 1 -128 128\n  %y : " TW_NATIVE_S8("[1,5,5,16]", "0.05",
                                                               "-3") " = AveragePool (%x) "
                                                                     "{kernel=[3,3], stride=[2,2], "
                                                                     "pad_begin=[1,1], "
                                                                     "pad_end=[1,1]}\n  output "
                                                                     "%y\n}\n");
    assert_int_equal(s.lowering.scratch, 0);
    assert_int_equal(tw_native_band_call(&s, 0, 1), TW_OK);
    assert_int_equal(record.padding.height, 1);
    assert_int_equal(record.padding.width, 1);
    assert_int_equal(tw_native_band_call(&s, 3, 2), TW_OK); /* rows 5..8 */
    assert_int_equal(record.calls, 3);
    expect_dims(record.in, 2, 9, 16); /* the last window's, rows 7 and 8 */
    assert_int_equal(record.padding.height, 0);
    assert_ptr_equal(record.input, s.x + 2 * 9 * 16);
    assert_ptr_equal(record.output, s.y + 5 * 16);
    tw_native_close(&s);
}

static void sums(void **state)
{
    (void)state;
    tw_native_scene s;
    open_scene(&s,
               "graph \"g\" {\n  const %x : " TW_NATIVE_S8(
                   "[1,5,4,8]", "0.05",
                   "-20") " = random 1 -128 128\n  const %w "
                          ": " TW_NATIVE_S8("[1,5,4,8]", "0.07",
                                            "9") " = random 2 -128 128\n  "
                                                 "%y : " TW_NATIVE_S8(
                                                     "[1,"
                                                     "5,"
                                                     "4,"
                                                     "8]",
                                                     "0."
                                                     "1",
                                                     "5") " = Add (%x, %w) {}\n  output %y\n}\n");
    assert_true((s.lowering.kernel->id & 0xFF000000u) != 0);
    tw_native_close(&s);
}

/* The library's scratch is one for the process: who comes second is told so, and nothing is called. */
static void one_at_a_time(void **state)
{
    (void)state;
    tw_native_scene s;
    static const char *const texts[] = {
        TW_NATIVE_CONV("Conv", "[1,9,8,16]", "[10,3,3,16]", "10", "[1,7,6,10]", "{}"),
        TW_NATIVE_CONV("DepthwiseConv", "[1,7,8,32]", "[3,3,32]", "32", "[1,7,8,32]",
                       "{pad_begin=[1,1], pad_end=[1,1]}")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        open_scene(&s, texts[i]);
        assert_true(tw_esp_nn_take());
        assert_false(tw_esp_nn_take());
        assert_int_equal(tw_native_band_call(&s, 1, 1), TW_E_BUSY);
        assert_int_equal(record.calls, 0);
        tw_esp_nn_give();
        assert_int_equal(tw_native_band_call(&s, 1, 1), TW_OK);
        assert_int_equal(record.calls, 1);
        assert_true(tw_esp_nn_take()); /* given back */
        tw_esp_nn_give();
        tw_native_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolution_in_bands),
        cmocka_unit_test(convolution_in_place),
        cmocka_unit_test(convolution_in_parts),
        cmocka_unit_test(convolution_of_uneven_rows),
        cmocka_unit_test(depthwise),
        cmocka_unit_test(connected),
        cmocka_unit_test(averages),
        cmocka_unit_test(sums),
        cmocka_unit_test(one_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
