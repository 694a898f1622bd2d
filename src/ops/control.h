/* Control flow that is decided while the network runs: a node with bodies.
 *
 *     If (condition, x...)    two bodies, yes and no, each with the inputs x: out = the outputs of the
 *                             one that the condition, one BOOL, chooses
 *     While (v..., x...)      two bodies, a condition and a body, each with the inputs v and x. While the
 *                             condition's output, one BOOL, is true, the body's outputs become v;
 *                             out = v. There are as many v as results.
 *     Await (x, ready)        out = x where ready, one BOOL, is true; else the run yields nothing: what
 *                             depends on out is not computed, everything else is
 */
#ifndef TW_OPS_CONTROL_H
#define TW_OPS_CONTROL_H

#include "ops/attributes.h"

#define TW_LOOP_ATTRIBUTES(A, T)                                                                   \
    A(T, INT, most, 0, 0, INT32_MAX,                                                               \
      "rounds at most, more end the run with an error; 0: as many as the compiler is told")

TW_ATTRIBUTE_STRUCT(loop, TW_LOOP_ATTRIBUTES);

#endif
