/* One-node ONNX models as text, with inputs and what they give: the files that scripts/fixtures/onnx_opsets.py
 * and its relatives write (that script's head has the format). */
#ifndef TW_TESTS_ONNX_CASE_H
#define TW_TESTS_ONNX_CASE_H

#include "support/cases.h"
#include "support/onnx_model.h"

enum { TW_ONNX_CASE_MOST = 16 };

typedef struct tw_onnx_case {
    tw_arena *arena;
    const char *title;
    tw_onnx_writer model;
    tw_named in[TW_ONNX_CASE_MOST], out[TW_ONNX_CASE_MOST];
    int in_count, out_count;
    double relative,
        absolute; /* that a real result may be off; a line `slack RELATIVE ABSOLUTE` says it */
} tw_onnx_case;

/* Reads the text of one case, which it cuts up. A text that is none stops the test. */
tw_onnx_case tw_onnx_case_read(tw_arena *arena, char *text);

/* The texts of a file's cases, each from its title ("case " is left out) up to its end. */
typedef struct tw_onnx_case_texts {
    const char **text;
    int count;
} tw_onnx_case_texts;

tw_onnx_case_texts tw_onnx_case_file(tw_arena *arena, const char *path);

#endif
