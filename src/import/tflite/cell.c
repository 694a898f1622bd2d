/* Recurrent layers of floats that have no operator of their own: a step at a time, in operators. Long
 * short-term memory with peephole connections, a projection, layer normalisation or coupled gates, and
 * plain recurrences; one direction or both. */
#include "import/tflite/recurrent.h"

enum {
    MOST_STEPS = 256 /* that are written out */
};

static const tw_tfl_cell forward = {1, 5, 9, 12, 16, 18, 20};
static const tw_tfl_cell both[] = {{1, 5, 9, 12, 16, 35, -1}, {18, 22, 26, 29, 33, 37, -1}};

/* ---- parts ---- */

/* A layer and where it stands. */
typedef struct tw_step {
    const tw_tfl_cell *part; /* where its inputs stand */
    int activation;
    float cell_clip, projection_clip;
    tw_tfl_weights_as as; /* what int8 weights of floats become */
    tw_value **made;      /* weights by input, the same in every step; null: not yet */
    tw_value *h, *c;
} tw_step;

/* Weights of input i: matrices as they are, or as floats. */
static tw_value *weights(tw_tfl_node *n, const tw_step *s, const tw_value *x, int i,
                         tw_tfl_weights_as as)
{
    if (!s->made[i])
        s->made[i] = tw_tfl_weights(n, x, tw_tfl_in(n, i), as);
    return s->made[i];
}

/* x times the weights of input i, plus input `bias` where it is there. */
static tw_value *layer(tw_tfl_node *n, const tw_step *s, tw_value *x, int i, int bias)
{
    tw_value *in[] = {x, weights(n, s, x, i, s->as), bias >= 0 ? tw_tfl_in(n, bias) : NULL};
    if (!x || !in[1])
        return NULL;
    return tw_build(n->b, "FullyConnected", in, in[2] ? 3 : 2, NULL);
}

static tw_value *apply(tw_tfl_node *n, tw_value *x, int activation)
{
    static const char *const names[] = {NULL, "Relu", "Clip", "Clip", "Tanh"};
    if (!x || activation == TW_TFL_ACTIVATION_NONE)
        return x;
    if (activation < 0 || activation > TW_TFL_ACTIVATION_TANH) {
        TW_TFL_UNSUPPORTED(n, "activation %d is not supported", activation);
        return NULL;
    }
    if (activation == TW_TFL_ACTIVATION_RELU_N1_TO_1 || activation == TW_TFL_ACTIVATION_RELU6) {
        const bool six = activation == TW_TFL_ACTIVATION_RELU6;
        return tw_build1(
            n->b, "Clip", x,
            TW_SETTINGS(tw_set_float("alpha", six ? 0 : -1), tw_set_float("beta", six ? 6 : 1)));
    }
    return tw_build1(n->b, names[activation], x, NULL);
}

static tw_value *bound(tw_tfl_node *n, tw_value *x, float size)
{
    if (!x || !(size > 0))
        return x;
    return tw_build1(n->b, "Clip", x,
                     TW_SETTINGS(tw_set_float("alpha", -size), tw_set_float("beta", size)));
}

/* ---- long short-term memory ---- */

/* Gate g's sum, peephole and normalisation included. c: the cell that the peephole sees. */
static tw_value *sum_of(tw_tfl_node *n, const tw_step *s, tw_value *x, int g, tw_value *c)
{
    static const int peephole[] = {0, 1, -1, 2};
    const bool norm = s->part->norm >= 0 && tw_tfl_has(n, s->part->norm + g);
    const int64_t axis[1] = {-1};
    tw_value *sum = layer(n, s, x, s->part->w + g, norm ? -1 : s->part->bias + g);
    sum = tw_build2(n->b, "Add", sum, layer(n, s, s->h, s->part->r + g, -1), NULL);
    if (peephole[g] >= 0 && tw_tfl_has(n, s->part->peephole + peephole[g]))
        sum = tw_build2(
            n->b, "Add", sum,
            tw_build2(n->b, "Mul", c,
                      weights(n, s, x, s->part->peephole + peephole[g], TW_TFL_DEQUANTIZED), NULL),
            NULL);
    if (!norm || !sum)
        return sum;
    tw_value *in[] = {sum, tw_tfl_in(n, s->part->norm + g), tw_tfl_in(n, s->part->bias + g)};
    return tw_build(n->b, "Normalize", in, in[2] ? 3 : 2,
                    TW_SETTINGS(tw_set_ints("axes", 1, axis), tw_set_float("epsilon", 1e-8f)));
}

static tw_value *sigmoid(tw_tfl_node *n, tw_value *x)
{
    return x ? tw_build1(n->b, "Sigmoid", x, NULL) : NULL;
}

/* From x [N, I] and the states to the next states; h is the result. */
static bool lstm_step(tw_tfl_node *n, tw_step *s, tw_value *x)
{
    tw_builder *b = n->b;
    tw_value *f = sigmoid(n, sum_of(n, s, x, 1, s->c)), *i;
    if (tw_tfl_has(n, s->part->w))
        i = sigmoid(n, sum_of(n, s, x, 0, s->c));
    else /* what is not forgotten is replaced */
        i = tw_build2(b, "Sub", tw_build_scalar(b, TW_F32, 1), f, NULL);
    tw_value *g = apply(n, sum_of(n, s, x, 2, NULL), s->activation);
    tw_value *c = tw_build2(b, "Add", tw_build2(b, "Mul", f, s->c, NULL),
                            tw_build2(b, "Mul", i, g, NULL), NULL);
    c = bound(n, c, s->cell_clip);
    tw_value *o = sigmoid(n, sum_of(n, s, x, 3, c));
    tw_value *h = tw_build2(b, "Mul", o, apply(n, c, s->activation), NULL);
    if (tw_tfl_has(n, s->part->projection))
        h = bound(n, layer(n, s, h, s->part->projection, s->part->projection + 1),
                  s->projection_clip);
    s->h = h;
    s->c = c;
    return h && c && b->diag->code == TW_CODE_OK;
}

/* ---- sequences ---- */

typedef bool (*tw_step_function)(tw_tfl_node *n, tw_step *s, tw_value *x);

/* x [N, T, I] a step at a time; the results [N, T, O]. */
static tw_value *unroll(tw_tfl_node *n, tw_step *s, tw_value *x, bool backward,
                        tw_step_function step)
{
    const int32_t batch = x->shape.dim[0], steps = x->shape.dim[1];
    const int64_t flat[2] = {batch, x->shape.dim[2]};
    tw_value **y = tw_alloc_array(n->import->scratch, (size_t)steps + 1, sizeof(tw_value *));
    s->made = tw_alloc_array(n->import->scratch, n->operator->in_count + 1u, sizeof(tw_value *));
    if (steps < 1 || steps > MOST_STEPS) {
        TW_TFL_UNSUPPORTED(n, "%d steps of such a layer; 1 to %d are supported", (int)steps,
                           MOST_STEPS);
        return NULL;
    }
    for (int32_t k = 0; k < steps; k++) {
        const int32_t t = backward ? steps - 1 - k : k;
        tw_value *now = tw_build_slice(n->b, x, 1, t, 1, 1);
        now = now ? tw_build_reshape(n->b, now, 2, flat) : NULL;
        if (!now || !step(n, s, now))
            return NULL;
        const int64_t row[3] = {batch, 1, s->h->shape.dim[1]};
        y[t] = tw_build_reshape(n->b, s->h, 3, row);
        if (!y[t])
            return NULL;
    }
    return steps == 1 ? y[0] : tw_build_concat(n->b, y, steps, 1);
}

/* One direction of a layer, its states included. */
static tw_value *lstm_over(tw_tfl_node *n, const tw_tfl_cell *part, tw_step s, tw_value *x,
                           bool backward)
{
    tw_value *r = tw_tfl_in(n, part->r + 1), *w = tw_tfl_in(n, part->w + 1);
    if (!r || !w || r->shape.rank != 2 || w->shape.rank != 2) {
        if (n->b->diag->code == TW_CODE_OK)
            TW_TFL_FAIL(n, "the forget gate's weights must be two matrices");
        return NULL;
    }
    const int32_t hidden[2] = {x->shape.dim[0], r->shape.dim[1]};
    const int32_t cell[2] = {x->shape.dim[0], w->shape.dim[0]};
    tw_value *h = tw_tfl_state(n, part->hidden, 2, hidden);
    tw_value *c = h ? tw_tfl_state(n, part->hidden + 1, 2, cell) : NULL;
    if (!h || !c)
        return NULL;
    s.part = part;
    s.h = h;
    s.c = c;
    tw_value *y = unroll(n, &s, x, backward, lstm_step);
    return y && tw_tfl_state_becomes(n, h, s.h) && tw_tfl_state_becomes(n, c, s.c) ? y : NULL;
}

static bool is_float(tw_tfl_node *n, const tw_value *x)
{
    return x->shape.dtype == TW_F32 ||
           TW_TFL_UNSUPPORTED(n,
                              "a layer of %s with peephole connections, a projection, layer "
                              "normalisation or coupled gates; keep it in FLOAT32",
                              tw_dtype_name(x->shape.dtype));
}

static tw_tfl_weights_as kept(bool asymmetric)
{
    return asymmetric ? TW_TFL_HYBRID_ASYMMETRIC : TW_TFL_HYBRID;
}

tw_value *tw_tfl_composed_lstm(tw_tfl_node *n, tw_value *x, const tw_tfl_lstm_options *options)
{
    const tw_step s = {.activation = options->activation,
                       .cell_clip = options->cell_clip,
                       .projection_clip = options->projection_clip,
                       .as = kept(options->asymmetric)};
    return is_float(n, x) ? lstm_over(n, &forward, s, x, false) : NULL;
}

static tw_value *swap_time(tw_tfl_node *n, tw_value *x)
{
    const int64_t perm[3] = {1, 0, 2};
    return x ? tw_build_transpose(n->b, x, 3, perm) : NULL;
}

/* Both directions' results: one behind the other along the features, or apart. */
static bool set_both(tw_tfl_node *n, tw_value *y[2], bool merge, bool time_major)
{
    if (!y[0] || !y[1])
        return false;
    if (merge) {
        tw_value *all = tw_build_concat(n->b, y, 2, 2);
        return tw_tfl_set(n, 0, time_major ? swap_time(n, all) : all);
    }
    return tw_tfl_set(n, 0, time_major ? swap_time(n, y[0]) : y[0]) &&
           tw_tfl_set(n, 1, time_major ? swap_time(n, y[1]) : y[1]);
}

static bool is_sequence(tw_tfl_node *n, const tw_value *x)
{
    return x->shape.rank == 3 || TW_TFL_FAIL(n,
                                             "the input has rank %d; it must be sequences of "
                                             "vectors",
                                             x->shape.rank);
}

/* The second direction may read an input of its own, which no converter makes. */
static bool has_auxiliary(tw_tfl_node *n, int first, int last)
{
    for (int i = first; i <= last; i++)
        if (tw_tfl_has(n, i)) {
            TW_TFL_UNSUPPORTED(n, "an auxiliary input is not supported");
            return true;
        }
    return false;
}

bool tw_tfl_op_bidirectional_sequence_lstm(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0), *y[2];
    /* True where the file is silent. */
    const bool time_major = tw_tfl_byte(n, TW_FIELD(BidirectionalLSTM, time_major), 1) != 0;
    const tw_step s = {
        .activation = tw_tfl_byte(n, TW_FIELD(BidirectionalLSTM, fused_activation_function), 0),
        .cell_clip = tw_tfl_float(n, TW_FIELD(BidirectionalLSTM, cell_clip), 0),
        .projection_clip = tw_tfl_float(n, TW_FIELD(BidirectionalLSTM, proj_clip), 0),
        .as = kept(tw_tfl_flag(n, TW_FIELD(BidirectionalLSTM, asymmetric_quantize_inputs)))};
    if (!x || !is_sequence(n, x) || !is_float(n, x) || has_auxiliary(n, 39, 47))
        return false;
    x = time_major ? swap_time(n, x) : x;
    for (int k = 0; k < 2; k++)
        y[k] = x && n->b->diag->code == TW_CODE_OK ? lstm_over(n, &both[k], s, x, k == 1) : NULL;
    return set_both(n, y, tw_tfl_flag(n, TW_FIELD(BidirectionalLSTM, merge_outputs)), time_major);
}

/* ---- plain recurrences ---- */

/* w and r stand side by side, then bias and hidden state. */
static bool rnn_step(tw_tfl_node *n, tw_step *s, tw_value *x)
{
    tw_value *sum = layer(n, s, x, s->part->w, s->part->bias);
    sum = tw_build2(n->b, "Add", sum, layer(n, s, s->h, s->part->r, -1), NULL);
    s->h = apply(n, sum, s->activation);
    return s->h && n->b->diag->code == TW_CODE_OK;
}

/* One direction; its inputs stand from `first` on. */
static tw_value *rnn_over(tw_tfl_node *n, int first, tw_step s, tw_value *x, bool backward)
{
    const tw_tfl_cell part = {first, first + 1, -1, first + 2, -1, first + 3, -1};
    tw_value *r = tw_tfl_in(n, part.r);
    s.part = &part;
    if (!r || x->shape.dtype != TW_F32 || r->shape.rank != 2) {
        if (n->b->diag->code == TW_CODE_OK)
            TW_TFL_UNSUPPORTED(n, "only FLOAT32 layers with a matrix of recurrent weights are "
                                  "supported");
        return NULL;
    }
    const int32_t dim[2] = {x->shape.dim[0], r->shape.dim[0]};
    tw_value *h = s.h = tw_tfl_state(n, part.hidden, 2, dim);
    tw_value *y = h ? unroll(n, &s, x, backward, rnn_step) : NULL;
    return y && tw_tfl_state_becomes(n, h, s.h) ? y : NULL;
}

bool tw_tfl_op_unidirectional_sequence_rnn(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    const bool time_major = tw_tfl_flag(n, TW_FIELD(SequenceRNN, time_major));
    const tw_step s = {
        .activation = tw_tfl_byte(n, TW_FIELD(SequenceRNN, fused_activation_function), 0),
        .as = kept(tw_tfl_flag(n, TW_FIELD(SequenceRNN, asymmetric_quantize_inputs)))};
    if (!x || !is_sequence(n, x))
        return false;
    x = time_major ? swap_time(n, x) : x;
    tw_value *y = x ? rnn_over(n, 1, s, x, false) : NULL;
    return y && tw_tfl_set(n, 0, time_major ? swap_time(n, y) : y);
}

bool tw_tfl_op_rnn(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    if (!x)
        return false;
    if (x->shape.rank != 2)
        return TW_TFL_FAIL(n, "the input has rank %d; it must be vectors", x->shape.rank);
    const int64_t step[3] = {x->shape.dim[0], 1, x->shape.dim[1]};
    x = tw_build_reshape(n->b, x, 3, step);
    const tw_step s = {.activation = tw_tfl_byte(n, TW_FIELD(RNN, fused_activation_function), 0),
                       .as = kept(tw_tfl_flag(n, TW_FIELD(RNN, asymmetric_quantize_inputs)))};
    tw_value *y = x ? rnn_over(n, 1, s, x, false) : NULL;
    if (!y)
        return false;
    const int64_t flat[2] = {y->shape.dim[0], y->shape.dim[2]};
    return tw_tfl_set(n, 0, tw_build_reshape(n->b, y, 2, flat));
}

bool tw_tfl_op_bidirectional_sequence_rnn(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0), *y[2];
    const bool time_major = tw_tfl_flag(n, TW_FIELD(BidirectionalRNN, time_major));
    const tw_step s = {
        .activation = tw_tfl_byte(n, TW_FIELD(BidirectionalRNN, fused_activation_function), 0),
        .as = kept(tw_tfl_flag(n, TW_FIELD(BidirectionalRNN, asymmetric_quantize_inputs)))};
    if (!x || !is_sequence(n, x) || has_auxiliary(n, 9, 11))
        return false;
    x = time_major ? swap_time(n, x) : x;
    for (int k = 0; k < 2; k++)
        y[k] = x && n->b->diag->code == TW_CODE_OK ? rnn_over(n, 1 + 4 * k, s, x, k == 1) : NULL;
    return set_both(n, y, tw_tfl_flag(n, TW_FIELD(BidirectionalRNN, merge_outputs)), time_major);
}
