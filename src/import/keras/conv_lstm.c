/* Long short-term memory whose gates are convolutions, of one to three spatial axes. It is unrolled: a step is
 * a convolution of its image, one of the hidden state, and what the gates make of them. Images that have the
 * channels first are turned for the layer and turned back. */
#include <string.h>

#include "import/keras/recurrent.h"

/* Steps are nodes of their own; each reads the same weights. */
enum { MOST_STEPS = 1024, GATES = 4, INPUT = 0, FORGET, CELL, OUTPUT };

typedef struct unrolled {
    tw_kr_node *n;
    int spatial;
    int64_t filters;
    tw_value *kernel, *recurrent, *bias;
    tw_value *h, *c; /* null: zeros */
} unrolled;

static bool read_weights(unrolled *u, tw_kr_store *store, const tw_value *x)
{
    tw_kr_node *n = u->n;
    int64_t dim[5] = {1, 1, 1}, kernel[3];
    u->filters = tw_kr_int(n, "filters", 0);
    if (u->filters < 1 || u->filters > INT32_MAX / GATES)
        return TW_KR_FAIL(n, "it has %lld filters", (long long)u->filters);
    if (tw_kr_ints(n, "kernel_size", u->spatial, true, 1, kernel) < 0)
        return false;
    const int64_t all = GATES * u->filters;
    memcpy(dim, kernel, sizeof kernel[0] * (size_t)u->spatial);
    dim[u->spatial] = x->shape.dim[u->spatial + 2];
    dim[u->spatial + 1] = all;
    u->kernel =
        tw_kr_filters(n, tw_kr_variable(n, store, 0, "kernel", u->spatial + 2, dim), u->spatial);
    dim[u->spatial] = u->filters;
    u->recurrent = tw_kr_filters(
        n, tw_kr_variable(n, store, 1, "recurrent_kernel", u->spatial + 2, dim), u->spatial);
    if (tw_kr_flag(n, "use_bias", true))
        u->bias = tw_kr_variable(n, store, 2, "bias", 1, &all);
    return u->kernel && u->recurrent && n->b->diag->code == TW_CODE_OK;
}

static tw_value *gate(unrolled *u, tw_value *sums, int which, const char *activation)
{
    tw_value *own =
        sums ? tw_build_slice(u->n->b, sums, u->spatial + 1, which * u->filters, u->filters, 1)
             : NULL;
    return tw_kr_activate(u->n, activation, own);
}

static tw_value *product(tw_kr_node *n, tw_value *a, tw_value *b)
{
    return a && b ? tw_build2(n->b, "Mul", a, b, NULL) : NULL;
}

/* One step: x [batch, spatial.., channels] and the states to the next states. */
static bool step(unrolled *u, tw_value *x)
{
    tw_kr_node *n = u->n;
    tw_value *sums = tw_kr_convolve(n, u->spatial, x, u->kernel, u->bias, false);
    if (u->h && sums)
        sums = tw_build2(n->b, "Add", sums,
                         tw_kr_convolve(n, u->spatial, u->h, u->recurrent, NULL, true), NULL);
    tw_value *c =
        product(n, gate(u, sums, INPUT, "recurrent_activation"), gate(u, sums, CELL, "activation"));
    if (u->c && c) {
        tw_value *kept = product(n, gate(u, sums, FORGET, "recurrent_activation"), u->c);
        c = kept ? tw_build2(n->b, "Add", kept, c, NULL) : NULL;
    }
    u->c = c;
    u->h = product(n, gate(u, sums, OUTPUT, "recurrent_activation"),
                   tw_kr_activate(n, "activation", c));
    return u->h != NULL;
}

/* Step t of [batch, steps, ..] without the axis of steps, where `rank` axes are left: the mask's are of
 * extent 1 behind the batch. */
static tw_value *step_of(tw_kr_node *n, tw_value *x, int64_t t, int rank)
{
    int64_t dim[TW_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dim[i] = i == 0 ? x->shape.dim[0] : i + 1 < x->shape.rank ? x->shape.dim[i + 1] : 1;
    x = tw_build_slice(n->b, x, 1, t, 1, 1);
    return x ? tw_build_reshape(n->b, x, rank, dim) : NULL;
}

/* With an axis of one step. */
static tw_value *as_step(tw_kr_node *n, tw_value *x)
{
    int64_t dim[TW_MAX_RANK];
    if (!x)
        return NULL;
    for (int i = 0; i <= x->shape.rank; i++)
        dim[i] = i == 1 ? 1 : x->shape.dim[i == 0 ? 0 : i - 1];
    return tw_build_reshape(n->b, x, x->shape.rank + 1, dim);
}

static tw_value *as_file_has_it(tw_kr_node *n, tw_value *x)
{
    return x && tw_kr_channels_first(n) ? tw_build_channels_first(n->b, x) : x;
}

/* The states that it begins with, channels last. */
static bool begin(tw_kr_layer *l, unrolled *u, const tw_value *x, tw_kr_outcome *out,
                  tw_value *first[2])
{
    tw_kr_node *n = l->n;
    if (!l->begin && !l->stateful)
        return true;
    const tw_value *like =
        tw_kr_convolve(n, u->spatial, step_of(n, (tw_value *)(uintptr_t)x, 0, u->spatial + 2),
                       u->kernel, u->bias, false);
    for (int i = 0; like && i < 2; i++) {
        tw_shape shape = like->shape;
        shape.dim[u->spatial + 1] = (int32_t)u->filters;
        tw_value *v = l->begin ? l->begin[out->state_count + i] : NULL;
        if (v && tw_kr_channels_first(n))
            v = tw_build_channels_last(n->b, v);
        first[i] = v ? v : tw_kr_make_state(l, i, shape);
        if (!first[i] || !tw_shape_equal(&first[i]->shape, &shape))
            return TW_KR_FAIL(n, "its initial states do not fit its results");
    }
    u->h = first[0];
    u->c = first[1];
    return like != NULL;
}

/* All steps from the states on: the result of each in `results`. */
static bool unroll(tw_kr_layer *l, unrolled *u, tw_value *x, tw_value **results)
{
    tw_kr_node *n = l->n;
    const int rank = u->spatial + 2;
    tw_value *zero = tw_kr_scalar(n, 0), *before = NULL;
    for (int32_t t = 0; t < x->shape.dim[1]; t++) {
        tw_value *h = u->h ? u->h : zero, *c = u->c ? u->c : zero;
        if (!step(u, step_of(n, x, t, rank)))
            return false;
        results[t] = u->h;
        if (l->mask) {
            tw_value *counts = step_of(n, l->mask, t, rank);
            u->h = tw_kr_select(n, counts, u->h, h);
            u->c = tw_kr_select(n, counts, u->c, c);
            results[t] = tw_kr_select(n, counts, results[t], before && !l->zeros ? before : zero);
        }
        before = results[t];
        if (!before || !u->h || !u->c)
            return false;
    }
    return true;
}

bool tw_kr_conv_lstm(tw_kr_layer *l, tw_kr_store *store, int spatial, tw_value *x,
                     tw_kr_outcome *out)
{
    tw_kr_node *n = l->n;
    unrolled u = {.n = n, .spatial = spatial};
    tw_value *first[2] = {NULL};
    if (x && tw_kr_channels_first(n)) { /* [batch, steps, channels, ..] */
        int64_t perm[TW_MAX_RANK] = {0, 1};
        for (int i = 2; i < spatial + 2; i++)
            perm[i] = i + 1;
        perm[spatial + 2] = 2;
        x = tw_build_transpose(n->b, x, spatial + 3, perm);
    }
    if (!x || !read_weights(&u, store, x) || !begin(l, &u, x, out, first))
        return false;
    const int32_t steps = x->shape.dim[1];
    if (steps < 1 || steps > MOST_STEPS)
        return TW_KR_UNSUPPORTED(n, "%d steps; between 1 and %d are supported", (int)steps,
                                 MOST_STEPS);
    tw_value **results = tw_alloc_array(n->import->scratch, (size_t)steps, sizeof *results);
    if (!unroll(l, &u, x, results))
        return false;
    for (int i = 0; l->stateful && !l->begin && i < 2; i++)
        if (!tw_graph_state_next(n->b->graph, first[i], i == 0 ? u.h : u.c, n->b->diag))
            return false;
    out->last = as_file_has_it(n, results[steps - 1]);
    out->state[out->state_count++] = as_file_has_it(n, u.h);
    out->state[out->state_count++] = as_file_has_it(n, u.c);
    for (int32_t t = 0; t < steps; t++)
        if (!(results[t] = as_step(n, as_file_has_it(n, results[t]))))
            return false;
    out->steps = tw_build_concat(n->b, results, steps, 1);
    return out->steps && out->last;
}
