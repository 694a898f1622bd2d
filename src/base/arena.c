/* A chunked bump allocator. */
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tw_chunk {
    struct tw_chunk *next;
    size_t used, size;
    void *raw; /* what malloc returned; the chunk header lies inside, aligned */
} tw_chunk;

struct tw_arena {
    tw_chunk *chunks;
    size_t bytes;
};

/* Chunks grow with what the arena holds: many arenas live for one question only. */
enum { SMALLEST_CHUNK = 1 << 11, CHUNK = 1 << 16, ALIGN = 64 };

static _Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "tilewright: out of memory (%zu bytes asked for)\n", bytes);
    exit(1);
}

tw_arena *tw_arena_new(void)
{
    tw_arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        out_of_memory(sizeof *arena);
    return arena;
}

void tw_arena_free(tw_arena *arena)
{
    if (!arena)
        return;
    for (tw_chunk *c = arena->chunks, *next; c; c = next) {
        next = c->next;
        free(c->raw);
    }
    free(arena);
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static tw_chunk *add_chunk(tw_arena *arena, size_t bytes)
{
    size_t header = round_up(sizeof(tw_chunk), ALIGN);
    if (bytes > SIZE_MAX - header - ALIGN)
        out_of_memory(bytes);
    void *raw = malloc(header + bytes + ALIGN);
    if (!raw)
        out_of_memory(bytes);
    tw_chunk *chunk = (tw_chunk *)round_up((uintptr_t)raw, ALIGN);
    *chunk = (tw_chunk){arena->chunks, header, header + bytes, raw};
    arena->chunks = chunk;
    return chunk;
}

void *tw_alloc(tw_arena *arena, size_t bytes)
{
    size_t align = bytes >= ALIGN ? ALIGN : 16;
    tw_chunk *chunk = arena->chunks;
    size_t at = chunk ? round_up(chunk->used, align) : 0;
    if (!chunk || at > chunk->size || bytes > chunk->size - at) {
        size_t size = arena->bytes < SMALLEST_CHUNK ? SMALLEST_CHUNK : arena->bytes;
        size = size < CHUNK ? size : CHUNK;
        chunk = add_chunk(arena, bytes > size ? bytes : size);
        at = chunk->used;
    }
    chunk->used = at + bytes;
    arena->bytes += bytes;
    return memset((char *)chunk + at, 0, bytes);
}

void *tw_alloc_array(tw_arena *arena, size_t count, size_t bytes_each)
{
    if (bytes_each && count > SIZE_MAX / bytes_each)
        out_of_memory(SIZE_MAX);
    return tw_alloc(arena, count * bytes_each);
}

void *tw_copy(tw_arena *arena, const void *data, size_t bytes)
{
    void *copy = tw_alloc(arena, bytes);
    if (bytes)
        memcpy(copy, data, bytes);
    return copy;
}

char *tw_strdup(tw_arena *arena, const char *text)
{
    return tw_strndup(arena, text, strlen(text));
}

char *tw_strndup(tw_arena *arena, const char *text, size_t bytes)
{
    char *copy = tw_alloc(arena, bytes + 1);
    if (bytes)
        memcpy(copy, text, bytes);
    return copy;
}

char *tw_format(tw_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = tw_alloc(arena, (size_t)(n < 0 ? 0 : n) + 1);
    vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, format, again);
    va_end(again);
    return text;
}

size_t tw_arena_bytes(const tw_arena *arena)
{
    return arena->bytes;
}

void tw_grow(tw_arena *arena, void *items, int count, int *capacity, size_t bytes_each)
{
    if (count < *capacity)
        return;
    int larger = *capacity ? *capacity * 2 : 16;
    void *old;
    memcpy(&old, items, sizeof old);
    void *fresh = tw_alloc_array(arena, (size_t)larger, bytes_each);
    if (count)
        memcpy(fresh, old, (size_t)count * bytes_each);
    memcpy(items, &fresh, sizeof fresh);
    *capacity = larger;
}
