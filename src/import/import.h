/* Model file in, graph out: the formats and what they share. */
#ifndef TW_IMPORT_IMPORT_H
#define TW_IMPORT_IMPORT_H

#include "graph/graph.h"
#include "tilewright/compiler.h"

typedef struct tw_import_options {
    const tw_input_shape *input_shapes; /* extents for axes that the model leaves open */
    int input_shape_count;
    const tw_offered_input *offered; /* taken where the model cannot be imported otherwise */
    int offered_count;
    const tw_input_value *constants;
    int constant_count;
    const char *signature; /* which one, of a model that has several; null: the usual one */
    bool *
        reached; /* for tests: true for every row of pytorch.def that took a call; null: not asked */
} tw_import_options;

/* What they are of a compilation. */
tw_import_options tw_import_options_of(const tw_compile_options *options);

/* Read a model of any known format; the format is told by the content. options: null for none.
 * format: set to its name ("onnx", "text") when not null. Returns null with a message on failure;
 * diag->file is then the model. */
tw_graph *tw_import(tw_arena *arena, const char *path, const tw_import_options *options,
                    const char **format, tw_diag *diag);

/* The file that a model's path stands for: of a folder the SavedModel in it. */
const char *tw_model_file(tw_arena *arena, const char *path);

/* What importers.def asks of a format's folder: does the file look like one (it may still be damaged),
 * and the import itself. */
#define TW_IMPORTER(name, what)                                                                    \
    bool tw_recognise_##name(const void *data, size_t bytes);                                      \
    tw_graph *tw_import_##name(tw_arena *arena, const void *data, size_t bytes, const char *path,  \
                               const tw_import_options *options, tw_diag *diag);
#include "import/importers.def"

/* The same for a file already in memory. path: for messages and for files beside the model. */
tw_graph *tw_import_bytes(tw_arena *arena, const void *data, size_t bytes, const char *path,
                          const tw_import_options *options, const char **format, tw_diag *diag);

/* The value, an output to be, gets the name that the model has for it, and whoever had that another one.
 * Inputs and states keep their own. */
void tw_rename_value(tw_graph *graph, tw_value *value, const char *name);

/* The extents that the user gives an input: by name, or without one for the first; null: none. */
const tw_input_shape *tw_given_shape(const tw_import_options *options, const char *name,
                                     bool first);
/* Where the options (null: none) give this input a value, it becomes a constant. Importers ask as soon
 * as they have made an input. */
bool tw_fix_given_input(tw_graph *graph, tw_value *input, const tw_import_options *options,
                        tw_diag *diag);
/* An input becomes a constant wherever it is read. The data must live as long as the graph. */
void tw_fix_input(tw_graph *graph, tw_value *input, const void *data);
/* Was there an input for every value of the options? */
bool tw_fixed_inputs_found(const tw_graph *graph, const tw_import_options *options, tw_diag *diag);

/* Make each binding's input a state, zero at first, that becomes the output at the end of a run; both
 * leave the graph's ends. Fails with TW_CODE_USAGE. */
bool tw_bind_states(tw_graph *graph, const tw_state_binding *bindings, int count, tw_diag *diag);
/* Pairs of ends that look as if they were meant so: one shape, one type, names that differ in which
 * end they name. In the graph's arena. */
const tw_state_binding *tw_guess_states(const tw_graph *graph, int *count);

#endif
