/* IntegerMatMul: matrix product of plain integers. */
#ifndef TW_OPS_INTEGER_MATMUL_H
#define TW_OPS_INTEGER_MATMUL_H

/* Most products to a sum: 33025 * 255 * 255 is below 2^31. */
#define TW_INTEGER_MATMUL_DEEPEST 33025

#endif
