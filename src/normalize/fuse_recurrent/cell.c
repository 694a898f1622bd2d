/* Finding a cell: from the hidden state backwards. What goes into an activation is taken apart into
 * products of constant weights, each by the rows of its matrix that the gate takes, and a bias: so that it
 * makes no difference whether a file has one matrix or one a gate, where the bias is added, or whether
 * the products of all steps stand in front of the steps. */
#include <string.h>

#include "normalize/fuse_recurrent/cell.h"
#include "ops/gather.h"
#include "ops/slice.h"

enum { DEEPEST = 16 };

/* ---- values ---- */

static tw_node *maker(const tw_value *value, int code)
{
    tw_node *node = value ? value->producer : NULL;
    return node && tw_is(node, code) && !node->removed && !tw_has_clamp(node) &&
                   node->out[0]->shape.dtype == TW_F32
               ? node
               : NULL;
}

static tw_value *inside(const tw_value *value, int code)
{
    tw_node *node = maker(value, code);
    return node ? node->in[0] : NULL;
}

/* The operand of a product that is sigmoid of something; the other one in *other. */
static tw_value *gated(const tw_node *product, bool second, tw_value **other)
{
    *other = product->in[!second];
    return inside(product->in[second], TW_OPCODE_sigmoid);
}

static int32_t last_dim(const tw_value *value)
{
    return value->shape.rank > 0 ? value->shape.dim[value->shape.rank - 1] : 0;
}

tw_value *tw_cell_root(tw_value *value)
{
    for (tw_node *node; (node = maker(value, TW_OPCODE_reshape)) != NULL; value = node->in[0])
        if (last_dim(node->in[0]) != last_dim(value))
            break;
    return value;
}

/* The one axis that a slice of step 1 shortens; -1: none, or several. */
static int shortened(const tw_node *slice)
{
    const tw_slice_attributes *a = slice->attributes;
    int axis = -1;
    for (int i = 0; i < slice->in[0]->shape.rank; i++) {
        if (tw_item(&a->step, i, 1) < 0)
            return -1;
        if (slice->out[0]->shape.dim[i] == slice->in[0]->shape.dim[i])
            continue;
        if (axis >= 0 || (tw_item(&a->step, i, 1) != 1 && slice->out[0]->shape.dim[i] != 1))
            return -1;
        axis = i;
    }
    return axis;
}

tw_pick tw_pick_through(tw_value *value, int axis, int32_t at)
{
    tw_pick pick = {value, axis, at};
    for (tw_node *node; (node = maker(pick.from, TW_OPCODE_slice)) != NULL;) {
        const tw_slice_attributes *a = node->attributes;
        const int32_t step = tw_item(&a->step, pick.axis, 1);
        const int32_t last = node->in[0]->shape.dim[pick.axis] - 1;
        for (int i = 0; i < node->in[0]->shape.rank; i++)
            if (i != pick.axis && (tw_item(&a->step, i, 1) != 1 ||
                                   node->in[0]->shape.dim[i] != node->out[0]->shape.dim[i]))
                return pick;
        if (step != 1 && step != -1)
            return pick;
        pick.from = node->in[0];
        pick.at = tw_item(&a->begin, pick.axis, step < 0 ? last : 0) + step * pick.at;
    }
    return pick;
}

tw_pick tw_cell_pick(tw_value *value)
{
    const tw_pick none = {NULL, 0, 0};
    value = tw_cell_root(value);
    tw_node *node = maker(value, TW_OPCODE_slice);
    if (node) {
        const int axis = shortened(node);
        const tw_slice_attributes *a = node->attributes;
        if (axis < 0 || axis == value->shape.rank - 1 || value->shape.dim[axis] != 1)
            return none;
        return tw_pick_through(node->in[0], axis, tw_item(&a->begin, axis, 0));
    }
    node = maker(value, TW_OPCODE_gather);
    if (!node || !node->in[1]->data || tw_shape_elements(&node->in[1]->shape) != 1)
        return none;
    const tw_gather_attributes *a = node->attributes;
    const int rank = node->in[0]->shape.rank, axis = a->axis < 0 ? a->axis + rank : a->axis;
    const double at = tw_constant_at(node->in[1], 0);
    if (a->batch_dims != 0 || axis == rank - 1 || !(at >= 0 && at < node->in[0]->shape.dim[axis]))
        return none;
    return tw_pick_through(node->in[0], axis, (int32_t)at);
}

/* ---- sums of products ---- */

typedef struct tw_search {
    tw_arena *arena;
    tw_cell *cell;
    int gate;
    tw_node *
        product; /* the reset gate times a part of the sum, or times h; null: none, or none is allowed */
    bool takes_product;
} tw_search;

static bool collect(tw_search *s, tw_value *value, int32_t at, int depth);

/* A row of constants, the same for all of the batch. */
static bool add_constant(tw_search *s, const tw_value *value, int32_t at)
{
    const float *data = value->data;
    const int64_t count = tw_shape_elements(&value->shape);
    const int32_t width = count == 1 ? 1 : last_dim(value), units = s->cell->units;
    if (value->shape.dtype != TW_F32 || width < 1 || (width > 1 && at + units > width))
        return false;
    for (int64_t row = 0; row < count / width; row++)
        if (memcmp(data + row * width, data, (size_t)width * sizeof *data) != 0)
            return false;
    for (int32_t i = 0; i < units; i++)
        s->cell->bias[s->gate][i] += (double)data[width > 1 ? at + i : 0];
    return true;
}

static bool same_pick(const tw_pick *a, const tw_pick *b)
{
    return a->from == b->from && (!a->from || (a->axis == b->axis && a->at == b->at));
}

/* What weights in front of which the reset gate multiplies h are of: h itself. */
static tw_value *without_reset(tw_search *s, tw_value *x)
{
    tw_node *product = s->takes_product && !s->product ? maker(x, TW_OPCODE_mul) : NULL;
    tw_value *h;
    for (int i = 0; product && i < 2; i++) {
        if (!gated(product, i, &h) || tw_cell_root(h) != s->cell->h0)
            continue;
        s->product = product;
        s->cell->resets_first = true;
        return s->cell->h0;
    }
    return x;
}

/* Weights of x; pick: of which a step is taken behind them. */
static bool add_leaf(tw_search *s, tw_node *layer, const tw_pick *pick, int32_t at)
{
    tw_cell *cell = s->cell;
    const tw_value *w = layer->in[1];
    tw_value *x = without_reset(s, tw_cell_root(layer->in[0]));
    if (!w->data || w->shape.dtype != TW_F32 || w->shape.rank != 2 ||
        at + cell->units > w->shape.dim[0] || w->shape.dim[1] != last_dim(x))
        return false;
    for (int i = 0; i <= cell->leaves && i < TW_CELL_LEAVES; i++) {
        tw_leaf *leaf = &cell->leaf[i];
        if (i == cell->leaves) {
            *leaf = (tw_leaf){.x = x, .projected = *pick};
            cell->leaves++;
        }
        if (leaf->x != x || !same_pick(&leaf->projected, pick))
            continue;
        if (leaf->rows[s->gate].w)
            return false;
        leaf->rows[s->gate] = (tw_rows){w, at};
        return layer->in_count < 3 || !layer->in[2] ||
               (layer->in[2]->data && add_constant(s, layer->in[2], at));
    }
    return false;
}

/* The reset gate times what is behind it, where one may stand. */
static bool add_product(tw_search *s, tw_node *node, int32_t at)
{
    if (!s->takes_product || s->product || at != 0)
        return false;
    s->product = node;
    return true;
}

static bool collect_pick(tw_search *s, tw_value *value, int32_t at)
{
    const tw_pick pick = tw_cell_pick(value);
    tw_node *layer = pick.from ? maker(tw_cell_root(pick.from), TW_OPCODE_fully_connected) : NULL;
    return layer && add_leaf(s, layer, &pick, at);
}

/* Elements [at, at + units) of the last axis of `value`, added to the gate. */
static bool collect(tw_search *s, tw_value *value, int32_t at, int depth)
{
    static const tw_pick none = {NULL, 0, 0};
    tw_node *node;
    if (value->data)
        return add_constant(s, value, at);
    if (depth == DEEPEST || at + s->cell->units > last_dim(value))
        return false;
    if ((node = maker(value, TW_OPCODE_add)) != NULL) {
        for (int i = 0; i < 2; i++)
            if (!collect(s, node->in[i], at, depth + 1))
                return false;
        return true;
    }
    if ((node = maker(value, TW_OPCODE_reshape)) != NULL)
        return last_dim(node->in[0]) == last_dim(value) && collect(s, node->in[0], at, depth + 1);
    if ((node = maker(value, TW_OPCODE_fully_connected)) != NULL)
        return add_leaf(s, node, &none, at);
    if ((node = maker(value, TW_OPCODE_mul)) != NULL)
        return add_product(s, node, at);
    node = maker(value, TW_OPCODE_slice);
    const int axis = node ? shortened(node) : -1;
    if (axis < 0 || axis < value->shape.rank - 1)
        return collect_pick(s, value, at);
    return collect(s, node->in[0],
                   at + tw_item(&((const tw_slice_attributes *)node->attributes)->begin, axis, 0),
                   depth + 1);
}

/* The sum that becomes gate `gate`. product: where one part of it may be the reset gate times something. */
static bool read_gate(tw_arena *arena, tw_cell *cell, int gate, tw_value *sum, tw_node **product)
{
    tw_search s = {arena, cell, gate, NULL, product != NULL};
    cell->bias[gate] = tw_alloc_array(arena, (size_t)cell->units, sizeof(double));
    if (gate >= cell->gates)
        cell->gates = gate + 1;
    if (last_dim(sum) != cell->units || !collect(&s, sum, 0, 0))
        return false;
    if (product)
        *product = s.product;
    return true;
}

/* ---- long short-term memory ---- */

/* c * sigmoid(f) and sigmoid(i) * tanh(g). */
static bool find_products(tw_node *sum, tw_node **keep, tw_node **add, tw_value *gates[4])
{
    for (int k = 0; k < 2; k++) {
        *keep = maker(sum->in[k], TW_OPCODE_mul);
        *add = maker(sum->in[!k], TW_OPCODE_mul);
        for (int i = 0; *keep && *add && i < 2; i++) {
            tw_value *candidate;
            gates[0] = gated(*add, i, &candidate);
            gates[2] = inside(candidate, TW_OPCODE_tanh);
            if (gates[0] && gates[2])
                return true;
        }
    }
    return false;
}

static bool find_lstm(tw_arena *arena, tw_node *last, tw_cell *cell)
{
    tw_value *gates[4] = {NULL}, *state = NULL;
    tw_node *keep, *add, *sum = NULL;
    for (int i = 0; i < 2 && !sum; i++) {
        tw_value *other;
        gates[3] = gated(last, i, &other);
        state = gates[3] ? inside(other, TW_OPCODE_tanh) : NULL;
        sum = state ? maker(state, TW_OPCODE_add) : NULL;
    }
    if (!sum || !find_products(sum, &keep, &add, gates))
        return false;
    for (int i = 0; i < 2 && !gates[1]; i++)
        gates[1] = gated(keep, i, &cell->c0);
    if (!gates[1])
        return false;
    cell->kind = TW_CELL_LSTM;
    cell->c = state;
    for (int g = 0; g < TW_CELL_LSTM; g++)
        if (!read_gate(arena, cell, g, gates[g], NULL))
            return false;
    return true;
}

/* ---- gated recurrent unit ---- */

static bool is_one(const tw_value *value)
{
    float element;
    return tw_is_uniform(value, &element) && element == 1.0F;
}

/* z * h + (1 - z) * n, or (h - n) * z + n: z's sum, h and n. */
static bool find_blend(tw_node *last, tw_value **z, tw_value **h, tw_value **n)
{
    for (int k = 0; k < 4; k++) {
        tw_node *a = maker(last->in[k & 1], TW_OPCODE_mul);
        tw_value *rest = last->in[!(k & 1)];
        *z = a ? gated(a, (k >> 1) != 0, h) : NULL;
        if (!*z)
            continue;
        tw_node *difference = maker(*h, TW_OPCODE_sub), *b = maker(rest, TW_OPCODE_mul);
        if (difference && difference->in[1] == rest) {
            *h = difference->in[0];
            *n = rest;
            return true;
        }
        for (int i = 0; b && i < 2; i++) {
            difference = maker(b->in[i], TW_OPCODE_sub);
            if (difference && is_one(difference->in[0]) &&
                inside(difference->in[1], TW_OPCODE_sigmoid) == *z) {
                *n = b->in[!i];
                return true;
            }
        }
    }
    return false;
}

/* The candidate's sum, of which the reset gate multiplies h's product, or h in front of it. */
static bool read_candidate(tw_arena *arena, tw_cell *cell, tw_value *sum)
{
    tw_node *product;
    tw_value *reset = NULL, *other = NULL;
    if (!read_gate(arena, cell, TW_CELL_CANDIDATE, sum, &product) || !product)
        return false;
    for (int i = 0; i < 2 && !reset; i++) {
        reset = gated(product, i, &other);
        if (cell->resets_first && tw_cell_root(other) != cell->h0)
            reset = NULL;
    }
    return reset && read_gate(arena, cell, TW_CELL_RESET, reset, NULL) &&
           (cell->resets_first || read_gate(arena, cell, TW_CELL_CANDIDATE_H, other, NULL));
}

static bool find_gru(tw_arena *arena, tw_node *last, tw_cell *cell)
{
    tw_value *z, *h, *n;
    if (!find_blend(last, &z, &h, &n))
        return false;
    n = inside(n, TW_OPCODE_tanh);
    cell->kind = TW_CELL_GRU;
    cell->h0 = tw_cell_root(h);
    return n && read_gate(arena, cell, TW_CELL_UPDATE, z, NULL) && read_candidate(arena, cell, n);
}

/* ---- any ---- */

bool tw_cell_find(tw_arena *arena, tw_value *value, tw_cell *cell)
{
    const int64_t count = tw_shape_elements(&value->shape);
    tw_node *node;
    *cell = (tw_cell){.h = value, .units = last_dim(value)};
    if (cell->units < 1 || count < 1)
        return false;
    cell->batch = (int32_t)(count / cell->units);
    if ((node = maker(value, TW_OPCODE_mul)) != NULL)
        return find_lstm(arena, node, cell);
    if ((node = maker(value, TW_OPCODE_add)) != NULL)
        return find_gru(arena, node, cell);
    cell->kind = TW_CELL_RNN;
    return maker(value, TW_OPCODE_tanh) && read_gate(arena, cell, 0, value->producer->in[0], NULL);
}
