/* Files: read whole and bounded, written whole or not at all. */
#ifndef TW_BASE_FILE_H
#define TW_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

/* Reads a whole file, of at most `limit` bytes, into the arena; a zero byte follows the data.
 * Memory is taken for what the file holds, never for what it claims to hold. */
bool tw_read_file(tw_arena *arena, const char *path, size_t limit, void **data, size_t *bytes,
                  tw_diag *diag);

/* Is it a plain file of more than `bytes`? */
bool tw_is_larger(const char *path, uint64_t bytes);

/* A file in place, for those too large to be read: what nobody looks at is not fetched. Another program
 * that cuts it meanwhile ends this one. */
typedef struct tw_mapped {
    void *data;
    size_t bytes;
} tw_mapped;
bool tw_map_file(const char *path, tw_mapped *mapped, tw_diag *diag);
void tw_unmap_file(tw_mapped *mapped);

/* Writes beside the file, then renames: whoever looks sees the old file or the whole new one, and a
 * failure leaves nothing behind. A device or pipe is written in place. */
bool tw_write_file_atomic(const char *path, const void *data, size_t bytes, tw_diag *diag);

/* "a/b.twir" to "a", "b.twir" to ".". */
char *tw_path_folder(tw_arena *arena, const char *path);

/* FOLDER/NAME, for a name that comes from a file which nobody vouches for: refused when it is
 * absolute, climbs with "..", leads through a link below the folder, or is not a plain file with that
 * one name: a second one (a hard link) could be of a file elsewhere, which a model has no business
 * to show. The folder itself may be reached through links. Null with a message. */
char *tw_path_inside(tw_arena *arena, const char *folder, const char *name, tw_diag *diag);

/* Bytes [offset, offset + bytes) of such a file, and how large it is. Memory is taken when they are
 * known to be there. */
bool tw_read_inside(tw_arena *arena, const char *folder, const char *name, uint64_t offset,
                    size_t bytes, void **data, uint64_t *file_bytes, tw_diag *diag);

#endif
