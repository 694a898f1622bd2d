/* Types, shapes and numbers as C spells them. */
#include <stdlib.h>
#include <string.h>

#include "emit/firmware/make.h"
#include "graph/graph.h"

const char *tw_c_type(uint32_t dtype)
{
    switch (dtype) {
    case TW_F32: return "float";
    case TW_S8: return "int8_t";
    case TW_S16: return "int16_t";
    case TW_U16:
    case TW_F16:
    case TW_BF16: return "uint16_t"; /* the bits */
    case TW_S32: return "int32_t";
    case TW_U32: return "uint32_t";
    case TW_S64: return "int64_t";
    case TW_U64:
    case TW_F64: return "uint64_t"; /* of a double, the bits: C does not promise its size */
    default: return "uint8_t";
    }
}

const char *tw_c_dtype(uint32_t dtype)
{
    switch (dtype) {
#define TW_DTYPE_SYMBOL(name, symbol, value, bytes)                                                \
    case symbol: return #symbol;
        TW_DTYPE_LIST(TW_DTYPE_SYMBOL)
    default: return "TW_NO_DTYPE";
    }
}

const char *tw_c_float(tw_arena *arena, float value)
{
    char *text = tw_format(arena, "%.9g", (double)value);
    return tw_format(arena, "%s%sf", text, strpbrk(text, ".en") ? "" : ".0");
}

const char *tw_shape_words(tw_arena *arena, const tw_tensor *tensor)
{
    const char *text = tw_format(arena, "%s ", tw_dtype_name((tw_dtype)tensor->dtype));
    for (int i = 0; i < tensor->rank; i++)
        text = tw_format(arena, "%s%s%d", text, i ? "x" : "", tensor->dim[i]);
    return tensor->rank ? text : tw_format(arena, "%sscalar", text);
}

void tw_c_words(FILE *file, const void *data, size_t bytes)
{
    enum { A_LINE = 8 };
    const uint8_t *at = data;
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t word = 0;
        for (size_t k = 0; k < 4 && i + k < bytes; k++)
            word |= (uint32_t)at[i + k] << 8 * k;
        fprintf(file, "%s0x%08xu,", i / 4 % A_LINE ? " " : "\n    ", word);
    }
}

uint32_t tw_word_count(size_t bytes)
{
    return bytes ? (uint32_t)((bytes + 3) / 4) : 1;
}

void tw_write_word_array(const tw_making *m, FILE *file, const char *suffix, const void *data,
                         uint32_t bytes)
{
    fprintf(file,
            "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
            "#error \"the words are those of a little-endian processor\"\n"
            "#endif\n\n"
            "#if defined(__cplusplus)\n"
            "alignas(16)\n"
            "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
            "_Alignas(16)\n"
            "#elif defined(__GNUC__)\n"
            "__attribute__((aligned(16)))\n"
            "#endif\n"
            "const uint32_t %s_%s[%u] = {",
            m->name, suffix, tw_word_count(bytes));
    tw_c_words(file, data, bytes);
    fprintf(file, "%s\n};\n", bytes ? "" : "\n    0u,");
}

void tw_text_begin(tw_text *text)
{
    *text = (tw_text){NULL, NULL, 0};
    text->file = open_memstream(&text->data, &text->bytes);
    if (!text->file)
        abort();
}

void tw_text_end(tw_text *text, const tw_making *m, const char *path)
{
    fclose(text->file);
    tw_tree_add(m->tree, path, tw_copy(m->arena, text->data, text->bytes), text->bytes);
    free(text->data);
}
