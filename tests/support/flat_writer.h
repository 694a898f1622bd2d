/* FlatBuffers for tests: written front to back, parents before children, every position known, so that
 * a test can also break them on purpose. */
#ifndef TW_TESTS_SUPPORT_FLAT_WRITER_H
#define TW_TESTS_SUPPORT_FLAT_WRITER_H

#include <stddef.h>
#include <stdint.h>

typedef struct tw_flat {
    uint8_t *data; /* grows: keep positions, not pointers */
    size_t bytes, capacity;
} tw_flat;

/* The header: a root reference still to be linked (slot 0) and an identifier. */
void tw_flat_start(tw_flat *flat, const char *identifier);
void tw_flat_free(tw_flat *flat);

/* Append a table whose field i has `sizes[i] - '0'` bytes ('0': absent), zeroed, and link the slot (a
 * position that holds a reference; 0 is the root) to it. Returns its position. */
size_t tw_flat_table(tw_flat *flat, size_t slot, const char *sizes);
/* Where field `id` of a table stands: a slot for references. The field must be there. */
size_t tw_flat_field(const tw_flat *flat, size_t table, int id);
/* Set a scalar of 1, 2, 4 or 8 bytes. */
void tw_flat_set(tw_flat *flat, size_t table, int id, size_t size, int64_t value);
void tw_flat_set_float(tw_flat *flat, size_t table, int id, float value);

/* Append a vector or a string and link the slot to it. Returns the position of the first element. */
size_t tw_flat_vector(tw_flat *flat, size_t slot, size_t size, uint32_t count, const void *data);
/* A vector of references, element k of which is the slot at the returned position + 4 * k. */
size_t tw_flat_references(tw_flat *flat, size_t slot, uint32_t count);
size_t tw_flat_string(tw_flat *flat, size_t slot, const char *text);

/* Point a reference at a position behind it. */
void tw_flat_link(tw_flat *flat, size_t slot, size_t target);

#endif
