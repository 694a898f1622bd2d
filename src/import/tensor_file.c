/* Tensor files: which reader a path goes to, and raw files. */
#include "import/tensor_file.h"

#include <string.h>

#include "import/file.h"
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

static bool parse_raw(const tw_file *file, const tw_shape *expected, tw_tensor_data *tensor,
                      tw_diag *diag)
{
    if (!expected)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                       "a raw file does not say its type and shape; give a .npy or .pb file");
    size_t one = tw_shape_bytes(expected);
    char text[128];
    tw_shape_text(expected, text, sizeof text);
    if (one ? file->bytes == 0 || file->bytes % one != 0 : file->bytes != 0)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                       "%zu bytes are not a whole number of %s tensors of %zu bytes each",
                       file->bytes, text, one);
    tensor->shape = *expected;
    tensor->data = file->data;
    tensor->bytes = file->bytes;
    return true;
}

bool tw_tensor_read(tw_arena *arena, const char *path, const tw_shape *expected,
                    tw_tensor_data *tensor, tw_diag *diag)
{
    *tensor = (tw_tensor_data){.name = ""};
    tw_file file;
    if (!tw_file_read(arena, path, INT32_MAX, &file, diag))
        return false;
    bool ok;
    if (tw_file_has_suffix(path, ".npy"))
        ok = tw_npy_parse(arena, file.data, file.bytes, tensor, diag);
    else if (tw_file_has_suffix(path, ".pb"))
        ok = tw_onnx_tensor_parse(arena, file.data, file.bytes, tensor, diag);
    else
        ok = parse_raw(&file, expected, tensor, diag);
    if (!ok && diag && !diag->file[0])
        strncpy(diag->file, path, sizeof diag->file - 1);
    return ok;
}
