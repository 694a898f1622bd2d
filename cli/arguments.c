/* The option parser that all commands share. In: words and the command's list of options. Out:
 * values by option, operands in order; or a message with a hint. */
#include "arguments.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct tw_option {
    char letter;
    const char *name, *value, *meaning;
} tw_option;

static const tw_option options[] = {
#define TW_OPTION(id, letter, name, value, meaning) {letter, name, value, meaning},
#include "options.def"
#undef TW_OPTION
};

/* ---- reading what was given ---- */

bool cli_usage(tw_cli *cli, const char *format, ...)
{
    char message[900];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return tw_fail(&cli->diag, TW_CODE_USAGE, NULL, NULL, "%s (help: tilewright %s%s--help)",
                   message, cli->command ? cli->command->name : "", cli->command ? " " : "");
}

bool cli_has(const tw_cli *cli, tw_option_id id)
{
    return cli->options[id].count > 0;
}

const char *cli_value(const tw_cli *cli, tw_option_id id)
{
    const tw_option_values *given = &cli->options[id];
    return given->count ? given->values[given->count - 1] : NULL;
}

bool cli_whole(tw_cli *cli, tw_option_id id, uint64_t least, uint64_t most, uint64_t *number)
{
    const char *text = cli_value(cli, id);
    char *end;
    if (!text)
        return true;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value < least || value > most)
        return cli_usage(cli, "--%s %.60s: a whole number from %llu to %llu is needed",
                         options[id].name, text, (unsigned long long)least,
                         (unsigned long long)most);
    *number = value;
    return true;
}

bool cli_real(tw_cli *cli, tw_option_id id, double *number)
{
    const char *text = cli_value(cli, id);
    char *end;
    if (!text)
        return true;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0) || isinf(value))
        return cli_usage(cli, "--%s %.60s: a number from 0 up is needed", options[id].name, text);
    *number = value;
    return true;
}

bool cli_choice(tw_cli *cli, tw_option_id id, const char *words, int *choice)
{
    const char *text = cli_value(cli, id);
    size_t n = text ? strlen(text) : 0;
    int at = 0;
    if (!text)
        return true;
    for (const char *word = words;; at++) {
        size_t m = strcspn(word, "|");
        if (m == n && memcmp(word, text, n) == 0) {
            *choice = at;
            return true;
        }
        if (!word[m])
            return cli_usage(cli, "--%s %.60s: it must be one of %s", options[id].name, text,
                             words);
        word += m + 1;
    }
}

/* ---- hints ---- */

/* Single edits that turn one word into the other. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    int row[LONGEST + 1];
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (int j = 0; j <= m; j++)
        row[j] = j;
    for (int i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int replace = diagonal + (a[i - 1] != b[j - 1]);
            int other = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            diagonal = row[j];
            row[j] = replace < other ? replace : other;
        }
    }
    return row[m];
}

const char *cli_nearest(const char *word, const char *const *known, int count)
{
    int least = 1 + (int)strlen(word) / 3;
    const char *nearest = NULL;
    for (int i = 0; i < count; i++) {
        int edits = distance(word, known[i]);
        if (edits <= least) {
            least = edits - 1;
            nearest = known[i];
        }
    }
    return nearest;
}

/* ---- parsing ---- */

static bool takes(const tw_command *command, tw_option_id id)
{
    if (id == TW_OPTION_help)
        return true;
    for (const tw_option_id *own = command->options; *own != TW_OPTION_COUNT; own++)
        if (*own == id)
            return true;
    return false;
}

static tw_option_id find_letter(const tw_command *command, char letter)
{
    for (int id = 0; id < TW_OPTION_COUNT; id++)
        if (options[id].letter == letter && takes(command, (tw_option_id)id))
            return (tw_option_id)id;
    return TW_OPTION_COUNT;
}

static tw_option_id find_name(const tw_command *command, const char *name, size_t bytes)
{
    for (int id = 0; id < TW_OPTION_COUNT; id++)
        if (strlen(options[id].name) == bytes && memcmp(options[id].name, name, bytes) == 0 &&
            takes(command, (tw_option_id)id))
            return (tw_option_id)id;
    return TW_OPTION_COUNT;
}

static bool fail_unknown(tw_cli *cli, const char *word)
{
    const char *known[TW_OPTION_COUNT];
    int count = 0;
    for (int id = 0; id < TW_OPTION_COUNT; id++)
        if (takes(cli->command, (tw_option_id)id))
            known[count++] = options[id].name;
    const char *bare = tw_strndup(cli->arena, word + 2, strcspn(word + 2, "="));
    const char *nearest = word[1] == '-' ? cli_nearest(bare, known, count) : NULL;
    if (nearest)
        return cli_usage(cli, "unknown option %.60s; did you mean --%s?", word, nearest);
    return cli_usage(cli, "unknown option %.60s", word);
}

static void add_value(tw_cli *cli, tw_option_id id, const char *value)
{
    tw_option_values *given = &cli->options[id];
    tw_grow(cli->arena, &given->values, given->count, &given->capacity, sizeof *given->values);
    given->values[given->count++] = value;
}

/* The option that begins at words[at]; *used words are taken. */
static bool parse_option(tw_cli *cli, int count, char **words, int at, int *used)
{
    const char *word = words[at], *value = NULL;
    tw_option_id id;
    if (word[1] == '-') {
        size_t bytes = strcspn(word + 2, "=");
        id = find_name(cli->command, word + 2, bytes);
        value = word[2 + bytes] ? word + 2 + bytes + 1 : NULL;
    } else {
        id = find_letter(cli->command, word[1]);
        value = word[2] ? word + 2 : NULL;
    }
    *used = 1;
    if (id == TW_OPTION_COUNT)
        return fail_unknown(cli, word);
    if (!options[id].value[0]) {
        if (value)
            return cli_usage(cli, "--%s takes no value", options[id].name);
        value = "";
    } else if (!value) {
        if (at + 1 == count)
            return cli_usage(cli, "%.60s needs a value: %s", word, options[id].value);
        value = words[at + 1];
        *used = 2;
    }
    add_value(cli, id, value);
    return true;
}

static bool check_operands(tw_cli *cli)
{
    const tw_command *command = cli->command;
    if (cli->operand_count >= command->least_operands &&
        cli->operand_count <= command->most_operands)
        return true;
    if (cli->operand_count > command->most_operands)
        return cli_usage(cli, "%.60s is one file too many; usage: tilewright %s %s",
                         cli->operands[command->most_operands], command->name, command->synopsis);
    return cli_usage(cli, "a file is missing; usage: tilewright %s %s", command->name,
                     command->synopsis);
}

bool cli_parse(tw_cli *cli, int count, char **words)
{
    const char **operands = tw_alloc_array(cli->arena, (size_t)count + 1, sizeof *operands);
    bool only_operands = false;
    cli->operands = operands;
    for (int i = 0; i < count; i++) /* known before anything can fail */
        cli->json_wanted = cli->json_wanted || strcmp(words[i], "--json") == 0;
    for (int i = 0, used = 1; i < count; i += used, used = 1) {
        if (!only_operands && strcmp(words[i], "--") == 0)
            only_operands = true;
        else if (only_operands || words[i][0] != '-' || !words[i][1])
            operands[cli->operand_count++] = words[i];
        else if (!parse_option(cli, count, words, i, &used))
            return false;
    }
    return cli_has(cli, TW_OPTION_help) || check_operands(cli);
}

/* ---- help ---- */

/* Words wrapped at `width`, continuation lines indented. `column` characters are already there. */
static void print_wrapped(FILE *file, const char *text, int column, int indent, int width)
{
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (column + 1 + n > width) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
        }
        fprintf(file, "%.*s", n, text);
        column += n + 1;
        text += n;
        if (*text == ' ') {
            text++;
            fputc(' ', file);
        }
    }
    fputc('\n', file);
}

static void print_option(FILE *file, tw_option_id id)
{
    enum { MEANING = 30, WIDTH = 96 };
    char head[64];
    const tw_option *o = &options[id];
    int n = snprintf(head, sizeof head, "  %c%c%s --%s%s%s", o->letter ? '-' : ' ',
                     o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name,
                     o->value[0] ? " " : "", o->value);
    fputs(head, file);
    if (n >= MEANING)
        fprintf(file, "\n%*s", MEANING, "");
    else
        fprintf(file, "%*s", MEANING - n, "");
    print_wrapped(file, o->meaning, MEANING, MEANING, WIDTH);
}

void cli_help_command(const tw_command *command, FILE *file)
{
    fprintf(file, "usage: tilewright %s %s [options]\n\n", command->name, command->synopsis);
    print_wrapped(file, command->about, 0, 0, 96);
    fputs("\noptions:\n", file);
    for (const tw_option_id *own = command->options; *own != TW_OPTION_COUNT; own++)
        print_option(file, *own);
    print_option(file, TW_OPTION_help);
    fprintf(file, "\nexamples:\n%s", command->examples);
}
