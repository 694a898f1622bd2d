/* The pre-pass over the wire form. It is driven by the generated descriptors, so it knows the same
 * fields as the unpacking that follows, and it counts what that will allocate. */
#include "import/wire.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, DELIMITED = 2, FIXED32 = 5 };

/* A message being walked: [at, end) is left of it. */
typedef struct tw_frame {
    const struct tw_frame *parent;
    const char *name; /* of the root */
    const ProtobufCMessageDescriptor *type;
    const uint8_t *at, *end;
    const ProtobufCFieldDescriptor *field; /* being read; null: unknown */
    uint32_t number;                       /* of that field */
    int wire;                              /* its wire type */
    int index;                             /* of the element, where the field is repeated */
    int depth;
    uint64_t *cost; /* bytes that unpacking will allocate */
    tw_diag *diag;
} tw_frame;

static int append_path(const tw_frame *f, char *text, int size)
{
    int at = f->parent ? append_path(f->parent, text, size)
                       : snprintf(text, (size_t)size, "%s", f->name);
    if (at >= size || f->number == 0)
        return at;
    if (f->field)
        at += snprintf(text + at, (size_t)(size - at), ".%s", f->field->name);
    else
        at += snprintf(text + at, (size_t)(size - at), ".field %u", f->number);
    if (at < size && f->field && f->field->label == PROTOBUF_C_LABEL_REPEATED)
        at += snprintf(text + at, (size_t)(size - at), "[%d]", f->index);
    return at;
}

static bool refuse(const tw_frame *f, const char *what)
{
    char path[512];
    append_path(f, path, (int)sizeof path);
    return tw_fail(f->diag, TW_CODE_FAILED, NULL, NULL, "the file is damaged at %s: %s", path,
                   what);
}

static bool read_varint(tw_frame *f, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; f->at < end && shift < 70; shift += 7) {
        uint8_t byte = *f->at++;
        *value |= shift < 64 ? (uint64_t)(byte & 127) << shift : 0;
        if (!(byte & 128))
            return true;
    }
    return false;
}

static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *type,
                                                  uint32_t number, unsigned *position)
{
    for (unsigned i = 0; i < type->n_fields; i++) {
        if (type->fields[i].id == number) {
            *position = i;
            return &type->fields[i];
        }
    }
    return NULL;
}

static int wire_type_of(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32: return FIXED32;
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64: return FIXED64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return DELIMITED;
    default: return VARINT;
    }
}

/* Numbers of a repeated field in one run of `length` bytes. */
static bool walk_packed(tw_frame *f, size_t length)
{
    const uint8_t *end = f->at + length;
    int wire = wire_type_of(f->field);
    uint64_t count = 0, value;
    if (wire == VARINT) {
        for (; f->at < end; count++)
            if (!read_varint(f, end, &value))
                return refuse(f, "a number is cut off");
    } else {
        size_t size = wire == FIXED32 ? 4 : 8;
        if (length % size != 0)
            return refuse(f, "its length is not a whole number of elements");
        count = length / size;
        f->at = end;
    }
    *f->cost += count * 8;
    return true;
}

static bool walk_message(tw_frame *f);

static bool walk_delimited(tw_frame *f)
{
    uint64_t length;
    if (!read_varint(f, f->end, &length))
        return refuse(f, "its length is cut off");
    size_t left = (size_t)(f->end - f->at);
    if (length > left) {
        char text[160];
        snprintf(text, sizeof text, "it claims %llu bytes, %zu are left",
                 (unsigned long long)length, left);
        return refuse(f, text);
    }
    size_t bytes = (size_t)length;
    if (!f->field || f->field->type == PROTOBUF_C_TYPE_BYTES) {
        *f->cost += bytes + sizeof(ProtobufCBinaryData);
    } else if (f->field->type == PROTOBUF_C_TYPE_STRING) {
        if (memchr(f->at, 0, bytes))
            return refuse(f, "the text holds a zero byte");
        *f->cost += bytes + 1 + sizeof(char *);
    } else if (f->field->type == PROTOBUF_C_TYPE_MESSAGE) {
        if (f->depth == TW_WIRE_DEPTH)
            return refuse(f, "more than 64 messages are nested in each other");
        tw_frame inner = {.parent = f,
                          .type = f->field->descriptor,
                          .at = f->at,
                          .end = f->at + bytes,
                          .depth = f->depth + 1,
                          .cost = f->cost,
                          .diag = f->diag};
        *f->cost += sizeof(void *);
        if (!walk_message(&inner))
            return false;
    } else {
        return walk_packed(f, bytes);
    }
    f->at += bytes;
    return true;
}

static bool walk_value(tw_frame *f)
{
    uint64_t value;
    size_t left = (size_t)(f->end - f->at), size = f->wire == FIXED32 ? 4 : 8;
    switch (f->wire) {
    case VARINT:
        if (!read_varint(f, f->end, &value))
            return refuse(f, "a number is cut off");
        *f->cost += 8;
        return true;
    case FIXED32:
    case FIXED64:
        if (left < size)
            return refuse(f, "a number is cut off");
        f->at += size;
        *f->cost += 8;
        return true;
    case DELIMITED: return walk_delimited(f);
    default: return refuse(f, "an unknown kind of field");
    }
}

/* Find the field a tag announces. seen: one bit a known field that may stand only once. */
static bool read_tag(tw_frame *f, uint64_t *seen, int *counts)
{
    uint64_t tag;
    f->number = 0;
    if (!read_varint(f, f->end, &tag))
        return refuse(f, "a field's number is cut off");
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return refuse(f, "a field has an impossible number");
    unsigned position = 0;
    f->number = (uint32_t)(tag >> 3);
    f->wire = (int)(tag & 7);
    f->field = find_field(f->type, f->number, &position);
    if (!f->field) {
        *f->cost += sizeof(ProtobufCMessageUnknownField);
        return true;
    }
    bool repeated = f->field->label == PROTOBUF_C_LABEL_REPEATED;
    f->index = counts[position]++;
    int wire = wire_type_of(f->field);
    if (f->wire != wire && !(repeated && f->wire == DELIMITED))
        return refuse(f, "the field has the wrong kind of value");
    if (!repeated && (*seen & (uint64_t)1 << position))
        return refuse(f, "the field is given twice");
    *seen |= (uint64_t)1 << position;
    return true;
}

static bool walk_message(tw_frame *f)
{
    int counts[64] = {0}; /* a message of ours has far fewer fields */
    uint64_t seen = 0;
    if (f->type->n_fields > 64)
        return refuse(f, "too many kinds of field");
    *f->cost += f->type->sizeof_message;
    while (f->at < f->end)
        if (!read_tag(f, &seen, counts) || !walk_value(f))
            return false;
    return true;
}

bool tw_wire_check(const ProtobufCMessageDescriptor *type, const char *name, const uint8_t *data,
                   size_t bytes, tw_diag *diag)
{
    uint64_t cost = 0;
    if (bytes > INT_MAX)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                       "a protobuf file is at most 2 GB long, this one has %zu bytes", bytes);
    tw_frame root = {.name = name,
                     .type = type,
                     .at = data,
                     .end = data + bytes,
                     .depth = 1,
                     .cost = &cost,
                     .diag = diag};
    if (!walk_message(&root))
        return false;
    uint64_t limit = (uint64_t)bytes * TW_WIRE_GROWTH + TW_WIRE_HEAD;
    if (cost > limit)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                       "the file's %zu bytes would unpack to %llu, mostly empty messages: it is "
                       "damaged, or made to exhaust memory",
                       bytes, (unsigned long long)cost);
    return true;
}

static void *allocate(void *user, size_t bytes)
{
    return tw_alloc(user, bytes);
}

static void release(void *user, void *pointer)
{
    (void)user;
    (void)pointer;
}

ProtobufCMessage *tw_wire_unpack(const ProtobufCMessageDescriptor *type, const char *name,
                                 const uint8_t *data, size_t bytes, tw_arena *arena, tw_diag *diag)
{
    if (!tw_wire_check(type, name, data, bytes, diag))
        return NULL;
    ProtobufCAllocator allocator = {allocate, release, arena};
    ProtobufCMessage *message = protobuf_c_message_unpack(type, &allocator, bytes, data);
    if (!message)
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "%s cannot be unpacked: the file is damaged",
                name);
    return message;
}
