/* Files, read and written as file.h promises. */
#define _XOPEN_SOURCE 700
#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail_errno(tw_diag *diag, const char *what, const char *path, const char *remedy)
{
    return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "cannot %s %s: %s%s", what, path,
                   strerror(errno), remedy);
}

/* The rest of the stream. The buffer grows with what arrives. */
static bool read_all(FILE *file, const char *path, size_t limit, char **data, size_t *bytes,
                     tw_diag *diag)
{
    size_t room = 1 << 16;
    char *buffer = NULL;
    *bytes = 0;
    for (;;) {
        char *larger = realloc(buffer, room + 1);
        if (!larger) {
            free(buffer);
            return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "no memory left to read %s", path);
        }
        buffer = larger;
        *bytes += fread(buffer + *bytes, 1, room - *bytes, file);
        if (*bytes < room)
            break;
        if (room > limit) {
            free(buffer);
            return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "%s is larger than %zu bytes", path,
                           limit);
        }
        room *= 2;
    }
    *data = buffer;
    return true;
}

bool tw_read_file(tw_arena *arena, const char *path, size_t limit, void **data, size_t *bytes,
                  tw_diag *diag)
{
    struct stat status;
    char *buffer = NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail_errno(diag, "open", path, "; check the name");
    if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(file);
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "%s is a folder, a file is needed", path);
    }
    if (!read_all(file, path, limit, &buffer, bytes, diag)) {
        fclose(file);
        return false;
    }
    bool ok = !ferror(file) || fail_errno(diag, "read", path, "");
    ok = ok && (*bytes <= limit || tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                                           "%s is larger than %zu bytes", path, limit));
    if (ok)
        *data = tw_strndup(arena, buffer, *bytes);
    free(buffer);
    fclose(file);
    return ok;
}

static bool write_stream(FILE *file, const void *data, size_t bytes)
{
    bool ok = bytes == 0 || fwrite(data, 1, bytes, file) == bytes;
    int error = errno;
    if (fclose(file) != 0)
        return false;
    errno = error;
    return ok;
}

static bool write_beside(const char *path, char *beside, const void *data, size_t bytes,
                         tw_diag *diag)
{
    int handle = mkstemp(beside);
    if (handle < 0)
        return fail_errno(diag, "write", path, "; name a folder that exists and can be written");
    mode_t mask = umask(0);
    umask(mask);
    fchmod(handle, 0666 & ~mask);
    FILE *file = fdopen(handle, "wb");
    if (!file)
        close(handle);
    if (!file || !write_stream(file, data, bytes) || rename(beside, path) != 0) {
        fail_errno(diag, "write", path, "");
        unlink(beside);
        return false;
    }
    return true;
}

bool tw_write_file_atomic(const char *path, const void *data, size_t bytes, tw_diag *diag)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        FILE *file = S_ISDIR(status.st_mode) ? NULL : fopen(path, "wb");
        errno = S_ISDIR(status.st_mode) ? EISDIR : errno;
        return (file && write_stream(file, data, bytes)) || fail_errno(diag, "write", path, "");
    }
    size_t room = strlen(path) + sizeof ".XXXXXX";
    char *beside = malloc(room);
    if (!beside)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "no memory left to write %s", path);
    snprintf(beside, room, "%s.XXXXXX", path);
    bool ok = write_beside(path, beside, data, bytes, diag);
    free(beside);
    return ok;
}

char *tw_path_folder(tw_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return tw_strdup(arena, ".");
    return slash == path ? tw_strdup(arena, "/") : tw_strndup(arena, path, (size_t)(slash - path));
}

/* Is one of the name's components ".."? */
static bool climbs(const char *name)
{
    for (const char *at = name; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == 0))
            return true;
    }
    return false;
}

char *tw_path_inside(tw_arena *arena, const char *folder, const char *name, tw_diag *diag)
{
    if (!*name || *name == '/' || *name == '\\' || climbs(name)) {
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                "the file name \"%s\" must be relative and without \"..\"; "
                "put the file into the model's own folder",
                name);
        return NULL;
    }
    char *path = tw_format(arena, "%s/%s", folder, name);
    char *real = realpath(path, NULL), *real_folder = realpath(folder, NULL);
    struct stat status;
    char *result = NULL;
    size_t n = real_folder ? strlen(real_folder) : 0;
    if (!real || !real_folder)
        fail_errno(diag, "open", path, "; it must stand in the model's own folder");
    else if (strncmp(real, real_folder, n) != 0 || (n > 1 && real[n] != '/'))
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                "%s leads out of the model's folder through a link; copy the file there", path);
    else if (stat(real, &status) != 0 || !S_ISREG(status.st_mode))
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "%s is not a plain file", path);
    else
        result = path;
    free(real);
    free(real_folder);
    return result;
}
