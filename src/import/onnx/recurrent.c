/* Recurrent layers: RNN, GRU and LSTM. */
#include <string.h>

#include "import/onnx/onnx.h"
#include "import/recurrent.h"

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
static bool read_activations(tw_onnx_node *n, tw_layer *l, int direction)
{
    tw_recurrent_attributes *a = &l->attributes[direction];
    const Tw__Onnx__Attribute *names = tw_onnx_attribute(n, "activations");
    const Tw__Onnx__Attribute *alphas = tw_onnx_attribute(n, "activation_alpha");
    const Tw__Onnx__Attribute *betas = tw_onnx_attribute(n, "activation_beta");
    const int each = l->gates == TW_LAYER_LSTM ? 3 : l->gates == TW_LAYER_GRU ? 2 : 1;
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

static bool import_layer(tw_onnx_node *n, int gates)
{
    tw_layer l;
    tw_value *results[3];
    tw_layer_begin(&l, n->b, gates);
    for (int i = 0; i < TW_LAYER_INPUTS; i++)
        l.in[i] = tw_onnx_in(n, i);
    l.batch_first = n->opset >= 14 && tw_onnx_int(n, "layout", 0) != 0;
    tw_layer_clip(&l, tw_onnx_float(n, "clip", 0));
    if (n->opset < 7)
        tw_onnx_ignore(n, "output_sequence"); /* outputs are named or not */
    for (int d = 0; d < 2; d++) {
        l.attributes[d].linear_before_reset =
            gates == TW_LAYER_GRU && tw_onnx_int(n, "linear_before_reset", 0) != 0;
        l.attributes[d].input_forget =
            gates == TW_LAYER_LSTM && tw_onnx_int(n, "input_forget", 0) != 0;
    }
    const bool wanted[] = {tw_onnx_wants(n, 0), tw_onnx_wants(n, 1), tw_onnx_wants(n, 2)};
    if (!tw_layer_direct(&l, tw_onnx_text(n, "direction", "forward")) ||
        !tw_layer_check(&l, tw_onnx_int(n, "hidden_size", -1)))
        return false;
    for (int d = 0; d < l.directions; d++)
        if (!read_activations(n, &l, d))
            return false;
    if (!tw_layer_build(&l, wanted, results))
        return false;
    for (int i = 0; i < 3; i++)
        if (wanted[i] && !tw_onnx_bind(n, i, results[i]))
            return false;
    return true;
}

bool tw_onnx_op_rnn(tw_onnx_node *n)
{
    return import_layer(n, TW_LAYER_RNN);
}

bool tw_onnx_op_gru(tw_onnx_node *n)
{
    return import_layer(n, TW_LAYER_GRU);
}

bool tw_onnx_op_lstm(tw_onnx_node *n)
{
    return import_layer(n, TW_LAYER_LSTM);
}
