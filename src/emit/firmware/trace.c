/* Tracing a plan, and finding the rounds in a trace. */
#include "emit/firmware/trace.h"

#include <string.h>

#include "runtime/rows.h"

/* As run.c keeps them, in the fast arena. */
typedef struct tw_counter {
    int32_t a, b;
} tw_counter;

typedef struct tw_tracer {
    tw_trace *trace;
    const tw_session *session;
    tw_context *context;
    uint32_t segment; /* of the last event */
    int32_t *first;   /* by stream of it: first row in the window */
    int32_t *have;    /* by stream of it: rows made, real ones */
    bool between;     /* there was an event of this segment before */
} tw_tracer;

static void add_event(tw_tracer *t, tw_event_kind kind, uint32_t id, const int32_t *number,
                      int32_t count)
{
    tw_trace *trace = t->trace;
    tw_grow(trace->arena, &trace->events, trace->count, &trace->capacity, sizeof *trace->events);
    trace->events[trace->count++] = (tw_event){
        kind, t->segment, id, count, tw_copy(trace->arena, number, (size_t)count * sizeof *number)};
}

static const tw_plan_segment *segment_of(const tw_tracer *t)
{
    return &t->session->model.segments[t->segment];
}

static const tw_counter *counters_of(const tw_tracer *t)
{
    return (
        const tw_counter *)(const void *)((const char *)t->context->region[TW_REGION_FAST].pointer +
                                          segment_of(t)->counters);
}

/* What the loop did to the windows since the last event: rows given up, the rest moved down. */
static void add_moves(tw_tracer *t)
{
    const tw_plan_segment *g = segment_of(t);
    const tw_model *m = &t->session->model;
    const tw_counter *stream = counters_of(t) + g->step_count;
    for (uint32_t i = 0; i < g->stream_count && t->between; i++) {
        const tw_tensor *tensor = &m->tensors[m->streams[g->first_stream + i].tensor];
        const int32_t row = (int32_t)tw_unit_bytes(tensor, g);
        const int32_t number[] = {(stream[i].a - t->first[i]) * row,
                                  (t->have[i] - stream[i].a) * row};
        if (stream[i].a > t->first[i] && t->have[i] > stream[i].a)
            add_event(t, TW_EVENT_MOVE, m->streams[g->first_stream + i].tensor, number, 2);
    }
}

/* Remember the windows as they are. `step` has just made `rows` more, which its counter says already
 * in a hook. */
static void note_windows(tw_tracer *t)
{
    const tw_plan_segment *g = segment_of(t);
    const tw_model *m = &t->session->model;
    const tw_counter *step = counters_of(t), *stream = step + g->step_count;
    for (uint32_t i = 0; i < g->stream_count; i++) {
        const tw_plan_stream *s = &m->streams[g->first_stream + i];
        const int32_t made = s->producer == TW_ABSENT ? stream[i].b : step[s->producer].a;
        const int32_t extent = tw_units(&m->tensors[s->tensor], g);
        t->first[i] = stream[i].a;
        t->have[i] = made < extent ? made : extent;
    }
    t->between = true;
}

static void enter_segment(tw_tracer *t)
{
    if (t->segment != t->context->segment)
        t->between = false;
    t->segment = t->context->segment;
}

/* Bytes of an address from where its tensor begins. */
static int32_t bytes_from(const tw_tracer *t, const tw_tensor *tensor, const void *data)
{
    const char *base = tensor->region == TW_REGION_CONSTANT
                           ? (const char *)t->session->model.constants
                           : (const char *)t->context->region[tensor->region].pointer;
    return (int32_t)((const char *)data - base - (ptrdiff_t)tensor->offset);
}

static int on_firing(void *user, tw_context *context, const tw_firing *firing)
{
    tw_tracer *t = user;
    const tw_call *call = firing->call;
    int32_t number[TW_EVENT_NUMBERS], count = 0;
    (void)context;
    enter_segment(t);
    add_moves(t);
    for (uint32_t i = 0; i < call->in_count + call->out_count; i++) {
        const tw_view *v = i < call->in_count ? &call->in[i] : &call->out[i - call->in_count];
        number[count++] = v->row;
        number[count++] = v->rows;
        number[count++] = v->tensor ? bytes_from(t, v->tensor, v->data) : 0;
        number[count++] = v->column;
        number[count++] = v->columns;
    }
    add_event(t, TW_EVENT_CALL, firing->step, number, count);
    note_windows(t);
    return 0;
}

static int on_feed(void *user, uint32_t input, int32_t row, int32_t rows, void *to)
{
    tw_tracer *t = user;
    enter_segment(t);
    add_moves(t);
    const int32_t number[] = {row, rows,
                              bytes_from(t, tw_input_tensor(&t->session->model, input), to)};
    add_event(t, TW_EVENT_FEED, input, number, 3);
    note_windows(t);
    /* The rows arrive with the return. */
    const tw_plan_segment *g = segment_of(t);
    t->have[g->source] += rows * tw_width(tw_input_tensor(&t->session->model, input), g);
    return 0;
}

static tw_status do_nothing(const tw_call *call)
{
    (void)call;
    return TW_OK;
}

bool tw_trace_plan(const tw_session *session, tw_arena *arena, tw_trace *trace, tw_diag *diag)
{
    static const tw_kernel idle = {0, do_nothing, NULL, 1};
    tw_model model = session->model;
    tw_memory memory[TW_MAX_REGIONS - 1];
    tw_context context;
    *trace = (tw_trace){arena, NULL, 0, 0};
    tw_tracer t = {.trace = trace, .session = session, .context = &context, .segment = UINT32_MAX};
    const tw_kernel **kernels =
        tw_alloc_array(arena, (size_t)model.step_count + 1, sizeof *kernels);
    for (uint32_t i = 0; i < model.step_count; i++)
        kernels[i] = &idle; /* there are no more kernels than steps */
    model.kernels = kernels;
    model.control_count = model.position_count = 0; /* every segment once, one behind the other */
    t.first = tw_alloc_array(arena, (size_t)model.stream_count + 1, sizeof *t.first);
    t.have = tw_alloc_array(arena, (size_t)model.stream_count + 1, sizeof *t.have);
    for (uint32_t r = 1; r < TW_MAX_REGIONS; r++)
        memory[r - 1] = (tw_memory){tw_alloc(arena, (size_t)tw_region_bytes(&model, r) + 64),
                                    tw_region_bytes(&model, r)};
    tw_status status = tw_init(&context, &model, memory, TW_MAX_REGIONS - 1);
    tw_set_hook(&context, on_firing, &t);
    tw_set_feed(&context, on_feed, &t);
    if (status == TW_OK)
        status = tw_run(&context);
    return status == TW_OK || tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the plan's schedule: %s",
                                      tw_status_text(status));
}

/* ---- rounds ---- */

static bool is_alike(const tw_event *a, const tw_event *b)
{
    return a->kind == b->kind && a->id == b->id && a->count == b->count;
}

/* From a to b every number grows as from b to c. */
static bool grows_alike(const tw_event *a, const tw_event *b, const tw_event *c)
{
    if (!is_alike(a, b) || !is_alike(b, c))
        return false;
    for (int i = 0; i < a->count; i++)
        if (b->number[i] - a->number[i] != c->number[i] - b->number[i])
            return false;
    return true;
}

static int rounds_of(const tw_trace *trace, int first, int end, int length)
{
    const tw_event *e = &trace->events[first];
    int alike = 0;
    /* Two rounds always grow alike: they must be of the same calls. */
    while (alike < length && first + length + alike < end &&
           is_alike(&e[alike], &e[alike + length]))
        alike++;
    if (alike < length)
        return 1;
    while (first + length + alike < end &&
           grows_alike(&e[alike - length], &e[alike], &e[alike + length]))
        alike++;
    return alike / length + 1;
}

tw_rounds tw_trace_rounds(const tw_trace *trace, int first, int end)
{
    enum { LONGEST = 1024 };
    tw_rounds best = {1, 1};
    int saved = 0;
    for (int length = 1; length <= LONGEST && first + 2 * length <= end; length++) {
        const int times = rounds_of(trace, first, end, length);
        if (times >= 3 && (times - 1) * length > saved) {
            best = (tw_rounds){length, times};
            saved = (times - 1) * length;
        }
    }
    return best;
}
