/* Positions, states that count the tokens that caches hold: verified, room for a run, rewinding. */
#include "runtime/parts.h"

/* ---- verifying ---- */

static int is_number(const tw_model *m, uint32_t tensor)
{
    const tw_tensor *t = &m->tensors[tensor];
    return t->dtype == TW_S32 && t->window == 0 && tw_element_count(t) == 1;
}

static int is_input(const tw_model *m, uint32_t tensor)
{
    uint32_t i;
    for (i = 0; i < m->input_count; i++)
        if (m->inputs[i] == tensor)
            return 1;
    return 0;
}

static int is_position(const tw_model *m, const tw_plan_position *p)
{
    return p->state < m->state_count && is_number(m, m->states[p->state].tensor) &&
           (p->count == TW_ABSENT || (is_input(m, p->count) && is_number(m, p->count))) &&
           p->limit <= (uint32_t)INT32_MAX && p->tokens <= (uint32_t)INT32_MAX &&
           p->kept <= (uint32_t)INT32_MAX && p->window <= p->kept && p->reserved[0] == 0 &&
           p->reserved[1] == 0;
}

static tw_status check(const tw_model *m)
{
    uint32_t i;
    for (i = 0; i < m->position_count; i++)
        if (!is_position(m, &m->positions[i]))
            return TW_E_FORMAT;
    return TW_OK;
}

/* ---- between and before runs ---- */

static int32_t *number_at(const tw_context *context, const tw_model *m, uint32_t tensor)
{
    const tw_tensor *t = &m->tensors[tensor];
    return (int32_t *)(void *)((uint8_t *)context->region[t->region].pointer + t->offset);
}

static int32_t *position_at(const tw_context *context, const tw_model *m, uint32_t i)
{
    return number_at(context, m, m->states[m->positions[i].state].tensor);
}

static tw_status allow(const tw_context *context, const tw_model *m)
{
    uint32_t i;
    for (i = 0; i < m->position_count; i++) {
        const tw_plan_position *p = &m->positions[i];
        const int32_t at = *position_at(context, m, i);
        int32_t count = (int32_t)p->tokens;
        if (p->count != TW_ABSENT)
            count = *number_at(context, m, p->count);
        if (at < 0 || count < 0 || count > (int32_t)p->tokens)
            return TW_E_DATA;
        if ((uint32_t)at + (uint32_t)count > p->limit)
            return TW_E_FULL;
    }
    return TW_OK;
}

uint32_t tw_tokens(const tw_context *context)
{
    const tw_model *m = context ? (const tw_model *)context->model.constant : NULL;
    const int32_t at = m && m->position_count ? *position_at(context, m, 0) : 0;
    return at > 0 ? (uint32_t)at : 0;
}

/* Are the tokens in front of `tokens` still there? */
static int is_held(const tw_plan_position *p, uint32_t at, uint32_t tokens)
{
    return tokens == 0 || p->kept == 0 || at <= p->kept || tokens >= at - p->kept + p->window;
}

tw_status tw_rewind(tw_context *context, uint32_t tokens)
{
    const tw_model *m = context ? (const tw_model *)context->model.constant : NULL;
    uint32_t i;
    if (!m || context->segment < m->segment_count || m->position_count == 0)
        return TW_E_ARGUMENT;
    if (context->flags != 0)
        return TW_E_DIRTY;
    for (i = 0; i < m->position_count; i++) {
        const int32_t at = *position_at(context, m, i);
        if (at < 0 || tokens > (uint32_t)at || !is_held(&m->positions[i], (uint32_t)at, tokens))
            return TW_E_ARGUMENT;
    }
    for (i = 0; i < m->position_count; i++)
        *position_at(context, m, i) = (int32_t)tokens;
    return TW_OK;
}

const tw_position_part tw_part_positions = {check, allow};
