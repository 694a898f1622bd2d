/* Softmax, Pad, Transpose and Concat against CMSIS-NN's own fixtures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ops/concat.h"
#include "ops/pad.h"
#include "ops/softmax.h"
#include "ops/transpose.h"
#include "support/goldens.h"
#include "support/operate.h"

typedef struct tw_fixture {
    tw_arena *arena;
    tw_graph *graph;
    tw_golden golden;
    const char *dtype;
} tw_fixture;

/* Run `visit` for each fixture of an operator and type; how many there were. */
static int each(const char *op, const char *dtype, void (*visit)(tw_fixture *f))
{
    tw_arena *list = tw_arena_new();
    int count = 0;
    for (const char **name = tw_goldens_list(list, op, dtype); *name; name++) {
        tw_fixture f = {tw_arena_new(), NULL, {0}, dtype};
        f.graph = tw_graph_new(f.arena, *name);
        assert_true(tw_golden_open(f.arena, *name, &f.golden));
        visit(&f);
        count++;
        tw_arena_free(f.arena);
    }
    tw_arena_free(list);
    return count;
}

static tw_value *array(tw_fixture *f, const char *name, int rank, const int32_t *dim)
{
    int64_t count;
    bool is_float = strcmp(f->dtype, "f32") == 0;
    const void *data = tw_golden_array(&f->golden, name, f->dtype, &count);
    tw_shape shape = tw_shape_of(is_float ? TW_F32 : TW_S8, rank, dim);
    assert_non_null(data);
    assert_int_equal(count, tw_shape_elements(&shape));
    return tw_graph_constant(f->graph, name, shape, data);
}

static void expect(tw_fixture *f, tw_node *node, double tolerance)
{
    int64_t count;
    const void *want = tw_golden_array(&f->golden, "output_ref", f->dtype, &count);
    const void *got = tw_operate_whole(node, f->arena);
    uint64_t state = 1;
    assert_int_equal(count, tw_shape_elements(&node->out[0]->shape));
    for (int64_t i = 0; i < count; i++)
        if (tolerance > 0)
            assert_true(fabs((double)((const float *)got)[i] - (double)((const float *)want)[i]) <=
                        tolerance);
    if (tolerance <= 0)
        assert_memory_equal(got, want, tw_shape_bytes(&node->out[0]->shape));
    tw_operate_bands(node, &state);
}

static int32_t number(const tw_fixture *f, const char *key)
{
    double v = tw_golden_number(&f->golden, key, NAN);
    if (isnan(v))
        fail_msg("%s has no %s", f->golden.folder, key);
    return (int32_t)v;
}

static void check_softmax(tw_fixture *f)
{
    const int32_t dim[] = {number(f, "NUM_ROWS"), number(f, "ROW_SIZE")};
    bool is_float = strcmp(f->dtype, "f32") == 0;
    int64_t count;
    if (!is_float && !tw_golden_array(&f->golden, "output_ref", "int8", &count))
        return; /* the one with int16 output */
    tw_value *x = array(f, "input", 2, dim);
    if (!is_float) /* the multiplier stands for scale * 2^26 */
        x->quant = tw_quant_per_tensor(
            f->arena,
            (float)ldexp(number(f, "INPUT_MULT"), number(f, "INPUT_LEFT_SHIFT") - 31 - 26), 0);
    tw_node *node = tw_operate_node(f->graph, "Softmax", &x, 1, NULL);
    if (!is_float)
        node->out[0]->quant = tw_quant_per_tensor(f->arena, 1.0f / 256, -128);
    expect(f, node, is_float ? 2e-5 : 0);
}

static void softmax(void **unused)
{
    (void)unused;
    assert_true(each("softmax", "int8", check_softmax) >= 2);
    assert_true(each("softmax", "f32", check_softmax) >= 1);
}

static void check_pad(tw_fixture *f)
{
    static const char *const axes = "NHWC";
    int32_t dim[4];
    tw_pad_attributes a = {
        {4, {0}}, {4, {0}}, TW_PAD_CONSTANT, (float)tw_golden_number(&f->golden, "PAD_VALUE", 0)};
    for (int k = 0; k < 4; k++) {
        dim[k] = (int32_t)tw_golden_number(&f->golden, tw_format(f->arena, "INPUT_%c", axes[k]), 1);
        a.before.v[k] = number(f, tw_format(f->arena, "PRE_PAD_%c", axes[k]));
        a.after.v[k] = number(f, tw_format(f->arena, "POST_PAD_%c", axes[k]));
    }
    tw_value *x = array(f, "input", 4, dim);
    expect(f, tw_operate_node(f->graph, "Pad", &x, 1, &a), 0);
}

static void pad(void **unused)
{
    (void)unused;
    assert_int_equal(each("pad", "int8", check_pad), 2);
    assert_int_equal(each("pad", "f32", check_pad), 3);
}

static void check_transpose(tw_fixture *f)
{
    int32_t dim[4];
    int rank = number(f, strcmp(f->dtype, "f32") == 0 ? "NUM_DIMS" : "PERM_SIZE");
    tw_transpose_attributes a = {{rank, {0}}};
    for (int k = 0; k < rank; k++) {
        if (strcmp(f->dtype, "f32") == 0) {
            dim[k] = number(f, tw_format(f->arena, "INPUT_%c", "NHWC"[k]));
            a.perm.v[k] = number(f, tw_format(f->arena, "PERM_%d", k));
        } else {
            dim[k] = (int32_t)tw_golden_item(&f->golden, "IN_DIM", k, 0);
            a.perm.v[k] = (int32_t)tw_golden_item(&f->golden, "PERM", k, -1);
        }
    }
    tw_value *x = array(f, "input", rank, dim);
    expect(f, tw_operate_node(f->graph, "Transpose", &x, 1, &a), 0);
}

static void transpose(void **unused)
{
    (void)unused;
    assert_true(each("transpose", "int8", check_transpose) >= 9);
    assert_true(each("transpose", "f32", check_transpose) >= 9);
}

static void check_concat(tw_fixture *f)
{
    int32_t dim[] = {number(f, "INPUT_N"), number(f, "INPUT_H"), number(f, "INPUT_W"),
                     number(f, "LHS_C")};
    tw_value *x[2] = {array(f, "lhs", 4, dim), NULL};
    dim[3] = number(f, "RHS_C");
    x[1] = array(f, "rhs", 4, dim);
    expect(f, tw_operate_node(f->graph, "Concat", x, 2, &(tw_concat_attributes){-1}), 0);
}

static void concat(void **unused)
{
    (void)unused;
    assert_int_equal(each("concat", "f32", check_concat), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax),
        cmocka_unit_test(pad),
        cmocka_unit_test(transpose),
        cmocka_unit_test(concat),
    };
    if (!tw_goldens_present())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
