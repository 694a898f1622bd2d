/* What the user says about the ends of a model. In: a graph; inputs that never change; outputs that are
 * to be inputs at the next run. Out: the graph with constants and states in their place, so that none
 * of them is seen from outside any more. */
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "graph/number.h"
#include "import/build.h"
#include "import/tensor_file.h"

static int find(tw_value *const *values, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(values[i]->name, name) == 0)
            return i;
    return -1;
}

static void drop(tw_value **values, int *count, int at)
{
    memmove(values + at, values + at + 1, sizeof(tw_value *) * (size_t)(*count - at - 1));
    --*count;
}

void tw_rename_value(tw_graph *graph, tw_value *value, const char *name)
{
    name = tw_strdup(graph->arena, name);
    if (strcmp(value->name, name) == 0 || value->is_input || value->is_state)
        return;
    for (int i = 0; i < graph->value_count; i++) {
        tw_value *other = graph->values[i];
        if (strcmp(other->name, name) != 0)
            continue;
        if (other->is_input || other->is_output || other->is_state)
            return;
        other->name = value->name;
        value->name = name;
        return;
    }
    value->name = tw_unique_name(graph, name);
}

const tw_input_shape *tw_given_shape(const tw_import_options *options, const char *name, bool first)
{
    for (int i = 0; i < options->input_shape_count; i++) {
        const char *given = options->input_shapes[i].name;
        if (given && *given ? strcmp(given, name) == 0 : first)
            return &options->input_shapes[i];
    }
    return NULL;
}

/* ---- inputs that never change ---- */

void tw_fix_input(tw_graph *graph, tw_value *input, const void *data)
{
    input->data = data;
    input->is_input = false;
    drop(graph->inputs, &graph->input_count, find(graph->inputs, graph->input_count, input->name));
}

/* A number for every element, or the elements of a file; null with a message. */
static const void *given_elements(tw_arena *arena, const tw_input_value *given,
                                  const tw_shape *shape, tw_diag *diag)
{
    uint64_t number; /* large enough for any type */
    size_t count = (size_t)tw_shape_elements(shape), width = tw_dtype_bytes(shape->dtype);
    tw_number_result read = tw_number_parse(shape->dtype, given->value, &number);
    if (read == TW_NUMBER_RANGE) {
        tw_fail(diag, TW_CODE_USAGE, given->name, NULL, "%.100s is out of the range of %s",
                given->value, tw_dtype_name(shape->dtype));
        return NULL;
    }
    if (read == TW_NUMBER_OK) {
        uint8_t *data = tw_alloc_array(arena, count + 1, width);
        for (size_t i = 0; i < count; i++)
            memcpy(data + i * width, &number, width);
        return data;
    }
    if (access(given->value, F_OK) != 0) {
        tw_fail(diag, TW_CODE_USAGE, given->name, NULL, "%.100s is neither %s nor a file",
                given->value, tw_number_form(shape->dtype));
        return NULL;
    }
    tw_tensor_data file;
    if (!tw_tensor_read(arena, given->value, shape, &file, diag))
        return NULL;
    if (tw_shape_equal(&file.shape, shape) && file.bytes == tw_shape_bytes(shape))
        return file.data;
    char have[96], wanted[96];
    tw_shape_text(&file.shape, have, sizeof have);
    tw_shape_text(shape, wanted, sizeof wanted);
    tw_fail(diag, TW_CODE_USAGE, given->name, NULL, "%.200s holds %s where the input is %s",
            given->value, have, wanted);
    return NULL;
}

bool tw_fix_given_input(tw_graph *graph, tw_value *input, const tw_import_options *options,
                        tw_diag *diag)
{
    for (int i = 0; options && i < options->constant_count; i++) {
        const tw_input_value *given = &options->constants[i];
        if (strcmp(given->name, input->name) != 0)
            continue;
        const void *data = given_elements(graph->arena, given, &input->shape, diag);
        if (!data)
            return false;
        tw_fix_input(graph, input, data);
        tw_grow(graph->arena, &graph->fixed, graph->fixed_count, &graph->fixed_capacity,
                sizeof *graph->fixed);
        graph->fixed[graph->fixed_count++] = input->name;
        return true;
    }
    return true;
}

bool tw_fixed_inputs_found(const tw_graph *graph, const tw_import_options *options, tw_diag *diag)
{
    for (int i = 0; i < options->constant_count; i++) {
        const char *name = options->constants[i].name;
        bool found = false;
        for (int k = 0; k < graph->fixed_count && !found; k++)
            found = strcmp(graph->fixed[k], name) == 0;
        if (!found)
            return tw_fail(diag, TW_CODE_USAGE, NULL, NULL,
                           "a value is given for '%.256s', which is not an input of the model",
                           name);
    }
    return true;
}

/* ---- states ---- */

static const char *all_names(tw_arena *arena, tw_value *const *values, int count)
{
    enum { ENOUGH = 300 };
    const char *names = "";
    for (int i = 0; i < count && strlen(names) < ENOUGH; i++)
        names = tw_format(arena, "%s%s%s", names, *names ? ", " : "", values[i]->name);
    return *names ? names : "none";
}

static bool fail(tw_diag *diag, const tw_state_binding *binding, const char *what)
{
    return tw_fail(diag, TW_CODE_USAGE, NULL, NULL, "--state %.100s=%.100s: %s", binding->output,
                   binding->input, what);
}

static bool fail_name(tw_diag *diag, const tw_state_binding *binding, const char *what,
                      const char *names)
{
    return tw_fail(diag, TW_CODE_USAGE, NULL, NULL,
                   "--state %.100s=%.100s: the model has no %s of that name; they are: %.300s",
                   binding->output, binding->input, what, names);
}

/* What moves is the value: where the two ends have different scales it is requantised. */
static tw_value *in_terms_of(tw_graph *graph, tw_value *value, const tw_value *state, tw_diag *diag)
{
    tw_builder builder;
    if (tw_quant_equal(&value->quant, &state->quant))
        return value;
    tw_builder_init(&builder, graph, NULL, diag);
    builder.node = state->name;
    tw_node *node = tw_build_node(&builder, "Requantize", &value, 1,
                                  TW_SETTINGS(tw_set_int("dtype", state->shape.dtype)));
    if (!node)
        return NULL;
    node->out[0]->quant = state->quant;
    return node->out[0];
}

static bool bind(tw_graph *graph, const tw_state_binding *binding, tw_diag *diag)
{
    char have[96], given[96];
    int in = find(graph->inputs, graph->input_count, binding->input);
    int out = find(graph->outputs, graph->output_count, binding->output);
    for (int i = 0; in < 0 && i < graph->state_count; i++)
        if (strcmp(graph->states[i].current->name, binding->input) == 0)
            return fail(diag, binding, "that input is bound already");
    if (in < 0)
        return fail_name(diag, binding, "input",
                         all_names(graph->arena, graph->inputs, graph->input_count));
    if (out < 0)
        return fail_name(diag, binding, "output",
                         all_names(graph->arena, graph->outputs, graph->output_count));
    tw_value *current = graph->inputs[in], *next = graph->outputs[out];
    tw_shape_text(&current->shape, have, sizeof have);
    tw_shape_text(&next->shape, given, sizeof given);
    if (!tw_shape_equal(&current->shape, &next->shape))
        return fail(diag, binding,
                    tw_format(graph->arena, "the input is %s, the output %s; they must agree", have,
                              given));
    drop(graph->inputs, &graph->input_count, in);
    tw_graph_make_state(graph, current);
    next = in_terms_of(graph, next, current, diag);
    return next && tw_graph_state_next(graph, current, next, diag);
}

/* Outputs that were bound are outputs no more, however many states they feed. */
static bool drop_outputs(tw_graph *graph, const tw_state_binding *bindings, int count,
                         tw_diag *diag)
{
    for (int i = 0; i < count; i++) {
        int at = find(graph->outputs, graph->output_count, bindings[i].output);
        if (at >= 0)
            drop(graph->outputs, &graph->output_count, at);
    }
    if (graph->output_count > 0)
        return true;
    return tw_fail(diag, TW_CODE_USAGE, NULL, NULL,
                   "--state: every output is bound to an input; nothing is left to be read");
}

bool tw_bind_states(tw_graph *graph, const tw_state_binding *bindings, int count, tw_diag *diag)
{
    for (int i = 0; i < count; i++)
        if (!bind(graph, &bindings[i], diag))
            return false;
    return count == 0 || drop_outputs(graph, bindings, count, diag);
}

/* ---- guessing ---- */

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_lower(c) || is_upper(c) || is_digit(c);
}

/* Takes the next word from *at, in lower case; a word ends where digits begin or end, and before the
 * capital of stateN. Empty: there is none. */
static void take_word(const char **at, char *word, size_t room)
{
    size_t n = 0;
    while (**at && !is_word(**at))
        ++*at;
    while (is_word(**at) && n + 1 < room) {
        char c = *(*at)++;
        word[n++] = c;
        if (is_upper(c))
            word[n - 1] = (char)(c + ('a' - 'A'));
        if (is_digit(c) != is_digit(**at) || (!is_upper(c) && is_upper(**at)))
            break;
    }
    word[n] = 0;
}

static bool is_end_or_tense(const char *word)
{
    static const char *const words[] = {"in",  "out",    "input", "output", "n",
                                        "new", "next",   "prev",  "past",   "present",
                                        "old", "values", "i",     "o"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* What a name says beside which end it is: "stateN" and "state" both become ".state". */
static void reduce(const char *name, char *reduced, size_t room)
{
    size_t used = 0;
    char word[32];
    for (take_word(&name, word, sizeof word); *word; take_word(&name, word, sizeof word)) {
        size_t n = strlen(word);
        if (is_end_or_tense(word) || used + n + 2 > room)
            continue;
        reduced[used++] = '.';
        memcpy(reduced + used, word, n);
        used += n;
    }
    reduced[used] = 0;
}

/* Do both say the same, or does one add words in front? Numbers alone say nothing. */
static bool names_match(const char *a, const char *b)
{
    enum { ROOM = 128 };
    char first[ROOM] = "", second[ROOM] = "";
    reduce(a, first, ROOM);
    reduce(b, second, ROOM);
    size_t n = strlen(first), m = strlen(second), less = n < m ? n : m;
    const char *tail = n < m ? first : second;
    bool says = false;
    for (size_t i = 0; i < less; i++)
        says = says || is_lower(tail[i]);
    return says && strcmp(first + (n - less), second + (m - less)) == 0;
}

const tw_state_binding *tw_guess_states(const tw_graph *graph, int *count)
{
    tw_state_binding *found =
        tw_alloc_array(graph->arena, (size_t)graph->input_count + 1, sizeof *found);
    *count = 0;
    for (int i = 0; i < graph->input_count; i++) {
        const tw_value *in = graph->inputs[i], *match = NULL;
        int matches = 0;
        for (int k = 0; k < graph->output_count; k++) {
            const tw_value *out = graph->outputs[k];
            if (tw_shape_equal(&in->shape, &out->shape) && names_match(in->name, out->name)) {
                match = out;
                matches++;
            }
        }
        if (matches == 1)
            found[(*count)++] = (tw_state_binding){match->name, in->name};
    }
    return found;
}
