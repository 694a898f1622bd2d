/* StatefulGru and StatefulLstm: ONNX's GRU-7 and LSTM-7, time first. A run goes on where the last one
 * ended. The first run, and one that is told to reset, begins with the initial states that are wired, or
 * zeros. */
#include "import/foreign/qti_aisw/qti_aisw.h"
#include "import/recurrent.h"

static bool build_layer(tw_foreign_node *n, tw_layer *l, const int *places, int slots)
{
    tw_value *results[3];
    bool wanted[3] = {false};
    const float clip = (float)tw_foreign_float(n, "clip");
    for (int i = 0; i < n->out_count; i++)
        wanted[i] = true;
    for (int i = 0; i < slots && i < n->in_count; i++)
        l->in[places[i]] = n->in[i];
    if (clip < 0)
        return TW_FOREIGN_FAIL(n, "the attribute clip is %g", (double)clip);
    for (int i = 0; i < slots; i++)
        if (places[i] != TW_LAYER_LENGTHS && l->in[places[i]] &&
            l->in[places[i]]->shape.dtype != TW_F32)
            return TW_FOREIGN_FAIL(n, "input %d must be of type FLOAT", i);
    const tw_value *lengths = l->in[TW_LAYER_LENGTHS];
    if (lengths && lengths->shape.dtype != TW_S32)
        return TW_FOREIGN_FAIL(n, "the input sequence_lens must be of type INT32");
    tw_layer_clip(l, clip);
    tw_value *reset = slots < n->in_count ? n->in[slots] : NULL;
    const char *const names[] = {tw_format(n->b->arena, "%s.h", n->b->node),
                                 tw_format(n->b->arena, "%s.c", n->b->node)};
    if (!tw_qti_aisw_reset(n, slots) || !tw_layer_direct(l, tw_foreign_text(n, "direction")) ||
        !tw_layer_check(l, tw_foreign_int(n, "hidden_size")) || !tw_layer_carry(l, reset, names) ||
        !tw_layer_build(l, wanted, results))
        return false;
    for (int i = 0; i < n->out_count; i++)
        n->out[i] = results[i];
    return true;
}

static bool read_flag(tw_foreign_node *n, const char *name, bool *flag)
{
    const int64_t value = tw_foreign_int(n, name);
    *flag = value != 0;
    return value == 0 || value == 1 ||
           TW_FOREIGN_FAIL(n, "the attribute %s is %lld; 0 and 1 are possible", name,
                           (long long)value);
}

bool tw_qti_aisw_stateful_gru(tw_foreign_node *n)
{
    static const int places[] = {TW_LAYER_X, TW_LAYER_W,       TW_LAYER_R,
                                 TW_LAYER_B, TW_LAYER_LENGTHS, TW_LAYER_H0};
    tw_layer l;
    bool linear;
    tw_layer_begin(&l, n->b, TW_LAYER_GRU);
    if (!read_flag(n, "linear_before_reset", &linear))
        return false;
    l.attributes[0].linear_before_reset = l.attributes[1].linear_before_reset = linear;
    return build_layer(n, &l, places, sizeof places / sizeof *places);
}

bool tw_qti_aisw_stateful_lstm(tw_foreign_node *n)
{
    static const int places[] = {TW_LAYER_X,       TW_LAYER_W,  TW_LAYER_R,  TW_LAYER_B,
                                 TW_LAYER_LENGTHS, TW_LAYER_H0, TW_LAYER_C0, TW_LAYER_P};
    tw_layer l;
    bool coupled;
    tw_layer_begin(&l, n->b, TW_LAYER_LSTM);
    if (!read_flag(n, "input_forget", &coupled))
        return false;
    l.attributes[0].input_forget = l.attributes[1].input_forget = coupled;
    return build_layer(n, &l, places, sizeof places / sizeof *places);
}
