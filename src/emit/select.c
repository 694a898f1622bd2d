/* The plan of one target out of a plan that serves several. In: a loaded plan, whose sections for targets
 * nobody has verified yet. Out: a plan that knows one back end, with the constants that it reads and no
 * others; the loader verifies it like any. */
#include <stdlib.h>

#include "base/diag.h"
#include "emit/select.h"
#include "runtime/kernel.h"

/* Bytes of the constants that something reads, and where they go. */
typedef struct tw_range {
    uint32_t from, bytes, to;
} tw_range;

typedef struct tw_selection {
    tw_arena *arena;
    const tw_model *model;
    const tw_plan_target *target;
    tw_bytes section[TW_SECTION_LIMIT];
    tw_plan_step *steps;
    tw_plan_operand *operands;
    uint32_t *tensor_to; /* by index: the new one + 1, or 0: nothing refers to it */
    tw_range *ranges;
    int range_count, range_capacity;
    tw_diag *diag;
} tw_selection;

/* ---- reading ---- */

const void *tw_plan_items(const tw_model *model, uint32_t kind, uint32_t item, uint32_t *count)
{
    const tw_plan_section *s = (const void *)(model->header + 1);
    *count = 0;
    for (uint32_t i = 0; i < model->header->section_count; i++)
        if (s[i].kind == kind) {
            *count = s[i].bytes / item;
            return model->plan + s[i].offset;
        }
    return NULL;
}

const tw_plan_variant *tw_plan_variant_of(const tw_model *model, const tw_plan_target *target,
                                          uint32_t step)
{
    uint32_t count;
    const tw_plan_variant *v =
        tw_plan_items(model, TW_SECTION_VARIANTS, sizeof(tw_plan_variant), &count);
    if (target->first_variant > count || step >= count - target->first_variant)
        return NULL;
    return &v[target->first_variant + step];
}

const char *tw_plan_reason(const tw_model *model, const tw_plan_variant *variant)
{
    uint32_t count;
    const char *text = tw_plan_items(model, TW_SECTION_REASONS, 1, &count);
    if (variant->reason >= count || !memchr(text + variant->reason, 0, count - variant->reason))
        return "";
    return text + variant->reason;
}

static bool damaged(tw_selection *s)
{
    return tw_fail(s->diag, TW_CODE_FAILED, NULL, NULL,
                   "what the plan says of back end %.31s is damaged; compile the model again",
                   s->target->text);
}

/* The variant of a step and its tables, verified; `*variant` null: the portable kernel runs it. */
static bool find_variant(tw_selection *s, uint32_t step, const tw_plan_variant **variant,
                         const tw_plan_blob **blobs)
{
    const tw_plan_step *planned = &s->model->steps[step];
    uint32_t count;
    const tw_plan_blob *all =
        tw_plan_items(s->model, TW_SECTION_VARIANT_BLOBS, sizeof(tw_plan_blob), &count);
    const tw_plan_variant *v = tw_plan_variant_of(s->model, s->target, step);
    if (!v)
        return damaged(s);
    *variant = v->kernel == TW_ABSENT ? NULL : v;
    if (!*variant)
        return true;
    if (v->first_blob > count || v->blob_count > count - v->first_blob ||
        v->blob_count > TW_MAX_BLOBS || v->scratch_bytes > planned->scratch_bytes ||
        v->memory_bytes > planned->memory_bytes)
        return damaged(s);
    *blobs = all + v->first_blob;
    return true;
}

/* ---- steps ---- */

static void append(tw_selection *s, int section, const void *data, uint32_t bytes)
{
    tw_append(&s->section[section], data, bytes, 1);
}

static uint32_t kernel_index(tw_selection *s, uint32_t id)
{
    const uint32_t *ids = (const void *)s->section[TW_SECTION_KERNELS].data;
    const uint32_t count = (uint32_t)s->section[TW_SECTION_KERNELS].count / 4u;
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == id)
            return i;
    append(s, TW_SECTION_KERNELS, &id, sizeof id);
    return count;
}

static void drop_unread(tw_selection *s, const tw_plan_step *step, uint32_t unread)
{
    for (uint32_t i = 0; i < step->input_count && i < 32; i++) {
        tw_plan_operand *o = &s->operands[step->first_operand + i];
        if ((unread >> i & 1u) && o->tensor != TW_ABSENT && o->stream == TW_ABSENT)
            *o = (tw_plan_operand){TW_ABSENT, TW_ABSENT, TW_ROWS_WHOLE, 1, 1, 0, 0, 0};
    }
}

static bool select_step(tw_selection *s, uint32_t index)
{
    const tw_model *m = s->model;
    tw_plan_step *step = &s->steps[index];
    const tw_plan_variant *v = NULL;
    const tw_plan_blob *blobs = m->blobs + step->first_blob;
    if (s->target && !find_variant(s, index, &v, &blobs))
        return false;
    step->kernel = kernel_index(s, v ? v->kernel : m->kernels[step->kernel]->id);
    step->first_blob = (uint32_t)s->section[TW_SECTION_BLOBS].count / sizeof(tw_plan_blob);
    if (v) {
        step->blob_count = v->blob_count;
        step->clamp_low = v->clamp_low;
        step->clamp_high = v->clamp_high;
        step->scratch_bytes = v->scratch_bytes;
        step->memory_bytes = v->memory_bytes;
        drop_unread(s, step, v->unread);
    }
    append(s, TW_SECTION_BLOBS, blobs, step->blob_count * (uint32_t)sizeof *blobs);
    return true;
}

/* ---- tensors ---- */

static void keep_tensor(tw_selection *s, uint32_t tensor)
{
    if (tensor != TW_ABSENT)
        s->tensor_to[tensor] = 1;
}

/* Number those that something refers to. */
static void number_tensors(tw_selection *s)
{
    const tw_model *m = s->model;
    uint32_t next = 0;
    for (uint32_t i = 0; i < m->operand_count; i++)
        keep_tensor(s, s->operands[i].tensor);
    for (uint32_t i = 0; i < m->stream_count; i++)
        keep_tensor(s, m->streams[i].tensor);
    for (uint32_t i = 0; i < m->input_count; i++)
        keep_tensor(s, m->inputs[i]);
    for (uint32_t i = 0; i < m->output_count; i++)
        keep_tensor(s, m->outputs[i]);
    for (uint32_t i = 0; i < m->state_count; i++)
        keep_tensor(s, m->states[i].tensor);
    for (uint32_t i = 0; i < m->control_count; i++)
        keep_tensor(s, m->controls[i].tensor);
    for (uint32_t i = 0; i < m->tensor_count; i++)
        if (s->tensor_to[i])
            s->tensor_to[i] = ++next;
}

static uint32_t renumbered(const tw_selection *s, uint32_t tensor)
{
    return tensor == TW_ABSENT ? TW_ABSENT : s->tensor_to[tensor] - 1;
}

/* ---- constants ---- */

static void need(tw_selection *s, uint32_t from, uint32_t bytes)
{
    tw_grow(s->arena, &s->ranges, s->range_count, &s->range_capacity, sizeof *s->ranges);
    s->ranges[s->range_count++] = (tw_range){from, bytes, 0};
}

static int by_offset(const void *a, const void *b)
{
    const tw_range *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Copy what is needed, overlapping ranges as one, each piece at the alignment that it had. */
static void pack_constants(tw_selection *s)
{
    const uint32_t mask = TW_PLAN_ALIGN - 1;
    int count = 0;
    if (s->range_count)
        qsort(s->ranges, (size_t)s->range_count, sizeof *s->ranges, by_offset);
    for (int i = 0; i < s->range_count; i++) {
        tw_range *last = count ? &s->ranges[count - 1] : NULL;
        const uint32_t start = s->ranges[i].from & ~mask;
        const uint32_t end = s->ranges[i].from + s->ranges[i].bytes;
        if (last && start < last->from + last->bytes) {
            if (end > last->from + last->bytes)
                last->bytes = end - last->from;
        } else {
            s->ranges[count++] = (tw_range){start, end - start, 0};
        }
    }
    s->range_count = count;
    for (int i = 0; i < count; i++)
        s->ranges[i].to =
            tw_append(&s->section[TW_SECTION_CONSTANTS], s->model->constants + s->ranges[i].from,
                      s->ranges[i].bytes, TW_PLAN_ALIGN);
}

static uint32_t moved(const tw_selection *s, uint32_t offset)
{
    for (int i = 0; i < s->range_count; i++)
        if (offset >= s->ranges[i].from && offset - s->ranges[i].from <= s->ranges[i].bytes)
            return s->ranges[i].to + (offset - s->ranges[i].from);
    return 0;
}

/* Tables may be anything in a plan whose loader has not seen them. */
static bool need_blobs(tw_selection *s)
{
    const tw_plan_blob *blobs = (const void *)s->section[TW_SECTION_BLOBS].data;
    const uint32_t count = (uint32_t)s->section[TW_SECTION_BLOBS].count / sizeof *blobs;
    const uint32_t limit = s->model->constants_bytes;
    for (uint32_t i = 0; i < count; i++) {
        if (blobs[i].offset % TW_PLAN_ALIGN || blobs[i].offset > limit ||
            blobs[i].bytes > limit - blobs[i].offset)
            return damaged(s);
        need(s, blobs[i].offset, blobs[i].bytes);
    }
    return true;
}

static bool select_constants(tw_selection *s)
{
    const tw_model *m = s->model;
    if (!need_blobs(s))
        return false;
    for (uint32_t i = 0; i < m->tensor_count; i++)
        if (s->tensor_to[i] && m->tensors[i].region == TW_REGION_CONSTANT)
            need(s, m->tensors[i].offset, tw_tensor_bytes(&m->tensors[i]));
    for (uint32_t i = 0; i < m->state_count; i++)
        if (m->states[i].initial != TW_ABSENT)
            need(s, m->states[i].initial, tw_tensor_bytes(&m->tensors[m->states[i].tensor]));
    pack_constants(s);
    return true;
}

/* ---- writing ---- */

static void write_tensors(tw_selection *s)
{
    for (uint32_t i = 0; i < s->model->tensor_count; i++) {
        tw_tensor t = s->model->tensors[i];
        if (!s->tensor_to[i])
            continue;
        if (t.region == TW_REGION_CONSTANT)
            t.offset = moved(s, t.offset);
        append(s, TW_SECTION_TENSORS, &t, sizeof t);
    }
}

static void write_references(tw_selection *s)
{
    const tw_model *m = s->model;
    tw_plan_blob *blobs = (void *)s->section[TW_SECTION_BLOBS].data;
    const uint32_t blob_count = (uint32_t)s->section[TW_SECTION_BLOBS].count / sizeof *blobs;
    for (uint32_t i = 0; i < blob_count; i++)
        blobs[i].offset = moved(s, blobs[i].offset);
    for (uint32_t i = 0; i < m->operand_count; i++) {
        tw_plan_operand o = s->operands[i];
        o.tensor = renumbered(s, o.tensor);
        append(s, TW_SECTION_OPERANDS, &o, sizeof o);
    }
    for (uint32_t i = 0; i < m->stream_count; i++) {
        tw_plan_stream stream = m->streams[i];
        stream.tensor = renumbered(s, stream.tensor);
        append(s, TW_SECTION_STREAMS, &stream, sizeof stream);
    }
    for (uint32_t i = 0; i < m->input_count + m->output_count; i++) {
        const bool out = i >= m->input_count;
        const uint32_t t = renumbered(s, out ? m->outputs[i - m->input_count] : m->inputs[i]);
        append(s, out ? TW_SECTION_OUTPUTS : TW_SECTION_INPUTS, &t, sizeof t);
    }
    for (uint32_t i = 0; i < m->state_count; i++) {
        tw_plan_state state = m->states[i];
        state.tensor = renumbered(s, state.tensor);
        if (state.initial != TW_ABSENT)
            state.initial = moved(s, state.initial);
        append(s, TW_SECTION_STATES, &state, sizeof state);
    }
    for (uint32_t i = 0; i < m->position_count; i++) {
        tw_plan_position position = m->positions[i];
        if (position.count != TW_ABSENT)
            position.count = renumbered(s, position.count);
        append(s, TW_SECTION_POSITIONS, &position, sizeof position);
    }
    for (uint32_t i = 0; i < m->control_count; i++) {
        tw_plan_control control = m->controls[i];
        control.tensor = renumbered(s, control.tensor);
        append(s, TW_SECTION_CONTROLS, &control, sizeof control);
    }
}

/* As they are but for the names of tensors that are no more. */
static void write_names(tw_selection *s)
{
    const tw_model *m = s->model;
    uint32_t bytes;
    const char *at = tw_plan_items(m, TW_SECTION_NAMES, 1, &bytes), *end = at ? at + bytes : at;
    const uint32_t before = 1 + m->input_count + m->output_count + m->step_count;
    for (uint32_t i = 0; at < end && i < before + m->tensor_count; i++) {
        const char *zero = memchr(at, 0, (size_t)(end - at));
        if (!zero)
            return;
        if (i < before || s->tensor_to[i - before])
            append(s, TW_SECTION_NAMES, at, (uint32_t)(zero - at) + 1);
        at = zero + 1;
    }
}

static void write_unchanged(tw_selection *s)
{
    static const uint32_t kinds[] = {TW_SECTION_SEGMENTS, TW_SECTION_ATTRIBUTES, TW_SECTION_ORIGIN};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint32_t bytes;
        const void *data = tw_plan_items(s->model, kinds[i], 1, &bytes);
        append(s, (int)kinds[i], data, bytes);
    }
}

bool tw_select_plan(tw_arena *arena, const tw_model *model, const tw_plan_target *target,
                    const void **plan, uint32_t *bytes, tw_diag *diag)
{
    tw_selection s = {.arena = arena, .model = model, .target = target, .diag = diag};
    tw_plan_header header = *model->header;
    for (int k = 0; k < TW_SECTION_LIMIT; k++)
        s.section[k].arena = arena;
    s.steps = tw_copy(arena, model->steps, model->step_count * sizeof *s.steps);
    s.operands = tw_copy(arena, model->operands, model->operand_count * sizeof *s.operands);
    s.tensor_to = tw_alloc_array(arena, (size_t)model->tensor_count + 1, sizeof *s.tensor_to);
    for (uint32_t i = 0; i < model->step_count; i++)
        if (!select_step(&s, i))
            return false;
    append(&s, TW_SECTION_STEPS, s.steps, model->step_count * (uint32_t)sizeof *s.steps);
    number_tensors(&s);
    if (!select_constants(&s))
        return false;
    write_tensors(&s);
    write_references(&s);
    write_names(&s);
    write_unchanged(&s);
    return tw_assemble_plan(arena, &header, s.section, plan, bytes, diag);
}
