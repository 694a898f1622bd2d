/* NAME.h: what firmware sees of a model, its sizes as constants and its inputs and outputs by name. */
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

uint32_t tw_firmware_region_bytes(const tw_making *m, uint32_t region)
{
    const uint32_t bytes = tw_region_bytes(&m->session->model, region), align = m->options->align;
    return (bytes + align - 1) / align * align;
}

uint32_t tw_firmware_ram_bytes(const tw_making *m)
{
    uint32_t bytes = m->options->direct ? 0 : (uint32_t)sizeof(tw_context);
    for (uint32_t r = 1; r < TW_MAX_REGIONS; r++)
        bytes += tw_firmware_region_bytes(m, r);
    return bytes;
}

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
            " *\n *     RAM    %u bytes: activations %u, scratch %u, state %u, the rest for the "
            "runtime;\n"
            " *            the stack comes on top\n"
            " *     flash  %u bytes: %s; the code comes on top\n",
            tw_firmware_ram_bytes(m), h->activations, h->scratch, h->state,
            m->options->direct ? model->constants_bytes : h->bytes,
            m->options->direct ? "weights and tables" : "the plan with its weights");
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
            "#if defined(%s_ALIGNED)\n"
            "#elif defined(__cplusplus)\n"
            "#define %s_ALIGNED alignas(%u)\n"
            "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
            "#define %s_ALIGNED _Alignas(%u)\n"
            "#elif defined(__GNUC__)\n"
            "#define %s_ALIGNED __attribute__((aligned(%u)))\n"
            "#else\n"
            "#error \"define %s_ALIGNED as this compiler's way of aligning to %u bytes\"\n"
            "#endif\n\n",
            m->big, m->options->align, m->big, m->big, m->options->align, m->big, m->options->align,
            m->big, m->options->align, m->big, m->options->align);
}

static void write_sizes(const tw_making *m, FILE *f)
{
    const tw_plan_header *h = m->session->model.header;
    fprintf(f, "/* Bytes. */\n");
    if (m->options->direct)
        fprintf(f, "#define %s_CONSTANT_BYTES %uu /* weights and tables */\n", m->big,
                m->session->model.constants_bytes);
    else
        fprintf(f,
                "#define %s_PLAN_BYTES %uu\n"
                "#define %s_PLAN_CRC 0x%08xu /* of its header and directory */\n",
                m->big, h->bytes, m->big, h->crc);
    for (uint32_t r = 1; r < TW_MAX_REGIONS; r++)
        if (tw_firmware_region_bytes(m, r))
            fprintf(f, "#define %s_%s_BYTES %uu /* %s */\n", m->big, tw_firmware_regions[r].macro,
                    tw_firmware_region_bytes(m, r), tw_firmware_regions[r].meaning);
    if (!m->options->direct)
        fprintf(f, "#define %s_CONTEXT_BYTES %uu\n", m->big, (uint32_t)sizeof(tw_context));
    fprintf(f, "#define %s_RAM_BYTES %uu /* all of the above that is not constant */\n", m->big,
            tw_firmware_ram_bytes(m));
    if (h->state && !m->options->direct)
        fprintf(f, "#define %s_SAVED_BYTES %uu /* of a saved state */\n", m->big,
                tw_saved_bytes(&m->session->model));
    fprintf(f, "\n");
}

/* An array type says the shape, where C has one for it. */
bool tw_has_array_type(const tw_port *p)
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
    if (tw_has_array_type(p)) {
        fprintf(f, "typedef %s %s_tensor_%s_%s", type, m->name, kind, p->c);
        for (int k = 0; k < p->tensor->rank; k++)
            fprintf(f, "[%d]", p->tensor->dim[k]);
        fprintf(f, ";\n");
    }
    if (p->row_bytes)
        fprintf(f, "#define %s_%s_%s_ROW_BYTES %du /* its rows are %s: see %s_set_%s */\n\n",
                m->big, big, p->big, p->row_bytes, out ? "handed over" : "asked for", m->name,
                out ? "drain" : "feed");
    else
        fprintf(f, "%s%s *%s_%s_%s(%s);\n\n", out ? "const " : "", type, m->name, kind, p->c,
                m->options->direct ? "void" : tw_format(m->arena, "%s_network *network", m->name));
}

void tw_write_memory_parameters(const tw_making *m, FILE *f)
{
    for (uint32_t r = 1; r < TW_MAX_REGIONS; r++)
        if (tw_firmware_region_bytes(m, r))
            fprintf(f, ", void *%s, uint32_t %s_bytes", tw_firmware_regions[r].argument,
                    tw_firmware_regions[r].argument);
}

/* Of firmware that holds the one instance of its model. */
static void write_direct_functions(const tw_making *m, FILE *f)
{
    const char *n = m->name;
    fprintf(f, "#define %s_DIRECT 1\n\n", m->big);
    if (m->session->model.header->state)
        fprintf(f,
                "/* Put all state to its start: before the first run, too. */\nvoid "
                "%s_reset(void);\n\n",
                n);
    if (m->session->model.position_count)
        fprintf(
            f,
            "/* Tokens in the caches, and back to the first so many of them: see tw_rewind. */\n"
            "uint32_t %s_tokens(void);\ntw_status %s_rewind(uint32_t tokens);\n\n",
            n, n);
    fprintf(f,
            "/* Run once on the inputs in place, which the run may overwrite. */\n"
            "tw_status %s_run(void);\n\n"
            "/* Inputs and outputs by number; null behind the last, and for an input taken by "
            "rows. */\n"
            "const tw_tensor *%s_nth_input_tensor(uint32_t index);\n"
            "const tw_tensor *%s_nth_output_tensor(uint32_t index);\n"
            "void *%s_nth_input(uint32_t index);\n"
            "void *%s_nth_output(uint32_t index);\n\n",
            n, n, n, n, n);
    if (m->is_fed)
        fprintf(f,
                "/* Where the rows come from: called during a run, as rows are needed. */\n"
                "void %s_set_feed(tw_feed feed, void *user);\n\n",
                n);
}

static void write_functions(const tw_making *m, FILE *f)
{
    const char *n = m->name;
    if (m->options->external)
        fprintf(f, "#define %s_EXTERNAL 1 /* the plan is not in this code */\n\n", m->big);
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
    tw_write_memory_parameters(m, f);
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
    if (m->session->model.position_count)
        fprintf(
            f,
            "/* Tokens in the caches, and back to the first so many of them: see tw_rewind. */\n"
            "uint32_t %s_tokens(const %s_network *network);\n"
            "tw_status %s_rewind(%s_network *network, uint32_t tokens);\n\n",
            n, n, n, n);
    if (m->is_fed)
        fprintf(f,
                "/* Where the rows come from: called during a run, as rows are needed. */\n"
                "void %s_set_feed(%s_network *network, tw_feed feed, void *user);\n\n",
                n, n);
    if (m->is_drained)
        fprintf(f,
                "/* Where the rows go: called during a run, as rows are made. */\n"
                "void %s_set_drain(%s_network *network, tw_drain drain, void *user);\n\n",
                n, n);
}

void tw_write_header(const tw_making *m)
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
    (m->options->direct ? write_direct_functions : write_functions)(m, f);
    for (uint32_t i = 0; i < m->session->model.input_count; i++)
        write_port(m, f, "input", i, &m->inputs[i]);
    for (uint32_t i = 0; i < m->session->model.output_count; i++)
        write_port(m, f, "output", i, &m->outputs[i]);
    if (m->options->direct)
        fprintf(f, "extern const uint32_t %s_constants[%u];\n\n", m->name,
                tw_word_count(m->session->model.constants_bytes));
    else if (!m->options->external)
        fprintf(f,
                "/* The plan, and the model as %s_load verifies it; both constant. */\n"
                "extern const uint32_t %s_plan[%s_PLAN_BYTES / 4u];\n"
                "extern const tw_model %s_model;\n\n",
                m->name, m->name, m->big, m->name);
    fprintf(f, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    tw_text_end(&text, m, tw_format(m->arena, "src/%s.h", m->name));
}

/* ---- what must hold where it is compiled ---- */

void tw_write_assertions(const tw_making *m, FILE *f)
{
    fprintf(f,
            "/* What was true when this was written must be true where it is compiled. */\n"
            "#define HOLDS(what, condition) typedef char %s_##what[(condition) ? 1 : -1]\n"
            "HOLDS(tensor_has_its_size, sizeof(tw_tensor) == %uu);\n",
            m->name, (uint32_t)sizeof(tw_tensor));
    if (m->options->direct)
        fprintf(f, "HOLDS(constants_are_all, sizeof %s_constants >= %s_CONSTANT_BYTES);\n", m->name,
                m->big);
    else
        fprintf(f,
                "HOLDS(context_has_its_size, sizeof(%s_network) == %s_CONTEXT_BYTES);\n"
                "HOLDS(runtime_reads_the_plan, TW_PLAN_MAJOR == %uu && TW_PLAN_MINOR >= %uu);\n",
                m->name, m->big, m->session->model.header->major, m->session->model.header->minor);
    for (uint32_t r = 1; r < TW_MAX_REGIONS; r++)
        if (tw_firmware_region_bytes(m, r))
            fprintf(f, "HOLDS(%s_suffices, %s_%s_BYTES >= %uu);\n", tw_firmware_regions[r].argument,
                    m->big, tw_firmware_regions[r].macro, tw_region_bytes(&m->session->model, r));
    for (int out = 0; out < 2; out++) {
        const uint32_t count = out ? m->session->model.output_count : m->session->model.input_count;
        for (uint32_t i = 0; i < count; i++) {
            const tw_port *p = out ? &m->outputs[i] : &m->inputs[i];
            const char *kind = out ? "output" : "input";
            if (tw_has_array_type(p))
                fprintf(f,
                        "HOLDS(%s_%s_has_its_size, sizeof(%s_tensor_%s_%s) == %s_%s_%s_BYTES);\n",
                        kind, p->c, m->name, kind, p->c, m->big, out ? "OUTPUT" : "INPUT", p->big);
        }
    }
    fprintf(f, "\n");
}
