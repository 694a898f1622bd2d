/* SHA-256 of a file, which names the model a plan was made from. */
#ifndef TW_BASE_SHA256_H
#define TW_BASE_SHA256_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

bool tw_sha256_file(const char *path, uint8_t digest[32], tw_diag *diag);

#endif
