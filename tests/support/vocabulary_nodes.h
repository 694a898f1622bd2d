/* Cases of a published vocabulary, which are in the text IR, as ONNX models of nodes of its domain: the same
 * names, attributes and values in the form of onnx_case.h. */
#ifndef TW_TESTS_VOCABULARY_NODES_H
#define TW_TESTS_VOCABULARY_NODES_H

#include "support/onnx_case.h"

/* Of a file of src/import/foreign/VOCABULARY: every case without scales, which ONNX's nodes have none of. */
tw_onnx_case_texts tw_vocabulary_nodes(tw_arena *arena, const char *path, const char *vocabulary);

#endif
