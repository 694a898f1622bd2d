/* What both halves of the transposed convolution know: tables behind those of product.h. */
#ifndef TW_BACKENDS_CMSIS_NN_CONV_TRANSPOSE_H
#define TW_BACKENDS_CMSIS_NN_CONV_TRANSPOSE_H

enum {
    TW_CMSIS_NN_BLOB_TURNED_EXTENTS = 3, /* int32: rows and columns of the kernel */
    TW_CMSIS_NN_BLOB_TURNED = 4          /* the weights, each output's kernel turned round */
};

#endif
