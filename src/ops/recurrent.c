/* Recurrent layers: records of recurrent.def. */
#include "ops/recurrent.h"

#include "ops/ledger.h"
#include "ops/lstm.h"
#include "ops/recurrent_s8.h"

TW_ATTRIBUTE_TABLE(recurrent, TW_RECURRENT_ATTRIBUTES);

static int gates_of(const tw_opdef *op)
{
    switch (op->code) {
#define TW_RECURRENT(code, Name, symbol, gates, formula)                                           \
    case TW_OPCODE_##symbol:                                                                       \
        return gates;
#include "ops/recurrent.def"
#undef TW_RECURRENT
    default: return 1;
    }
}

static bool fits(const tw_value *v, tw_dtype dtype, int rank, const int32_t *dim)
{
    tw_shape wanted = tw_shape_of(dtype, rank, dim);
    return !v || tw_shape_equal(&v->shape, &wanted);
}

/* A length each, or whether each step is taken. */
static bool fits_steps(const tw_value *v, int32_t n, int32_t steps)
{
    return v && v->shape.dtype == TW_BOOL ? fits(v, TW_BOOL, 2, (int32_t[]){n, steps})
                                          : fits(v, TW_S32, 1, &n);
}

/* Weights of `gates` * o rows, [G, O, K] or [1, G * O, K]. */
static bool are_weights(const tw_value *v, tw_dtype dtype, int32_t gates, int32_t o, int32_t depth)
{
    return fits(v, dtype, 3, (int32_t[]){gates, o, depth}) ||
           fits(v, dtype, 3, (int32_t[]){1, gates * o, depth});
}

static bool shape(const tw_shape_call *call)
{
    const tw_value *in[TW_RECURRENT_OPERANDS] = {NULL};
    for (int i = 0; i < call->in_count; i++)
        in[i] = call->in[i];
    const tw_shape *x = &call->in[0]->shape, *w = &call->in[1]->shape, *r = &call->in[2]->shape;
    const int32_t gates = gates_of(call->op);
    const bool cell = call->op->code == TW_OPCODE_peephole_lstm;
    const tw_dtype stored = x->dtype, of_cell = stored == TW_S8 ? TW_S16 : TW_F32;
    if (stored != TW_F32 && stored != TW_S8)
        return TW_SHAPE_UNSUPPORTED(call, "x is %s; convert it to f32", tw_dtype_name(stored));
    if (x->rank != 3 || w->rank != 3 || r->rank != 3)
        return TW_SHAPE_FAIL(call,
                             "x must be [N, T, I], w [%d, O, I] and r [%d, O, O]; they have "
                             "rank %d, %d and %d",
                             (int)gates, (int)gates, x->rank, w->rank, r->rank);
    if (!cell && (in[TW_RECURRENT_C0] || in[TW_RECURRENT_P] || call->out_count > 2))
        return TW_SHAPE_FAIL(call, "it has no cell: c0, p and y_c are a PeepholeLstm's");
    const int32_t n = x->dim[0], o = r->dim[2], i = x->dim[2];
    if (i < 1 || o < 1)
        return TW_SHAPE_FAIL(call, "no inputs or no outputs");
    if (o > INT32_MAX / 4 || !are_weights(in[1], stored, gates, o, i) ||
        !are_weights(in[2], stored, gates, o, o) ||
        !fits(in[TW_RECURRENT_B], TW_F32, 3, (int32_t[]){2, gates, o}) ||
        !fits_steps(in[TW_RECURRENT_LENGTHS], n, x->dim[1]) ||
        !fits(in[TW_RECURRENT_H0], stored, 2, (int32_t[]){n, o}) ||
        !fits(in[TW_RECURRENT_C0], of_cell, 2, (int32_t[]){n, o}) ||
        !fits(in[TW_RECURRENT_P], TW_F32, 2, (int32_t[]){3, o}))
        return TW_SHAPE_FAIL(call,
                             "an operand does not fit %d gates, %d inputs and %d outputs in a "
                             "batch of %d",
                             (int)gates, (int)i, (int)o, (int)n);
    call->out[0] = tw_shape_of(stored, 3, (int32_t[]){n, x->dim[1], o});
    for (int k = 1; k < call->out_count; k++)
        call->out[k] = tw_shape_of(k == 1 ? stored : of_cell, 2, (int32_t[]){n, o});
    return true;
}

static uint64_t macs(const tw_node *node)
{
    return (uint64_t)tw_shape_elements(&node->out[0]->shape) * (uint64_t)gates_of(node->op) *
           ((uint64_t)node->in[1]->shape.dim[2] + (uint64_t)node->in[2]->shape.dim[2]);
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *l, tw_diag *diag)
{
    if (!tw_lower_default(node, arena, l, diag))
        return false;
    const uint64_t outputs = (uint64_t)node->in[2]->shape.dim[2];
    const uint64_t state = (uint64_t)node->in[0]->shape.dim[0] * outputs;
    const uint64_t memory = tw_lstm_cell_offset(state, 4) + state * 4u;
    const uint64_t scratch = (uint64_t)gates_of(node->op) * outputs * 4u;
    if (memory > INT32_MAX || scratch > INT32_MAX)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "states of more than 2 GiB");
    if (node->in[0]->shape.dtype == TW_S8)
        return tw_recurrent_lower_s8(node, arena, l, diag);
    l->memory = (uint32_t)memory;
    l->scratch = (uint32_t)scratch;
    return true;
}

/* clang-format off */
#define LAYER(Name, gates, attributes)                                                             \
    "graph \"layer\" {\n"                                                                          \
    "  const %x : f32[1,6,3] = random 1 -2 2\n"                                                    \
    "  const %w : f32[" #gates ",4,3] = random 2 -1 1\n"                                           \
    "  const %r : f32[" #gates ",4,4] = random 3 -1 1\n"                                           \
    "  const %b : f32[2," #gates ",4] = random 4 -1 1\n"                                           \
    "  %y = " Name " (%x, %w, %r, %b) " attributes "\n  output %y\n}\n"
#define BATCH(Name, gates)                                                                         \
    "graph \"batch\" {\n"                                                                          \
    "  const %x : f32[2,5,3] = random 1 -2 2\n"                                                    \
    "  const %w : f32[" #gates ",2,3] = random 2 -1 1\n"                                           \
    "  const %r : f32[" #gates ",2,2] = random 3 -1 1\n"                                           \
    "  const %n : s32[2] = [3, 5]\n  const %h : f32[2,2] = random 5 -1 1\n"                        \
    "  %y, %z = " Name " (%x, %w, %r, _, %n, %h)\n  output %y\n  output %z\n}\n"
#define STEPS(Name, gates)                                                                         \
    "graph \"steps\" {\n"                                                                          \
    "  const %x : f32[1,6,3] = random 1 -2 2\n"                                                    \
    "  const %w : f32[" #gates ",2,3] = random 2 -1 1\n"                                           \
    "  const %r : f32[" #gates ",2,2] = random 3 -1 1\n"                                           \
    "  const %n : bool[1,6] = [0, 1, 0, 1, 1, 0]\n  const %h : f32[1,2] = random 5 -1 1\n"         \
    "  %y, %z = " Name " (%x, %w, %r, _, %n, %h) {hold=1}\n  output %y\n  output %z\n}\n"
#define STORED(Name, gates, attributes)                                                            \
    "graph \"s8\" {\n"                                                                             \
    "  const %x : s8[1,6,3] quant(scale=0.02, zero=5) = random 1 -128 128\n"                       \
    "  const %w : s8[" #gates ",4,3] quant(scale=0.01, zero=0) = random 2 -127 128\n"              \
    "  const %r : s8[" #gates ",4,4] quant(scale=0.008, zero=0) = random 3 -127 128\n"             \
    "  const %b : f32[2," #gates ",4] = random 4 -1 1\n"                                           \
    "  %y : s8[1,6,4] quant(scale=0.0078125, zero=-3), %z : s8[1,4] quant(scale=0.0078125, "       \
    "zero=-3) = " Name " (%x, %w, %r, %b) " attributes "\n  output %y\n  output %z\n}\n"
/* clang-format on */

#define TW_RECURRENT(code, Name, symbol, gates, text)                                              \
    static const char symbol##_samples[] = LAYER(#Name, gates, "")                                 \
        LAYER(#Name, gates,                                                                        \
              "{f=hard_sigmoid, g=leaky_relu, h=scaled_tanh, alpha=[0.2,0.1,1.5], "                \
              "beta=[0.5,0,0.8], clip=0.7, linear_before_reset=1, input_forget=1}")                \
            BATCH(#Name, gates) STEPS(#Name, gates) STORED(#Name, gates, "")                       \
                STORED(#Name, gates,                                                               \
                       "{g=sigmoid, clip=1.5, linear_before_reset=1, "                             \
                       "input_forget=1}");                                                         \
    const tw_opdef tw_op_##symbol = {                                                              \
        TW_OP_LEDGER(symbol),                                                                      \
        TW_OP_ATTRIBUTES(recurrent),                                                               \
        .formula = text,                                                                           \
        .min_in = 3,                                                                               \
        .max_in = TW_RECURRENT_OPERANDS,                                                           \
        .min_out = 1,                                                                              \
        .max_out = 3,                                                                              \
        .shape = shape,                                                                            \
        .rows = tw_rows_steps,                                                                     \
        .final_output = tw_final_but_first,                                                        \
        .macs = macs,                                                                              \
        .lower = lower,                                                                            \
        .limits = "f32; s8 with constant symmetric s8 weights (one scale, one a gate or one a "    \
                  "row), constant f32 biases and peepholes, s16 cell, sigmoid and tanh",           \
        .samples = symbol##_samples,                                                               \
        .onnx = "",                                                                                \
    };
#include "ops/recurrent.def"
