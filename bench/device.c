/* Firmware for bench/device: instructions of the int8 kernels beside the plain loops of plain.h, each called
 * once on layers of the MLPerf Tiny networks, small enough for a board's memory. Under QEMU with
 * -icount shift=0 an instruction is a nanosecond and the system timer counts every forty of them. */
#include "../tests/device/board.h"
#include "ops/codes.h"
#include "ops/conv.h"
#include "ops/depthwise_conv.h"
#include "ops/product.h"
#include "plain.h"

enum { MOST = 1 << 16, MOST_CHANNELS = 256, INSTRUCTIONS_A_TICK = 40 };

typedef struct tw_small_layer {
    const char *name;
    int is_depthwise;
    int32_t rows, columns, channels, outputs, kernel_rows, kernel_columns, stride;
} tw_small_layer;

static const tw_small_layer layers[] = {
    {"ResNet-8 first: 32x32x3 to 16, 3x3   ", 0, 32, 32, 3, 16, 3, 3, 1},
    {"ResNet-8: 16x16x32 to 32, 3x3        ", 0, 16, 16, 32, 32, 3, 3, 1},
    {"DS-CNN first: 49x10x1 to 64, 10x4, 2 ", 0, 49, 10, 1, 64, 10, 4, 2},
    {"DS-CNN: 25x5x64 to 64, pointwise     ", 0, 25, 5, 64, 64, 1, 1, 1},
    {"MobileNetV1: 6x6x128 to 128, pointwise", 0, 6, 6, 128, 128, 1, 1, 1},
    {"MobileNetV1: 24x24x16 to 32, pointwise", 0, 24, 24, 16, 32, 1, 1, 1},
    {"DS-CNN: 25x5x64, depthwise 3x3       ", 1, 25, 5, 64, 64, 3, 3, 1},
    {"MobileNetV1: 24x24x32, depthwise 3x3 ", 1, 24, 24, 32, 32, 3, 3, 1},
    {"MobileNetV1: 6x6x128, depthwise 3x3  ", 1, 6, 6, 128, 128, 3, 3, 1},
};

static int8_t x[MOST], w[MOST], y[MOST], plain_y[MOST];
static int32_t multiplier[MOST_CHANNELS], shift[MOST_CHANNELS], bias[MOST_CHANNELS],
    folded[MOST_CHANNELS];

static volatile uint32_t *const timer =
    (volatile uint32_t *)0xE000E010u; /* control, reload, value */

static uint32_t ticks(void)
{
    return 0xFFFFFFu - timer[2];
}

static void print_number(uint32_t v, int width)
{
    char text[16], *at = text + 15;
    *at = 0;
    do
        *--at = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    while (at > text && text + 15 - at < width)
        *--at = ' ';
    board_print(at);
}

/* v tenths. */
static void print_tenths(uint32_t v, int width)
{
    print_number(v / 10, width - 2);
    board_print(".");
    print_number(v % 10, 1);
}

static tw_tensor image(int32_t rows, int32_t columns, int32_t channels, int32_t zero)
{
    tw_tensor t;
    memset(&t, 0, sizeof t);
    t.dtype = TW_S8;
    t.rank = 4;
    t.dim[0] = 1;
    t.dim[1] = rows;
    t.dim[2] = columns;
    t.dim[3] = channels;
    t.stride[3] = 1;
    t.stride[2] = channels;
    t.stride[1] = channels * columns;
    t.stride[0] = channels * columns * rows;
    t.zero_point = zero;
    return t;
}

static tw_tensor weights_of(const tw_small_layer *l)
{
    tw_tensor t = image(l->kernel_rows, l->kernel_columns, l->channels, 0);
    t.dim[0] = l->outputs;
    if (l->is_depthwise) { /* rows, columns, channels */
        t.rank = 3;
        for (int i = 0; i < 3; i++) {
            t.dim[i] = t.dim[i + 1];
            t.stride[i] = t.stride[i + 1];
        }
    }
    return t;
}

static void fold(const tw_small_layer *l, int32_t zero)
{
    const int32_t taps = l->kernel_rows * l->kernel_columns * (l->is_depthwise ? 1 : l->channels);
    for (int32_t o = 0; o < l->outputs; o++) {
        folded[o] = bias[o];
        for (int32_t k = 0; k < taps; k++)
            folded[o] -= zero * (l->is_depthwise ? w[k * l->outputs + o] : w[o * taps + k]);
    }
}

static int32_t padding(int32_t in, int32_t kernel, int32_t stride, int32_t *out)
{
    int32_t total;
    *out = (in + stride - 1) / stride;
    total = (*out - 1) * stride + kernel - in;
    return total > 0 ? total : 0;
}

static tw_view whole(const tw_tensor *t, void *data)
{
    const int axis = t->rank == 4 ? 1 : 0;
    tw_view v = {t, data, axis, 0, t->dim[axis], 0, t->dim[axis]};
    return v;
}

/* One layer on both; 0 where the results are equal. */
static int bench(const tw_small_layer *l)
{
    enum { X_ZERO = 3, Y_ZERO = -5 };
    int32_t out_rows, out_columns;
    const int32_t rows = padding(l->rows, l->kernel_rows, l->stride, &out_rows);
    const int32_t columns = padding(l->columns, l->kernel_columns, l->stride, &out_columns);
    const tw_ints stride = {2, {l->stride, l->stride}}, begin = {2, {rows / 2, columns / 2}};
    const tw_ints end = {2, {rows - rows / 2, columns - columns / 2}}, none = {0, {0}};
    const tw_conv_attributes conv = {stride, none, begin, end, 1};
    const tw_depthwise_conv_attributes depthwise = {stride, none, begin, end};
    const tw_tensor in = image(l->rows, l->columns, l->channels, X_ZERO), kernel = weights_of(l);
    const tw_tensor out = image(out_rows, out_columns, l->outputs, Y_ZERO);
    const uint32_t table = (uint32_t)l->outputs * 4;
    const tw_blob blobs[] = {{multiplier, table}, {shift, table}, {folded, table}};
    tw_view views[3], result;
    tw_call call;
    const tw_kernel *k = l->is_depthwise ? &tw_k_depthwise_conv_s8 : &tw_k_conv_s8;
    const tw_plain plain = {l->rows,
                            l->columns,
                            l->channels,
                            out_rows,
                            out_columns,
                            l->outputs,
                            l->kernel_rows,
                            l->kernel_columns,
                            l->stride,
                            rows / 2,
                            columns / 2,
                            x,
                            w,
                            bias,
                            plain_y,
                            X_ZERO,
                            Y_ZERO,
                            -128,
                            127,
                            multiplier,
                            shift};
    uint64_t work = 0;
    uint32_t at, ours, theirs;
    fold(l, X_ZERO);
    memset(&call, 0, sizeof call);
    memset(views, 0, sizeof views);
    views[0] = whole(&in, x);
    views[1] = whole(&kernel, w);
    result = whole(&out, y);
    call.in = views;
    call.out = &result;
    call.in_count = 3;
    call.out_count = 1;
    call.attributes = l->is_depthwise ? (const void *)&depthwise : (const void *)&conv;
    call.attribute_bytes = l->is_depthwise ? sizeof depthwise : sizeof conv;
    call.blobs = blobs;
    call.blob_count = TW_BLOB_COUNT;
    call.clamp_low.s32 = -128;
    call.clamp_high.s32 = 127;
    if (k->check(&call, &work) != TW_OK) {
        board_print("the kernel refuses\n");
        return 1;
    }
    at = ticks();
    (void)k->run(&call);
    ours = ticks() - at;
    at = ticks();
    tw_plain_scalar[l->is_depthwise](&plain);
    theirs = ticks() - at;
    board_print(l->name);
    print_tenths((uint32_t)((uint64_t)ours * INSTRUCTIONS_A_TICK * 10 / work), 10);
    print_tenths((uint32_t)((uint64_t)theirs * INSTRUCTIONS_A_TICK * 10 / work), 10);
    print_tenths(theirs * 10 / ours, 10);
    board_print("x\n");
    return memcmp(y, plain_y, (size_t)(out_rows * out_columns * l->outputs)) != 0;
}

int main(void)
{
    uint32_t state = 1;
    int bad = 0;
    for (int i = 0; i < MOST; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (int8_t)(state >> 24);
        w[i] = (int8_t)((int32_t)(state >> 8 & 0xFF) - 127 - (int32_t)(state >> 8 & 0xFF) / 255);
    }
    for (int o = 0; o < MOST_CHANNELS; o++) {
        multiplier[o] = (1 << 30) + 12345 * o;
        shift[o] = -9 - o % 3;
        bias[o] = 100 * (o % 19) - 900;
    }
    timer[1] = 0xFFFFFFu;
    timer[2] = 0;
    timer[0] = 5; /* on, by the processor's clock */
    board_print("instructions a multiply-accumulate       kernel     plain     ratio\n");
    for (int i = 0; i < (int)(sizeof layers / sizeof *layers); i++) {
        if (bench(&layers[i])) {
            bad = 1;
            board_print("  ^ not what the plain loops compute\n");
        }
    }
    return bad;
}

/* The device's compiler calls these; there is no library. */
void *memcpy(void *to, const void *from, size_t bytes)
{
    char *a = to;
    const char *b = from;
    while (bytes-- > 0)
        *a++ = *b++;
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    char *a = to;
    const char *b = from;
    if (a <= b)
        return memcpy(to, from, bytes);
    while (bytes-- > 0)
        a[bytes] = b[bytes];
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    char *a = to;
    while (bytes-- > 0)
        *a++ = (char)value;
    return to;
}

int memcmp(const void *left, const void *right, size_t bytes)
{
    const unsigned char *a = left, *b = right;
    for (; bytes > 0; bytes--, a++, b++)
        if (*a != *b)
            return *a - *b;
    return 0;
}
