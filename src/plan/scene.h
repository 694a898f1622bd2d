/* What the segment search knows of the steps: who reads what, how large, how long. */
#ifndef TW_PLAN_SCENE_H
#define TW_PLAN_SCENE_H

#include "plan/roll.h"
#include "plan/schedule.h"

typedef struct tw_scene_value {
    const tw_value *value; /* a root: what owns the bytes */
    int64_t bytes;
    int maker;       /* step, or -1: there from the start */
    int first, last; /* steps that read it or a view of it; last is step_count: an output */
    bool fed;        /* an input that comes by rows */
    bool drained;    /* an output that goes by rows: `last` is its last reader, or its maker */
} tw_scene_value;

typedef struct tw_scene_read {
    int value; /* scene value, or -1: a constant, a state, or absent */
    bool view; /* read through a view: its rows are others */
} tw_scene_read;

/* A window as the closed form has it: of a value, with all that lies over it, read last at step `end`
 * in bands of `band`. Nothing else in a segment matters to it. */
typedef struct tw_scene_window {
    int end;
    int32_t band, rows;
    bool exact;
    struct tw_scene_window *next;
} tw_scene_window;

typedef struct tw_scene {
    tw_schedule *schedule;
    tw_arena *arena;
    tw_scene_value *values;
    int value_count;
    tw_scene_read **reads; /* by step, by input */
    int **makes;           /* by step, by output: scene value, or -1 */
    int *first_make;       /* by step: scene values made before it; makes are numbered in order */
    int64_t *base;         /* by step: bytes of values made before it and read at it or later */
    bool *alone;           /* by step: cannot share a segment */
    bool *cut;             /* by step: no segment reaches across its beginning */
    bool *banded;          /* by step: yet it may run in bands, by itself */
    bool apart;            /* what joining may save is not counted on */
    tw_scene_window **windows; /* by scene value: those asked for so far */
} tw_scene;

void tw_scene_build(tw_scene *scene, tw_schedule *schedule, tw_arena *arena);

/* Rows of steps [from, to) in bands of `band`; a step that has no bands fires once. `band` below 0: by
 * columns, a row in -band parts. False: these steps cannot roll together. `of`, where
 * not null, receives the scene value of each stream. */
bool tw_scene_roll(const tw_scene *scene, int from, int to, int32_t band, tw_roll *roll, int *of,
                   tw_arena *arena);

/* The resident value that dies in these steps and the stream that may take its place (roll->bed), as large
 * as they can be. Returns the scene value, or -1. */
int tw_scene_bed(const tw_scene *scene, int from, int to, tw_roll *roll, tw_arena *arena);

/* Bytes that a bed saves when the stream in it begins `lead` bytes before it. */
int64_t tw_scene_bed_saves(const tw_scene *scene, int bed, const tw_roll *roll, int64_t lead);

/* Windows of these rows by closed forms; `of` as tw_scene_roll left it. True: all exact. */
bool tw_scene_estimate(const tw_scene *scene, int from, int32_t band, tw_roll *roll, const int *of);

/* Does the step read an input that comes by rows, or make an output that goes by rows? Then it rolls,
 * be it alone. */
bool tw_scene_is_by_rows(const tw_scene *scene, int step);

/* Bytes while steps [from, to) run with these windows; roll null: one step, whole. */
int64_t tw_scene_bytes(const tw_scene *scene, int from, int to, const tw_roll *roll);

#endif
