/* Control flow that the importer takes away: branches are chosen where the condition is known, else both
 * are computed and the results picked; loops are unrolled where the number of rounds is known. */
#include "import/tflite/tflite.h"

enum {
    MOST_ROUNDS = 1024 /* of a loop */
};

/* A list of n's inputs from `first` on; false where one is missing. */
static bool carried(tw_tfl_node *n, uint32_t first, tw_value ***list)
{
    uint32_t count = n->operator->in_count;
    *list = tw_alloc_array(n->import->scratch, (size_t)count + 1, sizeof **list);
    for (uint32_t i = first; i < count; i++) {
        (*list)[i - first] = tw_tfl_in(n, (int)i);
        if (!(*list)[i - first])
            return n->b->diag->code != TW_CODE_OK
                       ? false
                       : TW_TFL_FAIL(n, "input %u is missing", (unsigned)i);
    }
    return true;
}

static bool set_all(tw_tfl_node *n, tw_value *const *values)
{
    for (uint32_t i = 0; i < n->operator->out_count; i++)
        if (!tw_tfl_set(n, (int)i, values[i]))
            return false;
    return true;
}

static bool is_condition(tw_tfl_node *n, const tw_value *value)
{
    return (value->shape.dtype == TW_BOOL && tw_shape_elements(&value->shape) == 1) ||
           TW_TFL_FAIL(n, "the condition must be one BOOL");
}

/* ---- branches ---- */

/* The results of a branch, which may leave no trace beside them where it is only picked from. */
static bool compute_branch(tw_tfl_node *n, int32_t subgraph, tw_value *const *in, tw_value **out)
{
    const tw_tfl_import *import = n->import;
    const int states = import->b.graph->state_count, assignments = import->assignments;
    if (!tw_tfl_call(n, subgraph, in, n->operator->in_count - 1, out, n->operator->out_count))
        return false;
    return (states == import->b.graph->state_count && assignments == import->assignments) ||
           TW_TFL_UNSUPPORTED(n,
                              "a branch that keeps state, under a condition that is computed while "
                              "the network runs, is not supported");
}

static tw_value *pick(tw_tfl_node *n, tw_value *condition, tw_value *yes, tw_value *no)
{
    tw_value *in[] = {condition, yes, no};
    if (!tw_shape_equal(&yes->shape, &no->shape) || !tw_quant_equal(&yes->quant, &no->quant)) {
        TW_TFL_UNSUPPORTED(n, "branches whose results differ in shape, type or scale, under a "
                              "condition that is computed while the network runs, are not "
                              "supported");
        return NULL;
    }
    tw_node *node = tw_build_node(n->b, "Where", in, 3, NULL);
    if (node)
        node->out[0]->quant = yes->quant;
    return node ? node->out[0] : NULL;
}

bool tw_tfl_op_if(tw_tfl_node *n)
{
    const int32_t branch[] = {tw_tfl_int(n, TW_FIELD(If, else_subgraph_index), -1),
                              tw_tfl_int(n, TW_FIELD(If, then_subgraph_index), -1)};
    const uint32_t count = n->operator->out_count;
    tw_value *condition = tw_tfl_in(n, 0), **in, **yes, **no;
    if (!condition || !is_condition(n, condition) || !carried(n, 1, &in))
        return false;
    yes = tw_alloc_array(n->import->scratch, (size_t)count + 1, sizeof *yes);
    no = tw_alloc_array(n->import->scratch, (size_t)count + 1, sizeof *no);
    if (tw_build_constant(n->b, condition))
        return tw_tfl_call(n, branch[tw_build_int_at(condition, 0) != 0], in,
                           n->operator->in_count - 1, yes, count) &&
               set_all(n, yes);
    if (!compute_branch(n, branch[1], in, yes) || !compute_branch(n, branch[0], in, no))
        return false;
    int64_t single[1] = {0};
    condition = tw_build_reshape(n->b, condition, 0, single);
    for (uint32_t i = 0; i < count; i++) {
        yes[i] = condition ? pick(n, condition, yes[i], no[i]) : NULL;
        if (!yes[i])
            return false;
    }
    return set_all(n, yes);
}

/* ---- loops ---- */

/* Does the loop go on with these values? */
static bool ask(tw_tfl_node *n, int32_t subgraph, tw_value *const *in, bool *more)
{
    tw_value *answer;
    if (!tw_tfl_call(n, subgraph, in, n->operator->in_count, &answer, 1) ||
        !is_condition(n, answer))
        return false;
    if (!tw_build_constant(n->b, answer))
        return TW_TFL_UNSUPPORTED(n, "the number of rounds depends on what is computed while the "
                                     "network runs; loops with a fixed number are supported");
    *more = tw_build_int_at(answer, 0) != 0;
    return true;
}

bool tw_tfl_op_while(tw_tfl_node *n)
{
    const int32_t condition = tw_tfl_int(n, TW_FIELD(While, cond_subgraph_index), -1);
    const int32_t body = tw_tfl_int(n, TW_FIELD(While, body_subgraph_index), -1);
    const uint32_t count = n->operator->in_count;
    tw_value **values, **next;
    bool more = false;
    if (n->operator->out_count != count)
        return TW_TFL_FAIL(n, "it has %u inputs and %u results; it must have as many",
                           (unsigned)count, (unsigned)n->operator->out_count);
    if (!carried(n, 0, &values) || !ask(n, condition, values, &more))
        return false;
    for (int round = 0; more; round++) {
        if (round == MOST_ROUNDS)
            return TW_TFL_UNSUPPORTED(n, "more than %d rounds", MOST_ROUNDS);
        next = tw_alloc_array(n->import->scratch, (size_t)count + 1, sizeof *next);
        if (!tw_tfl_call(n, body, values, count, next, count))
            return false;
        values = next;
        if (!ask(n, condition, values, &more))
            return false;
    }
    return set_all(n, values);
}
