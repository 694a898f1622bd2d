/* The data of the program that tests a firmware on its target: inputs, and the outputs that the host
 * computed from them with the same kernels. The program itself is a template. */
#include "emit/firmware/make.h"

static void write_array(FILE *f, const char *what, int vector, uint32_t index, const void *data,
                        uint32_t bytes)
{

    fprintf(f, "static const uint32_t %s_%d_%u[] = {", what, vector, index);
    tw_c_words(f, data, bytes);
    fprintf(f, "%s\n};\n", bytes ? "" : "\n    0u,");
}

static void write_table(const tw_making *m, FILE *f, const char *what, uint32_t count)
{
    fprintf(f, "\nconst uint32_t *const app_%ss[APP_VECTORS][APP_%s] = {\n", what,
            what[0] == 'i' ? "INPUTS" : "OUTPUTS");
    for (int v = 0; v < m->options->vector_count; v++) {
        fprintf(f, "    {");
        for (uint32_t i = 0; i < count; i++)
            fprintf(f, "%s%s_%d_%u", i ? ", " : "", what, v, i);
        fprintf(f, "%s},\n", count ? "" : "NULL");
    }
    fprintf(f, "};\n");
}

static void write_vectors(const tw_making *m)
{
    const tw_model *model = &m->session->model;
    tw_text text;
    tw_text_begin(&text);
    FILE *f = text.file;
    fprintf(f,
            "/* %s: inputs, and the outputs that the host computed; little-endian words. */\n"
            "#include \"vectors.h\"\n\n",
            m->name);
    for (int v = 0; v < m->options->vector_count; v++) {
        const tw_firmware_vector *vector = &m->options->vectors[v];
        for (uint32_t i = 0; i < model->input_count; i++)
            write_array(f, "input", v, i, vector->inputs[i], tw_tensor_bytes(m->inputs[i].tensor));
        for (uint32_t i = 0; i < model->output_count; i++)
            write_array(f, "output", v, i, vector->outputs[i],
                        tw_tensor_bytes(m->outputs[i].tensor));
    }
    write_table(m, f, "input", model->input_count);
    write_table(m, f, "output", model->output_count);
    fprintf(f, "\nconst uint32_t app_row_bytes[APP_INPUTS] = {");
    for (uint32_t i = 0; i < model->input_count; i++)
        fprintf(f, "%s%du", i ? ", " : "", m->inputs[i].row_bytes);
    fprintf(f, "%s};\n\nconst uint32_t app_given_bytes[APP_OUTPUTS] = {",
            model->input_count ? "" : "0u");
    for (uint32_t i = 0; i < model->output_count; i++)
        fprintf(f, "%s%du", i ? ", " : "", m->outputs[i].row_bytes);
    fprintf(f, "%s};\n\nconst uint8_t app_silent[APP_VECTORS] = {",
            model->output_count ? "" : "0u");
    for (int v = 0; v < m->options->vector_count; v++)
        fprintf(f, "%s%d", v ? ", " : "", m->options->vectors[v].silent);
    fprintf(f, "};\n");
    if (m->options->external) {
        fprintf(f, "\n%s_ALIGNED const uint32_t app_plan[%s_PLAN_BYTES / 4u] = {", m->big, m->big);
        tw_c_words(f, model->plan, model->header->bytes);
        fprintf(f, "\n};\n");
    }
    tw_text_end(&text, m, "app/vectors.c");
}

void tw_write_app(const tw_making *m)
{
    const tw_model *model = &m->session->model;
    tw_text text;
    tw_text_begin(&text);
    fprintf(
        text.file,
        "/* %s: data for the test program. A table of no inputs has one entry, null. */\n"
        "#ifndef APP_VECTORS_H\n#define APP_VECTORS_H\n\n#include \"%s.h\"\n\n"
        "#define APP_VECTORS %d\n#define APP_INPUTS %u\n#define APP_OUTPUTS %u\n\n"
        "extern const uint32_t *const app_inputs[APP_VECTORS][APP_INPUTS];\n"
        "extern const uint32_t *const app_outputs[APP_VECTORS][APP_OUTPUTS];\n"
        "extern const uint32_t app_row_bytes[APP_INPUTS]; /* of inputs that are taken by rows */\n"
        "extern const uint32_t app_given_bytes[APP_OUTPUTS]; /* of a row, of outputs given by rows "
        "*/\n"
        "extern const uint8_t app_silent[APP_VECTORS]; /* 1: this run yields nothing yet */\n",
        m->name, m->name, m->options->vector_count, model->input_count ? model->input_count : 1,
        model->output_count ? model->output_count : 1);
    if (m->options->external)
        fprintf(text.file,
                "\n/* Stands in for the flash partition with the plan. */\n"
                "#define APP_PLAN app_plan\nextern const uint32_t app_plan[%s_PLAN_BYTES / 4u];\n",
                m->big);
    fprintf(text.file,
            "\n#define APP_FED %d /* some input is taken by rows */\n"
            "#define APP_DRAINED %d /* some output is given by rows */\n\n#endif\n",
            m->is_fed, m->is_drained);
    tw_text_end(&text, m, "app/vectors.h");
    write_vectors(m);
}
