/* The custom operators of TensorFlow Lite Micro that remember what earlier runs brought: frames of a
 * signal, delays, overlaps, and the buffer that streams a convolution. Their memories become states of
 * the graph, shifted by Concat and Slice. */
#include "import/tflite/tflite.h"

enum {
    MOST_FRAMES = 256 /* in one run */
};

static tw_value *state_of(tw_tfl_node *n, const char *name, tw_shape shape, const tw_value *like)
{
    tw_value *state = tw_graph_state(n->b->graph, name, shape, NULL);
    if (like)
        state->quant = like->quant;
    return state;
}

static tw_shape with_last(const tw_value *x, int32_t extent)
{
    tw_shape shape = x->shape;
    shape.dim[shape.rank - 1] = extent;
    return shape;
}

/* `count` elements of the last axis from `begin` on. */
static tw_value *cut(tw_tfl_node *n, tw_value *x, int64_t begin, int64_t count)
{
    return x ? tw_build_slice(n->b, x, x->shape.rank - 1, begin, count, 1) : NULL;
}

static tw_value *join(tw_tfl_node *n, tw_value *a, tw_value *b)
{
    tw_value *both[] = {a, b};
    return a && b ? tw_build_concat(n->b, both, 2, a->shape.rank - 1) : NULL;
}

/* The last `keep` elements of earlier runs in front of x; the state becomes the last `keep` of both. */
static tw_value *remember(tw_tfl_node *n, const char *name, tw_value *x, int32_t keep)
{
    if (keep == 0)
        return x;
    const int32_t own = x->shape.dim[x->shape.rank - 1];
    tw_value *state = state_of(n, name, with_last(x, keep), NULL);
    tw_value *all = join(n, state, x);
    return tw_tfl_state_becomes(n, state, cut(n, all, own, keep)) ? all : NULL;
}

/* Input 0: at least one axis, of one of the types (the second may be TW_NO_DTYPE). */
static tw_value *signal(tw_tfl_node *n, tw_dtype one, tw_dtype other, int rank)
{
    tw_value *x = tw_tfl_in(n, 0);
    if (!x)
        return NULL;
    if (x->shape.dtype != one && x->shape.dtype != other) {
        TW_TFL_UNSUPPORTED(n, "an input of %s is not supported", tw_dtype_name(x->shape.dtype));
        return NULL;
    }
    if (x->shape.rank < rank || x->shape.dim[x->shape.rank - 1] < 1) {
        TW_TFL_FAIL(n, "the input has rank %d and no elements along its last axis, or too few axes",
                    x->shape.rank);
        return NULL;
    }
    return tw_build_with_quant(n->b, x, (tw_quant){0, 0, NULL, NULL});
}

static bool in_range(tw_tfl_node *n, const char *key, int32_t value, int32_t low, int32_t high)
{
    return n->b->diag->code == TW_CODE_OK &&
           ((value >= low && value <= high) ||
            TW_TFL_FAIL(n, "its option '%s' is %d; it must be from %d to %d", key, (int)value,
                        (int)low, (int)high));
}

/* ---- delays and frames ---- */

bool tw_tfl_op_signal_delay(tw_tfl_node *n)
{
    tw_value *x = signal(n, TW_S16, TW_NO_DTYPE, 1);
    const int32_t delay = tw_tfl_option(n, "delay_length");
    if (!x || !in_range(n, "delay_length", delay, 0, 1 << 20))
        return false;
    tw_value *all = remember(n, "delay", x, delay);
    return tw_tfl_set(n, 0, cut(n, all, 0, x->shape.dim[x->shape.rank - 1]));
}

/* Frames of `size` elements, `step` apart: [.., n * step] to [.., n, size]. */
static tw_value *frames_of(tw_tfl_node *n, tw_value *all, int32_t count, int32_t size, int32_t step)
{
    tw_value **frame = tw_alloc_array(n->import->scratch, (size_t)count + 1, sizeof(tw_value *));
    const int rank = all->shape.rank;
    int64_t dim[TW_MAX_RANK + 1];
    for (int i = 0; i < rank - 1; i++)
        dim[i] = all->shape.dim[i];
    dim[rank - 1] = 1;
    dim[rank] = size;
    for (int32_t k = 0; k < count; k++) {
        tw_value *one = cut(n, all, (int64_t)k * step, size);
        frame[k] = one ? tw_build_reshape(n->b, one, rank + 1, dim) : NULL;
        if (!frame[k])
            return NULL;
    }
    return count == 1 ? frame[0] : tw_build_concat(n->b, frame, count, rank - 1);
}

/* True from the run on in which `need` pieces of `step` elements have come, of `count` a run; the first
 * frame of a run needs `need` - 1 before it. */
static tw_value *arrived(tw_tfl_node *n, int32_t need, int32_t count)
{
    tw_builder *b = n->b;
    tw_value *seen = state_of(n, "arrived", tw_shape_of(TW_S32, 0, NULL), NULL);
    tw_value *next =
        tw_build2(b, "Min", tw_build2(b, "Add", seen, tw_build_scalar(b, TW_S32, count), NULL),
                  tw_build_scalar(b, TW_S32, need), NULL);
    return tw_tfl_state_becomes(n, seen, next)
               ? tw_build2(b, "GreaterOrEqual", seen, tw_build_scalar(b, TW_S32, need - 1), NULL)
               : NULL;
}

bool tw_tfl_op_signal_framer(tw_tfl_node *n)
{
    tw_value *x = signal(n, TW_S16, TW_NO_DTYPE, 1);
    const int32_t size = tw_tfl_option(n, "frame_size"), step = tw_tfl_option(n, "frame_step");
    const bool prefill = tw_tfl_option(n, "prefill") != 0;
    if (!x || !in_range(n, "frame_size", size, 1, 1 << 20) ||
        !in_range(n, "frame_step", step, 1, size))
        return false;
    const int32_t own = x->shape.dim[x->shape.rank - 1], count = own / step;
    if (own % step != 0 || count > MOST_FRAMES || x->shape.rank == TW_MAX_RANK)
        return TW_TFL_UNSUPPORTED(n,
                                  "%d samples in steps of %d; whole steps, up to %d of them, and "
                                  "inputs of up to %d axes are supported",
                                  (int)own, (int)step, MOST_FRAMES, TW_MAX_RANK - 1);
    /* Zeros stand before the first run where the frames are filled, else the first frame waits. */
    const int32_t need = (size + step - 1) / step;
    tw_value *all = remember(n, "frame", x, prefill ? size - step : (need - 1) * step);
    tw_value *valid = prefill ? tw_build_scalar(n->b, TW_BOOL, 1) : arrived(n, need, count);
    return all && tw_tfl_set(n, 0, frames_of(n, all, count, size, step)) && tw_tfl_set(n, 1, valid);
}

/* Frames of vectors one behind the other, the first with as many copies before it as its left side needs.
 * `held`: vectors in the buffer, -1 before the first run. */
bool tw_tfl_op_signal_stacker(tw_tfl_node *n)
{
    tw_builder *b = n->b;
    tw_value *x = signal(n, TW_S16, TW_NO_DTYPE, 1);
    const int32_t left = tw_tfl_option(n, "stacker_left_context");
    const int32_t right = tw_tfl_option(n, "stacker_right_context");
    const int32_t step = tw_tfl_option(n, "stacker_step");
    static const int32_t none = -1;
    if (!x || !in_range(n, "stacker_left_context", left, 0, 1 << 10) ||
        !in_range(n, "stacker_right_context", right, 0, 1 << 10) ||
        !in_range(n, "stacker_step", step, 1, left + right + 1))
        return false;
    if (x->shape.rank != 1 || tw_tfl_option(n, "num_channels") != x->shape.dim[0])
        return TW_TFL_FAIL(n, "the input must be a vector of 'num_channels' elements");
    const int32_t channels = x->shape.dim[0], whole = left + right + 1;
    tw_value *held = tw_graph_state(b->graph, "held", tw_shape_of(TW_S32, 0, NULL), &none);
    tw_value *first = tw_build2(b, "Less", held, tw_build_scalar(b, TW_S32, 0), NULL);
    tw_value *now_in[] = {first, tw_build_scalar(b, TW_S32, left + 1),
                          tw_build2(b, "Add", held, tw_build_scalar(b, TW_S32, 1), NULL)};
    tw_value *now = tw_build(b, "Where", now_in, 3, NULL);
    tw_value *valid = tw_build2(b, "GreaterOrEqual", now, tw_build_scalar(b, TW_S32, whole), NULL);
    tw_value *fewer[] = {valid, tw_build2(b, "Sub", now, tw_build_scalar(b, TW_S32, step), NULL),
                         now};
    tw_value *all = x;
    if (whole > 1) {
        const int32_t kept = (whole - 1) * channels, zeros = right * channels;
        tw_value *state = state_of(n, "stack", tw_shape_of(TW_S16, 1, &kept), NULL);
        tw_value *filled = zeros ? tw_build_full(b, tw_shape_of(TW_S16, 1, &zeros), 0) : NULL;
        for (int32_t k = 0; k < left; k++)
            filled = filled ? join(n, filled, x) : x;
        tw_value *before[] = {first, filled, state};
        all = join(n, tw_build(b, "Where", before, 3, NULL), x);
        if (!tw_tfl_state_becomes(n, state, cut(n, all, channels, kept)))
            return false;
    }
    return tw_tfl_state_becomes(n, held, tw_build(b, "Where", fewer, 3, NULL)) &&
           tw_tfl_set(n, 0, all) && tw_tfl_set(n, 1, valid);
}

/* a + b, of int16 held within its range. */
static tw_value *saturated_sum(tw_tfl_node *n, tw_value *a, tw_value *b)
{
    if (!a || !b || a->shape.dtype == TW_F32)
        return tw_build2(n->b, "Add", a, b, NULL);
    tw_value *sum = tw_build2(n->b, "Add", tw_build_cast(n->b, a, TW_S32),
                              tw_build_cast(n->b, b, TW_S32), NULL);
    sum = tw_build2(n->b, "Min", sum, tw_build_scalar(n->b, TW_S32, INT16_MAX), NULL);
    sum = tw_build2(n->b, "Max", sum, tw_build_scalar(n->b, TW_S32, INT16_MIN), NULL);
    return sum ? tw_build_cast(n->b, sum, TW_S16) : NULL;
}

/* Each frame is added to what the frames before reach beyond their step, and gives up its first `step`
 * elements: [.., n, size] to [.., n * step]. */
bool tw_tfl_op_signal_overlap_add(tw_tfl_node *n)
{
    tw_value *x = signal(n, TW_S16, TW_F32, 2);
    const int32_t step = tw_tfl_option(n, "frame_step");
    if (!x || !in_range(n, "frame_step", step, 1, x->shape.dim[x->shape.rank - 1]))
        return false;
    const int rank = x->shape.rank - 1;
    const int32_t size = x->shape.dim[rank], count = x->shape.dim[rank - 1], keep = size - step;
    if (count < 1 || count > MOST_FRAMES)
        return TW_TFL_UNSUPPORTED(n, "%d frames; 1 to %d are supported", (int)count, MOST_FRAMES);
    tw_shape one = tw_shape_of(x->shape.dtype, rank, x->shape.dim);
    int64_t dim[TW_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dim[i] = one.dim[i];
    dim[rank - 1] = size;
    one.dim[rank - 1] = keep;
    tw_value *state = keep ? state_of(n, "overlap", one, NULL) : NULL, *rest = state;
    tw_value **out = tw_alloc_array(n->import->scratch, (size_t)count + 1, sizeof(tw_value *));
    for (int32_t k = 0; k < count; k++) {
        tw_value *frame = tw_build_slice(n->b, x, rank - 1, k, 1, 1);
        frame = frame ? tw_build_reshape(n->b, frame, rank, dim) : NULL;
        if (keep)
            frame =
                join(n, saturated_sum(n, cut(n, frame, 0, keep), rest), cut(n, frame, keep, step));
        out[k] = cut(n, frame, 0, step);
        if (keep)
            rest = cut(n, frame, step, keep);
        if (!out[k])
            return false;
    }
    return (!state || tw_tfl_state_becomes(n, state, rest)) &&
           tw_tfl_set(n, 0, count == 1 ? out[0] : tw_build_concat(n->b, out, count, rank - 1));
}

/* ---- the buffer of a streamed convolution ---- */

/* Is this run one in `cycles`? Counted down from there, as the reference does. */
static tw_value *every(tw_tfl_node *n, int32_t cycles)
{
    tw_builder *b = n->b;
    int32_t *initial = tw_alloc(b->arena, sizeof *initial);
    *initial = cycles;
    tw_value *count = tw_graph_state(b->graph, "cycles", tw_shape_of(TW_S32, 0, NULL), initial);
    tw_value *left = tw_build2(b, "Sub", count, tw_build_scalar(b, TW_S32, 1), NULL);
    tw_value *due = tw_build2(b, "Equal", left, tw_build_scalar(b, TW_S32, 0), NULL);
    tw_value *next[] = {due, tw_build_scalar(b, TW_S32, cycles), left};
    return tw_tfl_state_becomes(n, count, tw_build(b, "Where", next, 3, NULL)) ? due : NULL;
}

/* The newest row behind the rows before it. In runs that are not its turn the reference stops here: what
 * stands behind keeps the states and the outputs that it had (tw_tfl_gate). */
bool tw_tfl_op_circular_buffer(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_shape out;
    if (!x || !tw_tfl_wants(n, 0) || !tw_tfl_shape(n->import, tw_tfl_out_tensor(n, 0), &out))
        return false;
    const int32_t cycles = tw_tfl_option(n, "cycles_max");
    if (n->b->diag->code == TW_CODE_OK && cycles < 1)
        return TW_TFL_UNSUPPORTED(n,
                                  "its option 'cycles_max' is %d: the reference then guesses it "
                                  "from the layer's shape; set it",
                                  (int)cycles);
    if (x->shape.dtype != TW_S8)
        return TW_TFL_UNSUPPORTED(n, "an input of %s; INT8 is supported",
                                  tw_dtype_name(x->shape.dtype));
    if (x->shape.rank != 4 || out.rank != 4 || x->shape.dim[1] != 1 ||
        x->shape.dim[0] != out.dim[0] || x->shape.dim[2] != out.dim[2] ||
        x->shape.dim[3] != out.dim[3] || out.dim[1] < 1)
        return TW_TFL_FAIL(n, "it needs rows of one extent, one a run, and a result of rows");
    out.dim[1]--;
    tw_value *all = x, *due = NULL;
    if (out.dim[1] > 0) {
        /* The real value 0 is stored as the zero point. */
        tw_value *state =
            tw_graph_state(n->b->graph, "rows", out, tw_tfl_zeros(n->import, &out, &x->quant));
        state->quant = x->quant;
        tw_value *both[] = {state, x};
        all = tw_build_concat(n->b, both, 2, 1);
        if (!all || !tw_tfl_state_becomes(n, state, tw_build_slice(n->b, all, 1, 1, out.dim[1], 1)))
            return false;
    }
    if (cycles > 1)
        due = every(n, cycles);
    return tw_tfl_set(n, 0, all) && (cycles == 1 || (due && tw_tfl_gate(n, due)));
}
