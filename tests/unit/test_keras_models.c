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
#include <unistd.h>

#include "base/file.h"
#include "import/archive.h"
#include "import/hdf5/hdf5.h"
#include "import/keras/keras.h"
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
        if (access(tw_format(own, "%s/io.tsv", path), F_OK) == 0) {
            tw_model_folder_read(own, path, "model.h5", &folder);
        } else { /* the network that it has been converted to has */
            const char *twin = tw_format(own, "%s/models/tflite/%s_f", data, *name);
            tw_model_folder_read(own, twin, "model.tflite", &folder);
            folder.model = tw_format(own, "%s/model.h5", path);
        }
        tw_model_folder_must_pass(own, &folder, (tw_tolerance){1e-4, 1e-5, 0});
        passed++;
        tw_arena_free(own);
    }
    printf("networks: %d equal to their goldens\n", passed);
    assert_int_equal(passed, 12);
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
    run_folder("tests/data/keras", 189);
}

/* --- the ledger -------------------------------------------------------------------------------- */

/* The classes and functions that a configuration names, those of operations as "ops.CLASS". */
static void note(tw_arena *arena, tw_map *seen, json_t *json) /* NOLINT(misc-no-recursion) */
{
    const char *key;
    json_t *item;
    size_t i;
    if (json_is_array(json))
        json_array_foreach(json, i, item) note(arena, seen, item);
    if (!json_is_object(json))
        return;
    const char *name = json_string_value(json_object_get(json, "class_name"));
    const char *module = json_string_value(json_object_get(json, "module"));
    const char *function = json_string_value(json_object_get(json, "function"));
    if (name)
        tw_map_put(arena, seen,
                   tw_format(arena, "%s%s", module && strstr(module, ".ops") ? "ops." : "", name),
                   seen);
    if (function)
        tw_map_put(arena, seen, tw_strdup(arena, function), seen);
    json_object_foreach(json, key, item) note(arena, seen, item);
}

static void note_file(tw_arena *arena, tw_map *seen, const char *path)
{
    tw_diag diag = {0};
    void *data, *text;
    size_t bytes;
    if (!tw_read_file(arena, path, 1 << 20, &data, &bytes, &diag))
        fail_msg("%s: %s", path, diag.message);
    json_t *json;
    if (tw_is_h5(data, bytes)) {
        const char *const *texts;
        tw_h5 *file = tw_h5_open(arena, data, bytes, &diag);
        assert_int_equal(tw_h5_texts(file, "", "model_config", &texts), 1);
        json = json_loads(texts[0], 0, NULL);
    } else {
        tw_archive *archive = tw_archive_open(arena, data, bytes, &diag);
        assert_true(tw_archive_read(archive, arena, tw_archive_find(archive, "config.json"), &text,
                                    &bytes, &diag));
        json = json_loadb(text, bytes, 0, NULL);
        tw_archive_close(archive);
    }
    assert_non_null(json);
    note(arena, seen, json);
    json_decref(json);
}

static bool is_seen(tw_arena *arena, const tw_map *seen, const tw_kr_row *row)
{
    if (!row->functions)
        return tw_map_get(seen, row->name);
    for (const char *at = row->functions; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (tw_map_get(seen, tw_format(arena, "%.*s", (int)length, at)))
            return true;
        at += length;
    }
    return tw_map_get(seen, tw_format(arena, "ops.%s", row->name));
}

/* No layer and no operation is claimed that no fixture has. */
static void every_row_has_a_fixture(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_map seen = {NULL, 0, 0};
    tw_kr_row row;
    int missing = 0;
    for (const char **name = tw_test_folders(arena, "tests/data/keras"); *name; name++)
        if (strcmp(*name, "cases.txt") != 0)
            note_file(arena, &seen, tw_format(arena, "tests/data/keras/%s", *name));
    for (int i = 0; tw_kr_row_at(i, &row); i++) {
        if (!row.import || is_seen(arena, &seen, &row))
            continue;
        print_error("no fixture has %s\n", row.name);
        missing++;
    }
    assert_int_equal(missing, 0);
    tw_arena_free(arena);
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
                                       cmocka_unit_test(every_row_has_a_fixture),
                                       cmocka_unit_test(stateful)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
