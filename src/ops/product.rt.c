/* The loops of product.h. In: operands that a kernel's check has verified and a patch that lies
 * inside them. Out: finished results. */
#include "ops/product.h"

/* Four floats side by side; compilers lower it to what the target has, lane by lane in the same
 * IEEE arithmetic. */
typedef float tw_f32x4 __attribute__((vector_size(16)));

/* Pixels that share the loads of one block of eight outputs, and sums (of four outputs each) that the
 * registers hold. */
#if defined(__SSE2__) || defined(__aarch64__)
enum { PIXELS = 4, BLOCK = 8, SUMS = 8 };
#else
enum { PIXELS = 2, BLOCK = 8, SUMS = 4 };
#endif

/* The taps of a patch as runs of contiguous products. */
typedef struct tw_runs {
    int32_t rows, columns, depth;
    ptrdiff_t w; /* from a kernel's first tap of all to its first inside */
} tw_runs;

static tw_runs runs_of(const tw_product *p, const tw_patch *patch)
{
    tw_runs t;
    t.rows = patch->rows.last - patch->rows.first;
    t.columns = patch->columns.last - patch->columns.first;
    t.depth = p->depth;
    t.w = patch->rows.first * p->w_row + patch->columns.first * p->w_column;
    if (p->x_column == p->depth && p->w_column == p->depth * p->w_depth) {
        t.depth *= t.columns;
        t.columns = t.columns > 0;
    }
    return t;
}

static float clamp_f32(const tw_product *p, float v)
{
    return v < p->low.f32 ? p->low.f32 : v > p->high.f32 ? p->high.f32 : v;
}

static inline tw_f32x4 load(const float *from)
{
    tw_f32x4 v;
    __builtin_memcpy(&v, from, sizeof v); /* freestanding: memcpy alone would be a call */
    return v;
}

/* `pixels` pixels by `vectors` times four outputs that are side by side in w. Both are constants where
 * it is inlined, and pixels * vectors is at most SUMS. */
static TW_INLINE void block_f32(const tw_product *p, const tw_runs *t, const float *x,
                                const float *w, const float *bias, float *y, const int pixels,
                                const int vectors)
{
    const ptrdiff_t x_pixel = p->x_pixel, w_depth = p->w_depth;
    tw_f32x4 sum[SUMS];
    int32_t r, c, i;
    int q, v, o;
    for (q = 0; q < pixels; q++) {
        const tw_f32x4 none = {0.0f, 0.0f, 0.0f, 0.0f};
        for (v = 0; v < vectors; v++)
            sum[q * vectors + v] = bias ? load(bias + 4 * v) : none;
    }
    for (r = 0; r < t->rows; r++) {
        for (c = 0; c < t->columns; c++) {
            const float *from = x + r * p->x_row + c * p->x_column;
            const float *by = w + r * p->w_row + c * p->w_column;
            for (i = 0; i < t->depth; i++, by += w_depth) {
                for (v = 0; v < vectors; v++) {
                    const tw_f32x4 weights = load(by + 4 * v);
                    for (q = 0; q < pixels; q++)
                        sum[q * vectors + v] += from[q * x_pixel + i] * weights;
                }
            }
        }
    }
    for (q = 0; q < pixels; q++) {
        for (v = 0; v < vectors; v++) {
            float done[4];
            __builtin_memcpy(done, &sum[q * vectors + v], sizeof done);
            for (o = 0; o < 4; o++)
                y[q * p->y_pixel + 4 * v + o] = clamp_f32(p, done[o]);
        }
    }
}

/* One pixel, four outputs, weights in any order. */
static void four_f32(const tw_product *p, const tw_runs *t, const float *x, const float *w,
                     const float *bias, float *y)
{
    float a = bias ? bias[0] : 0.0f, b = bias ? bias[1] : 0.0f;
    float c = bias ? bias[2] : 0.0f, d = bias ? bias[3] : 0.0f;
    const ptrdiff_t next = p->w_output;
    int32_t row, column, i;
    for (row = 0; row < t->rows; row++) {
        for (column = 0; column < t->columns; column++) {
            const float *from = x + row * p->x_row + column * p->x_column;
            const float *by = w + row * p->w_row + column * p->w_column;
            for (i = 0; i < t->depth; i++, by += p->w_depth) {
                float v = from[i];
                a += v * by[0];
                b += v * by[next];
                c += v * by[2 * next];
                d += v * by[3 * next];
            }
        }
    }
    y[0] = clamp_f32(p, a);
    y[1] = clamp_f32(p, b);
    y[2] = clamp_f32(p, c);
    y[3] = clamp_f32(p, d);
}

static void one_f32(const tw_product *p, const tw_runs *t, const float *x, const float *w,
                    const float *bias, float *y)
{
    float sum = bias ? bias[0] : 0.0f;
    int32_t r, c, i;
    for (r = 0; r < t->rows; r++) {
        for (c = 0; c < t->columns; c++) {
            const float *from = x + r * p->x_row + c * p->x_column;
            const float *by = w + r * p->w_row + c * p->w_column;
            for (i = 0; i < t->depth; i++)
                sum += from[i] * by[i * p->w_depth];
        }
    }
    y[0] = clamp_f32(p, sum);
}

/* Outputs in any order of the weights, from the o-th on. */
static void rest_f32(const tw_product *p, const tw_runs *t, const float *x, const float *w,
                     const float *bias, float *y, int32_t o, int32_t outputs)
{
    for (; o + 4 <= outputs; o += 4)
        four_f32(p, t, x, w + o * p->w_output, bias ? bias + o : NULL, y + o);
    for (; o < outputs; o++)
        one_f32(p, t, x, w + o * p->w_output, bias ? bias + o : NULL, y + o);
}

void tw_product_f32(const tw_product *p, const tw_patch *patch, const float *x, const float *w,
                    const float *bias, float *y, int32_t outputs)
{
    const tw_runs t = runs_of(p, patch);
    int32_t o = 0, q, together = 0;
    w += t.w;
    if (p->w_output == 1) {
        together = patch->pixels - patch->pixels % PIXELS;
        for (o = 0; o + BLOCK <= outputs; o += BLOCK)
            for (q = 0; q < together; q += PIXELS)
                block_f32(p, &t, x + q * p->x_pixel, w + o, bias ? bias + o : NULL,
                          y + q * p->y_pixel + o, PIXELS, BLOCK / 4);
        for (q = 0; q < together; q++)
            rest_f32(p, &t, x + q * p->x_pixel, w, bias, y + q * p->y_pixel, o, outputs);
    }
    for (q = together; q < patch->pixels; q++) {
        o = 0;
        if (p->w_output == 1) {
            for (; o + 4 * SUMS <= outputs; o += 4 * SUMS)
                block_f32(p, &t, x + q * p->x_pixel, w + o, bias ? bias + o : NULL,
                          y + q * p->y_pixel + o, 1, SUMS);
            for (; o + BLOCK <= outputs; o += BLOCK)
                block_f32(p, &t, x + q * p->x_pixel, w + o, bias ? bias + o : NULL,
                          y + q * p->y_pixel + o, 1, BLOCK / 4);
        }
        rest_f32(p, &t, x + q * p->x_pixel, w, bias, y + q * p->y_pixel, o, outputs);
    }
}

/* ---- checks ---- */

int tw_extents_check(const tw_view *view, uint32_t dtype, int least, int most)
{
    const tw_tensor *t = view->tensor;
    int64_t count = 1;
    int i;
    if (!t || t->dtype != dtype || (int)t->rank < least || (int)t->rank > most)
        return 0;
    for (i = 0; i < (int)t->rank; i++) {
        if (t->dim[i] < 0 || t->stride[i] < 0)
            return 0;
        count *= t->dim[i];
        if (count > INT32_MAX)
            return 0;
    }
    return 1;
}

int tw_operand_check(const tw_view *view, uint32_t dtype, int least, int most)
{
    const tw_tensor *t = view->tensor;
    return tw_extents_check(view, dtype, least, most) &&
           (t->rank == 0 || t->dim[t->rank - 1] <= 1 || t->stride[t->rank - 1] == 1);
}

int tw_vector_check(const tw_view *view, uint32_t dtype, int32_t count)
{
    return !view->tensor || (tw_operand_check(view, dtype, 1, 1) && view->tensor->dim[0] == count);
}

int tw_bias_check(const tw_call *call, int32_t outputs)
{
    return call->in_count < 3 || tw_vector_check(&call->in[2], TW_F32, outputs);
}

int tw_groups_check(const tw_tensor *x, const tw_tensor *w, const tw_tensor *y, int32_t group)
{
    const int32_t channels = x->dim[x->rank - 1], outputs = y->dim[y->rank - 1];
    const int32_t depth = w->dim[w->rank - 1];
    return group >= 1 && outputs >= 1 && depth >= 1 && w->dim[0] == outputs &&
           channels % group == 0 && outputs % group == 0 && depth == channels / group;
}

int tw_work(uint64_t *work, const int32_t *extents, int count)
{
    uint64_t product = 1;
    int i;
    for (i = 0; i < count; i++) {
        uint32_t extent = (uint32_t)extents[i];
        if (extent != 0 && product > (uint64_t)INT64_MAX / extent)
            return 0;
        product *= extent;
    }
    *work = product;
    return 1;
}
