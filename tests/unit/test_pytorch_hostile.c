/* PyTorch files that are damaged or mean harm, and those that hold no program: refused with a message. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/file.h"
#include "graph/graph.h"
#include "import/import.h"
#include "import/pytorch/script.h"
#include "import/pytorch/torch.h"
#include "support/zip_writer.h"

static tw_graph *import(tw_arena *arena, const void *data, size_t bytes, tw_diag *diag)
{
    static const tw_offered_input offered[] = {{.name = "x", .rank = 2, .dim = {2, 4}}};
    static const tw_import_options options = {.offered = offered, .offered_count = 1};
    *diag = (tw_diag){0};
    return tw_import_bytes(arena, data, bytes, "model.pt", &options, NULL, diag);
}

static void expect(const tw_test_zip *zip, tw_code code, const char *words)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag;
    assert_null(import(arena, zip->data, zip->bytes, &diag));
    if (diag.code != code || !strstr(diag.message, words))
        fail_msg("'%s' (%d) instead of '%s' (%d)", diag.message, diag.code, words, code);
    tw_arena_free(arena);
}

/* --- pickles ----------------------------------------------------------------------------------- */

static void expect_pickle(const char *pickle, size_t bytes, const char *words)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    assert_null(tw_torch_unpickle(arena, pickle, bytes, "data.pkl", &diag));
    if (!strstr(diag.message, words))
        fail_msg("'%s' is not in '%s'", words, diag.message);
    tw_arena_free(arena);
}
#define PICKLE(text, words) expect_pickle(text, sizeof text - 1, words)

static void pickles_call_nothing(void **state)
{
    (void)state;
    PICKLE("\x80\x02"
           "cos\nsystem\nX\x02\0\0\0ls\x85R.",
           "'os system'");
    PICKLE("\x80\x04"
           "\x8c\x02os\x8c\x06system\x93.",
           "'os system'");
    PICKLE("\x80\x02"
           "cbuiltins\neval\n.",
           "'builtins eval'");
    PICKLE("\x80\x02"
           "ctorch._utils\n_rebuild_tensor_v3\n.",
           "_rebuild_tensor_v3");
    PICKLE("\x80\x02"
           "i__main__\nA\n.",
           "operation 0x69");
    PICKLE("\x80\x02"
           "ctorch\nFloatStorage\n)\x81.",
           "makes an object");
}

static void pickles_are_held_to_their_length(void **state)
{
    (void)state;
    PICKLE("", "does not come to an end");
    PICKLE("\x80", "ends too soon");
    PICKLE("\x80\x02X\xff\xff\xff\xff"
           "ab",
           "ends too soon");
    PICKLE("\x80\x02.", "more from its stack");
    PICKLE("\x80\x02t.", "has not opened");
    PICKLE("\x80\x02h\x05.", "not remembered");
    PICKLE("\x80\x02Nr\xff\xff\xff\x7f.", "remembers");
    PICKLE("\x80\x02K\x01K\x02"
           "a.",
           "adds to");
    PICKLE("\x80\x02}(K\x01u.", "without a value");
    PICKLE("\x80\x02NNR.", "calls");
    PICKLE("\x80\x02Nq\0NQ.", "not a storage");
}

/* A list that holds itself is no harm; whoever walks it has a bound. */
static void cycles_end(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    static const char pickle[] = "\x80\x02]q\0h\0a.";
    tw_torch_object *o = tw_torch_unpickle(arena, pickle, sizeof pickle - 1, "data.pkl", &diag);
    assert_non_null(o);
    assert_ptr_equal(o->items[0], o);
    tw_arena_free(arena);
}

/* --- TorchScript ------------------------------------------------------------------------------- */

#define CLASS                                                                                      \
    "c__torch__\nM\n)\x81}(X\x01\0\0\0wctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storage"    \
    "ctorch\nFloatStorage\nX\x01\0\0\0"                                                            \
    "0X\x03\0\0\0cpuK\x04tQK\0K\x04\x85K\x01\x85\x89}tRub."
static const char module[] = "\x80\x02" CLASS;
static const char head[] =
    "class M(Module):\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n";

static void make_module(tw_test_zip *zip, tw_arena *arena, const char *body, size_t storage)
{
    static const uint8_t zeros[64];
    const char *code = tw_format(arena, "%s%s", head, body);
    tw_test_zip_begin(zip, arena);
    tw_test_zip_add(zip, "m/data.pkl", module, sizeof module - 1, false);
    tw_test_zip_add(zip, "m/data/0", zeros, storage, false);
    tw_test_zip_add(zip, "m/code/__torch__.py", code, strlen(code), true);
    tw_test_zip_end(zip);
}

static void code_is_refused_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *body, *words;
        tw_code code;
    } cases[] = {
        {"    return torch.nosuch(x)\n", "line 4: return torch.nosuch(x)", TW_CODE_UNSUPPORTED},
        {"    if bool(torch.sum(x)):\n      y = x\n    else:\n      y = x\n    return y\n",
         "elements of an input", TW_CODE_UNSUPPORTED},
        {"    return (self).forward(x, )\n", "deep", TW_CODE_UNSUPPORTED},
        {"    y = 1\n    while True:\n      y = 2\n    return x\n", "loop of more",
         TW_CODE_UNSUPPORTED},
        {"    for i in range(1000000000):\n      y = 2\n    return x\n", "rounds",
         TW_CODE_UNSUPPORTED},
        {"    return torch.relu(z)\n", "'z' is not defined", TW_CODE_UNSUPPORTED},
        {"    return x.nosuch\n", "has no attribute", TW_CODE_UNSUPPORTED},
        {"    return torch.view(x, [3, 3])\n", "extents asked for", TW_CODE_FAILED},
        {"    return torch.add(x, self.w\n", "expect", TW_CODE_UNSUPPORTED},
        {"    ops.prim.RaiseException(\"no\", \"E\")\n    return x\n", "raises an error",
         TW_CODE_UNSUPPORTED},
        {"    y = torch.slice(x, 0, 0, 1)\n    z = torch.add_(y, x)\n    return x\n",
         "another view", TW_CODE_UNSUPPORTED},
        {"    return torch.zeros([100000, 100000])\n", "larger than 2 GB", TW_CODE_UNSUPPORTED},
        {"    return 5\n", "no tensor", TW_CODE_UNSUPPORTED},
        /* by name, and what to do instead */
        {"    return torch.add(x, torch.rand([2, 4]))\n", "random numbers", TW_CODE_UNSUPPORTED},
        {"    return torch.bernoulli_(x, 0.5)\n", "random numbers", TW_CODE_UNSUPPORTED},
        {"    return torch.masked_select(x, torch.gt(x, 0))\n", "torch.where", TW_CODE_UNSUPPORTED},
        {"    return torch.nonzero(x)\n", "torch.where", TW_CODE_UNSUPPORTED},
        {"    return torch.threshold_backward(x, x, 0)\n", "training", TW_CODE_UNSUPPORTED},
        {"    return torch.fft_rfft(x)\n", "complex", TW_CODE_UNSUPPORTED},
        {"    return torch.as_strided(torch.relu(x), [2, 2], [1, 2])\n",
         "says where its elements lie", TW_CODE_UNSUPPORTED},
        /* arguments that do not fit each other */
        {"    return torch.as_strided(x, [2, 5], [4, 1])\n", "none of the 8 elements",
         TW_CODE_FAILED},
        {"    return torch.as_strided(x, [2, 2], [1, 2], -1)\n", "beyond", TW_CODE_FAILED},
        {"    return torch.diagonal(x, 4)\n", "diagonal 4", TW_CODE_FAILED},
        {"    return torch.diagonal(x, 0, 1, 1)\n", "two axes", TW_CODE_FAILED},
        {"    return torch.select_scatter(x, x, 0, 0)\n", "shape of the place", TW_CODE_FAILED},
        {"    return torch.slice_scatter(x, x, 0, 0, 2, 0)\n", "a step of 0", TW_CODE_FAILED},
        {"    return torch.cdist(x, torch.select(x, 0, 0))\n", "must be matrices", TW_CODE_FAILED},
        {"    return torch.cdist(x, x, 0.)\n", "order 0", TW_CODE_UNSUPPORTED},
        {"    return torch.pdist(torch.slice(x, 0, 0, 1))\n", "2 to 4096", TW_CODE_UNSUPPORTED},
        {"    return torch.im2col(x, [2, 2], [1, 1], [0, 0], [1, 1])\n", "rank 2", TW_CODE_FAILED},
        {"    return torch.col2im(x, [9, 9], [2, 2], [1, 1], [0, 0], [1, 1])\n", "are needed",
         TW_CODE_FAILED},
        {"    return torch.col2im(x, [9, 9], [2, 2], [1, 1], [0, 0], [0, 1])\n", "values from 1",
         TW_CODE_FAILED},
        {"    return torch.index_put(x, [torch.arange(2)], torch.arange(3))\n", "place's shape",
         TW_CODE_UNSUPPORTED},
        {"    return torch.index_put(x, [torch.gt(x, 0)], torch.arange(3))\n", "masked_scatter",
         TW_CODE_UNSUPPORTED},
        {"    return torch.scatter_reduce(x, 0, torch.arange(2), x, \"none\")\n", "amax",
         TW_CODE_UNSUPPORTED},
        {"    a, b, c, d = torch.embedding_bag(x, torch.arange(2), torch.arange(2), False, 3)\n"
         "    return a\n",
         "mode 0 to 2", TW_CODE_FAILED},
    };
    tw_arena *arena = tw_arena_new();
    tw_test_zip zip;
    tw_diag diag;
    make_module(&zip, arena, "    return torch.mul(x, self.w)\n", 16);
    assert_non_null(import(arena, zip.data, zip.bytes, &diag));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_module(&zip, arena, cases[i].body, 16);
        expect(&zip, cases[i].code, cases[i].words);
    }
    /* a storage that is too short */
    make_module(&zip, arena, "    return torch.mul(x, self.w)\n", 12);
    expect(&zip, TW_CODE_FAILED, "beyond its storage");
    tw_arena_free(arena);
}

static void deep_code_is_refused(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_test_zip zip;
    char *body = tw_format(arena, "    return %*s", 100000, "");
    memset(body + 11, '(', 100000);
    make_module(&zip, arena, body, 16);
    expect(&zip, TW_CODE_UNSUPPORTED, "too deep");
    memset(body + 11, '-', 100000);
    make_module(&zip, arena, body, 16);
    expect(&zip, TW_CODE_UNSUPPORTED, "too deep");
    tw_arena_free(arena);
}

/* Memory follows the length of the code, however much of it stands in one line. */
static void long_lines_take_no_more(void **state)
{
    enum { TEXTS = 20000 };
    (void)state;
    tw_arena *arena = tw_arena_new(), *own = tw_arena_new();
    tw_map functions = {0};
    tw_diag diag = {0};
    char *code = tw_format(arena, "def f(self):\n    return [%*s'b']\n", TEXTS * 4, "");
    for (char *at = strchr(code, '[') + 1; at[1] != 'b'; at += 4) {
        at[0] = at[2] = '\'';
        at[1] = 'a';
        at[3] = ',';
    }
    if (!tw_script_parse(own, code, "m.py", "__torch__", &functions, &diag))
        fail_msg("%s", diag.message);
    assert_true(tw_arena_bytes(own) < 200 * strlen(code));
    tw_arena_free(own);
    tw_arena_free(arena);
}

/* --- archives without a program ---------------------------------------------------------------- */

static void files_without_a_program(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_test_zip zip;
    tw_test_zip_begin(&zip, arena);
    tw_test_zip_add(&zip, "m/data.pkl", "\x80\x02}.", 4, false);
    tw_test_zip_end(&zip);
    expect(&zip, TW_CODE_UNSUPPORTED, "torch.export.save");
    tw_test_zip_begin(&zip, arena);
    tw_test_zip_add(&zip, "m/archive_format", "pt2", 3, false);
    tw_test_zip_add(&zip, "m/data/aotinductor/model/a.so", "x", 1, false);
    tw_test_zip_end(&zip);
    expect(&zip, TW_CODE_UNSUPPORTED, "AOTInductor");
    tw_test_zip_begin(&zip, arena);
    tw_test_zip_add(&zip, "notes.txt", "x", 1, false);
    tw_test_zip_end(&zip);
    expect(&zip, TW_CODE_UNSUPPORTED, "zip");
    tw_arena_free(arena);
}

/* What the files hold for weights that are of a class of their own, as torchao's quantize_ makes them: in the
 * archive of torch 2.8 and later a pickle each, in the flat layout one pickle for all. */
static void subclasses_are_refused_by_name(void **state)
{
    (void)state;
    static const char config[] =
        "{\"config\": {\"fc.weight\": {\"path_name\": \"weight_0\", \"is_param\": true, "
        "\"use_pickle\": true, \"tensor_meta\": null}}}";
    static const char program[] = "{\"schema_version\": {\"major\": 8}, \"graph_module\": "
                                  "{\"graph\": {}, \"signature\": {}}}";
    static const char pickle[] = "\x80\x02}X\x09\0\0\0"
                                 "fc.weightctorch._tensor\n_rebuild_from_type_v2\n.";
    tw_arena *arena = tw_arena_new();
    tw_test_zip zip, inner;
    tw_test_zip_begin(&zip, arena);
    tw_test_zip_add(&zip, "m/archive_format", "pt2", 3, false);
    tw_test_zip_add(&zip, "m/models/model.json", program, sizeof program - 1, false);
    tw_test_zip_add(&zip, "m/data/weights/model_weights_config.json", config, sizeof config - 1,
                    false);
    tw_test_zip_end(&zip);
    expect(&zip, TW_CODE_UNSUPPORTED, "'fc.weight' is a tensor subclass");

    tw_test_zip_begin(&inner, arena);
    tw_test_zip_add(&inner, "archive/data.pkl", pickle, sizeof pickle - 1, false);
    tw_test_zip_end(&inner);
    tw_test_zip_begin(&zip, arena);
    tw_test_zip_add(&zip, "serialized_exported_program.json", program, sizeof program - 1, false);
    tw_test_zip_add(&zip, "serialized_state_dict.pt", inner.data, inner.bytes, false);
    tw_test_zip_end(&zip);
    expect(&zip, TW_CODE_UNSUPPORTED, "'torch._tensor _rebuild_from_type_v2'");
    tw_arena_free(arena);
}

static void programs_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *json, *words;
    } cases[] = {
        {"{", "line 1"},
        {"[]", "schema"},
        {"{\"schema_version\": {\"major\": 9}, \"graph_module\": {\"graph\": {}, \"signature\": "
         "{}}}",
         "schema 9"},
        {"{\"schema_version\": {\"major\": 8}, \"graph_module\": {\"graph\": {\"nodes\": "
         "[{\"target\": "
         "\"torch.ops.aten.relu.default\", \"inputs\": [{\"arg\": {\"as_tensor\": {\"name\": "
         "\"q\"}}}]}]}, "
         "\"signature\": {}}}",
         "not computed"},
        {"{\"schema_version\": {\"major\": 8}, \"graph_module\": {\"graph\": {\"nodes\": "
         "[{\"target\": "
         "\"torch.ops.mine.op\", \"inputs\": []}]}, \"signature\": {}}}",
         "mine::op"},
        {"{\"schema_version\": {\"major\": 8}, \"graph_module\": {\"graph\": {\"nodes\": "
         "[{\"target\": "
         "\"cond\", \"inputs\": [{\"arg\": {\"as_graph\": {}}}]}]}, \"signature\": {}}}",
         "control flow"},
        {"{\"schema_version\": {\"major\": 8}, \"graph_module\": {\"graph\": {}, \"signature\": "
         "{\"input_specs\": "
         "[{\"parameter\": {\"arg\": {\"name\": \"p\"}, \"parameter_name\": \"w\"}}]}}}",
         "no tensor 'w'"},
        {"{\"schema_version\": {\"major\": 8}, \"graph_module\": {\"graph\": {}, \"signature\": "
         "{}}}",
         "no tensor"},
    };
    tw_arena *arena = tw_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_test_zip zip;
        tw_diag diag;
        tw_test_zip_begin(&zip, arena);
        tw_test_zip_add(&zip, "m/archive_format", "pt2", 3, false);
        tw_test_zip_add(&zip, "m/models/model.json", cases[i].json, strlen(cases[i].json), false);
        tw_test_zip_end(&zip);
        assert_null(import(arena, zip.data, zip.bytes, &diag));
        if (!strstr(diag.message, cases[i].words))
            fail_msg("'%s' is not in '%s'", cases[i].words, diag.message);
    }
    char *deep = tw_alloc(arena, 100001);
    memset(deep, '[', 100000);
    tw_test_zip zip;
    tw_diag diag;
    tw_test_zip_begin(&zip, arena);
    tw_test_zip_add(&zip, "m/archive_format", "pt2", 3, false);
    tw_test_zip_add(&zip, "m/models/model.json", deep, 100000, false);
    tw_test_zip_end(&zip);
    assert_null(import(arena, zip.data, zip.bytes, &diag));
    tw_arena_free(arena);
}

/* Schema 1 carries constants in its text, archives in base64. */
static void constants_in_the_text_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *constant, *words;
    } cases[] = {
        {"\"*\"", "base64"}, {"\"\"", "base64"}, {"7", "base64"},
        {"\"QUJD\"", "zip"}, {"\"QQ", "line 1"},
    };
    tw_arena *arena = tw_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_test_zip zip;
        const char *json = tw_format(arena,
                                     "{\"schema_version\": 1, \"graph_module\": {\"graph\": "
                                     "{\"constants\": {\"c\": %s}}, \"signature\": {}}}",
                                     cases[i].constant);
        tw_test_zip_begin(&zip, arena);
        tw_test_zip_add(&zip, "serialized_exported_program.json", json, strlen(json), false);
        tw_test_zip_end(&zip);
        expect(&zip, TW_CODE_FAILED, cases[i].words);
    }
    tw_arena_free(arena);
}

/* Every byte of a sound file changed in turn: a graph or a message. */
static void damaged_files(void **state)
{
    (void)state;
    static const char *const files[] = {"program.pt2", "decomposed-2.7.pt2", "script.pt",
                                        "flat-2.1.pt2"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tw_arena *arena = tw_arena_new();
        tw_diag diag = {0}, broken = {0};
        void *data;
        size_t bytes;
        assert_true(tw_read_file(arena, tw_format(arena, "tests/data/pytorch/mlp/%s", files[i]),
                                 1 << 20, &data, &bytes, &diag));
        uint8_t *file = data;
        for (size_t at = 0; at < bytes; at += 37) {
            tw_arena *own = tw_arena_new();
            file[at] ^= 0x11;
            tw_graph *graph = import(own, file, bytes, &diag);
            file[at] ^= 0x11;
            assert_true(graph ? tw_graph_check(graph, &broken) : *diag.message != 0);
            tw_arena_free(own);
        }
        tw_arena_free(arena);
    }
}

/* The page of importers names every operator. */
static void page_is_complete(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    void *page;
    size_t bytes;
    const tw_torch_row *row;
    assert_true(tw_read_file(arena, "docs/importing.md", 1 << 20, &page, &bytes, &diag));
    for (int i = 0; (row = tw_torch_row_at(i)) != NULL; i++)
        if (!strstr(page, tw_format(arena, "`%s`", row->name)))
            fail_msg("docs/importing.md does not name the operator %s", row->name);
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pickles_call_nothing),
        cmocka_unit_test(pickles_are_held_to_their_length),
        cmocka_unit_test(cycles_end),
        cmocka_unit_test(code_is_refused_with_its_line),
        cmocka_unit_test(deep_code_is_refused),
        cmocka_unit_test(files_without_a_program),
        cmocka_unit_test(programs_are_checked),
        cmocka_unit_test(page_is_complete),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(constants_in_the_text_are_checked),
        cmocka_unit_test(subclasses_are_refused_by_name),
        cmocka_unit_test(long_lines_take_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
