/* Programs of early schemas, made to look like those of schema 8, which the importer reads.
 *
 * Before 8 every field of a union is there, null where it is not the one that is meant. Schema 1 (torch 2.1)
 * lists by name what its inputs and outputs are, where later ones have a list of specifications, wraps what
 * it says of a tensor once more, and carries constants in its own text. */
#include <string.h>

#include "import/pytorch/program.h"

/* --- text -------------------------------------------------------------------------------------- */

/* Python writes numbers that JSON has no word for. How long the word at text is; 0: none. */
static size_t word_at(const char *text)
{
    static const char *const words[] = {"-Infinity", "Infinity", "NaN"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return strlen(words[i]);
    return 0;
}

/* The same with such words as texts; text ends with a zero byte. */
static const char *with_words_quoted(tw_arena *arena, const char *text, size_t *bytes)
{
    if (!strstr(text, "Infinity") && !strstr(text, "NaN"))
        return text;
    char *to = tw_alloc(arena, 2 * *bytes + 1);
    size_t length = 0, part;
    bool quoted = false;
    for (size_t i = 0; i < *bytes; i += part) {
        const size_t word = quoted ? 0 : word_at(text + i);
        part = word ? word : quoted && text[i] == '\\' && i + 1 < *bytes ? 2 : 1;
        if (text[i] == '"')
            quoted = !quoted;
        if (word)
            to[length++] = '"';
        memcpy(to + length, text + i, part);
        length += part;
        if (word)
            to[length++] = '"';
    }
    *bytes = length;
    return to;
}

static void drop_nulls(json_t *json)
{
    const char *key;
    json_t *item;
    void *next;
    size_t i;
    json_object_foreach_safe(json, next, key, item)
    {
        if (json_is_null(item))
            json_object_del(json, key);
        else
            drop_nulls(item);
    }
    json_array_foreach(json, i, item) drop_nulls(item);
}

json_t *tw_program_parse(tw_arena *arena, const char *text, size_t bytes, json_error_t *error)
{
    text = with_words_quoted(arena, text, &bytes);
    json_t *json = json_loadb(text, bytes, 0, error);
    drop_nulls(json);
    return json;
}

/* --- schema 1 ---------------------------------------------------------------------------------- */

/* {kind: {"arg": {"name": argument}, field: name}} */
static json_t *stored(const char *kind, const char *argument, const char *field, const json_t *name)
{
    return json_pack("{s:{s:{s:s}, s:s}}", kind, "arg", "name", argument, field,
                     json_string_value(name) ? json_string_value(name) : "");
}

static json_t *of_user(const char *kind, const char *argument)
{
    return json_pack("{s:{s:{s:{s:s}}}}", kind, "arg", "as_tensor", "name", argument);
}

/* What the graph's input or output number i is called. */
static const char *end_name(const json_t *ends, size_t i)
{
    return tw_program_text(json_object_get(json_array_get(ends, i), "as_tensor"), "name");
}

static json_t *input_specs(const json_t *signature, const json_t *ends)
{
    json_t *specs = json_array();
    for (size_t i = 0; i < json_array_size(ends); i++) {
        const char *name = end_name(ends, i);
        const json_t *parameter =
            json_object_get(json_object_get(signature, "inputs_to_parameters"), name);
        const json_t *buffer =
            json_object_get(json_object_get(signature, "inputs_to_buffers"), name);
        json_array_append_new(specs, parameter
                                         ? stored("parameter", name, "parameter_name", parameter)
                                     : buffer ? stored("buffer", name, "buffer_name", buffer)
                                              : of_user("user_input", name));
    }
    return specs;
}

/* Buffers' next values come first, as in later schemas. */
static json_t *output_specs(const json_t *signature, const json_t *ends)
{
    json_t *specs = json_array();
    const size_t mutations = json_object_size(json_object_get(signature, "buffers_to_mutate"));
    for (size_t i = 0; i < json_array_size(ends); i++) {
        const char *name = end_name(ends, i);
        const json_t *buffer =
            json_object_get(json_object_get(signature, "buffers_to_mutate"), name);
        json_array_append_new(specs, i < mutations && buffer
                                         ? stored("buffer_mutation", name, "buffer_name", buffer)
                                         : of_user("user_output", name));
    }
    return specs;
}

void tw_program_renew(json_t *module)
{
    const json_t *graph = json_object_get(module, "graph");
    json_t *signature = json_object_get(module, "signature"), *value;
    json_t *values = json_object_get(graph, "tensor_values");
    const char *name;
    if (!json_object_get(signature, "user_inputs"))
        return;
    json_object_set_new(signature, "input_specs",
                        input_specs(signature, json_object_get(graph, "inputs")));
    json_object_set_new(signature, "output_specs",
                        output_specs(signature, json_object_get(graph, "outputs")));
    json_object_foreach(values, name, value)
    {
        json_t *meta = json_object_get(value, "meta");
        if (meta)
            json_object_set(values, name, meta);
    }
}

/* --- constants in the text --------------------------------------------------------------------- */

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

void *tw_program_base64(tw_arena *arena, const char *text, size_t *bytes)
{
    const size_t length = strlen(text);
    uint8_t *to = tw_alloc(arena, length / 4 * 3 + 3);
    uint32_t bits = 0;
    *bytes = 0;
    for (size_t i = 0; i < length && text[i] != '='; i++) {
        const int value = digit(text[i]);
        if (value < 0)
            return NULL;
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 != 0) /* of four digits three end a byte */
            to[(*bytes)++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return to;
}
