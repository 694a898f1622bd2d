/* What the operators of attention share: operands by heads, what may be attended, the products. */
#ifndef TW_IMPORT_ONNX_ATTENTION_H
#define TW_IMPORT_ONNX_ATTENTION_H

#include "import/onnx/onnx.h"

typedef struct tw_attention {
    tw_onnx_node *n;
    tw_builder *b;
    tw_value *q, *k, *v; /* [batch, heads, rows, size] */
    int64_t batch, heads, kv_heads, rows, keys, size, v_size;
    int64_t past;      /* keys before those of this call, where they are as many in every entry */
    tw_value *allowed; /* bool, broadcasts to [batch, heads, rows, keys]; null: everything */
    tw_value *bias;    /* float, the same, added to scores; null: none */
    float scale, cap;  /* of scores; cap 0: none */
    int scores_out;    /* output that scores are bound to, as `mode` says; -1: none */
    int64_t mode;
} tw_attention;

/* [batch, rows, heads * size] as [batch, heads, rows, size], and back. Null with a message. */
tw_value *tw_onnx_split_heads(tw_onnx_node *n, tw_value *x, int64_t heads);
tw_value *tw_onnx_merge_heads(tw_onnx_node *n, tw_value *y);

/* Read the extents off q, k and v, which must fit each other; scale: 0 takes 1 / sqrt(size). */
bool tw_attention_extents(tw_attention *a, float scale);

/* Also what `more` allows, or adds. */
bool tw_attention_allow(tw_attention *a, tw_value *more);
bool tw_attention_add(tw_attention *a, tw_value *more);

/* Keys from `low` before to `high` behind a query; INT64_MIN and INT64_MAX: no bound. lengths: [batch, 1, 1, 1],
 * keys there are, the queries' own included; null: as many as there are. */
bool tw_attention_allow_band(tw_attention *a, int64_t low, int64_t high, tw_value *lengths);

/* Values by the weights that come of queries and keys: [batch, heads, rows, v_size]. */
tw_value *tw_attention_result(tw_attention *a);

/* Over caches: keys and values with room for as many rows as there may ever be, of which those up to the queries'
 * own count. position: rows before the queries', any integer, one element. window: rows that a query sees, its own
 * included; 0: all. Can it be, as it is asked for? */
bool tw_attention_can_read_caches(const tw_attention *a);
tw_value *tw_attention_over_caches(tw_attention *a, tw_value *position, int64_t window);
/* [1, heads, rows, size] with `x` behind `position` rows of it. ring: behind the last row comes the first. */
tw_value *tw_onnx_appended(tw_builder *b, tw_value *cache, tw_value *x, tw_value *position,
                           bool ring);

/* x, [batch, heads, rows, size], with the first `turned` of each token turned by its angles. positions: [batch
 * or 1, rows], or null for caches that are a token's each. */
typedef struct tw_rotation {
    tw_value *cosine, *sine; /* [positions, turned / 2], or [batch, rows, turned / 2] */
    tw_value *positions;
    int64_t turned; /* 0: as the caches have them */
    bool interleaved;
} tw_rotation;
tw_value *tw_onnx_rotated(tw_onnx_node *n, tw_value *x, tw_rotation by);

#endif
