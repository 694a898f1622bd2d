/* A table from names to pointers, in an arena. Starts as {0}. */
#ifndef TW_BASE_MAP_H
#define TW_BASE_MAP_H

#include "base/arena.h"

typedef struct tw_map {
    struct tw_map_slot *slots;
    size_t count, size; /* size: 0 or a power of two */
} tw_map;

/* The pointer stored under the name, or null. */
void *tw_map_get(const tw_map *map, const char *name);

/* Stores (or replaces) it. The name is not copied; value must not be null. */
void tw_map_put(tw_arena *arena, tw_map *map, const char *name, void *value);

#endif
