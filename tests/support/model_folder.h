/* A folder with a model, io.tsv and raw tensors: what goes in, what must come out, over how many steps
 * (shared/README.md has the format). Data that is not the project's own: found under
 * TILEWRIGHT_TEST_DATA, or ../shared/data beside the source tree. */
#ifndef TW_TESTS_SUPPORT_MODEL_FOLDER_H
#define TW_TESTS_SUPPORT_MODEL_FOLDER_H

#include "base/arena.h"
#include "tilewright/compiler.h"
#include "tilewright/runtime.h"

/* The data folder, or null (after saying on stderr that the test is skipped) where `part` of it is
 * not there. */
const char *tw_test_data(tw_arena *arena, const char *part);

/* Unpack an archive of the data folder once, below the build folder: the folder it is in then, or null
 * as above. */
const char *tw_test_archive(tw_arena *arena, const char *archive);

/* The sub-folders of a folder, sorted; null ends the list. */
const char **tw_test_folders(tw_arena *arena, const char *folder);

typedef enum tw_io_role { TW_IO_IN, TW_IO_CONST, TW_IO_OUT, TW_IO_STATE } tw_io_role;

typedef struct tw_io_row {
    tw_io_role role;
    const char *name;
    const char *dtype; /* "float32", "int8", ... */
    int rank, dim[TW_MAX_RANK];
    int steps; /* tensors in data */
    const uint8_t *data;
    size_t bytes; /* of one tensor */
} tw_io_row;

typedef struct tw_model_folder {
    const char *path, *model; /* the model file */
    const char *oracle;       /* the first line of io.tsv */
    tw_io_row *rows;
    int row_count, steps;
} tw_model_folder;

/* model: the file's name in the folder. A damaged folder stops the test. */
void tw_model_folder_read(tw_arena *arena, const char *path, const char *model,
                          tw_model_folder *folder);

typedef struct tw_folder_result {
    long compared, differing; /* elements */
    double worst;   /* largest difference: |a - b| of integers, beyond atol of floats relative */
    int first_step; /* that differs */
    const void *outputs; /* all of all steps, end to end */
    size_t output_bytes;
    int transposes; /* in the plan, inputs and outputs aside */
} tw_folder_result;

/* How far a result may be from the golden. */
typedef struct tw_tolerance {
    double rtol, atol; /* floats: |a - b| <= atol + rtol * |b| */
    double lsb;        /* integers */
} tw_tolerance;

/* Compile (options may be null; open axes have the extents of io.tsv), run all steps, compare. False with a message when it cannot be
 * compiled or run. */
bool tw_model_folder_run(tw_arena *arena, const tw_model_folder *folder,
                         const tw_compile_options *options, tw_tolerance tolerance,
                         tw_folder_result *result, tw_diag *diag);

/* The same, and in random bands of several seeds, which must not change a bit; any difference beyond
 * the tolerance stops the test. */
void tw_model_folder_must_pass(tw_arena *arena, const tw_model_folder *folder,
                               tw_tolerance tolerance);

#endif
