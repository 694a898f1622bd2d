/* Matrices of weights: dense layers and tables of embeddings. */
#include <string.h>

#include "import/keras/keras.h"

/* w [in.., out..] as the matrix [out, in] that FullyConnected takes, on x with its axes merged. */
tw_value *tw_kr_product(tw_kr_node *n, tw_value *x, tw_value *w, int contracted, tw_value *bias)
{
    static const int64_t swap[] = {1, 0};
    tw_builder *b = n->b;
    int64_t in = 1, out = 1, dim[TW_MAX_RANK];
    if (!x || !w)
        return NULL;
    const int kept = x->shape.rank - contracted, made = w->shape.rank - contracted;
    if (kept < 0 || made < 0 || kept + made > TW_MAX_RANK) {
        TW_KR_UNSUPPORTED(n, "weights of %d axes on an input of %d", w->shape.rank, x->shape.rank);
        return NULL;
    }
    for (int i = 0; i < w->shape.rank; i++)
        *(i < contracted ? &in : &out) *= w->shape.dim[i];
    for (int i = 0; i < kept; i++)
        dim[i] = x->shape.dim[i];
    dim[kept] = in;
    if (contracted != 1)
        x = tw_build_reshape(b, x, kept + 1, dim);
    w = tw_build_reshape(b, w, 2, (int64_t[]){in, out});
    if (bias && bias->shape.rank != 1)
        bias = tw_build_reshape(b, bias, 1, &out);
    tw_value *parts[] = {x, w ? tw_build_weight(b, w, swap, 0, NULL) : NULL, bias};
    return parts[0] && parts[1] ? tw_build(b, "FullyConnected", parts, bias ? 3 : 2, NULL) : NULL;
}

/* The last axis apart again: [.., out] to [.., out..]. */
static tw_value *spread(tw_kr_node *n, tw_value *y, int made, const int32_t *out)
{
    int64_t dim[2 * TW_MAX_RANK];
    int rank = y ? y->shape.rank - 1 : 0;
    if (!y || made == 1)
        return y;
    for (int i = 0; i < rank; i++)
        dim[i] = y->shape.dim[i];
    for (int i = 0; i < made; i++)
        dim[rank + i] = out[i];
    if (rank + made <= TW_MAX_RANK)
        return tw_build_reshape(n->b, y, rank + made, dim);
    TW_KR_UNSUPPORTED(n, "a result of %d axes; at most %d are supported", rank + made, TW_MAX_RANK);
    return NULL;
}

bool tw_kr_op_dense(tw_kr_node *n)
{
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 1, TW_MAX_RANK));
    if (!x)
        return false;
    const int64_t units = tw_kr_int(n, "units", 0), in = x->shape.dim[x->shape.rank - 1];
    tw_value *w = tw_kr_variable(n, n->store, 0, "kernel", 2, (int64_t[]){in, units}), *bias = NULL;
    if (tw_kr_flag(n, "use_bias", true) &&
        !(bias = tw_kr_variable(n, n->store, 1, "bias", 1, &units)))
        return false;
    return tw_kr_set(n, tw_kr_activate(n, "activation", tw_kr_product(n, x, w, 1, bias)));
}

/* --- EinsumDense ------------------------------------------------------------------------------- */

/* "abc,cd->abd": letters of the input, the kernel and the result; `...` stands for as many axes of the
 * input as have no letter, which are called 1, 2, ... */
typedef struct equation {
    char x[TW_MAX_RANK + 1], w[TW_MAX_RANK + 1], y[TW_MAX_RANK + 1];
} equation;

static bool take_letters(tw_kr_node *n, const char **at, const char *until, int axes, char *letters)
{
    int count = 0;
    for (; **at && strncmp(*at, until, strlen(until)) != 0; ++*at) {
        if (**at == ' ')
            continue;
        if (strncmp(*at, "...", 3) == 0) {
            for (int i = 0; i < axes && count < TW_MAX_RANK; i++)
                letters[count++] = (char)('1' + i);
            *at += 2;
            continue;
        }
        bool letter = (**at >= 'a' && **at <= 'z') || (**at >= 'A' && **at <= 'Z');
        if (!letter || count == TW_MAX_RANK || memchr(letters, **at, (size_t)count))
            return TW_KR_UNSUPPORTED(n,
                                     "its equation is not of the kind that is supported: different "
                                     "letters for the axes, such as abc,cd->abd");
        letters[count++] = **at;
    }
    *at += strlen(until) * (size_t)(**at != 0);
    letters[count] = 0;
    return true;
}

static bool read_equation(tw_kr_node *n, int rank, equation *e)
{
    const char *text = tw_kr_word(n, "equation", ""), *comma = strchr(text, ',');
    int letters = 0;
    for (const char *at = text; comma && at < comma; at++)
        letters += *at != ' ' && *at != '.';
    if (!comma || !strstr(text, "->"))
        return TW_KR_FAIL(n, "its equation '%.60s' is damaged", text);
    const int open = rank > letters ? rank - letters : 0;
    if (!take_letters(n, &text, ",", open, e->x) || !take_letters(n, &text, "->", 0, e->w) ||
        !take_letters(n, &text, "\n", open, e->y))
        return false;
    return strlen(e->x) == (size_t)rank ||
           TW_KR_FAIL(n, "its equation has %zu axes for an input of %d", strlen(e->x), rank);
}

/* Where each letter of `to` stands in `from`; false where one does not. */
static bool find_letters(const char *from, const char *to, int64_t *perm)
{
    for (int i = 0; to[i]; i++) {
        const char *at = strchr(from, to[i]);
        if (!at)
            return false;
        perm[i] = at - from;
    }
    return strlen(from) == strlen(to);
}

static tw_value *permuted(tw_kr_node *n, tw_value *x, const int64_t *perm)
{
    bool same = true;
    for (int i = 0; x && i < x->shape.rank; i++)
        same = same && perm[i] == i;
    return !x || same ? x : tw_build_transpose(n->b, x, x->shape.rank, perm);
}

/* The input's letters that the kernel shares go last, the kernel's first, in the kernel's order; each
 * letter of the result must come from one of the two. */
static bool arrange(tw_kr_node *n, const equation *e, char *x, char *w, char *y, int *contracted)
{
    int kept = 0, made = 0, shared = 0;
    for (int i = 0; e->x[i]; i++)
        if (!strchr(e->w, e->x[i]))
            x[kept++] = e->x[i];
    memcpy(y, x, (size_t)kept);
    for (int i = 0; e->w[i]; i++)
        if (strchr(e->x, e->w[i])) {
            x[kept + shared] = w[shared] = e->w[i];
            shared++;
        }
    for (int i = 0; e->w[i]; i++)
        if (!strchr(e->x, e->w[i])) {
            w[shared + made] = e->w[i];
            if (kept + made < TW_MAX_RANK)
                y[kept + made] = e->w[i];
            made++;
        }
    x[kept + shared] = w[shared + made] = 0;
    y[kept + made < TW_MAX_RANK ? kept + made : TW_MAX_RANK] = 0;
    *contracted = shared;
    int64_t unused[TW_MAX_RANK];
    return (kept + made <= TW_MAX_RANK && shared > 0 && find_letters(y, e->y, unused)) ||
           TW_KR_UNSUPPORTED(n,
                             "its equation sums over other axes than those that input and kernel "
                             "share, or keeps one of these; neither is supported");
}

/* A bias over the axes that it names, from the first of them on. */
static tw_value *einsum_bias(tw_kr_node *n, const equation *e, const tw_value *y)
{
    const char *axes = tw_kr_word(n, "bias_axes", "");
    int64_t dim[TW_MAX_RANK];
    int rank = 0, found = 0;
    for (int i = 0; e->y[i]; i++) {
        const bool own = strchr(axes, e->y[i]) != NULL;
        found += own;
        if (found)
            dim[rank++] = own ? y->shape.dim[i] : 1;
    }
    if (strlen(axes) == (size_t)found)
        return tw_kr_variable(n, n->store, 1, "bias", rank, dim);
    TW_KR_FAIL(n, "its bias is over axes '%.20s' that its result does not have", axes);
    return NULL;
}

bool tw_kr_op_einsum_dense(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 1, TW_MAX_RANK);
    equation e;
    char to_x[2 * TW_MAX_RANK + 1], to_w[2 * TW_MAX_RANK + 1], from_y[TW_MAX_RANK + 1];
    int64_t any[TW_MAX_RANK], perm_x[TW_MAX_RANK], perm_w[TW_MAX_RANK], perm_y[TW_MAX_RANK];
    int contracted;
    if (!x || !read_equation(n, x->shape.rank, &e) ||
        !arrange(n, &e, to_x, to_w, from_y, &contracted))
        return false;
    for (int i = 0; e.w[i]; i++) {
        const char *at = strchr(e.x, e.w[i]);
        any[i] = at ? x->shape.dim[at - e.x] : -1;
    }
    tw_value *w = tw_kr_variable(n, n->store, 0, "kernel", (int)strlen(e.w), any);
    if (!w || !find_letters(e.x, to_x, perm_x) || !find_letters(e.w, to_w, perm_w) ||
        !find_letters(from_y, e.y, perm_y))
        return false;
    w = permuted(n, w, perm_w);
    tw_value *y = tw_kr_product(n, permuted(n, x, perm_x), w, contracted, NULL);
    y = w ? spread(n, y, w->shape.rank - contracted, w->shape.dim + contracted) : NULL;
    y = permuted(n, y, perm_y);
    if (y && tw_kr_get(n, "bias_axes")) {
        tw_value *bias = einsum_bias(n, &e, y);
        y = bias ? tw_build2(n->b, "Add", y, bias, NULL) : NULL;
    }
    return tw_kr_set(n, tw_kr_activate(n, "activation", y));
}

/* --- Embedding --------------------------------------------------------------------------------- */

bool tw_kr_op_embedding(tw_kr_node *n)
{
    tw_value *x = tw_kr_in(n, 1, TW_MAX_RANK - 1);
    const int64_t dim[] = {tw_kr_int(n, "input_dim", 0), tw_kr_int(n, "output_dim", 0)};
    tw_value *w = x ? tw_kr_variable(n, n->store, 0, "embeddings", 2, dim) : NULL;
    x = tw_build_cast(n->b, x, TW_S32);
    if (w && x && tw_kr_flag(n, "mask_zero", false))
        n->out_mask[0] = tw_build2(n->b, "NotEqual", x, tw_build_scalar(n->b, TW_S32, 0), NULL);
    return w && tw_kr_set(n, tw_build_gather(n->b, w, x, 0, 0));
}

/* An embedding and, called with `reverse`, the way back: a number for each row of the table, or of one of its own
 * that stands transposed. */
bool tw_kr_op_reversible_embedding(tw_kr_node *n)
{
    const int64_t dim[] = {tw_kr_int(n, "input_dim", 0), tw_kr_int(n, "output_dim", 0)};
    const int64_t own[] = {dim[1], dim[0]}, turned[] = {1, 0};
    if (!tw_kr_argument_flag(n, 1, "reverse"))
        return tw_kr_op_embedding(n);
    tw_value *x = tw_kr_real_value(n, tw_kr_in(n, 1, TW_MAX_RANK)), *w;
    if (tw_kr_flag(n, "tie_weights", true)) {
        w = tw_kr_variable(n, n->store, 0, "embeddings", 2, dim);
        w = w ? tw_build_weight(n->b, w, turned, 0, NULL) : NULL;
    } else {
        w = tw_kr_variable(n, n->store, 1, "reverse_embeddings", 2, own);
    }
    tw_value *y = tw_kr_product(n, x, w, 1, NULL);
    if (y && tw_kr_get(n, "logit_soft_cap")) {
        tw_value *cap = tw_kr_scalar(n, tw_kr_real(n, "logit_soft_cap", 1));
        y = tw_build2(n->b, "Div", y, cap, NULL);
        y = y ? tw_build1(n->b, "Tanh", y, NULL) : NULL;
        y = y ? tw_build2(n->b, "Mul", y, cap, NULL) : NULL;
    }
    return tw_kr_set(n, y);
}
