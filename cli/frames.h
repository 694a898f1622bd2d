/* Frames of a stream for one input: samples of a WAV file, or elements as they lie in a file or pipe. */
#ifndef TW_CLI_FRAMES_H
#define TW_CLI_FRAMES_H

#include <stdio.h>

#include "command.h"
#include "runtime/plan.h"

typedef struct cli_frames {
    FILE *file;
    const char *path;
    const tw_tensor *tensor; /* what a frame is: its dense elements */
    uint8_t *frame;          /* the frame in hand */
    uint32_t bytes, each;    /* of the frame, of an element */
    uint32_t hop;            /* bytes of a frame that are new; those before move up */
    bool is_wave;            /* 16-bit samples, to be converted */
    uint32_t rate;           /* samples a second of a WAV file; else 0 */
    uint64_t left;           /* bytes of a WAV file's data still to come */
    uint64_t dropped;        /* bytes at the end that fill no hop */
    uint8_t ahead[12];       /* bytes read to see what the stream is */
    uint32_t ahead_bytes;
} cli_frames;

/* Open a file, or standard input for "-", of frames like `tensor`, of which `hop` elements at a time are
 * new (0: all of them). A WAV file, told by its content, is 16-bit PCM with one channel; its samples
 * count as -1 to 1 for a float or a quantised input, and as they are for plain int16. Close either way. */
bool cli_frames_open(tw_cli *cli, const char *path, const tw_tensor *tensor, uint64_t hop,
                     cli_frames *frames);
/* Moves on by a hop. *more: whether there was one. */
bool cli_frames_next(tw_cli *cli, cli_frames *frames, bool *more);
void cli_frames_close(cli_frames *frames);

#endif
