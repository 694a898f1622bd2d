/* Operators of published vocabularies (mobilint, qti_aisw, tigris): a node as any container has it, the
 * ledger's row for it, and what the functions that lower it into the IR need.
 *
 * A row is one line of VOCABULARY.def. Its `parameters` say which attributes the operator has, in one
 * text that is checked against the node, gives the defaults and is printed in the docs:
 *
 *     NAME ":" KIND [ "?" | "=" DEFAULT ] , separated by spaces
 *
 * KIND: int, count (1 or more), size (0 or more), bool, float, text, weight (a constant, or numbers),
 * ints, floats, texts. "?": may be absent; neither: must be there. Attributes that no parameter names
 * are refused.
 *
 * Operands with scales are taken as the reals they stand for; a result that is to have scales is
 * quantised. The passes make integer operators of that.
 */
#ifndef TW_IMPORT_FOREIGN_H
#define TW_IMPORT_FOREIGN_H

#include "import/build.h"

/* --- the ledger -------------------------------------------------------------------------------- */

typedef struct tw_foreign_node tw_foreign_node;

typedef struct tw_foreign_row {
    const char *name;
    bool (*lower)(tw_foreign_node *node); /* sets out[] */
    int least_in, most_in, most_out;      /* most_in -1: any number */
    const char *parameters;
    const char *becomes; /* IR operators, space-separated; the first is what it mainly is */
    const char *types;   /* tested ones: "f32 s8" */
    const char *limits;  /* what is refused, for the docs; "" for nothing */
} tw_foreign_row;

typedef struct tw_vocabulary {
    const char *name; /* what stands before the dot in the text IR, and the domain in ONNX */
    const tw_foreign_row *rows;
    int count;
    bool any_case;        /* names are told apart by their letters only, not by capitals */
    const char *rounding; /* of the Quantize that makes integers of a result */
} tw_vocabulary;

/* By position; null behind the last. By name; null when nobody has it. */
const tw_vocabulary *tw_vocabulary_at(int index);
const tw_vocabulary *tw_vocabulary_by_name(const char *name, size_t bytes);
const tw_foreign_row *tw_foreign_find(const tw_vocabulary *vocabulary, const char *name);

/* "a, b, c" of all, for messages. */
void tw_vocabulary_names(char *text, size_t bytes);

/* --- a node in hand ---------------------------------------------------------------------------- */

/* As written: exactly one of numbers, texts and value is set (an empty list: numbers). A single one
 * is a list of one. */
typedef struct tw_foreign_attribute {
    const char *name;
    const double *numbers;
    const char *const *texts;
    tw_value *value;
    int count;
} tw_foreign_attribute;

struct tw_foreign_node {
    tw_builder *b;
    const tw_vocabulary *vocabulary;
    const tw_foreign_row *row;
    const char *op; /* VOCABULARY.NAME, for messages */
    tw_value **in;  /* null: absent */
    int in_count;
    tw_value **out; /* to be set */
    int out_count;
    const tw_foreign_attribute *attributes;
    int attribute_count;
};

/* Check the node against the row, lower it, and set out[i] for i below out_count. The message of a
 * failure names node and operator. */
bool tw_foreign_lower(tw_foreign_node *node);

#define TW_FOREIGN_FAIL(n, ...)                                                                    \
    tw_fail((n)->b->diag, TW_CODE_FAILED, (n)->b->node, (n)->op, __VA_ARGS__)
#define TW_FOREIGN_UNSUPPORTED(n, ...)                                                             \
    tw_fail((n)->b->diag, TW_CODE_UNSUPPORTED, (n)->b->node, (n)->op, __VA_ARGS__)

/* The only result; false when the value is null. Fits the end of a function. */
bool tw_foreign_result(tw_foreign_node *n, tw_value *value);

/* --- attributes: given, else the parameter's default, else zero, null or an empty list ---------- */

typedef struct tw_foreign_list {
    int count;
    const int64_t *v;
} tw_foreign_list;

/* Is it given, or has it a default? */
bool tw_foreign_has(const tw_foreign_node *n, const char *name);
int64_t tw_foreign_int(const tw_foreign_node *n, const char *name);
bool tw_foreign_flag(const tw_foreign_node *n, const char *name);
double tw_foreign_float(const tw_foreign_node *n, const char *name);
const char *tw_foreign_text(const tw_foreign_node *n, const char *name);
tw_foreign_list tw_foreign_ints(const tw_foreign_node *n, const char *name);
/* At most TW_MAX_RANK floats; the number of them. */
int tw_foreign_floats(const tw_foreign_node *n, const char *name, float *out);
/* As floats: of quantised constants what they stand for. */
tw_value *tw_foreign_weight(const tw_foreign_node *n, const char *name);
/* A weight of one element as a number. */
bool tw_foreign_number(const tw_foreign_node *n, const char *name, float *number);

/* --- parts that operators share ---------------------------------------------------------------- */

/* The integers with one scale that operand i stands for; null where it is no such. */
tw_value *tw_foreign_stored(const tw_foreign_node *n, int i);
/* The first operator that the row becomes. */
const char *tw_foreign_main(const tw_foreign_node *n);
/* Does the tensor have this rank? A message where not. */
bool tw_foreign_rank(const tw_foreign_node *n, const tw_value *x, int rank);
/* An axis, counted from the end where negative, of `rank` axes. */
bool tw_foreign_axis(const tw_foreign_node *n, const char *name, int64_t axis, int rank, int *out);
/* Different axes in ascending order, as positive numbers; their count, or -1 with a message. */
int tw_foreign_axes(const tw_foreign_node *n, const char *name, int rank, int64_t *axes);

#endif
