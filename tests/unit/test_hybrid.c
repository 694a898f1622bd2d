/* Float activations with int8 weights: FullyConnected, Conv, DepthwiseConv and Lstm against sums computed
 * here in double from inputs quantised here, symmetrically and with a zero point; zeros, and values that are
 * no numbers; ConvTranspose against the float layer. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ops/conv.h"
#include "ops/conv_transpose.h"
#include "ops/depthwise_conv.h"
#include "ops/lstm.h"
#include "support/operate.h"

typedef struct tw_case {
    tw_arena *arena;
    tw_graph *graph;
    uint64_t state;
} tw_case;

static tw_case open_case(void)
{
    tw_case c = {tw_arena_new(), NULL, 7};
    c.graph = tw_graph_new(c.arena, "hybrid");
    return c;
}

/* Weights with one scale, or one for each index of the axis. */
static tw_value *weights(tw_case *c, int rank, const int32_t *dim, int axis, bool many)
{
    tw_value *w = tw_operate_value(c->graph, TW_S8, rank, dim, &c->state);
    int count = many ? dim[axis] : 1;
    float *scale = tw_alloc_array(c->arena, (size_t)count, sizeof *scale);
    int32_t *zero = tw_alloc_array(c->arena, (size_t)count, sizeof *zero);
    for (int i = 0; i < count; i++)
        scale[i] = 0.01f + 0.003f * (float)i;
    w->quant = (tw_quant){count, many ? axis : 0, scale, zero};
    return w;
}

/* Inputs as a hybrid operator sees them: steps of a scale, less their zero point. */
static double quantise(const float *x, int64_t count, bool asymmetric, int *to)
{
    double least = 0, most = 0, scale;
    int zero = 0;
    for (int64_t i = 0; i < count; i++) {
        least = fmin(least, (double)x[i]);
        most = fmax(most, (double)x[i]);
    }
    scale = asymmetric ? (most - least) / 255 : fmax(most, -least) / 127;
    if (scale == 0)
        scale = 1;
    if (asymmetric) {
        double low = -128 - least / scale, high = 127 - most / scale;
        zero = (int)lround(
            fmax(-128, fmin(127, 128 - least / scale < 127 + most / scale ? low : high)));
    }
    for (int64_t i = 0; i < count; i++) {
        double q = round((double)x[i] / scale + zero);
        to[i] = (int)fmax(asymmetric ? -128 : -127, fmin(127, q)) - zero;
    }
    return scale;
}

static double scale_at(const tw_value *w, int32_t o)
{
    return (double)w->quant.scale[w->quant.count > 1 ? o : 0];
}

/* The floats that int8 weights with a scale for each index of the outermost axis stand for. */
static tw_value *as_floats(tw_case *c, const tw_value *w)
{
    tw_shape shape = w->shape;
    int64_t count = tw_shape_elements(&shape), inner = count / shape.dim[0];
    float *data = tw_alloc_array(c->arena, (size_t)count, sizeof *data);
    for (int64_t i = 0; i < count; i++)
        data[i] = w->quant.scale[w->quant.count > 1 ? i / inner : 0] *
                  (float)((const int8_t *)w->data)[i];
    shape.dtype = TW_F32;
    return tw_graph_constant(c->graph, "floats", shape, data);
}

static void expect_near(float got, double want)
{
    if (!(fabs((double)got - want) <= 1e-5 * (1 + fabs(want))))
        fail_msg("%g, expected %g", (double)got, want);
}

enum { STEPS = 5, INPUTS = 7, CELLS = 6 };

/* Row k of quantised x times int8 weights with a scale a gate. */
static double dot(const int *x, double scale, const tw_value *w, int k, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += x[i] * ((const int8_t *)w->data)[k * count + i];
    return sum * scale * scale_at(w, k / CELLS);
}

/* One step of one sequence: h and c move on. */
static void lstm_step(tw_value *const *in, bool asymmetric, const float *x, float *h, float *c)
{
    int input[INPUTS], hidden[CELLS];
    const double x_scale = quantise(x, INPUTS, asymmetric, input);
    const double h_scale = quantise(h, CELLS, asymmetric, hidden);
    for (int o = 0; o < CELLS; o++) {
        double gate[4];
        for (int g = 0; g < 4; g++) {
            const int k = g * CELLS + o;
            const double sum = dot(input, x_scale, in[1], k, INPUTS) +
                               dot(hidden, h_scale, in[2], k, CELLS) +
                               (double)((const float *)in[3]->data)[k];
            gate[g] = g == TW_LSTM_CELL ? tanh(sum) : 1 / (1 + exp(-sum));
        }
        c[o] = (float)(gate[TW_LSTM_FORGET] * (double)c[o] + gate[0] * gate[TW_LSTM_CELL]);
        h[o] = (float)(gate[TW_LSTM_OUTPUT] * tanh((double)c[o]));
    }
}

/* Input and hidden state are quantised at each step, symmetrically or with a zero point. */
static void check_lstm(bool asymmetric, bool many)
{
    static const int32_t x_dim[] = {2, STEPS, INPUTS}, w_dim[] = {4, CELLS, INPUTS};
    static const int32_t r_dim[] = {4, CELLS, CELLS}, b_dim[] = {4, CELLS};
    tw_case k = open_case();
    const tw_lstm_attributes attributes = {0, asymmetric};
    tw_value *in[] = {tw_operate_value(k.graph, TW_F32, 3, x_dim, &k.state),
                      weights(&k, 3, w_dim, 0, many), weights(&k, 3, r_dim, 0, many),
                      tw_operate_value(k.graph, TW_F32, 2, b_dim, &k.state)};
    tw_node *node = tw_operate_node(k.graph, "Lstm", in, 4, &attributes);
    const float *got = tw_operate_whole(node, k.arena), *x = in[0]->data;
    for (int n = 0; n < 2; n++) {
        float h[CELLS] = {0}, c[CELLS] = {0};
        for (int t = 0; t < STEPS; t++, x += INPUTS, got += CELLS) {
            lstm_step(in, asymmetric, x, h, c);
            for (int o = 0; o < CELLS; o++) {
                expect_near(got[o], (double)h[o]);
                h[o] = got[o]; /* a rounding must not decide what the next step is quantised to */
            }
        }
    }
    tw_arena_free(k.arena);
}

static void test_lstm(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++)
        check_lstm((i & 1) != 0, i > 1);
}

/* To the bit what the float layer gives with the weights that the int8 ones stand for. */
static void test_transposed(void **unused)
{
    (void)unused;
    static const int32_t x_dim[] = {1, 4, 5, 4}, w_dim[] = {6, 3, 2, 2}, b_dim[] = {6};
    const tw_conv_transpose_attributes attributes = {.stride = {2, {2, 3}}, .group = 2};
    for (int many = 0; many < 2; many++) {
        tw_case c = open_case();
        tw_value *x = tw_operate_value(c.graph, TW_F32, 4, x_dim, &c.state);
        tw_value *w = weights(&c, 4, w_dim, 0, many);
        tw_value *b = tw_operate_value(c.graph, TW_F32, 1, b_dim, &c.state);
        tw_value *stored[] = {x, w, b}, *real[] = {x, as_floats(&c, w), b};
        tw_node *hybrid = tw_operate_node(c.graph, "ConvTranspose", stored, 3, &attributes);
        tw_node *plain = tw_operate_node(c.graph, "ConvTranspose", real, 3, &attributes);
        const void *got = tw_operate_whole(hybrid, c.arena);
        const void *want = tw_operate_whole(plain, c.arena);
        assert_memory_equal(got, want, tw_shape_bytes(&hybrid->out[0]->shape));
        assert_true(tw_operate_bands(hybrid, &c.state) > 0);
        tw_arena_free(c.arena);
    }
}

static void test_fully_connected(void **unused)
{
    (void)unused;
    for (int many = 0; many < 2; many++) {
        tw_case c = open_case();
        const int32_t x[] = {5, 37}, w[] = {6, 37}, b[] = {6};
        tw_value *in[3] = {tw_operate_value(c.graph, TW_F32, 2, x, &c.state),
                           weights(&c, 2, w, 0, many),
                           tw_operate_value(c.graph, TW_F32, 1, b, &c.state)};
        tw_node *node = tw_operate_node(c.graph, "FullyConnected", in, 3, NULL);
        const float *got = tw_operate_whole(node, c.arena);
        for (int32_t r = 0; r < x[0]; r++) {
            int q[37];
            double scale = quantise((const float *)in[0]->data + r * x[1], x[1], many, q);
            for (int32_t o = 0; o < w[0]; o++) {
                double sum = 0;
                for (int32_t k = 0; k < w[1]; k++)
                    sum += q[k] * ((const int8_t *)in[1]->data)[o * w[1] + k];
                expect_near(got[r * w[0] + o], sum * scale * scale_at(in[1], o) +
                                                   (double)((const float *)in[2]->data)[o]);
            }
        }
        assert_true(tw_operate_bands(node, &c.state) > 0);
        tw_arena_free(c.arena);
    }
}

enum { BATCH = 2, ROWS = 7, COLUMNS = 6, CHANNELS = 4, OUTPUTS = 8 };

/* The sum of output channel o at (row, column) of an image, 3x3, padded by one on every side.
 * depth: channels that o reads, from `first` on; step, next: elements of w from tap to tap, channel to
 * channel. */
static double convolve(const int *image, const int8_t *w, int row, int column, int first, int depth,
                       int step, int next)
{
    double sum = 0;
    for (int i = 0; i < 9; i++) {
        int y = row + i / 3 - 1, x = column + i % 3 - 1;
        for (int k = 0; k < depth && y >= 0 && y < ROWS && x >= 0 && x < COLUMNS; k++)
            sum += image[(y * COLUMNS + x) * CHANNELS + first + k] * w[i * step + k * next];
    }
    return sum;
}

static void check_images(const char *op, bool many)
{
    static const tw_ints one = {2, {1, 1}};
    const bool depthwise = strcmp(op, "DepthwiseConv") == 0;
    const int32_t x[] = {BATCH, ROWS, COLUMNS, CHANNELS};
    const int32_t w[] = {OUTPUTS, 3, 3, CHANNELS / 2}, d[] = {3, 3, OUTPUTS};
    const tw_conv_attributes a = {one, one, one, one, 2};
    const tw_depthwise_conv_attributes b = {one, one, one, one};
    tw_case c = open_case();
    tw_value *in[2] = {tw_operate_value(c.graph, TW_F32, 4, x, &c.state),
                       depthwise ? weights(&c, 3, d, 2, many) : weights(&c, 4, w, 0, many)};
    const void *attributes = depthwise ? (const void *)&b : (const void *)&a;
    tw_node *node = tw_operate_node(c.graph, op, in, 2, attributes);
    const float *got = tw_operate_whole(node, c.arena);
    for (int n = 0; n < BATCH; n++) {
        int image[ROWS * COLUMNS * CHANNELS];
        const int count = ROWS * COLUMNS * CHANNELS;
        double scale = quantise((const float *)in[0]->data + n * count, count, many, image);
        for (int i = 0; i < ROWS * COLUMNS * OUTPUTS; i++) {
            int o = i % OUTPUTS, row = i / OUTPUTS / COLUMNS, column = i / OUTPUTS % COLUMNS;
            const int8_t *k = in[1]->data;
            double sum = depthwise ? convolve(image, k + o, row, column, o / 2, 1, OUTPUTS, 0)
                                   : convolve(image, k + o * 18, row, column, o / 4 * 2, 2, 2, 1);
            expect_near(got[n * ROWS * COLUMNS * OUTPUTS + i], sum * scale * scale_at(in[1], o));
        }
    }
    tw_operate_bands(node, &c.state);
    tw_arena_free(c.arena);
}

static void test_images(void **unused)
{
    (void)unused;
    for (int many = 0; many < 2; many++) {
        check_images("Conv", many);
        check_images("DepthwiseConv", many);
    }
}

/* Rows of zeros give the bias; what is no number stays within the row it stands in. */
static void test_odd_values(void **unused)
{
    (void)unused;
    tw_case c = open_case();
    const int32_t x[] = {3, 4}, w[] = {2, 4};
    float *values = tw_alloc(c.arena, 12 * sizeof *values);
    values[4] = NAN;
    values[5] = INFINITY;
    values[6] = -INFINITY;
    values[8] = 1;
    tw_value *in[2] = {tw_graph_constant(c.graph, "x", tw_shape_of(TW_F32, 2, x), values),
                       weights(&c, 2, w, 0, true)};
    tw_node *node = tw_operate_node(c.graph, "FullyConnected", in, 2, NULL);
    const float *got = tw_operate_whole(node, c.arena);
    assert_true(got[0] == 0 && got[1] == 0);
    const int8_t *k = in[1]->data;
    expect_near(got[4], k[0] * scale_at(in[1], 0));
    expect_near(got[5], k[4] * scale_at(in[1], 1));
    tw_arena_free(c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lstm),
        cmocka_unit_test(test_transposed),
        cmocka_unit_test(test_fully_connected),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_odd_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
