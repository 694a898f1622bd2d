/* The custom operators of TensorFlow Lite Micro's audio front end. */
#include "import/tflite/tflite.h"
#include "ops/signal.h"

static tw_value *compute(tw_tfl_node *n, const char *op, int in_count, const tw_setting *settings)
{
    tw_value *in[6];
    for (int i = 0; i < in_count; i++) {
        in[i] = tw_tfl_in(n, i);
        if (!in[i]) /* the rows demand them; a damaged one has left its message */
            return NULL;
        in[i] = tw_build_with_quant(n->b, in[i], (tw_quant){0, 0, NULL, NULL});
    }
    return n->b->diag->code == TW_CODE_OK
               ? tw_tfl_compute(n, 0, op, in, in_count, settings, tw_tfl_no_clamp())
               : NULL;
}

bool tw_tfl_op_signal_window(tw_tfl_node *n)
{
    int32_t shift = tw_tfl_option(n, "shift");
    return tw_tfl_set(n, 0, compute(n, "SignalWindow", 2, TW_SETTINGS(tw_set_int("shift", shift))));
}

bool tw_tfl_op_signal_fft_auto_scale(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    const tw_opdef *op = tw_op_by_name("SignalAutoScale");
    tw_node *node =
        x && op ? tw_graph_node(n->b->graph, op, n->b->node, &x, 1, 2, NULL, NULL, n->b->diag)
                : NULL;
    return node && tw_tfl_set(n, 0, node->out[0]) && tw_tfl_set(n, 1, node->out[1]);
}

bool tw_tfl_op_signal_rfft(tw_tfl_node *n)
{
    int32_t length = tw_tfl_option(n, "fft_length");
    return tw_tfl_set(n, 0, compute(n, "SignalRfft", 1, TW_SETTINGS(tw_set_int("length", length))));
}

bool tw_tfl_op_signal_irfft(tw_tfl_node *n)
{
    int32_t length = tw_tfl_option(n, "fft_length");
    return tw_tfl_set(n, 0,
                      compute(n, "SignalIrfft", 1, TW_SETTINGS(tw_set_int("length", length))));
}

bool tw_tfl_op_signal_energy(tw_tfl_node *n)
{
    int32_t start = tw_tfl_option(n, "start_index"), end = tw_tfl_option(n, "end_index");
    return tw_tfl_set(n, 0,
                      compute(n, "SignalEnergy", 1,
                              TW_SETTINGS(tw_set_int("start", start), tw_set_int("end", end))));
}

bool tw_tfl_op_signal_filter_bank(tw_tfl_node *n)
{
    int32_t channels = tw_tfl_option(n, "num_channels");
    return tw_tfl_set(
        n, 0, compute(n, "SignalFilterBank", 6, TW_SETTINGS(tw_set_int("channels", channels))));
}

bool tw_tfl_op_signal_square_root(tw_tfl_node *n)
{
    return tw_tfl_set(n, 0, compute(n, "SignalSquareRoot", 2, NULL));
}

/* The noise estimate is the operator's own memory in the reference: a state, zero at first. */
bool tw_tfl_op_signal_subtraction(tw_tfl_node *n)
{
    const tw_signal_subtraction_attributes a = {tw_tfl_option(n, "smoothing"),
                                                tw_tfl_option(n, "one_minus_smoothing"),
                                                tw_tfl_option(n, "alternate_smoothing"),
                                                tw_tfl_option(n, "alternate_one_minus_smoothing"),
                                                tw_tfl_option(n, "min_signal_remaining"),
                                                tw_tfl_option(n, "smoothing_bits"),
                                                tw_tfl_option(n, "spectral_subtraction_bits"),
                                                tw_tfl_option(n, "clamping")};
    tw_value *x = tw_tfl_in(n, 0);
    const tw_opdef *op = tw_op_by_name("SignalSubtraction");
    if (!x || !op || n->b->diag->code != TW_CODE_OK)
        return false;
    tw_value *state = tw_graph_state(n->b->graph, "noise_estimate", x->shape, NULL);
    tw_value *in[] = {x, state};
    tw_node *node = tw_graph_node(n->b->graph, op, n->b->node, in, 2, 2, NULL, &a, n->b->diag);
    return node && tw_tfl_state_becomes(n, state, node->out[1]) && tw_tfl_set(n, 0, node->out[0]) &&
           tw_tfl_set(n, 1, node->out[1]);
}

bool tw_tfl_op_signal_pcan(tw_tfl_node *n)
{
    int32_t shift = tw_tfl_option(n, "snr_shift");
    return tw_tfl_set(n, 0, compute(n, "SignalPcan", 3, TW_SETTINGS(tw_set_int("shift", shift))));
}

bool tw_tfl_op_signal_log(tw_tfl_node *n)
{
    int32_t correction = tw_tfl_option(n, "input_correction_bits"),
            scale = tw_tfl_option(n, "output_scale");
    return tw_tfl_set(
        n, 0,
        compute(n, "SignalLog", 1,
                TW_SETTINGS(tw_set_int("correction", correction), tw_set_int("scale", scale))));
}
