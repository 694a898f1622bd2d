/* The runtime on whole networks: random segments and bands give the bytes of whole execution; slices,
 * contexts, hooks, state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/session.h"
#include "runtime/parts.h"
#include "support/plans.h"

static void open_network(tw_session *session, const char *text, uint64_t random_bands)
{
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.random_bands = random_bands;
    tw_compiled compiled;
    tw_diag diag = {0};
    tw_test_compile(text, &options, &compiled);
    assert_true(tw_session_open(session, compiled.plan, compiled.plan_bytes, &diag));
    tw_compiled_free(&compiled);
}

static void run_session(tw_session *session)
{
    tw_diag diag = {0};
    if (!tw_session_run(session, &diag)) {
        char message[2048];
        tw_diag_text(&diag, message, sizeof message);
        fail_msg("%s", message);
    }
}

static void fill_inputs(tw_session *session, uint64_t seed)
{
    for (uint32_t i = 0; i < session->model.input_count; i++)
        tw_test_fill(tw_input_tensor(&session->model, i), tw_session_input(session, i), &seed);
}

static uint32_t output_bytes(tw_session *session, uint8_t *bytes)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < session->model.output_count; i++) {
        uint32_t size = tw_tensor_bytes(tw_output_tensor(&session->model, i));
        memcpy(bytes + n, tw_output(&session->context, i), size);
        n += size;
    }
    return n;
}

static void random_bands_change_nothing(void **state)
{
    (void)state;
    static uint8_t want[65536], have[65536];
    int rolling = 0;
    for (int n = 0; tw_test_networks[n]; n++) {
        tw_session whole;
        open_network(&whole, tw_test_networks[n], 0);
        fill_inputs(&whole, 42);
        run_session(&whole);
        uint32_t bytes = output_bytes(&whole, want);
        for (uint64_t seed = 1; seed <= 40; seed++) {
            tw_session banded;
            open_network(&banded, tw_test_networks[n], seed);
            rolling += banded.model.segment_count < banded.model.step_count;
            fill_inputs(&banded, 42);
            run_session(&banded);
            assert_int_equal(output_bytes(&banded, have), bytes);
            assert_memory_equal(have, want, bytes);
            tw_session_close(&banded);
        }
        tw_session_close(&whole);
    }
    assert_true(rolling > 20); /* else segments of several steps were not tested */
}

static void slices_and_contexts(void **state)
{
    (void)state;
    static uint8_t want[65536], have[65536];
    tw_session a;
    open_network(&a, tw_test_networks[0], 3);
    fill_inputs(&a, 5);
    run_session(&a);
    uint32_t bytes = output_bytes(&a, want);
    uint32_t firings = a.context.firings;

    /* a second context of the same model, run in slices while the first runs too */
    tw_context other;
    tw_memory memory[TW_MAX_REGIONS - 1];
    for (uint32_t r = 1; r < TW_MAX_REGIONS; r++) {
        uint32_t size = tw_region_bytes(&a.model, r);
        memory[r - 1] = (tw_memory){tw_alloc(a.arena, size + 64), size};
    }
    assert_int_equal(tw_init(&other, &a.model, memory, 3), TW_OK);
    uint64_t seed = 5;
    for (uint32_t i = 0; i < a.model.input_count; i++)
        tw_test_fill(tw_input_tensor(&a.model, i), tw_input(&other, i), &seed);
    fill_inputs(&a, 6);
    uint32_t slices = 1;
    tw_status status;
    while ((status = tw_run_some(&other, 1)) == TW_RUNNING) {
        slices++;
        if (slices == 4)
            run_session(&a);
    }
    assert_int_equal(status, TW_OK);
    assert_in_range(slices, firings, firings + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < a.model.output_count; i++) {
        uint32_t size = tw_tensor_bytes(tw_output_tensor(&a.model, i));
        memcpy(have + n, tw_output(&other, i), size);
        n += size;
    }
    assert_int_equal(n, bytes);
    assert_memory_equal(have, want, bytes);
    tw_session_close(&a);
}

/* In slices of `size` calls: at most so many in each, and as many slices as that takes. */
static void run_sliced(tw_session *s, uint32_t size)
{
    tw_status status;
    uint32_t slices = 0, before = 0;
    do {
        status = tw_run_some(&s->context, size);
        assert_true(s->context.firings <= before + size);
        before = s->context.firings;
        slices++;
    } while (status == TW_RUNNING);
    assert_int_equal(status, TW_OK);
    assert_true(slices >= (before + size - 1) / size);
}

/* Slices of every size give what one run gives; a run given up in the middle, at any call, leaves nothing
 * behind after a reset. */
static void slices_of_any_size(void **state)
{
    (void)state;
    static uint8_t want[65536], have[65536];
    for (int n = 0; tw_test_networks[n]; n++) {
        tw_session s;
        open_network(&s, tw_test_networks[n], (uint64_t)n + 2);
        fill_inputs(&s, 8);
        run_session(&s);
        uint32_t bytes = output_bytes(&s, want), firings = s.context.firings;
        for (uint32_t size = 1; size <= firings + 1; size += 1 + size / 2) {
            assert_int_equal(tw_reset(&s.context), TW_OK);
            fill_inputs(&s, 8);
            run_sliced(&s, size);
            assert_int_equal(output_bytes(&s, have), bytes);
            assert_memory_equal(have, want, bytes);

            fill_inputs(&s, 9);
            if (tw_run_some(&s.context, size) == TW_RUNNING)
                assert_int_equal(tw_run_some(&s.context, 0), TW_RUNNING); /* nothing is done */
            assert_int_equal(tw_reset(&s.context), TW_OK);
            fill_inputs(&s, 8);
            run_session(&s);
            assert_int_equal(output_bytes(&s, have), bytes);
            assert_memory_equal(have, want, bytes);
        }
        tw_session_close(&s);
    }
}

static void arenas_are_checked(void **state)
{
    (void)state;
    tw_session s;
    open_network(&s, tw_test_networks[0], 0);
    tw_context c;
    tw_memory memory = s.memory[0];
    memory.bytes--;
    assert_int_equal(tw_init(&c, &s.model, &memory, 1), TW_E_MEMORY);
    memory = (tw_memory){(char *)s.memory[0].base + 8, s.memory[0].bytes};
    assert_int_equal(tw_init(&c, &s.model, &memory, 1), TW_E_ALIGNMENT);
    assert_int_equal(tw_init(&c, &s.model, NULL, 0), TW_E_MEMORY);
    assert_int_equal(tw_init(NULL, &s.model, &memory, 1), TW_E_ARGUMENT);
    assert_null(tw_input(&s.context, 7));
    assert_null(tw_output_tensor(&s.model, 7));
    tw_session_close(&s);
}

static int fail_at(void *user, tw_context *context, const tw_firing *firing)
{
    (void)context;
    return firing->step == *(uint32_t *)user;
}

/* y = x + previous x; total accumulates in place; first starts at 7 and never changes. */
static const char *const stateful = "graph \"delay\" {\n"
                                    "  input %x : f32[1,4]\n"
                                    "  state %last : f32[1,4]\n"
                                    "  state %before : f32[1,4] = [1, 2, 3, 4]\n"
                                    "  state %total : f32[1,4]\n"
                                    "  state %first : f32[1,4] = [7, 7, 7, 7]\n"
                                    "  %y = Add(%x, %last)\n"
                                    "  %z = Add(%y, %before)\n"
                                    "  %t = Add(%total, %x)\n"
                                    "  %w = Add(%z, %first)\n"
                                    "  output %w\n"
                                    "  output %t\n"
                                    "  next %last = %x\n"
                                    "  next %before = %last\n"
                                    "  next %total = %t\n"
                                    "}\n";

static void run_delay(tw_session *s, float x, float w, float t)
{
    for (int i = 0; i < 4; i++)
        ((float *)tw_session_input(s, 0))[i] = x;
    run_session(s);
    assert_true(((float *)tw_output(&s->context, 0))[0] == w);
    assert_true(((float *)tw_output(&s->context, 1))[3] == t);
}

static void state_survives(void **state)
{
    (void)state;
    tw_session s;
    open_network(&s, stateful, 0);
    run_delay(&s, 10, 10 + 0 + 1 + 7, 10);
    run_delay(&s, 20, 20 + 10 + 0 + 7, 30);
    uint32_t bytes = tw_saved_bytes(&s.model);
    uint8_t *blob = tw_alloc(s.arena, bytes);
    assert_int_equal(tw_save(&s.context, blob, bytes), TW_OK);
    run_delay(&s, 30, 30 + 20 + 10 + 7, 60);
    run_delay(&s, 40, 40 + 30 + 20 + 7, 100);
    assert_int_equal(tw_restore(&s.context, blob, bytes), TW_OK);
    run_delay(&s, 30, 30 + 20 + 10 + 7, 60);
    assert_int_equal(tw_reset(&s.context), TW_OK);
    run_delay(&s, 10, 10 + 0 + 1 + 7, 10);

    /* a blob with any byte changed, cut short, or of another plan is refused and changes nothing */
    for (uint32_t i = 0; i < bytes; i++) {
        blob[i] ^= 16;
        assert_int_equal(tw_restore(&s.context, blob, bytes), TW_E_STATE);
        blob[i] ^= 16;
    }
    assert_int_equal(tw_restore(&s.context, blob, bytes - 1), TW_E_STATE);
    run_delay(&s, 20, 20 + 10 + 0 + 7, 30);

    /* a run given up midway starts again from the state that is restored; midway there is none to save */
    assert_int_equal(tw_run_some(&s.context, 2), TW_RUNNING);
    assert_int_equal(tw_save(&s.context, blob, bytes), TW_E_ARGUMENT);
    assert_int_equal(tw_reset(&s.context), TW_OK);
    assert_int_equal(tw_restore(&s.context, blob, bytes), TW_OK);
    run_delay(&s, 30, 30 + 20 + 10 + 7, 60);

    /* a run that fails midway leaves the context dirty until it is reset or restored */
    uint32_t step = 1;
    tw_set_hook(&s.context, fail_at, &step);
    assert_int_equal(tw_run(&s.context), TW_E_CALLBACK);
    assert_int_equal(s.context.error_step, 1);
    tw_set_hook(&s.context, NULL, NULL);
    assert_int_equal(tw_run(&s.context), TW_E_DIRTY);
    assert_int_equal(tw_save(&s.context, blob, bytes), TW_E_DIRTY);
    assert_int_equal(tw_restore(&s.context, blob, bytes), TW_OK);
    run_delay(&s, 30, 30 + 20 + 10 + 7, 60);
    tw_session_close(&s);
}

static uint32_t kernel_count(const tw_model *m)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->step_count; i++)
        count = m->steps[i].kernel >= count ? m->steps[i].kernel + 1 : count;
    return count;
}

static const char by_rows[] = "graph \"g\" {\n"
                              "  input %x : f32[1,8,4,2]\n"
                              "  %y = Add (%x, %x)\n"
                              "  output %y\n"
                              "}\n";

/* A plan that says it is of another version, its checksum made right. */
static tw_status load_version(const tw_session *s, uint16_t major, uint16_t minor)
{
    const uint32_t head = (uint32_t)(sizeof(tw_plan_header) +
                                     s->model.header->section_count * sizeof(tw_plan_section));
    uint8_t *plan = aligned_alloc(16, s->model.header->bytes);
    tw_model model;
    assert_non_null(plan);
    memcpy(plan, s->model.plan, s->model.header->bytes);
    tw_plan_header *h = (tw_plan_header *)(void *)plan;
    h->major = major;
    h->minor = minor;
    h->crc = 0;
    h->crc = tw_crc32(0, plan, head);
    const tw_status status =
        tw_load(&model, plan, h->bytes, s->model.kernels, kernel_count(&s->model));
    free(plan);
    return status;
}

/* An older runtime refuses a newer plan by its version, a newer one an older format's; within a format
 * older plans are read. */
static void versions(void **state)
{
    (void)state;
    tw_session s;
    open_network(&s, tw_test_networks[0], 0);
    assert_int_equal(load_version(&s, TW_PLAN_MAJOR, TW_PLAN_MINOR), TW_OK);
    assert_int_equal(load_version(&s, TW_PLAN_MAJOR, 0), TW_OK);
    assert_int_equal(load_version(&s, TW_PLAN_MAJOR, TW_PLAN_MINOR + 1u), TW_E_VERSION);
    assert_int_equal(load_version(&s, TW_PLAN_MAJOR + 1u, 0), TW_E_VERSION);
    assert_int_equal(load_version(&s, TW_PLAN_MAJOR - 1u, TW_PLAN_MINOR), TW_E_VERSION);
    tw_session_close(&s);
}

/* A plan in flash at an address that is no multiple of 16 is refused by name, whatever the address. */
static void plan_addresses(void **state)
{
    (void)state;
    tw_session s;
    open_network(&s, tw_test_networks[0], 0);
    const uint32_t bytes = s.model.header->bytes;
    uint8_t *flash = aligned_alloc(16, bytes + 16);
    tw_model model;
    assert_non_null(flash);
    for (uint32_t at = 0; at <= 16; at++) {
        memcpy(flash + at, s.model.plan, bytes);
        assert_int_equal(
            tw_load(&model, flash + at, bytes, s.model.kernels, kernel_count(&s.model)),
            at % 16 == 0 ? TW_OK : TW_E_ALIGNMENT);
    }
    free(flash);
    tw_session_close(&s);
}

/* A runtime without its parts takes a plan that needs none of them, and refuses the others. */
static int is_taken_without_parts(const char *text, const char *input_rows)
{
    static const tw_parts none = {NULL, NULL, NULL, NULL};
    tw_compile_options options;
    tw_compiled compiled;
    tw_diag diag = {0};
    tw_session s;
    tw_model model;
    tw_compile_options_default(&options);
    options.input_rows = input_rows;
    tw_test_compile(text, &options, &compiled);
    assert_true(tw_session_open(&s, compiled.plan, compiled.plan_bytes, &diag));
    int needed = s.model.control_count != 0 || s.model.position_count != 0 || input_rows;
    for (uint32_t g = 0; g < s.model.segment_count; g++)
        needed |= s.model.segments[g].columns != 0;
    const tw_status status = tw_load_with(&model, s.model.plan, s.model.header->bytes,
                                          s.model.kernels, kernel_count(&s.model), &none);
    assert_int_equal(status, needed ? TW_E_KERNEL : TW_OK);
    tw_compiled_free(&compiled);
    tw_session_close(&s);
    return !needed;
}

static void parts_are_asked_for(void **state)
{
    (void)state;
    int taken = 0, count = 0;
    for (; tw_test_networks[count]; count++)
        taken += is_taken_without_parts(tw_test_networks[count], NULL);
    assert_true(taken > 0 && taken < count);
    assert_false(is_taken_without_parts(by_rows, "x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_bands_change_nothing),
        cmocka_unit_test(slices_and_contexts),
        cmocka_unit_test(slices_of_any_size),
        cmocka_unit_test(arenas_are_checked),
        cmocka_unit_test(state_survives),
        cmocka_unit_test(versions),
        cmocka_unit_test(plan_addresses),
        cmocka_unit_test(parts_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
