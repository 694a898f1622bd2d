/* Objects: a header of messages, in blocks that lead to each other. In: its address. Out: the messages, in
 * order, each inside of its block; read once and kept. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "import/hdf5/file.h"

enum {
    MESSAGE_WORK = 64, /* what keeping a message costs beside its bytes */
    SHARED = 2         /* flag of a message */
};

/* A block of messages that is still to be read. */
typedef struct block {
    tw_h5_span span;
} block;

typedef struct header {
    tw_h5_object *object;
    bool is_new;  /* version 2 */
    bool ordered; /* messages have the order in which they were made */
    block *blocks;
    int count, capacity;
} header;

static bool add_block(tw_h5 *f, header *h, tw_h5_span span)
{
    if (!tw_h5_charge(f, span.left + MESSAGE_WORK))
        return false;
    tw_grow(f->arena, &h->blocks, h->count, &h->capacity, sizeof *h->blocks);
    h->blocks[h->count++].span = span;
    return true;
}

/* Where the header goes on: of version 2 with a signature in front and a checksum behind. */
static bool follow(tw_h5 *f, header *h, tw_h5_span body)
{
    enum { SIGNATURE_BYTES = 4, CHECKSUM = 4 };
    const uint64_t at = tw_h5_take_address(f, &body), bytes = tw_h5_take_length(f, &body);
    tw_h5_span span;
    if (body.cut || (h->is_new && bytes < SIGNATURE_BYTES + CHECKSUM))
        return tw_h5_damaged(f, "object header", h->object->at, "goes on at no place");
    if (!tw_h5_at(f, "object header's continuation", at, bytes, &span))
        return false;
    if (h->is_new) {
        if (memcmp(span.at, "OCHK", SIGNATURE_BYTES) != 0)
            return tw_h5_damaged(f, "object header's continuation", at,
                                 "does not begin as it must");
        tw_h5_skip(&span, SIGNATURE_BYTES);
        span.left -= CHECKSUM;
    }
    return add_block(f, h, span);
}

static bool add_message(tw_h5 *f, header *h, tw_h5_message message)
{
    tw_h5_object *o = h->object;
    if (message.type == TW_H5_CONTINUATION)
        return follow(f, h, message.body);
    /* Times, comments and the like. */
    if (message.type == 0 || message.type > TW_H5_ATTRIBUTE_INFO)
        return true;
    if (!tw_h5_charge(f, MESSAGE_WORK))
        return false;
    tw_grow(f->arena, &o->messages, o->count, &o->capacity, sizeof *o->messages);
    o->messages[o->count++] = message;
    return true;
}

static bool read_block(tw_h5 *f, header *h, tw_h5_span s)
{
    const size_t head = h->is_new ? (h->ordered ? 6 : 4) : 8;
    while (s.left >= head) { /* less is a gap */
        tw_h5_message m = {.type = 0};
        uint64_t type = tw_h5_take(&s, h->is_new ? 1 : 2);
        const uint64_t bytes = tw_h5_take(&s, 2);
        m.shared = tw_h5_take(&s, 1) & SHARED;
        m.type = (uint8_t)(type > UINT8_MAX ? UINT8_MAX : type);
        tw_h5_skip(&s, h->is_new ? (h->ordered ? 2 : 0) : 3);
        m.body = tw_h5_part(&s, bytes);
        if (s.cut)
            return tw_h5_damaged(f, "object header", h->object->at,
                                 "has a message that is longer than it");
        if (!add_message(f, h, m))
            return false;
    }
    return true;
}

static bool begin_old(tw_h5 *f, header *h, tw_h5_span s)
{
    /* Version; how many messages, which are as many as there is room for; how many refer to it. */
    tw_h5_skip(&s, 8);
    const uint64_t bytes = tw_h5_take(&s, 4);
    tw_h5_skip(&s, 4);
    const tw_h5_span messages = tw_h5_part(&s, bytes);
    return messages.cut ? tw_h5_damaged(f, "object header", h->object->at, "is cut off")
                        : add_block(f, h, messages);
}

static bool begin_new(tw_h5 *f, header *h, tw_h5_span s)
{
    enum { SIZE = 3, ORDER = 4, PHASES = 16, TIMES = 32 };
    tw_h5_skip(&s, 4); /* the signature */
    const uint64_t version = tw_h5_take(&s, 1), flags = tw_h5_take(&s, 1);
    if (version != 2)
        return tw_h5_refuse(f, "an HDF5 object header of version %d; 1 and 2 are read",
                            (int)version);
    h->is_new = true;
    h->ordered = flags & ORDER;
    tw_h5_skip(&s, (flags & TIMES ? 16 : 0) + (flags & PHASES ? 4 : 0));
    const uint64_t bytes = tw_h5_take(&s, 1 << (flags & SIZE));
    const tw_h5_span messages = tw_h5_part(&s, bytes);
    return messages.cut ? tw_h5_damaged(f, "object header", h->object->at, "is cut off")
                        : add_block(f, h, messages);
}

static bool read_header(tw_h5 *f, tw_h5_object *object)
{
    header h = {.object = object};
    tw_h5_span s;
    const uint64_t at = object->at;
    if (!tw_h5_at(f, "object header", at, 4, &s) ||
        !tw_h5_at(f, "object header", at, f->bytes - at, &s))
        return false;
    bool ok;
    if (memcmp(s.at, "OHDR", 4) == 0)
        ok = begin_new(f, &h, s);
    else if (s.at[0] == 1)
        ok = begin_old(f, &h, s);
    else
        ok = tw_h5_damaged(f, "object header", at, "does not begin as it must");
    while (ok && h.count > 0) {
        const tw_h5_span next = h.blocks[--h.count].span;
        ok = read_block(f, &h, next);
    }
    return ok;
}

tw_h5_object *tw_h5_object_at(tw_h5 *f, uint64_t at)
{
    char key[24];
    snprintf(key, sizeof key, "%" PRIx64, at);
    tw_h5_object *object = tw_map_get(&f->objects, key);
    if (object || !tw_h5_sound(f))
        return object;
    if (!tw_h5_charge(f, sizeof *object + MESSAGE_WORK))
        return NULL;
    object = tw_alloc(f->arena, sizeof *object);
    object->at = at;
    if (!read_header(f, object))
        return NULL;
    tw_map_put(f->arena, &f->objects, tw_strdup(f->arena, key), object);
    return object;
}

const tw_h5_message *tw_h5_message_of(const tw_h5_object *object, int type)
{
    for (int i = 0; i < object->count; i++)
        if (object->messages[i].type == type)
            return &object->messages[i];
    return NULL;
}

bool tw_h5_body(tw_h5 *f, const tw_h5_message *message, tw_h5_span *body)
{
    enum { IN_HEAP = 1 };
    *body = message->body;
    if (!message->shared)
        return true;
    tw_h5_span s = message->body;
    const uint64_t version = tw_h5_take(&s, 1), kind = tw_h5_take(&s, 1);
    if (version == 1)
        tw_h5_skip(&s, 6);
    if (version == 3 && kind == IN_HEAP)
        return tw_h5_refuse(f, "messages that HDF5 objects share through the file's heap; write "
                               "the file without them");
    const uint64_t at = tw_h5_take_address(f, &s);
    if (s.cut || version < 1 || version > 3)
        return tw_h5_damaged(f, "shared message at", at, "is cut off");
    const tw_h5_object *owner = tw_h5_object_at(f, at);
    const tw_h5_message *own = owner ? tw_h5_message_of(owner, message->type) : NULL;
    if (!owner)
        return false;
    if (!own || own->shared)
        return tw_h5_damaged(f, "object", at, "does not have what another shares");
    *body = own->body;
    return true;
}
