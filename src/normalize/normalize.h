/* Normalisation: the graph of an importer in, the same function in the form that quantisation and
 * planning expect out: channels last without transposes inside, constants folded, activations fused
 * into clamps, quantised networks in int8 operators.
 *
 * What may change in the last bits: float results where constants were merged in double (batch
 * normalisation, channel factors) and where a reduction over several axes runs in another order;
 * int8 results of fused operators, which round as TFLite does. Everything else is exact. */
#ifndef TW_NORMALIZE_NORMALIZE_H
#define TW_NORMALIZE_NORMALIZE_H

#include "graph/graph.h"
#include "tilewright/compiler.h"

/* Run every pass of passes.def, the checker after each. options->io_layout says whether graph inputs
 * and outputs may become channels last; options->dump is called after each stage with its name. */
bool tw_normalize(tw_graph *graph, const tw_compile_options *options, tw_diag *diag);

/* The float operators of a normalised graph that stand between quantised tensors, in `arena`. */
const tw_report_float_step *tw_float_steps(tw_graph *graph, tw_arena *arena, int *count);

/* The stages in order, for help texts. */
extern const char *const tw_pass_stages[];
extern const int tw_pass_stage_count;

#endif
