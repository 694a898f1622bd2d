/* How the compiler thinks about pooling: the family's records, one for each row of pool.def. */
#include "ops/pool.h"

#include <math.h>

#include "ops/ledger.h"
#include "ops/prepare.h"
#include "ops/window_shape.h"

TW_ATTRIBUTE_TABLE(pool, TW_POOL_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_pool_attributes *a = call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_shape *x = &call->in[0]->shape;
    if (a->kernel.count < 1)
        return TW_SHAPE_FAIL(call, "kernel is empty; give its extent on each spatial axis");
    int64_t taps = 1;
    for (int i = 0; i < a->kernel.count; i++)
        taps *= taps <= TW_POOL_MOST_TAPS ? a->kernel.v[i] : 1;
    if (taps > TW_POOL_MOST_TAPS)
        return TW_SHAPE_UNSUPPORTED(call,
                                    "a window of more than %d elements; reduce over the axes "
                                    "instead",
                                    TW_POOL_MOST_TAPS);
    if (!tw_window_shape(call, &lists, a->kernel.v, a->kernel.count, a->ceil,
                         x->rank < 1 ? 0 : x->dim[x->rank - 1]))
        return false;
    if (call->op->code == TW_OPCODE_max_pool_index)
        call->out[0].dtype = TW_S64;
    return true;
}

static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_pool_attributes *a = node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    (void)input;
    return tw_window_rows(node, &lists, a->kernel.v, axis);
}

static bool is_within_s8(const tw_quant *q)
{
    return q->count == 1 && q->zero_point[0] >= INT8_MIN && q->zero_point[0] <= INT8_MAX &&
           q->scale[0] > 0 && isfinite(q->scale[0]);
}

/* int8 whose output has another scale: one multiplier. Sums of a window must survive it. */
static bool rescale(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_pool_attributes *a = node->attributes;
    const tw_value *x = node->in[0], *y = node->out[0];
    if (!is_within_s8(&x->quant) || !is_within_s8(&y->quant))
        return tw_fail(
            diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
            "int8 input and output need one scale each and zero points within -128..127");
    if (tw_quant_equal(&x->quant, &y->quant))
        return true;
    double real = (double)x->quant.scale[0] / (double)y->quant.scale[0];
    double most = 255 * real;
    for (int i = 0; i < a->kernel.count; i++)
        most *= a->kernel.v[i];
    if (most > INT32_MAX)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "input scale %g is too much larger than output scale %g; give both the same",
                       (double)x->quant.scale[0], (double)y->quant.scale[0]);
    tw_prepare_single(real, arena, lowering);
    return true;
}

/* int16 sums stay within 32 bits up to here. */
static bool check_s16(const tw_node *node, tw_diag *diag)
{
    const tw_pool_attributes *a = node->attributes;
    int64_t taps = 1;
    for (int i = 0; i < a->kernel.count; i++)
        taps *= a->kernel.v[i];
    if (taps >= 1 << 16 || node->in[0]->quant.zero_point[0] != 0)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "int16 takes windows of less than 65536 elements and zero point 0");
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_value *x = node->in[0], *y = node->out[0];
    int signature = x->shape.dtype == TW_S8   ? TW_SIG_s8
                    : x->shape.dtype == TW_U8 ? TW_SIG_u8
                                              : tw_signature_of(x);
    lowering->kernel = tw_op_kernel(node->op, signature);
    if (!lowering->kernel)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "no kernel for %s; convert the input to f32 or quantised s8",
                       tw_dtype_name(x->shape.dtype));
    tw_lower_clamp(node, lowering);
    const tw_pool_attributes *a = node->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    lowering->overlap = tw_window_overlap(node, &lists, a->kernel.v, TW_WALK_ROWS);
    if ((x->quant.count == 0 && y->quant.count == 0) || y->shape.dtype == TW_S64)
        return true; /* plain numbers */
    if (x->shape.dtype == TW_S8)
        return rescale(node, arena, lowering, diag);
    if (!tw_quant_equal(&x->quant, &y->quant))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "%s input and output with different scales; give both the same",
                       tw_dtype_name(x->shape.dtype));
    return x->shape.dtype != TW_S16 || check_s16(node, diag);
}

/* Windows over every border, and one axis; int8 with one scale and with two. */
#define SAMPLE(Name, title, type, y, attributes)                                                   \
    "graph \"" title "\" {\n"                                                                      \
    "  const %x : " type " = random 1 -128 128\n"                                                  \
    "  %y" y " = " Name " (%x) {kernel=[3,2], " attributes "}\n"                                   \
    "  output %y\n}\n"
#define UNEVEN "stride=[2,1], pad_begin=[1,1], pad_end=[2,0], ceil=1"
#define SAMPLES_REAL(Name)                                                                         \
    SAMPLE(Name, "f32", "f32[1,10,6,19]", "", UNEVEN)                                              \
    SAMPLE(Name, "f32 dilation", "f32[1,10,6,5]", "", "dilation=[2,1], pad_begin=[3,0]")
#define SAMPLES_ORDERED(Name)                                                                      \
    SAMPLES_REAL(Name)                                                                             \
    SAMPLE(Name, "s8", "s8[1,10,6,19]", "", UNEVEN)                                                \
    SAMPLE_U8(Name)
#define SAMPLES_SCALED(Name)                                                                       \
    SAMPLES_REAL(Name)                                                                             \
    SAMPLE(Name, "s8", "s8[1,10,6,19] quant(scale=0.05, zero=-3)",                                 \
           " : s8[1,6,6,19] quant(scale=0.05, zero=-3)", UNEVEN)                                   \
    SAMPLE(Name, "s8 rescaled", "s8[1,10,6,19] quant(scale=0.05, zero=-3)",                        \
           " : s8[1,6,6,19] quant(scale=0.07, zero=9)", UNEVEN)                                    \
    SAMPLE(Name, "s16", "s16[1,10,6,19] quant(scale=0.05, zero=0)",                                \
           " : s16[1,6,6,19] quant(scale=0.05, zero=0)", UNEVEN)                                   \
    SAMPLE_U8(Name)
#define SAMPLE_U8(Name)                                                                            \
    "graph \"u8, one axis\" {\n"                                                                   \
    "  const %x : u8[1,20,3] = random 1 0 256\n"                                                   \
    "  %y = " Name " (%x) {kernel=[3], stride=[2]}\n"                                              \
    "  output %y\n}\n"

#define TW_POOL(code, Name, symbol, TYPES, attribute_rows, onnx_names, formula_text)               \
    const tw_opdef tw_op_##symbol = {                                                              \
        TW_OP_LEDGER(symbol),                                                                      \
        .attributes = tw_pool_attribute_table,                                                     \
        .attribute_count = attribute_rows,                                                         \
        .attribute_bytes = (uint32_t)sizeof(tw_pool_attributes),                                   \
        .formula = formula_text,                                                                   \
        .min_in = 1,                                                                               \
        .max_in = 1,                                                                               \
        .min_out = 1,                                                                              \
        .max_out = 1,                                                                              \
        .shape = shape,                                                                            \
        .rows = rows,                                                                              \
        .lower = lower,                                                                            \
        .limits = "one or two spatial axes; windows of at most 4194304 elements, of s16 65535",    \
        .samples = SAMPLES_##TYPES(#Name),                                                         \
        .onnx = onnx_names,                                                                        \
    };
#include "ops/pool.def"
#undef TW_POOL
