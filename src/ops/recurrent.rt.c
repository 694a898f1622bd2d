/* Recurrent layers, step by step: kernels of recurrent.def. Gates of one step stand in scratch, h
 * and c in memory, as in Lstm. Every sum runs over x first, then the biases, then h. */
#include "ops/recurrent_job.h"

#include "ops/codes.h"
#include "runtime/math.h"

/* One step of one sequence. */
typedef struct tw_recurrent_step {
    const tw_recurrent_attributes *a;
    const float *x, *w, *r, *b, *p; /* b, p: null when absent */
    float *h, *c, *gate;
    int32_t inputs, outputs, gates;
} tw_recurrent_step;

typedef void (*tw_recurrent_function)(const tw_recurrent_step *s);

enum { F, G, H };

static float activate(const tw_recurrent_step *s, int which, float v)
{
    const tw_recurrent_attributes *a = s->a;
    const float alpha = which < a->alpha.count ? a->alpha.v[which] : 1.0f;
    const float beta = which < a->beta.count ? a->beta.v[which] : 0.0f;
    if (which != H && a->clip > 0.0f)
        v = tw_clampf(v, -a->clip, a->clip);
    switch (which == F ? a->f : which == G ? a->g : a->h) {
    case TW_ACTIVATION_SIGMOID: return tw_sigmoidf(v);
    case TW_ACTIVATION_TANH: return tw_tanhf(v);
    case TW_ACTIVATION_RELU: return v < 0.0f ? 0.0f : v;
    case TW_ACTIVATION_AFFINE: return alpha * v + beta;
    case TW_ACTIVATION_LEAKY_RELU: return v < 0.0f ? alpha * v : v;
    case TW_ACTIVATION_THRESHOLDED_RELU: return v >= alpha ? v : 0.0f;
    case TW_ACTIVATION_SCALED_TANH: return alpha * tw_tanhf(beta * v);
    case TW_ACTIVATION_HARD_SIGMOID: return tw_clampf(alpha * v + beta, 0.0f, 1.0f);
    case TW_ACTIVATION_ELU: return v < 0.0f ? alpha * tw_expm1f(v) : v;
    case TW_ACTIVATION_SOFTSIGN: return v / (1.0f + tw_absf(v));
    default: return tw_softplusf(v);
    }
}

static float dot(const float *a, const float *b, int32_t count)
{
    float sum = 0.0f;
    int32_t i;
    for (i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Unit k of all gates: x * w and w's bias, h * r and r's bias. */
static float from_x(const tw_recurrent_step *s, int32_t k)
{
    const float sum = dot(s->x, s->w + (ptrdiff_t)k * s->inputs, s->inputs);
    return s->b ? sum + s->b[k] : sum;
}

static float from_h(const tw_recurrent_step *s, const float *h, int32_t k)
{
    const float sum = dot(h, s->r + (ptrdiff_t)k * s->outputs, s->outputs);
    return s->b ? sum + s->b[s->gates * s->outputs + k] : sum;
}

static void rnn_step(const tw_recurrent_step *s)
{
    int32_t k;
    for (k = 0; k < s->outputs; k++)
        s->gate[k] = activate(s, G, from_x(s, k) + from_h(s, s->h, k));
    memcpy(s->h, s->gate, (size_t)s->outputs * sizeof(float));
}

static void gru_step(const tw_recurrent_step *s)
{
    const int32_t n = s->outputs;
    float *update = s->gate, *reset = s->gate + n, *candidate = s->gate + 2 * n;
    int32_t k;
    for (k = 0; k < 2 * n; k++)
        s->gate[k] = activate(s, F, from_x(s, k) + from_h(s, s->h, k));
    if (!s->a->linear_before_reset)
        for (k = 0; k < n; k++)
            reset[k] *= s->h[k];
    for (k = 0; k < n; k++) {
        const float recurrent = s->a->linear_before_reset ? reset[k] * from_h(s, s->h, 2 * n + k)
                                                          : from_h(s, reset, 2 * n + k);
        candidate[k] = activate(s, G, from_x(s, 2 * n + k) + recurrent);
    }
    for (k = 0; k < n; k++)
        s->h[k] = (1.0f - update[k]) * candidate[k] + update[k] * s->h[k];
}

static void peephole_lstm_step(const tw_recurrent_step *s)
{
    const int32_t n = s->outputs;
    const float *input = s->gate, *output = s->gate + n, *forget = s->gate + 2 * n;
    const float *cell = s->gate + 3 * n;
    int32_t k;
    for (k = 0; k < 4 * n; k++) {
        float sum = from_x(s, k) + from_h(s, s->h, k);
        if (s->p && k / n != 3 && k / n != 1) /* the peepholes stand as i, o, f do */
            sum += s->p[k] * s->c[k % n];
        s->gate[k] = k / n == 1 ? sum : activate(s, k / n == 3 ? G : F, sum);
    }
    for (k = 0; k < n; k++) {
        const float kept = s->a->input_forget ? 1.0f - input[k] : forget[k];
        const float sum = (s->c[k] = kept * s->c[k] + input[k] * cell[k]);
        const float gate = activate(s, F, s->p ? output[k] + s->p[n + k] * sum : output[k]);
        s->h[k] = gate * activate(s, H, sum);
    }
}

/* ---- a call ---- */

static const float *floats(const tw_call *call, uint32_t i)
{
    const tw_view *v = tw_lstm_operand(call, i);
    return v ? (const float *)v->data : NULL;
}

static tw_status run(const tw_call *call, int32_t gates, tw_recurrent_function step)
{
    tw_lstm_job job;
    tw_recurrent_step s;
    int32_t n, t;
    if (tw_lstm_open(&job, call) != TW_OK)
        return TW_E_SCHEDULE;
    const uint32_t bytes = (uint32_t)tw_lstm_state(call) * 4u;
    float *h = (float *)call->memory;
    float *c =
        (float *)(void *)((uint8_t *)call->memory + tw_lstm_cell_offset(tw_lstm_state(call), 4));
    s.a = (const tw_recurrent_attributes *)call->attributes;
    s.w = floats(call, TW_RECURRENT_W);
    s.r = floats(call, TW_RECURRENT_R);
    s.b = floats(call, TW_RECURRENT_B);
    s.p = floats(call, TW_RECURRENT_P);
    s.gate = (float *)call->scratch;
    s.inputs = job.inputs;
    s.outputs = job.outputs;
    s.gates = gates;
    if (job.first) {
        tw_lstm_copy_state(h, tw_lstm_operand(call, TW_RECURRENT_H0), bytes);
        tw_lstm_copy_state(c, tw_lstm_operand(call, TW_RECURRENT_C0), bytes);
    }
    for (n = 0; n < job.batch; n++) {
        s.h = h + (ptrdiff_t)n * job.outputs;
        s.c = c + (ptrdiff_t)n * job.outputs;
        for (t = 0; t < job.steps; t++) {
            float *y = (float *)job.y->data + tw_lstm_at(job.y, n, t);
            s.x = (const float *)job.x->data + tw_lstm_at(job.x, n, t + job.skipped);
            const int taken = tw_recurrent_is_taken(&job, n, t);
            if (taken)
                step(&s);
            if (taken || s.a->hold)
                memcpy(y, s.h, (size_t)job.outputs * sizeof(float));
            else
                memset(y, 0, (size_t)job.outputs * sizeof(float));
        }
    }
    if (job.last) {
        tw_lstm_save_state(tw_lstm_result(call, 1), h, bytes);
        tw_lstm_save_state(tw_lstm_result(call, 2), c, bytes);
    }
    return TW_OK;
}

/* ---- checks ---- */

static int fits(const tw_call *call, uint32_t i, uint32_t dtype, int rank, int32_t a, int32_t b,
                int32_t c)
{
    const int32_t dim[3] = {a, b, c};
    return !tw_lstm_operand(call, i) || tw_lstm_is_dense(&call->in[i], dtype, rank, dim);
}

/* A length each, or whether each step is taken. */
static int fits_steps(const tw_call *call, int32_t n, int32_t steps)
{
    const tw_view *v = tw_lstm_operand(call, TW_RECURRENT_LENGTHS);
    return v && v->tensor->dtype == TW_BOOL
               ? fits(call, TW_RECURRENT_LENGTHS, TW_BOOL, 2, n, steps, 0)
               : fits(call, TW_RECURRENT_LENGTHS, TW_S32, 1, n, 0, 0);
}

/* Weights [G, O, K], or the same as [1, G * O, K]. */
static int are_weights(const tw_call *call, uint32_t i, uint32_t dtype, int32_t gates, int32_t o,
                       int32_t depth)
{
    return tw_lstm_operand(call, i) && o <= INT32_MAX / 4 &&
           (fits(call, i, dtype, 3, gates, o, depth) ||
            fits(call, i, dtype, 3, 1, gates * o, depth));
}

tw_status tw_recurrent_check(const tw_call *call, int32_t gates, const tw_recurrent_types *types,
                             uint64_t *work)
{
    const uint32_t stored = types->stored, bytes = tw_dtype_bytes(stored);
    int32_t extents[5];
    uint64_t part;
    uint32_t i;
    if (call->in_count < 3 || call->in_count > TW_RECURRENT_OPERANDS || call->out_count < 1 ||
        call->out_count > 3 || call->attribute_bytes != sizeof(tw_recurrent_attributes) ||
        !tw_operand_check(&call->in[0], stored, 3, 3) ||
        !tw_operand_check(&call->out[0], stored, 3, 3))
        return TW_E_CHECK;
    const tw_recurrent_attributes *a = (const tw_recurrent_attributes *)call->attributes;
    const tw_tensor *x = call->in[0].tensor, *y = call->out[0].tensor;
    const int32_t n = x->dim[0], o = y->dim[2], last[3] = {n, o, 0};
    if (a->alpha.count > TW_MAX_RANK || a->beta.count > TW_MAX_RANK)
        return TW_E_CHECK;
    if (y->dim[0] != n || y->dim[1] != x->dim[1] || x->dim[2] < 1 || o < 1 ||
        !are_weights(call, TW_RECURRENT_W, stored, gates, o, x->dim[2]) ||
        !are_weights(call, TW_RECURRENT_R, stored, gates, o, o) ||
        !fits(call, TW_RECURRENT_B, TW_F32, 3, 2, gates, o) || !fits_steps(call, n, x->dim[1]) ||
        !fits(call, TW_RECURRENT_H0, stored, 2, n, o, 0) ||
        !fits(call, TW_RECURRENT_C0, types->cell, 2, n, o, 0) ||
        !fits(call, TW_RECURRENT_P, TW_F32, 2, 3, o, 0))
        return TW_E_CHECK;
    for (i = 1; i < call->out_count; i++)
        if (tw_lstm_result(call, i) &&
            !tw_lstm_is_dense(&call->out[i], i == 1 ? stored : types->cell, 2, last))
            return TW_E_CHECK;
    extents[0] = n;
    extents[1] = x->dim[1];
    extents[2] = o;
    extents[3] = gates;
    extents[4] = x->dim[2];
    if (!tw_work(&part, extents, 5))
        return TW_E_CHECK;
    extents[4] = o;
    if (!tw_work(work, extents, 5) || *work + part < part)
        return TW_E_CHECK;
    *work += part;
    return tw_lstm_cell_offset(tw_lstm_state(call), bytes) +
                       tw_lstm_state(call) * tw_dtype_bytes(types->cell) <=
                   call->memory_bytes
               ? TW_OK
               : TW_E_CHECK;
}

static tw_status check(const tw_call *call, int32_t gates, uint64_t *work)
{
    static const tw_recurrent_types floats = {TW_F32, TW_F32};
    return tw_recurrent_check(call, gates, &floats, work) == TW_OK &&
                   (uint64_t)gates * (uint64_t)call->out[0].tensor->dim[2] * 4u <=
                       call->scratch_bytes
               ? TW_OK
               : TW_E_CHECK;
}

#define TW_RECURRENT(code, Name, symbol, gates, formula)                                           \
    static tw_status symbol##_run(const tw_call *call)                                             \
    {                                                                                              \
        return run(call, gates, symbol##_step);                                                    \
    }                                                                                              \
    static tw_status symbol##_check(const tw_call *call, uint64_t *work)                           \
    {                                                                                              \
        return check(call, gates, work);                                                           \
    }                                                                                              \
    TW_KERNEL(symbol, f32, symbol##_run, symbol##_check);
#include "ops/recurrent.def"
