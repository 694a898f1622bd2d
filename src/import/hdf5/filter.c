/* Filters: deflate, shuffle and a checksum, undone from the last on. In: a chunk as it is stored. Out: its
 * elements, in memory that is no larger than they need. */
#include <string.h>
#include <zlib.h>

#include "import/hdf5/file.h"

enum { DEFLATE = 1, SHUFFLE = 2, FLETCHER = 3, CHECKSUM = 4 };

static const char part[] = "chunk";

static const char *filter_name(int id)
{
    static const struct {
        int id;
        const char *name;
    } names[] = {{4, "szip"},    {5, "nbit"},      {6, "scaleoffset"}, {307, "bzip2"},
                 {32000, "lzf"}, {32001, "blosc"}, {32004, "lz4"},     {32008, "bitshuffle"},
                 {32013, "zfp"}, {32015, "zstd"},  {32026, "blosc2"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].id == id)
            return names[i].name;
    return "of no name";
}

bool tw_h5_parse_filters(tw_h5 *f, tw_h5_span s, tw_h5_filters *filters)
{
    enum { FIRST_NAMED = 256 };
    const uint64_t version = tw_h5_take(&s, 1), count = tw_h5_take(&s, 1);
    *filters = (tw_h5_filters){0};
    tw_h5_skip(&s, version == 1 ? 6 : 0);
    if (version < 1 || version > 2 || count > TW_H5_MOST_FILTERS)
        return tw_h5_refuse(f, "the weights are packed with %d filters; up to %d are undone",
                            (int)count, TW_H5_MOST_FILTERS);
    for (uint64_t i = 0; i < count; i++) {
        const int id = (int)tw_h5_take(&s, 2);
        const uint64_t name_bytes = version == 1 || id >= FIRST_NAMED ? tw_h5_take(&s, 2) : 0;
        tw_h5_skip(&s, 2);
        const uint64_t values = tw_h5_take(&s, 2);
        tw_h5_skip(&s, name_bytes);
        tw_h5_span own = tw_h5_part(&s, 4 * values);
        tw_h5_skip(&s, version == 1 && values % 2 ? 4 : 0);
        if (s.cut)
            return tw_fail(f->diag, TW_CODE_FAILED, f->path, NULL,
                           "the HDF5 file is damaged: the weights' filters are cut off; save the "
                           "model again");
        if (id != DEFLATE && id != SHUFFLE && id != FLETCHER)
            return tw_h5_refuse(f,
                                "the weights are packed with HDF5 filter %d (%s); gzip, shuffle "
                                "and fletcher32 are undone",
                                id, filter_name(id));
        filters->filter[filters->count].id = id;
        filters->filter[filters->count++].value = values ? (uint32_t)tw_h5_take(&own, 4) : 0;
    }
    return true;
}

size_t tw_h5_filter_room(size_t bytes)
{
    return bytes + bytes / 64 + 4096; /* what was packed twice, with checksums between */
}

/* Two sums of 16-bit words, high bytes first, as the library computes them; files of an old version have
 * the bytes of each word changed over. */
static bool fletcher_agrees(const uint8_t *data, size_t bytes, const uint8_t *stored)
{
    enum { WORDS = 360 };
    uint32_t low = 0, high = 0;
    for (size_t at = 0; at < bytes;) {
        for (int i = 0; i < WORDS && at < bytes; i++, at += 2) {
            low += (uint32_t)data[at] << 8 | (at + 1 < bytes ? data[at + 1] : 0u);
            high += low;
        }
        low = (low & 0xffff) + (low >> 16);
        high = (high & 0xffff) + (high >> 16);
    }
    low = (low & 0xffff) + (low >> 16);
    high = (high & 0xffff) + (high >> 16);
    const uint8_t sum[] = {(uint8_t)low, (uint8_t)(low >> 8), (uint8_t)high, (uint8_t)(high >> 8)};
    const uint8_t old[] = {sum[1], sum[0], sum[3], sum[2]};
    return memcmp(sum, stored, CHECKSUM) == 0 || memcmp(old, stored, CHECKSUM) == 0;
}

/* How many bytes came out; 0 where they are no deflate stream, or more than there is room for. */
static size_t inflate_all(tw_h5_span from, uint8_t *to, size_t room)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    if (from.left > UINT32_MAX || room > UINT32_MAX || inflateInit(&z) != Z_OK)
        return 0;
    z.next_in = (Bytef *)(uintptr_t)from.at;
    z.avail_in = (uInt)from.left;
    z.next_out = to;
    z.avail_out = (uInt)room;
    const int end = inflate(&z, Z_FINISH);
    const size_t bytes = room - z.avail_out;
    inflateEnd(&z);
    return end == Z_STREAM_END ? bytes : 0;
}

/* Byte k of every element stands together; what is left over stands behind. */
static void unshuffle(tw_h5_span from, uint8_t *to, size_t each)
{
    const size_t count = from.left / each;
    for (size_t k = 0; k < each; k++)
        for (size_t i = 0; i < count; i++)
            to[i * each + k] = from.at[k * count + i];
    if (count * each < from.left)
        memcpy(to + count * each, from.at + count * each, from.left - count * each);
}

const uint8_t *tw_h5_unpack(tw_h5 *f, const tw_h5_filters *filters, uint32_t skipped,
                            tw_h5_span stored, size_t bytes, uint8_t *const work[2])
{
    const uint64_t at = (uint64_t)(stored.at - f->data);
    const size_t room = tw_h5_filter_room(bytes);
    int next = 0;
    for (int i = filters->count; i-- > 0;) {
        const uint32_t each = filters->filter[i].value;
        if (skipped >> i & 1)
            continue;
        switch (filters->filter[i].id) {
        case FLETCHER:
            if (stored.left < CHECKSUM || !fletcher_agrees(stored.at, stored.left - CHECKSUM,
                                                           stored.at + stored.left - CHECKSUM)) {
                tw_h5_damaged(f, part, at, "has another checksum than what is in it");
                return NULL;
            }
            stored.left -= CHECKSUM;
            break;
        case DEFLATE:
            stored.left = inflate_all(stored, work[next], room);
            stored.at = work[next];
            next ^= 1;
            break;
        default: /* SHUFFLE */
            if (each <= 1 || each > stored.left || stored.left > room)
                break;
            unshuffle(stored, work[next], each);
            stored.at = work[next];
            next ^= 1;
        }
    }
    if (stored.left == bytes)
        return stored.at;
    tw_h5_damaged(f, part, at, "does not unpack to what it must hold");
    return NULL;
}
