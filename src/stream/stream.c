/* Streaming conversion: the story. See stream.h. */
#include "stream/stream.h"

#include <string.h>

#include "base/diag.h"
#include "stream/flow.h"

#define SAY(s, ...) tw_fail((s)->diag, TW_CODE_USAGE, NULL, NULL, "--stream: " __VA_ARGS__)

static bool find_input(tw_streaming *s)
{
    const tw_graph *g = s->graph;
    for (int i = 0; i < g->input_count && !s->input; i++)
        if (!s->spec->input || strcmp(g->inputs[i]->name, s->spec->input) == 0)
            s->input = g->inputs[i];
    if (!s->input)
        return SAY(s, "the model has no input called %.200s", s->spec->input ? s->spec->input : "");
    const int rank = s->input->shape.rank;
    int axis = s->spec->axis < 0 ? s->spec->axis + rank : s->spec->axis;
    if (axis < 0 || axis >= rank)
        return SAY(s, "input %.200s has no axis %d; it has %d", s->input->name, s->spec->axis,
                   rank);
    if (s->input->channels_last && axis > 0) /* as the model has it: channels first */
        axis = axis == 1 ? rank - 1 : axis - 1;
    s->axis = axis;
    s->window = s->input->shape.dim[axis];
    return s->window > 0 || SAY(s, "axis %d of %.200s is empty", s->spec->axis, s->input->name);
}

/* Operators of one name that are in the way for one reason are told once. */
static bool is_told(const tw_streaming *s, int at)
{
    for (int i = 0; i < at; i++)
        if (s->obstacles[i].why == s->obstacles[at].why &&
            strcmp(tw_node_spelling(s->obstacles[i].node),
                   tw_node_spelling(s->obstacles[at].node)) == 0)
            return true;
    return false;
}

/* One message that names every operator in the way, the first as its subject. */
static bool refuse(tw_streaming *s)
{
    enum { MOST = 6, LONGEST = 60 };
    const tw_obstacle *o = s->obstacles;
    const char *also = "";
    int told = 1, left = 0;
    for (int i = 1; i < s->obstacle_count; i++) {
        if (is_told(s, i) || told == MOST) {
            left++;
            continue;
        }
        told++;
        also = tw_format(s->arena, "%s; %.*s (%s): %s", also, LONGEST, o[i].node->name,
                         tw_node_spelling(o[i].node), o[i].why);
    }
    if (left > 0)
        also = tw_format(s->arena, "%s; %d more like these", also, left);
    return tw_fail(s->diag, TW_CODE_UNSUPPORTED, o[0].node->name, tw_node_spelling(o[0].node),
                   "cannot be streamed along axis %d of %.80s: %s%s", s->spec->axis, s->input->name,
                   o[0].why, also);
}

/* The hop asked for, or the least. */
static bool choose_hop(tw_streaming *s)
{
    if (s->least_hop > s->window)
        return SAY(s, "the strides in time come to %lld frames, more than the clip's %lld",
                   (long long)s->least_hop, (long long)s->window);
    s->hop = s->spec->hop ? s->spec->hop : s->least_hop;
    if (s->hop % s->least_hop != 0)
        return SAY(s,
                   "a run takes a multiple of %lld frames, the network's stride in time, not %lld",
                   (long long)s->least_hop, (long long)s->hop);
    if (s->hop > s->window)
        return SAY(s, "a run takes at most the clip's %lld frames, not %lld", (long long)s->window,
                   (long long)s->hop);
    return true;
}

static bool is_storable(tw_streaming *s)
{
    for (int i = 0; i < s->graph->value_count; i++) {
        const tw_value *v = s->graph->values[i];
        const tw_flow *flow = tw_flow_of(s, v);
        if (flow->kind != TW_FLOW_ROWS || flow->kept == 0)
            continue;
        const int64_t rows = v->shape.dim[flow->axis];
        const int64_t bytes = rows ? (int64_t)tw_shape_bytes(&v->shape) / rows * flow->kept : 0;
        if (flow->kept > INT32_MAX / 16 || bytes > INT32_MAX)
            return tw_fail(s->diag, TW_CODE_UNSUPPORTED, v->name, "",
                           "%lld rows of it would have to be kept", (long long)flow->kept);
    }
    return true;
}

/* Where windows are not tied to the clip's first frame, they may begin anywhere on the grid of hops: where
 * results come soonest. */
static void choose_phase(tw_streaming *s)
{
    enum { MOST = 64 };
    int64_t best = 0, least = INT64_MAX;
    for (s->phase = 0; s->phase < s->least_hop && s->phase < MOST; s->phase++) {
        tw_stream_follow(s);
        tw_stream_delay(s);
        if (s->phase + s->shift < least) {
            least = s->phase + s->shift;
            best = s->phase;
        }
        if (!s->spec->history)
            return;
    }
    s->phase = best;
    tw_stream_follow(s);
    tw_stream_delay(s);
}

/* With real history recurrent layers go on from run to run; those behind them are found once that is known. */
static bool carry_layers(tw_streaming *s)
{
    bool changed = s->spec->history;
    while (changed) {
        if (!tw_stream_carry_layers(s, &changed))
            return false;
        s->obstacle_count = changed ? 0 : s->obstacle_count;
        if (changed)
            tw_stream_follow(s);
    }
    return true;
}

bool tw_stream(tw_graph *graph, const tw_compile_options *options, tw_report_stream *report,
               tw_diag *diag)
{
    tw_streaming s = {
        .graph = graph, .arena = graph->arena, .spec = &options->stream, .diag = diag};
    if (!options->stream.given)
        return true;
    const uint64_t macs = tw_graph_macs(graph);
    if (!find_input(&s))
        return false;
    tw_stream_follow(&s);
    if (!carry_layers(&s))
        return false;
    if (s.obstacle_count == 0) {
        if (!choose_hop(&s))
            return false;
        choose_phase(&s);
        tw_stream_settle(&s);
    }
    if (s.obstacle_count > 0)
        return refuse(&s);
    if (!is_storable(&s) || !tw_stream_rewrite(&s) || !tw_pass_identity(graph, options, diag) ||
        !tw_pass_dead(graph, options, diag) || !tw_graph_check(graph, diag))
        return false;
    const int64_t runs = (s.depth + s.hop - 1) / s.hop;
    *report = (tw_report_stream){.given = true,
                                 .input = s.input->name,
                                 .axis = options->stream.axis,
                                 .hop = (uint32_t)s.hop,
                                 .clip = (uint32_t)s.window,
                                 .window = (uint32_t)s.depth,
                                 .latency = (uint32_t)(s.phase + s.shift),
                                 .first_run = (uint32_t)(runs > 0 ? runs : 1),
                                 .history = options->stream.history,
                                 .clip_macs = macs};
    return true;
}
