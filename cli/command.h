/* What a command is: a record with its help, its options and its function. Each stands at the end
 * of its own file and has a row in commands.def. */
#ifndef TW_CLI_COMMAND_H
#define TW_CLI_COMMAND_H

#include <jansson.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"

typedef enum tw_option_id {
#define TW_OPTION(id, letter, name, value, meaning) TW_OPTION_##id,
#include "options.def"
#undef TW_OPTION
    TW_OPTION_COUNT
} tw_option_id;

typedef struct tw_option_values {
    const char **values; /* "" for a switch */
    int count, capacity;
} tw_option_values;

struct tw_command;

/* One run of the program. */
typedef struct tw_cli {
    tw_arena *arena;
    const struct tw_command *command;
    const char *const *operands;
    int operand_count;
    tw_option_values options[TW_OPTION_COUNT];
    bool json_wanted, json_lines; /* lines: one object a line, of which the last is `json` */
    json_t *json; /* the object printed at the end when it is wanted; an error is added to it */
    tw_diag diag;
} tw_cli;

typedef struct tw_command {
    const char *name, *summary;
    const char *synopsis;        /* what follows the name, without the options */
    const char *about;           /* a paragraph */
    const char *examples;        /* lines */
    const tw_option_id *options; /* ends with TW_OPTION_COUNT; help is understood */
    int least_operands, most_operands;
    /* Does the work. False: the message is in cli->diag, whose code becomes the exit status. */
    bool (*run)(tw_cli *cli);
} tw_command;

#define TW_COMMAND(name) extern const tw_command tw_command_##name;
#include "commands.def"
#undef TW_COMMAND

/* Options as given: switches, the last value (or null), and numbers in a range. */
bool cli_has(const tw_cli *cli, tw_option_id id);
const char *cli_value(const tw_cli *cli, tw_option_id id);
bool cli_whole(tw_cli *cli, tw_option_id id, uint64_t least, uint64_t most, uint64_t *number);
bool cli_real(tw_cli *cli, tw_option_id id, double *number);
/* One of the `|`-separated words: its position. */
bool cli_choice(tw_cli *cli, tw_option_id id, const char *words, int *choice);

/* Record a mistake in how the program was called, with where its help is. Returns false. */
bool cli_usage(tw_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
