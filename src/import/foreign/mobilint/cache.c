/* What attention over a growing context keeps from run to run: caches of keys and values, the history of a
 * causal convolution, the position that tables are read at. All caches of a model grow by the same tokens,
 * so that they share one position; it begins at `past_seqlen`, a history of zeros. */
#include <string.h>

#include "import/foreign/mobilint/mobilint.h"
#include "ops/cache.h"

/* --- the position ------------------------------------------------------------------------------- */

tw_mobilint_position *tw_mobilint_find_position(tw_foreign_node *n)
{
    return tw_map_get(&n->b->shared, "position");
}

static tw_mobilint_position *begin_position(tw_foreign_node *n, int64_t tokens)
{
    tw_builder *b = n->b;
    tw_mobilint_position *p = tw_alloc(b->arena, sizeof *p);
    *p = (tw_mobilint_position){.tokens = tokens, .past = -1};
    p->initial = tw_alloc_array(b->arena, 1, sizeof *p->initial);
    p->state =
        tw_graph_state(b->graph, "position", tw_shape_of(TW_S32, 1, (int32_t[]){1}), p->initial);
    const tw_setting *settings = TW_SETTINGS(tw_set_int("tokens", tokens));
    tw_node *advance = tw_build_node(b, "Advance", &p->state, 1, settings);
    if (!advance || !tw_graph_state_next(b->graph, p->state, advance->out[0], b->diag))
        return NULL;
    p->advance = advance->attributes;
    tw_map_put(b->arena, &b->shared, "position", p);
    return p;
}

tw_mobilint_position *tw_mobilint_position_of(tw_foreign_node *n, int64_t tokens, int64_t past,
                                              int64_t limit)
{
    tw_mobilint_position *p = tw_mobilint_find_position(n);
    if (!p && !(p = begin_position(n, tokens)))
        return NULL;
    if (p->tokens != tokens || (past >= 0 && p->past >= 0 && p->past != past)) {
        TW_FOREIGN_FAIL(n,
                        "%lld tokens a run behind %lld are not what another cache of the model "
                        "takes, %lld behind %lld",
                        (long long)tokens, (long long)past, (long long)p->tokens,
                        (long long)p->past);
        return NULL;
    }
    if (past >= 0) {
        p->past = past;
        *p->initial = (int32_t)past;
    }
    p->advance->limit = limit < p->advance->limit ? (int32_t)limit : p->advance->limit;
    return p;
}

/* --- caches ------------------------------------------------------------------------------------- */

/* Of one cache: its name is no other's. */
static bool claim_cache(tw_foreign_node *n)
{
    tw_builder *b = n->b;
    const char *name = tw_foreign_text(n, "cache_name");
    const char *key = tw_format(b->arena, "cache/%s", name);
    if (!*name)
        return TW_FOREIGN_FAIL(n, "the attribute cache_name is empty");
    if (tw_map_get(&b->shared, key))
        return TW_FOREIGN_FAIL(n, "the attribute cache_name '%.40s' is that of another cache",
                               name);
    tw_map_put(b->arena, &b->shared, key, b->graph);
    return true;
}

/* Rows of zeros like those of x, as a state. */
static tw_value *rows_kept(tw_foreign_node *n, const tw_value *x, int64_t rows)
{
    tw_builder *b = n->b;
    tw_shape shape = x->shape;
    const double zero = x->quant.count ? x->quant.zero_point[0] : 0;
    shape.dim[2] = (int32_t)rows;
    const tw_value *zeros = tw_build_full(b, shape, zero);
    if (!zeros)
        return NULL;
    tw_value *state = tw_graph_state(b->graph, tw_foreign_text(n, "cache_name"), shape,
                                     zero != 0 ? zeros->data : NULL);
    state->quant = x->quant;
    return state;
}

/* The last `rows` rows that have come, and x behind them. */
static tw_value *slide(tw_foreign_node *n, tw_value *x, int64_t rows)
{
    tw_builder *b = n->b;
    if (rows == 0)
        return tw_build1(b, "Identity", x, NULL);
    tw_value *state = rows_kept(n, x, rows);
    tw_value *all = state ? tw_build_concat(b, (tw_value *[]){state, x}, 2, 2) : NULL;
    tw_value *next = all ? tw_build_slice(b, all, 2, x->shape.dim[2], rows, 1) : NULL;
    return next && tw_graph_state_next(b->graph, state, next, b->diag) ? all : NULL;
}

/* All rows that have come, in `rows` of which the rest are zeros. */
static tw_value *append(tw_foreign_node *n, tw_value *x, const tw_mobilint_position *p,
                        int64_t rows)
{
    tw_builder *b = n->b;
    tw_value *state = rows_kept(n, x, rows);
    tw_node *node =
        state ? tw_build_node(b, "Append", (tw_value *[]){state, x, p->state}, 3, NULL) : NULL;
    if (!node)
        return NULL;
    node->out[0]->quant = x->quant;
    return tw_graph_state_next(b->graph, state, node->out[0], b->diag) ? node->out[0] : NULL;
}

/* The tensor that a cache holds: integers where the operand stands for such. */
static bool finish(tw_foreign_node *n, const tw_value *stored, tw_value *y)
{
    return tw_foreign_result(n, stored ? tw_build1(n->b, "Dequantize", y, NULL) : y);
}

bool tw_mobilint_stateful_kv_cache(tw_foreign_node *n)
{
    tw_value *stored = tw_foreign_stored(n, 0), *x = stored ? stored : n->in[0];
    const int64_t past = tw_foreign_int(n, "past_seqlen"),
                  most = tw_foreign_int(n, "max_cache_len"),
                  window = tw_foreign_int(n, "sliding_window");
    const bool sliding = tw_foreign_flag(n, "is_sliding");
    if (!tw_foreign_rank(n, x, 4) || !claim_cache(n))
        return false;
    const int64_t tokens = x->shape.dim[2];
    if (past + tokens > most)
        return TW_FOREIGN_FAIL(n,
                               "the attribute max_cache_len is %lld: %lld rows are too many, "
                               "past_seqlen %lld and %lld new ones",
                               (long long)most, (long long)past + tokens, (long long)past,
                               (long long)tokens);
    if (x->shape.dim[0] != 1)
        return TW_FOREIGN_UNSUPPORTED(n, "a batch of %d", (int)x->shape.dim[0]);
    tw_mobilint_position *p = tw_mobilint_position_of(n, tokens, past, sliding ? INT32_MAX : most);
    if (!p)
        return false;
    if (!sliding) {
        p->rows = most;
        return finish(n, stored, append(n, x, p, most));
    }
    p->sliding = window - 1 + tokens;
    p->advance->kept = p->advance->window = 1; /* what has slid away does not come back */
    return finish(n, stored, slide(n, x, window - 1));
}

bool tw_mobilint_stateful_causal_conv_cache(tw_foreign_node *n)
{
    tw_value *stored = tw_foreign_stored(n, 0), *x = stored ? stored : n->in[0];
    return tw_foreign_rank(n, x, 4) && claim_cache(n) &&
           finish(n, stored, slide(n, x, tw_foreign_int(n, "cache_len")));
}

/* --- rotary embedding --------------------------------------------------------------------------- */

/* llama: (-x2, x1) of halves. cohere2: (-x[2k + 1], x[2k]) of neighbours. */
static tw_value *rotated(tw_foreign_node *n, tw_value *x, int64_t size, bool neighbours)
{
    tw_builder *b = n->b;
    const int64_t step = neighbours ? 2 : 1, half = size / 2;
    const int32_t *d = x->shape.dim;
    tw_value *first = tw_build_slice(b, x, 3, 0, half, step);
    tw_value *second = tw_build_slice(b, x, 3, neighbours ? 1 : half, half, step);
    tw_value *parts[] = {tw_build1(b, "Neg", second, NULL), first};
    if (!neighbours)
        return tw_build_concat(b, parts, 2, 3);
    const int64_t pairs[] = {d[0], d[1], d[2], half, 1}, full[] = {d[0], d[1], d[2], size};
    for (int i = 0; i < 2; i++)
        parts[i] = tw_build_reshape(b, parts[i], 5, pairs);
    return tw_build_reshape(b, tw_build_concat(b, parts, 2, 4), 4, full);
}

/* A table's rows for the tokens of this run: all there are, or those from the position on. */
static tw_value *table_rows(tw_foreign_node *n, int i, int64_t tokens, int64_t size)
{
    tw_builder *b = n->b;
    tw_value *table = n->in[i];
    if (!tw_foreign_rank(n, table, 4))
        return NULL;
    const int64_t rows = table->shape.dim[2];
    if (rows < tokens || table->shape.dim[3] < size) {
        TW_FOREIGN_FAIL(n, "input %d has %d rows of %d; %lld of %lld are needed", i, (int)rows,
                        (int)table->shape.dim[3], (long long)tokens, (long long)size);
        return NULL;
    }
    if (rows > tokens) {
        tw_mobilint_position *p = tw_mobilint_position_of(n, tokens, -1, rows);
        if (!p)
            return NULL;
        tw_value *at =
            tw_build2(b, "Add", tw_build_iota(b, TW_S32, 1, 0, (int32_t)tokens), p->state, NULL);
        table = tw_build_gather(b, table, at, 2, 0);
    }
    return table && table->shape.dim[3] > size ? tw_build_slice(b, table, 3, 0, size, 1) : table;
}

bool tw_mobilint_stateful_rope(tw_foreign_node *n)
{
    tw_builder *b = n->b;
    tw_value *x = n->in[0];
    const int64_t type = tw_foreign_int(n, "rope_type"), length = tw_foreign_int(n, "seqlen");
    int64_t size = tw_foreign_int(n, "rotary_emb_dim");
    if (type != 0 && type != 1)
        return TW_FOREIGN_FAIL(n, "the attribute rope_type is %lld; 0 and 1 are possible",
                               (long long)type);
    if (!tw_foreign_rank(n, x, 4) || !tw_foreign_rank(n, n->in[1], 4))
        return false;
    const int64_t wide = n->in[1]->shape.dim[3], tokens = x->shape.dim[2];
    if (size <= 0 || (size == 2 && wide > 2))
        size = wide; /* the published default says nothing */
    if (size % 2 != 0 || size > x->shape.dim[3])
        return TW_FOREIGN_FAIL(n,
                               "the attribute rotary_emb_dim is %lld; an even number up to %d "
                               "is possible",
                               (long long)size, (int)x->shape.dim[3]);
    if (length != 0 && tokens > length)
        return TW_FOREIGN_FAIL(n, "the attribute seqlen is %lld, the input has %lld tokens",
                               (long long)length, (long long)tokens);
    tw_value *cosine = table_rows(n, 1, tokens, size), *sine = table_rows(n, 2, tokens, size);
    const int64_t rest = x->shape.dim[3] - size;
    tw_value *head = rest ? tw_build_slice(b, x, 3, 0, size, 1) : x;
    if (!cosine || !sine || !head)
        return false;
    tw_value *turned = tw_build2(b, "Mul", rotated(n, head, size, type == 1), sine, NULL);
    tw_value *y = tw_build2(b, "Add", tw_build2(b, "Mul", head, cosine, NULL), turned, NULL);
    tw_value *parts[] = {y, rest ? tw_build_slice(b, x, 3, size, rest, 1) : NULL};
    return tw_foreign_result(n, rest ? tw_build_concat(b, parts, 2, 3) : y);
}
