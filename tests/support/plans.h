/* Plans for tests: networks in text IR, compiled through the whole pipeline. */
#ifndef TW_TESTS_SUPPORT_PLANS_H
#define TW_TESTS_SUPPORT_PLANS_H

#include <stddef.h>

#include "support/onnx_model.h"
#include "tilewright/compiler.h"

/* Compile a text IR network (written to a temporary file that is removed again). Stops the test
 * with the compiler's message on failure. Free with tw_compiled_free. */
void tw_test_compile(const char *text, const tw_compile_options *options, tw_compiled *compiled);

/* The same, reporting failure to the caller. */
bool tw_test_try_compile(const char *text, const tw_compile_options *options, tw_compiled *compiled,
                         tw_diag *diag);

/* The same for a model of any format. */
bool tw_test_try_compile_bytes(const void *model, size_t bytes, const tw_compile_options *options,
                               tw_compiled *compiled, tw_diag *diag);

/* The same for a model under construction, which this ends; what diag said before is gone. */
bool tw_test_try_compile_onnx(tw_onnx_writer *w, const tw_compile_options *options,
                              tw_compiled *compiled, tw_diag *diag);

/* Small networks that together use every section kind of a plan. Null-terminated. */
extern const char *const tw_test_networks[];

/* A repeatable generator (SplitMix64). */
uint64_t tw_test_random(uint64_t *state);

/* Fill a tensor with random elements of its type: floats in [-2, 2), integers over their range. */
void tw_test_fill(const tw_tensor *tensor, void *data, uint64_t *state);

#endif
