/* What a PyTorch program computes with while it is imported: tensors of the graph, and the numbers,
 * lists and modules around them, which are gone when the graph is there. Objects are held by reference, as
 * Python has it, and live in the import's scratch memory. */
#ifndef TW_IMPORT_PYTORCH_OBJECT_H
#define TW_IMPORT_PYTORCH_OBJECT_H

#include "graph/graph.h"

typedef enum tw_torch_kind {
    TW_TORCH_NONE,
    TW_TORCH_BOOL,   /* number */
    TW_TORCH_INT,    /* number */
    TW_TORCH_FLOAT,  /* real */
    TW_TORCH_TEXT,   /* text */
    TW_TORCH_TENSOR, /* tensor */
    TW_TORCH_LIST,
    TW_TORCH_TUPLE,
    TW_TORCH_DICT,    /* items: key, value, key, value, ... */
    TW_TORCH_MODULE,  /* text: its class; number: its own; items as of a dict: its attributes */
    TW_TORCH_GLOBAL,  /* text: a class or function of the file, a type, a device: only its name */
    TW_TORCH_STORAGE, /* text: its key; number: its elements; real unused */
} tw_torch_kind;

/* Numbers of PyTorch's element types, as programs have them. */
enum {
    TW_TORCH_U8 = 0,
    TW_TORCH_S8 = 1,
    TW_TORCH_S16 = 2,
    TW_TORCH_S32 = 3,
    TW_TORCH_S64 = 4,
    TW_TORCH_F16 = 5,
    TW_TORCH_F32 = 6,
    TW_TORCH_F64 = 7,
    TW_TORCH_BOOLEAN = 11,
    TW_TORCH_BF16 = 15
};

/* A tensor in a file: elements of a storage, from an offset on, in steps. */
typedef struct tw_torch_stored {
    int dtype;                    /* TW_TORCH_U8, ... */
    struct tw_torch_place *place; /* of its storage; null: the import's own */
    const char *key;
    int64_t offset; /* in elements */
    int rank;
    int64_t size[TW_MAX_RANK], stride[TW_MAX_RANK];
} tw_torch_stored;

/* Does a program say where the elements of a tensor that it computes lie? */
typedef enum tw_torch_layout {
    TW_TORCH_NO_LAYOUT,
    TW_TORCH_ONE_LAYOUT,
    TW_TORCH_LAYOUTS /* by several names, not the same */
} tw_torch_layout;

/* One tensor that a program knows, perhaps by several names. */
typedef struct tw_torch_tensor {
    tw_value *value;        /* null: still in the file */
    tw_torch_stored stored; /* of a computed one, with a layout: offset, rank, sizes and strides */
    tw_torch_layout layout;
    bool shares; /* another tensor sees the same elements: a view, or what it is a view of */
    bool changed;
} tw_torch_tensor;

typedef struct tw_torch_object tw_torch_object;
struct tw_torch_object {
    tw_torch_kind kind;
    int dtype; /* of a storage */
    int count, capacity;
    tw_torch_object **items;
    int64_t number;
    double real;
    const char *text;
    tw_torch_tensor *tensor;
};

tw_torch_object *tw_torch_new(tw_arena *arena, tw_torch_kind kind);
tw_torch_object *tw_torch_new_int(tw_arena *arena, int64_t number);
tw_torch_object *tw_torch_new_bool(tw_arena *arena, bool value);
tw_torch_object *tw_torch_new_float(tw_arena *arena, double real);
tw_torch_object *tw_torch_new_text(tw_arena *arena, const char *text);
tw_torch_object *tw_torch_new_tensor(tw_arena *arena, tw_value *value);
void tw_torch_push(tw_arena *arena, tw_torch_object *list, tw_torch_object *item);

/* An attribute of a module, or an entry of a dict, by its name; null when absent. */
tw_torch_object *tw_torch_attribute(const tw_torch_object *object, const char *name);
void tw_torch_set_attribute(tw_arena *arena, tw_torch_object *object, const char *name,
                            tw_torch_object *value);

/* "an int", "a tensor", ... for messages. */
const char *tw_torch_kind_name(tw_torch_kind kind);
static inline bool tw_torch_is_number(const tw_torch_object *o)
{
    return o->kind == TW_TORCH_BOOL || o->kind == TW_TORCH_INT || o->kind == TW_TORCH_FLOAT;
}
static inline double tw_torch_number(const tw_torch_object *o)
{
    return o->kind == TW_TORCH_FLOAT ? o->real : (double)o->number;
}

/* Bytes of an element in a file; 0 for a type that is not read. */
int tw_torch_dtype_bytes(int dtype);
const char *tw_torch_dtype_name(int dtype);
/* The type in the graph: floats of any width are computed as float32. TW_NO_DTYPE: none. */
tw_dtype tw_torch_dtype(int dtype);
int tw_torch_dtype_of(tw_dtype dtype);

/* What a pickle in `data` builds. Only what tensors and modules need is carried out; any other class or
 * function is refused by name. Null with a message. */
tw_torch_object *tw_torch_unpickle(tw_arena *arena, const void *data, size_t bytes,
                                   const char *member, tw_diag *diag);

#endif
