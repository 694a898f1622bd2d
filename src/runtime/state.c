/* The states of a context: which there are, saving and restoring them.
 *
 *     blob: magic | version | checksum of the plan's head | bytes of state | CRC-32 of the state |
 *           CRC-32 of the five words before | state
 */
#include "runtime/plan.h"

enum { HEAD_WORDS = 6, HEAD_BYTES = 24 };

#define TW_STATE_MAGIC 0x54535754u /* "TWST" */
#define TW_STATE_VERSION 1u

uint32_t tw_saved_bytes(const tw_model *model)
{
    return model && model->header ? HEAD_BYTES + model->header->state : 0;
}

static void fill_head(const tw_model *m, const void *state, uint32_t *head)
{
    head[0] = TW_STATE_MAGIC;
    head[1] = TW_STATE_VERSION;
    head[2] = m->header->crc;
    head[3] = m->header->state;
    head[4] = tw_crc32(0, state, m->header->state);
    head[5] = tw_crc32(0, head, 20);
}

/* The model of a context that is between runs, or null. */
static const tw_model *idle_model(const tw_context *context)
{
    const tw_model *m = context ? (const tw_model *)context->model.constant : NULL;
    return m && context->segment >= m->segment_count ? m : NULL;
}

tw_status tw_save(const tw_context *context, void *blob, uint32_t bytes)
{
    const tw_model *m = idle_model(context);
    uint32_t head[HEAD_WORDS];
    if (!m || !blob)
        return TW_E_ARGUMENT;
    if (bytes < tw_saved_bytes(m))
        return TW_E_MEMORY;
    if (context->flags != 0)
        return TW_E_DIRTY;
    fill_head(m, context->region[TW_REGION_STATE].pointer, head);
    memcpy(blob, head, HEAD_BYTES);
    if (m->header->state != 0)
        memcpy((uint8_t *)blob + HEAD_BYTES, context->region[TW_REGION_STATE].pointer,
               m->header->state);
    return TW_OK;
}

tw_status tw_restore(tw_context *context, const void *blob, uint32_t bytes)
{
    const tw_model *m = idle_model(context);
    const uint8_t *state = (const uint8_t *)blob + HEAD_BYTES;
    uint32_t head[HEAD_WORDS];
    if (!m || !blob)
        return TW_E_ARGUMENT;
    if (bytes < tw_saved_bytes(m))
        return TW_E_STATE;
    fill_head(m, state, head);
    if (memcmp(head, blob, HEAD_BYTES) != 0)
        return TW_E_STATE;
    if (m->header->state != 0)
        memcpy(context->region[TW_REGION_STATE].pointer, state, m->header->state);
    context->flags = 0;
    return TW_OK;
}

/* ---- one by one ---- */

uint32_t tw_state_count(const tw_model *model)
{
    return model ? model->state_count : 0;
}

const tw_tensor *tw_state_tensor(const tw_model *model, uint32_t index)
{
    return model && index < model->state_count ? &model->tensors[model->states[index].tensor]
                                               : NULL;
}

void *tw_state_data(tw_context *context, uint32_t index)
{
    const tw_tensor *t =
        tw_state_tensor(context ? (const tw_model *)context->model.constant : NULL, index);
    return t ? (uint8_t *)context->region[TW_REGION_STATE].pointer + t->offset : NULL;
}

/* Names stand behind one another: of the model, the inputs, outputs, steps and tensors. */
const char *tw_state_name(const tw_model *model, uint32_t index)
{
    const tw_plan_section *s;
    uint32_t i, at = 0, end = 0, skip;
    const char *text = NULL;
    if (!model || index >= model->state_count)
        return NULL;
    s = (const tw_plan_section *)(const void *)(model->header + 1);
    for (i = 0; i < model->header->section_count; i++)
        if (s[i].kind == TW_SECTION_NAMES) {
            text = (const char *)model->plan + s[i].offset;
            end = s[i].bytes;
        }
    skip = 1u + model->input_count + model->output_count + model->step_count +
           model->states[index].tensor;
    for (; at < end && skip > 0; at++)
        skip -= text[at] == 0;
    for (i = at; i < end; i++) /* it must end */
        if (text[i] == 0)
            return text + at;
    return "";
}
