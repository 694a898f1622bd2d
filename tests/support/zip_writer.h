/* Zip archives for tests, honest or not: every field that a reader might believe can be set. */
#ifndef TW_TESTS_SUPPORT_ZIP_WRITER_H
#define TW_TESTS_SUPPORT_ZIP_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { TW_TEST_ZIP_ENTRIES = 256 };

typedef struct tw_test_zip {
    tw_arena *arena;
    uint8_t *data;
    size_t bytes, room;
    int count;
    struct {
        const char *name;
        uint32_t offset, packed, said, checksum; /* said: the size unpacked */
        bool deflated;
    } entries[TW_TEST_ZIP_ENTRIES];
} tw_test_zip;

void tw_test_zip_begin(tw_test_zip *zip, tw_arena *arena);
void tw_test_zip_add(tw_test_zip *zip, const char *name, const void *data, size_t bytes,
                     bool deflate);
/* Another entry of the directory for the bytes of the latest member. */
void tw_test_zip_again(tw_test_zip *zip, const char *name);
/* Writes the directory, as the entries have it now. */
void tw_test_zip_end(tw_test_zip *zip);

#endif
