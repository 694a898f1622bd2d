/* Recurrent layers: the three of Keras, cells in an RNN, both directions, layers at every step. A layer is
 * a node of the IR; cells on top of each other are layers on top of each other, since nothing of a step
 * goes back down. What a stateful layer ends with is a state, which it begins the next run with. */
#include "ops/recurrent.h"

#include <string.h>

#include "import/keras/recurrent.h"
#include "ops/lstm.h"

enum { MOST_UNITS = 1 << 20, RNN = 1, GRU = 3, LSTM = 4 };

/* --- a cell ------------------------------------------------------------------------------------ */

/* The activation by `key` for function `at` of the operator. */
static bool set_function(tw_kr_node *n, const char *key, const char *otherwise, int at,
                         int32_t *function, tw_recurrent_attributes *a)
{
    static const struct {
        const char *name;
        int function;
        float alpha;
    } known[] = {
        {"sigmoid", TW_ACTIVATION_SIGMOID, 1},
        {"tanh", TW_ACTIVATION_TANH, 1},
        {"relu", TW_ACTIVATION_RELU, 1},
        {"linear", TW_ACTIVATION_AFFINE, 1},
        {"hard_sigmoid", TW_ACTIVATION_HARD_SIGMOID, 0.2f},
        {"elu", TW_ACTIVATION_ELU, 1},
        {"softsign", TW_ACTIVATION_SOFTSIGN, 1},
        {"softplus", TW_ACTIVATION_SOFTPLUS, 1},
        {"leaky_relu", TW_ACTIVATION_LEAKY_RELU, 0.2f},
    };
    const json_t *value = tw_kr_get(n, key);
    const char *name = json_is_object(value)
                           ? tw_kr_or_empty(json_string_value(json_object_get(value, "config")))
                           : tw_kr_word(n, key,
                                        value                             ? ""
                                        : json_object_get(n->config, key) ? "linear"
                                                                          : otherwise);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            const bool hard = known[i].function == TW_ACTIVATION_HARD_SIGMOID;
            *function = known[i].function;
            a->alpha.v[at] = hard && n->import->version >= 3 ? 1.0f / 6.0f : known[i].alpha;
            a->beta.v[at] = hard ? 0.5f : 0;
            a->alpha.count = a->beta.count = 3;
            return true;
        }
    return TW_KR_UNSUPPORTED(n, "the %s '%.40s' is not supported inside a recurrent layer", key,
                             name);
}

/* [I, G * O] to [G, O, I]. */
static tw_value *gates_first(tw_kr_node *n, tw_value *w, int64_t gates, int64_t units)
{
    static const int64_t perm[] = {1, 2, 0};
    if (!w)
        return NULL;
    w = tw_build_reshape(n->b, w, 3, (int64_t[]){w->shape.dim[0], gates, units});
    return w ? tw_build_weight(n->b, w, perm, 0, NULL) : NULL;
}

/* Keras's i, f, c, o as PeepholeLstm has them: i, o, f, c. */
static tw_value *reordered(tw_kr_node *n, tw_value *v, int axis)
{
    static const int order[] = {0, 3, 1, 2};
    tw_value *parts[LSTM];
    for (int i = 0; i < LSTM; i++)
        if (!v || !(parts[i] = tw_build_slice(n->b, v, axis, order[i], 1, 1)))
            return NULL;
    return tw_build_concat(n->b, parts, LSTM, axis);
}

/* Both parts of a bias, the recurrent one 0 where there is none: [2, G, O]. */
static tw_value *two_parts(tw_kr_node *n, tw_value *bias, int64_t gates, int64_t units)
{
    const int32_t dim[] = {1, (int32_t)gates, (int32_t)units};
    if (!bias || bias->shape.rank == 2)
        return bias ? tw_build_reshape(n->b, bias, 3, (int64_t[]){2, gates, units}) : NULL;
    tw_value *parts[] = {tw_build_reshape(n->b, bias, 3, (int64_t[]){1, gates, units}),
                         tw_build_full(n->b, tw_shape_of(TW_F32, 3, dim), 0)};
    return parts[0] && parts[1] ? tw_build_concat(n->b, parts, 2, 0) : NULL;
}

typedef struct cell {
    int gates;
    int64_t units;
    tw_value *w, *r, *bias;
    tw_recurrent_attributes a;
} cell;

static const tw_opdef *operator_of(const cell *c, bool plain)
{
    return tw_op_by_name(c->gates == LSTM  ? (plain ? "Lstm" : "PeepholeLstm")
                         : c->gates == GRU ? "Gru"
                                           : "Rnn");
}

static bool read_cell(tw_kr_node *n, tw_kr_store *store, const tw_value *x, cell *c)
{
    const int64_t in = x->shape.dim[2];
    c->units = tw_kr_int(n, "units", 0);
    if (c->units < 1 || c->units > MOST_UNITS)
        return TW_KR_FAIL(n, "it has %lld units", (long long)c->units);
    const int64_t all = c->gates * c->units;
    tw_attributes_default(operator_of(c, false), &c->a);
    const bool fits = c->gates == RNN
                          ? set_function(n, "activation", "tanh", 1, &c->a.g, &c->a)
                          : set_function(n, "recurrent_activation", "sigmoid", 0, &c->a.f, &c->a) &&
                                set_function(n, "activation", "tanh", 1, &c->a.g, &c->a) &&
                                set_function(n, "activation", "tanh", 2, &c->a.h, &c->a);
    if (!fits)
        return false;
    c->a.linear_before_reset = c->gates == GRU && tw_kr_flag(n, "reset_after", false);
    c->w = tw_kr_variable(n, store, 0, "kernel", 2, (int64_t[]){in, all});
    c->r = tw_kr_variable(n, store, 1, "recurrent_kernel", 2, (int64_t[]){c->units, all});
    c->bias = NULL;
    if (tw_kr_flag(n, "use_bias", true)) {
        const int64_t two[] = {2, all};
        const bool apart = c->a.linear_before_reset;
        c->bias = tw_kr_variable(n, store, 2, "bias", apart ? 2 : 1, apart ? two : &all);
    }
    return n->b->diag->code == TW_CODE_OK;
}

static bool run_cell(const tw_kr_layer *l, tw_kr_node *n, cell *c, tw_value *x, tw_value **begin,
                     tw_value *results[3])
{
    const bool plain = c->gates == LSTM && !l->mask && c->a.f == TW_ACTIVATION_SIGMOID &&
                       c->a.g == TW_ACTIVATION_TANH && c->a.h == TW_ACTIVATION_TANH;
    static const tw_lstm_attributes none = {0};
    tw_value *w = gates_first(n, c->w, c->gates, c->units), *bias = NULL;
    tw_value *r = gates_first(n, c->r, c->gates, c->units);
    if (c->bias)
        bias = plain ? tw_build_reshape(n->b, c->bias, 2, (int64_t[]){LSTM, c->units})
                     : two_parts(n, c->bias, c->gates, c->units);
    if (c->gates == LSTM && !plain) {
        w = reordered(n, w, 0);
        r = reordered(n, r, 0);
        bias = c->bias ? reordered(n, bias, 1) : NULL;
    }
    if (!w || !r || (c->bias && !bias))
        return false;
    tw_value *h0 = begin ? begin[0] : NULL, *c0 = begin && c->gates == LSTM ? begin[1] : NULL;
    tw_value *short_list[] = {x, w, r, bias, h0, c0};
    tw_value *full_list[TW_RECURRENT_OPERANDS] = {x, w, r, bias, l->mask, h0, c0, NULL};
    c->a.hold = l->mask && !l->zeros;
    const int count = plain ? 6 : c->gates == LSTM ? TW_RECURRENT_OPERANDS : TW_RECURRENT_C0;
    tw_node *node = tw_graph_node(n->b->graph, operator_of(c, plain), n->b->node,
                                  plain ? short_list : full_list, count, c->gates == LSTM ? 3 : 2,
                                  NULL, plain ? (const void *)&none : &c->a, n->b->diag);
    for (int i = 0; node && i < node->out_count; i++)
        results[i] = node->out[i];
    return node != NULL;
}

/* --- a layer ----------------------------------------------------------------------------------- */

static int gates_of(const char *class)
{
    const size_t length = strlen(class), suffix = sizeof "Cell" - 1;
    const bool is_cell = length > suffix && strcmp(class + length - suffix, "Cell") == 0;
    const size_t own = is_cell ? length - suffix : length;
    static const struct {
        const char *name;
        int gates;
    } kinds[] = {{"SimpleRNN", RNN}, {"GRU", GRU}, {"LSTM", LSTM}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == own && memcmp(kinds[i].name, class, own) == 0)
            return kinds[i].gates;
    return 0;
}

/* The spatial axes of a ConvLSTM; 0: it is none. */
static int spatial_of(const char *class)
{
    static const char prefix[] = "ConvLSTM";
    const size_t length = sizeof prefix - 1;
    return strncmp(class, prefix, length) == 0 && class[length] >= '1' && class[length] <= '3'
               ? class[length] - '0'
               : 0;
}

tw_value *tw_kr_make_state(tw_kr_layer *l, int i, tw_shape shape)
{
    return tw_graph_state(l->n->b->graph, tw_format(l->n->b->arena, "%s/state_%d", l->label, i),
                          shape, NULL);
}

/* One cell over all steps: x becomes its hidden states. */
static bool add_cell(tw_kr_layer *l, const json_t *config, const char *class, tw_kr_store *store,
                     tw_value **x, tw_kr_outcome *out)
{
    tw_kr_node own = *l->n;
    tw_value *begin[2] = {NULL}, *results[3] = {NULL};
    cell c = {.gates = gates_of(class)};
    own.config = config;
    if (c.gates == 0)
        return TW_KR_UNSUPPORTED(
            l->n,
            "the cell '%.64s' is not one of Keras's own, and the file does not hold "
            "the code of others",
            class);
    const int states = c.gates == LSTM ? 2 : 1;
    if (out->state_count + states > TW_KR_MOST_STATES)
        return TW_KR_UNSUPPORTED(l->n, "more than %d states", TW_KR_MOST_STATES);
    if (!*x || !read_cell(&own, store, *x, &c))
        return false;
    for (int i = 0; i < states; i++) {
        begin[i] = l->begin ? l->begin[out->state_count + i] : NULL;
        if (l->stateful && !l->begin)
            begin[i] = tw_kr_make_state(
                l, out->state_count + i,
                tw_shape_of(TW_F32, 2, (int32_t[]){(*x)->shape.dim[0], (int32_t)c.units}));
    }
    if (!run_cell(l, &own, &c, *x, begin, results))
        return false;
    *x = results[0];
    out->last = results[1];
    for (int i = 0; i < states; i++) {
        if (l->stateful && !l->begin &&
            !tw_graph_state_next(own.b->graph, begin[i], results[1 + i], own.b->diag))
            return false;
        out->state[out->state_count++] = results[1 + i];
    }
    return true;
}

/* The last of an axis of steps, [batch, steps] to [batch, 1]. */
static tw_value *last_step(tw_kr_node *n, tw_value *mask)
{
    return mask ? tw_build_slice(n->b, mask, 1, mask->shape.dim[1] - 1, 1, 1) : NULL;
}

/* What Keras has at steps that do not count and the layer has not: zeros before the first one that does, where
 * it begins with a state; a last result of 0, where results of such steps are. */
static bool settle(tw_kr_layer *l, bool begun, tw_kr_outcome *out)
{
    tw_kr_node *n = l->n;
    tw_value *zero = tw_kr_scalar(n, 0);
    if (!l->mask || (!l->zeros && !begun))
        return out->last != NULL;
    if (l->zeros) {
        out->last = tw_kr_select(n, last_step(n, l->mask), out->last, zero);
        return out->last != NULL;
    }
    tw_value *some = tw_build1(n->b, "CumSum", tw_build_cast(n->b, l->mask, TW_S32),
                               TW_SETTINGS(tw_set_int("axis", 1)));
    some = some ? tw_build_cast(n->b, some, TW_BOOL) : NULL;
    if (!some)
        return false;
    out->steps = tw_kr_select(n, tw_kr_mask_axis(n, some, 2), out->steps, zero);
    out->last = tw_kr_select(n, last_step(n, some), out->last, zero);
    return out->steps && out->last;
}

static tw_value *reversed(tw_kr_node *n, tw_value *x)
{
    return x ? tw_build_slice(n->b, x, 1, x->shape.dim[1] - 1, x->shape.dim[1], -1) : NULL;
}

/* A cell, or a stack of them from the bottom up. */
static bool add_stack(tw_kr_layer *l, const json_t *config, const char *class, tw_kr_store *store,
                      tw_value *x, tw_kr_outcome *out)
{
    tw_kr_import *import = l->n->import;
    if (strcmp(class, "StackedRNNCells") != 0) {
        if (!add_cell(l, config, class, store, &x, out))
            return false;
    } else {
        const json_t *cells = json_object_get(config, "cells");
        tw_kr_store *folder = tw_kr_child(import, store, "cells");
        tw_kr_store **stores = tw_kr_cells(import, folder, cells);
        for (size_t i = 0; i < json_array_size(cells); i++) {
            const json_t *own = json_array_get(cells, i);
            if (!add_cell(l, tw_kr_config(own), tw_kr_class(own), stores[i], &x, out))
                return false;
        }
    }
    out->steps = x;
    return settle(l, l->begin || l->stateful, out);
}

/* The layer's cell, or its cells. */
static bool add_cells(tw_kr_layer *l, const json_t *record, tw_kr_store *store, tw_value *x,
                      tw_kr_outcome *out)
{
    tw_kr_import *import = l->n->import;
    const json_t *config = tw_kr_config(record);
    const char *class = tw_kr_class(record);
    store = tw_kr_child(import, store, "cell");
    if (spatial_of(class) > 0)
        return tw_kr_conv_lstm(l, store, spatial_of(class), x, out);
    if (strcmp(class, "RNN") == 0) {
        record = json_object_get(config, "cell");
        config = tw_kr_config(record);
        class = tw_kr_class(record);
    }
    return add_stack(l, config, class, store, x, out);
}

/* A stateful layer has its states once, however often it is called. */
static bool claim(tw_kr_layer *l)
{
    tw_map *shared = &l->n->b->shared;
    if (tw_map_get(shared, l->label))
        return TW_KR_UNSUPPORTED(l->n, "a stateful layer that is called twice is not supported");
    tw_map_put(l->n->b->arena, shared, l->label, l->n->b);
    return true;
}

/* A recurrent layer by its record. back: turned round, whatever it says itself. */
static bool run_layer(tw_kr_node *n, const json_t *record, tw_kr_store *store, bool back,
                      const char *label, tw_value **begin, tw_kr_outcome *out)
{
    tw_kr_node own = *n;
    tw_value *x = tw_kr_real_value(n, n->in_count ? n->in[0] : NULL);
    own.config = tw_kr_config(record);
    tw_kr_layer l = {.n = &own, .begin = begin, .label = label};
    l.mask = tw_kr_mask(n, n->import->version >= 3 ? 2 : -1, 0);
    l.zeros = tw_kr_flag(&own,
                         n->row->import == tw_kr_op_bidirectional ? "return_sequences"
                                                                  : "zero_output_for_mask",
                         false);
    l.stateful = tw_kr_flag(&own, "stateful", false);
    *out = (tw_kr_outcome){.steps = NULL};
    const int spatial = spatial_of(tw_kr_class(record));
    if (!x || x->shape.rank != 3 + spatial)
        return TW_KR_FAIL(n, "its input must be batch, steps and %s",
                          spatial ? "images" : "features");
    if (tw_kr_flag(&own, "time_major", false))
        return TW_KR_UNSUPPORTED(n, "time_major is not supported; put a Permute in front");
    if (l.mask && l.mask->shape.rank != 2)
        return TW_KR_UNSUPPORTED(n, "a mask of %d axes; of batch and steps it is supported",
                                 l.mask->shape.rank);
    if (l.stateful && !claim(&l))
        return false;
    if (back) {
        x = reversed(n, x);
        l.mask = reversed(n, l.mask);
    }
    return x && add_cells(&l, record, store, x, out);
}

/* The tensors of initial_state, or those behind the first input: null where there are none. */
static tw_value **begin_of(tw_kr_node *n, int *count)
{
    const tw_kr_argument *a =
        tw_kr_argument_of(n, n->import->version >= 3 ? 1 : -1, "initial_state");
    *count = a ? a->count : n->in_count > 1 ? n->in_count - 1 : 0;
    return *count == 0 ? NULL : a ? a->value : n->in + 1;
}

/* States that the layer, or the cell, will ask for: one a cell, two of an LSTM. */
static int states_of(const json_t *record)
{
    const json_t *own = json_object_get(tw_kr_config(record), "cell");
    const json_t *cells = json_object_get(tw_kr_config(own ? own : record), "cells");
    int count = 0;
    if (!own && !cells)
        return gates_of(tw_kr_class(record)) == LSTM || spatial_of(tw_kr_class(record)) ? 2 : 1;
    if (!cells)
        return gates_of(tw_kr_class(own)) == LSTM ? 2 : 1;
    for (size_t i = 0; i < json_array_size(cells); i++)
        count += gates_of(tw_kr_class(json_array_get(cells, i))) == LSTM ? 2 : 1;
    return count;
}

static bool check_begin(tw_kr_node *n, const json_t *record, int count)
{
    const int wanted = states_of(record);
    return count == 0 || count == wanted ||
           TW_KR_FAIL(n, "it is given %d initial states, it has %d", count, wanted);
}

static bool set_states(tw_kr_node *n, const tw_kr_outcome *out)
{
    for (int i = 0; i < out->state_count; i++)
        if (!tw_kr_set(n, out->state[i]))
            return false;
    return true;
}

bool tw_kr_op_recurrent(tw_kr_node *n)
{
    json_t *record = json_pack("{s:s, s:O}", "class_name", n->op, "config", n->config);
    tw_kr_outcome out;
    int count;
    tw_value **begin = begin_of(n, &count);
    bool ok =
        record && check_begin(n, record, count) &&
        run_layer(n, record, n->store, tw_kr_flag(n, "go_backwards", false), n->name, begin, &out);
    json_decref(record);
    return ok && tw_kr_set(n, tw_kr_flag(n, "return_sequences", false) ? out.steps : out.last) &&
           (!tw_kr_flag(n, "return_state", false) || set_states(n, &out));
}

/* A cell by itself: one step of its layer, from the states that it is given. */
bool tw_kr_op_cell(tw_kr_node *n)
{
    const tw_kr_argument *a = tw_kr_argument_of(n, 1, "states");
    tw_kr_layer l = {.n = n, .label = n->name};
    tw_kr_outcome out = {.steps = NULL};
    const int count = a ? a->count : n->in_count - 1;
    tw_value *x = n->in_count > 0 ? tw_kr_real_value(n, n->in[0]) : NULL;
    json_t *record = json_pack("{s:s, s:O}", "class_name", n->op, "config", n->config);
    bool ok = record && check_begin(n, record, count);
    json_decref(record);
    l.begin = count <= 0 ? NULL : a ? a->value : n->in + 1;
    if (ok && (!x || x->shape.rank != 2 || !l.begin))
        return TW_KR_FAIL(n, "its input must be batch and features, and its states must be given");
    if (!ok)
        return false;
    x = tw_build_reshape(n->b, x, 3, (int64_t[]){x->shape.dim[0], 1, x->shape.dim[1]});
    return x && add_stack(&l, n->config, n->op, n->store, x, &out) && tw_kr_set(n, out.last) &&
           set_states(n, &out);
}

/* --- both directions --------------------------------------------------------------------------- */

static bool merge(tw_kr_node *n, tw_value *forward, tw_value *backward)
{
    static const struct {
        const char *mode, *op;
    } modes[] = {{"sum", "Add"}, {"mul", "Mul"}, {"ave", "Add"}};
    tw_value *parts[] = {forward, backward};
    if (!forward || !backward)
        return false;
    if (!tw_kr_get(n, "merge_mode") && json_object_get(n->config, "merge_mode"))
        return tw_kr_set(n, forward) && tw_kr_set(n, backward);
    const char *mode = tw_kr_word(n, "merge_mode", "concat");
    if (strcmp(mode, "concat") == 0)
        return tw_kr_set(n, tw_build_concat(n->b, parts, 2, forward->shape.rank - 1));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(mode, modes[i].mode) != 0)
            continue;
        tw_value *y = tw_build2(n->b, modes[i].op, forward, backward, NULL);
        if (y && strcmp(mode, "ave") == 0)
            y = tw_build2(n->b, "Mul", y, tw_kr_scalar(n, 0.5), NULL);
        return tw_kr_set(n, y);
    }
    return TW_KR_UNSUPPORTED(n, "merge_mode '%.40s' is not known", mode);
}

bool tw_kr_op_bidirectional(tw_kr_node *n)
{
    const json_t *record = tw_kr_get(n, "layer"), *other = tw_kr_get(n, "backward_layer");
    const json_t *config = tw_kr_config(record);
    const bool turned = json_is_true(json_object_get(config, "go_backwards"));
    const bool sequences = json_is_true(json_object_get(config, "return_sequences"));
    tw_kr_outcome forward, backward;
    int count;
    tw_value **begin = begin_of(n, &count);
    if (!tw_kr_find_layer(tw_kr_class(record)) ||
        tw_kr_find_layer(tw_kr_class(record))->import != tw_kr_op_recurrent)
        return TW_KR_UNSUPPORTED(n, "the layer in it, '%.64s', is not one that is supported",
                                 tw_kr_class(record));
    if (count % 2 != 0 || !check_begin(n, record, count / 2) ||
        !check_begin(n, other ? other : record, count / 2))
        return count % 2 != 0 ? TW_KR_FAIL(n, "it is given %d initial states", count) : false;
    const char *names[] = {tw_format(n->b->arena, "%s/forward", n->name),
                           tw_format(n->b->arena, "%s/backward", n->name)};
    if (!run_layer(n, record, tw_kr_child(n->import, n->store, "forward_layer"), turned, names[0],
                   begin, &forward) ||
        !run_layer(n, other ? other : record, tw_kr_child(n->import, n->store, "backward_layer"),
                   !turned, names[1], begin ? begin + count / 2 : NULL, &backward))
        return false;
    tw_value *back = sequences ? reversed(n, backward.steps) : backward.last;
    if (sequences && !tw_kr_mask_pass(n))
        return false;
    if (!tw_kr_get(n, "merge_mode") && json_object_get(n->config, "merge_mode"))
        n->out_mask[1] = n->out_mask[0];
    return merge(n, sequences ? forward.steps : forward.last, back) &&
           (!json_is_true(json_object_get(config, "return_state")) ||
            (set_states(n, &forward) && set_states(n, &backward)));
}

/* --- at every step ----------------------------------------------------------------------------- */

/* The mask for the layer at every step: of what is behind the steps. */
static tw_value *inner_mask(tw_kr_node *n)
{
    tw_value *mask = tw_kr_mask(n, 2, 0);
    int64_t dim[TW_MAX_RANK];
    if (!mask || mask->shape.rank < 3)
        return NULL;
    dim[0] = (int64_t)mask->shape.dim[0] * mask->shape.dim[1];
    for (int i = 2; i < mask->shape.rank; i++)
        dim[i - 1] = mask->shape.dim[i];
    return tw_build_reshape(n->b, mask, mask->shape.rank - 1, dim);
}

/* The result's mask: in Keras 2 the inner layer's, at every step, else whether something in the step counts;
 * in Keras 3 what came. */
static bool outer_mask(tw_kr_node *n, tw_value *made)
{
    int64_t dim[TW_MAX_RANK], axes[TW_MAX_RANK];
    tw_value *mask = NULL;
    if (!tw_kr_mask_pass(n))
        return false;
    mask = n->out_mask[0];
    if (n->import->version >= 3 || (!made && (!mask || mask->shape.rank < 3)))
        return true;
    if (made) {
        dim[0] = n->in[0]->shape.dim[0];
        dim[1] = n->in[0]->shape.dim[1];
        for (int i = 1; i < made->shape.rank; i++)
            dim[i + 1] = made->shape.dim[i];
        n->out_mask[0] = made->shape.rank < TW_MAX_RANK
                             ? tw_build_reshape(n->b, made, made->shape.rank + 1, dim)
                             : NULL;
    } else {
        for (int i = 2; i < mask->shape.rank; i++)
            axes[i - 2] = i;
        n->out_mask[0] = tw_build1(n->b, "ReduceAny", mask,
                                   TW_SETTINGS(tw_set_ints("axes", mask->shape.rank - 2, axes),
                                               tw_set_int("keepdims", 0)));
    }
    return n->out_mask[0] || TW_KR_UNSUPPORTED(n, "a mask of too many axes");
}

/* Steps become batch; a Dense takes them as they are. */
bool tw_kr_op_time_distributed(tw_kr_node *n)
{
    const json_t *record = tw_kr_get(n, "layer");
    tw_value *mask = inner_mask(n);
    tw_kr_store *store = tw_kr_child(n->import, n->store, "layer");
    tw_value *x = tw_kr_in(n, 3, TW_MAX_RANK);
    int64_t dim[TW_MAX_RANK];
    if (!x)
        return false;
    if (strcmp(tw_kr_class(record), "Dense") == 0)
        return tw_kr_set(n, tw_kr_inner(n, record, store, x, &mask)) && outer_mask(n, NULL);
    const int64_t batch = x->shape.dim[0], steps = x->shape.dim[1];
    dim[0] = batch * steps;
    for (int i = 2; i < x->shape.rank; i++)
        dim[i - 1] = x->shape.dim[i];
    if (dim[0] > INT32_MAX)
        return TW_KR_FAIL(n, "batch and steps are too many");
    x = tw_build_reshape(n->b, x, x->shape.rank - 1, dim);
    x = x ? tw_kr_inner(n, record, store, x, &mask) : NULL;
    if (!x || x->shape.rank == TW_MAX_RANK || x->shape.rank < 1)
        return x ? TW_KR_UNSUPPORTED(n, "a result of more than six axes") : false;
    dim[0] = batch;
    dim[1] = steps;
    for (int i = 1; i < x->shape.rank; i++)
        dim[i + 1] = x->shape.dim[i];
    return tw_kr_set(n, tw_build_reshape(n->b, x, x->shape.rank + 1, dim)) && outer_mask(n, mask);
}
