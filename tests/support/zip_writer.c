/* Zip archives, written by hand. */
#include "support/zip_writer.h"

#include <string.h>
#include <zlib.h>

static void put(tw_test_zip *zip, const void *data, size_t bytes)
{
    if (zip->bytes + bytes > zip->room) {
        zip->room = 2 * (zip->bytes + bytes) + 1024;
        uint8_t *larger = tw_alloc(zip->arena, zip->room);
        if (zip->bytes)
            memcpy(larger, zip->data, zip->bytes);
        zip->data = larger;
    }
    if (bytes)
        memcpy(zip->data + zip->bytes, data, bytes);
    zip->bytes += bytes;
}

static void number(tw_test_zip *zip, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        const uint8_t byte = (uint8_t)(value >> (8 * i));
        put(zip, &byte, 1);
    }
}

void tw_test_zip_begin(tw_test_zip *zip, tw_arena *arena)
{
    *zip = (tw_test_zip){.arena = arena};
}

/* The fields that both kinds of header have. */
static void common(tw_test_zip *zip, int i)
{
    number(zip, 20, 2);
    number(zip, 0, 2);
    number(zip, zip->entries[i].deflated ? 8 : 0, 2);
    number(zip, 0, 4);
    number(zip, zip->entries[i].checksum, 4);
    number(zip, zip->entries[i].packed, 4);
    number(zip, zip->entries[i].said, 4);
    number(zip, (uint32_t)strlen(zip->entries[i].name), 2);
    number(zip, 0, 2);
}

static size_t pack(tw_arena *arena, const void *data, size_t bytes, uint8_t **packed)
{
    z_stream s = {0};
    if (deflateInit2(&s, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    const size_t room = deflateBound(&s, bytes);
    *packed = tw_alloc(arena, room);
    s.next_in = (Bytef *)(uintptr_t)data;
    s.avail_in = (uInt)bytes;
    s.next_out = *packed;
    s.avail_out = (uInt)room;
    deflate(&s, Z_FINISH);
    deflateEnd(&s);
    return s.total_out;
}

void tw_test_zip_add(tw_test_zip *zip, const char *name, const void *data, size_t bytes,
                     bool deflate)
{
    const int i = zip->count++;
    uint8_t *packed = (uint8_t *)(uintptr_t)data;
    const size_t size = deflate ? pack(zip->arena, data, bytes, &packed) : bytes;
    zip->entries[i].name = name;
    zip->entries[i].offset = (uint32_t)zip->bytes;
    zip->entries[i].packed = (uint32_t)size;
    zip->entries[i].said = (uint32_t)bytes;
    zip->entries[i].checksum = (uint32_t)crc32(0, data, (uInt)bytes);
    zip->entries[i].deflated = deflate;
    put(zip, "PK\x03\x04", 4);
    common(zip, i);
    put(zip, name, strlen(name));
    put(zip, packed, size);
}

void tw_test_zip_again(tw_test_zip *zip, const char *name)
{
    zip->entries[zip->count] = zip->entries[zip->count - 1];
    zip->entries[zip->count++].name = name;
}

void tw_test_zip_end(tw_test_zip *zip)
{
    const size_t start = zip->bytes;
    for (int i = 0; i < zip->count; i++) {
        put(zip, "PK\x01\x02", 4);
        number(zip, 20, 2);
        common(zip, i);
        number(zip, 0, 2);
        number(zip, 0, 4);
        number(zip, 0, 4);
        number(zip, zip->entries[i].offset, 4);
        put(zip, zip->entries[i].name, strlen(zip->entries[i].name));
    }
    const size_t size = zip->bytes - start;
    put(zip, "PK\x05\x06", 4);
    number(zip, 0, 4);
    number(zip, (uint32_t)zip->count, 2);
    number(zip, (uint32_t)zip->count, 2);
    number(zip, (uint32_t)size, 4);
    number(zip, (uint32_t)start, 4);
    number(zip, 0, 2);
}
