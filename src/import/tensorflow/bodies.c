/* If and While that the data decide: the functions become bodies, graphs of their own. What goes into a
 * function are tensors, which become inputs of the body or constants in it, and handles and lists, which
 * are followed as outside; the variables that a body reads or assigns go in and out beside them.
 */
#include <string.h>

#include "import/bodies.h"
#include "import/tensorflow/tensorflow.h"
#include "ops/control.h"

/* A function as a body. */
typedef struct tw_tf_body {
    struct tw_tf_body *around;
    tw_graph *graph;
    tw_value **inner, **input; /* by tensor that goes in; input: null where it is a constant */
    tw_tf_item *out;
    int out_count;
    tw_tf_variables end; /* as it leaves them */
} body;

/* The node while it is put together. in: what goes into both bodies, and its tensors in a row. */
typedef struct tw_tf_pair {
    tw_tf_node *n;
    const tw_tf_item *in;
    int in_count;
    tw_value **tensor;
    int tensors;
    body body[2];
    tw_pair both;
} pair;

/* --- items and their tensors ------------------------------------------------------------------- */

static int tensors_of(const tw_tf_item *item)
{
    int count = item->kind == TW_TF_TENSOR;
    for (int i = 0; item->kind == TW_TF_LIST && i < item->list->count; i++)
        count += item->list->items[i] != NULL;
    return count;
}

/* The item's tensors, behind those that are there. */
static void spread(const tw_tf_item *item, tw_value **tensor, int *count)
{
    if (item->kind == TW_TF_TENSOR)
        tensor[(*count)++] = item->value;
    for (int i = 0; item->kind == TW_TF_LIST && i < item->list->count; i++)
        if (item->list->items[i])
            tensor[(*count)++] = item->list->items[i];
}

/* The same with other tensors. */
static tw_tf_item gather(tw_tf_import *import, const tw_tf_item *item, tw_value *const *tensor,
                         int *count)
{
    tw_tf_item own = *item;
    own.branch = NULL;
    if (item->kind == TW_TF_TENSOR)
        own.value = tensor[(*count)++];
    if (item->kind == TW_TF_LIST) {
        tw_tf_list *list = tw_copy(import->scratch, item->list, sizeof *list);
        list->items = tw_alloc_array(import->scratch, (size_t)list->count + 1, sizeof(tw_value *));
        for (int i = 0; i < list->count; i++)
            list->items[i] = item->list->items[i] ? tensor[(*count)++] : NULL;
        own.list = list;
    }
    return own;
}

/* Do two items differ in their tensors alone? */
static bool alike(tw_tf_node *n, const tw_tf_item *a, const tw_tf_item *b)
{
    bool same = a->kind == b->kind && a->variable == b->variable;
    if (same && a->kind == TW_TF_LIST) {
        same = a->list->count == b->list->count;
        for (int i = 0; same && i < a->list->count; i++)
            same = (a->list->items[i] != NULL) == (b->list->items[i] != NULL);
    }
    return same ||
           TW_TF_UNSUPPORTED(n, "handles, lists of tensors or texts that differ from run to "
                                "run are not supported");
}

static pair *new_pair(tw_tf_node *n, int first)
{
    tw_arena *scratch = n->import->scratch;
    pair *p = tw_alloc(scratch, sizeof *p);
    int count = 0;
    p->n = n;
    p->in = n->in + first;
    p->in_count = n->in_count - first;
    p->both.b = n->b;
    p->both.op = n->op;
    p->both.first = first;
    for (int i = 0; i < p->in_count; i++)
        p->tensors += tensors_of(&p->in[i]);
    p->tensor = tw_alloc_array(scratch, (size_t)p->tensors + 1, sizeof *p->tensor);
    for (int i = 0; i < p->in_count; i++)
        spread(&p->in[i], p->tensor, &count);
    return p;
}

/* --- bodies ------------------------------------------------------------------------------------ */

/* carried: by tensor; null: none is. */
static bool make_body(pair *p, int which, const char *function, const bool *carried)
{
    tw_tf_import *import = p->n->import;
    body *made = &p->body[which];
    const char *node = import->b.node;
    int depth = 0, count = 0;
    for (const body *at = import->body; at; at = at->around)
        depth++;
    if (depth == TW_MAX_DEPTH)
        return TW_TF_UNSUPPORTED(p->n, "more than %d branches and loops inside each other",
                                 TW_MAX_DEPTH);
    *made = (body){.around = import->body, .graph = tw_graph_new(import->b.arena, node)};
    made->inner = tw_alloc_array(import->scratch, (size_t)p->tensors + 1, sizeof *made->inner);
    made->input = tw_alloc_array(import->scratch, (size_t)p->tensors + 1, sizeof *made->input);
    for (int i = 0; i < p->tensors; i++)
        made->inner[i] =
            tw_body_value(made->graph, p->tensor[i], carried && carried[i], &made->input[i]);
    tw_tf_item *in = tw_alloc_array(import->scratch, (size_t)p->in_count + 1, sizeof *in);
    for (int i = 0; i < p->in_count; i++)
        in[i] = gather(import, &p->in[i], made->inner, &count);
    const tw_tf_variables before = tw_tf_variables_save(import);
    const tw_outside outside = tw_body_enter(&import->b, made->graph);
    tw_tf_variables_begin(import);
    import->body = made;
    const bool ok = tw_tf_call(p->n, function, in, p->in_count, &made->out, &made->out_count);
    made->end = tw_tf_variables_save(import);
    import->body = made->around;
    tw_tf_variables_restore(import, &before);
    tw_body_leave(&import->b, &outside);
    return ok;
}

static tw_value *at(tw_value *const *list, int index, int count)
{
    return index < count ? list[index] : NULL;
}

/* What a body has made of a variable; null: nothing. */
static tw_value *changed(const body *made, int index)
{
    tw_value *now = at(made->end.now, index, made->end.count);
    return now && now != made->end.taken[index] && now != made->end.initial[index] ? now : NULL;
}

static bool is_changed(const pair *p, int index)
{
    return changed(&p->body[0], index) || changed(&p->body[1], index);
}

/* The variables that a body assigns, or those that they only read. */
static bool add_variables(pair *p, bool assigned)
{
    tw_tf_import *import = p->n->import;
    for (int i = 0; i < import->variable_count; i++) {
        const bool read = at(p->body[0].end.taken, i, p->body[0].end.count) ||
                          at(p->body[1].end.taken, i, p->body[1].end.count);
        if (is_changed(p, i) != assigned || (!read && !assigned))
            continue;
        tw_value *outer = tw_tf_variable_read(p->n, import->variable_list[i]), *inner[2];
        for (int k = 0; outer && k < 2; k++) {
            inner[k] = tw_tf_variable_inside(p->body[k].graph, &p->body[k].end, i, outer);
            if (!changed(&p->body[k], i) && i < p->body[k].end.count)
                p->body[k].end.now[i] = inner[k];
        }
        if (!outer || !tw_pair_add(&p->both, outer, inner[0], inner[1]))
            return false;
    }
    return true;
}

/* Tensors that go in as inputs, those that are carried or the others. */
static bool add_tensors(pair *p, const bool *carried, bool which)
{
    for (int i = 0; i < p->tensors; i++)
        if ((carried && carried[i]) == which && p->body[0].input[i] &&
            !tw_pair_add(&p->both, p->tensor[i], p->body[0].input[i], p->body[1].input[i]))
            return false;
    return true;
}

/* An output, of the type and shape that it has outside, where that is known. */
static bool add_output(pair *p, int which, tw_value *value)
{
    if (value)
        tw_graph_output(p->body[which].graph, value);
    return value != NULL;
}

static bool add_outputs_of(pair *p, int which, const tw_tf_item *item)
{
    tw_value **tensor =
        tw_alloc_array(p->n->import->scratch, (size_t)tensors_of(item) + 1, sizeof *tensor);
    int count = 0;
    spread(item, tensor, &count);
    for (int i = 0; i < count; i++)
        if (!add_output(p, which, tensor[i]))
            return false;
    return true;
}

static bool add_variable_outputs(pair *p, int which)
{
    const tw_tf_variables *end = &p->body[which].end;
    for (int i = 0; i < p->n->import->variable_count; i++)
        if (is_changed(p, i) && !add_output(p, which, at(end->now, i, end->count)))
            return TW_TF_FAIL(p->n, "a variable is declared in a branch, and assigned in it");
    return true;
}

/* The node, and its results behind `results` to the variables. */
static tw_node *finish(pair *p, const char *op, const void *attributes, int results)
{
    tw_tf_import *import = p->n->import;
    for (int k = 0; k < 2; k++)
        p->both.graph[k] = p->body[k].graph;
    tw_node *node = tw_pair_finish(&p->both, op, attributes);
    for (int i = 0; node && i < import->variable_count; i++)
        if (is_changed(p, i))
            tw_tf_variable_becomes(import->variable_list[i], node->out[results++]);
    return node;
}

/* --- branches ---------------------------------------------------------------------------------- */

bool tw_tf_make_if(tw_tf_node *n, tw_value *condition, const char *yes, const char *no)
{
    pair *p = new_pair(n, 1);
    const body *b = p->body;
    int results = 0;
    if (!make_body(p, 0, yes, NULL) || !make_body(p, 1, no, NULL))
        return false;
    if (b[0].out_count != b[1].out_count)
        return TW_TF_FAIL(n, "its branches give %d and %d results", b[0].out_count, b[1].out_count);
    if (!tw_pair_add(&p->both, condition, NULL, NULL) || !add_tensors(p, NULL, false) ||
        !add_variables(p, true) || !add_variables(p, false))
        return false;
    for (int i = 0; i < b[0].out_count; i++) {
        if (!alike(n, &b[0].out[i], &b[1].out[i]) || !add_outputs_of(p, 0, &b[0].out[i]) ||
            !add_outputs_of(p, 1, &b[1].out[i]))
            return false;
        results += tensors_of(&b[0].out[i]);
    }
    if (!add_variable_outputs(p, 0) || !add_variable_outputs(p, 1) ||
        !tw_tf_results(n, b[0].out_count))
        return false;
    if (b[0].graph->output_count == 0)
        return true; /* it does nothing */
    tw_node *node = finish(p, "If", NULL, results);
    for (int i = 0, count = 0; node && i < b[0].out_count; i++)
        n->out[i] = gather(n->import, &b[0].out[i], node->out, &count);
    return node != NULL;
}

/* --- loops ------------------------------------------------------------------------------------- */

/* Does the function give its argument i as result i, as it was? */
static bool passes(const Tw__Tf__Function *f, const tw_map *nodes, size_t i)
{
    const char *argument = f->signature->input_arg[i]->name, *text = NULL;
    const char *result = f->signature->output_arg[i]->name;
    for (size_t k = 0; k < f->n_ret && result; k++)
        if (f->ret[k]->key && strcmp(f->ret[k]->key, result) == 0)
            text = f->ret[k]->value;
    for (int hop = 0; text && argument && hop < TW_TF_DEPTH; hop++) {
        if (strcmp(text, argument) == 0)
            return true;
        const char *colon = strchr(text, ':');
        char name[256];
        const size_t length = colon ? (size_t)(colon - text) : strlen(text);
        if (length >= sizeof name)
            return false;
        memcpy(name, text, length);
        name[length] = 0;
        const Tw__Tf__Node *node = tw_map_get(nodes, name);
        if (!node || !node->op || strcmp(node->op, "Identity") != 0 || node->n_input < 1)
            return false;
        text = node->input[0];
    }
    return false;
}

/* By tensor that goes in: does a round change it? */
static bool *find_carried(const pair *p, const char *function)
{
    tw_tf_import *import = p->n->import;
    const Tw__Tf__Function *f = tw_map_get(&import->functions, function);
    bool *carried = tw_alloc(import->scratch, (size_t)p->tensors + 1);
    tw_map nodes = {NULL, 0, 0};
    const bool known = f && f->signature && f->signature->n_input_arg == (size_t)p->in_count &&
                       f->signature->n_output_arg == (size_t)p->in_count;
    for (size_t i = 0; known && i < f->n_node; i++)
        if (f->node[i]->name)
            tw_map_put(import->scratch, &nodes, f->node[i]->name, f->node[i]);
    for (int i = 0, tensor = 0; i < p->in_count; i++) {
        const bool same = known && passes(f, &nodes, (size_t)i);
        for (int k = tensors_of(&p->in[i]); k > 0; k--)
            carried[tensor++] = !same;
    }
    return carried;
}

static bool is_condition(const body *made)
{
    return made->out_count == 1 && made->out[0].kind == TW_TF_TENSOR &&
           made->out[0].value->shape.dtype == TW_BOOL &&
           tw_shape_elements(&made->out[0].value->shape) == 1;
}

/* The results of a round, in the order of what is carried. */
static bool add_round(pair *p, const bool *carried, int *results)
{
    const body *round = &p->body[1];
    int tensor = 0;
    if (round->out_count != p->in_count)
        return TW_TF_FAIL(p->n, "its body gives %d results for %d variables", round->out_count,
                          p->in_count);
    for (int i = 0; i < p->in_count; i++) {
        const int count = tensors_of(&p->in[i]);
        if (!alike(p->n, &p->in[i], &round->out[i]))
            return false;
        if (count && carried[tensor]) {
            *results += count;
            if (!add_outputs_of(p, 1, &round->out[i]))
                return false;
        }
        tensor += count;
    }
    return true;
}

bool tw_tf_make_while(tw_tf_node *n, const char *condition, const char *function)
{
    const tw_loop_attributes attributes = {0};
    pair *p = new_pair(n, 0);
    const bool *carried = find_carried(p, function);
    int results = 0;
    if (!make_body(p, 0, condition, carried) || !make_body(p, 1, function, carried))
        return false;
    if (!is_condition(&p->body[0]))
        return TW_TF_FAIL(n, "its condition must be one truth value");
    for (int i = 0; i < n->import->variable_count; i++)
        if (changed(&p->body[0], i))
            return TW_TF_UNSUPPORTED(n, "a condition that assigns variables");
    if (!add_tensors(p, carried, true) || !add_variables(p, true) ||
        !add_tensors(p, carried, false) || !add_variables(p, false) ||
        !add_output(p, 0, p->body[0].out[0].value) || !add_round(p, carried, &results) ||
        !add_variable_outputs(p, 1) || !tw_tf_results(n, n->in_count))
        return false;
    if (p->body[1].graph->output_count == 0)
        return TW_TF_FAIL(n, "a loop whose rounds change nothing");
    tw_node *node = finish(p, "While", &attributes, results);
    for (int i = 0, tensor = 0, count = 0; node && i < n->in_count; i++) {
        const int own = tensors_of(&n->in[i]);
        n->out[i] =
            own && carried[tensor] ? gather(n->import, &n->in[i], node->out, &count) : n->in[i];
        tensor += own;
    }
    return node != NULL;
}
