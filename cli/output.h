/* What the program says: errors, warnings, progress, JSON, and text fitted to the terminal. */
#ifndef TW_CLI_OUTPUT_H
#define TW_CLI_OUTPUT_H

#include <stdint.h>

#include "command.h"
#include "tilewright/runtime.h"

/* A warning on standard error; fits tw_diag.warn. */
void cli_print_warning(void *user, const char *text);

/* The end of every run: the error on standard error, and, when wanted, the JSON object with the
 * error in it on standard output. Notices when standard output could not be written. */
void cli_finish(tw_cli *cli);

/* Progress on a terminal, from the second second on. Fits tw_compile_options.progress. */
/* A monotonic clock. */
double cli_seconds(void);

void cli_progress(void *user, const char *stage, double fraction);
/* Wipes the progress line, if there is one. */
void cli_progress_end(void);

/* JSON text that is valid whatever bytes a name holds. */
json_t *cli_json_text(const char *text);
json_t *cli_json_shape(int rank, const int32_t *dim);

/* What standard output is. */
typedef struct cli_terminal {
    bool is_terminal; /* else a file or pipe: no colours, plain characters */
    bool unicode, colour;
    int width; /* columns */
} cli_terminal;
cli_terminal cli_terminal_of_stdout(void);

/* The text as it may be shown on a terminal: without control characters, and from the end where it is
 * longer than the room. */
enum { CLI_VISIBLE = 128 };
const char *cli_visible(const char *text, char room[CLI_VISIBLE]);

/* The same in at most `width` bytes (3 to CLI_VISIBLE): the end of what is longer, behind "..". */
const char *cli_short(const char *text, int width, char room[CLI_VISIBLE]);

/* "1,234,567"; text holds at least 32 bytes. */
const char *cli_grouped(uint64_t number, char *text);
/* "1x3x32x32", "scalar" for rank 0; text holds at least 80 bytes. */
const char *cli_shape_text(int rank, const int32_t *dim, char *text);

#endif
