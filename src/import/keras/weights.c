/* Keras's own ways in HDF5: long attributes in pieces, and bfloat16, which is stored as bytes in pairs or as
 * uint16 with an attribute that says so. In: a path in the weights' file. Out: texts, shapes, elements as the
 * graph has them. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/half.h"
#include "import/keras/keras.h"

enum { MOST_PIECES = 4096 };

#define W_FAIL(import, path, ...) tw_fail((import)->b.diag, TW_CODE_FAILED, path, NULL, __VA_ARGS__)
#define W_UNSUPPORTED(import, path, ...)                                                           \
    tw_fail((import)->b.diag, TW_CODE_UNSUPPORTED, path, NULL, __VA_ARGS__)

/* --- attributes -------------------------------------------------------------------------------- */

int tw_kr_texts(tw_kr_import *import, const char *path, const char *attribute,
                const char *const **texts)
{
    const char **all = NULL;
    int count = tw_h5_texts(import->weights, path, attribute, texts), capacity = 0;
    if (count >= 0)
        return count;
    for (int piece = 0; piece < MOST_PIECES; piece++) {
        const char *const *some;
        const char *name = tw_format(import->scratch, "%s%d", attribute, piece);
        const int more = tw_h5_texts(import->weights, path, name, &some);
        if (more < 0)
            break;
        count = count < 0 ? 0 : count;
        for (int i = 0; i < more; i++) {
            tw_grow(import->scratch, &all, count, &capacity, sizeof *all);
            all[count++] = some[i];
        }
    }
    *texts = all;
    return import->b.diag->code == TW_CODE_OK ? count : -1;
}

const char *tw_kr_text(tw_kr_import *import, const char *path, const char *attribute)
{
    const char *const *texts;
    const int count = tw_kr_texts(import, path, attribute, &texts);
    size_t bytes = 0;
    if (count <= 0)
        return NULL;
    if (count == 1)
        return texts[0];
    for (int i = 0; i < count; i++)
        bytes += strlen(texts[i]);
    char *whole = tw_alloc(import->scratch, bytes + 1), *at = whole;
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(texts[i]);
        memcpy(at, texts[i], length);
        at += length;
    }
    return whole;
}

/* --- weights ----------------------------------------------------------------------------------- */

/* What a dataset's elements are when they are widened, and as they are stored. */
typedef struct element {
    tw_dtype dtype, stored;
} element;

static bool find_element(tw_kr_import *import, const char *path, const tw_h5_dataset *d, element *e)
{
    const tw_h5_type *t = &d->type;
    const char *const *words;
    const bool said = t->bytes == 2 && t->class != TW_H5_FLOAT &&
                      tw_h5_texts(import->weights, path, "dtype", &words) == 1 &&
                      strcmp(words[0], "bfloat16") == 0;
    *e = (element){TW_F32, TW_F32};
    if (import->b.diag->code != TW_CODE_OK)
        return false;
    if (said || (t->class == TW_H5_FLOAT && t->is_bfloat)) {
        e->stored = TW_BF16;
    } else if (t->class == TW_H5_FLOAT) {
        e->stored = t->bytes == 2 ? TW_F16 : t->bytes == 4 ? TW_F32 : TW_F64;
    } else if (t->class == TW_H5_INTEGER) {
        e->stored = t->is_bool      ? TW_BOOL
                    : t->bytes == 8 ? (t->is_signed ? TW_S64 : TW_U64)
                    : t->bytes == 4 ? (t->is_signed ? TW_S32 : TW_U32)
                    : t->bytes == 2 ? (t->is_signed ? TW_S16 : TW_U16)
                                    : (t->is_signed ? TW_S8 : TW_U8);
        e->dtype = e->stored;
    } else {
        return W_UNSUPPORTED(import, path,
                             "the weights are %zu bytes of no type; float16, bfloat16, float32, "
                             "float64, integers and booleans are supported",
                             t->bytes);
    }
    return true;
}

static bool find_shape(tw_kr_import *import, const char *path, tw_h5_dataset *d, element *e,
                       tw_shape *shape)
{
    int64_t elements = 1;
    if (!tw_h5_find_dataset(import->weights, path, d) || !find_element(import, path, d, e))
        return false;
    if (d->rank > TW_MAX_RANK)
        return W_UNSUPPORTED(import, path, "weights of %d axes; at most %d are supported", d->rank,
                             TW_MAX_RANK);
    *shape = tw_shape_of(e->dtype, 0, NULL);
    shape->rank = d->rank;
    for (int i = 0; i < d->rank; i++) {
        elements *= d->dim[i] > INT32_MAX ? INT32_MAX : (int64_t)d->dim[i];
        if (elements > INT32_MAX / 8 || d->dim[i] > INT32_MAX)
            return W_FAIL(import, path, "the weights are larger than a tensor may be");
        shape->dim[i] = (int32_t)d->dim[i];
    }
    return true;
}

bool tw_kr_weight_shape(tw_kr_import *import, const char *path, tw_shape *shape)
{
    tw_h5_dataset d;
    element e;
    return find_shape(import, path, &d, &e, shape);
}

const void *tw_kr_weights(tw_kr_import *import, const char *path, tw_shape *shape)
{
    tw_h5_dataset d;
    element e;
    if (!find_shape(import, path, &d, &e, shape))
        return NULL;
    const uint8_t *data = tw_h5_read(import->weights, path, &d);
    const size_t count = (size_t)tw_shape_elements(shape);
    if (!data)
        return NULL;
    if (e.stored == e.dtype && e.stored != TW_BOOL)
        return tw_copy(import->b.arena, data, d.bytes);
    if (e.stored == TW_BOOL) {
        uint8_t *truth = tw_alloc(import->b.arena, count + 1);
        for (size_t i = 0; i < count; i++)
            truth[i] = data[i] != 0;
        return truth;
    }
    float *to = tw_alloc_array(import->b.arena, count + 1, sizeof *to);
    for (size_t i = 0; i < count; i++)
        to[i] = tw_float_widened(e.stored, data + i * d.type.bytes);
    return to;
}
