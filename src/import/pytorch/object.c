/* Objects: made, and looked into. */
#include "import/pytorch/object.h"

#include <string.h>

tw_torch_object *tw_torch_new(tw_arena *arena, tw_torch_kind kind)
{
    tw_torch_object *o = tw_alloc(arena, sizeof *o);
    o->kind = kind;
    return o;
}

tw_torch_object *tw_torch_new_int(tw_arena *arena, int64_t number)
{
    tw_torch_object *o = tw_torch_new(arena, TW_TORCH_INT);
    o->number = number;
    return o;
}

tw_torch_object *tw_torch_new_bool(tw_arena *arena, bool value)
{
    tw_torch_object *o = tw_torch_new(arena, TW_TORCH_BOOL);
    o->number = value;
    return o;
}

tw_torch_object *tw_torch_new_float(tw_arena *arena, double real)
{
    tw_torch_object *o = tw_torch_new(arena, TW_TORCH_FLOAT);
    o->real = real;
    return o;
}

tw_torch_object *tw_torch_new_text(tw_arena *arena, const char *text)
{
    tw_torch_object *o = tw_torch_new(arena, TW_TORCH_TEXT);
    o->text = text;
    return o;
}

tw_torch_object *tw_torch_new_tensor(tw_arena *arena, tw_value *value)
{
    tw_torch_object *o = tw_torch_new(arena, TW_TORCH_TENSOR);
    o->tensor = tw_alloc(arena, sizeof *o->tensor);
    o->tensor->value = value;
    return o;
}

void tw_torch_push(tw_arena *arena, tw_torch_object *list, tw_torch_object *item)
{
    tw_grow(arena, &list->items, list->count, &list->capacity, sizeof(tw_torch_object *));
    list->items[list->count++] = item;
}

static int place_of(const tw_torch_object *object, const char *name)
{
    for (int i = 0; i + 1 < object->count; i += 2)
        if (object->items[i]->kind == TW_TORCH_TEXT && strcmp(object->items[i]->text, name) == 0)
            return i + 1;
    return -1;
}

tw_torch_object *tw_torch_attribute(const tw_torch_object *object, const char *name)
{
    const int at = place_of(object, name);
    return at < 0 ? NULL : object->items[at];
}

void tw_torch_set_attribute(tw_arena *arena, tw_torch_object *object, const char *name,
                            tw_torch_object *value)
{
    const int at = place_of(object, name);
    if (at >= 0) {
        object->items[at] = value;
        return;
    }
    tw_torch_push(arena, object, tw_torch_new_text(arena, name));
    tw_torch_push(arena, object, value);
}

const char *tw_torch_kind_name(tw_torch_kind kind)
{
    static const char *const names[] = {
        [TW_TORCH_NONE] = "None",         [TW_TORCH_BOOL] = "a bool",
        [TW_TORCH_INT] = "an int",        [TW_TORCH_FLOAT] = "a float",
        [TW_TORCH_TEXT] = "a string",     [TW_TORCH_TENSOR] = "a tensor",
        [TW_TORCH_LIST] = "a list",       [TW_TORCH_TUPLE] = "a tuple",
        [TW_TORCH_DICT] = "a dictionary", [TW_TORCH_MODULE] = "a module",
        [TW_TORCH_GLOBAL] = "a name",     [TW_TORCH_STORAGE] = "a storage",
    };
    return names[kind];
}

static const struct {
    int dtype, bytes;
    tw_dtype in_graph;
    const char *name;
} types[] = {
    {TW_TORCH_U8, 1, TW_U8, "uint8"},       {TW_TORCH_S8, 1, TW_S8, "int8"},
    {TW_TORCH_S16, 2, TW_S16, "int16"},     {TW_TORCH_S32, 4, TW_S32, "int32"},
    {TW_TORCH_S64, 8, TW_S64, "int64"},     {TW_TORCH_F16, 2, TW_F32, "float16"},
    {TW_TORCH_F32, 4, TW_F32, "float32"},   {TW_TORCH_F64, 8, TW_F32, "float64"},
    {TW_TORCH_BOOLEAN, 1, TW_BOOL, "bool"}, {TW_TORCH_BF16, 2, TW_F32, "bfloat16"},
};
enum { TYPES = sizeof types / sizeof *types };

int tw_torch_dtype_bytes(int dtype)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].dtype == dtype)
            return types[i].bytes;
    return 0;
}

const char *tw_torch_dtype_name(int dtype)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].dtype == dtype)
            return types[i].name;
    return "of a type that is not known";
}

tw_dtype tw_torch_dtype(int dtype)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].dtype == dtype)
            return types[i].in_graph;
    return TW_NO_DTYPE;
}

int tw_torch_dtype_of(tw_dtype dtype)
{
    if (dtype == TW_F32)
        return TW_TORCH_F32;
    for (int i = 0; i < TYPES; i++)
        if (types[i].in_graph == dtype)
            return types[i].dtype;
    return -1;
}
