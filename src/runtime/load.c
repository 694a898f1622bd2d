/* Loading: a plan's bytes are verified once, completely, so that running needs no further checks
 * than the row comparisons of run.c. In: bytes that may say anything. Out: a tw_model, or the first
 * reason to refuse. Nothing here trusts a field before it has been compared with a bound. */
#include "runtime/parts.h"

typedef struct tw_loader {
    tw_model *model;
    uint32_t bytes;
    const tw_plan_section *directory;
    const tw_plan_section *section[TW_SECTION_LIMIT];
    uint64_t work, most_work;
    tw_nesting nesting; /* the branches and loops around the segment in hand */
} tw_loader;

static uint32_t align_up(uint32_t n)
{
    return (n + (TW_PLAN_ALIGN - 1u)) & ~(TW_PLAN_ALIGN - 1u);
}

/* [offset, offset + bytes) lies inside a region of `size` bytes. */
static int in_range(uint32_t offset, uint32_t bytes, uint32_t size)
{
    return offset <= size && bytes <= size - offset;
}

static tw_status check_header(tw_loader *l)
{
    const uint8_t *plan = l->model->plan;
    const tw_plan_header *h = l->model->header;
    static const uint8_t zero[4] = {0, 0, 0, 0};
    const uint32_t crc_at = (uint32_t)offsetof(tw_plan_header, crc);
    uint32_t head, crc, i;
    if (l->bytes < sizeof *h)
        return TW_E_TRUNCATED;
    if (h->magic != TW_PLAN_MAGIC)
        return TW_E_MAGIC;
    if (h->major != TW_PLAN_MAJOR || h->minor > TW_PLAN_MINOR)
        return TW_E_VERSION;
    if (h->bytes != l->bytes)
        return TW_E_TRUNCATED;
    if (h->section_count >= TW_SECTION_LIMIT)
        return TW_E_FORMAT;
    head = (uint32_t)(sizeof *h + h->section_count * sizeof(tw_plan_section));
    if (head > l->bytes)
        return TW_E_TRUNCATED;
    crc = tw_crc32(0, plan, crc_at);
    crc = tw_crc32(crc, zero, 4);
    crc = tw_crc32(crc, plan + crc_at + 4, head - crc_at - 4);
    if (crc != h->crc)
        return TW_E_CHECKSUM;
    for (i = 0; i < sizeof h->reserved / sizeof *h->reserved; i++)
        if (h->reserved[i] != 0)
            return TW_E_FORMAT;
    return h->reserved0 == 0 ? TW_OK : TW_E_FORMAT;
}

/* Sections ascend in kind, follow each other without gaps and end with the file. */
static tw_status check_sections(tw_loader *l)
{
    const tw_plan_header *h = l->model->header;
    uint32_t at = (uint32_t)(sizeof *h + h->section_count * sizeof(tw_plan_section));
    uint32_t kind = 0, i, k;
    for (i = 0; i < h->section_count; i++) {
        const tw_plan_section *s = &l->directory[i];
        uint32_t end;
        if (s->kind <= kind || s->kind >= TW_SECTION_LIMIT || s->offset != at ||
            !in_range(s->offset, s->bytes, l->bytes))
            return TW_E_FORMAT;
        end = align_up(s->offset + s->bytes);
        if (end < s->offset || end > l->bytes)
            return TW_E_FORMAT;
        if (tw_crc32(0, l->model->plan + at, end - at) != s->crc)
            return TW_E_CHECKSUM;
        for (k = s->offset + s->bytes; k < end; k++)
            if (l->model->plan[k] != 0)
                return TW_E_FORMAT;
        kind = s->kind;
        l->section[kind] = s;
        at = end;
    }
    return at == l->bytes ? TW_OK : TW_E_FORMAT;
}

static const void *section_items(const tw_loader *l, uint32_t kind, uint32_t item, uint32_t *count)
{
    const tw_plan_section *s = l->section[kind];
    *count = s ? s->bytes / item : 0;
    return l->model->plan + (s ? s->offset : 0); /* not NULL, to which nothing can be added */
}

static tw_status find_sections(tw_loader *l)
{
    static const uint32_t item_bytes[TW_SECTION_LIMIT] = {0,
#define TW_ITEM_BYTES(name, value, type) sizeof(type),
                                                          TW_PLAN_SECTION_LIST(TW_ITEM_BYTES)
#undef TW_ITEM_BYTES
    };
    tw_model *m = l->model;
    uint32_t kind;
    for (kind = 1; kind < TW_SECTION_LIMIT; kind++)
        if (l->section[kind] && l->section[kind]->bytes % item_bytes[kind] != 0)
            return TW_E_FORMAT;
#define TW_FIND(field, count, kind, type)                                                          \
    m->field = (const type *)section_items(l, kind, (uint32_t)sizeof(type), &m->count)
    TW_FIND(tensors, tensor_count, TW_SECTION_TENSORS, tw_tensor);
    TW_FIND(segments, segment_count, TW_SECTION_SEGMENTS, tw_plan_segment);
    TW_FIND(steps, step_count, TW_SECTION_STEPS, tw_plan_step);
    TW_FIND(operands, operand_count, TW_SECTION_OPERANDS, tw_plan_operand);
    TW_FIND(streams, stream_count, TW_SECTION_STREAMS, tw_plan_stream);
    TW_FIND(attributes, attribute_words, TW_SECTION_ATTRIBUTES, uint32_t);
    TW_FIND(blobs, blob_count, TW_SECTION_BLOBS, tw_plan_blob);
    TW_FIND(inputs, input_count, TW_SECTION_INPUTS, uint32_t);
    TW_FIND(outputs, output_count, TW_SECTION_OUTPUTS, uint32_t);
    TW_FIND(constants, constants_bytes, TW_SECTION_CONSTANTS, uint8_t);
    TW_FIND(states, state_count, TW_SECTION_STATES, tw_plan_state);
    TW_FIND(controls, control_count, TW_SECTION_CONTROLS, tw_plan_control);
    TW_FIND(columns, column_count, TW_SECTION_COLUMNS, tw_plan_column);
    TW_FIND(positions, position_count, TW_SECTION_POSITIONS, tw_plan_position);
#undef TW_FIND
    return TW_OK;
}

/* What the header announces must follow from what the plan holds. */
static tw_status check_announced(const tw_loader *l)
{
    const tw_plan_header *h = l->model->header;
    const uint32_t fast = h->region_bytes[TW_REGION_FAST];
    uint32_t i;
    for (i = 0; i < TW_MAX_REGIONS; i++)
        if (h->region_bytes[i] > (uint32_t)INT32_MAX)
            return TW_E_FORMAT;
    if (h->region_bytes[TW_REGION_CONSTANT] != 0 || h->state != h->region_bytes[TW_REGION_STATE] ||
        h->slow != h->region_bytes[TW_REGION_SLOW] || h->context < (uint32_t)sizeof(tw_context) ||
        (uint64_t)h->activations + h->scratch + h->context !=
            (uint64_t)fast + h->slow + sizeof(tw_context))
        return TW_E_FORMAT;
    return TW_OK;
}

static tw_status check_kernels(const tw_loader *l, uint32_t kernel_count)
{
    uint32_t count, i;
    const uint32_t *ids =
        (const uint32_t *)section_items(l, TW_SECTION_KERNELS, sizeof(uint32_t), &count);
    if (count != kernel_count)
        return TW_E_KERNEL;
    for (i = 0; i < count; i++)
        if (!l->model->kernels[i] || l->model->kernels[i]->id != ids[i] ||
            !l->model->kernels[i]->check)
            return TW_E_KERNEL;
    return TW_OK;
}

/* What the plan asks of the runtime is there. */
static tw_status check_parts(const tw_model *m)
{
    const tw_parts *parts = m->parts;
    int columns = 0, ends = 0;
    uint32_t i;
    for (i = 0; i < m->segment_count; i++) {
        columns |= m->segments[i].columns != 0;
        ends |= m->segments[i].source != TW_ABSENT;
    }
    for (i = 0; i < m->output_count; i++)
        ends |= m->outputs[i] < m->tensor_count && m->tensors[m->outputs[i]].window != 0;
    return (columns && !parts->columns) || (ends && !parts->ends) ||
                   (m->control_count != 0 && !parts->controls) ||
                   (m->position_count != 0 && !parts->positions)
               ? TW_E_KERNEL
               : TW_OK;
}

/* Bytes of a region; constants are the plan's own section. */
static uint32_t region_size(const tw_model *m, uint32_t region)
{
    return region == TW_REGION_CONSTANT ? m->constants_bytes : m->header->region_bytes[region];
}

/* Extent of axis i as far as it is in memory: a window shortens what its segment counts. */
static uint32_t present(const tw_tensor *t, const tw_plan_segment *g, uint32_t i)
{
    const uint32_t rows = (uint32_t)t->dim[i];
    if (!g || t->window == 0)
        return rows;
    if (g->columns != 0 && (i == g->axis || i == g->axis + 1u)) {
        const uint64_t pixels =
            (uint64_t)(uint32_t)tw_extent(t, g->axis) * (uint32_t)tw_extent(t, g->axis + 1u);
        return i == g->axis ? 1 : t->window < pixels ? t->window : (uint32_t)pixels;
    }
    return g->columns == 0 && i == g->axis && t->window < rows ? t->window : rows;
}

/* Shape, strides and place of one tensor; of one with a window, in its segment. */
static tw_status check_tensor(const tw_model *m, const tw_tensor *t, const tw_plan_segment *g,
                              uint32_t *bytes)
{
    const uint32_t element = tw_dtype_bytes(t->dtype);
    uint64_t span = 1, count = 1;
    uint32_t i;
    if (element == 0 || t->rank > TW_MAX_RANK || t->region >= TW_MAX_REGIONS || t->reserved0 != 0 ||
        t->reserved1 != 0 || t->offset % element != 0)
        return TW_E_FORMAT;
    for (i = 0; i < TW_MAX_RANK; i++) {
        uint32_t rows = (uint32_t)t->dim[i];
        if (t->dim[i] < 0 || t->stride[i] < 0 ||
            (i >= t->rank && (t->dim[i] != 1 || t->stride[i] != 0)))
            return TW_E_FORMAT;
        count *= rows;
        if (count > (uint64_t)INT32_MAX)
            return TW_E_FORMAT;
        rows = present(t, g, i);
        if (rows > 1)
            span += (uint64_t)(rows - 1u) * (uint32_t)t->stride[i];
        if (span > (uint64_t)INT32_MAX)
            return TW_E_FORMAT;
    }
    if (count == 0)
        span = 0;
    if (span * element > (uint64_t)INT32_MAX ||
        !in_range(t->offset, (uint32_t)(span * element), region_size(m, t->region)))
        return TW_E_FORMAT;
    /* Scales and zero points are arithmetic, not addresses, but NaN and infinity are no scales. */
    if (!(t->scale >= 0.0f && t->scale <= 3.4e38f))
        return TW_E_FORMAT;
    *bytes = (uint32_t)(span * element);
    return TW_OK;
}

static tw_status check_tensors(const tw_loader *l)
{
    const tw_model *m = l->model;
    uint32_t i;
    for (i = 0; i < m->tensor_count; i++) {
        /* Windowed tensors are checked with their streams; without one they have no meaning. */
        if (m->tensors[i].window == 0) {
            uint32_t bytes;
            tw_status status = check_tensor(m, &m->tensors[i], NULL, &bytes);
            if (status != TW_OK)
                return status;
        }
    }
    return TW_OK;
}

/* These bytes of the fast arena lie beside the rounds of all loops around. */
static int spares_rounds(const tw_loader *l, uint32_t offset, uint32_t bytes)
{
    return l->nesting.depth == 0 || l->model->parts->controls->spares(&l->nesting, offset, bytes);
}

/* Nothing that a segment writes lies over its row counters, or over the rounds of a loop around it: the
 * execution would lose its way. */
static int spares_counters(const tw_loader *l, const tw_plan_segment *g, uint32_t offset,
                           uint32_t bytes)
{
    const uint32_t counters = 8u * (g->step_count + g->stream_count);
    return (bytes == 0 || offset >= g->counters + counters || g->counters >= offset + bytes) &&
           spares_rounds(l, offset, bytes);
}

static int is_model_output(const tw_model *m, uint32_t tensor)
{
    uint32_t i;
    for (i = 0; i < m->output_count; i++)
        if (m->outputs[i] == tensor)
            return 1;
    return 0;
}

static tw_status check_stream(const tw_loader *l, const tw_plan_segment *segment, uint32_t index)
{
    const tw_model *m = l->model;
    const tw_plan_stream *s = &m->streams[segment->first_stream + index];
    const tw_tensor *t;
    tw_status status;
    uint32_t bytes;
    if (s->tensor >= m->tensor_count)
        return TW_E_FORMAT;
    t = &m->tensors[s->tensor];
    status = check_tensor(m, t, segment, &bytes);
    if (status != TW_OK)
        return status;
    /* Rows of other streams matter to operands that map them, and are checked there. */
    if (t->region == TW_REGION_CONSTANT ||
        ((t->window != 0 || s->producer == TW_ABSENT) && !tw_rows_are_slices(t, segment->axis)) ||
        (t->window != 0 && (segment->axis >= t->rank || !tw_is_dense(t))))
        return TW_E_FORMAT;
    if (segment->columns != 0 && t->window != 0 &&
        (!m->parts->columns->has_pixels(t, segment) || is_model_output(m, s->tensor)))
        return TW_E_FORMAT;
    if (s->producer == TW_ABSENT ? segment->source != index || t->window == 0
                                 : s->producer >= segment->step_count)
        return TW_E_FORMAT;
    if (s->first_reader <= s->last_reader && s->last_reader >= segment->step_count)
        return TW_E_FORMAT;
    if (s->over != TW_ABSENT) {
        const tw_plan_stream *leader;
        if (s->over >= index)
            return TW_E_FORMAT;
        leader = &m->streams[segment->first_stream + s->over]; /* checked before */
        if (leader->over != TW_ABSENT || m->tensors[leader->tensor].window != t->window ||
            t->window == 0)
            return TW_E_FORMAT;
    }
    return t->region != TW_REGION_FAST || spares_counters(l, segment, t->offset, bytes)
               ? TW_OK
               : TW_E_FORMAT;
}

static tw_status check_operand(const tw_model *m, const tw_plan_segment *segment, uint32_t step,
                               const tw_plan_operand *o, int is_output)
{
    const tw_tensor *t;
    if (o->column != 0 && (segment->columns == 0 || o->tensor == TW_ABSENT))
        return TW_E_FORMAT;
    if (o->tensor == TW_ABSENT)
        return o->stream == TW_ABSENT ? TW_OK : TW_E_FORMAT;
    if (o->tensor >= m->tensor_count || o->rows > TW_ROWS_FINAL)
        return TW_E_FORMAT;
    if (!tw_is_map(o->num, o->den, o->off, o->off2) ||
        (segment->columns != 0 &&
         m->parts->columns->check(m, segment, step, o, is_output) != TW_OK))
        return TW_E_FORMAT;
    t = &m->tensors[o->tensor];
    if (o->rows != TW_ROWS_WHOLE && o->rows != TW_ROWS_FINAL &&
        (!tw_rows_are_slices(t, segment->axis) || (segment->axis >= t->rank && t->rank != 0)))
        return TW_E_FORMAT;
    if (o->stream == TW_ABSENT)
        return is_output || t->window != 0 ? TW_E_FORMAT : TW_OK;
    if (o->stream >= segment->stream_count ||
        m->streams[segment->first_stream + o->stream].tensor != o->tensor)
        return TW_E_FORMAT;
    {
        const tw_plan_stream *s = &m->streams[segment->first_stream + o->stream];
        if (is_output)
            return s->producer == step && (o->rows == TW_ROWS_MAPPED || o->rows == TW_ROWS_FINAL)
                       ? TW_OK
                       : TW_E_FORMAT;
        return (s->producer == TW_ABSENT || s->producer < step) && o->rows != TW_ROWS_FINAL &&
                       s->first_reader <= step && step <= s->last_reader
                   ? TW_OK
                   : TW_E_FORMAT;
    }
}

/* Whole-tensor views for the kernel's check. The data pointers are not for following. */
static void check_view(const tw_model *m, const tw_plan_operand *o, uint32_t axis, tw_view *v)
{
    memset(v, 0, sizeof *v);
    if (o->tensor == TW_ABSENT)
        return;
    v->tensor = &m->tensors[o->tensor];
    v->axis = axis < v->tensor->rank ? (int32_t)axis : 0;
    v->rows = v->fresh_rows = v->tensor->dim[v->axis];
}

static tw_status check_call(tw_loader *l, const tw_plan_segment *segment, const tw_plan_step *step)
{
    const tw_model *m = l->model;
    const tw_kernel *kernel = m->kernels[step->kernel];
    tw_view views[TW_MAX_OPERANDS];
    tw_blob blobs[TW_MAX_BLOBS];
    tw_call call;
    uint64_t work = 0;
    uint32_t i, operands = (uint32_t)step->input_count + step->output_count;
    for (i = 0; i < operands; i++)
        check_view(m, &m->operands[step->first_operand + i], segment->axis, &views[i]);
    for (i = 0; i < step->blob_count; i++) {
        const tw_plan_blob *b = &m->blobs[step->first_blob + i];
        if (b->offset % TW_PLAN_ALIGN != 0 || !in_range(b->offset, b->bytes, m->constants_bytes))
            return TW_E_FORMAT;
        blobs[i].data = m->constants + b->offset;
        blobs[i].bytes = b->bytes;
    }
    memset(&call, 0, sizeof call);
    call.in = views;
    call.out = views + step->input_count;
    call.in_count = step->input_count;
    call.out_count = step->output_count;
    call.attributes = m->attributes + step->first_attribute;
    call.attribute_bytes = step->attribute_words * 4u;
    call.blobs = blobs;
    call.blob_count = step->blob_count;
    call.clamp_low.bits = step->clamp_low;
    call.clamp_high.bits = step->clamp_high;
    call.scratch_bytes = step->scratch_bytes;
    call.memory_bytes = step->memory_bytes;
    if (kernel->check(&call, &work) != TW_OK || work != step->work)
        return TW_E_CHECK;
    l->work += work;
    if (l->work < work || (work != 0 && l->nesting.rounds > (UINT64_MAX - l->most_work) / work))
        return TW_E_CHECK;
    l->most_work += work * l->nesting.rounds;
    return TW_OK;
}

typedef struct tw_totals {
    uint32_t step, operand, stream, attribute, blob;
} tw_totals;

static tw_status check_step(tw_loader *l, const tw_plan_segment *segment, uint32_t index,
                            tw_totals *total)
{
    const tw_model *m = l->model;
    const tw_plan_step *s = &m->steps[segment->first_step + index];
    const uint32_t fast = m->header->region_bytes[TW_REGION_FAST];
    uint32_t operands = (uint32_t)s->input_count + s->output_count, i;
    uint32_t kernels = l->section[TW_SECTION_KERNELS]->bytes / 4u;
    l->model->error_step = segment->first_step + index;
    l->model->error_operator = s->operator_code;
    if (s->kernel >= kernels || s->again > segment->first_step + index || s->band == 0 ||
        s->output_count == 0 || operands > TW_MAX_OPERANDS || s->blob_count > TW_MAX_BLOBS ||
        s->first_operand != total->operand || operands > m->operand_count - total->operand ||
        s->first_attribute != total->attribute ||
        s->attribute_words > m->attribute_words - total->attribute ||
        s->first_blob != total->blob || s->blob_count > m->blob_count - total->blob ||
        s->scratch_offset % TW_PLAN_ALIGN != 0 || s->memory_offset % TW_PLAN_ALIGN != 0 ||
        !in_range(s->scratch_offset, s->scratch_bytes, fast) ||
        !in_range(s->memory_offset, s->memory_bytes, fast) ||
        !spares_counters(l, segment, s->scratch_offset, s->scratch_bytes) ||
        !spares_counters(l, segment, s->memory_offset, s->memory_bytes) ||
        (segment->columns != 0 && m->kernels[s->kernel]->columns == 0))
        return TW_E_FORMAT;
    for (i = 0; i < operands; i++) {
        int is_output = i >= s->input_count;
        tw_status status =
            check_operand(m, segment, index, &m->operands[s->first_operand + i], is_output);
        if (status != TW_OK)
            return status;
    }
    if (m->operands[s->first_operand + s->input_count].tensor == TW_ABSENT)
        return TW_E_FORMAT; /* the first output counts the rows */
    total->operand += operands;
    total->attribute += s->attribute_words;
    total->blob += s->blob_count;
    return check_call(l, segment, s);
}

static tw_status check_segment(tw_loader *l, const tw_plan_segment *g, tw_totals *total)
{
    const tw_model *m = l->model;
    uint32_t i;
    tw_status status;
    if (g->first_step != total->step || g->step_count == 0 ||
        g->step_count > m->step_count - total->step || g->first_stream != total->stream ||
        g->stream_count > m->stream_count - total->stream || g->axis >= TW_MAX_RANK ||
        g->columns > 1 || (g->source != TW_ABSENT && g->source >= g->stream_count) ||
        (g->source != TW_ABSENT && g->source_band == 0) || g->step_count > 0xFFFFu ||
        g->stream_count > 0xFFFFu || g->counters % 8u != 0 ||
        !in_range(g->counters, 8u * (g->step_count + g->stream_count),
                  m->header->region_bytes[TW_REGION_FAST]) ||
        !spares_rounds(l, g->counters, 8u * (g->step_count + g->stream_count)) ||
        (l->nesting.depth != 0 && g->source != TW_ABSENT)) /* rows are fed once */
        return TW_E_FORMAT;
    for (i = 0; i < g->stream_count; i++) {
        status = check_stream(l, g, i);
        if (status != TW_OK)
            return status;
    }
    for (i = 0; i < g->step_count; i++) {
        status = check_step(l, g, i, total);
        if (status != TW_OK)
            return status;
    }
    total->step += g->step_count;
    total->stream += g->stream_count;
    return TW_OK;
}

/* An input or output: outside the constants, and where it has a window, a stream: only then has its
 * record been checked. */
static int is_io(const tw_model *m, uint32_t tensor)
{
    uint32_t i;
    if (tensor >= m->tensor_count || m->tensors[tensor].region == TW_REGION_CONSTANT)
        return 0;
    if (m->tensors[tensor].window == 0)
        return 1;
    for (i = 0; i < m->stream_count; i++)
        if (m->streams[i].tensor == tensor)
            return 1;
    return 0;
}

static tw_status check_io(const tw_model *m)
{
    uint32_t i;
    for (i = 0; i < m->state_count; i++) {
        const tw_plan_state *s = &m->states[i];
        if (s->tensor >= m->tensor_count || m->tensors[s->tensor].region != TW_REGION_STATE ||
            m->tensors[s->tensor].window != 0 || !tw_is_dense(&m->tensors[s->tensor]))
            return TW_E_FORMAT;
        if (s->initial != TW_ABSENT &&
            !in_range(s->initial, tw_tensor_bytes(&m->tensors[s->tensor]), m->constants_bytes))
            return TW_E_FORMAT;
    }
    if (m->position_count != 0 && m->parts->positions->check(m) != TW_OK)
        return TW_E_FORMAT;
    for (i = 0; i < m->input_count; i++)
        if (!is_io(m, m->inputs[i]))
            return TW_E_FORMAT;
    for (i = 0; i < m->output_count; i++)
        if (!is_io(m, m->outputs[i]))
            return TW_E_FORMAT;
    return TW_OK;
}

/* Branches and loops before a segment. */
static tw_status check_controls(tw_loader *l, uint32_t segment)
{
    const tw_model *m = l->model;
    return m->control_count == 0 ? TW_OK : m->parts->controls->at(&l->nesting, segment);
}

static tw_status check_execution(tw_loader *l)
{
    const tw_model *m = l->model;
    tw_totals total = {0, 0, 0, 0, 0};
    uint32_t i;
    tw_nesting_begin(&l->nesting, m);
    for (i = 0; i < m->segment_count; i++) {
        tw_status status = check_controls(l, i);
        if (status == TW_OK)
            status = check_segment(l, &m->segments[i], &total);
        if (status != TW_OK)
            return status;
    }
    if (check_controls(l, m->segment_count) != TW_OK || l->nesting.depth != 0 ||
        l->nesting.next != m->control_count)
        return TW_E_FORMAT;
    l->model->error_step = UINT32_MAX;
    l->model->error_operator = 0;
    return total.step == m->step_count && total.operand == m->operand_count &&
                   total.stream == m->stream_count && total.attribute == m->attribute_words &&
                   total.blob == m->blob_count && l->work == m->header->work &&
                   l->most_work == m->header->most_work
               ? check_io(m)
               : TW_E_FORMAT;
}

tw_status tw_load_with(tw_model *model, const void *plan, uint32_t bytes,
                       const tw_kernel *const *kernels, uint32_t kernel_count,
                       const tw_parts *parts)
{
    tw_loader l;
    tw_status status;
    if (!model || !plan || !parts || (!kernels && kernel_count != 0))
        return TW_E_ARGUMENT;
    memset(model, 0, sizeof *model);
    memset(&l, 0, sizeof l);
    model->error_step = UINT32_MAX;
    if (((uintptr_t)plan & (TW_PLAN_ALIGN - 1u)) != 0)
        return TW_E_ALIGNMENT;
    model->plan = (const uint8_t *)plan;
    model->header = (const tw_plan_header *)plan;
    model->kernels = kernels;
    model->parts = parts;
    l.model = model;
    l.bytes = bytes;
    l.directory = (const tw_plan_section *)(const void *)(model->plan + sizeof(tw_plan_header));
    status = check_header(&l);
    if (status == TW_OK)
        status = check_sections(&l);
    if (status == TW_OK)
        status = find_sections(&l);
    if (status == TW_OK)
        status = check_announced(&l);
    if (status == TW_OK)
        status = check_kernels(&l, kernel_count);
    if (status == TW_OK)
        status = check_parts(model);
    if (status == TW_OK)
        status = check_tensors(&l);
    if (status == TW_OK)
        status = check_execution(&l);
    if (status != TW_OK)
        model->header = NULL; /* a refused plan cannot be used by mistake */
    return status;
}
