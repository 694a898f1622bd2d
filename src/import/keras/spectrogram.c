/* Sound to spectrograms. STFTSpectrogram is a convolution with kernels that the file holds, each channel by
 * itself. MelSpectrogram has no variables: frames of the signal are transformed, and their powers summed by
 * bands of the mel scale. */
#include <math.h>
#include <string.h>

#include "import/keras/keras.h"
#include "import/padding.h"
#include "import/transform.h"

static const double pi = 3.14159265358979323846;

enum { MOST_LENGTH = 1 << 20 }; /* of frames and transforms */

static tw_value *unary(tw_kr_node *n, const char *op, tw_value *x)
{
    return x ? tw_build1(n->b, op, x, NULL) : NULL;
}

static tw_value *binary(tw_kr_node *n, const char *op, tw_value *x, tw_value *y)
{
    return x && y ? tw_build2(n->b, op, x, y, NULL) : NULL;
}

/* --- STFTSpectrogram --------------------------------------------------------------------------- */

enum { LOG, MAGNITUDE, PSD, REAL, IMAG, ANGLE, STFT, MODES };

typedef struct spectrogram {
    int mode;
    bool first; /* channels first */
    int64_t frame, step, bins;
    int64_t begin, end; /* pads */
} spectrogram;

static bool read_mode(tw_kr_node *n, int *mode)
{
    static const char *const words[MODES] = {"log",  "magnitude", "psd", "real",
                                             "imag", "angle",     "stft"};
    const char *word = tw_kr_word(n, "mode", "log");
    for (*mode = 0; *mode < MODES; ++*mode)
        if (strcmp(words[*mode], word) == 0)
            return true;
    return TW_KR_UNSUPPORTED(
        n, "mode '%.40s'; log, magnitude, psd, real, imag, angle and stft are supported", word);
}

static bool read_spectrogram(tw_kr_node *n, const tw_value *x, spectrogram *s)
{
    int64_t power = 1;
    const char *padding = tw_kr_word(n, "padding", "valid");
    *s = (spectrogram){.first = tw_kr_channels_first(n)};
    s->frame = tw_kr_int(n, "frame_length", 256);
    s->step = tw_kr_int(n, "frame_step", s->frame / 2);
    while (power < s->frame && power < MOST_LENGTH)
        power *= 2;
    const int64_t length = tw_kr_int(n, "fft_length", power);
    if (s->frame < 1 || s->step < 1 || length < s->frame || length > MOST_LENGTH)
        return TW_KR_FAIL(n, "frames of %lld in steps of %lld, a transform of %lld",
                          (long long)s->frame, (long long)s->step, (long long)length);
    s->bins = length / 2 + 1;
    if (strcmp(padding, "same") == 0) {
        const tw_pads pads = tw_same_pads(x->shape.dim[s->first ? 2 : 1], s->step, s->frame);
        s->begin = pads.begin;
        s->end = pads.end;
    } else if (strcmp(padding, "valid") != 0) {
        return TW_KR_FAIL(n, "padding '%.40s' is neither valid nor same", padding);
    }
    return read_mode(n, &s->mode);
}

/* Kernel i as filters. */
static tw_value *filters(tw_kr_node *n, const spectrogram *s, int i, const char *what)
{
    const int64_t dim[] = {s->frame, 1, s->bins}, own[] = {s->bins, s->frame, 1, 1};
    tw_value *kernel = tw_kr_variable(n, n->store, i, what, 3, dim);
    return kernel ? tw_build_reshape(n->b, tw_kr_filters(n, kernel, 1), 4, own) : NULL;
}

/* x [batch, points, channels, 1] to [batch, frames, channels, filters]. */
static tw_value *frames_of(tw_kr_node *n, const spectrogram *s, tw_value *x, tw_value *kernel)
{
    const int64_t step[] = {s->step, 1}, begin[] = {s->begin, 0}, end[] = {s->end, 0};
    return x && kernel ? tw_build2(n->b, "Conv", x, kernel,
                                   TW_SETTINGS(tw_set_ints("stride", 2, step),
                                               tw_set_ints("pad_begin", 2, begin),
                                               tw_set_ints("pad_end", 2, end)))
                       : NULL;
}

/* What the layer makes of real and imaginary parts. A power spectral density has the power of the half that is
 * left out in it, too: twice, but for the first and the last bin. The logarithm's own bound is below the root's. */
static tw_value *combine(tw_kr_node *n, const spectrogram *s, tw_value *real, tw_value *imag)
{
    if (s->mode == ANGLE)
        return binary(n, "Atan2", imag, real);
    tw_value *power = binary(n, "Add", unary(n, "Square", real), unary(n, "Square", imag));
    if (s->mode == PSD) {
        double *twice = tw_alloc_array(n->import->scratch, (size_t)s->bins, sizeof *twice);
        for (int64_t i = 0; i < s->bins; i++)
            twice[i] = i > 0 && i < s->bins - 1 ? 2 : 1;
        return binary(n, "Mul", power, tw_kr_list(n, (int)s->bins, twice));
    }
    tw_value *root = unary(n, "Sqrt", binary(n, "Max", power, tw_kr_scalar(n, 1e-7)));
    return s->mode == LOG ? unary(n, "Log", root) : root;
}

static tw_value *spectrum(tw_kr_node *n, const spectrogram *s, tw_value *x)
{
    tw_value *real = s->mode != IMAG ? filters(n, s, 0, "real_kernel") : NULL;
    tw_value *imag = s->mode != REAL ? filters(n, s, s->mode == IMAG ? 0 : 1, "imag_kernel") : NULL;
    if (n->b->diag->code != TW_CODE_OK)
        return NULL;
    if (s->mode == STFT)
        real = tw_build_concat(n->b, (tw_value *[]){real, imag}, 2, 0);
    if (s->mode == REAL || s->mode == STFT)
        return frames_of(n, s, x, real);
    imag = frames_of(n, s, x, imag);
    return s->mode == IMAG ? imag : combine(n, s, frames_of(n, s, x, real), imag);
}

bool tw_kr_op_stft_spectrogram(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 3, 0));
    spectrogram s;
    if (!x || !read_spectrogram(n, x, &s))
        return false;
    x = s.first ? tw_build_channels_last(n->b, x) : x;
    if (!x)
        return false;
    const int64_t batch = x->shape.dim[0], channels = x->shape.dim[2];
    x = tw_build_reshape(n->b, x, 4, (int64_t[]){batch, x->shape.dim[1], channels, 1});
    tw_value *y = spectrum(n, &s, x);
    if (!y)
        return false;
    const int64_t frames = y->shape.dim[1], bins = y->shape.dim[3];
    if (tw_kr_flag(n, "expand_dims", false))
        return tw_kr_set(
            n, tw_build_transpose(n->b, y, 4,
                                  s.first ? (int64_t[]){0, 2, 1, 3} : (int64_t[]){0, 1, 3, 2}));
    y = tw_build_reshape(n->b, y, 3, (int64_t[]){batch, frames, channels * bins});
    return tw_kr_set(n, s.first ? tw_build_channels_first(n->b, y) : y);
}

/* --- MelSpectrogram ---------------------------------------------------------------------------- */

typedef struct mel {
    int64_t transform, stride, window, bands; /* window: points of a frame that count */
    double rate, low, high, exponent;
} mel;

static bool read_mel(tw_kr_node *n, mel *m)
{
    m->transform = tw_kr_int(n, "fft_length", 2048);
    m->window = tw_kr_int(n, "sequence_length", m->transform);
    m->stride = tw_kr_int(n, "sequence_stride", 512);
    m->bands = tw_kr_int(n, "num_mel_bins", 128);
    m->rate = tw_kr_real(n, "sampling_rate", 16000);
    m->low = tw_kr_real(n, "min_freq", 20);
    m->high = tw_kr_real(n, "max_freq", floor(m->rate / 2));
    m->exponent = tw_kr_real(n, "mag_exp", 2);
    if (m->window < 1 || m->transform < m->window || m->transform > MOST_LENGTH || m->stride < 1 ||
        m->stride > INT32_MAX || m->bands < 1 || m->bands > MOST_LENGTH)
        return TW_KR_FAIL(n,
                          "%lld bands of frames of %lld points, %lld apart, in a transform of %lld",
                          (long long)m->bands, (long long)m->window, (long long)m->stride,
                          (long long)m->transform);
    return (m->rate > 0 && m->rate < 1e12 && m->low >= 0 && m->high > m->low && m->high < 1e12) ||
           TW_KR_FAIL(n, "bands from %g to %g Hz at %g samples a second", m->low, m->high, m->rate);
}

/* As TensorFlow has them: a window of even length as if it had one point more. Null without a message: no
 * window. */
static tw_value *window_of(tw_kr_node *n, const mel *m)
{
    const json_t *value = json_object_get(n->config, "window");
    const char *word = value ? json_string_value(value) : "hann";
    if (json_is_null(value))
        return NULL;
    if (!word) {
        tw_value *given = tw_kr_numbers(n, "window", value, 1);
        if (given && (given->shape.rank != 1 || given->shape.dim[0] != m->window)) {
            TW_KR_FAIL(n, "its window is no list of %lld numbers", (long long)m->window);
            return NULL;
        }
        return given;
    }
    const bool hann = strcmp(word, "hann") == 0;
    if (!hann && strcmp(word, "hamming") != 0) {
        TW_KR_UNSUPPORTED(n, "window '%.40s'; hann and hamming are supported", word);
        return NULL;
    }
    const double base = hann ? 0.5 : 0.54;
    const double period = m->window % 2 == 0 ? (double)m->window : (double)(m->window - 1);
    double *list = tw_alloc_array(n->import->scratch, (size_t)m->window, sizeof *list);
    for (int64_t i = 0; i < m->window; i++)
        list[i] = m->window == 1 ? 1 : base - (1 - base) * cos(2 * pi * (double)i / period);
    return tw_kr_list(n, (int)m->window, list);
}

/* Frames side by side, [batch, frames, window]: the signal in rows of a stride, of which each frame takes as
 * many as it needs, one behind the other. */
static tw_value *side_by_side(tw_kr_node *n, const mel *m, tw_value *x, int64_t frames)
{
    enum { MOST_PARTS = 256 };
    const int64_t batch = x->shape.dim[0], points = x->shape.dim[1];
    const int64_t parts = (m->window + m->stride - 1) / m->stride, rows = frames + parts - 1;
    tw_value *part[MOST_PARTS];
    if (parts > MOST_PARTS) {
        TW_KR_UNSUPPORTED(n, "frames of more than %d strides", MOST_PARTS);
        return NULL;
    }
    const int64_t before[] = {0, 0}, after[] = {0, rows * m->stride - points};
    if (after[1] > 0)
        x = tw_build1(
            n->b, "Pad", x,
            TW_SETTINGS(tw_set_ints("before", 2, before), tw_set_ints("after", 2, after)));
    else
        x = tw_build_slice(n->b, x, 1, 0, rows * m->stride, 1);
    x = tw_build_reshape(n->b, x, 3, (int64_t[]){batch, rows, m->stride});
    for (int64_t i = 0; x && i < parts; i++) {
        const int64_t left = m->window - i * m->stride;
        part[i] = tw_build_slice(n->b, x, 1, i, frames, 1);
        if (part[i] && left < m->stride)
            part[i] = tw_build_slice(n->b, part[i], 2, 0, left, 1);
    }
    return x ? tw_build_concat(n->b, part, (int)parts, 2) : NULL;
}

/* x [batch, points] to [batch, frames, 2 * bins], real and imaginary parts in turn. A fast transform where its
 * length allows one; else a convolution with the matrix. */
static tw_value *transformed(tw_kr_node *n, const mel *m, tw_value *x, tw_value *window,
                             int64_t frames)
{
    const int64_t length = m->transform, bins = length / 2 + 1;
    if (length >= 4 && length <= 1 << 15 && (length & (length - 1)) == 0) {
        x = side_by_side(n, m, x, frames);
        x = window ? binary(n, "Mul", x, window) : x;
        return x ? tw_build1(n->b, "SignalRfft", x, TW_SETTINGS(tw_set_int("length", length)))
                 : NULL;
    }
    const tw_transform t = {.length = (int32_t)length,
                            .points = (int32_t)m->window,
                            .parts = 1,
                            .results = (int32_t)bins,
                            .result_parts = 2};
    tw_value *weights = tw_build_transform(n->b, n->op, &t);
    weights = window ? binary(n, "Mul", weights, window) : weights;
    weights = tw_build_reshape(n->b, weights, 3, (int64_t[]){2 * bins, m->window, 1});
    x = tw_build_reshape(n->b, x, 3, (int64_t[]){x->shape.dim[0], x->shape.dim[1], 1});
    return x && weights ? tw_build2(n->b, "Conv", x, weights,
                                    TW_SETTINGS(tw_set_ints("stride", 1, &m->stride)))
                        : NULL;
}

/* Powers of the frames' bins, [batch, frames, bins]. Only those are asked for: where in the transform a short
 * window stands is the same to them. */
static tw_value *powers(tw_kr_node *n, mel *m, tw_value *x)
{
    const int64_t half = m->transform / 2, points = x->shape.dim[1], batch = x->shape.dim[0];
    const int64_t pads[] = {0, half}, axes[] = {3}, bins = half + 1;
    if (points <= half) {
        TW_KR_FAIL(n, "a signal of %lld points; a transform of %lld needs more than half as many",
                   (long long)points, (long long)m->transform);
        return NULL;
    }
    const int64_t frames = 1 + (points + 2 * half - m->transform) / m->stride;
    tw_value *window = window_of(n, m);
    if (n->b->diag->code != TW_CODE_OK)
        return NULL;
    if (!window)
        m->window = m->transform;
    const int64_t begin = (m->transform - m->window) / 2;
    x = tw_build1(n->b, "Pad", x,
                  TW_SETTINGS(tw_set_ints("before", 2, pads), tw_set_ints("after", 2, pads),
                              tw_set_word("mode", "reflect")));
    x = x ? tw_build_slice(n->b, x, 1, begin, (frames - 1) * m->stride + m->window, 1) : NULL;
    x = x ? transformed(n, m, x, window, frames) : NULL;
    x = unary(n, "Square", tw_build_reshape(n->b, x, 4, (int64_t[]){batch, frames, bins, 2}));
    x = x ? tw_build1(n->b, "ReduceSum", x,
                      TW_SETTINGS(tw_set_ints("axes", 1, axes), tw_set_int("keepdims", 0)))
          : NULL;
    if (m->exponent == 2)
        return x;
    return m->exponent == 1 ? unary(n, "Sqrt", x)
                            : binary(n, "Pow", x, tw_kr_scalar(n, m->exponent / 2));
}

static double to_mel(double hertz)
{
    return 1127 * log(1 + hertz / 700);
}

/* Triangles on the mel scale, [bands, bins]; nothing of the mean. */
static tw_value *band_weights(tw_kr_node *n, const mel *m)
{
    const int64_t bins = m->transform / 2 + 1;
    const double from = to_mel(m->low), width = (to_mel(m->high) - from) / (double)(m->bands + 1);
    if (bins * m->bands > TW_BUILD_LIMIT / (int64_t)sizeof(float)) {
        TW_KR_UNSUPPORTED(n, "%lld bands of %lld bins: more than %d bytes of weights",
                          (long long)m->bands, (long long)bins, TW_BUILD_LIMIT);
        return NULL;
    }
    float *data = tw_alloc_array(n->b->arena, (size_t)(bins * m->bands), sizeof *data);
    for (int64_t k = 1; k < bins; k++) {
        const double at = to_mel(m->rate / 2 * (double)k / (double)(bins - 1));
        for (int64_t i = 0; i < m->bands; i++) {
            const double rise = (at - from) / width - (double)i, weight = fmin(rise, 2 - rise);
            data[i * bins + k] = (float)fmax(weight, 0);
        }
    }
    const int32_t dim[2] = {(int32_t)m->bands, (int32_t)bins};
    return tw_build_data(n->b, tw_shape_of(TW_F32, 2, dim), data);
}

/* Decibels, at most top_db below the greatest of all. */
static tw_value *decibels(tw_kr_node *n, tw_value *x)
{
    const int64_t axes[] = {0, 1, 2};
    const double least = tw_kr_real(n, "min_power", 1e-10);
    const double reference = fmax(fabs(tw_kr_real(n, "ref_power", 1)), least);
    x = unary(n, "Log", binary(n, "Max", x, tw_kr_scalar(n, least)));
    x = binary(n, "Mul", x, tw_kr_scalar(n, 10 / log(10)));
    x = binary(n, "Sub", x, tw_kr_scalar(n, 10 * log10(reference)));
    tw_value *top =
        x ? tw_build1(n->b, "ReduceMax", x,
                      TW_SETTINGS(tw_set_ints("axes", 3, axes), tw_set_int("keepdims", 1)))
          : NULL;
    return binary(n, "Max", x, binary(n, "Sub", top, tw_kr_scalar(n, tw_kr_real(n, "top_db", 80))));
}

bool tw_kr_op_mel_spectrogram(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 2, TW_MAX_RANK - 1));
    mel m;
    int64_t dim[TW_MAX_RANK], batch = 1;
    if (!x || !read_mel(n, &m))
        return false;
    const int rank = x->shape.rank;
    for (int i = 0; i < rank - 1; i++)
        batch *= dim[i] = x->shape.dim[i];
    x = tw_build_reshape(n->b, x, 2, (int64_t[]){batch, x->shape.dim[rank - 1]});
    tw_value *y = x ? powers(n, &m, x) : NULL;
    y = binary(n, "FullyConnected", y, band_weights(n, &m));
    if (tw_kr_flag(n, "power_to_db", true))
        y = decibels(n, y);
    y = y ? tw_build_transpose(n->b, y, 3, (int64_t[]){0, 2, 1}) : NULL;
    if (!y)
        return false;
    dim[rank - 1] = m.bands;
    dim[rank] = y->shape.dim[2];
    return tw_kr_set(n, tw_build_reshape(n->b, y, rank + 1, dim));
}
