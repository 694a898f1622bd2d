/* A PyTorch file in, a graph out: which of PyTorch's containers it is, and what is to be said of those that
 * hold no program. */
#include <string.h>

#include "import/pytorch/torch.h"

/* What makes a zip archive one of PyTorch's. */
static const char *const marks[] = {"data.pkl", "archive_format",
                                    "serialized_exported_program.json"};

bool tw_recognise_pytorch(const void *data, size_t bytes)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (tw_is_archive_with(data, bytes, marks[i], true))
            return true;
    return false;
}

static bool has_folder(const tw_archive *a, const char *root, const char *folder)
{
    const size_t length = strlen(root), more = strlen(folder);
    for (int i = 0; i < tw_archive_count(a); i++) {
        const char *name = tw_archive_name(a, i);
        if (strncmp(name, root, length) == 0 && strncmp(name + length, folder, more) == 0)
            return true;
    }
    return false;
}

/* Storages are read as they lie, and this machine's order is little-endian. */
static bool is_little_endian(tw_torch *t, const char *root)
{
    tw_archive *a = t->place.archive;
    const int member = tw_archive_find(a, tw_format(t->scratch, "%sbyteorder", root));
    void *text;
    size_t bytes;
    if (member < 0)
        return true;
    return tw_archive_read(a, t->scratch, member, &text, &bytes, t->b.diag) &&
           (strncmp(text, "little", 6) == 0 ||
            tw_fail(t->b.diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                    "the file was written on a big-endian machine, which is not supported"));
}

static bool refuse_weights(tw_diag *diag)
{
    return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                   "the file holds weights without a program; in Python, save one with "
                   "torch.export.save(torch.export.export(model.eval(), inputs), \"model.pt2\") or "
                   "torch.jit.trace(model.eval(), inputs).save(\"model.pt\")");
}

/* One try; again: it has learnt something that the next one needs. */
static bool import(tw_torch *t, tw_torch_lesson *lesson, bool *again)
{
    tw_archive *a = t->place.archive;
    size_t length = 0;
    int member = tw_archive_find_below(a, "data.pkl", &length);
    if (tw_archive_find_below(a, "serialized_exported_program.json", NULL) >= 0)
        return tw_torch_program(t, NULL);
    if (member < 0)
        member = tw_archive_find_below(a, "archive_format", &length);
    const char *root = tw_strndup(t->scratch, tw_archive_name(a, member), length);
    if (!is_little_endian(t, root))
        return false;
    if (has_folder(a, root, "models/"))
        return tw_torch_program(t, root);
    if (has_folder(a, root, "data/aotinductor/"))
        return tw_fail(t->b.diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "the file is an AOTInductor package: machine code for another machine, "
                       "without the program; save the exported program itself (torch.export.save)");
    t->place.prefix = tw_format(t->scratch, "%sdata/", root);
    if (has_folder(a, root, "code/"))
        return tw_torch_script(t, root, lesson, again);
    return refuse_weights(t->b.diag);
}

tw_graph *tw_import_pytorch(tw_arena *arena, const void *data, size_t bytes, const char *path,
                            const tw_import_options *options, tw_diag *diag)
{
    tw_arena *scratch = tw_arena_new();
    tw_archive *archive = tw_archive_open(scratch, data, bytes, diag);
    tw_torch_lesson *lesson = tw_alloc(scratch, sizeof *lesson);
    bool fine = false, again = archive != NULL;
    tw_graph *graph = NULL;
    for (int tries = 0; again && tries <= TW_TORCH_INPUTS; tries++) {
        tw_diag own = *diag;
        tw_torch t = {.scratch = scratch, .place = {.archive = archive, .prefix = ""}};
        again = false;
        graph = tw_graph_new(arena, path);
        tw_builder_init(&t.b, graph, options, &own);
        for (int i = 0; i < tw_archive_count(archive); i++)
            t.most += 8 * tw_archive_bytes(archive, i);
        t.most += 1 << 20;
        fine = import(&t, lesson, &again) && tw_torch_inputs_used(&t);
        if (!again)
            *diag = own;
    }
    tw_archive_close(archive);
    tw_arena_free(scratch);
    if (fine && graph->output_count == 0)
        fine = tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL, "the model gives back no tensor");
    return fine && tw_graph_sweep(graph, diag) ? graph : NULL;
}
