/* Control flow: branches are chosen and loops unrolled where the condition is known; where it is
 * computed while the network runs they become If and While, and variables go in and out of the bodies
 * like any other tensor. */
#include <string.h>

#include "import/bodies.h"
#include "import/tflite/tflite.h"
#include "ops/control.h"

enum {
    MOST_ROUNDS = 1024 /* of a loop that is unrolled */
};

/* n's inputs from `first` on; false where one is missing. */
static bool read_arguments(tw_tfl_node *n, uint32_t first, tw_tfl_arguments *a)
{
    const tw_tfl_operator *o = n->operator;
    tw_arena *scratch = n->import->scratch;
    a->count = o->in_count - first;
    a->in = tw_alloc_array(scratch, (size_t)a->count + 1, sizeof *a->in);
    a->handle = tw_alloc_array(scratch, (size_t)a->count + 1, sizeof(tw_tfl_variable *));
    for (uint32_t i = 0; i < a->count; i++) {
        const int32_t tensor = o->in[first + i];
        a->handle[i] = tensor >= 0 ? n->import->handles[tensor] : NULL;
        if (a->handle[i])
            continue;
        a->in[i] = tw_tfl_in(n, (int)(first + i));
        if (!a->in[i])
            return n->b->diag->code != TW_CODE_OK
                       ? false
                       : TW_TFL_FAIL(n, "input %u is missing", (unsigned)(first + i));
    }
    return true;
}

/* Result i is a value, or a handle. */
static bool set_result(tw_tfl_node *n, uint32_t i, tw_value *value, tw_tfl_variable *handle)
{
    const int32_t tensor = n->operator->out[i];
    if (!handle || value)
        return tw_tfl_set(n, (int)i, value);
    if (tensor >= 0)
        n->import->handles[tensor] = handle;
    return true;
}

static bool is_condition(tw_tfl_node *n, const tw_value *value)
{
    return (value && value->shape.dtype == TW_BOOL && tw_shape_elements(&value->shape) == 1) ||
           TW_TFL_FAIL(n, "the condition must be one BOOL");
}

/* ---- nodes with bodies ---- */

/* A node of two bodies while it is put together. */
typedef struct tw_tfl_pair {
    tw_tfl_node *n;
    tw_tfl_body body[2];
    tw_pair both;
    int results;
} pair;

static pair *new_pair(tw_tfl_node *n, int first)
{
    pair *p = tw_alloc(n->import->scratch, sizeof *p);
    p->n = n;
    p->both.b = n->b;
    p->both.op = n->op;
    p->both.first = first;
    return p;
}

static bool is_assigned(const pair *p, int variable)
{
    return p->body[0].after[variable] || p->body[1].after[variable];
}

/* The variables that a body assigns, or those that they only read. */
static bool add_variables(pair *p, bool assigned)
{
    tw_tfl_import *import = p->n->import;
    for (int i = 0; i < import->variable_count; i++) {
        const tw_value *like = NULL;
        for (int k = 0; k < 2; k++) {
            like = like ? like : p->body[k].taken[i];
            like = like ? like : p->body[k].after[i];
        }
        if (!like || is_assigned(p, i) != assigned)
            continue;
        tw_value *outer = tw_tfl_variable_read(p->n, i, like);
        if (!outer ||
            !tw_pair_add(&p->both, outer, tw_tfl_variable_taken(import, &p->body[0], i, outer),
                         tw_tfl_variable_taken(import, &p->body[1], i, outer)))
            return false;
    }
    return true;
}

/* An output of a body, as the tensor it stands for is quantised. */
static bool add_output(pair *p, int body, tw_value *value, tw_quant quant)
{
    value = tw_tfl_body_relabel(p->n, &p->body[body], value, quant);
    if (value)
        tw_graph_output(p->body[body].graph, value);
    return value != NULL;
}

static bool add_variable_outputs(pair *p, int body)
{
    tw_tfl_import *import = p->n->import;
    for (int i = 0; i < import->variable_count; i++) {
        tw_value *taken = p->body[body].taken[i], *after = p->body[body].after[i];
        if (is_assigned(p, i) && !add_output(p, body, after ? after : taken, taken->quant))
            return false;
    }
    return true;
}

/* The node, and its results behind `results` to the variables. */
static tw_node *finish(pair *p, const char *op, const void *attributes)
{
    tw_tfl_import *import = p->n->import;
    for (int k = 0; k < 2; k++)
        p->both.graph[k] = p->body[k].graph;
    tw_node *node = tw_pair_finish(&p->both, op, attributes);
    for (int i = 0; node && i < import->variable_count; i++)
        if (is_assigned(p, i) && !tw_tfl_variable_assign(p->n, i, node->out[p->results++]))
            return NULL;
    return node;
}

/* ---- branches ---- */

static bool make_if(tw_tfl_node *n, tw_value *condition, const int32_t *branch,
                    const tw_tfl_arguments *a)
{
    const uint32_t count = n->operator->out_count;
    pair *p = new_pair(n, 1);
    for (int k = 0; k < 2; k++)
        if (!tw_tfl_body_of(n, branch[k], a, NULL, count, &p->body[k]))
            return false;
    if (!tw_pair_add(&p->both, condition, NULL, NULL))
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (p->body[0].in[i] &&
            !tw_pair_add(&p->both, a->in[i], p->body[0].in[i], p->body[1].in[i]))
            return false;
    if (!add_variables(p, true) || !add_variables(p, false))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!p->body[0].out[i] || !p->body[1].out[i])
            return TW_TFL_UNSUPPORTED(n, "a branch that gives a variable is not supported");
        for (int k = 0; k < 2; k++)
            if (!add_output(p, k, p->body[k].out[i], p->body[0].out[i]->quant))
                return false;
    }
    p->results = (int)count;
    if (!add_variable_outputs(p, 0) || !add_variable_outputs(p, 1))
        return false;
    if (p->body[0].graph->output_count == 0)
        return true; /* it does nothing */
    tw_node *node = finish(p, "If", NULL);
    for (uint32_t i = 0; i < count; i++)
        if (!node || !set_result(n, i, node->out[i], NULL))
            return false;
    return node != NULL;
}

bool tw_tfl_op_if(tw_tfl_node *n)
{
    const int32_t branch[] = {tw_tfl_int(n, TW_FIELD(If, then_subgraph_index), -1),
                              tw_tfl_int(n, TW_FIELD(If, else_subgraph_index), -1)};
    const uint32_t count = n->operator->out_count;
    tw_value *condition = tw_tfl_in(n, 0);
    tw_tfl_arguments a;
    if (!condition || !is_condition(n, condition) || !read_arguments(n, 1, &a))
        return false;
    if (!tw_build_constant(n->b, condition))
        return make_if(n, condition, branch, &a);
    tw_value **out = tw_alloc_array(n->import->scratch, (size_t)count + 1, sizeof *out);
    if (!tw_tfl_call(n, branch[tw_build_int_at(condition, 0) == 0], &a, out, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!set_result(n, i, out[i], NULL))
            return false;
    return true;
}

/* ---- loops ---- */

/* Does the loop go on with these values? False with `known` false and no message: who knows. */
static bool ask(tw_tfl_node *n, int32_t subgraph, const tw_tfl_arguments *a, bool *known,
                bool *more)
{
    tw_value *answer;
    if (!tw_tfl_call(n, subgraph, a, &answer, 1) || !is_condition(n, answer))
        return false;
    *known = tw_build_constant(n->b, answer);
    *more = *known && tw_build_int_at(answer, 0) != 0;
    return true;
}

/* Round by round while the condition is known; `known` false: it is not, or not for so many rounds. */
static bool unroll(tw_tfl_node *n, int32_t condition, int32_t body, tw_tfl_arguments *a,
                   bool *known)
{
    bool more = false;
    if (!ask(n, condition, a, known, &more))
        return false;
    for (int round = 0; more; round++) {
        tw_value **next = tw_alloc_array(n->import->scratch, (size_t)a->count + 1, sizeof *next);
        *known = round < MOST_ROUNDS;
        if (!*known)
            return true;
        if (!tw_tfl_call(n, body, a, next, a->count))
            return false;
        a->in = next;
        if (!ask(n, condition, a, known, &more))
            return false;
    }
    return true;
}

/* The tensors that a round leaves as they were. */
static bool *find_carried(tw_tfl_node *n, int32_t body, const tw_tfl_arguments *a)
{
    const tw_tfl_model *model = n->import->model;
    bool *carried = tw_alloc(n->import->scratch, (size_t)a->count + 1);
    for (uint32_t i = 0; i < a->count; i++) {
        const tw_tfl_subgraph *g =
            body >= 0 && (uint32_t)body < model->subgraph_count ? &model->subgraphs[body] : NULL;
        bool known = g && i < g->in_count && i < g->out_count;
        carried[i] = a->in[i] && !(known && g->in[i] == g->out[i]);
    }
    return carried;
}

static bool add_loop_operands(pair *p, const tw_tfl_arguments *a, const bool *carried, bool which)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (carried[i] == which && p->body[0].in[i] &&
            !tw_pair_add(&p->both, a->in[i], p->body[0].in[i], p->body[1].in[i]))
            return false;
    return true;
}

static bool assigns_in_condition(const pair *p)
{
    for (int i = 0; i < p->n->import->variable_count; i++)
        if (p->body[0].after[i])
            return true;
    return false;
}

static bool make_while(tw_tfl_node *n, int32_t condition, int32_t body, const tw_tfl_arguments *a)
{
    const bool *carried = find_carried(n, body, a);
    const tw_loop_attributes attributes = {0};
    pair *p = new_pair(n, 0);
    if (!tw_tfl_body_of(n, condition, a, carried, 1, &p->body[0]) ||
        !is_condition(n, p->body[0].out[0]) ||
        !tw_tfl_body_of(n, body, a, carried, a->count, &p->body[1]))
        return false;
    if (assigns_in_condition(p))
        return TW_TFL_UNSUPPORTED(n, "a condition that assigns variables is not supported");
    if (!add_loop_operands(p, a, carried, true) || !add_variables(p, true) ||
        !add_loop_operands(p, a, carried, false) || !add_variables(p, false))
        return false;
    tw_graph_output(p->body[0].graph, p->body[0].out[0]);
    for (uint32_t i = 0; i < a->count; i++) {
        if (!carried[i])
            continue;
        if (!p->body[1].out[i] || !add_output(p, 1, p->body[1].out[i], a->in[i]->quant))
            return false;
        p->results++;
    }
    if (!add_variable_outputs(p, 1))
        return false;
    tw_node *node = p->body[1].graph->output_count ? finish(p, "While", &attributes) : NULL;
    for (uint32_t i = 0, result = 0; i < a->count; i++)
        if ((carried[i] && !node) ||
            !set_result(n, i, carried[i] ? node->out[result++] : a->in[i], a->handle[i]))
            return false;
    return n->b->diag->code == TW_CODE_OK;
}

bool tw_tfl_op_while(tw_tfl_node *n)
{
    const int32_t condition = tw_tfl_int(n, TW_FIELD(While, cond_subgraph_index), -1);
    const int32_t body = tw_tfl_int(n, TW_FIELD(While, body_subgraph_index), -1);
    const uint32_t count = n->operator->in_count;
    tw_tfl_arguments first, last;
    bool known = false;
    if (n->operator->out_count != count)
        return TW_TFL_FAIL(n, "it has %u inputs and %u results; it must have as many",
                           (unsigned)count, (unsigned)n->operator->out_count);
    if (!read_arguments(n, 0, &first))
        return false;
    tw_value **now = tw_tfl_variables_now(n->import);
    const int variables = n->import->variable_count;
    last = first;
    if (!unroll(n, condition, body, &last, &known))
        return false;
    if (!known) { /* what was unrolled so far is forgotten */
        tw_tfl_variables_restore(n->import, now, variables);
        return make_while(n, condition, body, &first);
    }
    for (uint32_t i = 0; i < count; i++)
        if (!set_result(n, i, last.in[i], first.handle[i]))
            return false;
    return true;
}
