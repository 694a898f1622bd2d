/* u8 to s8. See qdq.h. */
#include <string.h>

#include "normalize/fuse_qdq/qdq.h"

#define SHIFT 128 /* from a u8 to the s8 that means the same */

typedef struct rewrite {
    tw_graph *graph;
    int known;                /* values that existed at the start; the others have no index */
    tw_value **twin;          /* s8 twin of a u8 value, or null; the value itself once it is s8 */
    tw_value **unsigned_twin; /* u8 again, for an operator that knows only that */
    tw_quant *original;       /* of values that were changed in place */
    tw_diag *diag;
} rewrite;

static bool is_unsigned(const tw_value *v)
{
    return v && v->shape.dtype == TW_U8 && v->quant.count > 0;
}

static tw_quant shifted(tw_arena *arena, const tw_quant *quant, int by)
{
    tw_quant q = *quant;
    int32_t *zero = tw_alloc_array(arena, (size_t)q.count, sizeof *zero);
    for (int i = 0; i < q.count; i++)
        zero[i] = quant->zero_point[i] + by;
    q.zero_point = zero;
    return q;
}

/* A Requantize to a type, its result not yet named or scaled. */
static tw_value *requantize(rewrite *r, tw_value *from, tw_dtype dtype, const tw_quant *quant)
{
    tw_node *node = tw_append(r->graph, TW_OPCODE_requantize, from->name, &from, 1, NULL, r->diag);
    if (!node)
        return NULL;
    *tw_int_of(node, "dtype") = (int32_t)dtype;
    node->out[0]->shape.dtype = dtype;
    node->out[0]->quant = *quant;
    return node->out[0];
}

static tw_value *signed_constant(rewrite *r, const tw_value *v)
{
    tw_shape shape = v->shape;
    shape.dtype = TW_S8;
    const uint8_t *from = v->data;
    int64_t count = tw_shape_elements(&shape);
    int8_t *to = tw_alloc(r->graph->arena, (size_t)count + 1);
    for (int64_t i = 0; i < count; i++)
        to[i] = (int8_t)(from[i] - SHIFT);
    tw_value *twin = tw_graph_constant(r->graph, v->name, shape, to);
    twin->quant = shifted(r->graph->arena, &v->quant, -SHIFT);
    return twin;
}

/* The s8 value that means what a u8 value means. Null after a failure. */
static tw_value *twin_of(rewrite *r, tw_value *v)
{
    tw_value **twin = &r->twin[v->index];
    if (!*twin && v->data)
        *twin = signed_constant(r, v);
    if (!*twin) {
        tw_quant quant = shifted(r->graph->arena, &v->quant, -SHIFT);
        *twin = requantize(r, v, TW_S8, &quant);
    }
    return *twin;
}

/* The u8 form of a value that was made s8 in place. */
static tw_value *unsigned_of(rewrite *r, tw_value *v)
{
    tw_value **u = &r->unsigned_twin[v->index];
    if (!*u)
        *u = requantize(r, v, TW_U8, &r->original[v->index]);
    return *u;
}

static bool is_changed(const rewrite *r, const tw_value *v)
{
    return v && r->twin[v->index] == v;
}

static void make_signed(rewrite *r, tw_value *v)
{
    r->original[v->index] = v->quant;
    r->twin[v->index] = v;
    v->shape.dtype = TW_S8;
    v->quant = shifted(r->graph->arena, &v->quant, -SHIFT);
}

/* Is every operand a quantised u8 tensor, or s8 by now? */
static bool moves_unsigned(const rewrite *r, const tw_node *node)
{
    for (int i = 0; i < node->in_count; i++)
        if (!node->in[i] || !(is_unsigned(node->in[i]) || is_changed(r, node->in[i])) ||
            node->in[i]->quant.count != 1)
            return false;
    return is_unsigned(node->out[0]) && (node->op->kind == TW_MOVE || node->op->kind == TW_VIEW);
}

static bool use_twins(rewrite *r, tw_node *node)
{
    for (int i = 0; i < node->in_count; i++) {
        if (is_unsigned(node->in[i]))
            node->in[i] = twin_of(r, node->in[i]);
        if (!node->in[i])
            return false;
    }
    return true;
}

static bool rewrite_node(rewrite *r, tw_node *node)
{
    bool produces = tw_is(node, TW_OPCODE_quantize) || tw_is(node, TW_OPCODE_requantize);
    if (tw_is(node, TW_OPCODE_dequantize) || tw_is(node, TW_OPCODE_requantize)) {
        if (node->in[0]->quant.count == 1 || node->in[0]->data)
            if (!use_twins(r, node))
                return false;
    } else if (moves_unsigned(r, node)) {
        if (!use_twins(r, node))
            return false;
        make_signed(r, node->out[0]);
    } else {
        for (int i = 0; i < node->in_count; i++)
            if (is_changed(r, node->in[i]) && !(node->in[i] = unsigned_of(r, node->in[i])))
                return false;
    }
    if (produces && is_unsigned(node->out[0]) && node->out[0]->quant.count == 1) {
        *tw_int_of(node, "dtype") = TW_S8;
        make_signed(r, node->out[0]);
    }
    return true;
}

/* Graph outputs and states stay u8. */
static bool rewrite_outputs(rewrite *r)
{
    tw_graph *graph = r->graph;
    for (int i = 0; i < graph->output_count + graph->state_count; i++) {
        int k = i - graph->output_count;
        tw_value **at = k < 0 ? &graph->outputs[i] : &graph->states[k].next;
        tw_value *v = *at;
        if (!v || v->index >= r->known || graph->values[v->index] != v || !is_changed(r, v))
            continue;
        tw_value *u = unsigned_of(r, v);
        if (!u)
            return false;
        if (!u->is_output)
            tw_hand_over(v, u);
        *at = u;
    }
    return true;
}

bool tw_qdq_signed(tw_graph *graph, tw_diag *diag)
{
    tw_arena *scratch = tw_arena_new();
    size_t n = (size_t)graph->value_count + 1;
    rewrite r = {graph,
                 graph->value_count,
                 tw_alloc_array(scratch, n, sizeof(tw_value *)),
                 tw_alloc_array(scratch, n, sizeof(tw_value *)),
                 tw_alloc_array(scratch, n, sizeof(tw_quant)),
                 diag};
    for (int v = 0; v < graph->value_count; v++)
        graph->values[v]->index = v;
    int count = graph->node_count;
    bool ok = true;
    for (int i = 0; ok && i < count; i++)
        ok = rewrite_node(&r, graph->nodes[i]);
    ok = ok && rewrite_outputs(&r);
    tw_arena_free(scratch);
    return ok && tw_graph_sweep(graph, diag);
}
