/* A zip archive held in memory: what PyTorch and Keras keep their models in. Nothing in it is trusted:
 * names stay inside, none comes twice, and no member unpacks to more than a model may hold. */
#ifndef TW_IMPORT_ARCHIVE_H
#define TW_IMPORT_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"

/* All members together: at most this many bytes unpacked, and, beyond the first TW_ARCHIVE_FREE bytes,
 * at most TW_ARCHIVE_RATIO times what the archive itself has. */
#define TW_ARCHIVE_LIMIT ((size_t)INT32_MAX)
#define TW_ARCHIVE_FREE ((size_t)16 << 20)
#define TW_ARCHIVE_RATIO 100
#define TW_ARCHIVE_MEMBERS 100000

typedef struct tw_archive tw_archive;

/* The archive in these bytes, which must live as long as it does. Null with a message. */
tw_archive *tw_archive_open(tw_arena *arena, const void *data, size_t bytes, tw_diag *diag);
void tw_archive_close(tw_archive *archive); /* null is allowed */

/* Members by position, in the archive's order; folders have no entries. */
int tw_archive_count(const tw_archive *archive);
const char *tw_archive_name(const tw_archive *archive, int member);
size_t tw_archive_bytes(const tw_archive *archive, int member); /* unpacked */

/* The member of that name, or -1. */
int tw_archive_find(const tw_archive *archive, const char *name);
/* The first member called FOLDER/name for whatever folder, or just name; -1 where there is none. The
 * folders in front, the slash included, are `*root` characters (may be null). */
int tw_archive_find_below(const tw_archive *archive, const char *name, size_t *root);

/* The member unpacked into the arena, with a zero byte behind it. False with a message. */
bool tw_archive_read(tw_archive *archive, tw_arena *arena, int member, void **data, size_t *bytes,
                     tw_diag *diag);

/* Is this a zip archive with a member called `name`, in whatever folder (`anywhere`) or in none? For
 * telling formats apart: damage is left for the import to report. */
bool tw_is_archive_with(const void *data, size_t bytes, const char *name, bool anywhere);

#endif
