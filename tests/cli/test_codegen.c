/* The C that codegen writes: it compiles as strictly as promised, computes what the command computes
 * and stays in its memory, whatever the model's names; folders that are not its own stay as they are. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"

/* DIR/src as the archive DIR.a, once. */
static void build_library(const char *dir)
{
    char archive[64];
    snprintf(archive, sizeof archive, "%s.a", dir);
    if (access(archive, F_OK) == 0)
        return;
    expect_shell(0,
                 "mkdir -p objects-%s && cd objects-%s && "
                 "cc -std=c99 " STRICT " -I../%s/src -c ../%s/src/*.c ../%s/src/*/*.c && "
                 "ar rcs ../%s.a *.o",
                 dir, dir, dir, dir, dir, dir);
}

/* ---- a library in a program of the user's ---- */

static const char user[] =
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "#include \"tiny.h\"\n"
    "TINY_ALIGNED static uint8_t arena[TINY_ARENA_BYTES];\n"
    "static tiny_network network, other;\n"
    "int main(void)\n"
    "{\n"
    "    FILE *in = fopen(\"x.bin\", \"rb\"), *out = fopen(\"z.bin\", \"wb\");\n"
    "    const float *z = tiny_output_z(&network);\n"
    "    if (!in || !out || z != NULL)\n"
    "        return 10;\n"
    "    if (tiny_load() != TW_OK)\n"
    "        return 11;\n"
    "    if (tiny_init(&network, arena, sizeof arena - 16) != TW_E_MEMORY)\n"
    "        return 12;\n"
    "    if (tiny_init(&network, arena, sizeof arena) != TW_OK)\n"
    "        return 13;\n"
    "    if (sizeof(tiny_tensor_input_x) != TINY_INPUT_X_BYTES)\n"
    "        return 14;\n"
    "    if (fread(tiny_input_x(&network), TINY_INPUT_X_BYTES, 1, in) != 1)\n"
    "        return 15;\n"
    "    if (tiny_run_some(&network, 1) != TW_RUNNING)\n"
    "        return 16;\n"
    "    memcpy(&other, &network, sizeof other);\n" /* a context may be moved */
    "    if (tiny_run_some(&other, 1000) != TW_OK)\n"
    "        return 17;\n"
    "    fwrite(tiny_output_z(&other), TINY_OUTPUT_Z_BYTES, 1, out);\n"
    "    return fclose(in) + fclose(out);\n"
    "}\n";

static void test_library(void **state)
{
    (void)state;
    expect_status(tw_process("compile tiny.twir -o tiny.twp"), 0);
    tw_result r = tw_process("codegen tiny.twp -o tiny --json");
    expect_status(r, 0);
    json_t *json = parse_json(r.out);
    expect_keys(json, "folder name project files kernels sources memory");
    assert_int_equal(json_array_size(json_object_get(json, "kernels")), 3);
    json_decref(json);
    assert_int_equal(access("tiny/src/ops/softmax.rt.c", F_OK), -1); /* not in the plan */
    build_library("tiny");
    tw_write_text("user.c", user);
    expect_shell(0, "cc -std=c99 " STRICT " -Itiny/src user.c tiny.a -o user && ./user");
    expect_status(tw_process("run tiny.twp --input x.bin --output expected.bin"), 0);
    expect_same_files("z.bin", "expected.bin");
}

static void test_languages(void **state)
{
    (void)state;
    static const char *const compilers[] = {"gcc -std=c17", "g++ -x c++ -std=c++17",
                                            "clang -std=c99", "clang++ -x c++ -std=c++17"};
    expect_status(tw_process("compile tiny.twir -o tiny.twp"), 0);
    expect_status(tw_process("codegen tiny.twp -o tiny"), 0);
    tw_write_text("user.c", user);
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        char name[16] = {0};
        sscanf(compilers[i], "%15s", name);
        expect_shell(0,
                     "command -v %s || exit 0; %s " STRICT
                     " -fsyntax-only -Itiny/src user.c tiny/src/*.c",
                     name, compilers[i]);
    }
}

static void test_same_bytes(void **state)
{
    (void)state;
    expect_status(tw_process("compile tiny.twir -o tiny.twp"), 0);
    expect_status(tw_process("codegen tiny.twp --format app -o one"), 0);
    expect_status(tw_process("codegen tiny.twp --format app -o two"), 0);
    expect_shell(0, "diff -r one two");
    expect_status(tw_process("codegen tiny.twp --format app -o one"), 0); /* over itself */
    expect_shell(0, "diff -r one two");
}

/* ---- names ---- */

static const char hostile[] = "graph \"*/ int evil; /* \\\\ ?\?/\" {\n"
                              "  input %\"a b\" : f32[2]\n"
                              "  input %\"A*/B\" : f32[2]\n"
                              "  input %\"a_b\" : f32[2]\n"
                              "  input %\"\\xe6\\x97\\xa5\" : f32[2]\n"
                              "  state %\"int\" : f32[2] = [0.5, -0.5]\n"
                              "  %u = Add \"a\\\\\" (%\"a b\", %\"A*/B\")\n"
                              "  %v = Mul \"\\n#error\" (%\"a_b\", %\"\\xe6\\x97\\xa5\")\n"
                              "  %w = Add(%u, %v)\n"
                              "  %\"return\" = Add(%w, %\"int\")\n"
                              "  next %\"int\" = %\"return\"\n"
                              "  %\"x\\\\\" = Neg(%\"return\")\n"
                              "  output %\"return\"\n"
                              "  output %\"x\\\\\"\n"
                              "}\n";

static void test_names(void **state)
{
    (void)state;
    tw_write_text("signal.twir", hostile);
    expect_status(tw_process("compile signal.twir -o signal.twp"), 0);
    expect_status(tw_process("codegen signal.twp --format app -o hostile"), 0);
    assert_int_equal(access("hostile/src/signal.h", F_OK), -1); /* <signal.h> must stay itself */
    expect_in_file("hostile/src/model_signal.h", "model_signal_input_a_b(");
    expect_in_file("hostile/src/model_signal.h", "model_signal_output_return(");
    expect_in_file("hostile/src/model_signal.h", "model_signal_save(");
    expect_shell(0, "make -C hostile CFLAGS='" STRICT "' run");
    expect_in_file("shell.out", "pass: 3 runs");
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"int", "1st", "test"};
        tw_result r = tw_process("codegen signal.twp --name %s -o nothing", names[i]);
        expect_status(r, 2);
        expect_text(r.err, "would do");
    }
    assert_int_equal(access("nothing", F_OK), -1);
}

/* ---- the program that tests itself ---- */

static void test_app(void **state)
{
    (void)state;
    expect_status(tw_process("compile tiny.twir --input-rows x -o rows.twp"), 0);
    expect_status(tw_process("codegen rows.twp --format app --weights extern --align 64 --steps 2 "
                             "--name Rows -o app"),
                  0);
    expect_same_files("app/Rows.twp", "rows.twp");
    expect_shell(0, "make -C app CFLAGS='" STRICT "' run");
    expect_in_file("shell.out", "pass: 2 runs");
    expect_shell(0, "make -q -C app");
    expect_shell(1, "touch app/src/Rows.h && make -q -C app"); /* objects know their headers */
    /* One output that is not what the host computed. */
    expect_shell(0, "sed -i '/output_1_0.. =/{n;s/0x./0x1/}' app/app/vectors.c");
    expect_shell(2, "make -C app CFLAGS='" STRICT "' run");
    expect_in_file("shell.out", "output 0 differs");
    tw_result r = tw_process("codegen rows.twp --format app --name Rows -o app");
    expect_status(r, 1);
    expect_text(r.err, "app/app/vectors.c: the file was changed");
}

/* An output that is given by rows: to the program's drain, which compares them. */
static void test_rows_out(void **state)
{
    (void)state;
    tw_write_text("through.twir", "graph \"through\" {\n  input %x : f32[1,9,4,2]\n"
                                  "  const %w : f32[3,3,3,2] = random 1 -1 1\n"
                                  "  %y = Conv (%x, %w)\n  %z = Relu (%y)\n  output %z\n}\n");
    expect_status(tw_process("compile through.twir --input-rows x --output-rows z -o through.twp"),
                  0);
    expect_status(tw_process("codegen through.twp --format app --steps 2 -o through"), 0);
    expect_in_file("through/src/through.h", "#define THROUGH_OUTPUT_Z_ROW_BYTES 24u");
    expect_shell(0, "make -C through CFLAGS='" STRICT "' run");
    expect_in_file("shell.out", "pass: 2 runs");
    expect_shell(0, "sed -i '/output_1_0.. =/{n;s/0x./0x1/}' through/app/vectors.c");
    expect_shell(2, "make -C through CFLAGS='" STRICT "' run");
    expect_in_file("shell.out", "rows differ");
    tw_result r = tw_process("codegen through.twp --format direct -o no");
    expect_status(r, 3);
    expect_text(r.err, "--format direct does not");
    assert_int_equal(access("no", F_OK), -1);
}

static void test_vectors(void **state)
{
    (void)state;
    expect_status(tw_process("compile tiny.twir -o tiny.twp"), 0);
    expect_status(tw_process("run tiny.twp --input x.bin --output z.bin"), 0);
    mkdir("case", 0700);
    expect_shell(0, "cp x.bin z.bin tiny.twir case/");
    tw_write_text("case/io.tsv", "role\tname\tdtype\tshape\tsteps\tfile\n"
                                 "in\tx\tfloat32\t1x8x8x3\t1\tx.bin\n"
                                 "out\tz\tfloat32\t1x1x1x4\t1\tz.bin\n");
    expect_status(tw_process("codegen tiny.twp --format app --vectors case -o cased"), 0);
    expect_in_file("cased/app/vectors.h", "#define APP_VECTORS 1\n");
    expect_in_file("cased/app/vectors.c", "0xbf800000u, 0xbf600000u,"); /* -1, -0.875 of x.bin */
    expect_status(tw_process("codegen tiny.twp --vectors case -o cased"), 2);
    expect_status(tw_process("codegen tiny.twp --format app --vectors nowhere -o no"), 1);
    assert_int_equal(access("no", F_OK), -1);
}

/* ---- without a plan ---- */

static const char deep[] = "graph \"deep\" {\n"
                           "  input  %x : f32[1,40,6,2]\n"
                           "  state  %s : f32[1,1,1,4] = [1, 2, -3, 4]\n"
                           "  const  %w : f32[4,3,3,2] = random 1 -0.5 0.5\n"
                           "  const  %v : f32[4,3,3,4] = random 2 -0.5 0.5\n"
                           "  %a = Conv(%x, %w) {pad_begin=[1,1], pad_end=[1,1]} clamp(0, 6)\n"
                           "  %b = Conv(%a, %v) {pad_begin=[1,1], pad_end=[1,1], stride=[2,1]}\n"
                           "  %c = Conv(%b, %v) {pad_begin=[1,1], pad_end=[1,1]}\n"
                           "  %d = Add(%b, %c)\n"
                           "  %e = Conv(%d, %v) {pad_begin=[2,1], pad_end=[2,1], dilation=[2,1]}\n"
                           "  %m = ReduceMean(%e) {axes=[1,2]}\n"
                           "  %n = Add(%m, %s)\n"
                           "  next %s = %n\n"
                           "  output %e\n"
                           "  output %n\n"
                           "}\n";

/* Every way of making bands gives the interpreter's bytes, inside the one array. */
static void test_direct(void **state)
{
    (void)state;
    static const char *const options[] = {"--prefer memory", "--input-rows x", "--random-bands 1"};
    tw_write_text("deep.twir", deep);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        expect_status(tw_process("compile deep.twir %s -o deep.twp", options[i]), 0);
        expect_status(
            tw_process("codegen deep.twp --format direct --steps 2 --align 32 -o deep%zu", i), 0);
        if (i == 0) /* the kernels are the same every time */
            expect_shell(
                0, "mkdir checked && cd checked && cc -std=c99 -O1 -fsanitize=address,undefined "
                   "-ffp-contract=off -I../deep0/src -c ../deep0/src/*/*.c && ar rcs "
                   "../checked.a *.o");
        expect_shell(
            0,
            "cc -std=c99 -fsanitize=address,undefined -fno-sanitize-recover=all " STRICT
            " -Ideep%zu/src deep%zu/src/*.c deep%zu/app/*.c checked.a -o direct && ./direct",
            i, i, i);
        expect_in_file("shell.out", "pass: 2 runs");
    }
    expect_in_file("deep0/src/deep.c", "for (i = 0; i < ");
    expect_in_file("deep0/src/deep.c", "/* stride=[2, 1] */");
    expect_in_file("deep0/src/deep.c", "{0x00000000u}, {0x40c00000u}, /* 0 to 6 */");
    expect_in_file("deep0/src/deep.c", "HOLDS(output_n_has_its_size, ");
    expect_in_file("deep1/src/deep.c", "FEED(");
    expect_shell(1, "grep -q check deep0/src/deep.c");
    expect_shell(0, "command -v g++ || exit 0; g++ -x c++ -std=c++17 " STRICT
                    " -fsyntax-only -Ideep1/src "
                    "deep1/src/*.c deep1/src/*/*.c");
    expect_status(tw_process("codegen deep.twp --format direct --weights extern -o no"), 2);
}

/* ---- two models, one arena; a plan that is somewhere else ---- */

static const char both[] =
    "#include \"tiny.h\"\n"
    "#include \"counter.h\"\n"
    "#include \"branch.h\"\n"
    "#include <string.h>\n"
    "#define MOST(a, b) ((a) > (b) ? (a) : (b))\n"
    "TINY_ALIGNED static uint8_t arena[MOST(TINY_ARENA_BYTES, COUNTER_ARENA_BYTES)];\n"
    "TINY_ALIGNED static uint8_t plan[COUNTER_PLAN_BYTES + 16];\n"
    "extern const uint32_t counter_file[];\n"
    "BRANCH_ALIGNED static uint8_t other[BRANCH_ARENA_BYTES];\n"
    "static tiny_network tiny;\n"
    "static uint8_t alone[TINY_OUTPUT_Z_BYTES];\n"
    "static counter_network first, second;\n"
    "static branch_network branch;\n"
    "static tw_model model;\n"
    "static float next_of(counter_network *network, float x)\n"
    "{\n"
    "    counter_input_s(network)[0] = x;\n"
    "    counter_input_s(network)[1] = -x;\n"
    "    return counter_run(network) == TW_OK ? counter_output_n(network)[0] : -1.0f;\n"
    "}\n"
    "int main(void)\n"
    "{\n"
    "    memcpy(plan + 4, counter_file, COUNTER_PLAN_BYTES);\n"
    "    if (counter_load(&model, plan + 4, COUNTER_PLAN_BYTES) != TW_E_ALIGNMENT)\n"
    "        return 10;\n"
    "    memcpy(plan, counter_file, COUNTER_PLAN_BYTES);\n"
    "    if (counter_load(&model, plan, COUNTER_PLAN_BYTES - 16) != TW_E_TRUNCATED)\n"
    "        return 11;\n"
    "    plan[4]++; /* the format's major version */\n"
    "    if (counter_load(&model, plan, COUNTER_PLAN_BYTES) != TW_E_VERSION)\n"
    "        return 12;\n"
    "    plan[4]--;\n"
    "    plan[COUNTER_PLAN_BYTES - 1]++;\n"
    "    if (counter_load(&model, plan, COUNTER_PLAN_BYTES) != TW_E_CHECKSUM)\n"
    "        return 13;\n"
    "    plan[COUNTER_PLAN_BYTES - 1]--;\n"
    "    if (counter_load(&model, tiny_plan, TINY_PLAN_BYTES) >= TW_OK)\n"
    "        return 14;\n"
    "    if (counter_load(&model, plan, COUNTER_PLAN_BYTES) != TW_OK || tiny_load() != TW_OK)\n"
    "        return 15;\n"
    "    if (tiny_init(&tiny, arena, sizeof arena) != TW_OK ||\n"
    "        counter_init(&first, &model, arena, sizeof arena) != TW_OK ||\n"
    "        counter_init(&second, &model, arena, sizeof arena) != TW_OK)\n"
    "        return 16;\n"
    "    memset(tiny_input_x(&tiny), 0, TINY_INPUT_X_BYTES);\n"
    "    if (tiny_run(&tiny) != TW_OK)\n"
    "        return 17;\n"
    "    memcpy(alone, tiny_output_z(&tiny), TINY_OUTPUT_Z_BYTES);\n"
    "    if (next_of(&first, 2.0f) < 2.0f || next_of(&second, -3.0f) != 0.0f)\n"
    "        return 18;\n"
    "    if (next_of(&first, 4.0f) != 4.0f)\n"
    "        return 19;\n"
    "    memset(tiny_input_x(&tiny), 0, TINY_INPUT_X_BYTES);\n" /* what others wrote is no matter */
    "    if (tiny_run(&tiny) != TW_OK || memcmp(alone, tiny_output_z(&tiny), "
    "TINY_OUTPUT_Z_BYTES))\n"
    "        return 23;\n"
    "    if (branch_load() != TW_OK || branch_init(&branch, other, sizeof other) != TW_OK)\n"
    "        return 20;\n"
    "    branch_input_c(&branch)[0] = 1;\n"
    "    branch_input_x(&branch)[0] = 3.0f;\n"
    "    if (branch_run(&branch) != TW_OK || branch_output_y(&branch)[0] != 6.0f)\n"
    "        return 21;\n"
    "    branch_input_c(&branch)[0] = 0;\n"
    "    branch_input_x(&branch)[0] = 3.0f;\n"
    "    if (branch_run(&branch) != TW_OK || branch_output_y(&branch)[0] != 9.0f)\n"
    "        return 22;\n"
    "    return 0;\n"
    "}\n";

static const char branch[] = "graph \"branch\" {\n"
                             "  input %c : bool[1]\n"
                             "  input %x : f32[1,2]\n"
                             "  %y : f32[1,2] = If (%c, %x)\n"
                             "    graph \"yes\" {\n"
                             "      input %x : f32[1,2]\n"
                             "      %y = Add (%x, %x)\n"
                             "      output %y\n"
                             "    }\n"
                             "    graph \"no\" {\n"
                             "      input %x : f32[1,2]\n"
                             "      %y = Mul (%x, %x)\n"
                             "      output %y\n"
                             "    }\n"
                             "  output %y\n"
                             "}\n";

/* Three, in truth: the third needs a part of the runtime that the others are linked without. */
static void test_two_models(void **state)
{
    (void)state;
    tw_write_text("branch.twir", branch);
    expect_status(tw_process("compile branch.twir -o branch.twp"), 0);
    expect_status(tw_process("codegen branch.twp -o branch"), 0);
    build_library("branch");
    expect_status(tw_process("compile tiny.twir -o tiny.twp"), 0);
    expect_status(tw_process("compile counter.twir -o counter.twp"), 0);
    expect_status(tw_process("codegen tiny.twp -o tiny"), 0);
    expect_status(tw_process("codegen counter.twp --weights extern -o counter"), 0);
    build_library("tiny");
    build_library("counter");
    tw_write_text("both.c", both);
    expect_shell(
        0, "{ echo '#include <stdint.h>'; echo 'const uint32_t counter_file[] = {'; "
           "od -An -v -tx4 -w4 counter/counter.twp | sed 's/ *\\(.*\\)/0x\\1u,/'; echo '};'; } "
           ">file.c && cc -std=c99 -O0 -Itiny/src -Icounter/src -Ibranch/src both.c file.c tiny.a "
           "counter.a branch.a -o both && ./both");
    expect_in_file("branch/src/branch.c", "{NULL, &tw_part_controls, NULL, NULL}");
    expect_in_file("tiny/src/tiny.c", "parts = {NULL, NULL, NULL, NULL}");
    assert_int_equal(access("tiny/src/runtime/control.c", F_OK), -1);
    assert_int_equal(access("tiny/src/runtime/parts.c", F_OK), -1);
}

/* ---- builds ---- */

/* Each build learns of the library of a back end, and of no other's. */
static void test_libraries(void **state)
{
    (void)state;
    static const struct {
        const char *backend, *project, *file, *text;
    } rows[] = {
        {"esp-nn", "cmake", "CMakeLists.txt", "find_package(ESPNN REQUIRED)"},
        {"esp-nn", "cmake", "cmake/FindESPNN.cmake", "ESP_NN_DIR"},
        {"esp-nn", "esp-idf", "idf_component.yml", "espressif/esp-nn"},
        {"esp-nn", "zephyr", "zephyr/CMakeLists.txt", "libesp-nn.a"},
        {"esp-nn", "arduino", "src/backends/esp_nn/esp_nn_lut.rt.c", "esp_nn_logistic_s8"},
        {"esp-nn", "platformio", "src/backends/esp_nn/library.h", "NN_SKIP_NUDGE"},
        {"esp-nn", "cmsis-pack", "tilewright.net.pdsc", "condition=\"ESP-NN\""},
        {"cmsis-nn", "cmake", "CMakeLists.txt", "find_package(CMSISNN REQUIRED)"},
        {"cmsis-nn", "zephyr", "zephyr/Kconfig", "select CMSIS_NN"},
        {"cmsis-nn", "cmsis-pack", "tilewright.net.pdsc", "vendor=\"ARM\" name=\"CMSIS-NN\""},
    };
    tw_write_text("sigmoid.twir", "graph \"g\" {\n  input %x : s8[1,4] quant(scale=0.05, zero=3)\n"
                                  "  %y : s8[1,4] quant(scale=0.00390625, zero=-128) = "
                                  "Sigmoid (%x)\n  output %y\n}\n");
    expect_status(
        tw_process("compile sigmoid.twir --backend reference,esp-nn,cmsis-nn -o sigmoid.twp"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_status(
            tw_process("codegen sigmoid.twp --backend %s --name net --project %s -o lib%zu",
                       rows[i].backend, rows[i].project, i),
            0);
        expect_shell(0, "grep -qF '%s' lib%zu/%s && ! grep -rn '@ONLY' lib%zu", rows[i].text, i,
                     rows[i].file, i);
    }
    expect_shell(
        0, "! grep -rniE 'cmsis.?nn' lib0/CMakeLists.txt && ! grep -rn ESPNN lib7/CMakeLists.txt");
    /* Objects in one folder do not meet: the portable table is there beside the library's. */
    expect_shell(
        0,
        "test -f lib0/src/ops/lut.rt.c && test -z \"$(find lib* -name '*.c' -printf '%%h %%f\\n' | "
        "sed 's|^\\(lib[0-9]\\)[^ ]*|\\1|' | sort | uniq -d)\"");
    tw_result r = tw_process("codegen sigmoid.twp --backend cmsis-nn --project esp-idf -o no");
    expect_status(r, 2);
    expect_text(r.err, "CMSIS-NN runs on Cortex-M");
    assert_int_equal(access("no", F_OK), -1);
    /* A library that is not there is asked for by name. */
    expect_status(tw_process("codegen sigmoid.twp --backend esp-nn --format app -o absent"), 0);
    expect_shell(2, "make -C absent ESP_NN_DIR=nowhere 2>&1");
    expect_in_file("shell.out", "get ESP-NN from Espressif");
    r = tw_process("codegen sigmoid.twp --backend esp-nn --explain");
    expect_status(r, 0);
    expect_pattern(r.out, "Sigmoid +tw_esp_nn_sigmoid_table +esp-nn");
}

/* A kernel that has to do with less scratch than it would like is told of. */
static void test_parts(void **state)
{
    (void)state;
    tw_write_text("parts.twir",
                  "graph \"g\" {\n  input %x : s8[1,9,6,3] quant(scale=0.05, zero=-20)\n"
                  "  const %w : s8[64,3,3,3] quant(scale=0.01, zero=0) = random 1 -127 128\n"
                  "  %y : s8[1,9,6,64] quant(scale=0.15, zero=5) = Conv (%x, %w) {pad_begin=[1,1], "
                  "pad_end=[1,1]}\n  output %y\n}\n");
    expect_status(tw_process("compile parts.twir --backend esp-nn -m 4600 -o parts.twp"), 0);
    tw_result r = tw_process("codegen parts.twp --backend esp-nn --explain");
    expect_status(r, 0);
    expect_pattern(r.out, "Conv +tw_esp_nn_conv_s8 +esp-nn, in up to 4 parts, for want of scratch");
    r = tw_process("codegen parts.twp --backend esp-nn --explain --json");
    expect_text(r.out, "\"remark\": \"in up to 4 parts, for want of scratch\"");
}

static void test_projects(void **state)
{
    (void)state;
    /* The file that lists the sources, where one does. */
    static const struct {
        const char *project, *file, *list;
    } projects[] = {
        {"cmake", "CMakeLists.txt", "CMakeLists.txt"},
        {"esp-idf", "idf_component.yml", "CMakeLists.txt"},
        {"zephyr", "zephyr/module.yml", "zephyr/CMakeLists.txt"},
        {"arduino", "examples/net_run/net_run.ino", NULL},
        {"platformio", "library.json", NULL},
        {"cmsis-pack", "tilewright.net.pdsc", "tilewright.net.pdsc"},
    };
    expect_status(tw_process("compile tiny.twir -o tiny.twp"), 0);
    for (size_t i = 0; i < sizeof projects / sizeof *projects; i++) {
        const char *p = projects[i].project;
        expect_status(tw_process("codegen tiny.twp --name net --project %s -o %s", p, p), 0);
        expect_shell(
            0, "test -s %s/%s && ! grep -rn @ %s --include=CMakeLists.txt --include='*.[jipy]*'", p,
            projects[i].file, p);
        if (projects[i].list)
            expect_shell(
                0,
                "cd %s && find src -name '*.c' | while read f; do grep -q \"$f\" %s || exit 1; "
                "done",
                p, projects[i].list);
    }
    char *text = tw_read("platformio/library.json", NULL);
    json_t *json = parse_json(text);
    expect_keys(json, "name version build");
    json_decref(json);
    free(text);
    /* The sketch, with what it takes of the environment. */
    tw_write_text("sketch.cpp", "#include <stdint.h>\n"
                                "static struct {\n"
                                "    void begin(long) {}\n"
                                "    template <class T> void print(T) {}\n"
                                "    template <class T> void println(T) {}\n"
                                "} Serial;\n"
                                "static unsigned long micros() { return 0; }\n"
                                "#include \"arduino/examples/net_run/net_run.ino\"\n");
    expect_shell(0, "command -v g++ || exit 0; g++ -std=c++17 " STRICT
                    " -fsyntax-only -Iarduino/src sketch.cpp");
    expect_status(tw_process("codegen tiny.twp --format app --project zephyr -o no"), 2);
}

/* ---- refusals ---- */

static void test_folders(void **state)
{
    (void)state;
    expect_status(tw_process("compile tiny.twir -o tiny.twp"), 0);
    expect_status(tw_process("compile counter.twir -o counter.twp"), 0);
    /* A folder of somebody else's. */
    expect_shell(0, "mkdir -p mine/src && echo precious >mine/src/tiny.h");
    tw_result r = tw_process("codegen tiny.twp -o mine");
    expect_status(r, 1);
    expect_text(r.err, "mine/src/tiny.h: the file is in the way");
    expect_in_file("mine/src/tiny.h", "precious");
    assert_int_equal(tw_count_files("mine"), 1);
    /* A file beside the firmware stays; files that are no longer needed go. */
    expect_status(tw_process("codegen tiny.twp -o again --name net"), 0);
    tw_write_text("again/notes.txt", "mine");
    assert_int_equal(access("again/src/ops/conv.rt.c", F_OK), 0);
    expect_status(tw_process("codegen counter.twp -o again --name net"), 0);
    assert_int_equal(access("again/src/ops/conv.rt.c", F_OK), -1);
    expect_in_file("again/notes.txt", "mine");
    expect_in_file("again/src/net.h", "counter");
    /* Nothing of a folder that cannot be written. */
    tw_write_text("file", "");
    expect_status(tw_process("codegen tiny.twp -o file"), 1);
    expect_status(tw_process("codegen tiny.twp -o file/below"), 1);
    expect_in_file("file", "");
    expect_status(tw_process("codegen tiny.twp -o none/below"), 1);
    assert_int_equal(access("none", F_OK), -1);
    expect_shell(1, "ls -d *.?????? | grep -v -e twir -e twp");
}

static void test_usage(void **state)
{
    (void)state;
    expect_status(tw_process("compile tiny.twir -o tiny.twp"), 0);
    expect_status(tw_process("codegen tiny.twp"), 2);
    expect_status(tw_process("codegen tiny.twir -o fw"), 2);
    expect_status(tw_process("codegen tiny.twp -o fw --align 24"), 2);
    expect_status(tw_process("codegen tiny.twp -o fw --format directly"), 2);
    expect_status(tw_process("codegen tiny.twp -o fw --steps 3"), 2);
    expect_status(tw_process("codegen tiny.twp -o fw --backend nonsense"), 2);
    expect_status(tw_process("codegen tiny.twp -o fw --backend reference,cmsis-nn"), 2);
    tw_result refused = tw_process("codegen tiny.twp -o fw --backend cmsis-nn:m4");
    expect_status(refused, 1);
    expect_text(refused.err, "compile MODEL --backend reference,cmsis-nn:m4 -o tiny.twp");
    tw_result r = tw_process("codegen tiny.twp -o fw --project nonsense");
    expect_status(r, 2);
    expect_text(r.err, "cmake");
    expect_text(tw_process("codegen --help").out, "tilewright codegen model.twp");
    r = tw_process("codegen tiny.twp --explain");
    expect_status(r, 0);
    expect_pattern(r.out, "conv1 +Conv +tw_k_conv_f32 +reference");
    r = tw_process("codegen tiny.twp --explain --json");
    json_t *json = parse_json(r.out);
    assert_int_equal(json_array_size(json_object_get(json, "steps")), 3);
    json_decref(json);
    tw_write_text("bad.twp", "TWPL is not enough");
    expect_status(tw_process("codegen bad.twp -o fw"), 1);
    tw_write_text("bad.twp", "no plan");
    r = tw_process("codegen bad.twp -o fw");
    expect_status(r, 1);
    expect_text(r.err, "bad.twp: the file does not begin as a plan does");
    r = tw_process("codegen nowhere.twp -o fw");
    expect_status(r, 1);
    expect_text(r.err, "nowhere.twp");
    assert_int_equal(access("fw", F_OK), -1);
}

/* What the command computes in double, no device does: the step is named. */
static void test_double(void **state)
{
    (void)state;
    tw_write_text("double.twir", "graph \"double\" {\n"
                                 "  input  %x : f64[4]\n"
                                 "  %y : f64[4] = Exp (%x)\n"
                                 "  output %y\n}\n");
    expect_status(tw_process("compile double.twir -o double.twp"), 0);
    tw_result r = tw_process("codegen double.twp -o double");
    expect_status(r, 3);
    expect_text(r.err, "Exp");
    expect_text(r.err, "float64 is computed on the host only");
    assert_int_equal(access("double", F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_library),    cmocka_unit_test(test_languages),
        cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_names),
        cmocka_unit_test(test_app),        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_rows_out),   cmocka_unit_test(test_direct),
        cmocka_unit_test(test_two_models), cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_parts),      cmocka_unit_test(test_projects),
        cmocka_unit_test(test_double),     cmocka_unit_test(test_folders),
        cmocka_unit_test(test_usage),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
