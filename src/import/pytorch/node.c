/* Nodes of an exported program: arguments, the operator, the names of results. */
#include <math.h>
#include <string.h>

#include "import/pytorch/program.h"
#include "import/pytorch/script.h"

static tw_torch_object *fail(tw_program *p, tw_code code, const char *what, const char *name)
{
    tw_fail(p->t->b.diag, code, NULL, NULL, "%s '%.200s'", what, name);
    return NULL;
}

static tw_torch_object *named(tw_program *p, const char *name)
{
    tw_torch_object *o = tw_map_get(&p->values, name);
    return o ? o : fail(p, TW_CODE_FAILED, "the program reads what it has not computed:", name);
}

/* --- arguments --------------------------------------------------------------------------------- */

static double real_of(const json_t *v)
{
    const char *text = json_string_value(v); /* what JSON has no number for */
    if (!text)
        return json_number_value(v);
    return strcmp(text, "NaN") == 0 ? (double)NAN : *text == '-' ? -INFINITY : INFINITY;
}

static tw_torch_object *plain(tw_program *p, const json_t *v)
{
    tw_arena *arena = p->t->scratch;
    if (json_is_boolean(v))
        return tw_torch_new_bool(arena, json_is_true(v));
    if (json_is_integer(v))
        return tw_torch_new_int(arena, json_integer_value(v));
    if (json_is_real(v))
        return tw_torch_new_float(arena, json_real_value(v));
    if (json_is_string(v))
        return tw_torch_new_text(arena, tw_strdup(arena, json_string_value(v)));
    return tw_torch_new(arena, TW_TORCH_NONE);
}

/* {"as_int": 1} or {"as_name": "s"} of the kinds int, float and bool. */
static tw_torch_object *symbolic(tw_program *p, const json_t *v)
{
    const json_t *name = json_object_get(v, "as_name");
    const json_t *real = json_object_get(v, "as_float");
    if (name)
        return named(p, json_string_value(name) ? json_string_value(name) : "");
    if (real)
        return tw_torch_new_float(p->t->scratch, real_of(real));
    const json_t *whole = json_object_get(v, "as_int");
    return plain(p, whole ? whole : json_object_get(v, "as_bool"));
}

static tw_torch_object *tensor(tw_program *p, const json_t *v)
{
    return named(p, tw_program_text(v, "name"));
}

static tw_torch_object *optional_tensor(tw_program *p, const json_t *v)
{
    const json_t *inner = json_object_get(v, "as_tensor");
    if (json_is_string(inner)) /* before torch 2.6 */
        return named(p, json_string_value(inner));
    if (inner)
        return tensor(p, inner);
    return json_object_get(v, "name") ? tensor(p, v) : tw_torch_new(p->t->scratch, TW_TORCH_NONE);
}

static tw_torch_object *real(tw_program *p, const json_t *v)
{
    return tw_torch_new_float(p->t->scratch, real_of(v));
}

static tw_torch_object *nothing(tw_program *p, const json_t *v)
{
    (void)v;
    return tw_torch_new(p->t->scratch, TW_TORCH_NONE);
}

static tw_torch_object *element_type(tw_program *p, const json_t *v)
{
    const int dtype = tw_program_dtype(json_integer_value(v));
    if (dtype < 0)
        return fail(p, TW_CODE_UNSUPPORTED, "an element type that is not supported:",
                    tw_format(p->t->scratch, "%lld", (long long)json_integer_value(v)));
    return tw_torch_new_int(p->t->scratch, dtype);
}

static const struct {
    const char *key;
    tw_torch_object *(*read)(tw_program *p, const json_t *v);
    bool list;
} kinds[] = {
    {"as_none", nothing, false},
    {"as_tensor", tensor, false},
    {"as_tensors", tensor, true},
    {"as_optional_tensor", optional_tensor, false},
    {"as_optional_tensors", optional_tensor, true},
    {"as_int", plain, false},
    {"as_ints", plain, true},
    {"as_float", real, false},
    {"as_floats", real, true},
    {"as_bool", plain, false},
    {"as_bools", plain, true},
    {"as_string", plain, false},
    {"as_strings", plain, true},
    {"as_sym_int", symbolic, false},
    {"as_sym_ints", symbolic, true},
    {"as_sym_float", symbolic, false},
    {"as_sym_floats", symbolic, true},
    {"as_sym_bool", symbolic, false},
    {"as_sym_bools", symbolic, true},
    {"as_scalar_type", element_type, false},
    {"as_memory_format", nothing, false},
    {"as_layout", nothing, false},
    {"as_device", nothing, false},
};

tw_torch_object *tw_program_argument(tw_program *p, const json_t *argument)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const json_t *v = json_object_get(argument, kinds[i].key), *item;
        if (!v)
            continue;
        if (!kinds[i].list)
            return kinds[i].read(p, v);
        tw_torch_object *list = tw_torch_new(p->t->scratch, TW_TORCH_LIST);
        size_t k;
        json_array_foreach(v, k, item)
        {
            tw_torch_object *o = kinds[i].read(p, item);
            if (!o)
                return NULL;
            tw_torch_push(p->t->scratch, list, o);
        }
        return list;
    }
    const char *kind = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)argument));
    return fail(
        p, TW_CODE_UNSUPPORTED,
        "an argument of a kind that is not supported (control flow is none):", kind ? kind : "");
}

/* --- operators --------------------------------------------------------------------------------- */

/* Sizes are computed with Python's own operators. */
static tw_torch_object *of_sizes(tw_program *p, const char *name, tw_torch_object *const *in,
                                 int count)
{
    static const struct {
        const char *python, *here;
    } names[] = {{"add", "add"},
                 {"sub", "sub"},
                 {"mul", "mul"},
                 {"truediv", "div"},
                 {"floordiv", "floordiv"},
                 {"mod", "remainder"},
                 {"eq", "eq"},
                 {"ne", "ne"},
                 {"lt", "lt"},
                 {"le", "le"},
                 {"gt", "gt"},
                 {"ge", "ge"},
                 {"neg", "neg"},
                 {"pow", "pow"},
                 {"getitem", "__getitem__"},
                 {"trunc", "int"},
                 {"floor", "floor"},
                 {"ceil", "ceil"},
                 {"sym_max", "prim.max"},
                 {"sym_min", "prim.min"},
                 {"sym_float", "float"},
                 {"sym_not", "__not__"}};
    tw_script s = {.t = p->t};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool known;
        if (strcmp(names[i].python, name) != 0)
            continue;
        tw_torch_object *arguments[TW_TORCH_ARGUMENTS];
        for (int k = 0; k < count; k++)
            arguments[k] = in[k];
        tw_torch_object *o = tw_script_builtin(&s, names[i].here, arguments, count, &known);
        return o || p->t->b.diag->code != TW_CODE_OK
                   ? o
                   : fail(p, TW_CODE_UNSUPPORTED,
                          "sizes are computed in a way that is not "
                          "supported:",
                          name);
    }
    return fail(p, TW_CODE_UNSUPPORTED, "sizes are computed with", name);
}

/* Nodes that only check what has been checked when the program was exported. */
static bool is_assertion(const char *target)
{
    static const char *const parts[] = {"_assert_", "sym_constrain_range", "_guards_fn",
                                        "_check_is_size"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(target, parts[i]))
            return true;
    return false;
}

static tw_torch_object *call(tw_program *p, const char *target, const tw_torch_given *given)
{
    static const char space[] = "torch.ops.", aten[] = "aten";
    const char *last = strrchr(target, '.');
    if (strncmp(target, "_operator.", 10) == 0 || strncmp(target, "math.", 5) == 0 ||
        (strncmp(target, "torch.", 6) == 0 && strncmp(target, "torch.ops.", 10) != 0))
        return of_sizes(p, last + 1, given->position, given->positions);
    if (strncmp(target, space, sizeof space - 1) != 0)
        return fail(p, TW_CODE_UNSUPPORTED, "the operator is not supported:", target);
    /* NAMESPACE.NAME.OVERLOAD */
    const char *from = target + sizeof space - 1;
    const size_t length = strcspn(from, ".");
    const char *name = from[length] ? from + length + 1 : "";
    const bool is_aten = length == sizeof aten - 1 && memcmp(from, aten, length) == 0;
    name = tw_strndup(p->t->scratch, name, strcspn(name, "."));
    if (!is_aten)
        name = tw_format(p->t->scratch, "%.*s::%s", (int)length, from, name);
    return tw_torch_operator(p->t, name, given);
}

/* --- results ----------------------------------------------------------------------------------- */

static bool name_one(tw_program *p, const json_t *output, tw_torch_object *o)
{
    static const char *const keys[] = {"as_tensor", "as_sym_int", "as_sym_float", "as_sym_bool",
                                       "as_optional_tensor"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *v = json_object_get(output, keys[i]);
        const char *name = tw_program_text(v, i == 0 ? "name" : "as_name");
        if (i == 4)
            name = tw_program_text(json_object_get(v, "as_tensor"), "name");
        if (v && *name)
            tw_map_put(p->t->scratch, &p->values, tw_strdup(p->t->scratch, name), o);
        if (v && i == 0 && o->kind == TW_TORCH_TENSOR)
            tw_program_lay_out(p, name, o->tensor);
        if (v)
            return true;
    }
    const json_t *list = json_object_get(output, "as_tensors"), *item;
    size_t i;
    if (list && o->kind != TW_TORCH_LIST && o->kind != TW_TORCH_TUPLE)
        return false;
    json_array_foreach(list, i, item)
    {
        if ((int)i >= o->count)
            return false;
        tw_map_put(p->t->scratch, &p->values,
                   tw_strdup(p->t->scratch, tw_program_text(item, "name")), o->items[i]);
    }
    return list || json_object_get(output, "as_none");
}

static bool name_results(tw_program *p, const json_t *outputs, tw_torch_object *o)
{
    const size_t count = json_array_size(outputs);
    if (count == 1)
        return name_one(p, json_array_get(outputs, 0), o);
    for (size_t i = 0; i < count; i++)
        if (o->kind != TW_TORCH_TUPLE || (int)i >= o->count ||
            !name_one(p, json_array_get(outputs, i), o->items[i]))
            return false;
    return true;
}

bool tw_program_node(tw_program *p, const json_t *node)
{
    enum { KEYWORD = 2 };
    const char *target = tw_program_text(node, "target");
    tw_torch_object *position[TW_TORCH_ARGUMENTS], *by_name[TW_TORCH_ARGUMENTS];
    const char *called[TW_TORCH_ARGUMENTS], *name[TW_TORCH_ARGUMENTS];
    tw_torch_given given = {.position = position, .name = name, .named = by_name};
    size_t i;
    const json_t *input;
    if (is_assertion(target))
        return true;
    json_array_foreach(json_object_get(node, "inputs"), i, input)
    {
        if (i >= TW_TORCH_ARGUMENTS)
            return tw_fail(p->t->b.diag, TW_CODE_UNSUPPORTED, NULL, target,
                           "more than %d arguments", TW_TORCH_ARGUMENTS);
        tw_torch_object *o = tw_program_argument(p, json_object_get(input, "arg"));
        const json_t *kind = json_object_get(input, "kind");
        if (!o)
            return false;
        if (given.names || json_integer_value(kind) == KEYWORD) {
            name[given.names] = tw_program_text(input, "name");
            by_name[given.names++] = o;
        } else {
            if (!kind)
                given.called = called;
            called[given.positions] = tw_program_text(input, "name");
            position[given.positions++] = o;
        }
    }
    tw_torch_object *result = call(p, target, &given);
    if (!result)
        return false;
    return name_results(p, json_object_get(node, "outputs"), result) ||
           tw_fail(p->t->b.diag, TW_CODE_FAILED, NULL, target,
                   "the results are not those that the program names");
}
