/* Recurrent layers and cells, in ONNX's form (import/recurrent.h): gates of an LSTM i, o, f, c, of a GRU
 * z, r, n, where PyTorch has i, f, g, o and r, z, n. */
#include <string.h>

#include "import/pytorch/torch.h"
#include "import/recurrent.h"

/* One layer's weights: w_ih, w_hh, b_ih, b_hh of each direction. */
typedef struct tw_torch_layer {
    tw_value *weight[2][4];
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

static bool read_layer(tw_torch_call *c, const tw_torch_object *params, int layer, int directions,
                       bool biases, tw_torch_layer *l)
{
    const int each = biases ? 4 : 2;
    *l = (tw_torch_layer){.directions = directions, .biases = biases};
    for (int d = 0; d < directions; d++)
        for (int i = 0; i < each; i++) {
            tw_torch_object *o = params->items[(layer * directions + d) * each + i];
            tw_value *w = tw_torch_value(c->t, o->tensor);
            if (!w)
                return false;
            l->weight[d][i] = w;
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
    if (layers < 1 || layers > 32 || params->count != layers * directions * (biases ? 4 : 2))
        return TW_TORCH_UNSUPPORTED(c, "%d weights for %lld layers; projections are not supported",
                                    params->count, (long long)layers);
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
        tw_torch_layer l;
        if (!read_layer(c, params, i, directions, biases, &l) ||
            !run_layer(c, &l, gates, relu, batch_first, &x,
                       state_of(c, h, i, (int)layers, directions),
                       state_of(c, cell, i, (int)layers, directions), last))
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
