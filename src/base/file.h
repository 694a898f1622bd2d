/* Files: read whole and bounded, written whole or not at all. */
#ifndef TW_BASE_FILE_H
#define TW_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"

/* Reads a whole file, of at most `limit` bytes, into the arena; a zero byte follows the data.
 * Memory is taken for what the file holds, never for what it claims to hold. */
bool tw_read_file(tw_arena *arena, const char *path, size_t limit, void **data, size_t *bytes,
                  tw_diag *diag);

/* Writes beside the file, then renames: whoever looks sees the old file or the whole new one, and a
 * failure leaves nothing behind. A device or pipe is written in place. */
bool tw_write_file_atomic(const char *path, const void *data, size_t bytes, tw_diag *diag);

/* "a/b.twir" to "a", "b.twir" to ".". */
char *tw_path_folder(tw_arena *arena, const char *path);

/* FOLDER/NAME, for a name that comes from a file which nobody vouches for: refused when it is
 * absolute, climbs with "..", leads out of the folder through a link, or is not a plain file. Null
 * with a message. */
char *tw_path_inside(tw_arena *arena, const char *folder, const char *name, tw_diag *diag);

#endif
