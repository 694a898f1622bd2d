/* The pair NAME.h and NAME.c, and NAME_plan.c with the plan's bytes: what firmware sees of a model.
 * With the plan embedded, the verified model is a constant too: a running network takes its arenas and
 * one context, to the byte what the plan announces. */
#include <string.h>

#include "emit/firmware/make.h"
#include "runtime/rows.h"
#include "tilewright/compiler.h"

const tw_region_words tw_firmware_regions[TW_MAX_REGIONS] = {
    {"", "", ""},
    {"arena", "ARENA", "activations, scratch and row counters"},
    {"state", "STATE", "what survives a run"},
    {"slow", "SLOW", "activations in the slow memory"},
};

static uint32_t region_bytes(const tw_making *m, uint32_t region)
{
    const uint32_t bytes = tw_region_bytes(&m->session->model, region), align = m->options->align;
    return (bytes + align - 1) / align * align;
}

/* ---- NAME.h ---- */

static void write_port_words(const tw_making *m, FILE *f, const char *kind, uint32_t i,
                             const tw_port *p)
{
    fprintf(f, " *     %s %u   %s   %s", kind, i, *p->title ? p->title : p->c,
            tw_shape_words(m->arena, p->tensor));
    if (p->tensor->scale != 0)
        fprintf(f, ", real = %s * (stored - %d)", tw_c_float(m->arena, p->tensor->scale),
                p->tensor->zero_point);
    if (p->row_bytes)
        fprintf(f, ", by rows");
    fprintf(f, "\n");
}

static void write_head(const tw_making *m, FILE *f)
{
    const tw_model *model = &m->session->model;
    const tw_plan_header *h = model->header;
    fprintf(f, "/* %s: %u steps in %u segments, by tilewright " TW_VERSION ".\n *\n",
            *m->title ? m->title : m->name, model->step_count, model->segment_count);
    for (uint32_t i = 0; i < model->input_count; i++)
        write_port_words(m, f, "input", i, &m->inputs[i]);
    for (uint32_t i = 0; i < model->output_count; i++)
        write_port_words(m, f, "output", i, &m->outputs[i]);
    fprintf(f,
            " *\n *     RAM    %llu bytes: activations %u, scratch %u, state %u, context and row "
            "counters %u;\n *            the stack comes on top\n"
            " *     flash  %u bytes: the plan with its weights; the code comes on top\n",
            (unsigned long long)h->activations + h->scratch + h->state + h->context, h->activations,
            h->scratch, h->state, h->context, h->bytes);
    fprintf(f, " *\n * The model file had SHA-256\n *     ");
    for (size_t i = 0; i < sizeof h->source_sha256; i++)
        fprintf(f, "%02x", h->source_sha256[i]);
    fprintf(f, "\n */\n");
}

static void write_alignment(const tw_making *m, FILE *f)
{
    fprintf(f,
            "/* Stands in front of the definition of an arena. */\n"
            "#define %s_ALIGN %uu\n"
            "#if defined(__cplusplus)\n"
            "#define %s_ALIGNED alignas(%u)\n"
            "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
            "#define %s_ALIGNED _Alignas(%u)\n"
            "#elif defined(__GNUC__)\n"
            "#define %s_ALIGNED __attribute__((aligned(%u)))\n"
            "#else\n"
            "#define %s_ALIGNED /* this compiler's way of aligning to %u bytes goes here */\n"
            "#endif\n\n",
            m->big, m->options->align, m->big, m->options->align, m->big, m->options->align, m->big,
            m->options->align, m->big, m->options->align);
}

static void write_sizes(const tw_making *m, FILE *f)
{
    const tw_plan_header *h = m->session->model.header;
    fprintf(f, "/* Bytes. */\n#define %s_PLAN_BYTES %uu\n", m->big, h->bytes);
    fprintf(f, "#define %s_PLAN_CRC 0x%08xu /* of its header and directory */\n", m->big, h->crc);
    for (uint32_t r = 1; r < TW_MAX_REGIONS; r++)
        if (region_bytes(m, r))
            fprintf(f, "#define %s_%s_BYTES %uu /* %s */\n", m->big, tw_firmware_regions[r].macro,
                    region_bytes(m, r), tw_firmware_regions[r].meaning);
    fprintf(f, "#define %s_CONTEXT_BYTES %uu\n", m->big, (uint32_t)sizeof(tw_context));
    fprintf(f, "#define %s_RAM_BYTES %uu /* all of the above but the plan */\n", m->big,
            region_bytes(m, 1) + region_bytes(m, 2) + region_bytes(m, 3) +
                (uint32_t)sizeof(tw_context));
    if (h->state)
        fprintf(f, "#define %s_SAVED_BYTES %uu /* of a saved state */\n", m->big,
                tw_saved_bytes(&m->session->model));
    fprintf(f, "\n");
}

/* An array type says the shape, where C has one for it. */
static bool has_array_type(const tw_port *p)
{
    if (p->tensor->rank == 0 || !tw_is_dense(p->tensor))
        return false;
    for (int i = 0; i < p->tensor->rank; i++)
        if (p->tensor->dim[i] == 0)
            return false;
    return true;
}

static void write_port(const tw_making *m, FILE *f, const char *kind, uint32_t i, const tw_port *p)
{
    const bool out = strcmp(kind, "output") == 0;
    const char *big = out ? "OUTPUT" : "INPUT", *type = tw_c_type(p->tensor->dtype);
    const uint32_t bytes = tw_tensor_bytes(p->tensor);
    fprintf(f, "/* %s %u, %s: %s", kind, i, *p->title ? p->title : "without a name",
            tw_shape_words(m->arena, p->tensor));
    if (!tw_is_dense(p->tensor)) {
        fprintf(f, ", elements apart:");
        for (int k = 0; k < p->tensor->rank; k++)
            fprintf(f, " %d", p->tensor->stride[k]);
    }
    fprintf(f, " */\n#define %s_%s_%s_INDEX %uu\n", m->big, big, p->big, i);
    fprintf(f, "#define %s_%s_%s_ELEMENTS %uu\n", m->big, big, p->big,
            bytes / tw_dtype_bytes(p->tensor->dtype));
    fprintf(f, "#define %s_%s_%s_BYTES %uu\n", m->big, big, p->big, bytes);
    if (p->tensor->scale != 0) {
        fprintf(f, "#define %s_%s_%s_SCALE %s /* real = scale * (stored - zero point) */\n", m->big,
                big, p->big, tw_c_float(m->arena, p->tensor->scale));
        fprintf(f, "#define %s_%s_%s_ZERO_POINT (%d)\n", m->big, big, p->big,
                p->tensor->zero_point);
    }
    if (has_array_type(p)) {
        fprintf(f, "typedef %s %s_tensor_%s_%s", type, m->name, kind, p->c);
        for (int k = 0; k < p->tensor->rank; k++)
            fprintf(f, "[%d]", p->tensor->dim[k]);
        fprintf(f, ";\n");
    }
    if (p->row_bytes)
        fprintf(
            f,
            "#define %s_INPUT_%s_ROW_BYTES %du /* its rows are asked for: see %s_set_feed */\n\n",
            m->big, p->big, p->row_bytes, m->name);
    else
        fprintf(f, "%s%s *%s_%s_%s(%s_network *network);\n\n", out ? "const " : "", type, m->name,
                kind, p->c, m->name);
}

/* ", void *arena, uint32_t arena_bytes", for each memory used. */
static void write_memory_parameters(const tw_making *m, FILE *f)
{
    for (uint32_t r = 1; r < TW_MAX_REGIONS; r++)
        if (region_bytes(m, r))
            fprintf(f, ", void *%s, uint32_t %s_bytes", tw_firmware_regions[r].argument,
                    tw_firmware_regions[r].argument);
}

static void write_functions(const tw_making *m, FILE *f)
{
    const char *n = m->name;
    fprintf(f,
            "/* One running instance. There may be several; none points into itself. */\n"
            "typedef struct %s_network {\n    tw_context context;\n} %s_network;\n\n",
            n, n);
    if (m->options->external)
        fprintf(f,
                "/* Verify the plan and everything it refers to, and fill in the model. `plan`:\n"
                " * %s_PLAN_BYTES bytes, aligned to 16, that stay in place; `tilewright codegen` "
                "wrote them\n"
                " * to %s.twp. TW_E_FORMAT: a sound plan, but another one. */\n"
                "tw_status %s_load(tw_model *model, const void *plan, uint32_t bytes);\n\n"
                "/* Bind an instance to a loaded model, which several may share, and to memory of "
                "its own.\n"
                " * TW_E_MEMORY: too small. */\n"
                "tw_status %s_init(%s_network *network, const tw_model *model",
                m->big, n, n, n, n);
    else
        fprintf(f,
                "/* Verify the plan in flash, checksums included: once after power-up. */\n"
                "tw_status %s_load(void);\n\n"
                "/* Bind an instance to memory of its own. TW_E_MEMORY: too small. */\n"
                "tw_status %s_init(%s_network *network",
                n, n, n);
    write_memory_parameters(m, f);
    fprintf(f,
            ");\n\n"
            "/* Run once on the inputs in place, which the run may overwrite. */\n"
            "tw_status %s_run(%s_network *network);\n\n"
            "/* Run at most so many kernel calls: TW_RUNNING until the run is complete. */\n"
            "tw_status %s_run_some(%s_network *network, uint32_t calls);\n\n"
            "/* Forget all state and any half-finished run. */\n"
            "tw_status %s_reset(%s_network *network);\n\n",
            n, n, n, n, n, n);
    if (m->session->model.header->state)
        fprintf(f,
                "/* State to %s_SAVED_BYTES bytes and back, between runs. */\n"
                "tw_status %s_save(const %s_network *network, void *saved);\n"
                "tw_status %s_restore(%s_network *network, const void *saved);\n\n",
                m->big, n, n, n, n);
    for (uint32_t i = 0; i < m->session->model.input_count; i++)
        if (m->inputs[i].row_bytes) {
            fprintf(f,
                    "/* Where the rows come from: called during a run, as rows are needed. */\n"
                    "void %s_set_feed(%s_network *network, tw_feed feed, void *user);\n\n",
                    n, n);
            break;
        }
}

static void write_header(const tw_making *m)
{
    tw_text text;
    tw_text_begin(&text);
    FILE *f = text.file;
    write_head(m, f);
    fprintf(f,
            "#ifndef %s_H\n#define %s_H\n\n#include \"tilewright/runtime.h\"\n\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
            m->big, m->big);
    write_sizes(m, f);
    write_alignment(m, f);
    write_functions(m, f);
    for (uint32_t i = 0; i < m->session->model.input_count; i++)
        write_port(m, f, "input", i, &m->inputs[i]);
    for (uint32_t i = 0; i < m->session->model.output_count; i++)
        write_port(m, f, "output", i, &m->outputs[i]);
    if (!m->options->external)
        fprintf(f,
                "/* The plan, and the model as %s_load verifies it; both constant. */\n"
                "extern const uint32_t %s_plan[%s_PLAN_BYTES / 4u];\n"
                "extern const tw_model %s_model;\n\n",
                m->name, m->name, m->big, m->name);
    fprintf(f, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    tw_text_end(&text, m, tw_format(m->arena, "src/%s.h", m->name));
}

/* ---- NAME.c ---- */

static void write_assertions(const tw_making *m, FILE *f)
{
    fprintf(f,
            "/* What was true when this was written must be true where it is compiled. */\n"
            "#define HOLDS(what, condition) typedef char %s_##what[(condition) ? 1 : -1]\n"
            "HOLDS(context_has_its_size, sizeof(%s_network) == %s_CONTEXT_BYTES);\n"
            "HOLDS(runtime_reads_the_plan, TW_PLAN_MAJOR == %uu && TW_PLAN_MINOR >= %uu);\n",
            m->name, m->name, m->big, m->session->model.header->major,
            m->session->model.header->minor);
    for (uint32_t r = 1; r < TW_MAX_REGIONS; r++)
        if (region_bytes(m, r))
            fprintf(f, "HOLDS(%s_suffices, %s_%s_BYTES >= %uu);\n", tw_firmware_regions[r].argument,
                    m->big, tw_firmware_regions[r].macro, tw_region_bytes(&m->session->model, r));
    for (int out = 0; out < 2; out++) {
        const uint32_t count = out ? m->session->model.output_count : m->session->model.input_count;
        for (uint32_t i = 0; i < count; i++) {
            const tw_port *p = out ? &m->outputs[i] : &m->inputs[i];
            const char *kind = out ? "output" : "input";
            if (has_array_type(p))
                fprintf(f,
                        "HOLDS(%s_%s_has_its_size, sizeof(%s_tensor_%s_%s) == %s_%s_%s_BYTES);\n",
                        kind, p->c, m->name, kind, p->c, m->big, out ? "OUTPUT" : "INPUT", p->big);
        }
    }
    fprintf(f, "\n");
}

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

/* The fields of tw_model, in their order: addresses inside the plan, then counts. */
static void write_model(const tw_making *m, FILE *f)
{
    const tw_model *model = &m->session->model;
    const struct {
        const char *type;
        const void *at;
    } sections[] = {
        {"tw_tensor", model->tensors},    {"tw_plan_segment", model->segments},
        {"tw_plan_step", model->steps},   {"tw_plan_operand", model->operands},
        {"tw_plan_blob", model->blobs},   {"tw_plan_stream", model->streams},
        {"tw_plan_state", model->states}, {"uint32_t", model->attributes},
        {"uint32_t", model->inputs},      {"uint32_t", model->outputs},
        {"uint8_t", model->constants},
    };
    fprintf(f,
            "#define AT(type, offset) ((const type *)(const void *)(%s_plan + (offset) / 4u))\n"
            "const tw_model %s_model = {\n"
            "    AT(uint8_t, 0u),\n    AT(struct tw_plan_header, 0u),\n    KERNELS,\n",
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
    fprintf(f, "    %uu, %uu, %uu, %uu,\n", model->attribute_words, model->input_count,
            model->output_count, model->state_count);
    fprintf(f, "    UINT32_MAX, 0u,\n};\n\n");
}

static void write_load(const tw_making *m, FILE *f)
{
    if (m->options->external)
        fprintf(f,
                "tw_status %s_load(tw_model *model, const void *plan, uint32_t bytes)\n"
                "{\n"
                "    tw_status status = tw_load(model, plan, bytes, KERNELS, KERNEL_COUNT);\n"
                "    if (status != TW_OK || model->header->crc == %s_PLAN_CRC)\n"
                "        return status;\n"
                "    model->header = NULL;\n"
                "    return TW_E_FORMAT;\n"
                "}\n\n",
                m->name, m->big);
    else
        fprintf(f,
                "tw_status %s_load(void)\n"
                "{\n"
                "    tw_model verified;\n"
                "    return tw_load(&verified, %s_plan, %s_PLAN_BYTES, KERNELS, KERNEL_COUNT);\n"
                "}\n\n",
                m->name, m->name, m->big);
}

static void write_init(const tw_making *m, FILE *f)
{
    fprintf(f, "tw_status %s_init(%s_network *network%s", m->name, m->name,
            m->options->external ? ", const tw_model *model" : "");
    write_memory_parameters(m, f);
    fprintf(f, ")\n{\n    tw_memory memory[TW_MAX_REGIONS - 1];\n"
               "    memset(memory, 0, sizeof memory);\n");
    for (uint32_t r = 1; r < TW_MAX_REGIONS; r++)
        if (region_bytes(m, r))
            fprintf(f,
                    "    memory[%u].base = %s;\n"
                    "    memory[%u].bytes = %s_bytes;\n",
                    r - 1, tw_firmware_regions[r].argument, r - 1, tw_firmware_regions[r].argument);
    if (m->options->align > TW_PLAN_ALIGN)
        for (uint32_t r = 1; r < TW_MAX_REGIONS; r++)
            if (region_bytes(m, r))
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
    bool fed = false;
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
    for (uint32_t i = 0; i < m->session->model.input_count; i++) {
        const char *type = tw_c_type(m->inputs[i].tensor->dtype);
        fed |= m->inputs[i].row_bytes != 0;
        if (!m->inputs[i].row_bytes)
            fprintf(f,
                    "\n%s *%s_input_%s(%s_network *network)\n"
                    "{\n    return (%s *)tw_input(&network->context, %uu);\n}\n",
                    type, n, m->inputs[i].c, n, type, i);
    }
    for (uint32_t i = 0; i < m->session->model.output_count; i++) {
        const char *type = tw_c_type(m->outputs[i].tensor->dtype);
        fprintf(f,
                "\nconst %s *%s_output_%s(%s_network *network)\n"
                "{\n    return (const %s *)tw_output(&network->context, %uu);\n}\n",
                type, n, m->outputs[i].c, n, type, i);
    }
    if (fed)
        fprintf(f,
                "\nvoid %s_set_feed(%s_network *network, tw_feed feed, void *user)\n"
                "{\n    tw_set_feed(&network->context, feed, user);\n}\n",
                n, n);
}

static void write_source(const tw_making *m)
{
    tw_text text;
    tw_text_begin(&text);
    FILE *f = text.file;
    fprintf(f,
            "/* %s: the model, its kernels and the functions that %s.h declares. */\n"
            "#include \"%s.h\"\n\n#include \"ops/codes.h\"\n\n",
            m->name, m->name, m->name);
    write_assertions(m, f);
    write_kernels(m, f);
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
            "/* %s: the plan, little-endian words. May be placed anywhere in flash that can be "
            "read like "
            "memory. */\n"
            "#include \"%s.h\"\n\n"
            "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
            "#error \"plans are for little-endian processors\"\n"
            "#endif\n\n"
            "#if defined(__cplusplus)\n"
            "alignas(16)\n"
            "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
            "_Alignas(16)\n"
            "#elif defined(__GNUC__)\n"
            "__attribute__((aligned(16)))\n"
            "#endif\n"
            "const uint32_t %s_plan[%s_PLAN_BYTES / 4u] = {",
            m->name, m->name, m->name, m->big);
    tw_c_words(text.file, model->plan, model->header->bytes);
    fprintf(text.file, "\n};\n");
    tw_text_end(&text, m, tw_format(m->arena, "src/%s_plan.c", m->name));
}

void tw_write_library(const tw_making *m)
{
    write_header(m);
    write_source(m);
    write_plan(m);
}
