/* Segments: which steps run together, and in bands of how many rows. */
#include "plan/control.h"
#include "plan/ends.h"
#include "plan/schedule.h"

/* SplitMix64: the bands of `random_bands` are the same on every machine. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Does the value, or what it is a view of, come from a step at or after `first`? */
static bool made_since(const tw_schedule *s, const tw_value *v, int first)
{
    v = tw_view_root(v);
    for (int i = first; v->producer && i < s->step_count; i++)
        if (s->steps[i].node == v->producer)
            return true;
    return false;
}

/* A step that writes a state overwrites what others may be reading: it runs by itself. */
static bool writes_state(const tw_schedule *s, int step)
{
    const tw_node *node = s->steps[step].node;
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i] && tw_state_written(s->graph, node->out[i]) >= 0)
            return true;
    return false;
}

/* Can this step roll with the segment that ends before it? Its rows must be counted on the same
 * axis, and what it reads from inside the segment must be the tensor itself, not a view of it: a
 * view's rows are others. */
static bool can_join(const tw_schedule *s, int step, const tw_segment *segment)
{
    const tw_node *node = s->steps[step].node;
    if (tw_is_awaited(s, step) || tw_is_controlled(s, step) ||
        tw_is_controlled(s, segment->first_step))
        return false;
    if (s->steps[step].axis != segment->axis || s->steps[step].alone ||
        s->steps[segment->first_step].alone || writes_state(s, step) ||
        writes_state(s, segment->first_step))
        return false;
    for (int i = 0; i < node->in_count; i++) {
        const tw_value *v = node->in[i];
        if (v && v->producer && v->producer->op->kind == TW_VIEW &&
            made_since(s, v, segment->first_step))
            return false;
    }
    return true;
}

void tw_plan_segments(tw_schedule *s, const tw_compile_options *options)
{
    uint64_t random = options->random_bands;
    s->segments = tw_alloc_array(s->arena, (size_t)s->step_count + 1, sizeof(tw_segment));
    s->segment_count = 0;
    for (int i = 0; i < s->step_count; i++) {
        tw_step *step = &s->steps[i];
        tw_segment *last = s->segment_count ? &s->segments[s->segment_count - 1] : NULL;
        bool joins = false;
        if (options->random_bands) {
            if (step->extent > 0 && !step->at_once)
                step->band = 1 + (int32_t)(next_random(&random) % (uint64_t)step->extent);
            joins = last && next_random(&random) % 4 != 0 && last->step_count < 8 &&
                    can_join(s, i, last);
        }
        if (joins)
            last->step_count++;
        else
            s->segments[s->segment_count++] = (tw_segment){i, 1, step->axis, false, 0, -1};
        step->segment = s->segment_count - 1;
    }
}

uint32_t tw_counter_bytes(const tw_schedule *s, const tw_segment *segment)
{
    uint32_t counters = s->fed ? 1 : 0; /* a source */
    for (int i = 0; i < segment->step_count; i++)
        counters += 1 + (uint32_t)s->steps[segment->first_step + i].node->out_count;
    return 8 * counters;
}
