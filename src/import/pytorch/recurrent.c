/* Recurrent layers and cells, in ONNX's form (import/recurrent.h): gates of an LSTM i, o, f, c, of a GRU
 * z, r, n, where PyTorch has i, f, g, o and r, z, n. */
#include <string.h>

#include "import/pytorch/torch.h"
#include "import/recurrent.h"

/* One layer's weights: w_ih, w_hh, b_ih, b_hh of each direction, and w_hr, the projection of an LSTM that has
 * one. */
typedef struct tw_torch_layer {
    tw_value *weight[2][4], *projection[2];
    int directions;
    bool biases, reverse; /* reverse: of one direction, from the end to the beginning */
} tw_torch_layer;

/* [G * O, ..] with its gates in ONNX's order. */
static tw_value *reordered(tw_torch_call *c, tw_value *w, int gates)
{
    static const int lstm[] = {0, 3, 1, 2}, gru[] = {1, 0, 2};
    tw_value *parts[4];
    if (!w || w->shape.rank < 1 || w->shape.dim[0] % gates != 0)
        return NULL;
    if (gates == 1)
        return w;
    const int64_t each = w->shape.dim[0] / gates;
    for (int g = 0; g < gates; g++)
        parts[g] = tw_build_slice(c->b, w, 0, (gates == 4 ? lstm[g] : gru[g]) * each, each, 1);
    return tw_build_concat(c->b, parts, gates, 0);
}

/* Weight `which` of all directions, [D, ..]; the biases one after another. */
static tw_value *joined(tw_torch_call *c, const tw_torch_layer *l, int which, int gates)
{
    tw_value *of[2] = {NULL};
    for (int d = 0; d < l->directions; d++) {
        tw_value *w = reordered(c, l->weight[d][which], gates);
        if (which == 2 && w) {
            tw_value *both[] = {w, reordered(c, l->weight[d][3], gates)};
            w = both[1] ? tw_build_concat(c->b, both, 2, 0) : NULL;
        }
        if (!(of[d] = w ? tw_torch_with_axis(c, w, 0) : NULL))
            return NULL;
    }
    return tw_build_concat(c->b, of, l->directions, 0);
}

/* x [T, N, I] or, batch first, [N, T, I] through one layer; states [D, N, O]. */
static bool run_layer(tw_torch_call *c, const tw_torch_layer *l, int gates, bool relu,
                      bool batch_first, tw_value **x, tw_value *h, tw_value *cell,
                      tw_value *last[2])
{
    static const int64_t swap[] = {1, 0, 2}, by_batch[] = {0, 2, 1, 3};
    const bool wanted[] = {true, true, gates == 4};
    tw_layer layer;
    tw_value *results[3];
    tw_layer_begin(&layer, c->b, gates);
    tw_layer_direct(&layer, l->directions == 2 ? "bidirectional"
                            : l->reverse       ? "reverse"
                                               : "forward");
    layer.in[TW_LAYER_X] = batch_first ? tw_build_transpose(c->b, *x, 3, swap) : *x;
    layer.in[TW_LAYER_W] = joined(c, l, 0, gates);
    layer.in[TW_LAYER_R] = joined(c, l, 1, gates);
    layer.in[TW_LAYER_B] = l->biases ? joined(c, l, 2, gates) : NULL;
    layer.in[TW_LAYER_H0] = h;
    layer.in[TW_LAYER_C0] = cell;
    for (int d = 0; d < 2; d++) {
        layer.attributes[d].linear_before_reset = gates == 3;
        if (relu)
            layer.attributes[d].g = TW_ACTIVATION_RELU;
    }
    if (!tw_layer_check(&layer, -1) || !tw_layer_build(&layer, wanted, results))
        return false;
    /* [T, D, N, O] to [T, N, D * O] */
    tw_value *y = results[0];
    const int64_t steps = y->shape.dim[0], batch = y->shape.dim[2];
    const int64_t width = (int64_t)y->shape.dim[1] * y->shape.dim[3];
    if (l->directions == 2)
        y = tw_build_transpose(c->b, y, 4, by_batch);
    y = tw_build_reshape(c->b, y, 3, (const int64_t[]){steps, batch, width});
    *x = batch_first ? tw_build_transpose(c->b, y, 3, swap) : y;
    last[0] = results[1];
    last[1] = gates == 4 ? results[2] : NULL;
    return *x != NULL;
}

static bool is_zero(tw_torch_call *c, tw_value *v)
{
    bool zero = tw_build_known(c->b, v);
    for (int64_t i = 0; zero && i < tw_shape_elements(&v->shape); i++)
        zero = tw_constant_at(v, i) == 0;
    return zero;
}

/* The first step that a layer takes hears of h [1, N, P] as of more inputs, which are 0 later. */
static bool tell_first(tw_torch_call *c, tw_torch_layer *l, bool batch_first, tw_value *h,
                       tw_value **x)
{
    static const int64_t swap[] = {1, 0, 2};
    const int time = batch_first ? 1 : 0;
    tw_shape rest = h->shape;
    h = batch_first ? tw_build_transpose(c->b, h, 3, swap) : h;
    rest.dim[time] = (*x)->shape.dim[time] - 1;
    rest.dim[1 - time] = h ? h->shape.dim[1 - time] : 0;
    tw_value *all = h;
    if (h && rest.dim[time] > 0) {
        tw_value *zeros = tw_build_full(c->b, rest, 0);
        tw_value *steps[] = {l->reverse ? zeros : h, l->reverse ? h : zeros};
        all = zeros ? tw_build_concat(c->b, steps, 2, time) : NULL;
    }
    tw_value *inputs[] = {*x, all}, *weights[] = {l->weight[0][0], l->weight[0][1]};
    *x = all ? tw_build_concat(c->b, inputs, 2, 2) : NULL;
    l->weight[0][0] = tw_build_concat(c->b, weights, 2, 1);
    return *x && l->weight[0][0];
}

/* A layer of an LSTM whose result, which recurs, is projected: h = w_hr * sigmoid(o) * tanh(c). What runs is
 * the layer without its projection, with the recurrent weights w_hh * w_hr, which are more, and the projection
 * of all steps behind it. An initial h is one behind the projection. */
static bool run_projected(tw_torch_call *c, const tw_torch_layer *l, bool batch_first, tw_value **x,
                          tw_value *h, tw_value *cell, tw_value *last[2])
{
    tw_value *y[2], *ends[2][2];
    const int count = l->directions;
    if ((*x)->shape.rank != 3 || h->shape.rank != 3 || cell->shape.rank != 3)
        return TW_TORCH_FAIL(c, "inputs and states must have rank 3");
    for (int d = 0; d < count; d++) {
        tw_torch_layer one = {.directions = 1, .biases = l->biases, .reverse = d == 1};
        tw_value *projection = l->projection[d], *in = *x, *of[2] = {NULL};
        tw_value *own_h = tw_build_slice(c->b, h, 0, d, 1, 1);
        tw_value *own_cell = tw_build_slice(c->b, cell, 0, d, 1, 1);
        memcpy(one.weight[0], l->weight[d], sizeof one.weight[0]);
        for (int i = 0; i < 2; i++)
            if (one.weight[0][i]->shape.rank != 2)
                return TW_TORCH_FAIL(c, "weights must have rank 2");
        if (!own_h || !own_cell ||
            (!is_zero(c, own_h) && !tell_first(c, &one, batch_first, own_h, &in)) ||
            !(one.weight[0][1] = tw_build2(c->b, "MatMul", one.weight[0][1], projection, NULL)) ||
            !run_layer(c, &one, TW_LAYER_LSTM, false, batch_first, &in, NULL, own_cell, of))
            return false;
        y[d] = tw_torch_linear(c, in, projection, NULL);
        ends[0][d] = tw_torch_linear(c, of[0], projection, NULL);
        ends[1][d] = of[1];
        if (!y[d] || !ends[0][d])
            return false;
    }
    *x = tw_build_concat(c->b, y, count, 2);
    last[0] = tw_build_concat(c->b, ends[0], count, 0);
    last[1] = tw_build_concat(c->b, ends[1], count, 0);
    return *x && last[0] && last[1];
}

static bool read_layer(tw_torch_call *c, const tw_torch_object *params, int layer, int each,
                       tw_torch_layer *l)
{
    const int plain = l->biases ? 4 : 2;
    for (int d = 0; d < l->directions; d++)
        for (int i = 0; i < each; i++) {
            tw_torch_object *o = params->items[(layer * l->directions + d) * each + i];
            tw_value *w = tw_torch_value(c->t, o->tensor);
            if (!w)
                return false;
            *(i < plain ? &l->weight[d][i] : &l->projection[d]) = w;
        }
    return true;
}

/* [layers * D, N, O] of layer i. */
static tw_value *state_of(tw_torch_call *c, tw_value *all, int layer, int layers, int directions)
{
    return !all || layers == 1
               ? all
               : tw_build_slice(c->b, all, 0, (int64_t)layer * directions, directions, 1);
}

/* Where the arguments stand: x, states, params, has_biases, num_layers, dropout, train, bidirectional,
 * batch_first. */
static bool recurrent(tw_torch_call *c, int gates, bool relu)
{
    const tw_torch_object *params = c->arg[2], *states = c->arg[1];
    const bool biases = tw_torch_flag(c, 3), both = tw_torch_flag(c, 7);
    const bool batch_first = tw_torch_flag(c, 8);
    const int64_t layers = tw_torch_int(c, 4);
    const int directions = both ? 2 : 1;
    tw_value *x = tw_torch_real_in(c, 0), *h, *cell = NULL, *last[2], *ends[2][32];
    if (tw_torch_flag(c, 6) && tw_torch_real(c, 5) != 0)
        return TW_TORCH_UNSUPPORTED(c, "in training; call eval() before exporting");
    const int plain = biases ? 4 : 2;
    const bool projected = gates == 4 && params->count == layers * directions * (plain + 1);
    const int each = plain + projected;
    if (layers < 1 || layers > 32 || params->count != layers * directions * each)
        return TW_TORCH_FAIL(c, "%d weights for %lld layers", params->count, (long long)layers);
    if (states->kind == TW_TORCH_TENSOR) {
        h = tw_torch_value(c->t, states->tensor);
    } else {
        if (states->count != 2)
            return false;
        h = tw_torch_value(c->t, states->items[0]->tensor);
        cell = tw_torch_value(c->t, states->items[1]->tensor);
    }
    if (!x || !h || (gates == 4 && !cell))
        return false;
    const bool unbatched = x->shape.rank == 2;
    if (unbatched) {
        x = tw_torch_with_axis(c, x, batch_first ? 0 : 1);
        h = tw_torch_with_axis(c, h, 1);
        cell = cell ? tw_torch_with_axis(c, cell, 1) : NULL;
    }
    for (int i = 0; i < layers; i++) {
        tw_torch_layer l = {.directions = directions, .biases = biases};
        tw_value *own_h = state_of(c, h, i, (int)layers, directions);
        tw_value *own_cell = state_of(c, cell, i, (int)layers, directions);
        if (!own_h || (cell && !own_cell) || !read_layer(c, params, i, each, &l) ||
            !(projected ? run_projected(c, &l, batch_first, &x, own_h, own_cell, last)
                        : run_layer(c, &l, gates, relu, batch_first, &x, own_h, own_cell, last)))
            return false;
        ends[0][i] = last[0];
        ends[1][i] = last[1];
    }
    tw_value *results[3] = {x, tw_build_concat(c->b, ends[0], (int)layers, 0), NULL};
    if (gates == 4)
        results[2] = tw_build_concat(c->b, ends[1], (int)layers, 0);
    if (unbatched) {
        results[0] = tw_torch_without_axis(c, results[0], batch_first ? 0 : 1);
        for (int i = 1; i < (gates == 4 ? 3 : 2); i++)
            results[i] = tw_torch_without_axis(c, results[i], 1);
    }
    return tw_torch_give_all(c, results, gates == 4 ? 3 : 2);
}

bool tw_torch_op_lstm(tw_torch_call *c)
{
    return recurrent(c, TW_LAYER_LSTM, false);
}

bool tw_torch_op_gru(tw_torch_call *c)
{
    return recurrent(c, TW_LAYER_GRU, false);
}

bool tw_torch_op_rnn_tanh(tw_torch_call *c)
{
    return recurrent(c, TW_LAYER_RNN, false);
}

bool tw_torch_op_rnn_relu(tw_torch_call *c)
{
    return recurrent(c, TW_LAYER_RNN, true);
}

/* (x, w_ih, w_hh, b_ih, b_hh, h, cell, reverse, batch_sizes, mode, hidden_size, num_layers, has_biases,
 * bidirectional, batch_first, train): one direction of one layer, as torch 2.1 to 2.7 export an LSTM */
bool tw_torch_op_mkldnn_rnn_layer(tw_torch_call *c)
{
    enum { LSTM = 2 };
    tw_torch_layer l = {.directions = 1, .biases = tw_torch_flag(c, 12)};
    tw_value *x = tw_torch_real_in(c, 0), *h = tw_torch_real_in(c, 5);
    tw_value *cell = tw_torch_real_in(c, 6), *last[2];
    if (tw_torch_int(c, 9) != LSTM || tw_torch_flag(c, 14) || tw_torch_flag(c, 15) ||
        tw_torch_length(c, 8) != 0)
        return TW_TORCH_UNSUPPORTED(c,
                                    "other than one layer of an LSTM, steps first, for inference");
    l.reverse = tw_torch_flag(c, 7);
    for (int i = 0; i < (l.biases ? 4 : 2); i++)
        if (!(l.weight[0][i] = tw_torch_real_in(c, 1 + i)))
            return false;
    if (!x || !h || !cell || !run_layer(c, &l, TW_LAYER_LSTM, false, false, &x, h, cell, last))
        return false;
    tw_value *results[] = {x, last[0], last[1], last[1]}; /* the fourth is for training */
    return tw_torch_give_all(c, results, 4);
}

/* --- cells: layers of one step ------------------------------------------------------------------ */

static bool cell_of(tw_torch_call *c, int gates, bool relu)
{
    tw_torch_layer l = {.directions = 1, .biases = tw_torch_has(c, 4) && tw_torch_has(c, 5)};
    tw_value *x = tw_torch_real_in(c, 0), *h, *cell = NULL, *last[2];
    const tw_torch_object *states = c->arg[1];
    if (states->kind == TW_TORCH_TENSOR) {
        h = tw_torch_value(c->t, states->tensor);
    } else {
        if (states->count != 2)
            return false;
        h = tw_torch_value(c->t, states->items[0]->tensor);
        cell = tw_torch_value(c->t, states->items[1]->tensor);
    }
    for (int i = 0; i < (l.biases ? 4 : 2); i++)
        if (!(l.weight[0][i] = tw_torch_real_in(c, 2 + i)))
            return false;
    if (!x || !h || (gates == 4 && !cell))
        return false;
    const bool unbatched = x->shape.rank == 1;
    if (unbatched) {
        x = tw_torch_with_axis(c, x, 0);
        h = tw_torch_with_axis(c, h, 0);
        cell = cell ? tw_torch_with_axis(c, cell, 0) : NULL;
    }
    x = tw_torch_with_axis(c, x, 0);
    h = tw_torch_with_axis(c, h, 0);
    cell = cell ? tw_torch_with_axis(c, cell, 0) : NULL;
    if (!run_layer(c, &l, gates, relu, false, &x, h, cell, last))
        return false;
    for (int i = 0; i < (gates == 4 ? 2 : 1); i++) {
        last[i] = tw_torch_without_axis(c, last[i], 0);
        if (unbatched)
            last[i] = tw_torch_without_axis(c, last[i], 0);
    }
    return gates == 4 ? tw_torch_give_all(c, last, 2) : tw_torch_give(c, last[0]);
}

/* (x, states, w_ih, w_hh, b_ih, b_hh) */
bool tw_torch_op_lstm_cell(tw_torch_call *c)
{
    return cell_of(c, TW_LAYER_LSTM, false);
}

bool tw_torch_op_gru_cell(tw_torch_call *c)
{
    return cell_of(c, TW_LAYER_GRU, false);
}

bool tw_torch_op_rnn_tanh_cell(tw_torch_call *c)
{
    return cell_of(c, TW_LAYER_RNN, false);
}

bool tw_torch_op_rnn_relu_cell(tw_torch_call *c)
{
    return cell_of(c, TW_LAYER_RNN, true);
}
