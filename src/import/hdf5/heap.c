/* The heaps of old groups' names, and the collections of texts of any length. In: addresses, offsets and
 * numbers. Out: what they lead to, inside of the file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "import/hdf5/file.h"

const char *tw_h5_heap_text(tw_h5 *f, uint64_t heap, uint64_t offset)
{
    static const char part[] = "heap of names";
    tw_h5_span s, data;
    if (!tw_h5_block(f, part, heap, "HEAP", &s))
        return NULL;
    tw_h5_skip(&s, 4);
    const uint64_t bytes = tw_h5_take_length(f, &s);
    tw_h5_take_length(f, &s); /* what is free */
    const uint64_t at = tw_h5_take_address(f, &s);
    if (s.cut) {
        tw_h5_damaged(f, part, heap, "is cut off");
        return NULL;
    }
    if (!tw_h5_at(f, part, at, bytes, &data))
        return NULL;
    const uint8_t *text = tw_h5_skip(&data, offset) ? data.at : NULL;
    const uint8_t *end = text ? memchr(text, 0, data.left) : NULL;
    if (!end) {
        tw_h5_damaged(f, part, heap, "has no such name");
        return NULL;
    }
    const size_t length = (size_t)(end - text);
    return tw_h5_charge(f, length + 1) ? tw_strndup(f->arena, (const char *)text, length) : NULL;
}

/* --- collections ------------------------------------------------------------------------------- */

/* The objects of a collection by their numbers. */
typedef struct collection {
    tw_h5_span *objects;
    uint64_t count;
} collection;

enum { OBJECT_WORK = 32 };

static const char collection_part[] = "heap of texts";

/* The number, extent and place of each object; number 0 is what is free, at the end. All is filled up to 8
 * bytes, the lengths too. */
static bool read_object(tw_h5 *f, tw_h5_span *s, uint64_t *number, tw_h5_span *object)
{
    *number = tw_h5_take(s, 2);
    tw_h5_skip(s, 6);
    const uint64_t bytes = tw_h5_take_length(f, s);
    tw_h5_skip(s, 8 - (uint64_t)f->length_bytes);
    if (s->cut || *number == 0)
        return false;
    *object = tw_h5_part(s, bytes);
    tw_h5_skip(s, s->left < (8 - bytes % 8) % 8 ? s->left : (8 - bytes % 8) % 8);
    return !object->cut;
}

static collection *read_collection(tw_h5 *f, uint64_t at)
{
    tw_h5_span s, object;
    uint64_t number, most = 0;
    const uint64_t head = 16;
    if (!tw_h5_block(f, collection_part, at, "GCOL", &s))
        return NULL;
    tw_h5_skip(&s, 4);
    const uint64_t bytes = tw_h5_take_length(f, &s);
    if (s.cut || bytes < head || !tw_h5_at(f, collection_part, at + head, bytes - head, &s)) {
        tw_h5_damaged(f, collection_part, at, "is longer than the file");
        return NULL;
    }
    if (!tw_h5_charge(f, sizeof(collection) + s.left))
        return NULL;
    for (tw_h5_span look = s; read_object(f, &look, &number, &object);)
        most = number > most ? number : most;
    collection *c = tw_alloc(f->arena, sizeof *c);
    if (!tw_h5_charge(f, OBJECT_WORK * (most + 1)))
        return NULL;
    c->count = most + 1;
    c->objects = tw_alloc_array(f->arena, (size_t)c->count, sizeof *c->objects);
    while (read_object(f, &s, &number, &object))
        c->objects[number] = object;
    return c;
}

bool tw_h5_collected(tw_h5 *f, uint64_t heap, uint64_t index, tw_h5_span *object)
{
    char key[24];
    snprintf(key, sizeof key, "%" PRIx64, heap);
    collection *c = tw_map_get(&f->heaps, key);
    if (!c) {
        c = read_collection(f, heap);
        if (!c)
            return false;
        tw_map_put(f->arena, &f->heaps, tw_strdup(f->arena, key), c);
    }
    if (index == 0 || index >= c->count || !c->objects[index].at)
        return tw_h5_damaged(f, collection_part, heap, "has no such text");
    *object = c->objects[index];
    return true;
}
