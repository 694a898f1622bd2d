/* A growing array of bytes in an arena. */
#ifndef TW_EMIT_BYTES_H
#define TW_EMIT_BYTES_H

#include <stdint.h>
#include <string.h>

#include "base/arena.h"

typedef struct tw_bytes {
    tw_arena *arena;
    char *data;
    int count, capacity; /* of bytes */
} tw_bytes;

/* Append, after zero padding to a multiple of `align`; returns the offset of the data. */
static inline uint32_t tw_append(tw_bytes *b, const void *data, uint32_t bytes, uint32_t align)
{
    uint32_t at = ((uint32_t)b->count + align - 1) / align * align;
    int64_t end = (int64_t)at + bytes;
    if (end > b->capacity) {
        int64_t larger = end + end / 2 + 256;
        char *fresh = tw_alloc(b->arena, (size_t)larger);
        if (b->count)
            memcpy(fresh, b->data, (size_t)b->count);
        b->data = fresh;
        b->capacity = (int)(larger > INT32_MAX ? INT32_MAX : larger);
    }
    if (bytes)
        memcpy(b->data + at, data, bytes);
    b->count = (int)end;
    return at;
}

#endif
