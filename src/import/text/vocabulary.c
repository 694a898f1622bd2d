/* The vocabularies that the text IR knows: one row each. */
#include "import/text/vocabulary.h"

#include <stdio.h>
#include <string.h>

static const tw_vocabulary *const vocabularies[] = {
    NULL /* ends the table */
};

const tw_vocabulary *tw_vocabulary_by_name(const char *name, size_t bytes)
{
    for (const tw_vocabulary *const *v = vocabularies; *v; v++)
        if (strlen((*v)->name) == bytes && memcmp((*v)->name, name, bytes) == 0)
            return *v;
    return NULL;
}

void tw_vocabulary_names(char *text, size_t bytes)
{
    size_t at = 0;
    snprintf(text, bytes, "none");
    for (const tw_vocabulary *const *v = vocabularies; *v && at < bytes; v++)
        at += (size_t)snprintf(text + at, bytes - at, "%s%s", at ? ", " : "", (*v)->name);
}
