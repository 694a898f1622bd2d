/* What training for quantisation leaves in a graph: numbers rounded to the steps of a range, in float. */
#include <math.h>

#include "import/tensorflow/tensorflow.h"

/* The steps between low and high, moved so that 0 is one of them. */
typedef struct tw_steps {
    float low, high, step;
} tw_steps;

static tw_steps steps_of(float low, float high, float first, float last)
{
    tw_steps s = {.step = (high - low) / (last - first)};
    const float place = first - low / s.step; /* of 0 */
    const float zero = place < first ? first : place > last ? last : roundf(place);
    s.low = (first - zero) * s.step;
    s.high = (last - zero) * s.step;
    return s;
}

/* Constants of one element for each range: what goes around and between the steps. */
static bool fake_quant(tw_tf_node *n, tw_value *x, const float *low, const float *high, int count)
{
    const int64_t bits = tw_tf_int(n, "num_bits", 8);
    const float first = tw_tf_flag(n, "narrow_range") ? 1 : 0;
    const int32_t dim[1] = {count};
    const tw_shape shape = tw_shape_of(TW_F32, count > 1 ? 1 : 0, dim);
    float *part[4]; /* low, high, steps to a unit, units to a step */
    if (bits < 2 || bits > 16)
        return TW_TF_FAIL(n, "%lld bits", (long long)bits);
    for (int k = 0; k < 4; k++)
        part[k] = tw_alloc_array(n->b->arena, (size_t)count, sizeof(float));
    for (int i = 0; i < count; i++) {
        if (low[i] == 0 && high[i] == 0)
            continue; /* nothing was seen: 0 */
        if (!(low[i] < high[i]) || !isfinite(low[i]) || !isfinite(high[i]))
            return TW_TF_FAIL(n, "a range from %g to %g", (double)low[i], (double)high[i]);
        const tw_steps s = steps_of(low[i], high[i], first, (float)((1 << bits) - 1));
        part[0][i] = s.low;
        part[1][i] = s.high;
        part[2][i] = 1.0f / s.step;
        part[3][i] = s.step;
    }
    tw_value *v[4];
    for (int k = 0; k < 4; k++)
        v[k] = tw_build_data(n->b, shape, part[k]);
    tw_value *half = tw_build_scalar(n->b, TW_F32, 0.5);
    static const char *const ops[] = {"Max", "Min", "Sub", "Mul", "Add"};
    tw_value *with[] = {v[0], v[1], v[0], v[2], half};
    for (int k = 0; k < 5; k++)
        x = x && with[k] ? tw_build2(n->b, ops[k], x, with[k], NULL) : NULL;
    x = x ? tw_build1(n->b, "Floor", x, NULL) : NULL;
    x = x ? tw_build2(n->b, "Mul", x, v[3], NULL) : NULL;
    return x && tw_tf_set(n, 0, tw_build2(n->b, "Add", x, v[0], NULL));
}

bool tw_tf_op_fake_quant(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0);
    const float low = tw_tf_float(n, "min", -6), high = tw_tf_float(n, "max", 6);
    return x && fake_quant(n, x, &low, &high, 1);
}

/* The ranges are inputs: one, or one for each element of the last axis. */
bool tw_tf_op_fake_quant_vars(tw_tf_node *n)
{
    tw_value *x = tw_tf_in(n, 0), *bound[] = {tw_tf_in(n, 1), tw_tf_in(n, 2)};
    float *v[2];
    if (!x || !bound[0] || !bound[1])
        return false;
    const int64_t count = tw_shape_elements(&bound[0]->shape);
    if (count != tw_shape_elements(&bound[1]->shape) || bound[0]->shape.rank > 1 || count < 1 ||
        (count > 1 && (x->shape.rank < 1 || x->shape.dim[x->shape.rank - 1] != count)))
        return TW_TF_FAIL(n, "%lld ranges for this tensor", (long long)count);
    for (int k = 0; k < 2; k++) {
        if (!tw_build_constant(n->b, bound[k]))
            return TW_TF_UNSUPPORTED(n, "the range is computed while the network runs");
        v[k] = tw_alloc_array(n->import->scratch, (size_t)count, sizeof(float));
        for (int64_t i = 0; i < count; i++)
            v[k][i] = (float)tw_constant_at(bound[k], i);
    }
    return fake_quant(n, x, v[0], v[1], (int)count);
}
