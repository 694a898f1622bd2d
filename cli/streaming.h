/* --stream on the command line and in reports. */
#ifndef TW_CLI_STREAMING_H
#define TW_CLI_STREAMING_H

#include <stdio.h>

#include "command.h"
#include "tilewright/compiler.h"

/* --stream and --stream-padding into options->stream; the name lives in cli->arena. */
bool cli_stream_option(tw_cli *cli, tw_compile_options *options);

/* {input, axis, hop, clip, window, latency, first_run, macs_clip, macs_hop, padding}. */
json_t *cli_json_stream(const tw_report *report);
/* The same in words; nothing where the options name no stream. */
void cli_report_streaming(const tw_report *report, FILE *file);

#endif
