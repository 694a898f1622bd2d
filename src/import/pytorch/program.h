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

typedef struct tw_program {
    tw_torch *t;
    const json_t *graph;
    tw_map tensors; /* of the file, by their names in the model */
    tw_map values;  /* by their names in the graph: objects */
    tw_map changed; /* names of graph inputs that the program changes */
    tw_program_state *states;
    int state_count, state_capacity;
    int inputs;
    tw_archive *inner[2]; /* archives in the archive, open as long as the import */
    int inner_count;
} tw_program;

/* A text field, or "". */
const char *tw_program_text(const json_t *object, const char *key);
/* The element type of that number in a program; -1: none that is read. */
int tw_program_dtype(int64_t code);

/* What an argument ({"as_tensor": ..} and its like) is. Null with a message: node.c. */
tw_torch_object *tw_program_argument(tw_program *p, const json_t *argument);
/* Call a node's operator and name its results. */
bool tw_program_node(tw_program *p, const json_t *node);

#endif
