/* What every x86-64 has for int8 and compilers do not find by themselves: products of eight pairs of
 * 16-bit lanes, and TFLite's requantisation of four 32-bit lanes. For device code; TW_SSE2 says
 * whether it is there. Results are those of runtime/fixed.h, bit for bit. */
#ifndef TW_BACKENDS_SSE2_H
#define TW_BACKENDS_SSE2_H

#if defined(__SSE2__) && defined(__GNUC__)
#define TW_SSE2 1

#include <stdint.h>

typedef int8_t tw_s8x16 __attribute__((vector_size(16)));
typedef int16_t tw_s16x8 __attribute__((vector_size(16)));
typedef int32_t tw_s32x4 __attribute__((vector_size(16)));
typedef uint32_t tw_u32x4 __attribute__((vector_size(16))); /* sums: they may wrap */
typedef float tw_f32x4 __attribute__((vector_size(16)));
typedef uint64_t tw_u64x2 __attribute__((vector_size(16)));

/* Lanes of a and b by number, b's behind a's. */
#ifdef __clang__
#define TW_LANES(type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#elif defined(__cplusplus)
#define TW_LANES(type, a, b, ...) __builtin_shuffle(a, b, type{__VA_ARGS__})
#else
#define TW_LANES(type, a, b, ...) __builtin_shuffle(a, b, (type){__VA_ARGS__})
#endif

static inline tw_s16x8 tw_load_s16x8(const int16_t *from)
{
    tw_s16x8 v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

static inline tw_u32x4 tw_load_u32x4(const void *from)
{
    tw_u32x4 v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

static inline void tw_store_u32x4(void *to, tw_u32x4 v)
{
    __builtin_memcpy(to, &v, sizeof v);
}

static inline tw_s8x16 tw_load_s8x16(const int8_t *from)
{
    tw_s8x16 v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

/* Eight, zeros behind them. */
static inline tw_s8x16 tw_load_s8x8(const int8_t *from)
{
    tw_u64x2 v = {0, 0};
    __builtin_memcpy(&v, from, 8);
    return (tw_s8x16)v;
}

/* Lanes of a and b in turn: the first eight of each, the last eight. */
static inline tw_s8x16 tw_interleave_low(tw_s8x16 a, tw_s8x16 b)
{
    return TW_LANES(tw_s8x16, a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
static inline tw_s8x16 tw_interleave_high(tw_s8x16 a, tw_s8x16 b)
{
    return TW_LANES(tw_s8x16, a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

/* The first eight int8 lanes to int16. */
static inline tw_s16x8 tw_widen_low(tw_s8x16 v)
{
    return (tw_s16x8)tw_interleave_low(v, v) >> 8;
}

/* The last eight. */
static inline tw_s16x8 tw_widen_high(tw_s8x16 v)
{
    return (tw_s16x8)tw_interleave_high(v, v) >> 8;
}

/* The first four int16 lanes to 32 bits, the last four. */
static inline tw_u32x4 tw_widen_low16(tw_s16x8 v)
{
    const tw_s16x8 twice = TW_LANES(tw_s16x8, v, v, 0, 8, 1, 9, 2, 10, 3, 11);
    return (tw_u32x4)((tw_s32x4)twice >> 16);
}
static inline tw_u32x4 tw_widen_high16(tw_s16x8 v)
{
    const tw_s16x8 twice = TW_LANES(tw_s16x8, v, v, 4, 12, 5, 13, 6, 14, 7, 15);
    return (tw_u32x4)((tw_s32x4)twice >> 16);
}

/* a[0] b[0] + a[1] b[1], a[2] b[2] + a[3] b[3], ... */
static inline tw_u32x4 tw_pairs(tw_s16x8 a, tw_s16x8 b)
{
    return (tw_u32x4)__builtin_ia32_pmaddwd128(a, b);
}

/* The sums over a, b, c and d. */
static inline tw_u32x4 tw_across(tw_u32x4 a, tw_u32x4 b, tw_u32x4 c, tw_u32x4 d)
{
    const tw_u32x4 ab = TW_LANES(tw_u32x4, a, b, 0, 4, 1, 5) + TW_LANES(tw_u32x4, a, b, 2, 6, 3, 7);
    const tw_u32x4 cd = TW_LANES(tw_u32x4, c, d, 0, 4, 1, 5) + TW_LANES(tw_u32x4, c, d, 2, 6, 3, 7);
    return TW_LANES(tw_u32x4, ab, cd, 0, 1, 4, 5) + TW_LANES(tw_u32x4, ab, cd, 2, 3, 6, 7);
}

/* Rows to columns. */
static inline void tw_transpose(tw_u32x4 v[4])
{
    const tw_u32x4 a = TW_LANES(tw_u32x4, v[0], v[1], 0, 4, 1, 5);
    const tw_u32x4 b = TW_LANES(tw_u32x4, v[0], v[1], 2, 6, 3, 7);
    const tw_u32x4 c = TW_LANES(tw_u32x4, v[2], v[3], 0, 4, 1, 5);
    const tw_u32x4 d = TW_LANES(tw_u32x4, v[2], v[3], 2, 6, 3, 7);
    v[0] = TW_LANES(tw_u32x4, a, c, 0, 1, 4, 5);
    v[1] = TW_LANES(tw_u32x4, a, c, 2, 3, 6, 7);
    v[2] = TW_LANES(tw_u32x4, b, d, 0, 1, 4, 5);
    v[3] = TW_LANES(tw_u32x4, b, d, 2, 3, 6, 7);
}

/* Products of lanes 0 and 2. */
static inline tw_u64x2 tw_even_products(tw_u64x2 a, tw_u64x2 b)
{
#ifdef __clang__
    const tw_u64x2 low = {UINT32_MAX, UINT32_MAX};
    return (a & low) * (b & low);
#else
    return (tw_u64x2)__builtin_ia32_pmuludq128((tw_s32x4)a, (tw_s32x4)b);
#endif
}

/* tw_requantize of four lanes, no shift above 0. Both roundings work on magnitudes: the first, which
 * rounds halves up, gives one unit less to negative numbers; the second, which rounds them away from
 * zero, is a product with 2^(31 + shift), rounded like the first. */
static inline tw_s32x4 tw_requantize_s32x4(tw_u32x4 sum, tw_u32x4 multiplier, tw_s32x4 shift)
{
    const tw_u64x2 half = {1u << 30, 1u << 30};
    const tw_u64x2 factor = (tw_u64x2)multiplier;
    const tw_u64x2 power = (tw_u64x2)__builtin_ia32_cvttps2dq((tw_f32x4)((shift + 158) << 23));
    const tw_u32x4 sign = (tw_u32x4)((tw_s32x4)sum >> 31);
    const tw_u64x2 size = (tw_u64x2)((sum ^ sign) - sign);
    tw_u64x2 even = tw_even_products(size, factor) + half;
    tw_u64x2 odd = tw_even_products(size >> 32, factor >> 32) + half;
    even = (even + (tw_u64x2)TW_LANES(tw_u32x4, sign, sign, 0, 0, 2, 2)) >> 31;
    odd = (odd + (tw_u64x2)TW_LANES(tw_u32x4, sign, sign, 1, 1, 3, 3)) >> 31;
    even = (tw_even_products(even, power) + half) >> 31;
    odd = (tw_even_products(odd, power >> 32) + half) >> 31;
    return (tw_s32x4)(((tw_u32x4)(even | odd << 32) ^ sign) - sign);
}

/* Is a lane of either above 0? */
static inline int tw_any_positive(tw_s32x4 a, tw_s32x4 b)
{
    return __builtin_ia32_movmskps((tw_f32x4)((a > 0) | (b > 0))) != 0;
}

/* Eight results: held within [low, high], which are within int16, `add` added, stored as int8. */
static inline void tw_store_clamped(int8_t *to, tw_s32x4 a, tw_s32x4 b, int32_t low, int32_t high,
                                    int32_t add)
{
    const tw_s16x8 none = {0}, least = none + (int16_t)low, most = none + (int16_t)high;
    tw_s16x8 v = (tw_s16x8)__builtin_ia32_packssdw128(a, b), outside;
    outside = v < least;
    v = (least & outside) | (v & ~outside);
    outside = v > most;
    v = (most & outside) | (v & ~outside);
    v += (int16_t)add;
    v = (tw_s16x8)__builtin_ia32_packsswb128(v, v);
    __builtin_memcpy(to, &v, 8);
}

#endif
#endif
