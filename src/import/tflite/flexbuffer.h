/* The options of custom operators: a FlexBuffer that holds a map of numbers. */
#ifndef TW_IMPORT_TFLITE_FLEXBUFFER_H
#define TW_IMPORT_TFLITE_FLEXBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole number or boolean under `key` of the map at the root. False, and *value as it was, where
 * the bytes hold no such map, key or number. Bytes may be anything. */
bool tw_flex_int(const uint8_t *data, size_t bytes, const char *key, int64_t *value);
/* The number under `key`, whole or not. */
bool tw_flex_float(const uint8_t *data, size_t bytes, const char *key, double *value);

#endif
