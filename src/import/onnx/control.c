/* If, Loop and Scan. A branch whose condition is known is imported in its place, and rounds of a loop
 * whose number is known and small one after the other; otherwise they become If and While, whose bodies
 * take what they read from around as inputs. */
#include <string.h>

#include "import/bodies.h"
#include "import/onnx/model.h"
#include "ops/control.h"

enum { MOST_UNROLLED = 2048 /* nodes that come of unrolling */ };

/* ---- nodes with bodies ---- */

typedef struct tw_onnx_pair {
    tw_onnx_body body[2];
    tw_pair both;
} pair;

static pair *new_pair(tw_onnx_node *n, int first)
{
    pair *p = tw_alloc(n->b->arena, sizeof *p);
    p->both.b = n->b;
    p->both.op = n->op;
    p->both.first = first;
    return p;
}

/* What either body has taken from around, the other takes too. */
static bool add_taken(tw_onnx_node *n, pair *p)
{
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < p->body[k].taken; i++)
            tw_onnx_body_take(n->onnx, &p->body[1 - k], p->body[k].outer[i]);
    for (int i = 0; i < p->body[0].taken; i++) {
        tw_value *outer = p->body[0].outer[i];
        if (!outer->data && !tw_pair_add(&p->both, outer, p->body[0].inner[i],
                                         tw_onnx_body_take(n->onnx, &p->body[1], outer)))
            return false;
    }
    return true;
}

static tw_node *finish(pair *p, const char *op, const void *attributes)
{
    for (int k = 0; k < 2; k++)
        p->both.graph[k] = p->body[k].graph;
    return tw_pair_finish(&p->both, op, attributes);
}

/* ---- branches ---- */

static bool make_branch(tw_onnx_node *n, const Tw__Onnx__Graph *graph, tw_onnx_body *body)
{
    tw_value **out = tw_alloc_array(n->b->arena, (size_t)n->out_count + 1, sizeof *out);
    if (!tw_onnx_body_begin(n, body))
        return false;
    bool ok = tw_onnx_graph_here(n, graph, NULL, 0, out, n->out_count);
    for (int i = 0; ok && i < n->out_count; i++) {
        ok = out[i] != NULL;
        if (ok && tw_onnx_sequence_of(n->onnx, out[i]))
            ok = TW_ONNX_UNSUPPORTED(n,
                                     "its result %d is a sequence or an optional, and its "
                                     "condition is computed while the network runs",
                                     i);
        if (ok)
            tw_graph_output(body->graph, out[i]);
    }
    tw_onnx_body_end(n);
    return ok;
}

static bool is_branch(tw_onnx_node *n, const Tw__Onnx__Attribute *a)
{
    if (!a || !a->g)
        return TW_ONNX_FAIL(n, "a branch is missing");
    if (a->g->n_input)
        return TW_ONNX_FAIL(n, "a branch cannot have inputs");
    return (size_t)n->out_count <= a->g->n_output ||
           TW_ONNX_FAIL(n, "the branch gives %zu outputs, the node has %d", a->g->n_output,
                        n->out_count);
}

/* Does a branch give a sequence or an optional? */
static bool gives_lists(const Tw__Onnx__Graph *g, int count)
{
    for (int i = 0; i < count; i++) {
        const Tw__Onnx__Type *type = g->output[i]->type;
        if (type && (type->sequence_type || type->optional_type))
            return true;
    }
    return false;
}

bool tw_onnx_op_if(tw_onnx_node *n)
{
    tw_value *condition = n->in[0];
    const Tw__Onnx__Attribute *yes = tw_onnx_attribute(n, "then_branch");
    const Tw__Onnx__Attribute *no = tw_onnx_attribute(n, "else_branch");
    if (!is_branch(n, yes) || !is_branch(n, no))
        return false;
    if (tw_shape_elements(&condition->shape) != 1)
        return TW_ONNX_FAIL(n, "the condition must be one element");
    /* What sequences are made of is fixed here. */
    const bool lists = gives_lists(yes->g, n->out_count) || gives_lists(no->g, n->out_count);
    if (lists ? tw_build_constant(n->b, condition) : tw_build_fixed(n->b, condition))
        return tw_onnx_graph_here(n, tw_constant_at(condition, 0) != 0 ? yes->g : no->g, NULL, 0,
                                  n->out, n->out_count);
    pair *p = new_pair(n, 1);
    if (!make_branch(n, yes->g, &p->body[0]) || !make_branch(n, no->g, &p->body[1]) ||
        !tw_pair_add(&p->both, condition, NULL, NULL) || !add_taken(n, p))
        return false;
    tw_node *node = finish(p, "If", NULL);
    for (int i = 0; node && i < n->out_count; i++)
        n->out[i] = node->out[i];
    return node != NULL;
}

/* ---- loops ---- */

/* A Loop or a Scan: what goes round, what is read row by row, what is stacked row by row. */
typedef struct tw_onnx_loop {
    tw_onnx_node *n;
    const Tw__Onnx__Graph *graph;
    bool counts;      /* Loop: the body is given the number of the round and the condition */
    bool fixes;       /* the number of rounds fixes shapes, or what sequences are made of */
    tw_value *begun;  /* the condition at first; null: true */
    tw_value *trips;  /* rounds at most, computed while the network runs; or null */
    int64_t most;     /* rounds at most; -1: not known */
    tw_value **state; /* carried */
    int states;
    tw_value **row_of; /* Scan: read along `axis` */
    int rows;
    int *axis, *out_axis; /* of rows read and of rows stacked */
    bool *reverse, *out_reverse;
    int stacked;
} loop;

/* The body's nodes, in the graph in hand. in, rows: as the graph has them. */
static bool run_body(const loop *l, tw_value *round, tw_value *condition, tw_value *const *states,
                     tw_value *const *rows, tw_value **out)
{
    const int lead = l->counts ? 2 : 0;
    tw_value **in = tw_alloc_array(l->n->b->arena, l->graph->n_input + 3, sizeof *in);
    in[0] = round;
    in[1] = condition;
    memcpy(in + lead, states, sizeof *in * (size_t)l->states);
    if (l->rows)
        memcpy(in + lead + l->states, rows, sizeof *in * (size_t)l->rows);
    return tw_onnx_graph_here(l->n, l->graph, in, lead + l->states + l->rows, out,
                              (l->counts ? 1 : 0) + l->states + l->stacked);
}

/* The value with an axis of extent 1 put in, or one taken away. */
static tw_value *with_axis(tw_builder *b, tw_value *v, int axis)
{
    int64_t dim[TW_MAX_RANK];
    if (!v || v->shape.rank == TW_MAX_RANK || axis > v->shape.rank)
        return NULL;
    for (int i = 0; i <= v->shape.rank; i++)
        dim[i] = i == axis ? 1 : v->shape.dim[i - (i > axis)];
    return tw_build_reshape(b, v, v->shape.rank + 1, dim);
}

static tw_value *without_axis(tw_builder *b, tw_value *v, int axis)
{
    int64_t dim[TW_MAX_RANK];
    int rank = 0;
    for (int i = 0; v && i < v->shape.rank; i++)
        if (i != axis)
            dim[rank++] = v->shape.dim[i];
    return v ? tw_build_reshape(b, v, rank, dim) : NULL;
}

/* ---- unrolled ---- */

static bool stack_rows(const loop *l, tw_value *const *rows, int64_t count, int which, int at)
{
    tw_builder *b = l->n->b;
    tw_value **parts = tw_alloc_array(b->arena, (size_t)count + 1, sizeof *parts);
    const int axis = l->out_axis ? l->out_axis[which] : 0;
    for (int64_t r = 0; r < count; r++) {
        if (tw_onnx_sequence_of(l->n->onnx, rows[r * l->stacked + which]))
            return TW_ONNX_UNSUPPORTED(l->n, "stacked result %d is a sequence", which);
        const int64_t to = l->out_reverse && l->out_reverse[which] ? count - 1 - r : r;
        parts[to] = with_axis(b, rows[r * l->stacked + which], axis);
        if (!parts[to])
            return b->diag->code != TW_CODE_OK
                       ? false
                       : TW_ONNX_FAIL(l->n, "stacked result %d has no axis %d", which, axis);
    }
    return tw_onnx_bind(l->n, at, tw_build_concat(b, parts, (int)count, axis));
}

static tw_value *round_number(tw_builder *b, int64_t round)
{
    int64_t *data = tw_alloc(b->arena, sizeof *data);
    *data = round;
    return tw_build_data(b, (tw_shape){TW_S64, 0, {1, 1, 1, 1, 1, 1}}, data);
}

/* Round by round. *known false, without a message: a condition is not known. */
static bool unroll(const loop *l, bool *known)
{
    tw_onnx_node *n = l->n;
    tw_builder *b = n->b;
    const int lead = l->counts ? 1 : 0;
    tw_value **states = l->state, *condition = l->begun;
    tw_value **rows = tw_alloc_array(b->arena, (size_t)(l->most * l->stacked) + 1, sizeof *rows);
    int64_t round = 0;
    for (*known = true; round < l->most; round++) {
        tw_value **out = tw_alloc_array(b->arena, l->graph->n_output + 1, sizeof *out);
        tw_value **read = tw_alloc_array(b->arena, (size_t)l->rows + 1, sizeof *read);
        if (condition &&
            !(*known = l->fixes ? tw_build_constant(b, condition) : tw_build_fixed(b, condition)))
            return true;
        if (condition && tw_shape_elements(&condition->shape) != 1)
            return TW_ONNX_FAIL(n, "the condition must be one element");
        if (condition && tw_constant_at(condition, 0) == 0)
            break;
        for (int i = 0; i < l->rows; i++)
            read[i] =
                without_axis(b,
                             tw_build_slice(b, l->row_of[i], l->axis[i],
                                            l->reverse[i] ? l->most - 1 - round : round, 1, 1),
                             l->axis[i]);
        if (!run_body(l, l->counts ? round_number(b, round) : NULL,
                      condition ? condition : tw_build_scalar(b, TW_BOOL, 1), states, read, out))
            return false;
        condition = l->counts ? out[0] : NULL;
        states = out + lead;
        for (int i = 0; i < l->stacked; i++)
            rows[round * l->stacked + i] = out[lead + l->states + i];
    }
    if (l->stacked && round == 0) {
        *known = false; /* the extents of nothing, only a body says */
        return true;
    }
    for (int i = 0; i < l->states; i++)
        if (!tw_onnx_bind(n, i, states[i]))
            return false;
    for (int i = 0; i < l->stacked; i++)
        if (!stack_rows(l, rows, round, i, l->states + i))
            return false;
    return true;
}

/* ---- run ---- */

/* Row `round` of what is read row by row. */
static tw_value *read_row(const loop *l, pair *p, int i, tw_value *round)
{
    tw_builder *b = l->n->b;
    const int64_t one[1] = {1};
    tw_value *x = tw_onnx_body_take(l->n->onnx, &p->body[1], l->row_of[i]);
    if (l->reverse[i])
        round = tw_build2(b, "Sub", round_number(b, l->most - 1), round, NULL);
    round = round ? tw_build_reshape(b, round, 1, one) : NULL;
    return round ? without_axis(b, tw_build_gather(b, x, round, l->axis[i], 0), l->axis[i]) : NULL;
}

/* The stack with its row of this round. */
static tw_value *write_row(const loop *l, int which, tw_value *stack, tw_value *row,
                           tw_value *round)
{
    tw_builder *b = l->n->b;
    const int axis = l->out_axis ? l->out_axis[which] : 0;
    const int64_t one[1] = {1};
    tw_value *begin[TW_MAX_RANK], *in[3] = {stack, with_axis(b, row, axis), NULL};
    if (l->out_reverse && l->out_reverse[which])
        round = tw_build2(b, "Sub", round_number(b, l->most - 1), round, NULL);
    for (int i = 0; i < stack->shape.rank; i++)
        begin[i] = tw_build_reshape(b, i == axis ? round : round_number(b, 0), 1, one);
    in[2] = tw_build_concat(b, begin, stack->shape.rank, 0);
    return in[1] && in[2] ? tw_build(b, "UpdateSlice", in, 3, NULL) : NULL;
}

static bool give(tw_onnx_node *n, tw_value *value, const tw_value *like)
{
    int64_t dim[TW_MAX_RANK];
    if (!value)
        return false;
    for (int i = 0; i < like->shape.rank; i++)
        dim[i] = like->shape.dim[i];
    if (value->shape.rank != like->shape.rank && tw_shape_elements(&value->shape) == 1)
        value = tw_build_reshape(n->b, value, like->shape.rank, dim); /* conditions: [] or [1] */
    value = value ? tw_build_with_quant(n->b, value, like->quant) : NULL;
    if (value)
        tw_graph_output(n->b->graph, value);
    return value != NULL;
}

/* An operand that goes round: an input of either body. */
static bool carry(const loop *l, pair *p, const char *name, tw_value *outer)
{
    const int at = p->both.operands;
    if (!tw_pair_add(&p->both, outer, NULL, NULL))
        return false;
    p->both.input[1][at] = tw_onnx_body_input(l->n, name, outer);
    return true;
}

/* A stack of zeros around, an input for it here. */
static bool carry_stack(const loop *l, pair *p, int which, const tw_value *row)
{
    const int axis = l->out_axis ? l->out_axis[which] : 0;
    tw_shape shape = row->shape;
    tw_graph *here = l->n->b->graph;
    if (l->most < 0)
        return TW_ONNX_UNSUPPORTED(l->n, "the length of its stacked results depends on what is "
                                         "computed while the network runs; a trip count that is "
                                         "constant bounds it");
    if (shape.rank == TW_MAX_RANK || axis > shape.rank)
        return TW_ONNX_FAIL(l->n, "stacked result %d has no axis %d", which, axis);
    memmove(shape.dim + axis + 1, shape.dim + axis,
            sizeof *shape.dim * (size_t)(shape.rank - axis));
    shape.dim[axis] = (int32_t)l->most;
    shape.rank++;
    l->n->b->graph = p->body[1].was.graph;
    tw_value *zeros = tw_build_full(l->n->b, shape, 0);
    l->n->b->graph = here;
    return zeros && carry(l, p, "stack", zeros);
}

/* One round: inputs in the order of the operands, outputs in that of the results. */
static bool make_round(const loop *l, pair *p, tw_value *first, tw_value *begun)
{
    tw_onnx_node *n = l->n;
    const int lead = l->counts ? 1 : 0;
    tw_value **out = tw_alloc_array(n->b->arena, l->graph->n_output + 1, sizeof *out);
    tw_value **read = tw_alloc_array(n->b->arena, (size_t)l->rows + 1, sizeof *read);
    if (!carry(l, p, "round", first) || !carry(l, p, "condition", begun))
        return false;
    for (int i = 0; i < l->states; i++)
        if (!carry(l, p, "state", l->state[i]))
            return false;
    tw_value **in = p->both.input[1], *round = in[0];
    for (int i = 0; i < l->rows; i++)
        if (!(read[i] = read_row(l, p, i, round)))
            return false;
    if (!run_body(l, round, in[1], in + 2, read, out))
        return false;
    for (int i = 0; i < l->stacked; i++)
        if (!carry_stack(l, p, i, out[lead + l->states + i]))
            return false;
    if (!give(n, tw_build2(n->b, "Add", round, round_number(n->b, 1), NULL), round) ||
        !give(n, l->counts ? out[0] : in[1], in[1]))
        return false;
    for (int i = 0; i < l->states; i++)
        if (!give(n, out[lead + i], in[2 + i]))
            return false;
    for (int i = 0; i < l->stacked; i++) {
        tw_value *stack = in[2 + l->states + i];
        if (!give(n, write_row(l, i, stack, out[lead + l->states + i], round), stack))
            return false;
    }
    return true;
}

/* Another round? The condition, and less rounds than there may be. */
static bool make_condition(const loop *l, pair *p)
{
    tw_onnx_node *n = l->n;
    for (int i = 0; i < p->both.operands; i++)
        p->both.input[0][i] = tw_onnx_body_input(n, "carried", p->both.operand[i]);
    tw_value *limit = NULL, *more = p->both.input[0][1];
    if (l->trips)
        limit = tw_build_cast(n->b, tw_onnx_body_take(n->onnx, &p->body[0], l->trips), TW_S64);
    else if (l->most >= 0)
        limit = round_number(n->b, l->most);
    if (limit && tw_shape_elements(&limit->shape) == 1)
        limit = tw_build_reshape(n->b, limit, 0, NULL);
    tw_value *counted = limit ? tw_build2(n->b, "Less", p->both.input[0][0], limit, NULL) : NULL;
    if (limit && !counted)
        return false;
    if (counted)
        counted =
            tw_build_reshape(n->b, counted, more->shape.rank, (const int64_t[]){1, 1, 1, 1, 1, 1});
    if (counted)
        more = l->counts ? tw_build2(n->b, "And", more, counted, NULL) : counted;
    if (more)
        tw_graph_output(n->b->graph, more);
    return more != NULL;
}

static bool make_while(const loop *l)
{
    tw_onnx_node *n = l->n;
    pair *p = new_pair(n, 0);
    tw_loop_attributes attributes = {0};
    for (int i = 0; i < l->states; i++)
        if (tw_onnx_sequence_of(n->onnx, l->state[i]))
            return TW_ONNX_UNSUPPORTED(n,
                                       "sequence %d goes round, and how often is not known; trip "
                                       "count and condition must be constant, and the rounds few",
                                       i);
    tw_value *first = round_number(n->b, 0);
    tw_value *begun = l->begun ? l->begun : tw_build_scalar(n->b, TW_BOOL, 1);
    if (l->most > 0 && l->most <= INT32_MAX)
        attributes.most = (int32_t)l->most;
    if (!first || !begun || !tw_onnx_body_begin(n, &p->body[1]))
        return false;
    bool ok = make_round(l, p, first, begun);
    tw_onnx_body_end(n);
    if (!ok || !tw_onnx_body_begin(n, &p->body[0]))
        return false;
    ok = make_condition(l, p);
    tw_onnx_body_end(n);
    tw_node *node = ok && add_taken(n, p) ? finish(p, "While", &attributes) : NULL;
    for (int i = 0; node && i < l->states + l->stacked; i++)
        if (!tw_onnx_bind(n, i, node->out[2 + i]))
            return false;
    return node != NULL;
}

/* Unrolled where that comes to little, else run. */
static bool import_loop(const loop *l)
{
    bool known = false;
    const int64_t nodes = (int64_t)l->graph->n_node + 1;
    if (l->most >= 0 && l->most <= MOST_UNROLLED / nodes && !unroll(l, &known))
        return false;
    return known || make_while(l);
}

static bool read_body(tw_onnx_node *n, loop *l)
{
    const Tw__Onnx__Attribute *body = tw_onnx_attribute(n, "body");
    if (!body || !body->g)
        return TW_ONNX_FAIL(n, "the body is missing");
    l->n = n;
    l->graph = body->g;
    return true;
}

bool tw_onnx_op_loop(tw_onnx_node *n)
{
    loop l = {.counts = true, .most = -1, .states = n->in_count - 2};
    tw_value *trips = tw_onnx_in(n, 0);
    if (!read_body(n, &l))
        return false;
    if (n->in_count < 2)
        return TW_ONNX_FAIL(n,
                            "it has %d inputs; a trip count and a condition, which may be left "
                            "empty, come first",
                            n->in_count);
    const int outputs = (int)l.graph->n_output;
    if (outputs < 1 + l.states || n->out_count > outputs - 1)
        return TW_ONNX_FAIL(n, "%d tensors go round, the body gives %d", l.states, outputs - 1);
    l.stacked = outputs - 1 - l.states;
    l.begun = tw_onnx_in(n, 1);
    l.state = n->in + 2;
    l.fixes = l.stacked > 0;
    for (int i = 0; i < l.states; i++) {
        if (!tw_onnx_need(n, 2 + i))
            return false;
        l.fixes = l.fixes || tw_onnx_sequence_of(n->onnx, l.state[i]);
    }
    if ((trips && tw_shape_elements(&trips->shape) != 1) ||
        (l.begun && (l.begun->shape.dtype != TW_BOOL || tw_shape_elements(&l.begun->shape) != 1)))
        return TW_ONNX_FAIL(n, "the trip count and the condition must be one element each");
    /* A count that fixes extents is fixed here. */
    if (trips && (l.fixes ? tw_build_constant(n->b, trips) : tw_build_fixed(n->b, trips)))
        l.most = tw_build_int_at(trips, 0);
    else
        l.trips = trips;
    l.most = l.trips || !trips ? -1 : l.most < 0 ? 0 : l.most;
    if (l.most > INT32_MAX) {
        if (l.stacked)
            return TW_ONNX_UNSUPPORTED(n, "%lld rounds of stacked results", (long long)l.most);
        l.most = -1; /* exporters write this for none */
    }
    return import_loop(&l);
}

/* The axes of rows: `axes` and `directions`, one each, of `count` tensors. */
static bool read_axes(tw_onnx_node *n, const char *axes, const char *directions, int count,
                      int **axis, bool **reverse)
{
    const tw_onnx_list a = tw_onnx_ints(n, axes), d = tw_onnx_ints(n, directions);
    *axis = tw_alloc_array(n->b->arena, (size_t)count + 1, sizeof **axis);
    *reverse = tw_alloc(n->b->arena, (size_t)count + 1);
    if ((a.count >= 0 && a.count != count) || (d.count >= 0 && d.count != count))
        return TW_ONNX_FAIL(n, "%s and %s need %d elements each", axes, directions, count);
    for (int i = 0; i < count; i++) {
        const int64_t v = a.count > 0 ? a.v[i] : 0;
        if (v < -TW_MAX_RANK || v > TW_MAX_RANK)
            return TW_ONNX_FAIL(n, "axis %lld does not exist", (long long)v);
        (*axis)[i] = (int)v;
        (*reverse)[i] = d.count > 0 && d.v[i] != 0;
    }
    return true;
}

/* Negative axes of stacked results count from behind, the new axis included: the body says the rank. */
static bool resolve_out_axes(tw_onnx_node *n, const loop *l)
{
    for (int i = 0; i < l->stacked; i++) {
        const Tw__Onnx__ValueInfo *v = l->graph->output[l->states + i];
        const Tw__Onnx__Type *type = v->type;
        if (l->out_axis[i] >= 0)
            continue;
        if (!type || !type->tensor_type || !type->tensor_type->shape)
            return TW_ONNX_UNSUPPORTED(n, "a negative axis of a stacked result whose rank the body "
                                          "does not say");
        l->out_axis[i] += (int)type->tensor_type->shape->n_dim + 1;
        if (l->out_axis[i] < 0)
            return TW_ONNX_FAIL(n, "stacked result %d does not have its axis", i);
    }
    return true;
}

/* Rows of one length; the rounds are as many. */
static bool count_rows(loop *l)
{
    for (int i = 0; i < l->rows; i++) {
        const tw_shape *shape = &l->row_of[i]->shape;
        if (!tw_onnx_axis(l->n, l->axis[i], shape->rank, &l->axis[i]))
            return false;
        if (i > 0 && shape->dim[l->axis[i]] != l->most)
            return TW_ONNX_FAIL(l->n, "it reads %lld rows of one input and %d of another",
                                (long long)l->most, (int)shape->dim[l->axis[i]]);
        l->most = shape->dim[l->axis[i]];
    }
    return true;
}

/* Opset 8 has a batch in front of everything, and lengths of its sequences in front of the inputs: one
 * batch is taken off. */
static bool take_off_batch(tw_onnx_node *n)
{
    if (tw_onnx_in(n, 0))
        return TW_ONNX_UNSUPPORTED(n, "sequence lengths are not supported; export with opset 9 or "
                                      "later");
    n->in++;
    n->in_count--;
    for (int i = 0; i < n->in_count; i++) {
        if (!tw_onnx_need(n, i))
            return false;
        if (n->in[i]->shape.rank < 1 || n->in[i]->shape.dim[0] != 1)
            return TW_ONNX_UNSUPPORTED(n, "more than one batch (opset 8) is not supported; export "
                                          "with opset 9 or later");
        n->in[i] = without_axis(n->b, n->in[i], 0);
    }
    return true;
}

static bool put_on_batch(tw_onnx_node *n)
{
    for (int i = 0; i < n->out_count; i++)
        if (n->out[i] && !(n->out[i] = with_axis(n->b, n->out[i], 0)))
            return TW_ONNX_FAIL(n, "result %d has too many axes", i);
    return true;
}

bool tw_onnx_op_scan(tw_onnx_node *n)
{
    const bool old = n->opset < 9;
    loop l = {.most = -1};
    if (!read_body(n, &l) || (old && n->in_count > 0 && !take_off_batch(n)))
        return false;
    const int64_t rows = tw_onnx_int(n, "num_scan_inputs", -1);
    if (rows < 1 || rows > n->in_count)
        return TW_ONNX_FAIL(n, "num_scan_inputs is %lld, it has %d inputs", (long long)rows,
                            n->in_count);
    l.rows = (int)rows;
    l.states = n->in_count - l.rows;
    l.state = n->in;
    l.row_of = n->in + l.states;
    if ((int)l.graph->n_output < l.states || n->out_count > (int)l.graph->n_output)
        return TW_ONNX_FAIL(n, "the body gives %zu tensors", l.graph->n_output);
    l.stacked = (int)l.graph->n_output - l.states;
    l.fixes = l.stacked > 0;
    for (int i = 0; i < n->in_count; i++)
        if (!tw_onnx_need(n, i))
            return false;
    if (!read_axes(n, old ? "" : "scan_input_axes", old ? "directions" : "scan_input_directions",
                   l.rows, &l.axis, &l.reverse) ||
        !read_axes(n, old ? "" : "scan_output_axes", old ? "" : "scan_output_directions", l.stacked,
                   &l.out_axis, &l.out_reverse) ||
        !resolve_out_axes(n, &l) || !count_rows(&l))
        return false;
    return import_loop(&l) && (!old || put_on_batch(n));
}
