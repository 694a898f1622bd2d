/* Recurrent layers: records of recurrent.def. */
#include "ops/recurrent.h"

#include "ops/ledger.h"
#include "ops/lstm.h"

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

static bool shape(const tw_shape_call *call)
{
    const tw_value *in[TW_RECURRENT_OPERANDS] = {NULL};
    for (int i = 0; i < call->in_count; i++)
        in[i] = call->in[i];
    const tw_shape *x = &call->in[0]->shape, *w = &call->in[1]->shape;
    const int32_t gates = gates_of(call->op);
    const bool cell = call->op->code == TW_OPCODE_peephole_lstm;
    if (x->dtype != TW_F32)
        return TW_SHAPE_UNSUPPORTED(call, "x is %s; convert it to f32", tw_dtype_name(x->dtype));
    if (x->rank != 3 || w->rank != 3)
        return TW_SHAPE_FAIL(call, "x must be [N, T, I] and w [%d, O, I]; they have rank %d and %d",
                             (int)gates, x->rank, w->rank);
    if (!cell && (in[TW_RECURRENT_C0] || in[TW_RECURRENT_P] || call->out_count > 2))
        return TW_SHAPE_FAIL(call, "it has no cell: c0, p and y_c are a PeepholeLstm's");
    const int32_t n = x->dim[0], o = w->dim[1], i = x->dim[2];
    if (i < 1 || o < 1)
        return TW_SHAPE_FAIL(call, "no inputs or no outputs");
    if (!fits(in[1], TW_F32, 3, (int32_t[]){gates, o, i}) ||
        !fits(in[2], TW_F32, 3, (int32_t[]){gates, o, o}) ||
        !fits(in[TW_RECURRENT_B], TW_F32, 3, (int32_t[]){2, gates, o}) ||
        !fits(in[TW_RECURRENT_LENGTHS], TW_S32, 1, (int32_t[]){n}) ||
        !fits(in[TW_RECURRENT_H0], TW_F32, 2, (int32_t[]){n, o}) ||
        !fits(in[TW_RECURRENT_C0], TW_F32, 2, (int32_t[]){n, o}) ||
        !fits(in[TW_RECURRENT_P], TW_F32, 2, (int32_t[]){3, o}))
        return TW_SHAPE_FAIL(call,
                             "an operand does not fit %d gates, %d inputs and %d outputs in a "
                             "batch of %d",
                             (int)gates, (int)i, (int)o, (int)n);
    call->out[0] = tw_shape_of(TW_F32, 3, (int32_t[]){n, x->dim[1], o});
    for (int k = 1; k < call->out_count; k++)
        call->out[k] = tw_shape_of(TW_F32, 2, (int32_t[]){n, o});
    return true;
}

static uint64_t macs(const tw_node *node)
{
    const tw_shape *w = &node->in[1]->shape;
    return (uint64_t)tw_shape_elements(&node->out[0]->shape) * (uint64_t)w->dim[0] *
           ((uint64_t)w->dim[2] + (uint64_t)w->dim[1]);
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *l, tw_diag *diag)
{
    if (!tw_lower_default(node, arena, l, diag))
        return false;
    const tw_shape *w = &node->in[1]->shape;
    const uint64_t state = (uint64_t)node->in[0]->shape.dim[0] * (uint64_t)w->dim[1];
    const uint64_t memory = tw_lstm_cell_offset(state, 4) + state * 4u;
    const uint64_t scratch = (uint64_t)w->dim[0] * (uint64_t)w->dim[1] * 4u;
    if (memory > INT32_MAX || scratch > INT32_MAX)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "states of more than 2 GiB");
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
/* clang-format on */

#define TW_RECURRENT(code, Name, symbol, gates, text)                                              \
    static const char symbol##_samples[] = LAYER(#Name, gates, "")                                 \
        LAYER(#Name, gates,                                                                        \
              "{f=hard_sigmoid, g=leaky_relu, h=scaled_tanh, alpha=[0.2,0.1,1.5], "                \
              "beta=[0.5,0,0.8], clip=0.7, linear_before_reset=1, input_forget=1}")                \
            BATCH(#Name, gates);                                                                   \
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
        .limits = "f32",                                                                           \
        .samples = symbol##_samples,                                                               \
        .onnx = "",                                                                                \
    };
#include "ops/recurrent.def"
