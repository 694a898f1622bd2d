/* A Keras model to a graph: `.keras` (a zip archive of JSON and HDF5) and `.h5` (HDF5 with the JSON in an
 * attribute). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "import/archive.h"
#include "import/keras/keras.h"

bool tw_recognise_keras(const void *data, size_t bytes)
{
    return tw_is_h5(data, bytes) || (tw_is_archive_with(data, bytes, "config.json", false) &&
                                     !tw_is_archive_with(data, bytes, "data.pkl", true));
}

static json_t *parse(tw_diag *diag, const char *what, const char *text, size_t bytes)
{
    json_error_t error;
    json_t *json = json_loadb(text, bytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!json)
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "%s is no JSON: line %d: %.120s", what,
                error.line, error.text);
    return json;
}

static void set_version(tw_kr_import *import, const char *text)
{
    char *end = NULL;
    const long version = text ? strtol(text, &end, 10) : 0;
    const long minor = end && *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    import->version = version > 0 && version < INT_MAX ? (int)version : 2;
    import->minor = minor > 0 && minor < INT_MAX ? (int)minor         : 0;
}

/* The whole network, its ends named. */
static bool import_model(tw_kr_import *import, const json_t *model)
{
    tw_kr_results results;
    const char *class = tw_kr_class(model);
    if (!tw_kr_is_model(class))
        return tw_fail(
            import->b.diag, TW_CODE_UNSUPPORTED, tw_kr_name(model), class,
            "the model is of a class of its own, whose code is not in the file; build it as "
            "Sequential or Functional, or convert it to TFLite");
    if (!tw_kr_model(import, model, tw_kr_root(import), NULL, &results))
        return false;
    for (int i = 0; i < results.count; i++) {
        tw_rename_value(import->b.graph, results.value[i], results.name[i]);
        tw_graph_output(import->b.graph, results.value[i]);
    }
    for (int i = 0; i < import->b.options->input_shape_count; i++) {
        const char *name = tw_kr_or_empty(import->b.options->input_shapes[i].name);
        bool found = !*name;
        for (int k = 0; k < import->b.graph->input_count && !found; k++)
            found = strcmp(import->b.graph->inputs[k]->name, name) == 0;
        if (!found)
            return tw_fail(import->b.diag, TW_CODE_USAGE, NULL, NULL,
                           "a shape is given for '%s', which is not an input of the model", name);
    }
    return results.count > 0 || tw_fail(import->b.diag, TW_CODE_FAILED, tw_kr_name(model), class,
                                        "the model has no output");
}

static tw_graph *build(tw_kr_import *import, tw_arena *arena, const json_t *model,
                       const tw_import_options *options, tw_diag *diag)
{
    const char *name = tw_kr_name(model);
    tw_graph *graph = tw_graph_new(arena, *name ? tw_strdup(arena, name) : "main");
    tw_builder_init(&import->b, graph, options, diag);
    bool ok =
        import_model(import, model) && tw_graph_sweep(graph, diag) && tw_graph_check(graph, diag);
    return ok && diag->code == TW_CODE_OK ? graph : NULL;
}

static tw_graph *import_hdf5(tw_kr_import *import, tw_arena *arena, const void *data, size_t bytes,
                             const tw_import_options *options, tw_diag *diag)
{
    json_t *model = NULL;
    tw_graph *graph = NULL;
    import->legacy = true;
    import->weights = tw_h5_open(import->scratch, data, bytes, diag);
    if (!import->weights)
        return NULL;
    const char *text = tw_kr_text(import, "", "model_config");
    set_version(import, tw_kr_text(import, "", "keras_version"));
    if (text)
        model = parse(diag, "the attribute model_config", text, strlen(text));
    else
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                "the HDF5 file holds no network, at most weights; save the whole model: "
                "model.save(\"model.keras\")");
    if (model && diag->code == TW_CODE_OK)
        graph = build(import, arena, model, options, diag);
    json_decref(model);
    return graph;
}

tw_graph *tw_kr_import_config(tw_arena *arena, const char *text, size_t bytes, int version,
                              const tw_import_options *options, tw_diag *diag)
{
    tw_kr_import import = {.scratch = tw_arena_new(), .version = version};
    json_t *model = parse(diag, "the configuration", text, bytes);
    tw_graph *graph = model ? build(&import, arena, model, options, diag) : NULL;
    json_decref(model);
    tw_arena_free(import.scratch);
    return graph;
}

/* A member of the archive; null with a message. */
static void *member(tw_archive *archive, tw_arena *arena, const char *name, size_t *bytes,
                    tw_diag *diag)
{
    int at = tw_archive_find(archive, name);
    void *data = NULL;
    if (at < 0)
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the archive has no %s%s", name,
                tw_archive_find(archive, "model.weights.npz") >= 0 ||
                        tw_archive_find(archive, "model.weights.json") >= 0
                    ? "; weights in another form (NumPy, or in several files) are not read: save "
                      "the model "
                      "with Keras's default options"
                    : "; save the whole model again");
    else if (!tw_archive_read(archive, arena, at, &data, bytes, diag))
        data = NULL;
    return data;
}

static tw_graph *import_archive(tw_kr_import *import, tw_arena *arena, tw_archive *archive,
                                const tw_import_options *options, tw_diag *diag)
{
    size_t bytes = 0, config_bytes = 0;
    tw_graph *graph = NULL;
    json_t *model = NULL, *about = NULL;
    const char *config = member(archive, import->scratch, "config.json", &config_bytes, diag);
    const void *weights =
        config ? member(archive, import->scratch, "model.weights.h5", &bytes, diag) : NULL;
    if (weights)
        model = parse(diag, "config.json", config, config_bytes);
    import->version = 3;
    if (model && tw_archive_find(archive, "metadata.json") >= 0) {
        const char *text = member(archive, import->scratch, "metadata.json", &config_bytes, diag);
        about = text ? parse(diag, "metadata.json", text, config_bytes) : NULL;
        set_version(import, json_string_value(json_object_get(about, "keras_version")));
    }
    if (model && diag->code == TW_CODE_OK)
        import->weights = tw_h5_open(import->scratch, weights, bytes, diag);
    if (import->weights)
        graph = build(import, arena, model, options, diag);
    json_decref(about);
    json_decref(model);
    return graph;
}

tw_graph *tw_import_keras(tw_arena *arena, const void *data, size_t bytes, const char *path,
                          const tw_import_options *options, tw_diag *diag)
{
    (void)path; /* a model is one file */
    tw_arena *scratch = tw_arena_new();
    tw_kr_import import = {.scratch = scratch, .b.diag = diag};
    tw_graph *graph = NULL;
    if (tw_is_h5(data, bytes)) {
        graph = import_hdf5(&import, arena, data, bytes, options, diag);
    } else {
        tw_archive *archive = tw_archive_open(scratch, data, bytes, diag);
        if (archive)
            graph = import_archive(&import, arena, archive, options, diag);
        tw_archive_close(archive);
    }
    tw_arena_free(scratch);
    return graph;
}
