/* Evaluation: the nodes of a graph or of a function's body, as far as what is asked for needs them, in
 * an order in which everything comes before its readers. Functions are evaluated where they are called,
 * so that shapes and constants are known inside them.
 */
#include <string.h>

#include "import/tensorflow/tensorflow.h"

/* One node: what is known of it. */
typedef struct tw_vertex {
    enum { UNSEEN, OPEN, ORDERED } mark;
    bool effect; /* it, or something before it, assigns a variable */
    bool behind; /* a Switch */
    bool needed;
    bool awaited; /* for its effects */
    bool done;
    bool dead;                  /* behind a branch that is not taken */
    const tw_tf_branch *branch; /* that it is on */
    tw_tf_item *items;
    int count;
} tw_vertex;

struct tw_tf_scope {
    Tw__Tf__Node **nodes;
    int count;
    tw_map names;     /* of nodes -> their tw_vertex */
    tw_map arguments; /* of the function -> tw_tf_item */
    tw_vertex *slots;
    int *order; /* of nodes: what is needed before what needs it */
    int ordered;
};

/* An input of a node, or a tensor asked for. */
typedef struct tw_ref {
    bool control;
    const tw_tf_item *argument; /* or null: */
    int node, out;
} tw_ref;

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* --- names ------------------------------------------------------------------------------------- */

static bool read_index(const char *text, int *index)
{
    int64_t value = 0;
    if (!*text)
        return false;
    for (; *text >= '0' && *text <= '9' && value <= INT32_MAX; text++)
        value = value * 10 + (*text - '0');
    *index = (int)(value > INT32_MAX ? INT32_MAX : value);
    return !*text;
}

/* Position of the result called `name` among a node's: by the operator's row, or the function's own
 * signature where it is called by its name. A list has one name. */
static int result_offset(const tw_tf_import *import, const Tw__Tf__Node *node, const char *name)
{
    const tw_tf_row *row = tw_map_get(&import->rows, or_empty(node->op));
    const Tw__Tf__Function *f = row ? NULL : tw_map_get(&import->functions, or_empty(node->op));
    size_t length = strlen(name);
    int i = 0;
    if (f && f->signature)
        for (size_t k = 0; k < f->signature->n_output_arg; k++)
            if (strcmp(or_empty(f->signature->output_arg[k]->name), name) == 0)
                return (int)k;
    for (const char *at = row ? row->results : ""; *at; i++) {
        size_t n = strcspn(at, " ");
        if (n == length && memcmp(at, name, n) == 0)
            return i;
        at += n + (at[n] == ' ');
    }
    return 0;
}

/* "name", "name:3", "^name"; in a function "argument", "name:result:3", "^name". */
static bool resolve(tw_tf_import *import, const tw_tf_scope *scope, const char *text, tw_ref *ref)
{
    *ref = (tw_ref){.control = *text == '^', .node = -1};
    const char *at = text + ref->control, *colon = strchr(at, ':');
    const char *name = tw_strndup(import->scratch, at, colon ? (size_t)(colon - at) : strlen(at));
    ref->argument = ref->control ? NULL : tw_map_get(&scope->arguments, name);
    if (ref->argument)
        return true;
    const tw_vertex *slot = tw_map_get(&scope->names, name);
    if (!slot)
        return tw_fail(import->b.diag, TW_CODE_FAILED, import->b.node, NULL,
                       "'%.200s' is read, but no node has that name", text);
    ref->node = (int)(slot - scope->slots);
    const char *last = colon ? strrchr(colon, ':') + 1 : NULL;
    if (last && !read_index(last, &ref->out))
        return tw_fail(import->b.diag, TW_CODE_FAILED, import->b.node, NULL,
                       "'%.200s' is no name of a tensor", text);
    if (last && last - 1 > colon)
        ref->out +=
            result_offset(import, scope->nodes[ref->node],
                          tw_strndup(import->scratch, colon + 1, (size_t)(last - 1 - (colon + 1))));
    return true;
}

static bool scope_begin(tw_tf_import *import, tw_tf_scope *scope)
{
    scope->slots = tw_alloc_array(import->scratch, (size_t)scope->count + 1, sizeof *scope->slots);
    scope->order = tw_alloc_array(import->scratch, (size_t)scope->count + 1, sizeof *scope->order);
    for (int i = 0; i < scope->count; i++) {
        const char *name = or_empty(scope->nodes[i]->name);
        if (tw_map_get(&scope->names, name))
            return tw_fail(import->b.diag, TW_CODE_FAILED, name, or_empty(scope->nodes[i]->op),
                           "two nodes have this name");
        tw_map_put(import->scratch, &scope->names, name, &scope->slots[i]);
    }
    return true;
}

/* --- effects ----------------------------------------------------------------------------------- */

static const char has_effect[] = "yes", has_none[] = "no";

static bool function_has_effect(tw_tf_import *import, const char *name, int depth);

static bool node_has_effect(tw_tf_import *import, const Tw__Tf__Node *node, int depth)
{
    const char *op = or_empty(node->op);
    if (strncmp(op, "Assign", 6) == 0)
        return true;
    if (tw_map_get(&import->functions, op) && function_has_effect(import, op, depth))
        return true;
    for (size_t i = 0; i < node->n_attr; i++) {
        const Tw__Tf__Attribute *a = node->attr[i]->value;
        if (a && a->func && function_has_effect(import, or_empty(a->func->name), depth))
            return true;
    }
    return false;
}

static bool function_has_effect(tw_tf_import *import, const char *name, int depth)
{
    const Tw__Tf__Function *f = tw_map_get(&import->functions, name);
    const char *known = tw_map_get(&import->effects, name);
    if (known || !f || depth == TW_TF_DEPTH)
        return known == has_effect;
    tw_map_put(import->scratch, &import->effects, name, (void *)(uintptr_t)has_none);
    for (size_t i = 0; i < f->n_node; i++)
        if (node_has_effect(import, f->node[i], depth + 1)) {
            tw_map_put(import->scratch, &import->effects, name, (void *)(uintptr_t)has_effect);
            return true;
        }
    return false;
}

/* --- order ------------------------------------------------------------------------------------- */

static bool fail_cycle(tw_tf_import *import, const Tw__Tf__Node *node)
{
    const char *op = or_empty(node->op);
    if (strcmp(op, "Merge") == 0 || strcmp(op, "NextIteration") == 0 || strcmp(op, "Enter") == 0)
        return tw_fail(import->b.diag, TW_CODE_UNSUPPORTED, node->name, op,
                       "a loop of TensorFlow 1's control flow; save the model with control flow v2 "
                       "(tf.compat.v1.enable_control_flow_v2), or with TensorFlow 2");
    return tw_fail(import->b.diag, TW_CODE_FAILED, node->name, op, "the node needs its own result");
}

typedef struct tw_visit {
    int node;
    size_t input; /* next */
} tw_visit;

/* Go from the node to everything before it, without recursion; each is ordered when all its inputs are. */
static bool order_from(tw_tf_import *import, tw_tf_scope *scope, int root)
{
    tw_visit *stack = NULL;
    int depth = 0, capacity = 0;
    if (scope->slots[root].mark != UNSEEN)
        return true;
    tw_grow(import->scratch, &stack, depth, &capacity, sizeof *stack);
    stack[depth++] = (tw_visit){root, 0};
    scope->slots[root].mark = OPEN;
    while (depth > 0) {
        tw_visit *at = &stack[depth - 1];
        const Tw__Tf__Node *node = scope->nodes[at->node];
        tw_vertex *slot = &scope->slots[at->node];
        if (slot->done || at->input == node->n_input) {
            slot->effect |= !slot->done && node_has_effect(import, node, 0);
            slot->behind |= strcmp(or_empty(node->op), "Switch") == 0;
            slot->mark = ORDERED;
            scope->order[scope->ordered++] = at->node;
            depth--;
            if (depth > 0) {
                scope->slots[stack[depth - 1].node].effect |= slot->effect;
                scope->slots[stack[depth - 1].node].behind |= slot->behind;
            }
            continue;
        }
        tw_ref ref;
        import->b.node = or_empty(node->name);
        if (!resolve(import, scope, node->input[at->input++], &ref))
            return false;
        if (ref.argument)
            continue;
        tw_vertex *before = &scope->slots[ref.node];
        if (before->mark == OPEN)
            return fail_cycle(import, scope->nodes[ref.node]);
        slot->effect |= before->effect;
        slot->behind |= before->behind;
        if (before->mark == ORDERED)
            continue;
        before->mark = OPEN;
        tw_grow(import->scratch, &stack, depth, &capacity, sizeof *stack);
        stack[depth++] = (tw_visit){ref.node, 0};
    }
    return true;
}

static bool reads_nothing(const Tw__Tf__Node *node)
{
    for (size_t i = 0; i < node->n_input; i++)
        if (node->input[i][0] != '^')
            return false;
    return true;
}

/* What an input of a node means for the node before it. waits: only its effects are asked for. */
static void mark_input(tw_tf_scope *scope, const tw_ref *ref, const Tw__Tf__Node *node, bool waits)
{
    tw_vertex *before = &scope->slots[ref->node];
    if (!waits && (!ref->control || (before->behind && reads_nothing(node))))
        before->needed = true;
    else
        before->awaited |= before->effect;
}

/* What needed nodes read is needed; what they only wait for, when it assigns something (what stands
 * between, that checks or prints, is passed over), or when it alone says on which side of a Switch they
 * are. */
static bool mark_needed(tw_tf_import *import, tw_tf_scope *scope)
{
    for (int k = scope->ordered; k-- > 0;) {
        const Tw__Tf__Node *node = scope->nodes[scope->order[k]];
        tw_vertex *slot = &scope->slots[scope->order[k]];
        slot->needed |= slot->awaited && node_has_effect(import, node, 0);
        for (size_t i = 0; (slot->needed || slot->awaited) && !slot->done && i < node->n_input;
             i++) {
            tw_ref ref;
            if (!resolve(import, scope, node->input[i], &ref))
                return false;
            if (!ref.argument)
                mark_input(scope, &ref, node, !slot->needed);
        }
    }
    return true;
}

/* --- nodes ------------------------------------------------------------------------------------- */

static tw_tf_item item_of(const tw_tf_scope *scope, const tw_ref *ref)
{
    if (ref->argument)
        return *ref->argument;
    const tw_vertex *slot = &scope->slots[ref->node];
    return ref->out < slot->count ? slot->items[ref->out] : (tw_tf_item){.kind = TW_TF_NOTHING};
}

/* On which side of a Switch the node is: that of its innermost input. Behind a side that is not taken
 * nothing runs, up to the Merge. */
static void note_side(tw_tf_node *n, const tw_tf_branch *branch, bool dead)
{
    if (branch && (!n->branch || branch->depth > n->branch->depth))
        n->branch = branch;
    n->dead |= dead && strcmp(n->op, "Merge") != 0;
}

static bool collect_inputs(tw_tf_import *import, const tw_tf_scope *scope, tw_tf_node *n)
{
    tw_tf_item *in = tw_alloc_array(import->scratch, n->proto->n_input + 1, sizeof *in);
    for (size_t i = 0; i < n->proto->n_input; i++) {
        tw_ref ref;
        if (!resolve(import, scope, n->proto->input[i], &ref))
            return false;
        if (ref.control) {
            note_side(n, scope->slots[ref.node].branch, scope->slots[ref.node].dead);
            continue;
        }
        in[n->in_count] = item_of(scope, &ref);
        note_side(n, in[n->in_count].branch, in[n->in_count].kind == TW_TF_DEAD);
        n->in_count++;
    }
    n->in = in;
    return true;
}

/* Results are on the side that the node is on; those of Switch and Merge, on the one that they say. */
static void mark_sides(tw_tf_node *n)
{
    const bool own = strcmp(n->op, "Switch") == 0 || strcmp(n->op, "Merge") == 0;
    for (int i = 0; i < n->out_count && !own; i++)
        n->out[i].branch = n->branch;
}

static bool call_by_name(tw_tf_node *n)
{
    tw_tf_item *out;
    int count;
    if (!tw_map_get(&n->import->functions, n->op))
        return TW_TF_UNSUPPORTED(n, "the operator is not supported");
    if (!tw_tf_call(n, n->op, n->in, n->in_count, &out, &count))
        return false;
    n->out = out;
    n->out_count = count;
    return true;
}

static bool run_row(tw_tf_node *n)
{
    if (n->in_count < n->row->least_in || (n->row->most_in >= 0 && n->in_count > n->row->most_in))
        return TW_TF_FAIL(n, "it has %d inputs, it takes %d to %d", n->in_count, n->row->least_in,
                          n->row->most_in);
    if (!n->row->import)
        return TW_TF_UNSUPPORTED(n, "the operator is not supported%s%s",
                                 *n->row->limits ? ": " : "", n->row->limits);
    if (n->row->import(n) && n->b->diag->code == TW_CODE_OK)
        return true;
    return n->b->diag->code == TW_CODE_OK && TW_TF_FAIL(n, "the operator could not be imported");
}

static bool import_node(tw_tf_import *import, tw_tf_scope *scope, int index)
{
    tw_vertex *slot = &scope->slots[index];
    tw_tf_node n = {.import = import, .b = &import->b, .proto = scope->nodes[index]};
    n.op = or_empty(n.proto->op);
    n.row = tw_map_get(&import->rows, n.op);
    import->b.node = or_empty(n.proto->name);
    if (++import->nodes > TW_TF_NODES)
        return TW_TF_UNSUPPORTED(&n,
                                 "more than %d nodes, those of functions counted as often as they "
                                 "are called",
                                 TW_TF_NODES);
    if (!collect_inputs(import, scope, &n) || !tw_tf_results(&n, TW_TF_RESULTS))
        return false;
    if (n.dead) {
        for (int i = 0; i < n.out_count; i++)
            n.out[i].kind = TW_TF_DEAD;
    } else if (!(n.row ? run_row(&n) : call_by_name(&n))) {
        return false;
    }
    mark_sides(&n);
    slot->branch = n.out_count ? n.out[0].branch : n.branch;
    slot->dead = n.dead;
    slot->items = n.out;
    slot->count = n.out_count;
    slot->done = true;
    return true;
}

/* Import what the tensors need; out: what they are. Wanted names that do not count are those of nodes
 * that only have to run. */
static bool run(tw_tf_import *import, tw_tf_scope *scope, const char *const *wanted, int count,
                tw_tf_item *out)
{
    tw_ref *refs = tw_alloc_array(import->scratch, (size_t)count + 1, sizeof *refs);
    for (int i = 0; i < count; i++) {
        if (!resolve(import, scope, wanted[i], &refs[i]))
            return false;
        if (!refs[i].argument && !order_from(import, scope, refs[i].node))
            return false;
        if (!refs[i].argument && refs[i].control)
            scope->slots[refs[i].node].awaited |= scope->slots[refs[i].node].effect;
        else if (!refs[i].argument)
            scope->slots[refs[i].node].needed = true;
    }
    if (!mark_needed(import, scope))
        return false;
    for (int k = 0; k < scope->ordered; k++) {
        const tw_vertex *slot = &scope->slots[scope->order[k]];
        if (slot->needed && !slot->done && !import_node(import, scope, scope->order[k]))
            return false;
    }
    for (int i = 0; i < count; i++)
        out[i] = item_of(scope, &refs[i]);
    return true;
}

bool tw_tf_evaluate(tw_tf_import *import, const tw_tf_feed *feeds, int feed_count,
                    const char *const *wanted, int wanted_count, tw_tf_item *out)
{
    tw_tf_scope scope = {.nodes = import->graph->node, .count = (int)import->graph->n_node};
    if (!scope_begin(import, &scope))
        return false;
    for (int i = 0; i < feed_count; i++) {
        tw_ref ref;
        if (!resolve(import, &scope, feeds[i].tensor, &ref))
            return false;
        tw_vertex *slot = &scope.slots[ref.node];
        if (ref.out >= TW_TF_RESULTS)
            return tw_fail(import->b.diag, TW_CODE_UNSUPPORTED, feeds[i].tensor, NULL,
                           "an input in the place of result %d of a node", ref.out);
        if (!slot->items)
            slot->items = tw_alloc_array(import->scratch, TW_TF_RESULTS, sizeof *slot->items);
        slot->count = TW_TF_RESULTS;
        slot->items[ref.out] = feeds[i].item;
        slot->done = true;
    }
    return run(import, &scope, wanted, wanted_count, out);
}

/* --- functions --------------------------------------------------------------------------------- */

static const char *entry(Tw__Tf__TextEntry *const *entries, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(or_empty(entries[i]->key), key) == 0)
            return or_empty(entries[i]->value);
    return "";
}

bool tw_tf_call(tw_tf_node *n, const char *function, const tw_tf_item *in, int in_count,
                tw_tf_item **out, int *out_count)
{
    tw_tf_import *import = n->import;
    const char *node = import->b.node;
    const Tw__Tf__Function *f = tw_map_get(&import->functions, function);
    if (!f || !f->signature)
        return TW_TF_FAIL(n, "the function '%.200s' does not exist", function);
    if (import->depth == TW_TF_DEPTH)
        return TW_TF_UNSUPPORTED(n, "more than %d functions inside each other", TW_TF_DEPTH);
    const Tw__Tf__Signature *s = f->signature;
    if (s->n_input_arg != (size_t)in_count)
        return TW_TF_FAIL(n, "the function '%.200s' takes %zu arguments, not %d", function,
                          s->n_input_arg, in_count);
    tw_tf_scope scope = {.nodes = f->node, .count = (int)f->n_node};
    tw_tf_item *items = tw_alloc_array(import->scratch, (size_t)in_count + 1, sizeof *items);
    for (int i = 0; i < in_count; i++) {
        items[i] = in[i];
        tw_map_put(import->scratch, &scope.arguments, or_empty(s->input_arg[i]->name), &items[i]);
    }
    size_t results = s->n_output_arg, all = results + f->n_control_ret;
    const char **wanted = tw_alloc_array(import->scratch, all + 1, sizeof *wanted);
    for (size_t i = 0; i < results; i++)
        wanted[i] = entry(f->ret, f->n_ret, or_empty(s->output_arg[i]->name));
    for (size_t i = 0; i < f->n_control_ret; i++)
        wanted[results + i] = tw_format(import->scratch, "^%s", or_empty(f->control_ret[i]->value));
    *out = tw_alloc_array(import->scratch, all + 1, sizeof **out);
    *out_count = (int)results;
    import->depth++;
    bool ok = scope_begin(import, &scope) && run(import, &scope, wanted, (int)all, *out);
    import->depth--;
    if (ok)
        import->b.node = node;
    return ok;
}
