/* device-pack FILE MOST: single-operator plans for test firmware, with inputs and what the host computes from
 * them: the samples of the operator records, in random bands, as many as MOST bytes hold. A plan each:
 *
 *     bytes of plan | of inputs | of outputs | 0     32-bit words; then plan, inputs, outputs,
 *                                                    each padded to a multiple of 16
 *
 * and four zero words at the end. Prints how many. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emit/bytes.h"
#include "host/compare.h"
#include "host/session.h"
#include "import/text/text.h"
#include "ops/op.h"
#include "support/plans.h"

enum { ALIGN = 16, MOST_ARENA = 64 * 1024 };

/* The sample with its constant %x as an input. Null: it has none. */
static char *with_input(tw_arena *arena, const char *sample, size_t bytes)
{
    const char *mark = "const %x : ";
    char *text = tw_strndup(arena, sample, bytes), *at = strstr(text, mark);
    char *equals = at ? strstr(at, " = ") : NULL;
    if (!equals)
        return NULL;
    return tw_format(arena, "%.*sinput %%x : %.*s%s", (int)(at - text), text,
                     (int)(equals - at - (ptrdiff_t)strlen(mark)), at + strlen(mark),
                     equals + strcspn(equals, "\n"));
}

static const tw_value *find_x(const tw_graph *graph)
{
    for (int i = 0; i < graph->value_count; i++)
        if (strcmp(graph->values[i]->name, "x") == 0)
            return graph->values[i];
    return NULL;
}

/* Which bits a NaN has is the processor's choice. */
static bool has_nan(const tw_tensor *tensor, const uint8_t *data, uint32_t bytes)
{
    float value;
    for (uint32_t i = 0; tensor->dtype == TW_F32 && i < bytes; i += 4) {
        memcpy(&value, data + i, 4);
        if (isnan(value))
            return true;
    }
    return false;
}

static void append_case(tw_bytes *pack, const tw_compiled *compiled, const void *input,
                        uint32_t input_bytes, const void *output, uint32_t output_bytes)
{
    const uint32_t head[4] = {compiled->plan_bytes, input_bytes, output_bytes, 0};
    tw_append(pack, head, sizeof head, ALIGN);
    tw_append(pack, compiled->plan, compiled->plan_bytes, ALIGN);
    tw_append(pack, input, input_bytes, ALIGN);
    tw_append(pack, output, output_bytes, ALIGN);
    tw_append(pack, NULL, 0, ALIGN);
}

/* Run the plan once and add it. */
static bool add_plan(tw_bytes *pack, const tw_compiled *compiled, const tw_value *x)
{
    tw_session session;
    tw_diag diag = {0};
    bool added = false;
    if (tw_session_open(&session, compiled->plan, compiled->plan_bytes, &diag) &&
        session.model.input_count == 1 && session.model.output_count == 1 &&
        tw_region_bytes(&session.model, TW_REGION_FAST) <= MOST_ARENA) {
        const tw_tensor *in = tw_input_tensor(&session.model, 0);
        const tw_tensor *out = tw_output_tensor(&session.model, 0);
        const uint32_t bytes = tw_tensor_bytes(out);
        uint8_t *result = tw_alloc(session.arena, bytes);
        tw_scatter(in, tw_session_input(&session, 0), x->data);
        if (tw_session_run(&session, &diag)) {
            tw_gather(out, tw_output(&session.context, 0), result);
            added = bytes > 0 && !has_nan(out, result, bytes);
        }
        if (added)
            append_case(pack, compiled, x->data, tw_tensor_bytes(in), result, bytes);
    }
    tw_session_close(&session);
    return added;
}

static bool add_sample(tw_bytes *pack, const char *sample, size_t bytes, uint64_t seed)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    tw_compiled compiled = {0};
    tw_compile_options options;
    const tw_graph *graph = tw_text_parse(arena, sample, bytes, NULL, &diag);
    const tw_value *x = graph ? find_x(graph) : NULL;
    const char *text = with_input(arena, sample, bytes);
    bool added = false;
    tw_compile_options_default(&options);
    options.strip = true;
    options.random_bands = seed;
    if (x && x->data && text && tw_test_try_compile(text, &options, &compiled, &diag))
        added = add_plan(pack, &compiled, x);
    tw_compiled_free(&compiled);
    tw_arena_free(arena);
    return added;
}

int main(int argc, char **argv)
{
    tw_bytes pack = {tw_arena_new(), NULL, 0, 0};
    const uint32_t end[4] = {0, 0, 0, 0};
    const int most = argc == 3 ? atoi(argv[2]) : 0;
    int count = 0;
    if (most <= 0)
        return 2;
    for (int op = 0; op < tw_op_count; op++)
        for (const char *at = tw_ops[op]->samples; at && *at;) {
            const char *next = strstr(at, "\ngraph ");
            next = next ? next + 1 : at + strlen(at);
            const int before = pack.count;
            const bool added = add_sample(&pack, at, (size_t)(next - at), (uint64_t)count + 1);
            if (pack.count > most)
                pack.count = before;
            else
                count += added;
            at = next;
        }
    tw_append(&pack, end, sizeof end, ALIGN);
    FILE *file = fopen(argv[1], "wb");
    if (!file || fwrite(pack.data, 1, (size_t)pack.count, file) != (size_t)pack.count ||
        fclose(file) != 0)
        return 1;
    printf("%d\n", count);
    tw_arena_free(pack.arena);
    return 0;
}
