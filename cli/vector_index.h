/* Which operators are named in which test data: made while the build is configured. Names of the IR as
 * they are, of others SYSTEM.NAME; of TensorFlow Lite, the names of models of one operator. */
#ifndef TW_CLI_VECTOR_INDEX_H
#define TW_CLI_VECTOR_INDEX_H

#include <stddef.h>

typedef struct tw_vector_index_row {
    const char *operator_name, *file;
} tw_vector_index_row;

extern const tw_vector_index_row tw_vector_index[];
extern const size_t tw_vector_index_count;

#endif
