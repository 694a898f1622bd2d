/* bench-rolling [--quick] MODEL...: the time of a run in the least memory against one with every layer whole. The
 * two take turns; the least processor time of a run counts. Wanted: at most 1.25 times whole execution. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/session.h"
#include "tilewright/compiler.h"

/* A model compiled one way, ready to run. */
typedef struct tw_engine {
    tw_compiled compiled;
    tw_session session;
    double least; /* seconds */
} tw_engine;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void require(bool ok, const char *model, const tw_diag *diag)
{
    if (ok)
        return;
    fprintf(stderr, "%s: %s\n", model, diag->message);
    exit(1);
}

/* by_rows: the first input comes row by row. */
static void open_engine(tw_engine *e, const char *model, tw_prefer prefer, const char *by_rows)
{
    tw_diag diag = {0};
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.prefer = prefer;
    options.io_layout = TW_IO_NHWC;
    options.input_rows = by_rows;
    require(tw_compile_file(model, &options, &e->compiled, &diag) &&
                tw_session_open(&e->session, e->compiled.plan, e->compiled.plan_bytes, &diag),
            model, &diag);
    int8_t *input = tw_session_input(&e->session, 0);
    uint32_t bytes = tw_tensor_bytes(tw_input_tensor(&e->session.model, 0));
    for (uint32_t i = 0; i < bytes; i++)
        input[i] = (int8_t)(i * 2654435761u >> 24);
    e->least = 1e30;
}

static void measure(tw_engine *e, double slice)
{
    tw_diag diag = {0};
    double end = now() + slice;
    do {
        double begin = now();
        require(tw_session_run(&e->session, &diag), "a run", &diag);
        double seconds = now() - begin;
        e->least = seconds < e->least ? seconds : e->least;
    } while (now() < end);
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns the larger of the two ratios. */
static double compare(const char *model, int rounds, double slice)
{
    tw_engine e[3];
    open_engine(&e[0], model, TW_PREFER_SPEED, NULL);
    open_engine(&e[1], model, TW_PREFER_MEMORY, NULL);
    open_engine(&e[2], model, TW_PREFER_MEMORY, e[0].compiled.report.inputs[0].name);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 3; i++)
            measure(&e[i], slice);
    printf("%-26s%10u%9.0f", name_of(model), e[0].compiled.report.memory.total, e[0].least * 1e6);
    double worst = 0;
    for (int i = 1; i < 3; i++) {
        double ratio = e[i].least / e[0].least;
        printf("%11u%9.0f%7.2f", e[i].compiled.report.memory.total, e[i].least * 1e6, ratio);
        worst = ratio > worst ? ratio : worst;
    }
    printf("%s\n", worst > 1.25 ? "   ABOVE" : "");
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        tw_session_close(&e[i].session);
        tw_compiled_free(&e[i].compiled);
    }
    return worst;
}

int main(int argc, char **argv)
{
    int first = argc > 1 && strcmp(argv[1], "--quick") == 0 ? 2 : 1;
    double worst = 0;
    if (argc <= first) {
        fprintf(stderr, "usage: bench-rolling [--quick] MODEL...\n");
        return 2;
    }
    printf("%-26s%19s%27s%27s\n%-26s%10s%9s%11s%9s%7s%11s%9s%7s\n", "", "layers whole",
           "least memory", "least, input by rows", "network", "RAM", "us", "RAM", "us", "ratio",
           "RAM", "us", "ratio");
    for (int i = first; i < argc; i++) {
        double ratio = compare(argv[i], first == 2 ? 3 : 9, first == 2 ? 0.02 : 0.1);
        worst = ratio > worst ? ratio : worst;
    }
    printf("the largest ratio: %.2f (wanted: at most 1.25)\n", worst);
    return 0;
}
