/* Random networks of layers as text IR: convolutions, pooling, element-wise operators, residual and dense
 * connections, squeeze and excite, new branches, fully connected heads; one- and two-dimensional, int8 and float. */
#ifndef TW_TESTS_SUPPORT_LAYERS_H
#define TW_TESTS_SUPPORT_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

enum { TW_LAYERS_TEXT = 1 << 16, TW_LAYERS_TENSORS = 64 };

/* A network under construction: text IR and the shapes made so far. */
typedef struct tw_layers {
    char text[TW_LAYERS_TEXT];
    int length, count;
    int h[TW_LAYERS_TENSORS], w[TW_LAYERS_TENSORS], c[TW_LAYERS_TENSORS];
    bool s8, flat; /* flat: one-dimensional, over time */
    uint64_t random;
} tw_layers;

/* The network of a seed: its text is in `text`, its input %t0, its last output the last it names. */
void tw_layers_make(tw_layers *m, uint64_t seed);

/* For networks of a test's own: append text, a tensor's type, the beginning of a new tensor's line (its
 * number is returned). */
void tw_layers_say(tw_layers *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tw_layers_type(tw_layers *m, int h, int w, int c);
int tw_layers_begin(tw_layers *m, int h, int w, int c);

#endif
