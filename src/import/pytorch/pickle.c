/* The part of Python's pickle format that tensors and modules are written in. A pickle is a program for
 * a stack machine that can call anything; this machine calls nothing. It knows the few names that PyTorch
 * writes, builds data of them, and refuses every other name. */
#include <math.h>
#include <string.h>

#include "import/pytorch/object.h"

enum { STACK = 100000, MEMO = 1000000, STEPS = 20000000 };

typedef struct tw_pickle {
    tw_arena *arena;
    const uint8_t *data;
    size_t bytes, at;
    const char *member;
    tw_torch_object **stack, **memo;
    int count, capacity, memo_count, memo_capacity;
    int *marks;
    int mark_count, mark_capacity;
    int modules;
    tw_diag *diag;
} tw_pickle;

#define PICKLE_FAIL(p, ...)                                                                        \
    tw_fail((p)->diag, TW_CODE_FAILED, (p)->member, NULL, "the pickle " __VA_ARGS__)

/* Names that a pickle may have. What they mean is in reduce(). */
static bool is_known(const char *name)
{
    static const char *const known[] = {
        "torch._utils _rebuild_tensor_v2",
        "torch._utils _rebuild_parameter",
        "torch._utils _rebuild_parameter_with_state",
        "collections OrderedDict",
        "torch.jit._pickle build_intlist",
        "torch.jit._pickle build_doublelist",
        "torch.jit._pickle build_boollist",
        "torch.jit._pickle build_tensorlist",
        "torch.jit._pickle restore_type_tag",
        "torch device",
        "torch Size",
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], name) == 0)
            return true;
    return strncmp(name, "__torch__", 9) == 0;
}

static int storage_type(const char *name)
{
    static const struct {
        const char *name;
        int dtype;
    } storages[] = {
        {"torch FloatStorage", TW_TORCH_F32}, {"torch DoubleStorage", TW_TORCH_F64},
        {"torch HalfStorage", TW_TORCH_F16},  {"torch BFloat16Storage", TW_TORCH_BF16},
        {"torch LongStorage", TW_TORCH_S64},  {"torch IntStorage", TW_TORCH_S32},
        {"torch ShortStorage", TW_TORCH_S16}, {"torch CharStorage", TW_TORCH_S8},
        {"torch ByteStorage", TW_TORCH_U8},   {"torch BoolStorage", TW_TORCH_BOOLEAN},
    };
    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++)
        if (strcmp(storages[i].name, name) == 0)
            return storages[i].dtype;
    return -1;
}

/* --- bytes and stack --------------------------------------------------------------------------- */

static const uint8_t *take(tw_pickle *p, size_t bytes)
{
    if (bytes > p->bytes - p->at) {
        PICKLE_FAIL(p, "ends too soon");
        return NULL;
    }
    p->at += bytes;
    return p->data + p->at - bytes;
}

static bool take_number(tw_pickle *p, int bytes, uint64_t *number)
{
    const uint8_t *from = take(p, (size_t)bytes);
    *number = 0;
    for (int i = 0; from && i < bytes; i++)
        *number |= (uint64_t)from[i] << (8 * i);
    return from != NULL;
}

static bool push(tw_pickle *p, tw_torch_object *o)
{
    if (p->count == STACK)
        return PICKLE_FAIL(p, "has more than %d values on its stack", STACK);
    tw_grow(p->arena, &p->stack, p->count, &p->capacity, sizeof(tw_torch_object *));
    p->stack[p->count++] = o;
    return true;
}

static int floor_of(const tw_pickle *p)
{
    return p->mark_count ? p->marks[p->mark_count - 1] : 0;
}

static tw_torch_object *pop(tw_pickle *p)
{
    if (p->count <= floor_of(p)) {
        PICKLE_FAIL(p, "takes more from its stack than it has");
        return NULL;
    }
    return p->stack[--p->count];
}

static tw_torch_object *top(tw_pickle *p, tw_torch_kind kind, tw_torch_kind or_kind)
{
    if (!p->stack || p->count <= floor_of(p)) {
        PICKLE_FAIL(p, "takes more from its stack than it has");
        return NULL;
    }
    tw_torch_object *o = p->stack[p->count - 1];
    if (o->kind != kind && o->kind != or_kind) {
        PICKLE_FAIL(p, "adds to %s", tw_torch_kind_name(o->kind));
        return NULL;
    }
    return o;
}

/* The values above the latest mark, which goes. */
static tw_torch_object **pop_marked(tw_pickle *p, int *count)
{
    *count = 0;
    if (p->mark_count == 0) {
        PICKLE_FAIL(p, "closes a group that it has not opened");
        return NULL;
    }
    const int mark = p->marks[--p->mark_count];
    *count = p->count - mark;
    p->count = mark;
    return mark ? p->stack + mark : p->stack; /* which is null before anything is pushed */
}

static bool push_text(tw_pickle *p, int size_bytes)
{
    uint64_t length;
    if (!take_number(p, size_bytes, &length))
        return false;
    const uint8_t *from = take(p, length > p->bytes ? p->bytes + 1 : (size_t)length);
    return from && push(p, tw_torch_new_text(
                               p->arena, tw_strndup(p->arena, (const char *)from, (size_t)length)));
}

/* --- memo -------------------------------------------------------------------------------------- */

static bool remember(tw_pickle *p, uint64_t place)
{
    if (place >= MEMO)
        return PICKLE_FAIL(p, "remembers more than %d values", MEMO);
    if (p->count <= floor_of(p))
        return PICKLE_FAIL(p, "remembers what is not there");
    /* Places may be left out, but not many: a place costs a byte of the file at least. */
    if (place > p->bytes)
        return PICKLE_FAIL(p, "remembers in a place beyond its length");
    while (p->memo_count <= (int)place) {
        tw_grow(p->arena, &p->memo, p->memo_count, &p->memo_capacity, sizeof(tw_torch_object *));
        p->memo[p->memo_count++] = NULL;
    }
    p->memo[place] = p->stack[p->count - 1];
    return true;
}

static bool recall(tw_pickle *p, uint64_t place)
{
    if (place >= (uint64_t)p->memo_count || !p->memo[place])
        return PICKLE_FAIL(p, "recalls what it has not remembered");
    return push(p, p->memo[place]);
}

/* --- names ------------------------------------------------------------------------------------- */

static bool push_global(tw_pickle *p, const char *name)
{
    if (!is_known(name) && storage_type(name) < 0)
        return tw_fail(p->diag, TW_CODE_UNSUPPORTED, p->member, NULL,
                       "the pickle asks for '%.120s'; only tensors, plain data and the modules of "
                       "the file itself are read",
                       name);
    tw_torch_object *o = tw_torch_new(p->arena, TW_TORCH_GLOBAL);
    o->text = name;
    return push(p, o);
}

/* Two lines: module and name. */
static bool read_global(tw_pickle *p)
{
    const char *part[2];
    for (int i = 0; i < 2; i++) {
        const uint8_t *from = p->data + p->at;
        const uint8_t *end = memchr(from, '\n', p->bytes - p->at);
        if (!end)
            return PICKLE_FAIL(p, "ends within a name");
        part[i] = tw_strndup(p->arena, (const char *)from, (size_t)(end - from));
        p->at += (size_t)(end - from) + 1;
    }
    return push_global(p, tw_format(p->arena, "%s %s", part[0], part[1]));
}

static bool stack_global(tw_pickle *p)
{
    const tw_torch_object *name = pop(p), *module = name ? pop(p) : NULL;
    if (!module)
        return false;
    if (module->kind != TW_TORCH_TEXT || name->kind != TW_TORCH_TEXT)
        return PICKLE_FAIL(p, "asks for a name that is none");
    return push_global(p, tw_format(p->arena, "%s %s", module->text, name->text));
}

/* ('storage', type, key, device, elements) */
static bool persistent(tw_pickle *p)
{
    const tw_torch_object *id = pop(p);
    if (!id)
        return false;
    if (id->kind != TW_TORCH_TUPLE || id->count < 5 || id->items[0]->kind != TW_TORCH_TEXT ||
        strcmp(id->items[0]->text, "storage") != 0 || id->items[1]->kind != TW_TORCH_GLOBAL ||
        storage_type(id->items[1]->text) < 0 || id->items[2]->kind != TW_TORCH_TEXT ||
        id->items[4]->kind != TW_TORCH_INT)
        return PICKLE_FAIL(p, "refers to something that is not a storage");
    tw_torch_object *o = tw_torch_new(p->arena, TW_TORCH_STORAGE);
    o->text = id->items[2]->text;
    o->dtype = storage_type(id->items[1]->text);
    o->number = id->items[4]->number;
    return push(p, o);
}

/* --- what is called ---------------------------------------------------------------------------- */

static bool read_extents(const tw_torch_object *list, int rank, int64_t *to)
{
    if ((list->kind != TW_TORCH_TUPLE && list->kind != TW_TORCH_LIST) || list->count != rank)
        return false;
    for (int i = 0; i < rank; i++) {
        if (list->items[i]->kind != TW_TORCH_INT || list->items[i]->number < 0)
            return false;
        to[i] = list->items[i]->number;
    }
    return true;
}

/* (storage, offset, sizes, strides, ...) */
static tw_torch_object *rebuild(tw_pickle *p, const tw_torch_object *a)
{
    if (a->count < 4 || a->items[0]->kind != TW_TORCH_STORAGE ||
        a->items[1]->kind != TW_TORCH_INT || a->items[1]->number < 0) {
        PICKLE_FAIL(p, "has a tensor without a storage");
        return NULL;
    }
    const int rank = a->items[2]->count;
    if (rank > TW_MAX_RANK) {
        tw_fail(p->diag, TW_CODE_UNSUPPORTED, p->member, NULL,
                "a tensor has rank %d; at most %d are supported", rank, TW_MAX_RANK);
        return NULL;
    }
    tw_torch_object *o = tw_torch_new_tensor(p->arena, NULL);
    tw_torch_stored *s = &o->tensor->stored;
    s->dtype = a->items[0]->dtype;
    s->key = a->items[0]->text;
    s->offset = a->items[1]->number;
    s->rank = rank;
    if (!read_extents(a->items[2], rank, s->size) || !read_extents(a->items[3], rank, s->stride)) {
        PICKLE_FAIL(p, "has a tensor whose sizes and strides do not fit each other");
        return NULL;
    }
    return o;
}

static bool reduce(tw_pickle *p)
{
    const tw_torch_object *a = pop(p), *callee = a ? pop(p) : NULL;
    if (!callee)
        return false;
    if (callee->kind != TW_TORCH_GLOBAL || a->kind != TW_TORCH_TUPLE)
        return PICKLE_FAIL(p, "calls %s", tw_torch_kind_name(callee->kind));
    const char *name = callee->text;
    tw_torch_object *result = NULL;
    if (strcmp(name, "torch._utils _rebuild_tensor_v2") == 0) {
        result = rebuild(p, a);
    } else if (strcmp(name, "collections OrderedDict") == 0) {
        result = tw_torch_new(p->arena, TW_TORCH_DICT);
    } else if (strcmp(name, "torch device") == 0 || strncmp(name, "__torch__", 9) == 0) {
        result = tw_torch_new(p->arena, TW_TORCH_GLOBAL);
        result->text = name;
    } else if (a->count > 0 && storage_type(name) < 0) {
        result = a->items[0]; /* the rest is about types and training */
    }
    if (!result)
        return p->diag->code != TW_CODE_OK ? false
                                           : PICKLE_FAIL(p,
                                                         "calls '%.120s' in a way that is not "
                                                         "known",
                                                         name);
    return push(p, result);
}

static bool new_module(tw_pickle *p)
{
    const tw_torch_object *arguments = pop(p), *class = arguments ? pop(p) : NULL;
    if (!class)
        return false;
    if (class->kind != TW_TORCH_GLOBAL || strncmp(class->text, "__torch__", 9) != 0)
        return PICKLE_FAIL(p, "makes an object of %s",
                           class->kind == TW_TORCH_GLOBAL ? class->text
                                                          : tw_torch_kind_name(class->kind));
    tw_torch_object *o = tw_torch_new(p->arena, TW_TORCH_MODULE);
    /* "__torch__.a.b Class" is __torch__.a.b.Class in the code */
    char *name = tw_strdup(p->arena, class->text);
    for (char *c = name; *c; c++)
        if (*c == ' ')
            *c = '.';
    o->text = name;
    o->number = p->modules++;
    return push(p, o);
}

static bool build(tw_pickle *p)
{
    const tw_torch_object *state = pop(p);
    if (!state || p->count <= floor_of(p))
        return p->diag->code != TW_CODE_OK ? false : PICKLE_FAIL(p, "fills nothing");
    tw_torch_object *o = p->stack[p->count - 1];
    if (o->kind != TW_TORCH_MODULE)
        return true; /* an OrderedDict's own attributes */
    if (state->kind != TW_TORCH_DICT)
        return tw_fail(p->diag, TW_CODE_UNSUPPORTED, p->member, NULL,
                       "objects of '%s' have a state of their own making, which is not supported",
                       o->text);
    o->items = state->items;
    o->count = state->count;
    o->capacity = state->count;
    return true;
}

/* --- the machine ------------------------------------------------------------------------------- */

static bool push_long(tw_pickle *p)
{
    uint64_t length, bits = 0;
    if (!take_number(p, 1, &length))
        return false;
    if (length > 8)
        return PICKLE_FAIL(p, "has an integer of %d bytes", (int)length);
    if (!take_number(p, (int)length, &bits))
        return false;
    if (length > 0 && length < 8 && bits >> (8 * length - 1) & 1)
        bits |= ~UINT64_C(0) << (8 * length);
    return push(p, tw_torch_new_int(p->arena, (int64_t)bits));
}

static bool push_real(tw_pickle *p)
{
    const uint8_t *from = take(p, 8);
    uint64_t bits = 0;
    double real;
    for (int i = 0; from && i < 8; i++)
        bits = bits << 8 | from[i];
    memcpy(&real, &bits, sizeof real);
    return from && push(p, tw_torch_new_float(p->arena, real));
}

static bool append(tw_pickle *p, tw_torch_object **items, int count)
{
    tw_torch_object *list = top(p, TW_TORCH_LIST, TW_TORCH_LIST);
    for (int i = 0; list && i < count; i++)
        tw_torch_push(p->arena, list, items[i]);
    return list != NULL;
}

static bool set_items(tw_pickle *p, tw_torch_object **items, int count)
{
    tw_torch_object *dict = top(p, TW_TORCH_DICT, TW_TORCH_DICT);
    if (dict && count % 2 != 0)
        return PICKLE_FAIL(p, "has a key without a value");
    for (int i = 0; dict && i < count; i++)
        tw_torch_push(p->arena, dict, items[i]);
    return dict != NULL;
}

static bool push_group(tw_pickle *p, tw_torch_kind kind, tw_torch_object **items, int count)
{
    tw_torch_object *o = tw_torch_new(p->arena, kind);
    for (int i = 0; i < count; i++)
        tw_torch_push(p->arena, o, items[i]);
    return push(p, o);
}

/* Operations on what stands above a mark. */
static bool step_marked(tw_pickle *p, int code)
{
    int count;
    tw_torch_object **above = pop_marked(p, &count);
    /* The stack is used again while the group is made of it. */
    tw_torch_object **items = tw_alloc_array(p->arena, (size_t)count + 1, sizeof *items);
    if (p->diag->code != TW_CODE_OK)
        return false;
    for (int i = 0; i < count; i++)
        items[i] = above[i];
    switch (code) {
    case 't': return push_group(p, TW_TORCH_TUPLE, items, count);
    case 'l': return push_group(p, TW_TORCH_LIST, items, count);
    case 'e': return append(p, items, count);
    default: return set_items(p, items, count);
    }
}

static bool step_few(tw_pickle *p, int code)
{
    tw_torch_object *items[3] = {NULL};
    const int count = code == 'a' ? 1 : code == 's' ? 2 : code - 0x84;
    for (int i = count - 1; i >= 0; i--)
        if (!(items[i] = pop(p)))
            return false;
    return code == 'a'   ? append(p, items, 1)
           : code == 's' ? set_items(p, items, 2)
                         : push_group(p, TW_TORCH_TUPLE, items, count);
}

static bool push_int(tw_pickle *p, int bytes)
{
    uint64_t bits;
    if (!take_number(p, bytes, &bits))
        return false;
    const int64_t number = bytes == 4 ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits;
    return push(p, tw_torch_new_int(p->arena, number));
}

static bool by_place(tw_pickle *p, int bytes, bool (*use)(tw_pickle *p, uint64_t place))
{
    uint64_t place;
    return take_number(p, bytes, &place) && use(p, place);
}

static bool step(tw_pickle *p, int code)
{
    uint64_t ignored;
    switch (code) {
    case 0x80: return take_number(p, 1, &ignored); /* protocol */
    case 0x95: return take_number(p, 8, &ignored); /* frame */
    case '(':
        tw_grow(p->arena, &p->marks, p->mark_count, &p->mark_capacity, sizeof *p->marks);
        p->marks[p->mark_count++] = p->count;
        return true;
    case '0': return pop(p) != NULL;
    case 'N': return push(p, tw_torch_new(p->arena, TW_TORCH_NONE));
    case 0x88: return push(p, tw_torch_new_bool(p->arena, true));
    case 0x89: return push(p, tw_torch_new_bool(p->arena, false));
    case 'J': return push_int(p, 4);
    case 'K': return push_int(p, 1);
    case 'M': return push_int(p, 2);
    case 0x8a: return push_long(p);
    case 'G': return push_real(p);
    case 'X': return push_text(p, 4);
    case 0x8c: return push_text(p, 1);
    case 'U': return push_text(p, 1);
    case 'T': return push_text(p, 4);
    case ']': return push(p, tw_torch_new(p->arena, TW_TORCH_LIST));
    case ')': return push(p, tw_torch_new(p->arena, TW_TORCH_TUPLE));
    case '}': return push(p, tw_torch_new(p->arena, TW_TORCH_DICT));
    case 't':
    case 'l':
    case 'e':
    case 'u': return step_marked(p, code);
    case 'a':
    case 's':
    case 0x85:
    case 0x86:
    case 0x87: return step_few(p, code);
    case 'h': return by_place(p, 1, recall);
    case 'j': return by_place(p, 4, recall);
    case 'q': return by_place(p, 1, remember);
    case 'r': return by_place(p, 4, remember);
    case 0x94: return remember(p, (uint64_t)p->memo_count);
    case 'c': return read_global(p);
    case 0x93: return stack_global(p);
    case 'R': return reduce(p);
    case 0x81: return new_module(p);
    case 'b': return build(p);
    case 'Q': return persistent(p);
    default: return PICKLE_FAIL(p, "has the operation 0x%02x, which tensors do not need", code);
    }
}

tw_torch_object *tw_torch_unpickle(tw_arena *arena, const void *data, size_t bytes,
                                   const char *member, tw_diag *diag)
{
    tw_pickle p = {.arena = arena, .data = data, .bytes = bytes, .member = member, .diag = diag};
    for (int steps = 0; p.at < bytes && steps < STEPS; steps++) {
        const int code = p.data[p.at++];
        if (code == '.') {
            tw_torch_object *result = pop(&p);
            return result;
        }
        if (!step(&p, code))
            return NULL;
    }
    PICKLE_FAIL(&p, "does not come to an end");
    return NULL;
}
