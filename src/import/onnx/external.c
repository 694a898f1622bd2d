/* Tensors in files beside the model. The model's word is not trusted: a file must stand in the
 * model's own folder, and a tensor must lie inside it. */
#include <string.h>

#include "base/file.h"
#include "import/onnx/tensor.h"
#include "onnx.pb-c.h"

/* A file, and what has been read of it. */
typedef struct tw_open_file {
    uint64_t bytes, copied;
} tw_open_file;

static bool refuse(const Tw__Onnx__Tensor *proto, tw_diag *diag, const char *what)
{
    return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "tensor '%.256s' in another file: %s",
                   proto->name ? proto->name : "", what);
}

static const char *entry(const Tw__Onnx__Tensor *proto, const char *key)
{
    for (size_t i = 0; i < proto->n_external_data; i++)
        if (proto->external_data[i]->key && strcmp(proto->external_data[i]->key, key) == 0)
            return proto->external_data[i]->value ? proto->external_data[i]->value : "";
    return NULL;
}

/* A decimal number, or `otherwise` where the key is absent. */
static bool number(const Tw__Onnx__Tensor *proto, const char *key, uint64_t otherwise,
                   uint64_t *value)
{
    const char *text = entry(proto, key);
    *value = text ? 0 : otherwise;
    if (text && !*text)
        return false;
    for (; text && *text; text++) {
        if (*text < '0' || *text > '9' || *value > INT64_MAX / 100)
            return false;
        *value = *value * 10 + (uint64_t)(*text - '0');
    }
    return true;
}

/* The name without components that say nothing ("./a//b" is "a/b"), so that a file has one name.
 * Absolute ones stay absolute, to be refused. */
static const char *plain_name(tw_arena *arena, const char *location)
{
    char *plain = tw_strdup(arena, location), *to = plain;
    for (const char *at = location; *at;) {
        size_t length = strcspn(at, "/"), next = length + (at[length] == '/');
        bool says_nothing = (length == 0 && at != location) || (length == 1 && *at == '.');
        if (!says_nothing) {
            memmove(to, at, next);
            to += next;
        }
        at += next;
    }
    *to = 0;
    return plain;
}

/* Each range is read once. Ranges that overlap without being the same are possible, but all together
 * take no more memory than the file has bytes. */
static const void *read_once(tw_onnx_files *files, const Tw__Onnx__Tensor *proto,
                             const char *location, uint64_t offset, size_t bytes, tw_diag *diag)
{
    const char *key =
        tw_format(files->arena, "%llu+%zu %s", (unsigned long long)offset, bytes, location);
    void *data = tw_map_get(&files->ranges, key);
    tw_open_file *file = tw_map_get(&files->open, location);
    if (data)
        return data;
    if (!file) {
        file = tw_alloc(files->arena, sizeof *file);
        tw_map_put(files->arena, &files->open, location, file);
    } else if (file->copied > file->bytes || bytes > file->bytes - file->copied) {
        refuse(proto, diag, "tensors overlap");
        return NULL;
    }
    if (!tw_read_inside(files->arena, files->folder, location, offset, bytes, &data, &file->bytes,
                        diag))
        return NULL;
    file->copied += bytes;
    tw_map_put(files->arena, &files->ranges, key, data);
    return data;
}

bool tw_onnx_external(tw_onnx_files *files, const Tw__Onnx__Tensor *proto, size_t bytes,
                      const void **data, tw_diag *diag)
{
    const char *location = entry(proto, "location");
    uint64_t offset, length;
    if (!files->folder)
        return refuse(proto, diag, "there is no model beside which it could stand");
    if (!location)
        return refuse(proto, diag, "the file is not named");
    if (!number(proto, "offset", 0, &offset) || !number(proto, "length", bytes, &length))
        return refuse(proto, diag, "offset or length is not a number in range");
    if (length != bytes)
        return refuse(proto, diag, "its length is not that of its shape");
    *data = read_once(files, proto, plain_name(files->arena, location), offset, bytes, diag);
    return *data != NULL;
}
