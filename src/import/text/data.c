/* Types and constant data of the text IR. Memory follows the text's own size, and what `random`
 * asks for is bounded. */
#include "import/text/parse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "graph/number.h"
#include "import/tensor_file.h"

static const size_t max_random_bytes = (size_t)1 << 28, max_file_bytes = (size_t)1 << 31;

/* ---- types ---- */

static bool parse_dtype(tw_lexer *lexer, tw_dtype *dtype)
{
    *dtype =
        lexer->token.kind == TW_TOKEN_WORD ? tw_dtype_from_name(lexer->token.text) : TW_NO_DTYPE;
    return *dtype == TW_NO_DTYPE
               ? tw_lex_expected(lexer, "an element type (f32 s8 u8 s16 u16 s32 u32 s64 u64 bool "
                                        "f16 bf16 f64)")
               : tw_lex_next(lexer);
}

static bool parse_extents(tw_lexer *lexer, tw_shape *shape)
{
    bool more = false;
    int64_t bytes = tw_dtype_bytes(shape->dtype);
    int32_t dim[TW_MAX_RANK];
    int rank = 0;
    if (!tw_lex_mark(lexer, '['))
        return false;
    if (tw_lex_is_mark(lexer, ']')) {
        *shape = tw_shape_of(shape->dtype, 0, dim);
        return tw_lex_next(lexer);
    }
    do {
        tw_token at = lexer->token;
        if (rank == TW_MAX_RANK)
            return tw_lex_fail_at(lexer, &at, TW_CODE_UNSUPPORTED,
                                  "more than %d extents; merge axes", TW_MAX_RANK);
        if (!tw_lex_int32(lexer, &dim[rank]))
            return false;
        if (dim[rank] < 0)
            return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED,
                                  "extent %d is %d; extents are 0 or more", rank, (int)dim[rank]);
        bytes *= dim[rank] ? dim[rank] : 1; /* an empty tensor's strides are bounded too */
        rank++;
        if (bytes > INT32_MAX)
            return tw_lex_fail_at(lexer, &at, TW_CODE_UNSUPPORTED,
                                  "the tensor is larger than 2 GB");
        if (!tw_lex_accept(lexer, ',', &more))
            return false;
    } while (more);
    *shape = tw_shape_of(shape->dtype, rank, dim);
    return tw_lex_mark(lexer, ']');
}

/* A number or a list of numbers. *elements points to *count of them. */
static bool parse_numbers(tw_lexer *lexer, tw_dtype dtype, void **elements, int *count)
{
    size_t bytes = tw_dtype_bytes(dtype);
    bool list, more = true;
    int capacity = 0;
    *elements = NULL;
    *count = 0;
    if (!tw_lex_accept(lexer, '[', &list))
        return false;
    if (list && tw_lex_is_mark(lexer, ']'))
        return tw_lex_next(lexer);
    while (more) {
        tw_grow(lexer->arena, elements, *count, &capacity, bytes);
        if (!tw_lex_number(lexer, dtype, (char *)*elements + (size_t)*count * bytes))
            return false;
        ++*count;
        more = false;
        if (list && !tw_lex_accept(lexer, ',', &more))
            return false;
    }
    return !list || tw_lex_mark(lexer, ']');
}

/* One zero point serves every scale. */
static int32_t *spread_zero(tw_arena *arena, int32_t *zero, int zero_count, int count)
{
    if (zero_count != 1 || count == 1)
        return zero;
    int32_t *all = tw_alloc_array(arena, (size_t)count, sizeof *all);
    for (int i = 0; i < count; i++)
        all[i] = *zero;
    return all;
}

static bool parse_quant(tw_lexer *lexer, const tw_shape *shape, tw_quant *quant)
{
    tw_token at = lexer->token;
    void *scale, *zero;
    int count, zero_count, axis = 0;
    bool has_axis;
    if (!tw_lex_word(lexer, "quant") || !tw_lex_mark(lexer, '(') || !tw_lex_word(lexer, "scale") ||
        !tw_lex_mark(lexer, '=') || !parse_numbers(lexer, TW_F32, &scale, &count) ||
        !tw_lex_mark(lexer, ',') || !tw_lex_word(lexer, "zero") || !tw_lex_mark(lexer, '=') ||
        !parse_numbers(lexer, TW_S32, &zero, &zero_count) || !tw_lex_accept(lexer, ',', &has_axis))
        return false;
    if (has_axis &&
        (!tw_lex_word(lexer, "axis") || !tw_lex_mark(lexer, '=') || !tw_lex_int32(lexer, &axis)))
        return false;
    if (!tw_lex_mark(lexer, ')'))
        return false;
    if (count == 0 || (zero_count != count && zero_count != 1))
        return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED,
                              "%d scales and %d zero points; give one zero point for all or one "
                              "for each scale",
                              count, zero_count);
    if (count > 1 && (axis < 0 || axis >= shape->rank || shape->dim[axis] != count))
        return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED,
                              "%d scales do not match axis %d of the tensor; name the axis whose "
                              "extent is %d with axis=",
                              count, axis, count);
    for (int i = 0; i < count; i++)
        if (!(((float *)scale)[i] > 0) || isinf(((float *)scale)[i]))
            return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED,
                                  "scale %d is %g; scales are positive and finite", i,
                                  (double)((float *)scale)[i]);
    *quant = (tw_quant){count, count > 1 ? axis : 0, scale,
                        spread_zero(lexer->arena, zero, zero_count, count)};
    return true;
}

bool tw_text_type(tw_text_parser *parser, tw_shape *shape, tw_quant *quant)
{
    tw_lexer *lexer = &parser->lexer;
    *quant = (tw_quant){0, 0, NULL, NULL};
    return tw_lex_mark(lexer, ':') && parse_dtype(lexer, &shape->dtype) &&
           parse_extents(lexer, shape) &&
           (!tw_lex_is_word(lexer, "quant") || parse_quant(lexer, shape, quant));
}

/* ---- data ---- */

static bool parse_list(tw_text_parser *parser, const tw_shape *shape, const void **data)
{
    tw_lexer *lexer = &parser->lexer;
    tw_token at = lexer->token;
    int64_t elements = tw_shape_elements(shape), count = 0;
    size_t bytes = tw_dtype_bytes(shape->dtype);
    bool more = true;
    /* Two characters an element: what the text cannot hold is refused before memory is taken. */
    if ((uint64_t)elements > (lexer->bytes - lexer->at) / 2 + 1)
        return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED,
                              "the list is shorter than the %lld elements of the type",
                              (long long)elements);
    char *all = tw_alloc_array(lexer->arena, (size_t)elements, bytes);
    if (!tw_lex_mark(lexer, '['))
        return false;
    more = !tw_lex_is_mark(lexer, ']');
    while (more) {
        if (count == elements)
            return tw_lex_fail_at(lexer, &lexer->token, TW_CODE_FAILED,
                                  "the list is longer than the %lld elements of the type",
                                  (long long)elements);
        if (!tw_lex_number(lexer, shape->dtype, all + (size_t)count++ * bytes) ||
            !tw_lex_accept(lexer, ',', &more))
            return false;
    }
    if (count < elements)
        return tw_lex_fail_at(lexer, &lexer->token, TW_CODE_FAILED,
                              "the list holds %lld of the %lld elements of the type",
                              (long long)count, (long long)elements);
    *data = all;
    return tw_lex_mark(lexer, ']');
}

static bool parse_file(tw_text_parser *parser, const tw_shape *shape, const void **data)
{
    tw_lexer *lexer = &parser->lexer;
    tw_token at;
    const char *name;
    if (!tw_lex_next(lexer))
        return false;
    at = lexer->token;
    if (!tw_lex_text(lexer, TW_TOKEN_STRING, "the name of a .npy file in quotes", &name))
        return false;
    if (!lexer->path)
        return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED,
                              "data in files needs the text to be a file itself");
    tw_tensor_data tensor = {.shape = *shape};
    char have[96], want[96];
    char *path =
        tw_path_inside(lexer->arena, tw_path_folder(lexer->arena, lexer->path), name, lexer->diag);
    if (!path || !tw_tensor_read(lexer->arena, path, NULL, &tensor, lexer->diag)) {
        lexer->diag->line = at.line;
        lexer->diag->column = at.column;
        return false;
    }
    if (!tw_shape_equal(&tensor.shape, shape)) {
        tw_shape_text(&tensor.shape, have, sizeof have);
        tw_shape_text(shape, want, sizeof want);
        return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED, "%.100s holds %s where %s is declared",
                              name, have, want);
    }
    parser->file_bytes += tw_shape_bytes(shape);
    if (parser->file_bytes > max_file_bytes)
        return tw_lex_fail_at(lexer, &at, TW_CODE_UNSUPPORTED,
                              "more than %zu MB of data in side files", max_file_bytes >> 20);
    *data = tensor.data;
    return true;
}

/* Element `index` of a seed: a number in [0, 1) with 53 bits, by SplitMix64. */
static double uniform(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

/* The least and the greatest integer of a type, the latter plus one; floats are unbounded. */
static void integer_range(tw_dtype dtype, double *least, double *beyond)
{
    int bits = (int)tw_dtype_bytes(dtype) * 8;
    bool is_signed = dtype == TW_S8 || dtype == TW_S16 || dtype == TW_S32 || dtype == TW_S64;
    *least = is_signed ? -ldexp(1, bits - 1) : 0;
    *beyond = dtype == TW_BOOL ? 2 : ldexp(1, bits - is_signed);
}

static bool is_float(tw_dtype dtype)
{
    return dtype == TW_F32 || dtype == TW_F64 || dtype == TW_F16 || dtype == TW_BF16;
}

static void fill_random(const tw_shape *shape, uint64_t seed, double low, double high, char *all)
{
    size_t bytes = tw_dtype_bytes(shape->dtype);
    int64_t elements = tw_shape_elements(shape);
    for (int64_t i = 0; i < elements; i++) {
        double value = low + (high - low) * uniform(seed, (uint64_t)i);
        if (!is_float(shape->dtype))
            value = floor(value) < high ? floor(value) : high - 1;
        tw_number_store(shape->dtype, value, all + (size_t)i * bytes);
    }
}

static bool parse_random(tw_text_parser *parser, const tw_shape *shape, const void **data)
{
    tw_lexer *lexer = &parser->lexer;
    tw_token at = lexer->token;
    uint64_t seed;
    double low, high, least, beyond;
    if (!tw_lex_next(lexer) || !tw_lex_number(lexer, TW_U64, &seed) ||
        !tw_lex_double(lexer, &low) || !tw_lex_double(lexer, &high))
        return false;
    integer_range(shape->dtype, &least, &beyond);
    if (!isfinite(high - low) || low > high ||
        (!is_float(shape->dtype) &&
         (low < least || high > beyond || floor(low) != low || floor(high) != high || low == high)))
        return tw_lex_fail_at(lexer, &at, TW_CODE_FAILED,
                              "random numbers from %g up to %g do not fit %s; bounds are finite, "
                              "in order, and for integers whole, in range and apart",
                              low, high, tw_dtype_name(shape->dtype));
    parser->random_bytes += tw_shape_bytes(shape);
    if (parser->random_bytes > max_random_bytes)
        return tw_lex_fail_at(lexer, &at, TW_CODE_UNSUPPORTED,
                              "more than %zu MB of random numbers in one text",
                              max_random_bytes >> 20);
    char *all = tw_alloc(lexer->arena, tw_shape_bytes(shape));
    fill_random(shape, seed, low, high, all);
    *data = all;
    return true;
}

bool tw_text_data(tw_text_parser *parser, const tw_shape *shape, const void **data)
{
    tw_lexer *lexer = &parser->lexer;
    if (tw_lex_is_mark(lexer, '['))
        return parse_list(parser, shape, data);
    if (tw_lex_is_word(lexer, "file"))
        return parse_file(parser, shape, data);
    if (tw_lex_is_word(lexer, "random"))
        return parse_random(parser, shape, data);
    return tw_lex_expected(lexer, "data: [numbers], file \"name.npy\", or random SEED LOW HIGH");
}
