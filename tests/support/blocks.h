/* One operator in blocks of columns, as a segment by columns calls it: each call sees exactly the pixels
 * that the maps of rows and columns declare, in memory that ends where they end. */
#ifndef TW_TESTS_SUPPORT_BLOCKS_H
#define TW_TESTS_SUPPORT_BLOCKS_H

#include "graph/graph.h"

/* Run it on every axis whose rows can be cut, and compare with the data that the output has. Any difference,
 * any status but TW_OK stops the test. The number of axes; 0: its kernel takes no blocks. */
int tw_operate_blocks(const tw_node *node, uint64_t *state);

#endif
