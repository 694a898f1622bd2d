/* Rewriting the graph for the layouts chosen. Nodes are visited in order; each value of the model is
 * known by what stores it now and in which order of axes, and by the conversions of it that readers
 * have asked for. */
#include <string.h>

#include "normalize/layout/layout.h"

typedef struct form {
    tw_value *value;
    tw_order order;
    struct form *next;
} form;

/* What became of a value of the model. */
typedef struct stored {
    form own;       /* own.next: conversions */
    tw_shape shape; /* in the model's order */
    bool outside;   /* a graph output or a state's next value of the model: its name is taken */
    const tw_order
        *flattened;         /* by a Reshape whose input has this order; null: nothing to absorb */
    const tw_shape *unflat; /* shape of that input in the model's order */
} stored;

typedef struct rewrite {
    tw_layout *layout;
    tw_graph *graph;
    stored *values; /* by value->index, for the values of the model */
    tw_diag *diag;
} rewrite;

/* ---- conversions ---- */

static stored *stored_of(rewrite *r, const tw_value *value)
{
    return &r->values[value->index];
}

/* The stored form of the model's value in an order: as it is, reshaped where no byte moves,
 * transposed otherwise. Null after a failure. */
static tw_value *convert(rewrite *r, const tw_value *value, const tw_order *order)
{
    stored *s = stored_of(r, value);
    const form *known = &s->own;
    do {
        if (tw_order_equal(&known->order, order))
            return known->value;
        known = known->next;
    } while (known);
    tw_shape wanted = tw_order_shape(&s->shape, order);
    wanted.dtype = s->own.value->shape.dtype;
    tw_value *made;
    if (tw_order_same_bytes(&s->shape, &s->own.order, order)) {
        const char *name = tw_format(r->graph->arena, "%s/reshaped", value->name);
        made = tw_append_reshape(r->graph, name, s->own.value, &wanted, r->diag);
    } else {
        const char *name = tw_format(r->graph->arena, "%s/transposed", value->name);
        int32_t perm[TW_MAX_RANK];
        for (int i = 0; i < order->rank; i++)
            perm[i] = tw_order_find(&s->own.order, order->axis[i]);
        made = tw_append_transpose(r->graph, name, s->own.value, perm, r->diag);
    }
    if (!made)
        return NULL;
    made->quant = s->own.value->quant;
    if (made->quant.count > 1)
        made->quant.axis = tw_order_find(order, s->own.order.axis[s->own.value->quant.axis]);
    form *f = tw_alloc(r->layout->arena, sizeof *f);
    *f = (form){made, *order, s->own.next};
    s->own.next = f;
    return made;
}

/* An operand of fewer axes than the space has axes of extent 1 in front; in another order of the
 * space they may stand elsewhere. Leading ones are left out again. */
static tw_value *spread(rewrite *r, const tw_value *value, tw_value *converted,
                        const tw_order *space)
{
    const tw_shape *shape = &stored_of(r, value)->shape;
    int missing = space->rank - shape->rank;
    tw_shape wide = {converted->shape.dtype, 0, {1, 1, 1, 1, 1, 1}};
    for (int i = 0; i < space->rank; i++) {
        int32_t dim = space->axis[i] < missing ? 1 : shape->dim[space->axis[i] - missing];
        if (wide.rank > 0 || dim != 1)
            wide.dim[wide.rank++] = dim;
    }
    /* Same extents behind the leading ones: aligned as it is. */
    int extra = converted->shape.rank - wide.rank;
    bool aligned = extra >= 0;
    for (int i = 0; aligned && i < converted->shape.rank; i++)
        aligned = converted->shape.dim[i] == (i < extra ? 1 : wide.dim[i - extra]);
    if (aligned)
        return converted;
    const char *name = tw_format(r->graph->arena, "%s/reshaped", value->name);
    return tw_append_reshape(r->graph, name, converted, &wide, r->diag);
}

static tw_value *operand(rewrite *r, const tw_place *place, int i, const tw_value *value)
{
    tw_order order = tw_place_wants(place, i, place->chosen);
    tw_value *converted = convert(r, value, &order);
    if (!converted || !tw_carry_broadcasts(place->carry) ||
        value->shape.rank == place->space[place->chosen].rank)
        return converted;
    return spread(r, value, converted, &place->space[place->chosen]);
}

/* ---- nodes ---- */

static void store(rewrite *r, tw_value *value, tw_value *as, tw_order order)
{
    stored *s = stored_of(r, value);
    s->own = (form){as, order, NULL};
}

/* Weights [O, K] whose columns counted the axes of `shape` behind the kept ones in the model's
 * order: permuted to the order in which they arrive now. */
static tw_value *permute_columns(rewrite *r, const stored *x, tw_value *w)
{
    int lead = x->shape.rank - 1, rank = x->unflat->rank - lead + 1;
    if (rank > TW_MAX_RANK)
        return NULL;
    tw_shape split = tw_shape_of(w->shape.dtype, rank, (int32_t[TW_MAX_RANK]){w->shape.dim[0]});
    int32_t perm[TW_MAX_RANK] = {0};
    int at = 1;
    for (int i = 1; i < rank; i++)
        split.dim[i] = x->unflat->dim[lead + i - 1];
    for (int i = 0; i < x->flattened->rank; i++)
        if (x->flattened->axis[i] >= lead)
            perm[at++] = x->flattened->axis[i] - lead + 1;
    tw_quant quant = w->quant;
    tw_shape flat = w->shape;
    tw_value *v = tw_append_reshape(r->graph, w->name, w, &split, r->diag);
    if (v && quant.count > 1)
        v->quant = quant; /* by output channel: axis 0 throughout */
    v = v ? tw_append_transpose(r->graph, w->name, v, perm, r->diag) : NULL;
    v = v ? tw_append_reshape(r->graph, w->name, v, &flat, r->diag) : NULL;
    if (v && quant.count > 1)
        v->quant = quant;
    return v;
}

static bool absorb(rewrite *r, tw_node *node, const stored *x)
{
    if (x->flattened && tw_is(node, TW_OPCODE_fully_connected))
        node->in[1] = permute_columns(r, x, node->in[1]);
    return node->in[1] != NULL;
}

static bool rewrite_transpose(rewrite *r, tw_node *node, const tw_place *place)
{
    tw_value *in = operand(r, place, 0, node->in[0]);
    if (!in)
        return false;
    store(r, node->out[0], in, place->result);
    node->removed = true;
    return true;
}

static void rewrite_result(rewrite *r, tw_node *node, const tw_place *place)
{
    const tw_order *space = &place->space[place->chosen];
    tw_value *out = node->out[0];
    const tw_order *order = &place->result;
    tw_rename_axes(node, place->carry, space, order);
    out->shape = tw_order_shape(&out->shape, order);
    if (out->quant.count > 1)
        out->quant.axis = tw_order_find(order, out->quant.axis);
    store(r, out, out, *order);
    if (place->carry != TW_CARRY_FLATTEN)
        return;
    stored *s = stored_of(r, out);
    tw_order own = tw_order_identity(space->rank);
    s->unflat = &stored_of(r, place->value)->shape;
    s->flattened = tw_order_same_bytes(s->unflat, space, &own) ? NULL : space;
}

static bool rewrite_node(rewrite *r, int n)
{
    tw_place *place = &r->layout->places[n];
    tw_node *node = place->node;
    const stored *x = node->in_count > 0 && node->in[0] ? stored_of(r, node->in[0]) : NULL;
    if (place->carry == TW_CARRY_TRANSPOSE)
        return rewrite_transpose(r, node, place);
    place->value = x ? node->in[0] : NULL; /* the model's operand, before it is replaced */
    tw_value *in[TW_MAX_NODE_OPERANDS];
    for (int i = 0; i < node->in_count; i++) {
        in[i] = node->in[i] ? operand(r, place, i, node->in[i]) : NULL;
        if (node->in[i] && !in[i])
            return false;
    }
    if (place->carry != TW_CARRY_FIXED)
        rewrite_result(r, node, place);
    memcpy(node->in, in, sizeof *in * (size_t)node->in_count);
    return !x || place->carry != TW_CARRY_ROWS || absorb(r, node, x);
}

/* ---- the boundary ---- */

static bool is_own(const tw_order *order)
{
    tw_order own = tw_order_identity(order->rank);
    return tw_order_equal(order, &own);
}

/* Is the value an output of the model under a name of its own? */
static bool has_own_name(const rewrite *r, const tw_value *value)
{
    return r->graph->values[value->index] == value && r->values[value->index].outside;
}

/* What graph output i is now; it keeps the name of the model's value. Where what is stored cannot
 * take that name an Identity does. */
static bool rewrite_output(rewrite *r, int i, tw_value *value, tw_value *made)
{
    if (!tw_takes_name(made) || has_own_name(r, made)) {
        tw_node *node =
            tw_append(r->graph, TW_OPCODE_identity, value->name, &made, 1, NULL, r->diag);
        if (!node)
            return false;
        node->out[0]->quant = made->quant;
        made = node->out[0];
    }
    tw_hand_over(value, made);
    r->graph->outputs[i] = made;
    return true;
}

static tw_order order_outside(const tw_layout *layout, int place)
{
    const tw_place *p = &layout->places[place];
    return tw_place_wants(p, 0, p->chosen);
}

/* Outputs that stay as they are come first, so that no other takes their names. */
static bool rewrite_outputs(rewrite *r)
{
    tw_graph *graph = r->graph;
    tw_layout *layout = r->layout;
    for (int v = 0; v < graph->value_count; v++)
        graph->values[v]->is_output = false;
    tw_value **model =
        tw_copy(layout->arena, graph->outputs, sizeof *model * (size_t)graph->output_count);
    int *first = tw_alloc_array(layout->arena, (size_t)graph->value_count + 1, sizeof(int));
    for (int i = graph->output_count - 1; i >= 0; i--)
        first[model[i]->index] = i; /* its first position */
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < graph->output_count; i++) {
            tw_value *value = model[i];
            int same = first[value->index];
            if (same < i) {
                graph->outputs[i] = graph->outputs[same];
                continue;
            }
            tw_order stored_as = order_outside(layout, layout->output_place[i]);
            tw_value *made = convert(r, value, &stored_as);
            if (!made)
                return false;
            if (made == value)
                value->is_output = true;
            else if (pass == 0)
                continue;
            else if (!rewrite_output(r, i, value, made))
                return false;
            graph->outputs[i]->channels_last = !is_own(&stored_as);
        }
    for (int i = 0; i < graph->state_count; i++) {
        tw_state *state = &graph->states[i];
        if (!state->next)
            continue;
        tw_order order = order_outside(layout, layout->state_place[i]);
        state->next = convert(r, state->next, &order);
        if (!state->next)
            return false;
        state->next->is_output = true;
    }
    return true;
}

static void rewrite_source(rewrite *r, tw_value *value, const tw_place *place)
{
    tw_order order = tw_place_gives(place, value, place->chosen);
    value->shape = tw_order_shape(&value->shape, &order);
    if (value->quant.count > 1)
        value->quant.axis = tw_order_find(&order, value->quant.axis);
    value->channels_last = value->is_input && !is_own(&order);
    store(r, value, value, order);
}

bool tw_layout_apply(tw_layout *layout, tw_diag *diag)
{
    tw_graph *graph = layout->graph;
    size_t values = (size_t)graph->value_count + 1;
    rewrite r = {layout, graph, tw_alloc_array(layout->arena, values, sizeof(stored)), diag};
    for (int v = 0; v < graph->value_count; v++) {
        graph->values[v]->index = v;
        r.values[v].shape = graph->values[v]->shape;
        r.values[v].outside = graph->values[v]->is_output;
        store(&r, graph->values[v], graph->values[v],
              tw_order_identity(graph->values[v]->shape.rank));
    }
    /* Before any shape changes: orders follow from the model's shapes. */
    int count = graph->node_count;
    for (int n = 0; n < count; n++) {
        tw_place *place = &layout->places[n];
        if (place->carry != TW_CARRY_FIXED)
            place->result = tw_place_gives(place, place->node->out[0], place->chosen);
    }
    for (int i = 0; i < graph->input_count; i++)
        rewrite_source(&r, graph->inputs[i], &layout->places[layout->input_place[i]]);
    for (int i = 0; i < graph->state_count; i++)
        rewrite_source(&r, graph->states[i].current, &layout->places[layout->state_place[i]]);
    bool ok = true;
    for (int n = 0; ok && n < count; n++)
        ok = rewrite_node(&r, n);
    return ok && rewrite_outputs(&r);
}
