/* Random programs of branches and loops inside each other, on small integer tensors: the plan, whole and
 * in random bands, against an interpreter of the program. What a body reads from around, carried values
 * that change places, results that nobody reads: where memory is shared wrongly, numbers differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/session.h"
#include "support/plans.h"

enum { ELEMENTS = 12, MOST_VALUES = 40, MOST_STATEMENTS = 8, MOST_OPERANDS = 6, DEPTH = 3 };
#define TYPE "s32[1,3,4]"

typedef struct vector {
    int32_t v[ELEMENTS];
} vector;

typedef struct body body;

/* A statement makes one value (arithmetic), or as many as its bodies give. Values are numbered in the
 * body: its inputs, then results in order. */
typedef struct statement {
    enum { ARITHMETIC, BRANCH, LOOP } kind;
    int op;                     /* ARITHMETIC */
    int operand[MOST_OPERANDS]; /* BRANCH: the first decides; LOOP: the first ones are carried */
    int operands, results;
    int32_t bound; /* BRANCH: of the greatest element; LOOP: the rounds */
    body *inside[2];
} statement;

struct body {
    int inputs, values, statements, outputs;
    statement s[MOST_STATEMENTS];
    int output[MOST_OPERANDS];
};

static const char *const operators[] = {"Add", "Sub", "Mul", "Max", "Min"};

static int below(uint64_t *random, int limit)
{
    return (int)(tw_test_random(random) % (uint64_t)limit);
}

/* ---- making one ---- */

static body *make_body(uint64_t *random, int inputs, int outputs, int depth)
{
    body *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->inputs = b->values = inputs;
    const int count = below(random, depth ? MOST_STATEMENTS / 2 : MOST_STATEMENTS) + !depth;
    for (int n = 0; n < count; n++) {
        statement *s = &b->s[b->statements++];
        s->kind = ARITHMETIC;
        if (depth < DEPTH && below(random, 3) == 0)
            s->kind = below(random, 2) == 0 ? BRANCH : LOOP;
        s->op = below(random, 5);
        s->operands = s->kind == ARITHMETIC ? 2 : 1 + below(random, MOST_OPERANDS);
        for (int i = 0; i < s->operands; i++)
            s->operand[i] = below(random, b->values);
        s->results = s->kind == ARITHMETIC ? 1 : 1 + below(random, s->operands);
        s->bound = s->kind == LOOP ? below(random, 4) : below(random, 2000) - 1000;
        for (int k = 0; s->kind != ARITHMETIC && k < (s->kind == LOOP ? 1 : 2); k++)
            s->inside[k] = make_body(random, s->operands, s->results, depth + 1);
        b->values += s->results;
        if (b->values > MOST_VALUES - MOST_OPERANDS)
            break;
    }
    b->outputs = outputs;
    for (int i = 0; i < outputs; i++)
        b->output[i] = below(random, b->values);
    return b;
}

static void free_body(body *b)
{
    for (int n = 0; n < b->statements; n++)
        for (int k = 0; k < 2; k++)
            if (b->s[n].inside[k])
                free_body(b->s[n].inside[k]);
    free(b);
}

/* ---- as text ---- */

static void write_body(const body *b, FILE *f);

static void write_names(FILE *f, const char *before, const int *value, int count)
{
    for (int i = 0; i < count; i++)
        fprintf(f, "%s%%v%d", i ? ", " : before, value[i]);
}

static void write_loop(const statement *s, int first, FILE *f)
{
    fprintf(f, "%%n%d : s32[1]", first);
    for (int i = 0; i < s->results; i++)
        fprintf(f, ", %%v%d : " TYPE, first + i);
    fprintf(f, " = While (%%rounds%d", (int)s->bound);
    write_names(f, ", ", s->operand, s->operands);
    fprintf(f, ")\ngraph \"more\" {\ninput %%i : s32[1]\n");
    for (int i = 0; i < s->operands; i++)
        fprintf(f, "input %%v%d : " TYPE "\n", i);
    fprintf(f, "const %%zero : s32[1] = [0]\n%%c = Greater (%%i, %%zero)\noutput %%c\n}\n"
               "graph \"round\" {\ninput %%i : s32[1]\n");
    write_body(s->inside[0], f);
    fprintf(f, "const %%one : s32[1] = [1]\n%%j = Sub (%%i, %%one)\noutput %%j\n");
    for (int i = 0; i < s->results; i++)
        fprintf(f, "output %%v%d\n", s->inside[0]->output[i]);
    fprintf(f, "}\n");
}

static void write_branch(const statement *s, int first, FILE *f)
{
    fprintf(f, "const %%b%d : s32[] = [%d]\n", first, (int)s->bound);
    fprintf(f, "%%m%d = ReduceMax (%%v%d) {axes=[1,2], keepdims=true}\n", first, s->operand[0]);
    fprintf(f, "%%c%d = Less (%%m%d, %%b%d)\n", first, first, first);
    for (int i = 0; i < s->results; i++)
        fprintf(f, "%s%%v%d", i ? ", " : "", first + i);
    fprintf(f, " = If (%%c%d", first);
    write_names(f, ", ", s->operand, s->operands);
    fprintf(f, ")\n");
    for (int k = 0; k < 2; k++) {
        fprintf(f, "graph \"branch\" {\n");
        write_body(s->inside[k], f);
        for (int i = 0; i < s->results; i++)
            fprintf(f, "output %%v%d\n", s->inside[k]->output[i]);
        fprintf(f, "}\n");
    }
}

static void write_body(const body *b, FILE *f)
{
    int next = b->inputs;
    for (int i = 0; i < b->inputs; i++)
        fprintf(f, "input %%v%d : " TYPE "\n", i);
    for (int i = 0; i < 4; i++)
        fprintf(f, "const %%rounds%d : s32[1] = [%d]\n", i, i);
    for (int n = 0; n < b->statements; n++) {
        const statement *s = &b->s[n];
        if (s->kind == LOOP)
            write_loop(s, next, f);
        else if (s->kind == BRANCH)
            write_branch(s, next, f);
        else
            fprintf(f, "%%v%d = %s (%%v%d, %%v%d)\n", next, operators[s->op], s->operand[0],
                    s->operand[1]);
        next += s->results;
    }
}

static char *text_of(const body *b)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    assert_non_null(f);
    fprintf(f, "graph \"random\" {\n");
    write_body(b, f);
    for (int i = 0; i < b->outputs; i++)
        fprintf(f, "output %%v%d\n", b->output[i]);
    fprintf(f, "}\n");
    fclose(f);
    return text;
}

/* ---- as a program ---- */

static int32_t apply(int op, int32_t a, int32_t b)
{
    switch (op) {
    case 0: return (int32_t)((uint32_t)a + (uint32_t)b);
    case 1: return (int32_t)((uint32_t)a - (uint32_t)b);
    case 2: return (int32_t)((uint32_t)a * (uint32_t)b);
    case 3: return a > b ? a : b;
    default: return a < b ? a : b;
    }
}

static bool is_below(const vector *x, int32_t bound)
{
    int32_t most = x->v[0];
    for (int i = 1; i < ELEMENTS; i++)
        most = x->v[i] > most ? x->v[i] : most;
    return most < bound;
}

static void run_body(const body *b, const vector *in, vector *out)
{
    static const vector zero;
    vector value[MOST_VALUES], given[MOST_OPERANDS], made[MOST_OPERANDS];
    int next = b->inputs;
    for (int i = 0; i < MOST_VALUES; i++)
        value[i] = i < b->inputs ? in[i] : zero;
    for (int n = 0; n < b->statements; n++) {
        const statement *s = &b->s[n];
        for (int i = 0; i < s->operands; i++)
            given[i] = value[s->operand[i]];
        if (s->kind == ARITHMETIC)
            for (int i = 0; i < ELEMENTS; i++)
                made[0].v[i] = apply(s->op, given[0].v[i], given[1].v[i]);
        else if (s->kind == BRANCH)
            run_body(s->inside[is_below(&given[0], s->bound) ? 0 : 1], given, made);
        else
            for (int32_t round = 0; round < s->bound; round++) {
                run_body(s->inside[0], given, made);
                memcpy(given, made, sizeof *made * (size_t)s->results);
            }
        memcpy(value + next, s->kind == LOOP ? given : made, sizeof *made * (size_t)s->results);
        next += s->results;
    }
    for (int i = 0; i < b->outputs; i++)
        out[i] = value[b->output[i]];
}

/* ---- both ---- */

static int check(const body *b, uint64_t seed, uint64_t bands)
{
    char *text = text_of(b);
    tw_compile_options options;
    tw_compiled compiled;
    tw_session session;
    tw_diag diag = {0};
    vector in[MOST_OPERANDS], want[MOST_OPERANDS];
    tw_compile_options_default(&options);
    options.random_bands = bands;
    options.prefer = seed % 2 ? TW_PREFER_MEMORY : TW_PREFER_SPEED;
    tw_test_compile(text, &options, &compiled);
    assert_true(tw_session_open(&session, compiled.plan, compiled.plan_bytes, &diag));
    tw_compiled_free(&compiled);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < b->inputs; i++) {
            for (int k = 0; k < ELEMENTS; k++)
                in[i].v[k] = below(&seed, 1000) - 500;
            memcpy(tw_session_input(&session, (uint32_t)i), &in[i], sizeof in[i]);
        }
        run_body(b, in, want);
        if (!tw_session_run(&session, &diag))
            fail_msg("%s\n%s", diag.message, text);
        for (int i = 0; i < b->outputs; i++)
            if (memcmp(tw_session_output(&session, (uint32_t)i), &want[i], sizeof want[i]) != 0)
                fail_msg("output %d differs, bands %d:\n%s", i, (int)bands, text);
    }
    const int controls = (int)session.model.control_count;
    tw_session_close(&session);
    free(text);
    return controls;
}

static void plans_do_what_programs_do(void **state)
{
    (void)state;
    const char *wanted = getenv("TILEWRIGHT_RANDOM_NETWORKS");
    const int programs = wanted ? atoi(wanted) : 150;
    int controls = 0;
    for (int n = 0; n < programs; n++) {
        uint64_t random = (uint64_t)n + 1;
        body *b = make_body(&random, 2, 2, 0);
        controls += check(b, random, n % 3 ? 0 : (uint64_t)n + 1);
        free_body(b);
    }
    print_message("%d programs, %d control entries\n", programs, controls);
    assert_true(controls > programs * 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_do_what_programs_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
