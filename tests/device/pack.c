/* device-pack FILE MOST [TARGET]: single-operator plans for test firmware, with inputs and what the host computes
 * from them: the samples of the operator records and of tests/data/native-samples.txt (odd padding, columns that
 * no window reads, images one row high), in random bands, as many as MOST bytes hold. With a back end's TARGET,
 * such as cmsis-nn:m55: of the plans that its kernels run, the firmware's, each in several bands. A plan each:
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

#include "backends/backend.h"
#include "base/file.h"
#include "emit/bytes.h"
#include "emit/select.h"
#include "host/compare.h"
#include "host/session.h"
#include "import/text/text.h"
#include "ops/op.h"
#include "support/plans.h"

enum { ALIGN = 16, MOST_ARENA = 64 * 1024 };

typedef struct tw_pack {
    tw_bytes bytes;
    const char *target; /* null: the portable kernels */
    int most, count;
} tw_pack;

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

static void append_case(tw_bytes *pack, const void *plan, uint32_t plan_bytes, const void *input,
                        uint32_t input_bytes, const void *output, uint32_t output_bytes)
{
    const uint32_t head[4] = {plan_bytes, input_bytes, output_bytes, 0};
    tw_append(pack, head, sizeof head, ALIGN);
    tw_append(pack, plan, plan_bytes, ALIGN);
    tw_append(pack, input, input_bytes, ALIGN);
    tw_append(pack, output, output_bytes, ALIGN);
    tw_append(pack, NULL, 0, ALIGN);
}

/* The plan as the firmware of its one target has it. False: not a kernel of the back end's is in it. */
static bool select_plan(const tw_session *session, const void **plan, uint32_t *bytes)
{
    tw_diag diag = {0};
    uint32_t count;
    const tw_plan_target *target =
        tw_plan_items(&session->model, TW_SECTION_TARGETS, sizeof *target, &count);
    bool native = false;
    for (uint32_t i = 0; count == 1 && i < session->model.step_count; i++) {
        const tw_plan_variant *variant = tw_plan_variant_of(&session->model, target, i);
        native |= variant && variant->kernel != TW_ABSENT;
    }
    return native && tw_select_plan(session->arena, &session->model, target, plan, bytes, &diag);
}

/* Run the plan once and add it. */
static bool add_plan(tw_pack *pack, const tw_compiled *compiled, const tw_value *x)
{
    const void *plan = compiled->plan;
    uint32_t plan_bytes = compiled->plan_bytes;
    tw_session session;
    tw_diag diag = {0};
    bool added = false;
    if (tw_session_open(&session, compiled->plan, compiled->plan_bytes, &diag) &&
        session.model.input_count == 1 && session.model.output_count == 1 &&
        tw_region_bytes(&session.model, TW_REGION_FAST) <= MOST_ARENA &&
        (!pack->target || select_plan(&session, &plan, &plan_bytes))) {
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
            append_case(&pack->bytes, plan, plan_bytes, x->data, tw_tensor_bytes(in), result,
                        bytes);
    }
    tw_session_close(&session);
    return added;
}

static bool add_sample(tw_pack *pack, const char *sample, size_t bytes, uint64_t seed)
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
    options.backends = pack->target;
    if (x && x->data && text && tw_test_try_compile(text, &options, &compiled, &diag))
        added = add_plan(pack, &compiled, x);
    tw_compiled_free(&compiled);
    tw_arena_free(arena);
    return added;
}

/* Each graph of a text. */
static void add_samples(tw_pack *pack, const char *text, int seeds)
{
    for (const char *at = text; at && *at;) {
        const char *next = strstr(at, "\ngraph ");
        next = next ? next + 1 : at + strlen(at);
        for (int seed = 0; seed < seeds; seed++) {
            const int before = pack->bytes.count;
            const bool added =
                add_sample(pack, at, (size_t)(next - at), (uint64_t)(pack->count + seed) + 1);
            if (pack->bytes.count > pack->most)
                pack->bytes.count = before;
            else
                pack->count += added;
        }
        at = next;
    }
}

int main(int argc, char **argv)
{
    enum { SEEDS = 3 };
    static const uint32_t end[4] = {0, 0, 0, 0};
    tw_arena *arena = tw_arena_new();
    tw_pack pack = {.bytes = {arena, NULL, 0, 0}};
    tw_diag diag = {0};
    tw_target target;
    void *more;
    size_t bytes;
    pack.most = argc >= 3 ? (int)strtol(argv[2], NULL, 10) : 0;
    pack.target = argc == 4 ? argv[3] : NULL;
    if (pack.most <= 0 || argc > 4 ||
        (pack.target &&
         !tw_target_parse(arena, pack.target, strlen(pack.target), &target, &diag)) ||
        !tw_read_file(arena, "tests/data/native-samples.txt", 1 << 20, &more, &bytes, &diag))
        return 2;
    add_samples(&pack, tw_strndup(arena, more, bytes), pack.target ? SEEDS : 1);
    for (int op = 0; op < tw_op_count; op++)
        if (!pack.target || tw_backend_has(target.backend, tw_ops[op]))
            add_samples(&pack, tw_ops[op]->samples, pack.target ? SEEDS : 1);
    tw_append(&pack.bytes, end, sizeof end, ALIGN);
    FILE *file = fopen(argv[1], "wb");
    if (!file ||
        fwrite(pack.bytes.data, 1, (size_t)pack.bytes.count, file) != (size_t)pack.bytes.count ||
        fclose(file) != 0)
        return 1;
    printf("%d\n", pack.count);
    tw_arena_free(arena);
    return 0;
}
