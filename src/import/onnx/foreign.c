/* Nodes whose domain is a published vocabulary: inputs and attributes handed to its ledger. Rows are
 * found before functions, so that a body that the model brings for such an operator (what another
 * program falls back to) is not looked at. */
#include <string.h>

#include "import/foreign/foreign.h"
#include "import/onnx/onnx.h"
#include "import/onnx/tensor.h"

/* AttributeProto's type numbers. */
enum { FLOAT = 1, INT = 2, STRING = 3, TENSOR = 4, FLOATS = 6, INTS = 7, STRINGS = 8 };

/* Files of the first IR version do not say the kind. */
static int kind_of(const Tw__Onnx__Attribute *a)
{
    if (a->has_type)
        return (int)a->type;
    return a->t           ? TENSOR
           : a->has_s     ? STRING
           : a->n_strings ? STRINGS
           : a->n_floats  ? FLOATS
           : a->has_f     ? FLOAT
           : a->has_i     ? INT
                          : INTS;
}

static const char *text_of(const tw_onnx_node *n, const ProtobufCBinaryData *s)
{
    return tw_strndup(n->b->arena, s->len ? (const char *)s->data : "", s->len);
}

/* Whole numbers that no double holds are bounds that nothing reaches. */
static void take_numbers(tw_onnx_node *n, const Tw__Onnx__Attribute *a, int kind,
                         tw_foreign_attribute *out)
{
    const size_t count = kind == FLOATS ? a->n_floats : kind == INTS ? a->n_ints : 1;
    double *numbers = tw_alloc_array(n->b->arena, count + 1, sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = kind == FLOATS  ? (double)a->floats[i]
                     : kind == INTS  ? (double)a->ints[i]
                     : kind == FLOAT ? (double)a->f
                                     : (double)a->i;
    out->numbers = numbers;
    out->count = (int)count;
}

static void take_texts(tw_onnx_node *n, const Tw__Onnx__Attribute *a, int kind,
                       tw_foreign_attribute *out)
{
    const size_t count = kind == STRINGS ? a->n_strings : 1;
    const char **texts = tw_alloc_array(n->b->arena, count + 1, sizeof *texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = text_of(n, kind == STRINGS ? &a->strings[i] : &a->s);
    out->texts = texts;
    out->count = (int)count;
}

static bool take_attribute(tw_onnx_node *n, const tw_onnx_attribute_slot *slot,
                           tw_foreign_attribute *out)
{
    const Tw__Onnx__Attribute *a = slot->value;
    const int kind = kind_of(a);
    tw_tensor_data tensor;
    *out = (tw_foreign_attribute){.name = slot->name};
    if (kind == STRING || kind == STRINGS) {
        take_texts(n, a, kind, out);
    } else if (kind == TENSOR) {
        if (!tw_onnx_tensor_of(n, a->t, &tensor))
            return false;
        out->value = tw_build_data(n->b, tensor.shape, tensor.data);
        out->count = 1;
    } else if (kind == FLOAT || kind == INT || kind == FLOATS || kind == INTS) {
        take_numbers(n, a, kind, out);
    } else {
        return TW_ONNX_FAIL(n, "the attribute %s is of the wrong kind (%d)", slot->name, kind);
    }
    return true;
}

static bool import_foreign(tw_onnx_node *n)
{
    const tw_vocabulary *vocabulary =
        tw_vocabulary_by_name(n->proto->domain, strlen(n->proto->domain));
    const size_t count = (size_t)n->attribute_count;
    tw_foreign_attribute *attributes = tw_alloc_array(n->b->arena, count + 1, sizeof *attributes);
    for (size_t i = 0; i < count; i++) {
        if (!take_attribute(n, &n->attributes[i], &attributes[i]))
            return false;
        n->attributes[i].read = true; /* the ledger refuses what it does not know */
    }
    tw_foreign_node node = {.b = n->b,
                            .vocabulary = vocabulary,
                            .row = tw_foreign_find(vocabulary, n->op),
                            .op = n->op,
                            .in = n->in,
                            .in_count = n->in_count,
                            .out = n->out,
                            .out_count = n->out_count,
                            .attributes = attributes,
                            .attribute_count = (int)count};
    return tw_foreign_lower(&node);
}

const tw_onnx_row tw_onnx_foreign_row = {
    .domain = "",
    .name = "",
    .import = import_foreign,
    .least_in = 0,
    .most_in = -1,
    .most_out = -1,
    .keeps = true,
    .becomes = "",
    .limits = "",
};
