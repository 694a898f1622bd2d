/* Firmware that decides while it runs. Without a plan branches, loops, waits and caches are as the runtime has
 * them, run by run, refusals included; with one, the program on the target expects silence where there is some. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "expect.h"

#define CHECKED "-std=c99 -fsanitize=address,undefined -fno-sanitize-recover=all " STRICT

/* Runtime and kernels of firmware DIR. */
static void build_kernels(const char *dir)
{
    expect_shell(0,
                 "mkdir %s.o && cd %s.o && cc " CHECKED " -I../%s/src -c ../%s/src/*/*.c && "
                 "ar rcs ../%s.a *.o",
                 dir, dir, dir, dir, dir);
}

/* Firmware DIR with a main file, over the kernels of `kernels`. */
static void build_and_run(const char *dir, const char *kernels, const char *program)
{
    expect_shell(0, "cc " CHECKED " -I%s/src -I%s/app %s/src/*.c %s %s.a -o direct && ./direct",
                 dir, dir, dir, program, kernels);
}

/* ---- branches, loops, waits ---- */

/* Rounds of Collatz's rule, a branch in a loop; a buffer that yields every second run; a branch behind it;
 * a count of the runs that yielded. */
static const char decides[] =
    "graph \"decides\" {\n  input %x : f32[1,2]\n  input %n : s32[1]\n"
    "  state %runs : f32[1,1] = [10]\n  const %one : f32[1,1] = [1]\n"
    "  const %zero : s32[1] = [0]\n  const %nought : f32[1,1] = [0]\n"
    "  %b = qti_aisw.Buffer (%x) {buffer_size=4, buffer_dim=1, stride=4}\n"
    "  %s = ReduceSum (%b) {axes=[1], keepdims=1}\n"
    "  %p : bool[1,1] = Greater (%s, %nought)\n  %q = Reshape (%p) {shape=[1]}\n"
    "  %z = If \"sign\" (%q, %b)\n"
    "    graph \"yes\" {\n      input %b : f32[1,4]\n      %r = Relu (%b)\n      output %r\n    }\n"
    "    graph \"no\" {\n      input %b : f32[1,4]\n      %r = Neg (%b)\n      output %r\n    }\n"
    "  %count = Add (%runs, %one)\n  next %runs = %count\n"
    "  %v, %k = While (%n, %zero) {most=20}\n"
    "    graph \"more\" {\n      input %v : s32[1]\n      input %k : s32[1]\n"
    "      const %one : s32[1] = [1]\n      %m = Greater (%v, %one)\n      output %m\n    }\n"
    "    graph \"round\" {\n      input %v : s32[1]\n      input %k : s32[1]\n"
    "      const %one : s32[1] = [1]\n      const %two : s32[1] = [2]\n"
    "      %h = Div (%v, %two)\n      %d = Mul (%h, %two)\n      %even = Equal (%d, %v)\n"
    "      %w = If (%even, %v, %h)\n"
    "        graph \"half\" {\n          input %v : s32[1]\n          input %h : s32[1]\n"
    "          output %h\n        }\n"
    "        graph \"triple\" {\n          input %v : s32[1]\n          input %h : s32[1]\n"
    "          const %one : s32[1] = [1]\n          const %three : s32[1] = [3]\n"
    "          %t = Mul (%v, %three)\n          %u = Add (%t, %one)\n          output %u\n        "
    "}\n"
    "      %l = Add (%k, %one)\n      output %w\n      output %l\n    }\n"
    "  output %z\n  output %k\n  output %count\n}\n";

/* What a run refuses leaves the state to a reset. */
static const char rounds[] =
    "#include <string.h>\n#include \"decides.h\"\n"
    "static tw_status run(int32_t n)\n{\n"
    "    memset(decides_input_x(), 0, DECIDES_INPUT_X_BYTES);\n"
    "    *decides_input_n() = n;\n    return decides_run();\n}\n"
    "int main(void)\n{\n    decides_reset();\n"
    "    if (run(1) != TW_NO_OUTPUT || run(9) != TW_OK || decides_output_k()[0] != 19)\n"
    "        return 1;\n"
    "    if (decides_output_count()[0] != 12.0f)\n        return 2;\n"
    "    if (run(27) != TW_E_ROUNDS || run(1) != TW_E_DIRTY)\n        return 3;\n"
    "    decides_reset();\n"
    "    if (run(1) != TW_NO_OUTPUT || run(3) != TW_OK || decides_output_k()[0] != 7)\n"
    "        return 4;\n"
    "    return decides_output_count()[0] == 12.0f ? 0 : 5;\n}\n";

static void test_decisions(void **state)
{
    enum { RUNS = 9 };
    (void)state;
    static const int32_t n[RUNS] = {1, 3, 6, 7, 9, 2, 12, 1, 5};
    static const int32_t k[RUNS] = {0, 7, 8, 16, 19, 1, 9, 0, 5}; /* heard every second run */
    float x[2 * RUNS];
    for (int i = 0; i < 2 * RUNS; i++)
        x[i] = (float)(i * 7 % 11) - 5.5f;
    mkdir("decided", 0700);
    tw_write_text("decided/io.tsv", "role\tname\tdtype\tshape\tsteps\tfile\n"
                                    "in\tx\tfloat32\t1x2\t9\tx.bin\n"
                                    "in\tn\tint32\t1\t9\tn.bin\n"
                                    "out\tk\tint32\t1\t9\tk.bin\n");
    tw_write("decided/x.bin", x, sizeof x);
    tw_write("decided/n.bin", n, sizeof n);
    tw_write("decided/k.bin", k, sizeof k);
    tw_write_text("decided/decides.twir", decides);
    expect_status(tw_process("compile decided/decides.twir -o decides.twp"), 0);
    expect_status(tw_process("codegen decides.twp --format direct --vectors decided -o branches"),
                  0);
    expect_in_file("branches/app/vectors.c",
                   "app_silent[APP_VECTORS] = {1, 0, 1, 0, 1, 0, 1, 0, 1}");
    expect_in_file("branches/src/decides.c", "return TW_NO_OUTPUT;");
    expect_in_file("branches/src/decides.c", "} else {");
    build_kernels("branches");
    build_and_run("branches", "branches", "branches/app/*.c");
    expect_in_file("shell.out", "pass: 9 runs");
    tw_write_text("rounds.c", rounds);
    build_and_run("branches", "branches", "rounds.c");
    expect_shell(0, "command -v g++ || exit 0; g++ -x c++ -std=c++17 " STRICT
                    " -fsyntax-only -Ibranches/src branches/src/decides.c");
}

/* ---- caches ---- */

static const char cached[] =
    "graph \"cached\" {\n  input %q : f32[1,4,2,4]\n  input %k : f32[1,2,2,4]\n"
    "  input %v : f32[1,2,2,4]\n  input %n : s32[1]\n  state %tokens : s32[1]\n"
    "  state %keys : f32[1,2,10,4]\n  state %values : f32[1,2,10,4]\n"
    "  %kk = Append (%keys, %k, %tokens, %n) {ring=RING}\n"
    "  %vv = Append (%values, %v, %tokens, %n) {ring=RING}\n"
    "  %y = Attention (%q, %kk, %vv, %tokens, %n) {ring=RING, window=WINDOW}\n"
    "  %t = Advance (%tokens, %n) {tokens=2, limit=LIMIT, kept=KEPT, window=LEFT}\n"
    "  next %keys = %kk\n  next %values = %vv\n  next %tokens = %t\n  output %y\n}\n";

static const char plain_room[] =
    "#include <string.h>\n#include \"cached.h\"\n"
    "static tw_status run(int32_t n)\n{\n    *cached_input_n() = n;\n    return cached_run();\n}\n"
    "int main(void)\n{\n    int i;\n    cached_reset();\n"
    "    memset(cached_input_k(), 0, CACHED_INPUT_K_BYTES);\n"
    "    for (i = 0; i < 4; i++)\n        if (run(2) != TW_OK)\n            return 1;\n"
    "    if (cached_tokens() != 8u || run(3) != TW_E_DATA || run(-1) != TW_E_DATA)\n"
    "        return 2;\n"
    "    if (run(1) != TW_OK || run(2) != TW_E_FULL || cached_tokens() != 9u)\n        return 3;\n"
    "    if (cached_rewind(10u) != TW_E_ARGUMENT || cached_rewind(3u) != TW_OK ||\n"
    "        cached_tokens() != 3u)\n        return 4;\n"
    "    cached_reset();\n    return cached_tokens() == 0u ? 0 : 5;\n}\n";

static const char ring_room[] =
    "#include <string.h>\n#include \"cached.h\"\n"
    "int main(void)\n{\n    int i;\n    cached_reset();\n"
    "    memset(cached_input_k(), 0, CACHED_INPUT_K_BYTES);\n    *cached_input_n() = 1;\n"
    "    for (i = 0; i < 20; i++)\n        if (cached_run() != TW_OK)\n            return 1;\n"
    "    if (cached_rewind(14u) != TW_E_ARGUMENT || cached_rewind(15u) != TW_OK)\n"
    "        return 2;\n"
    "    return cached_rewind(0u) == TW_OK && cached_tokens() == 0u ? 0 : 3;\n}\n";

static void test_caches(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "s/RING/0/;s/WINDOW/0/;s/LIMIT/10/;s/KEPT/0/;s/LEFT/0/",
        "s/RING/1/;s/WINDOW/6/;s/LIMIT/2147483647/;s/KEPT/10/;s/LEFT/5/"};
    static const char *const programs[] = {plain_room, ring_room};
    tw_write_text("cached.in", cached);
    for (int ring = 0; ring < 2; ring++) {
        expect_shell(0, "sed '%s' cached.in >cached.twir", edits[ring]);
        expect_status(tw_process("compile cached.twir -o cached.twp"), 0);
        expect_status(tw_process("codegen cached.twp --format direct --steps %d -o caches%d",
                                 ring ? 30 : 5, ring),
                      0);
        char dir[] = "caches0", app[] = "caches0/app/*.c";
        dir[6] = app[6] = (char)('0' + ring);
        if (!ring)
            build_kernels(dir);
        build_and_run(dir, "caches0", app);
        expect_in_file("shell.out", ring ? "pass: 30 runs" : "pass: 5 runs");
        tw_write_text("room.c", programs[ring]);
        build_and_run(dir, "caches0", "room.c");
    }
}

/* ---- streams ---- */

/* A network over a clip, as a stream, in the program for its target: silent until its window is full. */
static void test_stream(void **state)
{
    (void)state;
    static const char clip[] =
        "graph \"clip\" {\n  input %x : f32[1,12,3]\n  const %w : f32[4,3,3] = random 1 -1 1\n"
        "  const %u : f32[2,4] = random 2 -1 1\n  %c = Conv (%x, %w) {stride=[2]}\n"
        "  %m = ReduceMean (%c) {axes=[1], keepdims=0}\n  %y = FullyConnected (%m, %u)\n"
        "  output %y\n}\n";
    tw_write_text("clip.twir", clip);
    expect_status(tw_process("compile clip.twir --stream 1 -o clip.twp"), 0);
    expect_status(tw_process("codegen clip.twp --format app --steps 12 -o stream"), 0);
    expect_shell(0, "make -C stream CFLAGS='" STRICT "' run");
    expect_in_file("shell.out", "pass: 12 runs");
    /* Without a number of runs, as many as it takes to hear something. */
    expect_status(tw_process("codegen clip.twp --format app -o longer"), 0);
    expect_in_file("longer/app/vectors.c", "app_silent[APP_VECTORS] = {1, 1, 1, 1, 1, 0, 0, 0}");
}

/* ---- sums by rows ---- */

/* A head over a map, and pairs that widen and narrow a vector, in the three types that sum up rows. */
static const char summed[] =
    "graph \"summed\" {\n  input %x : s8[1,12,6,2] quant(scale=0.1, zero=-3)\n"
    "  const %k : s8[8,3,3,2] quant(scale=0.02, zero=0) = random 1 -128 128\n"
    "  %m : s8[1,10,4,8] quant(scale=0.1, zero=-3) = Conv (%x, %k)\n"
    "  %v : s8[1,320] quant(scale=0.1, zero=-3) = Reshape (%m) {shape=[1,320]}\n"
    "  const %w : s8[7,320] quant(scale=0.01, zero=2) = random 2 -128 128\n"
    "  %y : s8[1,7] quant(scale=0.4, zero=5) = FullyConnected (%v, %w)\n"
    "  input %f : f32[1,20]\n  const %fa : f32[300,20] = random 3 -1 1\n"
    "  const %fb : f32[9,300] = random 4 -1 1\n  const %fc : f32[9] = random 5 -1 1\n"
    "  %fm = FullyConnected (%f, %fa)\n  %fg = Tanh (%fm)\n"
    "  %fy = FullyConnected (%fg, %fb, %fc)\n"
    "  input %h : s16[1,20] quant(scale=0.0005, zero=0)\n"
    "  const %ha : s8[300,20] quant(scale=0.01, zero=0) = random 6 -128 128\n"
    "  const %hb : s8[5,300] quant(scale=0.01, zero=0) = random 7 -128 128\n"
    "  %hm : s16[1,300] quant(scale=0.001, zero=0) = FullyConnected (%h, %ha)\n"
    "  %hy : s16[1,5] quant(scale=0.01, zero=0) = FullyConnected (%hm, %hb)\n"
    "  output %y\n  output %fy\n  output %hy\n}\n";

static void test_sums(void **state)
{
    (void)state;
    tw_write_text("summed.twir", summed);
    expect_status(tw_process("compile summed.twir --prefer memory -o summed.twp"), 0);
    expect_status(tw_process("codegen summed.twp --format direct --steps 3 -o sums"), 0);
    expect_in_file("sums/src/summed.c", "tw_k_connected_map_s8");
    expect_in_file("sums/src/summed.c", "tw_k_connected_map_f32");
    expect_in_file("sums/src/summed.c", "tw_k_connected_map_s16");
    build_kernels("sums");
    build_and_run("sums", "sums", "sums/app/*.c");
    expect_in_file("shell.out", "pass: 3 runs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_caches),
        cmocka_unit_test(test_stream),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
