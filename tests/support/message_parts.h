/* Protobuf messages without one of their parts, for tests that whatever is optional may be missing. A part is a
 * field that is there, or one element of a repeated field; messages within messages count, outermost first. */
#ifndef TW_TEST_MESSAGE_PARTS_H
#define TW_TEST_MESSAGE_PARTS_H

#include <stdbool.h>

#include <protobuf-c/protobuf-c.h>

int tw_message_parts(const ProtobufCMessage *message);

/* Take away part `index`; what it held stays allocated. False: there are not so many. */
bool tw_message_drop(ProtobufCMessage *message, int index);

#endif
