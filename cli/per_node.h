/* Where do two computations of a model part? The model is compiled up to each of its tensors in turn, so
 * that each is computed by the very operators that the whole model has before it. */
#ifndef TW_CLI_PER_NODE_H
#define TW_CLI_PER_NODE_H

#include "graph/graph.h"
#include "host/compare.h"
#include "model.h"
#include "streams.h"

/* The first tensor that differs, in the order of computation. */
typedef struct cli_parting {
    uint64_t tensors; /* compared */
    bool found;
    const char *tensor, *node, *op;
    int64_t elements; /* it has so many */
    char place[96];   /* of the first that differs, "[0,3,1]" */
    tw_difference difference;
} cli_parting;

/* The file of a tensor in a folder: NAME.npy, .bin or .pb, where characters of the name other than
 * letters, digits, '.', '-' and '_' are written '_'. Null when there is none. */
const char *cli_tensor_file(tw_cli *cli, const char *folder, const char *name);

/* "[1,5,3]" of a flat index. */
void cli_place(const tw_shape *shape, int64_t index, char *text, size_t bytes);

/* job: the whole model's, bound to its inputs, one step. The expected tensors are files of the folder
 * `against`, or what that model computes. Everything is compiled for plenty of memory. */
bool cli_verify_per_node(tw_cli *cli, const cli_job *job, const char *against,
                         const tw_tolerance *tolerance, cli_parting *parting);

#endif
