/* A folder in the making: files in memory, written together. */
#ifndef TW_EMIT_FIRMWARE_TREE_H
#define TW_EMIT_FIRMWARE_TREE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"

typedef struct tw_tree_file {
    const char *path; /* from the folder */
    const void *data;
    size_t bytes;
} tw_tree_file;

typedef struct tw_tree {
    tw_arena *arena;
    tw_tree_file *files;
    int count, capacity;
} tw_tree;

/* The data is not copied. A path that is there already keeps its first content. */
void tw_tree_add(tw_tree *tree, const char *path, const void *data, size_t bytes);

/* Write all files, and a list of them with their checksums, TW_TREE_LIST. Files of an earlier list that
 * are no longer made are removed; a file that is in the way and not as the list says is refused before
 * anything is written. Files that are right already stay untouched. */
#define TW_TREE_LIST "tilewright.files"
bool tw_tree_write(tw_tree *tree, const char *folder, tw_diag *diag);

#endif
