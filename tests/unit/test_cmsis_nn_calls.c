/* What the CMSIS-NN adapters ask of the library, without the library: functions with its documented
 * arguments stand in for it and write down what they are given. First, middle and last bands, whole
 * images: extents, padding, offsets, tables, scratch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cmsis_nn/interface/arm_nnfunctions.h"
#include "ops/product.h"
#include "support/native.h"

/* ---- the stand-in ---- */

typedef struct tw_record {
    const char *function;
    int calls;
    cmsis_nn_dims in, out, filter;
    cmsis_nn_tile stride, padding, dilation;
    int32_t input_offset, filter_offset, output_offset, least, most, count;
    const int8_t *input, *weights;
    int8_t *output;
    const int32_t *bias, *multiplier;
    const void *scratch;
    int32_t scratch_bytes;
} tw_record;

static tw_record record;

static void begin(const char *function, const cmsis_nn_context *context)
{
    const int calls = record.calls;
    memset(&record, 0, sizeof record);
    record.function = function;
    record.calls = calls + 1;
    record.scratch = context->buf;
    record.scratch_bytes = context->size;
}

static void take(const cmsis_nn_dims *in, const int8_t *input, const cmsis_nn_dims *filter,
                 const cmsis_nn_dims *out, int8_t *output)
{
    record.in = *in;
    record.input = input;
    record.filter = *filter;
    record.out = *out;
    record.output = output;
}

static arm_cmsis_nn_status convolution(const char *function, TW_CMSIS_NN_CONV_ARGUMENTS,
                                       const cmsis_nn_dims *output_dims, int8_t *output)
{
    (void)bias_dims;
    begin(function, context);
    take(input_dims, input, filter_dims, output_dims, output);
    record.stride = params->stride;
    record.padding = params->padding;
    record.dilation = params->dilation;
    record.input_offset = params->input_offset;
    record.output_offset = params->output_offset;
    record.least = params->activation.min;
    record.most = params->activation.max;
    record.weights = filter;
    record.bias = bias;
    record.multiplier = scales->multiplier;
    return ARM_CMSIS_NN_SUCCESS;
}

#define PASS_ON context, params, scales, input_dims, input, filter_dims, filter, bias_dims, bias

arm_cmsis_nn_status arm_convolve_s8(TW_CMSIS_NN_CONV_ARGUMENTS, const cmsis_nn_dims *upscale_dims,
                                    const cmsis_nn_dims *output_dims, int8_t *output)
{
    assert_null(upscale_dims);
    return convolution("convolve", PASS_ON, output_dims, output);
}

arm_cmsis_nn_status arm_convolve_1x1_s8(TW_CMSIS_NN_CONV_ARGUMENTS,
                                        const cmsis_nn_dims *output_dims, int8_t *output)
{
    return convolution("1x1", PASS_ON, output_dims, output);
}

arm_cmsis_nn_status arm_convolve_1x1_s8_fast(TW_CMSIS_NN_CONV_ARGUMENTS,
                                             const cmsis_nn_dims *output_dims, int8_t *output)
{
    return convolution("1x1 fast", PASS_ON, output_dims, output);
}

static arm_cmsis_nn_status depthwise(const char *function, TW_CMSIS_NN_DEPTHWISE_ARGUMENTS)
{
    const cmsis_nn_conv_params same = {params->input_offset, params->output_offset,
                                       params->stride,       params->padding,
                                       params->dilation,     params->activation};
    return convolution(function, context, &same, scales, input_dims, input, filter_dims, filter,
                       bias_dims, bias, output_dims, output);
}

arm_cmsis_nn_status arm_depthwise_conv_3x3_s8(TW_CMSIS_NN_DEPTHWISE_ARGUMENTS)
{
    return depthwise("3x3", PASS_ON, output_dims, output);
}

arm_cmsis_nn_status arm_depthwise_conv_s8_opt(TW_CMSIS_NN_DEPTHWISE_ARGUMENTS)
{
    return depthwise("by channel", PASS_ON, output_dims, output);
}

arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context *context,
                                           const cmsis_nn_fc_params *params,
                                           const cmsis_nn_per_tensor_quant_params *scale,
                                           TW_CMSIS_NN_CONNECTED_ARGUMENTS)
{
    (void)bias_dims;
    begin("connected", context);
    take(input_dims, input, filter_dims, output_dims, output);
    record.input_offset = params->input_offset;
    record.filter_offset = params->filter_offset;
    record.output_offset = params->output_offset;
    record.weights = filter;
    record.bias = bias;
    record.count = scale->multiplier;
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_avgpool_s8(TW_CMSIS_NN_POOL_ARGUMENTS)
{
    begin("average", context);
    take(input_dims, input, filter_dims, output_dims, output);
    record.stride = params->stride;
    record.padding = params->padding;
    return ARM_CMSIS_NN_SUCCESS;
}

static void expect_dims(cmsis_nn_dims got, int32_t n, int32_t h, int32_t w, int32_t c)
{
    assert_int_equal(got.n, n);
    assert_int_equal(got.h, h);
    assert_int_equal(got.w, w);
    assert_int_equal(got.c, c);
}

/* ---- the tests ---- */

static void convolution_in_bands(void **state)
{
    (void)state;
    tw_native_scene s;
    /* 9 rows, kernel 3, stride 2, one row of padding above and below: outputs 0..4. */
    tw_native_open(&s, "cmsis-nn:m55",
                   TW_NATIVE_CONV("Conv", "[1,9,6,3]", "[10,3,3,3]", "10", "[1,5,3,10]",
                                  "{stride=[2,2], pad_begin=[1,0], pad_end=[1,1]}"));
    assert_int_equal(s.lowering.scratch, 4 * 32); /* four pixels' 27 taps, multiples of 16 */
    assert_int_equal(tw_native_band_call(&s, 0, 5), TW_OK);
    expect_dims(record.in, 1, 9, 6, 3);
    expect_dims(record.out, 1, 5, 3, 10);
    expect_dims(record.filter, 10, 3, 3, 3);
    assert_int_equal(record.padding.h, 1);
    assert_int_equal(record.padding.w, 0);
    assert_int_equal(record.stride.h, 2);
    assert_int_equal(record.dilation.w, 1);
    assert_int_equal(record.input_offset, 20);
    assert_int_equal(record.output_offset, 5);
    assert_int_equal(record.least, -128);
    assert_int_equal(record.most, 127);
    assert_ptr_equal(record.scratch, s.scratch);
    assert_int_equal(record.scratch_bytes, 4 * 32);
    /* The bias is the model's: the library takes the zero point off every tap itself. */
    assert_memory_equal(record.bias, s.node->in[2]->data, 40);
    assert_ptr_equal(record.weights, s.node->in[1]->data);
    assert_ptr_equal(record.multiplier, s.lowering.blob[TW_BLOB_MULTIPLIER].data);

    assert_int_equal(tw_native_band_call(&s, 0, 1), TW_OK); /* first: rows 0, 1, under padding */
    expect_dims(record.in, 1, 2, 6, 3);
    expect_dims(record.out, 1, 1, 3, 10);
    assert_int_equal(record.padding.h, 1);
    assert_int_equal(tw_native_band_call(&s, 2, 1), TW_OK); /* middle: rows 3..5, no padding */
    expect_dims(record.in, 1, 3, 6, 3);
    assert_int_equal(record.padding.h, 0);
    assert_ptr_equal(record.input, s.x);
    assert_int_equal(tw_native_band_call(&s, 4, 1),
                     TW_OK); /* last: rows 7, 8; what is missing is padding */
    expect_dims(record.in, 1, 2, 6, 3);
    assert_int_equal(record.padding.h, 0);
    assert_int_equal(record.calls, 4);
    assert_string_equal(record.function, "convolve");
    tw_native_close(&s);
}

static void scratch_by_processor(void **state)
{
    (void)state;
    static const char text[] = "graph \"g\" {\n  const %x : " TW_NATIVE_S8(
        "[1,8,8,19]", "0.05",
        "-3") " = random 1 -128 128\n"
              "  %y : " TW_NATIVE_S8("[1,4,4,19]", "0.05",
                                     "-3") " = AveragePool (%x) {kernel=[2,2], "
                                           "stride=[2,2]}\n  output %y\n}\n";
    static const struct {
        const char *cpu;
        uint32_t scratch;
    } rows[] = {{"cmsis-nn:m4", 4 * 19}, {"cmsis-nn:m55", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tw_native_scene s;
        tw_native_open(&s, rows[i].cpu, text);
        assert_int_equal(s.lowering.scratch, rows[i].scratch);
        tw_native_close(&s);
    }
}

static void pointwise(void **state)
{
    (void)state;
    tw_native_scene s;
    tw_native_open(&s, "cmsis-nn:m55",
                   TW_NATIVE_CONV("Conv", "[1,4,6,9]", "[17,1,1,9]", "17", "[1,4,6,17]", "{}"));
    assert_int_equal(s.lowering.scratch, 0);
    assert_int_equal(tw_native_band_call(&s, 1, 2), TW_OK);
    assert_string_equal(record.function, "1x1 fast");
    expect_dims(record.in, 1, 2, 6, 9);
    expect_dims(record.out, 1, 2, 6, 17);
    assert_int_equal(record.input_offset, 0); /* the zero point is in the bias already */
    const int32_t *bias = s.node->in[2]->data;
    const int8_t *w = s.node->in[1]->data;
    int32_t sum = 0;
    for (int i = 0; i < 9; i++)
        sum += w[i];
    assert_int_equal(record.bias[0], bias[0] + 20 * sum);
    tw_native_close(&s);
}

static void depthwise_kernels(void **state)
{
    (void)state;
    static const char text[] = TW_NATIVE_CONV("DepthwiseConv", "[1,7,8,13]", "[3,3,13]", "13",
                                              "[1,7,8,13]", "{pad_begin=[1,1], pad_end=[1,1]}");
    tw_native_scene s;
    tw_native_open(&s, "cmsis-nn:m4", text);
    assert_int_equal(tw_native_band_call(&s, 6, 1), TW_OK);
    assert_string_equal(record.function, "3x3");
    expect_dims(record.in, 1, 2, 8, 13);
    assert_int_equal(record.padding.h, 0);
    assert_int_equal(record.padding.w, 1);
    tw_native_close(&s);
    tw_native_open(&s, "cmsis-nn:m55", text);
    assert_int_equal(tw_native_band_call(&s, 0, 1), TW_OK);
    assert_string_equal(record.function, "by channel");
    assert_int_equal(record.padding.h, 1);
    tw_native_close(&s);
}

static void connected(void **state)
{
    (void)state;
    tw_native_scene s;
    tw_native_open(&s, "cmsis-nn:m55",
                   "graph \"g\" {\n  const %x : " TW_NATIVE_S8(
                       "[1,9,70]", "0.05",
                       "-20") " = random 1 -128 128\n"
                              "  const %w : " TW_NATIVE_S8(
                                  "[13,70]", "0.01",
                                  "3") " = random 2 -127 128\n"
                                       "  %y : " TW_NATIVE_S8(
                                           "[1,9,13]", "0.2",
                                           "5") " = FullyConnected (%x, %w)\n  output %y\n}\n");
    assert_int_equal(tw_native_band_call(&s, 4, 3), TW_OK);
    expect_dims(record.in, 3, 1, 1, 70);
    expect_dims(record.filter, 70, 1, 1, 13);
    expect_dims(record.out, 3, 1, 1, 13);
    assert_int_equal(record.input_offset, 0);
    assert_int_equal(record.filter_offset, -3);
    /* On MVE the library reads sums of weights from its scratch: prepared, with the bias in them. */
    assert_ptr_equal(record.scratch, s.lowering.blob[TW_BLOB_BIAS].data);
    assert_ptr_equal(record.bias, s.lowering.blob[TW_BLOB_BIAS].data);
    tw_native_close(&s);
}

static void pooling(void **state)
{
    (void)state;
    tw_native_scene s;
    tw_native_open(
        &s, "cmsis-nn:m4",
        "graph \"g\" {\n  const %x : " TW_NATIVE_S8(
            "[1,9,9,19]", "0.05",
            "-3") " = random 1 -128 128\n"
                  "  %y : " TW_NATIVE_S8(
                      "[1,5,5,19]", "0.05",
                      "-3") " = AveragePool (%x) {kernel=[3,3], "
                            "stride=[2,2], pad_begin=[1,1], pad_end=[1,1]}\n  output %y\n}\n");
    assert_int_equal(s.lowering.scratch, 19 * 4);
    assert_int_equal(tw_native_band_call(&s, 3, 2), TW_OK);
    expect_dims(record.in, 1, 4, 9, 19); /* rows 5..8 */
    assert_int_equal(record.padding.h, 0);
    assert_int_equal(record.padding.w, 1);
    assert_int_equal(record.stride.h, 2);
    tw_native_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolution_in_bands),
        cmocka_unit_test(scratch_by_processor),
        cmocka_unit_test(pointwise),
        cmocka_unit_test(depthwise_kernels),
        cmocka_unit_test(connected),
        cmocka_unit_test(pooling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
