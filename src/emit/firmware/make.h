/* What the parts of the firmware writer share: the plan being written and the files so far. */
#ifndef TW_EMIT_FIRMWARE_MAKE_H
#define TW_EMIT_FIRMWARE_MAKE_H

#include <stdio.h>

#include "emit/firmware/firmware.h"
#include "emit/firmware/tree.h"

/* An input or output as the C calls it. */
typedef struct tw_port {
    const tw_tensor *tensor;
    const char *title;   /* the model's name, fit for a comment */
    const char *c, *big; /* "image", "IMAGE": no two inputs and no two outputs alike */
    int32_t row_bytes;   /* of an input that is taken or an output that is given by rows, else 0 */
} tw_port;

typedef struct tw_making {
    tw_arena *arena;
    const tw_session *session;
    const tw_firmware_options *options;
    const char *name, *big; /* "digits", "DIGITS" */
    const char *title;      /* of the model, fit for a comment */
    tw_port *inputs, *outputs;
    bool is_fed, is_drained;    /* some input is taken, some output is given by rows */
    const char *const *kernels; /* C names, in the plan's order */
    uint32_t kernel_count;
    tw_tree *tree;
    tw_diag *diag;
} tw_making;

/* The regions a plan can use, in order of TW_REGION_*: what C calls them. */
typedef struct tw_region_words {
    const char *argument, *macro, *meaning;
} tw_region_words;
extern const tw_region_words tw_firmware_regions[TW_MAX_REGIONS];

/* A file that is being written: fprintf to `file`, then tw_text_end puts it into the tree. */
typedef struct tw_text {
    FILE *file;
    char *data;
    size_t bytes;
} tw_text;
void tw_text_begin(tw_text *text);
void tw_text_end(tw_text *text, const tw_making *m, const char *path);

/* names.c */
const char *tw_comment_text(tw_arena *arena, const char *text);
tw_port *tw_name_ports(const tw_making *m, bool outputs);
char *tw_word_of(tw_arena *arena, const char *text); /* small letters, digits, underscores, or "" */
const char *tw_in_capitals(tw_arena *arena, const char *text);

/* sources.c: the runtime and the kernels, with every header they include. False: a kernel's source is
 * not known. */
bool tw_add_sources(const tw_making *m, const char *const *kernels, uint32_t kernel_count,
                    const char ***sources, int *count);
/* The parts of the runtime that a plan needs, in the order of tw_parts: names of records, null for those
 * that it does not need. */
enum { TW_FIRMWARE_PARTS = 4 };
void tw_firmware_parts(const tw_model *model, const char **part);
/* The header that declares the plan's kernels. */
const char *tw_kernels_header(const tw_making *m);
/* The C names of the plan's kernels. */
bool tw_kernel_names(const tw_making *m, const char ***names, uint32_t *count);

/* tensors.c: how C spells types and numbers. */
const char *tw_c_type(uint32_t dtype);
const char *tw_c_dtype(uint32_t dtype); /* "TW_S8" */
const char *tw_c_float(tw_arena *arena, float value);
const char *tw_shape_words(tw_arena *arena, const tw_tensor *tensor); /* "f32 1x32x32x1" */
void tw_c_words(FILE *file, const void *data, size_t bytes);          /* an array's elements */
uint32_t tw_word_count(size_t bytes); /* of such an array, at least 1 */
/* An array NAME_SUFFIX of constant words, aligned to 16 bytes. */
void tw_write_word_array(const tw_making *m, FILE *file, const char *suffix, const void *data,
                         uint32_t bytes);

/* header.c: NAME.h, and what its sizes are. */
void tw_write_header(const tw_making *m);
uint32_t tw_firmware_region_bytes(const tw_making *m,
                                  uint32_t region); /* with the alignment asked for */
uint32_t tw_firmware_ram_bytes(const tw_making *m);
bool tw_has_array_type(const tw_port *port);
/* ", void *arena, uint32_t arena_bytes", for each memory used. */
void tw_write_memory_parameters(const tw_making *m, FILE *file);

/* Of every size: it is as it was when this was written. */
void tw_write_assertions(const tw_making *m, FILE *file);

/* library.c */
void tw_write_library(const tw_making *m);
/* direct.c */
bool tw_write_direct(const tw_making *m);
/* app.c */
void tw_write_app(const tw_making *m);
/* project.c */
void tw_write_project(const tw_making *m);

#endif
