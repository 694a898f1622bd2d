/* Rolling execution of one segment, as a problem of rows alone: how many rows of each tensor must be
 * kept, and what a run does with them. Mirrors the rule of runtime/run.c; no bytes, no operators. */
#ifndef TW_PLAN_ROLL_H
#define TW_PLAN_ROLL_H

#include "base/arena.h"
#include "ops/op.h"

/* One step reading one tensor by rows. By columns, everything here counts pixels, row after row. */
typedef struct tw_roll_read {
    int stream;     /* of the segment, or -1: resident, all of its rows are there */
    int32_t extent; /* its rows */
    tw_rowmap map;
    tw_rowmap column; /* by columns */
    int32_t width;    /* of the tensor, by columns */
    int32_t out;      /* of what the step makes, by columns; 0: rows are counted */
} tw_roll_read;

typedef struct tw_roll_step {
    tw_roll_read *reads;
    int read_count;
    int *writes; /* streams */
    int write_count;
    int32_t extent; /* rows it makes; where it accumulates, rows it takes */
    int32_t band;   /* at most so many a firing */
    int32_t width;  /* by columns: no firing goes beyond a multiple of it; else 1 */
    bool accumulates;
} tw_roll_step;

/* Who reads a stream: a step, and by which of its reads. */
typedef struct tw_roll_reader {
    int step;
    const tw_roll_read *read;
} tw_roll_reader;

/* A tensor made in the segment, or fed to it from outside. */
typedef struct tw_roll_stream {
    int producer; /* step, or -1: the source */
    int32_t extent;
    int64_t row_bytes;
    int32_t width; /* rows of a source come by so many; else 1 */
    bool whole;    /* read after the segment too: every row stays */
    int over;      /* the stream whose rows its own replace in place, or -1 */
    bool exact;    /* as many rows as one firing of its reader needs: no fewer will do */
    int32_t rows;  /* the answer: rows kept. Of a stream that lies over another: as that one */
    /* filled in by tw_roll_index */
    const tw_roll_reader *readers; /* ascending by step */
    int reader_count;
    int leader; /* the stream whose window this one lives in: itself, or what it lies over at last */
    int above;  /* the stream that lies over this one, or -1 */
} tw_roll_stream;

/* A resident tensor that nothing needs after the segment, and the stream whose rows may take the place
 * of its own: all of the stream is written below the rows of the tensor that are still needed. */
typedef struct tw_roll_bed {
    tw_roll_reader *readers; /* of the tensor */
    int reader_count;
    int32_t extent;
    int64_t row_bytes;
    int stream; /* -1: there is none */
} tw_roll_bed;

/* Told of every firing of a simulated run: rows made before it (or taken), rows it makes (or takes). */
typedef void (*tw_roll_fired)(void *user, int step, int32_t row, int32_t rows);

typedef struct tw_roll {
    tw_roll_step *steps;
    int step_count;
    tw_roll_stream *streams;
    int stream_count;
    int32_t source_band; /* rows by which a source advances */
    bool columns;        /* pixels are counted, not rows */
    bool quick;          /* windows that are exact are not tightened further */
    bool keeps_calls;    /* none is tightened so far that there would be more firings */
    tw_roll_bed bed;
    tw_roll_fired fired; /* or null */
    void *fired_user;
} tw_roll;

/* What a run did. */
typedef struct tw_roll_run {
    int64_t firings;     /* kernel calls */
    int64_t moved_bytes; /* to slide windows */
    int64_t
        lead; /* bytes by which the stream in the bed must begin before the tensor it replaces */
} tw_roll_run;

/* Fill in what the streams know of their readers and of each other; call it once, when the rest is
 * there. */
void tw_roll_index(tw_roll *roll, tw_arena *arena);

/* The window of one stream that is not whole and lies over nothing (plan/windows.c): rows kept, by a
 * closed form. Exact for a stream with one reader that nothing lies over; where paths meet again the
 * lesser of what two plain schedules need, everything as late and as soon as possible. */
int32_t tw_roll_window(const tw_roll *roll, int stream, bool *exact);

/* Run by the runtime's rule with the windows in stream.rows; false: it comes to a stop. `held`, where
 * not null, receives the most rows each stream held. */
bool tw_roll_simulate(const tw_roll *roll, tw_roll_run *run, int32_t *held, tw_arena *arena);

/* Make the windows valid, then as small as they go, the costly ones first. False: the segment cannot
 * roll at all. */
bool tw_roll_tighten(tw_roll *roll, tw_roll_run *run, tw_arena *arena);

/* Bytes of all windows; a stream over another has none of its own. */
int64_t tw_roll_bytes(const tw_roll *roll);

#endif
