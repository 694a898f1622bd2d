/* Unpacking test data: archive.h. */
#include "support/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TW_TEST_WORK
#define TW_TEST_WORK "build/work"
#endif

static int exists(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0;
}

/* Unpack beside the final place and rename: other test programs may be doing the same. */
static int unpack(const char *archive, const char *folder)
{
    char command[8192], own[2048];
    snprintf(own, sizeof own, "%s.%ld", folder, (long)getpid());
    snprintf(command, sizeof command, "mkdir -p '%s' && tar -xJf '%s' -C '%s'", own, archive, own);
    if (strchr(archive, '\'') || system(command) != 0)
        return 0;
    if (rename(own, folder) != 0) {
        snprintf(command, sizeof command, "rm -rf '%s'", own);
        if (system(command) != 0)
            return 0;
    }
    return exists(folder);
}

const char *tw_test_unpacked(const char *archive)
{
    static char folder[1024];
    const char *data = getenv("TILEWRIGHT_TEST_DATA"), *name = strrchr(archive, '/');
    char path[2048];
    name = name ? name + 1 : archive;
    snprintf(path, sizeof path, "%s/%s", data ? data : "../shared/data", archive);
    const char *end = strstr(name, ".tar");
    snprintf(folder, sizeof folder, "%s/%.*s", TW_TEST_WORK,
             (int)(end ? end - name : (long)strlen(name)), name);
    if (exists(folder))
        return folder;
    if (!exists(path))
        fprintf(stderr,
                "SKIPPED: %s is not there; set TILEWRIGHT_TEST_DATA to the folder that has it\n",
                path);
    else if (!unpack(path, folder))
        fprintf(stderr, "SKIPPED: %s cannot be unpacked (are tar and xz installed?)\n", path);
    else
        return folder;
    return NULL;
}
