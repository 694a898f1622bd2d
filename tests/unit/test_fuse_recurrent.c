/* fuse_recurrent: recurrent layers that are written out step by step become the operator that they are, and
 * compute the same; what only looks like one stays as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ops/op.h"
#include "support/normalized.h"

enum { STEPS = 3, UNITS = 2, WIDTH = 3 };

typedef enum tw_twist {
    AS_IT_IS,
    OTHER_WEIGHTS, /* in the last step */
    OTHER_BIAS,
    OTHER_ORDER, /* of the steps */
    OTHER_STATE, /* the last step reads the first one's */
    MIDDLE_SEEN  /* a step's result is an output too */
} tw_twist;

typedef struct tw_written {
    const char *op; /* Lstm, Gru, Rnn */
    int batch;
    bool time_first; /* x is [T, N, I] */
    bool projected;  /* the products of all steps stand in front */
    bool back;       /* from the last step to the first */
    bool begun;      /* from given states */
    bool joined;     /* all states; else the last one */
    tw_twist twist;
    bool resets_first; /* a Gru: h is multiplied by the reset gate in front of the weights */
} tw_written;

typedef struct tw_text {
    char data[8192];
    size_t length;
} tw_text;

__attribute__((format(printf, 2, 3))) static void add(tw_text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    t->length += (size_t)vsnprintf(t->data + t->length, sizeof t->data - t->length, format, list);
    va_end(list);
    assert_true(t->length < sizeof t->data);
}

static int gates_of(const tw_written *w)
{
    return strcmp(w->op, "Lstm") == 0 ? 4 : strcmp(w->op, "Gru") == 0 ? 3 : 1;
}

static void add_head(tw_text *t, const tw_written *w)
{
    const int gates = gates_of(w) * UNITS;
    add(t, "graph \"g\" {\n  input %%x : f32[%d,%d,%d]\n", w->time_first ? STEPS : w->batch,
        w->time_first ? w->batch : STEPS, WIDTH);
    for (int i = 0; i < 2; i++)
        add(t, "  %s %%%s : f32[%d,%d]%s\n", w->begun ? "input" : "const", i ? "c0" : "h0",
            w->batch, UNITS, w->begun ? "" : " = random 9 0 0");
    add(t,
        "  const %%w : f32[%d,%d] = random 1 -1 1\n  const %%w2 : f32[%d,%d] = random 2 -1 1\n"
        "  const %%r : f32[%d,%d] = random 3 -1 1\n  const %%b : f32[%d] = random 4 -1 1\n"
        "  const %%rb : f32[%d] = random 5 -1 1\n  const %%b2 : f32[%d] = random 6 -1 1\n"
        "  const %%one : f32[] = [1]\n",
        gates, WIDTH, gates, WIDTH, gates, UNITS, gates, gates, gates);
    if (w->projected)
        add(t, "  %%all = FullyConnected (%%x, %%w, %%b)\n");
}

/* xp, hp: what a step adds up, all gates. */
static void add_products(tw_text *t, const tw_written *w, int k, int at, const char *h)
{
    const int width = w->projected ? gates_of(w) * UNITS : WIDTH;
    const bool odd = k == STEPS - 1;
    const int n = w->time_first ? 1 : w->batch, s = w->time_first ? w->batch : 1;
    add(t,
        "  %%s%d = Slice (%%%s) {begin=[%d, %d, 0], size=[%d, %d, %d], step=[1, 1, 1]}\n"
        "  %%t%d = Reshape (%%s%d) {shape=[%d, %d]}\n",
        k, w->projected ? "all" : "x", w->time_first ? at : 0, w->time_first ? 0 : at, n, s, width,
        k, k, w->batch, width);
    if (!w->projected)
        add(t, "  %%xp%d = FullyConnected (%%t%d, %%%s, %%%s)\n", k, k,
            odd && w->twist == OTHER_WEIGHTS ? "w2" : "w",
            odd && w->twist == OTHER_BIAS ? "b2" : "b");
    add(t, "  %%hp%d = FullyConnected (%%%s, %%r, %%rb)\n", k, h);
}

static void add_slice(tw_text *t, const tw_written *w, const char *to, const char *from, int k,
                      int gate)
{
    add(t, "  %%%s%d = Slice (%%%s%d) {begin=[0, %d], size=[%d, %d], step=[1, 1]}\n", to, k, from,
        k, gate * UNITS, w->batch, UNITS);
}

static void add_lstm(tw_text *t, const tw_written *w, int k, const char *c)
{
    static const char *const names[] = {"i", "f", "g", "o"};
    const char *p = w->projected ? "t" : "xp";
    add(t, "  %%a%d = Add (%%%s%d, %%hp%d)\n", k, p, k, k);
    for (int g = 0; g < 4; g++) {
        add_slice(t, w, names[g], "a", k, g);
        add(t, "  %%%s_%d = %s (%%%s%d)\n", names[g], k, g == 2 ? "Tanh" : "Sigmoid", names[g], k);
    }
    add(t,
        "  %%fc%d = Mul (%%f_%d, %%%s)\n  %%ig%d = Mul (%%i_%d, %%g_%d)\n  %%c_%d = Add (%%fc%d, "
        "%%ig%d)\n  %%ct%d = Tanh (%%c_%d)\n  %%h_%d = Mul (%%o_%d, %%ct%d)\n",
        k, k, c, k, k, k, k, k, k, k, k, k, k, k);
}

static void add_gru(tw_text *t, const tw_written *w, int k, const char *h)
{
    static const char *const names[] = {"z", "s_", "n"};
    const char *p = w->projected ? "t" : "xp";
    for (int g = 0; g < 3; g++) {
        char from[2][8];
        snprintf(from[0], sizeof from[0], "%sx", names[g]);
        snprintf(from[1], sizeof from[1], "%sh", names[g]);
        add_slice(t, w, from[0], p, k, g);
        add_slice(t, w, from[1], "hp", k, g);
        if (g == 2 && w->resets_first)
            add(t,
                "  %%hr%d = Mul (%%%s, %%s_%d)\n  %%rn%d = Slice (%%r) {begin=[%d, 0], size=[%d, "
                "%d], step=[1, 1]}\n  %%rbn%d = Slice (%%rb) {begin=[%d], size=[%d], step=[1]}\n"
                "  %%hn%d = FullyConnected (%%hr%d, %%rn%d, %%rbn%d)\n  %%na%d = Add (%%hn%d, "
                "%%nx%d)\n  %%n_%d = Tanh (%%na%d)\n",
                k, h, k, k, 2 * UNITS, UNITS, UNITS, k, 2 * UNITS, UNITS, k, k, k, k, k, k, k, k,
                k);
        else if (g == 2)
            add(t,
                "  %%nr%d = Mul (%%s_%d, %%nh%d)\n  %%na%d = Add (%%nx%d, %%nr%d)\n  %%n_%d = Tanh "
                "(%%na%d)\n",
                k, k, k, k, k, k, k, k);
        else
            add(t, "  %%%sa%d = Add (%%%s%d, %%%s%d)\n  %%%s%d = Sigmoid (%%%sa%d)\n", names[g], k,
                from[0], k, from[1], k, names[g], k, names[g], k);
    }
    if (w->begun)
        add(t,
            "  %%d%d = Sub (%%%s, %%n_%d)\n  %%zd%d = Mul (%%d%d, %%z%d)\n  %%h_%d = Add (%%zd%d, "
            "%%n_%d)\n",
            k, h, k, k, k, k, k, k, k);
    else
        add(t,
            "  %%keep%d = Mul (%%z%d, %%%s)\n  %%u%d = Sub (%%one, %%z%d)\n  %%un%d = Mul (%%u%d, "
            "%%n_%d)\n"
            "  %%h_%d = Add (%%keep%d, %%un%d)\n",
            k, k, h, k, k, k, k, k, k, k, k);
}

static void add_step(tw_text *t, const tw_written *w, int k)
{
    char h[16] = "h0", c[16] = "c0";
    const int before = k == STEPS - 1 && w->twist == OTHER_STATE ? 0 : k - 1;
    int at = w->back ? STEPS - 1 - k : k;
    if (w->twist == OTHER_ORDER && k > 0)
        at = STEPS - k;
    if (k > 0) {
        snprintf(h, sizeof h, "h_%d", before);
        snprintf(c, sizeof c, "c_%d", k - 1);
    }
    add_products(t, w, k, at, h);
    if (gates_of(w) == 4)
        add_lstm(t, w, k, c);
    else if (gates_of(w) == 3)
        add_gru(t, w, k, h);
    else
        add(t, "  %%a%d = Add (%%%s%d, %%hp%d)\n  %%h_%d = Tanh (%%a%d)\n", k,
            w->projected ? "t" : "xp", k, k, k, k);
}

static void add_joined(tw_text *t, const tw_written *w)
{
    const int n = w->time_first ? 1 : w->batch, s = w->time_first ? w->batch : 1;
    for (int k = 0; k < STEPS; k++)
        add(t, "  %%e%d = Reshape (%%h_%d) {shape=[%d, %d, %d]}\n", k, k, n, s, UNITS);
    if (w->back)
        add(t, "  %%y = Concat (%%e2, %%e1, %%e0) {axis=%d}\n", w->time_first ? 0 : 1);
    else
        add(t, "  %%y = Concat (%%e0, %%e1, %%e2) {axis=%d}\n", w->time_first ? 0 : 1);
}

/* How many nodes of the operator are left, and how many nodes at all. */
static int count(const tw_written *w, int *nodes)
{
    static tw_text t;
    t.length = 0;
    add_head(&t, w);
    for (int k = 0; k < STEPS; k++)
        add_step(&t, w, k);
    if (w->joined)
        add_joined(&t, w);
    add(&t, "  output %%%s\n%s}\n", w->joined ? "y" : "h_2",
        w->twist == MIDDLE_SEEN ? "  output %h_1\n" : "");
    const tw_normalize_case c = {t.data, TW_IO_KEEP, 0, -1, 1};
    tw_normalized n = tw_normalize_text(&c);
    if (!(n.difference < 1e-5))
        fail_msg("differs by %g:\n%s", n.difference, t.data);
    int found = 0;
    for (int i = 0; i < n.after->node_count; i++)
        found += strcmp(n.after->nodes[i]->op->name, w->op) == 0;
    *nodes = n.after->node_count;
    tw_normalized_free(&n);
    return found;
}

/* The second Gru resets first. */
enum { KINDS = 4, RESETS_FIRST = 3 };
static const char *const ops[KINDS] = {"Lstm", "Gru", "Rnn", "Gru"};

/* Every way of writing one: all in one node, and what turns axes. */
static void test_fused(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS * 64; i++) {
        const tw_written w = {ops[i / 64],   i & 1 ? 2 : 1, (i & 2) != 0,
                              (i & 4) != 0,  (i & 8) != 0,  (i & 16) != 0,
                              (i & 32) != 0, AS_IT_IS,      i / 64 == RESETS_FIRST};
        int nodes;
        assert_int_equal(count(&w, &nodes), 1);
        assert_true(nodes <= 6);
    }
}

static void test_seen(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS; i++) {
        const tw_written w = {.op = ops[i],
                              .batch = 1,
                              .joined = true,
                              .twist = MIDDLE_SEEN,
                              .resets_first = i == RESETS_FIRST};
        int nodes;
        assert_int_equal(count(&w, &nodes), 1);
    }
}

/* The first two steps may be a layer; the last is none of it. */
static void test_distinct(void **state)
{
    static const tw_twist twists[] = {OTHER_WEIGHTS, OTHER_BIAS, OTHER_ORDER, OTHER_STATE};
    (void)state;
    for (int i = 0; i < KINDS * 4; i++) {
        const tw_written w = {.op = ops[i / 4],
                              .batch = 1,
                              .twist = twists[i % 4],
                              .resets_first = i / 4 == RESETS_FIRST};
        int nodes;
        count(&w, &nodes);
        assert_true(nodes > 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fused),
        cmocka_unit_test(test_seen),
        cmocka_unit_test(test_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
