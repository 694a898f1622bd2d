/* A folder in the making. */
#define _XOPEN_SOURCE 700
#include "emit/firmware/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/plan.h"

enum { MOST_BYTES = 1 << 30 };

void tw_tree_add(tw_tree *tree, const char *path, const void *data, size_t bytes)
{
    for (int i = 0; i < tree->count; i++)
        if (strcmp(tree->files[i].path, path) == 0)
            return;
    tw_grow(tree->arena, &tree->files, tree->count, &tree->capacity, sizeof *tree->files);
    tree->files[tree->count++] = (tw_tree_file){path, data, bytes};
}

/* A line of the list: checksum, bytes, path. */
static const char *line_of(tw_arena *arena, const char *path, const void *data, size_t bytes)
{
    return tw_format(arena, "%08x %zu %s", tw_crc32(0, data, (uint32_t)bytes), bytes, path);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const tw_tree_file *)a)->path, ((const tw_tree_file *)b)->path);
}

static void add_list(tw_tree *tree)
{
    size_t bytes = 0;
    qsort(tree->files, (size_t)tree->count, sizeof *tree->files, by_path);
    for (int i = 0; i < tree->count; i++)
        bytes += strlen(tree->files[i].path) + 40;
    char *list = tw_alloc(tree->arena, bytes + 1), *at = list;
    for (int i = 0; i < tree->count; i++) {
        const tw_tree_file *f = &tree->files[i];
        at += sprintf(at, "%s\n", line_of(tree->arena, f->path, f->data, f->bytes));
    }
    tw_tree_add(tree, TW_TREE_LIST, list, (size_t)(at - list));
}

/* A path of an old list, which anybody can have edited: it must stay inside the folder. */
static bool is_inside(const char *path)
{
    return path[0] != '/' && strncmp(path, "../", 3) != 0 && !strstr(path, "/../");
}

/* The list of an earlier call: paths and whole lines. */
typedef struct tw_old_list {
    struct {
        const char *path, *line;
    } * files;
    int count;
} tw_old_list;

/* The folder's list; empty where there is none. */
static bool read_list(const tw_tree *tree, const char *folder, tw_old_list *list, tw_diag *diag)
{
    void *data;
    size_t bytes;
    int lines = 1;
    const char *path = tw_format(tree->arena, "%s/%s", folder, TW_TREE_LIST);
    *list = (tw_old_list){NULL, 0};
    if (access(path, F_OK) != 0)
        return true;
    if (!tw_read_file(tree->arena, path, MOST_BYTES, &data, &bytes, diag))
        return false;
    for (const char *c = data; *c; c++)
        lines += *c == '\n';
    list->files = tw_alloc_array(tree->arena, (size_t)lines, sizeof *list->files);
    for (char *line = data, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        const char *size = strchr(line, ' ');
        const char *name = size ? strchr(size + 1, ' ') : NULL;
        if (!name || !is_inside(name + 1))
            continue;
        list->files[list->count].path = name + 1;
        list->files[list->count++].line = line;
    }
    return true;
}

static const char *old_line(const tw_old_list *list, const char *path)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->files[i].path, path) == 0)
            return list->files[i].line;
    return NULL;
}

static const tw_tree_file *find(const tw_tree *tree, const char *path)
{
    for (int i = 0; i < tree->count; i++)
        if (strcmp(tree->files[i].path, path) == 0)
            return &tree->files[i];
    return NULL;
}

/* May the file at FOLDER/PATH be replaced or removed? Yes if it is not there, is as it will be, or is
 * as the old list says. */
static bool check_file(tw_tree *tree, const char *folder, const char *path, const char *line,
                       tw_diag *diag)
{
    const char *full = tw_format(tree->arena, "%s/%s", folder, path);
    const tw_tree_file *f = find(tree, path);
    struct stat status;
    void *data;
    size_t bytes;
    if (lstat(full, &status) != 0)
        return true;
    if (S_ISREG(status.st_mode) && status.st_size < MOST_BYTES) {
        if (!tw_read_file(tree->arena, full, MOST_BYTES, &data, &bytes, diag))
            return false;
        if ((f && f->bytes == bytes && memcmp(f->data, data, bytes) == 0) ||
            (line && strcmp(line, line_of(tree->arena, path, data, bytes)) == 0))
            return true;
    }
    snprintf(diag->file, sizeof diag->file, "%s", full);
    return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "%s; move it away, or write to another folder",
                   line ? "the file was changed since codegen wrote it"
                        : "the file is in the way and was not written by codegen");
}

/* Make the folders that a path leads through, from `root` on. */
static bool make_folders(tw_arena *arena, const char *path, tw_diag *diag)
{
    char *copy = tw_strdup(arena, path);
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) {
            snprintf(diag->file, sizeof diag->file, "%s", copy);
            return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the folder cannot be made: %s",
                           strerror(errno));
        }
        *slash = '/';
    }
    return true;
}

static bool check_all(tw_tree *tree, const char *folder, const tw_old_list *old, tw_diag *diag)
{
    for (int i = 0; i < tree->count; i++) {
        const char *path = tree->files[i].path;
        if (strcmp(path, TW_TREE_LIST) != 0 &&
            !check_file(tree, folder, path, old_line(old, path), diag))
            return false;
    }
    for (int i = 0; i < old->count; i++)
        if (!find(tree, old->files[i].path) &&
            !check_file(tree, folder, old->files[i].path, old->files[i].line, diag))
            return false;
    return true;
}

/* Files written beside the folder, later to be renamed. */
static bool write_beside(tw_tree *tree, const char *beside, tw_diag *diag)
{
    for (int i = 0; i < tree->count; i++) {
        const tw_tree_file *f = &tree->files[i];
        const char *path = tw_format(tree->arena, "%s/%s", beside, f->path);
        if (!make_folders(tree->arena, path, diag) ||
            !tw_write_file_atomic(path, f->data, f->bytes, diag))
            return false;
    }
    return true;
}

static void remove_beside(tw_tree *tree, const char *beside)
{
    for (int i = 0; i < tree->count; i++) {
        char *path = tw_format(tree->arena, "%s/%s", beside, tree->files[i].path);
        remove(path);
        for (char *slash;
             (slash = strrchr(path, '/')) && (size_t)(slash - path) >= strlen(beside);) {
            *slash = 0;
            rmdir(path);
        }
    }
    rmdir(beside);
}

static bool is_same(tw_tree *tree, const char *path, const tw_tree_file *f)
{
    tw_diag ignored = {0};
    void *data;
    size_t bytes;
    return access(path, F_OK) == 0 &&
           tw_read_file(tree->arena, path, MOST_BYTES, &data, &bytes, &ignored) &&
           bytes == f->bytes && memcmp(data, f->data, bytes) == 0;
}

static bool move_in(tw_tree *tree, const char *beside, const char *folder, tw_diag *diag)
{
    for (int i = 0; i < tree->count; i++) {
        const tw_tree_file *f = &tree->files[i];
        const char *to = tw_format(tree->arena, "%s/%s", folder, f->path);
        if (is_same(tree, to, f))
            continue;
        if (!make_folders(tree->arena, to, diag))
            return false;
        if (rename(tw_format(tree->arena, "%s/%s", beside, f->path), to) != 0) {
            snprintf(diag->file, sizeof diag->file, "%s", to);
            return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the file cannot be put there: %s",
                           strerror(errno));
        }
    }
    return true;
}

static void remove_old(tw_tree *tree, const char *folder, const tw_old_list *old)
{
    for (int i = 0; i < old->count; i++) {
        if (find(tree, old->files[i].path))
            continue;
        char *full = tw_format(tree->arena, "%s/%s", folder, old->files[i].path);
        remove(full);
        for (char *slash;
             (slash = strrchr(full, '/')) && (size_t)(slash - full) > strlen(folder);) {
            *slash = 0;
            if (rmdir(full) != 0)
                break;
        }
    }
}

bool tw_tree_write(tw_tree *tree, const char *folder, tw_diag *diag)
{
    struct stat status;
    tw_old_list old;
    size_t end = strlen(folder);
    while (end > 1 && folder[end - 1] == '/')
        end--;
    folder = tw_strndup(tree->arena, folder, end);
    snprintf(diag->file, sizeof diag->file, "%s", folder);
    const bool exists = stat(folder, &status) == 0;
    if (exists && !S_ISDIR(status.st_mode))
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "this is no folder; write to another one");
    add_list(tree);
    if (!read_list(tree, folder, &old, diag) || !check_all(tree, folder, &old, diag))
        return false;
    char *beside = tw_format(tree->arena, "%s.XXXXXX", folder);
    if (!mkdtemp(beside))
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the folder cannot be made: %s%s",
                       strerror(errno),
                       errno == ENOENT ? "; make the folder that it goes into first" : "");
    bool ok = write_beside(tree, beside, diag);
    if (ok && !exists) {
        const mode_t mask = umask(0);
        umask(mask);
        ok = chmod(beside, 0777 & ~mask) == 0 && rename(beside, folder) == 0;
        if (!ok)
            tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the folder cannot be put there: %s",
                    strerror(errno));
    } else if (ok) {
        ok = move_in(tree, beside, folder, diag);
        if (ok)
            remove_old(tree, folder, &old);
    }
    if (exists || !ok)
        remove_beside(tree, beside);
    if (ok)
        diag->file[0] = 0;
    return ok;
}
