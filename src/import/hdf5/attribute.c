/* Attributes of text. In: an object's messages, or the heap where many attributes lie. Out: lists of texts,
 * of one length or, through references into heaps, of any. The attributes of an object are found once, and
 * kept. */
#include <string.h>

#include "import/hdf5/file.h"

enum {
    ATTRIBUTE_WORK = 128,
    TEXT_WORK = 32,
    MOST_TEXT = 64 << 20, /* bytes of an attribute */
    MOST_TEXTS = 1 << 16  /* of a list */
};

typedef struct attribute {
    tw_h5_message type, space; /* shared: as messages are */
    tw_h5_span data;
} attribute;

/* A part of an attribute; those of version 1 are filled up to 8 bytes. */
static tw_h5_span take_part(tw_h5_span *s, uint64_t bytes, bool filled)
{
    const tw_h5_span part = tw_h5_part(s, bytes);
    if (filled && bytes % 8 != 0)
        tw_h5_skip(s, 8 - bytes % 8);
    return part;
}

static bool parse_attribute(tw_h5 *f, tw_h5_object *object, tw_h5_span s)
{
    enum { TYPE_SHARED = 1, SPACE_SHARED = 2 };
    attribute a = {.type.type = TW_H5_TYPE, .space.type = TW_H5_SPACE};
    const uint64_t version = tw_h5_take(&s, 1), flags = tw_h5_take(&s, 1);
    const uint64_t name_bytes = tw_h5_take(&s, 2), type_bytes = tw_h5_take(&s, 2);
    const uint64_t space_bytes = tw_h5_take(&s, 2);
    tw_h5_skip(&s, version == 3 ? 1 : 0); /* the name's encoding */
    const tw_h5_span name = take_part(&s, name_bytes, version == 1);
    a.type.body = take_part(&s, type_bytes, version == 1);
    a.space.body = take_part(&s, space_bytes, version == 1);
    a.type.shared = version > 1 && (flags & TYPE_SHARED);
    a.space.shared = version > 1 && (flags & SPACE_SHARED);
    a.data = s;
    if (s.cut || version < 1 || version > 3)
        return tw_h5_damaged(f, "attribute of the object", object->at, "is cut off");
    if (!tw_h5_charge(f, ATTRIBUTE_WORK + name_bytes))
        return false;
    const char *key = tw_strndup(f->arena, (const char *)name.at, name.left);
    tw_map_put(f->arena, &object->attributes, key, tw_copy(f->arena, &a, sizeof a));
    return true;
}

static bool read_one(tw_h5 *f, void *context, tw_h5_span record)
{
    enum { IDENTIFIER = 8, SHARED = 2 };
    tw_h5_dense *dense = context;
    const tw_h5_span id = tw_h5_part(&record, IDENTIFIER);
    tw_h5_span s;
    if (tw_h5_take(&record, 1) & SHARED)
        return tw_h5_refuse(f, "attributes that HDF5 objects share through the file's heap; write "
                               "the file without them");
    return tw_h5_fractal_object(f, &dense->heap, id, &s) && parse_attribute(f, dense->object, s);
}

static bool read_attributes(tw_h5 *f, tw_h5_object *object)
{
    enum { BY_NAME = 8, COUNTER = 2 };
    bool ok = true;
    for (int i = 0; ok && !object->attributed && i < object->count; i++) {
        const tw_h5_message *m = &object->messages[i];
        if (m->type == TW_H5_ATTRIBUTE && m->shared)
            ok = tw_h5_refuse(f, "attributes that HDF5 objects share through the file's heap; "
                                 "write the file without them");
        else if (m->type == TW_H5_ATTRIBUTE)
            ok = parse_attribute(f, object, m->body);
        else if (m->type == TW_H5_ATTRIBUTE_INFO)
            ok = tw_h5_each_dense(f, "object", object, m->body, BY_NAME, COUNTER, read_one);
    }
    object->attributed = true;
    return ok;
}

/* --- texts ------------------------------------------------------------------------------------- */

/* One text, without what it is padded with. */
static const char *take_text(tw_h5 *f, const tw_h5_type *type, tw_h5_span *data)
{
    tw_h5_span text;
    if (type->is_variable) {
        const uint64_t length = tw_h5_take(data, 4), heap = tw_h5_take_address(f, data);
        const uint64_t index = tw_h5_take(data, 4);
        tw_h5_span object;
        if (length == 0)
            return "";
        if (!tw_h5_collected(f, heap, index, &object))
            return NULL;
        text = tw_h5_part(&object, length);
        if (text.cut) {
            tw_h5_damaged(f, "heap of texts", heap, "has a text of another length");
            return NULL;
        }
    } else {
        text = tw_h5_part(data, type->bytes);
    }
    size_t length = text.left ? strnlen((const char *)text.at, text.left) : 0;
    while (type->space_padded && length > 0 && text.at[length - 1] == ' ')
        length--;
    return tw_h5_charge(f, length + TEXT_WORK) ? tw_strndup(f->arena, (const char *)text.at, length)
                                               : NULL;
}

static int read_texts(tw_h5 *f, const attribute *a, const char *name, const char *const **texts)
{
    tw_h5_span type_body, space_body, data = a->data;
    tw_h5_extents extents;
    tw_h5_type type;
    *texts = NULL;
    if (!tw_h5_body(f, &a->space, &space_body) || !tw_h5_parse_extents(f, space_body, &extents))
        return -1;
    if (extents.count == 0)
        return 0;
    if (!tw_h5_body(f, &a->type, &type_body) || !tw_h5_parse_type(f, type_body, &type))
        return -1;
    if (type.class != TW_H5_STRING) {
        tw_h5_refuse(f, "the attribute %.100s is of type %s, not of text", name,
                     tw_h5_class_name((int)type.class));
        return -1;
    }
    if (extents.count > MOST_TEXTS || extents.count > data.left / type.bytes ||
        data.left > MOST_TEXT) {
        tw_fail(f->diag, TW_CODE_FAILED, *f->path ? f->path : "/", NULL,
                "the HDF5 file is damaged: the attribute %.100s announces more texts than it has; "
                "save the model again",
                name);
        return -1;
    }
    const char **list = tw_alloc_array(f->arena, (size_t)extents.count + 1, sizeof *list);
    for (uint64_t i = 0; i < extents.count; i++) {
        list[i] = take_text(f, &type, &data);
        if (!list[i])
            return -1;
    }
    *texts = list;
    return (int)extents.count;
}

int tw_h5_texts(tw_h5 *f, const char *path, const char *attribute_name, const char *const **texts)
{
    tw_h5_object *object = tw_h5_find(f, path);
    if (!object || !read_attributes(f, object))
        return -1;
    const attribute *a = tw_map_get(&object->attributes, attribute_name);
    return a ? read_texts(f, a, attribute_name, texts) : -1;
}
