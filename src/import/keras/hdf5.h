/* What Keras keeps in HDF5: groups, attributes of text, tensors of numbers. The file is in memory, and
 * libhdf5 is never given a reason to open another: links that leave the file, virtual and external
 * storage and filters from outside are refused before anything is read through them. Sizes are checked
 * against what the file can hold before memory is taken. */
#ifndef TW_IMPORT_KERAS_HDF5_H
#define TW_IMPORT_KERAS_HDF5_H

#include "graph/graph.h"

#define TW_H5_SIGNATURE "\x89HDF\r\n\x1a\n"

typedef struct tw_h5 tw_h5;

/* Null with a message. The bytes are copied. */
tw_h5 *tw_h5_open(tw_arena *arena, const void *data, size_t bytes, tw_diag *diag);
void tw_h5_close(tw_h5 *file); /* null is allowed */

/* Is there a group or a dataset at this path? "" is the root; names are separated by '/'. A
 * null file has nothing. */
bool tw_h5_has(tw_h5 *file, const char *path);
/* Names directly below a group: how many, in the arena. -1 where there is no such group. */
int tw_h5_children(tw_h5 *file, const char *path, const char *const **names);

/* The text attribute of a group, in one piece or, where that is not there, in pieces NAME0, NAME1, ...
 * Null without a message where there is none; null with one where it is damaged. */
const char *tw_h5_text(tw_h5 *file, const char *path, const char *attribute);
/* A list of texts, kept the same way. Count -1: not there, or damaged (with a message). */
int tw_h5_texts(tw_h5 *file, const char *path, const char *attribute, const char *const **texts);

/* A dataset's type and extents: numbers of a type we have. False with a message. */
bool tw_h5_shape(tw_h5 *file, const char *path, tw_shape *shape);
/* Its elements, dense and little-endian, in the arena. f16, bf16 and f64 come as f32 (`shape` says so).
 * Null with a message. */
const void *tw_h5_data(tw_h5 *file, const char *path, tw_shape *shape);

#endif
