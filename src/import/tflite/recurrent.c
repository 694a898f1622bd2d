/* Layers with a state of their own: the file keeps it in variable tensors, which become states of the
 * graph. */
#include <string.h>

#include "import/tflite/recurrent.h"
#include "ops/lstm_full.h"
#include "ops/svdf.h"

tw_value *tw_tfl_state(tw_tfl_node *n, int i, int rank, const int32_t *dim)
{
    const tw_tfl_tensor *tensor = tw_tfl_in_tensor(n, i);
    const int32_t at = n->operator->in[i];
    tw_shape shape;
    tw_quant quant;
    if (!tensor->is_variable || n->import->values[at]) {
        TW_TFL_UNSUPPORTED(n, "input %d ('%s') must be a variable tensor of its own", i,
                           tensor->name);
        return NULL;
    }
    if (!tw_tfl_shape(n->import, tensor, &shape) || !tw_tfl_quant(n->import, tensor, &quant))
        return NULL;
    tw_shape wanted = tw_shape_of(shape.dtype, rank, dim);
    if (tw_shape_elements(&shape) != tw_shape_elements(&wanted)) {
        TW_TFL_FAIL(n, "the state '%s' does not fit the layer", tensor->name);
        return NULL;
    }
    tw_value *state = tw_graph_state(n->b->graph, *tensor->name ? tensor->name : "state", wanted,
                                     tw_tfl_zeros(n->import, &wanted, &quant));
    state->quant = quant;
    n->import->values[at] = state;
    return state;
}

/* ---- long short-term memory ---- */

enum {
    LSTM_X = 0,
    LSTM_W = 1,        /* to the input, forget, cell and output gates */
    LSTM_R = 5,        /* the same, of the hidden state */
    LSTM_PEEPHOLE = 9, /* to 11 */
    LSTM_BIAS = 12,    /* to 15 */
    LSTM_PROJECTION = 16,
    LSTM_PROJECTION_BIAS = 17,
    LSTM_HIDDEN = 18,
    LSTM_CELL = 19,
    LSTM_NORM = 20 /* to 23 */
};

/* Weights of a layer of floats that stay int8 in flash: with one scale. */
static bool is_hybrid(const tw_value *w)
{
    return w && tw_tfl_is_symmetric(w) && w->quant.count == 1;
}

static bool all_hybrid(tw_tfl_node *n)
{
    for (int i = LSTM_W; i < LSTM_PEEPHOLE; i++)
        if (!is_hybrid(tw_tfl_in(n, i)))
            return false;
    return true;
}

/* Up to four constants of the same shape one behind the other, int8 as floats where `dtype` is float. */
static tw_value *stack(tw_tfl_node *n, int first, int parts, tw_dtype dtype)
{
    tw_value *part[4];
    for (int i = 0; i < parts; i++) {
        part[i] = tw_tfl_in(n, first + i);
        if (!part[i] || !tw_tfl_known(n, first + i, "the weights"))
            return NULL;
        if (!tw_shape_equal(&part[i]->shape, &part[0]->shape) || part[i]->quant.count > 1) {
            TW_TFL_FAIL(n, "inputs %d and %d must have one shape and one scale", first, first + i);
            return NULL;
        }
    }
    const tw_shape *one = &part[0]->shape;
    const int64_t count = tw_shape_elements(one);
    const bool widen = dtype == TW_F32 && one->dtype == TW_S8;
    const int32_t dim[3] = {parts, one->rank > 0 ? one->dim[0] : 1,
                            one->rank > 1 ? one->dim[1] : 1};
    const tw_shape shape = tw_shape_of(widen ? TW_F32 : one->dtype, one->rank + 1, dim);
    const size_t bytes = tw_shape_bytes(&shape) / (size_t)parts;
    if (one->rank < 1 || one->rank > 2) {
        TW_TFL_FAIL(n, "input %d has rank %d", first, one->rank);
        return NULL;
    }
    uint8_t *data = tw_alloc(n->b->arena, bytes * (size_t)parts + 1);
    for (int i = 0; i < parts; i++) {
        if (!widen) {
            memcpy(data + bytes * (size_t)i, part[i]->data, bytes);
            continue;
        }
        float *to = (float *)(void *)(data + bytes * (size_t)i);
        float scale = part[i]->quant.count ? part[i]->quant.scale[0] : 1;
        for (int64_t k = 0; k < count; k++)
            to[k] = scale * (float)((const int8_t *)part[i]->data)[k];
    }
    tw_value *value = tw_build_data(n->b, shape, data);
    if ((shape.dtype != TW_S8 && shape.dtype != TW_S16) || part[0]->quant.count != 1)
        return value;
    float *scale = tw_alloc(n->b->arena, 4 * sizeof *scale);
    int32_t *zero = tw_alloc(n->b->arena, 4 * sizeof *zero);
    for (int i = 0; i < parts; i++) {
        scale[i] = part[i]->quant.count ? part[i]->quant.scale[0] : 1;
        zero[i] = part[i]->quant.count ? part[i]->quant.zero_point[0] : 0;
    }
    value->quant = (tw_quant){parts, 0, scale, zero};
    return value;
}

/* Has the layer what the IR's operator does not? */
static bool is_composed(tw_tfl_node *n, const tw_tfl_lstm_options *options)
{
    bool composed = !tw_tfl_has(n, LSTM_W) || options->projection_clip > 0 ||
                    options->activation != TW_TFL_ACTIVATION_TANH || tw_tfl_has(n, LSTM_PROJECTION);
    for (int i = 0; i < 3; i++)
        composed = composed || tw_tfl_has(n, LSTM_PEEPHOLE + i);
    for (int i = 0; i < 4; i++)
        composed = composed || tw_tfl_has(n, LSTM_NORM + i);
    return composed;
}

static bool check_weights(tw_tfl_node *n)
{
    for (int i = LSTM_W; i < LSTM_PEEPHOLE; i++)
        if (!tw_tfl_has(n, i) && i != LSTM_W && i != LSTM_R)
            return TW_TFL_FAIL(n, "input %d is missing", i);
    return tw_tfl_has(n, LSTM_W) == tw_tfl_has(n, LSTM_R) ||
           TW_TFL_FAIL(n, "the input gate has one of its two matrices of weights");
}

static tw_value *swap_time(tw_tfl_node *n, tw_value *x)
{
    const int64_t perm[3] = {1, 0, 2};
    return tw_build_transpose(n->b, x, 3, perm);
}

/* The layer over x of [N, T, I]; sets its states. */
static tw_value *lstm(tw_tfl_node *n, tw_value *x, const tw_tfl_lstm_options *options)
{
    const tw_dtype weights = all_hybrid(n) ? TW_S8 : x->shape.dtype;
    tw_value *w = stack(n, LSTM_W, 4, weights), *r = stack(n, LSTM_R, 4, weights);
    tw_value *b = tw_tfl_has(n, LSTM_BIAS) ? stack(n, LSTM_BIAS, 4, x->shape.dtype) : NULL;
    if (!w || !r || n->b->diag->code != TW_CODE_OK)
        return NULL;
    const int32_t dim[2] = {x->shape.dim[0], w->shape.dim[1]};
    tw_value *h = tw_tfl_state(n, LSTM_HIDDEN, 2, dim),
             *c = h ? tw_tfl_state(n, LSTM_CELL, 2, dim) : NULL;
    const tw_opdef *op = tw_op_by_name("Lstm");
    if (!h || !c || !op)
        return NULL;
    tw_value *in[] = {x, w, r, b, h, c};
    const tw_lstm_attributes attributes = {options->cell_clip, options->asymmetric};
    tw_node *node =
        tw_graph_node(n->b->graph, op, n->b->node, in, 6, 3, NULL, &attributes, n->b->diag);
    if (!node)
        return NULL;
    node->out[0]->quant = node->out[1]->quant = h->quant;
    node->out[2]->quant = c->quant;
    return tw_tfl_state_becomes(n, h, node->out[1]) && tw_tfl_state_becomes(n, c, node->out[2])
               ? node->out[0]
               : NULL;
}

/* Scales of the gates' sums and of what comes out of the cell stand in intermediate tensors: four of the
 * gates, then the cell's. first: the first gate that there is. */
static bool read_intermediates(tw_tfl_node *n, int first, tw_lstm_full_attributes *a)
{
    const tw_tfl_operator *o = n->operator;
    if (o->intermediate_count != 5)
        return TW_TFL_UNSUPPORTED(n,
                                  "%u intermediate tensors; 5 are supported: INT8 with INT16 gates",
                                  (unsigned)o->intermediate_count);
    for (int i = tw_tfl_has(n, LSTM_NORM + 1) ? first : 4; i < 5; i++) {
        tw_quant quant = {0, 0, NULL, NULL};
        if (o->intermediates[i] < 0 ||
            !tw_tfl_quant(n->import, &n->import->subgraph->tensors[o->intermediates[i]], &quant) ||
            quant.count != 1)
            return n->b->diag->code == TW_CODE_OK &&
                   TW_TFL_FAIL(n, "intermediate tensor %d has no scale", i);
        if (i < 4) {
            a->steps.v[a->steps.count++] = quant.scale[0];
        } else { /* in front of a projection the reference takes the zero point with its sign turned */
            const int32_t zero = quant.zero_point[0];
            a->hidden_scale = quant.scale[0];
            a->hidden_zero = tw_tfl_has(n, LSTM_PROJECTION) ? -zero : zero;
        }
    }
    return true;
}

/* The same with what the plain operator does not have, of int8. */
static tw_value *full_lstm(tw_tfl_node *n, tw_value *x, const tw_tfl_lstm_options *options)
{
    const int first = tw_tfl_has(n, LSTM_W) ? 0 : 1;
    const tw_quant none = {0, 0, NULL, NULL};
    tw_lstm_full_attributes a = {.cell_clip = options->cell_clip,
                                 .projection_clip = options->projection_clip};
    tw_value *in[TW_LSTM_FULL_OPERANDS] = {x, stack(n, LSTM_W + first, 4 - first, TW_S8),
                                           stack(n, LSTM_R + first, 4 - first, TW_S8)};
    if (!in[1] || !in[2] || !read_intermediates(n, first, &a))
        return NULL;
    const int32_t h[] = {x->shape.dim[0], in[2]->shape.dim[2]};
    const int32_t c[] = {x->shape.dim[0], in[1]->shape.dim[1]};
    if (tw_tfl_has(n, LSTM_BIAS + 1))
        in[TW_LSTM_FULL_B] = stack(n, LSTM_BIAS + first, 4 - first, TW_S8);
    in[TW_LSTM_FULL_H] = tw_tfl_state(n, LSTM_HIDDEN, 2, h);
    in[TW_LSTM_FULL_C] = in[TW_LSTM_FULL_H] ? tw_tfl_state(n, LSTM_CELL, 2, c) : NULL;
    if (tw_tfl_has(n, LSTM_PEEPHOLE + 1))
        in[TW_LSTM_FULL_PEEPHOLE] = stack(n, LSTM_PEEPHOLE + first, 3 - first, TW_S8);
    if (tw_tfl_has(n, LSTM_NORM + 1))
        in[TW_LSTM_FULL_NORM] = stack(n, LSTM_NORM + first, 4 - first, TW_S8);
    in[TW_LSTM_FULL_PROJECTION] = tw_tfl_in(n, LSTM_PROJECTION);
    tw_value *bias = tw_tfl_in(n, LSTM_PROJECTION_BIAS);
    in[TW_LSTM_FULL_PROJECTION_BIAS] = bias ? tw_build_with_quant(n->b, bias, none) : NULL;
    const tw_opdef *op = tw_op_by_name("LstmFull");
    if (!in[TW_LSTM_FULL_C] || !op || n->b->diag->code != TW_CODE_OK)
        return NULL;
    tw_node *node = tw_graph_node(n->b->graph, op, n->b->node, in, TW_LSTM_FULL_OPERANDS, 3, NULL,
                                  &a, n->b->diag);
    if (!node)
        return NULL;
    node->out[0]->quant = node->out[1]->quant = in[TW_LSTM_FULL_H]->quant;
    node->out[2]->quant = in[TW_LSTM_FULL_C]->quant;
    return tw_tfl_state_becomes(n, in[TW_LSTM_FULL_H], node->out[1]) &&
                   tw_tfl_state_becomes(n, in[TW_LSTM_FULL_C], node->out[2])
               ? node->out[0]
               : NULL;
}

/* The layer of either operator over x of [N, T, I]. */
static tw_value *any_lstm(tw_tfl_node *n, tw_value *x, const tw_tfl_lstm_options *options)
{
    if (!(options->cell_clip >= 0) || !(options->projection_clip >= 0)) {
        TW_TFL_FAIL(n, "bounds of %g and %g", (double)options->cell_clip,
                    (double)options->projection_clip);
        return NULL;
    }
    if (!x || !check_weights(n))
        return NULL;
    if (!is_composed(n, options))
        return lstm(n, x, options);
    return x->shape.dtype == TW_S8 && options->activation == TW_TFL_ACTIVATION_TANH
               ? full_lstm(n, x, options)
               : tw_tfl_composed_lstm(n, x, options);
}

bool tw_tfl_op_unidirectional_sequence_lstm(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, LSTM_X);
    bool time_major = tw_tfl_flag(n, TW_FIELD(SequenceLSTM, time_major));
    if (!x)
        return false;
    if (x->shape.rank != 3)
        return TW_TFL_FAIL(n, "the input has rank %d; it must be sequences of vectors",
                           x->shape.rank);
    if (tw_tfl_flag(n, TW_FIELD(SequenceLSTM, diagonal_recurrent_tensors)))
        return TW_TFL_UNSUPPORTED(n, "diagonal recurrent weights are not supported");
    const tw_tfl_lstm_options options = {
        tw_tfl_byte(n, TW_FIELD(SequenceLSTM, fused_activation_function), 0),
        tw_tfl_float(n, TW_FIELD(SequenceLSTM, cell_clip), 0),
        tw_tfl_float(n, TW_FIELD(SequenceLSTM, proj_clip), 0),
        tw_tfl_flag(n, TW_FIELD(SequenceLSTM, asymmetric_quantize_inputs))};
    tw_value *y = any_lstm(n, time_major ? swap_time(n, x) : x, &options);
    return y && tw_tfl_set(n, 0, time_major ? swap_time(n, y) : y);
}

/* One step of it. */
bool tw_tfl_op_lstm(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, LSTM_X);
    if (!x)
        return false;
    if (tw_tfl_byte(n, TW_FIELD(LSTM, kernel_type), 0) != 0)
        return TW_TFL_UNSUPPORTED(n, "the basic form with one matrix of weights is not supported");
    if (x->shape.rank != 2)
        return TW_TFL_FAIL(n, "the input has rank %d; it must be vectors", x->shape.rank);
    const int64_t step[3] = {x->shape.dim[0], 1, x->shape.dim[1]};
    tw_quant quant = x->quant;
    x = tw_build_reshape(n->b, x, 3, step);
    if (x)
        x->quant = quant;
    const tw_tfl_lstm_options options = {
        tw_tfl_byte(n, TW_FIELD(LSTM, fused_activation_function), 0),
        tw_tfl_float(n, TW_FIELD(LSTM, cell_clip), 0),
        tw_tfl_float(n, TW_FIELD(LSTM, proj_clip), 0),
        tw_tfl_flag(n, TW_FIELD(LSTM, asymmetric_quantize_inputs))};
    tw_value *y = any_lstm(n, x, &options);
    if (!y)
        return false;
    const int64_t flat[2] = {y->shape.dim[0], y->shape.dim[2]};
    return tw_tfl_set(n, 0, tw_build_reshape(n->b, y, 2, flat));
}

/* ---- singular value decomposition filters ---- */

bool tw_tfl_op_svdf(tw_tfl_node *n)
{
    enum { SVDF_X, SVDF_FEATURE, SVDF_TIME, SVDF_BIAS, SVDF_STATE };
    tw_value *x = tw_tfl_in(n, SVDF_X), *f = tw_tfl_in(n, SVDF_FEATURE);
    tw_value *t = tw_tfl_in(n, SVDF_TIME), *b = tw_tfl_in(n, SVDF_BIAS);
    const tw_opdef *op = tw_op_by_name("Svdf");
    tw_clamp clamp;
    if (!x || !f || !t || !op)
        return false;
    if (x->shape.rank != 2 || t->shape.rank != 2)
        return TW_TFL_FAIL(n, "input and time weights must be matrices");
    if (!tw_tfl_activation(n, tw_tfl_byte(n, TW_FIELD(SVDF, fused_activation_function), 0), &clamp))
        return false;
    if (!is_hybrid(f) || !is_hybrid(t)) {
        f = tw_tfl_weights(n, x, f, TW_TFL_DEQUANTIZED);
        t = tw_tfl_weights(n, x, t, TW_TFL_DEQUANTIZED);
        if (!f || !t)
            return false;
    }
    if (b)
        b = tw_build_with_quant(n->b, b, (tw_quant){0, 0, NULL, NULL});
    const int64_t memory = (int64_t)t->shape.dim[0] * t->shape.dim[1];
    const int32_t dim[2] = {x->shape.dim[0], (int32_t)memory};
    tw_value *s = memory <= INT32_MAX ? tw_tfl_state(n, SVDF_STATE, 2, dim) : NULL;
    if (!s || n->b->diag->code != TW_CODE_OK)
        return false;
    tw_value *in[] = {x, f, t, b, s};
    const tw_svdf_attributes attributes = {
        tw_tfl_int(n, TW_FIELD(SVDF, rank), 0),
        tw_tfl_flag(n, TW_FIELD(SVDF, asymmetric_quantize_inputs))};
    tw_node *node =
        tw_graph_node(n->b->graph, op, n->b->node, in, 5, 2, NULL, &attributes, n->b->diag);
    tw_quant quant;
    if (!node || !tw_tfl_quant(n->import, tw_tfl_out_tensor(n, 0), &quant))
        return false;
    node->out[0]->quant = quant;
    node->out[1]->quant = s->quant;
    /* The int8 reference leaves the activation to the result's zero point. */
    if (x->shape.dtype == TW_F32)
        node->clamp = clamp;
    return tw_tfl_state_becomes(n, s, node->out[1]) && tw_tfl_set(n, 0, node->out[0]);
}
