/* The plan file: a schedule written as the structures of runtime/plan.h. In: a placed schedule.
 * Out: bytes that the loader accepts; the same schedule gives the same bytes on every machine. */
#include <stdlib.h>

#include "base/diag.h"
#include "emit/emit.h"
#include "emit/select.h"
#include "ops/cache.h"
#include "ops/codes.h"
#include "plan/control.h"

#define TW_COMPILER_VERSION (0u << 16 | 1u << 8 | 0u)

/* Elements of a constant or a table, and where among the constants they are. */
typedef struct tw_stored {
    const void *data;
    uint32_t bytes, offset;
} tw_stored;

typedef struct tw_writer {
    const tw_schedule *schedule;
    tw_arena *scratch;
    tw_bytes section[TW_SECTION_LIMIT];
    int *tensor_of_value;     /* by value->index: tensor index + 1, or 0 */
    int *stream_of_value;     /* by value->index: stream index in the segment + 1, or 0 */
    int64_t *constant_offset; /* by value->index: offset + 1 of a constant's bytes, or 0 */
    tw_stored *stored;        /* an open hash */
    int stored_count, stored_size;
    const char **tensor_names;
    int tensor_count, tensor_capacity;
    uint64_t work, most_work;
    tw_diag *diag;
} tw_writer;

static uint32_t append(tw_writer *w, int section, const void *data, uint32_t bytes)
{
    return tw_append(&w->section[section], data, bytes, 1);
}

/* Where the same data would be, or is: tables that several steps and targets have are stored once. */
static tw_stored *find_stored(const tw_writer *w, const void *data, uint32_t bytes)
{
    const uint32_t mask = (uint32_t)w->stored_size - 1;
    uint32_t at = (uint32_t)((uintptr_t)data / TW_PLAN_ALIGN * 2654435761u + bytes) & mask;
    while (w->stored[at].data && (w->stored[at].data != data || w->stored[at].bytes != bytes))
        at = (at + 1) & mask;
    return &w->stored[at];
}

static void grow_stored(tw_writer *w)
{
    tw_writer larger = *w;
    larger.stored_size = w->stored_size ? w->stored_size * 2 : 256;
    larger.stored = tw_alloc_array(w->scratch, (size_t)larger.stored_size, sizeof *larger.stored);
    for (int i = 0; i < w->stored_size; i++)
        if (w->stored[i].data)
            *find_stored(&larger, w->stored[i].data, w->stored[i].bytes) = w->stored[i];
    *w = larger;
}

static bool add_constant(tw_writer *w, const void *data, uint32_t bytes, uint32_t *offset)
{
    tw_bytes *constants = &w->section[TW_SECTION_CONSTANTS];
    if (w->stored_count * 2 >= w->stored_size)
        grow_stored(w);
    tw_stored *stored = bytes ? find_stored(w, data, bytes) : NULL;
    if (stored && stored->data) {
        *offset = stored->offset;
        return true;
    }
    if ((int64_t)constants->count + bytes > INT32_MAX / 2)
        return tw_fail(w->diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "the constants take more than 1 GB");
    *offset = tw_append(constants, data, bytes, TW_PLAN_ALIGN);
    if (stored) {
        *stored = (tw_stored){data, bytes, *offset};
        w->stored_count++;
    }
    return true;
}

static int add_tensor(tw_writer *w, const tw_tensor *tensor, const char *name)
{
    tw_grow(w->scratch, &w->tensor_names, w->tensor_count, &w->tensor_capacity,
            sizeof *w->tensor_names);
    w->tensor_names[w->tensor_count] = name;
    append(w, TW_SECTION_TENSORS, tensor, sizeof *tensor);
    return w->tensor_count++;
}

static bool place_tensor(tw_writer *w, const tw_value *v, tw_tensor *t)
{
    const tw_place *place = &w->schedule->places[v->index];
    if (place->buffer >= 0) {
        const tw_buffer *b = &w->schedule->buffers[place->buffer];
        t->region = (uint8_t)b->region;
        t->offset = b->offset + (uint32_t)place->offset;
        if (place->stride)
            memcpy(t->stride, place->stride, sizeof t->stride);
        return true;
    }
    const tw_value *root = place->root;
    if (!w->constant_offset[root->index]) {
        uint32_t offset = 0;
        if (!add_constant(w, root->data, tw_shape_bytes(&root->shape), &offset))
            return false;
        w->constant_offset[root->index] = (int64_t)offset + 1;
    }
    t->region = TW_REGION_CONSTANT;
    t->offset = (uint32_t)(w->constant_offset[root->index] - 1);
    return true;
}

/* The tensor index of a value. */
static bool value_tensor(tw_writer *w, const tw_value *v, uint32_t *index)
{
    if (!w->tensor_of_value[v->index]) {
        tw_tensor t = tw_tensor_of(v);
        if (!place_tensor(w, v, &t))
            return false;
        t.window = (uint32_t)w->schedule->windows[v->index].rows;
        w->tensor_of_value[v->index] = add_tensor(w, &t, v->name) + 1;
    }
    *index = (uint32_t)w->tensor_of_value[v->index] - 1;
    return true;
}

/* The tensor index of a step's input, which the kernel may want stored in another order. */
static bool input_tensor(tw_writer *w, const tw_step *step, int i, uint32_t *index)
{
    const tw_value *v = step->node->in[i];
    if (!step->lowering.stored[i].data)
        return value_tensor(w, v, index);
    tw_tensor t;
    const void *data = tw_lowered_input(step->node, &step->lowering, i, &t);
    if (!add_constant(w, data, tw_shape_bytes(&v->shape), &t.offset))
        return false;
    *index = (uint32_t)add_tensor(w, &t, v->name);
    return true;
}

static void put_rows(const tw_rowmap *map, tw_plan_operand *o)
{
    o->rows = (uint32_t)map->rows;
    if (map->rows == TW_ROWS_MAPPED) {
        o->num = map->num;
        o->den = map->den;
        o->off = map->off;
        o->off2 = map->off2;
    }
}

/* The index of a map of columns + 1. */
static uint32_t put_columns(tw_writer *w, const tw_rowmap *map)
{
    tw_plan_column c = {map->num, map->den, map->off, map->off2};
    append(w, TW_SECTION_COLUMNS, &c, sizeof c);
    return (uint32_t)w->section[TW_SECTION_COLUMNS].count / sizeof c;
}

static bool write_operands(tw_writer *w, const tw_step *step)
{
    const bool columns = w->schedule->segments[step->segment].columns;
    const tw_node *node = step->node;
    for (int i = 0; i < node->in_count + node->out_count; i++) {
        bool out = i >= node->in_count;
        const tw_value *v = out ? node->out[i - node->in_count] : node->in[i];
        tw_plan_operand o = {TW_ABSENT, TW_ABSENT, TW_ROWS_WHOLE, 1, 1, 0, 0, 0};
        if (v && (out || !tw_is_unread(&step->lowering, i))) {
            if (!(out ? value_tensor(w, v, &o.tensor) : input_tensor(w, step, i, &o.tensor)))
                return false;
            o.stream = (uint32_t)w->stream_of_value[v->index] - 1; /* none: TW_ABSENT */
            bool final = step->accumulates || (out && node->op->final_output &&
                                               node->op->final_output(node, i - node->in_count));
            if (out)
                o.rows = final ? TW_ROWS_FINAL : TW_ROWS_MAPPED;
            else
                put_rows(&step->map[i], &o);
            if (!out && columns && o.rows == TW_ROWS_MAPPED)
                o.column = put_columns(w, &step->column[i]);
        }
        append(w, TW_SECTION_OPERANDS, &o, sizeof o);
    }
    return true;
}

static uint32_t kernel_index(tw_writer *w, uint32_t id)
{
    const uint32_t *ids = (const uint32_t *)(const void *)w->section[TW_SECTION_KERNELS].data;
    uint32_t count = (uint32_t)w->section[TW_SECTION_KERNELS].count / 4;
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == id)
            return i;
    append(w, TW_SECTION_KERNELS, &id, sizeof id);
    return count;
}

static void put_buffer(const tw_schedule *s, int buffer, uint32_t bytes, uint32_t *offset,
                       uint32_t *size)
{
    *offset = buffer >= 0 ? s->buffers[buffer].offset : 0;
    *size = buffer >= 0 ? bytes : 0;
}

/* The tables of a lowering, in one of the sections for them. */
static bool write_blobs(tw_writer *w, const tw_lowering *l, int section)
{
    for (int i = 0; i < l->blob_count; i++) {
        tw_plan_blob b = {0, l->blob[i].bytes};
        if (!add_constant(w, l->blob[i].data, b.bytes, &b.offset))
            return false;
        append(w, section, &b, sizeof b);
    }
    return true;
}

static bool write_step(tw_writer *w, int index)
{
    const tw_step *step = &w->schedule->steps[index];
    const tw_lowering *l = &step->lowering;
    const tw_node *node = step->node;
    tw_plan_step p = {0};
    p.kernel = kernel_index(w, l->kernel->id);
    p.operator_code = node->op->code;
    p.first_operand = (uint32_t)w->section[TW_SECTION_OPERANDS].count / sizeof(tw_plan_operand);
    p.input_count = (uint16_t)node->in_count;
    p.output_count = (uint16_t)node->out_count;
    p.first_attribute = (uint32_t)w->section[TW_SECTION_ATTRIBUTES].count / 4;
    p.attribute_words = node->op->attribute_bytes / 4;
    p.first_blob = (uint32_t)w->section[TW_SECTION_BLOBS].count / sizeof(tw_plan_blob);
    p.blob_count = (uint32_t)l->blob_count;
    p.band = (uint32_t)step->band;
    put_buffer(w->schedule, step->scratch, l->scratch, &p.scratch_offset, &p.scratch_bytes);
    put_buffer(w->schedule, step->memory, l->memory, &p.memory_offset, &p.memory_bytes);
    p.clamp_low = l->clamp_low.bits;
    p.clamp_high = l->clamp_high.bits;
    p.again = (uint32_t)(tw_step_before(w->schedule, index) + 1);
    p.work = step->work;
    w->work += step->work;
    append(w, TW_SECTION_STEPS, &p, sizeof p);
    append(w, TW_SECTION_ATTRIBUTES, node->attributes, node->op->attribute_bytes);
    return write_blobs(w, l, TW_SECTION_BLOBS) && write_operands(w, step);
}

/* A stream of steps[0 .. count): its producer and who reads it there. */
static bool write_stream(tw_writer *w, const tw_step *steps, int count, const tw_value *v,
                         uint32_t producer, tw_plan_segment *p)
{
    const tw_value *over = w->schedule->windows[v->index].over;
    tw_plan_stream stream = {0, producer, 1, 0, TW_ABSENT};
    if (over)
        stream.over = (uint32_t)w->stream_of_value[over->index] - 1;
    for (int r = count - 1; r >= 0; r--)
        for (int in = 0; in < steps[r].node->in_count; in++)
            if (steps[r].node->in[in] == v) {
                stream.first_reader = (uint32_t)r;
                if (stream.last_reader < (uint32_t)r)
                    stream.last_reader = (uint32_t)r;
            }
    if (!value_tensor(w, v, &stream.tensor))
        return false;
    append(w, TW_SECTION_STREAMS, &stream, sizeof stream);
    w->stream_of_value[v->index] = (int)++p->stream_count;
    return true;
}

/* The streams of a segment: an input that comes by rows, and the outputs of its steps. */
static bool write_streams(tw_writer *w, const tw_segment *g, tw_plan_segment *p)
{
    const tw_step *steps = &w->schedule->steps[g->first_step];
    p->first_stream = (uint32_t)w->section[TW_SECTION_STREAMS].count / sizeof(tw_plan_stream);
    for (int i = 0; i < g->step_count; i++)
        for (int k = 0; k < steps[i].node->in_count; k++) {
            const tw_value *v = steps[i].node->in[k];
            if (!v || !v->is_input || !w->schedule->windows[v->index].rows ||
                w->stream_of_value[v->index])
                continue;
            p->source = p->stream_count;
            p->source_band = (uint32_t)g->source_band;
            if (!write_stream(w, steps, g->step_count, v, TW_ABSENT, p))
                return false;
        }
    for (int i = 0; i < g->step_count; i++)
        for (int k = 0; k < steps[i].node->out_count; k++)
            if (steps[i].node->out[k] &&
                !write_stream(w, steps, g->step_count, steps[i].node->out[k], (uint32_t)i, p))
                return false;
    return true;
}

static bool write_segment(tw_writer *w, const tw_segment *g)
{
    tw_plan_segment p = {(uint32_t)g->first_step,
                         (uint32_t)g->step_count,
                         0,
                         0,
                         (uint16_t)g->axis,
                         g->columns,
                         TW_ABSENT,
                         0,
                         w->schedule->buffers[g->counters].offset};
    const tw_step *steps = &w->schedule->steps[g->first_step];
    if (!write_streams(w, g, &p))
        return false;
    for (int i = 0; i < g->step_count; i++)
        if (!write_step(w, g->first_step + i))
            return false;
    for (int i = 0; i < g->step_count; i++)
        for (int k = 0; k < steps[i].node->out_count; k++)
            if (steps[i].node->out[k])
                w->stream_of_value[steps[i].node->out[k]->index] = 0;
    for (int i = 0; i < w->schedule->graph->input_count; i++)
        w->stream_of_value[w->schedule->graph->inputs[i]->index] = 0;
    append(w, TW_SECTION_SEGMENTS, &p, sizeof p);
    return true;
}

static bool write_states(tw_writer *w)
{
    const tw_graph *g = w->schedule->graph;
    for (int i = 0; i < g->state_count; i++) {
        tw_plan_state state = {0, TW_ABSENT};
        if (!value_tensor(w, g->states[i].current, &state.tensor))
            return false;
        if (g->states[i].initial &&
            !add_constant(w, g->states[i].initial, tw_shape_bytes(&g->states[i].current->shape),
                          &state.initial))
            return false;
        append(w, TW_SECTION_STATES, &state, sizeof state);
    }
    return true;
}

/* The state that an Advance moves on, or -1. */
static int advanced_state(const tw_graph *g, const tw_node *node)
{
    for (int i = 0; node->op->code == TW_OPCODE_advance && i < g->state_count; i++)
        if (node->in[0] == g->states[i].current && node->out[0] &&
            (g->states[i].next == node->out[0] ||
             (g->states[i].next && g->states[i].next->producer &&
              g->states[i].next->producer->op->code == TW_OPCODE_copy &&
              g->states[i].next->producer->in[0] == node->out[0])))
            return i;
    return -1;
}

static bool write_positions(tw_writer *w)
{
    const tw_graph *g = w->schedule->graph;
    for (int n = 0; n < g->node_count; n++) {
        const tw_node *node = g->nodes[n];
        const int state = advanced_state(g, node);
        if (state < 0)
            continue;
        const tw_advance_attributes *a = node->attributes;
        const tw_value *count = node->in_count > 1 ? node->in[1] : NULL;
        tw_plan_position p = {.state = (uint32_t)state,
                              .tokens = (uint32_t)a->tokens,
                              .count = TW_ABSENT,
                              .limit = (uint32_t)a->limit,
                              .kept = (uint32_t)a->kept,
                              .window = (uint32_t)(a->window < a->kept ? a->window : a->kept)};
        if (count && !count->is_input)
            continue; /* known only during the run: the kernel refuses what is too much */
        if (count && !value_tensor(w, count, &p.count))
            return false;
        append(w, TW_SECTION_POSITIONS, &p, sizeof p);
    }
    return true;
}

/* ---- targets: what other back ends change ---- */

/* The offset of a text among the reasons; each is there once. */
static uint32_t reason_offset(tw_writer *w, const char *why)
{
    const tw_bytes *all = &w->section[TW_SECTION_REASONS];
    for (uint32_t at = 0; at < (uint32_t)all->count; at += (uint32_t)strlen(all->data + at) + 1)
        if (strcmp(all->data + at, why) == 0)
            return at;
    return append(w, TW_SECTION_REASONS, why, (uint32_t)strlen(why) + 1);
}

static bool write_variant(tw_writer *w, int step, int target, tw_plan_target *p)
{
    const tw_step *planned = &w->schedule->steps[step];
    const tw_native_lowering *native = &planned->native[target - 1];
    const tw_lowering *l = &native->lowering;
    tw_plan_variant v = {.kernel = TW_ABSENT, .reason = TW_ABSENT};
    v.first_blob = (uint32_t)w->section[TW_SECTION_VARIANT_BLOBS].count / sizeof(tw_plan_blob);
    if (native->why || planned->joined) {
        v.reason = reason_offset(
            w, native->why ? native->why : "the parts lie in the whole already: nothing is moved");
        append(w, TW_SECTION_VARIANTS, &v, sizeof v);
        return true;
    }
    v.kernel = l->kernel->id;
    if (native->parts > 1)
        v.reason =
            reason_offset(w, tw_format(w->schedule->arena, "in up to %d parts, for want of scratch",
                                       native->parts));
    v.blob_count = (uint32_t)l->blob_count;
    v.unread = l->unread;
    v.clamp_low = l->clamp_low.bits;
    v.clamp_high = l->clamp_high.bits;
    v.scratch_bytes = l->scratch;
    v.memory_bytes = l->memory;
    p->natives++;
    if (l->scratch > p->scratch)
        p->scratch = l->scratch;
    append(w, TW_SECTION_VARIANTS, &v, sizeof v);
    return write_blobs(w, l, TW_SECTION_VARIANT_BLOBS);
}

static bool write_targets(tw_writer *w)
{
    for (int t = 1; t < w->schedule->target_count; t++) {
        const tw_target *target = &w->schedule->targets[t];
        tw_plan_target p = {target->number, target->cpus, 0, 0, 0, {0}, ""};
        p.first_variant =
            (uint32_t)w->section[TW_SECTION_VARIANTS].count / (uint32_t)sizeof(tw_plan_variant);
        memcpy(p.text, target->text, strlen(target->text)); /* shorter: tw_target_parse */
        for (int i = 0; i < w->schedule->step_count; i++)
            if (!write_variant(w, i, t, &p))
                return false;
        append(w, TW_SECTION_TARGETS, &p, sizeof p);
    }
    return true;
}

static bool write_io(tw_writer *w)
{
    const tw_graph *g = w->schedule->graph;
    uint32_t index;
    for (int i = 0; i < g->input_count; i++) {
        if (!value_tensor(w, g->inputs[i], &index))
            return false;
        append(w, TW_SECTION_INPUTS, &index, sizeof index);
    }
    for (int i = 0; i < g->output_count; i++) {
        if (!value_tensor(w, g->outputs[i], &index))
            return false;
        append(w, TW_SECTION_OUTPUTS, &index, sizeof index);
    }
    return true;
}

/* The segment that begins with a step, or the number of segments. */
static uint32_t segment_at(const tw_schedule *s, int step)
{
    return (uint32_t)(step < s->step_count ? s->steps[step].segment : s->segment_count);
}

/* How often a step may run: as often as every loop around it, and its condition once more. */
static uint64_t rounds_of(const tw_schedule *s, int step)
{
    uint64_t rounds = 1;
    for (int i = 0; i < s->control_count; i++) {
        const tw_control *e = &s->controls[i];
        const tw_control *round = e->kind == TW_CONTROL_LOOP ? &s->controls[e->partner] : NULL;
        if (!round || step < e->at || step >= s->controls[round->partner].at)
            continue;
        const uint64_t most = (uint64_t)round->most + 1;
        rounds = rounds > UINT64_MAX / most ? UINT64_MAX : rounds * most;
    }
    return rounds;
}

static bool add_most_work(tw_writer *w, int step)
{
    const uint64_t work = w->schedule->steps[step].work, rounds = rounds_of(w->schedule, step);
    if (rounds == UINT64_MAX || (work && rounds > (UINT64_MAX - w->most_work) / work))
        return tw_fail(w->diag, TW_CODE_FAILED, w->schedule->steps[step].node->name, NULL,
                       "loops inside each other may take more than 2^64 operations; allow them "
                       "fewer rounds with --loop-limit");
    w->most_work += work * rounds;
    return true;
}

static bool write_controls(tw_writer *w)
{
    const tw_schedule *s = w->schedule;
    for (int i = 0; i < s->control_count; i++) {
        const tw_control *e = &s->controls[i];
        const tw_control *loop = e->kind == TW_CONTROL_LOOP ? e
                                 : e->kind == TW_CONTROL_WHILE
                                     ? &s->controls[s->controls[e->partner].partner]
                                     : NULL;
        tw_plan_control p = {e->kind, segment_at(s, e->at), TW_ABSENT, TW_ABSENT, e->most, 0, {0}};
        if (e->partner >= 0)
            p.partner = (uint32_t)e->partner;
        if (loop)
            p.counter = s->buffers[loop->buffer].offset;
        if (e->value && !value_tensor(w, e->value, &p.tensor))
            return false;
        append(w, TW_SECTION_CONTROLS, &p, sizeof p);
    }
    for (int i = 0; i < s->step_count; i++)
        if (!add_most_work(w, i))
            return false;
    return true;
}

static void write_text(tw_writer *w, int section, const char *text)
{
    append(w, section, text ? text : "", (uint32_t)strlen(text ? text : "") + 1);
}

/* Zero-terminated texts: the model, inputs, outputs, steps, tensors, in the plan's order. */
static void write_names(tw_writer *w)
{
    const tw_graph *g = w->schedule->graph;
    write_text(w, TW_SECTION_NAMES, g->name);
    for (int i = 0; i < g->input_count; i++)
        write_text(w, TW_SECTION_NAMES, g->inputs[i]->name);
    for (int i = 0; i < g->output_count; i++)
        write_text(w, TW_SECTION_NAMES, g->outputs[i]->name);
    for (int i = 0; i < w->schedule->step_count; i++)
        write_text(w, TW_SECTION_NAMES, w->schedule->steps[i].node->name);
    for (int i = 0; i < w->tensor_count; i++)
        write_text(w, TW_SECTION_NAMES, w->tensor_names[i]);
}

static void fill_header(const tw_writer *w, const tw_origin *origin, tw_plan_header *h)
{
    const tw_schedule *s = w->schedule;
    h->magic = TW_PLAN_MAGIC;
    h->major = TW_PLAN_MAJOR;
    h->minor = TW_PLAN_MINOR;
    for (int r = 1; r < TW_MAX_REGIONS; r++)
        h->region_bytes[r] = s->region_bytes[r];
    h->activations = s->activations;
    h->scratch = s->scratch;
    h->state = s->state;
    h->context = s->context;
    h->slow = s->region_bytes[TW_REGION_SLOW];
    h->work = w->work;
    h->most_work = w->most_work;
    memcpy(h->source_sha256, origin->sha256, sizeof h->source_sha256);
    h->compiler_version = TW_COMPILER_VERSION;
}

static bool assemble(tw_writer *w, const tw_origin *origin, const void **plan, uint32_t *bytes)
{
    tw_plan_header header;
    memset(&header, 0, sizeof header);
    fill_header(w, origin, &header);
    return tw_assemble_plan(w->schedule->arena, &header, w->section, plan, bytes, w->diag);
}

bool tw_emit_plan(const tw_schedule *schedule, const tw_origin *origin, const void **plan,
                  uint32_t *bytes, tw_diag *diag)
{
    tw_writer w = {.schedule = schedule, .scratch = tw_arena_new(), .diag = diag};
    size_t values = (size_t)schedule->graph->value_count + 1;
    for (int k = 0; k < TW_SECTION_LIMIT; k++)
        w.section[k].arena = w.scratch;
    w.tensor_of_value = tw_alloc_array(w.scratch, values, sizeof *w.tensor_of_value);
    w.stream_of_value = tw_alloc_array(w.scratch, values, sizeof *w.stream_of_value);
    w.constant_offset = tw_alloc_array(w.scratch, values, sizeof *w.constant_offset);
    bool ok = true;
    for (int i = 0; ok && i < schedule->segment_count; i++)
        ok = write_segment(&w, &schedule->segments[i]);
    ok = ok && write_targets(&w) && write_io(&w) && write_states(&w) && write_controls(&w) &&
         write_positions(&w);
    if (ok && !origin->strip) {
        write_names(&w);
        write_text(&w, TW_SECTION_ORIGIN, origin->format);
        write_text(&w, TW_SECTION_ORIGIN, origin->options);
    }
    ok = ok && assemble(&w, origin, plan, bytes);
    tw_arena_free(w.scratch);
    return ok;
}
