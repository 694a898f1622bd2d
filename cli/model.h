/* From the command line's MODEL or PLAN to something that runs. */
#ifndef TW_CLI_MODEL_H
#define TW_CLI_MODEL_H

#include "command.h"
#include "host/session.h"
#include "tilewright/compiler.h"

/* The compile options that the command line gives; arrays live in cli->arena. */
bool cli_compile_options(tw_cli *cli, tw_compile_options *options);

/* What --constant, --state and a file beside the model say of its ends. Arrays live in cli->arena. */
bool cli_model_ends(tw_cli *cli, const char *model, tw_compile_options *options);

/* Does the file begin like a plan? False also when it cannot be read: opening it will say so. */
bool cli_is_plan(const char *path);

typedef struct cli_model {
    tw_compiled compiled; /* of a model; empty for a plan */
    tw_session session;
} cli_model;

/* A plan is loaded, a model compiled (with `options`, null for those of the command line) and then
 * loaded. Close either way. */
bool cli_model_open(tw_cli *cli, const char *path, const tw_compile_options *options,
                    cli_model *model);
void cli_model_close(cli_model *model);

/* Open the first operand, do that with it, close it. */
bool cli_on_model(tw_cli *cli, bool (*work)(tw_cli *cli, tw_session *session));

/* The announced memory: {total, activations, scratch, state, context}. */
json_t *cli_json_memory(const tw_model *model);

/* The name of an input or output, "input 0" where the plan has none; in cli->arena. */
const char *cli_tensor_name(tw_cli *cli, const tw_session *session, bool output, uint32_t index);

#endif
