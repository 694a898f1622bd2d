/* unmerge_norm: a normalisation behind a Reshape that merges axes normalises the axes themselves, and
 * the Reshape follows behind it, where it may meet its inverse. Group normalisation as exporters
 * write it, [N, C, H, W] as [N, G, C / G * H * W], would otherwise hold H and W in one order. Exact,
 * but for the order of sums that a layout may choose. */
#include "normalize/pass.h"
#include "ops/axes.h"
#include "ops/norm.h"

/* The axes of the merged shape, each as the pieces that it was merged from. */
typedef struct pieces {
    tw_shape shape;
    int owner[TW_MAX_RANK]; /* the merged axis of each */
} pieces;

static bool add_piece(pieces *p, int32_t extent, int owner)
{
    if (p->shape.rank == TW_MAX_RANK)
        return false;
    p->owner[p->shape.rank] = owner;
    p->shape.dim[p->shape.rank++] = extent;
    return true;
}

/* The coarsest shape of which both are merges; false: there is none of few enough axes. */
static bool refine(const tw_shape *from, const tw_shape *merged, pieces *p)
{
    int i = 0;
    int32_t left = from->rank > 0 ? from->dim[0] : 1;
    *p = (pieces){.shape = {merged->dtype, 0, {0}}};
    for (int j = 0; j < merged->rank; j++) {
        int32_t right = merged->dim[j];
        if (right == 1 && !add_piece(p, 1, j))
            return false;
        while (right > 1) {
            while (left == 1 && ++i < from->rank)
                left = from->dim[i];
            int32_t extent = left < right ? left : right;
            if (i >= from->rank || extent < 1 || left % extent != 0 || right % extent != 0 ||
                !add_piece(p, extent, j))
                return false;
            left /= extent;
            right /= extent;
        }
        if (right < 1)
            return false;
    }
    return p->shape.rank > merged->rank;
}

/* An operand of the merged shape's axes over the pieces. */
static tw_value *spread(tw_graph *graph, tw_value *operand, const tw_shape *merged, const pieces *p,
                        tw_diag *diag)
{
    tw_shape shape = p->shape;
    for (int k = 0; k < shape.rank; k++) {
        int own = p->owner[k] - (merged->rank - operand->shape.rank);
        if (own < 0 || operand->shape.dim[own] == 1)
            shape.dim[k] = 1;
    }
    return tw_append_reshape(graph, operand->name, operand, &shape, diag);
}

static bool unmerge(tw_graph *graph, tw_node *node, const pieces *p, tw_diag *diag)
{
    tw_norm_attributes a = *(const tw_norm_attributes *)node->attributes;
    const tw_shape *merged = &node->in[0]->shape;
    int32_t mask = tw_axis_mask(&a.axes, merged->rank);
    tw_value *in[3] = {NULL};
    in[0] = tw_append_reshape(graph, node->in[0]->producer->name, node->in[0]->producer->in[0],
                              &p->shape, diag);
    bool ok = in[0] != NULL;
    for (int i = 1; ok && i < node->in_count; i++)
        if (node->in[i])
            ok = (in[i] = spread(graph, node->in[i], merged, p, diag)) != NULL;
    a.axes.count = 0;
    for (int k = 0; k < p->shape.rank; k++)
        if (mask >> p->owner[k] & 1)
            a.axes.v[a.axes.count++] = k;
    tw_node *made =
        ok ? tw_append(graph, node->op->code, node->name, in, node->in_count, &a, diag) : NULL;
    tw_value *back = made ? tw_append_reshape(graph, node->name, made->out[0], merged, diag) : NULL;
    if (!back)
        return false;
    tw_set_output(back->producer, node->out[0]);
    tw_remove(node);
    return true;
}

bool tw_pass_unmerge_norm(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    bool ok = true;
    int count = graph->node_count;
    for (int n = 0; ok && n < count; n++) {
        tw_node *node = graph->nodes[n];
        pieces p;
        if (tw_is_norm(node) && tw_is(node->in[0]->producer, TW_OPCODE_reshape) &&
            refine(&node->in[0]->producer->in[0]->shape, &node->in[0]->shape, &p))
            ok = unmerge(graph, node, &p, diag);
    }
    return ok && tw_finish(graph, diag);
}
