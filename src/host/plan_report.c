/* The report of a plan file. A tensor lives from the first to the last segment that has to do with it; tensors
 * of one place that take turns are one buffer: views, and results written over what they were made from. */
#include "host/plan_report.h"

#include <string.h>

#include "backends/cost.h"
#include "host/traffic.h"
#include "runtime/rows.h"

typedef struct tw_reader {
    tw_session *session;
    const tw_model *m;
    tw_report *report;
    tw_report_step *steps;
    tw_report_segment *segments;
    tw_report_buffer *buffers;
    int buffer_count, buffer_capacity;
} tw_reader;

static uint32_t align_up(uint32_t bytes)
{
    return (bytes + TW_PLAN_ALIGN - 1) / TW_PLAN_ALIGN * TW_PLAN_ALIGN;
}

static void add_buffer(tw_reader *r, tw_report_buffer buffer)
{
    tw_grow(r->session->arena, &r->buffers, r->buffer_count, &r->buffer_capacity,
            sizeof *r->buffers);
    buffer.bytes = align_up(buffer.bytes);
    if (buffer.bytes)
        r->buffers[r->buffer_count++] = buffer;
}

/* ---- tensors ---- */

/* Bytes kept of a tensor that a segment reads or writes: of rows, or of pixels by columns. */
static uint32_t kept_bytes(const tw_tensor *t, const tw_plan_segment *p)
{
    uint32_t bytes = tw_tensor_bytes(t);
    int32_t extent = tw_extent(t, p->axis);
    if (t->window == 0 || extent == 0)
        return bytes;
    bytes /= (uint32_t)extent;
    extent = p->columns ? tw_extent(t, p->axis + 1) : 1;
    return extent ? bytes / (uint32_t)extent * t->window : 0;
}

/* The steps of the segments that use each tensor, and the bytes kept of it. */
static void find_lives(tw_reader *r, tw_report_buffer *life)
{
    const tw_model *m = r->m;
    for (uint32_t g = 0; g < m->segment_count; g++) {
        const tw_plan_segment *p = &m->segments[g];
        const tw_plan_step *first = &m->steps[p->first_step];
        const tw_plan_step *last = &m->steps[p->first_step + p->step_count - 1];
        uint32_t end = last->first_operand + last->input_count + last->output_count;
        for (uint32_t o = first->first_operand; o < end; o++) {
            uint32_t index = m->operands[o].tensor;
            if (index == TW_ABSENT)
                continue;
            tw_report_buffer *b = &life[index];
            if (b->bytes == 0)
                b->first_step = p->first_step;
            b->last_step = p->first_step + p->step_count - 1;
            b->bytes = kept_bytes(&m->tensors[index], p);
        }
    }
}

/* Do two tensors take turns in one place? */
static bool is_one(const tw_report_buffer *a, const tw_report_buffer *b)
{
    return a->region == b->region && a->offset == b->offset &&
           align_up(a->bytes) == align_up(b->bytes) && a->first_step <= b->last_step &&
           b->first_step <= a->last_step;
}

static void add_tensor(tw_reader *r, const tw_report_buffer *life)
{
    for (int i = 0; i < r->buffer_count; i++) {
        tw_report_buffer *b = &r->buffers[i];
        if (b->use != life->use || !is_one(b, life))
            continue;
        if (life->first_step < b->first_step)
            b->first_step = life->first_step;
        if (life->last_step > b->last_step)
            b->last_step = life->last_step;
        b->is_input |= life->is_input;
        b->is_output |= life->is_output;
        return;
    }
    add_buffer(r, *life);
}

static void add_tensors(tw_reader *r)
{
    const tw_model *m = r->m;
    uint32_t end = m->step_count ? m->step_count - 1 : 0;
    tw_report_buffer *life =
        tw_alloc_array(r->session->arena, (size_t)m->tensor_count + 1, sizeof *life);
    find_lives(r, life);
    for (uint32_t i = 0; i < m->input_count; i++) {
        tw_report_buffer *b = &life[m->inputs[i]];
        b->is_input = true;
        if (m->tensors[m->inputs[i]].window == 0) {
            b->first_step = 0;
            b->bytes = tw_tensor_bytes(&m->tensors[m->inputs[i]]);
        }
    }
    for (uint32_t i = 0; i < m->output_count; i++) {
        tw_report_buffer *b = &life[m->outputs[i]];
        b->is_output = true;
        if (m->tensors[m->outputs[i]].window == 0) {
            b->last_step = end;
            b->bytes = tw_tensor_bytes(&m->tensors[m->outputs[i]]);
        }
    }
    for (uint32_t i = 0; i < m->state_count; i++) {
        tw_report_buffer *b = &life[m->states[i].tensor];
        b->use = TW_BUFFER_STATE;
        b->first_step = 0;
        b->last_step = end;
        b->bytes = tw_tensor_bytes(&m->tensors[m->states[i].tensor]);
    }
    for (uint32_t i = 0; i < m->tensor_count; i++) {
        life[i].name = r->session->tensor_names[i];
        life[i].region = m->tensors[i].region;
        life[i].offset = m->tensors[i].offset;
        if (life[i].region == TW_REGION_STATE)
            life[i].use = TW_BUFFER_STATE;
        if (life[i].region != TW_REGION_CONSTANT && life[i].bytes)
            add_tensor(r, &life[i]);
    }
}

/* ---- what segments use beside tensors ---- */

static void add_work_space(tw_reader *r, const tw_plan_segment *p)
{
    uint32_t last = p->first_step + p->step_count - 1;
    tw_report_buffer scratch = {
        "", TW_BUFFER_SCRATCH, TW_REGION_FAST, 0, 0, p->first_step, last, false, false};
    for (uint32_t i = p->first_step; i <= last; i++) {
        const tw_plan_step *s = &r->m->steps[i];
        if (s->scratch_bytes > scratch.bytes) {
            scratch.name = r->session->step_names[i];
            scratch.offset = s->scratch_offset;
            scratch.bytes = s->scratch_bytes;
        }
        add_buffer(r, (tw_report_buffer){r->session->step_names[i], TW_BUFFER_MEMORY,
                                         TW_REGION_FAST, s->memory_offset, s->memory_bytes,
                                         p->first_step, last, false, false});
    }
    add_buffer(r, scratch);
    add_buffer(r, (tw_report_buffer){"row counters", TW_BUFFER_CONTEXT, TW_REGION_FAST, p->counters,
                                     8 * (p->step_count + p->stream_count), p->first_step, last,
                                     false, false});
}

static uint32_t constant_bytes(const tw_model *m, const tw_plan_step *s)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < s->input_count; i++) {
        uint32_t tensor = m->operands[s->first_operand + i].tensor;
        const tw_tensor *t = tensor < m->tensor_count ? &m->tensors[tensor] : NULL;
        if (t && t->region == TW_REGION_CONSTANT)
            bytes += tw_tensor_bytes(t);
    }
    for (uint32_t i = 0; i < s->blob_count; i++)
        bytes += m->blobs[s->first_blob + i].bytes;
    return bytes;
}

static void read_step(tw_reader *r, uint32_t index, uint32_t segment)
{
    const tw_plan_step *s = &r->m->steps[index];
    const tw_opdef *op = tw_op_by_code(s->operator_code);
    const tw_tensor *out = NULL;
    tw_report_step *step = &r->steps[index];
    for (uint32_t i = 0; i < s->output_count && !out; i++) {
        uint32_t tensor = r->m->operands[s->first_operand + s->input_count + i].tensor;
        out = tensor == TW_ABSENT ? NULL : &r->m->tensors[tensor];
    }
    step->name = r->session->step_names[index];
    step->operator_name = op ? op->name : "unknown";
    step->backend = "";
    step->kernel = r->m->kernels[s->kernel]->id;
    step->segment = segment;
    if (out) {
        step->dtype = (tw_dtype)out->dtype;
        step->rank = out->rank;
        memcpy(step->dim, out->dim, sizeof step->dim);
    }
    step->band_rows = r->m->segments[segment].columns ? 1 : s->band;
    step->scratch = s->scratch_bytes;
    step->memory = s->memory_bytes;
    step->constant_bytes = constant_bytes(r->m, s);
    step->work = s->work;
    step->macs = op && op->macs ? s->work : 0;
    step->again = s->again != 0;
    *(step->again ? &r->report->macs_recomputed : &r->report->macs) += step->macs;
}

static void read_segment(tw_reader *r, uint32_t index)
{
    const tw_plan_segment *p = &r->m->segments[index];
    tw_report_segment *g = &r->segments[index];
    add_work_space(r, p);
    for (uint32_t i = p->first_step; i < p->first_step + p->step_count; i++) {
        read_step(r, i, index);
        g->macs_recomputed += r->steps[i].again ? r->steps[i].macs : 0;
    }
    g->first_step = p->first_step;
    g->step_count = p->step_count;
    g->axis = p->axis;
    g->band_rows = p->columns ? 1 : r->m->steps[p->first_step].band;
    g->columns = p->columns ? r->m->steps[p->first_step].band : 0;
    int32_t rows =
        r->steps[p->first_step].rank > (int)p->axis ? r->steps[p->first_step].dim[p->axis] : 1;
    g->rolling = p->step_count > 1 || p->columns || g->band_rows < (uint32_t)rows;
}

/* Bytes of the region that are covered at a step: buffers may lie over one another. */
static void find_live_bytes(tw_reader *r)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < r->m->step_count; i++) {
        uint32_t fast = 0;
        for (uint32_t region = TW_REGION_FAST; region < TW_MAX_REGIONS; region++) {
            uint32_t covered = 0, from = 0;
            for (bool found = true; found;) { /* the next stretch at or above `from` */
                uint32_t low = UINT32_MAX, high = 0;
                for (int b = 0; b < r->buffer_count; b++) {
                    const tw_report_buffer *f = &r->buffers[b];
                    uint32_t end = f->offset + f->bytes,
                             begin = f->offset > from ? f->offset : from;
                    if (f->region != region || i < f->first_step || i > f->last_step ||
                        end <= from || begin > low || (begin == low && end < high))
                        continue;
                    low = begin;
                    high = end;
                }
                found = low != UINT32_MAX;
                covered += found ? high - low : 0;
                from = high;
            }
            r->steps[i].live_bytes += covered;
            fast = region == TW_REGION_FAST ? covered : fast;
        }
        if (fast > most) {
            most = fast;
            r->report->tightest_step = (int)i;
        }
        tw_report_segment *g = &r->segments[r->steps[i].segment];
        g->bytes = r->steps[i].live_bytes > g->bytes ? r->steps[i].live_bytes : g->bytes;
    }
}

static const tw_report_tensor *read_ends(tw_reader *r, const uint32_t *index, uint32_t count,
                                         const char **names)
{
    tw_report_tensor *ends = tw_alloc_array(r->session->arena, (size_t)count + 1, sizeof *ends);
    for (uint32_t i = 0; i < count; i++) {
        const tw_tensor *t = &r->m->tensors[index[i]];
        ends[i] = (tw_report_tensor){.name = names[i],
                                     .dtype = (tw_dtype)t->dtype,
                                     .rank = t->rank,
                                     .scale = t->scale,
                                     .zero_point = t->zero_point};
        memcpy(ends[i].dim, t->dim, sizeof ends[i].dim);
    }
    return ends;
}

static void read_header(tw_reader *r)
{
    const tw_plan_header *h = r->m->header;
    tw_report *report = r->report;
    report->memory.activations = h->activations;
    report->memory.scratch = h->scratch;
    report->memory.state = h->state;
    report->memory.context = h->context;
    report->memory.total = h->activations + h->scratch + h->state + h->context;
    report->slow.bytes = h->slow;
    report->flash.total = h->bytes;
    report->flash.weights = r->m->constants_bytes;
    report->flash.plan = h->bytes - r->m->constants_bytes;
}

/* ---- a run ---- */

static int on_firing(void *user, tw_context *context, const tw_firing *firing)
{
    tw_reader *r = user;
    (void)context;
    r->steps[firing->step].calls++;
    tw_traffic_add(r->m, firing, &r->steps[firing->step].traffic);
    return 0;
}

static bool measure(tw_reader *r, tw_diag *diag)
{
    tw_report *report = r->report;
    tw_set_hook(&r->session->context, on_firing, r);
    bool ok = tw_session_run(r->session, diag);
    tw_set_hook(&r->session->context, NULL, NULL);
    for (uint32_t i = 0; ok && i < r->m->step_count; i++) {
        const tw_opdef *op = tw_op_by_code(r->m->steps[i].operator_code);
        tw_report_step *step = &r->steps[i];
        step->cycles = op ? tw_cost_of_step(op, step, NULL) : 0;
        tw_traffic_sum(&step->traffic, &report->traffic);
        report->calls += step->calls;
        report->cycles += step->cycles;
    }
    report->slow.traffic_read = report->traffic.read[TW_REGION_SLOW];
    report->slow.traffic_written = report->traffic.written[TW_REGION_SLOW];
    return ok;
}

bool tw_report_of_plan(tw_session *s, tw_report *report, tw_diag *diag)
{
    const tw_model *m = &s->model;
    tw_reader r = {.session = s, .m = m, .report = report};
    *report = (tw_report){.model_name = s->model_name,
                          .format = s->format,
                          .operators = (int)m->step_count,
                          .planned = true,
                          .fits = true};
    r.steps = tw_alloc_array(s->arena, (size_t)m->step_count + 1, sizeof *r.steps);
    r.segments = tw_alloc_array(s->arena, (size_t)m->segment_count + 1, sizeof *r.segments);
    read_header(&r);
    add_tensors(&r);
    for (uint32_t g = 0; g < m->segment_count; g++)
        read_segment(&r, g);
    find_live_bytes(&r);
    report->inputs = read_ends(&r, m->inputs, m->input_count, s->input_names);
    report->input_count = (int)m->input_count;
    report->outputs = read_ends(&r, m->outputs, m->output_count, s->output_names);
    report->output_count = (int)m->output_count;
    report->steps = r.steps;
    report->step_count = (int)m->step_count;
    report->segments = r.segments;
    report->segment_count = (int)m->segment_count;
    report->buffers = r.buffers;
    report->buffer_count = r.buffer_count;
    return measure(&r, diag);
}
