/* FlatBuffers for tests, see flat_writer.h. */
#include "support/flat_writer.h"

#include <stdlib.h>
#include <string.h>

/* Append zeroed bytes so that they begin at a multiple of `alignment` plus `phase`. */
static size_t append(tw_flat *flat, size_t bytes, size_t alignment, size_t phase)
{
    size_t at = flat->bytes;
    while (at % alignment != phase)
        at++;
    if (at + bytes > flat->capacity) {
        flat->capacity = (at + bytes) * 2 + 256;
        flat->data = realloc(flat->data, flat->capacity);
        if (!flat->data)
            abort();
    }
    memset(flat->data + flat->bytes, 0, at + bytes - flat->bytes);
    flat->bytes = at + bytes;
    return at;
}

static void put(tw_flat *flat, size_t at, size_t size, int64_t value)
{
    memcpy(flat->data + at, &value, size); /* little-endian */
}

static uint16_t get16(const tw_flat *flat, size_t at)
{
    uint16_t v;
    memcpy(&v, flat->data + at, sizeof v);
    return v;
}

void tw_flat_start(tw_flat *flat, const char *identifier)
{
    *flat = (tw_flat){NULL, 0, 0};
    append(flat, 8, 16, 0);
    memcpy(flat->data + 4, identifier, 4);
}

void tw_flat_free(tw_flat *flat)
{
    free(flat->data);
}

void tw_flat_link(tw_flat *flat, size_t slot, size_t target)
{
    put(flat, slot, 4, (int64_t)(target - slot));
}

size_t tw_flat_table(tw_flat *flat, size_t slot, const char *sizes)
{
    size_t fields = strlen(sizes), bytes = 4;
    uint16_t offset[64] = {0};
    for (size_t size = 8; size; size /= 2)
        for (size_t i = 0; i < fields; i++)
            if ((size_t)(sizes[i] - '0') == size) {
                bytes = (bytes + size - 1) / size * size;
                offset[i] = (uint16_t)bytes;
                bytes += size;
            }
    size_t vtable = append(flat, 4 + 2 * fields, 2, 0);
    put(flat, vtable, 2, (int64_t)(4 + 2 * fields));
    put(flat, vtable + 2, 2, (int64_t)bytes);
    for (size_t i = 0; i < fields; i++)
        put(flat, vtable + 4 + 2 * i, 2, offset[i]);
    size_t table = append(flat, bytes, 8, 0);
    put(flat, table, 4, (int64_t)(table - vtable));
    tw_flat_link(flat, slot, table);
    return table;
}

size_t tw_flat_field(const tw_flat *flat, size_t table, int id)
{
    int32_t back;
    memcpy(&back, flat->data + table, sizeof back);
    size_t offset = get16(flat, table - (size_t)back + 4 + 2 * (size_t)id);
    if (offset == 0)
        abort();
    return table + offset;
}

void tw_flat_set(tw_flat *flat, size_t table, int id, size_t size, int64_t value)
{
    put(flat, tw_flat_field(flat, table, id), size, value);
}

void tw_flat_set_float(tw_flat *flat, size_t table, int id, float value)
{
    memcpy(flat->data + tw_flat_field(flat, table, id), &value, sizeof value);
}

size_t tw_flat_vector(tw_flat *flat, size_t slot, size_t size, uint32_t count, const void *data)
{
    size_t alignment = size > 4 ? size : 4;
    size_t at = append(flat, 4 + size * count, alignment, alignment - 4);
    put(flat, at, 4, count);
    if (data && count)
        memcpy(flat->data + at + 4, data, size * count);
    tw_flat_link(flat, slot, at);
    return at + 4;
}

size_t tw_flat_references(tw_flat *flat, size_t slot, uint32_t count)
{
    return tw_flat_vector(flat, slot, 4, count, NULL);
}

size_t tw_flat_string(tw_flat *flat, size_t slot, const char *text)
{
    size_t at = tw_flat_vector(flat, slot, 1, (uint32_t)strlen(text), text);
    append(flat, 1, 1, 0);
    return at;
}
