/* How the compiler thinks about the filter layer. */
#include "ops/svdf.h"

#include "ops/ledger.h"
#include "ops/prepare.h"
#include "ops/scale.h"

TW_ATTRIBUTE_TABLE(svdf, TW_SVDF_ATTRIBUTES);

enum { X, FEATURE, TIME, BIAS, STATE };

static bool shape(const tw_shape_call *call)
{
    const tw_svdf_attributes *a = call->attributes;
    const tw_value *bias = call->in[BIAS];
    const tw_shape *x = &call->in[X]->shape, *f = &call->in[FEATURE]->shape;
    const tw_shape *t = &call->in[TIME]->shape;
    if (call->in_count != 5 || !call->in[STATE])
        return TW_SHAPE_FAIL(call, "the memory (input 4) is missing");
    const tw_shape *s = &call->in[STATE]->shape;
    if (x->rank != 2 || f->rank != 2 || t->rank != 2 || s->rank != 2 || f->dim[1] != x->dim[1] ||
        t->dim[0] != f->dim[0] || s->dim[0] != x->dim[0] ||
        s->dim[1] != (int64_t)t->dim[0] * t->dim[1] || t->dim[1] < 1)
        return TW_SHAPE_FAIL(call, "x [N, I], f [F, I], t [F, M] and the memory [N, F * M] do not "
                                   "fit together");
    if (f->dim[0] % a->rank != 0)
        return TW_SHAPE_FAIL(call, "rank %d does not divide %d filters", (int)a->rank,
                             (int)f->dim[0]);
    const int32_t dim[2] = {x->dim[0], f->dim[0] / a->rank};
    if (bias && (bias->shape.rank != 1 || bias->shape.dim[0] != dim[1]))
        return TW_SHAPE_FAIL(call, "the bias must have %d elements", (int)dim[1]);
    call->out[0] = tw_shape_of(x->dtype, 2, dim);
    if (call->out_count > 1)
        call->out[1] = *s;
    return true;
}

/* What is remembered may lie over what was: it moves towards the front. */
static bool in_place(const tw_node *node, int input)
{
    (void)node;
    return input == STATE;
}

static uint64_t macs(const tw_node *node)
{
    const tw_shape *f = &node->in[FEATURE]->shape, *t = &node->in[TIME]->shape;
    return (uint64_t)node->in[X]->shape.dim[0] * (uint64_t)f->dim[0] *
           ((uint64_t)f->dim[1] + (uint64_t)t->dim[1]);
}

static bool is_symmetric(const tw_value *w)
{
    return w->data && w->quant.count == 1 && w->quant.zero_point[0] == 0;
}

static bool check_quantisation(const tw_node *node, tw_diag *diag)
{
    const tw_value *x = node->in[X], *t = node->in[TIME], *s = node->in[STATE], *y = node->out[0];
    const tw_value *b = node->in[BIAS];
    if (x->quant.count != 1 || s->quant.count != 1 || y->quant.count != 1 ||
        !is_symmetric(node->in[FEATURE]) || !is_symmetric(t))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "int8 operands need one scale each, constant weights zero point 0");
    if ((t->shape.dtype != TW_S16 && t->shape.dtype != TW_S8) || s->shape.dtype != t->shape.dtype ||
        node->in[FEATURE]->shape.dtype != TW_S8)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "int8: time weights and memory must both be s16 or both s8, not %s and %s",
                       tw_dtype_name(t->shape.dtype), tw_dtype_name(s->shape.dtype));
    if (b && (!b->data || b->shape.dtype != TW_S32))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "an int8 layer's bias must be constant s32");
    return true;
}

/* bias - zero * (sum of the weights of each group of `taps`). */
static bool fold(const tw_node *node, const tw_value *w, int32_t taps, const tw_value *b,
                 int32_t zero, tw_lowering *l, int blob, tw_arena *arena, tw_diag *diag)
{
    const int32_t count = (int32_t)(tw_shape_elements(&w->shape) / taps);
    int32_t *bias = tw_alloc(arena, (size_t)count * 4 + 1);
    for (int32_t i = 0; i < count; i++) {
        int64_t sum = 0;
        for (int32_t k = 0; k < taps; k++)
            sum += (int64_t)tw_constant_at(w, (int64_t)i * taps + k);
        sum = (b ? ((const int32_t *)b->data)[i] : 0) - sum * zero;
        if (sum < INT32_MIN || sum > INT32_MAX)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                           "a bias, zero point folded in, leaves 32 bits");
        bias[i] = (int32_t)sum;
    }
    l->blob[blob].data = bias;
    l->blob[blob].bytes = (uint32_t)count * 4;
    return true;
}

static bool lower_s8(const tw_node *node, tw_arena *arena, tw_lowering *l, tw_diag *diag)
{
    const tw_svdf_attributes *a = node->attributes;
    const tw_value *x = node->in[X], *f = node->in[FEATURE], *t = node->in[TIME];
    const tw_quant *memory = &node->in[STATE]->quant;
    if (!check_quantisation(node, diag))
        return false;
    tw_svdf_scales *s = tw_alloc(arena, sizeof *s);
    /* In float, as the reference does. */
    float feature = x->quant.scale[0] * f->quant.scale[0] / memory->scale[0];
    float out = memory->scale[0] * t->quant.scale[0] / node->out[0]->quant.scale[0];
    tw_quantize_multiplier((double)feature, &s->feature_multiplier, &s->feature_shift);
    tw_quantize_multiplier((double)out, &s->out_multiplier, &s->out_shift);
    l->blob[TW_SVDF_BLOB_SCALES].data = s;
    l->blob[TW_SVDF_BLOB_SCALES].bytes = sizeof *s;
    l->blob_count = TW_SVDF_BLOBS;
    l->unread |= 1u << BIAS;
    return fold(node, f, f->shape.dim[1], NULL, x->quant.zero_point[0], l, TW_SVDF_BLOB_FEATURE,
                arena, diag) &&
           fold(node, t, t->shape.dim[1] * a->rank, node->in[BIAS], memory->zero_point[0], l,
                TW_SVDF_BLOB_BIAS, arena, diag);
}

/* Floats with int8 weights: x is quantised in scratch, behind the memory where that stands there. */
static bool lower_hybrid(const tw_node *node, tw_arena *arena, tw_lowering *l, tw_diag *diag)
{
    const tw_value *f = node->in[FEATURE], *t = node->in[TIME];
    if (!is_symmetric(f) || !is_symmetric(t) || t->shape.dtype != TW_S8)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "s8 weights of f32 activations must both be constant and symmetric, with "
                       "one scale each");
    tw_svdf_hybrid *table = tw_alloc(arena, sizeof *table);
    *table = (tw_svdf_hybrid){f->quant.scale[0], t->quant.scale[0],
                              ((const tw_svdf_attributes *)node->attributes)->asymmetric};
    l->kernel = tw_op_kernel(node->op, TW_SIG_f32w8);
    l->blob[0].data = table;
    l->blob[0].bytes = sizeof *table;
    l->blob_count = 1;
    l->scratch += (uint32_t)f->shape.dim[1];
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *l, tw_diag *diag)
{
    const tw_shape *s = &node->in[STATE]->shape;
    if (node->out_count < 2 || !node->out[1]) /* what nobody reads stands in scratch */
        l->scratch = (uint32_t)s->dim[1] * tw_dtype_bytes(s->dtype);
    if (!tw_lower_default(node, arena, l, diag))
        return false;
    if (tw_is_hybrid(node))
        return lower_hybrid(node, arena, l, diag);
    return node->in[X]->shape.dtype != TW_S8 || lower_s8(node, arena, l, diag);
}

const tw_opdef tw_op_svdf = {
    TW_OP_LEDGER(svdf),
    TW_OP_ATTRIBUTES(svdf),
    .formula = "s' = s moved by one, then x * f; y = b + sum over rank and time of s' * t",
    .min_in = 3,
    .max_in = 5,
    .min_out = 1,
    .max_out = 2,
    .shape = shape,
    .rows = tw_rows_at_once,
    .final_output = tw_final_but_first,
    .macs = macs,
    .lower = lower,
    .in_place = in_place,
    .limits =
        "f32, with constant symmetric s8 weights too; s8 with constant symmetric weights, s16 "
        "or s8 over time",
    .samples = "graph \"f32\" {\n"
               "  const %x : f32[2,5] = random 1 -1 1\n"
               "  const %f : f32[6,5] = random 2 -1 1\n"
               "  const %t : f32[6,4] = random 3 -1 1\n"
               "  const %b : f32[3] = random 4 -1 1\n"
               "  const %s : f32[2,24] = random 5 -1 1\n"
               "  %y = Svdf (%x, %f, %t, %b, %s) {rank=2}\n"
               "  output %y\n"
               "}\n"
               "graph \"f32w8\" {\n"
               "  const %x : f32[2,5] = random 1 -1 1\n"
               "  const %f : s8[6,5] quant(scale=0.01, zero=0) = random 2 -127 128\n"
               "  const %t : s8[6,4] quant(scale=0.02, zero=0) = random 3 -127 128\n"
               "  const %b : f32[3] = random 4 -1 1\n"
               "  const %s : f32[2,24] = random 5 -1 1\n"
               "  %y = Svdf (%x, %f, %t, %b, %s) {rank=2, asymmetric=1}\n"
               "  output %y\n"
               "}\n"
               "graph \"s8\" {\n"
               "  const %x : s8[2,5] quant(scale=0.04, zero=-15) = random 1 -128 128\n"
               "  const %f : s8[6,5] quant(scale=0.01, zero=0) = random 2 -127 128\n"
               "  const %t : s16[6,4] quant(scale=0.002, zero=0) = random 3 -9000 9000\n"
               "  const %b : s32[3] = random 4 -1000 1000\n"
               "  const %s : s16[2,24] quant(scale=0.004, zero=0) = random 5 -9000 9000\n"
               "  %y : s8[2,3] quant(scale=0.08, zero=-128) = Svdf (%x, %f, %t, %b, %s) {rank=2}\n"
               "  output %y\n"
               "}\n",
    .onnx = "",
};
