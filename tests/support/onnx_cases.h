/* Models with inputs and expected outputs as text: the files that scripts/fixtures/onnx_*.py write
 * (onnx_text.py has the format). */
#ifndef TW_TESTS_ONNX_CASES_H
#define TW_TESTS_ONNX_CASES_H

#include "graph/graph.h"

/* A tensor as a line has it: NAME TYPE[DIMS] = ELEMENTS */
typedef struct tw_named {
    const char *name;
    tw_shape shape;
    void *data;
} tw_named;

/* Reads (and cuts up) the text. A line that is none stops the test; `title` is for that message. */
tw_named tw_named_read(tw_arena *arena, const char *title, char *text);

/* Compile each model of FOLDER/cases.txt, run it whole and with its steps split into random bands, which
 * must not change a bit, and compare. What differs is told on stderr; the number of models that do is
 * returned, the number of all in *count. */
int tw_onnx_cases_run(const char *folder, int *count);

#endif
