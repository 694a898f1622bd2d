/* A reader of FlatBuffers for files that nobody vouches for.
 *
 * Every access is checked when it is made: what is read lies inside the file, is aligned to its own
 * size, and stands inside the table or vector that holds it. Nothing is trusted between two accesses,
 * so a reader needs no pass over the file beforehand. A failure names the place by its path from the
 * root: "subgraphs[0].operators[3].inputs".
 *
 * Two things are bounded over the whole file: the work that references to shared objects can cause
 * (a small file may name one table a million times), and, in tw_fb_finish, objects that overlap.
 *
 * A field that is absent leaves its destination as it was: set the default first. Tables and vectors
 * may be absent too: they read as tables without fields and vectors without elements.
 */
#ifndef TW_IMPORT_TFLITE_FLATBUFFER_H
#define TW_IMPORT_TFLITE_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

/* A table or vector's place: a field of its parent, or one of the elements of a field. */
typedef struct tw_fb_path {
    const struct tw_fb_path *parent; /* null: the root */
    const char *field;
    uint32_t index; /* of the element; UINT32_MAX: the field itself */
} tw_fb_path;

/* Bytes taken by an object, for tw_fb_finish. */
typedef struct tw_fb_extent {
    size_t first, end;
    const tw_fb_path *path;
} tw_fb_extent;

typedef struct tw_fb_file {
    const uint8_t *data; /* aligned to 16 */
    size_t bytes;
    size_t budget; /* bytes of objects that may still be visited */
    tw_arena *arena;
    tw_diag *diag;
    tw_fb_extent *extents;
    int extent_count, extent_capacity;
} tw_fb_file;

typedef struct tw_fb_table {
    tw_fb_file *file;
    const tw_fb_path *path;
    size_t at;     /* 0: absent */
    size_t vtable; /* of vtable_bytes bytes */
    uint32_t vtable_bytes, table_bytes;
} tw_fb_table;

typedef struct tw_fb_vector {
    tw_fb_file *file;
    const tw_fb_path *path;
    bool present;
    uint32_t count;
    const void *data; /* aligned to the element; may be used directly */
} tw_fb_vector;

/* A field of a table: its number, and what the schema calls it. */
typedef struct tw_fb_field {
    uint16_t id;
    const char *name;
} tw_fb_field;

/* Look at the header and the root table. identifier: four characters at offset 4. data: in memory as
 * long as anything read from it (arrays and strings are not copied); copied when misaligned. */
bool tw_fb_open(tw_fb_file *file, tw_arena *arena, const void *data, size_t bytes,
                const char *identifier, tw_fb_table *root, tw_diag *diag);

/* Do two different objects lie over each other? Call when all has been read. */
bool tw_fb_finish(tw_fb_file *file);

/* Scalars. */
bool tw_fb_s8(const tw_fb_table *table, tw_fb_field field, int8_t *to);
bool tw_fb_u8(const tw_fb_table *table, tw_fb_field field, uint8_t *to);
bool tw_fb_s32(const tw_fb_table *table, tw_fb_field field, int32_t *to);
bool tw_fb_u32(const tw_fb_table *table, tw_fb_field field, uint32_t *to);
bool tw_fb_u64(const tw_fb_table *table, tw_fb_field field, uint64_t *to);
bool tw_fb_f32(const tw_fb_table *table, tw_fb_field field, float *to);

/* A reference to a table, to a vector of scalars of `size` bytes each, or to one of tables. */
bool tw_fb_table_in(const tw_fb_table *table, tw_fb_field field, tw_fb_table *to);
bool tw_fb_vector_in(const tw_fb_table *table, tw_fb_field field, size_t size, tw_fb_vector *to);
bool tw_fb_tables_in(const tw_fb_table *table, tw_fb_field field, tw_fb_vector *to);
/* Element i of a vector of tables, i < count. */
bool tw_fb_table_at(const tw_fb_vector *vector, uint32_t i, tw_fb_table *to);
/* Text that ends in a zero byte. */
bool tw_fb_string_in(const tw_fb_table *table, tw_fb_field field, const char **to);
/* A union: its type number and its table. Type 0: none. */
bool tw_fb_union_in(const tw_fb_table *table, tw_fb_field type_field, tw_fb_field field,
                    uint8_t *type, tw_fb_table *to);

/* Fail about the object at this path, and, where not null, one of its fields. */
bool tw_fb_fail(const tw_fb_file *file, const tw_fb_path *path, const char *field,
                const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The path as text, the outer parts cut where it does not fit. */
void tw_fb_path_text(const tw_fb_path *path, const char *field, char *text, size_t bytes);

#endif
