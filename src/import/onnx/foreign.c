/* Nodes whose domain is a published vocabulary: inputs and attributes handed to its ledger. Rows are
 * found before functions, so that a body that the model brings for such an operator (what another
 * program falls back to) is not looked at. */
#include <string.h>

#include "import/foreign/foreign.h"
#include "import/onnx/onnx.h"
#include "import/onnx/tensor.h"

/* AttributeProto's type numbers. */

int tw_onnx_attribute_kind(const Tw__Onnx__Attribute *a)
{
    if (a->has_type)
        return (int)a->type;
    return a->t           ? TW_ONNX_TENSOR
           : a->has_s     ? TW_ONNX_STRING
           : a->n_strings ? TW_ONNX_STRINGS
           : a->n_floats  ? TW_ONNX_FLOATS
           : a->has_f     ? TW_ONNX_FLOAT
           : a->has_i     ? TW_ONNX_INT
                          : TW_ONNX_INTS;
}

static const char *text_of(const tw_onnx_node *n, const ProtobufCBinaryData *s)
{
    return tw_strndup(n->b->arena, s->len ? (const char *)s->data : "", s->len);
}

/* Whole numbers that no double holds are bounds that nothing reaches. */
static void take_numbers(tw_onnx_node *n, const Tw__Onnx__Attribute *a, int kind,
                         tw_foreign_attribute *out)
{
    const size_t count = kind == TW_ONNX_FLOATS ? a->n_floats
                         : kind == TW_ONNX_INTS ? a->n_ints
                                                : 1;
    double *numbers = tw_alloc_array(n->b->arena, count + 1, sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = kind == TW_ONNX_FLOATS  ? (double)a->floats[i]
                     : kind == TW_ONNX_INTS  ? (double)a->ints[i]
                     : kind == TW_ONNX_FLOAT ? (double)a->f
                                             : (double)a->i;
    out->numbers = numbers;
    out->count = (int)count;
}

static void take_texts(tw_onnx_node *n, const Tw__Onnx__Attribute *a, int kind,
                       tw_foreign_attribute *out)
{
    const size_t count = kind == TW_ONNX_STRINGS ? a->n_strings : 1;
    const char **texts = tw_alloc_array(n->b->arena, count + 1, sizeof *texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = text_of(n, kind == TW_ONNX_STRINGS ? &a->strings[i] : &a->s);
    out->texts = texts;
    out->count = (int)count;
}

static bool take_attribute(tw_onnx_node *n, const tw_onnx_attribute_slot *slot,
                           tw_foreign_attribute *out)
{
    const Tw__Onnx__Attribute *a = slot->value;
    const int kind = tw_onnx_attribute_kind(a);
    tw_tensor_data tensor;
    *out = (tw_foreign_attribute){.name = slot->name};
    if (kind == TW_ONNX_STRING || kind == TW_ONNX_STRINGS) {
        take_texts(n, a, kind, out);
    } else if (kind == TW_ONNX_TENSOR) {
        if (!tw_onnx_tensor_of(n, a->t, &tensor))
            return false;
        out->value = tw_build_data(n->b, tensor.shape, tensor.data);
        out->count = 1;
    } else if (kind == TW_ONNX_FLOAT || kind == TW_ONNX_INT || kind == TW_ONNX_FLOATS ||
               kind == TW_ONNX_INTS) {
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
