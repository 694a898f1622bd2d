/* NAME.c without a plan: a function a step that calls its kernel with constants, a function a segment that
 * calls the steps band by band as the execution loop would, and the memory as one array; direct_run.c writes
 * the run that calls the segments. In: a traced plan. */
#include <string.h>

#include "emit/firmware/direct.h"
#include "emit/firmware/trace.h"
#include "graph/print.h"
#include "ops/op.h"
#include "runtime/rows.h"

typedef struct tw_direct {
    const tw_making *m;
    FILE *f;
    tw_trace trace;
    const char **step;                /* by step: the function's name */
    const tw_event **example;         /* by step: its first call */
    bool (*varies)[TW_EVENT_NUMBERS]; /* by step: numbers that differ from call to call */
    const uint32_t *segment;          /* by step */
} tw_direct;

static const char *const roles[TW_VIEW_NUMBERS] = {"row", "rows", "at", "column", "columns"};

/* ---- what the trace says of each step ---- */

static void study(tw_direct *d)
{
    const tw_model *model = &d->m->session->model;
    const size_t steps = (size_t)model->step_count + 1;
    uint32_t *segment = tw_alloc_array(d->m->arena, steps, sizeof *segment);
    d->example = tw_alloc_array(d->m->arena, steps, sizeof *d->example);
    d->varies = tw_alloc_array(d->m->arena, steps, sizeof *d->varies);
    d->step = tw_alloc_array(d->m->arena, steps, sizeof *d->step);
    for (int i = 0; i < d->trace.count; i++) {
        const tw_event *e = &d->trace.events[i];
        if (e->kind != TW_EVENT_CALL)
            continue;
        segment[e->id] = e->segment;
        if (!d->example[e->id])
            d->example[e->id] = e;
        for (int k = 0; k < e->count; k++)
            d->varies[e->id][k] |= e->number[k] != d->example[e->id]->number[k];
    }
    for (uint32_t s = 0; s < model->step_count; s++) {
        const char *word = tw_word_of(d->m->arena, d->m->session->step_names[s]);
        d->step[s] = tw_format(d->m->arena, "step_%u%s%s", s, *word ? "_" : "", word);
    }
    d->segment = segment;
}

/* ---- memory and tensors ---- */

const char *tw_direct_base(uint32_t region)
{
    static const char *const bases[TW_MAX_REGIONS] = {"CONSTANT", "FAST", "STATE", "SLOW"};
    return bases[region];
}

static void write_memory(const tw_direct *d)
{
    const tw_making *m = d->m;
    const uint32_t fast = tw_firmware_region_bytes(m, TW_REGION_FAST);
    const uint32_t slow = tw_firmware_region_bytes(m, TW_REGION_SLOW);
    fprintf(d->f,
            "/* All memory there is, but for the stack. */\n"
            "%s_ALIGNED static uint8_t memory[%s_RAM_BYTES%s];\n#define FAST memory\n",
            m->big, m->big, slow ? tw_format(m->arena, " - %s_SLOW_BYTES", m->big) : "");
    if (tw_firmware_region_bytes(m, TW_REGION_STATE))
        fprintf(d->f, "#define STATE (memory + %u)\n", fast);
    if (slow)
        fprintf(d->f,
                "/* In the slow memory: %s_SLOW_SECTION may say where that is. */\n"
                "#ifndef %s_SLOW_SECTION\n#define %s_SLOW_SECTION\n#endif\n"
                "%s_ALIGNED %s_SLOW_SECTION static uint8_t slow_memory[%s_SLOW_BYTES];\n"
                "#define SLOW slow_memory\n",
                m->big, m->big, m->big, m->big, m->big, m->big);
    fprintf(d->f, "#define CONSTANT ((uint8_t *)%s_constants)\n\n", m->name);
}

static void write_numbers(FILE *f, const int32_t *number)
{
    for (int i = 0; i < TW_MAX_RANK; i++)
        fprintf(f, "%s%d", i ? ", " : "{", number[i]);
    fprintf(f, "}");
}

static void write_tensor(const tw_direct *d, uint32_t index)
{
    static const char *const regions[TW_MAX_REGIONS] = {"TW_REGION_CONSTANT", "TW_REGION_FAST",
                                                        "TW_REGION_STATE", "TW_REGION_SLOW"};
    const tw_tensor *t = &d->m->session->model.tensors[index];
    const char *name = tw_comment_text(d->m->arena, d->m->session->tensor_names[index]);
    fprintf(d->f, "/* %s: %s */\nstatic const tw_tensor tensor_%u = {\n    %s, %u, %s, 0, %uu, ",
            *name ? name : "without a name", tw_shape_words(d->m->arena, t), index,
            tw_c_dtype(t->dtype), t->rank, regions[t->region], t->offset);
    write_numbers(d->f, t->dim);
    fprintf(d->f, ", ");
    write_numbers(d->f, t->stride);
    fprintf(d->f, ",\n    %s, %d, %uu, 0u};\n", tw_c_float(d->m->arena, t->scale), t->zero_point,
            t->window);
}

static void write_tensors(const tw_direct *d)
{
    const tw_model *model = &d->m->session->model;
    bool *used = tw_alloc_array(d->m->arena, (size_t)model->tensor_count + 1, sizeof *used);
    for (uint32_t i = 0; i < model->operand_count; i++)
        if (model->operands[i].tensor != TW_ABSENT)
            used[model->operands[i].tensor] = true;
    for (uint32_t i = 0; i < model->input_count; i++)
        used[model->inputs[i]] = true;
    for (uint32_t i = 0; i < model->output_count; i++)
        used[model->outputs[i]] = true;
    fprintf(d->f, "/* Tensors: type, rank, memory, 0, offset, extents, strides; scale, zero point, "
                  "rows of the\n"
                  " * window (0: all), 0. */\n");
    for (uint32_t i = 0; i < model->tensor_count; i++)
        if (used[i])
            write_tensor(d, i);
    fprintf(d->f, "\n");
}

/* ---- steps ---- */

/* "in0_row": number `k` of a call. */
static const char *parameter(const tw_direct *d, const tw_plan_step *s, int k)
{
    const int operand = k / TW_VIEW_NUMBERS;
    return operand < s->input_count
               ? tw_format(d->m->arena, "in%d_%s", operand, roles[k % TW_VIEW_NUMBERS])
               : tw_format(d->m->arena, "out%d_%s", operand - s->input_count,
                           roles[k % TW_VIEW_NUMBERS]);
}

static bool is_constant(const tw_direct *d, uint32_t step, int from, int count)
{
    for (int k = from; k < from + count; k++)
        if (d->varies[step][k])
            return false;
    return true;
}

/* As in the first call. */
static void write_view(const tw_direct *d, uint32_t step, int operand)
{
    const tw_model *model = &d->m->session->model;
    const tw_plan_operand *o =
        &model->operands[model->steps[step].first_operand + (uint32_t)operand];
    const uint32_t axis = model->segments[d->segment[step]].axis;
    const int32_t *number = d->example[step]->number + operand * TW_VIEW_NUMBERS;
    if (o->tensor == TW_ABSENT) {
        fprintf(d->f, "        {NULL, NULL, 0, 0, 0, 0, 0, 0, 0}, /* none */\n");
        return;
    }
    const tw_tensor *t = &model->tensors[o->tensor];
    fprintf(d->f, "        {&tensor_%u, %s + %d, %u, %d, %d, %d, %d, %d, %d}, /* %s */\n",
            o->tensor, tw_direct_base(t->region), (int32_t)t->offset + number[2],
            axis < t->rank ? axis : 0, number[0], number[1], number[0], number[1], number[3],
            number[4], tw_comment_text(d->m->arena, d->m->session->tensor_names[o->tensor]));
}

static void write_views(const tw_direct *d, uint32_t step)
{
    const tw_plan_step *s = &d->m->session->model.steps[step];
    fprintf(d->f, "    static const tw_view %s[] = {\n",
            is_constant(d, step, 0, d->example[step]->count) ? "views" : "first_views");
    for (int i = 0; i < s->input_count + s->output_count; i++)
        write_view(d, step, i);
    fprintf(d->f, "    };\n");
}

/* What is not as in the first call. */
static void write_band(const tw_direct *d, uint32_t step, int operand)
{
    const tw_model *model = &d->m->session->model;
    const tw_plan_step *s = &model->steps[step];
    const tw_plan_operand *o = &model->operands[s->first_operand + (uint32_t)operand];
    const int k = operand * TW_VIEW_NUMBERS;
    if (d->varies[step][k])
        fprintf(d->f, "    views[%d].row = views[%d].fresh = %s;\n", operand, operand,
                parameter(d, s, k));
    if (d->varies[step][k + 1])
        fprintf(d->f, "    views[%d].rows = views[%d].fresh_rows = %s;\n", operand, operand,
                parameter(d, s, k + 1));
    if (d->varies[step][k + 2]) {
        const tw_tensor *t = &model->tensors[o->tensor];
        fprintf(d->f, "    views[%d].data = %s + %u + %s;\n", operand, tw_direct_base(t->region),
                t->offset, parameter(d, s, k + 2));
    }
    if (d->varies[step][k + 3])
        fprintf(d->f, "    views[%d].column = %s;\n", operand, parameter(d, s, k + 3));
    if (d->varies[step][k + 4])
        fprintf(d->f, "    views[%d].columns = %s;\n", operand, parameter(d, s, k + 4));
}

/* The words of an operator's attributes, a line each with what they say. */
static void write_attributes(const tw_direct *d, const tw_plan_step *s, const tw_opdef *op)
{
    const uint32_t *word = d->m->session->model.attributes + s->first_attribute;
    if (s->attribute_words == 0)
        return;
    fprintf(d->f, "    static const uint32_t attributes[] = {");
    for (int i = 0; op && i < op->attribute_count && s->attribute_words * 4u >= op->attribute_bytes;
         i++) {
        const uint32_t from = op->attributes[i].offset / 4;
        const uint32_t end =
            i + 1 < op->attribute_count ? op->attributes[i + 1].offset / 4 : s->attribute_words;
        fprintf(d->f, "\n        ");
        for (uint32_t k = from; k < end && k < s->attribute_words; k++)
            fprintf(d->f, word[k] < 65536 ? "%uu, " : "0x%08xu, ", word[k]);
        fprintf(d->f, "/* ");
        tw_attribute_print(d->f, &op->attributes[i], word + from);
        fprintf(d->f, " */");
    }
    fprintf(d->f, "\n    };\n");
}

static void write_tables(const tw_direct *d, const tw_plan_step *s)
{
    const tw_plan_blob *blob = d->m->session->model.blobs + s->first_blob;
    if (s->blob_count == 0)
        return;
    fprintf(d->f, "    static const tw_blob tables[] = {");
    for (uint32_t i = 0; i < s->blob_count; i++)
        fprintf(d->f, "%s{CONSTANT + %u, %uu}", i ? ", " : "", blob[i].offset, blob[i].bytes);
    fprintf(d->f, "};\n");
}

static void write_parameters(const tw_direct *d, uint32_t step)
{
    const tw_plan_step *s = &d->m->session->model.steps[step];
    const char *separator = "";
    for (int k = 0; k < d->example[step]->count; k++)
        if (d->varies[step][k]) {
            fprintf(d->f, "%sint32_t %s", separator, parameter(d, s, k));
            separator = ", ";
        }
    fprintf(d->f, "%s", *separator ? "" : "void");
}

/* "-128 to 127", in the type of the first output. */
static const char *bounds_of(const tw_direct *d, const tw_plan_step *s)
{
    const tw_model *model = &d->m->session->model;
    const tw_plan_operand *o = &model->operands[s->first_operand + s->input_count];
    const uint32_t bits[2] = {s->clamp_low, s->clamp_high};
    float low, high;
    memcpy(&low, &bits[0], sizeof low);
    memcpy(&high, &bits[1], sizeof high);
    return o->tensor != TW_ABSENT && model->tensors[o->tensor].dtype == TW_F32
               ? tw_format(d->m->arena, "%.9g to %.9g", (double)low, (double)high)
               : tw_format(d->m->arena, "%d to %d", (int32_t)bits[0], (int32_t)bits[1]);
}

/* The fields of tw_call, in their order. */
static void write_call(const tw_direct *d, uint32_t step)
{
    const tw_plan_step *s = &d->m->session->model.steps[step];
    const bool constant = is_constant(d, step, 0, d->example[step]->count);
    fprintf(d->f,
            "    static const tw_call %s = {\n"
            "        %s, %s, %u, %u,\n"
            "        %s, %uu, %s, %uu,\n"
            "        {0x%08xu}, {0x%08xu}, /* %s */\n"
            "        FAST + %u, %uu, FAST + %u, %uu};\n",
            constant ? "call" : "first_call", constant ? "views" : "NULL",
            constant ? tw_format(d->m->arena, "views + %u", s->input_count) : "NULL",
            s->input_count, s->output_count, s->attribute_words ? "attributes" : "NULL",
            s->attribute_words * 4, s->blob_count ? "tables" : "NULL", s->blob_count, s->clamp_low,
            s->clamp_high, bounds_of(d, s), s->scratch_offset, s->scratch_bytes, s->memory_offset,
            s->memory_bytes);
    if (!constant) {
        fprintf(d->f,
                "    tw_view views[%u];\n    tw_call call = first_call;\n"
                "    memcpy(views, first_views, sizeof views);\n"
                "    call.in = views;\n    call.out = views + %u;\n",
                s->input_count + s->output_count, s->input_count);
        for (int i = 0; i < s->input_count + s->output_count; i++)
            write_band(d, step, i);
    }
    fprintf(d->f, "    return %s.run(&call);\n}\n\n", d->m->kernels[s->kernel]);
}

/* "s8 1x32x32x1, s8 8x3x3x1 -> s8 1x16x16x8" */
static const char *shapes_of(const tw_direct *d, const tw_plan_step *s)
{
    const tw_model *model = &d->m->session->model;
    const char *text = "";
    for (int i = 0; i < s->input_count + s->output_count; i++) {
        const uint32_t tensor = model->operands[s->first_operand + (uint32_t)i].tensor;
        text = tw_format(
            d->m->arena, "%s%s%s", text,
            i == s->input_count ? " -> "
            : i > 0             ? ", "
                                : "",
            tensor == TW_ABSENT ? "none" : tw_shape_words(d->m->arena, &model->tensors[tensor]));
    }
    return text;
}

static void write_step(const tw_direct *d, uint32_t step)
{
    const tw_plan_step *s = &d->m->session->model.steps[step];
    const tw_opdef *op = tw_op_by_code(s->operator_code);
    const char *name = tw_comment_text(d->m->arena, d->m->session->step_names[step]);
    if (!d->example[step])
        return; /* it has no rows to compute */
    fprintf(d->f, "/* %s%s%s\n *     %s */\nstatic tw_status %s(", op ? op->name : "a step",
            *name ? ": " : "", name, shapes_of(d, s), d->step[step]);
    write_parameters(d, step);
    fprintf(d->f, ")\n{\n");
    write_attributes(d, s, op);
    write_tables(d, s);
    write_views(d, step);
    write_call(d, step);
}

static void write_steps(const tw_direct *d)
{
    fprintf(
        d->f,
        "/* Steps: a call of a kernel each. Where bands differ, the call has its first band, and "
        "the\n"
        " * parameters say where another begins: its row, and the place in memory behind the "
        "tensor's.\n"
        " *     attributes   as words; a list is how many, then TW_MAX_RANK of them\n"
        " *     tables       address, bytes\n"
        " *     views        tensor, address, band axis; first row and rows present; of these, "
        "those\n"
        " *                  that are new; first column and columns (0, 0: every column)\n"
        " *     call         inputs, outputs and how many; attributes and tables; bounds of the\n"
        " *                  results; scratch and the step's own memory, with their bytes */\n\n");
    for (uint32_t i = 0; i < d->m->session->model.step_count; i++)
        write_step(d, i);
}

/* ---- segments ---- */

/* The number in a round: constant, or growing with the round `i`. */
static void write_number(FILE *f, int32_t first, int32_t grows)
{
    const int32_t factor = grows < 0 ? -grows : grows;
    if (first != 0 || grows <= 0)
        fprintf(f, "%d", first);
    if (grows != 0 && (first != 0 || grows < 0))
        fprintf(f, " %c ", grows < 0 ? '-' : '+');
    if (factor > 1)
        fprintf(f, "%d * ", factor);
    if (grows != 0)
        fprintf(f, "i");
}

/* An event, and the same event of the next round, or null. */
static void write_event(const tw_direct *d, const tw_event *e, const tw_event *next)
{
    const tw_model *model = &d->m->session->model;
    const char *separator = "", *indent = next ? "        " : "    ";
    int32_t grows[TW_EVENT_NUMBERS] = {0};
    for (int k = 0; k < e->count; k++)
        grows[k] = next ? next->number[k] - e->number[k] : 0;
    if (e->kind == TW_EVENT_CALL) {
        fprintf(d->f, "%sDO(%s(", indent, d->step[e->id]);
        for (int k = 0; k < e->count; k++) {
            if (!d->varies[e->id][k])
                continue;
            fprintf(d->f, "%s", separator);
            write_number(d->f, e->number[k], grows[k]);
            separator = ", ";
        }
        fprintf(d->f, "));\n");
        return;
    }
    const tw_tensor *t = &model->tensors[e->kind == TW_EVENT_MOVE ? e->id : model->inputs[e->id]];
    fprintf(d->f, "%s%s, ", indent,
            e->kind == TW_EVENT_MOVE
                ? tw_format(d->m->arena, "MOVE(%s + %u", tw_direct_base(t->region), t->offset)
                : tw_format(d->m->arena, "FEED(%u", e->id));
    for (int k = 0; k < 2; k++) {
        fprintf(d->f, "%s", k ? ", " : "");
        write_number(d->f, e->number[k], grows[k]);
    }
    if (e->kind == TW_EVENT_FEED) {
        fprintf(d->f, ", %s + %u + ", tw_direct_base(t->region), t->offset);
        write_number(d->f, e->number[2], grows[2]);
    }
    fprintf(d->f, ");\n");
}

/* Runs of events that are alike become loops. */
static void write_segment(const tw_direct *d, uint32_t segment, int first, int end)
{
    const tw_plan_segment *g = &d->m->session->model.segments[segment];
    bool loops = false;
    for (int i = first; i < end && !loops; i++)
        loops = tw_trace_rounds(&d->trace, i, end).times > 1;
    fprintf(d->f, "/* Segment %u: %s %u%s. */\nstatic tw_status segment_%u(void)\n{\n%s", segment,
            g->step_count > 1 ? "steps" : "step", g->first_step,
            g->step_count > 1
                ? tw_format(d->m->arena, " to %u, by rows", g->first_step + g->step_count - 1)
                : "",
            segment, loops ? "    int32_t i;\n" : "");
    while (first < end) {
        const tw_rounds rounds = tw_trace_rounds(&d->trace, first, end);
        const tw_event *e = &d->trace.events[first];
        if (rounds.times == 1) {
            write_event(d, e, NULL);
        } else {
            fprintf(d->f, "    for (i = 0; i < %d; i++) {\n", rounds.times);
            for (int k = 0; k < rounds.length; k++)
                write_event(d, &e[k], &e[k + rounds.length]);
            fprintf(d->f, "    }\n");
        }
        first += rounds.length * rounds.times;
    }
    fprintf(d->f, "    return TW_OK;\n}\n\n");
}

static bool has_kind(const tw_direct *d, tw_event_kind kind)
{
    for (int i = 0; i < d->trace.count; i++)
        if (d->trace.events[i].kind == kind)
            return true;
    return false;
}

static void write_segments(const tw_direct *d)
{
    fprintf(d->f,
            "#define DO(call)                                                                \\\n"
            "    do {                                                                        \\\n"
            "        const tw_status status = (call);                                        \\\n"
            "        if (status != TW_OK)                                                    \\\n"
            "            return status;                                                      \\\n"
            "    } while (0)\n");
    if (has_kind(d, TW_EVENT_MOVE))
        fprintf(d->f, "/* Rows that nobody needs any more leave a window; the rest moves down. */\n"
                      "#define MOVE(window, skip, keep) memmove(window, (window) + (skip), "
                      "(size_t)(keep))\n");
    if (d->m->is_fed)
        fprintf(
            d->f,
            "static tw_feed feed;\nstatic void *feed_user;\n"
            "#define FEED(input, row, rows, to)                                              \\\n"
            "    do {                                                                        \\\n"
            "        if (!feed || feed(feed_user, input, row, rows, to) != 0)                \\\n"
            "            return TW_E_CALLBACK;                                               \\\n"
            "    } while (0)\n");
    fprintf(d->f, "\n");
    for (int first = 0, end; first < d->trace.count; first = end) {
        const uint32_t segment = d->trace.events[first].segment;
        end = first;
        while (end < d->trace.count && d->trace.events[end].segment == segment)
            end++;
        write_segment(d, segment, first, end);
    }
}

/* By segment: is there a function for it? Not where nothing is computed in it. */
static const bool *made_of(const tw_direct *d)
{
    bool *made =
        tw_alloc_array(d->m->arena, (size_t)d->m->session->model.segment_count + 1, sizeof *made);
    for (int i = 0; i < d->trace.count; i++)
        made[d->trace.events[i].segment] = true;
    return made;
}

/* ---- what the header declares ---- */

static void write_ends(const tw_direct *d, bool out)
{
    const tw_making *m = d->m;
    const tw_model *model = &m->session->model;
    const uint32_t count = out ? model->output_count : model->input_count;
    const char *kind = out ? "output" : "input";
    for (uint32_t i = 0; i < count; i++) {
        const tw_port *p = out ? &m->outputs[i] : &m->inputs[i];
        const char *type = tw_c_type(p->tensor->dtype);
        if (!p->row_bytes)
            fprintf(d->f, "\n%s%s *%s_%s_%s(void)\n{\n    return (%s%s *)(void *)(%s + %u);\n}\n",
                    out ? "const " : "", type, m->name, kind, p->c, out ? "const " : "", type,
                    tw_direct_base(p->tensor->region), p->tensor->offset);
    }
    fprintf(d->f, "\nconst tw_tensor *%s_nth_%s_tensor(uint32_t index)\n{\n    switch (index) {\n",
            m->name, kind);
    for (uint32_t i = 0; i < count; i++)
        fprintf(d->f, "    case %u:\n        return &tensor_%u;\n", i,
                out ? model->outputs[i] : model->inputs[i]);
    fprintf(d->f, "    default:\n        return NULL;\n    }\n}\n");
    fprintf(d->f, "\nvoid *%s_nth_%s(uint32_t index)\n{\n    switch (index) {\n", m->name, kind);
    for (uint32_t i = 0; i < count; i++) {
        const tw_port *p = out ? &m->outputs[i] : &m->inputs[i];
        if (!p->row_bytes)
            fprintf(d->f, "    case %u:\n        return %s + %u;\n", i,
                    tw_direct_base(p->tensor->region), p->tensor->offset);
    }
    fprintf(d->f, "    default:\n        return NULL;\n    }\n}\n");
}

static void write_constants(const tw_making *m)
{
    const tw_model *model = &m->session->model;
    tw_text text;
    tw_text_begin(&text);
    fprintf(text.file, "/* %s: weights and tables, little-endian words. */\n#include \"%s.h\"\n\n",
            m->name, m->name);
    tw_write_word_array(m, text.file, "constants", model->constants, model->constants_bytes);
    tw_text_end(&text, m, tw_format(m->arena, "src/%s_constants.c", m->name));
}

bool tw_write_direct(const tw_making *m)
{
    tw_direct d = {.m = m};
    tw_text text;
    if (!tw_trace_plan(m->session, m->arena, &d.trace, m->diag))
        return false;
    study(&d);
    tw_write_header(m);
    tw_text_begin(&text);
    d.f = text.file;
    fprintf(d.f,
            "/* %s: every call of a kernel, with the rows that it computes and where they lie%s. "
            "*/\n#include \"%s.h\"\n\n#include \"%s\"\n\n",
            m->name, m->session->model.control_count ? "" : ";\n * nothing is decided at run time",
            m->name, tw_kernels_header(m));
    tw_write_assertions(m, d.f);
    write_memory(&d);
    write_tensors(&d);
    write_steps(&d);
    write_segments(&d);
    tw_write_direct_run(m, d.f, made_of(&d));
    write_ends(&d, false);
    write_ends(&d, true);
    if (m->is_fed)
        fprintf(d.f,
                "\nvoid %s_set_feed(tw_feed function, void *user)\n"
                "{\n    feed = function;\n    feed_user = user;\n}\n",
                m->name);
    tw_text_end(&text, m, tw_format(m->arena, "src/%s.c", m->name));
    write_constants(m);
    return true;
}
