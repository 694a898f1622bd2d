/* Recurrent layers: RNN, GRU and LSTM. A direction is a node of its own, the backward one between
 * reversals. LSTM without options is the IR's Lstm, the rest are the operators of recurrent.def. */
#include <string.h>

#include "import/onnx/onnx.h"
#include "ops/lstm.h"
#include "ops/recurrent.h"

enum { X, W, R, B, LENGTHS, H0, C0, P, INPUTS };
enum { RNN = 1, GRU = 3, LSTM = 4 }; /* gates */

typedef struct tw_layer {
    tw_onnx_node *n;
    tw_value *in[INPUTS];
    int gates, directions;
    bool reverse[2], batch_first;
    int64_t batch, steps, inputs, outputs;
    float clip;
    bool linear_before_reset, input_forget;
} tw_layer;

/* ---- activations ---- */

/* In the order of the IR's. takes: how many of alpha and beta; their values where not given. */
static const struct {
    const char *name;
    int takes;
    float alpha, beta;
} activations[] = {
    {"Sigmoid", 0, 1, 0},       {"Tanh", 0, 1, 0},
    {"Relu", 0, 1, 0},          {"Affine", 2, 1, 0},
    {"LeakyRelu", 1, 0.01f, 0}, {"ThresholdedRelu", 1, 1, 0},
    {"ScaledTanh", 2, 1, 1},    {"HardSigmoid", 2, 0.2f, 0.5f},
    {"Elu", 1, 1, 0},           {"Softsign", 0, 1, 0},
    {"Softplus", 0, 1, 0},
};

/* Names differ in case between exporters. */
static bool is_named(const char *name, const char *text, size_t length)
{
    if (strlen(name) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((name[i] | 32) != (text[i] | 32))
            return false;
    return true;
}

static int find_activation(const ProtobufCBinaryData *text)
{
    for (int k = 0; k < TW_ACTIVATIONS; k++)
        if (is_named(activations[k].name, (const char *)text->data, text->len))
            return k;
    return -1;
}

/* Those of one direction: f, g, h of an LSTM, f, g of a GRU, g of an RNN. The lists of alpha and
 * beta go over all directions and name only what is taken. */
static bool read_activations(const tw_layer *l, int direction, tw_recurrent_attributes *a)
{
    tw_onnx_node *n = l->n;
    const Tw__Onnx__Attribute *names = tw_onnx_attribute(n, "activations");
    const Tw__Onnx__Attribute *alphas = tw_onnx_attribute(n, "activation_alpha");
    const Tw__Onnx__Attribute *betas = tw_onnx_attribute(n, "activation_beta");
    const int each = l->gates == LSTM ? 3 : l->gates == GRU ? 2 : 1;
    int32_t *const places[] = {&a->f, &a->g, &a->h};
    size_t alpha = 0, beta = 0;
    if (!names || names->n_strings == 0)
        return true;
    if (names->n_strings != (size_t)each * (size_t)l->directions)
        return TW_ONNX_FAIL(n, "%zu activations; %d are needed", names->n_strings,
                            each * l->directions);
    a->alpha.count = a->beta.count = 3;
    for (int i = 0; i < each * (direction + 1); i++) {
        const int kind = find_activation(&names->strings[i]);
        if (kind < 0)
            return TW_ONNX_UNSUPPORTED(n, "the activation '%.*s' is not known",
                                       (int)names->strings[i].len,
                                       (const char *)names->strings[i].data);
        const bool takes_alpha = activations[kind].takes > 0 && alphas && alpha < alphas->n_floats;
        const bool takes_beta = activations[kind].takes > 1 && betas && beta < betas->n_floats;
        const int at = each == 1 ? 1 : i % each;
        *places[at] = kind;
        a->alpha.v[at] = takes_alpha ? alphas->floats[alpha++] : activations[kind].alpha;
        a->beta.v[at] = takes_beta ? betas->floats[beta++] : activations[kind].beta;
    }
    return true;
}

/* ---- the layer ---- */

static bool read_direction(tw_layer *l)
{
    const char *direction = tw_onnx_text(l->n, "direction", "forward");
    const bool both = strcmp(direction, "bidirectional") == 0;
    if (!both && strcmp(direction, "forward") != 0 && strcmp(direction, "reverse") != 0)
        return TW_ONNX_FAIL(l->n,
                            "the direction '%.40s' is not one of forward, reverse, "
                            "bidirectional",
                            direction);
    l->directions = both ? 2 : 1;
    l->reverse[0] = direction[0] == 'r';
    l->reverse[1] = true;
    return true;
}

static bool has_extents(const tw_layer *l, int i, int rank, const int64_t *dim)
{
    const tw_value *v = l->in[i];
    bool fit = !v || v->shape.rank == rank;
    for (int k = 0; v && fit && k < rank; k++)
        fit = v->shape.dim[k] == dim[k];
    return fit || TW_ONNX_FAIL(l->n,
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
    if (!l->in[LENGTHS] || !tw_build_known(l->n->b, l->in[LENGTHS]))
        return;
    for (int k = 0; k < l->batch; k++)
        if (tw_build_int_at(l->in[LENGTHS], k) < l->steps)
            return;
    l->in[LENGTHS] = NULL;
}

static bool read_layer(tw_layer *l, tw_onnx_node *n, int gates)
{
    *l = (tw_layer){.n = n, .gates = gates};
    for (int i = 0; i < INPUTS; i++)
        l->in[i] = tw_onnx_in(n, i);
    l->batch_first = n->opset >= 14 && tw_onnx_int(n, "layout", 0) != 0;
    l->clip = tw_onnx_float(n, "clip", 0);
    l->linear_before_reset = gates == GRU && tw_onnx_int(n, "linear_before_reset", 0) != 0;
    l->input_forget = gates == LSTM && tw_onnx_int(n, "input_forget", 0) != 0;
    if (n->opset < 7)
        tw_onnx_ignore(n, "output_sequence"); /* outputs are named or not */
    if (!l->in[X] || !tw_onnx_need(n, W) || !tw_onnx_need(n, R) || !read_direction(l))
        return false;
    if (l->in[X]->shape.rank != 3 || l->in[W]->shape.rank != 3 || l->in[R]->shape.rank != 3)
        return TW_ONNX_FAIL(n, "X, W and R must have rank 3");
    const int32_t *dim = l->in[X]->shape.dim;
    l->steps = dim[l->batch_first ? 1 : 0];
    l->batch = dim[l->batch_first ? 0 : 1];
    l->inputs = dim[2];
    l->outputs = l->in[R]->shape.dim[2];
    if (tw_onnx_int(n, "hidden_size", l->outputs) != l->outputs)
        return TW_ONNX_FAIL(n, "hidden_size differs from the %lld columns of R",
                            (long long)l->outputs);
    if (!check_shapes(l))
        return false;
    drop_full_lengths(l);
    static const int64_t swap[] = {1, 0, 2};
    if (!l->batch_first)
        l->in[X] = tw_build_transpose(n->b, l->in[X], 3, swap);
    return l->in[X] != NULL;
}

/* ---- one direction ---- */

/* Index d of an axis, in the extents given. */
static tw_value *pick(const tw_layer *l, int i, int axis, int d, int rank, const int64_t *dim)
{
    tw_value *v = l->in[i];
    if (v && l->directions > 1)
        v = tw_build_slice(l->n->b, v, axis, d, 1, 1);
    return v ? tw_build_reshape(l->n->b, v, rank, dim) : NULL;
}

static tw_value *reversed(const tw_layer *l, tw_value *v)
{
    if (!l->in[LENGTHS])
        return tw_build_slice(l->n->b, v, 1, l->steps - 1, l->steps, -1);
    return tw_build2(l->n->b, "ReverseSequence", v, l->in[LENGTHS],
                     TW_SETTINGS(tw_set_int("axis", 1), tw_set_int("batch_axis", 0)));
}

/* The gates i, o, f, c of ONNX as Lstm has them: i, f, c, o. */
static tw_value *reordered(const tw_layer *l, tw_value *v)
{
    static const int order[] = {0, 2, 3, 1};
    tw_value *parts[LSTM];
    for (int k = 0; k < LSTM; k++)
        parts[k] = v ? tw_build_slice(l->n->b, v, 0, order[k], 1, 1) : NULL;
    return v ? tw_build_concat(l->n->b, parts, LSTM, 0) : NULL;
}

static bool is_plain_lstm(const tw_layer *l, const tw_recurrent_attributes *a)
{
    return l->gates == LSTM && !l->in[P] && !l->in[LENGTHS] && l->clip == 0 && !l->input_forget &&
           a->f == TW_ACTIVATION_SIGMOID && a->g == TW_ACTIVATION_TANH &&
           a->h == TW_ACTIVATION_TANH;
}

static tw_node *plain_lstm(const tw_layer *l, tw_value **in)
{
    static const tw_lstm_attributes none = {0};
    tw_builder *b = l->n->b;
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
    tw_builder *b = l->n->b;
    const int64_t g = l->gates, o = l->outputs, state[] = {l->batch, o};
    const tw_opdef *op = tw_op_by_name(g == LSTM ? "PeepholeLstm" : g == GRU ? "Gru" : "Rnn");
    const int of_state = l->batch_first ? 1 : 0;
    tw_recurrent_attributes a;
    tw_attributes_default(op, &a);
    a.clip = l->clip;
    a.linear_before_reset = l->linear_before_reset;
    a.input_forget = l->input_forget;
    tw_value *in[INPUTS] = {
        l->in[X],
        pick(l, W, 0, d, 3, (int64_t[]){g, o, l->inputs}),
        pick(l, R, 0, d, 3, (int64_t[]){g, o, o}),
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
    if (!read_activations(l, d, &a))
        return false;
    tw_node *node = is_plain_lstm(l, &a)
                        ? plain_lstm(l, in)
                        : tw_graph_node(b->graph, op, b->node, in, g == LSTM ? INPUTS : C0,
                                        g == LSTM ? 3 : 2, NULL, &a, b->diag);
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
    tw_builder *b = l->n->b;
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
        parts[d] = tw_build_reshape(l->n->b, state[d], 3, dim);
    return tw_build_concat(l->n->b, parts, l->directions, l->batch_first ? 1 : 0);
}

static bool import_layer(tw_onnx_node *n, int gates)
{
    tw_layer l;
    tw_value *results[2][3] = {{NULL}}, *of[3][2] = {{NULL}};
    if (!read_layer(&l, n, gates))
        return false;
    for (int d = 0; d < l.directions; d++) {
        if (!build_direction(&l, d, results[d]))
            return false;
        for (int i = 0; i < 3; i++)
            of[i][d] = results[d][i];
    }
    return (!tw_onnx_wants(n, 0) || tw_onnx_bind(n, 0, all_steps(&l, of[0]))) &&
           (!tw_onnx_wants(n, 1) || tw_onnx_bind(n, 1, last_step(&l, of[1]))) &&
           (!tw_onnx_wants(n, 2) || tw_onnx_bind(n, 2, last_step(&l, of[2])));
}

bool tw_onnx_op_rnn(tw_onnx_node *n)
{
    return import_layer(n, RNN);
}

bool tw_onnx_op_gru(tw_onnx_node *n)
{
    return import_layer(n, GRU);
}

bool tw_onnx_op_lstm(tw_onnx_node *n)
{
    return import_layer(n, LSTM);
}
