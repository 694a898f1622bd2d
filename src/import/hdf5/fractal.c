/* Fractal heaps: where new groups and objects with many attributes have them. A heap is a table of blocks,
 * rows of equal ones that double from the second row on; blocks that would be too large to hold objects are
 * tables themselves. In: an identifier. Out: the bytes that it leads to, inside of the file. */
#include "import/hdf5/file.h"

static const char part[] = "heap of links or attributes";

bool tw_h5_open_fractal(tw_h5 *f, uint64_t at, tw_h5_fractal *heap)
{
    tw_h5_span s;
    *heap = (tw_h5_fractal){.at = at};
    if (!tw_h5_block(f, part, at, "FRHP", &s))
        return false;
    tw_h5_skip(&s, 3); /* version, bytes of an identifier */
    const uint64_t filters = tw_h5_take(&s, 2);
    tw_h5_skip(&s, 1);
    const uint64_t most_object = tw_h5_take(&s, 4);
    tw_h5_take_length(f, &s);
    heap->huge = tw_h5_take_address(f, &s);
    tw_h5_take_length(f, &s); /* free space, and who manages it */
    tw_h5_take_address(f, &s);
    tw_h5_skip(&s, 8 * (uint64_t)f->length_bytes); /* how much and how many there is of all */
    heap->width = tw_h5_take(&s, 2);
    heap->start = tw_h5_take_length(f, &s);
    heap->most_direct = tw_h5_take_length(f, &s);
    heap->heap_bits = (int)tw_h5_take(&s, 2);
    tw_h5_skip(&s, 2);
    heap->root = tw_h5_take_address(f, &s);
    heap->rows = (int)tw_h5_take(&s, 2);
    if (filters)
        return tw_h5_refuse(f, "links or attributes that are packed with filters; write the file "
                               "without them");
    /* Blocks are of powers of two. */
    if (s.cut || heap->width == 0 || heap->start == 0 || (heap->start & (heap->start - 1)) != 0 ||
        heap->most_direct < heap->start || (heap->most_direct & (heap->most_direct - 1)) != 0 ||
        heap->heap_bits < 1 || heap->heap_bits > 64 || heap->start > f->bytes)
        return tw_h5_damaged(f, part, at, "has a table of no extents");
    heap->offset_bytes = (heap->heap_bits + 7) / 8;
    const int direct = (tw_h5_bits(heap->most_direct) - 1 + 7) / 8;
    const int object = tw_h5_number_bytes(most_object);
    heap->length_bytes = direct < object ? direct : object;
    return true;
}

/* The row that an offset into a table falls in, where that row begins, and how large its blocks are. */
typedef struct row {
    int index;
    uint64_t begin, block;
} row;

static row row_of(const tw_h5_fractal *heap, uint64_t offset)
{
    row r = {0, 0, heap->start};
    uint64_t end = heap->start * heap->width;
    while (offset >= end && end <= UINT64_MAX / 4) {
        r.begin = end;
        r.block = r.index ? 2 * r.block : r.block;
        r.index++;
        end = r.begin + r.block * heap->width;
    }
    return r;
}

/* The block of the table at `at` that `*offset` falls in; the offset then counts from it. */
static bool enter(tw_h5 *f, const tw_h5_fractal *heap, uint64_t *at, uint64_t *offset, bool *direct)
{
    enum { VERSION = 1 };
    tw_h5_span s;
    if (!tw_h5_block(f, part, *at, "FHIB", &s))
        return false;
    tw_h5_skip(&s, VERSION + (uint64_t)f->address_bytes + (uint64_t)heap->offset_bytes);
    const row r = row_of(heap, *offset);
    const uint64_t column = (*offset - r.begin) / r.block;
    const uint64_t entry = (uint64_t)r.index * heap->width + column;
    if (column >= heap->width || entry > f->bytes)
        return tw_h5_damaged(f, part, *at, "has no such block");
    tw_h5_skip(&s, entry * (uint64_t)f->address_bytes);
    *offset -= r.begin + column * r.block;
    *direct = r.block <= heap->most_direct;
    *at = tw_h5_take_address(f, &s);
    return !s.cut || tw_h5_damaged(f, part, *at, "is cut off");
}

static bool managed(tw_h5 *f, const tw_h5_fractal *heap, tw_h5_span id, tw_h5_span *object)
{
    enum { MOST_TABLES = 64 };
    uint64_t offset = tw_h5_take(&id, heap->offset_bytes), at = heap->root;
    const uint64_t bytes = tw_h5_take(&id, heap->length_bytes);
    bool direct = heap->rows == 0;
    tw_h5_span block;
    if (id.cut)
        return tw_h5_damaged(f, part, heap->at, "has identifiers that are cut off");
    for (int tables = 0; !direct; tables++) {
        if (tables == MOST_TABLES)
            return tw_h5_damaged(f, part, heap->at, "has tables in tables without end");
        if (!enter(f, heap, &at, &offset, &direct))
            return false;
    }
    if (!tw_h5_block(f, part, at, "FHDB", &block))
        return false;
    if (offset > heap->most_direct)
        return tw_h5_damaged(f, part, heap->at, "has objects that lie in no block");
    return tw_h5_at(f, part, at + offset, bytes, object) && tw_h5_charge(f, bytes);
}

/* --- huge objects ------------------------------------------------------------------------------ */

typedef struct wanted {
    uint64_t id, at, bytes;
    bool found;
} wanted;

static bool compare(tw_h5 *f, void *context, tw_h5_span record)
{
    wanted *w = context;
    const uint64_t at = tw_h5_take_address(f, &record), bytes = tw_h5_take_length(f, &record);
    if (!record.cut && tw_h5_take_length(f, &record) == w->id && !record.cut)
        *w = (wanted){w->id, at, bytes, true};
    return true;
}

static bool huge(tw_h5 *f, const tw_h5_fractal *heap, tw_h5_span id, tw_h5_span *object)
{
    enum { INDIRECT = 1 }; /* the type of a tree's records */
    wanted w = {.found = false};
    /* Where the identifier has room for it, it says itself where the object is. */
    if (id.left >= (size_t)f->address_bytes + (size_t)f->length_bytes) {
        w.at = tw_h5_take_address(f, &id);
        w.bytes = tw_h5_take_length(f, &id);
        return tw_h5_at(f, part, w.at, w.bytes, object) && tw_h5_charge(f, w.bytes);
    }
    w.id = tw_h5_take(&id, (int)(id.left < 8 ? id.left : 8));
    if (!tw_h5_new_tree(f, heap->huge, INDIRECT, compare, &w))
        return false;
    if (!w.found)
        return tw_h5_damaged(f, part, heap->at, "has no such object");
    return tw_h5_at(f, part, w.at, w.bytes, object) && tw_h5_charge(f, w.bytes);
}

bool tw_h5_fractal_object(tw_h5 *f, const tw_h5_fractal *heap, tw_h5_span id, tw_h5_span *object)
{
    enum { MANAGED = 0, HUGE_ONE = 1 };
    const int kind = (int)(tw_h5_take(&id, 1) >> 4 & 3);
    /* A third kind, of objects inside of their identifiers, is too small for links and attributes. */
    return kind == MANAGED    ? managed(f, heap, id, object)
           : kind == HUGE_ONE ? huge(f, heap, id, object)
                              : tw_h5_damaged(f, part, heap->at, "has an object of another kind");
}

bool tw_h5_each_dense(tw_h5 *f, const char *said, tw_h5_object *object, tw_h5_span body,
                      int records, size_t counter_bytes, tw_h5_visit *visit)
{
    enum { ORDERED = 1 };
    tw_h5_dense dense = {.object = object};
    tw_h5_skip(&body, 1);
    if (tw_h5_take(&body, 1) & ORDERED)
        tw_h5_skip(&body, counter_bytes);
    const uint64_t heap = tw_h5_take_address(f, &body), tree = tw_h5_take_address(f, &body);
    if (body.cut)
        return tw_h5_damaged(f, said, object->at, "is cut off");
    if (heap == TW_H5_NOWHERE)
        return true;
    return tw_h5_open_fractal(f, heap, &dense.heap) &&
           tw_h5_new_tree(f, tree, records, visit, &dense);
}
