/* The C library as far as the runtime uses it, for firmware that has none. Compiled without the
 * optimisation that would turn these loops into calls of themselves. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *destination, const void *source, size_t bytes)
{
    uint8_t *to = destination;
    const uint8_t *from = source;
    for (size_t i = 0; i < bytes; i++)
        to[i] = from[i];
    return destination;
}

void *memmove(void *destination, const void *source, size_t bytes)
{
    uint8_t *to = destination;
    const uint8_t *from = source;
    if (to <= from)
        return memcpy(destination, source, bytes);
    for (size_t i = bytes; i > 0; i--)
        to[i - 1] = from[i - 1];
    return destination;
}

void *memset(void *destination, int value, size_t bytes)
{
    uint8_t *to = destination;
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)value;
    return destination;
}

int memcmp(const void *left, const void *right, size_t bytes)
{
    const uint8_t *a = left, *b = right;
    for (size_t i = 0; i < bytes; i++)
        if (a[i] != b[i])
            return a[i] - b[i];
    return 0;
}
