/* Streaming plans in tests: held against the network on a whole clip, run at every position of the window.
 * Every failure stops the test. `what` goes into messages. */
#ifndef TW_TESTS_STREAMS_H
#define TW_TESTS_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "host/session.h"
#include "tilewright/compiler.h"

typedef struct tw_streamed {
    tw_compiled compiled;
    tw_session session;
} tw_streamed;

void tw_stream_require(bool ok, const tw_diag *diag, const char *what);

/* Compile and open; stream null: the clip's network. */
void tw_stream_open(const char *path, const tw_stream_spec *stream, const char *what,
                    tw_streamed *opened);
void tw_stream_close(tw_streamed *opened);

/* Compile what must be refused; the message into `text`. */
tw_code tw_stream_refusal(const char *path, const tw_stream_spec *stream, char *text,
                          unsigned bytes);

/* A graph in text IR as a file, to be unlinked. */
char *tw_stream_write(tw_arena *arena, const char *text);

/* Random elements of the tensor's type: `frames` frames of so many bytes. */
uint8_t *tw_stream_frames(tw_arena *arena, const tw_tensor *tensor, size_t frames, size_t bytes,
                          uint64_t seed);

/* Stream random frames for `runs` runs behind the first that sees a whole clip, and compare outputs
 * with the last rows of what the clip's network gives for the same window: equal to the bit. */
void tw_stream_compare(const char *clip_path, const char *path, const tw_stream_spec *spec,
                       int runs, const char *what);
void tw_stream_compare_text(const char *text, int axis, uint32_t hop, int runs);

#endif
