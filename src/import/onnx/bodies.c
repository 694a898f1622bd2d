/* Graphs of If, Loop and Scan as bodies of their own. In: values around. Out: inputs of the body that
 * stand for them; constants are shared. */
#include "import/onnx/model.h"

bool tw_onnx_body_begin(tw_onnx_node *n, tw_onnx_body *body)
{
    tw_onnx *o = n->onnx;
    int depth = 0;
    for (const tw_onnx_body *b = o->body; b; b = b->around)
        depth++;
    if (depth == TW_MAX_DEPTH)
        return TW_ONNX_UNSUPPORTED(n, "more than %d branches and loops inside each other",
                                   TW_MAX_DEPTH);
    *body = (tw_onnx_body){.around = o->body};
    body->graph = tw_graph_new(o->b.arena, n->b->node);
    body->graph->names = o->b.graph->names; /* a name stands for one tensor, wherever it is */
    o->body = body;
    body->was = tw_body_enter(&o->b, body->graph);
    return true;
}

void tw_onnx_body_end(tw_onnx_node *n)
{
    tw_onnx *o = n->onnx;
    tw_body_leave(&o->b, &o->body->was);
    o->body = o->body->around;
}

tw_value *tw_onnx_body_input(tw_onnx_node *n, const char *name, const tw_value *like)
{
    tw_value *v =
        tw_graph_input(n->b->graph, tw_format(n->b->arena, "%s/%s", n->b->node, name), like->shape);
    v->quant = like->quant;
    v->index = 1; /* it keeps its scale */
    return v;
}

tw_value *tw_onnx_body_take(tw_onnx *o, tw_onnx_body *body, tw_value *outer)
{
    for (int i = 0; i < body->taken; i++)
        if (body->outer[i] == outer)
            return body->inner[i];
    tw_value *input, *inner = tw_body_value(body->graph, outer, false, &input);
    outer->index = 1;
    tw_onnx_note_type(o, inner, tw_onnx_narrow_of(o, outer));
    tw_grow(o->b.arena, &body->outer, body->taken, &body->outer_capacity, sizeof *body->outer);
    tw_grow(o->b.arena, &body->inner, body->taken, &body->inner_capacity, sizeof *body->inner);
    body->outer[body->taken] = outer;
    body->inner[body->taken++] = inner;
    return inner;
}

/* From the body of the value inwards, body by body; their depth is bounded. */
static tw_value *carry_in(tw_onnx *o, tw_onnx_body *to, const tw_onnx_body *from, tw_value *value)
{
    if (to == from || !to)
        return value;
    return tw_onnx_body_take(o, to, carry_in(o, to->around, from, value));
}

tw_value *tw_onnx_carried(tw_onnx *o, const tw_onnx_body *from, tw_value *value)
{
    const tw_onnx_sequence *sequence = tw_onnx_sequence_of(o, value);
    if (!sequence || o->body == from)
        return carry_in(o, o->body, from, value);
    tw_value **v = tw_alloc_array(o->b.arena, (size_t)sequence->count + 2, sizeof *v);
    for (int i = 0; i < sequence->count; i++)
        v[i] = carry_in(o, o->body, from, sequence->v[i]);
    return tw_onnx_make_sequence(o, v, sequence->count);
}

tw_value *tw_onnx_value_of(tw_onnx *o, const tw_onnx_binding *binding)
{
    return binding->value ? tw_onnx_carried(o, binding->body, binding->value) : NULL;
}
