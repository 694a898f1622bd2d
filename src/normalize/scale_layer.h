/* Channel factors and terms into the weights and bias of a layer. */
#ifndef TW_NORMALIZE_SCALE_LAYER_H
#define TW_NORMALIZE_SCALE_LAYER_H

#include "normalize/pass.h"

/* Could y * k + t of the layer's result y go into its constants, if nothing else reads y? With
 * factors the weights must be float constants; a term alone asks for a constant or absent bias. */
bool tw_layer_takes_term(const tw_node *layer);
bool tw_layer_takes_factor(const tw_node *layer);

/* Output channels of a weighted layer. */
int32_t tw_layer_channels(const tw_node *layer);

/* New constants weights * k and bias * k + t (k null: 1), `channels` of each, computed in double and
 * rounded once. */
void tw_scale_layer(tw_graph *graph, tw_node *layer, const double *k, const double *t);

#endif
