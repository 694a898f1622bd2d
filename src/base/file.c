/* Files, read and written as file.h promises. */
#define _XOPEN_SOURCE 700
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

bool tw_is_larger(const char *path, uint64_t bytes)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && (uint64_t)status.st_size > bytes;
}

bool tw_map_file(const char *path, tw_mapped *mapped, tw_diag *diag)
{
    struct stat status;
    *mapped = (tw_mapped){NULL, 0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return fail_errno(diag, "open", path, "; check the name");
    bool ok = fstat(file, &status) == 0 || fail_errno(diag, "read", path, "");
    if (ok && (status.st_size < 1 || (uint64_t)status.st_size > SIZE_MAX / 2))
        ok = tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "%s has %lld bytes, which cannot be mapped",
                     path, (long long)status.st_size);
    void *data = ok ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0) : NULL;
    if (ok && data == MAP_FAILED)
        ok = fail_errno(diag, "map", path, "");
    if (ok)
        *mapped = (tw_mapped){data, (size_t)status.st_size};
    close(file);
    return ok;
}

void tw_unmap_file(tw_mapped *mapped)
{
    if (mapped->data)
        munmap(mapped->data, mapped->bytes);
    *mapped = (tw_mapped){NULL, 0};
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

/* Open NAME below the folder, one component after the other, through no link. */
static int open_below(const char *folder, char *name)
{
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (char *part = name, *slash; at >= 0 && part; part = slash ? slash + 1 : NULL) {
        slash = strchr(part, '/');
        if (slash)
            *slash = 0;
        /* Without waiting: the name may be a pipe's, which is refused afterwards. */
        int how = slash ? O_RDONLY | O_DIRECTORY : O_RDONLY | O_NONBLOCK;
        int next = *part || !slash ? openat(at, part, how | O_NOFOLLOW | O_CLOEXEC) : dup(at);
        int error = errno;
        close(at);
        errno = error;
        at = next;
    }
    return at;
}

/* The file's handle, or -1 with a message. */
static int open_inside(tw_arena *arena, const char *folder, const char *name, uint64_t *bytes,
                       tw_diag *diag)
{
    if (!*name || *name == '/' || *name == '\\' || climbs(name)) {
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                "the file name \"%s\" must be relative and without \"..\"; "
                "put the file into the model's own folder",
                name);
        return -1;
    }
    struct stat status;
    const char *path = tw_format(arena, "%s/%s", folder, name);
    int handle = open_below(folder, tw_strdup(arena, name));
    const char *what = NULL;
    if (handle < 0 && errno != ELOOP && errno != ENOTDIR)
        fail_errno(diag, "open", path, "; it must stand in the model's own folder");
    else if (handle < 0)
        what = "leads through a link";
    else if (fstat(handle, &status) != 0 || !S_ISREG(status.st_mode))
        what = "is not a plain file";
    else if (status.st_nlink > 1)
        what = "has a second name (a hard link), which may lie anywhere";
    else
        *bytes = (uint64_t)status.st_size;
    if (what)
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                "%s %s; copy the file itself into the model's folder", path, what);
    if (what && handle >= 0)
        close(handle);
    return what ? -1 : handle;
}

char *tw_path_inside(tw_arena *arena, const char *folder, const char *name, tw_diag *diag)
{
    uint64_t bytes;
    int handle = open_inside(arena, folder, name, &bytes, diag);
    if (handle < 0)
        return NULL;
    close(handle);
    return tw_format(arena, "%s/%s", folder, name);
}

static bool read_range(int handle, uint64_t offset, uint8_t *to, size_t bytes)
{
    while (bytes) {
        ssize_t got = pread(handle, to, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return true;
}

bool tw_read_inside(tw_arena *arena, const char *folder, const char *name, uint64_t offset,
                    size_t bytes, void **data, uint64_t *file_bytes, tw_diag *diag)
{
    int handle = open_inside(arena, folder, name, file_bytes, diag);
    if (handle < 0)
        return false;
    bool ok = offset <= *file_bytes && bytes <= *file_bytes - offset;
    if (!ok)
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                "bytes %llu to %llu are beyond the end of %s, which has %llu",
                (unsigned long long)offset, (unsigned long long)(offset + bytes), name,
                (unsigned long long)*file_bytes);
    if (ok) {
        *data = tw_alloc(arena, bytes + 1);
        ok = read_range(handle, offset, *data, bytes) || fail_errno(diag, "read", name, "");
    }
    close(handle);
    return ok;
}
