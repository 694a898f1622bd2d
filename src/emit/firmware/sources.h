/* The sources that a firmware is made of, as the build put them into the command: derived from the
 * tree by cmake/firmware.cmake, nothing by hand. */
#ifndef TW_EMIT_FIRMWARE_SOURCES_H
#define TW_EMIT_FIRMWARE_SOURCES_H

#include <stddef.h>

/* A file of the tree: device sources and headers, and the templates of this folder. */
typedef struct tw_firmware_file {
    const char *path; /* from the project's root */
    const char *text;
    size_t bytes;
} tw_firmware_file;

extern const tw_firmware_file tw_firmware_files[];
extern const int tw_firmware_file_count;

/* A device source and its external symbols, " name name " each: what linking it needs. */
typedef struct tw_firmware_object {
    const char *path;
    const char *defines, *needs;
} tw_firmware_object;

extern const tw_firmware_object tw_firmware_objects[];
extern const int tw_firmware_object_count;

#endif
