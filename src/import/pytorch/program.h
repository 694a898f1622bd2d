/* An exported program while it is imported. */
#ifndef TW_IMPORT_PYTORCH_PROGRAM_H
#define TW_IMPORT_PYTORCH_PROGRAM_H

#include <jansson.h>

#include "import/pytorch/torch.h"

typedef struct tw_program_state {
    const char *name; /* of the buffer */
    tw_value *state;
    tw_torch_object *object; /* what it is: at first the state */
} tw_program_state;

/* Archives in the archive: weights, constants, and single constants of torch 2.1. */
enum { TW_PROGRAM_INNER = 64 };

typedef struct tw_program {
    tw_torch *t;
    const json_t *graph;
    tw_map tensors; /* of the file, by their names in the model */
    tw_map values;  /* by their names in the graph: objects */
    tw_map changed; /* names of graph inputs that the program changes */
    tw_program_state *states;
    int state_count, state_capacity;
    int inputs;
    tw_archive *inner[TW_PROGRAM_INNER]; /* open as long as the import */
    int inner_count;
} tw_program;

/* A text field, or "". */
const char *tw_program_text(const json_t *object, const char *key);
/* The element type of that number in a program; -1: none that is read. */
int tw_program_dtype(int64_t code);
/* Notes where the elements of a computed tensor lie, as the program says of that name. */
void tw_program_lay_out(const tw_program *p, const char *name, tw_torch_tensor *tensor);

/* --- programs of early schemas: early.c --------------------------------------------------------- */

/* JSON as Python writes it, without fields that are null; text ends with a zero byte. */
json_t *tw_program_parse(tw_arena *arena, const char *text, size_t bytes, json_error_t *error);
/* Give a graph module of schema 1 what later ones have. */
void tw_program_renew(json_t *module);
/* What a text in base64 stands for; null where it is none. */
void *tw_program_base64(tw_arena *arena, const char *text, size_t *bytes);

/* --- nodes: node.c ------------------------------------------------------------------------------ */

/* What an argument ({"as_tensor": ..} and its like) is. Null with a message. */
tw_torch_object *tw_program_argument(tw_program *p, const json_t *argument);
/* Call a node's operator and name its results. */
bool tw_program_node(tw_program *p, const json_t *node);

#endif
