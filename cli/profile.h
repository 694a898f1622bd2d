/* Where the time of a plan goes, step by step: a firing hook that reads the clock. */
#ifndef TW_CLI_PROFILE_H
#define TW_CLI_PROFILE_H

#include "command.h"
#include "host/session.h"

typedef struct cli_profile {
    const tw_session *session;
    double *seconds;   /* by step, since the profile began */
    uint64_t *firings; /* by step */
    double last;       /* when the latest firing ended; the caller sets it when a run starts */
} cli_profile;

/* Empty; arrays in cli->arena. */
cli_profile cli_profile_new(tw_cli *cli, const tw_session *session);

/* For tw_set_hook, with the profile as its user. */
int cli_profile_hook(void *user, tw_context *context, const tw_firing *firing);

/* A row a step, of what so many runs took on average. */
json_t *cli_json_profile(const cli_profile *profile, uint64_t runs);
void cli_print_profile(const cli_profile *profile, uint64_t runs);

#endif
