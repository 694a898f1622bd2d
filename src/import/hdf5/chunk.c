/* Chunks: blocks of a dataset, each stored and packed by itself, found through an index. In: where the index
 * is. Out: the elements, each in its place; where there is no chunk, what was there stays. */
#include <string.h>

#include "import/hdf5/file.h"

enum { CHUNK_WORK = 32, MOST_CHUNK = 1 << 30 };

static const char part[] = "index of chunks";

typedef struct reader {
    const tw_h5_chunks *chunks;
    const tw_h5_filters *filters;
    const tw_h5_dataset *dataset;
    uint8_t *to, *work[2];
} reader;

typedef struct chunk {
    uint64_t at, bytes; /* as stored */
    uint32_t skipped;
    uint64_t origin[TW_H5_MOST_RANK];
} chunk;

/* --- one chunk --------------------------------------------------------------------------------- */

/* Copies the rows, of the last axis, that lie in the dataset. */
static void place(const reader *r, const chunk *c, const uint8_t *data)
{
    const tw_h5_dataset *d = r->dataset;
    const uint64_t *whole = r->chunks->dim;
    const size_t each = d->type.bytes;
    uint64_t kept[TW_H5_MOST_RANK], index[TW_H5_MOST_RANK] = {0};
    const int last = d->rank - 1;
    for (int i = 0; i <= last; i++) {
        const uint64_t left = d->dim[i] - c->origin[i];
        kept[i] = left < whole[i] ? left : whole[i];
    }
    for (int axis = last; axis >= 0;) {
        uint64_t from = 0, to = 0;
        for (int i = 0; i <= last; i++) {
            from = from * whole[i] + index[i];
            to = to * d->dim[i] + c->origin[i] + index[i];
        }
        memcpy(r->to + to * each, data + from * each, kept[last] * each);
        for (axis = last - 1; axis >= 0 && ++index[axis] == kept[axis]; axis--)
            index[axis] = 0;
    }
}

static bool read_chunk(tw_h5 *f, const reader *r, const chunk *c)
{
    const tw_h5_chunks *chunks = r->chunks;
    tw_h5_filters filters = *r->filters;
    bool partial = false;
    tw_h5_span stored;
    for (int i = 0; i < chunks->rank; i++) {
        if (c->origin[i] % chunks->dim[i] != 0)
            return tw_h5_damaged(f, "chunk", c->at, "lies between the others");
        if (c->origin[i] >= r->dataset->dim[i])
            return true; /* cut away */
        partial = partial || r->dataset->dim[i] - c->origin[i] < chunks->dim[i];
    }
    if (chunks->whole && partial)
        filters.count = 0;
    if (!tw_h5_at(f, "chunk", c->at, c->bytes, &stored) ||
        !tw_h5_charge_room(f, c->bytes + chunks->bytes))
        return false;
    const uint8_t *data = tw_h5_unpack(f, &filters, c->skipped, stored, chunks->bytes, r->work);
    if (data)
        place(r, c, data);
    return data;
}

/* The chunk of this number in an index that has a place for each that the dataset may grow to. */
static bool locate(const reader *r, uint64_t number, chunk *c)
{
    for (int i = r->chunks->rank; i-- > 0;) {
        const uint64_t whole = r->chunks->dim[i], most = r->dataset->most[i];
        const uint64_t along = most / whole + (most % whole != 0);
        if (along == 0)
            return false;
        c->origin[i] = number % along * whole;
        number /= along;
    }
    return number == 0;
}

/* --- indices ----------------------------------------------------------------------------------- */

static bool visit_old(tw_h5 *f, void *context, tw_h5_span s)
{
    const reader *r = context;
    chunk c = {.bytes = tw_h5_take(&s, 4)};
    c.skipped = (uint32_t)tw_h5_take(&s, 4);
    for (int i = 0; i < r->chunks->rank; i++)
        c.origin[i] = tw_h5_take(&s, 8);
    tw_h5_skip(&s, 8); /* in the element */
    c.at = tw_h5_take_address(f, &s);
    return read_chunk(f, r, &c);
}

static bool visit_new(tw_h5 *f, void *context, tw_h5_span s)
{
    const reader *r = context;
    const tw_h5_chunks *chunks = r->chunks;
    chunk c = {.at = tw_h5_take_address(f, &s), .bytes = chunks->bytes};
    if (r->filters->count > 0) {
        const size_t rest = 4 + 8 * (size_t)chunks->rank;
        c.bytes = tw_h5_take(&s, s.left > rest && s.left - rest <= 8 ? (int)(s.left - rest) : 0);
        c.skipped = (uint32_t)tw_h5_take(&s, 4);
    }
    for (int i = 0; i < chunks->rank; i++) {
        const uint64_t scaled = tw_h5_take(&s, 8);
        c.origin[i] = scaled > r->dataset->dim[i]
                          ? r->dataset->dim[i] / chunks->dim[i] * chunks->dim[i] + chunks->dim[i]
                          : scaled * chunks->dim[i];
    }
    return s.cut ? tw_h5_damaged(f, part, chunks->at, "is cut off") : read_chunk(f, r, &c);
}

/* All chunks, one behind the other. */
static bool read_implicit(tw_h5 *f, const reader *r)
{
    chunk c = {.bytes = r->chunks->bytes};
    for (uint64_t i = 0; locate(r, i, &c); i++) {
        if (c.bytes > 0 && i > f->bytes / c.bytes)
            return tw_h5_damaged(f, part, r->chunks->at, "leads out of the file");
        c.at = r->chunks->at + i * c.bytes;
        if (!tw_h5_charge(f, CHUNK_WORK) || !read_chunk(f, r, &c))
            return false;
    }
    return true;
}

/* A table of chunks, where it is large in pages, of which those that hold nothing are not written. */
typedef struct table {
    uint64_t count, page; /* entries in all, in a page */
    size_t entry;         /* bytes */
    bool filtered;
} table;

static bool read_entries(tw_h5 *f, const reader *r, const table *t, uint64_t first, tw_h5_span s)
{
    for (uint64_t i = first; i < first + t->page && i < t->count; i++) {
        tw_h5_span entry = tw_h5_part(&s, t->entry);
        chunk c = {.at = tw_h5_take_address(f, &entry), .bytes = r->chunks->bytes};
        if (t->filtered) {
            c.bytes =
                tw_h5_take(&entry, entry.left > 4 && entry.left <= 12 ? (int)entry.left - 4 : 0);
            c.skipped = (uint32_t)tw_h5_take(&entry, 4);
        }
        if (entry.cut)
            return tw_h5_damaged(f, part, r->chunks->at, "is cut off");
        if (!tw_h5_charge(f, CHUNK_WORK))
            return false;
        if (c.at != TW_H5_NOWHERE && locate(r, i, &c) && !read_chunk(f, r, &c))
            return false;
    }
    return true;
}

static bool read_pages(tw_h5 *f, const reader *r, const table *t, tw_h5_span s)
{
    enum { CHECKSUM = 4 };
    const uint64_t pages = t->count / t->page + (t->count % t->page != 0);
    const tw_h5_span bits = tw_h5_part(&s, pages / 8 + (pages % 8 != 0));
    tw_h5_skip(&s, CHECKSUM);
    if (s.cut || t->page > f->bytes)
        return tw_h5_damaged(f, part, r->chunks->at, "is cut off");
    for (uint64_t i = 0; i < pages; i++) {
        const uint64_t left = t->count - i * t->page;
        const uint64_t entries = left < t->page ? left : t->page;
        const tw_h5_span page = tw_h5_part(&s, entries * t->entry + CHECKSUM);
        if (!tw_h5_charge(f, CHUNK_WORK))
            return false;
        if ((bits.at[i / 8] & 0x80 >> i % 8) && !read_entries(f, r, t, i * t->page, page))
            return false;
    }
    return true;
}

static bool read_fixed_array(tw_h5 *f, const reader *r)
{
    enum { MOST_PAGE_BITS = 32 };
    tw_h5_span s;
    if (!tw_h5_block(f, part, r->chunks->at, "FAHD", &s))
        return false;
    tw_h5_skip(&s, 1);
    table t = {.filtered = tw_h5_take(&s, 1)};
    t.entry = (size_t)tw_h5_take(&s, 1);
    const int bits = (int)tw_h5_take(&s, 1);
    t.count = tw_h5_take_length(f, &s);
    const uint64_t at = tw_h5_take_address(f, &s);
    if (s.cut || t.entry == 0 || bits > MOST_PAGE_BITS || t.count > f->bytes * 256)
        return tw_h5_damaged(f, part, r->chunks->at, "is a table of no extents");
    if (at == TW_H5_NOWHERE)
        return true;
    t.page = UINT64_C(1) << bits;
    if (!tw_h5_block(f, part, at, "FADB", &s))
        return false;
    tw_h5_skip(&s, 2 + (uint64_t)f->address_bytes);
    if (t.count > t.page)
        return read_pages(f, r, &t, s);
    t.page = t.count;
    return read_entries(f, r, &t, 0, s);
}

static bool read_single(tw_h5 *f, const reader *r)
{
    const chunk c = {.at = r->chunks->at,
                     .bytes = r->filters->count ? r->chunks->stored : r->chunks->bytes,
                     .skipped = r->chunks->skipped};
    return read_chunk(f, r, &c);
}

static bool read_index(tw_h5 *f, reader *r)
{
    enum { PLAIN = 10, FILTERED = 11 }; /* types of new trees' records */
    const tw_h5_chunks *c = r->chunks;
    const size_t key = 8 + 8 * ((size_t)c->rank + 1);
    switch (c->index) {
    case 0: return tw_h5_old_tree(f, c->at, TW_H5_CHUNK_TREE, key, visit_old, r);
    case TW_H5_SINGLE: return read_single(f, r);
    case TW_H5_IMPLICIT: return read_implicit(f, r);
    case TW_H5_FIXED_ARRAY: return read_fixed_array(f, r);
    case TW_H5_NEW_TREE:
        return tw_h5_new_tree(f, c->at, r->filters->count ? FILTERED : PLAIN, visit_new, r);
    case TW_H5_EXTENSIBLE:
        return tw_h5_refuse(f, "weights in chunks with an extensible array as index; write "
                               "datasets that do not grow");
    default: return tw_h5_refuse(f, "weights in chunks with an index of kind %d", c->index);
    }
}

bool tw_h5_read_chunks(tw_h5 *f, const tw_h5_chunks *chunks, const tw_h5_filters *filters,
                       const tw_h5_dataset *dataset, uint8_t *to)
{
    reader r = {.chunks = chunks, .filters = filters, .dataset = dataset};
    r.to = to;
    if (chunks->bytes > MOST_CHUNK)
        return tw_h5_refuse(f, "weights in chunks of %zu bytes; at most %d are read", chunks->bytes,
                            (int)MOST_CHUNK);
    if (filters->count > 0) {
        const size_t room = tw_h5_filter_room(chunks->bytes);
        if (!tw_h5_charge_room(f, 2 * (uint64_t)room))
            return false;
        r.work[0] = tw_alloc(f->arena, room);
        r.work[1] = tw_alloc(f->arena, room);
    }
    return read_index(f, &r);
}
