/* What the CMSIS-NN adapters ask of the library, without the library: functions with its documented
 * arguments stand in for it and write down what they are given. First, middle and last bands, whole
 * images: extents, padding, offsets, tables, scratch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cmsis_nn/interface/arm_nnsupportfunctions.h"
#include "ops/packed.h"
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

arm_cmsis_nn_status arm_nn_mat_mult_nt_t_s8(TW_CMSIS_NN_PRODUCT_ARGUMENTS)
{
    const cmsis_nn_context none = {NULL, 0};
    const cmsis_nn_dims in = {1, 1, left_rows, depth}, filter = {right_rows, 1, 1, depth};
    const cmsis_nn_dims out = {1, 1, left_rows, right_rows};
    begin("product", &none);
    take(&in, left, &filter, &out, output);
    assert_int_equal(left_pitch, depth);
    assert_int_equal(pitch, right_rows);
    record.input_offset = left_offset;
    record.output_offset = output_offset;
    record.least = least;
    record.most = most;
    record.weights = right;
    record.bias = bias;
    record.multiplier = multipliers;
    (void)shifts;
    return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_convolve_s4(TW_CMSIS_NN_S4_ARGUMENTS)
{
    return convolution("convolve s4", PASS_ON, output_dims, output);
}

arm_cmsis_nn_status arm_convolve_1x1_s4(TW_CMSIS_NN_S4_ARGUMENTS)
{
    return convolution("1x1 s4", PASS_ON, output_dims, output);
}

arm_cmsis_nn_status arm_nn_mat_mult_nt_t_s4(TW_CMSIS_NN_PRODUCT_S4_ARGUMENTS)
{
    const arm_cmsis_nn_status status = arm_nn_mat_mult_nt_t_s8(
        left, right, bias, output, multipliers, shifts, left_rows, right_rows, depth, left_offset,
        output_offset, least, most, right_rows, left_pitch);
    record.function = "product s4";
    return status;
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

arm_cmsis_nn_status arm_convolve_s16(const cmsis_nn_context *context,
                                     const cmsis_nn_conv_params *params,
                                     const cmsis_nn_per_channel_quant_params *scales,
                                     const cmsis_nn_dims *input_dims, const int16_t *input,
                                     const cmsis_nn_dims *filter_dims, const int8_t *filter,
                                     const cmsis_nn_dims *bias_dims, const cmsis_nn_bias_data *bias,
                                     const cmsis_nn_dims *output_dims, int16_t *output)
{
    convolution("convolve s16", context, params, scales, input_dims, (const int8_t *)input,
                filter_dims, filter, bias_dims, bias->data, output_dims, (int8_t *)output);
    record.count = bias->is_int32_bias;
    return ARM_CMSIS_NN_SUCCESS;
}

enum { PRODUCTS = 8 };
static struct {
    const int8_t *input, *weights;
    const int32_t *bias;
    int16_t *output;
    int32_t depth, outputs, sum; /* sum: what the output holds, all 0 */
} products[PRODUCTS];
static int product_count;

arm_cmsis_nn_status arm_nn_vec_mat_mul_result_acc_s8_s16(
    const int8_t *input, const int8_t *filter, const int32_t *bias, int16_t *output,
    const int32_t multiplier, const int32_t shift, const int32_t depth, const int32_t outputs,
    const int32_t batches, const int32_t batch_offset)
{
    (void)multiplier;
    (void)shift;
    assert_int_equal(batches, 1);
    assert_int_equal(batch_offset, 1);
    const int at = product_count++ % PRODUCTS;
    products[at].input = input;
    products[at].weights = filter;
    products[at].bias = bias;
    products[at].output = output;
    products[at].depth = depth;
    products[at].outputs = outputs;
    products[at].sum = 0;
    for (int32_t i = 0; i < outputs; i++)
        products[at].sum |= output[i];
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
    assert_string_equal(record.function, "product");
    expect_dims(record.in, 1, 1, 12, 9); /* as rows of a matrix */
    expect_dims(record.out, 1, 1, 12, 17);
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

static void convolution_of_int16(void **state)
{
    (void)state;
    static const struct {
        const char *bias;
        int narrow;
        size_t bytes;
    } rows[] = {{"s64", 0, 8}, {"s32", 1, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[800];
        (void)snprintf(text, sizeof text,
                       "graph \"g\" {\n"
                       "  const %%x : s16[1,9,6,3] quant(scale=0.0005, zero=0) = random 1 -99 99\n"
                       "  const %%w : s8[10,3,3,3] quant(scale=0.01, zero=0) = random 2 -127 128\n"
                       "  const %%b : %s[10] = random 3 -4000 4000\n"
                       "  %%y : s16[1,5,3,10] quant(scale=0.01, zero=0) = Conv (%%x, %%w, %%b) "
                       "{stride=[2,2], pad_begin=[1,0], pad_end=[1,1]}\n  output %%y\n}\n",
                       rows[i].bias);
        tw_native_scene s;
        tw_native_open(&s, "cmsis-nn:m55", text);
        assert_int_equal(s.lowering.scratch, 4 * 2 * 32); /* four pixels' 27 taps, multiples of 8 */
        assert_int_equal(tw_native_band_call(&s, 2, 2), TW_OK); /* rows 3..7 */
        assert_string_equal(record.function, "convolve s16");
        expect_dims(record.in, 1, 5, 6, 3);
        expect_dims(record.out, 1, 2, 3, 10);
        assert_int_equal(record.padding.h, 0);
        assert_int_equal(record.least, INT16_MIN);
        assert_int_equal(record.count, rows[i].narrow);
        assert_memory_equal(record.bias, s.node->in[2]->data, 10 * rows[i].bytes);
        tw_native_close(&s);
    }
}

/* Weights of 4 bits: the pairs of the plan's table, and what else is as of int8. */
#define PACKED(Op, x, w, o, y, attributes)                                                         \
    "graph \"g\" {\n  const %x : s8" x " quant(scale=0.05, zero=-20) = random 1 -128 128\n"        \
    "  const %w : s8" w " quant(scale=0.1, zero=0) = random 2 -8 8\n"                              \
    "  const %b : s32[" o "] = random 3 -400 400\n"                                                \
    "  %y : s8" y " quant(scale=0.5, zero=5) = " Op " (%x, %w, %b) " attributes                    \
    "\n  output %y\n}\n"

static const int8_t *pairs_of(const tw_native_scene *s)
{
    return (const int8_t *)s->lowering.blob[TW_BLOB_PACKED].data + sizeof(tw_packed_head);
}

static void convolution_of_4_bits(void **state)
{
    (void)state;
    tw_native_scene s;
    tw_native_open_packed(&s, "cmsis-nn:m55",
                          PACKED("Conv", "[1,9,6,3]", "[10,3,3,3]", "10", "[1,5,3,10]",
                                 "{stride=[2,2], pad_begin=[1,0], pad_end=[1,1]}"));
    assert_true(tw_is_unread(&s.lowering, 1));
    assert_int_equal(s.lowering.scratch, 4 * 32);
    assert_int_equal(tw_native_band_call(&s, 0, 1), TW_OK);
    assert_string_equal(record.function, "convolve s4");
    expect_dims(record.in, 1, 2, 6, 3);
    expect_dims(record.filter, 10, 3, 3, 3);
    assert_int_equal(record.padding.h, 1);
    assert_int_equal(record.input_offset, 20);
    assert_ptr_equal(record.weights, pairs_of(&s));
    assert_memory_equal(record.bias, s.node->in[2]->data, 40);
    assert_ptr_equal(record.scratch, s.scratch);
    tw_native_close(&s);
    tw_native_open_packed(&s, "cmsis-nn:m55",
                          PACKED("Conv", "[1,4,6,9]", "[17,1,1,9]", "17", "[1,4,6,17]", "{}"));
    assert_int_equal(s.lowering.scratch, 0);
    assert_int_equal(tw_native_band_call(&s, 1, 2), TW_OK);
    assert_string_equal(record.function, "product s4");
    expect_dims(record.in, 1, 1, 12, 9);
    assert_int_equal(record.input_offset, 0);
    assert_ptr_equal(record.weights, pairs_of(&s));
    tw_native_close(&s);
    tw_native_open_packed(
        &s, "cmsis-nn:m55",
        PACKED("Conv", "[1,7,9,8]", "[6,1,1,8]", "6", "[1,4,5,6]", "{stride=[2,2]}"));
    assert_int_equal(tw_native_band_call(&s, 1, 1), TW_OK);
    assert_string_equal(record.function, "1x1 s4");
    expect_dims(record.out, 1, 1, 5, 6);
    assert_int_equal(record.stride.w, 2);
    assert_int_equal(record.input_offset, 0);
    tw_native_close(&s);
}

static void connected_of_4_bits(void **state)
{
    (void)state;
    tw_native_scene s;
    tw_native_open_packed(&s, "cmsis-nn:m55",
                          PACKED("FullyConnected", "[1,9,70]", "[13,70]", "13", "[1,9,13]", ""));
    assert_int_equal(tw_native_band_call(&s, 4, 3), TW_OK);
    assert_string_equal(record.function, "product s4");
    expect_dims(record.in, 1, 1, 3, 70);
    expect_dims(record.filter, 13, 1, 1, 70);
    assert_int_equal(record.input_offset, 0);
    assert_ptr_equal(record.bias, s.lowering.blob[TW_BLOB_BIAS].data);
    tw_native_close(&s);
}

static void gates(void **state)
{
    (void)state;
    tw_native_scene s;
    tw_native_open(
        &s, "cmsis-nn:m4",
        "graph \"g\" {\n"
        "  const %x : s8[1,5,3] quant(scale=0.03, zero=-20) = random 1 -128 128\n"
        "  const %w : s8[4,2,3] quant(scale=0.01, zero=0) = random 2 -127 128\n"
        "  const %r : s8[4,2,2] quant(scale=0.01, zero=0) = random 3 -127 128\n"
        "  const %b : s32[4,2] = random 4 -1000 1000\n"
        "  const %h : s8[1,2] quant(scale=0.008, zero=-4) = random 5 -128 128\n"
        "  const %c : s16[1,2] quant(scale=0.00048828125, zero=0) = random 6 -9000 9000\n"
        "  %y : s8[1,5,2] quant(scale=0.008, zero=-4) = Lstm (%x, %w, %r, %b, %h, %c)\n"
        "  output %y\n}\n");
    assert_int_equal(tw_native_band_call(&s, 0, 1), TW_OK); /* one step: eight products */
    assert_int_equal(product_count, PRODUCTS);
    const int32_t *x_bias = s.lowering.blob[2].data, *h_bias = s.lowering.blob[3].data;
    for (int i = 0; i < PRODUCTS; i++) {
        const int gate = i / 2, of_h = i % 2;
        const int8_t *weights = s.node->in[of_h ? 2 : 1]->data;
        assert_int_equal(products[i].depth, of_h ? 2 : 3);
        assert_int_equal(products[i].outputs, 2);
        assert_int_equal(products[i].sum, 0);
        assert_ptr_equal(products[i].weights, weights + (ptrdiff_t)gate * 2 * (of_h ? 2 : 3));
        assert_ptr_equal(products[i].bias, (of_h ? h_bias : x_bias) + (ptrdiff_t)gate * 2);
        assert_true(of_h || products[i].input == s.x);
    }
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
        cmocka_unit_test(convolution_of_int16),
        cmocka_unit_test(convolution_of_4_bits),
        cmocka_unit_test(connected_of_4_bits),
        cmocka_unit_test(gates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
