/* Tensors in files beside the model. The model's word is not trusted: a file must stand in the
 * model's own folder, and a tensor must lie inside it. */
#include <string.h>

#include "base/file.h"
#include "import/onnx/tensor.h"
#include "onnx.pb-c.h"

typedef struct tw_open_file {
    const uint8_t *data;
    size_t bytes;
    size_t
        copied; /* for tensors that are not aligned; they cannot overlap, so never more than all */
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
        if (*text < '0' || *text > '9' || *value > UINT32_MAX)
            return false;
        *value = *value * 10 + (uint64_t)(*text - '0');
    }
    return true;
}

static tw_open_file *open_file(tw_onnx_files *files, const char *location, tw_diag *diag)
{
    tw_open_file *open = tw_map_get(&files->open, location);
    if (open)
        return open;
    const char *path = tw_path_inside(files->arena, files->folder, location, diag);
    void *data;
    open = tw_alloc(files->arena, sizeof *open);
    if (!path || !tw_read_file(files->arena, path, INT32_MAX, &data, &open->bytes, diag))
        return NULL;
    open->data = data;
    tw_map_put(files->arena, &files->open, location, open);
    return open;
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
    tw_open_file *open = open_file(files, location, diag);
    if (!open)
        return false;
    if (offset > open->bytes || bytes > open->bytes - offset)
        return refuse(proto, diag, "it lies beyond the end of the file");
    const uint8_t *at = open->data + offset;
    *data = at;
    if (offset % 16 == 0)
        return true;
    if (bytes > open->bytes - open->copied)
        return refuse(proto, diag, "tensors overlap");
    open->copied += bytes;
    *data = tw_copy(files->arena, at, bytes);
    return true;
}
