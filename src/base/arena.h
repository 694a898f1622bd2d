/* Memory by lifetime: one arena per compile, freed at once. */
#ifndef TW_BASE_ARENA_H
#define TW_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tw_arena tw_arena;

/* A new, empty arena. Ends the program with a message when the system has no memory left (so that
 * no caller needs to check); every request that comes from a file must be bounded before. */
tw_arena *tw_arena_new(void);
void tw_arena_free(tw_arena *arena); /* null is allowed */

/* Zeroed memory, aligned to 64 bytes from 64 bytes on and to 16 below. Never null. */
void *tw_alloc(tw_arena *arena, size_t bytes);
void *tw_alloc_array(tw_arena *arena, size_t count, size_t bytes_each);
void *tw_copy(tw_arena *arena, const void *data, size_t bytes);
char *tw_strdup(tw_arena *arena, const char *text);
char *tw_strndup(tw_arena *arena, const char *text, size_t bytes);
char *tw_format(tw_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Bytes handed out so far. */
size_t tw_arena_bytes(const tw_arena *arena);

/* Make room for one more element in a growing array kept in the arena (the old array stays behind
 * until the arena goes). *items is a pointer to an array of *capacity elements, `count` in use. */
void tw_grow(tw_arena *arena, void *items, int count, int *capacity, size_t bytes_each);

#endif
