/* Datatypes and extents. In: the body of a message, or a part of an attribute. Out: what an element is, and
 * how many there are. */
#include <stdio.h>
#include <string.h>

#include "import/hdf5/file.h"

enum { MOST_MEMBERS = 1 << 12 };

const char *tw_h5_class_name(int class)
{
    static const char *const names[] = {"integer",     "floating-point",  "time",     "string",
                                        "bitfield",    "opaque",          "compound", "reference",
                                        "enumeration", "variable-length", "array",    "complex"};
    return class >= 0 && class < (int)(sizeof names / sizeof *names) ? names[class] : "unknown";
}

typedef struct head {
    int version, class;
    uint32_t flags;
} head;

static head take_head(tw_h5_span *s, tw_h5_type *type)
{
    const uint64_t first = tw_h5_take(s, 1);
    const head h = {(int)(first >> 4), (int)(first & 15), (uint32_t)tw_h5_take(s, 3)};
    *type = (tw_h5_type){.class = (tw_h5_class)h.class, .bytes = (size_t)tw_h5_take(s, 4)};
    return h;
}

/* All bits are the number's. */
static bool parse_integer(tw_h5 *f, tw_h5_span *s, head h, tw_h5_type *type)
{
    enum { BIG_ENDIAN_BIT = 1, SIGNED = 8 };
    const uint64_t offset = tw_h5_take(s, 2), precision = tw_h5_take(s, 2);
    type->big_endian = h.flags & BIG_ENDIAN_BIT;
    type->is_signed = h.flags & SIGNED;
    if (!s->cut && (offset != 0 || precision != 8 * type->bytes))
        return tw_h5_refuse(f, "integers of %d bits in %zu bytes; whole bytes are read",
                            (int)precision, type->bytes);
    return true;
}

/* Sign, exponent and mantissa as IEEE has them, or bfloat16. */
static bool parse_float(tw_h5 *f, tw_h5_span *s, head h, tw_h5_type *type)
{
    enum { LOW_ORDER = 1, HIGH_ORDER = 64, IMPLIED = 2, NORMAL = 4 };
    static const struct {
        size_t bytes;
        int exponent, mantissa;
        bool is_bfloat;
    } known[] = {{2, 5, 10, false}, {2, 8, 7, true}, {4, 8, 23, false}, {8, 11, 52, false}};
    const uint64_t offset = tw_h5_take(s, 2), precision = tw_h5_take(s, 2);
    const uint64_t exponent_at = tw_h5_take(s, 1), exponent = tw_h5_take(s, 1);
    const uint64_t mantissa_at = tw_h5_take(s, 1), mantissa = tw_h5_take(s, 1);
    const uint64_t bias = tw_h5_take(s, 4), sign_at = h.flags >> 8 & 255;
    type->is_signed = true;
    type->big_endian = h.flags & LOW_ORDER;
    for (size_t i = 0; i < sizeof known / sizeof *known && !(h.flags & HIGH_ORDER); i++)
        if (type->bytes == known[i].bytes && offset == 0 && precision == 8 * type->bytes &&
            mantissa_at == 0 && mantissa == (uint64_t)known[i].mantissa &&
            exponent_at == mantissa && exponent == (uint64_t)known[i].exponent &&
            sign_at == precision - 1 && bias == (UINT64_C(1) << (exponent - 1)) - 1 &&
            (h.flags >> NORMAL & 3) == IMPLIED) {
            type->is_bfloat = known[i].is_bfloat;
            return true;
        }
    return s->cut ||
           tw_h5_refuse(f,
                        "floating-point numbers of %zu bytes with %d bits of exponent; float16, "
                        "bfloat16, float32 and float64 are read",
                        type->bytes, (int)exponent);
}

/* Names and values. FALSE and TRUE, as 0 and 1, are how Python's booleans are stored. */
static bool parse_enum(tw_h5 *f, tw_h5_span *s, head h, tw_h5_type *type)
{
    const uint32_t members = h.flags & 0xffff;
    const size_t bytes = type->bytes;
    const head base = take_head(s, type);
    bool is_bool = members == 2 && bytes == 1;
    if (s->cut || base.class != TW_H5_INTEGER || type->bytes != bytes || members > MOST_MEMBERS)
        return tw_h5_refuse(f, "an enumeration of %s values; integers are read",
                            tw_h5_class_name(base.class));
    if (!parse_integer(f, s, base, type))
        return false;
    static const char *const words[] = {"FALSE", "TRUE"};
    for (uint32_t i = 0; i < members && !s->cut; i++) {
        const uint8_t *end = s->left ? memchr(s->at, 0, s->left) : NULL;
        const uint64_t length = end ? (uint64_t)(end - s->at) : s->left;
        is_bool = is_bool && end && strcmp((const char *)s->at, words[i]) == 0;
        tw_h5_skip(s, h.version < 3 ? (length + 8) / 8 * 8 : length + 1);
    }
    for (uint32_t i = 0; i < members && is_bool; i++)
        is_bool = tw_h5_take(s, 1) == i;
    type->is_bool = is_bool;
    return true;
}

static bool parse_variable(tw_h5 *f, head h, tw_h5_type *type)
{
    enum { STRING = 1 };
    if ((h.flags & 15) != STRING || type->bytes != 8 + (size_t)f->address_bytes)
        return true; /* lists: refused where they are met */
    type->class = TW_H5_STRING;
    type->is_variable = true;
    return true;
}

bool tw_h5_parse_type(tw_h5 *f, tw_h5_span s, tw_h5_type *type)
{
    enum { SPACES = 2 };
    const head h = take_head(&s, type);
    bool ok = true;
    if (h.class == TW_H5_INTEGER)
        ok = parse_integer(f, &s, h, type);
    else if (h.class == TW_H5_FLOAT)
        ok = parse_float(f, &s, h, type);
    else if (h.class == TW_H5_STRING)
        type->space_padded = (h.flags & 15) == SPACES;
    else if (h.class == TW_H5_ENUM)
        ok = parse_enum(f, &s, h, type);
    else if (h.class == TW_H5_VARIABLE)
        ok = parse_variable(f, h, type);
    if (ok && (s.cut || h.version < 1 || type->bytes == 0))
        return tw_fail(f->diag, TW_CODE_FAILED, *f->path ? f->path : "/", NULL,
                       "the HDF5 file is damaged: a datatype is cut off; save the model again");
    return ok;
}

bool tw_h5_parse_extents(tw_h5 *f, tw_h5_span s, tw_h5_extents *extents)
{
    enum { NOTHING = 2, MOST_BITS = 48 };
    *extents = (tw_h5_extents){.count = 1};
    const uint64_t version = tw_h5_take(&s, 1), rank = tw_h5_take(&s, 1);
    const bool grows = tw_h5_take(&s, 1) & 1;
    const uint64_t kind = tw_h5_take(&s, 1);
    tw_h5_skip(&s, version == 1 ? 4 : 0);
    bool fits = !s.cut && (version == 1 || version == 2) && rank <= TW_H5_MOST_RANK;
    bool empty = version == 2 && kind == NOTHING;
    for (uint64_t i = 0; fits && i < rank; i++) {
        extents->dim[i] = tw_h5_take_length(f, &s);
        empty = empty || extents->dim[i] == 0;
    }
    for (uint64_t i = 0; fits && i < rank; i++)
        extents->most[i] = grows ? tw_h5_take_length(f, &s) : extents->dim[i];
    extents->rank = fits ? (int)rank : 0;
    for (int i = 0; i < extents->rank && !empty && fits; i++) {
        fits = extents->dim[i] <= (UINT64_C(1) << MOST_BITS) / extents->count;
        extents->count *= fits ? extents->dim[i] : 1;
    }
    if (empty)
        extents->count = 0;
    return (fits && !s.cut) ||
           tw_fail(f->diag, TW_CODE_FAILED, *f->path ? f->path : "/", NULL,
                   "the HDF5 file is damaged: extents of more elements than any file holds; save "
                   "the model again");
}
