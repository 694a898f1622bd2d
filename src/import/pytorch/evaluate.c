/* Evaluation of TorchScript: functions are called in place, ifs and loops are followed as constants say,
 * operators build the graph. */
#include <stdio.h>
#include <string.h>

#include "import/pytorch/script.h"

enum { CALL_DEPTH = 100, STEPS = 1000000, ROUNDS = 100000 };

typedef enum tw_flow { FLOW_NEXT, FLOW_RETURN, FLOW_FAILED } tw_flow;

typedef struct tw_frame {
    tw_map names;
    tw_torch_object *result;
} tw_frame;

static tw_torch_object *evaluate(tw_script *s, tw_frame *f, const tw_tree *tree);

static tw_torch_object *none(tw_script *s)
{
    return tw_torch_new(s->t->scratch, TW_TORCH_NONE);
}

/* --- functions --------------------------------------------------------------------------------- */

/* Read ROOT/code/A/B.py for module A.B; true also where there is no such file. */
static bool read_module(tw_script *s, const char *module)
{
    tw_torch *t = s->t;
    char *path = tw_strdup(t->scratch, module);
    void *source;
    size_t bytes;
    if (tw_map_get(&s->files, module))
        return true;
    tw_map_put(t->scratch, &s->files, tw_strdup(t->scratch, module), s);
    for (char *c = path; *c; c++)
        if (*c == '.')
            *c = '/';
    const char *member = tw_format(t->scratch, "%scode/%s.py", s->root, path);
    const int at = tw_archive_find(t->place.archive, member);
    return at < 0 ||
           (tw_archive_read(t->place.archive, t->scratch, at, &source, &bytes, t->b.diag) &&
            tw_script_parse(t->scratch, source, member, module, &s->functions, t->b.diag));
}

const tw_function *tw_script_function(tw_script *s, const char *name)
{
    /* "__torch__.a.b.Class.method" or "__torch__.a.b.function": the file is a part of the name */
    char *module = tw_strdup(s->t->scratch, name);
    for (int parts = 0; parts < 2; parts++) {
        char *dot = strrchr(module, '.');
        if (!dot)
            break;
        *dot = 0;
        if (!read_module(s, module))
            return NULL;
        const tw_function *f = tw_map_get(&s->functions, name);
        if (f)
            return f;
    }
    return NULL;
}

/* --- names and attributes ---------------------------------------------------------------------- */

/* "a.b.c" of names and attributes whose first is no variable; null for anything else. */
static const char *dotted(tw_script *s, tw_frame *f, const tw_tree *tree)
{
    if (tree->kind == TW_TREE_NAME)
        return tw_map_get(&f->names, tree->text) ? NULL : tree->text;
    if (tree->kind != TW_TREE_ATTRIBUTE)
        return NULL;
    const char *before = dotted(s, f, tree->items[0]);
    return before ? tw_format(s->t->scratch, "%s.%s", before, tree->text) : NULL;
}

static tw_torch_object *constant(tw_script *s, const char *name)
{
    int64_t index = -1;
    if (name[0] == 'c')
        for (index = 0, name++; *name >= '0' && *name <= '9' && index < 1000000; name++)
            index = index * 10 + (*name - '0');
    if (!s->constants || index < 0 || index >= s->constants->count) {
        TW_SCRIPT_FAIL(s, "the file has no such constant");
        return NULL;
    }
    return s->constants->items[index];
}

static tw_torch_object *attribute_of(tw_script *s, tw_torch_object *o, const char *name)
{
    tw_torch_object *value = o->kind == TW_TORCH_MODULE ? tw_torch_attribute(o, name) : NULL;
    if (!value)
        TW_SCRIPT_FAIL(s, "%s has no attribute '%.80s'",
                       o->kind == TW_TORCH_MODULE ? o->text : tw_torch_kind_name(o->kind), name);
    return value;
}

static tw_torch_object *attribute(tw_script *s, tw_frame *f, const tw_tree *tree)
{
    const char *path = dotted(s, f, tree);
    if (path && strncmp(path, "CONSTANTS.", 10) == 0)
        return constant(s, path + 10);
    if (path) {
        tw_torch_object *o = tw_torch_new(s->t->scratch, TW_TORCH_GLOBAL);
        o->text = path;
        return o;
    }
    tw_torch_object *o = evaluate(s, f, tree->items[0]);
    return o ? attribute_of(s, o, tree->text) : NULL;
}

static tw_torch_object *name_of(tw_script *s, tw_frame *f, const tw_tree *tree)
{
    tw_torch_object *o = tw_map_get(&f->names, tree->text);
    if (o)
        return o;
    if (strcmp(tree->text, "None") == 0)
        return none(s);
    if (strcmp(tree->text, "True") == 0 || strcmp(tree->text, "False") == 0)
        return tw_torch_new_bool(s->t->scratch, tree->text[0] == 'T');
    if (strcmp(tree->text, "inf") == 0 || strcmp(tree->text, "infinity") == 0)
        return tw_torch_new_float(s->t->scratch, (double)__builtin_inff());
    if (strcmp(tree->text, "nan") == 0)
        return tw_torch_new_float(s->t->scratch, (double)__builtin_nanf(""));
    TW_SCRIPT_FAIL(s, "'%.80s' is not defined", tree->text);
    return NULL;
}

static tw_torch_object *index_of(tw_script *s, tw_frame *f, const tw_tree *tree)
{
    tw_torch_object *o = evaluate(s, f, tree->items[0]);
    tw_torch_object *at = o && tree->count == 2 ? evaluate(s, f, tree->items[1]) : NULL;
    if (!at || !(at = tw_script_number(s, at)))
        return NULL;
    if (o->kind == TW_TORCH_DICT && at->kind == TW_TORCH_TEXT) {
        tw_torch_object *value = tw_torch_attribute(o, at->text);
        if (!value)
            TW_SCRIPT_FAIL(s, "there is no entry '%.80s'", at->text);
        return value;
    }
    if ((o->kind != TW_TORCH_LIST && o->kind != TW_TORCH_TUPLE) || at->kind != TW_TORCH_INT) {
        TW_SCRIPT_FAIL(s, "an index of %s", tw_torch_kind_name(o->kind));
        return NULL;
    }
    const int64_t i = at->number + (at->number < 0 ? o->count : 0);
    if (i < 0 || i >= o->count) {
        TW_SCRIPT_FAIL(s, "index %lld of %d elements", (long long)at->number, o->count);
        return NULL;
    }
    return o->items[i];
}

/* --- calls ------------------------------------------------------------------------------------- */

typedef struct tw_actual {
    tw_torch_object *position[TW_TORCH_ARGUMENTS], *named[TW_TORCH_ARGUMENTS];
    const char *name[TW_TORCH_ARGUMENTS];
    int positions, names;
} tw_actual;

static bool actual(tw_script *s, tw_frame *f, const tw_tree *call, tw_actual *a)
{
    a->positions = a->names = 0;
    for (int i = 1; i < call->count; i++) {
        const tw_tree *item = call->items[i];
        const bool keyword = item->kind == TW_TREE_KEYWORD;
        if (a->positions == TW_TORCH_ARGUMENTS || a->names == TW_TORCH_ARGUMENTS)
            return TW_SCRIPT_FAIL(s, "a call with more than %d arguments", TW_TORCH_ARGUMENTS);
        tw_torch_object *o = evaluate(s, f, keyword ? item->items[0] : item);
        if (!o)
            return false;
        if (keyword) {
            a->name[a->names] = item->text;
            a->named[a->names++] = o;
        } else {
            a->position[a->positions++] = o;
        }
    }
    return true;
}

/* x as a T. Traced sizes are tensors that are called numbers where one is needed. */
static tw_torch_object *annotated(tw_script *s, const tw_tree *type, tw_torch_object *x)
{
    if (!x || x->kind != TW_TORCH_TENSOR || type->kind != TW_TREE_NAME ||
        strcmp(type->text, "number") != 0)
        return x;
    tw_value *value = tw_torch_value(s->t, x->tensor);
    const bool fixed =
        value && tw_shape_elements(&value->shape) == 1 && tw_build_known(&s->t->b, value);
    return !value ? NULL : fixed ? tw_script_number(s, x) : x;
}

/* annotate(T, x) and its like: what is done is done to the last argument. */
static tw_torch_object *of_language(tw_script *s, tw_frame *f, const tw_tree *call,
                                    const char *name, bool *known)
{
    *known = true;
    if (strcmp(name, "annotate") == 0 || strcmp(name, "unchecked_cast") == 0)
        return call->count == 3 ? annotated(s, call->items[1], evaluate(s, f, call->items[2]))
                                : NULL;
    if (strcmp(name, "uninitialized") == 0)
        return none(s);
    if (strcmp(name, "getattr") == 0 && call->count == 3 && call->items[2]->kind == TW_TREE_TEXT) {
        tw_torch_object *o = evaluate(s, f, call->items[1]);
        return o ? attribute_of(s, o, call->items[2]->text) : NULL;
    }
    *known = false;
    return NULL;
}

static tw_torch_object *call_operator(tw_script *s, const char *name, const tw_actual *a)
{
    bool known = true;
    tw_torch_object *args[TW_TORCH_ARGUMENTS];
    memcpy(args, a->position, sizeof args);
    tw_torch_object *o = tw_script_builtin(s, name, args, a->positions, &known);
    if (o || known)
        return o;
    const tw_torch_given given = {args, a->positions, a->name, a->named, a->names, NULL};
    return tw_torch_operator(s->t, name, &given);
}

static tw_torch_object *call_function(tw_script *s, const char *name, tw_torch_object *self,
                                      const tw_actual *a)
{
    tw_torch_object *arguments[TW_TORCH_ARGUMENTS + 1];
    const tw_function *callee = tw_script_function(s, name);
    int count = 0;
    if (!callee) {
        TW_SCRIPT_FAIL(s, "the code of '%.200s' is not in the file", name);
        return NULL;
    }
    if (a->names > 0) {
        TW_SCRIPT_FAIL(s, "a call of '%.200s' with named arguments", name);
        return NULL;
    }
    if (self)
        arguments[count++] = self;
    for (int i = 0; i < a->positions; i++)
        arguments[count++] = a->position[i];
    return tw_script_call(s, callee, arguments, count);
}

static tw_torch_object *call(tw_script *s, tw_frame *f, const tw_tree *tree)
{
    const tw_tree *callee = tree->items[0];
    const char *path = dotted(s, f, callee);
    tw_actual a;
    bool known = false;
    if (path) {
        tw_torch_object *o = of_language(s, f, tree, path, &known);
        if (known)
            return o;
    }
    if (!actual(s, f, tree, &a))
        return NULL;
    if (!path && callee->kind == TW_TREE_ATTRIBUTE) { /* (object).method(..) */
        tw_torch_object *self = evaluate(s, f, callee->items[0]);
        if (!self)
            return NULL;
        if (self->kind == TW_TORCH_MODULE)
            return call_function(s, tw_format(s->t->scratch, "%s.%s", self->text, callee->text),
                                 self, &a);
        if (self->kind == TW_TORCH_GLOBAL) /* what is entered and left around blocks */
            return none(s);
        TW_SCRIPT_FAIL(s, "a method of %s", tw_torch_kind_name(self->kind));
        return NULL;
    }
    if (!path) {
        tw_torch_object *o = evaluate(s, f, callee);
        path = o && o->kind == TW_TORCH_GLOBAL ? o->text : NULL;
    }
    if (!path) {
        TW_SCRIPT_FAIL(s, "a call of something that is no function");
        return NULL;
    }
    if (strncmp(path, "__torch__.", 10) == 0) {
        if (strstr(path, ".__new__") == NULL)
            return call_function(s, path, NULL, &a);
        tw_torch_object *o = tw_torch_new(s->t->scratch, TW_TORCH_GLOBAL);
        o->text = path;
        return o;
    }
    const char *name = strncmp(path, "torch.", 6) == 0      ? path + 6
                       : strncmp(path, "ops.aten.", 9) == 0 ? path + 9
                       : strncmp(path, "ops.", 4) == 0      ? path + 4
                                                            : path;
    return call_operator(s, name, &a);
}

/* --- expressions ------------------------------------------------------------------------------- */

static tw_torch_object *group(tw_script *s, tw_frame *f, const tw_tree *tree, tw_torch_kind kind)
{
    tw_torch_object *o = tw_torch_new(s->t->scratch, kind);
    for (int i = 0; i < tree->count; i++) {
        tw_torch_object *item = evaluate(s, f, tree->items[i]);
        if (!item)
            return NULL;
        tw_torch_push(s->t->scratch, o, item);
    }
    return o;
}

static tw_torch_object *evaluate(tw_script *s, tw_frame *f, const tw_tree *tree)
{
    tw_torch_object *o;
    bool truth;
    if (++s->steps > STEPS) {
        TW_SCRIPT_FAIL(s, "the program takes more than %d steps to follow", STEPS);
        return NULL;
    }
    switch (tree->kind) {
    case TW_TREE_NAME: return name_of(s, f, tree);
    case TW_TREE_INT: return tw_torch_new_int(s->t->scratch, tree->number);
    case TW_TREE_FLOAT: return tw_torch_new_float(s->t->scratch, tree->real);
    case TW_TREE_TEXT: return tw_torch_new_text(s->t->scratch, tree->text);
    case TW_TREE_LIST: return group(s, f, tree, TW_TORCH_LIST);
    case TW_TREE_TUPLE: return group(s, f, tree, TW_TORCH_TUPLE);
    case TW_TREE_DICT: return group(s, f, tree, TW_TORCH_DICT);
    case TW_TREE_ATTRIBUTE: return attribute(s, f, tree);
    case TW_TREE_INDEX: return index_of(s, f, tree);
    case TW_TREE_CALL: return call(s, f, tree);
    case TW_TREE_NEGATIVE:
        o = evaluate(s, f, tree->items[0]);
        if (o && o->kind == TW_TORCH_INT)
            return tw_torch_new_int(s->t->scratch, (int64_t)(0 - (uint64_t)o->number));
        if (o && o->kind == TW_TORCH_FLOAT)
            return tw_torch_new_float(s->t->scratch, -o->real);
        break;
    case TW_TREE_CHOICE:
        o = evaluate(s, f, tree->items[1]);
        return o && tw_script_truth(s, o, &truth) ? evaluate(s, f, tree->items[truth ? 0 : 2])
                                                  : NULL;
    default: break;
    }
    TW_SCRIPT_FAIL(s, "an expression that is not supported");
    return NULL;
}

tw_torch_object *tw_script_value(tw_script *s, const tw_tree *tree)
{
    tw_frame frame = {.result = NULL};
    return evaluate(s, &frame, tree);
}

/* --- statements -------------------------------------------------------------------------------- */

static tw_flow run_block(tw_script *s, tw_frame *f, const tw_tree *block);

static void note_change(tw_script *s, tw_torch_object *module, const char *name)
{
    for (int i = 0; i < s->change_count; i++)
        if (s->changes[i].module == module && strcmp(s->changes[i].name, name) == 0)
            return;
    tw_grow(s->t->scratch, &s->changes, s->change_count, &s->change_capacity, sizeof *s->changes);
    s->changes[s->change_count++] = (tw_change){module, name, NULL};
}

static bool assign(tw_script *s, tw_frame *f, const tw_tree *to, tw_torch_object *value)
{
    if (to->kind == TW_TREE_NAME) {
        tw_map_put(s->t->scratch, &f->names, to->text, value);
        return true;
    }
    if (to->kind == TW_TREE_ATTRIBUTE) {
        tw_torch_object *o = evaluate(s, f, to->items[0]);
        if (o && o->kind == TW_TORCH_GLOBAL)
            return true;
        if (o && o->kind != TW_TORCH_MODULE)
            return TW_SCRIPT_FAIL(s, "an attribute of %s is set", tw_torch_kind_name(o->kind));
        if (o) {
            note_change(s, o, to->text);
            tw_torch_set_attribute(s->t->scratch, o, to->text, value);
        }
        return o != NULL;
    }
    if (to->kind != TW_TREE_TUPLE && to->kind != TW_TREE_LIST)
        return TW_SCRIPT_FAIL(s, "an assignment that is not supported");
    if ((value->kind != TW_TORCH_TUPLE && value->kind != TW_TORCH_LIST) ||
        value->count != to->count)
        return TW_SCRIPT_FAIL(s, "%d names for %d values", to->count, value->count);
    for (int i = 0; i < to->count; i++)
        if (!assign(s, f, to->items[i], value->items[i]))
            return false;
    return true;
}

static tw_flow run_for(tw_script *s, tw_frame *f, const tw_tree *tree)
{
    tw_torch_object *over = evaluate(s, f, tree->items[0]);
    if (!over)
        return FLOW_FAILED;
    const bool counts = over->kind == TW_TORCH_INT;
    if (!counts && over->kind != TW_TORCH_LIST && over->kind != TW_TORCH_TUPLE) {
        TW_SCRIPT_FAIL(s, "a loop over %s", tw_torch_kind_name(over->kind));
        return FLOW_FAILED;
    }
    const int64_t rounds = counts ? over->number : over->count;
    if (rounds > ROUNDS) {
        TW_SCRIPT_FAIL(s, "a loop of %lld rounds; at most %d are unrolled", (long long)rounds,
                       ROUNDS);
        return FLOW_FAILED;
    }
    for (int64_t i = 0; i < rounds; i++) {
        tw_map_put(s->t->scratch, &f->names, tree->text,
                   counts ? tw_torch_new_int(s->t->scratch, i) : over->items[i]);
        const tw_flow flow = run_block(s, f, tree->items[1]);
        if (flow != FLOW_NEXT)
            return flow;
    }
    return FLOW_NEXT;
}

static tw_flow run_while(tw_script *s, tw_frame *f, const tw_tree *tree)
{
    for (int rounds = 0; rounds < ROUNDS; rounds++) {
        tw_torch_object *condition = evaluate(s, f, tree->items[0]);
        bool truth;
        if (!condition || !tw_script_truth(s, condition, &truth))
            return FLOW_FAILED;
        if (!truth)
            return FLOW_NEXT;
        const tw_flow flow = run_block(s, f, tree->items[1]);
        if (flow != FLOW_NEXT)
            return flow;
    }
    TW_SCRIPT_FAIL(s, "a loop of more than %d rounds", ROUNDS);
    return FLOW_FAILED;
}

static tw_flow run_statement(tw_script *s, tw_frame *f, const tw_tree *tree)
{
    tw_torch_object *o = NULL;
    bool truth;
    switch (tree->kind) {
    case TW_TREE_PASS: return FLOW_NEXT;
    case TW_TREE_DO: return evaluate(s, f, tree->items[0]) ? FLOW_NEXT : FLOW_FAILED;
    case TW_TREE_ASSIGN:
        o = evaluate(s, f, tree->items[1]);
        return o && assign(s, f, tree->items[0], o) ? FLOW_NEXT : FLOW_FAILED;
    case TW_TREE_RETURN:
        f->result = tree->count ? evaluate(s, f, tree->items[0]) : none(s);
        return f->result ? FLOW_RETURN : FLOW_FAILED;
    case TW_TREE_IF:
        o = evaluate(s, f, tree->items[0]);
        return o && tw_script_truth(s, o, &truth) ? run_block(s, f, tree->items[truth ? 1 : 2])
                                                  : FLOW_FAILED;
    case TW_TREE_FOR: return run_for(s, f, tree);
    case TW_TREE_WHILE: return run_while(s, f, tree);
    case TW_TREE_WITH: return run_block(s, f, tree->items[0]);
    default: TW_SCRIPT_FAIL(s, "a statement that is not supported"); return FLOW_FAILED;
    }
}

/* The message says which line of the model it is about: of the innermost function. */
static void locate(tw_script *s, const tw_tree *tree)
{
    tw_diag *diag = s->t->b.diag;
    const size_t length = strlen(diag->message);
    if (s->located || !s->function)
        return;
    s->located = true;
    const char *file = strstr(s->function->file, "code/");
    snprintf(diag->message + length, sizeof diag->message - length, " (%s, line %d: %s)",
             file ? file + 5 : s->function->file, tree->line,
             tw_script_line(s->t->scratch, s->function->source, tree->line));
}

static tw_flow run_block(tw_script *s, tw_frame *f, const tw_tree *block)
{
    for (int i = 0; i < block->count; i++) {
        const tw_flow flow = run_statement(s, f, block->items[i]);
        if (flow == FLOW_FAILED) {
            if (s->t->b.diag->code == TW_CODE_OK)
                TW_SCRIPT_FAIL(s, "a statement that is not supported");
            locate(s, block->items[i]);
        }
        if (flow != FLOW_NEXT)
            return flow;
    }
    return FLOW_NEXT;
}

tw_torch_object *tw_script_call(tw_script *s, const tw_function *fn, tw_torch_object **arguments,
                                int count)
{
    tw_frame frame = {.result = NULL};
    const tw_function *before = s->function;
    if (s->depth == CALL_DEPTH) {
        TW_SCRIPT_FAIL(s, "functions call each other more than %d deep", CALL_DEPTH);
        return NULL;
    }
    if (count > fn->count) {
        TW_SCRIPT_FAIL(s, "'%.200s' takes %d arguments, not %d", fn->name, fn->count, count);
        return NULL;
    }
    for (int i = 0; i < fn->count; i++) {
        tw_torch_object *value = i < count ? arguments[i] : NULL;
        if (!value && fn->parameters[i].otherwise)
            value = tw_script_value(s, fn->parameters[i].otherwise);
        if (!value) {
            TW_SCRIPT_FAIL(s, "'%.200s' is called without its argument '%.80s'", fn->name,
                           fn->parameters[i].name);
            return NULL;
        }
        tw_map_put(s->t->scratch, &frame.names, fn->parameters[i].name, value);
    }
    s->depth++;
    s->function = fn;
    const tw_flow flow = run_block(s, &frame, fn->body);
    s->function = before;
    s->depth--;
    if (flow == FLOW_FAILED)
        return NULL;
    return flow == FLOW_RETURN ? frame.result : none(s);
}
