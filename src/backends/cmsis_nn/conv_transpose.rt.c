/* Transposed convolution by CMSIS-NN: the convolution of its input, zeros between the elements where the
 * stride is 2, with the kernel turned round, which the compiler prepares. */
#include "backends/cmsis_nn/conv_transpose.h"
#include "backends/cmsis_nn/conv.h"
#include "backends/cmsis_nn/image.h"
#include "ops/conv_transpose_job.h"

/* One axis: how the transposed window reads. */
typedef struct tw_turned {
    int32_t in, out, kernel, stride, dilation, padding;
} tw_turned;

static int read_axes(const tw_call *call, tw_turned axes[2])
{
    const tw_conv_transpose_attributes *a = (const tw_conv_transpose_attributes *)call->attributes;
    const tw_window_lists lists = TW_WINDOW_LISTS(a);
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    const int32_t *kernel = (const int32_t *)call->blobs[TW_CMSIS_NN_BLOB_TURNED_EXTENTS].data;
    const int spatial = (int)x->rank - 2;
    static const tw_turned single = {1, 1, 1, 1, 1, 0};
    int i;
    axes[0] = axes[1] = single;
    for (i = 0; i < spatial; i++) {
        tw_turned *t = &axes[2 - spatial + i];
        tw_span s;
        if (!tw_window_entry(&s, &lists, spatial, i))
            return 0;
        t->in = x->dim[1 + i];
        t->out = y->dim[1 + i];
        t->kernel = kernel[2 - spatial + i];
        t->stride = s.stride;
        t->dilation = s.dilation;
        if (t->kernel < 1 || t->kernel > TW_NATIVE_MOST || t->dilation > TW_NATIVE_MOST)
            return 0;
        t->padding = t->dilation * (t->kernel - 1) - s.pad_begin;
        if (t->in < 1 || t->out < 1 || t->in > TW_NATIVE_MOST / 2 || t->out > TW_NATIVE_MOST ||
            t->stride > 2 || t->padding < 0 || t->padding > TW_NATIVE_MOST)
            return 0;
    }
    return 1;
}

static tw_status check(const tw_call *call, uint64_t *work)
{
    const tw_conv_transpose_attributes *a = (const tw_conv_transpose_attributes *)call->attributes;
    const tw_tensor *x, *y;
    tw_turned axes[2];
    int64_t taps;
    tw_call tables = *call;
    int32_t extents[7];
    if (call->in_count < 2 || call->out_count != 1 || call->attribute_bytes != sizeof *a ||
        call->blob_count != TW_CMSIS_NN_BLOB_TURNED + 1 ||
        call->blobs[TW_CMSIS_NN_BLOB_TURNED_EXTENTS].bytes != 8 || a->group != 1 ||
        !tw_operand_check(&call->in[0], TW_S8, 3, 4) ||
        !tw_operand_check(&call->out[0], TW_S8, 3, 4))
        return TW_E_CHECK;
    x = call->in[0].tensor;
    y = call->out[0].tensor;
    tables.blob_count = TW_BLOB_COUNT;
    if (x->rank != y->rank || x->dim[0] != y->dim[0] || x->dim[0] < 1 ||
        x->dim[0] > TW_NATIVE_MOST || x->dim[x->rank - 1] < 1 ||
        x->dim[x->rank - 1] > TW_NATIVE_MOST || y->dim[y->rank - 1] < 1 ||
        y->dim[y->rank - 1] > TW_NATIVE_MOST || !tw_is_dense(x) || !tw_is_dense(y) ||
        !read_axes(call, axes) || !tw_channels_check(&tables, y->dim[y->rank - 1]))
        return TW_E_CHECK;
    taps = (int64_t)axes[0].kernel * axes[1].kernel * x->dim[x->rank - 1];
    extents[0] = x->dim[0];
    extents[1] = axes[0].in;
    extents[2] = axes[1].in;
    extents[3] = y->dim[y->rank - 1];
    extents[4] = axes[0].kernel;
    extents[5] = axes[1].kernel;
    extents[6] = x->dim[x->rank - 1];
    if (taps * y->dim[y->rank - 1] != (int64_t)call->blobs[TW_CMSIS_NN_BLOB_TURNED].bytes ||
        call->scratch_bytes < tw_cmsis_nn_conv_scratch(taps, TW_CMSIS_NN_HERE) ||
        (x->rank == 4 && y->dim[1] == 1 && x->dim[1] > 1 && y->dim[2] > 1))
        return TW_E_CHECK;
    return tw_work(work, extents, 7) ? TW_OK : TW_E_CHECK;
}

/* Inputs [from, from + count) of an axis, and the padding in front of them, for outputs from `begin` on. */
static int cut(const tw_turned *t, int32_t begin, int32_t have_begin, int32_t have_end,
               int32_t *count, int32_t *skip, int32_t *padding)
{
    const int32_t first = begin - t->padding; /* in the input with its zeros */
    int32_t from = first <= 0 ? 0 : (first + t->stride - 1) / t->stride;
    from = from > have_end ? have_end : from;
    if (from < have_begin)
        return 0;
    *skip = from - have_begin;
    *count = have_end - from;
    *padding = *count ? from * t->stride - first : 0;
    return *padding >= 0 && *padding <= TW_NATIVE_MOST;
}

static tw_status run(const tw_call *call)
{
    const cmsis_nn_context context = tw_cmsis_nn_context(call);
    tw_turned axes[2];
    tw_image in, out;
    cmsis_nn_conv_params params;
    cmsis_nn_per_channel_quant_params scales;
    cmsis_nn_dims input, filter, bias, upscale, output;
    int32_t rows, columns, skip_rows, skip_columns, top, left;
    const int8_t *x, *w;
    tw_image_of(&call->in[0], &in);
    tw_image_of(&call->out[0], &out);
    if (!read_axes(call, axes) || in.begin[0] > out.begin[0] || in.end[0] < out.end[0] ||
        in.begin[3] != 0 || in.end[3] != in.dim[3] ||
        !cut(&axes[0], out.begin[1], in.begin[1], in.end[1], &rows, &skip_rows, &top) ||
        !cut(&axes[1], out.begin[2], in.begin[2], in.end[2], &columns, &skip_columns, &left))
        return TW_E_SCHEDULE;
    x = (const int8_t *)call->in[0].data + (ptrdiff_t)(out.begin[0] - in.begin[0]) * in.stride[0] +
        (ptrdiff_t)skip_rows * in.stride[1] + (ptrdiff_t)skip_columns * in.stride[2];
    params.input_offset = -call->in[0].tensor->zero_point;
    params.output_offset = call->out[0].tensor->zero_point;
    params.stride = tw_cmsis_nn_tile(1, 1);
    params.dilation = tw_cmsis_nn_tile(axes[0].dilation, axes[1].dilation);
    params.padding = tw_cmsis_nn_tile(top, left);
    params.activation = tw_cmsis_nn_activation(call);
    input = tw_cmsis_nn_dims(out.end[0] - out.begin[0], rows * axes[0].stride,
                             columns * axes[1].stride, in.dim[3]);
    output = tw_cmsis_nn_dims(input.n, out.end[1] - out.begin[1], out.end[2] - out.begin[2],
                              out.end[3] - out.begin[3]);
    filter = tw_cmsis_nn_dims(output.c, axes[0].kernel, axes[1].kernel, in.dim[3]);
    bias = tw_cmsis_nn_dims(1, 1, 1, output.c);
    upscale = tw_cmsis_nn_dims(1, axes[0].stride, axes[1].stride, 1);
    scales = tw_cmsis_nn_scales(call, out.begin[3]);
    w = (const int8_t *)call->blobs[TW_CMSIS_NN_BLOB_TURNED].data +
        (ptrdiff_t)out.begin[3] * filter.h * filter.w * filter.c;
    return tw_cmsis_nn_status(
        arm_convolve_s8(&context, &params, &scales, &input, x, &filter, w, &bias,
                        tw_cmsis_nn_table(call, TW_BLOB_BIAS, out.begin[3]),
                        axes[0].stride == 1 && axes[1].stride == 1 ? NULL : &upscale, &output,
                        (int8_t *)call->out[0].data));
}

TW_CMSIS_NN_KERNEL(conv_transpose_s8, run, check);
