/* bench-model MODEL whole|nhwc|default INPUT OUTPUT: one network, ready to be timed in turn with others.
 *
 * Compiles the model (whole: for speed, every layer whole; nhwc: also with its inputs and outputs
 * channels last; default: as the command does), runs it once on the bytes of INPUT (its inputs end to
 * end) and writes its outputs end to end to OUTPUT. Then prints one line, "ready RAM-BYTES FLASH-BYTES
 * MACS", and for every line it reads, a number of runs, the least seconds of processor time that one of
 * them took. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/session.h"
#include "tilewright/compiler.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(const tw_diag *diag)
{
    fprintf(stderr, "%s\n", diag->message);
    return 1;
}

static bool read_inputs(tw_session *s, const char *name)
{
    FILE *file = fopen(name, "rb");
    bool good = file != NULL;
    for (uint32_t i = 0; good && i < s->model.input_count; i++) {
        uint32_t bytes = tw_tensor_bytes(tw_input_tensor(&s->model, i));
        good = fread(tw_session_input(s, i), 1, bytes, file) == bytes;
    }
    if (file)
        fclose(file);
    return good;
}

static bool write_outputs(tw_session *s, const char *name)
{
    FILE *file = fopen(name, "wb");
    bool good = file != NULL;
    for (uint32_t i = 0; good && i < s->model.output_count; i++) {
        uint32_t bytes = tw_tensor_bytes(tw_output_tensor(&s->model, i));
        good = fwrite(tw_output(&s->context, i), 1, bytes, file) == bytes;
    }
    return file && fclose(file) == 0 && good;
}

/* Inputs may be overwritten by a run and are not put back: the time does not depend on the numbers. */
static bool answer(tw_session *s, tw_diag *diag)
{
    char line[32];
    while (fgets(line, sizeof line, stdin)) {
        double least = 1e30;
        for (long left = strtol(line, NULL, 10); left > 0; left--) {
            double begin = now();
            if (!tw_session_run(s, diag))
                return false;
            double seconds = now() - begin;
            least = seconds < least ? seconds : least;
        }
        printf("%.9f\n", least);
        fflush(stdout);
    }
    return true;
}

int main(int argc, char **argv)
{
    tw_diag diag = {0};
    tw_compile_options options;
    tw_compiled compiled;
    tw_session session;
    if (argc != 5) {
        fprintf(stderr, "usage: bench-model MODEL whole|nhwc|default INPUT OUTPUT\n");
        return 2;
    }
    tw_compile_options_default(&options);
    if (strcmp(argv[2], "default") != 0)
        options.prefer = TW_PREFER_SPEED;
    if (strcmp(argv[2], "nhwc") == 0)
        options.io_layout = TW_IO_NHWC;
    if (!tw_compile_file(argv[1], &options, &compiled, &diag) ||
        !tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag))
        return fail(&diag);
    if (!read_inputs(&session, argv[3])) {
        fprintf(stderr, "%s: not the inputs of %s\n", argv[3], argv[1]);
        return 1;
    }
    if (!tw_session_run(&session, &diag))
        return fail(&diag);
    if (!write_outputs(&session, argv[4])) {
        fprintf(stderr, "%s: cannot write\n", argv[4]);
        return 1;
    }
    printf("ready %" PRIu32 " %" PRIu32 " %" PRIu64 "\n", compiled.report.memory.total,
           compiled.report.flash.total, compiled.report.macs);
    fflush(stdout);
    if (!answer(&session, &diag))
        return fail(&diag);
    tw_session_close(&session);
    tw_compiled_free(&compiled);
    return 0;
}
