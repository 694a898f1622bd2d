/* The command line: finds the command, runs it, reports how it went.
 *
 * Exit status: 0 done, 1 failed, 2 called wrongly, 3 unsupported operator, attribute or type. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "output.h"
#include "tilewright/compiler.h"

static const tw_command *const commands[] = {
#define TW_COMMAND(name) &tw_command_##name,
#include "commands.def"
#undef TW_COMMAND
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_help(FILE *file)
{
    fputs("usage: tilewright COMMAND ...\n\n"
          "tilewright turns a trained network and a memory budget into a plan: every byte placed\n"
          "and every row ordered ahead of time, run by a small freestanding C runtime.\n\n"
          "commands:\n",
          file);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(file, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nexamples:\n"
          "  tilewright analyze model.onnx -m 64K\n"
          "  tilewright compile model.onnx -m 64K -o model.twp\n"
          "  tilewright run model.twp --input x.npy --output y.npy\n\n"
          "tilewright COMMAND --help explains a command; tilewright --version prints the version.\n"
          "Exit status: 0 done, 1 failed, 2 called wrongly, 3 unsupported operator, attribute or "
          "type.\n",
          file);
}

static bool find_command(tw_cli *cli, const char *name)
{
    const char *known[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        known[i] = commands[i]->name;
        if (strcmp(name, known[i]) == 0)
            cli->command = commands[i];
    }
    const char *nearest = cli_nearest(name, known, COMMAND_COUNT);
    if (cli->command)
        return true;
    return nearest ? cli_usage(cli, "unknown command %.60s; did you mean %s?", name, nearest)
                   : cli_usage(cli, "unknown command %.60s", name);
}

static bool run(tw_cli *cli, int count, char **words)
{
    if (count == 0) {
        print_help(stderr);
        cli->diag.code = TW_CODE_USAGE;
        return false;
    }
    if (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0 ||
        strcmp(words[0], "help") == 0) {
        if (count == 1 || !find_command(cli, words[1]))
            print_help(stdout);
        else
            cli_help_command(cli->command, stdout);
        return cli->diag.code == TW_CODE_OK;
    }
    if (strcmp(words[0], "--version") == 0) {
        printf("tilewright %s\n", TW_VERSION);
        return true;
    }
    if (!find_command(cli, words[0]) || !cli_parse(cli, count - 1, words + 1))
        return false;
    if (cli_has(cli, TW_OPTION_help)) {
        cli_help_command(cli->command, stdout);
        cli->json_wanted = false;
        return true;
    }
    return cli->command->run(cli);
}

int main(int argc, char **argv)
{
    tw_cli cli = {.arena = tw_arena_new(), .json = json_object()};
    signal(SIGPIPE, SIG_IGN);
    cli.diag.warn = cli_print_warning;
    run(&cli, argc - 1, argv + 1);
    cli_finish(&cli);
    int status = (int)cli.diag.code;
    json_decref(cli.json);
    tw_arena_free(cli.arena);
    return status;
}
