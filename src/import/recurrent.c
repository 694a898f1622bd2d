/* Recurrent layers in ONNX's form. LSTM without options is the IR's Lstm, the rest, and those with
 * weights in integers, are the operators of recurrent.def. */
#include "import/recurrent.h"

#include <string.h>

#include "ops/codes.h"
#include "ops/lstm.h"

enum {
    X = TW_LAYER_X,
    W = TW_LAYER_W,
    R = TW_LAYER_R,
    B = TW_LAYER_B,
    LENGTHS = TW_LAYER_LENGTHS,
    H0 = TW_LAYER_H0,
    C0 = TW_LAYER_C0,
    P = TW_LAYER_P,
    INPUTS = TW_LAYER_INPUTS,
    LSTM = TW_LAYER_LSTM
};

#define LAYER_FAIL(l, ...) tw_fail((l)->b->diag, TW_CODE_FAILED, (l)->b->node, NULL, __VA_ARGS__)

static const tw_opdef *operator_of(const tw_layer *l)
{
    return tw_op_by_name(l->gates == LSTM           ? "PeepholeLstm"
                         : l->gates == TW_LAYER_GRU ? "Gru"
                                                    : "Rnn");
}

void tw_layer_begin(tw_layer *l, tw_builder *b, int gates)
{
    *l = (tw_layer){.b = b, .gates = gates, .directions = 1};
    l->reverse[1] = true;
    for (int d = 0; d < 2; d++)
        tw_attributes_default(operator_of(l), &l->attributes[d]);
}

bool tw_layer_direct(tw_layer *l, const char *direction)
{
    const bool both = strcmp(direction, "bidirectional") == 0;
    if (!both && strcmp(direction, "forward") != 0 && strcmp(direction, "reverse") != 0)
        return LAYER_FAIL(l, "the direction '%.40s' is not one of forward, reverse, bidirectional",
                          direction);
    l->directions = both ? 2 : 1;
    l->reverse[0] = direction[0] == 'r';
    return true;
}

void tw_layer_clip(tw_layer *l, float clip)
{
    l->attributes[0].clip = l->attributes[1].clip = clip;
}

/* ---- the layer ---- */

static bool has_extents(const tw_layer *l, int i, int rank, const int64_t *dim)
{
    const tw_value *v = l->in[i];
    bool fit = !v || v->shape.rank == rank;
    for (int k = 0; v && fit && k < rank; k++)
        fit = v->shape.dim[k] == dim[k];
    return fit || LAYER_FAIL(l,
                             "input %d does not fit %lld inputs, %lld outputs and a batch "
                             "of %lld in %d directions",
                             i, (long long)l->inputs, (long long)l->outputs, (long long)l->batch,
                             l->directions);
}

static bool check_shapes(const tw_layer *l)
{
    const int64_t d = l->directions, g = l->gates, o = l->outputs, n = l->batch;
    const int64_t state[] = {l->batch_first ? n : d, l->batch_first ? d : n, o};
    return has_extents(l, W, 3, (int64_t[]){d, g * o, l->inputs}) &&
           has_extents(l, R, 3, (int64_t[]){d, g * o, o}) &&
           has_extents(l, B, 2, (int64_t[]){d, 2 * g * o}) && has_extents(l, LENGTHS, 1, &n) &&
           has_extents(l, H0, 3, state) && has_extents(l, C0, 3, state) &&
           has_extents(l, P, 2, (int64_t[]){d, 3 * o});
}

/* Lengths that are all the steps there are say nothing. */
static void drop_full_lengths(tw_layer *l)
{
    if (!l->in[LENGTHS] || !tw_build_known(l->b, l->in[LENGTHS]))
        return;
    for (int k = 0; k < l->batch; k++)
        if (tw_build_int_at(l->in[LENGTHS], k) < l->steps)
            return;
    l->in[LENGTHS] = NULL;
}

bool tw_layer_check(tw_layer *l, int64_t hidden_size)
{
    static const int64_t swap[] = {1, 0, 2};
    for (int i = X; i <= R; i++)
        if (!l->in[i] || l->in[i]->shape.rank != 3)
            return LAYER_FAIL(l, "X, W and R must be there and have rank 3");
    const int32_t *dim = l->in[X]->shape.dim;
    l->steps = dim[l->batch_first ? 1 : 0];
    l->batch = dim[l->batch_first ? 0 : 1];
    l->inputs = dim[2];
    l->outputs = l->in[R]->shape.dim[2];
    if (hidden_size >= 0 && hidden_size != l->outputs)
        return LAYER_FAIL(l, "hidden_size differs from the %lld columns of R",
                          (long long)l->outputs);
    if (!check_shapes(l))
        return false;
    drop_full_lengths(l);
    if (!l->batch_first)
        l->in[X] = tw_build_transpose(l->b, l->in[X], 3, swap);
    return l->in[X] != NULL;
}

/* ---- one direction ---- */

/* Index d of an axis, in the extents given. */
static tw_value *pick(const tw_layer *l, int i, int axis, int d, int rank, const int64_t *dim)
{
    tw_value *v = l->in[i];
    if (v && l->directions > 1)
        v = tw_build_slice(l->b, v, axis, d, 1, 1);
    return v ? tw_build_reshape(l->b, v, rank, dim) : NULL;
}

static tw_value *reversed(const tw_layer *l, tw_value *v)
{
    if (!l->in[LENGTHS])
        return tw_build_slice(l->b, v, 1, l->steps - 1, l->steps, -1);
    return tw_build2(l->b, "ReverseSequence", v, l->in[LENGTHS],
                     TW_SETTINGS(tw_set_int("axis", 1), tw_set_int("batch_axis", 0)));
}

/* Weights that a Dequantize of a constant gives, where each direction has scales of its own: one, or one a
 * row. */
static const tw_value *stored_weights(const tw_layer *l, int i)
{
    const tw_value *v = l->in[i];
    const tw_node *d = v ? v->producer : NULL;
    if (!d || d->op->code != TW_OPCODE_dequantize || !d->in[0]->data ||
        tw_dtype_bytes(d->in[0]->shape.dtype) != 1)
        return NULL;
    return d->in[0];
}

/* Are w and r stored in integers? Then they stay so, all gates one behind the other in [1, G * O, I]. */
static bool is_stored(const tw_layer *l)
{
    return stored_weights(l, W) && stored_weights(l, R);
}

/* Direction d of stored weights. */
static tw_value *pick_stored(const tw_layer *l, int i, int d)
{
    const tw_value *from = stored_weights(l, i);
    tw_quant q = from->quant;
    tw_shape shape = from->shape;
    shape.dim[0] = 1;
    const int64_t bytes = tw_shape_elements(&shape);
    if (q.count > 1 && q.axis == 0) {
        q.scale += d;
        q.zero_point += d;
        q.count = 1;
    }
    tw_value *own =
        tw_graph_constant(l->b->graph, from->name, shape, (const char *)from->data + d * bytes);
    own->quant = q;
    return tw_build1(l->b, "Dequantize", own, NULL);
}

/* A bias or peephole that a Dequantize of a constant gives, in floats. */
static bool make_real(tw_layer *l, int i)
{
    const tw_node *d = l->in[i] ? l->in[i]->producer : NULL;
    if (!d || d->op->code != TW_OPCODE_dequantize || !d->in[0]->data)
        return true;
    tw_node node = *d;
    tw_value out = *d->out[0], *out_at = &out;
    node.out = &out_at;
    if (!tw_evaluate(&node, l->b->arena, 0, l->b->diag))
        return false;
    l->in[i] = tw_graph_constant(l->b->graph, d->out[0]->name, out.shape, out.data);
    return true;
}

/* The gates i, o, f, c of ONNX as Lstm has them: i, f, c, o. */
static tw_value *reordered(const tw_layer *l, tw_value *v)
{
    static const int order[] = {0, 2, 3, 1};
    tw_value *parts[LSTM];
    for (int k = 0; k < LSTM; k++)
        parts[k] = v ? tw_build_slice(l->b, v, 0, order[k], 1, 1) : NULL;
    return v ? tw_build_concat(l->b, parts, LSTM, 0) : NULL;
}

static bool is_plain_lstm(const tw_layer *l, const tw_recurrent_attributes *a)
{
    return l->gates == LSTM && !is_stored(l) && !l->in[P] && !l->in[LENGTHS] && a->clip == 0 &&
           !a->input_forget && a->f == TW_ACTIVATION_SIGMOID && a->g == TW_ACTIVATION_TANH &&
           a->h == TW_ACTIVATION_TANH;
}

static tw_node *plain_lstm(const tw_layer *l, tw_value **in)
{
    static const tw_lstm_attributes none = {0};
    tw_builder *b = l->b;
    const int64_t dim[] = {LSTM, l->outputs};
    tw_value *bias = NULL;
    if (in[B]) {
        tw_value *of_w = tw_build_slice(b, in[B], 0, 0, 1, 1);
        tw_value *of_r = tw_build_slice(b, in[B], 0, 1, 1, 1);
        bias = reordered(l, tw_build_reshape(b, tw_build2(b, "Add", of_w, of_r, NULL), 2, dim));
        if (!bias)
            return NULL;
    }
    tw_value *own[] = {in[X], reordered(l, in[W]), reordered(l, in[R]), bias, in[H0], in[C0]};
    return own[1] && own[2] ? tw_graph_node(b->graph, tw_op_by_name("Lstm"), b->node, own, 6, 3,
                                            NULL, &none, b->diag)
                            : NULL;
}

/* y [N, T, O], y_h and y_c [N, O] of direction d; results[2] only of an LSTM. */
static bool build_direction(const tw_layer *l, int d, tw_value **results)
{
    tw_builder *b = l->b;
    const int64_t g = l->gates, o = l->outputs, state[] = {l->batch, o};
    const int of_state = l->batch_first ? 1 : 0;
    const tw_recurrent_attributes *a = &l->attributes[d];
    tw_value *in[INPUTS] = {
        l->in[X],
        is_stored(l) ? pick_stored(l, W, d) : pick(l, W, 0, d, 3, (int64_t[]){g, o, l->inputs}),
        is_stored(l) ? pick_stored(l, R, d) : pick(l, R, 0, d, 3, (int64_t[]){g, o, o}),
        pick(l, B, 0, d, 3, (int64_t[]){2, g, o}),
        l->in[LENGTHS],
        pick(l, H0, of_state, d, 2, state),
        pick(l, C0, of_state, d, 2, state),
        pick(l, P, 0, d, 2, (int64_t[]){3, o}),
    };
    for (int i = 0; i < INPUTS; i++)
        if (l->in[i] && !in[i])
            return false;
    if (l->reverse[d] && !(in[X] = reversed(l, in[X])))
        return false;
    tw_node *node = is_plain_lstm(l, a) ? plain_lstm(l, in)
                                        : tw_graph_node(b->graph, operator_of(l), b->node, in,
                                                        g == LSTM ? INPUTS : C0, g == LSTM ? 3 : 2,
                                                        NULL, a, b->diag);
    if (!node)
        return false;
    for (int i = 0; i < node->out_count; i++)
        results[i] = node->out[i];
    if (l->reverse[d])
        results[0] = reversed(l, results[0]);
    return results[0] != NULL;
}

/* ---- results ---- */

/* [N, T, O] of each direction to [T, D, N, O] or, batch first, [N, T, D, O]. */
static tw_value *all_steps(const tw_layer *l, tw_value **y)
{
    static const int64_t swap[] = {1, 0, 2};
    tw_builder *b = l->b;
    const int64_t steps_first[] = {l->steps, 1, l->batch, l->outputs};
    const int64_t batch_first[] = {l->batch, l->steps, 1, l->outputs};
    tw_value *parts[2] = {NULL};
    for (int d = 0; d < l->directions; d++)
        parts[d] = l->batch_first
                       ? tw_build_reshape(b, y[d], 4, batch_first)
                       : tw_build_reshape(b, tw_build_transpose(b, y[d], 3, swap), 4, steps_first);
    return tw_build_concat(b, parts, l->directions, l->batch_first ? 2 : 1);
}

/* [N, O] of each direction to [D, N, O] or, batch first, [N, D, O]. */
static tw_value *last_step(const tw_layer *l, tw_value **state)
{
    const int64_t dim[] = {l->batch_first ? l->batch : 1, l->batch_first ? 1 : l->batch,
                           l->outputs};
    tw_value *parts[2] = {NULL};
    for (int d = 0; d < l->directions; d++)
        parts[d] = tw_build_reshape(l->b, state[d], 3, dim);
    return tw_build_concat(l->b, parts, l->directions, l->batch_first ? 1 : 0);
}

/* What a state holds at first, where that is known; null: zeros, or not known. */
static const void *initial_data(tw_layer *l, tw_value *initial)
{
    return initial && tw_build_known(l->b, initial) ? initial->data : NULL;
}

/* A state that is true in the first run after a reset of the context. */
static tw_value *first_run(tw_layer *l)
{
    static const uint8_t yes = 1;
    tw_builder *b = l->b;
    const tw_shape one = tw_shape_of(TW_BOOL, 0, NULL);
    tw_value *first = tw_graph_state(b->graph, tw_format(b->arena, "%s.first", b->node), one, &yes);
    tw_value *no = tw_build_full(b, one, 0);
    return no && tw_graph_state_next(b->graph, first, no, b->diag) ? first : NULL;
}

bool tw_layer_carry(tw_layer *l, tw_value *reset, const char *const names[2])
{
    tw_builder *b = l->b;
    const int32_t d = l->directions, n = (int32_t)l->batch, o = (int32_t)l->outputs;
    const tw_shape shape =
        tw_shape_of(TW_F32, 3, (int32_t[]){l->batch_first ? n : d, l->batch_first ? d : n, o});
    tw_value *first = NULL;
    for (int i = 0; i < (l->gates == LSTM ? 2 : 1); i++) {
        tw_value **in = &l->in[i == 0 ? H0 : C0], *when = reset;
        const void *initial = initial_data(l, *in);
        tw_value *state = tw_graph_state(b->graph, names[i], shape, initial);
        l->carried[i] = state;
        if (*in && !initial) { /* it may be another in every run */
            first = first ? first : first_run(l);
            when = reset && first ? tw_build2(b, "Or", reset, first, NULL) : first;
            if (!when)
                return false;
        }
        if (when) {
            tw_value *from = *in ? *in : tw_build_full(b, shape, 0);
            state = tw_build(b, "Where", (tw_value *[]){when, from, state}, 3, NULL);
        }
        *in = state;
        if (!state)
            return false;
    }
    return true;
}

bool tw_layer_build(tw_layer *l, const bool wanted[3], tw_value *results[3])
{
    tw_value *of_direction[2][3] = {{NULL}}, *of[3][2] = {{NULL}};
    if (is_stored(l) && !(make_real(l, B) && make_real(l, P)))
        return false;
    for (int d = 0; d < l->directions; d++) {
        if (!build_direction(l, d, of_direction[d]))
            return false;
        for (int i = 0; i < 3; i++)
            of[i][d] = of_direction[d][i];
    }
    for (int i = 0; i < 3; i++) {
        results[i] = NULL;
        const bool carries = i > 0 && l->carried[i - 1];
        if ((wanted[i] || carries) &&
            !(results[i] = i == 0 ? all_steps(l, of[0]) : last_step(l, of[i])))
            return false;
        if (carries && !tw_graph_state_next(l->b->graph, l->carried[i - 1], results[i], l->b->diag))
            return false;
    }
    return true;
}
