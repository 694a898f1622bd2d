/* Keras models: whole networks against goldens, and small ones that together have every supported layer,
 * as two versions of Keras save them, in both containers, against what Keras computes
 * (scripts/fixtures/keras_layers.py). Whole, and with every step split into random bands, which must not
 * change a bit. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "support/cases.h"
#include "support/model_folder.h"

static void networks(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *data = tw_test_data(arena, "models/keras-h5");
    int passed = 0;
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    const char *root = tw_format(arena, "%s/models/keras-h5", data);
    for (const char **name = tw_test_folders(arena, root); *name; name++) {
        tw_arena *own = tw_arena_new();
        tw_model_folder folder;
        const char *path = tw_format(own, "%s/%s", root, *name);
        FILE *golden = fopen(tw_format(own, "%s/io.tsv", path), "r");
        if (golden) { /* some have none */
            fclose(golden);
            tw_model_folder_read(own, path, "model.h5", &folder);
            tw_model_folder_must_pass(own, &folder, (tw_tolerance){1e-4, 1e-5, 0});
            passed++;
        }
        tw_arena_free(own);
    }
    printf("networks: %d equal to their goldens\n", passed);
    assert_true(passed > 0);
    tw_arena_free(arena);
}

static void run_folder(const char *folder, int least)
{
    tw_cases_result r = tw_cases_run(folder);
    printf("%s: %d pass, %d unsupported, %d fail\n", folder, r.passed, r.refused, r.failed);
    assert_int_equal(r.failed, 0);
    assert_int_equal(r.refused, 0);
    assert_true(r.passed >= least);
}

static void layers(void **state)
{
    (void)state;
    run_folder("tests/data/keras", 171);
}

/* Layers that begin where the run before ended, over several runs (scripts/fixtures/keras_stateful.py). */
static void stateful(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    static const char root[] = "tests/data/keras-stateful";
    int passed = 0;
    for (const char **name = tw_test_folders(arena, root); *name; name++, passed++) {
        tw_model_folder folder;
        tw_model_folder_read(arena, tw_format(arena, "%s/%s", root, *name), "model.keras", &folder);
        tw_model_folder_must_pass(arena, &folder, (tw_tolerance){1e-4, 1e-5, 0});
    }
    assert_int_equal(passed, 11);
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(networks), cmocka_unit_test(layers),
                                       cmocka_unit_test(stateful)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
