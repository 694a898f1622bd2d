/* Tensor files: which reader a path goes to, and raw files. */
#include "import/tensor_file.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "import/onnx/tensor.h"

bool tw_shape_from_file(const char *what, tw_dtype dtype, size_t rank, const int64_t *dim,
                        tw_shape *shape, tw_diag *diag)
{
    if (rank > TW_MAX_RANK)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "%s has rank %zu; ranks up to %d are supported", what, rank, TW_MAX_RANK);
    *shape = tw_shape_of(dtype, 0, NULL);
    shape->rank = (int)rank;
    int64_t total = tw_dtype_bytes(dtype);
    for (size_t i = 0; i < rank; i++) {
        if (dim[i] < 0)
            return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                           "%s has extent %lld on axis %zu; extents are 0 or more", what,
                           (long long)dim[i], i);
        if (dim[i] > INT32_MAX || total * (dim[i] ? dim[i] : 1) > INT32_MAX)
            return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                           "%s is larger than 2 GB (extent %lld on axis %zu)", what,
                           (long long)dim[i], i);
        total *= dim[i] ? dim[i] : 1;
        shape->dim[i] = (int32_t)dim[i];
    }
    return true;
}

static bool parse_raw(const void *data, size_t bytes, const tw_shape *expected,
                      tw_tensor_data *tensor, tw_diag *diag)
{
    if (!expected)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                       "a raw file does not say its type and shape; give a .npy or .pb file");
    size_t one = tw_shape_bytes(expected);
    char text[128];
    tw_shape_text(expected, text, sizeof text);
    if (one ? bytes == 0 || bytes % one != 0 : bytes != 0)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                       "%zu bytes are not a whole number of %s tensors of %zu bytes each", bytes,
                       text, one);
    tensor->shape = *expected;
    tensor->data = data;
    tensor->bytes = bytes;
    return true;
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t length = strlen(path), tail = strlen(suffix);
    return length >= tail && strcmp(path + length - tail, suffix) == 0;
}

bool tw_tensor_read(tw_arena *arena, const char *path, const tw_shape *expected,
                    tw_tensor_data *tensor, tw_diag *diag)
{
    *tensor = (tw_tensor_data){.name = ""};
    void *data;
    size_t bytes;
    if (!tw_read_file(arena, path, INT32_MAX, &data, &bytes, diag))
        return false;
    bool ok;
    if (has_suffix(path, ".npy"))
        ok = tw_npy_parse(arena, data, bytes, tensor, diag);
    else if (has_suffix(path, ".pb"))
        ok = tw_onnx_tensor_parse(arena, data, bytes, tensor, diag);
    else
        ok = parse_raw(data, bytes, expected, tensor, diag);
    if (!ok && diag)
        snprintf(diag->file, sizeof diag->file, "%s", path);
    return ok;
}
