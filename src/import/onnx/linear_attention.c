/* Linear attention: a state, [batch, heads, key size, value size], that each token updates and reads. The tokens of a
 * call are steps behind one another. */
#include <math.h>
#include <string.h>

#include "import/onnx/attention.h"

enum { MOST = 256 }; /* tokens that are imported one by one */

typedef struct tw_linear {
    tw_onnx_node *n;
    tw_builder *b;
    int64_t batch, rows, q_heads, heads, size, v_size;
    bool gated, delta;
    tw_value *q, *k, *v, *decay, *beta; /* [batch, rows, columns] */
    tw_value *state;
} tw_linear;

static bool read_rule(tw_linear *l)
{
    const char *rule = tw_onnx_text(l->n, "update_rule", "gated_delta");
    if (!tw_onnx_word(l->n, "update_rule", rule, "linear gated delta gated_delta"))
        return false;
    l->gated = rule[0] == 'g';
    l->delta = strstr(rule, "delta") != NULL;
    if ((l->gated && !l->decay) || (l->delta && !l->beta))
        return TW_ONNX_FAIL(l->n, "update_rule %s needs the input %s", rule,
                            l->gated && !l->decay ? "decay" : "beta");
    return true;
}

static bool is_packed(const tw_linear *l, const tw_value *x)
{
    return !x || (x->shape.rank == 3 && x->shape.dtype == TW_F32 && x->shape.dim[0] == l->batch &&
                  x->shape.dim[1] == l->rows);
}

static bool read_operands(tw_linear *l)
{
    tw_onnx_node *n = l->n;
    l->q = n->in[0];
    l->k = n->in[1];
    l->v = n->in[2];
    l->state = tw_onnx_in(n, 3);
    l->decay = tw_onnx_in(n, 4);
    l->beta = tw_onnx_in(n, 5);
    l->q_heads = tw_onnx_int(n, "q_num_heads", 0);
    l->heads = tw_onnx_int(n, "kv_num_heads", 0);
    tw_onnx_ignore(n, "chunk_size");
    l->batch = l->q->shape.dim[0];
    l->rows = l->q->shape.dim[1];
    if (!is_packed(l, l->q) || !is_packed(l, l->k) || !is_packed(l, l->v) ||
        !is_packed(l, l->decay) || !is_packed(l, l->beta))
        return TW_ONNX_FAIL(n, "operands must be [batch, rows, heads * size] of one batch and as "
                               "many rows");
    if (l->heads < 1 || l->q_heads < 1 || l->q_heads % l->heads != 0 ||
        l->k->shape.dim[2] % l->heads != 0 || l->v->shape.dim[2] % l->heads != 0)
        return TW_ONNX_FAIL(n, "the columns do not divide into %lld and %lld heads",
                            (long long)l->q_heads, (long long)l->heads);
    l->size = l->k->shape.dim[2] / l->heads;
    l->v_size = l->v->shape.dim[2] / l->heads;
    if (l->size < 1 || l->q->shape.dim[2] != l->q_heads * l->size)
        return TW_ONNX_FAIL(n, "queries and keys do not fit each other");
    if (l->rows > MOST)
        return TW_ONNX_UNSUPPORTED(n, "%lld tokens in one call; at most %d are supported",
                                   (long long)l->rows, MOST);
    return read_rule(l);
}

static bool begin_state(tw_linear *l)
{
    int32_t dim[] = {(int32_t)l->batch, (int32_t)l->heads, (int32_t)l->size, (int32_t)l->v_size};
    tw_shape shape = tw_shape_of(TW_F32, 4, dim);
    if (!l->state)
        l->state = tw_build_full(l->b, shape, 0);
    return l->state && (tw_shape_equal(&l->state->shape, &shape) ||
                        TW_ONNX_FAIL(l->n, "past_state has another shape than [batch, heads, key "
                                           "size, value size]"));
}

/* Token `t` of an operand by heads, [batch, heads, rows, columns]. A column for all heads is broadcast. */
static tw_value *token(tw_linear *l, tw_value *x, int64_t t, int64_t rows, int64_t columns)
{
    int64_t all = x->shape.dim[2], heads = all == rows * columns ? 1 : l->heads;
    int64_t dim[] = {l->batch, heads, rows, columns};
    if (all != heads * rows * columns) {
        TW_ONNX_FAIL(l->n, "an operand has %lld columns, which do not fit %lld heads",
                     (long long)all, (long long)l->heads);
        return NULL;
    }
    return tw_build_reshape(l->b, tw_build_slice(l->b, x, 1, t, 1, 1), 4, dim);
}

/* The state behind token t: decayed, and with the key's row of it moved towards the value. */
static bool update(tw_linear *l, int64_t t)
{
    tw_value *k = token(l, l->k, t, l->size, 1), *v = token(l, l->v, t, 1, l->v_size);
    if (l->gated) {
        int64_t each = l->decay->shape.dim[2] == l->heads ? 1 : l->size;
        tw_value *g = token(l, l->decay, t, each, 1);
        l->state = tw_build2(l->b, "Mul", l->state, tw_build1(l->b, "Exp", g, NULL), NULL);
    }
    if (l->delta) {
        tw_value *read = tw_build2(l->b, "MatMul", token(l, l->k, t, 1, l->size), l->state, NULL);
        v = tw_build2(l->b, "Mul", tw_build2(l->b, "Sub", v, read, NULL),
                      token(l, l->beta, t, 1, 1), NULL);
    }
    l->state = tw_build2(l->b, "Add", l->state, tw_build2(l->b, "Mul", k, v, NULL), NULL);
    return l->state != NULL;
}

bool tw_onnx_op_linear_attention(tw_onnx_node *n)
{
    tw_linear l = {.n = n, .b = n->b};
    if (n->in[0]->shape.rank != 3)
        return TW_ONNX_FAIL(n, "the query has rank %d; 3 is needed", n->in[0]->shape.rank);
    if (!read_operands(&l) || !begin_state(&l))
        return false;
    float scale = tw_onnx_float(n, "scale", 0);
    if (scale == 0)
        scale = 1.0f / sqrtf((float)l.size);
    int64_t flat[] = {l.batch, 1, l.q_heads * l.v_size}, group = l.q_heads / l.heads;
    tw_value *out[MOST];
    for (int64_t t = 0; t < l.rows; t++) {
        if (!update(&l, t))
            return false;
        tw_value *q = token(&l, l.q, t, group, l.size);
        q = tw_build2(l.b, "Mul", q, tw_build_scalar(l.b, TW_F32, (double)scale), NULL);
        out[t] = tw_build_reshape(l.b, tw_build2(l.b, "MatMul", q, l.state, NULL), 3, flat);
        if (!out[t])
            return false;
    }
    if (l.rows < 1)
        return TW_ONNX_FAIL(n, "the operands have no rows");
    return tw_onnx_bind(n, 0, tw_build_concat(l.b, out, (int)l.rows, 1)) &&
           (!tw_onnx_wants(n, 1) || tw_onnx_bind(n, 1, l.state));
}
