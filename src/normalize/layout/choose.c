/* The choice of layouts. Places that are joined by edges without a fixed end form a component. The
 * candidates of a component are the layouts that its fixed neighbours ask for, each carried through
 * the whole component; the choice among them starts with the model as it stands and is improved by
 * expansions: for one candidate, the best set of places to change over to it is a minimum cut. With
 * one or two candidates, the common case, that is the optimum. */
#include "normalize/layout/cut.h"
#include "normalize/layout/layout.h"

#define ROUNDS 4

static bool is_fixed(const tw_place *place)
{
    return place->carry == TW_CARRY_FIXED;
}

/* Cost of an edge under candidates of its two ends. */
static int64_t cost_of(const tw_layout *layout, const tw_edge *edge, int from, int to)
{
    tw_order given = tw_place_gives(&layout->places[edge->from], edge->value, from);
    tw_order wanted = tw_place_wants(&layout->places[edge->to], edge->operand, to);
    if (tw_order_equal(&given, &wanted))
        return 0;
    return tw_order_same_bytes(&edge->value->shape, &given, &wanted) ? TW_RESHAPE_COST
                                                                     : edge->weight;
}

/* ---- candidates ---- */

static bool allows_order(const tw_place *place, const tw_order *space)
{
    if (place->node) {
        tw_order result;
        return tw_order_of_result(place->node, place->carry, space, &result);
    }
    if (place->kind == TW_PLACE_COPY || place->kind == TW_PLACE_STATE)
        return true;
    tw_order last = tw_order_channels_last(space->rank), own = tw_order_identity(space->rank);
    return tw_order_equal(space, &last) || tw_order_equal(space, &own);
}

/* The space of `place` in which its end of the edge holds the bytes of `order`. */
static bool space_for(const tw_place *place, const tw_edge *edge, bool reads, const tw_order *order,
                      tw_order *space)
{
    bool ok = true;
    *space = *order;
    if (place->node)
        ok = reads ? tw_space_of_operand(place->node, place->carry, edge->operand, order, space)
                   : tw_space_of_result(place->node, place->carry, order, space);
    return ok && allows_order(place, space);
}

/* Carry a candidate from a place that has it through the component. */
static void carry(tw_layout *layout, int start, int candidate, int *queue)
{
    int head = 0, tail = 0;
    queue[tail++] = start;
    while (head < tail) {
        int at = queue[head++];
        const tw_place *place = &layout->places[at];
        for (int i = 0; i < place->edges; i++) {
            const tw_edge *edge = &layout->edges[layout->incident[place->first_edge + i]];
            bool reads = edge->from == at; /* the other end */
            int other = reads ? edge->to : edge->from;
            tw_place *next = &layout->places[other];
            if (is_fixed(next) || next->allowed >> candidate & 1)
                continue;
            tw_order order = reads ? tw_place_gives(place, edge->value, candidate)
                                   : tw_place_wants(place, edge->operand, candidate);
            if (order.rank != edge->value->shape.rank ||
                !space_for(next, edge, reads, &order, &next->space[candidate]))
                continue;
            next->allowed |= 1u << candidate;
            queue[tail++] = other;
        }
    }
}

/* Is there a candidate that satisfies the edge (null: that has this very space) at its free end? */
static bool has_candidate(const tw_layout *layout, const tw_place *place, const tw_edge *edge,
                          const tw_order *space, int count)
{
    for (int c = 1; c < count; c++)
        if (place->allowed >> c & 1 && (edge ? cost_of(layout, edge, c, c) <= TW_RESHAPE_COST
                                             : tw_order_equal(&place->space[c], space)))
            return true;
    return false;
}

static void add_candidate(tw_layout *layout, int at, const tw_edge *edge, const tw_order *space,
                          int *counts, int *queue)
{
    tw_place *place = &layout->places[at];
    int *count = &counts[place->component];
    if (*count == TW_LAYOUTS || has_candidate(layout, place, edge, space, *count))
        return;
    place->space[*count] = *space;
    place->allowed |= 1u << *count;
    carry(layout, at, (*count)++, queue);
}

/* What each fixed end of an edge asks of the free end; what free graph inputs are. */
static void find_candidates(tw_layout *layout, int *counts, int *queue)
{
    for (int e = 0; e < layout->edge_count; e++) {
        const tw_edge *edge = &layout->edges[e];
        const tw_place *from = &layout->places[edge->from], *to = &layout->places[edge->to];
        bool reads = is_fixed(from);
        if (is_fixed(from) == is_fixed(to))
            continue;
        int at = reads ? edge->to : edge->from;
        tw_order order = tw_order_identity(edge->value->shape.rank), space;
        if (space_for(&layout->places[at], edge, reads, &order, &space))
            add_candidate(layout, at, edge, &space, counts, queue);
    }
    for (int p = 0; p < layout->place_count; p++) {
        tw_order own = layout->places[p].space[0];
        if (layout->places[p].kind == TW_PLACE_INPUT && !is_fixed(&layout->places[p]))
            add_candidate(layout, p, NULL, &own, counts, queue);
    }
}

/* Number the components and give every free place its own order as candidate 0. */
static void find_components(tw_layout *layout, int *queue)
{
    for (int p = 0; p < layout->place_count; p++) {
        if (is_fixed(&layout->places[p]) || layout->places[p].component >= 0)
            continue;
        int head = 0, tail = 0;
        queue[tail++] = p;
        layout->places[p].component = layout->component_count;
        while (head < tail) {
            int at = queue[head++];
            tw_place *place = &layout->places[at];
            place->allowed = 1;
            place->space[0] = tw_order_identity(
                place->node ? tw_space_rank(place->node, place->carry) : place->value->shape.rank);
            for (int i = 0; i < place->edges; i++) {
                const tw_edge *edge = &layout->edges[layout->incident[place->first_edge + i]];
                int other = edge->from == at ? edge->to : edge->from;
                if (!is_fixed(&layout->places[other]) && layout->places[other].component < 0) {
                    layout->places[other].component = layout->component_count;
                    queue[tail++] = other;
                }
            }
        }
        layout->component_count++;
    }
}

/* ---- expansion ---- */

typedef struct component {
    int *places, place_count;
    int *edges, edge_count;
    int candidates;
} component;

static int64_t total_cost(const tw_layout *layout, const component *c)
{
    int64_t total = 0;
    for (int i = 0; i < c->edge_count; i++) {
        const tw_edge *edge = &layout->edges[c->edges[i]];
        total += cost_of(layout, edge, layout->places[edge->from].chosen,
                         layout->places[edge->to].chosen);
    }
    return total;
}

static void add_terms(const tw_layout *layout, const tw_edge *edge, int candidate, tw_cut *cut)
{
    const tw_place *from = &layout->places[edge->from], *to = &layout->places[edge->to];
    int i = from->variable, j = to->variable;
    int64_t stay = cost_of(layout, edge, from->chosen, to->chosen);
    if (i >= 0 && j >= 0) {
        int64_t only_to = cost_of(layout, edge, from->chosen, candidate);
        int64_t only_from = cost_of(layout, edge, candidate, to->chosen);
        int64_t both = cost_of(layout, edge, candidate, candidate);
        tw_cut_unary(cut, i, only_from - stay);
        tw_cut_unary(cut, j, both - only_from);
        /* Negative only where a candidate contradicts itself; the caller compares true costs. */
        int64_t pair = only_to + only_from - stay - both;
        tw_cut_pair(cut, i, j, pair > 0 ? pair : 0);
    } else if (i >= 0) {
        tw_cut_unary(cut, i, cost_of(layout, edge, candidate, to->chosen) - stay);
    } else if (j >= 0) {
        tw_cut_unary(cut, j, cost_of(layout, edge, from->chosen, candidate) - stay);
    }
}

/* Change the best set of places over to the candidate. True when the cost fell. */
static bool expand(tw_layout *layout, const component *c, int candidate, int64_t *cost)
{
    int variables = 0;
    for (int i = 0; i < c->place_count; i++) {
        tw_place *place = &layout->places[c->places[i]];
        bool may = place->chosen != candidate && place->allowed >> candidate & 1;
        place->variable = may ? variables++ : -1;
    }
    if (variables == 0)
        return false;
    tw_arena *scratch = tw_arena_new();
    tw_cut *cut = tw_cut_new(scratch, variables);
    int *before = tw_alloc_array(scratch, (size_t)c->place_count, sizeof(int));
    for (int i = 0; i < c->edge_count; i++)
        add_terms(layout, &layout->edges[c->edges[i]], candidate, cut);
    tw_cut_solve(cut);
    for (int i = 0; i < c->place_count; i++) {
        tw_place *place = &layout->places[c->places[i]];
        before[i] = place->chosen;
        if (place->variable >= 0 && tw_cut_on_sink_side(cut, place->variable))
            place->chosen = candidate;
    }
    int64_t now = total_cost(layout, c);
    bool better = now < *cost;
    if (better)
        *cost = now;
    else
        for (int i = 0; i < c->place_count; i++)
            layout->places[c->places[i]].chosen = before[i];
    tw_arena_free(scratch);
    return better;
}

static void choose_component(tw_layout *layout, const component *c)
{
    int64_t cost = total_cost(layout, c);
    bool better = true;
    for (int round = 0; better && round < ROUNDS; round++) {
        better = false;
        for (int k = 1; k <= c->candidates; k++)
            better |= cost > 0 && expand(layout, c, k % c->candidates, &cost);
    }
}

/* Places and edges sorted by component, each in order. */
static component *sort_components(tw_layout *layout, const int *counts)
{
    int n = layout->component_count;
    component *c = tw_alloc_array(layout->arena, (size_t)n + 1, sizeof *c);
    for (int pass = 0; pass < 2; pass++) {
        for (int p = 0; p < layout->place_count; p++) {
            int k = layout->places[p].component;
            if (k >= 0 && pass)
                c[k].places[c[k].place_count] = p;
            if (k >= 0)
                c[k].place_count++;
        }
        for (int e = 0; e < layout->edge_count; e++) {
            const tw_place *from = &layout->places[layout->edges[e].from];
            const tw_place *to = &layout->places[layout->edges[e].to];
            int k = is_fixed(from) ? to->component : from->component;
            if (pass)
                c[k].edges[c[k].edge_count] = e;
            c[k].edge_count++;
        }
        for (int k = 0; k < n && !pass; k++) {
            c[k].places = tw_alloc_array(layout->arena, (size_t)c[k].place_count, sizeof(int));
            c[k].edges = tw_alloc_array(layout->arena, (size_t)c[k].edge_count + 1, sizeof(int));
            c[k].place_count = c[k].edge_count = 0;
            c[k].candidates = counts[k];
        }
    }
    return c;
}

void tw_layout_choose(tw_layout *layout)
{
    int *queue = tw_alloc_array(layout->arena, (size_t)layout->place_count + 1, sizeof(int));
    for (int p = 0; p < layout->place_count; p++)
        layout->places[p].variable = -1;
    find_components(layout, queue);
    int *counts = tw_alloc_array(layout->arena, (size_t)layout->component_count + 1, sizeof(int));
    for (int k = 0; k < layout->component_count; k++)
        counts[k] = 1;
    find_candidates(layout, counts, queue);
    component *components = sort_components(layout, counts);
    for (int k = 0; k < layout->component_count; k++)
        choose_component(layout, &components[k]);
}
