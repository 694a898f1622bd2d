/* Weights of convolutions as the operators want them, for formats that have channels first: outputs (O) and
 * input channels (C) in front of the kernel's axes (k..). All return null where the builder has failed. */
#ifndef TW_IMPORT_WEIGHT_H
#define TW_IMPORT_WEIGHT_H

#include "import/build.h"

/* [O, C/group, k..] to [O, k.., C/group]: Conv. */
tw_value *tw_build_conv_weight(tw_builder *b, tw_value *w);
/* [O, 1, k..] to [k.., O]: DepthwiseConv. */
tw_value *tw_build_depthwise_weight(tw_builder *b, tw_value *w);
/* [C, O/group, k..] to [O, k.., C/group]: ConvTranspose. */
tw_value *tw_build_transposed_weight(tw_builder *b, tw_value *w, int64_t group);

#endif
