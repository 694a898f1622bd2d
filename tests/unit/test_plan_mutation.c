/* Plans are hostile: any byte changed is refused; with checksums made right again, a mutated plan is
 * either refused or runs inside its arenas and within the original's work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/session.h"
#include "ops/op.h"
#include "support/plans.h"

enum { CANARY = 64, SEEDS = 10000 };

typedef struct tw_guarded {
    uint8_t *raw, *base;
    uint32_t bytes;
} tw_guarded;

/* An arena of exactly `bytes` between canaries; the allocation ends where the far canary does, so
 * that the address sanitizer sees what canaries cannot. */
static tw_guarded guarded(uint32_t bytes)
{
    tw_guarded g;
    g.bytes = bytes;
    g.raw = aligned_alloc(16, (CANARY + bytes + CANARY + 15) / 16 * 16);
    assert_non_null(g.raw);
    memset(g.raw, 0xA5, CANARY + bytes + CANARY);
    g.base = g.raw + CANARY;
    memset(g.base, 0, bytes);
    return g;
}

static void check_canaries(const tw_guarded *g)
{
    for (int i = 0; i < CANARY; i++) {
        assert_int_equal(g->raw[i], 0xA5);
        assert_int_equal(g->base[g->bytes + (uint32_t)i], 0xA5);
    }
}

static tw_status load(tw_model *model, const uint8_t *plan, uint32_t bytes,
                      const tw_kernel **kernels)
{
    const tw_plan_header *h = (const tw_plan_header *)(const void *)plan;
    const tw_plan_section *d = (const tw_plan_section *)(const void *)(h + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < h->section_count && i < TW_SECTION_LIMIT; i++) {
        if ((size_t)(i + 1) * sizeof *d + sizeof *h > bytes)
            break;
        if (d[i].kind != TW_SECTION_KERNELS || d[i].offset > bytes ||
            d[i].bytes > bytes - d[i].offset || d[i].bytes > 256)
            continue;
        for (count = 0; count < d[i].bytes / 4; count++) {
            uint32_t id;
            memcpy(&id, plan + d[i].offset + count * 4, 4);
            kernels[count] = tw_kernel_by_id(id);
        }
    }
    return tw_load(model, plan, bytes, kernels, count);
}

static uint8_t *copy_plan(const tw_compiled *compiled)
{
    uint8_t *plan = aligned_alloc(16, (compiled->plan_bytes + 15) / 16 * 16);
    assert_non_null(plan);
    memcpy(plan, compiled->plan, compiled->plan_bytes);
    return plan;
}

static void any_changed_byte_is_refused(void **state)
{
    (void)state;
    const tw_kernel *kernels[64];
    uint64_t random = 1;
    for (int n = 0; tw_test_networks[n]; n++) {
        tw_compiled compiled;
        tw_test_compile(tw_test_networks[n], NULL, &compiled);
        uint8_t *plan = copy_plan(&compiled);
        tw_model model;
        assert_int_equal(load(&model, plan, compiled.plan_bytes, kernels), TW_OK);
        for (uint32_t i = 0; i < compiled.plan_bytes; i++) {
            uint8_t change = (uint8_t)(1 + tw_test_random(&random) % 255);
            plan[i] ^= change;
            assert_true(load(&model, plan, compiled.plan_bytes, kernels) < 0);
            plan[i] ^= change;
        }
        for (uint32_t cut = 0; cut < compiled.plan_bytes; cut += 16)
            assert_true(load(&model, plan, cut, kernels) < 0);
        free(plan);
        tw_compiled_free(&compiled);
    }
}

static void repair_checksums(uint8_t *plan, uint32_t bytes)
{
    tw_plan_header *h = (tw_plan_header *)(void *)plan;
    tw_plan_section *d = (tw_plan_section *)(void *)(h + 1);
    uint32_t count = h->section_count < TW_SECTION_LIMIT ? h->section_count : 0;
    uint32_t head = (uint32_t)(sizeof *h + count * sizeof *d);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t end = i + 1 < count ? d[i + 1].offset : h->bytes;
        if (d[i].offset <= end && end <= bytes)
            d[i].crc = tw_crc32(0, plan + d[i].offset, end - d[i].offset);
    }
    h->crc = 0;
    if (head <= bytes)
        h->crc = tw_crc32(0, plan, head);
}

/* Random mutations that look like fields: small numbers, all ones, copies of other words. */
static void mutate(uint8_t *plan, uint32_t bytes, uint32_t constants, uint64_t *random)
{
    static const uint32_t interesting[] = {
        0, 1, 2, 3, 255, 256, 65535, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x40000000};
    int changes = 1 + (int)(tw_test_random(random) % 4);
    while (changes--) {
        /* mostly in the structures, now and then in weights and tables */
        uint32_t limit = tw_test_random(random) % 8 ? bytes - constants : bytes;
        uint32_t at = (uint32_t)(tw_test_random(random) % limit);
        uint32_t word = at / 4 * 4, value;
        switch (tw_test_random(random) % 5) {
        case 0: plan[at] ^= (uint8_t)(1u << tw_test_random(random) % 8); continue;
        case 1: plan[at] = (uint8_t)tw_test_random(random); continue;
        case 2: value = interesting[tw_test_random(random) % (sizeof interesting / 4)]; break;
        case 3: memcpy(&value, plan + tw_test_random(random) % (bytes / 4) * 4, 4); break;
        default:
            memcpy(&value, plan + word, 4);
            value += (uint32_t)(tw_test_random(random) % 33) - 16;
        }
        memcpy(plan + word, &value, 4);
    }
}

/* Firings are bounded too: a plan may ask for bands of one row, but not for more. */
typedef struct tw_count {
    uint64_t rows;
} tw_count;

static int count_rows(void *user, tw_context *context, const tw_firing *firing)
{
    (void)context;
    ((tw_count *)user)->rows += (uint64_t)firing->rows + 1;
    return 0;
}

static void run_mutant(const tw_model *model, const uint32_t *arena_bytes, uint64_t *random,
                       uint64_t *rows)
{
    tw_guarded arenas[3];
    tw_memory memory[3];
    tw_context context;
    for (int r = 0; r < 3; r++) {
        arenas[r] = guarded(arena_bytes[r + 1]);
        memory[r] = (tw_memory){arenas[r].base, arena_bytes[r + 1]};
    }
    if (tw_init(&context, model, memory, 3) == TW_OK) {
        tw_count count = {0};
        tw_set_hook(&context, count_rows, &count);
        for (uint32_t i = 0; i < model->input_count; i++) {
            const tw_tensor *t = tw_input_tensor(model, i);
            if (t->offset + (uint64_t)tw_tensor_bytes(t) <= arena_bytes[t->region])
                tw_test_fill(t, tw_input(&context, i), random);
        }
        tw_run(&context);
        *rows = count.rows;
    }
    for (int r = 0; r < 3; r++) {
        check_canaries(&arenas[r]);
        free(arenas[r].raw);
    }
}

static void mutants_are_refused_or_harmless(void **state)
{
    (void)state;
    const tw_kernel *kernels[64];
    int networks = 0, ran = 0, columns = 0;
    while (tw_test_networks[networks])
        networks++;
    for (int n = 0; n < 3 * networks; n++) {
        tw_compile_options options;
        tw_compile_options_default(&options);
        options.prefer = TW_PREFER_MEMORY; /* rolling, with windows ... */
        if (n % 3 == 1)
            options.random_bands = (uint64_t)n + 1; /* ... random segments ... */
        tw_compiled compiled;
        tw_test_compile(tw_test_networks[n / 3], &options, &compiled);
        if (n % 3 == 2) { /* ... and segments by columns */
            options.memories.fast.bounded = options.memories.fast.given = true;
            options.memories.fast.bytes = compiled.report.smallest_budget;
            columns += compiled.report.smallest_budget < compiled.report.smallest_by_rows;
            tw_compiled_free(&compiled);
            tw_test_compile(tw_test_networks[n / 3], &options, &compiled);
        }
        uint8_t *plan = copy_plan(&compiled);
        tw_model model;
        uint32_t arena_bytes[TW_MAX_REGIONS];
        uint64_t random = 7, most_rows = 0;
        assert_int_equal(load(&model, plan, compiled.plan_bytes, kernels), TW_OK);
        for (uint32_t r = 0; r < TW_MAX_REGIONS; r++)
            arena_bytes[r] = tw_region_bytes(&model, r);
        const uint64_t work = model.header->most_work;
        const uint32_t constants = model.constants_bytes;
        for (uint32_t i = 0; i < model.step_count; i++)
            most_rows += 4096; /* far above any tensor of the networks */
        for (uint64_t seed = 0; seed < SEEDS / (uint64_t)networks / 3 + 1; seed++) {
            uint64_t rows = 0;
            random = seed * 1000003 + (uint64_t)n;
            memcpy(plan, compiled.plan, compiled.plan_bytes);
            mutate(plan, compiled.plan_bytes, constants, &random);
            repair_checksums(plan, compiled.plan_bytes);
            if (load(&model, plan, compiled.plan_bytes, kernels) != TW_OK)
                continue;
            assert_true(model.header->most_work <= 2 * work);
            run_mutant(&model, arena_bytes, &random, &rows);
            assert_true(rows <= most_rows);
            ran++;
        }
        free(plan);
        tw_compiled_free(&compiled);
    }
    print_message("%d of %d mutants loaded and ran\n", ran, SEEDS);
    assert_true(ran > SEEDS / 100 && columns > 0); /* else nothing was tested */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_changed_byte_is_refused),
        cmocka_unit_test(mutants_are_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
