/* Moves against loops over every index, for random shapes, types and attributes; bands equal
 * whole. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ops/concat.h"
#include "ops/pad.h"
#include "ops/slice.h"
#include "ops/transpose.h"
#include "ops/view.h"
#include "support/operate.h"

static const tw_dtype types[] = {TW_S8, TW_F16, TW_F32, TW_S64, TW_BOOL};

typedef struct tw_case {
    tw_arena *arena;
    tw_graph *graph;
    uint64_t seed;
    tw_dtype dtype;
    int rank;
    int32_t dim[TW_MAX_RANK];
} tw_case;

/* A random type and shape. Half begin with extents of 1, so that later axes can be bands. */
static void open_case(tw_case *c, uint64_t seed)
{
    c->seed = seed;
    c->arena = tw_arena_new();
    c->graph = tw_graph_new(c->arena, "case");
    c->dtype = types[tw_operate_range(&c->seed, 0, 4)];
    c->rank = tw_operate_range(&c->seed, 1, TW_MAX_RANK);
    int ones = tw_operate_range(&c->seed, 0, 1) ? tw_operate_range(&c->seed, 0, c->rank - 1) : 0;
    for (int k = 0; k < c->rank; k++)
        c->dim[k] = k < ones ? 1 : tw_operate_range(&c->seed, 1, c->rank > 4 ? 4 : 7);
}

/* Step an index through a shape; false after the last. */
static bool next(const tw_shape *s, int32_t *index)
{
    for (int k = s->rank - 1; k >= 0; k--) {
        if (++index[k] < s->dim[k])
            return true;
        index[k] = 0;
    }
    return false;
}

static const char *at(const tw_value *v, const int32_t *index)
{
    int64_t i = 0;
    for (int k = 0; k < v->shape.rank; k++)
        i = i * v->shape.dim[k] + index[k];
    return (const char *)v->data + i * tw_dtype_bytes(v->shape.dtype);
}

/* Where an output element comes from; null: from `fill`. */
typedef const char *(*tw_source)(const tw_node *node, const int32_t *index);

static int check_node(tw_case *c, tw_node *node, tw_source source, const void *fill)
{
    const tw_value *out = node->out[0];
    int32_t index[TW_MAX_RANK] = {0};
    tw_operate_whole(node, c->arena);
    if (tw_shape_elements(&out->shape) > 0)
        do {
            const char *from = source(node, index);
            assert_memory_equal(at(out, index), from ? from : fill,
                                tw_dtype_bytes(out->shape.dtype));
        } while (next(&out->shape, index));
    return tw_operate_bands(node, &c->seed);
}

static const char *copy_source(const tw_node *node, const int32_t *index)
{
    return at(node->in[0], index);
}

static void copy(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t n = 0; n < 60; n++) {
        tw_case c;
        open_case(&c, n);
        tw_value *x = tw_operate_value(c.graph, c.dtype, c.rank, c.dim, &c.seed);
        banded += check_node(&c, tw_operate_node(c.graph, "Copy", &x, 1, NULL), copy_source, NULL);
        tw_arena_free(c.arena);
    }
    assert_true(banded > 60);
}

static const char *transpose_source(const tw_node *node, const int32_t *index)
{
    const tw_transpose_attributes *a = node->attributes;
    int32_t from[TW_MAX_RANK] = {0};
    int rank = node->in[0]->shape.rank;
    for (int k = 0; k < rank; k++)
        from[a->perm.count ? a->perm.v[k] : rank - 1 - k] = index[k];
    return at(node->in[0], from);
}

static void transpose(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t n = 0; n < 200; n++) {
        tw_case c;
        open_case(&c, n);
        tw_transpose_attributes a = {{tw_operate_range(&c.seed, 0, 7) ? c.rank : 0, {0}}};
        for (int k = 0; k < a.perm.count; k++) { /* insert k at a random place */
            int place = tw_operate_range(&c.seed, 0, k);
            memmove(&a.perm.v[place + 1], &a.perm.v[place], sizeof(int32_t) * (size_t)(k - place));
            a.perm.v[place] = k;
        }
        tw_value *x = tw_operate_value(c.graph, c.dtype, c.rank, c.dim, &c.seed);
        tw_node *node = tw_operate_node(c.graph, "Transpose", &x, 1, &a);
        banded += check_node(&c, node, transpose_source, NULL);
        tw_arena_free(c.arena);
    }
    assert_true(banded > 100);
}

static const char *slice_source(const tw_node *node, const int32_t *index)
{
    const tw_slice_attributes *a = node->attributes;
    int32_t from[TW_MAX_RANK];
    for (int k = 0; k < node->in[0]->shape.rank; k++)
        from[k] = a->begin.v[k] + index[k] * a->step.v[k];
    return at(node->in[0], from);
}

static void slice(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t n = 0; n < 200; n++) {
        tw_case c;
        open_case(&c, n);
        tw_slice_attributes a = {{c.rank, {0}}, {c.rank, {0}}, {c.rank, {0}}};
        for (int k = 0; k < c.rank; k++) {
            int32_t step = tw_operate_range(&c.seed, 1, 3), dim = c.dim[k];
            int32_t begin = tw_operate_range(&c.seed, 0, dim - 1);
            bool back = tw_operate_range(&c.seed, 0, 2) == 0;
            int32_t most = 1 + (back ? begin : dim - 1 - begin) / step;
            a.step.v[k] = back ? -step : step;
            a.begin.v[k] = begin;
            a.size.v[k] = tw_operate_range(&c.seed, n % 10 == 0 ? 0 : 1, most);
        }
        tw_value *x = tw_operate_value(c.graph, c.dtype, c.rank, c.dim, &c.seed);
        tw_node *node = tw_operate_node(c.graph, "Slice", &x, 1, &a);
        banded += check_node(&c, node, slice_source, NULL);
        tw_arena_free(c.arena);
    }
    assert_true(banded > 100);
}

static void slice_defaults(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *graph = tw_graph_new(arena, "g");
    const int32_t dim[] = {5};
    static const uint8_t data[] = {1, 2, 3, 4, 5};
    tw_value *x = tw_graph_constant(graph, "x", tw_shape_of(TW_U8, 1, dim), data);
    tw_slice_attributes reverse = {.step = {1, {-2}}}, rest = {.begin = {1, {3}}};
    const uint8_t want_reverse[] = {5, 3, 1}, want_rest[] = {4, 5};
    tw_node *node = tw_operate_node(graph, "Slice", &x, 1, &reverse);
    assert_int_equal(node->out[0]->shape.dim[0], 3);
    assert_memory_equal(tw_operate_whole(node, arena), want_reverse, 3);
    node = tw_operate_node(graph, "Slice", &x, 1, &rest);
    assert_int_equal(node->out[0]->shape.dim[0], 2);
    assert_memory_equal(tw_operate_whole(node, arena), want_rest, 2);
    tw_arena_free(arena);
}

static const char *concat_source(const tw_node *node, const int32_t *index)
{
    const tw_concat_attributes *a = node->attributes;
    int axis = a->axis < 0 ? a->axis + node->out[0]->shape.rank : a->axis, i = 0;
    int32_t from[TW_MAX_RANK];
    memcpy(from, index, sizeof from);
    while (from[axis] >= node->in[i]->shape.dim[axis])
        from[axis] -= node->in[i++]->shape.dim[axis];
    return at(node->in[i], from);
}

static void concat(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t n = 0; n < 200; n++) {
        tw_case c;
        tw_value *x[15];
        open_case(&c, n);
        int count = tw_operate_range(&c.seed, 1, n % 20 == 0 ? 15 : 4);
        int axis = tw_operate_range(&c.seed, 0, c.rank - 1);
        for (int i = 0; i < count; i++) {
            c.dim[axis] = tw_operate_range(&c.seed, n % 10 == 0 ? 0 : 1, 4);
            x[i] = tw_operate_value(c.graph, c.dtype, c.rank, c.dim, &c.seed);
        }
        tw_concat_attributes a = {tw_operate_range(&c.seed, 0, 1) ? axis : axis - c.rank};
        tw_node *node = tw_operate_node(c.graph, "Concat", x, count, &a);
        banded += check_node(&c, node, concat_source, NULL);
        tw_arena_free(c.arena);
    }
    assert_true(banded > 100);
}

/* One step at a time towards the inside, as the modes are explained in words. */
static int32_t walk_inside(int mode, int32_t i, int32_t n)
{
    while (i < 0 || i >= n) {
        if (mode == TW_PAD_EDGE || n == 1)
            i = i < 0 ? 0 : n - 1;
        else if (mode == TW_PAD_WRAP)
            i += i < 0 ? n : -n;
        else if (mode == TW_PAD_REFLECT)
            i = i < 0 ? -i : 2 * (n - 1) - i;
        else
            i = i < 0 ? -1 - i : 2 * n - 1 - i;
    }
    return i;
}

static const char *pad_source(const tw_node *node, const int32_t *index)
{
    const tw_pad_attributes *a = node->attributes;
    int32_t from[TW_MAX_RANK];
    for (int k = 0; k < node->in[0]->shape.rank; k++) {
        from[k] = index[k] - a->before.v[k];
        if (a->mode != TW_PAD_CONSTANT)
            from[k] = walk_inside(a->mode, from[k], node->in[0]->shape.dim[k]);
        else if (from[k] < 0 || from[k] >= node->in[0]->shape.dim[k])
            return NULL;
    }
    return at(node->in[0], from);
}

static void pad(void **unused)
{
    (void)unused;
    int banded = 0;
    for (uint64_t n = 0; n < 400; n++) {
        tw_case c;
        open_case(&c, n);
        tw_pad_attributes a = {{c.rank, {0}}, {c.rank, {0}}, (int32_t)(n % TW_PAD_MODES), 2.0f};
        for (int k = 0; k < c.rank; k++) {
            if (c.rank > 4 && c.dim[k] > 3)
                c.dim[k] = 3;
            if (tw_operate_range(&c.seed, 0, c.rank > 3 ? 2 : 1) == 0) {
                a.before.v[k] = tw_operate_range(&c.seed, 0, 3);
                a.after.v[k] = tw_operate_range(&c.seed, 0, 3);
            }
        }
        tw_value *x = tw_operate_value(c.graph, c.dtype, c.rank, c.dim, &c.seed);
        const float f = 2.0f;
        const uint16_t h = 0x4000; /* 2.0 */
        const int64_t s = 2;
        const uint8_t b = 1;
        const void *fill = c.dtype == TW_F32    ? (const void *)&f
                           : c.dtype == TW_F16  ? (const void *)&h
                           : c.dtype == TW_BOOL ? (const void *)&b
                                                : &s;
        tw_node *node = tw_operate_node(c.graph, "Pad", &x, 1, &a);
        banded += check_node(&c, node, pad_source, fill);
        tw_arena_free(c.arena);
    }
    assert_true(banded > 200);
}

/* The mirrors and edges roll: they do not ask for the whole input. */
static void pad_rows(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *graph = tw_graph_new(arena, "g");
    uint64_t state = 1;
    const int32_t dim[] = {1, 9, 2};
    static const int want[] = {TW_ROWS_MAPPED, TW_ROWS_MAPPED, TW_ROWS_MAPPED, TW_ROWS_WHOLE,
                               TW_ROWS_MAPPED};
    tw_value *x = tw_operate_value(graph, TW_F32, 3, dim, &state);
    for (int mode = 0; mode < TW_PAD_MODES; mode++) {
        tw_pad_attributes a = {{3, {0, 2, 0}}, {3, {0, 3, 0}}, mode, 0};
        tw_node *node = tw_operate_node(graph, "Pad", &x, 1, &a);
        assert_int_equal(node->op->rows(node, 0, 1).rows, want[mode]);
    }
    tw_arena_free(arena);
}

static void pad_quantised(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *graph = tw_graph_new(arena, "g");
    const int32_t dim[] = {2};
    static const int8_t data[] = {5, 6};
    tw_value *x = tw_graph_constant(graph, "x", tw_shape_of(TW_S8, 1, dim), data);
    x->quant = tw_quant_per_tensor(arena, 0.5f, -20);
    const struct {
        float value;
        int8_t stored;
    } cases[] = {{0, -20}, {1, -18}, {1000, 127}, {-1000, -128}, {NAN, -20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_pad_attributes a = {{1, {1}}, {0, {0}}, TW_PAD_CONSTANT, cases[i].value};
        tw_node *node = tw_operate_node(graph, "Pad", &x, 1, &a);
        const int8_t want[] = {cases[i].stored, 5, 6};
        if (!isnan(cases[i].value))
            assert_memory_equal(tw_operate_whole(node, arena), want, 3);
    }
    tw_arena_free(arena);
}

/* Rows of a view: what the map allows is really covered, and what it gives up is not needed. */
static void view_rows(void **unused)
{
    (void)unused;
    int mapped = 0;
    for (uint64_t n = 0; n < 300; n++) {
        tw_case c;
        open_case(&c, n);
        tw_value *x = tw_operate_value(c.graph, c.dtype, c.rank, c.dim, &c.seed);
        tw_reshape_attributes a = {{1, {1}}};
        for (int k = 0; k < c.rank; k++) { /* axes split or joined at random */
            if (a.shape.count < TW_MAX_RANK && tw_operate_range(&c.seed, 0, 1))
                a.shape.v[a.shape.count++] = 1;
            int32_t first = c.dim[k] % 2 == 0 && tw_operate_range(&c.seed, 0, 1) ? 2 : c.dim[k];
            a.shape.v[a.shape.count - 1] *= first;
            if (first != c.dim[k] && a.shape.count < TW_MAX_RANK)
                a.shape.v[a.shape.count++] = 1;
            a.shape.v[a.shape.count - 1] *= c.dim[k] / first;
        }
        tw_node *node = tw_operate_node(c.graph, "Reshape", &x, 1, &a);
        const tw_shape *in = &x->shape, *out = &node->out[0]->shape;
        int64_t outer = 1, in_row = 1, out_row = 1;
        for (int axis = 0; axis < in->rank && axis < out->rank && outer == 1; axis++) {
            tw_rowmap m = node->op->rows(node, 0, axis);
            in_row = out_row = 1;
            for (int k = axis + 1; k < in->rank; k++)
                in_row *= in->dim[k];
            for (int k = axis + 1; k < out->rank; k++)
                out_row *= out->dim[k];
            mapped += m.rows == TW_ROWS_MAPPED;
            for (int32_t v = 0; m.rows == TW_ROWS_MAPPED && v <= in->dim[axis]; v++) {
                int64_t allowed = (int64_t)v * m.num / m.den;
                assert_true(allowed * out_row <= v * in_row);
                assert_true((allowed + 1) * out_row > v * in_row);
            }
            for (int32_t o = 0; m.rows == TW_ROWS_MAPPED && o < out->dim[axis]; o++)
                assert_int_equal((int64_t)o * m.den / m.num, o * out_row / in_row);
            outer *= (int64_t)in->dim[axis] * out->dim[axis];
        }
        tw_arena_free(c.arena);
    }
    assert_true(mapped > 200);
}

/* Refusals: one message each, never a crash. */
static void refuse(tw_graph *graph, const char *op, tw_value *const *in, int count,
                   const void *attributes, const char *words)
{
    tw_diag diag = {0};
    assert_null(
        tw_graph_node(graph, tw_op_by_name(op), "n", in, count, 1, NULL, attributes, &diag));
    assert_int_not_equal(diag.code, TW_CODE_OK);
    if (!strstr(diag.message, words))
        fail_msg("\"%s\" does not say \"%s\"", diag.message, words);
}

static void refusals(void **unused)
{
    (void)unused;
    tw_arena *arena = tw_arena_new();
    tw_graph *g = tw_graph_new(arena, "g");
    uint64_t s = 1;
    const int32_t a23[] = {2, 3}, a24[] = {2, 4}, a03[] = {0, 3};
    tw_value *x = tw_operate_value(g, TW_F32, 2, a23, &s),
             *y = tw_operate_value(g, TW_F32, 2, a24, &s);
    tw_value *i8 = tw_operate_value(g, TW_S8, 2, a23, &s),
             *none = tw_operate_value(g, TW_F32, 2, a03, &s);
    tw_value *xy[] = {x, y}, *xi[] = {x, i8}, *xn[] = {x, NULL};
    refuse(g, "Concat", xy, 2, &(tw_concat_attributes){0}, "axis 1 of input 1 is 4");
    refuse(g, "Concat", xi, 2, &(tw_concat_attributes){0}, "input 1 is s8");
    refuse(g, "Concat", xn, 2, &(tw_concat_attributes){0}, "input 1 is missing");
    refuse(g, "Concat", xy, 2, &(tw_concat_attributes){2}, "axis 2 does not exist");
    refuse(g, "Concat", xy, 2, &(tw_concat_attributes){-3}, "axis -3 does not exist");
    refuse(g, "Transpose", &x, 1, &(tw_transpose_attributes){{2, {1, 1}}}, "each of the input's 2");
    refuse(g, "Transpose", &x, 1, &(tw_transpose_attributes){{1, {0}}}, "each of the input's 2");
    refuse(g, "Slice", &x, 1, &(tw_slice_attributes){.begin = {1, {0}}}, "one entry for each");
    refuse(g, "Slice", &x, 1, &(tw_slice_attributes){.size = {2, {3, 1}}}, "leave its extent of 2");
    refuse(g, "Slice", &x, 1, &(tw_slice_attributes){.step = {2, {0, 1}}}, "leave its extent of 2");
    refuse(g, "Slice", &x, 1,
           &(tw_slice_attributes){
               .begin = {2, {1, 0}}, .size = {2, {2, 3}}, .step = {2, {INT32_MAX, 1}}},
           "leave its extent of 2");
    refuse(g, "Slice", &x, 1,
           &(tw_slice_attributes){
               .begin = {2, {1, 0}}, .size = {2, {INT32_MAX, 3}}, .step = {2, {-INT32_MAX, 1}}},
           "leave its extent of 2");
    refuse(g, "Reshape", &x, 1, &(tw_reshape_attributes){{2, {2, 4}}},
           "holds 8 elements, the input 6");
    refuse(g, "Reshape", &x, 1, &(tw_reshape_attributes){{2, {1 << 20, 1 << 20}}},
           "multiply to more");
    refuse(g, "BatchNorm", (tw_value *[]){x, x, x, x, x}, 5, NULL, "one value for each of the 3");
    refuse(g, "Pad", &x, 1, &(tw_pad_attributes){.before = {1, {1}}}, "one entry for each");
    refuse(g, "Pad", &x, 1, &(tw_pad_attributes){.before = {2, {-1, 0}}}, "before is -1");
    refuse(g, "Pad", &x, 1,
           &(tw_pad_attributes){.before = {2, {INT32_MAX, 0}}, .after = {2, {INT32_MAX, 0}}},
           "at most 2147483647");
    refuse(g, "Pad", &x, 1, &(tw_pad_attributes){.before = {2, {1 << 20, 1 << 20}}},
           "larger than 2 GB");
    refuse(g, "Pad", &none, 1, &(tw_pad_attributes){.before = {2, {1, 0}}, .mode = TW_PAD_EDGE},
           "nothing to repeat");
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy),      cmocka_unit_test(transpose),
        cmocka_unit_test(slice),     cmocka_unit_test(slice_defaults),
        cmocka_unit_test(concat),    cmocka_unit_test(pad),
        cmocka_unit_test(pad_rows),  cmocka_unit_test(pad_quantised),
        cmocka_unit_test(view_rows), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
