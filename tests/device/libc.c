/* The C library as far as the runtime uses it, for firmware that has none. Compiled without the
 * optimisation that would turn these loops into calls of themselves. */
#include <stddef.h>
#include <stdint.h>

typedef uint32_t __attribute__((may_alias)) tw_word;

/* Four words at a time where both ends allow it, as C libraries do it. memmove counts on each four being
 * read before they are written. */
void *memcpy(void *destination, const void *source, size_t bytes)
{
    uint8_t *to = destination;
    const uint8_t *from = source;
    if ((((uintptr_t)to | (uintptr_t)from) & 3u) == 0)
        for (; bytes >= 16; bytes -= 16, to += 16, from += 16) {
            const tw_word *in = (const void *)from;
            tw_word *out = (void *)to;
            const tw_word a = in[0], b = in[1], c = in[2], d = in[3];
            out[0] = a;
            out[1] = b;
            out[2] = c;
            out[3] = d;
        }
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
