/* The kernel goldens of CMSIS-NN (kernel-goldens/cmsis-nn-99f736a.tar.xz): constants and raw arrays, a
 * folder a fixture. Found under TILEWRIGHT_TEST_DATA, or ../shared/data beside the source tree, and
 * unpacked once below the build folder. */
#ifndef TW_TESTS_SUPPORT_GOLDENS_H
#define TW_TESTS_SUPPORT_GOLDENS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct tw_golden {
    tw_arena *arena;
    const char *folder;
    const char *config; /* config.tsv as text */
} tw_golden;

/* Are they there? Says on stderr why not; the caller then skips (in cmocka: skip()). */
bool tw_goldens_present(void);

/* Names of the fixtures with this operator and type ("conv", "int8") as INDEX.tsv has them; null
 * ends the list. */
const char **tw_goldens_list(tw_arena *arena, const char *op, const char *dtype);

/* Open a fixture; false when there is none of that name. */
bool tw_golden_open(tw_arena *arena, const char *name, tw_golden *golden);

/* A constant as text, null when absent; as a number, `otherwise` when absent; the i-th of a
 * comma-separated list. */
const char *tw_golden_text(const tw_golden *golden, const char *key);
double tw_golden_number(const tw_golden *golden, const char *key, double otherwise);
double tw_golden_item(const tw_golden *golden, const char *key, int i, double otherwise);

/* An array and its element count; null (and 0) when absent. int4 is unpacked to int8. The type
 * must be the one asked for: "int8", "int16", "int32", "int64", "f32", "int4". */
const void *tw_golden_array(const tw_golden *golden, const char *name, const char *dtype,
                            int64_t *count);

#endif
