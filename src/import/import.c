/* Which importer a file goes to. */
#include "import/import.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

/* Larger files are mapped. */
enum { MOST_READ = INT32_MAX };

static const struct {
    const char *name, *what;
    bool (*recognise)(const void *data, size_t bytes);
    tw_graph *(*import)(tw_arena *arena, const void *data, size_t bytes, const char *path,
                        const tw_import_options *options, tw_diag *diag);
} importers[] = {
#define TW_IMPORTER(name, what) {#name, what, tw_recognise_##name, tw_import_##name},
#include "import/importers.def"
};
enum { IMPORTERS = sizeof importers / sizeof *importers };

/* Files that are met in the place of a model, by the bytes at an offset. */
static const struct {
    unsigned offset;
    const char *bytes;
    const char *what;
} strangers[] = {
    {0, "TWPL", "a plan that is compiled already"},
    {0, "PK\x03\x04", "a zip archive that holds no model"},
    {0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46",
     "weights in PyTorch's old format, without a program (save one with torch.export or "
     "torch.jit.trace)"},
    {0, "\x93NUMPY", "a NumPy array"},
    {0,
     "\x7f"
     "ELF",
     "a program"},
};

/* "A, B and C are read" */
static void list_formats(char *text, size_t bytes)
{
    size_t at = 0;
    for (int i = 0; i < IMPORTERS && at < bytes; i++) {
        const char *join = i == 0 ? "" : i + 1 < IMPORTERS ? ", " : " and ";
        at += (size_t)snprintf(text + at, bytes - at, "%s%s", join, importers[i].what);
    }
    if (at < bytes)
        snprintf(text + at, bytes - at, " are read");
}

static bool refuse(const uint8_t *data, size_t bytes, tw_diag *diag)
{
    char accepted[512];
    list_formats(accepted, sizeof accepted);
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        size_t length = strlen(strangers[i].bytes), offset = strangers[i].offset;
        if (bytes >= offset + length && memcmp(data + offset, strangers[i].bytes, length) == 0)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL, "the file is %s; %s",
                           strangers[i].what, accepted);
    }
    return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the file's format is not known; %s",
                   accepted);
}

tw_import_options tw_import_options_of(const tw_compile_options *options)
{
    return (tw_import_options){.input_shapes = options->input_shapes,
                               .input_shape_count = options->input_shape_count,
                               .offered = options->offered,
                               .offered_count = options->offered_count,
                               .constants = options->constants,
                               .constant_count = options->constant_count,
                               .signature = options->signature};
}

/* Inputs that may hold nothing, ONNX models alone have. */
static bool has_no_nothing(const tw_import_options *options, const char *format, tw_diag *diag)
{
    for (int i = 0; options && i < options->input_shape_count; i++)
        if (options->input_shapes[i].rank < 0 && strcmp(format, "onnx") != 0)
            return tw_fail(diag, TW_CODE_USAGE, NULL, NULL,
                           "'%.100s' is to hold nothing; only optional inputs of ONNX models can",
                           options->input_shapes[i].name ? options->input_shapes[i].name : "");
    return true;
}

tw_graph *tw_import_bytes(tw_arena *arena, const void *data, size_t bytes, const char *path,
                          const tw_import_options *options, const char **format, tw_diag *diag)
{
    if (format)
        *format = NULL;
    snprintf(diag->file, sizeof diag->file, "%s", path);
    if (bytes == 0) {
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the file is empty");
        return NULL;
    }
    for (int i = 0; i < IMPORTERS; i++) {
        if (!importers[i].recognise(data, bytes))
            continue;
        if (format)
            *format = importers[i].name;
        if (!has_no_nothing(options, importers[i].name, diag))
            return NULL;
        tw_graph *graph = importers[i].import(arena, data, bytes, path, options, diag);
        return graph && (!options || tw_fixed_inputs_found(graph, options, diag)) ? graph : NULL;
    }
    refuse(data, bytes, diag);
    return NULL;
}

const char *tw_model_file(tw_arena *arena, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return path;
    return tw_format(arena, "%s/saved_model.pb", path);
}

tw_graph *tw_import(tw_arena *arena, const char *path, const tw_import_options *options,
                    const char **format, tw_diag *diag)
{
    /* The importers keep what they need; the file itself goes. */
    tw_arena *scratch = tw_arena_new();
    path = tw_model_file(scratch, path);
    tw_mapped large = {NULL, 0};
    void *data = NULL;
    size_t bytes = 0;
    tw_graph *graph = NULL;
    snprintf(diag->file, sizeof diag->file, "%s", path);
    bool ok = tw_is_larger(path, MOST_READ)
                  ? tw_map_file(path, &large, diag)
                  : tw_read_file(scratch, path, MOST_READ, &data, &bytes, diag);
    if (ok)
        graph = tw_import_bytes(arena, large.data ? large.data : data,
                                large.data ? large.bytes : bytes, path, options, format, diag);
    tw_unmap_file(&large);
    tw_arena_free(scratch);
    return graph;
}
