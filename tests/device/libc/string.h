/* Of <string.h> what code for boards without a C library may use: libc.c has it. */
#ifndef TW_TESTS_DEVICE_STRING_H
#define TW_TESTS_DEVICE_STRING_H

#include <stddef.h>

void *memcpy(void *destination, const void *source, size_t bytes);
void *memmove(void *destination, const void *source, size_t bytes);
void *memset(void *destination, int value, size_t bytes);
int memcmp(const void *left, const void *right, size_t bytes);

#endif
