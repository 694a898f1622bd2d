/* A plan on the host. */
#include "host/session.h"

#include <string.h>

#include "backends/backend.h"
#include "runtime/rows.h"

/* The plan's kernel list is read before the plan is verified: only as far as the bytes go. */
static bool find_kernels(tw_arena *arena, const char *plan, size_t bytes,
                         const tw_kernel ***kernels, uint32_t *count, tw_diag *diag)
{
    tw_plan_header header;
    *count = 0;
    *kernels = NULL;
    if (bytes < sizeof header)
        return true; /* the loader says what is wrong */
    memcpy(&header, plan, sizeof header);
    for (uint32_t i = 0; i < header.section_count && i < TW_SECTION_LIMIT; i++) {
        tw_plan_section s;
        size_t at = sizeof header + i * sizeof s;
        if (at + sizeof s > bytes)
            return true;
        memcpy(&s, plan + at, sizeof s);
        if (s.kind != TW_SECTION_KERNELS || s.offset > bytes || s.bytes > bytes - s.offset)
            continue;
        *count = s.bytes / 4;
        *kernels = tw_alloc_array(arena, *count + 1, sizeof **kernels);
        for (uint32_t k = 0; k < *count; k++) {
            uint32_t id;
            memcpy(&id, plan + s.offset + k * 4, sizeof id);
            (*kernels)[k] = tw_any_kernel_by_id(id);
            if (!(*kernels)[k] && header.magic == TW_PLAN_MAGIC)
                return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                               "the plan needs kernel %08x, which this version does not have; "
                               "recompile the model with it",
                               id);
        }
        return true;
    }
    return true;
}

/* The next zero-terminated text, or "" when there is none. */
static const char *next_text(const char **at, const char *end)
{
    const char *text = *at;
    const char *zero = text && text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;
    if (!zero)
        return "";
    *at = zero + 1;
    return text;
}

static const char **next_texts(tw_session *s, const char **at, const char *end, uint32_t count)
{
    const char **texts = tw_alloc_array(s->arena, (size_t)count + 1, sizeof *texts);
    for (uint32_t i = 0; i < count; i++)
        texts[i] = next_text(at, end);
    return texts;
}

static const char *find_section(const tw_session *s, uint32_t kind, const char **end)
{
    const tw_plan_section *d = (const tw_plan_section *)(const void *)(s->model.header + 1);
    for (uint32_t i = 0; i < s->model.header->section_count; i++)
        if (d[i].kind == kind) {
            const char *text = (const char *)s->model.plan + d[i].offset;
            *end = text + d[i].bytes;
            return text;
        }
    *end = NULL;
    return NULL;
}

static void read_names(tw_session *s)
{
    const char *end;
    const char *at = find_section(s, TW_SECTION_NAMES, &end);
    s->model_name = next_text(&at, end);
    s->input_names = next_texts(s, &at, end, s->model.input_count);
    s->output_names = next_texts(s, &at, end, s->model.output_count);
    s->step_names = next_texts(s, &at, end, s->model.step_count);
    s->tensor_names = next_texts(s, &at, end, s->model.tensor_count);
    at = find_section(s, TW_SECTION_ORIGIN, &end);
    s->format = next_text(&at, end);
    s->options = next_text(&at, end);
}

bool tw_session_fail(const tw_session *s, tw_status status, tw_diag *diag)
{
    uint32_t step = s->model.header ? s->context.error_step : s->model.error_step;
    uint32_t code = s->model.header ? s->context.error_operator : s->model.error_operator;
    const tw_opdef *op = tw_op_by_code(code);
    const char *name = "";
    if (step != UINT32_MAX) {
        name = s->step_names && step < s->model.step_count ? s->step_names[step] : "";
        if (!*name)
            name = tw_format(s->arena, "step %u", step);
    }
    return tw_fail(diag, TW_CODE_FAILED, name, op ? op->name : NULL, "%s", tw_status_text(status));
}

/* Bytes of a row of a tensor with a window: the axis of the segment that it is a stream of says what
 * a row is. 0: a whole tensor. */
static uint32_t row_bytes(const tw_model *m, uint32_t tensor)
{
    const tw_tensor *t = &m->tensors[tensor];
    for (uint32_t g = 0; t->window != 0 && g < m->segment_count; g++) {
        const tw_plan_segment *p = &m->segments[g];
        for (uint32_t i = 0; i < p->stream_count; i++)
            if (m->streams[p->first_stream + i].tensor == tensor) {
                int32_t rows = tw_extent(t, p->axis);
                return rows ? tw_tensor_bytes(t) / (uint32_t)rows : 0;
            }
    }
    return 0;
}

uint32_t tw_session_row_bytes(const tw_session *s, uint32_t index)
{
    return index < s->model.input_count ? row_bytes(&s->model, s->model.inputs[index]) : 0;
}

uint32_t tw_session_output_row_bytes(const tw_session *s, uint32_t index)
{
    return index < s->model.output_count ? row_bytes(&s->model, s->model.outputs[index]) : 0;
}

static int feed_rows(void *user, uint32_t input, int32_t row, int32_t rows, void *to)
{
    const tw_session *s = user;
    if (input >= s->model.input_count || !s->fed[input])
        return 1;
    uint32_t bytes = tw_session_row_bytes(s, input);
    memcpy(to, s->fed[input] + (size_t)row * bytes, (size_t)rows * bytes);
    return 0;
}

static int drain_rows(void *user, uint32_t output, int32_t row, int32_t rows, const void *from)
{
    const tw_session *s = user;
    if (output >= s->model.output_count || !s->drained[output])
        return 1;
    uint32_t bytes = tw_session_output_row_bytes(s, output);
    memcpy(s->drained[output] + (size_t)row * bytes, from, (size_t)rows * bytes);
    return 0;
}

/* A buffer for each of the tensors that has a window. */
static char **whole_of_windows(tw_session *s, const uint32_t *tensors, uint32_t count)
{
    char **whole = tw_alloc_array(s->arena, (size_t)count + 1, sizeof *whole);
    for (uint32_t i = 0; i < count; i++)
        if (s->model.tensors[tensors[i]].window != 0)
            whole[i] = tw_alloc(s->arena, tw_tensor_bytes(&s->model.tensors[tensors[i]]));
    return whole;
}

void *tw_session_input(tw_session *s, uint32_t index)
{
    return index < s->model.input_count && s->fed[index] ? s->fed[index]
                                                         : tw_input(&s->context, index);
}

const void *tw_session_output(tw_session *s, uint32_t index)
{
    return index < s->model.output_count && s->drained[index] ? s->drained[index]
                                                              : tw_output(&s->context, index);
}

bool tw_session_open(tw_session *s, const void *plan, size_t bytes, tw_diag *diag)
{
    memset(s, 0, sizeof *s);
    s->arena = tw_arena_new();
    if (bytes > INT32_MAX)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the plan is larger than 2 GB");
    const tw_kernel **kernels;
    uint32_t count;
    void *copy = tw_copy(s->arena, plan, bytes);
    if (!find_kernels(s->arena, copy, bytes, &kernels, &count, diag))
        return false;
    tw_status status = tw_load(&s->model, copy, (uint32_t)bytes, kernels, count);
    if (status != TW_OK)
        return tw_session_fail(s, status, diag);
    read_names(s);
    for (uint32_t r = 1; r < TW_MAX_REGIONS; r++) {
        uint32_t size = tw_region_bytes(&s->model, r);
        s->memory[r - 1] = (tw_memory){tw_alloc(s->arena, (size_t)size + 64), size};
    }
    status = tw_init(&s->context, &s->model, s->memory, TW_MAX_REGIONS - 1);
    if (status != TW_OK)
        return tw_session_fail(s, status, diag);
    s->fed = whole_of_windows(s, s->model.inputs, s->model.input_count);
    s->drained = whole_of_windows(s, s->model.outputs, s->model.output_count);
    tw_set_feed(&s->context, feed_rows, s);
    tw_set_drain(&s->context, drain_rows, s);
    return true;
}

void tw_session_close(tw_session *s)
{
    tw_arena_free(s->arena);
    memset(s, 0, sizeof *s);
}

bool tw_session_run(tw_session *s, tw_diag *diag)
{
    s->status = tw_run(&s->context);
    return s->status >= TW_OK || tw_session_fail(s, s->status, diag);
}
