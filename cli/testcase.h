/* Tests as folders hold them: a model, what goes in, what must come out. */
#ifndef TW_CLI_TESTCASE_H
#define TW_CLI_TESTCASE_H

#include "command.h"
#include "graph/graph.h"

/* A tensor of a test. */
typedef struct cli_fixture {
    const char *name; /* "" when the test has none */
    tw_shape shape;
    bool any_shape;      /* the test does not say one: `shape` is a vector of as many elements */
    const uint8_t *data; /* null: zero at the first step, then fed from an output */
    uint64_t steps;      /* tensors in data */
    bool constant;       /* the same at every step, by the test's own word */
} cli_fixture;

/* A state kept outside the model: output number `output` of the test is its input number `input`
 * at the next step. */
typedef struct cli_test_link {
    int output, input;
} cli_test_link;

typedef struct cli_testcase {
    const char *name; /* of the data set, for messages */
    uint64_t steps;
    cli_fixture *inputs,
        *outputs; /* an output with null data is not compared; with fewer steps than
                                      the test, its last values are */
    int input_count, output_count;
    cli_test_link *links;
    int link_count;
} cli_testcase;

typedef struct cli_testdir {
    const char *model; /* path */
    cli_testcase *cases;
    int count;
    bool offers; /* inputs may be bound while compiling, where they fix a shape */
} cli_testdir;

bool cli_is_folder(const char *path);
/* A folder with a SavedModel: a model, no test folder. */
bool cli_is_saved_model(const char *path);

/* Read an ONNX test-case folder (model.onnx, test_data_set_N/) or a folder with io.tsv. */
bool cli_testdir_read(tw_cli *cli, const char *path, cli_testdir *dir);

#endif
