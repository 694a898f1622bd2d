/* Which sources a plan needs: the runtime's functions and the plan's kernels, what those call as the
 * linker sees it, and the headers that they include. */
#include "emit/firmware/sources.h"

#include <string.h>

#include "emit/firmware/make.h"
#include "ops/codes.h"
#include "ops/op.h"

/* ---- kernels ---- */

static const struct {
    const tw_kernel *kernel;
    const char *name;
} kernel_names[] = {
#define TW_K(symbol, signature) {&tw_k_##symbol##_##signature, "tw_k_" #symbol "_" #signature},
#define TW_OP(code, Name, symbol, KIND, ...) __VA_ARGS__
#include "ops/ops.def"
};

const char *tw_firmware_kernel_name(const tw_kernel *kernel)
{
    for (size_t i = 0; i < sizeof kernel_names / sizeof *kernel_names; i++)
        if (kernel_names[i].kernel == kernel)
            return kernel_names[i].name;
    return tw_native_kernel_name(kernel);
}

const char *tw_kernels_header(const tw_making *m)
{
    return m->options->backend->kernels ? m->options->backend->kernels : "ops/codes.h";
}

/* Name the first step that computes in double. */
static bool refuse_double(const tw_making *m, uint32_t kernel)
{
    const tw_model *model = &m->session->model;
    const tw_opdef *op = tw_op_by_code(model->kernels[kernel]->id >> 8 & 0xFFFFu);
    uint32_t step = 0;
    while (step < model->step_count && model->steps[step].kernel != kernel)
        step++;
    return tw_fail(
        m->diag, TW_CODE_UNSUPPORTED,
        step < model->step_count ? m->session->step_names[step] : NULL, op ? op->name : NULL,
        "float64 is computed on the host only, devices have no double; convert the model "
        "to float32, or cast its operands");
}

bool tw_kernel_names(const tw_making *m, const char ***names, uint32_t *count)
{
    const tw_model *model = &m->session->model;
    *count = 0;
    for (uint32_t i = 0; i < model->step_count; i++)
        if (model->steps[i].kernel >= *count)
            *count = model->steps[i].kernel + 1;
    *names = tw_alloc_array(m->arena, (size_t)*count + 1, sizeof **names);
    for (uint32_t i = 0; i < *count; i++) {
        (*names)[i] = tw_firmware_kernel_name(model->kernels[i]);
        if (!(*names)[i] && (model->kernels[i]->id & 255u) == TW_SIG_f64)
            return refuse_double(m, i);
        if (!(*names)[i])
            return tw_fail(m->diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                           "kernel %08x has no C source; recompile the model",
                           model->kernels[i]->id);
    }
    return true;
}

/* ---- parts of the runtime ---- */

void tw_firmware_parts(const tw_model *model, const char **part)
{
    bool columns = false, ends = false;
    for (uint32_t i = 0; i < model->segment_count; i++) {
        columns |= model->segments[i].columns != 0;
        ends |= model->segments[i].source != TW_ABSENT;
    }
    for (uint32_t i = 0; i < model->output_count; i++)
        ends |= model->tensors[model->outputs[i]].window != 0;
    part[0] = columns ? "tw_part_columns" : NULL;
    part[1] = model->control_count ? "tw_part_controls" : NULL;
    part[2] = model->position_count ? "tw_part_positions" : NULL;
    part[3] = ends ? "tw_part_ends" : NULL;
}

/* ---- objects ---- */

static bool has_word(const char *words, const char *word, size_t bytes)
{
    for (const char *at = words; (at = strstr(at, " ")); at++)
        if (strncmp(at + 1, word, bytes) == 0 && at[1 + bytes] == ' ')
            return true;
    return false;
}

static int object_with(const char *symbol, size_t bytes)
{
    for (int i = 0; i < tw_firmware_object_count; i++)
        if (has_word(tw_firmware_objects[i].defines, symbol, bytes))
            return i;
    return -1;
}

/* Take the object that defines a symbol, and what it needs. Depth is bounded: each object is taken
 * once. */
static bool take(bool *taken, const char *symbol, size_t bytes)
{
    const int index = object_with(symbol, bytes);
    if (index < 0)
        return false;
    if (taken[index])
        return true;
    taken[index] = true;
    for (const char *at = tw_firmware_objects[index].needs + 1; *at; at += strcspn(at, " ") + 1)
        take(taken, at, strcspn(at, " "));
    return true;
}

/* ---- files ---- */

static const char codes[] = "src/ops/codes.h";

static const tw_firmware_file *file_at(const char *path, size_t bytes)
{
    for (int i = 0; i < tw_firmware_file_count; i++)
        if (strlen(tw_firmware_files[i].path) == bytes &&
            strncmp(tw_firmware_files[i].path, path, bytes) == 0)
            return &tw_firmware_files[i];
    return NULL;
}

/* Where a file of the tree stands in the firmware: everything below src/, so that one include path
 * serves all. Adapters of a back end are named after the operators, as the portable kernels are; their
 * folder's name goes into that of the file, for builds that put all objects in one folder. */
static const char *place_of(const tw_making *m, const char *path)
{
    static const char backends[] = "src/backends/";
    const size_t skip = strlen(backends);
    const char *folder = path + skip;
    const bool is_source = strcmp(path + strlen(path) - 2, ".c") == 0;
    if (is_source && strncmp(path, backends, skip) == 0 && strchr(folder, '/')) {
        const int length = (int)strcspn(folder, "/");
        return tw_format(m->arena, "%s%.*s/%.*s_%s", backends, length, folder, length, folder,
                         folder + length + 1);
    }
    return tw_format(m->arena, "src/%s", strchr(path, '/') + 1);
}

/* Without a loader nobody asks the kernels' checks: they are left out (see ops/codes.h). */
static void add_text(const tw_making *m, const tw_firmware_file *file, const char *place)
{
    static const char line[] = "#define TW_WITHOUT_CHECKS\n";
    if (!m->options->direct || strcmp(file->path, codes) != 0) {
        tw_tree_add(m->tree, place, file->text, file->bytes);
        return;
    }
    const char *text = tw_format(m->arena, "%s%s", line, file->text);
    tw_tree_add(m->tree, place, text, strlen(text));
}

/* The file and all that it includes in quotation marks. */
static void add_file(const tw_making *m, const tw_firmware_file *file)
{
    static const char *const roots[] = {"src/", "include/"};
    const char *place = place_of(m, file->path);
    const int before = m->tree->count;
    add_text(m, file, place);
    if (m->tree->count == before)
        return;
    for (const char *at = file->text; (at = strstr(at, "#include \"")); at++) {
        const char *name = at + strlen("#include \"");
        for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
            const char *path =
                tw_format(m->arena, "%s%.*s", roots[i], (int)strcspn(name, "\"\n"), name);
            const tw_firmware_file *included = file_at(path, strlen(path));
            if (included)
                add_file(m, included);
        }
    }
}

/* Without a plan: what the runtime's header says of tensors and statuses. */
static void take_few(bool *taken)
{
    static const char *const few[] = {"tw_tensor_bytes", "tw_dtype_bytes", "tw_status_text"};
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        take(taken, few[i], strlen(few[i]));
}

/* Is this a function that brings all parts of the runtime, or one that the plan has no use for? */
static bool is_for_others(const tw_model *model, const char *symbol, size_t bytes)
{
    static const char *const words[] = {"tw_load", "tw_tokens", "tw_rewind"};
    for (size_t i = 0; i < (model->position_count ? 1 : sizeof words / sizeof *words); i++)
        if (strlen(words[i]) == bytes && strncmp(words[i], symbol, bytes) == 0)
            return true;
    return false;
}

/* Everything that the runtime's header declares and some object defines, as far as it is of use, and the
 * parts that the plan needs. */
static void take_runtime(const tw_making *m, bool *taken)
{
    static const char header[] = "include/tilewright/runtime.h";
    const tw_firmware_file *file = file_at(header, strlen(header));
    const char *part[TW_FIRMWARE_PARTS];
    if (m->options->direct) {
        take_few(taken);
        return;
    }
    for (const char *at = file ? file->text : ""; (at = strstr(at, "tw_")); at++) {
        const size_t bytes = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (at[bytes] == '(' && !is_for_others(&m->session->model, at, bytes))
            take(taken, at, bytes);
    }
    take(taken, "tw_load_with", strlen("tw_load_with"));
    tw_firmware_parts(&m->session->model, part);
    for (int i = 0; i < TW_FIRMWARE_PARTS; i++)
        if (part[i])
            take(taken, part[i], strlen(part[i]));
}

bool tw_add_sources(const tw_making *m, const char *const *kernels, uint32_t kernel_count,
                    const char ***sources, int *count)
{
    bool *taken = tw_alloc_array(m->arena, (size_t)tw_firmware_object_count + 1, sizeof *taken);
    take_runtime(m, taken);
    for (uint32_t i = 0; i < kernel_count; i++)
        if (!take(taken, kernels[i], strlen(kernels[i])))
            return tw_fail(m->diag, TW_CODE_FAILED, NULL, NULL,
                           "the command was built without the source of %s", kernels[i]);
    *sources = tw_alloc_array(m->arena, (size_t)tw_firmware_object_count + 1, sizeof **sources);
    *count = 0;
    for (int i = 0; i < tw_firmware_object_count; i++) {
        const char *path = tw_firmware_objects[i].path;
        const tw_firmware_file *file = file_at(path, strlen(path));
        if (!taken[i])
            continue;
        if (!file)
            return tw_fail(m->diag, TW_CODE_FAILED, NULL, NULL, "the command was built without %s",
                           path);
        add_file(m, file);
        (*sources)[(*count)++] = place_of(m, path);
    }
    add_file(m, file_at(codes, strlen(codes))); /* for NAME.c */
    if (m->options->backend->kernels) {
        const char *header = tw_format(m->arena, "src/%s", m->options->backend->kernels);
        add_file(m, file_at(header, strlen(header)));
    }
    if (m->options->backend->finder && strcmp(m->options->project, "cmake") == 0) {
        const char *finder = m->options->backend->finder;
        const tw_firmware_file *file = file_at(finder, strlen(finder));
        tw_tree_add(m->tree, finder, file->text, file->bytes);
    }
    return true;
}
