/* TFLite's int16 sigmoid and hyperbolic tangent: straight lines between the values of one table,
 * 65536 * sigmoid(i / 24), 256 of them (tw_sigmoid_table). Device code. */
#ifndef TW_OPS_SIGMOID_S16_H
#define TW_OPS_SIGMOID_S16_H

#include <stdint.h>

#define TW_SIGMOID_POINTS 256

/* The table between its steps: 65536 * sigmoid(x / 24 / 2^bits), x from 0 up, times 2^bits. */
static inline uint32_t tw_sigmoid_between(const uint16_t *table, uint32_t x, uint32_t bits)
{
    const uint32_t step = x >> bits, rest = x & (((uint32_t)1 << bits) - 1u);
    return ((uint32_t)table[step] << bits) + rest * (uint32_t)(table[step + 1u] - table[step]);
}

/* v * multiplier / 2^shift, rounded: in 12288ths for both functions. */
static inline int32_t tw_sigmoid_scaled(int32_t v, int32_t multiplier, int32_t shift)
{
    return (v * multiplier + (shift > 0 ? 1 << (shift - 1) : 0)) >> shift;
}

/* sigmoid with 15 fraction bits. 0 <= multiplier < 2^15 and |v| <= 2^15, 0 <= shift <= 31. */
static inline int32_t tw_sigmoid_s16(const uint16_t *table, int32_t v, int32_t multiplier,
                                     int32_t shift)
{
    const int32_t scaled = tw_sigmoid_scaled(v, multiplier, shift);
    const uint32_t x = (uint32_t)(scaled < 0 ? -scaled : scaled);
    const uint32_t r = x >> 9 >= 255u ? 0x7FFFu << 10 : tw_sigmoid_between(table, x, 9);
    return (int32_t)((scaled >= 0 ? r + (1u << 9) : (1u << 25) - r + (1u << 9) - 1u) >> 10);
}

/* tanh with 15 fraction bits, 2 * sigmoid(2 x) - 1: half the table's step is a step of x. */
static inline int32_t tw_tanh_s16(const uint16_t *table, int32_t v, int32_t multiplier,
                                  int32_t shift)
{
    const int32_t scaled = tw_sigmoid_scaled(v, multiplier, shift);
    const uint32_t x = (uint32_t)(scaled < 0 ? -scaled : scaled);
    const int32_t r = x >> 8 >= 255u ? 0xFFFF << 8 : (int32_t)tw_sigmoid_between(table, x, 8);
    return scaled >= 0 ? (r - (1 << 23) + (1 << 7)) >> 8 : (-r + (1 << 23) + (1 << 7) - 1) >> 8;
}

/* The table rises: differences of neighbours are not negative. */
static inline int tw_sigmoid_rises(const uint16_t *table)
{
    for (int i = 0; i < TW_SIGMOID_POINTS - 1; i++)
        if (table[i] > table[i + 1])
            return 0;
    return 1;
}

#endif
