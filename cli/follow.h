/* Streaming: a run a frame, for as long as frames come. */
#ifndef TW_CLI_FOLLOW_H
#define TW_CLI_FOLLOW_H

#include "command.h"
#include "host/session.h"

/* Run the plan over the frames that --follow names, and print every run's outputs as they come. */
bool cli_follow(tw_cli *cli, tw_session *session);

#endif
