/* Scratch for kernels that can work in parts. In: the plan that was chosen, placed, with the scratch of the
 * most parts. Out: the same plan, placed again, its kernels in as few parts as there is room for.
 *
 * What fits, what rolls and how is decided with the least scratch; what fewer parts save is time. */
#include "plan/parts.h"

#include <string.h>

#include "plan/settle.h"

/* A step's scratch before a try; its targets' are in native. */
typedef struct tw_parted {
    int step;
    uint32_t scratch;
    tw_native_lowering *native;
} tw_parted;

/* Scratch for `parts` parts: 1, 2, 4... */
static uint32_t scratch_for(const tw_native_lowering *native, int parts)
{
    uint32_t bytes = native->whole;
    for (int i = 0; 2 << i <= parts; i++)
        bytes = native->lowering.in_parts[i];
    return bytes;
}

static int most_parts(const tw_schedule *s, const tw_step *step)
{
    int most = 1;
    for (int t = 1; t < s->target_count; t++)
        if (!step->native[t - 1].why && step->native[t - 1].parts > most)
            most = step->native[t - 1].parts;
    return most;
}

/* Nodes that are computed again have the natives of the first, and scratch of their own. */
static void give_step(tw_schedule *s, int index, int parts)
{
    tw_step *step = &s->steps[index];
    for (int t = 1; t < s->target_count; t++) {
        tw_native_lowering *native = &step->native[t - 1];
        if (native->why || native->parts <= parts)
            continue;
        native->parts = parts;
        native->lowering.scratch = scratch_for(native, parts);
    }
    for (int i = index; i < s->step_count; i++)
        for (int t = 1; t < s->target_count && s->steps[i].native == step->native; t++)
            if (!step->native[t - 1].why &&
                step->native[t - 1].lowering.scratch > s->steps[i].lowering.scratch)
                s->steps[i].lowering.scratch = step->native[t - 1].lowering.scratch;
}

static void keep(const tw_schedule *s, tw_parted *p)
{
    const tw_step *step = &s->steps[p->step];
    p->scratch = step->lowering.scratch;
    memcpy(p->native, step->native, (size_t)(s->target_count - 1) * sizeof *p->native);
}

static void restore(tw_schedule *s, const tw_parted *p)
{
    tw_step *step = &s->steps[p->step];
    memcpy(step->native, p->native, (size_t)(s->target_count - 1) * sizeof *p->native);
    for (int i = p->step; i < s->step_count; i++)
        if (s->steps[i].native == step->native)
            s->steps[i].lowering.scratch = p->scratch;
}

static bool is_within(tw_schedule *s, uint64_t most)
{
    tw_place_chosen(s);
    return tw_is_within(s) && tw_placed_bytes(s) <= most;
}

static int find_parted(tw_schedule *s, tw_parted *all)
{
    int count = 0;
    for (int i = 0; i < s->step_count; i++)
        if (tw_step_before(s, i) < 0 && most_parts(s, &s->steps[i]) > 1)
            all[count++] = (tw_parted){
                i, 0,
                tw_alloc_array(s->arena, (size_t)s->target_count, sizeof(tw_native_lowering))};
    return count;
}

/* One after the other, each in as few parts as it can be. */
static void give_singly(tw_schedule *s, tw_parted *all, int count, uint64_t most)
{
    enum { WORK = 1000 }; /* steps times tries */
    int tries = WORK / (s->step_count + 1) + 1;
    for (int i = 0; i < count; i++) {
        bool fits = false;
        const int parts = most_parts(s, &s->steps[all[i].step]);
        keep(s, &all[i]);
        for (int fewer = 1; fewer < parts && !fits && tries > 0; fewer *= 2, tries--) {
            give_step(s, all[i].step, fewer);
            fits = is_within(s, most);
            if (!fits)
                restore(s, &all[i]);
        }
    }
}

void tw_plan_parts(tw_schedule *s, const tw_compile_options *options)
{
    tw_parted *all = tw_alloc_array(s->arena, (size_t)s->step_count + 1, sizeof *all);
    const int count = find_parted(s, all);
    if (count == 0)
        return;
    tw_place_last(s);
    const uint64_t most = options->prefer == TW_PREFER_MEMORY ? tw_placed_bytes(s) : UINT64_MAX;
    for (int i = 0; i < count; i++) {
        keep(s, &all[i]);
        give_step(s, all[i].step, 1);
    }
    if (is_within(s, most))
        return;
    for (int i = 0; i < count; i++)
        restore(s, &all[i]);
    give_singly(s, all, count, most);
    tw_place_chosen(s);
}
