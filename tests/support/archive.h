/* Test data that is kept packed: found under TILEWRIGHT_TEST_DATA, or ../shared/data beside the source
 * tree, and unpacked once below the build folder. */
#ifndef TW_TESTS_SUPPORT_ARCHIVE_H
#define TW_TESTS_SUPPORT_ARCHIVE_H

/* The folder with the contents of `archive` (a path below the data folder; .tar.xz), or null, having
 * said on stderr why there is none; the caller then skips. */
const char *tw_test_unpacked(const char *archive);

#endif
