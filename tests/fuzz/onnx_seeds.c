/* Writes small ONNX models into a folder, for the fuzzers to start from: what the example networks do
 * not have. usage: onnx_seeds FOLDER */
#include <stdio.h>

#include "support/onnx_model.h"

static const int64_t three[] = {3}, one[] = {1};

static tw_onnx_writer model(tw_arena *arena)
{
    tw_onnx_writer w = tw_onnx_write(arena, 13);
    tw_onnx_write_input(&w, "x", ONNX_FLOAT, 1, three);
    tw_onnx_write_output(&w, "y", ONNX_FLOAT);
    return w;
}

/* Functions that call each other, with defaults, references and an absent input. */
static tw_onnx_writer functions(tw_arena *arena)
{
    tw_onnx_writer w = model(arena), leaky = tw_onnx_write_body(arena, 16),
                   outer = tw_onnx_write_body(arena, 13);
    tw_onnx_write_node(&leaky, "LeakyRelu", "a", "b");
    tw_onnx_write_reference(&leaky, "alpha", 1, "slope");
    tw_onnx_write_node(&leaky, "Clip", "b low -", "c");
    tw_onnx_write_function_default(&w, &leaky, "leaky", "a low", "c", "slope", 0.5f);
    tw_onnx_write_node(&outer, "leaky", "p", "q");
    tw_onnx_write_domain(&outer, "local");
    tw_onnx_write_node(&outer, "leaky", "q -", "r");
    tw_onnx_write_domain(&outer, "local");
    tw_onnx_write_real(&outer, "slope", 2);
    tw_onnx_write_function(&w, &outer, "outer", "p", "r q", "");
    tw_onnx_write_node(&w, "outer", "x", "y z");
    tw_onnx_write_domain(&w, "local");
    return w;
}

/* A branch in a branch, on a condition that a shape decides. */
static tw_onnx_writer branches(tw_arena *arena)
{
    tw_onnx_writer w = model(arena), inner = tw_onnx_write(arena, 13),
                   outer = tw_onnx_write(arena, 13);
    tw_onnx_write_tensor(&inner, "k", ONNX_FLOAT, 0, NULL, &(const float){5}, 4);
    tw_onnx_write_node(&inner, "Mul", "t k", "v");
    tw_onnx_write_output(&inner, "v", ONNX_FLOAT);
    tw_onnx_write_node(&outer, "Relu", "x", "t");
    tw_onnx_write_node(&outer, "If", "c", "u");
    tw_onnx_write_branch(&outer, "then_branch", &inner);
    tw_onnx_write_branch(&outer, "else_branch", &inner);
    tw_onnx_write_output(&outer, "u", ONNX_FLOAT);
    tw_onnx_write_tensor(&w, "n", ONNX_INT64, 1, one, three, 8);
    tw_onnx_write_node(&w, "Shape", "x", "s");
    tw_onnx_write_node(&w, "Equal", "s n", "c");
    tw_onnx_write_node(&w, "If", "c", "y");
    tw_onnx_write_branch(&w, "then_branch", &outer);
    tw_onnx_write_branch(&w, "else_branch", &outer);
    return w;
}

/* Tensors in another file: fuzz_onnx has w.bin, of 4,096 bytes. */
static tw_onnx_writer external(tw_arena *arena)
{
    tw_onnx_writer w = model(arena);
    tw_onnx_write_external(&w, "k", ONNX_FLOAT, 1, three, "w.bin", "16", "12");
    tw_onnx_write_external(&w, "l", ONNX_FLOAT, 1, three, "./w.bin", "20", NULL);
    tw_onnx_write_node(&w, "Mul", "x k", "m");
    tw_onnx_write_node(&w, "Add", "m l", "y");
    return w;
}

/* Quantised, as it stands and between Q and DQ. */
static tw_onnx_writer quantised(tw_arena *arena)
{
    tw_onnx_writer w = model(arena);
    tw_onnx_write_tensor(&w, "s", ONNX_FLOAT, 0, NULL, &(const float){0.5f}, 4);
    tw_onnx_write_tensor(&w, "z", ONNX_UINT8, 0, NULL, &(const uint8_t){128}, 1);
    tw_onnx_write_tensor(&w, "cs", ONNX_FLOAT, 1, three, (const float[]){1, 2, 3}, 12);
    tw_onnx_write_tensor(&w, "cz", ONNX_INT8, 1, three, (const int8_t[]){0, 1, -1}, 3);
    tw_onnx_write_tensor(&w, "w", ONNX_INT8, 2, (const int64_t[]){3, 3}, "abcdefghi", 9);
    tw_onnx_write_node(&w, "QuantizeLinear", "x s z", "q");
    tw_onnx_write_node(&w, "QLinearAdd", "q s z q s z s z", "a");
    tw_onnx_write_domain(&w, "com.microsoft");
    tw_onnx_write_node(&w, "DequantizeLinear", "a s z", "d");
    tw_onnx_write_node(&w, "DequantizeLinear", "w cs cz", "e");
    tw_onnx_write_int(&w, "axis", 1);
    tw_onnx_write_node(&w, "MatMul", "d e", "y");
    return w;
}

/* Shape arithmetic around a reshape. */
static tw_onnx_writer shapes(tw_arena *arena)
{
    tw_onnx_writer w = model(arena);
    tw_onnx_write_tensor(&w, "zero", ONNX_INT64, 1, one, (const int64_t[]){0}, 8);
    tw_onnx_write_tensor(&w, "minus", ONNX_INT64, 1, one, (const int64_t[]){-1}, 8);
    tw_onnx_write_node(&w, "Shape", "x", "s");
    tw_onnx_write_node(&w, "Gather", "s zero", "n");
    tw_onnx_write_node(&w, "Concat", "n minus", "t");
    tw_onnx_write_int(&w, "axis", 0);
    tw_onnx_write_node(&w, "Reshape", "x t", "r");
    tw_onnx_write_node(&w, "ConstantOfShape", "s", "c");
    tw_onnx_write_node(&w, "Add", "r c", "y");
    return w;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        tw_onnx_writer (*write)(tw_arena *arena);
    } seeds[] = {{"functions", functions},
                 {"branches", branches},
                 {"external", external},
                 {"quantised", quantised},
                 {"shapes", shapes}};
    tw_arena *arena = tw_arena_new();
    for (size_t i = 0; argc == 2 && i < sizeof seeds / sizeof *seeds; i++) {
        tw_onnx_writer w = seeds[i].write(arena);
        tw_wire_bytes file = tw_onnx_write_end(&w);
        FILE *f = fopen(tw_format(arena, "%s/%s.onnx", argv[1], seeds[i].name), "wb");
        if (!f || fwrite(file.data, 1, file.bytes, f) != file.bytes || fclose(f) != 0) {
            perror(argv[1]);
            return 1;
        }
    }
    tw_arena_free(arena);
    return argc != 2;
}
