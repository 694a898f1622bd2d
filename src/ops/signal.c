/* How the compiler thinks about the audio front end: the records of signal.h's operators. */
#include "ops/signal.h"

#include <math.h>

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(signal_window, TW_SIGNAL_WINDOW_ATTRIBUTES);
TW_ATTRIBUTE_TABLE(signal_rfft, TW_SIGNAL_RFFT_ATTRIBUTES);
TW_ATTRIBUTE_TABLE(signal_energy, TW_SIGNAL_ENERGY_ATTRIBUTES);
TW_ATTRIBUTE_TABLE(signal_filter_bank, TW_SIGNAL_FILTER_BANK_ATTRIBUTES);
TW_ATTRIBUTE_TABLE(signal_subtraction, TW_SIGNAL_SUBTRACTION_ATTRIBUTES);
TW_ATTRIBUTE_TABLE(signal_pcan, TW_SIGNAL_PCAN_ATTRIBUTES);
TW_ATTRIBUTE_TABLE(signal_log, TW_SIGNAL_LOG_ATTRIBUTES);

/* ---- shapes ---- */

/* The first input of type `in` and rank 1 or more; the result of type `out` and that shape. */
static bool shape_of(const tw_shape_call *call, tw_dtype in, tw_dtype out)
{
    const tw_shape *x = &call->in[0]->shape;
    if (x->dtype != in)
        return TW_SHAPE_UNSUPPORTED(call, "an input of %s; %s is supported",
                                    tw_dtype_name(x->dtype), tw_dtype_name(in));
    if (x->rank < 1)
        return TW_SHAPE_FAIL(call, "the input needs at least one axis");
    call->out[0] = *x;
    call->out[0].dtype = out;
    return true;
}

/* Input i of this type and as many elements as the first's last axis, or the first's shape. */
static bool has_type(const tw_shape_call *call, int i, tw_dtype dtype)
{
    const tw_shape *s = &call->in[i]->shape;
    return s->dtype == dtype || TW_SHAPE_FAIL(call, "input %d is %s; it must be %s", i,
                                              tw_dtype_name(s->dtype), tw_dtype_name(dtype));
}

static bool has_shape(const tw_shape_call *call, int i)
{
    tw_shape same = call->in[i]->shape;
    same.dtype = call->in[0]->shape.dtype;
    return tw_shape_equal(&same, &call->in[0]->shape) ||
           TW_SHAPE_FAIL(call, "input %d does not have the first input's shape", i);
}

static bool is_single(const tw_shape_call *call, int i)
{
    return tw_shape_elements(&call->in[i]->shape) == 1 ||
           TW_SHAPE_FAIL(call, "input %d must be one number", i);
}

static int32_t last(const tw_shape *s)
{
    return s->dim[s->rank - 1];
}

static bool shape_window(const tw_shape_call *call)
{
    const tw_shape *w = &call->in[1]->shape;
    if (!shape_of(call, TW_S16, TW_S16) || !has_type(call, 1, TW_S16))
        return false;
    return (w->rank == 1 && w->dim[0] == last(&call->in[0]->shape)) ||
           TW_SHAPE_FAIL(call, "the window must be a vector as long as the input's last axis");
}

static bool shape_auto_scale(const tw_shape_call *call)
{
    if (call->out_count > 1)
        call->out[1] = tw_shape_of(TW_S32, 0, NULL);
    return shape_of(call, TW_S16, TW_S16);
}

/* The transforms: int16, or else int32 or float32. */
static bool shape_transform(const tw_shape_call *call)
{
    const tw_signal_rfft_attributes *a = call->attributes;
    const tw_dtype dtype = call->in[0]->shape.dtype;
    if (!shape_of(call, dtype == TW_F32 || dtype == TW_S32 ? dtype : TW_S16, dtype))
        return false;
    if (a->length < 4 || (a->length & (a->length - 1)) != 0)
        return TW_SHAPE_UNSUPPORTED(call, "a length of %d; powers of two from 4 are supported",
                                    (int)a->length);
    return true;
}

static bool shape_rfft(const tw_shape_call *call)
{
    const tw_signal_rfft_attributes *a = call->attributes;
    if (!shape_transform(call))
        return false;
    if (last(&call->in[0]->shape) > a->length)
        return TW_SHAPE_FAIL(call, "the input has %d samples, the transform %d",
                             (int)last(&call->in[0]->shape), (int)a->length);
    call->out[0].dim[call->out[0].rank - 1] = a->length + 2;
    return true;
}

static bool shape_irfft(const tw_shape_call *call)
{
    const tw_signal_rfft_attributes *a = call->attributes;
    if (!shape_transform(call))
        return false;
    if (last(&call->in[0]->shape) != a->length + 2)
        return TW_SHAPE_FAIL(call, "the input has %d numbers, the transform needs %d",
                             (int)last(&call->in[0]->shape), (int)a->length + 2);
    call->out[0].dim[call->out[0].rank - 1] = a->length;
    return true;
}

static bool shape_energy(const tw_shape_call *call)
{
    const tw_signal_energy_attributes *a = call->attributes;
    if (!shape_of(call, TW_S16, TW_U32))
        return false;
    int32_t n = last(&call->in[0]->shape);
    if (n % 2 != 0 || a->start > a->end || a->end > n / 2)
        return TW_SHAPE_FAIL(call, "indices %d up to %d of %d complex numbers", (int)a->start,
                             (int)a->end, (int)(n / 2));
    call->out[0].dim[call->out[0].rank - 1] = n / 2;
    return true;
}

static bool shape_filter_bank(const tw_shape_call *call)
{
    const tw_signal_filter_bank_attributes *a = call->attributes;
    if (!shape_of(call, TW_U32, TW_U64))
        return false;
    for (int i = 1; i < 6; i++) {
        if (!has_type(call, i, TW_S16))
            return false;
        if (call->in[i]->shape.rank != 1 || (i > 2 && call->in[i]->shape.dim[0] != a->channels + 1))
            return TW_SHAPE_FAIL(call,
                                 "input %d must be a vector, of starts and widths with one "
                                 "element more than the %d channels",
                                 i, (int)a->channels);
    }
    if (call->in[1]->shape.dim[0] != call->in[2]->shape.dim[0])
        return TW_SHAPE_FAIL(call, "the two lists of weights must be of one length");
    call->out[0].dim[call->out[0].rank - 1] = a->channels;
    return true;
}

static bool shape_square_root(const tw_shape_call *call)
{
    return shape_of(call, TW_U64, TW_U32) && has_type(call, 1, TW_S32) && is_single(call, 1);
}

static bool shape_subtraction(const tw_shape_call *call)
{
    if (!shape_of(call, TW_U32, TW_U32) || !has_type(call, 1, TW_U32) || !has_shape(call, 1))
        return false;
    if (call->out_count > 1)
        call->out[1] = call->out[0];
    return true;
}

static bool shape_pcan(const tw_shape_call *call)
{
    if (!shape_of(call, TW_U32, TW_U32) || !has_type(call, 1, TW_U32) || !has_shape(call, 1) ||
        !has_type(call, 2, TW_S16))
        return false;
    return (call->in[2]->shape.rank == 1 && call->in[2]->shape.dim[0] >= TW_PCAN_TABLE) ||
           TW_SHAPE_FAIL(call, "the table of gains must be a vector of at least %d elements",
                         TW_PCAN_TABLE);
}

static bool shape_log(const tw_shape_call *call)
{
    return shape_of(call, TW_U32, TW_S16);
}

/* ---- kernels and tables ---- */

static void *add_blob(tw_arena *arena, tw_lowering *lowering, uint32_t bytes)
{
    void *data = tw_alloc(arena, bytes);
    lowering->blob[lowering->blob_count].data = data;
    lowering->blob[lowering->blob_count++].bytes = bytes;
    return data;
}

/* The only kernel there is: types are the shape's business. */
static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    lowering->kernel = node->op->kernels[0];
    if (node->clamp.low > -INFINITY || node->clamp.high < INFINITY)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "it has no clamp; put Clip behind it");
    return true;
}

/* Element i of a table of the transform's type. */
static void turn(void *table, tw_dtype dtype, int32_t i, double phase)
{
    const double re = cos(phase), im = sin(phase);
    if (dtype == TW_F32)
        ((tw_complex_f32 *)table)[i] = (tw_complex_f32){(float)re, (float)im};
    else if (dtype == TW_S32)
        ((tw_complex_s32 *)table)[i] = (tw_complex_s32){(int32_t)floor(0.5 + INT32_MAX * re),
                                                        (int32_t)floor(0.5 + INT32_MAX * im)};
    else
        ((tw_complex_s16 *)table)[i] = (tw_complex_s16){(int16_t)floor(0.5 + INT16_MAX * re),
                                                        (int16_t)floor(0.5 + INT16_MAX * im)};
}

/* Either transform; its kernels stand in the order int16, int32, float32. */
static bool lower_rfft(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_signal_rfft_attributes *a = node->attributes;
    const tw_dtype dtype = node->in[0]->shape.dtype;
    const double pi =
        node->op == &tw_op_signal_irfft ? 3.14159265358979323846 : -3.14159265358979323846;
    const int32_t n = a->length / 2;
    const uint32_t bytes = (uint32_t)a->length * tw_dtype_bytes(dtype);
    void *twiddle = add_blob(arena, lowering, bytes), *apart = add_blob(arena, lowering, bytes / 2);
    for (int32_t k = 0; k < n; k++)
        turn(twiddle, dtype, k, 2 * pi * k / n);
    for (int32_t k = 0; k < n / 2; k++)
        turn(apart, dtype, k, pi * ((double)(k + 1) / n + 0.5));
    lowering->scratch = bytes;
    if (!lower(node, arena, lowering, diag))
        return false;
    lowering->kernel = node->op->kernels[dtype == TW_F32 ? 2 : dtype == TW_S32 ? 1 : 0];
    return true;
}

static bool lower_filter_bank(const tw_node *node, tw_arena *arena, tw_lowering *lowering,
                              tw_diag *diag)
{
    const tw_signal_filter_bank_attributes *a = node->attributes;
    const int16_t *list[3];
    for (int i = 0; i < 3; i++) {
        list[i] = node->in[3 + i]->data;
        if (!list[i])
            return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                           "starts and widths must be constant");
        lowering->unread |= 1u << (3 + i);
    }
    tw_filter_run *run =
        add_blob(arena, lowering, (uint32_t)((size_t)(a->channels + 1) * sizeof *run));
    for (int32_t c = 0; c <= a->channels; c++) {
        run[c] = (tw_filter_run){list[0][c], list[1][c], list[2][c]};
        if (run[c].count < 0 || run[c].x < 0 || run[c].w < 0 ||
            run[c].x + run[c].count > last(&node->in[0]->shape) ||
            run[c].w + run[c].count > node->in[1]->shape.dim[0])
            return tw_fail(diag, TW_CODE_FAILED, node->name, node->op->name,
                           "channel %d reaches beyond the input or the weights", (int)c);
    }
    return lower(node, arena, lowering, diag);
}

static bool lower_log(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    uint16_t *table = add_blob(arena, lowering, TW_LOG_TABLE * 2);
    for (int i = 0; i < TW_LOG_TABLE - 1; i++)
        table[i] = (uint16_t)lround(65536 * (log2(1 + i / 128.0) - i / 128.0));
    return lower(node, arena, lowering, diag);
}

/* ---- records ---- */

#define RECORD(symbol, formula_text, ins, outs, lower_function, limits_text, samples_text, ...)    \
    const tw_opdef tw_op_signal_##symbol = {TW_OP_LEDGER(signal_##symbol),                         \
                                            .formula = formula_text,                               \
                                            .min_in = ins,                                         \
                                            .max_in = ins,                                         \
                                            .min_out = 1,                                          \
                                            .max_out = outs,                                       \
                                            .shape = shape_##symbol,                               \
                                            .rows = tw_rows_at_once,                               \
                                            .final_output = tw_final_but_first,                    \
                                            .lower = lower_function,                               \
                                            .limits = limits_text,                                 \
                                            .samples = "graph \"sample\" {\n" samples_text         \
                                                       "  output %y\n}\n",                         \
                                            .onnx = "",                                            \
                                            __VA_ARGS__}

/* clang-format off */
RECORD(window, "(x * w) >> shift, saturated", 2, 1, lower, "s16",
       "  const %x : s16[2,9] = random 1 -32768 32768\n"
       "  const %w : s16[9] = random 2 0 4096\n"
       "  %y = SignalWindow (%x, %w) {shift=12}\n", TW_OP_ATTRIBUTES(signal_window));
RECORD(auto_scale, "x * 2^bits, as large as fits", 1, 2, lower, "s16",
       "  const %x : s16[9] = random 1 -1000 1000\n"
       "  %y = SignalAutoScale (%x)\n", .attribute_bytes = 0);
#define TRANSFORM(symbol, Name, text, length)                                                      \
    RECORD(symbol, text, 1, 1, lower_rfft,                                                         \
           "s16, s32, f32; lengths from 4 to 32768, powers of two",                                \
           "  const %x : s16[2," #length "] = random 1 -32768 32768\n"                             \
           "  %y = " Name " (%x) {length=32}\n"                                                    \
           "  output %y\n}\ngraph \"s32\" {\n"                                                     \
           "  const %x : s32[2," #length "] = random 1 -2e9 2e9\n"                                 \
           "  %y = " Name " (%x) {length=32}\n"                                                    \
           "  output %y\n}\ngraph \"f32\" {\n"                                                     \
           "  const %x : f32[2," #length "] = random 1 -1 1\n"                                     \
           "  %y = " Name " (%x) {length=32}\n", TW_OP_ATTRIBUTES(signal_rfft))
TRANSFORM(rfft, "SignalRfft", "real Fourier transform", 30);
TRANSFORM(irfft, "SignalIrfft", "inverse of SignalRfft", 34);
RECORD(energy, "re^2 + im^2 from `start` up to `end`, elsewhere 0", 1, 1, lower, "s16 to u32",
       "  const %x : s16[34] = random 1 -32768 32768\n"
       "  %y = SignalEnergy (%x) {start=2, end=15}\n", TW_OP_ATTRIBUTES(signal_energy));
RECORD(filter_bank, "sums of x * weights over runs of x", 6, 1, lower_filter_bank,
       "u32 to u64; weights s16; starts and widths constant",
       "  const %x : u32[2,17] = random 1 0 100000\n"
       "  const %w : s16[8] = random 2 0 4096\n"
       "  const %u : s16[8] = random 3 0 4096\n"
       "  const %f : s16[3] = random 4 0 9\n"
       "  const %s : s16[3] = random 5 0 4\n"
       "  const %n : s16[3] = random 6 0 5\n"
       "  %y = SignalFilterBank (%x, %w, %u, %f, %s, %n) {channels=2}\n",
       TW_OP_ATTRIBUTES(signal_filter_bank));
RECORD(square_root, "root of x, rounded, >> bits", 2, 1, lower, "u64 to u32",
       "  const %x : u64[9] = random 1 0 1e15\n"
       "  const %b : s32[] = random 2 0 4\n"
       "  %y = SignalSquareRoot (%x, %b)\n", .attribute_bytes = 0);
RECORD(subtraction, "x less a noise estimate that follows it", 2, 2, lower, "u32",
       "  const %x : u32[2,9] = random 1 0 100000\n"
       "  const %e : u32[2,9] = random 2 0 1e8\n"
       "  %y = SignalSubtraction (%x, %e) {even_new=410, even_old=15974, odd_new=983, odd_old=15401, "
       "remaining=819, bits=10, shift=14}\n", TW_OP_ATTRIBUTES(signal_subtraction));
RECORD(pcan, "automatic gain by a table of the noise estimate", 3, 1, lower, "u32",
       "  const %x : u32[9] = random 1 0 100000\n"
       "  const %e : u32[9] = random 2 0 4e9\n"
       "  const %g : s16[125] = random 3 -32768 32768\n"
       "  %y = SignalPcan (%x, %e, %g) {shift=6}\n", TW_OP_ATTRIBUTES(signal_pcan));
RECORD(log, "log(x * 2^correction) * scale", 1, 1, lower_log, "u32 to s16",
       "  const %x : u32[9] = random 1 0 1e8\n"
       "  %y = SignalLog (%x) {correction=3, scale=1600}\n", TW_OP_ATTRIBUTES(signal_log));
