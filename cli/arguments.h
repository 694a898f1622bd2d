/* The words of the command line, taken apart by the option table. */
#ifndef TW_CLI_ARGUMENTS_H
#define TW_CLI_ARGUMENTS_H

#include <stdio.h>

#include "command.h"

/* Fills in cli->operands and cli->options from the words behind the command's name. */
bool cli_parse(tw_cli *cli, int count, char **words);

void cli_help_command(const tw_command *command, FILE *file);

/* The known word nearest to a mistyped one, or null when none is near. */
const char *cli_nearest(const char *word, const char *const *known, int count);

#endif
