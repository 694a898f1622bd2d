/* Tensors of the file as values of the graph: types, quantisation, constants, inputs and outputs. */
#include <math.h>
#include <string.h>

#include "base/half.h"
#include "import/tensor_file.h"
#include "import/tflite/tflite.h"

/* A file that names one buffer by many tensors does not get a copy for each without end: constants
 * may take so many bytes for each byte of the file, and so many for any file. */
enum { MADE_PER_BYTE = 16, MADE_FREE = 64 << 20 };

static const struct {
    const char *name;
    tw_dtype dtype;
} types[] = {
#define ROW(number, name, dtype) [number] = {#name, dtype},
    TW_TFL_TYPES(ROW)
#undef ROW
};
enum { TYPES = sizeof types / sizeof *types };

const char *tw_tfl_type_name(int type)
{
    return type >= 0 && type < TYPES ? types[type].name : "an unknown type";
}

/* uint8 with scales is stored as int8. */
static bool is_shifted(const tw_tfl_tensor *tensor)
{
    return tensor->type >= 0 && tensor->type < TYPES && types[tensor->type].dtype == TW_U8 &&
           tensor->quant.count > 0;
}

tw_dtype tw_tfl_dtype(const tw_tfl_tensor *tensor)
{
    if (tensor->type < 0 || tensor->type >= TYPES)
        return TW_NO_DTYPE;
    if (tensor->type == TW_TFL_TYPE_INT4 || is_shifted(tensor))
        return TW_S8;
    return types[tensor->type].dtype;
}

static bool tensor_fail(tw_tfl_import *import, tw_code code, const tw_tfl_tensor *tensor,
                        const char *what, const char *name)
{
    char place[256];
    tw_fb_path_text(tensor->path, NULL, place, sizeof place);
    return tw_fail(import->b.diag, code, *tensor->name ? tensor->name : place, NULL, "%s%s", what,
                   name);
}

static bool refuse_type(tw_tfl_import *import, const tw_tfl_tensor *tensor)
{
    return tensor_fail(import, TW_CODE_UNSUPPORTED, tensor,
                       "the tensor's type is not supported: ", tw_tfl_type_name(tensor->type));
}

static bool has_scales(tw_dtype dtype)
{
    return dtype == TW_S8 || dtype == TW_S16 || dtype == TW_S32 || dtype == TW_U8 ||
           dtype == TW_U16;
}

bool tw_tfl_quant(tw_tfl_import *import, const tw_tfl_tensor *tensor, tw_quant *quant)
{
    const tw_tfl_scales *from = &tensor->quant;
    *quant = (tw_quant){0, 0, NULL, NULL};
    if (from->count == 0 || !has_scales(tw_tfl_dtype(tensor)))
        return true;
    if (from->count > 1 && tw_tfl_dtype(tensor) == TW_S32)
        return true; /* a bias, whose scales follow from the weights' */
    float *scale = tw_copy(import->b.arena, from->scale, sizeof *scale * (size_t)from->count);
    int32_t *zero = tw_alloc_array(import->b.arena, (size_t)from->count, sizeof *zero);
    const int shift = is_shifted(tensor) ? 128 : 0;
    for (int i = 0; i < from->count; i++) {
        int64_t z = from->zero_count == 0   ? 0
                    : from->zero_count == 1 ? from->zero_point[0]
                                            : from->zero_point[i];
        if (z < (int64_t)INT32_MIN + shift || z > INT32_MAX)
            return tensor_fail(import, TW_CODE_FAILED, tensor, "a zero point leaves 32 bits", "");
        if (!(scale[i] > 0) || !isfinite(scale[i]))
            return tensor_fail(import, TW_CODE_FAILED, tensor,
                               "a scale is not positive and finite; quantise the model again", "");
        zero[i] = (int32_t)(z - shift);
    }
    int axis = from->axis;
    if (from->count > 1 && tensor->rank > TW_MAX_RANK)
        return tensor_fail(import, TW_CODE_UNSUPPORTED, tensor, "the tensor has more than six axes",
                           "");
    if (from->count > 1 &&
        (axis < 0 || (uint32_t)axis >= tensor->rank || tensor->shape[axis] != from->count))
        return tensor_fail(import, TW_CODE_FAILED, tensor,
                           "its scales do not match the extent of their axis", "");
    *quant = (tw_quant){from->count, from->count > 1 ? axis : 0, scale, zero};
    return true;
}

/* The shape as the file has it, outer axes of extent 1 left out where there are too many. */
static bool file_shape(tw_tfl_import *import, const tw_tfl_tensor *tensor, tw_dtype dtype,
                       tw_shape *shape)
{
    int64_t dim[TW_MAX_RANK] = {0};
    uint32_t lead = 0;
    while (tensor->rank - lead > TW_MAX_RANK && tensor->shape[lead] == 1)
        lead++;
    uint32_t rank = tensor->rank - lead;
    if (rank > TW_MAX_RANK)
        return tensor_fail(import, TW_CODE_UNSUPPORTED, tensor, "the tensor has more than six axes",
                           "");
    for (uint32_t i = 0; i < rank; i++)
        dim[i] = tensor->shape[lead + i];
    const char *name = *tensor->name ? tensor->name : "a tensor";
    return tw_shape_from_file(name, dtype, rank, dim, shape, import->b.diag);
}

bool tw_tfl_shape(tw_tfl_import *import, const tw_tfl_tensor *tensor, tw_shape *shape)
{
    tw_dtype dtype = tw_tfl_dtype(tensor);
    return dtype == TW_NO_DTYPE ? refuse_type(import, tensor)
                                : file_shape(import, tensor, dtype, shape);
}

/* --- constants --------------------------------------------------------------------------------- */

bool tw_tfl_has_data(const tw_tfl_import *import, const tw_tfl_tensor *tensor)
{
    return tensor->buffer < import->model->buffer_count &&
           import->model->buffers[tensor->buffer].bytes > 0;
}

static bool allow(tw_tfl_import *import, const tw_tfl_tensor *tensor, size_t bytes)
{
    import->made += bytes;
    return import->made / MADE_PER_BYTE <= import->model->file.bytes + MADE_FREE / MADE_PER_BYTE ||
           tensor_fail(import, TW_CODE_FAILED, tensor,
                       "too many tensors share one buffer; the file is damaged", "");
}

/* Two to a byte, the lower half first. */
static void unpack_int4(const uint8_t *from, int64_t count, int8_t *to)
{
    for (int64_t i = 0; i < count; i++) {
        int nibble = from[i / 2] >> (i % 2 ? 4 : 0) & 15;
        to[i] = (int8_t)(nibble >= 8 ? nibble - 16 : nibble);
    }
}

static void copy_elements(const tw_tfl_tensor *tensor, tw_dtype dtype, const uint8_t *from,
                          int64_t count, uint8_t *to)
{
    if (tensor->type == TW_TFL_TYPE_INT4) {
        unpack_int4(from, count, (int8_t *)to);
        return;
    }
    if (from)
        memcpy(to, from, (size_t)count * tw_dtype_bytes(dtype));
    for (int64_t i = 0; i < count && dtype == TW_BOOL; i++)
        to[i] = to[i] != 0;
    for (int64_t i = 0; i < count && is_shifted(tensor); i++)
        to[i] ^= 0x80;
}

tw_value *tw_tfl_constant(tw_tfl_import *import, const tw_tfl_tensor *tensor)
{
    tw_dtype dtype = tw_tfl_dtype(tensor);
    tw_shape shape = {0};
    tw_quant quant;
    if (tensor->is_sparse && tensor->type == TW_TFL_TYPE_INT4) {
        tensor_fail(import, TW_CODE_UNSUPPORTED, tensor, "sparse INT4 is not supported", "");
        return NULL;
    }
    if (!tw_tfl_shape(import, tensor, &shape) || !tw_tfl_quant(import, tensor, &quant))
        return NULL;
    int64_t count = tw_shape_elements(&shape);
    size_t bytes = tw_shape_bytes(&shape);
    size_t stored = tensor->type == TW_TFL_TYPE_INT4 ? (size_t)(count + 1) / 2 : bytes;
    tw_tfl_buffer buffer = {NULL, 0};
    if (tensor->buffer < import->model->buffer_count)
        buffer = import->model->buffers[tensor->buffer];
    if (!tensor->is_sparse && buffer.bytes < stored) {
        tw_fail(import->b.diag, TW_CODE_FAILED, tensor->name, NULL,
                "the tensor's buffer holds %zu bytes, its shape needs %zu", buffer.bytes, stored);
        return NULL;
    }
    if (!allow(import, tensor, bytes))
        return NULL;
    uint8_t *data = tw_alloc(import->b.arena, bytes + 1);
    const uint8_t *elements = buffer.data;
    if (tensor->is_sparse) {
        uint8_t *dense = tw_alloc(import->scratch, bytes + 1);
        if (!tw_tfl_densify(import, tensor, &shape, buffer, dense))
            return NULL;
        elements = dense;
    }
    if (count)
        copy_elements(tensor, dtype, elements, count, data);
    tw_value *value = tw_graph_constant(import->b.graph, tensor->name, shape, data);
    value->quant = quant;
    return value;
}

/* --- inputs and outputs ------------------------------------------------------------------------ */

/* The name a tensor has outside; tensors without one are called after their place. */
static const char *outer_name(tw_tfl_import *import, const tw_tfl_tensor *tensor, const char *role,
                              uint32_t index)
{
    return *tensor->name ? tensor->name : tw_format(import->b.arena, "%s%u", role, index);
}

static const tw_input_shape *given_shape(const tw_tfl_import *import, const char *name, bool first)
{
    const tw_import_options *options = import->b.options;
    for (int i = 0; i < options->input_shape_count; i++) {
        const char *given = options->input_shapes[i].name;
        if (given && *given ? strcmp(given, name) == 0 : first)
            return &options->input_shapes[i];
    }
    return NULL;
}

/* The shape of a graph input: the file's, with open axes (-1 in the signature) as the user gives
 * them, or else as the file's shape has them. */
static bool input_shape(tw_tfl_import *import, const tw_tfl_tensor *tensor, const char *name,
                        bool first, tw_shape *shape)
{
    const tw_input_shape *given = given_shape(import, name, first);
    tw_dtype dtype = is_shifted(tensor) ? TW_U8 : tw_tfl_dtype(tensor);
    if (dtype == TW_NO_DTYPE || tensor->type == TW_TFL_TYPE_INT4)
        return refuse_type(import, tensor);
    if (!file_shape(import, tensor, dtype, shape))
        return false;
    bool open = tensor->signature_rank == tensor->rank && tensor->rank > 0;
    for (uint32_t i = 0; open && !given && i < tensor->rank; i++)
        if (tensor->signature[i] < 0)
            tw_warn(import->b.diag, name, NULL,
                    "axis %u of the input is open and taken as %d; set it with --input-shape", i,
                    (int)tensor->shape[i]);
    if (!given)
        return true;
    if (given->rank != shape->rank)
        return tw_fail(import->b.diag, TW_CODE_FAILED, name, NULL,
                       "the input has rank %d, the shape given has rank %d", shape->rank,
                       given->rank);
    int64_t dim[TW_MAX_RANK] = {0};
    for (int i = 0; i < given->rank; i++) {
        dim[i] = given->dim[i];
        bool fixed = !open || tensor->signature[i] >= 0;
        if (fixed && given->dim[i] != shape->dim[i])
            return tw_fail(import->b.diag, TW_CODE_FAILED, name, NULL,
                           "axis %d of the input has extent %d, the shape given says %d", i,
                           (int)shape->dim[i], (int)given->dim[i]);
    }
    return tw_shape_from_file(name, dtype, (size_t)given->rank, dim, shape, import->b.diag);
}

/* uint8 outside, int8 inside: the same reals, so the conversion is exact. */
static tw_value *requantize(tw_tfl_import *import, tw_value *value, tw_dtype dtype, int32_t shift)
{
    tw_builder *b = &import->b;
    tw_node *node =
        tw_build_node(b, "Requantize", &value, 1, TW_SETTINGS(tw_set_int("dtype", dtype)));
    if (!node)
        return NULL;
    node->out[0]->quant =
        tw_quant_per_tensor(b->arena, value->quant.scale[0], value->quant.zero_point[0] + shift);
    return node->out[0];
}

static bool add_input(tw_tfl_import *import, uint32_t index)
{
    int32_t at = import->subgraph->in[index];
    const tw_tfl_tensor *tensor = &import->subgraph->tensors[at];
    const char *name = outer_name(import, tensor, "in", index);
    tw_shape shape;
    tw_quant quant;
    if (import->values[at])
        return tensor_fail(import, TW_CODE_FAILED, tensor, "the tensor is an input twice", "");
    if (!input_shape(import, tensor, name, index == 0, &shape) ||
        !tw_tfl_quant(import, tensor, &quant))
        return false;
    if (quant.count > 1)
        return tensor_fail(import, TW_CODE_UNSUPPORTED, tensor,
                           "an input with more than one scale is not supported", "");
    tw_value *input = tw_graph_input(import->b.graph, name, shape);
    import->values[at] = input;
    input->quant = quant;
    if (!tw_fix_given_input(import->b.graph, input, import->b.options, import->b.diag))
        return false;
    if (quant.count == 0 || !is_shifted(tensor))
        return true;
    input->quant = tw_quant_per_tensor(import->b.arena, quant.scale[0], quant.zero_point[0] + 128);
    import->b.node = name;
    import->values[at] = requantize(import, input, TW_S8, -128);
    return import->values[at] != NULL;
}

bool tw_tfl_inputs(tw_tfl_import *import)
{
    for (uint32_t i = 0; i < import->subgraph->in_count; i++)
        if (!add_input(import, i))
            return false;
    for (int i = 0; i < import->b.options->input_shape_count; i++) {
        const char *name = import->b.options->input_shapes[i].name;
        bool found = !name || !*name;
        for (int k = 0; k < import->b.graph->input_count; k++)
            found |= name && strcmp(import->b.graph->inputs[k]->name, name) == 0;
        if (!found)
            return tw_fail(import->b.diag, TW_CODE_USAGE, NULL, NULL,
                           "a shape is given for '%s', which is not an input of the model", name);
    }
    return true;
}

static bool add_output(tw_tfl_import *import, uint32_t index)
{
    int32_t at = import->subgraph->out[index];
    const tw_tfl_tensor *tensor = &import->subgraph->tensors[at];
    tw_value *value = import->values[at];
    const char *name = outer_name(import, tensor, "out", index);
    import->b.node = name;
    if (!value && (tw_tfl_has_data(import, tensor) || tensor->type == TW_TFL_TYPE_RESOURCE))
        value = tw_tfl_constant(import, tensor);
    if (!value) {
        if (import->b.diag->code == TW_CODE_OK)
            tensor_fail(import, TW_CODE_FAILED, tensor, "nothing computes this output", "");
        return false;
    }
    if (is_shifted(tensor) && value->quant.count == 1)
        value = requantize(import, value, TW_U8, 128);
    if (!value)
        return false;
    tw_rename_value(import->b.graph, value, name);
    tw_graph_output(import->b.graph, value);
    return true;
}

bool tw_tfl_outputs(tw_tfl_import *import)
{
    for (uint32_t i = 0; i < import->subgraph->out_count; i++)
        if (!add_output(import, i))
            return false;
    return import->subgraph->out_count > 0 ||
           tw_fail(import->b.diag, TW_CODE_FAILED, NULL, NULL, "the model has no output");
}
