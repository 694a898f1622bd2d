/* Constants in fewer bytes, where there is room to unpack them. In: the plan that was chosen, placed. Out:
 * the same plan, some of its steps by kernels that read packed constants (tw_opdef.pack), placed again.
 *
 * What packing saves is flash, what it costs is fast memory and time. So it comes last: it never decides
 * what fits, what rolls or how, and with `--prefer memory` it takes only what is free at that moment. */
#include "plan/pack.h"

#include <stdlib.h>
#include <string.h>

#include "plan/settle.h"

typedef struct tw_packable {
    int step;
    int64_t saved; /* bytes of flash */
    tw_lowering plain, packed;
    tw_native_lowering *plain_native, *packed_native;
    uint64_t plain_work, packed_work;
} tw_packable;

static int64_t blob_bytes(const tw_lowering *l)
{
    int64_t bytes = 0;
    for (int i = 0; i < l->blob_count; i++)
        bytes += l->blob[i].bytes;
    return bytes;
}

static int64_t saved_bytes(const tw_packable *p, const tw_node *node)
{
    int64_t bytes = blob_bytes(&p->plain) - blob_bytes(&p->packed);
    for (int i = 0; i < node->in_count; i++)
        if (tw_is_unread(&p->packed, i) && !tw_is_unread(&p->plain, i))
            bytes += tw_shape_bytes(&node->in[i]->shape);
    return bytes;
}

/* Would a target have to give its own kernel up? */
static bool loses_native(const tw_schedule *s, const tw_step *plain, const tw_step *packed)
{
    for (int t = 1; t < s->target_count; t++)
        if (!plain->native[t - 1].why && packed->native[t - 1].why)
            return true;
    return false;
}

/* May its kernels be given blocks, where its segment goes by columns? */
static bool takes_blocks(const tw_schedule *s, const tw_step *packed)
{
    bool takes = packed->lowering.kernel->columns;
    for (int t = 1; t < s->target_count; t++) {
        const tw_kernel *native = packed->native[t - 1].lowering.kernel;
        takes = takes && (!native || native->columns);
    }
    return takes || !s->segments[packed->segment].columns;
}

/* Would the plan carry its constants twice, if one of the steps that have them packed them? */
static bool shares_constants(const tw_schedule *s, int index)
{
    const tw_node *node = tw_node_first(s->steps[index].node);
    int steps = 0;
    for (int i = 0; i < s->step_count; i++)
        steps += tw_node_first(s->steps[i].node) == node;
    return steps > 1;
}

/* Both lowerings of a step; false: there are not two. */
static bool find_packable(tw_schedule *s, int index, tw_packable *p)
{
    const tw_step *step = &s->steps[index];
    tw_step packed = *step;
    if (!step->node->op->pack || shares_constants(s, index))
        return false;
    step->node->op->pack(step->node, s->arena, &packed.lowering);
    if (packed.lowering.kernel == step->lowering.kernel)
        return false;
    tw_step_natives(s, &packed);
    *p = (tw_packable){.step = index,
                       .plain = step->lowering,
                       .packed = packed.lowering,
                       .plain_native = step->native,
                       .packed_native = packed.native,
                       .plain_work = step->work};
    p->saved = saved_bytes(p, step->node);
    return p->saved > 0 && !loses_native(s, step, &packed) && takes_blocks(s, &packed) &&
           tw_step_checks(s, step, &p->packed, &p->packed_work);
}

static void choose(tw_schedule *s, const tw_packable *p, bool packed)
{
    s->steps[p->step].lowering = packed ? p->packed : p->plain;
    s->steps[p->step].native = packed ? p->packed_native : p->plain_native;
    s->steps[p->step].work = packed ? p->packed_work : p->plain_work;
}

static int more_saved(const void *a, const void *b)
{
    const tw_packable *p = a, *q = b;
    return p->saved != q->saved ? (p->saved < q->saved ? 1 : -1)
                                : (p->step > q->step) - (p->step < q->step);
}

/* One after the other, what saves most first. */
static void pack_singly(tw_schedule *s, const tw_packable *all, int count, uint64_t most)
{
    enum { WORK = 1000 }; /* steps times tries */
    int tries = WORK / (s->step_count + 1) + 1;
    for (int i = 0; i < count; i++)
        choose(s, &all[i], false);
    for (int i = 0; i < count && i < tries; i++) {
        choose(s, &all[i], true);
        tw_place_chosen(s);
        choose(s, &all[i], tw_is_within(s) && tw_placed_bytes(s) <= most);
    }
}

void tw_plan_packed(tw_schedule *s, const tw_compile_options *options)
{
    if (options->prefer == TW_PREFER_SPEED)
        return;
    tw_packable *all = tw_alloc_array(s->arena, (size_t)s->step_count + 1, sizeof *all);
    int count = 0;
    for (int i = 0; i < s->step_count; i++)
        count += find_packable(s, i, &all[count]);
    if (count == 0)
        return;
    tw_place_last(s);
    uint64_t most = options->prefer == TW_PREFER_MEMORY ? tw_placed_bytes(s) : UINT64_MAX;
    qsort(all, (size_t)count, sizeof *all, more_saved);
    for (int i = 0; i < count; i++)
        choose(s, &all[i], true);
    tw_place_chosen(s);
    if (tw_is_within(s) && tw_placed_bytes(s) <= most)
        return;
    pack_singly(s, all, count, most);
    tw_place_chosen(s);
}
