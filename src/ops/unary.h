/* The unary family: what its rows (unary.def) have in common. out[i] = f(x[i]). */
#ifndef TW_OPS_UNARY_H
#define TW_OPS_UNARY_H

#include "ops/attributes.h"

/* A row with one parameter has alpha only, a row without has neither: nothing lies behind. */
typedef struct tw_unary_attributes {
    float alpha, beta;
} tw_unary_attributes;

/* The scalar functions of the rows, in the device's own object code: the int8 tables are computed
 * with the very function that the f32 kernel applies. */
#define TW_UNARY_FUNCTION(symbol) float tw_unary_##symbol(float x, const void *attributes);
#define TW_UNARY(code, Name, symbol, parameters, alpha, beta, low, high, onnx, formula,            \
                 expression)                                                                       \
    TW_UNARY_FUNCTION(symbol)
#define TW_UNARY_INTEGER(code, Name, symbol, parameters, alpha, beta, low, high, onnx, formula,    \
                         expression, integer)                                                      \
    TW_UNARY_FUNCTION(symbol)
#define TW_UNARY_PLAIN(code, Name, symbol, TYPES, RESULT, onnx, formula, expression)
#include "ops/unary.def"

#endif
