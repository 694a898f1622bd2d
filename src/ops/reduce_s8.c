/* How the compiler thinks about int8 products, lengths and logarithms: the tables of reduce_s8.rt.c. */
#include "ops/reduce_s8.h"

#include <math.h>

#include "ops/codes.h"
#include "ops/exponential.h"
#include "ops/scale.h"
#include "runtime/fixed.h"

static bool refuse(const tw_node *node, tw_diag *diag, const char *what)
{
    return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name, "%s", what);
}

/* x^n / y as multiplier and shift, whatever its size. */
static void fill_product(double x, int32_t n, double y, tw_reduce_s8_table *t)
{
    int64_t shift = 0;
    int exponent;
    double real = 1 / y;
    for (int32_t i = 0; i < n; i++) {
        real = frexp(real * x, &exponent);
        shift += exponent;
    }
    real = frexp(real, &exponent);
    tw_quantize_multiplier(real, &t->multiplier, &t->shift);
    shift += exponent + t->shift;
    t->shift = (int32_t)fmax(-(1 << 29), fmin((double)shift, 1 << 29));
}

/* e^-(scale * d); beyond 31 units it is 0. */
static void fill_exponentials(double scale, int32_t *to)
{
    for (int d = 0; d < TW_REDUCE_EXPONENTIALS; d++) {
        const double x = scale * d;
        to[d] =
            x > 31 ? 0 : tw_shift_right(tw_exp_of_negative(-(int32_t)round(ldexp(x, 26)), 5), 12);
    }
}

static void fill(const tw_node *node, int32_t count, tw_reduce_s8_table *t, int32_t *exponentials)
{
    const double x = (double)node->in[0]->quant.scale[0], y = (double)node->out[0]->quant.scale[0];
    switch (node->op->code) {
    case TW_OPCODE_reduce_prod: fill_product(x, count, y, t); return;
    case TW_OPCODE_reduce_l1: tw_quantize_multiplier(x / y, &t->multiplier, &t->shift); return;
    case TW_OPCODE_reduce_sum_square:
        tw_quantize_multiplier(x * x / y, &t->multiplier, &t->shift);
        return;
    case TW_OPCODE_reduce_l2: /* roots have 15 fraction bits */
        tw_quantize_multiplier(ldexp(x / y, -15), &t->multiplier, &t->shift);
        return;
    default: break;
    }
    tw_quantize_multiplier(ldexp(1 / y, -20), &t->multiplier, &t->shift);
    if (node->op->code == TW_OPCODE_reduce_log_sum) {
        t->add = (int32_t)round(ldexp(log(x), 20));
        return;
    }
    t->step = (int32_t)fmin(round(ldexp(x, 20)), INT32_MAX);
    fill_exponentials(x, exponentials);
}

/* The most elements of which 32 bits hold the sum, and what an element adds at most. */
static int32_t most_elements(const tw_node *node)
{
    switch (node->op->code) {
    case TW_OPCODE_reduce_l2:
    case TW_OPCODE_reduce_sum_square: return TW_REDUCE_SQUARES_MOST;
    case TW_OPCODE_reduce_log_sum_exp: return TW_REDUCE_TERMS_MOST;
    default: return TW_REDUCE_S8_MOST;
    }
}

static double most_sum(const tw_node *node, int32_t count)
{
    switch (node->op->code) {
    case TW_OPCODE_reduce_l1: return 255.0 * count;
    case TW_OPCODE_reduce_sum_square: return 65025.0 * count;
    case TW_OPCODE_reduce_l2: return 255.0 * sqrt(count) * 32768;
    case TW_OPCODE_reduce_prod: return 0; /* shifts as it must */
    default: return 1 << 30;
    }
}

bool tw_reduce_lower_s8(const tw_node *node, const tw_reduction *r, tw_arena *arena,
                        tw_lowering *lowering, tw_diag *diag)
{
    const tw_quant *in = &node->in[0]->quant, *out = &node->out[0]->quant;
    const bool terms = node->op->code == TW_OPCODE_reduce_log_sum_exp;
    const uint32_t bytes =
        (uint32_t)sizeof(tw_reduce_s8_table) + (terms ? TW_REDUCE_EXPONENTIALS * 4u : 0);
    if (in->count != 1 || out->count != 1)
        return refuse(node, diag, "int8 input and result each need one scale and zero point");
    if (r->count > most_elements(node))
        return refuse(node, diag,
                      "more int8 elements make one result than 32 bits hold the sum of");
    if (terms && !(in->scale[0] < 4))
        return refuse(node, diag, "the input's scale is 4 or more; int8 exponentials need less");
    tw_reduce_s8_table *t = tw_alloc(arena, bytes);
    fill(node, r->count, t, (int32_t *)(void *)(t + 1));
    if (t->shift > 0 && ldexp(most_sum(node, r->count), t->shift) > 2147483647.0)
        return refuse(node, diag,
                      "the result's scale is too small beside the input's for 32 bits; raise it");
    lowering->blob[0].data = t;
    lowering->blob[0].bytes = bytes;
    lowering->blob_count = 1;
    return true;
}
