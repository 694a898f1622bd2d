/* The int8 sums of product.h against the formula, in plain loops: depths around every block size, odd
 * numbers of outputs and pixels, zero points on both sides, weights that end where their memory ends;
 * and the requantisation of many lanes against that of one, at every shift. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/product.h"
#include "support/operate.h"

enum { CHANNELS = 37 };

typedef struct tw_tables {
    int32_t multiplier[CHANNELS], shift[CHANNELS], bias[CHANNELS];
    tw_channels q;
} tw_tables;

static void random_tables(tw_tables *t, int32_t most_shift, uint64_t *state)
{
    static const int32_t ends[] = {0, 1 << 30, INT32_MAX, (1 << 30) + 1};
    for (int c = 0; c < CHANNELS; c++) {
        t->multiplier[c] = tw_operate_range(state, 0, 3)
                               ? tw_operate_range(state, 1 << 30, INT32_MAX)
                               : ends[tw_operate_range(state, 0, 3)];
        t->shift[c] = tw_operate_range(state, -31, most_shift);
        t->bias[c] = tw_operate_range(state, -5000, 5000);
    }
    t->q = (tw_channels){t->multiplier,
                         t->shift,
                         t->bias,
                         tw_operate_range(state, -128, 127),
                         0,
                         tw_operate_range(state, -128, 127),
                         0,
                         0};
    int32_t low = tw_operate_range(state, -128, 127);
    t->q.low = low - t->q.out_zero;
    t->q.high = tw_operate_range(state, low, 127) - t->q.out_zero;
}

static void test_store(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (int run = 0; run < 20000; run++) {
        static const uint32_t ends[] = {0, 1, UINT32_MAX, INT32_MAX, 1u << 31, 1u << 30};
        tw_tables t;
        uint32_t sum[CHANNELS], less = (uint32_t)tw_operate_range(&state, -9, 9);
        int8_t y[CHANNELS + 1];
        random_tables(&t, run % 4 ? 0 : 30, &state);
        int32_t first = tw_operate_range(&state, 0, CHANNELS - 1);
        int32_t n = tw_operate_range(&state, 1, CHANNELS - first);
        for (int c = 0; c < n; c++) {
            sum[c] = (uint32_t)tw_operate_random(&state) >> tw_operate_range(&state, 0, 31);
            sum[c] = tw_operate_range(&state, 0, 1) ? -sum[c] : sum[c];
            if (tw_operate_range(&state, 0, 7) == 0)
                sum[c] = ends[tw_operate_range(&state, 0, 5)];
        }
        y[n] = 77;
        tw_channels_store(&t.q, first, sum, less, y, n);
        for (int c = 0; c < n; c++)
            assert_int_equal(y[c], tw_channels_finish(&t.q, first + c,
                                                      sum[c] + (uint32_t)t.bias[first + c] - less));
        assert_int_equal(y[n], 77);
    }
}

/* A kernel of rows by columns by depth on `pixels` pixels, some of whose taps are padding. */
static void check_product(int32_t rows, int32_t columns, int32_t depth, int32_t outputs,
                          int32_t pixels, int gap, uint64_t *state)
{
    tw_tables t;
    const int32_t taps = rows * columns * depth, column = depth + gap;
    const size_t bytes = (size_t)rows * (size_t)columns * (size_t)column;
    random_tables(&t, 0, state);
    for (int c = 0; c < CHANNELS; c++)
        t.shift[c] = -tw_operate_range(state, 4, 9);
    t.q.w_zero = rows * columns == 1 ? tw_operate_range(state, -2, 2) : 0;
    int8_t *w = malloc((size_t)taps * (size_t)outputs), *x = malloc(bytes * (size_t)pixels);
    int8_t *y = malloc((size_t)(outputs * pixels));
    assert_true(w && x && y);
    for (int32_t i = 0; i < taps * outputs; i++)
        w[i] = (int8_t)tw_operate_random(state);
    for (size_t i = 0; i < bytes * (size_t)pixels; i++)
        x[i] = (int8_t)tw_operate_random(state);
    tw_product p = {.rows = rows,
                    .columns = columns,
                    .depth = depth,
                    .x_row = (ptrdiff_t)columns * column,
                    .x_column = column,
                    .w_output = taps,
                    .w_row = (ptrdiff_t)columns * depth,
                    .w_column = depth,
                    .w_depth = 1};
    tw_product_s8 job = {&p, &t.q, w, (ptrdiff_t)taps * outputs, 0, 0, 0, outputs};
    tw_panel panel;
    panel.count = 0;
    for (int32_t k = 0; k < pixels; k++) {
        tw_patch patch = {.rows = {0, rows}, .columns = {0, columns}};
        if (rows * columns > 1 && tw_operate_range(state, 0, 1)) {
            patch.rows.first = tw_operate_range(state, 0, rows - 1);
            patch.columns.last = tw_operate_range(state, 1, columns);
        }
        const ptrdiff_t inside = patch.rows.first * p.x_row + patch.columns.first * p.x_column;
        (void)tw_panel_add(&panel, &patch, x + (size_t)k * bytes + inside, y + k * outputs);
    }
    tw_product_panel(&job, &panel);
    for (int32_t k = 0; k < pixels; k++)
        for (int32_t o = 0; o < outputs; o++) {
            uint32_t sum = (uint32_t)t.bias[o];
            for (int32_t i = 0; i < taps; i++) {
                const int32_t r = i / (columns * depth), c = i / depth % columns;
                const tw_taps in_rows = panel.pixel[k].rows, in_columns = panel.pixel[k].columns;
                int32_t v = t.q.in_zero;
                if (r >= in_rows.first && r < in_rows.last && c >= in_columns.first &&
                    c < in_columns.last)
                    v = x[(size_t)k * bytes + (size_t)((r * columns + c) * column + i % depth)];
                sum += (uint32_t)(v * (w[o * taps + i] - t.q.w_zero));
            }
            assert_int_equal(y[k * outputs + o], tw_channels_finish(&t.q, o, sum));
        }
    free(w);
    free(x);
    free(y);
}

static void test_product(void **unused)
{
    (void)unused;
    uint64_t state = 2;
    static const int32_t depths[] = {1,  2,   3,   7,   8,   9,   16,  31,
                                     64, 127, 128, 129, 255, 256, 257, 600};
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
        for (int32_t pixels = 1; pixels <= TW_PANEL_PIXELS; pixels++)
            for (int32_t outputs = 1; outputs <= CHANNELS; outputs += 1 + outputs / 4)
                check_product(1, 1, depths[d], outputs, pixels, 0, &state);
    for (int run = 0; run < 400; run++)
        check_product(tw_operate_range(&state, 1, 5), tw_operate_range(&state, 1, 5),
                      tw_operate_range(&state, 1, 40), tw_operate_range(&state, 1, CHANNELS),
                      tw_operate_range(&state, 1, TW_PANEL_PIXELS), tw_operate_range(&state, 0, 2),
                      &state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_store),
        cmocka_unit_test(test_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
