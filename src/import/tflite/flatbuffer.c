/* FlatBuffers: offsets checked one by one.
 *
 * The form, all little-endian: at 0 the offset of the root table, at 4 the identifier. A table begins
 * with the distance back to its vtable; the vtable holds its own size, the table's size, and for each
 * field the offset inside the table, 0 for an absent one. References are unsigned distances forward
 * from where they stand. A vector is a count, then its elements; a string is a vector of bytes with a
 * zero behind. */
#include "import/tflite/flatbuffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORK_PER_BYTE = 4,   /* bytes of objects visited for each byte of the file ... */
    WORK_FREE = 1 << 16, /* ... and for any file */
    PATH_PARTS = 16
};

/* ---- messages ---- */

void tw_fb_path_text(const tw_fb_path *path, const char *field, char *text, size_t bytes)
{
    const tw_fb_path *parts[PATH_PARTS];
    int count = 0;
    for (; path && count < PATH_PARTS; path = path->parent)
        if (path->field[0])
            parts[count++] = path;
    size_t at = 0;
    text[0] = 0;
    while (count-- > 0 && at < bytes) {
        at += (size_t)snprintf(text + at, bytes - at, "%s%s", at ? "." : "", parts[count]->field);
        if (parts[count]->index != UINT32_MAX && at < bytes)
            at += (size_t)snprintf(text + at, bytes - at, "[%u]", parts[count]->index);
    }
    if (field && at < bytes)
        snprintf(text + at, bytes - at, "%s%s", at ? "." : "", field);
    else if (at == 0)
        snprintf(text, bytes, "the file");
}

bool tw_fb_fail(const tw_fb_file *file, const tw_fb_path *path, const char *field,
                const char *format, ...)
{
    char place[256], what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    tw_fb_path_text(path, field, place, sizeof place);
    return tw_fail(file->diag, TW_CODE_FAILED, NULL, NULL, "%s: %s; the file is damaged", place,
                   what);
}

/* ---- ranges ---- */

/* [at, at + size) inside the file and aligned. */
static bool inside(const tw_fb_file *file, const tw_fb_path *path, const char *field, size_t at,
                   size_t size, size_t alignment)
{
    if (at > file->bytes || size > file->bytes - at)
        return tw_fb_fail(file, path, field, "bytes %zu to %zu lie outside the file's %zu", at,
                          at + size, file->bytes);
    if (at % alignment)
        return tw_fb_fail(file, path, field, "offset %zu is not aligned to %zu bytes", at,
                          alignment);
    return true;
}

static int by_start(const void *a, const void *b)
{
    const tw_fb_extent *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Objects may be shared, never overlap: sort, keep one of each. */
bool tw_fb_finish(tw_fb_file *file)
{
    tw_fb_extent *e = file->extents;
    int kept = 0;
    if (file->extent_count)
        qsort(e, (size_t)file->extent_count, sizeof *e, by_start);
    for (int i = 0; i < file->extent_count; i++) {
        if (kept && e[i].first < e[kept - 1].end) {
            if (e[i].first != e[kept - 1].first || e[i].end != e[kept - 1].end) {
                char other[256];
                tw_fb_path_text(e[kept - 1].path, NULL, other, sizeof other);
                return tw_fb_fail(file, e[i].path, NULL, "its bytes overlap those of %s", other);
            }
            continue;
        }
        e[kept++] = e[i];
    }
    file->extent_count = kept;
    return true;
}

/* Count the visit, remember the bytes. A full list is compacted before it grows, so that it stays in
 * proportion to the file however often objects are shared. */
static bool visit(tw_fb_file *file, const tw_fb_path *path, size_t first, size_t bytes, size_t work)
{
    if (work > file->budget)
        return tw_fb_fail(file, path, NULL, "its objects are referred to again and again");
    file->budget -= work;
    if (file->extent_count == file->extent_capacity) {
        if (!tw_fb_finish(file))
            return false;
        if (file->extent_count * 2 >= file->extent_capacity)
            tw_grow(file->arena, &file->extents, file->extent_capacity, &file->extent_capacity,
                    sizeof *file->extents);
    }
    file->extents[file->extent_count++] = (tw_fb_extent){first, first + bytes, path};
    return true;
}

static uint32_t read_u32(const tw_fb_file *file, size_t at)
{
    uint32_t v;
    memcpy(&v, file->data + at, sizeof v);
    return v;
}

static uint16_t read_u16(const tw_fb_file *file, size_t at)
{
    uint16_t v;
    memcpy(&v, file->data + at, sizeof v);
    return v;
}

static const tw_fb_path *add_path(const tw_fb_file *file, const tw_fb_path *parent,
                                  const char *field, uint32_t index)
{
    tw_fb_path *path = tw_alloc(file->arena, sizeof *path);
    *path = (tw_fb_path){parent, field, index};
    return path;
}

/* ---- tables ---- */

/* Bytes that the fields of a table certainly take: writers are known to claim a few more. */
static size_t table_extent(const tw_fb_table *table)
{
    size_t extent = 4;
    for (size_t slot = 4; slot < table->vtable_bytes; slot += 2) {
        size_t offset = read_u16(table->file, table->vtable + slot);
        if (offset >= extent && offset < table->table_bytes)
            extent = offset + 1;
    }
    return extent;
}

static bool open_table(tw_fb_file *file, const tw_fb_path *path, size_t at, tw_fb_table *to)
{
    if (!inside(file, path, NULL, at, 4, 4))
        return false;
    int64_t vtable = (int64_t)at - (int32_t)read_u32(file, at);
    if (vtable < 0 || !inside(file, path, NULL, (size_t)vtable, 4, 2))
        return vtable >= 0 ? false
                           : tw_fb_fail(file, path, NULL, "its vtable lies before the file");
    *to = (tw_fb_table){file,
                        path,
                        at,
                        (size_t)vtable,
                        read_u16(file, (size_t)vtable),
                        read_u16(file, (size_t)vtable + 2)};
    if (to->vtable_bytes < 4 || to->vtable_bytes % 2 || to->table_bytes < 4)
        return tw_fb_fail(file, path, NULL, "its vtable has %u bytes for a table of %u",
                          to->vtable_bytes, to->table_bytes);
    return inside(file, path, NULL, to->vtable, to->vtable_bytes, 2) &&
           inside(file, path, NULL, at, to->table_bytes, 4) &&
           visit(file, path, to->vtable, to->vtable_bytes, to->vtable_bytes) &&
           visit(file, path, at, table_extent(to), to->table_bytes);
}

bool tw_fb_open(tw_fb_file *file, tw_arena *arena, const void *data, size_t bytes,
                const char *identifier, tw_fb_table *root, tw_diag *diag)
{
    *file = (tw_fb_file){.data = data, .bytes = bytes, .arena = arena, .diag = diag};
    if ((uintptr_t)data % 16)
        file->data = tw_copy(arena, data, bytes);
    file->budget = bytes * WORK_PER_BYTE + WORK_FREE;
    const tw_fb_path *path = add_path(file, NULL, "", UINT32_MAX);
    if (bytes < 8 || memcmp(file->data + 4, identifier, 4) != 0)
        return tw_fb_fail(file, path, NULL, "the identifier %.4s is missing", identifier);
    return visit(file, path, 0, 8, 8) && open_table(file, path, read_u32(file, 0), root);
}

/* Where a field of `size` bytes stands; 0: absent. */
static bool find(const tw_fb_table *table, tw_fb_field field, size_t size, size_t *at)
{
    *at = 0;
    size_t slot = 4 + 2 * (size_t)field.id;
    if (table->at == 0 || slot + 2 > table->vtable_bytes)
        return true;
    size_t offset = read_u16(table->file, table->vtable + slot);
    if (offset == 0)
        return true;
    if (offset < 4 || offset + size > table->table_bytes)
        return tw_fb_fail(table->file, table->path, field.name,
                          "it stands at byte %zu of a table of %u", offset, table->table_bytes);
    *at = table->at + offset;
    return inside(table->file, table->path, field.name, *at, size, size);
}

static bool scalar(const tw_fb_table *table, tw_fb_field field, size_t size, void *to)
{
    size_t at;
    if (!find(table, field, size, &at))
        return false;
    if (at)
        memcpy(to, table->file->data + at, size);
    return true;
}

bool tw_fb_s8(const tw_fb_table *table, tw_fb_field field, int8_t *to)
{
    return scalar(table, field, sizeof *to, to);
}

bool tw_fb_u8(const tw_fb_table *table, tw_fb_field field, uint8_t *to)
{
    return scalar(table, field, sizeof *to, to);
}

bool tw_fb_s32(const tw_fb_table *table, tw_fb_field field, int32_t *to)
{
    return scalar(table, field, sizeof *to, to);
}

bool tw_fb_u32(const tw_fb_table *table, tw_fb_field field, uint32_t *to)
{
    return scalar(table, field, sizeof *to, to);
}

bool tw_fb_u64(const tw_fb_table *table, tw_fb_field field, uint64_t *to)
{
    return scalar(table, field, sizeof *to, to);
}

bool tw_fb_f32(const tw_fb_table *table, tw_fb_field field, float *to)
{
    return scalar(table, field, sizeof *to, to);
}

/* ---- references ---- */

/* What the reference in the field points at; 0: absent. */
static bool follow(const tw_fb_table *table, tw_fb_field field, size_t *target)
{
    size_t at;
    *target = 0;
    if (!find(table, field, 4, &at))
        return false;
    if (at == 0)
        return true;
    *target = at + read_u32(table->file, at);
    return *target != at || tw_fb_fail(table->file, table->path, field.name, "it refers to itself");
}

bool tw_fb_table_in(const tw_fb_table *table, tw_fb_field field, tw_fb_table *to)
{
    size_t at;
    *to = (tw_fb_table){.file = table->file, .path = table->path};
    if (!follow(table, field, &at))
        return false;
    return at == 0 ||
           open_table(table->file, add_path(table->file, table->path, field.name, UINT32_MAX), at,
                      to);
}

/* slack: bytes behind the elements. work: bytes of visit for each element. */
static bool open_vector(const tw_fb_table *table, tw_fb_field field, size_t size, size_t slack,
                        size_t work, tw_fb_vector *to)
{
    tw_fb_file *file = table->file;
    size_t at;
    *to = (tw_fb_vector){.file = file, .path = table->path};
    if (!follow(table, field, &at))
        return false;
    if (at == 0)
        return true;
    const tw_fb_path *path = add_path(file, table->path, field.name, UINT32_MAX);
    if (!inside(file, path, NULL, at, 4, 4))
        return false;
    uint32_t count = read_u32(file, at);
    size_t first = at + 4;
    if (count > (file->bytes - first) / size)
        return tw_fb_fail(file, path, NULL, "it claims %u elements, more than the file holds",
                          count);
    *to = (tw_fb_vector){file, path, true, count, file->data + first};
    size_t bytes = (size_t)count * size + slack;
    return inside(file, path, NULL, first, bytes, count ? size : 1) &&
           visit(file, path, at, 4 + bytes, 4 + count * work);
}

bool tw_fb_vector_in(const tw_fb_table *table, tw_fb_field field, size_t size, tw_fb_vector *to)
{
    return open_vector(table, field, size, 0, size > 1 ? size : 0, to);
}

bool tw_fb_tables_in(const tw_fb_table *table, tw_fb_field field, tw_fb_vector *to)
{
    return open_vector(table, field, 4, 0, 4, to);
}

bool tw_fb_table_at(const tw_fb_vector *vector, uint32_t i, tw_fb_table *to)
{
    tw_fb_file *file = vector->file;
    size_t at = (size_t)((const uint8_t *)vector->data - file->data) + (size_t)i * 4;
    const tw_fb_path *whole = vector->path;
    return open_table(file, add_path(file, whole->parent, whole->field, i), at + read_u32(file, at),
                      to);
}

bool tw_fb_string_in(const tw_fb_table *table, tw_fb_field field, const char **to)
{
    tw_fb_vector text;
    if (!open_vector(table, field, 1, 1, 1, &text))
        return false;
    if (!text.present)
        return true;
    if (((const char *)text.data)[text.count] != 0)
        return tw_fb_fail(table->file, table->path, field.name, "the text does not end in zero");
    *to = text.data;
    return true;
}

bool tw_fb_union_in(const tw_fb_table *table, tw_fb_field type_field, tw_fb_field field,
                    uint8_t *type, tw_fb_table *to)
{
    *type = 0;
    *to = (tw_fb_table){.file = table->file, .path = table->path};
    if (!tw_fb_u8(table, type_field, type))
        return false;
    return *type == 0 || tw_fb_table_in(table, field, to);
}
