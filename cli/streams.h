/* Tensors that go in and come out, over one or several runs of a plan. */
#ifndef TW_CLI_STREAMS_H
#define TW_CLI_STREAMS_H

#include "command.h"
#include "host/session.h"

/* What an input gets: one tensor for every step, or one for each. */
typedef struct cli_stream {
    const uint8_t *data; /* dense; null: nothing is given */
    uint64_t steps;      /* tensors in data */
} cli_stream;

enum { CLI_MAX_STEPS = 1000000 };

typedef struct cli_link {
    uint32_t output, input; /* the output is the input of the next step; zero at the first */
} cli_link;

typedef struct cli_job {
    tw_session *session;
    uint64_t steps;
    cli_stream *inputs; /* one an input */
    const cli_link *links;
    int link_count;
    uint8_t **outputs; /* filled in: one an output, `steps` dense tensors end to end */
    double seconds;    /* filled in: time inside the runs */
    uint64_t silent;   /* filled in: runs that yield nothing yet; their tensors are zeros */
    bool *is_silent;   /* filled in: by step, was it one of them? */
    double *starting;  /* where not null, set to the time at which each run starts */
} cli_job;

/* A job without data for a session; everything in cli->arena. */
cli_job cli_job_new(tw_cli *cli, tw_session *session, uint64_t steps);

/* Fill job->inputs from --input and job->links from --feed. */
bool cli_job_bind(tw_cli *cli, cli_job *job);

/* Numbers in place of inputs that nobody gave: floats in [-1, 1), integers over their range, tokens that come
 * as many as may. */
void cli_job_fill_random(tw_cli *cli, cli_job *job, uint64_t seed);

/* What an input gets at a step: dense. Of a linked one only after the run. */
const uint8_t *cli_job_input(const cli_job *job, uint32_t index, uint64_t step);

/* Does every input have data or a link? Said otherwise. A link without data starts at zero. */
bool cli_job_complete(tw_cli *cli, cli_job *job);

/* Put every input, all of which must have data or a link, where the run of a step reads it. */
void cli_job_set_inputs(const cli_job *job, uint64_t step);

/* Run all steps. Every input must have data or a link. */
bool cli_job_run(tw_cli *cli, cli_job *job);

/* The input or output whose name the text begins with, followed by '=', and what follows; false: none. */
bool cli_find_named(tw_cli *cli, const tw_session *session, bool output, const char *text,
                    uint32_t *index, const char **rest);

/* For each input (or output) the file of `[NAME=]FILE` options, null where there is none. A file
 * without a name goes to the first one in order that has none. */
bool cli_bind_files(tw_cli *cli, tw_option_id option, const tw_session *session, bool output,
                    const char ***files);

/* Read a file of one tensor like `tensor` or of `steps` of them. */
bool cli_read_stream(tw_cli *cli, const char *path, const tw_tensor *tensor, uint64_t steps,
                     cli_stream *stream);

/* The first elements of a dense tensor, and the end of the line. */
void cli_print_values(const tw_tensor *tensor, const uint8_t *data);

/* Write `steps` tensors to .npy (with a leading axis of steps, when there are several) or raw. */
bool cli_write_stream(tw_cli *cli, const char *path, const tw_tensor *tensor, uint64_t steps,
                      const uint8_t *data);

#endif
