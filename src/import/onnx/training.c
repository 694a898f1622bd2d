/* The steps of optimisers, for networks that go on learning where they run: any number of tensors at once, each with
 * its gradient and what is remembered of it. */
#include <string.h>

#include "import/onnx/onnx.h"

typedef struct tw_step {
    tw_onnx_node *n;
    tw_builder *b;
    int count;                          /* tensors */
    tw_value *rate, *age;               /* scalars; age: how many steps there were, as a float */
    tw_value *x, *gradient, *memory[2]; /* of the tensor in hand */
} tw_step;

static tw_value *number(tw_step *s, float value)
{
    return tw_build_scalar(s->b, TW_F32, (double)value);
}

static tw_value *binary(tw_step *s, const char *op, tw_value *x, tw_value *y)
{
    return tw_build2(s->b, op, x, y, NULL);
}

/* Inputs: rate, age, then `kinds` lists of as many tensors. */
static bool begin(tw_step *s, tw_onnx_node *n, int kinds)
{
    *s = (tw_step){.n = n, .b = n->b, .count = (n->in_count - 2) / kinds};
    if ((n->in_count - 2) % kinds != 0 || n->out_count != s->count * (kinds - 1))
        return TW_ONNX_FAIL(n, "%d inputs and %d outputs are not %d and %d for each tensor",
                            n->in_count, n->out_count, kinds, kinds - 1);
    for (int i = 0; i < n->in_count; i++)
        if (!tw_onnx_need(n, i))
            return false;
    if (tw_shape_elements(&n->in[0]->shape) != 1 || tw_shape_elements(&n->in[1]->shape) != 1)
        return TW_ONNX_FAIL(n, "rate and count must be one number each");
    s->rate = tw_build_reshape(n->b, n->in[0], 0, NULL);
    s->age = tw_build_cast(n->b, tw_build_reshape(n->b, n->in[1], 0, NULL), TW_F32);
    return s->rate && s->age;
}

/* Tensor i, its gradient with norm_coefficient of itself added, and its memories. */
static bool take(tw_step *s, int i, int memories)
{
    tw_value **in = s->n->in + 2;
    float norm = tw_onnx_float(s->n, "norm_coefficient", 0);
    s->x = in[i];
    s->gradient = in[s->count + i];
    for (int m = 0; m < memories; m++)
        s->memory[m] = in[(2 + m) * s->count + i];
    if (norm != 0)
        s->gradient = binary(s, "Add", binary(s, "Mul", s->x, number(s, norm)), s->gradient);
    return s->gradient != NULL;
}

/* Are there steps behind? `then` if so, else `otherwise`. */
static tw_value *if_aged(tw_step *s, tw_value *then, tw_value *otherwise)
{
    tw_value *in[] = {binary(s, "Greater", s->age, number(s, 0)), then, otherwise};
    return in[0] && in[1] && in[2] ? tw_build(s->b, "Where", in, 3, NULL) : NULL;
}

static bool bind(tw_step *s, int i, int kind, tw_value *value)
{
    return tw_onnx_bind(s->n, kind * s->count + i, value);
}

bool tw_onnx_op_adagrad(tw_onnx_node *n)
{
    tw_step s;
    float decay = tw_onnx_float(n, "decay_factor", 0), epsilon = tw_onnx_float(n, "epsilon", 1e-6f);
    if (!begin(&s, n, 3))
        return false;
    tw_value *rate = binary(&s, "Add", binary(&s, "Mul", s.age, number(&s, decay)), number(&s, 1));
    rate = binary(&s, "Div", s.rate, rate);
    for (int i = 0; i < s.count; i++) {
        if (!take(&s, i, 1))
            return false;
        tw_value *squares =
            binary(&s, "Add", s.memory[0], binary(&s, "Mul", s.gradient, s.gradient));
        tw_value *root =
            binary(&s, "Add", tw_build1(n->b, "Sqrt", squares, NULL), number(&s, epsilon));
        tw_value *move = binary(&s, "Div", binary(&s, "Mul", rate, s.gradient), root);
        if (!bind(&s, i, 0, binary(&s, "Sub", s.x, move)) || !bind(&s, i, 1, squares))
            return false;
    }
    return true;
}

/* share * was + (1 - share) * now */
static tw_value *moved(tw_step *s, tw_value *was, tw_value *now, float share)
{
    return binary(s, "Add", binary(s, "Mul", was, number(s, share)),
                  binary(s, "Mul", now, number(s, 1 - share)));
}

/* 1 - share ^ age */
static tw_value *settled(tw_step *s, float share)
{
    return binary(s, "Sub", number(s, 1), binary(s, "Pow", number(s, share), s->age));
}

bool tw_onnx_op_adam(tw_onnx_node *n)
{
    tw_step s;
    float alpha = tw_onnx_float(n, "alpha", 0.9f), beta = tw_onnx_float(n, "beta", 0.999f);
    float epsilon = tw_onnx_float(n, "epsilon", 1e-6f),
          post = tw_onnx_float(n, "norm_coefficient_post", 0);
    if (!begin(&s, n, 4))
        return false;
    tw_value *rate = tw_build1(n->b, "Sqrt", settled(&s, beta), NULL);
    rate = binary(&s, "Div", binary(&s, "Mul", s.rate, rate), settled(&s, alpha));
    rate = if_aged(&s, rate, s.rate);
    for (int i = 0; i < s.count; i++) {
        if (!take(&s, i, 2))
            return false;
        tw_value *v = moved(&s, s.memory[0], s.gradient, alpha);
        tw_value *h = moved(&s, s.memory[1], binary(&s, "Mul", s.gradient, s.gradient), beta);
        tw_value *root = binary(&s, "Add", tw_build1(n->b, "Sqrt", h, NULL), number(&s, epsilon));
        tw_value *x = binary(&s, "Sub", s.x, binary(&s, "Div", binary(&s, "Mul", rate, v), root));
        if (post != 0)
            x = binary(&s, "Mul", x, number(&s, 1 - post));
        if (!bind(&s, i, 0, x) || !bind(&s, i, 1, v) || !bind(&s, i, 2, h))
            return false;
    }
    return true;
}

bool tw_onnx_op_momentum(tw_onnx_node *n)
{
    tw_step s;
    float alpha = tw_onnx_float(n, "alpha", 0), beta = tw_onnx_float(n, "beta", 0);
    const char *mode = tw_onnx_text(n, "mode", "standard");
    if (!tw_onnx_word(n, "mode", mode, "standard nesterov") || !begin(&s, n, 3))
        return false;
    tw_value *share = if_aged(&s, number(&s, beta), number(&s, 1));
    for (int i = 0; i < s.count; i++) {
        if (!take(&s, i, 1))
            return false;
        tw_value *v = binary(&s, "Add", binary(&s, "Mul", s.memory[0], number(&s, alpha)),
                             binary(&s, "Mul", share, s.gradient));
        tw_value *way = v;
        if (mode[0] == 'n')
            way = binary(&s, "Add", s.gradient, binary(&s, "Mul", v, number(&s, alpha)));
        if (!bind(&s, i, 0, binary(&s, "Sub", s.x, binary(&s, "Mul", s.rate, way))) ||
            !bind(&s, i, 1, v))
            return false;
    }
    return true;
}
