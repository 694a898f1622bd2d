/* What TorchScript computes beside tensors: sizes, counts, choices, texts and lists. */
#include <math.h>
#include <string.h>

#include "import/pytorch/script.h"

typedef tw_torch_object object;

static object *fail(tw_script *s, const char *what)
{
    TW_SCRIPT_FAIL(s, "%s", what);
    return NULL;
}

object *tw_script_number(tw_script *s, object *o)
{
    if (o->kind != TW_TORCH_TENSOR)
        return o;
    tw_value *value = tw_torch_value(s->t, o->tensor);
    if (!value)
        return NULL;
    if (tw_shape_elements(&value->shape) != 1)
        return fail(s, "a tensor of more than one element is taken for a number");
    if (!tw_build_known(&s->t->b, value))
        return fail(s, "it depends on the elements of an input, which are not known before the "
                       "network runs; what decides shapes and branches must be constant");
    if (value->shape.dtype == TW_F32)
        return tw_torch_new_float(s->t->scratch, tw_constant_at(value, 0));
    if (value->shape.dtype == TW_BOOL)
        return tw_torch_new_bool(s->t->scratch, tw_build_int_at(value, 0) != 0);
    return tw_torch_new_int(s->t->scratch, tw_build_int_at(value, 0));
}

bool tw_script_truth(tw_script *s, object *o, bool *truth)
{
    if (!(o = tw_script_number(s, o)))
        return false;
    *truth = o->kind == TW_TORCH_FLOAT   ? o->real != 0
             : tw_torch_is_number(o)     ? o->number != 0
             : o->kind == TW_TORCH_NONE  ? false
             : o->kind == TW_TORCH_TEXT  ? *o->text != 0
             : o->kind == TW_TORCH_LIST  ? o->count != 0
             : o->kind == TW_TORCH_TUPLE ? o->count != 0
                                         : true;
    return true;
}

/* --- of two numbers ---------------------------------------------------------------------------- */

enum { SAME_TYPE, REAL, TRUTH }; /* what type the result has */

static int64_t floor_quotient(int64_t a, int64_t b)
{
    const int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/* Integers wrap around; b is not 0 where it divides. */
static int64_t of_integers(char op, int64_t a, int64_t b)
{
    switch (op) {
    case '+': return (int64_t)((uint64_t)a + (uint64_t)b);
    case '-': return (int64_t)((uint64_t)a - (uint64_t)b);
    case '*': return (int64_t)((uint64_t)a * (uint64_t)b);
    case '/': return floor_quotient(a, b);
    case '%': return (int64_t)((uint64_t)a - (uint64_t)floor_quotient(a, b) * (uint64_t)b);
    case '=': return a == b;
    case '!': return a != b;
    case '<': return a < b;
    case '[': return a <= b;
    case '>': return a > b;
    case ']': return a >= b;
    case '&': return a & b;
    case '|': return a | b;
    case '^': return a ^ b;
    case 'm': return a < b ? a : b;
    default: return a > b ? a : b;
    }
}

static double of_reals(char op, double a, double b)
{
    switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case ':': return a / b;
    case '/': return floor(a / b);
    case '%': return a - b * floor(a / b);
    case 'p': return pow(a, b);
    case '=': return a == b;
    case '!': return a != b;
    case '<': return a < b;
    case '[': return a <= b;
    case '>': return a > b;
    case ']': return a >= b;
    case 'm': return a < b ? a : b;
    default: return a > b ? a : b;
    }
}

static const struct {
    const char *name;
    char op;
    int result;
} operators[] = {
    {"add", '+', SAME_TYPE},
    {"sub", '-', SAME_TYPE},
    {"mul", '*', SAME_TYPE},
    {"div", ':', REAL},
    {"floordiv", '/', SAME_TYPE},
    {"floor_divide", '/', SAME_TYPE},
    {"remainder", '%', SAME_TYPE},
    {"pow", 'p', REAL},
    {"eq", '=', TRUTH},
    {"ne", '!', TRUTH},
    {"lt", '<', TRUTH},
    {"le", '[', TRUTH},
    {"gt", '>', TRUTH},
    {"ge", ']', TRUTH},
    {"__and__", '&', SAME_TYPE},
    {"__or__", '|', SAME_TYPE},
    {"__xor__", '^', SAME_TYPE},
    {"prim.min", 'm', SAME_TYPE},
    {"prim.max", 'M', SAME_TYPE},
};

static object *of_two(tw_script *s, char op, int result, const object *a, const object *b)
{
    tw_arena *arena = s->t->scratch;
    const bool real = a->kind == TW_TORCH_FLOAT || b->kind == TW_TORCH_FLOAT || result == REAL;
    if (real) {
        const double y = of_reals(op, tw_torch_number(a), tw_torch_number(b));
        return result == TRUTH ? tw_torch_new_bool(arena, y != 0) : tw_torch_new_float(arena, y);
    }
    if ((op == '/' || op == '%') && (b->number == 0 || (b->number == -1 && a->number == INT64_MIN)))
        return fail(s, "a division by zero");
    const int64_t y = of_integers(op, a->number, b->number);
    const bool truth = result == TRUTH || (a->kind == TW_TORCH_BOOL && b->kind == TW_TORCH_BOOL &&
                                           strchr("&|^", op) != NULL);
    return truth ? tw_torch_new_bool(arena, y != 0) : tw_torch_new_int(arena, y);
}

static bool same(const object *a, const object *b, int depth)
{
    if (depth > 8)
        return false;
    if (tw_torch_is_number(a) && tw_torch_is_number(b))
        return tw_torch_number(a) == tw_torch_number(b);
    if (a->kind != b->kind)
        return false;
    if (a->kind == TW_TORCH_TEXT)
        return strcmp(a->text, b->text) == 0;
    bool equal = a->count == b->count;
    for (int i = 0; i < a->count && equal; i++)
        equal = same(a->items[i], b->items[i], depth + 1);
    return equal;
}

/* Operators on lists and texts. */
static object *of_groups(tw_script *s, char op, const object *a, const object *b, bool *known)
{
    tw_arena *arena = s->t->scratch;
    const bool lists = a->kind == TW_TORCH_LIST && b->kind == TW_TORCH_LIST;
    *known = true;
    if (op == '=' || op == '!')
        return tw_torch_new_bool(arena, same(a, b, 0) == (op == '='));
    if (op == '+' && a->kind == TW_TORCH_TEXT && b->kind == TW_TORCH_TEXT)
        return tw_torch_new_text(arena, tw_format(arena, "%.500s%.500s", a->text, b->text));
    const int64_t times = op == '*' && b->kind == TW_TORCH_INT ? b->number : 1;
    if ((op == '+' && lists) || (op == '*' && a->kind == TW_TORCH_LIST && times < 10000)) {
        object *o = tw_torch_new(arena, TW_TORCH_LIST);
        for (int64_t k = 0; k < times && a->count < 10000; k++)
            for (int i = 0; i < a->count; i++)
                tw_torch_push(arena, o, a->items[i]);
        for (int i = 0; lists && i < b->count; i++)
            tw_torch_push(arena, o, b->items[i]);
        return o;
    }
    *known = false;
    return NULL;
}

/* --- of one ------------------------------------------------------------------------------------ */

static object *rounded(tw_script *s, const object *a, double y)
{
    if (a->kind != TW_TORCH_FLOAT)
        y = (double)a->number;
    return fabs(y) < 9e18 ? tw_torch_new_int(s->t->scratch, (int64_t)y)
                          : fail(s, "a number that no integer holds");
}

static object *of_one(tw_script *s, const char *name, const object *a, bool *known)
{
    tw_arena *arena = s->t->scratch;
    const double x = tw_torch_number(a);
    *known = true;
    if (strcmp(name, "int") == 0 || strcmp(name, "Int") == 0 || strcmp(name, "IntImplicit") == 0)
        return rounded(s, a, trunc(x));
    if (strcmp(name, "floor") == 0)
        return rounded(s, a, floor(x));
    if (strcmp(name, "ceil") == 0)
        return rounded(s, a, ceil(x));
    if (strcmp(name, "float") == 0 || strcmp(name, "Float") == 0 ||
        strcmp(name, "FloatImplicit") == 0)
        return tw_torch_new_float(arena, x);
    if (strcmp(name, "bool") == 0 || strcmp(name, "Bool") == 0)
        return tw_torch_new_bool(arena, x != 0);
    if (strcmp(name, "neg") == 0)
        return a->kind == TW_TORCH_FLOAT
                   ? tw_torch_new_float(arena, -x)
                   : tw_torch_new_int(arena, (int64_t)(0 - (uint64_t)a->number));
    if (strcmp(name, "sqrt") == 0)
        return tw_torch_new_float(arena, sqrt(x));
    if (strcmp(name, "prim.abs") == 0)
        return a->kind == TW_TORCH_FLOAT
                   ? tw_torch_new_float(arena, fabs(x))
                   : tw_torch_new_int(arena, a->number < 0 && a->number != INT64_MIN ? -a->number
                                                                                     : a->number);
    if (strcmp(name, "prim.NumToTensor") == 0) {
        tw_value *value =
            a->kind == TW_TORCH_FLOAT
                ? tw_build_scalar(&s->t->b, TW_F32, x)
                : tw_build_reshape(&s->t->b, tw_build_list(&s->t->b, 1, &a->number), 0, NULL);
        return value ? tw_torch_new_tensor(arena, value) : NULL;
    }
    *known = false;
    return NULL;
}

static object *copied(tw_script *s, const object *list, int64_t begin, int64_t end, int64_t step)
{
    object *o = tw_torch_new(s->t->scratch, TW_TORCH_LIST);
    const tw_range range = tw_range_of(list->count, begin, end, step);
    for (int64_t i = 0; i < range.size; i++)
        tw_torch_push(s->t->scratch, o, list->items[range.begin + i * range.step]);
    return o;
}

static int64_t int_or(object **a, int count, int i, int64_t otherwise)
{
    return i < count && a[i]->kind == TW_TORCH_INT ? a[i]->number : otherwise;
}

static object *of_list(tw_script *s, const char *name, object **a, int count, bool *known)
{
    *known = true;
    if (strcmp(name, "append") == 0 && count == 2 && a[0]->count < 100000) {
        tw_torch_push(s->t->scratch, a[0], a[1]);
        return a[0];
    }
    if (strcmp(name, "slice") == 0) {
        const int64_t step = int_or(a, count, 3, 1);
        return step ? copied(s, a[0], int_or(a, count, 1, 0), int_or(a, count, 2, INT64_MAX), step)
                    : fail(s, "a step of 0");
    }
    if (strcmp(name, "list") == 0 || strcmp(name, "copy") == 0)
        return copied(s, a[0], 0, INT64_MAX, 1);
    if (strcmp(name, "__getitem__") == 0 && count == 2 && a[1]->kind == TW_TORCH_INT) {
        const int64_t i = a[1]->number + (a[1]->number < 0 ? a[0]->count : 0);
        return i >= 0 && i < a[0]->count ? a[0]->items[i] : fail(s, "an index beyond a list");
    }
    *known = false;
    return NULL;
}

/* --- what has a meaning of its own --------------------------------------------------------------- */

static object *range_length(tw_script *s, object **a, int count)
{
    const int64_t low = int_or(a, count, 0, 0), high = int_or(a, count, 1, 0);
    const int64_t step = int_or(a, count, 2, 1);
    if (step == 0 || low < -(1LL << 40) || low > 1LL << 40 || high < -(1LL << 40) ||
        high > 1LL << 40 || step < -(1LL << 40) || step > 1LL << 40)
        return fail(s, "a range that is not supported");
    const int64_t span = step > 0 ? high - low : low - high, by = step > 0 ? step : -step;
    return tw_torch_new_int(s->t->scratch, span > 0 ? (span - 1) / by + 1 : 0);
}

static object *contains(tw_script *s, const object *list, const object *item)
{
    bool found = false;
    const int step = list->kind == TW_TORCH_DICT ? 2 : 1;
    for (int i = 0; i < list->count && !found; i += step)
        found = same(list->items[i], item, 0);
    return tw_torch_new_bool(s->t->scratch, found);
}

static object *raise_exception(tw_script *s, object **a, int count)
{
    TW_SCRIPT_FAIL(s, "the model raises an error for this input: %.300s",
                   count > 0 && a[0]->kind == TW_TORCH_TEXT ? a[0]->text : "");
    return NULL;
}

static object *of_meaning(tw_script *s, const char *name, object **a, int count, bool *known)
{
    tw_arena *arena = s->t->scratch;
    *known = true;
    if (strcmp(name, "__not__") == 0 && count == 1) {
        bool truth;
        return tw_script_truth(s, a[0], &truth) ? tw_torch_new_bool(arena, !truth) : NULL;
    }
    if ((strcmp(name, "__is__") == 0 || strcmp(name, "__isnot__") == 0) && count == 2) {
        const bool is = a[0]->kind == TW_TORCH_NONE && a[1]->kind == TW_TORCH_NONE;
        return tw_torch_new_bool(arena, is == (strcmp(name, "__is__") == 0));
    }
    if (strcmp(name, "__contains__") == 0 && count == 2)
        return contains(s, a[0], a[1]);
    if (strcmp(name, "__range_length") == 0)
        return range_length(s, a, count);
    if (strcmp(name, "__derive_index") == 0 && count == 3)
        return tw_torch_new_int(arena, (int64_t)((uint64_t)a[1]->number +
                                                 (uint64_t)a[0]->number * (uint64_t)a[2]->number));
    if (strcmp(name, "range") == 0 && count == 1)
        return a[0];
    if (strcmp(name, "format") == 0)
        return count ? a[0] : NULL;
    if (strcmp(name, "prim.RaiseException") == 0)
        return raise_exception(s, a, count);
    if (strcmp(name, "prim.unchecked_unwrap_optional") == 0 ||
        strcmp(name, "_unwrap_optional") == 0 || strcmp(name, "prim.data") == 0)
        return count ? a[0] : NULL;
    if (strcmp(name, "prim.dtype") == 0 && count == 1 && a[0]->kind == TW_TORCH_TENSOR) {
        const tw_value *value = tw_torch_value(s->t, a[0]->tensor);
        return value ? tw_torch_new_int(arena, tw_torch_dtype_of(value->shape.dtype)) : NULL;
    }
    if (strcmp(name, "is_floating_point") == 0 && count == 1 && a[0]->kind == TW_TORCH_TENSOR) {
        const tw_value *value = tw_torch_value(s->t, a[0]->tensor);
        return value ? tw_torch_new_bool(arena, value->shape.dtype == TW_F32) : NULL;
    }
    /* devices, layouts, gradients: nothing here depends on them */
    static const char *const nothing[] = {"prim.device",      "prim.layout", "device",
                                          "set_grad_enabled", "warn",        "prim.Print"};
    static const char *const no[] = {"prim.is_cuda",       "prim.requires_grad", "is_grad_enabled",
                                     "prim.is_quantized",  "prim.is_sparse",     "is_scripting",
                                     "prim.is_meta",       "prim.is_nested",     "is_complex",
                                     "is_autocast_enabled"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (strcmp(name, nothing[i]) == 0)
            return tw_torch_new(arena, TW_TORCH_NONE);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (strcmp(name, no[i]) == 0)
            return tw_torch_new_bool(arena, false);
    *known = false;
    return NULL;
}

static bool is_group(const object *o)
{
    return o->kind == TW_TORCH_LIST || o->kind == TW_TORCH_TUPLE || o->kind == TW_TORCH_TEXT ||
           o->kind == TW_TORCH_DICT;
}

/* len of what has elements, and the functions of lists and tuples. */
static object *of_plain(tw_script *s, const char *name, object **a, int count, bool *known)
{
    *known = true;
    if (strcmp(name, "len") == 0 && count == 1)
        return tw_torch_new_int(s->t->scratch, a[0]->kind == TW_TORCH_TEXT
                                                   ? (int64_t)strlen(a[0]->text)
                                               : a[0]->kind == TW_TORCH_DICT ? a[0]->count / 2
                                                                             : a[0]->count);
    if (a[0]->kind == TW_TORCH_LIST || a[0]->kind == TW_TORCH_TUPLE) {
        object *o = of_list(s, name, a, count, known);
        if (o || *known)
            return o;
    }
    *known = false;
    return NULL;
}

object *tw_script_builtin(tw_script *s, const char *name, object **a, int count, bool *known)
{
    object *o = of_meaning(s, name, a, count, known);
    if (o || *known || count == 0)
        return o;
    /* int(x) and its like of a tensor take its element. */
    static const char *const takes[] = {"int",   "float",         "bool",          "Int",
                                        "Float", "IntImplicit",   "FloatImplicit", "Bool",
                                        "item",  "ScalarImplicit"};
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++)
        if (count == 1 && strcmp(name, takes[i]) == 0) {
            *known = true;
            if (!(a[0] = tw_script_number(s, a[0])))
                return NULL;
            if (i >= 8)
                return a[0];
        }
    *known = false;
    if (count == 1 && tw_torch_is_number(a[0]))
        if ((o = of_one(s, name, a[0], known)) || *known)
            return o;
    if (is_group(a[0]) && ((o = of_plain(s, name, a, count, known)) || *known))
        return o;
    for (size_t i = 0; count == 2 && i < sizeof operators / sizeof *operators; i++) {
        if (strcmp(name, operators[i].name) != 0)
            continue;
        if (tw_torch_is_number(a[0]) && tw_torch_is_number(a[1])) {
            *known = true;
            return of_two(s, operators[i].op, operators[i].result, a[0], a[1]);
        }
        if (a[0]->kind != TW_TORCH_TENSOR && a[1]->kind != TW_TORCH_TENSOR)
            return of_groups(s, operators[i].op, a[0], a[1], known);
    }
    *known = false;
    return NULL;
}
