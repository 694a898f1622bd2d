/* Random networks of layers: layers.h. */
#include "support/layers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/plans.h"

static int pick(tw_layers *m, int low, int high)
{
    return low + (int)(tw_test_random(&m->random) % (uint64_t)(high - low + 1));
}

void tw_layers_say(tw_layers *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    m->length += vsnprintf(m->text + m->length, (size_t)(TW_LAYERS_TEXT - m->length), format, args);
    va_end(args);
    assert_true(m->length < TW_LAYERS_TEXT);
}

void tw_layers_type(tw_layers *m, int h, int w, int c)
{
    if (m->flat)
        tw_layers_say(m, " : %s[1,%d,%d]", m->s8 ? "s8" : "f32", h, c);
    else
        tw_layers_say(m, " : %s[1,%d,%d,%d]", m->s8 ? "s8" : "f32", h, w, c);
    if (m->s8)
        tw_layers_say(m, " quant(scale=0.1, zero=-3)");
}

int tw_layers_begin(tw_layers *m, int h, int w, int c)
{
    m->h[m->count] = h;
    m->w[m->count] = w;
    m->c[m->count] = c;
    tw_layers_say(m, "  %%t%d", m->count);
    tw_layers_type(m, h, w, c);
    tw_layers_say(m, " = ");
    return m->count++;
}

static int extent(int in, int kernel, int stride, int dilation, int before, int after)
{
    int reach = (kernel - 1) * dilation + 1;
    return in + before + after < reach ? 0 : (in + before + after - reach) / stride + 1;
}

/* Convolution, depthwise or pooling with any window that fits. Returns the new tensor or `x`. */
static int add_window(tw_layers *m, int x)
{
    int kind = pick(m, 0, 4), kh = pick(m, 1, 4), kw = m->flat ? 1 : pick(m, 1, 4);
    int sh = pick(m, 1, 4) == 1 ? pick(m, 2, 3) : 1, sw = m->flat ? 1 : sh;
    int dh = pick(m, 1, 5) == 1 && kind < 2 ? 2 : 1, dw = m->flat ? 1 : dh;
    int top = pick(m, 0, kh - 1), bottom = pick(m, 0, kh - 1);
    int left = m->flat ? 0 : pick(m, 0, kw - 1), right = m->flat ? 0 : pick(m, 0, kw - 1);
    int h = extent(m->h[x], kh, sh, dh, top, bottom), w = extent(m->w[x], kw, sw, dw, left, right);
    int c = kind == 0 || kind == 4 ? pick(m, 1, 12) : m->c[x];
    char lists[256];
    if (h < 1 || w < 1 || (kind >= 2 && kind < 4 && m->s8 && (top >= kh || left >= kw)))
        return x;
    if (m->flat)
        snprintf(lists, sizeof lists, "stride=[%d], dilation=[%d], pad_begin=[%d], pad_end=[%d]",
                 sh, dh, top, bottom);
    else
        snprintf(lists, sizeof lists,
                 "stride=[%d,%d], dilation=[%d,%d], pad_begin=[%d,%d], pad_end=[%d,%d]", sh, sw, dh,
                 dw, top, left, bottom, right);
    if (kind != 2 && kind != 3) {
        tw_layers_say(m, "  const %%w%d : %s[", m->count, m->s8 ? "s8" : "f32");
        if (kind != 1)
            tw_layers_say(m, "%d,", c);
        tw_layers_say(m, "%d,", kh);
        if (!m->flat)
            tw_layers_say(m, "%d,", kw);
        tw_layers_say(m, "%d", m->c[x]);
        tw_layers_say(m,
                      m->s8 ? "] quant(scale=0.02, zero=0) = random %d -128 128\n"
                            : "] = random %d -0.5 0.5\n",
                      m->count);
    }
    int y = tw_layers_begin(m, h, w, c);
    if (kind == 2 || kind == 3) {
        tw_layers_say(m, "%s(%%t%d) {kernel=", kind == 2 ? "MaxPool" : "AveragePool", x);
        if (m->flat)
            tw_layers_say(m, "[%d], %s}\n", kh, lists);
        else
            tw_layers_say(m, "[%d,%d], %s}\n", kh, kw, lists);
    } else {
        tw_layers_say(m, "%s(%%t%d, %%w%d) {%s}%s\n", kind == 1 ? "DepthwiseConv" : "Conv", x, y,
                      lists, pick(m, 0, 2) ? "" : " clamp(0, 6)");
    }
    return y;
}

static int add_unary(tw_layers *m, int x)
{
    static const char *const names[] = {"Relu", "Sigmoid", "HardSwish", "Tanh"};
    int y = tw_layers_begin(m, m->h[x], m->w[x], m->c[x]);
    tw_layers_say(m, "%s(%%t%d)\n", names[pick(m, 0, 3)], x);
    return y;
}

/* Join with an earlier tensor of the same extents: a residual add, or dense concatenation. */
static int add_join(tw_layers *m, int x)
{
    int candidates[TW_LAYERS_TENSORS], count = 0;
    for (int i = 0; i < m->count; i++)
        if (i != x && m->h[i] == m->h[x] && m->w[i] == m->w[x])
            candidates[count++] = i;
    if (count == 0)
        return x;
    int other = candidates[pick(m, 0, count - 1)];
    if (m->c[other] == m->c[x]) {
        int y = tw_layers_begin(m, m->h[x], m->w[x], m->c[x]);
        tw_layers_say(m, pick(m, 0, 1) ? "Add(%%t%d, %%t%d)\n" : "Mul(%%t%d, %%t%d)\n", x, other);
        return y;
    }
    int y = tw_layers_begin(m, m->h[x], m->w[x], m->c[x] + m->c[other]);
    tw_layers_say(m, "Concat(%%t%d, %%t%d) {axis=%d}\n", x, other, m->flat ? 2 : 3);
    return y;
}

/* Squeeze and excite: a global mean, a pointwise layer, a product over all rows. */
static int add_excite(tw_layers *m, int x)
{
    int c = m->c[x], mean = tw_layers_begin(m, 1, 1, c);
    tw_layers_say(m, "ReduceMean(%%t%d) {axes=%s}\n", x, m->flat ? "[1]" : "[1,2]");
    int gate = tw_layers_begin(m, 1, 1, c);
    tw_layers_say(m, "Sigmoid(%%t%d)\n", mean);
    int y = tw_layers_begin(m, m->h[x], m->w[x], c);
    tw_layers_say(m, "Mul(%%t%d, %%t%d)\n", x, gate);
    return y;
}

/* A fully connected layer from one named vector to another. */
static void add_dense(tw_layers *m, const char *x, int inputs, const char *y, int outputs)
{
    const char *dtype = m->s8 ? "s8" : "f32", *quant = m->s8 ? " quant(scale=0.1, zero=-3)" : "";
    tw_layers_say(m, "  const %%w_%s : %s[%d,%d]%s = random %d %s\n", y, dtype, outputs, inputs,
                  m->s8 ? " quant(scale=0.02, zero=0)" : "", m->count,
                  m->s8 ? "-128 128" : "-0.5 0.5");
    tw_layers_say(m, "  %%%s : %s[1,%d]%s = FullyConnected(%%%s, %%w_%s)%s\n", y, dtype, outputs,
                  quant, x, y, pick(m, 0, 2) ? "" : " clamp(0, 6)");
}

/* The map as a vector, a fully connected layer over it, and perhaps two that widen and narrow. Returns the name of the
 * last. */
static const char *add_head(tw_layers *m, int x)
{
    const int elements = m->h[x] * m->w[x] * m->c[x], outputs = pick(m, 1, 24);
    tw_layers_say(m, "  %%vector : %s[1,%d]%s = Reshape(%%t%d) {shape=[1,%d]}\n",
                  m->s8 ? "s8" : "f32", elements, m->s8 ? " quant(scale=0.1, zero=-3)" : "", x,
                  elements);
    add_dense(m, "vector", elements, "head", outputs);
    if (pick(m, 0, 1))
        return "head";
    const int wide = pick(m, 16, 400);
    add_dense(m, "head", outputs, "wide", wide);
    tw_layers_say(m, "  %%gate : %s[1,%d]%s = Sigmoid(%%wide)\n", m->s8 ? "s8" : "f32", wide,
                  m->s8 ? " quant(scale=0.1, zero=-3)" : "");
    add_dense(m, "gate", wide, "last", pick(m, 1, 24));
    return "last";
}

void tw_layers_make(tw_layers *m, uint64_t seed)
{
    m->random = seed * 7919 + 1;
    m->length = m->count = 0;
    m->s8 = pick(m, 0, 1);
    m->flat = pick(m, 0, 4) == 0;
    int h = pick(m, 1, 40), w = m->flat ? 1 : pick(m, 1, 16), c = pick(m, 1, 8);
    tw_layers_say(m, "graph \"random %d\" {\n  input %%t0", (int)seed);
    tw_layers_type(m, h, w, c);
    tw_layers_say(m, "\n");
    m->h[0] = h;
    m->w[0] = w;
    m->c[0] = c;
    m->count = 1;
    int x = 0, layers = pick(m, 2, 14);
    for (int i = 0; i < layers && m->count < TW_LAYERS_TENSORS - 8; i++) {
        int what = pick(m, 0, 9);
        int from = pick(m, 0, 7) == 0 ? pick(m, 0, m->count - 1) : x; /* a new branch */
        x = what < 6   ? add_window(m, from)
            : what < 7 ? add_unary(m, from)
            : what < 9 ? add_join(m, x)
                       : add_excite(m, from);
    }
    if (pick(m, 0, 2) == 0 && m->count > 2)
        tw_layers_say(m, "  output %%t%d\n", pick(m, 1, m->count - 1));
    if (pick(m, 0, 4) == 0)
        tw_layers_say(m, "  output %%%s\n}\n", add_head(m, x));
    else
        tw_layers_say(m, "  output %%t%d\n}\n", x);
}
