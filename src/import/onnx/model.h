/* An ONNX import in progress: names and their scopes, and how the files that follow them share the
 * work. model.c has the model around the graph, nodes.c the nodes, names.c the scopes. */
#ifndef TW_IMPORT_ONNX_MODEL_H
#define TW_IMPORT_ONNX_MODEL_H

#include "import/bodies.h"
#include "import/onnx/onnx.h"
#include "import/onnx/tensor.h"

typedef struct tw_onnx_scope tw_onnx_scope;

/* A graph that a node has for a body: If, Loop or Scan, decided while the network runs. What it reads
 * from around it becomes its inputs. */
typedef struct tw_onnx_body {
    struct tw_onnx_body *around;
    tw_graph *graph;
    tw_value **outer, **inner; /* what was taken from around, and what stands for it */
    int taken, outer_capacity, inner_capacity;
    tw_outside was; /* to come back to */
} tw_onnx_body;

/* A tensor name of a scope. */
typedef struct tw_onnx_binding {
    const char *name;   /* its name in the graph: reserved, the same one in the outermost scope */
    tw_value *value;    /* null until it is imported, and for an absent input of a function */
    int depth;          /* of its scope */
    tw_onnx_body *body; /* in which the value is; null: the network itself */
    int producer;       /* index of the scope's node, or -1 */
    bool initializer, input;
} tw_onnx_binding;

/* Where names are looked up: the model's graph, a branch (which sees the names around it), or the
 * body of a function (which does not). */
struct tw_onnx_scope {
    tw_onnx_scope *outer; /* whose names are seen too, or null */
    tw_map bindings;      /* name -> tw_onnx_binding */
    Tw__Onnx__Node **nodes;
    size_t node_count;
    Tw__Onnx__OperatorSet **opsets;
    size_t opset_count;
    const tw_onnx_node *call; /* inside a function: the call, whose attributes the body may name */
    const Tw__Onnx__Function *function; /* that is called; null outside */
    const char *prefix;                 /* of names in the graph: "" or "CALL/" */
    int depth;                          /* calls and branches around it */
};

struct tw_onnx {
    tw_builder b;
    const Tw__Onnx__Model *model;
    tw_onnx_files *files;
    tw_map rows;      /* "domain/operator" -> tw_onnx_row */
    tw_map named;     /* name in the graph -> the tw_onnx_binding whose value has it */
    tw_map symbols;   /* name of an open axis -> its extent (int32_t) */
    tw_map functions; /* "domain/name/overload" -> Tw__Onnx__Function */
    tw_map narrow;    /* address of a value whose type has few bits -> the tw_onnx_narrow */
    tw_map sequences; /* address of a value that stands for one -> the tw_onnx_sequence */
    tw_map wide;      /* address of a value of 16-bit floats -> its tw_value as f32 */
    tw_onnx_scope *scope;
    tw_onnx_body *body; /* in hand, or null: the network itself */
    tw_value **counts;  /* outputs beside the model's, of those whose extent the data decides */
    int count_count, count_capacity;
    size_t expanded; /* parts of functions and branches so far */
    size_t begun;    /* bytes of the arena when the import began ... */
    size_t limit;    /* ... and the most that it may come to */
    bool failed;     /* and the message names the node */
};

enum {
    TW_ONNX_OPSETS = 64,        /* at most, of a model or function */
    TW_ONNX_ATTRIBUTES = 64,    /* of a node */
    TW_ONNX_DEPTH = 24,         /* calls and branches inside each other */
    TW_ONNX_EXPANSION = 1 << 19 /* nodes, names and attributes that come out of both */
};

/* Memory that an import may take beside the file and what it names: so much, and so many bytes for
 * each of those. */
#define TW_ONNX_HEAD ((size_t)256 << 20)
#define TW_ONNX_GROWTH 16

static inline const char *tw_onnx_or_empty(const char *text)
{
    return text ? text : "";
}
/* "ai.onnx" is another name of the standard domain, "". */
const char *tw_onnx_domain(const char *domain);

/* The model's inputs: inputs.c. */
bool tw_onnx_import_inputs(tw_onnx *o, const Tw__Onnx__Graph *g);

/* The value as the body in hand has it; `from`: the body that it is of. */
tw_value *tw_onnx_carried(tw_onnx *o, const tw_onnx_body *from, tw_value *value);

/* Begin and end a body: what is built in between is part of it. bodies.c */
bool tw_onnx_body_begin(tw_onnx_node *n, tw_onnx_body *body);
void tw_onnx_body_end(tw_onnx_node *n);
/* An input of the body in hand, of the type of `like`. */
tw_value *tw_onnx_body_input(tw_onnx_node *n, const char *name, const tw_value *like);
/* A value of the graph around, as the body has it: a constant of its own, or an input. */
tw_value *tw_onnx_body_take(tw_onnx *o, tw_onnx_body *body, tw_value *outer);
/* A binding's value in the body in hand. Null where it has none. */
tw_value *tw_onnx_value_of(tw_onnx *o, const tw_onnx_binding *binding);

/* Look a name up in the scope in force and those it sees. Null when unknown. */
tw_onnx_binding *tw_onnx_find(const tw_onnx *o, const char *name);
/* Make a name known in the scope in force, where it must be new. Null with a message. */
tw_onnx_binding *tw_onnx_declare(tw_onnx *o, const char *name, int producer, const char *what);
/* Give the binding its value, which takes the binding's name. */
void tw_onnx_name(tw_onnx *o, tw_onnx_binding *binding, tw_value *value);
/* The version of a domain that the scope imports; 0 for none. */
int64_t tw_onnx_opset_of(const tw_onnx *o, const char *domain);

/* Make the model's functions known by name. */
bool tw_onnx_declare_functions(tw_onnx *o);
/* Declare the outputs of the scope's nodes; import the nodes. */
bool tw_onnx_declare_nodes(tw_onnx *o);
bool tw_onnx_import_nodes(tw_onnx *o);
/* Declare and import the initializers of the model's graph or a branch. */
bool tw_onnx_import_initializers(tw_onnx *o, const Tw__Onnx__Graph *g);

#endif
