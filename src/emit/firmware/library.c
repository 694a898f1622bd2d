/* NAME.c and NAME_plan.c: the model, its kernels and the plan's bytes. With the plan embedded, the
 * verified model is a constant too: a running network takes its arenas and one context, to the byte what
 * the plan announces. */
#include <string.h>

#include "emit/firmware/make.h"
#include "runtime/rows.h"

/* ---- NAME.c ---- */

static void write_kernels(const tw_making *m, FILE *f)
{
    fprintf(f, "/* In the plan's order: what stands here is linked, nothing else. */\n");
    if (m->kernel_count == 0) {
        fprintf(f, "#define KERNELS NULL\n#define KERNEL_COUNT 0u\n\n");
        return;
    }
    fprintf(f, "static const tw_kernel *const kernels[] = {\n");
    for (uint32_t i = 0; i < m->kernel_count; i++)
        fprintf(f, "    &%s,\n", m->kernels[i]);
    fprintf(f, "};\n#define KERNELS kernels\n"
               "#define KERNEL_COUNT ((uint32_t)(sizeof kernels / sizeof *kernels))\n\n");
}

/* Likewise. */
static void write_parts(const tw_making *m, FILE *f)
{
    const char *part[TW_FIRMWARE_PARTS];
    tw_firmware_parts(&m->session->model, part);
    fprintf(f, "static const tw_parts parts = {");
    for (int i = 0; i < TW_FIRMWARE_PARTS; i++)
        fprintf(f, "%s%s%s", i ? ", " : "", part[i] ? "&" : "", part[i] ? part[i] : "NULL");
    fprintf(f, "};\n\n");
}

/* The fields of tw_model, in their order: addresses inside the plan, then counts. */
static void write_model(const tw_making *m, FILE *f)
{
    const tw_model *model = &m->session->model;
    const struct {
        const char *type;
        const void *at;
    } sections[] = {
        {"tw_tensor", model->tensors},      {"tw_plan_segment", model->segments},
        {"tw_plan_step", model->steps},     {"tw_plan_operand", model->operands},
        {"tw_plan_blob", model->blobs},     {"tw_plan_stream", model->streams},
        {"tw_plan_state", model->states},   {"tw_plan_control", model->controls},
        {"tw_plan_column", model->columns}, {"tw_plan_position", model->positions},
        {"uint32_t", model->attributes},    {"uint32_t", model->inputs},
        {"uint32_t", model->outputs},       {"uint8_t", model->constants},
    };
    fprintf(f,
            "#define AT(type, offset) ((const type *)(const void *)(%s_plan + (offset) / 4u))\n"
            "const tw_model %s_model = {\n"
            "    AT(uint8_t, 0u),\n    AT(struct tw_plan_header, 0u),\n    KERNELS,\n"
            "    &parts,\n",
            m->name, m->name);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sections[i].at)
            fprintf(f, "    AT(%s, %uu),\n", sections[i].type,
                    (uint32_t)((const uint8_t *)sections[i].at - model->plan));
        else
            fprintf(f, "    NULL,\n");
    fprintf(f, "    %uu,\n", model->constants_bytes);
    fprintf(f, "    %uu, %uu, %uu, %uu, %uu, %uu,\n", model->tensor_count, model->segment_count,
            model->step_count, model->operand_count, model->blob_count, model->stream_count);
    fprintf(f, "    %uu, %uu, %uu, %uu, %uu, %uu,\n", model->attribute_words, model->input_count,
            model->output_count, model->state_count, model->control_count, model->column_count);
    fprintf(f, "    %uu, UINT32_MAX, 0u,\n};\n\n", model->position_count);
}

static void write_load(const tw_making *m, FILE *f)
{
    if (m->options->external)
        fprintf(f,
                "tw_status %s_load(tw_model *model, const void *plan, uint32_t bytes)\n"
                "{\n"
                "    tw_status status = tw_load_with(model, plan, bytes, KERNELS, KERNEL_COUNT,\n"
                "                                    &parts);\n"
                "    if (status != TW_OK || model->header->crc == %s_PLAN_CRC)\n"
                "        return status;\n"
                "    model->header = NULL;\n"
                "    return TW_E_FORMAT;\n"
                "}\n\n",
                m->name, m->big);
    else
        fprintf(
            f,
            "tw_status %s_load(void)\n"
            "{\n"
            "    tw_model verified;\n"
            "    return tw_load_with(&verified, %s_plan, %s_PLAN_BYTES, KERNELS, KERNEL_COUNT,\n"
            "                        &parts);\n"
            "}\n\n",
            m->name, m->name, m->big);
}

static void write_init(const tw_making *m, FILE *f)
{
    fprintf(f, "tw_status %s_init(%s_network *network%s", m->name, m->name,
            m->options->external ? ", const tw_model *model" : "");
    tw_write_memory_parameters(m, f);
    fprintf(f, ")\n{\n    tw_memory memory[TW_MAX_REGIONS - 1];\n"
               "    memset(memory, 0, sizeof memory);\n");
    for (uint32_t r = 1; r < TW_MAX_REGIONS; r++)
        if (tw_firmware_region_bytes(m, r))
            fprintf(f,
                    "    memory[%u].base = %s;\n"
                    "    memory[%u].bytes = %s_bytes;\n",
                    r - 1, tw_firmware_regions[r].argument, r - 1, tw_firmware_regions[r].argument);
    if (m->options->align > TW_PLAN_ALIGN)
        for (uint32_t r = 1; r < TW_MAX_REGIONS; r++)
            if (tw_firmware_region_bytes(m, r))
                fprintf(f,
                        "    if (((uintptr_t)%s & (%s_ALIGN - 1u)) != 0)\n"
                        "        return TW_E_ALIGNMENT;\n",
                        tw_firmware_regions[r].argument, m->big);
    fprintf(f, "    return tw_init(&network->context, %s%s, memory, TW_MAX_REGIONS - 1);\n}\n\n",
            m->options->external ? "model" : tw_format(m->arena, "&%s_model", m->name), "");
}

static void write_bodies(const tw_making *m, FILE *f)
{
    const char *n = m->name;
    fprintf(f,
            "tw_status %s_run(%s_network *network)\n{\n    return tw_run(&network->context);\n}\n\n"
            "tw_status %s_run_some(%s_network *network, uint32_t calls)\n"
            "{\n    return tw_run_some(&network->context, calls);\n}\n\n"
            "tw_status %s_reset(%s_network *network)\n"
            "{\n    return tw_reset(&network->context);\n}\n",
            n, n, n, n, n, n);
    if (m->session->model.header->state)
        fprintf(f,
                "\ntw_status %s_save(const %s_network *network, void *saved)\n"
                "{\n    return tw_save(&network->context, saved, %s_SAVED_BYTES);\n}\n\n"
                "tw_status %s_restore(%s_network *network, const void *saved)\n"
                "{\n    return tw_restore(&network->context, saved, %s_SAVED_BYTES);\n}\n",
                n, n, m->big, n, n, m->big);
    if (m->session->model.position_count)
        fprintf(f,
                "\nuint32_t %s_tokens(const %s_network *network)\n"
                "{\n    return tw_tokens(&network->context);\n}\n\n"
                "tw_status %s_rewind(%s_network *network, uint32_t tokens)\n"
                "{\n    return tw_rewind(&network->context, tokens);\n}\n",
                n, n, n, n);
    for (uint32_t i = 0; i < m->session->model.input_count; i++) {
        const char *type = tw_c_type(m->inputs[i].tensor->dtype);
        if (!m->inputs[i].row_bytes)
            fprintf(f,
                    "\n%s *%s_input_%s(%s_network *network)\n"
                    "{\n    return (%s *)tw_input(&network->context, %uu);\n}\n",
                    type, n, m->inputs[i].c, n, type, i);
    }
    for (uint32_t i = 0; i < m->session->model.output_count; i++) {
        const char *type = tw_c_type(m->outputs[i].tensor->dtype);
        if (!m->outputs[i].row_bytes)
            fprintf(f,
                    "\nconst %s *%s_output_%s(%s_network *network)\n"
                    "{\n    return (const %s *)tw_output(&network->context, %uu);\n}\n",
                    type, n, m->outputs[i].c, n, type, i);
    }
    if (m->is_fed)
        fprintf(f,
                "\nvoid %s_set_feed(%s_network *network, tw_feed feed, void *user)\n"
                "{\n    tw_set_feed(&network->context, feed, user);\n}\n",
                n, n);
    if (m->is_drained)
        fprintf(f,
                "\nvoid %s_set_drain(%s_network *network, tw_drain drain, void *user)\n"
                "{\n    tw_set_drain(&network->context, drain, user);\n}\n",
                n, n);
}

static void write_source(const tw_making *m)
{
    tw_text text;
    tw_text_begin(&text);
    FILE *f = text.file;
    fprintf(f,
            "/* %s: the model, its kernels and the functions that %s.h declares. */\n"
            "#include \"%s.h\"\n\n#include \"%s\"\n"
            "#include \"runtime/parts.h\"\n\n",
            m->name, m->name, m->name, tw_kernels_header(m));
    tw_write_assertions(m, f);
    write_kernels(m, f);
    write_parts(m, f);
    if (!m->options->external)
        write_model(m, f);
    write_load(m, f);
    write_init(m, f);
    write_bodies(m, f);
    tw_text_end(&text, m, tw_format(m->arena, "src/%s.c", m->name));
}

/* ---- NAME_plan.c ---- */

static void write_plan(const tw_making *m)
{
    const tw_model *model = &m->session->model;
    tw_text text;
    if (m->options->external) {
        tw_tree_add(m->tree, tw_format(m->arena, "%s.twp", m->name), model->plan,
                    model->header->bytes);
        return;
    }
    tw_text_begin(&text);
    fprintf(text.file,
            "/* %s: the plan, little-endian words, for any flash that can be read like memory. */\n"
            "#include \"%s.h\"\n\n",
            m->name, m->name);
    tw_write_word_array(m, text.file, "plan", model->plan, model->header->bytes);
    tw_text_end(&text, m, tw_format(m->arena, "src/%s_plan.c", m->name));
}

void tw_write_library(const tw_making *m)
{
    tw_write_header(m);
    write_source(m);
    write_plan(m);
}
