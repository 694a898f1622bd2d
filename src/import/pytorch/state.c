/* A TorchScript module run once: its inputs, its outputs, and the attributes that a run changes, which are
 * states. What they are is found out by a first try; in the second they stand where the first run left
 * them, and tensors among them are states of the graph. */
#include <stdlib.h>
#include <string.h>

#include "import/pytorch/script.h"

/* --- arguments of forward ---------------------------------------------------------------------- */

static bool is_type(const tw_tree *type, const char *name)
{
    return type && type->kind == TW_TREE_NAME && strcmp(type->text, name) == 0;
}

/* A number: the value that the options fix it to, or its default. */
static tw_torch_object *number_argument(tw_script *s, const tw_parameter_tree *p)
{
    tw_torch *t = s->t;
    const tw_import_options *options = t->b.options;
    for (int i = 0; i < options->constant_count; i++) {
        if (strcmp(options->constants[i].name, p->name) != 0)
            continue;
        char *end;
        const double real = strtod(options->constants[i].value, &end);
        tw_graph *g = t->b.graph;
        tw_grow(g->arena, &g->fixed, g->fixed_count, &g->fixed_capacity, sizeof *g->fixed);
        g->fixed[g->fixed_count++] = tw_strdup(g->arena, p->name);
        if (end == options->constants[i].value || *end) {
            tw_fail(t->b.diag, TW_CODE_USAGE, p->name, NULL, "%.100s is not a number",
                    options->constants[i].value);
            return NULL;
        }
        return is_type(p->type, "float") ? tw_torch_new_float(t->scratch, real)
               : is_type(p->type, "bool")
                   ? tw_torch_new_bool(t->scratch, real != 0)
                   : tw_torch_new_int(t->scratch, strtoll(options->constants[i].value, NULL, 10));
    }
    if (p->otherwise)
        return tw_script_value(s, p->otherwise);
    tw_fail(t->b.diag, TW_CODE_USAGE, p->name, NULL,
            "the model's argument '%.80s' is a number, which must be known when the plan is made; "
            "give it with --constant %.80s=VALUE",
            p->name, p->name);
    return NULL;
}

/* Tensors of a type: itself, or a tuple of them; optional ones are left out. */
static tw_torch_object *argument(tw_script *s, const tw_parameter_tree *p, const char *name,
                                 const tw_tree *type, const tw_torch_lesson *lesson, int *position,
                                 int depth)
{
    tw_torch *t = s->t;
    if (!type || is_type(type, "Tensor")) {
        const bool index = *position < TW_TORCH_INPUTS && lesson->index_inputs[*position];
        const tw_torch_declared declared = {
            .name = name, .position = (*position)++, .dtype = index ? TW_S64 : TW_F32, .rank = -1};
        tw_value *input = tw_torch_input(t, &declared);
        return input ? tw_torch_new_tensor(t->scratch, input) : NULL;
    }
    if (is_type(type, "int") || is_type(type, "float") || is_type(type, "bool") ||
        is_type(type, "number"))
        return number_argument(s, p);
    if (p->otherwise)
        return tw_script_value(s, p->otherwise);
    if (type->kind == TW_TREE_INDEX && is_type(type->items[0], "Optional"))
        return tw_torch_new(t->scratch, TW_TORCH_NONE);
    if (type->kind == TW_TREE_INDEX && is_type(type->items[0], "Tuple") && depth < 4) {
        tw_torch_object *tuple = tw_torch_new(t->scratch, TW_TORCH_TUPLE);
        for (int i = 1; i < type->count; i++) {
            tw_torch_object *item = argument(s, p, tw_format(t->b.arena, "%s_%d", name, i - 1),
                                             type->items[i], lesson, position, depth + 1);
            if (!item)
                return NULL;
            tw_torch_push(t->scratch, tuple, item);
        }
        return tuple;
    }
    tw_fail(t->b.diag, TW_CODE_UNSUPPORTED, p->name, NULL,
            "the model's argument '%.80s' is neither a tensor, a tuple of them nor a number",
            p->name);
    return NULL;
}

/* --- attributes that change ---------------------------------------------------------------------- */

static tw_torch_object *find_module(tw_torch_object *o, int64_t number, int depth)
{
    if (o->kind != TW_TORCH_MODULE || depth > 64)
        return NULL;
    if (o->number == number)
        return o;
    for (int i = 1; i < o->count; i += 2) {
        tw_torch_object *found = find_module(o->items[i], number, depth + 1);
        if (found)
            return found;
    }
    return NULL;
}

static bool is_scalar(tw_torch_kind kind)
{
    return kind == TW_TORCH_BOOL || kind == TW_TORCH_INT || kind == TW_TORCH_FLOAT;
}

/* Before a run: attributes as the first try left them. */
static bool prepare(tw_script *s, tw_torch_object *root, const tw_torch_lesson *lesson)
{
    tw_torch *t = s->t;
    for (int i = 0; i < lesson->changes; i++) {
        tw_torch_object *module = find_module(root, lesson->change[i].module, 0);
        tw_torch_object *o = module ? tw_torch_attribute(module, lesson->change[i].name) : NULL;
        if (!o)
            return TW_SCRIPT_FAIL(s, "an attribute that a run makes anew is not supported");
        if (is_scalar(lesson->change[i].kind)) {
            tw_torch_object *number = tw_torch_new(t->scratch, lesson->change[i].kind);
            number->number = lesson->change[i].number;
            number->real = lesson->change[i].real;
            tw_torch_set_attribute(t->scratch, module, lesson->change[i].name, number);
            continue;
        }
        if (o->kind != TW_TORCH_TENSOR)
            return TW_SCRIPT_FAIL(s, "the attribute '%.80s' changes its kind in a run",
                                  lesson->change[i].name);
        tw_value *before = tw_torch_value(t, o->tensor);
        if (!before)
            return false;
        const bool fits = tw_shape_equal(&before->shape, &lesson->change[i].shape);
        if (!fits && tw_shape_elements(&before->shape) != 0)
            return TW_SCRIPT_FAIL(s, "the attribute '%.80s' changes its shape in a run",
                                  lesson->change[i].name);
        /* What is empty at first is taken to stand for zeros, as recurrent layers do. */
        tw_value *state = tw_graph_state(t->b.graph, lesson->change[i].name,
                                         lesson->change[i].shape, fits ? before->data : NULL);
        tw_torch_set_attribute(t->scratch, module, lesson->change[i].name,
                               tw_torch_new_tensor(t->scratch, state));
        tw_grow(t->scratch, &s->changes, s->change_count, &s->change_capacity, sizeof *s->changes);
        s->changes[s->change_count++] = (tw_change){module, lesson->change[i].name, state};
    }
    return true;
}

/* After the first try: what has changed. False: nothing has. */
static bool learn(tw_script *s, tw_torch_lesson *lesson)
{
    for (int i = 0; i < s->change_count && lesson->changes < TW_TORCH_CHANGES; i++) {
        const tw_change *change = &s->changes[i];
        tw_torch_object *o = tw_torch_attribute(change->module, change->name);
        const int k = lesson->changes++;
        lesson->change[k].module = change->module->number;
        lesson->change[k].name = change->name;
        lesson->change[k].kind = o->kind;
        lesson->change[k].number = o->number;
        lesson->change[k].real = o->real;
        if (o->kind == TW_TORCH_TENSOR) {
            const tw_value *value = tw_torch_value(s->t, o->tensor);
            if (value)
                lesson->change[k].shape = value->shape;
        }
    }
    return lesson->changes > 0;
}

/* After the second: states become what the attributes are. */
static bool settle(tw_script *s, const tw_torch_lesson *lesson)
{
    tw_torch *t = s->t;
    for (int i = 0; i < s->change_count; i++) {
        const tw_change *change = &s->changes[i];
        tw_torch_object *o = tw_torch_attribute(change->module, change->name);
        if (change->state) {
            tw_value *next = o->kind == TW_TORCH_TENSOR ? tw_torch_value(t, o->tensor) : NULL;
            if (!next || !tw_graph_state_next(t->b.graph, change->state, next, t->b.diag))
                return next == NULL ? TW_SCRIPT_FAIL(s, "the attribute '%.80s' changes its kind",
                                                     change->name)
                                    : false;
            continue;
        }
        for (int k = 0; k < lesson->changes; k++)
            if (lesson->change[k].module == change->module->number &&
                strcmp(lesson->change[k].name, change->name) == 0 &&
                (o->kind != lesson->change[k].kind || o->number != lesson->change[k].number ||
                 o->real != lesson->change[k].real))
                return TW_SCRIPT_FAIL(s,
                                      "the number '%.80s' is another one in every run, which is "
                                      "not supported; keep it in a tensor",
                                      change->name);
    }
    return true;
}

/* --- the module -------------------------------------------------------------------------------- */

static tw_torch_object *unpickle(tw_torch *t, const char *root, const char *name)
{
    const char *member = tw_format(t->scratch, "%s%s", root, name);
    const int at = tw_archive_find(t->place.archive, member);
    void *data;
    size_t bytes;
    if (at < 0) {
        tw_fail(t->b.diag, TW_CODE_FAILED, NULL, NULL, "the archive has no '%s'", member);
        return NULL;
    }
    return tw_archive_read(t->place.archive, t->scratch, at, &data, &bytes, t->b.diag)
               ? tw_torch_unpickle(t->scratch, data, bytes, member, t->b.diag)
               : NULL;
}

/* The constants' storages lie in a folder of their own: ROOT/constants/. */
static bool load_constants(tw_script *s)
{
    tw_torch *t = s->t;
    if (tw_archive_find(t->place.archive, tw_format(t->scratch, "%sconstants.pkl", s->root)) < 0)
        return true;
    if (!(s->constants = unpickle(t, s->root, "constants.pkl")))
        return false;
    tw_torch_place own = t->place;
    t->place.prefix = tw_format(t->scratch, "%sconstants/", s->root);
    t->place.loaded = (tw_map){0};
    bool fine = true;
    for (int i = 0; i < s->constants->count && fine; i++)
        if (s->constants->items[i]->kind == TW_TORCH_TENSOR)
            fine = tw_torch_value(t, s->constants->items[i]->tensor) != NULL;
    t->place = own;
    return fine;
}

static bool run(tw_script *s, tw_torch_object *root, const tw_torch_lesson *lesson,
                tw_torch_object **result)
{
    const tw_function *forward =
        tw_script_function(s, tw_format(s->t->scratch, "%s.forward", root->text));
    tw_torch_object *arguments[TW_TORCH_INPUTS];
    int position = 0;
    if (!forward || forward->count < 1 || forward->count > TW_TORCH_INPUTS)
        return TW_SCRIPT_FAIL(s, "the module '%.200s' has no method forward", root->text);
    arguments[0] = root;
    for (int i = 1; i < forward->count; i++) {
        const tw_parameter_tree *p = &forward->parameters[i];
        arguments[i] =
            argument(s, p, tw_strdup(s->t->b.arena, p->name), p->type, lesson, &position, 0);
        if (!arguments[i])
            return false;
    }
    *result = tw_script_call(s, forward, arguments, forward->count);
    return *result != NULL;
}

bool tw_torch_script(tw_torch *t, const char *root, tw_torch_lesson *lesson, bool *again)
{
    tw_script s = {.t = t, .root = root};
    tw_torch_object *module = unpickle(t, root, "data.pkl"), *result;
    if (!module)
        return false;
    if (module->kind != TW_TORCH_MODULE)
        return tw_fail(t->b.diag, TW_CODE_FAILED, NULL, NULL, "the file's data is %s, not a module",
                       tw_torch_kind_name(module->kind));
    if (!load_constants(&s) || !prepare(&s, module, lesson))
        return false;
    if (!run(&s, module, lesson, &result)) {
        for (int i = 0; t->is_index && i < t->b.graph->input_count && i < TW_TORCH_INPUTS; i++)
            if (t->b.graph->inputs[i] == t->is_index && !lesson->index_inputs[i])
                *again = lesson->index_inputs[i] = true;
        return false;
    }
    if (lesson->changes == 0 && learn(&s, lesson)) {
        *again = true;
        return false;
    }
    return settle(&s, lesson) && tw_torch_output(t, result);
}
