/* com.microsoft: products of floats by quantised matrices. */
#include <math.h>
#include <string.h>

#include "import/onnx/quantise.h"

/* --- weights in blocks ------------------------------------------------------------------------- */

/* B, [N, K], as numbers of a few bits, packed from the low end of each byte up, by rows of whole blocks. */
typedef struct tw_nbits {
    int64_t rows, columns, bits, block, blocks;
    const uint8_t *packed;
    const float *scale;      /* [rows, blocks] */
    const uint8_t *zero;     /* [rows, blocks], packed likewise, or null */
    const float *float_zero; /* [rows, blocks], or null; without both: the middle of the range */
} tw_nbits;

static bool read_nbits(tw_onnx_node *n, tw_nbits *s)
{
    *s = (tw_nbits){.rows = tw_onnx_int(n, "N", 0),
                    .columns = tw_onnx_int(n, "K", 0),
                    .bits = tw_onnx_int(n, "bits", 4),
                    .block = tw_onnx_int(n, "block_size", 0)};
    tw_onnx_ignore(n, "accuracy_level"); /* how exact the product must be at least */
    if (s->rows < 1 || s->columns < 1 || s->block < 16 || s->block % 16 != 0 ||
        s->rows > INT32_MAX || s->columns > INT32_MAX || s->block > INT32_MAX)
        return TW_ONNX_FAIL(n, "N, K and block_size must be given, the latter a multiple of 16");
    if (s->bits != 2 && s->bits != 4 && s->bits != 8)
        return TW_ONNX_UNSUPPORTED(n, "%lld bits; 2, 4 and 8 are supported", (long long)s->bits);
    s->blocks = (s->columns + s->block - 1) / s->block;
    if (s->columns > INT32_MAX / 4 / s->rows)
        return TW_ONNX_UNSUPPORTED(n, "%lld by %lld weights are larger than 2 GB",
                                   (long long)s->rows, (long long)s->columns);
    return true;
}

/* The constants, which must have as many elements as their place in [rows, blocks] asks for. */
static bool read_constants(tw_onnx_node *n, tw_nbits *s)
{
    tw_value *b = n->in[1], *scale = n->in[2], *zero = tw_onnx_in(n, 3);
    int64_t each = s->blocks * (s->block * s->bits / 8), per = 8 / s->bits;
    int64_t zeros = zero ? tw_shape_elements(&zero->shape) : 0;
    if (!tw_build_known(n->b, b) || !tw_build_known(n->b, scale) ||
        (zero && !tw_build_known(n->b, zero)))
        return TW_ONNX_UNSUPPORTED(n, "B, its scales and zero points must be constant");
    if (b->shape.dtype != TW_U8 || tw_shape_elements(&b->shape) / s->rows != each ||
        tw_shape_elements(&b->shape) % s->rows != 0 || scale->shape.dtype != TW_F32 ||
        tw_shape_elements(&scale->shape) != s->rows * s->blocks)
        return TW_ONNX_FAIL(n, "B or its scales do not hold %lld rows of %lld blocks",
                            (long long)s->rows, (long long)s->blocks);
    s->packed = b->data;
    s->scale = scale->data;
    if (zero && zero->shape.dtype == TW_F32 && zeros == s->rows * s->blocks)
        s->float_zero = zero->data;
    else if (zero && zero->shape.dtype == TW_U8 && zeros == s->rows * ((s->blocks + per - 1) / per))
        s->zero = zero->data;
    else if (zero)
        return TW_ONNX_FAIL(n, "the zero points do not fit %lld rows of %lld blocks",
                            (long long)s->rows, (long long)s->blocks);
    return true;
}

/* Number `c` of row `r`, of rows of so many. */
static int packed_at(const tw_nbits *s, const uint8_t *packed, int64_t r, int64_t c,
                     int64_t columns)
{
    int64_t per = 8 / s->bits, stride = (columns + per - 1) / per;
    return packed[r * stride + c / per] >> (c % per * s->bits) & ((1 << s->bits) - 1);
}

static float zero_at(const tw_nbits *s, int64_t r, int64_t block)
{
    return s->float_zero ? s->float_zero[r * s->blocks + block]
           : s->zero     ? (float)packed_at(s, s->zero, r, block, s->blocks)
                         : (float)(1 << (s->bits - 1));
}

/* With one block a row and no zero points: int8 weights with a scale a row. */
static tw_value *as_int8(tw_onnx_node *n, const tw_nbits *s)
{
    int32_t dim[] = {(int32_t)s->rows, (int32_t)s->columns};
    int8_t *w = tw_alloc(n->b->arena, (size_t)(s->rows * s->columns));
    int32_t *zero = tw_alloc_array(n->b->arena, (size_t)s->rows, sizeof *zero);
    for (int64_t r = 0; r < s->rows; r++) {
        if (!(s->scale[r] > 0) || !isfinite(s->scale[r]))
            return NULL;
        for (int64_t c = 0; c < s->columns; c++)
            w[r * s->columns + c] =
                (int8_t)(packed_at(s, s->packed, r, c, s->block) - (1 << (s->bits - 1)));
    }
    tw_quant quant = {(int)s->rows, 0, s->scale, zero};
    tw_value *q =
        tw_build_with_quant(n->b, tw_build_data(n->b, tw_shape_of(TW_S8, 2, dim), w), quant);
    return tw_build1(n->b, "Dequantize", q, NULL);
}

static tw_value *as_floats(tw_onnx_node *n, const tw_nbits *s)
{
    int32_t dim[] = {(int32_t)s->rows, (int32_t)s->columns};
    float *w = tw_alloc_array(n->b->arena, (size_t)(s->rows * s->columns), sizeof *w);
    for (int64_t r = 0; r < s->rows; r++)
        for (int64_t c = 0; c < s->columns; c++) {
            int64_t block = c / s->block;
            float q = (float)packed_at(s, s->packed, r, c, s->blocks * s->block);
            w[r * s->columns + c] = (q - zero_at(s, r, block)) * s->scale[r * s->blocks + block];
        }
    return tw_build_data(n->b, tw_shape_of(TW_F32, 2, dim), w);
}

bool tw_onnx_op_matmul_nbits(tw_onnx_node *n)
{
    tw_nbits s;
    tw_value *bias = tw_onnx_in(n, 5), *a = n->in[0], *w = NULL;
    if (tw_onnx_in(n, 4))
        return TW_ONNX_UNSUPPORTED(n, "g_idx is not supported");
    if (!read_nbits(n, &s) || !read_constants(n, &s))
        return false;
    if (a->shape.rank < 1 || a->shape.dim[a->shape.rank - 1] != s.columns)
        return TW_ONNX_FAIL(n, "K is %lld, A has other columns", (long long)s.columns);
    if (s.blocks == 1 && !s.zero && !s.float_zero)
        w = as_int8(n, &s);
    tw_value *in[] = {a, w ? w : as_floats(n, &s), bias};
    return tw_onnx_bind(n, 0, tw_build(n->b, "FullyConnected", in, bias ? 3 : 2, NULL));
}

/* --- integers in between ----------------------------------------------------------------------- */

/* A list of one number a column, or one number, as floats behind other axes. */
static tw_value *as_factor(tw_onnx_node *n, tw_value *x)
{
    int64_t count = x ? tw_shape_elements(&x->shape) : 0;
    return x ? tw_build_reshape(n->b, x, count == 1 ? 0 : 1, &count) : NULL;
}

static tw_value *as_list(tw_onnx_node *n, tw_value *x)
{
    int64_t count = x ? tw_shape_elements(&x->shape) : 0;
    return x ? tw_build_reshape(n->b, x, 1, &count) : NULL;
}

/* (a - zero) (b - zero) summed in integers, times the scales, plus the bias. */
static tw_value *scaled_product(tw_onnx_node *n, tw_value *const *operand, tw_value *a_scale,
                                tw_value *b_scale, tw_value *bias)
{
    const tw_value *b = operand[1];
    int64_t columns = b->shape.rank ? b->shape.dim[b->shape.rank - 1] : 0;
    for (int i = 0; i < 2; i++)
        if (!operand[i] || operand[i]->shape.rank < 2 ||
            (operand[i]->shape.dtype != TW_S8 && operand[i]->shape.dtype != TW_U8)) {
            TW_ONNX_UNSUPPORTED(n, "matrices of INT8 or UINT8 are supported");
            return NULL;
        }
    for (int i = 2; i < 4; i++)
        if (operand[i] && (operand[i]->shape.dtype != operand[i - 2]->shape.dtype ||
                           (tw_shape_elements(&operand[i]->shape) != 1 &&
                            (i == 2 || tw_shape_elements(&operand[i]->shape) != columns)))) {
            TW_ONNX_UNSUPPORTED(n, "one zero point of the operand's type, or one a column of the "
                                   "right matrix, is supported");
            return NULL;
        }
    tw_value *in[] = {operand[0], operand[1], as_list(n, operand[2]), as_list(n, operand[3])};
    tw_value *sum = tw_build_cast(n->b, tw_build(n->b, "IntegerMatMul", in, 4, NULL), TW_F32);
    tw_value *scale = tw_build2(n->b, "Mul", as_factor(n, a_scale), as_factor(n, b_scale), NULL);
    tw_value *y = tw_build2(n->b, "Mul", sum, scale, NULL);
    return bias ? tw_build2(n->b, "Add", y, bias, NULL) : y;
}

bool tw_onnx_op_matmul_integer_to_float(tw_onnx_node *n)
{
    tw_value *operand[] = {n->in[0], n->in[1], tw_onnx_in(n, 4), tw_onnx_in(n, 5)};
    return tw_onnx_bind(n, 0, scaled_product(n, operand, n->in[2], n->in[3], tw_onnx_in(n, 6)));
}

/* The left matrix is quantised by its own range. */
bool tw_onnx_op_dynamic_quantize_matmul(tw_onnx_node *n)
{
    tw_onnx_scaled by;
    tw_value *q = tw_onnx_quantized_dynamically(n, n->in[0], &by);
    tw_value *operand[] = {q, n->in[1], q ? by.zero_point : NULL, tw_onnx_in(n, 3)};
    return q &&
           tw_onnx_bind(n, 0, scaled_product(n, operand, by.scale, n->in[2], tw_onnx_in(n, 4)));
}
