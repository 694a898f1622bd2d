/* bench-kernels [--quick] [NAME-PART]: speed of the portable kernels beside the plain loops of plain.h, built by
 * the same compiler with the same flags, once with the vectoriser held back and once without.
 *
 * The three run in turn, a few milliseconds each, several rounds; the least time of each counts. The
 * ratios are what to believe: they hold from machine to machine, GMAC/s do not. Every output is compared
 * with the plain loops', byte for byte. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "operator.h"

typedef struct tw_family {
    const char *name;
    tw_dtype dtype;
    double goal; /* times the plain loops, vectoriser held back; 0: none */
    const tw_layer *layers;
    int count;
} tw_family;

/* Layers of MLPerf Tiny and MobileNet: rows, columns, channels, outputs, kernel, stride. */
/* clang-format off */
#define CONV(name, r, c, i, o, kr, kc, s) {name, 0, 0, 0, r, c, i, o, kr, kc, s}
#define DEPTHWISE(name, r, c, o, k, s) {name, 1, 0, 0, r, c, o, o, k, k, s}
#define CONNECTED(name, i, o) {name, 0, 1, 0, 1, 1, i, o, 1, 1, 1}

static const tw_layer convolutions[] = {
    CONV("ResNet-8 first: 32x32x3 to 16, 3x3",            32, 32,   3,  16,  3, 3, 1),
    CONV("ResNet-8: 32x32x16 to 16, 3x3",                 32, 32,  16,  16,  3, 3, 1),
    CONV("ResNet-8: 32x32x16 to 32, 3x3, stride 2",       32, 32,  16,  32,  3, 3, 2),
    CONV("ResNet-8: 16x16x32 to 32, 3x3",                 16, 16,  32,  32,  3, 3, 1),
    CONV("ResNet-8: 8x8x64 to 64, 3x3",                    8,  8,  64,  64,  3, 3, 1),
    CONV("DS-CNN first: 49x10x1 to 64, 10x4, stride 2",   49, 10,   1,  64, 10, 4, 2),
    CONV("MobileNetV1 0.25 first: 96x96x3 to 8, 3x3, 2",  96, 96,   3,   8,  3, 3, 2),
    CONV("MobileNetV1 first: 128x128x3 to 32, 3x3, 2",   128,128,   3,  32,  3, 3, 2),
    CONV("56x56x64 to 64, 3x3",                           56, 56,  64,  64,  3, 3, 1),
    CONV("14x14x128 to 128, 3x3",                         14, 14, 128, 128,  3, 3, 1),
};
static const tw_layer pointwise[] = {
    CONV("DS-CNN: 25x5x64 to 64",                         25,  5,  64,  64,  1, 1, 1),
    CONV("MobileNetV1 0.25: 12x12x64 to 64",              12, 12,  64,  64,  1, 1, 1),
    CONV("MobileNetV1 0.25: 6x6x128 to 128",               6,  6, 128, 128,  1, 1, 1),
    CONV("MobileNetV1 0.25: 3x3x256 to 256",               3,  3, 256, 256,  1, 1, 1),
    CONV("MobileNetV1: 32x32x128 to 128",                 32, 32, 128, 128,  1, 1, 1),
    CONV("MobileNetV1: 8x8x512 to 512",                    8,  8, 512, 512,  1, 1, 1),
    CONV("MobileNetV2: 14x14x384 to 64",                  14, 14, 384,  64,  1, 1, 1),
    CONV("MobileNetV2: 7x7x160 to 960",                    7,  7, 160, 960,  1, 1, 1),
};
static const tw_layer narrow[] = {
    CONV("MobileNetV1 0.25: 48x48x8 to 16",               48, 48,   8,  16,  1, 1, 1),
    CONV("MobileNetV1 0.25: 24x24x32 to 32",              24, 24,  32,  32,  1, 1, 1),
    CONV("MobileNetV2 0.35: 112x112x16 to 8",            112,112,  16,   8,  1, 1, 1),
    CONV("ResNet-8: 32x32x16 to 32, stride 2",            32, 32,  16,  32,  1, 1, 2),
};
static const tw_layer depthwise[] = {
    DEPTHWISE("DS-CNN: 25x5x64, 3x3",                     25,  5,  64,  3, 1),
    DEPTHWISE("MobileNetV1 0.25: 48x48x8, 3x3",           48, 48,   8,  3, 1),
    DEPTHWISE("MobileNetV1 0.25: 48x48x16, 3x3, 2",       48, 48,  16,  3, 2),
    DEPTHWISE("MobileNetV1 0.25: 24x24x32, 3x3",          24, 24,  32,  3, 1),
    DEPTHWISE("MobileNetV1 0.25: 12x12x64, 3x3",          12, 12,  64,  3, 1),
    DEPTHWISE("MobileNetV1 0.25: 6x6x128, 3x3",            6,  6, 128,  3, 1),
    DEPTHWISE("MobileNetV1: 64x64x64, 3x3, 2",            64, 64,  64,  3, 2),
    DEPTHWISE("MobileNetV2: 14x14x384, 3x3",              14, 14, 384,  3, 1),
    DEPTHWISE("14x14x96, 5x5",                            14, 14,  96,  5, 1),
};
static const tw_layer connected[] = {
    CONNECTED("ResNet-8: 64 to 10",                        64,   10),
    CONNECTED("autoencoder: 640 to 128",                  640,  128),
    CONNECTED("autoencoder: 128 to 128",                  128,  128),
    CONNECTED("MobileNetV1: 1024 to 1000",               1024, 1000),
};
/* clang-format on */

#define LAYERS(list) list, (int)(sizeof(list) / sizeof *(list))
static const tw_family families[] = {
    {"int8 convolution", TW_S8, 8, LAYERS(convolutions)},
    {"int8 pointwise, 64 channels or more", TW_S8, 5, LAYERS(pointwise)},
    {"int8 pointwise, fewer channels", TW_S8, 0, LAYERS(narrow)},
    {"int8 depthwise", TW_S8, 2, LAYERS(depthwise)},
    {"int8 fully connected", TW_S8, 0, LAYERS(connected)},
    {"float convolution", TW_F32, 4, LAYERS(convolutions)},
    {"float pointwise", TW_F32, 4, LAYERS(pointwise)},
    {"float depthwise", TW_F32, 0, LAYERS(depthwise)},
    {"float fully connected", TW_F32, 0, LAYERS(connected)},
};

enum { KERNEL, SCALAR, VECTORISED, RUNNERS };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_once(tw_operator *o, int runner)
{
    int kind =
        2 * (o->tensors[3].dtype == TW_F32) + (o->node->op == tw_op_by_name("DepthwiseConv"));
    if (runner == KERNEL)
        (void)o->lowering.kernel->run(&o->call);
    else
        (runner == SCALAR ? tw_plain_scalar : tw_plain_vectorised)[kind](&o->plain);
}

/* Least seconds of one run of each runner. */
static void measure(tw_operator *o, double slice, int rounds, double *least)
{
    int repeats[RUNNERS];
    for (int r = 0; r < RUNNERS; r++) {
        double begin = now();
        run_once(o, r);
        double once = now() - begin;
        repeats[r] = once * 1000 < slice ? (int)(slice / (once + 1e-7)) + 1 : 1;
        least[r] = once;
    }
    for (int round = 0; round < rounds; round++)
        for (int r = 0; r < RUNNERS; r++) {
            double begin = now();
            for (int i = 0; i < repeats[r]; i++)
                run_once(o, r);
            double each = (now() - begin) / repeats[r];
            least[r] = each < least[r] ? each : least[r];
        }
}

/* One line a layer; returns false where the outputs differ. */
static bool bench_layer(const tw_layer *layer, tw_dtype dtype, double slice, int rounds,
                        double *log_ratio)
{
    tw_operator o;
    double least[RUNNERS];
    tw_operator_open(&o, layer, dtype);
    run_once(&o, SCALAR);
    int differs = tw_operator_compare(&o);
    measure(&o, slice, rounds, least);
    for (int i = 0; i < 2; i++)
        log_ratio[i] = log(least[SCALAR + i] / least[KERNEL]);
    printf("  %-48s %8.2f %8.2f %8.2f %8.1fx %7.1fx\n", layer->name,
           (double)o.macs / least[KERNEL] * 1e-9, (double)o.macs / least[SCALAR] * 1e-9,
           (double)o.macs / least[VECTORISED] * 1e-9, exp(log_ratio[0]), exp(log_ratio[1]));
    if (differs >= 0)
        printf("  ^ element %d is not what the plain loops compute\n", differs);
    fflush(stdout);
    tw_operator_close(&o);
    return differs < 0;
}

int main(int argc, char **argv)
{
    double slice = 0.01;
    int rounds = 7;
    const char *part = "";
    bool equal = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            slice = 0.002;
            rounds = 3;
        } else {
            part = argv[i];
        }
    }
#ifndef __OPTIMIZE__
    puts("built without optimisation: these numbers mean nothing; configure with the preset "
         "release");
#endif
    for (int f = 0; f < (int)(sizeof families / sizeof *families); f++) {
        const tw_family *family = &families[f];
        double sum[2] = {0, 0};
        int count = 0;
        if (!strstr(family->name, part))
            continue;
        printf("%-50s %8s %8s %8s %9s %8s\n", family->name, "GMAC/s", "plain", "vector", "/plain",
               "/vector");
        for (int i = 0; i < family->count; i++) {
            double log_ratio[2];
            equal =
                bench_layer(&family->layers[i], family->dtype, slice, rounds, log_ratio) && equal;
            sum[0] += log_ratio[0];
            sum[1] += log_ratio[1];
            count++;
        }
        printf("  %-48s %26s %8.1fx %7.1fx", "geometric mean", "", exp(sum[0] / count),
               exp(sum[1] / count));
        if (family->goal > 0)
            printf("   (wanted: %.0fx)", family->goal);
        puts("\n");
    }
    return equal ? 0 : 1;
}
