/* Which operators occur in which files of test vectors: made from src/ops/NAME.txt while the build is
 * configured. */
#ifndef TW_CLI_VECTOR_INDEX_H
#define TW_CLI_VECTOR_INDEX_H

#include <stddef.h>

typedef struct tw_vector_index_row {
    const char *operator_name, *file;
} tw_vector_index_row;

extern const tw_vector_index_row tw_vector_index[];
extern const size_t tw_vector_index_count;

#endif
