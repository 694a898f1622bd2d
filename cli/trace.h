/* Running a compiled plan to see what it does. */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include "command.h"
#include "tilewright/compiler.h"

/* Run the plan once on inputs of zero and print every firing (--json: counts alone). False: it did not do
 * what the plan says, the message is in cli->diag. */
bool cli_trace(tw_cli *cli, const tw_compiled *compiled);

#endif
