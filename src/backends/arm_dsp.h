/* The DSP extension of Cortex-M4, M7, M33, M55 and others: two 16-bit products an instruction, rounding and
 * saturating ones. For device code; TW_ARM_DSP says whether it is there. */
#ifndef TW_BACKENDS_ARM_DSP_H
#define TW_BACKENDS_ARM_DSP_H

#if defined(__ARM_FEATURE_SIMD32) && defined(__ARM_FEATURE_UNALIGNED) && defined(__GNUC__) &&      \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TW_ARM_DSP 1

#include <stdint.h>

/* Four bytes, or two halfwords, from any address. */
static inline uint32_t tw_load_word(const void *from)
{
    uint32_t v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

/* Bytes 0 and 2, 1 and 3, as int16. */
static inline uint32_t tw_even_bytes(uint32_t v)
{
    __asm__("sxtb16 %0, %1" : "=r"(v) : "r"(v));
    return v;
}
static inline uint32_t tw_odd_bytes(uint32_t v)
{
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(v) : "r"(v));
    return v;
}

/* Low halves of a and b, high halves. */
static inline uint32_t tw_low_halves(uint32_t a, uint32_t b)
{
    return (a & 0xFFFFu) | b << 16;
}
static inline uint32_t tw_high_halves(uint32_t a, uint32_t b)
{
    return a >> 16 | (b & 0xFFFF0000u);
}

/* sum + a.low b.low + a.high b.high, wrapping. */
static inline uint32_t tw_add_products(uint32_t a, uint32_t b, uint32_t sum)
{
    __asm__("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

/* sum + a b / 2^32, rounded to nearest, halves up. */
static inline int32_t tw_add_high_product(int32_t a, int32_t b, int32_t sum)
{
    __asm__("smmlar %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

/* tw_requantize_down of runtime/fixed.h, a zero point added, held within int8; bit for bit. down: -1 - shift;
 * rounded_zero: twice the zero point, and 1. The first product, x (2 multiplier) / 2^32, takes what of the
 * factor leaves 31 bits apart: that is 2^32, and adds x. */
static inline int8_t tw_requantize_down_s8(int32_t x, int32_t multiplier, int32_t down,
                                           int32_t rounded_zero)
{
    int32_t twice = (int32_t)((uint32_t)multiplier << 1), v;
    __asm__("" : "+r"(twice)); /* its sign is to be a shift within the `and` */
    v = tw_add_high_product(x, twice, x & (twice >> 31));
    v = (v + (v >> 31)) >> down;
    __asm__("qadd %0, %0, %1" : "+r"(v) : "r"(rounded_zero));
    __asm__("ssat %0, #8, %0, asr #1" : "+r"(v));
    return (int8_t)v;
}

#endif
#endif
