/* fuse_attention: the product of queries and keys, its scale, mask and softmax, and the product with the values,
 * as exporters write them out, become one operator that works query row by query row: the scores of all rows
 * never stand in memory, and what follows rolls. Float only; the same bytes. Its operands have tokens before
 * heads, as most exporters have them in front of a transpose, which the layout pass then takes away. */
#include "normalize/pass.h"
#include "ops/attend.h"
#include "ops/axes.h"
#include "ops/matmul.h"
#include "ops/softmax.h"

typedef struct tw_written {
    tw_node *node[6]; /* the last product first */
    int node_count;
    tw_value *q, *k, *v, *mask;
    bool k_swapped, v_swapped; /* width before tokens */
    tw_attend_attributes attributes;
} tw_written;

static bool is_product(const tw_node *node)
{
    const tw_value *out = tw_is(node, TW_OPCODE_matmul) ? node->out[0] : NULL;
    const tw_shape *a = out ? &node->in[0]->shape : NULL, *b = out ? &node->in[1]->shape : NULL;
    if (!out || out->shape.dtype != TW_F32 || tw_has_clamp(node) || a->rank != b->rank ||
        (a->rank != 3 && a->rank != 4))
        return false;
    for (int i = 0; i + 2 < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

static bool is_swapped(const tw_node *product)
{
    return ((const tw_matmul_attributes *)product->attributes)->transpose_b != 0;
}

/* What makes a value that nothing else reads; null otherwise. */
static tw_node *maker_of(const tw_value *value)
{
    tw_node *node = value->producer;
    return node && !node->removed && value->index == 1 && !value->is_output && !tw_has_clamp(node)
               ? node
               : NULL;
}

static bool is_softmax(const tw_node *node)
{
    if (!tw_is(node, TW_OPCODE_softmax))
        return false;
    const tw_softmax_attributes *a = node->attributes;
    const int rank = node->in[0]->shape.rank;
    return a->beta == 1.0f && tw_axis(a->axis, rank) == rank - 1 &&
           node->out[0]->shape.dtype == TW_F32 && node->in[0]->shape.dtype == TW_F32;
}

/* The operand of a binary node that has the result's shape, the other one fitting it; the first that does. */
static int scores_of(const tw_node *node)
{
    for (int i = 0; i < 2; i++)
        if (tw_shape_equal(&node->in[i]->shape, &node->out[0]->shape) && maker_of(node->in[i]))
            return i;
    return -1;
}

static bool add_node(tw_written *w, tw_node *node)
{
    w->node[w->node_count++] = node;
    return true;
}

/* Scores that a mask is added to: which takes less than they do, or nothing at run time. */
static bool take_mask(tw_written *w, tw_node **at)
{
    tw_node *node = *at;
    const int i = tw_is(node, TW_OPCODE_add) ? scores_of(node) : -1;
    if (i < 0)
        return true;
    w->mask = node->in[1 - i];
    if (w->mask->shape.dtype != TW_F32 || w->mask->shape.rank > node->out[0]->shape.rank ||
        (!w->mask->data &&
         tw_shape_elements(&w->mask->shape) >= tw_shape_elements(&node->out[0]->shape)))
        return false;
    *at = maker_of(node->in[i]);
    return add_node(w, node);
}

static bool take_scale(tw_written *w, tw_node **at)
{
    tw_node *node = *at;
    const bool divide = tw_is(node, TW_OPCODE_div);
    w->attributes = (tw_attend_attributes){.scale = 1};
    if (!divide && !tw_is(node, TW_OPCODE_mul))
        return true;
    const int i = scores_of(node);
    if (i < 0 || (divide && i != 0) || !tw_is_uniform(node->in[1 - i], &w->attributes.scale) ||
        !(w->attributes.scale >= -3.4e38f && w->attributes.scale <= 3.4e38f))
        return false;
    w->attributes.divide = divide;
    *at = maker_of(node->in[i]);
    return add_node(w, node);
}

static bool find(tw_node *last, tw_written *w)
{
    *w = (tw_written){0};
    if (!is_product(last) || !add_node(w, last))
        return false;
    tw_node *node = maker_of(last->in[0]);
    if (!is_softmax(node) || !add_node(w, node))
        return false;
    node = maker_of(node->in[0]);
    if (!node || !take_mask(w, &node) || !node || !take_scale(w, &node) || !is_product(node))
        return false;
    add_node(w, node);
    w->q = node->in[0];
    w->k = node->in[1];
    w->v = last->in[1];
    w->k_swapped = !is_swapped(node); /* keys are [.., S, D] where the product transposes them */
    w->v_swapped = is_swapped(last);
    w->attributes.heads = w->q->shape.dim[w->q->shape.rank - 3];
    return tw_shape_elements(&w->q->shape) > 0 && w->q->shape.rank == last->out[0]->shape.rank;
}

/* [B, H, tokens, width] or [H, tokens, width], or with the last two swapped, as [B, tokens, H * width]. */
static tw_value *by_tokens(tw_graph *graph, const tw_node *for_node, tw_value *value, bool swapped,
                           tw_diag *diag)
{
    static const int32_t order[2][2][4] = {{{1, 0, 2}, {2, 0, 1}}, {{0, 2, 1, 3}, {0, 3, 1, 2}}};
    const int batch = value->shape.rank == 4;
    tw_value *v = tw_append_transpose(graph, for_node->name, value, order[batch][swapped], diag);
    if (!v)
        return NULL;
    const int32_t *dim = v->shape.dim + batch;
    const tw_shape shape =
        tw_shape_of(TW_F32, 3, (int32_t[]){batch ? v->shape.dim[0] : 1, dim[0], dim[1] * dim[2]});
    return tw_append_reshape(graph, for_node->name, v, &shape, diag);
}

/* The other way for what is made, into this shape. */
static tw_value *by_heads(tw_graph *graph, const tw_node *for_node, tw_value *value,
                          const tw_shape *to, tw_diag *diag)
{
    static const int32_t order[2][4] = {{1, 0, 2}, {0, 2, 1, 3}};
    const int batch = to->rank == 4;
    tw_shape shape = *to;
    shape.dim[batch] = to->dim[batch + 1];
    shape.dim[batch + 1] = to->dim[batch];
    tw_value *v = tw_append_reshape(graph, for_node->name, value, &shape, diag);
    return v ? tw_append_transpose(graph, for_node->name, v, order[batch], diag) : NULL;
}

/* The mask with all four axes. */
static tw_value *spread(tw_graph *graph, const tw_node *for_node, tw_value *mask, tw_diag *diag)
{
    tw_shape shape = tw_shape_of(mask->shape.dtype, 4, (int32_t[]){1, 1, 1, 1});
    for (int i = 0; i < mask->shape.rank; i++)
        shape.dim[4 - mask->shape.rank + i] = mask->shape.dim[i];
    return mask->shape.rank == 4 ? mask
                                 : tw_append_reshape(graph, for_node->name, mask, &shape, diag);
}

static bool put(tw_graph *graph, const tw_written *w, tw_diag *diag)
{
    tw_node *last = w->node[0];
    tw_value *in[TW_ATTEND_OPERANDS] = {by_tokens(graph, last, w->q, false, diag)};
    if (!in[0] || !(in[1] = by_tokens(graph, last, w->k, w->k_swapped, diag)) ||
        !(in[2] = by_tokens(graph, last, w->v, w->v_swapped, diag)) ||
        (w->mask && !(in[3] = spread(graph, last, w->mask, diag))))
        return false;
    tw_node *made =
        tw_append(graph, TW_OPCODE_attend, last->name, in, w->mask ? 4 : 3, &w->attributes, diag);
    tw_value *out = made ? by_heads(graph, last, made->out[0], &last->out[0]->shape, diag) : NULL;
    if (!out)
        return false;
    for (int i = 0; i < w->node_count; i++)
        tw_remove(w->node[i]);
    tw_set_output(out->producer, last->out[0]);
    return true;
}

bool tw_pass_fuse_attention(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    bool ok = true;
    tw_count_reads(graph);
    const int count = graph->node_count;
    for (int n = 0; ok && n < count; n++) {
        tw_written written;
        if (!graph->nodes[n]->removed && find(graph->nodes[n], &written))
            ok = put(graph, &written, diag);
    }
    return ok && tw_finish(graph, diag);
}
