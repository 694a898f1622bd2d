/* Plans for tests. */
#define _POSIX_C_SOURCE 200809L
#include "support/plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/diag.h"

const char *const tw_test_networks[] = {
    /* float: convolution, residual, pooling, classifier */
    "graph \"float\" {\n"
    "  input %x : f32[1,9,8,3]\n"
    "  const %w1 : f32[6,3,3,3] = random 1 -0.5 0.5\n"
    "  const %b1 : f32[6] = random 2 -0.2 0.2\n"
    "  const %w2 : f32[3,3,6] = random 3 -0.5 0.5\n"
    "  const %w3 : f32[4,6] = random 4 -0.5 0.5\n"
    "  %a = Conv(%x, %w1, %b1) {stride=[2,1], pad_begin=[1,1], pad_end=[1,1]} clamp(0, 6)\n"
    "  %b = DepthwiseConv(%a, %w2) {pad_begin=[1,1], pad_end=[1,1]}\n"
    "  %c = Add(%a, %b)\n"
    "  %d = Sigmoid(%c)\n"
    "  %e = MaxPool(%d) {kernel=[2,2], stride=[2,2]}\n"
    "  %f = ReduceMean(%e) {axes=[1,2]}\n"
    "  %g = Reshape(%f) {shape=[1,6]}\n"
    "  %h = FullyConnected(%g, %w3)\n"
    "  %y = Softmax(%h) {axis=1}\n"
    "  output %y\n"
    "  output %e\n"
    "}\n",
    /* int8 */
    "graph \"int8\" {\n"
    "  input %x : s8[1,8,8,4] quant(scale=0.05, zero=3)\n"
    "  const %w1 : s8[8,3,3,4] quant(scale=[0.01,0.02,0.01,0.03,0.01,0.02,0.01,0.02], "
    "zero=[0,0,0,0,0,0,0,0], axis=0) = random 5 -128 128\n"
    "  const %b1 : s32[8] = random 6 -300 300\n"
    "  const %w2 : s8[3,3,8] quant(scale=0.02, zero=0) = random 7 -128 128\n"
    "  %a : s8[1,8,8,8] quant(scale=0.2, zero=-10) = Conv(%x, %w1, %b1) {pad_begin=[1,1], "
    "pad_end=[1,1]} clamp(0, inf)\n"
    "  %b : s8[1,8,8,8] quant(scale=0.3, zero=4) = DepthwiseConv(%a, %w2) {pad_begin=[1,1], "
    "pad_end=[1,1]}\n"
    "  %c : s8[1,8,8,8] quant(scale=0.4, zero=0) = Add(%a, %b)\n"
    "  %d : s8[1,4,4,8] quant(scale=0.4, zero=0) = AveragePool(%c) {kernel=[2,2], stride=[2,2]}\n"
    "  %e : s8[1,4,4,8] quant(scale=0.0078125, zero=0) = Tanh(%d)\n"
    "  output %e\n"
    "}\n",
    /* moves, integers, batches, an output that is an input and one that is a constant */
    "graph \"moves\" {\n"
    "  input %x : f32[2,5,4]\n"
    "  input %n : s32[2,5,4]\n"
    "  const %k : s32[4] = [1, -2, 3, 4]\n"
    "  %t = Transpose(%x) {perm=[0,2,1]}\n"
    "  %s = Slice(%t) {begin=[0,0,1], size=[2,4,3], step=[1,1,1]}\n"
    "  %p = Pad(%s) {before=[0,1,0], after=[0,0,2], value=1.5}\n"
    "  %c = Concat(%p, %p) {axis=1}\n"
    "  %m = Mul(%n, %k)\n"
    "  %q = Less(%m, %n)\n"
    "  %r = ReduceMax(%c) {axes=[2], keepdims=true}\n"
    "  output %r\n"
    "  output %q\n"
    "  output %n\n"
    "  output %k\n"
    "}\n",
    /* maps and a vector that are summed up by rows */
    "graph \"sums\" {\n"
    "  input %x : s8[1,9,6,2] quant(scale=0.05, zero=3)\n"
    "  input %f : f32[1,12]\n"
    "  const %k : s8[5,3,3,2] quant(scale=0.01, zero=0) = random 11 -128 128\n"
    "  const %w : s8[6,140] quant(scale=0.01, zero=0) = random 12 -128 128\n"
    "  const %a : f32[40,12] = random 13 -1 1\n"
    "  const %b : f32[3,40] = random 14 -1 1\n"
    "  %m : s8[1,7,4,5] quant(scale=0.1, zero=-10) = Conv(%x, %k)\n"
    "  %y : s8[1,6] quant(scale=0.3, zero=4) = FullyConnectedMap(%m, %w)\n"
    "  %g = FullyConnected(%f, %a)\n"
    "  %h = Tanh(%g)\n"
    "  %z = FullyConnectedMap(%h, %b) {rank=3}\n"
    "  output %y\n"
    "  output %z\n"
    "}\n",
    /* a cache with its position, and a buffer that is full from the first run */
    "graph \"states\" {\n"
    "  input %x : f32[1,2,2,3]\n"
    "  state %tokens : s32[1]\n"
    "  state %cache : f32[1,2,6,3]\n"
    "  state %held : f32[1,2,4,3]\n"
    "  state %count : s32[2] = [2, 0]\n"
    "  %now = Advance (%tokens) {tokens=2, limit=2147483647, kept=6, window=3}\n"
    "  next %tokens = %now\n"
    "  %all = Append (%cache, %x, %tokens) {ring=1}\n"
    "  next %cache = %all\n"
    "  %a = Attention (%x, %all, %all, %tokens) {window=3, ring=1}\n"
    "  %b, %c, %f = Buffer (%a, %held, %count) {axis=2, stride=2}\n"
    "  next %held = %b\n"
    "  next %count = %c\n"
    "  %w = Await (%b, %f)\n"
    "  %y = Relu (%w)\n"
    "  output %y\n"
    "}\n",
    /* a loop around a loop and a branch, int8, both decided by data */
    "graph \"control\" {\n"
    "  input %n : s32[1]\n"
    "  input %x : s8[1,5,4] quant(scale=0.05, zero=3)\n"
    "  %r : s32[1], %y : s8[1,5,4] quant(scale=0.05, zero=3) = While (%n, %x) {most=9}\n"
    "    graph \"more\" {\n"
    "      input %i : s32[1]\n"
    "      input %v : s8[1,5,4] quant(scale=0.05, zero=3)\n"
    "      const %one : s32[1] = [1]\n"
    "      const %seven : s32[1] = [7]\n"
    "      %a = GreaterOrEqual (%i, %one)\n"
    "      %b = Less (%i, %seven)\n"
    "      %c = And (%a, %b)\n"
    "      output %c\n"
    "    }\n"
    "    graph \"round\" {\n"
    "      input %i : s32[1]\n"
    "      input %v : s8[1,5,4] quant(scale=0.05, zero=3)\n"
    "      const %one : s32[1] = [1]\n"
    "      const %three : s32[1] = [3]\n"
    "      %j = Add (%i, %one)\n"
    "      %c = Less (%j, %three)\n"
    "      %u : s8[1,5,4] quant(scale=0.05, zero=3) = If (%c, %v, %i)\n"
    "        graph \"yes\" {\n"
    "          input %v : s8[1,5,4] quant(scale=0.05, zero=3)\n"
    "          input %i : s32[1]\n"
    "          %u : s8[1,5,4] quant(scale=0.05, zero=3) = Add (%v, %v)\n"
    "          output %u\n"
    "        }\n"
    "        graph \"no\" {\n"
    "          input %v : s8[1,5,4] quant(scale=0.05, zero=3)\n"
    "          input %i : s32[1]\n"
    "          const %w : s8[1,1,4] quant(scale=0.01, zero=0) = [9, -8, 7, 100]\n"
    "          %k : s32[1], %u : s8[1,5,4] quant(scale=0.05, zero=3) = While (%i, %v) {most=5}\n"
    "            graph \"more\" {\n"
    "              input %k : s32[1]\n"
    "              input %v : s8[1,5,4] quant(scale=0.05, zero=3)\n"
    "              const %five : s32[1] = [5]\n"
    "              %c = Less (%k, %five)\n"
    "              output %c\n"
    "            }\n"
    "            graph \"round\" {\n"
    "              input %k : s32[1]\n"
    "              input %v : s8[1,5,4] quant(scale=0.05, zero=3)\n"
    "              const %one : s32[1] = [1]\n"
    "              %l = Add (%k, %one)\n"
    "              %t : s8[1,5,4] quant(scale=0.05, zero=3) = Mul (%v, %v)\n"
    "              output %l\n"
    "              output %t\n"
    "            }\n"
    "          %s : s8[1,5,4] quant(scale=0.05, zero=3) = Mul (%u, %w)\n"
    "          output %s\n"
    "        }\n"
    "      output %j\n"
    "      output %u\n"
    "    }\n"
    "  %z : s8[1,5,4] quant(scale=0.05, zero=3) = Add (%y, %x)\n"
    "  output %z\n"
    "  output %r\n"
    "}\n",
    NULL,
};

bool tw_test_try_compile_bytes(const void *model, size_t bytes, const tw_compile_options *options,
                               tw_compiled *compiled, tw_diag *diag)
{
    char path[] = "/tmp/tilewright-test-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!file)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "no temporary file");
    fwrite(model, 1, bytes, file);
    fclose(file);
    tw_compile_options defaults;
    tw_compile_options_default(&defaults);
    bool ok = tw_compile_file(path, options ? options : &defaults, compiled, diag);
    unlink(path);
    return ok;
}

bool tw_test_try_compile(const char *text, const tw_compile_options *options, tw_compiled *compiled,
                         tw_diag *diag)
{
    return tw_test_try_compile_bytes(text, strlen(text), options, compiled, diag);
}

void tw_test_compile(const char *text, const tw_compile_options *options, tw_compiled *compiled)
{
    tw_diag diag = {0};
    if (!tw_test_try_compile(text, options, compiled, &diag)) {
        char message[2048];
        tw_diag_text(&diag, message, sizeof message);
        fail_msg("%s", message);
    }
}

uint64_t tw_test_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

void tw_test_fill(const tw_tensor *tensor, void *data, uint64_t *state)
{
    uint32_t bytes = tw_tensor_bytes(tensor);
    if (tensor->dtype == TW_F32) {
        for (uint32_t i = 0; i < bytes / 4; i++)
            ((float *)data)[i] = (float)(int32_t)(tw_test_random(state) >> 32) / 1073741824.0f;
        return;
    }
    for (uint32_t i = 0; i < bytes; i++)
        ((uint8_t *)data)[i] =
            (uint8_t)(tensor->dtype == TW_BOOL ? tw_test_random(state) & 1 : tw_test_random(state));
}

bool tw_test_try_compile_onnx(tw_onnx_writer *w, const tw_compile_options *options,
                              tw_compiled *compiled, tw_diag *diag)
{
    tw_wire_bytes file = tw_onnx_write_end(w);
    *diag = (tw_diag){0};
    return tw_test_try_compile_bytes(file.data, file.bytes, options, compiled, diag);
}
