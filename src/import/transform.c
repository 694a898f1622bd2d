/* The matrix of a Fourier transform. */
#include "import/transform.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* What part `from` of point i adds to part `to` of result k. */
static double coefficient(const tw_transform *t, int32_t i, int from, int32_t k, int to)
{
    double angle = 2 * pi * (double)((int64_t)i * k % t->length) / t->length;
    double sine = t->inverse ? sin(angle) : -sin(angle);
    double c = from == to ? cos(angle) : to == 1 ? sine : -sine;
    if (t->folded && i > 0 && 2 * i != t->length)
        c *= 2;
    return t->inverse ? c / t->length : c;
}

tw_value *tw_build_transform(tw_builder *b, const char *op, const tw_transform *t)
{
    int64_t rows = (int64_t)t->results * t->result_parts, columns = (int64_t)t->points * t->parts;
    if (rows * columns > TW_BUILD_LIMIT / (int64_t)sizeof(float)) {
        tw_fail(b->diag, TW_CODE_UNSUPPORTED, b->node, op,
                "a transform of %d points to %d: its matrix is larger than %d bytes",
                (int)t->points, (int)t->results, TW_BUILD_LIMIT);
        return NULL;
    }
    float *data = tw_alloc(b->arena, (size_t)(rows * columns) * sizeof *data + 1);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            data[r * columns + c] =
                (float)coefficient(t, (int32_t)(c / t->parts), (int)(c % t->parts),
                                   (int32_t)(r / t->result_parts), (int)(r % t->result_parts));
    const int32_t dim[2] = {(int32_t)rows, (int32_t)columns};
    return tw_build_data(b, tw_shape_of(TW_F32, 2, dim), data);
}
