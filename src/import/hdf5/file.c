/* The file's begin, and all access to its bytes. In: the bytes. Out: addresses and lengths as the
 * superblock has them, and pieces that lie inside of the file. */
#include "import/hdf5/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SIGNATURE "\x89HDF\r\n\x1a\n"

enum {
    SIGNATURE_BYTES = 8,
    FIRST_USER_BLOCK = 512,
    /* How often the structure may be looked at, were all of the file structure. Objects, heaps and links
     * are kept, so that a sound file's is looked at once. */
    MOST_WORK = 16,
    FREE_WORK = 1 << 20,
    /* What may be unpacked: weights that are all the same shrink to a thousandth, a model's do not. */
    MOST_ROOM = 200,
    FREE_ROOM = 128 << 20
};

/* --- messages ---------------------------------------------------------------------------------- */

static const char *place(const tw_h5 *f)
{
    return *f->path ? f->path : "/";
}

bool(tw_h5_damaged)(tw_h5 *f, const char *part, uint64_t at, const char *why)
{
    return tw_fail(f->diag, TW_CODE_FAILED, place(f), NULL,
                   "the HDF5 file is damaged: the %s at byte %llu %s; save the model again", part,
                   (unsigned long long)at, why);
}

bool(tw_h5_refuse)(tw_h5 *f, const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return tw_fail(f->diag, TW_CODE_UNSUPPORTED, place(f), NULL, "%s", text);
}

bool tw_h5_sound(const tw_h5 *f)
{
    return f->diag->code == TW_CODE_OK;
}

bool tw_h5_charge(tw_h5 *f, uint64_t bytes)
{
    if (bytes > f->work)
        return tw_fail(f->diag, TW_CODE_FAILED, place(f), NULL,
                       "the HDF5 file is damaged: its structure leads through the same places over "
                       "and over; save the model again");
    f->work -= bytes;
    return true;
}

bool tw_h5_charge_room(tw_h5 *f, uint64_t bytes)
{
    if (bytes > f->room)
        return tw_fail(f->diag, TW_CODE_UNSUPPORTED, place(f), NULL,
                       "the HDF5 file's %zu bytes unpack to more than %d times as many; no model "
                       "does",
                       f->bytes, MOST_ROOM);
    f->room -= bytes;
    return true;
}

/* --- access ------------------------------------------------------------------------------------ */

bool tw_h5_at(tw_h5 *f, const char *part, uint64_t at, uint64_t bytes, tw_h5_span *span)
{
    *span = (tw_h5_span){f->data, 0, false};
    if (at > f->bytes || bytes > f->bytes - at)
        return tw_h5_damaged(f, part, at, "lies outside of the file");
    *span = (tw_h5_span){f->data + at, (size_t)bytes, false};
    return true;
}

bool tw_h5_block(tw_h5 *f, const char *part, uint64_t at, const char *signature, tw_h5_span *span)
{
    const size_t length = strlen(signature);
    if (!tw_h5_at(f, part, at, length, span) || !tw_h5_charge(f, length))
        return false;
    if (memcmp(span->at, signature, length) != 0)
        return tw_h5_damaged(f, part, at, "does not begin as it must");
    return tw_h5_at(f, part, at + length, f->bytes - at - length, span);
}

const uint8_t *tw_h5_skip(tw_h5_span *span, uint64_t bytes)
{
    const uint8_t *at = span->at;
    if (bytes > span->left) {
        span->left = 0;
        span->cut = true;
        return NULL;
    }
    span->at += bytes;
    span->left -= (size_t)bytes;
    return at;
}

tw_h5_span tw_h5_part(tw_h5_span *span, uint64_t bytes)
{
    const uint8_t *at = tw_h5_skip(span, bytes);
    return at ? (tw_h5_span){at, (size_t)bytes, false} : (tw_h5_span){span->at, 0, true};
}

uint64_t tw_h5_take(tw_h5_span *span, int bytes)
{
    const uint8_t *at = tw_h5_skip(span, (uint64_t)bytes);
    uint64_t value = 0;
    for (int i = bytes; at && i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

/* All bits set: there is nothing. */
uint64_t tw_h5_take_address(const tw_h5 *f, tw_h5_span *span)
{
    const uint64_t value = tw_h5_take(span, f->address_bytes);
    return f->address_bytes < 8 && value == (UINT64_C(1) << (8 * f->address_bytes)) - 1
               ? TW_H5_NOWHERE
               : value;
}

uint64_t tw_h5_take_length(const tw_h5 *f, tw_h5_span *span)
{
    return tw_h5_take(span, f->length_bytes);
}

int tw_h5_bits(uint64_t number)
{
    int bits = 0;
    for (; number; number >>= 1)
        bits++;
    return bits;
}

int tw_h5_number_bytes(uint64_t number)
{
    return number ? (tw_h5_bits(number) + 7) / 8 : 1;
}

/* --- the superblock ---------------------------------------------------------------------------- */

/* Where the superblock begins, or `bytes`. */
static size_t find_begin(const uint8_t *data, size_t bytes)
{
    for (size_t at = 0; at < bytes && bytes - at >= SIGNATURE_BYTES;
         at = at ? 2 * at : FIRST_USER_BLOCK)
        if (memcmp(data + at, SIGNATURE, SIGNATURE_BYTES) == 0)
            return at;
    return bytes;
}

bool tw_is_h5(const void *data, size_t bytes)
{
    return find_begin(data, bytes) < bytes;
}

static bool is_width(int bytes)
{
    return bytes == 2 || bytes == 4 || bytes == 8;
}

static bool read_superblock(tw_h5 *f)
{
    enum { OLD_VERSIONS = 2 };
    tw_h5_span s;
    if (!tw_h5_block(f, "superblock", 0, SIGNATURE, &s))
        return false;
    const int version = (int)tw_h5_take(&s, 1);
    if (version > 3)
        return tw_h5_refuse(f, "an HDF5 superblock of version %d; 0 to 3 are read", version);
    if (version < OLD_VERSIONS)
        tw_h5_skip(&s, 4); /* versions of parts that never had another */
    f->address_bytes = (int)tw_h5_take(&s, 1);
    f->length_bytes = (int)tw_h5_take(&s, 1);
    if (!is_width(f->address_bytes) || !is_width(f->length_bytes))
        return tw_h5_refuse(f, "HDF5 addresses of %d bytes and lengths of %d; 2, 4 and 8 are read",
                            f->address_bytes, f->length_bytes);
    /* Widths of old trees, flags, and whether the file is being written. */
    tw_h5_skip(&s, version == 0 ? 9 : version == 1 ? 13 : 1);
    /* The base address, which is where the superblock lies; then what free space, drivers and
     * extensions have, and the end. */
    tw_h5_skip(&s, (uint64_t)f->address_bytes * (version < OLD_VERSIONS ? 4 : 3));
    if (version < OLD_VERSIONS)
        tw_h5_take_length(f, &s); /* the root's name */
    f->root = tw_h5_take_address(f, &s);
    return !s.cut || tw_h5_damaged(f, "superblock", 0, "is cut off");
}

tw_h5 *tw_h5_open(tw_arena *arena, const void *data, size_t bytes, tw_diag *diag)
{
    tw_h5 *f = tw_alloc(arena, sizeof *f);
    const size_t begin = find_begin(data, bytes);
    *f = (tw_h5){.arena = arena, .diag = diag, .path = ""};
    if (begin == bytes) {
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the file is no HDF5; save the model again");
        return NULL;
    }
    f->data = (const uint8_t *)data + begin;
    f->bytes = bytes - begin;
    f->work = (uint64_t)MOST_WORK * f->bytes + FREE_WORK;
    f->room = (uint64_t)MOST_ROOM * f->bytes + FREE_ROOM;
    return read_superblock(f) && tw_h5_object_at(f, f->root) ? f : NULL;
}
