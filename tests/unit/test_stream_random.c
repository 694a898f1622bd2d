/* Random networks over time, streamed, in float32 and int8: convolutions of random windows, strides and
 * dilations, poolings, branches that meet again, causal padding; a result a clip or a result a frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/reference.h"
#include "support/streams.h"

enum { NETWORKS = 40 };

typedef struct writer {
    tw_arena *arena;
    const char *text;
    uint64_t seed;
    bool quantized;
    int rows, channels, stride; /* of the value in hand, and of all before it */
    int name;                   /* of the value in hand: %v<name> */
} writer;

static int pick(writer *w, int low, int high)
{
    return low + (int)(tw_reference_next(&w->seed) % (uint64_t)(high - low + 1));
}

#define ADD(w, ...)                                                                                \
    ((w)->text = tw_format((w)->arena, "%s%s", (w)->text, tw_format((w)->arena, __VA_ARGS__)))

/* " : type" of a result of these extents, where it has a scale of its own. */
static const char *type_of(const writer *w, int rows, int channels)
{
    return w->quantized
               ? tw_format(w->arena, " : s8[1,%d,%d] quant(scale=0.05, zero=-3)", rows, channels)
               : "";
}

static const char *weights(writer *w, const char *shape)
{
    const int name = pick(w, 1, 1 << 30);
    if (w->quantized)
        ADD(w, "  const %%w%d : s8[%s] quant(scale=0.02, zero=0) = random %d -60 61\n", name, shape,
            name);
    else
        ADD(w, "  const %%w%d : f32[%s] = random %d -1 1\n", name, shape, name);
    return tw_format(w->arena, "%%w%d", name);
}

/* A convolution of the value in hand into value `name`; `pad` rows before. */
static void convolve(writer *w, int name, int taps, int dilation, int stride, int pad, int channels)
{
    const bool depthwise = channels == w->channels && pick(w, 0, 1);
    const int rows = (w->rows + pad - dilation * (taps - 1) - 1) / stride + 1;
    const char *weight =
        weights(w, depthwise ? tw_format(w->arena, "%d,%d", taps, channels)
                             : tw_format(w->arena, "%d,%d,%d", channels, taps, w->channels));
    ADD(w, "  %%v%d%s = %s (%%v%d, %s) {stride=[%d], dilation=[%d], pad_begin=[%d], pad_end=[0]}\n",
        name, type_of(w, rows, channels), depthwise ? "DepthwiseConv" : "Conv", w->name, weight,
        stride, dilation, pad);
    w->rows = rows;
    w->channels = channels;
    w->stride *= stride;
    w->name = name;
}

static void pool(writer *w)
{
    const int taps = pick(w, 1, 3), stride = pick(w, 1, 2);
    const int rows = (w->rows - taps) / stride + 1, name = w->name + 1;
    ADD(w, "  %%v%d%s = %s (%%v%d) {kernel=[%d], stride=[%d]}\n", name,
        type_of(w, rows, w->channels), pick(w, 0, 1) ? "MaxPool" : "AveragePool", w->name, taps,
        stride);
    w->rows = rows;
    w->stride *= stride;
    w->name = name;
}

/* A convolution beside the rows that its middle, or its end, looks at. */
static void branch(writer *w, bool causal)
{
    const int before = w->name, had = w->rows, taps = pick(w, 1, 4), dilation = pick(w, 1, 2);
    const int reach = dilation * (taps - 1), begin = causal ? 0 : pick(w, 0, reach);
    convolve(w, before + 1, taps, dilation, 1, causal ? reach : 0, w->channels);
    const char *beside = tw_format(w->arena, "%%v%d", before);
    if (w->rows != had) {
        ADD(w, "  %%s%d = Slice (%s) {begin=[0,%d,0], size=[1,%d,%d], step=[1,1,1]}\n", before,
            beside, begin, w->rows, w->channels);
        beside = tw_format(w->arena, "%%s%d", before);
    }
    ADD(w, "  %%v%d%s = Add (%%v%d, %s)\n", w->name + 1, type_of(w, w->rows, w->channels), w->name,
        beside);
    w->name++;
}

static void finish(writer *w, int kind)
{
    if (kind == 0) {
        ADD(w, "  %%y%s = ReduceMean (%%v%d) {axes=[1], keepdims=1}\n", type_of(w, 1, w->channels),
            w->name);
    } else if (kind == 1 && !w->quantized) {
        const int all = w->rows * w->channels;
        ADD(w, "  %%f = Reshape (%%v%d) {shape=[1,%d]}\n", w->name, all);
        const char *weight = weights(w, tw_format(w->arena, "3,%d", all));
        ADD(w, "  %%y = FullyConnected (%%f, %s)\n", weight);
    } else {
        ADD(w, "  %%y%s = Relu (%%v%d)\n", type_of(w, w->rows, w->channels), w->name);
    }
    ADD(w, "  output %%y\n}\n");
}

static void one_network(uint64_t seed, bool quantized)
{
    tw_arena *arena = tw_arena_new();
    writer w = {arena, "", seed, quantized, 0, 0, 1, 0};
    const bool causal = pick(&w, 0, 3) == 0;
    w.rows = pick(&w, 30, 60);
    w.channels = pick(&w, 2, 5);
    ADD(&w, "graph \"random\" {\n  input %%v0 : %s[1,%d,%d]%s\n", quantized ? "s8" : "f32", w.rows,
        w.channels, quantized ? " quant(scale=0.05, zero=-3)" : "");
    const int window = w.rows, steps = pick(&w, 1, 4);
    for (int i = 0; i < steps && w.rows > 12; i++) {
        const int kind = pick(&w, 0, 2);
        if (causal || kind == 0)
            branch(&w, causal);
        else if (kind == 1)
            pool(&w);
        else
            convolve(&w, w.name + 1, pick(&w, 1, 4), pick(&w, 1, 2), pick(&w, 1, 2), 0,
                     pick(&w, 2, 5));
    }
    finish(&w, causal ? 2 : pick(&w, 0, 2));
    const int most = window / (causal ? 4 : 2) / w.stride;
    const int hop = w.stride * pick(&w, 1, most > 4 ? 4 : most < 1 ? 1 : most);
    tw_stream_compare_text(w.text, 1, (uint32_t)hop, 6);
    tw_arena_free(arena);
}

static void test_float(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= NETWORKS; seed++)
        one_network(seed, false);
}

static void test_quantized(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= NETWORKS; seed++)
        one_network(seed, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_float),
                                       cmocka_unit_test(test_quantized)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
