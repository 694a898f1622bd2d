/* TorchScript's code: text in the form of Python, read into trees and evaluated with tensors that are
 * values of the graph. */
#ifndef TW_IMPORT_PYTORCH_SCRIPT_H
#define TW_IMPORT_PYTORCH_SCRIPT_H

#include "import/pytorch/torch.h"

typedef enum tw_tree_kind {
    /* expressions */
    TW_TREE_NAME,      /* text */
    TW_TREE_INT,       /* number */
    TW_TREE_FLOAT,     /* real */
    TW_TREE_TEXT,      /* text */
    TW_TREE_LIST,      /* items */
    TW_TREE_TUPLE,     /* items */
    TW_TREE_DICT,      /* items: key, value, ... */
    TW_TREE_ATTRIBUTE, /* item 0, text */
    TW_TREE_INDEX,     /* item 0, item 1 */
    TW_TREE_CALL,      /* item 0: what is called; the rest: arguments, KEYWORD among them */
    TW_TREE_KEYWORD,   /* text, item 0 */
    TW_TREE_NEGATIVE,  /* item 0 */
    TW_TREE_CHOICE,    /* item 0 if item 1 else item 2 */
    /* statements */
    TW_TREE_ASSIGN, /* item 0: what to: a name, an attribute, a tuple of names; item 1 */
    TW_TREE_DO,     /* item 0 */
    TW_TREE_RETURN, /* item 0, or none */
    TW_TREE_IF,     /* item 0: condition, 1: block, 2: block */
    TW_TREE_FOR,    /* text: the variable; item 0: what over, 1: block */
    TW_TREE_WHILE,  /* item 0, 1: block */
    TW_TREE_WITH,   /* item 0: block; what is entered is about gradients */
    TW_TREE_PASS,
    TW_TREE_BLOCK /* items */
} tw_tree_kind;

typedef struct tw_tree tw_tree;
struct tw_tree {
    tw_tree_kind kind;
    int line;
    const char *text;
    int64_t number;
    double real;
    tw_tree **items;
    int count, capacity;
};

typedef struct tw_parameter_tree {
    const char *name;
    tw_tree *type;      /* as it is written, or null */
    tw_tree *otherwise; /* its default, or null */
} tw_parameter_tree;

typedef struct tw_function {
    const char *name; /* with its class: "__torch__.m.Linear.forward" */
    const char *file; /* the member that it stands in */
    const char *source;
    tw_parameter_tree *parameters;
    int count, capacity;
    tw_tree *body;
} tw_function;

/* Read a file of code; its functions are put into `functions` by name. module: the dotted name of the
 * file ("__torch__.m"). False with a message. */
bool tw_script_parse(tw_arena *arena, const char *source, const char *member, const char *module,
                     tw_map *functions, tw_diag *diag);
/* Line `line` of a source, without what stands around it. */
const char *tw_script_line(tw_arena *arena, const char *source, int line);

/* --- evaluation: evaluate.c, builtin.c --------------------------------------------------------- */

/* A program being evaluated. */
typedef struct tw_script {
    tw_torch *t;
    const char *root;        /* of the archive's names */
    tw_map functions, files; /* by name; those read already, by module */
    tw_torch_object *constants;
    const tw_function *function; /* in hand */
    int depth, steps;
    bool located;              /* the message says where */
    struct tw_change *changes; /* attributes that runs change: state.c */
    int change_count, change_capacity;
} tw_script;

#define TW_SCRIPT_FAIL(s, ...) tw_fail((s)->t->b.diag, TW_CODE_UNSUPPORTED, NULL, NULL, __VA_ARGS__)

/* Call a function of the program. Null with a message. */
tw_torch_object *tw_script_call(tw_script *s, const tw_function *f, tw_torch_object **arguments,
                                int count);
/* The function of that dotted name, whose file is read if need be; null where there is none, or with a
 * message. */
const tw_function *tw_script_function(tw_script *s, const char *name);
/* The value of a default or constant expression. */
tw_torch_object *tw_script_value(tw_script *s, const tw_tree *tree);

/* An operation on numbers, texts and lists, and what TorchScript has beside ATen ("prim.data",
 * "__range_length"). known: set false where it is none of these: then it is an operator. */
tw_torch_object *tw_script_builtin(tw_script *s, const char *name, tw_torch_object **arguments,
                                   int count, bool *known);
/* The number that a constant tensor is, or the object where it is no tensor. Null with a message. */
tw_torch_object *tw_script_number(tw_script *s, tw_torch_object *o);
bool tw_script_truth(tw_script *s, tw_torch_object *o, bool *truth);

/* --- attributes that change: state.c ----------------------------------------------------------- */

/* An attribute assigned in a run: what it was before and is to be in the next one. */
typedef struct tw_change {
    tw_torch_object *module;
    const char *name;
    tw_value *state;
} tw_change;

#endif
