/* Models with inputs and expected outputs as text: the files that scripts/fixtures/onnx_*.py and
 * tflite_operators.py write (onnx_text.py has the format). */
#ifndef TW_TESTS_CASES_H
#define TW_TESTS_CASES_H

#include "graph/graph.h"

/* A tensor as a line has it: NAME TYPE[DIMS] = ELEMENTS */
typedef struct tw_named {
    const char *name;
    tw_shape shape;
    void *data;
} tw_named;

/* Reads (and cuts up) the text. A line that is none stops the test; `title` is for that message. */
tw_named tw_named_read(tw_arena *arena, const char *title, char *text);

typedef struct tw_cases_result {
    int passed;
    int refused; /* exit status 3: an operator that is not supported */
    int failed;  /* anything else, told on stderr */
} tw_cases_result;

/* Compile each model of FOLDER/cases.txt, run it whole and with its steps split into random bands, which
 * must not change a bit, and compare. With TW_SUITE_LIST set, refusals are told too. */
tw_cases_result tw_cases_run(const char *folder);

#endif
