/* fuse_qdq: a network quantised in the Q/DQ form (float operators between Dequantize and Quantize)
 * becomes a network of int8 operators.
 *
 * What has no int8 kernel for its scales stays float between its Dequantize and Quantize, and mixed
 * graphs are the rule, not the exception. The int8 operators compute as TFLite's do: a result may
 * differ by one from float arithmetic rounded once. */
#include "normalize/fuse_qdq/qdq.h"

bool tw_pass_fuse_qdq(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    return tw_qdq_signed(graph, diag) && tw_qdq_exchange(graph, diag) &&
           tw_qdq_pairs(graph, diag) && tw_qdq_int8(graph, diag) && tw_qdq_recurrent(graph, diag) &&
           tw_qdq_tidy(graph, diag) && tw_pass_dead(graph, options, diag);
}
