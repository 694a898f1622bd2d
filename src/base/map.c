/* Open addressing, at most half full. */
#include "base/map.h"

#include <string.h>

struct tw_map_slot {
    const char *name;
    void *value;
};

static struct tw_map_slot *find(const tw_map *map, const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    size_t at = (size_t)(hash ^ hash >> 32) & (map->size - 1);
    while (map->slots[at].name && strcmp(map->slots[at].name, name) != 0)
        at = (at + 1) & (map->size - 1);
    return &map->slots[at];
}

void *tw_map_get(const tw_map *map, const char *name)
{
    return map->size ? find(map, name)->value : NULL;
}

void tw_map_put(tw_arena *arena, tw_map *map, const char *name, void *value)
{
    if (map->count * 2 >= map->size) {
        tw_map larger = {NULL, map->count, map->size ? map->size * 2 : 64};
        larger.slots = tw_alloc_array(arena, larger.size, sizeof *larger.slots);
        for (size_t i = 0; i < map->size; i++)
            if (map->slots[i].name)
                *find(&larger, map->slots[i].name) = map->slots[i];
        *map = larger;
    }
    struct tw_map_slot *slot = find(map, name);
    map->count += !slot->name;
    *slot = (struct tw_map_slot){name, value};
}
