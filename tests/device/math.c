/* Prints one checksum for each function of runtime/math.h over bit patterns of every kind. The same
 * program runs on the host and on microcontrollers: all lines must be equal (tests/device/math-bits).
 * NaN counts as one value: which bits an addition gives it is the processor's choice. */
#include "backends/arm_dsp.h"
#include "board.h"
#include "runtime/fixed.h"
#include "runtime/math.h"

static const struct {
    const char *name;
    float (*function)(float);
} functions[] = {
    {"exp", tw_expf},     {"log", tw_logf},     {"tanh", tw_tanhf},   {"sigmoid", tw_sigmoidf},
    {"sqrt", tw_sqrtf},   {"log1p", tw_log1pf}, {"expm1", tw_expm1f}, {"softplus", tw_softplusf},
    {"sin", tw_sinf},     {"cos", tw_cosf},     {"tan", tw_tanf},     {"asin", tw_asinf},
    {"acos", tw_acosf},   {"atan", tw_atanf},   {"sinh", tw_sinhf},   {"cosh", tw_coshf},
    {"asinh", tw_asinhf}, {"acosh", tw_acoshf}, {"atanh", tw_atanhf}, {"erf", tw_erff},
    {"erfc", tw_erfcf},   {"floor", tw_floorf}, {"ceil", tw_ceilf},   {"trunc", tw_truncf},
    {"rint", tw_rintf},   {"round", tw_roundf},
};

static uint32_t add(uint32_t sum, uint32_t bits)
{
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        bits = 0x7FC00000u;
    return (sum ^ bits) * 16777619u;
}

static void print_line(const char *name, uint32_t sum)
{
    char text[12];
    for (int i = 0; i < 8; i++)
        text[i] = "0123456789abcdef"[sum >> (28 - 4 * i) & 15u];
    text[8] = '\n';
    text[9] = 0;
    board_print(name);
    board_print(" ");
    board_print(text);
}

/* An int8 result, shift < 0: where the DSP extension is, as the kernels there make it. */
static int8_t requantize_s8(int32_t x, int32_t multiplier, int32_t shift, int32_t zero)
{
#ifdef TW_ARM_DSP
    return tw_requantize_down_s8(x, multiplier, ~shift, 2 * zero + 1);
#else
    return (int8_t)(tw_clamp_s32(tw_requantize(x, multiplier, shift), INT8_MIN - zero,
                                 INT8_MAX - zero) +
                    zero);
#endif
}

/* Sums of every size, and those at the ends of 32 bits. */
static uint32_t requantize_many(uint32_t count)
{
    static const int32_t ends[] = {INT32_MIN, INT32_MAX, INT32_MIN + 1, 1 << 30, -(1 << 30), -1};
    uint32_t sum = 2166136261u, i;
    for (i = 0; i < count; i++) {
        const uint32_t random = i * 2654435761u;
        const int32_t x = i % 8 < 6 ? (int32_t)random >> i % 31 : ends[i / 8 % 6];
        const int32_t multiplier = i % 16 == 15   ? 0
                                   : i % 16 == 14 ? INT32_MAX
                                                  : (int32_t)(1u << 30 | random >> 2);
        const int32_t shift = -1 - (int32_t)(i / 3 % 31), zero = (int32_t)(i / 7 % 256) - 128;
        sum = add(sum, (uint32_t)requantize_s8(x, multiplier, shift, zero));
    }
    return sum;
}

int main(void)
{
    const uint32_t step = 499979u; /* prime: 8,590 patterns over all signs, exponents, mantissas */
    const uint32_t count = 8590u;
    uint32_t power = 2166136261u, rest = power, fixed = power, whole = power;
    for (uint32_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        uint32_t sum = 2166136261u;
        for (uint32_t i = 0; i < count; i++)
            sum = add(sum, tw_bits_of(functions[f].function(tw_float_of(i * step))));
        print_line(functions[f].name, sum);
    }
    for (uint32_t i = 0; i < count; i++) {
        float x = tw_float_of(i * step), y = tw_float_of(i * 2654435761u);
        float near = tw_float_of(0x3F000000u + (i * 12345u & 0xFFFFFFu)); /* 0.5 to 2 */
        power = add(add(power, tw_bits_of(tw_powf(x, y))),
                    tw_bits_of(tw_powf(near, (float)(int32_t)(i % 256u) - 128.0f)));
        rest = add(add(rest, tw_bits_of(tw_fmodf(x, y))), tw_bits_of(tw_floor_modf(x, near)));
        whole = add(whole, (uint32_t)tw_to_s32_half_even(x) ^ (uint32_t)tw_to_s32_half_away(y));
        fixed = add(fixed, (uint32_t)tw_requantize((int32_t)(i * 2654435761u),
                                                   (int32_t)(0x40000000u | (i * step >> 2)),
                                                   (int32_t)(i % 32u) - 31));
        fixed = add(fixed, (uint32_t)tw_reciprocal((int32_t)(i * step >> 1)));
    }
    print_line("pow", power);
    print_line("mod", rest);
    print_line("whole", whole);
    print_line("fixed", fixed);
    print_line("int8", requantize_many(60000));
    return 0;
}
