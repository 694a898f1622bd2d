/* Attributes that an operator has in some opsets only, where one function reads them all: what is not there
 * in the node's opset is not found, and so refused by name. */
#include <string.h>

#include "import/onnx/onnx.h"

enum { EVER = 1 << 16 };

/* From opset `first` on, and before `behind`. An operator that ends in * stands for all that begin so. */
static const struct {
    const char *op, *attribute;
    int first, behind;
} spans[] = {
    {"AveragePool", "count_include_pad", 7, EVER},
    {"AveragePool", "ceil_mode", 10, EVER},
    {"AveragePool", "dilations", 19, EVER},
    {"Cast*", "saturate", 19, EVER}, /* and CastLike */
    {"Cast*", "round_mode", 24, EVER},
    {"DequantizeLinear", "axis", 13, EVER},
    {"DequantizeLinear", "block_size", 21, EVER},
    {"DequantizeLinear", "output_dtype", 23, EVER},
    {"Dropout", "ratio", 1, 12},
    {"Dropout", "seed", 12, EVER},
    {"GatherND", "batch_dims", 12, EVER},
    {"GRU", "linear_before_reset", 3, EVER},
    {"LpPool", "ceil_mode", 18, EVER},
    {"LpPool", "dilations", 18, EVER},
    {"MaxPool", "storage_order", 8, EVER},
    {"MaxPool", "ceil_mode", 10, EVER},
    {"MaxPool", "dilations", 10, EVER},
    {"QuantizeLinear", "axis", 13, EVER},
    {"QuantizeLinear", "saturate", 19, EVER},
    {"QuantizeLinear", "block_size", 21, EVER},
    {"QuantizeLinear", "output_dtype", 21, EVER},
    {"QuantizeLinear", "precision", 23, EVER},
    {"ReduceSum", "noop_with_empty_axes", 13, EVER},
    {"Reduce*", "noop_with_empty_axes", 18, EVER},
    {"Resize", "antialias", 18, EVER},
    {"Resize", "axes", 18, EVER},
    {"Resize", "keep_aspect_ratio_policy", 18, EVER},
};

static bool is_named(const char *pattern, const char *op)
{
    size_t length = strcspn(pattern, "*");
    return strncmp(pattern, op, length) == 0 && (pattern[length] == '*' || !op[length]);
}

bool tw_onnx_knows(const tw_onnx_node *n, const char *attribute)
{
    if (!n->row || *n->row->domain)
        return true;
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        if (strcmp(spans[i].attribute, attribute) == 0 && is_named(spans[i].op, n->op))
            return n->opset >= spans[i].first && n->opset < spans[i].behind;
    return true;
}
