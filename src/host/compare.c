/* Comparing tensors, and moving them in and out of strided storage. */
#include "host/compare.h"

#include <math.h>
#include <string.h>

#include "base/half.h"

/* ---- numbers ---- */

static uint64_t load_bits(uint32_t bytes, const void *element)
{
    uint16_t half;
    uint32_t word;
    uint64_t wide;
    switch (bytes) {
    case 2: memcpy(&half, element, sizeof half); return half;
    case 4: memcpy(&word, element, sizeof word); return word;
    case 8: memcpy(&wide, element, sizeof wide); return wide;
    default: return *(const uint8_t *)element;
    }
}

/* The bits that count: any byte but 0 is true. */
static uint64_t load_value(tw_dtype dtype, const void *element)
{
    uint64_t bits = load_bits(tw_dtype_bytes(dtype), element);
    return dtype == TW_BOOL ? bits != 0 : bits;
}

static bool is_float(tw_dtype dtype)
{
    return dtype == TW_F32 || dtype == TW_F16 || dtype == TW_BF16 || dtype == TW_F64;
}

static bool is_signed(tw_dtype dtype)
{
    return dtype == TW_S8 || dtype == TW_S16 || dtype == TW_S32 || dtype == TW_S64;
}

/* Bits mapped so that their unsigned order is the order of the numbers. */
static uint64_t ordered(tw_dtype dtype, uint64_t bits)
{
    uint64_t sign = UINT64_C(1) << (tw_dtype_bytes(dtype) * 8 - 1);
    if (is_float(dtype))
        return bits & sign ? sign - (bits & (sign - 1)) : sign + bits; /* -0 and 0 are one */
    return is_signed(dtype) ? bits ^ sign : bits;
}

static double to_double(tw_dtype dtype, uint64_t bits)
{
    float f;
    double d;
    uint32_t word = (uint32_t)bits;
    switch (dtype) {
    case TW_F32: memcpy(&f, &word, sizeof f); return (double)f;
    case TW_F64: memcpy(&d, &bits, sizeof d); return d;
    case TW_F16: return (double)tw_float_from_half((uint16_t)bits);
    case TW_BF16: return (double)tw_float_from_bfloat((uint16_t)bits);
    default: {
        uint32_t size = tw_dtype_bytes(dtype) * 8;
        if (is_signed(dtype) && bits >> (size - 1))
            return size == 64 ? (double)(int64_t)bits
                              : (double)bits - (double)(UINT64_C(1) << size);
        return (double)bits;
    }
    }
}

/* ---- comparing ---- */

tw_difference tw_no_difference(void)
{
    return (tw_difference){.first = -1};
}

static void note(tw_difference *d, double absolute, double relative, uint64_t ulp)
{
    d->max_abs = absolute > d->max_abs ? absolute : d->max_abs;
    d->max_rel = relative > d->max_rel ? relative : d->max_rel;
    d->max_ulp = ulp > d->max_ulp ? ulp : d->max_ulp;
}

/* One element, the bits of which differ. */
static bool agrees(tw_dtype dtype, uint64_t got_bits, uint64_t want_bits,
                   const tw_tolerance *tolerance, tw_difference *d)
{
    double got = to_double(dtype, got_bits), want = to_double(dtype, want_bits);
    if (isnan(got) && isnan(want))
        return true;
    if (isnan(got) || isnan(want)) {
        note(d, INFINITY, INFINITY, UINT64_MAX);
        return false;
    }
    uint64_t a = ordered(dtype, got_bits), b = ordered(dtype, want_bits);
    uint64_t ulp = a > b ? a - b : b - a;
    double absolute = fabs(got - want);
    note(d, absolute, want != 0 ? absolute / fabs(want) : absolute != 0 ? INFINITY : 0, ulp);
    if (!is_float(dtype))
        return ulp <= tolerance->lsb;
    if (isinf(got) || isinf(want))
        return got == want;
    return absolute <= tolerance->atol + tolerance->rtol * fabs(want);
}

bool tw_compare(tw_dtype dtype, int64_t count, const void *got, const void *want,
                const tw_tolerance *tolerance, int64_t base, tw_difference *difference)
{
    uint32_t bytes = tw_dtype_bytes(dtype);
    int64_t before = difference->differing;
    for (int64_t i = 0; i < count; i++) {
        uint64_t a = load_value(dtype, (const char *)got + (size_t)i * bytes);
        uint64_t b = load_value(dtype, (const char *)want + (size_t)i * bytes);
        if (a == b || agrees(dtype, a, b, tolerance, difference))
            continue;
        if (difference->differing++ == 0) {
            difference->first = base + i;
            difference->got = to_double(dtype, a);
            difference->want = to_double(dtype, b);
        }
    }
    return difference->differing == before;
}

/* ---- strided storage ---- */

/* Visits the elements in dense order: an odometer over the extents. */
static void walk(const tw_tensor *t, char *strided, char *dense, bool gather)
{
    uint32_t bytes = tw_dtype_bytes(t->dtype);
    int32_t at[TW_MAX_RANK] = {0};
    int64_t count = 1, offset = 0;
    for (int i = 0; i < t->rank; i++)
        count *= t->dim[i];
    for (int64_t n = 0; n < count; n++, dense += bytes) {
        char *element = strided + offset * (int64_t)bytes;
        memcpy(gather ? dense : element, gather ? element : dense, bytes);
        for (int i = t->rank - 1; i >= 0; i--) {
            offset += t->stride[i];
            if (++at[i] < t->dim[i])
                break;
            offset -= (int64_t)t->stride[i] * t->dim[i];
            at[i] = 0;
        }
    }
}

void tw_gather(const tw_tensor *tensor, const void *strided, void *dense)
{
    walk(tensor, (char *)(uintptr_t)strided, dense, true);
}

void tw_scatter(const tw_tensor *tensor, void *strided, const void *dense)
{
    walk(tensor, strided, (char *)(uintptr_t)dense, false);
}
