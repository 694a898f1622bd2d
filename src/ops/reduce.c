/* Reductions: records of reduce.def. */
#include <math.h>
#include <string.h>

#include "ops/reduce_s8.h"

#include "ops/axes.h"
#include "ops/double.h"
#include "ops/ledger.h"
#include "ops/scale.h"

TW_ATTRIBUTE_TABLE(reduce, TW_REDUCE_ATTRIBUTES);
TW_ATTRIBUTE_TABLE(reduce_mean, TW_REDUCE_MEAN_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_reduce_attributes *a = call->attributes;
    const tw_shape *in = &call->in[0]->shape;
    tw_reduction r;
    if (tw_axis_mask(&a->axes, in->rank) < 0)
        return TW_SHAPE_FAIL(call, "axes must name axes of a tensor of rank %d, each once",
                             in->rank);
    if (!tw_reduce_resolve(a, in->rank, in->dim, &r))
        return TW_SHAPE_UNSUPPORTED(call, "more than %d elements make one result", INT32_MAX);
    call->out[0].dtype = in->dtype;
    call->out[0].rank = r.out_rank;
    for (int k = 0; k < in->rank; k++)
        if (r.out_axis[k] >= 0)
            call->out[0].dim[r.out_axis[k]] = r.mask >> k & 1 ? 1 : in->dim[k];
    return true;
}

/* The band axis is reduced: rows are added up as they come, if nothing stands before it. It stays:
 * rows map, if it stands at the same place in the output. */
static tw_rowmap rows(const tw_node *node, int input, int axis)
{
    const tw_shape *in = &node->in[input]->shape;
    tw_reduction r;
    if (axis >= in->rank || !tw_reduce_resolve(node->attributes, in->rank, in->dim, &r))
        return tw_rows_whole();
    for (int k = 0; k < axis; k++)
        if (in->dim[k] != 1)
            return r.out_axis[axis] == axis && axis < r.first ? tw_rows_identity()
                                                              : tw_rows_whole();
    if (axis == r.first)
        return tw_rows_accumulated();
    return r.out_axis[axis] == axis ? tw_rows_identity() : tw_rows_whole();
}

/* Bytes of an accumulator, from the rows. */
static uint32_t accumulator_bytes(const tw_kernel *kernel)
{
    static const struct {
        uint32_t id, bytes;
    } folds[] = {
#define TW_FOLD(symbol, signature, element, accumulator, initial, step, finish)                    \
    {TW_KERNEL_ID(0, TW_OPCODE_##symbol, TW_SIG_##signature), sizeof(accumulator)},
#define TW_FOLD_BOOL(symbol, initial, step, finish)                                                \
    {TW_KERNEL_ID(0, TW_OPCODE_##symbol, TW_SIG_bool), sizeof(uint32_t)},
#define TW_FOLD_S8(symbol, accumulator, initial, step, finish)                                     \
    {TW_KERNEL_ID(0, TW_OPCODE_##symbol, TW_SIG_s8), sizeof(accumulator)},
#define TW_REDUCE(code, Name, symbol, attributes, samples, onnx, formula, folds) folds
#include "ops/reduce.def"
#undef TW_REDUCE
#undef TW_FOLD
#undef TW_FOLD_BOOL
#undef TW_FOLD_S8
    };
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
        if (folds[i].id == kernel->id)
            return folds[i].bytes;
    return TW_DOUBLE_ACCUMULATOR; /* no row: of doubles */
}

/* TFLite's MEAN: the multiplier divided by the number of elements, kept at 31 bits. */
static void divide_multiplier(int32_t n, tw_reduce_table *t)
{
    int shift = 31 - __builtin_clz((unsigned)n);
    if (shift > 31 + t->shift)
        shift = 31 + t->shift;
    t->multiplier = (int32_t)(((int64_t)t->multiplier << shift) / n);
    t->shift -= shift;
}

static bool lower_s8(const tw_node *node, const tw_reduction *r, tw_arena *arena,
                     tw_lowering *lowering, tw_diag *diag)
{
    const tw_quant *in = &node->in[0]->quant, *out = &node->out[0]->quant;
    bool is_mean = node->op->code == TW_OPCODE_reduce_mean;
    bool is_sum = is_mean || node->op->code == TW_OPCODE_reduce_sum;
    int32_t rounding =
        is_mean ? ((const tw_reduce_mean_attributes *)node->attributes)->rounding : TW_MEAN_TFLITE;
    if (in->count != 1 || out->count != 1)
        return tw_fail(diag, TW_CODE_FAILED, node->name, node->op->name,
                       "int8 input and result each need one scale and zero point");
    if (r->count > TW_REDUCE_S8_MOST)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "%d int8 elements make one result; 32 bits hold the sum of %d; reduce in "
                       "two steps",
                       (int)r->count, TW_REDUCE_S8_MOST);
    bool equal = in->scale[0] == out->scale[0];
    if (equal &&
        (!is_mean || (rounding != TW_MEAN_TFLITE && in->zero_point[0] == out->zero_point[0])))
        return true; /* no table: the same scale */
    tw_reduce_table t;
    double ratio = (double)in->scale[0] / (double)out->scale[0];
    if (is_mean && rounding != TW_MEAN_TFLITE && r->count > 0)
        ratio /= r->count;
    tw_quantize_multiplier(ratio, &t.multiplier, &t.shift);
    /* A left shift must not lose bits of the largest sum. */
    double most = 255.0 * (is_sum ? r->count : 1);
    if (t.shift > 0 && ldexp(most, t.shift) > 2147483647.0)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the result's scale %g is too small beside the input's %g for 32 bits; "
                       "raise it",
                       (double)out->scale[0], (double)in->scale[0]);
    if (is_mean && rounding == TW_MEAN_TFLITE && r->count > 0)
        divide_multiplier(r->count, &t);
    lowering->blob[0].data = tw_copy(arena, &t, sizeof t);
    lowering->blob[0].bytes = sizeof t;
    lowering->blob_count = 1;
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_shape *in = &node->in[0]->shape;
    tw_reduction r;
    if (!tw_lower_default(node, arena, lowering, diag) ||
        !tw_reduce_resolve(node->attributes, in->rank, in->dim, &r))
        return false;
    lowering->memory = (uint32_t)r.accumulators * accumulator_bytes(lowering->kernel);
    if ((lowering->kernel->id & 255u) != TW_SIG_s8)
        return true;
    return node->op->code >= TW_OPCODE_reduce_prod
               ? tw_reduce_lower_s8(node, &r, arena, lowering, diag)
               : lower_s8(node, &r, arena, lowering, diag);
}

#define NUMBERS(Name)                                                                              \
    TW_SAMPLE("spatial", "f32[1,5,4,3]", "0.1", "3", "", Name " (%x) {axes=[1,2]}")                \
    TW_SAMPLE("channel", "f32[1,5,4,3]", "0.1", "3", "", Name " (%x) {axes=[-1], keepdims=0}")     \
    TW_SAMPLE("all", "f32[3,2,4]", "0.1", "3", "", Name " (%x)")
#define QUANTISED(Name)                                                                            \
    NUMBERS(Name)                                                                                  \
    TW_SAMPLE("s8", "s8[1,5,4,3] quant(scale=0.05, zero=-4)", "-128", "128",                       \
              " : s8[1,1,1,3] quant(scale=0.09, zero=3)", Name " (%x) {axes=[1,2]}")
#define TRUTHS(Name) TW_SAMPLE("bool", "bool[1,5,2,3]", "0", "2", "", Name " (%x) {axes=[1,2]}")
#define TW_FOLD(symbol, signature, element, accumulator, initial, step, finish)
#define TW_FOLD_BOOL(symbol, initial, step, finish)
#define TW_FOLD_S8(symbol, accumulator, initial, step, finish)
#define TW_REDUCE(code, Name, symbol, list, samples_of, onnx_names, text, folds)                   \
    const tw_opdef tw_op_##symbol = {                                                              \
        TW_OP_LEDGER(symbol),                                                                      \
        TW_OP_ATTRIBUTES(list),                                                                    \
        .formula = text,                                                                           \
        .min_in = 1,                                                                               \
        .max_in = 1,                                                                               \
        .min_out = 1,                                                                              \
        .max_out = 1,                                                                              \
        .shape = shape,                                                                            \
        .rows = rows,                                                                              \
        .lower = lower,                                                                            \
        .limits =                                                                                  \
            "int8: at most 2^23 elements to a result (sums of squares 32768, LogSumExp 4095)",     \
        .samples = samples_of(#Name),                                                              \
        .onnx = onnx_names,                                                                        \
    };
#include "ops/reduce.def"
#undef TW_REDUCE
#undef TW_FOLD
#undef TW_FOLD_BOOL
#undef TW_FOLD_S8
