/* The pre-pass over a protobuf file: everything that unpacking relies on is verified on the wire
 * form, before a byte is allocated for it. */
#ifndef TW_IMPORT_WIRE_H
#define TW_IMPORT_WIRE_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/diag.h"

#define TW_WIRE_DEPTH 64    /* messages inside messages */
#define TW_WIRE_GROWTH 32   /* bytes that may be allocated for a byte of the file ... */
#define TW_WIRE_HEAD 65536u /* ... and for any file */

/* Walk `bytes` as a message of this type. What holds afterwards: nesting is at most TW_WIRE_DEPTH;
 * every tag, number and length is whole and inside its message; known fields have their wire type;
 * a field that is not repeated stands once; no string holds a zero byte; unpacking allocates at most
 * TW_WIRE_GROWTH bytes for a byte. A failure names the field by its path from `name`:
 * "model.graph.node[3].attribute[0].t.raw_data". */
bool tw_wire_check(const ProtobufCMessageDescriptor *type, const char *name, const uint8_t *data,
                   size_t bytes, tw_diag *diag);

/* Check, then unpack into the arena: never freed on its own. Null on failure. */
ProtobufCMessage *tw_wire_unpack(const ProtobufCMessageDescriptor *type, const char *name,
                                 const uint8_t *data, size_t bytes, tw_arena *arena, tw_diag *diag);

#endif
