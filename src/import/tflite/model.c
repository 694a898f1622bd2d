/* TensorFlow Lite's tables into structures. In: the file. Out: a model whose indices are all in
 * range. */
#include "import/tflite/model.h"

#include <string.h>

typedef bool (*read_element)(tw_tfl_model *model, const tw_fb_table *table, void *to);

/* A vector of tables into an array of structures. */
static bool read_all(tw_tfl_model *model, const tw_fb_table *table, tw_fb_field field, size_t size,
                     read_element read, uint32_t *count, void *array)
{
    tw_fb_vector vector;
    if (!tw_fb_tables_in(table, field, &vector))
        return false;
    uint8_t *items = tw_alloc_array(model->file.arena, (size_t)vector.count + 1, size);
    for (uint32_t i = 0; i < vector.count; i++) {
        tw_fb_table element;
        if (!tw_fb_table_at(&vector, i, &element) || !read(model, &element, items + i * size))
            return false;
    }
    *count = vector.count;
    memcpy(array, &items, sizeof items);
    return true;
}

static bool bad_index(const tw_fb_table *table, const char *field, int64_t index, const char *what,
                      uint32_t count)
{
    return tw_fb_fail(table->file, table->path, field, "%s %lld does not exist, there are %u", what,
                      (long long)index, count);
}

/* Part of the file, outside the tables where it is larger than those can hold. */
static bool read_range(const tw_fb_table *table, const char *field, uint64_t offset, uint64_t bytes,
                       const uint8_t **data)
{
    const tw_fb_file *file = table->file;
    if (offset > file->bytes || bytes > file->bytes - offset)
        return tw_fb_fail(file, table->path, field, "%llu bytes at %llu lie outside the file's %zu",
                          (unsigned long long)bytes, (unsigned long long)offset, file->bytes);
    *data = file->data + offset;
    return true;
}

static bool read_code(tw_tfl_model *model, const tw_fb_table *table, void *to)
{
    tw_tfl_code *code = to;
    int8_t old = 0;
    (void)model;
    *code = (tw_tfl_code){0, "", 1};
    if (!tw_fb_s8(table, TW_FIELD(OperatorCode, deprecated_builtin_code), &old) ||
        !tw_fb_s32(table, TW_FIELD(OperatorCode, builtin_code), &code->builtin) ||
        !tw_fb_s32(table, TW_FIELD(OperatorCode, version), &code->version) ||
        !tw_fb_string_in(table, TW_FIELD(OperatorCode, custom_code), &code->custom))
        return false;
    /* The old field is a byte and says 127 for what does not fit: the larger one counts. */
    if (old > code->builtin)
        code->builtin = old;
    return code->builtin >= 0 || tw_fb_fail(table->file, table->path, "builtin_code",
                                            "code %d is negative", (int)code->builtin);
}

static bool read_buffer(tw_tfl_model *model, const tw_fb_table *table, void *to)
{
    tw_tfl_buffer *buffer = to;
    tw_fb_vector bytes;
    uint64_t offset = 0, size = 0;
    (void)model;
    if (!tw_fb_vector_in(table, TW_FIELD(Buffer, data), 1, &bytes) ||
        !tw_fb_u64(table, TW_FIELD(Buffer, offset), &offset) ||
        !tw_fb_u64(table, TW_FIELD(Buffer, size), &size))
        return false;
    *buffer = (tw_tfl_buffer){NULL, 0};
    if (offset > 1 && size > 0) { /* 0 and 1 are placeholders that writers leave */
        buffer->bytes = (size_t)size;
        return read_range(table, "offset", offset, size, &buffer->data);
    }
    if (bytes.count)
        *buffer = (tw_tfl_buffer){bytes.data, bytes.count};
    return true;
}

static bool read_quant(const tw_fb_table *table, tw_tfl_scales *quant)
{
    tw_fb_vector scale, zero;
    uint8_t details = 0;
    quant->axis = 0;
    if (!tw_fb_vector_in(table, TW_FIELD(Quantization, scale), 4, &scale) ||
        !tw_fb_vector_in(table, TW_FIELD(Quantization, zero_point), 8, &zero) ||
        !tw_fb_u8(table, TW_FIELD(Quantization, details_type), &details) ||
        !tw_fb_s32(table, TW_FIELD(Quantization, quantized_dimension), &quant->axis))
        return false;
    if (details != 0 && scale.count == 0)
        return tw_fail(table->file->diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "a tensor has custom or block-wise quantisation, which is not supported; "
                       "quantise per tensor or per channel");
    if (zero.count > 1 && zero.count != scale.count)
        return tw_fb_fail(table->file, table->path, "zero_point", "%u zero points for %u scales",
                          zero.count, scale.count);
    quant->count = (int)scale.count;
    quant->scale = scale.data;
    quant->zero_count = scale.count ? (int)zero.count : 0;
    quant->zero_point = zero.data;
    return true;
}

static bool read_tensor(tw_tfl_model *model, const tw_fb_table *table, void *to)
{
    tw_tfl_tensor *tensor = to;
    tw_fb_vector shape, signature;
    tw_fb_table quant;
    uint8_t variable = 0, has_rank = 0;
    uint32_t external = 0;
    *tensor = (tw_tfl_tensor){.path = table->path, .name = ""};
    if (!tw_fb_vector_in(table, TW_FIELD(Tensor, shape), 4, &shape) ||
        !tw_fb_vector_in(table, TW_FIELD(Tensor, shape_signature), 4, &signature) ||
        !tw_fb_s8(table, TW_FIELD(Tensor, type), &tensor->type) ||
        !tw_fb_u32(table, TW_FIELD(Tensor, buffer), &tensor->buffer) ||
        !tw_fb_string_in(table, TW_FIELD(Tensor, name), &tensor->name) ||
        !tw_fb_table_in(table, TW_FIELD(Tensor, quantization), &quant) ||
        !tw_fb_table_in(table, TW_FIELD(Tensor, sparsity), &tensor->sparsity) ||
        !tw_fb_u8(table, TW_FIELD(Tensor, is_variable), &variable) ||
        !tw_fb_u8(table, TW_FIELD(Tensor, has_rank), &has_rank) ||
        !tw_fb_u32(table, TW_FIELD(Tensor, external_buffer), &external))
        return false;
    if (external != 0)
        return tw_fail(table->file->diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "tensor '%.128s' keeps its data in another file; save the model in one file",
                       tensor->name);
    /* Buffer 0 stands for no data even where the list of buffers is missing. */
    if (tensor->buffer != 0 && tensor->buffer >= model->buffer_count)
        return bad_index(table, "buffer", tensor->buffer, "buffer", model->buffer_count);
    tensor->is_variable = variable != 0;
    tensor->is_sparse = tensor->sparsity.at != 0;
    tensor->has_shape = shape.present || has_rank;
    tensor->rank = shape.count;
    tensor->shape = shape.data;
    tensor->signature_rank = signature.count;
    tensor->signature = signature.data;
    return read_quant(&quant, &tensor->quant);
}

/* Tensor indices, in [least, count). */
static bool read_indices(const tw_fb_table *table, tw_fb_field field, int32_t least, uint32_t limit,
                         uint32_t *count, const int32_t **indices)
{
    tw_fb_vector vector;
    if (!tw_fb_vector_in(table, field, 4, &vector))
        return false;
    *count = vector.count;
    *indices = vector.data;
    for (uint32_t i = 0; i < vector.count; i++) {
        int32_t index = (*indices)[i];
        if (index < least || (index >= 0 && (uint32_t)index >= limit))
            return bad_index(table, field.name, index, "tensor", limit);
    }
    return true;
}

static bool read_custom(const tw_fb_table *table, tw_tfl_operator *operator)
{
    tw_fb_vector custom;
    uint64_t offset = 0, size = 0;
    if (!tw_fb_vector_in(table, TW_FIELD(Operator, custom_options), 1, &custom) ||
        !tw_fb_u64(table, TW_FIELD(Operator, large_custom_options_offset), &offset) ||
        !tw_fb_u64(table, TW_FIELD(Operator, large_custom_options_size), &size))
        return false;
    operator->custom = custom.data;
    operator->custom_bytes = custom.count;
    if (offset <= 1 || size == 0)
        return true;
    operator->custom_bytes =(size_t) size;
    return read_range(table, "large_custom_options_offset", offset, size, &operator->custom);
}

static bool read_operator(tw_tfl_model *model, const tw_fb_table *table, uint32_t tensors,
                          tw_tfl_operator *operator)
{
    *operator=(tw_tfl_operator){.path = table->path};
    if (!tw_fb_u32(table, TW_FIELD(Operator, opcode_index), &operator->code))
        return false;
    if (operator->code >= model->code_count)
        return bad_index(table, "opcode_index", operator->code, "operator code", model->code_count);
    return read_indices(table, TW_FIELD(Operator, inputs), -1, tensors, &operator->in_count,
                        &operator->in) &&
           read_indices(table, TW_FIELD(Operator, outputs), -1, tensors, &operator->out_count,
                        &operator->out) &&
           read_indices(table, TW_FIELD(Operator, intermediates), -1, tensors,
                        &operator->intermediate_count, &operator->intermediates) &&
           tw_fb_union_in(table, TW_FIELD(Operator, builtin_options_type),
                          TW_FIELD(Operator, builtin_options), &operator->options_type,
                          &operator->options) &&
           read_custom(table, operator);
}

static bool read_subgraph(tw_tfl_model *model, const tw_fb_table *table, void *to)
{
    tw_tfl_subgraph *g = to;
    tw_fb_vector operators;
    *g = (tw_tfl_subgraph){.path = table->path, .name = ""};
    if (!tw_fb_string_in(table, TW_FIELD(SubGraph, name), &g->name) ||
        !read_all(model, table, TW_FIELD(SubGraph, tensors), sizeof *g->tensors, read_tensor,
                  &g->tensor_count, &g->tensors) ||
        !read_indices(table, TW_FIELD(SubGraph, inputs), 0, g->tensor_count, &g->in_count,
                      &g->in) ||
        !read_indices(table, TW_FIELD(SubGraph, outputs), 0, g->tensor_count, &g->out_count,
                      &g->out) ||
        !tw_fb_tables_in(table, TW_FIELD(SubGraph, operators), &operators))
        return false;
    g->operator_count = operators.count;
    g->operators =
        tw_alloc_array(model->file.arena, (size_t)operators.count + 1, sizeof *g->operators);
    for (uint32_t i = 0; i < operators.count; i++) {
        tw_fb_table element;
        if (!tw_fb_table_at(&operators, i, &element) ||
            !read_operator(model, &element, g->tensor_count, &g->operators[i]))
            return false;
    }
    return true;
}

static bool read_metadata(tw_tfl_model *model, const tw_fb_table *table, void *to)
{
    tw_tfl_metadata *metadata = to;
    *metadata = (tw_tfl_metadata){"", 0};
    if (!tw_fb_string_in(table, TW_FIELD(Metadata, name), &metadata->name) ||
        !tw_fb_u32(table, TW_FIELD(Metadata, buffer), &metadata->buffer))
        return false;
    return metadata->buffer < model->buffer_count ||
           bad_index(table, "buffer", metadata->buffer, "buffer", model->buffer_count);
}

static bool read_alias(tw_tfl_model *model, const tw_fb_table *table, void *to)
{
    tw_tfl_alias *alias = to;
    (void)model;
    *alias = (tw_tfl_alias){"", 0};
    return tw_fb_string_in(table, TW_FIELD(TensorMap, name), &alias->name) &&
           tw_fb_u32(table, TW_FIELD(TensorMap, tensor_index), &alias->tensor);
}

static bool read_signature(tw_tfl_model *model, const tw_fb_table *table, void *to)
{
    tw_tfl_signature *s = to;
    *s = (tw_tfl_signature){.key = ""};
    if (!tw_fb_string_in(table, TW_FIELD(SignatureDef, signature_key), &s->key) ||
        !tw_fb_u32(table, TW_FIELD(SignatureDef, subgraph_index), &s->subgraph) ||
        !read_all(model, table, TW_FIELD(SignatureDef, inputs), sizeof *s->in, read_alias,
                  &s->in_count, &s->in) ||
        !read_all(model, table, TW_FIELD(SignatureDef, outputs), sizeof *s->out, read_alias,
                  &s->out_count, &s->out))
        return false;
    if (s->subgraph >= model->subgraph_count)
        return bad_index(table, "subgraph_index", s->subgraph, "subgraph", model->subgraph_count);
    uint32_t tensors = model->subgraphs[s->subgraph].tensor_count;
    for (uint32_t i = 0; i < s->in_count + s->out_count; i++) {
        uint32_t tensor = i < s->in_count ? s->in[i].tensor : s->out[i - s->in_count].tensor;
        if (tensor >= tensors)
            return bad_index(table, i < s->in_count ? "inputs" : "outputs", tensor, "tensor",
                             tensors);
    }
    return true;
}

bool tw_tfl_read(tw_tfl_model *model, tw_arena *arena, const void *data, size_t bytes,
                 tw_diag *diag)
{
    tw_fb_table root;
    uint32_t version = 0;
    *model = (tw_tfl_model){.description = ""};
    if (!tw_fb_open(&model->file, arena, data, bytes, TW_TFL_IDENTIFIER, &root, diag) ||
        !tw_fb_u32(&root, TW_FIELD(Model, version), &version))
        return false;
    if (version != TW_TFL_VERSION)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "schema version %u is not supported; save the model in version %u", version,
                       TW_TFL_VERSION);
    return tw_fb_string_in(&root, TW_FIELD(Model, description), &model->description) &&
           read_all(model, &root, TW_FIELD(Model, operator_codes), sizeof *model->codes, read_code,
                    &model->code_count, &model->codes) &&
           read_all(model, &root, TW_FIELD(Model, buffers), sizeof *model->buffers, read_buffer,
                    &model->buffer_count, &model->buffers) &&
           read_all(model, &root, TW_FIELD(Model, subgraphs), sizeof *model->subgraphs,
                    read_subgraph, &model->subgraph_count, &model->subgraphs) &&
           read_all(model, &root, TW_FIELD(Model, metadata), sizeof *model->metadata, read_metadata,
                    &model->metadata_count, &model->metadata) &&
           read_all(model, &root, TW_FIELD(Model, signature_defs), sizeof *model->signatures,
                    read_signature, &model->signature_count, &model->signatures) &&
           tw_fb_finish(&model->file);
}
