/* Streaming conversion. In: a normalised graph that computes on a whole clip, and which axis of which
 * input is time. Out: the graph of the same operators that takes `hop` new frames a run, keeps in states
 * what later runs need of earlier ones, and yields what the clip's graph yields on the latest window.
 *
 * Every value that has a time axis is a sequence of rows, of which a run computes those that are new. An
 * operator that looks back reads a window of them: a History, the state of its operand's last rows. Where
 * a result has no time axis (a pooling over time, a flattened clip), its operator reads as many rows as
 * the clip has, and what follows is as it was. Numbers are the clip network's because the kernels, their
 * operands and the order of their sums are. */
#ifndef TW_STREAM_STREAM_H
#define TW_STREAM_STREAM_H

#include "graph/graph.h"
#include "tilewright/compiler.h"

/* Does nothing where the options name no stream. Fails with TW_CODE_UNSUPPORTED, naming every operator
 * in the way by the word that the model's file has for it. */
bool tw_stream(tw_graph *graph, const tw_compile_options *options, tw_report_stream *report,
               tw_diag *diag);

#endif
