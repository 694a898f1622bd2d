/* Fourier transforms, windows and mel filters. A transform of a fixed length is a product with a constant
 * matrix; a short-time transform is a convolution with its rows. */
#include <math.h>
#include <string.h>

#include "import/onnx/onnx.h"
#include "import/onnx/tensor.h"
#include "import/transform.h"

static const double pi = 3.14159265358979323846;

/* The number that input i holds, which must be known now. */
static bool number_in(tw_onnx_node *n, int i, const char *what, double *number)
{
    tw_value *in = tw_onnx_need(n, i);
    if (!in)
        return false;
    if (tw_shape_elements(&in->shape) != 1)
        return TW_ONNX_FAIL(n, "%s (input %d) must be one number", what, i);
    if (!tw_build_constant(n->b, in))
        return TW_ONNX_UNSUPPORTED(n, "%s (input %d, '%s') must be constant: it fixes a shape",
                                   what, i, in->name);
    *number = tw_constant_at(in, 0);
    return true;
}

static bool count_in(tw_onnx_node *n, int i, const char *what, int32_t *count)
{
    double number;
    if (!number_in(n, i, what, &number))
        return false;
    if (!(number >= 1 && number <= TW_BUILD_LIMIT))
        return TW_ONNX_FAIL(n, "%s is %g", what, number);
    *count = (int32_t)number;
    return true;
}

/* --- DFT --------------------------------------------------------------------------------------- */

static bool read_transform(tw_onnx_node *n, const tw_shape *x, int *axis, tw_transform *t)
{
    int rank = x->rank;
    int64_t given = n->opset < 20 ? tw_onnx_int(n, "axis", 1) : -2;
    bool onesided = tw_onnx_int(n, "onesided", 0) != 0;
    double number;
    t->inverse = tw_onnx_int(n, "inverse", 0) != 0;
    if (n->opset >= 20 && tw_onnx_in(n, 2)) {
        if (!number_in(n, 2, "the axis", &number))
            return false;
        given = (int64_t)number;
    }
    if (rank < 2 || (x->dim[rank - 1] != 1 && x->dim[rank - 1] != 2))
        return TW_ONNX_FAIL(n, "the last axis must hold real parts, or real and imaginary ones");
    if (!tw_onnx_axis(n, given, rank, axis))
        return false;
    if (*axis == rank - 1)
        return TW_ONNX_FAIL(n, "axis %lld is that of the parts", (long long)given);
    t->points = x->dim[*axis];
    t->parts = x->dim[rank - 1];
    t->folded = onesided && t->inverse;
    t->length = t->folded ? 2 * (t->points - 1) : t->points;
    if (tw_onnx_in(n, 1) && !count_in(n, 1, "the length", &t->length))
        return false;
    if (t->length < 1)
        return TW_ONNX_FAIL(n, "a transform of no points");
    int32_t half = t->length / 2 + 1, most = t->folded ? half : t->length;
    t->points = t->points < most ? t->points : most;
    t->results = onesided && !t->inverse ? half : t->length;
    t->result_parts = t->folded ? 1 : 2;
    return true;
}

static tw_value *swap_axes(tw_builder *b, tw_value *x, int one, int other)
{
    int64_t perm[TW_MAX_RANK];
    for (int i = 0; x && i < x->shape.rank; i++)
        perm[i] = i == one ? other : i == other ? one : i;
    return !x || one == other ? x : tw_build_transpose(b, x, x->shape.rank, perm);
}

bool tw_onnx_op_dft(tw_onnx_node *n)
{
    tw_value *x = n->in[0];
    int axis, rank = x->shape.rank;
    tw_transform t = {0};
    if (!read_transform(n, &x->shape, &axis, &t))
        return false;
    if (x->shape.dtype != TW_F32)
        return TW_ONNX_UNSUPPORTED(n, "type %s is not supported; export in FLOAT",
                                   tw_dtype_name(x->shape.dtype));
    tw_value *weights = tw_build_transform(n->b, n->op, &t);
    x = tw_build_slice(n->b, x, axis, 0, t.points, 1);
    x = swap_axes(n->b, x, axis, rank - 2);
    if (!x || !weights)
        return false;
    int64_t flat[2] = {1, (int64_t)t.points * t.parts}, dim[TW_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        dim[i] = i == rank - 2 ? t.results : i == rank - 1 ? t.result_parts : x->shape.dim[i];
        flat[0] *= i < rank - 2 ? x->shape.dim[i] : 1;
    }
    tw_value *y =
        tw_build2(n->b, "FullyConnected", tw_build_reshape(n->b, x, 2, flat), weights, NULL);
    y = tw_build_reshape(n->b, y, rank, dim);
    return tw_onnx_bind(n, 0, swap_axes(n->b, y, axis, rank - 2));
}

/* --- STFT -------------------------------------------------------------------------------------- */

/* A signal [batch, points, parts]; exporters leave out the one part of a real signal. */
static tw_value *signal_of(tw_onnx_node *n)
{
    tw_value *x = n->in[0];
    if (x->shape.dtype == TW_F32 && x->shape.rank == 2) {
        int64_t dim[] = {x->shape.dim[0], x->shape.dim[1], 1};
        return tw_build_reshape(n->b, x, 3, dim);
    }
    if (x->shape.dtype == TW_F32 && x->shape.rank == 3 &&
        (x->shape.dim[2] == 1 || x->shape.dim[2] == 2))
        return x;
    TW_ONNX_UNSUPPORTED(n, "the signal must be FLOAT, [batch, points, 1 or 2] or [batch, points]");
    return NULL;
}

/* Frames of a signal, each under the window: [batch, frames, results, 2]. */
bool tw_onnx_op_stft(tw_onnx_node *n)
{
    tw_value *x = signal_of(n), *window = tw_onnx_in(n, 2);
    bool onesided = tw_onnx_int(n, "onesided", 1) != 0;
    int32_t step;
    tw_transform t = {.result_parts = 2};
    if (!x || !count_in(n, 1, "the step", &step))
        return false;
    if (window && window->shape.rank != 1)
        return TW_ONNX_FAIL(n, "the window must be a list");
    t.length = window ? window->shape.dim[0] : x->shape.dim[1];
    if (tw_onnx_in(n, 3) && !count_in(n, 3, "the length of a frame", &t.length))
        return false;
    if (t.length < 1 || t.length > x->shape.dim[1] || (window && window->shape.dim[0] != t.length))
        return TW_ONNX_FAIL(n, "a frame of %d points of %d", (int)t.length, (int)x->shape.dim[1]);
    t.points = t.length;
    t.parts = x->shape.dim[2];
    t.results = onesided ? t.length / 2 + 1 : t.length;
    int64_t dim[] = {2 * (int64_t)t.results, t.length, t.parts}, over[] = {1, t.length, 1};
    tw_value *weights = tw_build_reshape(n->b, tw_build_transform(n->b, n->op, &t), 3, dim);
    if (window)
        weights = tw_build2(n->b, "Mul", weights, tw_build_reshape(n->b, window, 3, over), NULL);
    int64_t stride[] = {step};
    tw_value *y =
        tw_build2(n->b, "Conv", x, weights, TW_SETTINGS(tw_set_ints("stride", 1, stride)));
    if (!y)
        return false;
    int64_t out[] = {x->shape.dim[0], y->shape.dim[1], t.results, 2};
    return tw_onnx_bind(n, 0, tw_build_reshape(n->b, y, 4, out));
}

/* --- windows ----------------------------------------------------------------------------------- */

/* The result in the type that the node asks for. */
static bool bind_floats(tw_onnx_node *n, int rank, const int32_t *dim, const float *data)
{
    int64_t type = tw_onnx_int(n, "output_datatype", 1);
    tw_dtype dtype = tw_onnx_dtype(type);
    if (dtype == TW_NO_DTYPE)
        return tw_onnx_refuse_dtype(type, "the result", n->b->diag);
    tw_value *y = tw_build_data(n->b, tw_shape_of(TW_F32, rank, dim), data);
    return tw_onnx_bind(n, 0, tw_build_cast(n->b, y, dtype));
}

/* a - b cos(2 pi i / n) + c cos(4 pi i / n) */
static bool cosine_window(tw_onnx_node *n, double a, double b, double c)
{
    bool periodic = tw_onnx_int(n, "periodic", 1) != 0;
    int32_t size;
    if (!count_in(n, 0, "the size", &size))
        return false;
    double period = periodic ? size : size > 1 ? size - 1 : 1;
    float *data = tw_alloc(n->b->arena, (size_t)size * sizeof *data);
    for (int32_t i = 0; i < size; i++)
        data[i] = (float)(a - b * cos(2 * pi * i / period) + c * cos(4 * pi * i / period));
    return bind_floats(n, 1, &size, data);
}

bool tw_onnx_op_hann_window(tw_onnx_node *n)
{
    return cosine_window(n, 0.5, 0.5, 0);
}

bool tw_onnx_op_hamming_window(tw_onnx_node *n)
{
    return cosine_window(n, 25.0 / 46, 21.0 / 46, 0);
}

bool tw_onnx_op_blackman_window(tw_onnx_node *n)
{
    return cosine_window(n, 0.42, 0.5, 0.08);
}

/* --- mel filters ------------------------------------------------------------------------------- */

static double to_mel(double hertz)
{
    return 2595 * log10(1 + hertz / 700);
}

/* Triangles over bins of a spectrum: up from edge[0] to edge[1], down to edge[2]. */
static void fill_triangle(float *column, int32_t step, int32_t bins, const double *edge)
{
    for (int32_t j = 0; j < bins; j++) {
        double value = 0;
        if (edge[1] == edge[0] ? j == edge[1] : j >= edge[0] && j <= edge[1])
            value = edge[1] == edge[0] ? 1 : (j - edge[0]) / (edge[1] - edge[0]);
        if (edge[2] > edge[1] && j >= edge[1] && j < edge[2])
            value = (edge[2] - j) / (edge[2] - edge[1]);
        column[(int64_t)j * step] = (float)value;
    }
}

bool tw_onnx_op_mel_weight_matrix(tw_onnx_node *n)
{
    int32_t bands, length;
    double rate, low, high;
    if (!count_in(n, 0, "the number of bands", &bands) || !count_in(n, 1, "the length", &length) ||
        !number_in(n, 2, "the sample rate", &rate) || !number_in(n, 3, "the lower edge", &low) ||
        !number_in(n, 4, "the upper edge", &high))
        return false;
    int32_t bins = length / 2 + 1;
    if (!(rate > 0 && low >= 0 && high >= low) ||
        (int64_t)bins * bands > TW_BUILD_LIMIT / (int64_t)sizeof(float))
        return TW_ONNX_FAIL(n, "%d bands from %g to %g Hz of %d points at %g Hz", (int)bands, low,
                            high, (int)length, rate);
    double from = to_mel(low), step = (to_mel(high) - from) / (bands + 2);
    float *data = tw_alloc(n->b->arena, (size_t)bins * (size_t)bands * sizeof *data);
    for (int32_t i = 0; i < bands; i++) {
        double edge[3];
        for (int k = 0; k < 3; k++)
            edge[k] =
                floor((length + 1) * (700 * (pow(10, (from + (i + k) * step) / 2595) - 1)) / rate);
        fill_triangle(data + i, bands, bins, edge);
    }
    const int32_t dim[2] = {bins, bands};
    return bind_floats(n, 2, dim, data);
}
