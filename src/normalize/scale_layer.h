/* Channel factors and terms into the weights and bias of a layer. */
#ifndef TW_NORMALIZE_SCALE_LAYER_H
#define TW_NORMALIZE_SCALE_LAYER_H

#include "normalize/pass.h"

/* Could y + t of the layer's result y go into its bias, if nothing else reads y? */
bool tw_layer_takes_term(const tw_node *layer);

/* And y * k into its weights, k[c] for output channel c: float constants, or the Dequantize of int8
 * ones with zero points of 0, whose scales take the factor and whose signs follow it. */
bool tw_layer_takes_factor(const tw_node *layer, const double *k);

/* Output channels of a weighted layer. */
int32_t tw_layer_channels(const tw_node *layer);

/* The weights times k (null: 1), the bias times k plus t: new constants, computed in double and
 * rounded once. */
bool tw_scale_layer(tw_graph *graph, tw_node *layer, const double *k, const double *t,
                    tw_diag *diag);

#endif
