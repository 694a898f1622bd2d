/* Time through a graph. In: which input's axis is time. Out: of every value whether it has rows in time,
 * how far apart they are and which of them are known and clean; what the clip's network does that a stream
 * cannot; and, once the hop is known, which rows who wants. */
#include "stream/flow.h"

#include "base/diag.h"
#include "ops/axes.h"
#include "ops/concat.h"

void tw_stream_obstacle(tw_streaming *s, const tw_node *node, const char *why)
{
    for (int i = 0; i < s->obstacle_count; i++)
        if (s->obstacles[i].node == node)
            return;
    tw_grow(s->arena, &s->obstacles, s->obstacle_count, &s->obstacle_capacity,
            sizeof *s->obstacles);
    s->obstacles[s->obstacle_count++] = (tw_obstacle){node, why};
}

static void wish(tw_streaming *s, tw_wish one)
{
    if (!s->hop)
        return;
    tw_grow(s->arena, &s->wishes, s->wish_count, &s->wish_capacity, sizeof *s->wishes);
    s->wishes[s->wish_count++] = one;
}

/* Frames beyond this are more than any clip has; sums and products of such numbers stay in 64 bits. */
#define FAR ((int64_t)INT32_MAX + 1)

static int64_t common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b;
    if (a < 1 || b < 1)
        return 1;
    while (y) {
        const int64_t rest = x % y;
        x = y;
        y = rest;
    }
    const int64_t common = a / x * b;
    return common < FAR ? common : FAR;
}

/* ---- operands beside the stream ---- */

/* Does a constant, or an input of its own, hold something else for every frame of the clip? */
static bool differs_by_frame(const tw_node *node, int input, int axis)
{
    const tw_shape *in = &node->in[input]->shape, *out = &node->out[0]->shape;
    const int at = axis - (out->rank - in->rank);
    if (!tw_is_binary(node) && !tw_is(node, TW_OPCODE_where) && !tw_is(node, TW_OPCODE_concat))
        return false;
    return at >= 0 && at < in->rank && in->dim[at] > 1;
}

bool tw_stream_joins_time(const tw_node *node, int axis)
{
    const tw_concat_attributes *a = node->attributes;
    return tw_is(node, TW_OPCODE_concat) && tw_axis(a->axis, node->out[0]->shape.rank) == axis;
}

/* Looks at the operands without time of a node that has one with. False: it is refused. */
static bool goes_together(tw_streaming *s, const tw_node *node, const tw_carry *carry)
{
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i] || tw_flow_of(s, node->in[i])->kind == TW_FLOW_ROWS)
            continue;
        const tw_flow *flow = tw_flow_of(s, node->in[i]);
        if (flow->kind == TW_FLOW_UNKNOWN)
            return false;
        if (flow->kind == TW_FLOW_CLIP && carry->kind == TW_CARRY_ROWS && !carry->real) {
            tw_stream_obstacle(s, flow->taker ? flow->taker : node,
                               flow->taker ? "its result over the whole clip goes back into every "
                                             "frame"
                                           : "reads a state that the model carries by hand");
            return false;
        }
        if (carry->kind == TW_CARRY_ROWS && !tw_stream_joins_time(node, carry->axis) &&
            differs_by_frame(node, i, carry->axis)) {
            tw_stream_obstacle(s, node, "has an operand of its own for every frame of the clip");
            return false;
        }
    }
    return true;
}

/* ---- one node ---- */

/* Does the operator's result hold rows that the clip pads, before or behind? */
static bool pads(const tw_node *node, int input, int axis, const tw_carry *carry)
{
    const int64_t in = node->in[input]->shape.dim[axis], out = node->out[0]->shape.dim[carry->axis];
    return !carry->real &&
           (carry->pad > 0 || (out - 1) * carry->stride - carry->pad + carry->extent > in);
}

/* The carry of the node's operands with a time axis, which agree; NOT with the reason where they do
 * not. */
static tw_carry common_carry(const tw_streaming *s, const tw_node *node)
{
    tw_carry first = {.kind = TW_CARRY_NOT, .axis = -1};
    int64_t frames = 0;
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i] || tw_flow_of(s, node->in[i])->kind != TW_FLOW_ROWS)
            continue;
        const tw_flow *flow = tw_flow_of(s, node->in[i]);
        tw_carry carry = tw_stream_carry(s, node, i, flow->axis);
        tw_cache cache;
        if (carry.kind == TW_CARRY_NOT)
            return carry;
        carry.real = i == 1 && tw_stream_joins_time(node, flow->axis) &&
                     tw_stream_cache(s->graph, node, flow->axis, &cache);
        if (frames && (carry.kind != first.kind || carry.axis != first.axis ||
                       (carry.kind == TW_CARRY_ROWS && frames != flow->frames * carry.stride)))
            return (tw_carry){.kind = TW_CARRY_NOT,
                              .axis = carry.axis,
                              .why = "joins frames of different rates or axes"};
        if (frames && carry.kind == TW_CARRY_ROWS && tw_stream_joins_time(node, carry.axis))
            return (tw_carry){.kind = TW_CARRY_NOT,
                              .axis = carry.axis,
                              .why = "puts stretches of time one behind the other"};
        if (!frames)
            first = carry;
        frames = flow->frames * carry.stride;
    }
    return first;
}

/* Is the result computed whole in every run anyway, exactly as in the clip? */
static bool is_made_anew(const tw_streaming *s, const tw_node *node, int input,
                         const tw_carry *carry)
{
    const tw_flow *flow = tw_flow_of(s, node->in[input]);
    const int64_t rows = node->out[0]->shape.dim[carry->axis];
    const bool alone = carry->stride == 1 && carry->extent == 1 && carry->pad == 0;
    if (tw_is(node,
              TW_OPCODE_slice)) /* it computes nothing, and need not touch what it leaves out */
        return false;
    if (carry->real || (rows > 1 && s->spec->history && pads(node, input, flow->axis, carry)))
        return false;
    if (rows == 1 && !alone)
        return true;
    return s->hop && s->hop % (flow->frames * carry->stride) == 0 &&
           rows <= s->hop / (flow->frames * carry->stride) && !alone;
}

static void give(tw_streaming *s, const tw_node *node, tw_flow flow)
{
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i]) {
            *tw_flow_of(s, node->out[i]) = flow;
            if (i > 0 && tw_stream_layer(s, node)) /* a state's: nobody else reads it */
                *tw_flow_of(s, node->out[i]) = (tw_flow){.kind = TW_FLOW_STEADY};
            else if (flow.kind == TW_FLOW_ROWS && flow.axis >= node->out[i]->shape.rank)
                tw_flow_of(s, node->out[i])->kind = TW_FLOW_UNKNOWN;
        }
}

/* A layer begins with the first run of which all rows are made of the stream's frames; rows of its results from
 * before that depend, so to say, on frames that were not. */
static void begin_layer(tw_streaming *s, const tw_node *node, tw_flow *out)
{
    tw_layer_in_stream *layer = tw_stream_layer(s, node);
    if (!layer || !s->hop || out->frames < 1)
        return;
    const int64_t first = out->newest - s->hop / out->frames + 1;
    const int64_t depth = s->window + s->phase - (first * out->frames - out->reach);
    const int64_t runs = (depth + s->hop - 1) / s->hop;
    layer->runs = runs - 1;
    out->reach += runs * s->hop - depth;
}

/* The result has rows: those known and clean follow from every operand. */
static void give_rows(tw_streaming *s, tw_node *node, const tw_carry *carry)
{
    tw_flow out = {.kind = TW_FLOW_ROWS, .axis = carry->axis, .newest = INT64_MAX, .reach = -FAR};
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i] || tw_flow_of(s, node->in[i])->kind != TW_FLOW_ROWS)
            continue;
        const tw_flow *in = tw_flow_of(s, node->in[i]);
        const tw_carry own = tw_stream_carry(s, node, i, in->axis);
        const int64_t newest = tw_floor_div(in->newest + own.pad - own.extent + 1, own.stride);
        const int64_t clean = -tw_floor_div(-(in->clean + own.pad), own.stride);
        const int64_t reach = in->reach + (carry->real ? 0 : own.pad * in->frames);
        out.frames = in->frames * own.stride;
        out.newest = newest < out.newest ? newest : out.newest;
        if (clean > out.clean && (in->clean > 0 || !carry->real))
            out.clean = clean;
        out.reach = reach > out.reach ? reach : out.reach;
        if (!out.padded)
            out.padded = in->padded;
        if (!out.padded && pads(node, i, in->axis, carry))
            out.padded = node;
    }
    if (out.frames >= FAR || out.reach >= FAR) {
        tw_stream_obstacle(s, node, "strides or pads by more frames than can be counted");
        give(s, node, (tw_flow){.kind = TW_FLOW_UNKNOWN});
        return;
    }
    s->least_hop = common_multiple(s->least_hop, out.frames);
    for (int i = 0; s->hop && i < node->in_count; i++) {
        if (!node->in[i] || tw_flow_of(s, node->in[i])->kind != TW_FLOW_ROWS)
            continue;
        const tw_carry own = tw_stream_carry(s, node, i, tw_flow_of(s, node->in[i])->axis);
        const int64_t first = (out.newest - s->hop / out.frames + 1) * own.stride - own.pad;
        wish(s, (tw_wish){.node = node,
                          .index = i,
                          .value = node->in[i],
                          .first = first,
                          .last = out.newest * own.stride - own.pad + own.extent - 1});
    }
    begin_layer(s, node, &out);
    give(s, node, out);
}

/* The result is the clip's: every operand with a time axis is wanted whole. */
static void give_clip(tw_streaming *s, tw_node *node)
{
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && tw_flow_of(s, node->in[i])->kind == TW_FLOW_ROWS)
            wish(s, (tw_wish){.node = node,
                              .index = i,
                              .value = node->in[i],
                              .first = 0,
                              .last = node->in[i]->shape.dim[tw_flow_of(s, node->in[i])->axis] - 1,
                              .final = true});
    give(s, node, (tw_flow){.kind = TW_FLOW_CLIP, .taker = node});
}

/* Without an operand that has time: what the operands are, the result is. */
static void give_same(tw_streaming *s, const tw_node *node)
{
    tw_flow out = {.kind = TW_FLOW_STEADY};
    for (int i = 0; i < node->in_count; i++) {
        const tw_flow *in = node->in[i] ? tw_flow_of(s, node->in[i]) : NULL;
        if (in && in->kind > out.kind)
            out = *in;
    }
    give(s, node, out);
}

/* Go on behind an operator that is refused, to find the others: as if rows went through it. */
static void give_guess(tw_streaming *s, const tw_node *node, int axis)
{
    const tw_flow *in = NULL;
    for (int i = 0; i < node->in_count && !in; i++)
        if (node->in[i] && tw_flow_of(s, node->in[i])->kind == TW_FLOW_ROWS)
            in = tw_flow_of(s, node->in[i]);
    tw_flow out = in ? *in : (tw_flow){.kind = TW_FLOW_UNKNOWN};
    out.axis = axis;
    if (axis < 0)
        out = (tw_flow){.kind = TW_FLOW_UNKNOWN};
    give(s, node, out);
}

static void remember_cache(tw_streaming *s, const tw_node *node, int axis)
{
    tw_grow(s->arena, &s->caches, s->cache_count, &s->cache_capacity, sizeof *s->caches);
    if (tw_stream_cache(s->graph, node, axis, &s->caches[s->cache_count]))
        s->cache_count++;
}

static void follow_node(tw_streaming *s, tw_node *node)
{
    int first = -1;
    for (int i = 0; i < node->in_count && first < 0; i++)
        if (node->in[i] && tw_flow_of(s, node->in[i])->kind == TW_FLOW_ROWS)
            first = i;
    if (first < 0) {
        give_same(s, node);
        return;
    }
    tw_carry carry = common_carry(s, node);
    if (node->op->bodies)
        carry = (tw_carry){.kind = TW_CARRY_NOT, .axis = -1, .why = "is a branch or loop"};
    if (carry.kind == TW_CARRY_NOT) {
        tw_stream_obstacle(s, node, carry.why);
        give_guess(s, node, carry.axis);
    } else if (!goes_together(s, node, &carry)) {
        give_guess(s, node, carry.axis);
    } else if (carry.kind == TW_CARRY_CLIP || is_made_anew(s, node, first, &carry)) {
        give_clip(s, node);
    } else {
        give_rows(s, node, &carry);
        if (carry.real)
            remember_cache(s, node, carry.axis);
    }
}

static void begin(tw_streaming *s)
{
    tw_graph *g = s->graph;
    tw_uses uses = tw_graph_uses(g, s->arena); /* numbers values and nodes */
    (void)uses;
    s->flow = tw_alloc_array(s->arena, (size_t)g->value_count + 1, sizeof *s->flow);
    s->wish_count = s->cache_count = 0;
    s->least_hop = 1;
    for (int i = 0; i < g->state_count; i++)
        tw_flow_of(s, g->states[i].current)->kind = TW_FLOW_CLIP;
    for (int i = 0; i < s->layer_count; i++)
        for (int k = 0; k < 2; k++)
            if (s->layers[i].kept[k].current)
                tw_flow_of(s, s->layers[i].kept[k].current)->kind = TW_FLOW_STEADY;
    *tw_flow_of(s, s->input) = (tw_flow){.kind = TW_FLOW_ROWS,
                                         .axis = s->axis,
                                         .frames = 1,
                                         .newest = s->window - 1 + s->phase,
                                         .clean = 0};
}

static bool is_cached(const tw_streaming *s, const tw_value *output)
{
    for (int i = 0; i < s->cache_count; i++)
        if (s->caches[i].next == output)
            return true;
    return false;
}

/* The newest rows of an output, as many as a run brings. */
static void want_outputs(tw_streaming *s)
{
    for (int i = 0; i < s->graph->output_count; i++) {
        tw_value *v = s->graph->outputs[i];
        const tw_flow *flow = tw_flow_of(s, v);
        if (flow->kind != TW_FLOW_ROWS || is_cached(s, v))
            continue;
        const int64_t all = v->shape.dim[flow->axis], fresh = tw_fresh(s, flow);
        wish(s, (tw_wish){.index = i,
                          .value = v,
                          .first = all - (fresh < all ? fresh : all),
                          .last = all - 1,
                          .final = true});
    }
}

void tw_stream_follow(tw_streaming *s)
{
    begin(s);
    for (int n = 0; n < s->graph->node_count; n++)
        follow_node(s, s->graph->nodes[n]);
    if (s->hop)
        want_outputs(s);
}

/* ---- which moment a run yields ---- */

/* All that is final is of one window: the latest of which everything is known. */
void tw_stream_delay(tw_streaming *s)
{
    int64_t step = 1;
    s->shift = 0;
    for (int i = 0; i < s->wish_count; i++) {
        const tw_flow *flow = tw_flow_of(s, s->wishes[i].value);
        if (!s->wishes[i].final)
            continue;
        const int64_t late = (s->wishes[i].last - flow->newest) * flow->frames;
        step = common_multiple(step, flow->frames);
        if (late > s->shift)
            s->shift = late;
    }
    for (int i = 0; i < s->wish_count; i++)
        if (s->wishes[i].final && s->shift % tw_flow_of(s, s->wishes[i].value)->frames) {
            s->shift = (s->shift + step - 1) / step * step;
            break;
        }
}

/* What is final and touches padding is not what the clip's network computes. */
static void find_padding(tw_streaming *s)
{
    for (int i = 0; i < s->wish_count && !s->spec->history; i++) {
        const tw_wish *w = &s->wishes[i];
        const tw_flow *flow = tw_flow_of(s, w->value);
        if (w->final && flow->padded && (w->first < flow->clean || w->last > flow->newest))
            tw_stream_obstacle(s, flow->padded,
                               "pads time with zeros, where a stream has real frames; "
                               "--stream-padding history takes those in their place, which makes "
                               "it another function");
    }
}

void tw_stream_settle(tw_streaming *s)
{
    find_padding(s);
    for (int i = 0; i < s->wish_count; i++) {
        tw_wish *w = &s->wishes[i];
        tw_flow *flow = tw_flow_of(s, w->value);
        const int64_t shift = w->final ? s->shift / flow->frames : 0;
        w->back = flow->newest - (w->last - shift);
        w->rows = w->last - w->first + 1;
        if (w->back + w->rows > flow->kept)
            flow->kept = w->back + w->rows;
        const int64_t oldest = (w->first - shift) * flow->frames - flow->reach;
        if (w->final && s->window + s->phase - oldest > s->depth)
            s->depth = s->window + s->phase - oldest;
    }
}
