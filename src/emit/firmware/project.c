/* Build files from the templates: templates/PROJECT/all/ for every firmware, .../app/ for one with a
 * program. A template is the file itself with words to fill in: @NAME@ and so on, in its path as well;
 * a line with @SOURCE@ or @HEADER@ is repeated for each file, and one that begins with @ONLY NAME@ is for
 * firmware with that back end. The path loses its last `.in`. */
#include <stdlib.h>
#include <string.h>

#include "emit/firmware/make.h"
#include "emit/firmware/sources.h"
#include "tilewright/compiler.h"

static const char root[] = "src/emit/firmware/templates/";

/* The folder's name of a template of a project; null for other files. */
static const char *project_of(tw_arena *arena, const tw_firmware_file *file)
{
    const size_t n = strlen(root);
    if (strncmp(file->path, root, n) != 0)
        return NULL;
    return tw_strndup(arena, file->path + n, strcspn(file->path + n, "/"));
}

bool tw_firmware_project(tw_arena *arena, int index, const char **name)
{
    const char *last = NULL;
    for (int i = 0; i < tw_firmware_file_count; i++) {
        const char *project = project_of(arena, &tw_firmware_files[i]);
        if (!project || strcmp(project, "program") == 0 || (last && strcmp(project, last) == 0))
            continue;
        last = project;
        *name = project;
        if (index-- == 0)
            return true;
    }
    return false;
}

typedef struct tw_word {
    const char *key, *value;
} tw_word;

static void replace(FILE *file, const char *text, size_t bytes, const tw_word *words)
{
    for (const char *end = text + bytes; text < end;) {
        const tw_word *w = words;
        while (w->key && strncmp(text, w->key, strlen(w->key)) != 0)
            w++;
        if (w->key) {
            fputs(w->value, file);
            text += strlen(w->key);
        } else {
            fputc(*text++, file);
        }
    }
}

static const char *replaced(const tw_making *m, const char *text, const tw_word *words)
{
    tw_text t;
    tw_text_begin(&t);
    replace(t.file, text, strlen(text), words);
    fclose(t.file);
    char *copy = tw_strndup(m->arena, t.data, t.bytes);
    free(t.data);
    return copy;
}

static bool ends_in(const char *path, const char *suffix)
{
    const size_t n = strlen(path), k = strlen(suffix);
    return n >= k && strcmp(path + n - k, suffix) == 0;
}

/* The line once for each C file, or header, of the tree so far. */
static void repeat(const tw_making *m, FILE *file, const char *line, size_t bytes, tw_word *words,
                   tw_word *slot, const char *suffix)
{
    for (int i = 0; i < m->tree->count; i++) {
        if (!ends_in(m->tree->files[i].path, suffix) ||
            strncmp(m->tree->files[i].path, "src/", 4) != 0)
            continue;
        slot->value = m->tree->files[i].path;
        replace(file, line, bytes, words);
    }
}

/* The line behind "@ONLY NAME@"; null where the firmware has another back end. */
static const char *wanted_line(const tw_making *m, const char *line)
{
    static const char only[] = "@ONLY ";
    const size_t n = strlen(only), name = strlen(m->options->backend->name);
    if (strncmp(line, only, n) != 0)
        return line;
    const bool ours =
        strncmp(line + n, m->options->backend->name, name) == 0 && line[n + name] == '@';
    return ours ? line + n + name + 1 : NULL;
}

/* What a component of a CMSIS pack asks of the project. */
static const char *condition_of(const tw_making *m)
{
    const char *library = m->options->backend->library;
    return library ? tw_format(m->arena, " condition=\"%s\"", library) : "";
}

static void fill(const tw_making *m, const tw_firmware_file *file, const char *path)
{
    enum { SOURCE = 0, HEADER = 1 };
    tw_word words[] = {{"@SOURCE@", ""},
                       {"@HEADER@", ""},
                       {"@NAME@", m->name},
                       {"@BIG@", m->big},
                       {"@TITLE@", *m->title ? m->title : m->name},
                       {"@VERSION@", TW_VERSION},
                       {"@CONDITION@", condition_of(m)},
                       {NULL, NULL}};
    tw_text text;
    tw_text_begin(&text);
    for (const char *line = file->text, *next; *line; line = next) {
        next = line + strcspn(line, "\n") + (strchr(line, '\n') != NULL);
        line = wanted_line(m, line);
        if (!line)
            continue;
        const size_t bytes = (size_t)(next - line);
        const char *source = strstr(line, words[SOURCE].key),
                   *header = strstr(line, words[HEADER].key);
        if (source && source < next)
            repeat(m, text.file, line, bytes, words, &words[SOURCE], ".c");
        else if (header && header < next)
            repeat(m, text.file, line, bytes, words, &words[HEADER], ".h");
        else
            replace(text.file, line, bytes, words);
    }
    tw_text_end(&text, m, replaced(m, path, words + 2));
}

/* The path in the firmware, or null where the template is not for it. */
static const char *place(const tw_making *m, const tw_firmware_file *file, const char *project)
{
    const char *inner = file->path + strlen(root) + strlen(project) + 1;
    if (strncmp(inner, "all/", 4) != 0 && !(m->options->app && strncmp(inner, "app/", 4) == 0))
        return NULL;
    inner += 4;
    return ends_in(inner, ".in") ? tw_strndup(m->arena, inner, strlen(inner) - 3) : inner;
}

static void fill_all(const tw_making *m, const char *project)
{
    for (int i = 0; i < tw_firmware_file_count; i++) {
        const char *of = project_of(m->arena, &tw_firmware_files[i]);
        const char *path =
            of && strcmp(of, project) == 0 ? place(m, &tw_firmware_files[i], project) : NULL;
        if (path)
            fill(m, &tw_firmware_files[i], path);
    }
}

void tw_write_project(const tw_making *m)
{
    fill_all(m, "program"); /* the program itself is the same everywhere */
    fill_all(m, m->options->project);
}
