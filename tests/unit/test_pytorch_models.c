/* Whole PyTorch models against goldens: whole, and with every step split into random bands, which must not
 * change a bit. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "import/import.h"
#include "import/pytorch/torch.h"
#include "normalize/pass.h"
#include "normalize/normalize.h"
#include "ops/codes.h"
#include "support/model_folder.h"
#include "support/reference.h"

static const tw_tolerance close_by = {1e-4, 1e-5, 0};

/* TorchScript as PyTorch 1.13 traces it. */
static void traced_models(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    const char *data = tw_test_data(arena, "models/torch-own");
    int passed = 0;
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    const char *root = tw_format(arena, "%s/models/torch-own", data);
    for (const char **name = tw_test_folders(arena, root); *name; name++) {
        tw_arena *own = tw_arena_new();
        tw_model_folder folder;
        tw_model_folder_read(own, tw_format(own, "%s/%s", root, *name), "model.pt", &folder);
        tw_model_folder_must_pass(own, &folder, close_by), passed++;
        tw_arena_free(own);
    }
    printf("traced: %d equal to their goldens\n", passed);
    assert_int_equal(passed, 15);
    tw_arena_free(arena);
}

/* A scripted module with branches, two networks behind one number, and attributes that runs change: its
 * twin is the ONNX model that is handed what the module keeps to itself (64 samples and a state). */
static void scripted_model(void **state)
{
    (void)state;
    enum { SAMPLES = 512, CONTEXT = 64 };
    tw_arena *arena = tw_arena_new();
    const char *data = tw_test_data(arena, "models/torchscript");
    if (!data) {
        tw_arena_free(arena);
        skip();
    }
    static const tw_input_value rate = {"sr", "16000"};
    tw_model_folder folder;
    tw_model_folder_read(arena, tw_format(arena, "%s/models/onnx/silero_vad_v6_16k_static", data),
                         "model.onnx", &folder);
    folder.model = tw_format(arena, "%s/models/torchscript/silero_vad_v6/model.jit", data);
    folder.row_count = 2; /* the state is inside */
    tw_io_row *in = &folder.rows[0];
    assert_int_equal(in->bytes, (SAMPLES + CONTEXT) * sizeof(float));
    uint8_t *samples = tw_alloc(arena, (size_t)in->steps * SAMPLES * sizeof(float));
    for (int i = 0; i < in->steps; i++)
        memcpy(samples + (size_t)i * SAMPLES * sizeof(float),
               in->data + (size_t)i * in->bytes + CONTEXT * sizeof(float), SAMPLES * sizeof(float));
    in->data = samples;
    in->bytes = SAMPLES * sizeof(float);
    in->dim[1] = SAMPLES;
    for (uint64_t bands = 0; bands < 2; bands++) {
        tw_compile_options options;
        tw_folder_result result;
        tw_diag diag = {0};
        tw_compile_options_default(&options);
        options.constants = &rate;
        options.constant_count = 1;
        options.random_bands = bands;
        const tw_tolerance within = {0, 1e-5, 0};
        if (!tw_model_folder_run(arena, &folder, &options, within, &result, &diag))
            fail_msg("%s", diag.message);
        assert_int_equal(result.compared, in->steps);
        assert_int_equal(result.differing, 0);
    }
    tw_arena_free(arena);
}

static bool is_close(const tw_shape *shape, const void *have, const void *want)
{
    const tw_value a = {.shape = *shape, .data = have}, b = {.shape = *shape, .data = want};
    for (int64_t i = 0; i < tw_shape_elements(shape); i++) {
        const double x = tw_constant_at(&a, i), y = tw_constant_at(&b, i);
        const double room = shape->dtype == TW_F32 ? 1e-5 + 1e-4 * fabs(y) : 0;
        if (x != y && !(fabs(x - y) <= room) && !(isnan(x) && isnan(y)))
            return false;
    }
    return true;
}

/* Rows of pytorch.def that some network has reached and that computed what PyTorch does: in files of torch
 * 2.9, of versions before, or both. */
enum { ROWS = 1024, NEWEST = 1, OLDER = 2 };
static int reached[ROWS];

/* The graph as it is imported, evaluated operator by operator: the first step against PyTorch. */
static bool agrees(tw_arena *arena, const tw_model_folder *folder, const char *path, int version)
{
    tw_diag diag = {0};
    tw_offered_input offered[16] = {{0}};
    const void *in[16], *out[64];
    bool own[ROWS] = {false};
    tw_import_options options = {.offered = offered, .reached = own};
    for (int i = 0; i < folder->row_count && folder->rows[i].role == TW_IO_IN; i++) {
        offered[i] = (tw_offered_input){.name = folder->rows[i].name, .rank = folder->rows[i].rank};
        memcpy(offered[i].dim, folder->rows[i].dim, sizeof offered[i].dim);
        in[options.offered_count++] = folder->rows[i].data;
    }
    tw_graph *graph = tw_import(arena, path, &options, NULL, &diag);
    if (!graph || !tw_reference_run(graph, arena, in, out, 0, &diag)) {
        fprintf(stderr, "%s: %s: %s\n", path, diag.node, diag.message);
        return false;
    }
    bool fine = graph->output_count == folder->row_count - options.offered_count;
    for (int i = 0; fine && i < graph->output_count; i++) {
        const tw_io_row *row = &folder->rows[options.offered_count + i];
        const tw_shape *shape = &graph->outputs[i]->shape;
        fine = tw_shape_bytes(shape) == row->bytes && is_close(shape, out[i], row->data);
        if (!fine)
            fprintf(stderr, "%s: output %d (%s) differs\n", path, i, graph->outputs[i]->name);
    }
    for (int i = 0; fine && i < ROWS; i++)
        reached[i] |= own[i] ? version : 0;
    return fine;
}

/* Small networks that together call the operators of pytorch.def, which the tree holds: scripts/fixtures/
 * pytorch.py. least: how many there are. */
static void check_fixtures(const char *file, int least)
{
    tw_arena *arena = tw_arena_new();
    int passed = 0, failed = 0;
    const bool newest = !strstr(file, "-2.") || strstr(file, "-2.9");
    for (const char **name = tw_test_folders(arena, "tests/data/pytorch"); *name; name++) {
        tw_arena *own = tw_arena_new();
        tw_model_folder folder;
        const char *path = tw_format(own, "tests/data/pytorch/%s", *name);
        if (access(tw_format(own, "%s/%s", path, file), F_OK) == 0) {
            tw_model_folder_read(own, path, file, &folder);
            if (agrees(own, &folder, folder.model, newest ? NEWEST : OLDER))
                passed++;
            else
                failed++;
        }
        tw_arena_free(own);
    }
    printf("%s: %d equal to PyTorch\n", file, passed);
    assert_int_equal(failed, 0);
    assert_true(passed >= least);
    tw_arena_free(arena);
}

/* Whole plans, of the network with a buffer that runs change among them. */
static void compiled_programs(void **state)
{
    (void)state;
    static const char *const names[] = {
        "mlp",        "counting",  "lstm",        "lstm_projected",
        "open_batch", "parts_put", "indices_put", "bags_and_distances"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tw_arena *arena = tw_arena_new();
        tw_model_folder folder;
        tw_model_folder_read(arena, tw_format(arena, "tests/data/pytorch/%s", names[i]),
                             "program.pt2", &folder);
        tw_model_folder_must_pass(arena, &folder, close_by);
        tw_arena_free(arena);
    }
}

/* A quantised network runs on int8 kernels throughout, and gives what PyTorch gives but for two steps of the
 * result's scale: each layer may round otherwise by one, and the last one hands on what came before. */
static void quantised_programs(void **state)
{
    (void)state;
    static const char *const files[] = {"program.pt2", "decomposed-2.9.pt2", "decomposed-2.7.pt2"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tw_arena *arena = tw_arena_new();
        tw_diag diag = {0};
        tw_model_folder folder;
        tw_compile_options options;
        tw_compile_options_default(&options);
        tw_model_folder_read(arena, "tests/data/pytorch/quantised", files[i], &folder);
        tw_graph *graph = tw_import(arena, folder.model, &(tw_import_options){0}, NULL, &diag);
        if (!graph || !tw_normalize(graph, &options, &diag)) {
            fail_msg("%s: %s", files[i], diag.message);
            return;
        }
        int layers = 0;
        for (int k = 0; k < graph->node_count; k++) {
            const tw_node *node = graph->nodes[k];
            if (tw_is(node, TW_OPCODE_dequantize)) {
                assert_true(node->out[0]->is_output);
                continue;
            }
            assert_int_equal(node->out[0]->shape.dtype, TW_S8);
            layers += tw_is(node, TW_OPCODE_conv) || tw_is(node, TW_OPCODE_depthwise_conv) ||
                      tw_is(node, TW_OPCODE_fully_connected) || tw_is(node, TW_OPCODE_add);
        }
        assert_int_equal(layers, 5);
        assert_int_equal(graph->output_count, 1);
        const tw_value *stored = graph->outputs[0]->producer->in[0];
        const tw_tolerance two_steps = {1e-5, 2 * (double)stored->quant.scale[0], 0};
        tw_model_folder_must_pass(arena, &folder, two_steps);
        tw_arena_free(arena);
    }
}

/* As torch.export writes them, in the archive of torch 2.8 and later. */
static void exported_programs(void **state)
{
    (void)state;
    check_fixtures("program.pt2", 52);
}

/* As torch versions before 2.8 write them: other members, and other schemas before 2.6. */
static void flat_programs(void **state)
{
    (void)state;
    check_fixtures("flat-2.1.pt2", 8);
    check_fixtures("flat-2.2.pt2", 9);
    check_fixtures("flat-2.3.pt2", 5);
    check_fixtures("flat-2.4.pt2", 6);
    check_fixtures("flat-2.5.pt2", 4);
    check_fixtures("flat-2.7.pt2", 51);
}

/* After run_decompositions. */
static void decomposed_programs(void **state)
{
    (void)state;
    check_fixtures("decomposed-2.9.pt2", 52);
    check_fixtures("decomposed-2.7.pt2", 47);
}

static void scripts(void **state)
{
    (void)state;
    check_fixtures("script.pt", 49);
    check_fixtures("script-2.7.pt", 49);
}

/* No operator is claimed that no network has shown, in files of two versions but for ten that the
 * decompositions of one version alone make: after the tests above. */
static void every_row_is_reached(void **state)
{
    (void)state;
    int count[4] = {0}; /* by the versions that reach a row */
    const tw_torch_row *row;
    for (int i = 0; (row = tw_torch_row_at(i)) != NULL; i++) {
        assert_true(i < ROWS);
        count[reached[i]]++;
        if (reached[i] != (OLDER | NEWEST))
            fprintf(stderr, "%s reaches %s(%s)\n",
                    reached[i] == OLDER    ? "only an older version"
                    : reached[i] == NEWEST ? "only the newest version"
                                           : "no network",
                    row->name, row->signature);
    }
    assert_int_equal(count[0], 0);
    assert_int_equal(count[OLDER], 8);
    assert_int_equal(count[NEWEST], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_programs),    cmocka_unit_test(quantised_programs),
        cmocka_unit_test(exported_programs),    cmocka_unit_test(flat_programs),
        cmocka_unit_test(decomposed_programs),  cmocka_unit_test(scripts),
        cmocka_unit_test(every_row_is_reached), cmocka_unit_test(traced_models),
        cmocka_unit_test(scripted_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
