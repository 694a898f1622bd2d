/* Which importer a file goes to. */
#include "import/import.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "import/onnx/onnx.h"
#include "import/text/text.h"
#include "import/tflite/tflite.h"

enum { MODEL_BYTES = INT32_MAX };

/* Files that are met in the place of a model, by the bytes at an offset. */
static const struct {
    unsigned offset;
    const char *bytes;
    const char *what;
} strangers[] = {
    {0, "TWPL", "a plan that is compiled already"},
    {0, "\x89HDF", "an HDF5 file (Keras .h5)"},
    {0, "PK\x03\x04", "a zip archive (PyTorch or Keras)"},
    {0, "\x93NUMPY", "a NumPy array"},
    {0,
     "\x7f"
     "ELF",
     "a program"},
};

static bool refuse(const uint8_t *data, size_t bytes, tw_diag *diag)
{
    static const char accepted[] =
        "ONNX models (.onnx), TensorFlow Lite models (.tflite) and the text IR (.twir) are read";
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        size_t length = strlen(strangers[i].bytes), offset = strangers[i].offset;
        if (bytes >= offset + length && memcmp(data + offset, strangers[i].bytes, length) == 0)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL, "the file is %s; %s",
                           strangers[i].what, accepted);
    }
    return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the file's format is not known; %s",
                   accepted);
}

tw_graph *tw_import_bytes(tw_arena *arena, const void *data, size_t bytes, const char *path,
                          const tw_import_options *options, const char **format, tw_diag *diag)
{
    const char *unused;
    format = format ? format : &unused;
    *format = NULL;
    snprintf(diag->file, sizeof diag->file, "%s", path);
    if (bytes == 0) {
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the file is empty");
    } else if (tw_text_recognise(data, bytes)) {
        *format = "text";
        return tw_text_parse(arena, data, bytes, path, diag);
    } else if (tw_tfl_recognise(data, bytes)) {
        *format = "tflite";
        return tw_tfl_import_model(arena, data, bytes, options, diag);
    } else if (tw_onnx_recognise(data, bytes)) {
        *format = "onnx";
        return tw_onnx_import(arena, data, bytes, path, options, diag);
    } else {
        refuse(data, bytes, diag);
    }
    return NULL;
}

tw_graph *tw_import(tw_arena *arena, const char *path, const tw_import_options *options,
                    const char **format, tw_diag *diag)
{
    /* The importers keep what they need; the file itself goes. */
    tw_arena *scratch = tw_arena_new();
    void *data;
    size_t bytes;
    tw_graph *graph = NULL;
    if (tw_read_file(scratch, path, MODEL_BYTES, &data, &bytes, diag))
        graph = tw_import_bytes(arena, data, bytes, path, options, format, diag);
    tw_arena_free(scratch);
    return graph;
}
