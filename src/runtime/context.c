/* Contexts: binding a model to memory, inputs and outputs, reset. */
#include "runtime/rows.h"

uint32_t tw_region_bytes(const tw_model *model, uint32_t region)
{
    return model && model->header && region < TW_MAX_REGIONS ? model->header->region_bytes[region]
                                                             : 0;
}

/* Put every state to its initial value. */
static void reset_state(const tw_context *context, const tw_model *m)
{
    uint8_t *base = (uint8_t *)context->region[TW_REGION_STATE].pointer;
    uint32_t i;
    if (m->header->state == 0)
        return;
    memset(base, 0, m->header->state);
    for (i = 0; i < m->state_count; i++) {
        const tw_tensor *t = &m->tensors[m->states[i].tensor];
        if (m->states[i].initial != TW_ABSENT)
            memcpy(base + t->offset, m->constants + m->states[i].initial, tw_tensor_bytes(t));
    }
}

tw_status tw_reset(tw_context *context)
{
    const tw_model *m;
    if (!context || !context->model.constant)
        return TW_E_ARGUMENT;
    m = (const tw_model *)context->model.constant;
    reset_state(context, m);
    context->segment = m->segment_count;
    context->flags = 0;
    context->error_step = UINT32_MAX;
    context->error_operator = 0;
    context->firings = 0;
    context->moved = 0;
    return TW_OK;
}

tw_status tw_init(tw_context *context, const tw_model *model, const tw_memory *memory,
                  uint32_t memory_count)
{
    uint32_t region;
    if (!context || !model || !model->header || (!memory && memory_count != 0))
        return TW_E_ARGUMENT;
    memset(context, 0, sizeof *context);
    for (region = 1; region < TW_MAX_REGIONS; region++) {
        const uint32_t bytes = tw_region_bytes(model, region);
        const tw_memory *m = region <= memory_count ? &memory[region - 1] : NULL;
        if (bytes == 0 && (!m || !m->base))
            continue;
        if (!m || !m->base || m->bytes < bytes)
            return TW_E_MEMORY;
        if (((uintptr_t)m->base & (TW_PLAN_ALIGN - 1u)) != 0)
            return TW_E_ALIGNMENT;
        context->region[region].pointer = m->base;
    }
    context->region[TW_REGION_CONSTANT].constant = model->constants;
    context->model.constant = model;
    return tw_reset(context);
}

void tw_set_hook(tw_context *context, tw_hook hook, void *user)
{
    context->hook.function = hook;
    context->hook_user.pointer = user;
}

void tw_set_feed(tw_context *context, tw_feed feed, void *user)
{
    context->feed.function = feed;
    context->feed_user.pointer = user;
}

void tw_set_drain(tw_context *context, tw_drain drain, void *user)
{
    context->drain.function = drain;
    context->drain_user.pointer = user;
}

const tw_tensor *tw_input_tensor(const tw_model *model, uint32_t index)
{
    return model && index < model->input_count ? &model->tensors[model->inputs[index]] : NULL;
}

const tw_tensor *tw_output_tensor(const tw_model *model, uint32_t index)
{
    return model && index < model->output_count ? &model->tensors[model->outputs[index]] : NULL;
}

static void *tensor_data(tw_context *context, const tw_tensor *tensor)
{
    return tensor && tensor->window == 0
               ? (uint8_t *)context->region[tensor->region].pointer + tensor->offset
               : NULL;
}

void *tw_input(tw_context *context, uint32_t index)
{
    return context ? tensor_data(context,
                                 tw_input_tensor((const tw_model *)context->model.constant, index))
                   : NULL;
}

void *tw_output(tw_context *context, uint32_t index)
{
    return context ? tensor_data(context,
                                 tw_output_tensor((const tw_model *)context->model.constant, index))
                   : NULL;
}
