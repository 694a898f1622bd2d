/* Reading a file whole: in goes a path and a bound, out come bytes in an arena. */
#include "import/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_READ = 1 << 16 };

/* Read to the end into malloc'd memory that doubles as it fills. */
static bool read_all(FILE *stream, size_t limit, uint8_t **data, size_t *bytes, tw_diag *diag)
{
    size_t capacity = FIRST_READ;
    *bytes = 0;
    *data = malloc(capacity);
    while (*data) {
        *bytes += fread(*data + *bytes, 1, capacity - *bytes, stream);
        if (ferror(stream))
            return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "cannot be read: %s", strerror(errno));
        if (*bytes > limit)
            return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                           "the file is larger than %zu bytes, the most that is read", limit);
        if (*bytes < capacity)
            return true;
        capacity *= 2;
        uint8_t *larger = realloc(*data, capacity);
        if (!larger)
            break;
        *data = larger;
    }
    return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "not enough memory to read the file");
}

bool tw_file_read(tw_arena *arena, const char *path, size_t limit, tw_file *file, tw_diag *diag)
{
    *file = (tw_file){NULL, 0};
    uint8_t *data = NULL;
    FILE *stream = fopen(path, "rb");
    bool ok =
        stream ? read_all(stream, limit, &data, &file->bytes, diag)
               : tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "cannot be opened: %s", strerror(errno));
    if (stream)
        fclose(stream);
    if (ok)
        file->data = tw_copy(arena, data, file->bytes);
    else if (diag)
        snprintf(diag->file, sizeof diag->file, "%s", path);
    free(data);
    return ok;
}

bool tw_file_has_suffix(const char *path, const char *suffix)
{
    size_t length = strlen(path), tail = strlen(suffix);
    if (length < tail)
        return false;
    for (size_t i = 0; i < tail; i++) {
        char c = path[length - tail + i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != suffix[i])
            return false;
    }
    return true;
}
