/* See random_graph.h. Values are kept small by bounding each layer's result, so that no product
 * of two leaves the integers that float holds exactly. */
#include "support/random_graph.h"

#include <stdarg.h>
#include <stdio.h>

#include "support/reference.h"

#define MOST_MAPS 24

/* An activation [n, c, h, w], channels first. */
typedef struct map {
    int id, n, c, h, w;
} map;

typedef struct writer {
    uint64_t seed;
    char *text;
    size_t used, size;
    map maps[MOST_MAPS];
    int count;
    int next_id; /* of values and constants */
    bool quantized;
} writer;

static int pick(writer *g, int low, int high)
{
    return low + (int)(tw_reference_next(&g->seed) % (uint64_t)(high - low + 1));
}

__attribute__((format(printf, 2, 3))) static void line(writer *g, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(g->text + g->used, g->size - g->used, format, arguments);
    va_end(arguments);
    g->used += n > 0 ? (size_t)n : 0;
    if (g->used >= g->size)
        g->used = g->size - 1;
}

static int constant(writer *g, const char *shape, int low, int high)
{
    int id = g->next_id++;
    if (g->quantized && pick(g, 0, 3) > 0) {
        line(g, "  const %%s%d : s8[%s] quant(scale=1, zero=0) = random %d %d %d\n", id, shape,
             id + 1, low, high + 1);
        line(g, "  %%k%d = Dequantize (%%s%d)\n", id, id);
        return id;
    }
    line(g, "  const %%k%d : f32[%s] = random %d %d %d\n", id, shape, id + 1, low, high);
    return id;
}

static char *extents(char *text, size_t size, const map *m)
{
    snprintf(text, size, "%d,%d,%d,%d", m->n, m->c, m->h, m->w);
    return text;
}

static int fresh(writer *g)
{
    return g->next_id++;
}

/* Stored in steps of a quarter or an eighth and read back. */
static void quantize(writer *g, map *m)
{
    char shape[64];
    int q = fresh(g), d = fresh(g);
    bool is_unsigned = pick(g, 0, 3) == 0;
    line(g, "  %%v%d : %s[%s] quant(scale=%s, zero=%d) = Quantize (%%v%d) {dtype=%s}\n", q,
         is_unsigned ? "u8" : "s8", extents(shape, sizeof shape, m),
         pick(g, 0, 1) ? "0.25" : "0.125", pick(g, -20, 20) + (is_unsigned ? 128 : 0), m->id,
         is_unsigned ? "u8" : "s8");
    line(g, "  %%v%d = Dequantize (%%v%d)\n", d, q);
    m->id = d;
}

static void keep(writer *g, map m)
{
    if (g->quantized && pick(g, 0, 9) < 7)
        quantize(g, &m);
    if (g->count < MOST_MAPS)
        g->maps[g->count++] = m;
    else
        g->maps[pick(g, 0, MOST_MAPS - 1)] = m;
}

static map some_map(writer *g)
{
    return g->maps[pick(g, (g->count > 5) ? g->count - 5 : 0, g->count - 1)];
}

/* ---- operators that are defined channels last ---- */

static int to_last(writer *g, const map *m)
{
    int id = fresh(g);
    line(g, "  %%v%d = Transpose (%%v%d) {perm=[0,2,3,1]}\n", id, m->id);
    return id;
}

static void to_first(writer *g, map *m)
{
    int id = fresh(g);
    line(g, "  %%v%d = Transpose (%%v%d) {perm=[0,3,1,2]}\n", id, m->id);
    m->id = id;
}

static void bound(writer *g, map *m)
{
    int a = fresh(g), b = fresh(g);
    if (pick(g, 0, 2) == 0)
        line(g, "  %%v%d = Clip (%%v%d) {alpha=%d, beta=%d}\n", b, m->id, pick(g, -4, 0),
             pick(g, 1, 5));
    else
        line(g, "  %%v%d = Min (%%v%d, %%four)\n  %%v%d = Max (%%minus, %%v%d)\n", a, m->id, b, a);
    m->id = b;
}

static void convolve(writer *g)
{
    char shape[64];
    map m = some_map(g);
    int k = pick(g, 0, 1) ? 1 : 3, stride = pick(g, 1, 2), pad = k == 3 ? pick(g, 0, 1) : 0;
    int group = 1, out = pick(g, 1, 6);
    if (pick(g, 0, 2) == 0 && m.c > 1)
        group = out = m.c;
    if (m.h + 2 * pad < k || m.w + 2 * pad < k)
        return;
    snprintf(shape, sizeof shape, "%d,%d,%d,%d", out, k, k, m.c / group);
    int w = constant(g, shape, -1, 1);
    snprintf(shape, sizeof shape, "%d", out);
    int b = constant(g, shape, -3, 3);
    int x = to_last(g, &m);
    m.id = fresh(g);
    line(g,
         "  %%v%d = Conv (%%v%d, %%k%d, %%k%d) {pad_begin=[%d,%d], pad_end=[%d,%d], "
         "stride=[%d,%d], group=%d}\n",
         m.id, x, w, b, pad, pad, pad, pad, stride, stride, group);
    m.c = out;
    m.h = (m.h + 2 * pad - k) / stride + 1;
    m.w = (m.w + 2 * pad - k) / stride + 1;
    to_first(g, &m);
    if (pick(g, 0, 2) == 0) {
        int s = constant(g, shape, -1, 1), t = constant(g, shape, -3, 3), y = to_last(g, &m);
        m.id = fresh(g);
        line(g, "  %%v%d = BatchNorm (%%v%d, %%k%d, %%k%d, %%k%d, %%ones%d) {epsilon=0}\n", m.id, y,
             s, t, t, m.c);
        to_first(g, &m);
    }
    bound(g, &m);
    keep(g, m);
}

static void pool(writer *g)
{
    map m = some_map(g);
    if (m.h < 2 || m.w < 2)
        return;
    int stride = pick(g, 1, 2), average = pick(g, 0, 1), x = to_last(g, &m), id = fresh(g);
    line(g, "  %%v%d = %s (%%v%d) {kernel=[2,2], stride=[%d,%d]}\n", id,
         average ? "AveragePool" : "MaxPool", x, stride, stride);
    m.id = id;
    m.h = (m.h - 2) / stride + 1;
    m.w = (m.w - 2) / stride + 1;
    to_first(g, &m);
    if (average) { /* whole numbers again */
        id = fresh(g);
        line(g, "  %%v%d = Floor (%%v%d)\n", id, m.id);
        m.id = id;
    }
    keep(g, m);
}

/* ---- operators of any order ---- */

static void unary(writer *g)
{
    static const char *const names[] = {"Relu", "Abs", "Neg", "Identity"};
    map m = some_map(g);
    int id = fresh(g);
    line(g, "  %%v%d = %s (%%v%d)\n", id, names[pick(g, 0, 3)], m.id);
    m.id = id;
    keep(g, m);
}

/* With a constant that broadcasts in one way or another. */
static void binary_constant(writer *g)
{
    static const char *const names[] = {"Add", "Sub", "Mul", "Max"};
    char shape[64];
    map m = some_map(g);
    switch (pick(g, 0, 4)) {
    case 0: snprintf(shape, sizeof shape, "%d,1,1", m.c); break;
    case 1: snprintf(shape, sizeof shape, "1,%d,1,1", m.c); break;
    case 2: snprintf(shape, sizeof shape, "%d,%d", m.h, m.w); break;
    case 3: snprintf(shape, sizeof shape, "%d", m.w); break;
    default: snprintf(shape, sizeof shape, "1"); break;
    }
    int k = constant(g, shape, -2, 2), id = fresh(g);
    if (pick(g, 0, 1))
        line(g, "  %%v%d = %s (%%v%d, %%k%d)\n", id, names[pick(g, 0, 3)], m.id, k);
    else
        line(g, "  %%v%d = %s (%%k%d, %%v%d)\n", id, names[pick(g, 0, 3)], k, m.id);
    m.id = id;
    bound(g, &m);
    keep(g, m);
}

static void binary(writer *g)
{
    static const char *const names[] = {"Add", "Sub", "Mul", "Min"};
    map a = some_map(g);
    for (int i = 0; i < g->count; i++) {
        const map *b = &g->maps[(i + a.id) % g->count];
        if (b->c != a.c || b->h != a.h || b->w != a.w)
            continue;
        int id = fresh(g);
        line(g, "  %%v%d = %s (%%v%d, %%v%d)\n", id, names[pick(g, 0, 3)], a.id, b->id);
        a.id = id;
        bound(g, &a);
        keep(g, a);
        return;
    }
}

static void concat(writer *g)
{
    map a = some_map(g), b = a;
    for (int i = 0; i < g->count; i++)
        if (g->maps[i].h == a.h && g->maps[i].w == a.w)
            b = g->maps[i];
    if (a.c + b.c > 12)
        return;
    int id = fresh(g);
    line(g, "  %%v%d = Concat (%%v%d, %%v%d) {axis=1}\n", id, a.id, b.id);
    a.id = id;
    a.c += b.c;
    keep(g, a);
}

static void slice(writer *g)
{
    map m = some_map(g);
    int c = pick(g, 1, m.c), h = pick(g, 1, m.h), w = pick(g, 1, m.w), id = fresh(g);
    int back = pick(g, 0, 1);
    line(g, "  %%v%d = Slice (%%v%d) {begin=[0,%d,%d,%d], size=[%d,%d,%d,%d], step=[1,1,1,%d]}\n",
         id, m.id, m.c - c, pick(g, 0, m.h - h), back ? m.w - 1 : m.w - w, m.n, c, h, w,
         back ? -1 : 1);
    m = (map){id, m.n, c, h, w};
    keep(g, m);
}

static void pad(writer *g)
{
    static const char *const modes[] = {"constant", "reflect", "edge", "symmetric"};
    map m = some_map(g);
    int c = pick(g, 0, 3) == 0, h = pick(g, 0, 1), w = pick(g, 0, 1), id = fresh(g);
    int mode = pick(g, 0, 3);
    if (mode == 1 && (m.h < 2 || m.w < 2 || m.c < 2))
        mode = 0;
    line(g, "  %%v%d = Pad (%%v%d) {before=[0,0,%d,%d], after=[0,%d,%d,0], mode=%s, value=%d}\n",
         id, m.id, h, w, c, h, modes[mode], pick(g, 0, 2) == 0 ? 2 : 0);
    m = (map){id, m.n, m.c + c, m.h + 2 * h, m.w + w};
    keep(g, m);
}

/* Over some axes, keeping them, and the result combined with what was reduced. */
static void reduce(writer *g)
{
    static const char *const axes[] = {"1", "2,3", "-1", "-2", "1,2"};
    static const char *const names[] = {"ReduceSum", "ReduceMax", "ReduceMin"};
    map m = some_map(g);
    int r = fresh(g), b = fresh(g), id = fresh(g);
    line(g, "  %%v%d = %s (%%v%d) {axes=[%s], keepdims=1}\n", r, names[pick(g, 0, 2)], m.id,
         axes[pick(g, 0, 4)]);
    line(g, "  %%v%d = Clip (%%v%d) {alpha=-4, beta=4}\n", b, r);
    line(g, "  %%v%d = %s (%%v%d, %%v%d)\n", id, pick(g, 0, 1) ? "Mul" : "Sub", m.id, b);
    m.id = id;
    bound(g, &m);
    keep(g, m);
}

/* Channels in two groups exchanged. */
static void shuffle(writer *g)
{
    map m = some_map(g);
    if (m.c % 2 != 0)
        return;
    int a = fresh(g), b = fresh(g), id = fresh(g);
    line(g, "  %%v%d = Reshape (%%v%d) {shape=[%d,2,%d,%d,%d]}\n", a, m.id, m.n, m.c / 2, m.h, m.w);
    line(g, "  %%v%d = Transpose (%%v%d) {perm=[0,2,1,3,4]}\n", b, a);
    line(g, "  %%v%d = Reshape (%%v%d) {shape=[%d,%d,%d,%d]}\n", id, b, m.n, m.c, m.h, m.w);
    m.id = id;
    keep(g, m);
}

/* Rows and columns exchanged, for a transpose that nothing cancels. */
static void turn(writer *g)
{
    map m = some_map(g);
    int id = fresh(g);
    line(g, "  %%v%d = Transpose (%%v%d) {perm=[0,1,3,2]}\n", id, m.id);
    m = (map){id, m.n, m.c, m.w, m.h};
    keep(g, m);
}

/* ---- heads ---- */

static void classify(writer *g)
{
    char shape[64];
    map m = some_map(g);
    int flat = fresh(g), y = fresh(g);
    line(g, "  %%v%d = Reshape (%%v%d) {shape=[%d,%d]}\n", flat, m.id, m.n, m.c * m.h * m.w);
    if (pick(g, 0, 1)) {
        int r = fresh(g);
        line(g, "  %%v%d = Relu (%%v%d)\n", r, flat);
        flat = r;
    }
    snprintf(shape, sizeof shape, "3,%d", m.c * m.h * m.w);
    int w = constant(g, shape, -1, 1);
    line(g, "  %%v%d = FullyConnected (%%v%d, %%k%d)\n  output %%v%d\n", y, flat, w, y);
}

static void summarise(writer *g)
{
    map m = some_map(g);
    int y = fresh(g);
    line(g, "  %%v%d = ReduceSum (%%v%d) {axes=[2,3], keepdims=0}\n  output %%v%d\n", y, m.id, y);
}

char *tw_random_graph(tw_arena *arena, uint64_t seed, bool quantized)
{
    static void (*const makers[])(writer *) = {
        convolve, convolve, convolve, pool, unary,  binary_constant, binary,
        binary,   concat,   slice,    pad,  reduce, shuffle,         turn};
    writer g = {.seed = seed, .size = 1 << 16, .quantized = quantized};
    g.text = tw_alloc(arena, g.size);
    map first = {0, pick(&g, 0, 4) == 0 ? 2 : 1, pick(&g, 1, 4), pick(&g, 3, 8), pick(&g, 3, 8)};
    char shape[64];
    line(&g, "graph \"random %llu\" {\n", (unsigned long long)seed);
    line(&g, "  input %%v0 : f32[%s]\n", extents(shape, sizeof shape, &first));
    line(&g, "  const %%four : f32[] = [4]\n  const %%minus : f32[1] = [-4]\n");
    for (int c = 1; c <= 16; c++) {
        line(&g, "  const %%ones%d : f32[%d] = [", c, c);
        for (int i = 0; i < c; i++)
            line(&g, "%s1", i ? "," : "");
        line(&g, "]\n");
    }
    g.next_id = 1;
    keep(&g, first);
    int nodes = pick(&g, 1, 20);
    for (int i = 0; i < nodes; i++)
        makers[pick(&g, 0, (int)(sizeof makers / sizeof *makers) - 1)](&g);
    switch (pick(&g, 0, 3)) {
    case 0: classify(&g); break;
    case 1: summarise(&g); break;
    case 2: line(&g, "  output %%v%d\n", some_map(&g).id); break;
    default: break;
    }
    line(&g, "  output %%v%d\n}\n", g.maps[g.count - 1].id);
    return g.text;
}
