/* The audio front end of TensorFlow Lite Micro (its Signal custom operators): fixed-point feature
 * extraction, bit for bit. All work along the last axis.
 *
 *     SignalWindow(x, w)            s16 [.., N], s16 [N]: (x * w) >> shift, saturated
 *     SignalAutoScale(x)            s16: x * 2^bits, as large as fits; bits, s32 []
 *     SignalRfft(x)                 s16, s32, f32 [.., N] to [.., length + 2]: kissfft's real transform, x
 *                                   padded with zeros to `length`, real and imaginary parts in turn
 *     SignalIrfft(x)                [.., length + 2] to [.., length]: the inverse
 *     SignalEnergy(x)               s16 [.., 2 N] to u32 [.., N]: re^2 + im^2 from `start` up to `end`,
 *                                   elsewhere 0
 *     SignalFilterBank(x, w, u, f, s, n)   u32 [.., N] to u64 [.., C]: channel c is the sum of
 *                                   x * w over its own run and of x * u over the run before it; run c,
 *                                   0 <= c <= C, has n[c] elements from x[f[c]] and w[s[c]], u[s[c]] on
 *     SignalSquareRoot(x, bits)     u64 to u32: the root, rounded, >> bits
 *     SignalSubtraction(x, e)       u32, state u32: less a noise estimate that follows x; the result
 *                                   and the new estimate
 *     SignalPcan(x, e, g)           u32: automatic gain by a table g of the estimate e
 *     SignalLog(x)                  u32 to s16: log(x * 2^correction) * scale
 *
 * The estimate: e = (x * 2^bits * a + e * b) >> shift, a and b those of even or odd channels. */
#ifndef TW_OPS_SIGNAL_H
#define TW_OPS_SIGNAL_H

#include "ops/attributes.h"

/* clang-format off */
#define TW_SIGNAL_WINDOW_ATTRIBUTES(A, T)                                                          \
    A(T, INT, shift, 0, 0, 31, "bits to drop of the product")
#define TW_SIGNAL_RFFT_ATTRIBUTES(A, T)                                                            \
    A(T, INT, length, 0, 4, 1 << 15, "of the transform, a power of two")
#define TW_SIGNAL_ENERGY_ATTRIBUTES(A, T)                                                          \
    A(T, INT, start, 0, 0, 1 << 20, "first index")                                                 \
    A(T, INT, end, 0, 0, 1 << 20, "index behind the last")
#define TW_SIGNAL_FILTER_BANK_ATTRIBUTES(A, T)                                                     \
    A(T, INT, channels, 1, 1, 1 << 15, "results")
#define TW_SIGNAL_SUBTRACTION_ATTRIBUTES(A, T)                                                     \
    A(T, INT, even_new, 0, 0, INT32_MAX, "weight of x in the estimate, even channels")             \
    A(T, INT, even_old, 0, 0, INT32_MAX, "weight of the old estimate, even channels")              \
    A(T, INT, odd_new, 0, 0, INT32_MAX, "weight of x in the estimate, odd channels")               \
    A(T, INT, odd_old, 0, 0, INT32_MAX, "weight of the old estimate, odd channels")                \
    A(T, INT, remaining, 0, 0, INT32_MAX, "least part of x that remains")                          \
    A(T, INT, bits, 0, 0, 31, "fraction bits of the estimate")                                     \
    A(T, INT, shift, 0, 0, 63, "fraction bits of the weights")                                     \
    A(T, BOOL, clamp, 0, 0, 1, "the estimate is at most x")
#define TW_SIGNAL_PCAN_ATTRIBUTES(A, T)                                                            \
    A(T, INT, shift, 0, 0, 63, "bits to drop of the product with the gain")
#define TW_SIGNAL_LOG_ATTRIBUTES(A, T)                                                             \
    A(T, INT, correction, 0, 0, 31, "bits by which x is shifted left")                             \
    A(T, INT, scale, 1, 0, INT32_MAX, "factor of the logarithm")
/* clang-format on */

TW_ATTRIBUTE_STRUCT(signal_window, TW_SIGNAL_WINDOW_ATTRIBUTES);
TW_ATTRIBUTE_STRUCT(signal_rfft, TW_SIGNAL_RFFT_ATTRIBUTES);
typedef tw_signal_rfft_attributes tw_signal_irfft_attributes;
TW_ATTRIBUTE_STRUCT(signal_energy, TW_SIGNAL_ENERGY_ATTRIBUTES);
TW_ATTRIBUTE_STRUCT(signal_filter_bank, TW_SIGNAL_FILTER_BANK_ATTRIBUTES);
TW_ATTRIBUTE_STRUCT(signal_subtraction, TW_SIGNAL_SUBTRACTION_ATTRIBUTES);
TW_ATTRIBUTE_STRUCT(signal_pcan, TW_SIGNAL_PCAN_ATTRIBUTES);
TW_ATTRIBUTE_STRUCT(signal_log, TW_SIGNAL_LOG_ATTRIBUTES);

/* A filter's run: blob 0 of SignalFilterBank, one more than there are channels. */
typedef struct tw_filter_run {
    int32_t x, w, count;
} tw_filter_run;

/* Elements of SignalPcan's table that can be read. */
#define TW_PCAN_TABLE 125

/* Blob 0 of SignalLog: 65536 * (log2(1 + i / 128) - i / 128), and the last again. */
#define TW_LOG_TABLE 130

/* Blobs 0 and 1 of SignalRfft: e^(-2 pi i k / n) for k < n, n = length / 2, and e^(-pi i (k / n + 1/2)) for
 * 1 <= k <= n / 2, of integers times the greatest; of SignalIrfft the conjugates. */
typedef struct tw_complex_s16 {
    int16_t re, im;
} tw_complex_s16;
typedef struct tw_complex_s32 {
    int32_t re, im;
} tw_complex_s32;
typedef struct tw_complex_f32 {
    float re, im;
} tw_complex_f32;

#endif
