/* What the command line says about the ends of a model: inputs that never change, and outputs that the
 * plan keeps for inputs (--state, and a file beside the model). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "model.h"
#include "output.h"

/* Beside MODEL, MODEL.state.json holds {"state": [{"output": "h_out", "input": "h_in"}, ...]}. */
#define STATE_FILE_SUFFIX ".state.json"

enum { STATE_FILE_MOST = 1 << 20 };

typedef struct tw_bindings {
    tw_state_binding *of;
    int count;
} tw_bindings;

static void add(tw_cli *cli, tw_bindings *all, const char *output, const char *input)
{
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->of[i].output, output) == 0 && strcmp(all->of[i].input, input) == 0)
            return;
    all->of[all->count].output = tw_strndup(cli->arena, output, strlen(output));
    all->of[all->count++].input = tw_strndup(cli->arena, input, strlen(input));
}

static bool fail_file(tw_cli *cli, const char *path, const char *what)
{
    snprintf(cli->diag.file, sizeof cli->diag.file, "%s", path);
    return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                   "%s; it should hold {\"state\": [{\"output\": \"OUT\", \"input\": \"IN\"}]}",
                   what);
}

static bool read_pairs(tw_cli *cli, const char *path, const json_t *root, int given,
                       tw_bindings *all)
{
    const json_t *pairs = json_object_get(root, "state");
    if (!json_is_array(pairs))
        return fail_file(cli, path, "there is no list \"state\" in it");
    size_t count = json_array_size(pairs);
    all->of = tw_alloc_array(cli->arena, count + (size_t)given + 1, sizeof *all->of);
    for (size_t i = 0; i < count; i++) {
        const json_t *pair = json_array_get(pairs, i);
        const char *output = json_string_value(json_object_get(pair, "output"));
        const char *input = json_string_value(json_object_get(pair, "input"));
        if (!output || !input)
            return fail_file(cli, path, "an entry does not name an output and an input");
        add(cli, all, output, input);
    }
    return true;
}

/* Makes room for those and for the `given` ones of the command line. */
static bool read_file(tw_cli *cli, const char *model, int given, tw_bindings *all)
{
    const char *path = tw_format(cli->arena, "%s" STATE_FILE_SUFFIX, model);
    void *bytes;
    size_t count;
    json_error_t error;
    if (access(path, F_OK) != 0) {
        all->of = tw_alloc_array(cli->arena, (size_t)given + 1, sizeof *all->of);
        return true;
    }
    if (!tw_read_file(cli->arena, path, STATE_FILE_MOST, &bytes, &count, &cli->diag))
        return false;
    json_t *root = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &error);
    bool read =
        root ? read_pairs(cli, path, root, given, all)
             : fail_file(cli, path, tw_format(cli->arena, "line %d: %s", error.line, error.text));
    json_decref(root);
    return read;
}

/* NAME=VALUE, at the first '='. */
static bool split(tw_cli *cli, const char *text, const char **name, const char **value)
{
    const char *middle = strchr(text, '=');
    if (!middle)
        return false;
    *name = tw_strndup(cli->arena, text, (size_t)(middle - text));
    *value = middle + 1;
    return true;
}

static bool read_constants(tw_cli *cli, tw_compile_options *options)
{
    const tw_option_values *given = &cli->options[TW_OPTION_constant];
    tw_input_value *all = tw_alloc_array(cli->arena, (size_t)given->count + 1, sizeof *all);
    for (int i = 0; i < given->count; i++)
        if (!split(cli, given->values[i], &all[i].name, &all[i].value))
            return cli_usage(cli,
                             "--constant %.80s: write NAME=VALUE, an input and a number or a file",
                             given->values[i]);
    options->constants = all;
    options->constant_count = given->count;
    return true;
}

bool cli_model_ends(tw_cli *cli, const char *model, tw_compile_options *options)
{
    const tw_option_values *given = &cli->options[TW_OPTION_state];
    tw_bindings all = {NULL, 0};
    if (!read_constants(cli, options) || !read_file(cli, model, given->count, &all))
        return false;
    for (int i = 0; i < given->count; i++) {
        const char *output, *input;
        if (!split(cli, given->values[i], &output, &input))
            return cli_usage(cli, "--state %.80s: write OUT=IN, an output and an input",
                             given->values[i]);
        add(cli, &all, output, input);
    }
    options->states = all.of;
    options->state_count = all.count;
    return true;
}
