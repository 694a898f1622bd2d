/* One-node ONNX models as text. A line `attribute NAME TYPE[DIMS] = ELEMENTS` behind the node's is a tensor
 * among its attributes. */
#include "support/onnx_case.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "import/onnx/tensor.h"

static void read_attribute(tw_onnx_case *c, char *text)
{
    char *value = strchr(text, '=');
    *value++ = 0;
    if (*value == 'i') {
        tw_onnx_write_int(&c->model, text, strtoll(value + 1, NULL, 10));
    } else if (*value == 'f') {
        tw_onnx_write_real(&c->model, text, strtof(value + 1, NULL));
    } else if (*value == 's') {
        tw_onnx_write_word(&c->model, text, value + 1);
    } else if (*value == 'F') {
        float list[TW_ONNX_CASE_MOST];
        int count = 0;
        for (char *at = value + 1; *at; at += *at == ',')
            list[count++] = strtof(at, &at);
        tw_onnx_write_reals(&c->model, text, count, list);
    } else if (*value == 'S') {
        const char *list[TW_ONNX_CASE_MOST];
        int count = 0;
        for (char *at = value + 1; at;) {
            list[count++] = at;
            at = strchr(at, ',');
            if (at)
                *at++ = 0;
        }
        tw_onnx_write_words(&c->model, text, count, list);
    } else {
        int64_t list[TW_ONNX_CASE_MOST];
        int count = 0;
        for (char *at = value + 1; *at != ']'; at += *at == ',')
            list[count++] = strtoll(at, &at, 10);
        tw_onnx_write_ints(&c->model, text, count, list);
    }
}

/* "a,b" to "a b" */
static void spaced(char *names)
{
    for (; *names; names++)
        if (*names == ',')
            *names = ' ';
}

/* OP [DOMAIN:]INPUTS -> OUTPUTS ATTRIBUTES */
static void read_node(tw_onnx_case *c, char *text)
{
    char *op = strtok(text, " "), *inputs = strtok(NULL, " ");
    strtok(NULL, " "); /* -> */
    char *outputs = strtok(NULL, " "), *domain = NULL;
    char *colon = strchr(inputs, ':');
    if (colon) {
        domain = inputs;
        inputs = colon + 1;
        *colon = 0;
    }
    spaced(inputs);
    spaced(outputs);
    tw_onnx_write_node(&c->model, op, strcmp(inputs, "-") == 0 ? "" : inputs, outputs);
    if (domain)
        tw_onnx_write_domain(&c->model, domain);
    for (char *word = strtok(NULL, " "); word; word = strtok(NULL, " "))
        read_attribute(c, word);
}

static void add_tensor(tw_onnx_case *c, const char *kind, char *text)
{
    tw_named t = tw_named_read(c->arena, c->title, text);
    int type = (int)tw_onnx_dtype_number(t.shape.dtype);
    int64_t dim[TW_MAX_RANK];
    for (int i = 0; i < t.shape.rank; i++)
        dim[i] = t.shape.dim[i];
    if (strcmp(kind, "attribute") == 0) {
        tw_onnx_write_constant(&c->model, t.name, type, t.shape.rank, dim, t.data,
                               tw_shape_bytes(&t.shape));
    } else if (strcmp(kind, "const") == 0) {
        tw_onnx_write_tensor(&c->model, t.name, type, t.shape.rank, dim, t.data,
                             tw_shape_bytes(&t.shape));
    } else if (strcmp(kind, "in") == 0) {
        tw_onnx_write_input(&c->model, t.name, type, t.shape.rank, dim);
        c->in[c->in_count++] = t;
    } else {
        tw_onnx_write_output(&c->model, t.name, type);
        c->out[c->out_count++] = t;
    }
}

tw_onnx_case tw_onnx_case_read(tw_arena *arena, char *text)
{
    char *next = strchr(text, '\n');
    assert_non_null(next);
    *next++ = 0;
    tw_onnx_case c = {.arena = arena, .title = text, .relative = 1e-5, .absolute = 1e-6};
    for (char *line = next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        char *rest = strchr(line, ' ');
        assert_non_null(rest);
        if (strncmp(line, "opset ", 6) == 0) {
            c.model = tw_onnx_write(arena, (int)strtol(rest, NULL, 10));
        } else if (strncmp(line, "slack ", 6) == 0) {
            c.relative = strtod(rest, &rest);
            c.absolute = strtod(rest, NULL);
        } else if (strncmp(line, "node ", 5) == 0) {
            read_node(&c, rest + 1);
        } else {
            *rest = 0;
            add_tensor(&c, line, rest + 1);
        }
    }
    return c;
}

tw_onnx_case_texts tw_onnx_case_file(tw_arena *arena, const char *path)
{
    tw_onnx_case_texts texts = {NULL, 0};
    tw_diag diag = {0};
    int capacity = 0;
    void *data;
    size_t bytes;
    assert_true(tw_read_file(arena, path, 1 << 24, &data, &bytes, &diag));
    for (char *at = strstr(data, "case "); at; at = strstr(at, "\ncase ")) {
        at += *at == '\n' ? 6 : 5;
        char *end = strstr(at, "\nend\n");
        assert_non_null(end);
        tw_grow(arena, &texts.text, texts.count, &capacity, sizeof *texts.text);
        texts.text[texts.count++] = tw_strndup(arena, at, (size_t)(end - at));
        at = end;
    }
    return texts;
}
