/* Caches of attention over tokens that come a few at a time. `position` is how many tokens came before this
 * run, `count`, where it is there, how many of the T rows that a run brings are tokens (else all); both are
 * s32[1].
 *
 *     Advance (position, count?)                      out = position + count. As a state that becomes its own
 *                                                     result it is a position of the plan: the runtime refuses
 *                                                     a run that would go beyond `limit` before it begins, and
 *                                                     can set it back (tw_rewind)
 *     Append (cache, x, position, count?)             cache [1, H, S, D], x [1, H, T, D]: row i of x becomes row
 *                                                     position + i of out, modulo S where `ring`
 *     Attention (q, k, v, position, count?)           q [1, G * H, T, D], k [1, H, S, D], v [1, H, S, E], as
 *                                                     Append leaves them: G queries share a head of keys.
 *                                                     out = softmax(q . k * scale) . v over the tokens up to
 *                                                     row i's own, of which the last `window` where that is not 0. Float
 *                                                     queries over float or int8 caches, or all int8
 */
#ifndef TW_OPS_CACHE_H
#define TW_OPS_CACHE_H

#include "ops/attributes.h"

#define TW_ADVANCE_ATTRIBUTES(A, T)                                                                \
    A(T, INT, tokens, 1, 0, INT32_MAX, "that a run brings, at most where there is a count")        \
    A(T, INT, limit, INT32_MAX, 0, INT32_MAX, "beyond which the position does not go")             \
    A(T, INT, kept, 0, 0, INT32_MAX, "latest tokens that the caches keep; 0: all")                 \
    A(T, INT, window, 0, 0, INT32_MAX, "of these, those that the next token needs")
TW_ATTRIBUTE_STRUCT(advance, TW_ADVANCE_ATTRIBUTES);

#define TW_APPEND_ATTRIBUTES(A, T)                                                                 \
    A(T, BOOL, ring, 0, 0, 1, "behind the last row comes the first again")
TW_ATTRIBUTE_STRUCT(append, TW_APPEND_ATTRIBUTES);

#define TW_ATTENTION_ATTRIBUTES(A, T)                                                              \
    A(T, FLOAT, scale, 0, 0, 3.4e38, "of the products; 0: 1 / sqrt(D)")                            \
    A(T, INT, window, 0, 0, INT32_MAX, "tokens that a row sees, its own included; 0: all")         \
    A(T, BOOL, ring, 0, 0, 1, "the caches are rings")
TW_ATTRIBUTE_STRUCT(attention, TW_ATTENTION_ATTRIBUTES);

/* Of int8 queries: products of as many differences of 255 stay below 2^31. */
enum { TW_ATTENTION_MOST_COLUMNS = 32768 };

enum { TW_APPEND_CACHE, TW_APPEND_X, TW_APPEND_POSITION, TW_APPEND_COUNT, TW_APPEND_OPERANDS };
enum {
    TW_ATTENTION_Q,
    TW_ATTENTION_K,
    TW_ATTENTION_V,
    TW_ATTENTION_POSITION,
    TW_ATTENTION_COUNT,
    TW_ATTENTION_OPERANDS
};

#endif
