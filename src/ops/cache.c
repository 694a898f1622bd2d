/* Advance, Append and Attention: records. */
#include "ops/cache.h"

#include <math.h>

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(advance, TW_ADVANCE_ATTRIBUTES);
TW_ATTRIBUTE_TABLE(append, TW_APPEND_ATTRIBUTES);
TW_ATTRIBUTE_TABLE(attention, TW_ATTENTION_ATTRIBUTES);

/* Inputs from `first` on, where they are there, are one s32 each. */
static bool are_numbers(const tw_shape_call *call, int first)
{
    const tw_shape one = tw_shape_of(TW_S32, 1, (int32_t[]){1});
    for (int i = first; i < call->in_count; i++)
        if (call->in[i] && !tw_shape_equal(&call->in[i]->shape, &one))
            return TW_SHAPE_FAIL(call, "input %d (%s) must be s32[1]", i, call->in[i]->name);
    return true;
}

static bool no_clamp(const tw_node *node, tw_diag *diag)
{
    return (node->clamp.low == -INFINITY && node->clamp.high == INFINITY) ||
           tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                   "it has no clamp; put Clip behind it");
}

static bool over_first(const tw_node *node, int input)
{
    (void)node;
    return input == 0;
}

/* ---- Advance ---- */

static bool advance_shape(const tw_shape_call *call)
{
    return are_numbers(call, 0) && tw_shape_default(call);
}

static tw_rowmap advance_rows(const tw_node *node, int input, int axis)
{
    (void)node;
    (void)input;
    (void)axis;
    return tw_rows_whole();
}

static bool advance_lower(const tw_node *node, tw_arena *unused, tw_lowering *l, tw_diag *diag)
{
    (void)unused;
    l->kernel = &tw_k_advance_s32;
    return no_clamp(node, diag);
}

/* ---- Append ---- */

static bool append_shape(const tw_shape_call *call)
{
    const tw_shape *cache = &call->in[TW_APPEND_CACHE]->shape, *x = &call->in[TW_APPEND_X]->shape;
    if (cache->rank != 4 || x->rank != 4 || cache->dtype != x->dtype)
        return TW_SHAPE_FAIL(call, "the cache and what comes must be [1, H, S, D] and [1, H, T, D] "
                                   "of one type");
    if (cache->dim[0] != 1 || x->dim[0] != 1 || x->dim[1] != cache->dim[1] ||
        x->dim[2] > cache->dim[2] || x->dim[3] != cache->dim[3])
        return TW_SHAPE_FAIL(call,
                             "%d rows of %d heads and %d columns do not fit a cache of %d, %d "
                             "and %d",
                             (int)x->dim[2], (int)x->dim[1], (int)x->dim[3], (int)cache->dim[2],
                             (int)cache->dim[1], (int)cache->dim[3]);
    return are_numbers(call, TW_APPEND_POSITION) && tw_shape_default(call);
}

/* Heads are rows: what comes to one stays in it. */
static tw_rowmap append_rows(const tw_node *node, int input, int axis)
{
    (void)node;
    if (input >= TW_APPEND_POSITION)
        return tw_rows_whole();
    return axis < 2 ? tw_rows_identity() : tw_rows_once();
}

static bool append_lower(const tw_node *node, tw_arena *unused, tw_lowering *l, tw_diag *diag)
{
    const tw_quant *out = &node->out[0]->quant;
    (void)unused;
    if (!tw_quant_equal(&node->in[TW_APPEND_CACHE]->quant, out) ||
        !tw_quant_equal(&node->in[TW_APPEND_X]->quant, out) || out->count > 1)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "the cache and what comes must have one scale and zero point; put "
                       "Requantize before it");
    l->kernel = &tw_k_append_any;
    return no_clamp(node, diag);
}

/* ---- Attention ---- */

static bool attention_shape(const tw_shape_call *call)
{
    const tw_attention_attributes *a = call->attributes;
    const tw_shape *q = &call->in[TW_ATTENTION_Q]->shape, *k = &call->in[TW_ATTENTION_K]->shape;
    const tw_shape *v = &call->in[TW_ATTENTION_V]->shape;
    if (q->rank != 4 || k->rank != 4 || v->rank != 4)
        return TW_SHAPE_FAIL(call, "queries, keys and values must have rank 4");
    if (k->dtype != v->dtype || (k->dtype != TW_F32 && k->dtype != TW_S8) ||
        (q->dtype != TW_F32 && (q->dtype != TW_S8 || k->dtype != TW_S8)))
        return TW_SHAPE_UNSUPPORTED(call,
                                    "queries are %s, keys %s and values %s; f32 over f32 or "
                                    "s8, and s8 over s8 are supported",
                                    tw_dtype_name(q->dtype), tw_dtype_name(k->dtype),
                                    tw_dtype_name(v->dtype));
    if (q->dim[0] != 1 || k->dim[0] != 1 || v->dim[0] != 1 || k->dim[1] < 1 ||
        q->dim[1] % k->dim[1] != 0 || v->dim[1] != k->dim[1] || v->dim[2] != k->dim[2] ||
        q->dim[3] != k->dim[3] || q->dim[2] > k->dim[2] || q->dim[3] < 1)
        return TW_SHAPE_FAIL(call, "queries, keys and values do not fit each other");
    if (a->ring && (a->window < 1 || (int64_t)a->window + q->dim[2] - 1 > k->dim[2]))
        return TW_SHAPE_FAIL(call,
                             "a ring of %d rows is too small for a window of %d and %d rows at "
                             "a time",
                             (int)k->dim[2], (int)a->window, (int)q->dim[2]);
    if (q->dtype == TW_S8 && q->dim[3] > TW_ATTENTION_MOST_COLUMNS)
        return TW_SHAPE_UNSUPPORTED(call, "%d columns of int8 queries are more than %d",
                                    (int)q->dim[3], TW_ATTENTION_MOST_COLUMNS);
    call->out[0] = tw_shape_of(q->dtype, 4, (int32_t[]){1, q->dim[1], q->dim[2], v->dim[3]});
    return are_numbers(call, TW_ATTENTION_POSITION);
}

static tw_rowmap attention_rows(const tw_node *node, int input, int axis)
{
    (void)node;
    if (input != TW_ATTENTION_Q)
        return tw_rows_whole();
    return axis < 3 ? tw_rows_identity() : tw_rows_once();
}

static uint64_t attention_macs(const tw_node *node)
{
    const tw_shape *q = &node->in[TW_ATTENTION_Q]->shape, *v = &node->in[TW_ATTENTION_V]->shape;
    return (uint64_t)q->dim[1] * (uint64_t)q->dim[2] * (uint64_t)v->dim[2] *
           ((uint64_t)q->dim[3] + (uint64_t)v->dim[3]);
}

static bool attention_lower(const tw_node *node, tw_arena *unused, tw_lowering *l, tw_diag *diag)
{
    const tw_value *q = node->in[TW_ATTENTION_Q], *out = node->out[0];
    const tw_value *k = node->in[TW_ATTENTION_K], *v = node->in[TW_ATTENTION_V];
    const bool narrow = q->shape.dtype == TW_S8;
    (void)unused;
    if (narrow && (q->quant.count != 1 || out->quant.count != 1))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "int8 queries and results each need one scale and zero point");
    if (k->shape.dtype == TW_S8 && (k->quant.count != 1 || v->quant.count != 1))
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "int8 keys and values each need one scale and zero point");
    l->kernel = narrow                    ? &tw_k_attention_s8
                : k->shape.dtype == TW_S8 ? &tw_k_attention_f32w8
                                          : &tw_k_attention_f32;
    const uint64_t scratch =
        ((uint64_t)k->shape.dim[2] + (narrow ? (uint64_t)v->shape.dim[3] : 0)) * 4u;
    if (scratch > INT32_MAX)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "scores of more than 2 GiB");
    l->scratch = (uint32_t)scratch;
    return no_clamp(node, diag);
}

/* clang-format off */
static const char advance_samples[] =
    "graph \"one\" {\n  const %p : s32[1] = [5]\n  %y = Advance (%p)\n  output %y\n}\n"
    "graph \"some\" {\n  const %p : s32[1] = [5]\n  const %n : s32[1] = [3]\n"
    "  %y = Advance (%p, %n) {tokens=4, limit=8}\n  output %y\n}\n";
static const char append_samples[] =
    "graph \"rows\" {\n  const %c : f32[1,2,6,3] = random 1 -3 3\n  const %x : f32[1,2,2,3] = random 2 -3 3\n"
    "  const %p : s32[1] = [3]\n  %y = Append (%c, %x, %p)\n  output %y\n}\n"
    "graph \"ring\" {\n  const %c : s8[1,3,4,2] = random 1 -99 99\n  const %x : s8[1,3,3,2] = random 2 -99 99\n"
    "  const %p : s32[1] = [7]\n  const %n : s32[1] = [2]\n  %y = Append (%c, %x, %p, %n) {ring=1}\n  output %y\n}\n";
#define ATTENDS(name, query, result, type, quant, position, attributes)                                        \
    "graph \"" name "\" {\n  const %q : " query "\n"                                                          \
    "  const %k : " type "[1,2,7,3]" quant " = random 2 -100 100\n"                                           \
    "  const %v : " type "[1,2,7,5]" quant " = random 3 -100 100\n"                                           \
    "  const %p : s32[1] = [" position "]\n  const %n : s32[1] = [2]\n"                                        \
    "  %y" result " = Attention (%q, %k, %v, %p, %n) {" attributes "}\n  output %y\n}\n"
#define REAL "f32[1,4,2,3] = random 1 -2 2"
#define NARROW "s8[1,4,2,3] quant(scale=0.03, zero=-7) = random 1 -128 128"
static const char attention_samples[] =
    ATTENDS("f32", REAL, "", "f32", "", "4", "scale=0.01")
    ATTENDS("ring", REAL, "", "f32", "", "9", "window=5, ring=1")
    ATTENDS("f32w8", REAL, "", "s8", " quant(scale=0.02, zero=3)", "3", "window=2")
    ATTENDS("s8", NARROW, " : s8[1,4,2,5] quant(scale=0.02, zero=5)", "s8", " quant(scale=0.02, zero=3)", "4", "window=0");
/* clang-format on */

const tw_opdef tw_op_advance = {
    TW_OP_LEDGER(advance),
    TW_OP_ATTRIBUTES(advance),
    .formula = "out = position + count",
    .min_in = 1,
    .max_in = 2,
    .min_out = 1,
    .max_out = 1,
    .shape = advance_shape,
    .rows = advance_rows,
    .lower = advance_lower,
    .in_place = over_first,
    .limits = "s32[1]; beyond the limit a run is refused",
    .samples = advance_samples,
    .onnx = "",
};

const tw_opdef tw_op_append = {
    TW_OP_LEDGER(append),
    TW_OP_ATTRIBUTES(append),
    .formula = "out = cache; out[position + i] = x[i]",
    .min_in = 3,
    .max_in = TW_APPEND_OPERANDS,
    .min_out = 1,
    .max_out = 1,
    .shape = append_shape,
    .rows = append_rows,
    .lower = append_lower,
    .in_place = over_first,
    .limits = "every type; rank 4, one batch; the cache and what comes share one scale",
    .samples = append_samples,
    .onnx = "",
};

const tw_opdef tw_op_attention = {
    TW_OP_LEDGER(attention),
    TW_OP_ATTRIBUTES(attention),
    .formula = "out = softmax(q . k * scale) . v over the tokens up to each row's own",
    .min_in = 4,
    .max_in = TW_ATTENTION_OPERANDS,
    .min_out = 1,
    .max_out = 1,
    .shape = attention_shape,
    .rows = attention_rows,
    .macs = attention_macs,
    .lower = attention_lower,
    .limits = "f32 queries, caches of f32 or int8, or all int8; one batch",
    .samples = attention_samples,
    .onnx = "",
};
