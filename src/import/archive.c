/* Zip archives, over libzip. Sizes are taken from the central directory, checked once when the archive
 * is opened, and what is unpacked is held to them. */
#include "import/archive.h"

#include <stdint.h>
#include <string.h>
#include <zip.h>

#include "base/map.h"

typedef struct tw_member {
    const char *name;
    size_t bytes;
    zip_uint64_t index; /* in libzip's count */
} tw_member;

struct tw_archive {
    zip_t *zip;
    tw_member *members;
    int count;
    tw_map names; /* -> tw_member */
};

static bool looks_like_zip(const void *data, size_t bytes)
{
    return bytes >= 4 && memcmp(data, "PK\x03\x04", 4) == 0;
}

static zip_t *open_bytes(const void *data, size_t bytes, zip_error_t *error)
{
    zip_source_t *source = zip_source_buffer_create(data, bytes, 0, error);
    zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY, error) : NULL;
    if (source && !zip)
        zip_source_free(source);
    return zip;
}

/* Does the name stay below the folder that it is unpacked in? */
static bool stays_inside(const char *name)
{
    if (name[0] == '/' || name[0] == '\\' || (name[0] && name[1] == ':'))
        return false;
    for (const char *part = name; part; part = strpbrk(part, "/\\")) {
        part += *part == '/' || *part == '\\';
        if (part[0] == '.' && part[1] == '.' && (!part[2] || part[2] == '/' || part[2] == '\\'))
            return false;
    }
    return true;
}

typedef struct tw_totals {
    uint64_t packed, unpacked;
} tw_totals;

static bool add_member(tw_archive *a, tw_arena *arena, const zip_stat_t *stat, tw_totals *totals,
                       tw_diag *diag)
{
    const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    if ((stat->valid & needed) != needed || !*stat->name)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the archive has a member without a name");
    if (!stays_inside(stat->name))
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                       "the archive's member '%s' lies outside of it", stat->name);
    if (stat->name[strlen(stat->name) - 1] == '/')
        return true;
    if (tw_map_get(&a->names, stat->name))
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the archive has two members called '%s'",
                       stat->name);
    if (stat->size > TW_ARCHIVE_LIMIT - totals->unpacked)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "the archive unpacks to more than %zu bytes", TW_ARCHIVE_LIMIT);
    totals->unpacked += stat->size;
    totals->packed += stat->comp_size < TW_ARCHIVE_LIMIT ? stat->comp_size : TW_ARCHIVE_LIMIT;
    tw_member *m = &a->members[a->count++];
    *m = (tw_member){tw_strdup(arena, stat->name), (size_t)stat->size, stat->index};
    tw_map_put(arena, &a->names, m->name, m);
    return true;
}

static bool list_members(tw_archive *a, tw_arena *arena, size_t bytes, tw_diag *diag)
{
    const zip_int64_t entries = zip_get_num_entries(a->zip, 0);
    tw_totals totals = {0, 0};
    if (entries < 0 || entries > TW_ARCHIVE_MEMBERS)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "the archive has %lld members; at most %d are read", (long long)entries,
                       TW_ARCHIVE_MEMBERS);
    a->members = tw_alloc_array(arena, (size_t)entries + 1, sizeof *a->members);
    for (zip_int64_t i = 0; i < entries; i++) {
        zip_stat_t stat;
        zip_stat_init(&stat);
        if (zip_stat_index(a->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW, &stat) != 0)
            return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                           "the archive's list of members is damaged: %s", zip_strerror(a->zip));
        if (!add_member(a, arena, &stat, &totals, diag))
            return false;
    }
    /* Members that share their bytes are how a small archive unpacks to a large one. */
    if (totals.packed > bytes)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                       "the archive's members are said to take %llu bytes of the %zu that it has; "
                       "they overlap or are cut off",
                       (unsigned long long)totals.packed, bytes);
    if (totals.unpacked > TW_ARCHIVE_FREE &&
        (totals.unpacked - TW_ARCHIVE_FREE) / TW_ARCHIVE_RATIO > bytes)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "the archive's %zu bytes unpack to %llu, more than %d times as many; no "
                       "model does",
                       bytes, (unsigned long long)totals.unpacked, TW_ARCHIVE_RATIO);
    return true;
}

tw_archive *tw_archive_open(tw_arena *arena, const void *data, size_t bytes, tw_diag *diag)
{
    tw_archive *a = tw_alloc(arena, sizeof *a);
    zip_error_t error;
    zip_error_init(&error);
    a->zip = open_bytes(data, bytes, &error);
    if (!a->zip)
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the zip archive cannot be read: %s",
                zip_error_strerror(&error));
    zip_error_fini(&error);
    if (a->zip && !list_members(a, arena, bytes, diag)) {
        tw_archive_close(a);
        return NULL;
    }
    return a->zip ? a : NULL;
}

void tw_archive_close(tw_archive *archive)
{
    if (archive && archive->zip)
        zip_discard(archive->zip);
    if (archive)
        archive->zip = NULL;
}

int tw_archive_count(const tw_archive *archive)
{
    return archive->count;
}

const char *tw_archive_name(const tw_archive *archive, int member)
{
    return archive->members[member].name;
}

size_t tw_archive_bytes(const tw_archive *archive, int member)
{
    return archive->members[member].bytes;
}

int tw_archive_find(const tw_archive *archive, const char *name)
{
    const tw_member *m = tw_map_get(&archive->names, name);
    return m ? (int)(m - archive->members) : -1;
}

/* How many characters stand before the name where it ends in FOLDER/end or is `end`; -1: it does not. */
static int64_t characters_before(const char *name, const char *end)
{
    const size_t length = strlen(name), tail = strlen(end);
    if (length < tail || strcmp(name + length - tail, end) != 0)
        return -1;
    const size_t before = length - tail;
    return before == 0 || name[before - 1] == '/' ? (int64_t)before : -1;
}

int tw_archive_find_below(const tw_archive *archive, const char *name, size_t *root)
{
    for (int i = 0; i < archive->count; i++) {
        const int64_t before = characters_before(archive->members[i].name, name);
        if (before < 0)
            continue;
        if (root)
            *root = (size_t)before;
        return i;
    }
    return -1;
}

bool tw_archive_read(tw_archive *archive, tw_arena *arena, int member, void **data, size_t *bytes,
                     tw_diag *diag)
{
    const tw_member *m = &archive->members[member];
    zip_file_t *file = zip_fopen_index(archive->zip, m->index, 0);
    if (!file)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                       "the archive's member '%s' cannot be read: %s", m->name,
                       zip_strerror(archive->zip));
    uint8_t *to = tw_alloc(arena, m->bytes + 1);
    size_t done = 0;
    zip_int64_t got = 1;
    while (done < m->bytes && got > 0) {
        got = zip_fread(file, to + done, m->bytes - done);
        done += got > 0 ? (size_t)got : 0;
    }
    /* The checksum is compared when the end is reached. */
    uint8_t more;
    const bool whole = done == m->bytes && got >= 0 && zip_fread(file, &more, 1) == 0;
    if (!whole)
        tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "the archive's member '%s' is damaged: %s",
                m->name,
                zip_error_code_zip(zip_file_get_error(file)) != ZIP_ER_OK
                    ? zip_error_strerror(zip_file_get_error(file))
                    : "it has another size than the archive says");
    zip_fclose(file);
    *data = to;
    *bytes = m->bytes;
    return whole;
}

bool tw_is_archive_with(const void *data, size_t bytes, const char *name, bool anywhere)
{
    zip_error_t error;
    bool found = false;
    if (!looks_like_zip(data, bytes))
        return false;
    zip_error_init(&error);
    zip_t *zip = open_bytes(data, bytes, &error);
    zip_error_fini(&error);
    const zip_int64_t entries = zip ? zip_get_num_entries(zip, 0) : 0;
    for (zip_int64_t i = 0; i < entries && !found; i++) {
        const char *member = zip_get_name(zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        found =
            member && (anywhere ? characters_before(member, name) >= 0 : strcmp(member, name) == 0);
    }
    if (zip)
        zip_discard(zip);
    return found;
}
