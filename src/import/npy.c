/* NumPy's .npy format: a magic number, a version, the length of a header, the header (a Python
 * dictionary with the keys descr, fortran_order and shape) and the elements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "import/tensor_file.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6, SHAPE_LIMIT = 32 };

/* NumPy's type text without its byte order, and ours. Two bytes of void stand for bfloat16, as
 * Python's ml_dtypes writes it. */
static const struct {
    char text[4];
    tw_dtype dtype;
} descriptions[] = {
    {"f4", TW_F32}, {"i1", TW_S8},   {"u1", TW_U8},  {"i2", TW_S16}, {"u2", TW_U16},
    {"i4", TW_S32}, {"u4", TW_U32},  {"i8", TW_S64}, {"u8", TW_U64}, {"b1", TW_BOOL},
    {"f2", TW_F16}, {"V2", TW_BF16}, {"f8", TW_F64},
};
enum { DESCRIPTIONS = sizeof descriptions / sizeof *descriptions };

/* The header being read: [at, end) is left. */
typedef struct tw_npy {
    const char *at, *end;
    tw_dtype dtype;
    bool fortran, has_descr, has_order, has_shape;
    size_t rank;
    int64_t dim[SHAPE_LIMIT];
    tw_diag *diag;
} tw_npy;

static bool bad_header(tw_npy *h, const char *what)
{
    return tw_fail(h->diag, TW_CODE_FAILED, NULL, NULL, "the .npy header is damaged: %s", what);
}

static void spaces(tw_npy *h)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t'))
        h->at++;
}

static bool skip(tw_npy *h, char c)
{
    spaces(h);
    if (h->at >= h->end || *h->at != c)
        return false;
    h->at++;
    return true;
}

static bool word(tw_npy *h, const char *text)
{
    size_t length = strlen(text);
    spaces(h);
    if ((size_t)(h->end - h->at) < length || memcmp(h->at, text, length) != 0)
        return false;
    h->at += length;
    return true;
}

/* 'text', at most size - 1 characters. */
static bool quoted(tw_npy *h, char *text, size_t size)
{
    char quote = 0;
    size_t n = 0;
    if (skip(h, '\''))
        quote = '\'';
    else if (skip(h, '"'))
        quote = '"';
    while (quote && h->at < h->end && *h->at != quote && n + 1 < size)
        text[n++] = *h->at++;
    text[n] = 0;
    return quote && skip(h, quote);
}

static bool read_descr(tw_npy *h)
{
    char text[16] = {0};
    if (!quoted(h, text, sizeof text))
        return tw_fail(h->diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "arrays of records are not supported; save a plain array");
    bool wide = text[0] && text[2] != '1';
    if (text[0] == '>' && wide)
        return tw_fail(h->diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "the array is big-endian (%s); save it with a.astype('<%s')", text,
                       text + 1);
    if (text[0] != '<' && text[0] != '|' && text[0] != '>' && text[0] != '=')
        return bad_header(h, "descr has no byte order");
    for (int i = 0; i < DESCRIPTIONS; i++)
        if (strcmp(text + 1, descriptions[i].text) == 0)
            h->dtype = descriptions[i].dtype;
    if (h->dtype == TW_NO_DTYPE)
        return tw_fail(h->diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "elements of type %s are not supported; convert the array", text);
    return true;
}

static bool read_shape(tw_npy *h)
{
    if (!skip(h, '('))
        return bad_header(h, "shape is not a tuple");
    while (!skip(h, ')')) {
        int64_t n = -1;
        spaces(h);
        for (; h->at < h->end && *h->at >= '0' && *h->at <= '9' && n <= INT32_MAX; h->at++)
            n = (n < 0 ? 0 : n) * 10 + (*h->at - '0');
        if (n < 0 || h->rank == SHAPE_LIMIT)
            return bad_header(h, "shape is not a list of extents");
        if (n > INT32_MAX)
            return tw_fail(h->diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                           "the array is larger than 2 GB");
        h->dim[h->rank++] = n;
        if (!skip(h, ',') && (h->at >= h->end || *h->at != ')'))
            return bad_header(h, "shape is not a list of extents");
    }
    return true;
}

static bool read_header(tw_npy *h)
{
    if (!skip(h, '{'))
        return bad_header(h, "it is not a dictionary");
    while (!skip(h, '}')) {
        char key[16];
        if (!quoted(h, key, sizeof key) || !skip(h, ':'))
            return bad_header(h, "a key is missing");
        if (strcmp(key, "descr") == 0 && !h->has_descr) {
            h->has_descr = true;
            if (!read_descr(h))
                return false;
        } else if (strcmp(key, "fortran_order") == 0 && !h->has_order) {
            h->has_order = true;
            h->fortran = word(h, "True");
            if (!h->fortran && !word(h, "False"))
                return bad_header(h, "fortran_order is neither True nor False");
        } else if (strcmp(key, "shape") == 0 && !h->has_shape) {
            h->has_shape = true;
            if (!read_shape(h))
                return false;
        } else {
            return bad_header(h, "an unknown or repeated key");
        }
        skip(h, ',');
    }
    return h->has_descr && h->has_order && h->has_shape ? true : bad_header(h, "a key is missing");
}

/* Elements stored with the first axis fastest, into C order. */
static void reorder(const tw_shape *shape, const uint8_t *from, uint8_t *to)
{
    size_t size = tw_dtype_bytes(shape->dtype);
    int64_t count = tw_shape_elements(shape), step[TW_MAX_RANK] = {0};
    int32_t index[TW_MAX_RANK] = {0};
    int64_t stride = 1;
    for (int a = 0; a < shape->rank; a++) {
        step[a] = stride;
        stride *= shape->dim[a];
    }
    for (int64_t i = 0, at = 0; i < count; i++) {
        memcpy(to + (size_t)i * size, from + (size_t)at * size, size);
        for (int a = shape->rank - 1; a >= 0; a--) {
            at += step[a];
            if (++index[a] < shape->dim[a])
                break;
            at -= step[a] * shape->dim[a];
            index[a] = 0;
        }
    }
}

bool tw_npy_parse(tw_arena *arena, const uint8_t *data, size_t bytes, tw_tensor_data *tensor,
                  tw_diag *diag)
{
    if (bytes < MAGIC_BYTES + 4 || memcmp(data, magic, MAGIC_BYTES) != 0)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "not a .npy file");
    int version = data[MAGIC_BYTES];
    size_t start = version == 1 ? 10 : 12;
    if (version < 1 || version > 3)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       ".npy version %d is not supported; versions 1 to 3 are", version);
    if (bytes < start)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the .npy file ends in its header");
    size_t length = (size_t)data[8] | (size_t)data[9] << 8;
    if (version > 1)
        length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (length > bytes - start)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                       "the .npy header claims %zu bytes, the file has %zu left", length,
                       bytes - start);
    tw_npy h = {.at = (const char *)data + start, .diag = diag};
    h.end = h.at + length;
    if (!read_header(&h) ||
        !tw_shape_from_file("the array", h.dtype, h.rank, h.dim, &tensor->shape, diag))
        return false;
    size_t payload = bytes - start - length, expected = tw_shape_bytes(&tensor->shape);
    if (payload != expected)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                       "the array needs %zu bytes, the file holds %zu", expected, payload);
    uint8_t *own = tw_copy(arena, data + start + length, payload);
    if (h.fortran && tensor->shape.rank > 1)
        reorder(&tensor->shape, data + start + length, own);
    tensor->data = own;
    tensor->bytes = payload;
    tensor->name = "";
    return true;
}

bool tw_npy_write(const char *path, const tw_shape *shape, const void *data, tw_diag *diag)
{
    const char *description = NULL;
    for (int i = 0; i < DESCRIPTIONS; i++)
        if (descriptions[i].dtype == shape->dtype)
            description = descriptions[i].text;
    if (!description)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL, "%s: .npy has no such element type",
                       path);
    char header[256];
    bool narrow = tw_dtype_bytes(shape->dtype) == 1;
    int n = snprintf(header + 10, sizeof header - 10,
                     "{'descr': '%c%s', 'fortran_order': False, 'shape': (", narrow ? '|' : '<',
                     description);
    for (int i = 0; i < shape->rank; i++)
        n += snprintf(header + 10 + n, sizeof header - 10 - (size_t)n, "%d,%s", (int)shape->dim[i],
                      i + 1 < shape->rank ? " " : "");
    n += snprintf(header + 10 + n, sizeof header - 10 - (size_t)n, "), }");
    /* Elements start at a multiple of 64; a line feed ends the header. */
    size_t total = ((size_t)n + 11 + 63) / 64 * 64;
    memset(header + 10 + n, ' ', total - 10 - (size_t)n);
    header[total - 1] = '\n';
    memcpy(header, magic, MAGIC_BYTES);
    header[6] = 1;
    header[7] = 0;
    header[8] = (char)((total - 10) & 255);
    header[9] = (char)((total - 10) >> 8);
    size_t bytes = tw_shape_bytes(shape);
    uint8_t *file = malloc(total + bytes);
    if (!file)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "no memory left to write %s", path);
    memcpy(file, header, total);
    if (bytes)
        memcpy(file + total, data, bytes);
    bool ok = tw_write_file_atomic(path, file, total + bytes, diag);
    free(file);
    return ok;
}
