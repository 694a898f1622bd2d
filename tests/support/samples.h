/* The samples of the operator records, one graph of one node at a time. */
#ifndef TW_TESTS_SUPPORT_SAMPLES_H
#define TW_TESTS_SUPPORT_SAMPLES_H

#include "ops/op.h"

/* Parse each sample of the operator and hand over its node; a sample that cannot be parsed stops the
 * test. How many there are. */
int tw_each_sample(const tw_opdef *op, void (*visit)(tw_node *node, tw_arena *arena, void *user),
                   void *user);

/* The same for any graphs of one node each, one behind the other. */
int tw_each_graph(const char *text, void (*visit)(tw_node *node, tw_arena *arena, void *user),
                  void *user);

#endif
