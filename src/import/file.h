/* Files read whole, with a bound. */
#ifndef TW_IMPORT_FILE_H
#define TW_IMPORT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

typedef struct tw_file {
    const uint8_t *data; /* in the arena; aligned to 16 */
    size_t bytes;
} tw_file;

/* Read a file, pipes included. Fails for a folder, an unreadable file and one of more than `limit`
 * bytes, and then names the file in diag->file. Memory grows with what was read, never with what a
 * file claims. */
bool tw_file_read(tw_arena *arena, const char *path, size_t limit, tw_file *file, tw_diag *diag);

/* Does the path end in `suffix` (".npy"; upper and lower case are the same)? */
bool tw_file_has_suffix(const char *path, const char *suffix);

#endif
