/* TensorFlow's models against what TensorFlow computes: SavedModels and frozen graphs that together use
 * every operator (tests/data/tensorflow, written by scripts/fixtures/tensorflow_models.py), whole and in
 * random bands; and models of the test data whose names say what they compute, their signatures and their
 * state. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "host/session.h"
#include "import/tensorflow/tensorflow.h"
#include "import/wire.h"
#include "support/model_folder.h"

static bool has(tw_arena *arena, const char *folder, const char *file)
{
    return access(tw_format(arena, "%s/%s", folder, file), F_OK) == 0;
}

static const char root[] = "tests/data/tensorflow";

static const char *model_of(tw_arena *arena, const char *folder)
{
    const bool frozen = has(arena, tw_format(arena, "%s/%s", root, folder), "frozen.pb");
    return frozen ? "frozen.pb" : "saved_model.pb";
}

/* The fixtures of one version of TensorFlow, so many; whole, and where that is asked for every third in random
 * bands. */
static void check_fixtures(const char *prefix, int count, bool banded)
{
    tw_arena *arena = tw_arena_new();
    int passed = 0;
    for (const char **name = tw_test_folders(arena, root); *name; name++) {
        tw_arena *own = tw_arena_new();
        const tw_tolerance tolerance = {1e-4, 1e-5, 0};
        const char *path = tw_format(own, "%s/%s", root, *name);
        tw_model_folder folder;
        tw_folder_result result;
        tw_diag diag = {0};
        if (strncmp(*name, prefix, strlen(prefix)) == 0) {
            passed++;
            tw_model_folder_read(own, path, model_of(own, *name), &folder);
            if (banded && passed % 3 == 0)
                tw_model_folder_must_pass(own, &folder, tolerance);
            else if (!tw_model_folder_run(own, &folder, NULL, tolerance, &result, &diag))
                fail_msg("%s: %s", folder.model, diag.message);
            else if (result.differing)
                fail_msg("%s: %ld of %ld elements differ, by up to %g", folder.model,
                         result.differing, result.compared, result.worst);
        }
        tw_arena_free(own);
    }
    assert_int_equal(passed, count);
    tw_arena_free(arena);
}

static void test_fixtures(void **state)
{
    (void)state;
    check_fixtures("tf_", 56, true);
}

static void test_fixtures_of_3(void **state)
{
    (void)state;
    check_fixtures("tf3_", 58, false);
}

/* ---- the ledger ---- */

static void note_nodes(tw_arena *arena, tw_map *seen, Tw__Tf__Node *const *node, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (node[i]->op)
            tw_map_put(arena, seen, node[i]->op, node[i]);
}

static void note_graph(tw_arena *arena, tw_map *seen, const Tw__Tf__Graph *graph)
{
    note_nodes(arena, seen, graph->node, graph->n_node);
    for (size_t i = 0; graph->library && i < graph->library->n_function; i++)
        note_nodes(arena, seen, graph->library->function[i]->node,
                   graph->library->function[i]->n_node);
}

static void note_model(tw_arena *arena, tw_map *seen, const char *folder)
{
    const char *model = model_of(arena, folder);
    const char *path = tw_format(arena, "%s/%s/%s", root, folder, model);
    const bool saved = strcmp(model, "saved_model.pb") == 0;
    void *data;
    size_t bytes;
    tw_diag diag = {0};
    assert_true(tw_read_file(arena, path, 1 << 20, &data, &bytes, &diag));
    const ProtobufCMessage *message =
        tw_wire_unpack(saved ? &tw__tf__saved_model__descriptor : &tw__tf__graph__descriptor,
                       "model", data, bytes, arena, &diag);
    assert_non_null(message);
    if (!saved) {
        note_graph(arena, seen, (const Tw__Tf__Graph *)message);
        return;
    }
    const Tw__Tf__SavedModel *whole = (const Tw__Tf__SavedModel *)message;
    for (size_t i = 0; i < whole->n_meta_graph; i++)
        note_graph(arena, seen, whole->meta_graph[i]->graph);
}

/* No operator is claimed that no fixture of either version has. */
static void test_every_row_has_a_fixture(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    static const char *const versions[] = {"tf_", "tf3_"};
    tw_map seen[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
    tw_tf_row row;
    int missing = 0;
    for (const char **name = tw_test_folders(arena, root); *name; name++)
        for (int v = 0; v < 2; v++)
            if (strncmp(*name, versions[v], strlen(versions[v])) == 0)
                note_model(arena, &seen[v], *name);
    for (int i = 0; tw_tf_row_at(i, &row); i++)
        for (int v = 0; row.import && v < 2; v++) {
            if (tw_map_get(&seen[v], row.name))
                continue;
            print_error("no fixture %s* has %s\n", versions[v], row.name);
            missing++;
        }
    assert_int_equal(missing, 0);
    tw_arena_free(arena);
}

/* ---- the models of the test data ---- */

typedef struct tw_known {
    const char *model, *signature; /* null: the usual one */
    float in, out; /* of every element of every input; of the first output's first */
    int steps;
} tw_known;

static bool compile(tw_arena *arena, const char *data, const char *model, const char *signature,
                    tw_session *session, tw_diag *diag)
{
    tw_compile_options options;
    tw_compiled compiled;
    tw_compile_options_default(&options);
    options.signature = signature;
    bool ok =
        tw_compile_file(tw_format(arena, "%s/models/%s", data, model), &options, &compiled, diag) &&
        tw_session_open(session, compiled.plan, compiled.plan_bytes, diag);
    tw_compiled_free(&compiled);
    return ok;
}

static float run(tw_session *session, float in)
{
    tw_diag diag = {0};
    float out = 0;
    for (uint32_t i = 0; i < session->model.input_count; i++) {
        const uint32_t bytes = tw_tensor_bytes(tw_input_tensor(&session->model, i));
        for (uint32_t at = 0; at + sizeof in <= bytes; at += (uint32_t)sizeof in)
            memcpy((char *)tw_session_input(session, i) + at, &in, sizeof in);
    }
    assert_true(tw_session_run(session, &diag));
    memcpy(&out, tw_session_output(session, 0), sizeof out);
    return out;
}

static void test_known(void **state)
{
    static const tw_known known[] = {
        {"tf-savedmodel/serving_half_plus_two_cpu", NULL, 4, 4, 1},
        {"tf-savedmodel/serving_half_plus_two_cpu", "regress_x2_to_y3", 4, 5, 1},
        {"tf-savedmodel/serving_half_plus_two_tf2_cpu", NULL, 7, 5.5f, 1},
        {"tf-savedmodel/serving_half_plus_three", NULL, 4, 5, 1},
        {"tf-savedmodel/serving_matrix_half_plus_two", NULL, 3, 3.5f, 1},
        {"tf-savedmodel/serving_counter", "get_counter", 0, 0, 2},
        {"tf-savedmodel/serving_counter", "incr_counter", 0, 5, 5},
        {"tf-savedmodel/serving_counter", "incr_counter_by", 3, 12, 4},
        {"tf-savedmodel/serving_counter", "reset_counter", 0, 0, 2},
        {"tf-graphdef/regression/frozen.pb", NULL, 1.5f, 1.370468f, 1}, /* as TensorFlow has it */
        {"tf-savedmodel/regression", NULL, 2.5f, 1.5844299f, 1},        /* likewise */
    };
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *data = tw_test_data(arena, "models/tf-savedmodel");
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const tw_known *k = &known[i];
        tw_session session = {0};
        tw_diag diag = {0};
        float out = 0;
        if (!compile(arena, data, k->model, k->signature, &session, &diag))
            fail_msg("%s: %s", k->model, diag.message);
        for (int step = 0; step < k->steps; step++)
            out = run(&session, k->in);
        tw_session_close(&session);
        if (out < k->out - 1e-5f || out > k->out + 1e-5f)
            fail_msg("%s gives %g, not %g", k->model, (double)out, (double)k->out);
    }
    tw_arena_free(arena);
}

/* The same network as another file of the test data, whose goldens hold for both. It takes logarithms of
 * what is rounding noise where the input is silent: one build of its own runtime differs from another by
 * 1.4e-3 there. */
static void test_twin(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *data = tw_test_data(arena, "models/tf-savedmodel/basic_pitch");
    tw_model_folder folder;
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    tw_model_folder_read(arena, tw_format(arena, "%s/models/onnx/basic_pitch", data), "model.onnx",
                         &folder);
    folder.model = tw_format(arena, "%s/models/tf-savedmodel/basic_pitch", data);
    for (int i = 0; i < folder.row_count; i++) { /* as the signature calls what comes out */
        static const char *const names[][2] = {{"StatefulPartitionedCall:0", "contour"},
                                               {"StatefulPartitionedCall:1", "note"},
                                               {"StatefulPartitionedCall:2", "onset"}};
        for (size_t k = 0; k < 3; k++)
            if (strcmp(folder.rows[i].name, names[k][0]) == 0)
                folder.rows[i].name = names[k][1];
    }
    tw_folder_result result;
    tw_diag diag = {0};
    if (!tw_model_folder_run(arena, &folder, NULL, (tw_tolerance){2e-3, 1e-5, 0}, &result, &diag))
        fail_msg("%s", diag.message);
    assert_true(result.compared > 0);
    if (result.differing > 0)
        fail_msg("%ld of %ld elements differ, by %g at most", result.differing, result.compared,
                 result.worst);
    tw_arena_free(arena);
}

/* Models of the test data without goldens of their own: as TensorFlow has them, once
 * (scripts/fixtures/tensorflow_goldens.py). */
static void test_goldens(void **state)
{
    static const char *const models[][2] = {{"fc-layers", "tf-graphdef/fc-layers/frozen.pb"},
                                            {"gru", "tf-graphdef/gru/frozen.pb"},
                                            {"lstm", "tf-graphdef/lstm/frozen.pb"},
                                            {"mlperf_kws", "tf-savedmodel/mlperf_kws"}};
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *data = tw_test_data(arena, "models/tf-graphdef");
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        tw_model_folder folder;
        tw_folder_result result;
        tw_diag diag = {0};
        tw_model_folder_read(
            arena, tw_format(arena, "tests/data/tensorflow-goldens/%s", models[i][0]), "", &folder);
        folder.model = tw_format(arena, "%s/models/%s", data, models[i][1]);
        static const tw_input_value keep = {"keep_prob", "1"}; /* dropout is off */
        tw_compile_options options;
        tw_compile_options_default(&options);
        options.constants = &keep;
        options.constant_count = i == 1 || i == 2;
        if (!tw_model_folder_run(arena, &folder, &options, (tw_tolerance){1e-4, 1e-5, 0}, &result,
                                 &diag))
            fail_msg("%s: %s", folder.model, diag.message);
        if (result.compared == 0 || result.differing > 0)
            fail_msg("%s: %ld of %ld elements differ, by %g at most", folder.model,
                     result.differing, result.compared, result.worst);
    }
    tw_arena_free(arena);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *model, *signature, *says;
        tw_code code;
    } refused[] = {
        {"tf-savedmodel/serving_counter", NULL, "--signature", TW_CODE_USAGE},
        {"tf-savedmodel/serving_counter", "count", "reset_counter", TW_CODE_USAGE},
        {"tf-savedmodel/serving_half_plus_two_cpu", "classify_x_to_y", "string",
         TW_CODE_UNSUPPORTED},
        {"tf-savedmodel/control_flow_v1", NULL, "differs from run to run", TW_CODE_UNSUPPORTED},
        {"tf-graphdef/lstm/frozen.pb", NULL, "keep_prob=1", TW_CODE_UNSUPPORTED},
    };
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *data = tw_test_data(arena, "models/tf-savedmodel");
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        tw_session session = {0};
        tw_diag diag = {0};
        assert_false(compile(arena, data, refused[i].model, refused[i].signature, &session, &diag));
        assert_int_equal(diag.code, refused[i].code);
        if (!strstr(diag.message, refused[i].says))
            fail_msg("%s: '%s' does not say %s", refused[i].model, diag.message, refused[i].says);
    }
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_fixtures_of_3),
        cmocka_unit_test(test_every_row_has_a_fixture),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_twin),
        cmocka_unit_test(test_goldens),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
