/* Recurrent layers that keep their state: k runs are one run over the concatenation, for every combination of
 * attributes, in both directions, with lengths that differ from run to run and entry to entry, and resets before
 * any run. The backward direction of a run reads its steps from the last to the first and goes on from where that
 * of the run before ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host/session.h"
#include "support/plans.h"

enum { BATCH = 2, IN = 3, OUT = 4, RUNS = 6, STEPS = 3, ALL = RUNS * STEPS };

typedef struct tw_case {
    bool lstm, peephole, coupled, linear, lengths, initial;
    float clip;
} tw_case;

/* A layer over `steps` time steps. The stateful one begins each run where the last ended. */
static void write_layer(char *text, size_t room, const tw_case *c, int steps, const char *direction)
{
    const int gates = c->lstm ? 4 : 3, d = direction[0] == 'b' ? 2 : 1;
    const char *h = c->initial ? "%h" : "_", *p = c->peephole ? "%p" : "_";
    char attributes[160], states[40];
    (void)snprintf(attributes, sizeof attributes,
                   "hidden_size=%d, direction=\"%s\", clip=%g, %s=%d", OUT, direction,
                   (double)c->clip, c->lstm ? "input_forget" : "linear_before_reset",
                   c->lstm ? c->coupled : c->linear);
    (void)snprintf(states, sizeof states, c->lstm ? "%s, %s, %s, %%r" : "%s, %%r", h,
                   c->initial ? "%c" : "_", p);
    (void)snprintf(
        text, room,
        "graph \"l\" {\n  input %%x : f32[%d,%d,%d]\n  input %%r : bool[]\n  input %%n : s32[%d]\n"
        "  input %%h : f32[%d,%d,%d]\n  input %%c : f32[%d,%d,%d]\n"
        "  const %%w : f32[%d,%d,%d] = random 1 -1 1\n  const %%u : f32[%d,%d,%d] = random 2 -1 1\n"
        "  const %%b : f32[%d,%d] = random 3 -1 1\n  const %%p : f32[%d,%d] = random 4 -1 1\n"
        "  %%y, %%yh%s = qti_aisw.%s (%%x, %%w, %%u, %%b, %s, %s) {%s}\n"
        "  output %%y\n  output %%yh\n%s}\n",
        steps, BATCH, IN, BATCH, d, BATCH, OUT, d, BATCH, OUT, d, gates * OUT, IN, d, gates * OUT,
        OUT, d, 2 * gates * OUT, d, 3 * OUT, c->lstm ? ", %yc" : "",
        c->lstm ? "StatefulLstm" : "StatefulGru", c->lengths ? "%n" : "_", states, attributes,
        c->lstm ? "  output %yc\n" : "");
}

static void open_layer(tw_session *s, const tw_case *c, int steps, const char *direction)
{
    char text[2400];
    tw_compile_options options;
    tw_compiled compiled;
    tw_diag diag = {0};
    write_layer(text, sizeof text, c, steps, direction);
    tw_compile_options_default(&options);
    tw_test_compile(text, &options, &compiled);
    assert_true(tw_session_open(s, compiled.plan, compiled.plan_bytes, &diag));
    tw_compiled_free(&compiled);
}

/* What comes, and what came of it. */
typedef struct tw_passage {
    const tw_case *c;
    const char *direction;
    int directions, steps; /* steps of a run */
    float x[RUNS][STEPS][BATCH][IN], h[2 * BATCH * OUT], cell[2 * BATCH * OUT];
    int32_t length[RUNS][BATCH];
    uint8_t reset[RUNS];
    float y[RUNS][STEPS][2][BATCH][OUT], last[RUNS][2][2][BATCH][OUT]; /* h, c */
} tw_passage;

static float number(uint64_t *seed)
{
    return (float)(tw_test_random(seed) % 2001) / 1000.0f - 1.0f;
}

static void make_passage(tw_passage *p, uint64_t seed)
{
    for (int r = 0; r < RUNS; r++) {
        p->reset[r] = r > 0 && tw_test_random(&seed) % 3 == 0;
        for (int b = 0; b < BATCH; b++)
            p->length[r][b] = p->c->lengths
                                  ? 1 + (int32_t)(tw_test_random(&seed) % (uint64_t)p->steps)
                                  : p->steps;
        for (int i = 0; i < STEPS * BATCH * IN; i++)
            (&p->x[r][0][0][0])[i] = number(&seed);
    }
    for (int i = 0; i < 2 * BATCH * OUT; i++) {
        p->h[i] = number(&seed);
        p->cell[i] = number(&seed);
    }
}

static void run_layer(tw_session *s, const tw_passage *p, const float *x, const int32_t *lengths,
                      uint8_t reset)
{
    tw_diag diag = {0};
    for (uint32_t i = 0; i < s->model.input_count; i++) {
        const char *name = s->input_names[i];
        const void *data = *name == 'x'   ? (const void *)x
                           : *name == 'r' ? (const void *)&reset
                           : *name == 'n' ? (const void *)lengths
                           : *name == 'h' ? (const void *)p->h
                                          : (const void *)p->cell;
        memcpy(tw_session_input(s, i), data, tw_tensor_bytes(tw_input_tensor(&s->model, i)));
    }
    if (!tw_session_run(s, &diag))
        fail_msg("%s", diag.message);
}

/* Run by run. */
static void pass(tw_passage *p)
{
    tw_session s = {0};
    const int d = p->directions;
    open_layer(&s, p->c, p->steps, p->direction);
    for (int r = 0; r < RUNS; r++) {
        run_layer(&s, p, &p->x[r][0][0][0], p->length[r], p->reset[r]);
        const float *y = tw_session_output(&s, 0);
        for (int t = 0; t < p->steps; t++)
            memcpy(p->y[r][t], y + t * d * BATCH * OUT, sizeof *y * (size_t)d * BATCH * OUT);
        for (uint32_t o = 1; o < s.model.output_count; o++)
            memcpy(p->last[r][o - 1], tw_session_output(&s, o),
                   sizeof *y * (size_t)d * BATCH * OUT);
    }
    tw_session_close(&s);
}

/* Runs [from, to), behind a reset, against one run over all their steps in the order in which direction `d`
 * reads them. */
static void check_stretch(const tw_passage *p, int from, int to, int d, bool backward)
{
    static float x[ALL][BATCH][IN];
    int place[RUNS][STEPS][BATCH];
    int32_t all[BATCH] = {0};
    tw_session s = {0};
    const int steps = (to - from) * p->steps;
    memset(x, 0, sizeof x);
    for (int r = from; r < to; r++)
        for (int b = 0; b < BATCH; b++)
            all[b] += p->length[r][b];
    for (int b = 0; b < BATCH; b++)
        for (int r = from, read = 0; r < to; r++)
            for (int k = 0; k < p->length[r][b]; k++, read++) {
                const int t = backward ? p->length[r][b] - 1 - k : k;
                place[r][t][b] = backward ? all[b] - 1 - read : read;
                memcpy(x[place[r][t][b]][b], p->x[r][t][b], sizeof p->x[r][t][b]);
            }
    open_layer(&s, p->c, steps, p->direction);
    run_layer(&s, p, &x[0][0][0], all, 0);
    const float *y = tw_session_output(&s, 0);
    const size_t row = sizeof *y * OUT;
    for (int r = from; r < to; r++)
        for (int b = 0; b < BATCH; b++)
            for (int t = 0; t < p->steps; t++) {
                static const float nothing[OUT] = {0};
                const float *want =
                    t < p->length[r][b]
                        ? y + ((place[r][t][b] * p->directions + d) * BATCH + b) * OUT
                        : nothing;
                assert_memory_equal(p->y[r][t][d][b], want, row);
            }
    for (uint32_t o = 1; o < s.model.output_count; o++)
        assert_memory_equal(p->last[to - 1][o - 1][d],
                            (const float *)tw_session_output(&s, o) + d * BATCH * OUT, row * BATCH);
    tw_session_close(&s);
}

static void check_layer(const tw_case *c, const char *direction, int steps, uint64_t seed)
{
    static tw_passage p;
    memset(&p, 0, sizeof p);
    p.c = c;
    p.direction = direction;
    p.directions = *direction == 'b' ? 2 : 1;
    p.steps = steps;
    make_passage(&p, seed);
    pass(&p);
    for (int from = 0, to; from < RUNS; from = to) {
        for (to = from + 1; to < RUNS && !p.reset[to];)
            to++;
        for (int d = 0; d < p.directions; d++)
            check_stretch(&p, from, to, d, *direction == 'r' || d == 1);
    }
}

static void layers_go_on_where_they_ended(void **state)
{
    static const char *const directions[] = {"forward", "reverse", "bidirectional"};
    (void)state;
    for (int bits = 0; bits < 64; bits++) {
        const tw_case c = {.lstm = bits & 1,
                           .peephole = (bits & 1) && (bits & 2),
                           .linear = bits & 2,
                           .coupled = bits & 4,
                           .clip = bits & 8 ? 0.3f : 0,
                           .lengths = bits & 16,
                           .initial = bits & 32};
        for (int i = 0; i < 3; i++)
            check_layer(&c, directions[i], 1 + (bits + i) % STEPS,
                        (uint64_t)bits * 3 + (uint64_t)i + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers_go_on_where_they_ended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
