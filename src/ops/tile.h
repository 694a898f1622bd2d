/* Tile: copies of the input behind one another on every axis. Of an axis of extent 1, copies are what
 * broadcasting makes. */
#ifndef TW_OPS_TILE_H
#define TW_OPS_TILE_H

#include "ops/attributes.h"

#define TW_TILE_ATTRIBUTES(A, T)                                                                   \
    A(T, INTS, repeats, 0, 0, INT32_MAX, "copies along each axis; empty: one")
TW_ATTRIBUTE_STRUCT(tile, TW_TILE_ATTRIBUTES);

#endif
