/* What the parts of the streaming conversion share: how time runs through a graph. Rows of a value are
 * numbered as in the clip whose last frame is the newest one: row 0 is the clip's first, rows below 0 lie
 * before the window, and a value may know rows beyond the clip's last. */
#ifndef TW_STREAM_FLOW_H
#define TW_STREAM_FLOW_H

#include "normalize/pass.h"
#include "stream/stream.h"

typedef enum tw_flow_kind {
    TW_FLOW_STEADY, /* does not depend on the stream */
    TW_FLOW_ROWS,   /* has a time axis; a run computes the new rows */
    TW_FLOW_CLIP,   /* depends on a whole window; a run computes all of it */
    TW_FLOW_UNKNOWN /* behind an operator that was refused */
} tw_flow_kind;

/* Of a value, by its index. */
typedef struct tw_flow {
    tw_flow_kind kind;
    int axis;              /* ROWS: which one is time */
    int64_t frames;        /* ROWS: from one row to the next */
    int64_t reach;         /* ROWS: row j is computed from frames j * frames - reach on */
    int64_t newest;        /* ROWS: the last row that is known when a run ends */
    int64_t clean;         /* ROWS: the first row that no padding reaches in the clip */
    const tw_node *padded; /* ROWS: who padded it first */
    const tw_node *taker;  /* CLIP: who took the whole clip */
    int64_t kept;          /* ROWS: most rows that a reader wants, counted from the newest */
    tw_value *history;     /* ROWS: those rows, once they are in the graph */
} tw_flow;

/* How an operator's result comes of an operand with a time axis. */
typedef enum tw_carry_kind {
    TW_CARRY_ROWS, /* row o of the result is made of rows o * stride - pad and `extent` - 1 more */
    TW_CARRY_CLIP, /* of all of them; it has no time axis, or all at once */
    TW_CARRY_NOT   /* `why` */
} tw_carry_kind;

typedef struct tw_carry {
    tw_carry_kind kind;
    int axis; /* of the result */
    int64_t stride, extent, pad;
    bool real; /* rows before the operand's first are those that came before */
    const char *why;
} tw_carry;

/* Where rows of an operand are wanted: by a node, or (node null) as a graph output. */
typedef struct tw_wish {
    tw_node *node;
    int index;
    tw_value *value;
    int64_t first, last; /* rows */
    int64_t back, rows;  /* the same from the newest: so many behind it, so many */
    bool final;          /* the clip's own rows: of a window, its last moment is one for all */
} tw_wish;

/* Something that has no exact counterpart. */
typedef struct tw_obstacle {
    const tw_node *node;
    const char *why;
} tw_obstacle;

/* Frames that a model keeps by hand from run to run, to put them before the new ones. */
typedef struct tw_cache {
    tw_value *current; /* a state's, or a graph input */
    tw_value *next;    /* the state's next, or a graph output */
} tw_cache;

/* What a recurrent layer takes from one run into the next. */
typedef struct tw_kept {
    tw_value *current;   /* a state's; null: there is none */
    const void *initial; /* its elements at first; null: zero bytes */
} tw_kept;

/* A recurrent layer over time, where there is real history. */
typedef struct tw_layer_in_stream {
    tw_node *node;
    const char *why; /* it cannot go on where it ended; null: it does */
    tw_kept kept[2]; /* h, c */
    int64_t runs; /* that bring rows made of frames from before the stream: it has not begun yet */
} tw_layer_in_stream;

typedef struct tw_streaming {
    tw_graph *graph;
    tw_arena *arena;
    const tw_stream_spec *spec;
    tw_diag *diag;
    tw_value *input;
    int axis;
    int64_t window, hop; /* frames; hop 0 while it is looked for */
    int64_t least_hop;
    tw_flow *flow;
    tw_wish *wishes;
    int wish_count, wish_capacity;
    tw_obstacle *obstacles;
    int obstacle_count, obstacle_capacity;
    tw_cache *caches;
    int cache_count, cache_capacity;
    tw_layer_in_stream *layers;
    int layer_count, layer_capacity;
    int64_t phase; /* frames that are known beyond the window's last, to begin with */
    int64_t shift; /* frames by which the window is yielded later than that */
    int64_t depth; /* frames from the newest back to the oldest that an output depends on */
} tw_streaming;

static inline tw_flow *tw_flow_of(const tw_streaming *s, const tw_value *value)
{
    return &s->flow[value->index];
}

/* Rows that a run brings. */
static inline int64_t tw_fresh(const tw_streaming *s, const tw_flow *flow)
{
    return s->hop / flow->frames;
}

static inline int64_t tw_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* How time goes from operand `input`, whose axis `axis` is time, through the node. */
tw_carry tw_stream_carry(const tw_streaming *s, const tw_node *node, int input, int axis);

/* Is it a Concat along this axis of its result? */
bool tw_stream_joins_time(const tw_node *node, int axis);
/* Is the first of two operands of a Concat along time such a cache, the result's tail of the run before? */
bool tw_stream_cache(const tw_graph *graph, const tw_node *concat, int axis, tw_cache *cache);

/* Recurrent layers that were found to run over time, and are not known yet: they go on where they ended, or it
 * is known why not. changed: there were some, so time goes otherwise behind them. */
bool tw_stream_carry_layers(tw_streaming *s, bool *changed);
/* The layer of this node, or null. */
tw_layer_in_stream *tw_stream_layer(const tw_streaming *s, const tw_node *node);
/* Rewritten: they begin with the first run of which all rows are made of the stream's frames. */
bool tw_stream_begin_layers(tw_streaming *s);
/* One bool: false in the first `runs` runs. */
tw_value *tw_stream_countdown(tw_streaming *s, int64_t runs);

/* Time through the whole graph; s->least_hop, and, with a hop, rows wanted. Obstacles are collected. */
void tw_stream_follow(tw_streaming *s);
/* With a hop: s->shift, so that everything is known that is wanted of a window. */
void tw_stream_delay(tw_streaming *s);
/* What is wanted of every value, and padding in its way. */
void tw_stream_settle(tw_streaming *s);
/* The operator as the model's file calls it. */
static inline const char *tw_node_spelling(const tw_node *node)
{
    return node->spelling ? node->spelling : node->op->name;
}

static inline bool tw_node_is_history(const tw_node *node)
{
    return tw_is(node, TW_OPCODE_history);
}

void tw_stream_obstacle(tw_streaming *s, const tw_node *node, const char *why);
/* The graph of a hop. */
bool tw_stream_rewrite(tw_streaming *s);

#endif
