/* Any bytes as an HDF5 file, of which everything is read that can be reached: names, texts, datasets. Nothing
 * may crash, and a refusal must leave a message. */
#include <stdlib.h>

#include "import/hdf5/hdf5.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { DEPTH = 4, MOST_OBJECTS = 400 };

typedef struct walk {
    tw_arena *arena;
    tw_h5 *file;
    tw_diag *diag;
    int objects;
} walk;

static void visit(walk *w, const char *path, int depth)
{
    static const char *const attributes[] = {"model_config", "weight_names", "names", "list",
                                             "fixed-list",   "spaces",       "large", "dtype"};
    const char *const *list;
    tw_h5_dataset d;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        tw_h5_texts(w->file, path, attributes[i], &list);
    const int count = tw_h5_children(w->file, path, &list);
    if (count < 0 && w->diag->code == TW_CODE_OK && tw_h5_find_dataset(w->file, path, &d))
        tw_h5_read(w->file, path, &d);
    for (int i = 0; i < count && depth > 0 && w->diag->code == TW_CODE_OK; i++)
        if (++w->objects < MOST_OBJECTS)
            visit(w, *path ? tw_format(w->arena, "%s/%s", path, list[i]) : list[i], depth - 1);
}

/* A failure ends the reading of a file, but not that of the next group below its root. */
static bool read_all(const uint8_t *data, size_t bytes, int skipped)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    const char *const *names;
    walk w = {.arena = arena, .diag = &diag, .file = tw_h5_open(arena, data, bytes, &diag)};
    const int count = w.file ? tw_h5_children(w.file, "", &names) : 0;
    if (w.file && skipped < 0)
        visit(&w, "", 0);
    else if (skipped >= 0 && skipped < count)
        visit(&w, names[skipped], DEPTH);
    if ((!w.file || diag.code != TW_CODE_OK) && !*diag.message)
        abort();
    tw_arena_free(arena);
    return skipped < count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    enum { MOST_GROUPS = 12 };
    for (int i = -1; i < MOST_GROUPS && read_all(data, bytes, i); i++)
        ;
    return 0;
}
