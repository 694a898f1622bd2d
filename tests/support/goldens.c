/* The kernel goldens of CMSIS-NN: goldens.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/archive.h"
#include "support/goldens.h"

static const char *unpacked;

bool tw_goldens_present(void)
{
    unpacked = tw_test_unpacked("kernel-goldens/cmsis-nn-99f736a.tar.xz");
    return unpacked != NULL;
}

static void *read_all(tw_arena *arena, const char *path, int64_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *bytes = ftell(file);
    rewind(file);
    char *data = tw_alloc(arena, (size_t)*bytes + 1);
    bool ok = fread(data, 1, (size_t)*bytes, file) == (size_t)*bytes;
    fclose(file);
    return ok ? data : NULL;
}

/* The k-th tab-separated field of a line, copied; null behind the last. */
static char *field(tw_arena *arena, const char *line, int k)
{
    size_t length = strcspn(line, "\t\n");
    for (; k > 0; k--) {
        if (line[length] != '\t')
            return NULL;
        line += length + 1;
        length = strcspn(line, "\t\n");
    }
    return tw_strndup(arena, line, length);
}

static const char *next_line(const char *line)
{
    line = strchr(line, '\n');
    return line && line[1] ? line + 1 : NULL;
}

const char **tw_goldens_list(tw_arena *arena, const char *op, const char *dtype)
{
    int count = 0, capacity = 0;
    int64_t bytes = 0;
    const char **names = NULL;
    const char *line = read_all(arena, tw_format(arena, "%s/cmsis/INDEX.tsv", unpacked), &bytes);
    for (; line; line = next_line(line)) {
        const char *its_op = field(arena, line, 1), *its_dtype = field(arena, line, 2);
        if (its_op && its_dtype && strcmp(its_op, op) == 0 && strcmp(its_dtype, dtype) == 0) {
            tw_grow(arena, &names, count, &capacity, sizeof *names);
            names[count++] = field(arena, line, 0);
        }
    }
    tw_grow(arena, &names, count, &capacity, sizeof *names);
    names[count] = NULL;
    return names;
}

bool tw_golden_open(tw_arena *arena, const char *name, tw_golden *golden)
{
    int64_t bytes = 0;
    golden->arena = arena;
    golden->folder = tw_format(arena, "%s/cmsis/%s", unpacked, name);
    golden->config = read_all(arena, tw_format(arena, "%s/config.tsv", golden->folder), &bytes);
    return golden->config != NULL;
}

const char *tw_golden_text(const tw_golden *golden, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = golden->config; line; line = next_line(line))
        if (strncmp(line, key, length) == 0 && line[length] == '\t')
            return field(golden->arena, line, 1);
    return NULL;
}

double tw_golden_item(const tw_golden *golden, const char *key, int i, double otherwise)
{
    const char *text = tw_golden_text(golden, key);
    for (; text && i > 0; i--) {
        text = strchr(text, ',');
        text = text ? text + 1 : NULL;
    }
    return text ? strtod(text, NULL) : otherwise;
}

double tw_golden_number(const tw_golden *golden, const char *key, double otherwise)
{
    return tw_golden_item(golden, key, 0, otherwise);
}

static int bits_of(const char *dtype)
{
    static const char *const names[] = {"int4", "int8", "int16", "int32", "f32", "int64"};
    static const int bits[] = {4, 8, 16, 32, 32, 64};
    for (int i = 0; i < 6; i++)
        if (strcmp(dtype, names[i]) == 0)
            return bits[i];
    return 0;
}

const void *tw_golden_array(const tw_golden *golden, const char *name, const char *dtype,
                            int64_t *count)
{
    tw_arena *arena = golden->arena;
    *count = 0;
    for (const char *line = golden->config; line; line = next_line(line)) {
        const char *kind = field(arena, line, 0), *its_name = field(arena, line, 1);
        const char *its_dtype = field(arena, line, 2), *n = field(arena, line, 3);
        const char *file = field(arena, line, 4);
        if (strcmp(kind, "array") != 0 || !file || strcmp(its_name, name) != 0)
            continue;
        int64_t bytes = 0, elements = strtoll(n, NULL, 10);
        const uint8_t *data =
            read_all(arena, tw_format(arena, "%s/%s", golden->folder, file), &bytes);
        if (!data || strcmp(its_dtype, dtype) != 0 || bytes != (elements * bits_of(dtype) + 7) / 8)
            return NULL;
        *count = elements;
        if (bits_of(dtype) != 4)
            return data;
        int8_t *wide = tw_alloc(arena, (size_t)elements + 1);
        for (int64_t i = 0; i < elements; i++) {
            int nibble = data[i / 2] >> (i % 2 ? 4 : 0) & 15;
            wide[i] = (int8_t)(nibble < 8 ? nibble : nibble - 16);
        }
        return wide;
    }
    return NULL;
}
