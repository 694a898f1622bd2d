/* Elements as text and back. number.h says what must hold. */
#include "graph/number.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"

/* The bits of an element, and their number. */
static uint64_t load_bits(tw_dtype dtype, const void *element)
{
    uint16_t half;
    uint32_t word;
    uint64_t wide;
    switch (tw_dtype_bytes(dtype)) {
    case 2: return memcpy(&half, element, sizeof half), half;
    case 4: return memcpy(&word, element, sizeof word), word;
    case 8: return memcpy(&wide, element, sizeof wide), wide;
    default: return *(const uint8_t *)element;
    }
}

static void store_bits(tw_dtype dtype, uint64_t bits, void *element)
{
    uint8_t byte = (uint8_t)bits;
    uint16_t half = (uint16_t)bits;
    uint32_t word = (uint32_t)bits;
    switch (tw_dtype_bytes(dtype)) {
    case 2: memcpy(element, &half, sizeof half); break;
    case 4: memcpy(element, &word, sizeof word); break;
    case 8: memcpy(element, &bits, sizeof bits); break;
    default: memcpy(element, &byte, sizeof byte); break;
    }
}

/* Float formats: bits of the usual NaN and of infinity. */
static const struct {
    tw_dtype dtype;
    uint64_t nan, infinity, sign;
    int digits; /* decimal digits that identify any value */
} formats[] = {
    {TW_F32, 0x7FC00000u, 0x7F800000u, 0x80000000u, FLT_DECIMAL_DIG},
    {TW_F64, UINT64_C(0x7FF8000000000000), UINT64_C(0x7FF0000000000000),
     UINT64_C(0x8000000000000000), DBL_DECIMAL_DIG},
    {TW_F16, 0x7E00u, 0x7C00u, 0x8000u, 5},
    {TW_BF16, 0x7FC0u, 0x7F80u, 0x8000u, 4},
};

static int format_of(tw_dtype dtype)
{
    for (int i = 0; i < (int)(sizeof formats / sizeof *formats); i++)
        if (formats[i].dtype == dtype)
            return i;
    return -1;
}

static double load_float(tw_dtype dtype, const void *element)
{
    uint64_t bits = load_bits(dtype, element);
    float f;
    double d;
    switch (dtype) {
    case TW_F64: return memcpy(&d, element, sizeof d), d;
    case TW_F16: return (double)tw_float_from_half((uint16_t)bits);
    case TW_BF16: return (double)tw_float_from_bfloat((uint16_t)bits);
    default: return memcpy(&f, element, sizeof f), (double)f;
    }
}

/* Rounds correctly from decimal for f32 and f64; the 16-bit types go through double, exact for
 * whatever was printed. */
static void store_float(tw_dtype dtype, const char *text, char **end, void *element)
{
    float f;
    double d;
    switch (dtype) {
    case TW_F64:
        d = strtod(text, end);
        memcpy(element, &d, sizeof d);
        break;
    case TW_F16: store_bits(dtype, tw_half_from_double(strtod(text, end)), element); break;
    case TW_BF16: store_bits(dtype, tw_bfloat_from_double(strtod(text, end)), element); break;
    default:
        f = strtof(text, end);
        memcpy(element, &f, sizeof f);
        break;
    }
}

static void print_float(int format, const void *element, char text[TW_NUMBER_TEXT])
{
    tw_dtype dtype = formats[format].dtype;
    uint64_t bits = load_bits(dtype, element), magnitude = bits & ~formats[format].sign;
    if (magnitude > formats[format].infinity) {
        if (bits == formats[format].nan)
            snprintf(text, TW_NUMBER_TEXT, "nan");
        else
            snprintf(text, TW_NUMBER_TEXT, "nan(0x%" PRIx64 ")", bits);
        return;
    }
    double value = load_float(dtype, element);
    for (int digits = 1; digits <= formats[format].digits; digits++) {
        uint64_t back = 0; /* room for any element */
        char *end;
        snprintf(text, TW_NUMBER_TEXT, "%.*g", digits, value);
        store_float(dtype, text, &end, &back);
        if (load_bits(dtype, &back) == bits)
            break;
    }
    /* 10 is as short as 1e+01, and no less exact. */
    static const char *const whole[] = {"%.1g", "%.2g", "%.3g", "%.4g", "%.5g"};
    const char *power = strstr(text, "e+0");
    if (power && power[3] <= '4')
        snprintf(text, TW_NUMBER_TEXT, whole[power[3] - '0'], value);
}

static bool is_signed(tw_dtype dtype)
{
    return dtype == TW_S8 || dtype == TW_S16 || dtype == TW_S32 || dtype == TW_S64;
}

void tw_number_print(tw_dtype dtype, const void *element, char text[TW_NUMBER_TEXT])
{
    int format = format_of(dtype);
    uint64_t bits = load_bits(dtype, element);
    if (format >= 0) {
        print_float(format, element, text);
    } else if (dtype == TW_BOOL && bits <= 1) {
        snprintf(text, TW_NUMBER_TEXT, "%s", bits ? "true" : "false");
    } else if (is_signed(dtype)) {
        uint64_t top = UINT64_C(1) << (tw_dtype_bytes(dtype) * 8 - 1);
        bool negative = (bits & top) != 0;
        uint64_t magnitude = negative ? top - (bits & (top - 1)) : bits;
        snprintf(text, TW_NUMBER_TEXT, "%s%" PRIu64, negative ? "-" : "", magnitude);
    } else {
        snprintf(text, TW_NUMBER_TEXT, "%" PRIu64, bits);
    }
}

void tw_number_store(tw_dtype dtype, double value, void *element)
{
    float f = (float)value;
    switch (dtype) {
    case TW_F32: memcpy(element, &f, sizeof f); break;
    case TW_F64: memcpy(element, &value, sizeof value); break;
    case TW_F16: store_bits(dtype, tw_half_from_double(value), element); break;
    case TW_BF16: store_bits(dtype, tw_bfloat_from_double(value), element); break;
    default:
        store_bits(dtype, value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value, element);
        break;
    }
}

/* ---- reading ---- */

static tw_number_result parse_magnitude(const char *text, uint64_t *magnitude)
{
    char *end;
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    if (text[0] < '0' || text[0] > '9')
        return TW_NUMBER_MALFORMED;
    errno = 0;
    unsigned long long value = strtoull(text, &end, base);
    if (*end || end == text)
        return TW_NUMBER_MALFORMED;
    *magnitude = value;
    return errno == ERANGE ? TW_NUMBER_RANGE : TW_NUMBER_OK;
}

static tw_number_result parse_integer(tw_dtype dtype, const char *text, void *element)
{
    bool negative = *text == '-';
    uint64_t magnitude, bits = tw_dtype_bytes(dtype) * 8;
    uint64_t top = UINT64_C(1) << (bits - 1);
    tw_number_result result = parse_magnitude(text + (*text == '-' || *text == '+'), &magnitude);
    if (result != TW_NUMBER_OK)
        return result;
    uint64_t most = dtype == TW_BOOL   ? 255 /* any byte: what is not a truth value round-trips */
                    : is_signed(dtype) ? top - !negative
                                       : top + (top - 1);
    if (magnitude > most || (negative && magnitude && !is_signed(dtype)))
        return TW_NUMBER_RANGE;
    store_bits(dtype, negative ? 0 - magnitude : magnitude, element);
    return TW_NUMBER_OK;
}

static tw_number_result parse_nan(int format, const char *text, void *element)
{
    char bits_text[24];
    uint64_t bits = formats[format].nan;
    size_t n = strlen(text);
    if (n > 3) {
        if (n < 6 || n - 5 >= sizeof bits_text || text[3] != '(' || text[n - 1] != ')')
            return TW_NUMBER_MALFORMED;
        memcpy(bits_text, text + 4, n - 5);
        bits_text[n - 5] = 0;
        tw_number_result result = parse_magnitude(bits_text, &bits);
        if (result != TW_NUMBER_OK)
            return result;
    }
    uint64_t magnitude = bits & ~formats[format].sign;
    if (magnitude <= formats[format].infinity || magnitude >= formats[format].sign)
        return TW_NUMBER_RANGE;
    store_bits(formats[format].dtype, bits, element);
    return TW_NUMBER_OK;
}

static tw_number_result parse_float(int format, const char *text, void *element)
{
    tw_dtype dtype = formats[format].dtype;
    const char *digits = text + (*text == '-' || *text == '+');
    if (strncmp(text, "nan", 3) == 0)
        return parse_nan(format, text, element);
    if (strcmp(digits, "inf") == 0) {
        store_bits(dtype, formats[format].infinity | (*text == '-' ? formats[format].sign : 0),
                   element);
        return TW_NUMBER_OK;
    }
    if (!((*digits >= '0' && *digits <= '9') || *digits == '.'))
        return TW_NUMBER_MALFORMED; /* the library also knows "infinity" and other spellings */
    char *end;
    store_float(dtype, text, &end, element);
    if (*end || end == text)
        return TW_NUMBER_MALFORMED;
    return isinf(load_float(dtype, element)) ? TW_NUMBER_RANGE : TW_NUMBER_OK;
}

tw_number_result tw_number_parse(tw_dtype dtype, const char *text, void *element)
{
    int format = format_of(dtype);
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        text = *text == 't' ? "1" : "0";
    return format >= 0 ? parse_float(format, text, element) : parse_integer(dtype, text, element);
}

const char *tw_number_form(tw_dtype dtype)
{
    if (format_of(dtype) >= 0)
        return "a number such as 1, -0.5, 1e-3, 0x1.8p-3, inf or nan";
    return dtype == TW_BOOL ? "true or false" : "a whole number such as 1, -2 or 0x1F";
}
