/* The parts of the TensorFlow Lite schema (version 3) that are read: numbers of fields, enumerations
 * and option tables. Facts of the format; what they mean stands where they are used. */
#ifndef TW_IMPORT_TFLITE_SCHEMA_H
#define TW_IMPORT_TFLITE_SCHEMA_H

#include "import/tflite/flatbuffer.h"

#define TW_TFL_IDENTIFIER "TFL3"
#define TW_TFL_VERSION 3u

/* TW_FIELD(Tensor, shape) is the field, for the reader's functions. */
#define TW_FIELD(table, name) ((tw_fb_field){TW_TFL_##table##_##name, #name})

/* table, field number, name. */
/* clang-format off */
#define TW_TFL_FIELDS(F)                                                                           \
    F(Model, 0, version) F(Model, 1, operator_codes) F(Model, 2, subgraphs)                        \
    F(Model, 3, description) F(Model, 4, buffers) F(Model, 6, metadata)                            \
    F(Model, 7, signature_defs) F(Model, 9, external_buffers)                                      \
    F(OperatorCode, 0, deprecated_builtin_code) F(OperatorCode, 1, custom_code)                    \
    F(OperatorCode, 2, version) F(OperatorCode, 3, builtin_code)                                   \
    F(SubGraph, 0, tensors) F(SubGraph, 1, inputs) F(SubGraph, 2, outputs)                         \
    F(SubGraph, 3, operators) F(SubGraph, 4, name)                                                 \
    F(Tensor, 0, shape) F(Tensor, 1, type) F(Tensor, 2, buffer) F(Tensor, 3, name)                 \
    F(Tensor, 4, quantization) F(Tensor, 5, is_variable) F(Tensor, 6, sparsity)                    \
    F(Tensor, 7, shape_signature) F(Tensor, 8, has_rank) F(Tensor, 10, external_buffer)            \
    F(Quantization, 2, scale) F(Quantization, 3, zero_point) F(Quantization, 4, details_type)      \
    F(Quantization, 6, quantized_dimension)                                                        \
    F(Sparsity, 0, traversal_order) F(Sparsity, 1, block_map) F(Sparsity, 2, dim_metadata)         \
    F(Dimension, 0, format) F(Dimension, 1, dense_size)                                            \
    F(Dimension, 2, array_segments_type) F(Dimension, 3, array_segments)                           \
    F(Dimension, 4, array_indices_type) F(Dimension, 5, array_indices)                             \
    F(IndexVector, 0, values)                                                                      \
    F(Operator, 0, opcode_index) F(Operator, 1, inputs) F(Operator, 2, outputs)                    \
    F(Operator, 3, builtin_options_type) F(Operator, 4, builtin_options)                           \
    F(Operator, 5, custom_options) F(Operator, 8, intermediates)                                   \
    F(Operator, 9, large_custom_options_offset) F(Operator, 10, large_custom_options_size)         \
    F(Operator, 11, builtin_options_2_type) F(Operator, 12, builtin_options_2)                     \
    F(Buffer, 0, data) F(Buffer, 1, offset) F(Buffer, 2, size)                                     \
    F(Metadata, 0, name) F(Metadata, 1, buffer)                                                    \
    F(SignatureDef, 0, inputs) F(SignatureDef, 1, outputs) F(SignatureDef, 2, signature_key)       \
    F(SignatureDef, 4, subgraph_index)                                                             \
    F(TensorMap, 0, name) F(TensorMap, 1, tensor_index)                                            \
    TW_TFL_OPTION_FIELDS(F)

/* Option tables that have fields; their numbers in the union are below. */
#define TW_TFL_OPTION_FIELDS(F)                                                                    \
    F(Conv2D, 0, padding) F(Conv2D, 1, stride_w) F(Conv2D, 2, stride_h)                            \
    F(Conv2D, 3, fused_activation_function) F(Conv2D, 4, dilation_w_factor)                        \
    F(Conv2D, 5, dilation_h_factor) F(Conv2D, 6, quantized_bias_type)                              \
    F(DepthwiseConv2D, 0, padding) F(DepthwiseConv2D, 1, stride_w)                                 \
    F(DepthwiseConv2D, 2, stride_h) F(DepthwiseConv2D, 3, depth_multiplier)                        \
    F(DepthwiseConv2D, 4, fused_activation_function) F(DepthwiseConv2D, 5, dilation_w_factor)      \
    F(DepthwiseConv2D, 6, dilation_h_factor)                                                       \
    F(Pool2D, 0, padding) F(Pool2D, 1, stride_w) F(Pool2D, 2, stride_h)                            \
    F(Pool2D, 3, filter_width) F(Pool2D, 4, filter_height)                                         \
    F(Pool2D, 5, fused_activation_function)                                                        \
    F(SVDF, 0, rank) F(SVDF, 1, fused_activation_function)                                         \
    F(SVDF, 2, asymmetric_quantize_inputs)                                                         \
    F(FullyConnected, 0, fused_activation_function) F(FullyConnected, 1, weights_format)           \
    F(FullyConnected, 2, keep_num_dims) F(FullyConnected, 3, asymmetric_quantize_inputs)           \
    F(Softmax, 0, beta)                                                                            \
    F(Concatenation, 0, axis) F(Concatenation, 1, fused_activation_function)                       \
    F(Add, 0, fused_activation_function) F(Add, 1, pot_scale_int16)                                \
    F(Sub, 0, fused_activation_function) F(Sub, 1, pot_scale_int16)                                \
    F(Mul, 0, fused_activation_function)                                                           \
    F(Div, 0, fused_activation_function)                                                           \
    F(LocalResponseNorm, 0, radius) F(LocalResponseNorm, 1, bias)                                  \
    F(LocalResponseNorm, 2, alpha) F(LocalResponseNorm, 3, beta)                                   \
    F(L2Norm, 0, fused_activation_function)                                                        \
    F(SparsityParameters, 0, traversal_order) F(SparsityParameters, 1, block_map)                  \
    F(SparsityParameters, 2, dim_metadata)                                                         \
    F(DimensionMetadata, 0, format) F(DimensionMetadata, 1, dense_size)                            \
    F(DimensionMetadata, 2, array_segments_type) F(DimensionMetadata, 3, array_segments)           \
    F(DimensionMetadata, 4, array_indices_type) F(DimensionMetadata, 5, array_indices)             \
    F(SparseVector, 0, values)                                                                     \
    F(RNN, 0, fused_activation_function) F(RNN, 1, asymmetric_quantize_inputs)                     \
    F(SequenceRNN, 0, time_major) F(SequenceRNN, 1, fused_activation_function)                     \
    F(SequenceRNN, 2, asymmetric_quantize_inputs)                                                  \
    F(BidirectionalRNN, 0, time_major) F(BidirectionalRNN, 1, fused_activation_function)           \
    F(BidirectionalRNN, 2, merge_outputs) F(BidirectionalRNN, 3, asymmetric_quantize_inputs)       \
    F(LSTM, 0, fused_activation_function) F(LSTM, 1, cell_clip) F(LSTM, 2, proj_clip)              \
    F(LSTM, 3, kernel_type) F(LSTM, 4, asymmetric_quantize_inputs)                                 \
    F(SequenceLSTM, 0, fused_activation_function) F(SequenceLSTM, 1, cell_clip)                    \
    F(SequenceLSTM, 2, proj_clip) F(SequenceLSTM, 3, time_major)                                   \
    F(SequenceLSTM, 4, asymmetric_quantize_inputs) F(SequenceLSTM, 5, diagonal_recurrent_tensors)  \
    F(BidirectionalLSTM, 0, fused_activation_function) F(BidirectionalLSTM, 1, cell_clip)          \
    F(BidirectionalLSTM, 2, proj_clip) F(BidirectionalLSTM, 3, merge_outputs)                      \
    F(BidirectionalLSTM, 4, time_major) F(BidirectionalLSTM, 5, asymmetric_quantize_inputs)        \
    F(ResizeBilinear, 2, align_corners) F(ResizeBilinear, 3, half_pixel_centers)                   \
    F(ResizeNearest, 0, align_corners) F(ResizeNearest, 1, half_pixel_centers)                     \
    F(Reshape, 0, new_shape)                                                                       \
    F(SpaceToDepth, 0, block_size) F(DepthToSpace, 0, block_size)                                  \
    F(Gather, 0, axis) F(Gather, 1, batch_dims)                                                    \
    F(Reducer, 0, keep_dims)                                                                       \
    F(Squeeze, 0, squeeze_dims)                                                                    \
    F(Split, 0, num_splits) F(SplitV, 0, num_splits)                                               \
    F(StridedSlice, 0, begin_mask) F(StridedSlice, 1, end_mask) F(StridedSlice, 2, ellipsis_mask)  \
    F(StridedSlice, 3, new_axis_mask) F(StridedSlice, 4, shrink_axis_mask)                         \
    F(StridedSlice, 5, offset)                                                                     \
    F(Cast, 0, in_data_type) F(Cast, 1, out_data_type)                                             \
    F(ArgMax, 0, output_type) F(ArgMin, 0, output_type) F(Shape, 0, out_type)                      \
    F(TransposeConv, 0, padding) F(TransposeConv, 1, stride_w) F(TransposeConv, 2, stride_h)       \
    F(TransposeConv, 3, fused_activation_function)                                                 \
    F(Pack, 0, values_count) F(Pack, 1, axis) F(Unpack, 0, num) F(Unpack, 1, axis)                 \
    F(OneHot, 0, axis) F(LeakyRelu, 0, alpha) F(MirrorPad, 0, mode)                                \
    F(ReverseSequence, 0, seq_dim) F(ReverseSequence, 1, batch_dim)                                \
    F(If, 0, then_subgraph_index) F(If, 1, else_subgraph_index)                                    \
    F(CallOnce, 0, init_subgraph_index)                                                            \
    F(While, 0, cond_subgraph_index) F(While, 1, body_subgraph_index)                              \
    F(BatchMatMul, 0, adj_x) F(BatchMatMul, 1, adj_y)                                              \
    F(BatchMatMul, 2, asymmetric_quantize_inputs)                                                  \
    F(Cumsum, 0, exclusive) F(Cumsum, 1, reverse)                                                  \
    F(Conv3D, 0, padding) F(Conv3D, 1, stride_d) F(Conv3D, 2, stride_w) F(Conv3D, 3, stride_h)     \
    F(Conv3D, 4, fused_activation_function) F(Conv3D, 5, dilation_d_factor)                        \
    F(Conv3D, 6, dilation_w_factor) F(Conv3D, 7, dilation_h_factor)                                \
    F(VarHandle, 0, container) F(VarHandle, 1, shared_name)                                        \
    F(Gelu, 0, approximate)

enum {
#define TW_TFL_FIELD_ENUM(table, id, name) TW_TFL_##table##_##name = id,
    TW_TFL_FIELDS(TW_TFL_FIELD_ENUM)
#undef TW_TFL_FIELD_ENUM
};

/* The numbers of option tables in the union of options. 0: an operator without options, or one that
 * has an empty table. */
enum {
    TW_TFL_OPTIONS_none = 0, TW_TFL_OPTIONS_Conv2D = 1, TW_TFL_OPTIONS_DepthwiseConv2D = 2,
    TW_TFL_OPTIONS_Pool2D = 5, TW_TFL_OPTIONS_SVDF = 6, TW_TFL_OPTIONS_RNN = 7,
    TW_TFL_OPTIONS_SequenceRNN = 31, TW_TFL_OPTIONS_BidirectionalRNN = 70, TW_TFL_OPTIONS_FullyConnected = 8,
    TW_TFL_OPTIONS_Softmax = 9, TW_TFL_OPTIONS_Concatenation = 10, TW_TFL_OPTIONS_Add = 11,
    TW_TFL_OPTIONS_L2Norm = 12, TW_TFL_OPTIONS_LocalResponseNorm = 13, TW_TFL_OPTIONS_LSTM = 14,
    TW_TFL_OPTIONS_ResizeBilinear = 15,
    TW_TFL_OPTIONS_Reshape = 17, TW_TFL_OPTIONS_SpaceToDepth = 19, TW_TFL_OPTIONS_Mul = 21,
    TW_TFL_OPTIONS_Gather = 23, TW_TFL_OPTIONS_Reducer = 27, TW_TFL_OPTIONS_Sub = 28,
    TW_TFL_OPTIONS_Div = 29, TW_TFL_OPTIONS_Squeeze = 30, TW_TFL_OPTIONS_StridedSlice = 32,
    TW_TFL_OPTIONS_Split = 35, TW_TFL_OPTIONS_Cast = 37, TW_TFL_OPTIONS_ArgMax = 40,
    TW_TFL_OPTIONS_TransposeConv = 49, TW_TFL_OPTIONS_Shape = 55, TW_TFL_OPTIONS_ArgMin = 57,
    TW_TFL_OPTIONS_Pack = 59, TW_TFL_OPTIONS_OneHot = 61, TW_TFL_OPTIONS_Unpack = 64,
    TW_TFL_OPTIONS_BidirectionalLSTM = 69, TW_TFL_OPTIONS_SequenceLSTM = 71,
    TW_TFL_OPTIONS_ResizeNearest = 74, TW_TFL_OPTIONS_LeakyRelu = 75, TW_TFL_OPTIONS_MirrorPad = 77,
    TW_TFL_OPTIONS_SplitV = 79, TW_TFL_OPTIONS_ReverseSequence = 87, TW_TFL_OPTIONS_If = 92,
    TW_TFL_OPTIONS_While = 93, TW_TFL_OPTIONS_DepthToSpace = 94, TW_TFL_OPTIONS_BatchMatMul = 101,
    TW_TFL_OPTIONS_Cumsum = 102, TW_TFL_OPTIONS_CallOnce = 103, TW_TFL_OPTIONS_Conv3D = 106,
    TW_TFL_OPTIONS_VarHandle = 111,
    TW_TFL_OPTIONS_Gelu = 116
};

/* Element types by number: name, ours. */
#define TW_TFL_TYPES(X)                                                                            \
    X(0, FLOAT32, TW_F32) X(1, FLOAT16, TW_F16) X(2, INT32, TW_S32) X(3, UINT8, TW_U8)             \
    X(4, INT64, TW_S64) X(5, STRING, TW_NO_DTYPE) X(6, BOOL, TW_BOOL) X(7, INT16, TW_S16)          \
    X(8, COMPLEX64, TW_NO_DTYPE) X(9, INT8, TW_S8) X(10, FLOAT64, TW_F64)                          \
    X(11, COMPLEX128, TW_NO_DTYPE) X(12, UINT64, TW_U64) X(13, RESOURCE, TW_NO_DTYPE)              \
    X(14, VARIANT, TW_NO_DTYPE) X(15, UINT32, TW_U32) X(16, UINT16, TW_U16)                        \
    X(17, INT4, TW_NO_DTYPE) X(18, BFLOAT16, TW_BF16) X(19, INT2, TW_NO_DTYPE)                     \
    X(20, UINT4, TW_NO_DTYPE) X(21, FLOAT8_E4M3FN, TW_NO_DTYPE) X(22, FLOAT8_E5M2, TW_NO_DTYPE)
/* clang-format on */

enum { TW_TFL_TYPE_INT4 = 17, TW_TFL_TYPE_RESOURCE = 13 };
enum { TW_TFL_PADDING_SAME = 0, TW_TFL_PADDING_VALID = 1 };
enum {
    TW_TFL_ACTIVATION_NONE = 0,
    TW_TFL_ACTIVATION_RELU = 1,
    TW_TFL_ACTIVATION_RELU_N1_TO_1 = 2,
    TW_TFL_ACTIVATION_RELU6 = 3,
    TW_TFL_ACTIVATION_TANH = 4,
    TW_TFL_ACTIVATION_SIGN_BIT = 5
};
enum { TW_TFL_MIRROR_REFLECT = 0, TW_TFL_MIRROR_SYMMETRIC = 1 };
enum { TW_TFL_BUILTIN_CUSTOM = 32, TW_TFL_BUILTIN_SELECT = 64, TW_TFL_BUILTIN_LIMIT = 210 };

#endif
