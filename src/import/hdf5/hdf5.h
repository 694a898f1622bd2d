/* A reader of HDF5 for files that nobody vouches for: bytes in; groups, attributes of text and datasets
 * of numbers out. What the file format's versions 1.1 to 3 call a superblock 0 to 3 is read, with links and
 * attributes in the old and the new form.
 *
 * Every access is checked when it is made, and counted: how much structure is looked at, and how much is
 * unpacked, is bounded by what the file has. Nothing outside of the file is ever opened. Checksums of
 * structure are not compared: what is damaged is refused where it matters. A failure leaves one message,
 * whose node is the path that was looked at, and from then on there is nothing in the file. */
#ifndef TW_IMPORT_HDF5_HDF5_H
#define TW_IMPORT_HDF5_HDF5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

#define TW_H5_MOST_RANK 32

typedef struct tw_h5 tw_h5;

/* Do the bytes begin like HDF5? 512, 1024, 2048, ... bytes of the user's own may stand in front. */
bool tw_is_h5(const void *data, size_t bytes);

/* The bytes must live as long as the file and what is read of it. Null with a message. */
tw_h5 *tw_h5_open(tw_arena *arena, const void *data, size_t bytes, tw_diag *diag);

/* Is there a group or a dataset at this path? "" is the root; names are separated by '/'. Links to other
 * files lead nowhere, with a message. A null file has nothing. */
bool tw_h5_has(tw_h5 *file, const char *path);

/* Names directly below a group, sorted: how many, in the arena. -1 where there is no such group. */
int tw_h5_children(tw_h5 *file, const char *path, const char *const **names);

/* The texts of an attribute of a group or dataset: how many, in the arena. An empty list of whatever type
 * has none. -1: there is no such attribute, or, with a message, it cannot be read. */
int tw_h5_texts(tw_h5 *file, const char *path, const char *attribute, const char *const **texts);

/* Classes of datatypes, numbered as in the file. */
typedef enum tw_h5_class {
    TW_H5_INTEGER = 0, /* booleans too: enumerations are their integers */
    TW_H5_FLOAT = 1,   /* of IEEE's layout, or bfloat16's */
    TW_H5_STRING = 3,
    TW_H5_OPAQUE = 5,
    TW_H5_ENUM = 8,
    TW_H5_VARIABLE = 9
} tw_h5_class;

typedef struct tw_h5_type {
    tw_h5_class class;
    size_t bytes; /* of an element */
    bool is_signed, is_bool, is_bfloat;
    bool big_endian;  /* in the file */
    bool is_variable; /* a string of any length */
    bool space_padded;
} tw_h5_type;

typedef struct tw_h5_dataset {
    tw_h5_type type; /* INTEGER of 1, 2, 4 or 8 bytes, FLOAT of 2, 4 or 8, or OPAQUE */
    int rank;
    uint64_t dim[TW_H5_MOST_RANK];
    uint64_t most[TW_H5_MOST_RANK]; /* what it may grow to */
    size_t bytes;                   /* of all elements */
    const struct tw_h5_object *object;
} tw_h5_dataset;

/* Look at a dataset. False with a message: it is not there, or damaged, or of a type that is not read. */
bool tw_h5_find_dataset(tw_h5 *file, const char *path, tw_h5_dataset *dataset);

/* Its elements: dense, little-endian, of no alignment; in the file itself or in the arena. Null with a
 * message. */
const void *tw_h5_read(tw_h5 *file, const char *path, const tw_h5_dataset *dataset);

#endif
