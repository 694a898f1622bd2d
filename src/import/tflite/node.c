/* An operator in hand: its tensors, options and results. */
#include <math.h>
#include <string.h>

#include "import/tflite/flexbuffer.h"
#include "import/tflite/tflite.h"

enum {
    FOLD_ELEMENTS = 4096 /* plain integers up to this are computed when they are built */
};

/* --- tensors ----------------------------------------------------------------------------------- */

static int32_t tensor_index(const int32_t *list, uint32_t count, int i)
{
    return i >= 0 && (uint32_t)i < count ? list[i] : -1;
}

bool tw_tfl_has(const tw_tfl_node *n, int i)
{
    return tensor_index(n->operator->in, n->operator->in_count, i) >= 0;
}

bool tw_tfl_wants(const tw_tfl_node *n, int i)
{
    return tensor_index(n->operator->out, n->operator->out_count, i) >= 0;
}

const tw_tfl_tensor *tw_tfl_in_tensor(const tw_tfl_node *n, int i)
{
    return &n->import->subgraph->tensors[n->operator->in[i]];
}

const tw_tfl_tensor *tw_tfl_out_tensor(const tw_tfl_node *n, int i)
{
    return &n->import->subgraph->tensors[n->operator->out[i]];
}

static bool is_written(const tw_tfl_subgraph *g, int32_t tensor)
{
    for (uint32_t i = 0; i < g->operator_count; i++)
        for (uint32_t k = 0; k < g->operators[i].out_count; k++)
            if (g->operators[i].out[k] == tensor)
                return true;
    return false;
}

/* A tensor that nobody ever writes, which the reference reads as its memory begins: as zeros. */
static tw_value *unwritten(tw_tfl_node *n, const tw_tfl_tensor *tensor)
{
    tw_shape shape;
    tw_quant quant;
    tw_warn(n->b->diag, n->b->node, n->op, "'%s' is never written, it is read as zeros",
            tensor->name);
    if (!tw_tfl_shape(n->import, tensor, &shape) || !tw_tfl_quant(n->import, tensor, &quant))
        return NULL;
    tw_value *zeros = tw_build_full(n->b, shape, 0);
    if (zeros)
        zeros->quant = quant;
    return zeros;
}

tw_value *tw_tfl_in(tw_tfl_node *n, int i)
{
    int32_t at = tensor_index(n->operator->in, n->operator->in_count, i);
    if (at < 0 || n->b->diag->code != TW_CODE_OK)
        return NULL;
    tw_tfl_import *import = n->import;
    const tw_tfl_tensor *tensor = &import->subgraph->tensors[at];
    if (import->values[at])
        return import->values[at];
    bool empty = false; /* a constant without elements has no bytes either */
    for (uint32_t k = 0; k < tensor->rank; k++)
        empty |= tensor->shape[k] == 0;
    if (tw_tfl_has_data(import, tensor) || empty)
        import->values[at] = tw_tfl_constant(import, tensor);
    else if (is_written(import->subgraph, at))
        TW_TFL_FAIL(n, "input %d ('%s') is read before it is computed", i, tensor->name);
    else
        import->values[at] = unwritten(n, tensor);
    return import->values[at];
}

bool tw_tfl_set(tw_tfl_node *n, int i, tw_value *value)
{
    tw_tfl_import *import = n->import;
    int32_t at = tensor_index(n->operator->out, n->operator->out_count, i);
    tw_quant quant;
    if (!value || n->b->diag->code != TW_CODE_OK)
        return false;
    if (at < 0)
        return true;
    const tw_tfl_tensor *tensor = &import->subgraph->tensors[at];
    if (tw_tfl_has_data(import, tensor)) /* whereas a computed tensor may be overwritten */
        return TW_TFL_FAIL(n, "result %d ('%s') is a constant", i, tensor->name);
    if (value->shape.dtype != tw_tfl_dtype(tensor))
        return TW_TFL_FAIL(n, "result %d is of type %s, the file says %s", i,
                           tw_dtype_name(value->shape.dtype), tw_tfl_type_name(tensor->type));
    if (!tw_tfl_quant(import, tensor, &quant))
        return false;
    import->values[at] = tw_build_with_quant(n->b, value, quant);
    return import->values[at] != NULL;
}

tw_clamp tw_tfl_no_clamp(void)
{
    return (tw_clamp){-INFINITY, INFINITY};
}

/* Plain integers of constants: shapes, axes and what is computed of them. */
static void fold_small(tw_tfl_node *n, tw_node *node)
{
    tw_value *out = node->out[0];
    tw_dtype type = out->shape.dtype;
    bool integer = type == TW_S32 || type == TW_S64 || type == TW_BOOL;
    if (!integer || out->quant.count || tw_shape_elements(&out->shape) > FOLD_ELEMENTS)
        return;
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] &&
            (!node->in[i]->data || tw_shape_elements(&node->in[i]->shape) > FOLD_ELEMENTS))
            return;
    tw_build_known(n->b, out);
}

tw_value *tw_tfl_compute(tw_tfl_node *n, int i, const char *op, tw_value *const *in, int in_count,
                         const tw_setting *settings, tw_clamp clamp)
{
    tw_quant quant = {0, 0, NULL, NULL};
    if (n->b->diag->code != TW_CODE_OK)
        return NULL;
    if (tw_tfl_wants(n, i) && !tw_tfl_quant(n->import, tw_tfl_out_tensor(n, i), &quant))
        return NULL;
    tw_node *node = tw_build_node(n->b, op, in, in_count, settings);
    if (!node)
        return NULL;
    tw_value *out = node->out[0];
    if (tw_tfl_wants(n, i) && out->shape.dtype == tw_tfl_dtype(tw_tfl_out_tensor(n, i)))
        out->quant = quant;
    node->clamp = clamp;
    fold_small(n, node);
    return out;
}

/* --- lists and axes ---------------------------------------------------------------------------- */

bool tw_tfl_known(tw_tfl_node *n, int i, const char *what)
{
    tw_value *value = tw_tfl_in(n, i);
    if (!value)
        return n->b->diag->code != TW_CODE_OK ? false
                                              : TW_TFL_FAIL(n, "%s (input %d) is missing", what, i);
    return tw_build_constant(n->b, value) ||
           TW_TFL_UNSUPPORTED(n,
                              "%s (input %d, '%s') is computed while the network runs; it must be "
                              "constant: export the model with fixed shapes",
                              what, i, value->name);
}

bool tw_tfl_list_in(tw_tfl_node *n, int i, const char *what, tw_tfl_list *list)
{
    *list = (tw_tfl_list){-1, NULL};
    if (!tw_tfl_has(n, i))
        return true;
    tw_value *value = tw_tfl_in(n, i);
    if (!value)
        return false;
    tw_dtype type = value->shape.dtype;
    if (type != TW_S64 && type != TW_S32 && type != TW_S16 && type != TW_S8)
        return TW_TFL_FAIL(n, "%s (input %d) must be integers, not %s", what, i,
                           tw_dtype_name(type));
    if (value->shape.rank > 1)
        return TW_TFL_FAIL(n, "%s (input %d) must be a list, it has rank %d", what, i,
                           value->shape.rank);
    if (!tw_tfl_known(n, i, what))
        return false;
    int count = (int)tw_shape_elements(&value->shape);
    int64_t *v = tw_alloc_array(n->import->scratch, (size_t)count + 1, sizeof *v);
    for (int k = 0; k < count; k++)
        v[k] = tw_build_int_at(value, k);
    *list = (tw_tfl_list){count, v};
    return true;
}

bool tw_tfl_axis(tw_tfl_node *n, int64_t axis, int rank, int *out)
{
    if (axis < -rank || axis >= rank)
        return TW_TFL_FAIL(n, "axis %lld does not exist: the tensor has rank %d", (long long)axis,
                           rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

/* --- options ----------------------------------------------------------------------------------- */

int32_t tw_tfl_int(tw_tfl_node *n, tw_fb_field field, int32_t fallback)
{
    tw_fb_s32(&n->operator->options, field, &fallback);
    return fallback;
}

int tw_tfl_byte(tw_tfl_node *n, tw_fb_field field, int fallback)
{
    int8_t value = (int8_t)fallback;
    tw_fb_s8(&n->operator->options, field, &value);
    return value;
}

bool tw_tfl_flag(tw_tfl_node *n, tw_fb_field field)
{
    uint8_t value = 0;
    tw_fb_u8(&n->operator->options, field, &value);
    return value != 0;
}

float tw_tfl_float(tw_tfl_node *n, tw_fb_field field, float fallback)
{
    tw_fb_f32(&n->operator->options, field, &fallback);
    return fallback;
}

const char *tw_tfl_text(tw_tfl_node *n, tw_fb_field field)
{
    const char *text = "";
    tw_fb_string_in(&n->operator->options, field, &text);
    return text;
}

bool tw_tfl_ints(tw_tfl_node *n, tw_fb_field field, tw_tfl_list *list)
{
    tw_fb_vector vector;
    if (!tw_fb_vector_in(&n->operator->options, field, 4, &vector))
        return false;
    int64_t *v = tw_alloc_array(n->import->scratch, (size_t)vector.count + 1, sizeof *v);
    for (uint32_t i = 0; i < vector.count; i++)
        v[i] = ((const int32_t *)vector.data)[i];
    *list = (tw_tfl_list){vector.present ? (int)vector.count : -1, v};
    return true;
}

bool tw_tfl_activation(tw_tfl_node *n, int activation, tw_clamp *clamp)
{
    *clamp = tw_tfl_no_clamp();
    switch (activation) {
    case TW_TFL_ACTIVATION_NONE: return true;
    case TW_TFL_ACTIVATION_RELU: clamp->low = 0; return true;
    case TW_TFL_ACTIVATION_RELU_N1_TO_1: *clamp = (tw_clamp){-1, 1}; return true;
    case TW_TFL_ACTIVATION_RELU6: *clamp = (tw_clamp){0, 6}; return true;
    default:
        return TW_TFL_UNSUPPORTED(n, "fused activation %s is not supported; use a separate one",
                                  activation == TW_TFL_ACTIVATION_TANH ? "TANH"
                                  : activation == TW_TFL_ACTIVATION_SIGN_BIT
                                      ? "SIGN_BIT"
                                      : "of an unknown number");
    }
}

/* --- windows ----------------------------------------------------------------------------------- */

static int32_t narrow(tw_tfl_node *n, const char *key, int64_t value)
{
    if (value < INT32_MIN || value > INT32_MAX)
        TW_TFL_FAIL(n, "its option '%s' leaves 32 bits", key);
    return (int32_t)value;
}

int32_t tw_tfl_option(tw_tfl_node *n, const char *key)
{
    int64_t value = 0;
    if (n->b->diag->code != TW_CODE_OK)
        return 0;
    if (!tw_flex_int(n->operator->custom, n->operator->custom_bytes, key, &value))
        TW_TFL_FAIL(n, "its options hold no number '%s'", key);
    return narrow(n, key, value);
}

int32_t tw_tfl_option_or(tw_tfl_node *n, const char *key, int32_t otherwise)
{
    int64_t value = otherwise;
    if (n->b->diag->code == TW_CODE_OK)
        tw_flex_int(n->operator->custom, n->operator->custom_bytes, key, &value);
    return n->b->diag->code == TW_CODE_OK ? narrow(n, key, value) : 0;
}

float tw_tfl_real_option(tw_tfl_node *n, const char *key)
{
    double value = 0;
    if (n->b->diag->code != TW_CODE_OK)
        return 0;
    if (!tw_flex_float(n->operator->custom, n->operator->custom_bytes, key, &value))
        TW_TFL_FAIL(n, "its options hold no number '%s'", key);
    return (float)value;
}

bool tw_tfl_pads(tw_tfl_node *n, const tw_shape *x, int spatial, int padding, tw_window *w)
{
    if (padding != TW_TFL_PADDING_SAME && padding != TW_TFL_PADDING_VALID)
        return TW_TFL_FAIL(n, "padding %d is neither SAME nor VALID", padding);
    if (x->rank != spatial + 2)
        return TW_TFL_FAIL(n, "the input has rank %d; it must be batch, %sheight, width, channels",
                           x->rank, spatial == 3 ? "depth, " : "");
    for (int i = 0; i < spatial; i++)
        if (!tw_window_pads(n->b, n->op, x->dim[1 + i], padding == TW_TFL_PADDING_SAME, w, i))
            return false;
    return true;
}
