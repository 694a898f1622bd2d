/* bench-compile [--quick]: processor time and memory of compiling, against the number of nodes: chains,
 * wide graphs of parallel branches, random directed graphs. Each compilation is a process of its own; the
 * exponent is the slope of the logarithms over the sizes from 1,000 nodes up (n log n has 1.13 there). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tilewright/compiler.h"

enum { MOST_SECONDS = 120 };

/* A value's name is its node's number; 0 is the input. Every value is s8[1,16,16,8]. */
#define VALUE "s8[1,16,16,8] quant(scale=0.1, zero=-5)"

static void conv(FILE *f, int node, int x, int kernel)
{
    int pad = kernel / 2;
    fprintf(f, "  const %%w%d : s8[8,%d,%d,8] quant(scale=0.01, zero=0) = random %d -128 128\n",
            node, kernel, kernel, node);
    fprintf(f, "  %%v%d : " VALUE " = Conv(%%v%d, %%w%d) {pad_begin=[%d,%d], pad_end=[%d,%d]}\n",
            node, x, node, pad, pad, pad, pad);
}

static void add(FILE *f, int node, int a, int b)
{
    fprintf(f, "  %%v%d : " VALUE " = Add(%%v%d, %%v%d)\n", node, a, b);
}

/* Convolutions one behind the other, every fourth node adds what was four before. */
static int write_chain(FILE *f, int nodes)
{
    for (int i = 1; i <= nodes; i++)
        if (i % 4 == 0)
            add(f, i, i - 1, i - 4);
        else
            conv(f, i, i - 1, i % 2 ? 3 : 1);
    return nodes;
}

/* Blocks of eight branches of three nodes each, added up one by one. */
static int write_wide(FILE *f, int nodes)
{
    int node = 0, from = 0;
    while (node + 31 <= nodes) {
        int end[8];
        for (int b = 0; b < 8; b++) {
            conv(f, node + 1, from, 1);
            conv(f, node + 2, node + 1, 3);
            conv(f, node + 3, node + 2, 1);
            end[b] = node += 3;
        }
        from = end[0];
        for (int b = 1; b < 8; b++) {
            node++;
            add(f, node, from, end[b]);
            from = node;
        }
    }
    return from;
}

/* Each node reads one or two of the sixteen before it; what nobody has read is added up as it leaves
 * that window, so that nothing is dead. */
static int write_random(FILE *f, int nodes)
{
    char *is_read = calloc((size_t)nodes + 1, 1);
    uint32_t state = 1;
    if (!is_read)
        return 0;
    for (int i = 1; i <= nodes; i++) {
        int reach = i < 16 ? i : 16;
        int a = i - 1 - (int)((state = state * 1664525u + 1013904223u) >> 8) % reach;
        int b = i - 1 - (int)((state = state * 1664525u + 1013904223u) >> 8) % reach;
        if (i > 16 && !is_read[i - 16])
            b = i - 16;
        if (i % 3 == 0 || (i > 16 && !is_read[i - 16]))
            add(f, i, a, b);
        else
            conv(f, i, a, i % 2 ? 3 : 1);
        is_read[a] = 1;
        if (i % 3 == 0 || b == i - 16)
            is_read[b] = 1;
    }
    free(is_read);
    return nodes;
}

typedef struct tw_kind {
    const char *name;
    int (*write)(FILE *file, int nodes); /* returns the output's number */
} tw_kind;

static const tw_kind kinds[] = {
    {"chain", write_chain}, {"wide", write_wide}, {"random", write_random}};

static int write_model(const char *path, const tw_kind *kind, int nodes)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return 0;
    fprintf(f, "graph \"%s\" {\n  input %%v0 : " VALUE "\n", kind->name);
    int output = kind->write(f, nodes);
    fprintf(f, "  output %%v%d\n}\n", output);
    return fclose(f) == 0;
}

/* In a process of its own, ended after MOST_SECONDS. */
static int compile(const char *path)
{
    const struct rlimit limit = {MOST_SECONDS, MOST_SECONDS};
    tw_diag diag = {0};
    tw_compile_options options;
    tw_compiled compiled;
    (void)setrlimit(RLIMIT_CPU, &limit);
    tw_compile_options_default(&options);
    if (tw_compile_file(path, &options, &compiled, &diag))
        return 0;
    fprintf(stderr, "%s: %s\n", path, diag.message);
    return 1;
}

/* Seconds and bytes; negative seconds: it took too long or failed. */
static double measure(const char *path, double *bytes)
{
    struct rusage usage;
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(compile(path));
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        return -1;
    *bytes = (double)usage.ru_maxrss * 1024;
    return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec +
           (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
}

/* Slope of log(seconds) over log(nodes), least squares. */
static double slope(const double *nodes, const double *seconds, int count)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < count; i++) {
        double x = log(nodes[i]), y = log(seconds[i]);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

static void bench(const tw_kind *kind, const char *path, const int *sizes, int count)
{
    double nodes[8], seconds[8];
    int kept = 0;
    for (int i = 0; i < count; i++) {
        double bytes = 0, once;
        if (!write_model(path, kind, sizes[i])) {
            fprintf(stderr, "%s: cannot write\n", path);
            exit(1);
        }
        once = measure(path, &bytes);
        if (once < 0) {
            printf("%-8s %8d   not within %d s\n", kind->name, sizes[i], MOST_SECONDS);
            continue;
        }
        printf("%-8s %8d %10.3f s %10.1f MB\n", kind->name, sizes[i], once, bytes * 1e-6);
        if (sizes[i] >= 1000) {
            nodes[kept] = sizes[i];
            seconds[kept++] = once;
        }
    }
    if (kept > 1)
        printf("%-8s exponent %.2f\n\n", kind->name, slope(nodes, seconds, kept));
}

int main(int argc, char **argv)
{
    static const int sizes[] = {100, 300, 1000, 2000, 5000, 10000};
    int count = argc > 1 && strcmp(argv[1], "--quick") == 0 ? 4 : 6;
    char path[] = "/tmp/bench-compile-XXXXXX";
    int file = mkstemp(path);
    if (file < 0) {
        perror(path);
        return 1;
    }
    close(file);
    for (int k = 0; k < (int)(sizeof kinds / sizeof *kinds); k++)
        bench(&kinds[k], path, sizes, count);
    unlink(path);
    return 0;
}
