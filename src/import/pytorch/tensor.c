/* Tensors of the file: bytes of a storage, an offset and strides, made dense. */
#include <string.h>

#include "base/half.h"
#include "import/pytorch/torch.h"
#include "import/tensor_file.h"

typedef struct tw_storage {
    const uint8_t *data;
    size_t bytes;
} tw_storage;

static const tw_storage *load(tw_torch *t, const tw_torch_stored *stored)
{
    tw_torch_place *place = stored->place ? stored->place : &t->place;
    const char *key = stored->key;
    tw_storage *storage = tw_map_get(&place->loaded, key);
    if (storage)
        return storage;
    const char *name = tw_format(t->scratch, "%s%s", place->prefix, key);
    const int member = place->archive ? tw_archive_find(place->archive, name) : -1;
    if (member < 0) {
        tw_fail(t->b.diag, TW_CODE_FAILED, NULL, NULL, "the archive has no storage '%s'", name);
        return NULL;
    }
    storage = tw_alloc(t->scratch, sizeof *storage);
    void *data;
    if (!tw_archive_read(place->archive, t->scratch, member, &data, &storage->bytes, t->b.diag))
        return NULL;
    storage->data = data;
    tw_map_put(t->scratch, &place->loaded, tw_strdup(t->scratch, key), storage);
    return storage;
}

bool tw_torch_shape(tw_torch *t, tw_dtype dtype, int rank, const int64_t *dim, tw_shape *shape)
{
    if (rank > TW_MAX_RANK)
        return tw_fail(t->b.diag, TW_CODE_UNSUPPORTED, t->b.node, NULL,
                       "a tensor has rank %d; at most %d are supported", rank, TW_MAX_RANK);
    return tw_shape_from_file("a tensor", dtype, (size_t)rank, dim, shape, t->b.diag);
}

/* Do all elements lie in the storage? */
static bool fits(tw_torch *t, const tw_torch_stored *s, const tw_storage *storage, int bytes)
{
    int64_t last = s->offset;
    const int64_t most = (int64_t)(storage->bytes / (size_t)bytes);
    bool inside = s->offset <= most;
    for (int i = 0; inside && i < s->rank; i++) {
        const int64_t steps = s->size[i] - 1;
        if (s->size[i] == 0)
            return true;
        inside = steps == 0 || s->stride[i] <= (most - last) / steps;
        last += inside ? steps * s->stride[i] : 0;
    }
    return (inside && last < most) ||
           tw_fail(t->b.diag, TW_CODE_FAILED, NULL, NULL,
                   "a tensor reaches beyond its storage '%s' of %zu bytes", s->key, storage->bytes);
}

/* The elements in order. */
static void gather(const tw_torch_stored *s, const uint8_t *from, int bytes, int64_t count,
                   uint8_t *to)
{
    const tw_dtype widened = s->dtype == TW_TORCH_F64    ? TW_F64
                             : s->dtype == TW_TORCH_F16  ? TW_F16
                             : s->dtype == TW_TORCH_BF16 ? TW_BF16
                                                         : TW_NO_DTYPE;
    const bool wide = widened != TW_NO_DTYPE;
    const size_t size = wide ? sizeof(float) : (size_t)bytes;
    int64_t at[TW_MAX_RANK] = {0}, place = s->offset;
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *element = from + place * bytes;
        const float real = wide ? tw_float_widened(widened, element) : 0;
        memcpy(to + (size_t)i * size, wide ? (const void *)&real : element, size);
        for (int k = s->rank - 1; k >= 0; k--) {
            place += s->stride[k];
            if (++at[k] < s->size[k])
                break;
            place -= s->stride[k] * s->size[k];
            at[k] = 0;
        }
    }
}

tw_value *tw_torch_value(tw_torch *t, tw_torch_tensor *tensor)
{
    const tw_torch_stored *s = &tensor->stored;
    tw_shape shape;
    if (tensor->value)
        return tensor->value;
    const int bytes = tw_torch_dtype_bytes(s->dtype);
    const tw_dtype dtype = tw_torch_dtype(s->dtype);
    if (bytes == 0 || dtype == TW_NO_DTYPE) {
        tw_fail(t->b.diag, TW_CODE_UNSUPPORTED, NULL, NULL, "elements of type %d are not supported",
                s->dtype);
        return NULL;
    }
    const tw_storage *storage = load(t, s);
    if (!storage || !tw_torch_shape(t, dtype, s->rank, s->size, &shape) ||
        !fits(t, s, storage, bytes))
        return NULL;
    t->made += tw_shape_bytes(&shape);
    if (t->made > t->most) {
        tw_fail(t->b.diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                "the file's tensors have many times the elements that its storages hold");
        return NULL;
    }
    uint8_t *data = tw_alloc(t->b.arena, tw_shape_bytes(&shape) + 1);
    gather(s, storage->data, bytes, tw_shape_elements(&shape), data);
    if (dtype == TW_BOOL)
        for (uint32_t i = 0; i < tw_shape_bytes(&shape); i++)
            data[i] = data[i] != 0;
    tensor->value = tw_graph_constant(t->b.graph, "weight", shape, data);
    return tensor->value;
}
