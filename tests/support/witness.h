/* Running a plan under observation. Each kernel call is held against what earlier calls made: its inputs
 * must be those very bytes, its output what the kernel makes of them in memory of its own, and of the arena
 * nothing else may change than the rows it computes, its scratch and its step memory. So no result may lie
 * where a byte is still needed, whatever the planner thought of rows and overlaps. */
#ifndef TW_TESTS_SUPPORT_WITNESS_H
#define TW_TESTS_SUPPORT_WITNESS_H

#include "tilewright/compiler.h"

typedef struct tw_witnessed {
    int calls;      /* kernel calls */
    int overlapped; /* of which wrote into memory that one of their inputs was read from */
    int replaced; /* of which wrote where a byte had been that the model's input or an earlier step
                       made and that was not needed any more */
    int strided;  /* operands that lie inside another tensor with gaps */
} tw_witnessed;

/* Run on random inputs; any contradiction stops the test, naming `what`. For plans without states. */
void tw_witness(const tw_compiled *compiled, const char *what, tw_witnessed *seen);

#endif
