/* The vocabularies: their ledgers as tables, and names looked up in them. */
#include <stdio.h>
#include <string.h>

#include "import/foreign/foreign.h"

#define ROW(prefix, Name, function, least_in, most_in, outs, parameters, becomes, types, limits)   \
    {#Name, tw_##prefix##_##function, least_in, most_in, outs, parameters, becomes, types, limits},

#define TW_MOBILINT(Name, function, ...) bool tw_mobilint_##function(tw_foreign_node *node);
#include "import/foreign/mobilint.def"

static const tw_foreign_row mobilint[] = {
#define TW_MOBILINT(...) ROW(mobilint, __VA_ARGS__)
#include "import/foreign/mobilint.def"
};

#define TW_QTI_AISW(Name, function, ...) bool tw_qti_aisw_##function(tw_foreign_node *node);
#include "import/foreign/qti_aisw.def"

static const tw_foreign_row qti_aisw[] = {
#define TW_QTI_AISW(...) ROW(qti_aisw, __VA_ARGS__)
#include "import/foreign/qti_aisw.def"
};

#define TW_TIGRIS(Name, function, ...) bool tw_tigris_##function(tw_foreign_node *node);
#include "import/foreign/tigris.def"

static const tw_foreign_row tigris[] = {
#define TW_TIGRIS(...) ROW(tigris, __VA_ARGS__)
#include "import/foreign/tigris.def"
};

#define TABLE(rows) rows, (int)(sizeof rows / sizeof *rows)

static const tw_vocabulary vocabularies[] = {
    {"mobilint", TABLE(mobilint), false, "half_even"},
    {"qti_aisw", TABLE(qti_aisw), true, "half_even"},
    {"tigris", TABLE(tigris), false, "tflite"},
};
enum { VOCABULARIES = sizeof vocabularies / sizeof *vocabularies };

const tw_vocabulary *tw_vocabulary_at(int index)
{
    return index >= 0 && index < VOCABULARIES ? &vocabularies[index] : NULL;
}

const tw_vocabulary *tw_vocabulary_by_name(const char *name, size_t bytes)
{
    for (int i = 0; i < VOCABULARIES; i++)
        if (strlen(vocabularies[i].name) == bytes && memcmp(vocabularies[i].name, name, bytes) == 0)
            return &vocabularies[i];
    return NULL;
}

static bool is_name(const char *name, const char *other, bool any_case)
{
    for (; *name && *other; name++, other++) {
        int differ = *name ^ *other;
        if (differ && !(any_case && differ == 32))
            return false;
    }
    return !*name && !*other;
}

const tw_foreign_row *tw_foreign_find(const tw_vocabulary *vocabulary, const char *name)
{
    for (int i = 0; i < vocabulary->count; i++)
        if (is_name(vocabulary->rows[i].name, name, vocabulary->any_case))
            return &vocabulary->rows[i];
    return NULL;
}

void tw_vocabulary_names(char *text, size_t bytes)
{
    size_t at = 0;
    for (int i = 0; i < VOCABULARIES && at < bytes; i++)
        at += (size_t)snprintf(text + at, bytes - at, "%s%s", at ? ", " : "", vocabularies[i].name);
}
