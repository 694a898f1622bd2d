/* SHA-256 by libmd. */
#include "base/sha256.h"

#include <sys/types.h>

#include <sha2.h>
#include <stdio.h>

bool tw_sha256_file(const char *path, uint8_t digest[32], tw_diag *diag)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "cannot be opened; check the path");
    SHA2_CTX context;
    uint8_t chunk[65536];
    size_t n;
    SHA256Init(&context);
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0)
        SHA256Update(&context, chunk, n);
    bool ok = !ferror(file);
    fclose(file);
    SHA256Final(digest, &context);
    return ok ? true : tw_fail(diag, TW_CODE_FAILED, NULL, NULL, "cannot be read to its end");
}
