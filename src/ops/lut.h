/* Lut: out[i] = table[x[i]], x and out of 8 bits. As an IR operator it carries its table as a
 * constant of 256 elements, indexed by x's stored byte taken as unsigned; as a kernel it serves
 * every unary operator on 8-bit types with scales, with a table prepared by the compiler.
 *
 * On int16 with scales unary operators are one of TFLite's forms, told by blob 0:
 *
 *     LINES     x * above where x >= 0, x * below else, both requantised
 *     TABLE     513 values, every 128 steps from -32768 on (blob 1), and straight lines between
 *     SIGMOID   1 / (1 + e^-x), TANH tanh(x): sigmoid_s16.h, whose table is blob 1 */
#ifndef TW_OPS_LUT_H
#define TW_OPS_LUT_H

#include <stdint.h>

#define TW_LUT_SIZE 256

enum { TW_LUT_LINES, TW_LUT_TABLE, TW_LUT_SIGMOID, TW_LUT_TANH, TW_LUT_FORMS };

/* Blob 0 on int16. The sigmoidal forms use the multiplier and shift of `above`. */
typedef struct tw_lut_s16 {
    int32_t form;
    int32_t above_multiplier, above_shift, above_negated;
    int32_t below_multiplier, below_shift, below_negated;
} tw_lut_s16;

/* Values of the int16 table. */
#define TW_LUT_POINTS 513

/* The table at v. */
static inline int32_t tw_lut_between(const int16_t *table, int32_t v)
{
    const int32_t index = 256 + (v >> 7), rest = v & 127;
    return table[index] + (((table[index + 1] - table[index]) * rest + 64) >> 7);
}

#endif
