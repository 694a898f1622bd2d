/* Kernels of back ends under test: all samples that they take, or one node, called band by band. */
#ifndef TW_TESTS_SUPPORT_NATIVE_H
#define TW_TESTS_SUPPORT_NATIVE_H

#include "backends/backend.h"

/* Every sample, and every graph of tests/data/native-samples.txt, of operators that a back end
 * ("cmsis-nn:m4") has kernels for: those that it takes, whole and in random bands, must give the bytes
 * of the portable kernels. The number of operators of which it took one. */
int tw_native_samples(const char *name);

/* Those nodes, of which it may decline some. */
void tw_native_each_sample(const tw_target *target, void (*visit)(tw_node *, tw_arena *, void *),
                           void *user);

/* Operators that it has a kernel for. */
int tw_native_operators(const tw_backend *backend);

enum { TW_NATIVE_OPERANDS = 8, TW_NATIVE_ROOM = 1 << 16 };

/* One node and what a back end makes of it. */
typedef struct tw_native_scene {
    tw_arena *arena;
    tw_node *node;
    tw_lowering lowering;
    tw_tensor tensor[TW_NATIVE_OPERANDS];
    tw_view view[TW_NATIVE_OPERANDS];
    int8_t *x, *y; /* the first rows present of input and output */
    int8_t *scratch, *memory;
} tw_native_scene;

/* The first node of a graph; one that the back end declines ends the test. */
void tw_native_open(tw_native_scene *s, const char *target, const char *text);
/* The same as a plan has it that packs the constants. */
void tw_native_open_packed(tw_native_scene *s, const char *target, const char *text);
void tw_native_close(tw_native_scene *s);

/* Output rows [row, row + rows) of axis 1, from the input rows that they need; s->x is the address of the
 * first of those. */
tw_status tw_native_band_call(tw_native_scene *s, int32_t row, int32_t rows);

/* Text of the node of such a graph. */
#define TW_NATIVE_S8(shape, scale, zero) "s8" shape " quant(scale=" scale ", zero=" zero ")"
#define TW_NATIVE_CONV(Op, x, w, o, y, attributes)                                                 \
    "graph \"g\" {\n  const %x : " TW_NATIVE_S8(                                                   \
        x, "0.05", "-20") " = random 1 -128 128\n"                                                 \
                          "  const %w : " TW_NATIVE_S8(                                            \
                              w, "0.01", "0") " = random 2 -127 128\n"                             \
                                              "  const %b : s32[" o "] = random 3 -4000 4000\n"    \
                                              "  %y : " TW_NATIVE_S8(                              \
                                                  y, "0.15", "5") " = " Op                         \
                                                                  " (%x, %w, %b) " attributes      \
                                                                  "\n  output %y\n}\n"

#endif
