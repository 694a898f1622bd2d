/* Nodes and constants by name. While a graph is imported, value->index is 1 once a node reads the
 * value, and node->index is the number of the last search that passed it. */
#include "import/build.h"

#include <math.h>
#include <string.h>

enum {
    FOLD_ELEMENTS = 4096, /* integer results up to this are computed when they are built */
    SEARCH_DEPTH = 1000   /* producers behind one another that a search follows */
};

void tw_builder_init(tw_builder *b, tw_graph *graph, const tw_import_options *options,
                     tw_diag *diag)
{
    static const tw_import_options none = {0};
    *b = (tw_builder){.arena = graph->arena, .graph = graph, .node = "", .diag = diag};
    b->options = options ? options : &none;
    for (int i = 0; i < b->options->offered_count; i++)
        if (b->options->offered[i].name)
            tw_map_put(b->arena, &b->offered, b->options->offered[i].name,
                       (void *)(uintptr_t)&b->options->offered[i]);
}

/* --- attributes by name ------------------------------------------------------------------------ */

static bool set_failed(tw_builder *b, const tw_opdef *op, const tw_setting *s, const char *what)
{
    return tw_fail(b->diag, TW_CODE_UNSUPPORTED, b->node, op->name, "%s: %s", s->name, what);
}

/* The position of a word in "first|second: meaning", or -1. */
static int word_index(const char *meaning, const char *word)
{
    size_t length = strlen(word), names = strcspn(meaning, ":");
    int index = 0;
    for (size_t at = 0; at < names; index++) {
        size_t n = strcspn(meaning + at, "|:");
        if (n == length && memcmp(meaning + at, word, n) == 0)
            return index;
        at += n + 1;
    }
    return -1;
}

static bool fits_int32(int64_t v)
{
    return v >= INT32_MIN && v <= INT32_MAX;
}

static bool set_list(tw_builder *b, const tw_opdef *op, const tw_setting *s, void *field)
{
    tw_ints list = {(int32_t)s->number, {0}};
    if (s->number > TW_MAX_RANK)
        return set_failed(b, op, s, "more than six elements are not supported");
    for (int i = 0; i < list.count; i++) {
        if (!fits_int32(s->ints[i]))
            return set_failed(b, op, s, "an element does not fit 32 bits");
        list.v[i] = (int32_t)s->ints[i];
    }
    memcpy(field, &list, sizeof list);
    return true;
}

static bool set_floats(tw_builder *b, const tw_opdef *op, const tw_setting *s, void *field)
{
    tw_floats list = {(int32_t)s->number, {0}};
    if (s->number > TW_MAX_RANK)
        return set_failed(b, op, s, "more than six elements are not supported");
    for (int i = 0; i < list.count; i++)
        list.v[i] = s->reals[i];
    memcpy(field, &list, sizeof list);
    return true;
}

/* The kind of setting that an attribute takes; words stand for its numbers. */
static int kind_of(const tw_attribute *a)
{
    switch (a->kind) {
    case TW_ATTRIBUTE_FLOAT: return TW_SET_FLOAT;
    case TW_ATTRIBUTE_INTS: return TW_SET_INTS;
    case TW_ATTRIBUTE_FLOATS: return TW_SET_FLOATS;
    default: return TW_SET_INT;
    }
}

static bool apply(tw_builder *b, const tw_opdef *op, const tw_setting *s, void *attributes)
{
    const tw_attribute *a = NULL;
    for (int i = 0; i < op->attribute_count && !a; i++)
        if (strcmp(op->attributes[i].name, s->name) == 0)
            a = &op->attributes[i];
    if (!a || !attributes)
        return set_failed(b, op, s, "the operator has no such attribute in this build");
    void *field = (char *)attributes + a->offset;
    if (kind_of(a) != (s->kind == TW_SET_WORD ? TW_SET_INT : (int)s->kind))
        return set_failed(b, op, s, "the attribute is of another kind in this build");
    if (s->kind == TW_SET_INTS)
        return set_list(b, op, s, field);
    if (s->kind == TW_SET_FLOATS)
        return set_floats(b, op, s, field);
    if (s->kind == TW_SET_FLOAT) {
        memcpy(field, &s->real, sizeof s->real);
        return true;
    }
    int64_t number = s->kind == TW_SET_WORD ? word_index(a->meaning, s->word) : s->number;
    if (s->kind == TW_SET_WORD && number < 0)
        return set_failed(b, op, s, "the operator does not know this word in this build");
    if (!fits_int32(number))
        return set_failed(b, op, s, "the value does not fit 32 bits");
    int32_t narrow = (int32_t)number;
    memcpy(field, &narrow, sizeof narrow);
    return true;
}

/* --- nodes ------------------------------------------------------------------------------------- */

/* Count the node's work; too much of it in one file is refused. */
static bool afford(tw_builder *b, const tw_node *node)
{
    b->work += node->op->macs ? node->op->macs(node) : 0;
    for (int i = 0; i < node->in_count; i++)
        b->work += node->in[i] ? (uint64_t)tw_shape_elements(&node->in[i]->shape) : 0;
    b->work += (uint64_t)tw_shape_elements(&node->out[0]->shape);
    return b->work <= TW_BUILD_WORK ||
           tw_fail(b->diag, TW_CODE_UNSUPPORTED, b->node, NULL,
                   "its shapes depend on constants that take more than %llu operations to compute; "
                   "fold them when exporting the model",
                   (unsigned long long)TW_BUILD_WORK);
}

/* Make a constant of what its producer computes. */
static bool evaluate(tw_builder *b, tw_node *node)
{
    tw_diag quiet = {.code = TW_CODE_OK};
    if (node->out_count != 1 || !afford(b, node) || !tw_evaluate(node, b->arena, 0, &quiet))
        return false;
    node->out[0]->producer = NULL;
    node->removed = true;
    return true;
}

static bool is_small_integer(const tw_node *node)
{
    int64_t elements = tw_shape_elements(&node->out[0]->shape);
    tw_dtype type = node->out[0]->shape.dtype;
    bool integer = type != TW_F32 && type != TW_F16 && type != TW_BF16 && type != TW_F64;
    for (int i = 0; i < node->in_count; i++) {
        if (node->in[i] && !node->in[i]->data)
            return false;
        elements += node->in[i] ? tw_shape_elements(&node->in[i]->shape) : 0;
    }
    return integer && elements <= FOLD_ELEMENTS;
}

tw_node *tw_build_node(tw_builder *b, const char *name, tw_value *const *in, int in_count,
                       const tw_setting *settings)
{
    const tw_opdef *op = tw_op_by_name(name);
    if (b->diag->code != TW_CODE_OK)
        return NULL;
    if (!op) {
        tw_fail(b->diag, TW_CODE_UNSUPPORTED, b->node, name,
                "this build does not have the operator %s", name);
        return NULL;
    }
    void *attributes = NULL;
    if (op->attribute_bytes) {
        attributes = tw_alloc(b->arena, op->attribute_bytes);
        tw_attributes_default(op, attributes);
    }
    for (const tw_setting *s = settings; s && s->name; s++)
        if (!apply(b, op, s, attributes))
            return NULL;
    tw_node *node =
        tw_graph_node(b->graph, op, b->node, in, in_count, 1, NULL, attributes, b->diag);
    for (int i = 0; node && i < in_count; i++)
        if (in[i])
            in[i]->index = 1;
    return node;
}

tw_value *tw_build(tw_builder *b, const char *op, tw_value *const *in, int in_count,
                   const tw_setting *settings)
{
    tw_node *node = tw_build_node(b, op, in, in_count, settings);
    if (!node)
        return NULL;
    tw_value *out = node->out[0];
    if (is_small_integer(node))
        evaluate(b, node);
    return out;
}

tw_value *tw_build1(tw_builder *b, const char *op, tw_value *x, const tw_setting *settings)
{
    return tw_build(b, op, &x, 1, settings);
}

tw_value *tw_build2(tw_builder *b, const char *op, tw_value *x, tw_value *y,
                    const tw_setting *settings)
{
    return tw_build(b, op, (tw_value *const[]){x, y}, 2, settings);
}

bool tw_build_has(const char *op)
{
    return tw_op_by_name(op) != NULL;
}

/* --- constants --------------------------------------------------------------------------------- */

static const tw_offered_input *offer_for(const tw_builder *b, const tw_value *input)
{
    const tw_offered_input *offer = tw_map_get(&b->offered, input->name);
    if (!offer || !offer->data || offer->dtype != input->shape.dtype ||
        offer->rank != input->shape.rank)
        return NULL;
    for (int i = 0; i < offer->rank; i++)
        if (offer->dim[i] != input->shape.dim[i])
            return NULL;
    return offer;
}

/* Which offered inputs a search may take. */
enum { TAKE_NONE, TAKE_FIXED, TAKE_ALL };

static bool can_take(const tw_builder *b, const tw_value *input)
{
    const tw_offered_input *offer = b->take == TAKE_NONE ? NULL : offer_for(b, input);
    return offer && (b->take == TAKE_ALL || offer->fixed);
}

static bool can_compute(tw_builder *b, const tw_value *value, int depth)
{
    if (value->data || (value->is_input && can_take(b, value)))
        return true;
    tw_node *node = value->producer;
    if (!node || depth == SEARCH_DEPTH || node->out_count != 1)
        return false;
    if (node->index == b->search)
        return true; /* seen in this search, which ends at the first failure */
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && !can_compute(b, node->in[i], depth + 1))
            return false;
    node->index = b->search;
    return true;
}

static bool compute(tw_builder *b, tw_value *value)
{
    if (value->data)
        return true;
    if (value->is_input) {
        tw_fix_input(b->graph, value, offer_for(b, value)->data);
        return true;
    }
    for (int i = 0; i < value->producer->in_count; i++)
        if (value->producer->in[i] && !compute(b, value->producer->in[i]))
            return false;
    return evaluate(b, value->producer);
}

static bool make_constant(tw_builder *b, tw_value *value, int take)
{
    b->search++;
    b->take = take;
    return can_compute(b, value, 0) && compute(b, value);
}

bool tw_build_constant(tw_builder *b, tw_value *value)
{
    return make_constant(b, value, TAKE_ALL);
}

bool tw_build_known(tw_builder *b, tw_value *value)
{
    return make_constant(b, value, TAKE_NONE);
}

bool tw_build_fixed(tw_builder *b, tw_value *value)
{
    return make_constant(b, value, TAKE_FIXED);
}

bool tw_build_is_weight(const tw_value *value)
{
    static const char *const carriers[] = {"Dequantize", "Quantize", "Transpose", "Reshape",
                                           "Identity",   "Cast",     "Slice"};
    for (int depth = 0; depth < 16 && !value->data; depth++) {
        bool carries = false;
        for (size_t i = 0; value->producer && i < sizeof carriers / sizeof *carriers; i++)
            carries |= strcmp(value->producer->op->name, carriers[i]) == 0;
        if (!carries)
            return false;
        value = value->producer->in[0];
    }
    return value->data != NULL;
}

tw_value *tw_build_data(tw_builder *b, tw_shape shape, const void *data)
{
    return tw_graph_constant(b->graph, b->node, shape, data);
}

static void store(tw_dtype dtype, double value, uint8_t *to)
{
    if (dtype == TW_F32) {
        float real = (float)value;
        memcpy(to, &real, sizeof real);
    } else if (dtype == TW_F64) {
        memcpy(to, &value, sizeof value);
    } else {
        uint64_t bits = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
        memcpy(to, &bits, tw_dtype_bytes(dtype)); /* little-endian: the low bytes come first */
    }
}

tw_value *tw_build_full(tw_builder *b, tw_shape shape, double value)
{
    size_t size = tw_dtype_bytes(shape.dtype);
    int64_t count = tw_shape_elements(&shape);
    if (shape.dtype == TW_F16 || shape.dtype == TW_BF16) {
        tw_fail(b->diag, TW_CODE_UNSUPPORTED, b->node, NULL,
                "%s is not supported here; export in "
                "FLOAT",
                tw_dtype_name(shape.dtype));
        return NULL;
    }
    if (count * (int64_t)size > TW_BUILD_LIMIT) {
        tw_fail(b->diag, TW_CODE_UNSUPPORTED, b->node, NULL,
                "a constant of %lld elements would have to be made; at most %d bytes are",
                (long long)count, TW_BUILD_LIMIT);
        return NULL;
    }
    uint8_t *data = tw_alloc(b->arena, (size_t)count * size + 1);
    for (int64_t i = 0; i < count; i++)
        store(shape.dtype, value, data + (size_t)i * size);
    return tw_build_data(b, shape, data);
}

tw_value *tw_build_scalar(tw_builder *b, tw_dtype dtype, double value)
{
    return tw_build_full(b, tw_shape_of(dtype, 0, NULL), value);
}

tw_value *tw_build_list(tw_builder *b, int count, const int64_t *values)
{
    int32_t dim[1] = {count};
    int64_t *data = tw_alloc(b->arena, sizeof *data * (size_t)count + 1);
    if (count)
        memcpy(data, values, sizeof *data * (size_t)count);
    return tw_build_data(b, tw_shape_of(TW_S64, 1, dim), data);
}

int64_t tw_build_int_at(const tw_value *constant, int64_t i)
{
    if (constant->shape.dtype == TW_S64)
        return ((const int64_t *)constant->data)[i];
    double v = tw_constant_at(constant, i);
    return v >= 9.2e18 ? INT64_MAX : v <= -9.2e18 ? INT64_MIN : isnan(v) ? 0 : (int64_t)v;
}

/* --- quantisation ------------------------------------------------------------------------------ */

tw_value *tw_build_with_quant(tw_builder *b, tw_value *x, tw_quant quant)
{
    if (!x || tw_quant_equal(&x->quant, &quant))
        return x;
    tw_value *out = x;
    if (x->data) {
        out = tw_graph_constant(b->graph, x->name, x->shape, x->data);
    } else if (!x->is_input || x->index || x->quant.count) {
        tw_node *node = tw_build_node(b, "Identity", &x, 1, NULL);
        out = node ? node->out[0] : NULL;
    }
    if (out)
        out->quant = quant;
    return out;
}

tw_value *tw_build_quantize(tw_builder *b, tw_value *x, tw_dtype dtype, tw_quant quant,
                            const char *rounding)
{
    tw_node *node =
        tw_build_node(b, "Quantize", &x, 1,
                      TW_SETTINGS(tw_set_int("dtype", dtype), tw_set_word("rounding", rounding)));
    if (!node)
        return NULL;
    node->out[0]->quant = quant;
    return node->out[0];
}
