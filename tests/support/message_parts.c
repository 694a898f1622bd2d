/* Walking a message by its descriptor: see message_parts.h. */
#include "support/message_parts.h"

#include <stdint.h>
#include <string.h>

static void *at(ProtobufCMessage *message, unsigned offset)
{
    return (char *)message + offset;
}

static size_t *count_of(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    return at(message, field->quantifier_offset);
}

/* Bytes of an element of a repeated field. */
static size_t element_bytes(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
    case PROTOBUF_C_TYPE_STRING: return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_BOOL: return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64: return sizeof(uint64_t);
    default: return sizeof(uint32_t);
    }
}

static bool is_pointer(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_MESSAGE || field->type == PROTOBUF_C_TYPE_STRING;
}

static int parts_of(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return (int)*count_of(message, field);
    if (is_pointer(field)) {
        const char *pointer = *(char *const *)at(message, field->offset);
        return pointer && pointer != field->default_value;
    }
    return *(protobuf_c_boolean *)at(message, field->quantifier_offset) != 0;
}

static void drop(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, int part)
{
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        const size_t bytes = element_bytes(field), left = --*count_of(message, field);
        char *element = *(char **)at(message, field->offset) + (size_t)part * bytes;
        memmove(element, element + bytes, (left - (size_t)part) * bytes);
    } else if (is_pointer(field)) {
        *(const void **)at(message, field->offset) = field->default_value;
    } else {
        *(protobuf_c_boolean *)at(message, field->quantifier_offset) = 0;
    }
}

static ProtobufCMessage *message_in(ProtobufCMessage *message,
                                    const ProtobufCFieldDescriptor *field, int part)
{
    ProtobufCMessage **pointer = at(message, field->offset);
    return field->label == PROTOBUF_C_LABEL_REPEATED ? (*(ProtobufCMessage ***)pointer)[part]
                                                     : *pointer;
}

/* Counts down from *index; at 0 the part is dropped. True: it was. */
static bool visit(ProtobufCMessage *message, int *index)
{
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        for (int part = 0; part < parts_of(message, field); part++) {
            if ((*index)-- == 0) {
                drop(message, field, part);
                return true;
            }
            if (field->type == PROTOBUF_C_TYPE_MESSAGE &&
                visit(message_in(message, field, part), index))
                return true;
        }
    }
    return false;
}

int tw_message_parts(const ProtobufCMessage *message)
{
    int index = INT32_MAX;
    visit((ProtobufCMessage *)(uintptr_t)message, &index);
    return INT32_MAX - index;
}

bool tw_message_drop(ProtobufCMessage *message, int index)
{
    return visit(message, &index);
}
