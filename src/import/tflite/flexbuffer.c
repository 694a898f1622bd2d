/* FlexBuffers are written from the end: the last byte is the width of the root, the one before it its
 * packed type (type * 4 + log2 of a width), and references point backwards. A map is a vector of values
 * with, in front of its size, the width and the place of a vector of keys in the same order; behind
 * the values stand their packed types. */
#include "import/tflite/flexbuffer.h"

#include <string.h>

#include "base/half.h"

enum { FLEX_INT = 1, FLEX_UINT = 2, FLEX_FLOAT = 3, FLEX_MAP = 9, FLEX_BOOL = 26 };

typedef struct tw_flex {
    const uint8_t *data;
    size_t bytes;
} tw_flex;

/* `width` bytes at a place: 1, 2, 4 or 8. */
static bool read(const tw_flex *f, size_t at, size_t width, uint64_t *value)
{
    *value = 0;
    if (width > f->bytes || at > f->bytes - width ||
        (width != 1 && width != 2 && width != 4 && width != 8))
        return false;
    for (size_t i = width; i-- > 0;)
        *value = *value << 8 | f->data[at + i];
    return true;
}

/* Where the reference at a place points. */
static bool follow(const tw_flex *f, size_t at, size_t width, size_t *to)
{
    uint64_t back;
    if (!read(f, at, width, &back) || back > at)
        return false;
    *to = at - (size_t)back;
    return true;
}

/* Does the key at a place, ended by a zero, read so? */
static bool is_key(const tw_flex *f, size_t at, const char *key)
{
    size_t length = strlen(key) + 1;
    return length <= f->bytes && at <= f->bytes - length && memcmp(f->data + at, key, length) == 0;
}

typedef struct tw_flex_map {
    size_t values, width, keys, key_width;
    uint64_t size;
} tw_flex_map;

static bool open_map(const tw_flex *f, tw_flex_map *map)
{
    uint64_t key_width;
    if (f->bytes < 3)
        return false;
    const size_t root_width = f->data[f->bytes - 1];
    const uint8_t packed = f->data[f->bytes - 2];
    if (packed >> 2 != FLEX_MAP || root_width > f->bytes - 2 ||
        !follow(f, f->bytes - 2 - root_width, root_width, &map->values))
        return false;
    map->width = (size_t)1 << (packed & 3);
    if (map->values < 3 * map->width ||
        !read(f, map->values - map->width, map->width, &map->size) ||
        !read(f, map->values - 2 * map->width, map->width, &key_width) ||
        !follow(f, map->values - 3 * map->width, map->width, &map->keys))
        return false;
    map->key_width = (size_t)key_width;
    return key_width <= 8 && map->size <= f->bytes;
}

/* The bits and type of the value under `key`; *width: bytes that it takes. */
static bool find(const uint8_t *data, size_t bytes, const char *key, uint64_t *bits, uint64_t *type,
                 size_t *width)
{
    const tw_flex f = {data, bytes};
    tw_flex_map map;
    size_t at;
    if (!open_map(&f, &map))
        return false;
    *width = map.width;
    for (size_t i = 0; i < (size_t)map.size; i++) {
        if (!follow(&f, map.keys + i * map.key_width, map.key_width, &at))
            return false;
        if (!is_key(&f, at, key))
            continue;
        if (!read(&f, map.values + i * map.width, map.width, bits) ||
            !read(&f, map.values + (size_t)map.size * map.width + i, 1, type))
            return false;
        *type >>= 2;
        return true;
    }
    return false;
}

static bool is_whole(uint64_t type)
{
    return type == FLEX_INT || type == FLEX_UINT || type == FLEX_BOOL;
}

static int64_t whole(uint64_t bits, uint64_t type, size_t width)
{
    const int unused = 64 - 8 * (int)width; /* the sign is the stored width's */
    return type == FLEX_INT ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

bool tw_flex_int(const uint8_t *data, size_t bytes, const char *key, int64_t *value)
{
    uint64_t bits, type;
    size_t width;
    if (!find(data, bytes, key, &bits, &type, &width) || !is_whole(type))
        return false;
    *value = whole(bits, type, width);
    return true;
}

bool tw_flex_float(const uint8_t *data, size_t bytes, const char *key, double *value)
{
    uint64_t bits, type;
    size_t width;
    if (!find(data, bytes, key, &bits, &type, &width))
        return false;
    if (is_whole(type)) {
        *value = (double)whole(bits, type, width);
        return true;
    }
    if (type != FLEX_FLOAT || width < 2)
        return false;
    if (width == 8) {
        memcpy(value, &bits, sizeof bits);
    } else if (width == 4) {
        const uint32_t word = (uint32_t)bits;
        float single;
        memcpy(&single, &word, sizeof single);
        *value = (double)single;
    } else {
        *value = (double)tw_float_from_half((uint16_t)bits);
    }
    return true;
}
