/* Datasets: what they hold and where. In: a path. Out: type and extents; the elements, dense. What has no
 * storage is the fill value, or 0. */
#include <string.h>

#include "import/hdf5/file.h"

typedef enum layout_class { COMPACT, CONTIGUOUS, CHUNKED, VIRTUAL } layout_class;

typedef struct layout {
    int class;
    tw_h5_span data;    /* compact */
    uint64_t at, bytes; /* contiguous */
    tw_h5_chunks chunks;
} layout;

/* --- what there is ----------------------------------------------------------------------------- */

static bool find_type(tw_h5 *f, const tw_h5_object *o, tw_h5_type *type)
{
    tw_h5_span body;
    const tw_h5_message *m = tw_h5_message_of(o, TW_H5_TYPE);
    if (!m)
        return tw_h5_damaged(f, "dataset", o->at, "has no type");
    if (!tw_h5_body(f, m, &body) || !tw_h5_parse_type(f, body, type))
        return false;
    const size_t bytes = type->bytes;
    const bool is_integer = type->class == TW_H5_INTEGER;
    if (type->class == TW_H5_FLOAT || type->class == TW_H5_OPAQUE ||
        (is_integer && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)))
        return true;
    return is_integer ? tw_h5_refuse(f, "integers of %zu bytes; 1, 2, 4 and 8 are read", bytes)
                      : tw_h5_refuse(f, "a dataset of type %s; numbers are read",
                                     tw_h5_class_name((int)type->class));
}

bool tw_h5_find_dataset(tw_h5 *f, const char *path, tw_h5_dataset *d)
{
    tw_h5_span body;
    tw_h5_extents extents;
    *d = (tw_h5_dataset){.object = tw_h5_find(f, path)};
    const tw_h5_message *space = d->object ? tw_h5_message_of(d->object, TW_H5_SPACE) : NULL;
    if (!space)
        return tw_fail(f->diag, TW_CODE_FAILED, path, NULL, "the file has no dataset of this name");
    if (!find_type(f, d->object, &d->type) || !tw_h5_body(f, space, &body) ||
        !tw_h5_parse_extents(f, body, &extents))
        return false;
    d->rank = extents.rank;
    memcpy(d->dim, extents.dim, sizeof d->dim);
    memcpy(d->most, extents.most, sizeof d->most);
    if (extents.count > SIZE_MAX / 2 / d->type.bytes)
        return tw_h5_damaged(f, "dataset", d->object->at, "is larger than any file");
    d->bytes = (size_t)extents.count * d->type.bytes;
    return true;
}

/* --- where it is ------------------------------------------------------------------------------- */

static bool measure_chunks(tw_h5 *f, const tw_h5_dataset *d, tw_h5_chunks *c, uint64_t each)
{
    uint64_t bytes = d->type.bytes;
    bool fits = c->rank == d->rank && d->rank > 0 && each == bytes;
    for (int i = 0; fits && i < c->rank; i++) {
        fits = c->dim[i] > 0 && bytes <= SIZE_MAX / 4 / c->dim[i];
        bytes *= fits ? c->dim[i] : 1;
    }
    c->bytes = (size_t)bytes;
    return fits || tw_h5_damaged(f, "dataset", d->object->at, "has chunks of other extents");
}

/* Version 4 on: an index of several kinds. */
static bool parse_new_chunks(tw_h5 *f, const tw_h5_dataset *d, tw_h5_span s, tw_h5_chunks *c)
{
    enum { WHOLE = 1, SINGLE_FILTERED = 2 };
    static const int parameters[] = {0, 0, 0, 1, 5, 6};
    const uint64_t flags = tw_h5_take(&s, 1), axes = tw_h5_take(&s, 1);
    const uint64_t width = tw_h5_take(&s, 1);
    if (axes < 1 || axes > TW_H5_MOST_RANK + 1 || width < 1 || width > 8)
        return tw_h5_damaged(f, "dataset", d->object->at, "has chunks of no extents");
    c->rank = (int)axes - 1;
    c->whole = flags & WHOLE;
    for (int i = 0; i < c->rank; i++)
        c->dim[i] = tw_h5_take(&s, (int)width);
    const uint64_t each = tw_h5_take(&s, (int)width);
    c->index = (int)tw_h5_take(&s, 1);
    if (c->index < TW_H5_SINGLE || c->index > TW_H5_NEW_TREE)
        return tw_h5_refuse(f, "weights in chunks with an index of kind %d", c->index);
    if (c->index == TW_H5_SINGLE && (flags & SINGLE_FILTERED)) {
        c->stored = tw_h5_take_length(f, &s);
        c->skipped = (uint32_t)tw_h5_take(&s, 4);
    }
    tw_h5_skip(&s, (uint64_t)parameters[c->index]);
    c->at = tw_h5_take_address(f, &s);
    return s.cut ? tw_h5_damaged(f, "dataset", d->object->at, "is cut off")
                 : measure_chunks(f, d, c, each);
}

static bool parse_chunks(tw_h5 *f, const tw_h5_dataset *d, tw_h5_span s, tw_h5_chunks *c)
{
    const uint64_t axes = tw_h5_take(&s, 1);
    if (axes < 1 || axes > TW_H5_MOST_RANK + 1)
        return tw_h5_damaged(f, "dataset", d->object->at, "has chunks of no extents");
    c->rank = (int)axes - 1;
    c->at = tw_h5_take_address(f, &s);
    for (int i = 0; i < c->rank; i++)
        c->dim[i] = tw_h5_take(&s, 4);
    const uint64_t each = tw_h5_take(&s, 4);
    return s.cut ? tw_h5_damaged(f, "dataset", d->object->at, "is cut off")
                 : measure_chunks(f, d, c, each);
}

/* Versions 1 and 2: an address where there is one, and extents that contiguous data does not need. */
static bool parse_old_layout(tw_h5 *f, const tw_h5_dataset *d, tw_h5_span s, layout *l)
{
    const uint64_t axes = tw_h5_take(&s, 1);
    l->class = (int)tw_h5_take(&s, 1);
    tw_h5_skip(&s, 5);
    if (l->class != COMPACT)
        l->at = l->chunks.at = tw_h5_take_address(f, &s);
    l->bytes = d->bytes;
    if (axes > TW_H5_MOST_RANK + 1 || (l->class == CHUNKED && axes == 0))
        return tw_h5_damaged(f, "dataset", d->object->at, "has a layout of no extents");
    l->chunks.rank = (int)axes - 1;
    uint64_t each = 0;
    for (int i = 0; i < (int)axes; i++) {
        each = tw_h5_take(&s, 4);
        if (i < l->chunks.rank)
            l->chunks.dim[i] = each;
    }
    if (l->class == COMPACT)
        l->data = tw_h5_part(&s, tw_h5_take(&s, 4));
    if (s.cut)
        return tw_h5_damaged(f, "dataset", d->object->at, "is cut off");
    return l->class != CHUNKED || measure_chunks(f, d, &l->chunks, each);
}

static bool parse_layout(tw_h5 *f, const tw_h5_dataset *d, layout *l)
{
    enum { OLD = 2, CURRENT = 3, NEWEST = 5 };
    const tw_h5_message *m = tw_h5_message_of(d->object, TW_H5_LAYOUT);
    tw_h5_span s;
    *l = (layout){0};
    if (!m)
        return tw_h5_damaged(f, "dataset", d->object->at, "lies nowhere");
    if (!tw_h5_body(f, m, &s))
        return false;
    const uint64_t version = tw_h5_take(&s, 1);
    if (version >= 1 && version <= OLD)
        return parse_old_layout(f, d, s, l);
    if (version < 1 || version > NEWEST)
        return tw_h5_refuse(f, "a dataset's layout of version %d; 1 to %d are read", (int)version,
                            (int)NEWEST);
    l->class = (int)tw_h5_take(&s, 1);
    if (l->class == CHUNKED)
        return version == CURRENT ? parse_chunks(f, d, s, &l->chunks)
                                  : parse_new_chunks(f, d, s, &l->chunks);
    if (l->class == COMPACT)
        l->data = tw_h5_part(&s, tw_h5_take(&s, 2));
    if (l->class == CONTIGUOUS) {
        l->at = tw_h5_take_address(f, &s);
        l->bytes = tw_h5_take_length(f, &s);
    }
    return !s.cut || tw_h5_damaged(f, "dataset", d->object->at, "is cut off");
}

/* --- what it holds ----------------------------------------------------------------------------- */

/* The bytes of an element that nobody has written; none: 0. */
static bool find_fill(tw_h5 *f, const tw_h5_dataset *d, tw_h5_span *fill)
{
    enum { HAS_VALUE = 32 };
    const tw_h5_message *m = tw_h5_message_of(d->object, TW_H5_FILL);
    const bool old = !m;
    *fill = (tw_h5_span){NULL, 0, false};
    m = m ? m : tw_h5_message_of(d->object, TW_H5_OLD_FILL);
    tw_h5_span s;
    if (!m)
        return true;
    if (!tw_h5_body(f, m, &s))
        return false;
    if (!old) {
        const uint64_t version = tw_h5_take(&s, 1);
        if (version < 3)
            tw_h5_skip(&s, 2);
        const uint64_t flags = tw_h5_take(&s, 1);
        if (version >= 3 ? !(flags & HAS_VALUE) : version == 2 && !flags)
            return true;
    }
    const uint64_t bytes = tw_h5_take(&s, 4);
    *fill = tw_h5_part(&s, bytes > INT32_MAX ? 0 : bytes); /* -1: undefined */
    if (s.cut || (fill->left && fill->left != d->type.bytes))
        return tw_h5_damaged(f, "dataset", d->object->at, "has a fill value of another type");
    return true;
}

/* Memory for all elements, filled. */
static uint8_t *filled(tw_h5 *f, const tw_h5_dataset *d)
{
    tw_h5_span fill;
    if (!find_fill(f, d, &fill) || !tw_h5_charge_room(f, d->bytes))
        return NULL;
    uint8_t *data = tw_alloc(f->arena, d->bytes);
    for (size_t i = 0; fill.left && i < d->bytes; i += fill.left)
        memcpy(data + i, fill.at, fill.left);
    return data;
}

static const uint8_t *read_chunked(tw_h5 *f, const tw_h5_dataset *d, const tw_h5_chunks *chunks)
{
    tw_h5_filters filters = {0};
    const tw_h5_message *m = tw_h5_message_of(d->object, TW_H5_FILTERS);
    tw_h5_span body;
    if (m && (!tw_h5_body(f, m, &body) || !tw_h5_parse_filters(f, body, &filters)))
        return NULL;
    uint8_t *data = filled(f, d);
    if (!data || chunks->at == TW_H5_NOWHERE)
        return data;
    return tw_h5_read_chunks(f, chunks, &filters, d, data) ? data : NULL;
}

static const uint8_t *read_stored(tw_h5 *f, const tw_h5_dataset *d, const layout *l)
{
    tw_h5_span s = l->data;
    if (tw_h5_message_of(d->object, TW_H5_EXTERNAL) || l->class == VIRTUAL) {
        tw_h5_refuse(f, "the weights lie in another file (virtual or external storage), which is "
                        "not read; save the model in one file");
        return NULL;
    }
    if (l->class == CHUNKED)
        return read_chunked(f, d, &l->chunks);
    if (l->class > CHUNKED) {
        tw_h5_damaged(f, "dataset", d->object->at, "has a layout of no kind");
        return NULL;
    }
    if (l->class == CONTIGUOUS && l->at == TW_H5_NOWHERE)
        return filled(f, d);
    if (l->class == CONTIGUOUS && !tw_h5_at(f, "dataset's storage", l->at, l->bytes, &s))
        return NULL;
    if (s.left < d->bytes) {
        tw_h5_damaged(f, "dataset", d->object->at, "announces more than it has");
        return NULL;
    }
    return s.at;
}

static const uint8_t *turned(tw_h5 *f, const tw_h5_dataset *d, const uint8_t *data)
{
    const size_t each = d->type.bytes;
    if (!tw_h5_charge_room(f, d->bytes))
        return NULL;
    uint8_t *to = tw_alloc(f->arena, d->bytes);
    for (size_t i = 0; i < d->bytes; i += each)
        for (size_t k = 0; k < each; k++)
            to[i + k] = data[i + each - 1 - k];
    return to;
}

const void *tw_h5_read(tw_h5 *f, const char *path, const tw_h5_dataset *d)
{
    layout l;
    f->path = path;
    /* Counted even where nothing is unpacked: readers keep copies. */
    if (!tw_h5_sound(f) || !tw_h5_charge_room(f, d->bytes))
        return NULL;
    if (d->bytes == 0)
        return f->data;
    if (!parse_layout(f, d, &l))
        return NULL;
    const uint8_t *data = read_stored(f, d, &l);
    return data && d->type.big_endian && d->type.bytes > 1 ? turned(f, d, data) : data;
}
