/* What operators do with random numbers: random.c. */
#ifndef TW_IMPORT_TENSORFLOW_RANDOM_H
#define TW_IMPORT_TENSORFLOW_RANDOM_H

#include "import/tensorflow/tensorflow.h"

bool tw_tf_reads_random(const tw_tf_node *n);
/* The node's result, where one of its two inputs is random; op: the IR operator that it is. */
bool tw_tf_random_binary(tw_tf_node *n, const char *op);
bool tw_tf_random_floor(tw_tf_node *n);

#endif
