/* Recurrent layers: weights in ONNX's form, each node one result. Nodes of one group are one layer of
 * which several results are used: it is built once. The stateful wrappers give all results, and go on
 * where the last run ended. */
#include <string.h>

#include "import/foreign/mobilint/mobilint.h"
#include "import/recurrent.h"

/* The operands that the mask names, in the order of the layer's inputs: i, s, h, c. */
static bool read_operands(tw_foreign_node *n, tw_layer *l)
{
    static const int places[] = {TW_LAYER_X, TW_LAYER_LENGTHS, TW_LAYER_H0, TW_LAYER_C0};
    const char *letters = l->gates == TW_LAYER_LSTM ? "ishc" : "ish";
    const char *mask = tw_foreign_text(n, "input_mask"), *at = mask;
    int operand = 0;
    for (int k = 0; letters[k]; k++) {
        if (*at != letters[k])
            continue;
        at++;
        l->in[places[k]] = operand < n->in_count ? n->in[operand] : NULL;
        operand++;
    }
    if (*at || mask[0] != 'i')
        return TW_FOREIGN_FAIL(n,
                               "the attribute input_mask is '%.20s'; letters of %s in this "
                               "order are possible, i among them",
                               mask, letters);
    return operand == n->in_count ||
           TW_FOREIGN_FAIL(n, "the attribute input_mask names %d operands, there are %d", operand,
                           n->in_count);
}

/* Activations [1, 1, T, I] or [1, N, T, I] are taken for ONNX's of rank 3. */
static bool to_rank_3(tw_foreign_node *n, tw_layer *l)
{
    tw_value *x = l->in[TW_LAYER_X];
    if (x->shape.rank != 4)
        return true;
    const int32_t *d = x->shape.dim;
    if (d[0] != 1 || d[1] != 1)
        return TW_FOREIGN_FAIL(n, "the input must be [1,1,steps,features], or have rank 3");
    const int64_t dim[] = {l->batch_first ? 1 : d[2], l->batch_first ? d[2] : 1, d[3]};
    l->in[TW_LAYER_X] = tw_build_reshape(n->b, x, 3, dim);
    return l->in[TW_LAYER_X] != NULL;
}

/* A state's name is one layer's. */
static bool claim_state(tw_foreign_node *n, const char *attribute)
{
    tw_builder *b = n->b;
    const char *name = tw_foreign_text(n, attribute);
    const char *key = tw_format(b->arena, "state/%s", name);
    if (!*name)
        return TW_FOREIGN_FAIL(n, "the attribute %s is empty", attribute);
    if (tw_map_get(&b->shared, key))
        return TW_FOREIGN_FAIL(n, "the attribute %s, '%.40s', is that of another state", attribute,
                               name);
    tw_map_put(b->arena, &b->shared, key, n->b->graph);
    return true;
}

static bool carry(tw_foreign_node *n, tw_layer *l)
{
    const char *const names[] = {tw_foreign_text(n, "hidden_state_name"),
                                 tw_foreign_text(n, "cell_state_name")};
    return claim_state(n, "hidden_state_name") &&
           (l->gates != TW_LAYER_LSTM || claim_state(n, "cell_state_name")) &&
           tw_layer_carry(l, NULL, names);
}

/* Build the layer; results null where there is none. */
static bool build_layer(tw_foreign_node *n, int gates, bool stateful, tw_value *results[3])
{
    const bool wanted[] = {true, true, gates == TW_LAYER_LSTM};
    tw_layer l;
    tw_layer_begin(&l, n->b, gates);
    l.batch_first = tw_foreign_flag(n, "batch_first");
    for (int d = 0; d < 2; d++)
        l.attributes[d].linear_before_reset = tw_foreign_flag(n, "linear_before_reset");
    if (!read_operands(n, &l) || !to_rank_3(n, &l))
        return false;
    l.in[TW_LAYER_W] = tw_foreign_weight(n, "W");
    l.in[TW_LAYER_R] = tw_foreign_weight(n, "R");
    l.in[TW_LAYER_B] = tw_foreign_weight(n, "B");
    l.in[TW_LAYER_P] = tw_foreign_weight(n, "P");
    return tw_layer_direct(&l, tw_foreign_text(n, "direction")) &&
           tw_layer_check(&l, tw_foreign_int(n, "hidden_size")) && (!stateful || carry(n, &l)) &&
           tw_layer_build(&l, wanted, results);
}

/* --- a result of a layer ------------------------------------------------------------------------- */

/* What the nodes of a group share. */
typedef struct tw_group {
    const tw_foreign_row *row;
    tw_value *in[4];
    int in_count;
    const tw_foreign_attribute *attributes;
    int attribute_count;
    tw_value *results[3];
} tw_group;

static bool same_attribute(const tw_foreign_attribute *a, const tw_foreign_attribute *b)
{
    if (a->count != b->count || a->value != b->value || !a->texts != !b->texts ||
        !a->numbers != !b->numbers)
        return false;
    for (int i = 0; i < a->count; i++)
        if ((a->texts && strcmp(a->texts[i], b->texts[i]) != 0) ||
            (a->numbers && a->numbers[i] != b->numbers[i]))
            return false;
    return true;
}

/* Do all members say the same, but for the result that each one is? */
static bool check_member(tw_foreign_node *n, const tw_group *g)
{
    if (n->row != g->row || n->in_count != g->in_count)
        return TW_FOREIGN_FAIL(n, "a node of the same group is of another kind");
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] != g->in[i])
            return TW_FOREIGN_FAIL(n, "a node of the same group has another input %d", i);
    for (int i = 0; i < n->attribute_count; i++) {
        const tw_foreign_attribute *a = &n->attributes[i], *b = NULL;
        for (int k = 0; k < g->attribute_count; k++)
            if (strcmp(g->attributes[k].name, a->name) == 0)
                b = &g->attributes[k];
        if (strcmp(a->name, "output_mask") != 0 && (!b || !same_attribute(a, b)))
            return TW_FOREIGN_FAIL(n, "the attribute %s differs within the group", a->name);
    }
    return true;
}

static bool one_result(tw_foreign_node *n, int gates, const char *group_attribute)
{
    tw_builder *b = n->b;
    const char *mask = tw_foreign_text(n, "output_mask");
    const char *letters = gates == TW_LAYER_LSTM ? "ohc" : "oh", *which = strchr(letters, mask[0]);
    const char *group = tw_foreign_text(n, group_attribute);
    const char *key = tw_format(b->arena, "layer/%s", group);
    if (strlen(mask) != 1 || !which)
        return TW_FOREIGN_FAIL(n, "the attribute output_mask is '%.20s'; one of %s is possible",
                               mask, letters);
    tw_group *g = *group ? tw_map_get(&b->shared, key) : NULL;
    if (g && !check_member(n, g))
        return false;
    if (!g) {
        g = tw_alloc(b->arena, sizeof *g);
        *g = (tw_group){.row = n->row,
                        .in_count = n->in_count,
                        .attributes = n->attributes,
                        .attribute_count = n->attribute_count};
        memcpy(g->in, n->in, sizeof *g->in * (size_t)n->in_count);
        if (!build_layer(n, gates, false, g->results))
            return false;
        if (*group)
            tw_map_put(b->arena, &b->shared, key, g);
    }
    return tw_foreign_result(n, g->results[which - letters]);
}

bool tw_mobilint_lstm(tw_foreign_node *n)
{
    return one_result(n, TW_LAYER_LSTM, "lstm_group");
}

bool tw_mobilint_gru(tw_foreign_node *n)
{
    return one_result(n, TW_LAYER_GRU, "gru_group");
}

bool tw_mobilint_rnn(tw_foreign_node *n)
{
    return one_result(n, TW_LAYER_RNN, "rnn_group");
}

/* --- stateful ------------------------------------------------------------------------------------ */

/* output_mask says which results are used; they are all there, in their places. */
static bool all_results(tw_foreign_node *n, int gates)
{
    const char *mask = tw_foreign_text(n, "output_mask");
    const char *letters = gates == TW_LAYER_LSTM ? "ohc" : "oh";
    tw_value *results[3];
    if (strspn(mask, letters) != strlen(mask) || !*mask)
        return TW_FOREIGN_FAIL(
            n, "the attribute output_mask is '%.20s'; letters of %s are possible", mask, letters);
    if (!build_layer(n, gates, true, results))
        return false;
    for (int i = 0; i < n->out_count; i++)
        n->out[i] = results[i];
    return true;
}

bool tw_mobilint_stateful_lstm(tw_foreign_node *n)
{
    return all_results(n, TW_LAYER_LSTM);
}

bool tw_mobilint_stateful_gru(tw_foreign_node *n)
{
    return all_results(n, TW_LAYER_GRU);
}

bool tw_mobilint_stateful_rnn(tw_foreign_node *n)
{
    return all_results(n, TW_LAYER_RNN);
}
