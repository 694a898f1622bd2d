/* Einsum: sums of products over named axes. Operands are taken one after the other; two of them are a
 * batched matrix product: of their axes, those that both have and that are still needed are the batch,
 * those that both have and nobody needs are summed over, the others are rows and columns. */
#include <string.h>

#include "import/product.h"

#define FAIL(e, ...) tw_fail((e)->b->diag, TW_CODE_FAILED, (e)->b->node, (e)->op, __VA_ARGS__)
#define UNSUPPORTED(e, ...)                                                                        \
    tw_fail((e)->b->diag, TW_CODE_UNSUPPORTED, (e)->b->node, (e)->op, __VA_ARGS__)

/* Labels: letters, and for the axes of an ellipsis, counted from its end, small numbers. */
enum { MOST_LABELS = 2 * TW_MAX_RANK, MOST_OPERANDS = 16 };

typedef struct tw_term {
    int rank;
    char label[MOST_LABELS];
} tw_term;

typedef struct tw_einsum {
    tw_builder *b;
    const char *op; /* as the file spells it, for messages */
    int count;
    tw_term in[MOST_OPERANDS], out;
    tw_value *value[MOST_OPERANDS];
    int32_t extent[128]; /* by label; 0: unknown */
} tw_einsum;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int find(const tw_term *t, char label)
{
    for (int i = 0; i < t->rank; i++)
        if (t->label[i] == label)
            return i;
    return -1;
}

/* --- the equation ------------------------------------------------------------------------------ */

/* One term up to `end`; an ellipsis stands for `wide` axes. */
static bool read_term(const tw_einsum *e, const char *at, const char *end, int wide, tw_term *t)
{
    bool spread = false;
    t->rank = 0;
    while (at < end) {
        if (end - at >= 3 && memcmp(at, "...", 3) == 0 && !spread) {
            spread = true;
            at += 3;
            for (int i = wide; i > 0 && t->rank < MOST_LABELS; i--)
                t->label[t->rank++] = (char)i;
            continue;
        }
        if (*at != ' ' && !is_letter(*at))
            return FAIL(e, "the equation holds '%c' where a letter must stand", *at);
        if (is_letter(*at) && t->rank == MOST_LABELS)
            return UNSUPPORTED(e, "a term of the equation has more than %d letters", MOST_LABELS);
        if (is_letter(*at))
            t->label[t->rank++] = *at;
        at++;
    }
    return true;
}

static int letters(const char *at, const char *end)
{
    int count = 0;
    for (; at < end; at++)
        count += is_letter(*at);
    return count;
}

/* Extents by label; axes of extent 1 give way, as the ellipsis lets them. */
static bool note_extents(tw_einsum *e, int i)
{
    const tw_shape *x = &e->value[i]->shape;
    for (int k = 0; k < x->rank; k++) {
        int32_t *known = &e->extent[(int)e->in[i].label[k]];
        if (*known > 1 && x->dim[k] != 1 && x->dim[k] != *known)
            return FAIL(e, "an axis is %d in operand %d, %d in one before it", (int)x->dim[k], i,
                        (int)*known);
        if (*known <= 1)
            *known = x->dim[k];
    }
    return true;
}

static bool read_operands(tw_einsum *e, const char *text, const char *end, int *widest)
{
    *widest = 0;
    for (int i = 0; i < e->count; i++) {
        const char *stop = memchr(text, ',', (size_t)(end - text));
        stop = stop ? stop : end;
        tw_value *x = e->value[i];
        int wide = x->shape.rank - letters(text, stop);
        bool spread = memchr(text, '.', (size_t)(stop - text)) != NULL;
        if (wide < 0 || (!spread && wide != 0))
            return FAIL(e, "operand %d has rank %d, the equation gives it %d letters", i,
                        x->shape.rank, letters(text, stop));
        *widest = wide > *widest ? wide : *widest;
        if (!read_term(e, text, stop, wide, &e->in[i]) || !note_extents(e, i))
            return false;
        text = stop + (stop < end && i + 1 < e->count);
    }
    return text == end || FAIL(e, "the equation has more terms than the node operands");
}

/* Without a right-hand side: the ellipsis, then the letters that stand once, in alphabetical order. */
static void imply_output(tw_einsum *e, int widest)
{
    e->out.rank = 0;
    for (int i = widest; i > 0; i--)
        e->out.label[e->out.rank++] = (char)i;
    for (int letter = 'A'; letter <= 'z'; letter++) {
        const char c = (char)letter;
        int seen = 0;
        for (int i = 0; i < e->count; i++)
            for (int k = 0; k < e->in[i].rank; k++)
                seen += e->in[i].label[k] == c;
        if (seen == 1 && is_letter(c) && e->out.rank < MOST_LABELS)
            e->out.label[e->out.rank++] = c;
    }
}

static bool read_equation(tw_einsum *e, const char *equation)
{
    const char *arrow = strstr(equation, "->");
    const char *end = arrow ? arrow : equation + strlen(equation);
    int widest;
    if (!read_operands(e, equation, end, &widest))
        return false;
    if (!arrow)
        imply_output(e, widest);
    else if (!read_term(e, arrow + 2, arrow + 2 + strlen(arrow + 2), widest, &e->out))
        return false;
    for (int k = 0; k < e->out.rank; k++) {
        bool known = e->out.label[k] < 16; /* of an ellipsis */
        for (int i = 0; i < e->count; i++)
            known |= find(&e->in[i], e->out.label[k]) >= 0;
        if (!known || find(&e->out, e->out.label[k]) != k)
            return FAIL(e, "the result has a letter twice, or one that no operand has");
    }
    return e->out.rank <= TW_MAX_RANK ||
           UNSUPPORTED(e, "a result of rank %d; at most %d is supported", e->out.rank, TW_MAX_RANK);
}

/* --- rearranging ------------------------------------------------------------------------------- */

/* Bring a value's axes into the order of `to`, which has all of its labels. */
static tw_value *permute(tw_einsum *e, tw_value *x, tw_term *t, const tw_term *to)
{
    int64_t perm[TW_MAX_RANK];
    bool same = true;
    for (int i = 0; i < t->rank; i++) {
        perm[i] = find(t, to->label[i]);
        same &= perm[i] == i;
    }
    *t = *to;
    return same ? x : tw_build_transpose(e->b, x, t->rank, perm);
}

/* A letter that stands twice in one operand: the diagonal of the two axes, elements of which are
 * extent + 1 apart in a row of both. */
static tw_value *diagonal(tw_einsum *e, tw_value *x, tw_term *t)
{
    for (int i = 0; x && i < t->rank; i++) {
        int other = i + 1;
        while (other < t->rank && t->label[other] != t->label[i])
            other++;
        if (other == t->rank)
            continue;
        int64_t perm[TW_MAX_RANK], dim[TW_MAX_RANK], extent = x->shape.dim[i];
        tw_term rest = {0, {0}};
        if (x->shape.dim[other] != extent) {
            FAIL(e, "a letter stands for axes of %d and %d", (int)extent, (int)x->shape.dim[other]);
            return NULL;
        }
        for (int k = 0; k < t->rank; k++)
            if (k != i && k != other) {
                dim[rest.rank] = x->shape.dim[k];
                perm[rest.rank] = k;
                rest.label[rest.rank++] = t->label[k];
            }
        perm[rest.rank] = i;
        perm[rest.rank + 1] = other;
        dim[rest.rank] = extent * extent;
        rest.label[rest.rank++] = t->label[i];
        x = tw_build_transpose(e->b, x, t->rank, perm);
        x = tw_build_reshape(e->b, x, rest.rank, dim);
        x = tw_build_slice(e->b, x, rest.rank - 1, 0, extent, extent + 1);
        *t = rest;
        i = -1;
    }
    return x;
}

/* Is the label needed behind operand `last`? */
static bool needed(const tw_einsum *e, char label, int last)
{
    bool found = find(&e->out, label) >= 0;
    for (int i = last + 1; i < e->count; i++)
        found |= find(&e->in[i], label) >= 0;
    return found;
}

/* Sum over the labels that neither `other` nor anybody behind `last` has. */
static tw_value *sum_alone(tw_einsum *e, tw_value *x, tw_term *t, const tw_term *other, int last)
{
    int64_t axes[TW_MAX_RANK];
    int count = 0, kept = 0;
    for (int i = 0; i < t->rank; i++) {
        if (!needed(e, t->label[i], last) && !(other && find(other, t->label[i]) >= 0))
            axes[count++] = i;
        else
            t->label[kept++] = t->label[i];
    }
    t->rank = kept;
    return count == 0 ? x
                      : tw_build1(e->b, "ReduceSum", x,
                                  TW_SETTINGS(tw_set_ints("axes", count, axes),
                                              tw_set_int("keepdims", 0)));
}

/* --- two operands ------------------------------------------------------------------------------ */

/* The labels of two operands by what becomes of them. */
typedef struct tw_roles {
    tw_term batch, rows, columns, depth;
} tw_roles;

static void add_label(tw_term *t, char label)
{
    if (t->rank < MOST_LABELS)
        t->label[t->rank++] = label;
}

static tw_roles roles_of(const tw_einsum *e, const tw_term *a, const tw_term *b, int last)
{
    tw_roles r = {{0, {0}}, {0, {0}}, {0, {0}}, {0, {0}}};
    for (int i = 0; i < a->rank; i++)
        add_label(find(b, a->label[i]) < 0       ? &r.rows
                  : needed(e, a->label[i], last) ? &r.batch
                                                 : &r.depth,
                  a->label[i]);
    for (int i = 0; i < b->rank; i++)
        if (find(a, b->label[i]) < 0)
            add_label(&r.columns, b->label[i]);
    return r;
}

static int64_t extents(const tw_einsum *e, const tw_term *t)
{
    int64_t product = 1;
    for (int i = 0; i < t->rank; i++)
        product *= e->extent[(int)t->label[i]];
    return product;
}

static tw_term joined(const tw_term *a, const tw_term *b, const tw_term *c)
{
    tw_term all = *a;
    for (int i = 0; i < b->rank; i++)
        add_label(&all, b->label[i]);
    for (int i = 0; i < c->rank; i++)
        add_label(&all, c->label[i]);
    return all;
}

/* An operand as [batch, one, other], its axes of extent 1 spread to what their letters stand for. */
static tw_value *as_matrices(tw_einsum *e, tw_value *x, tw_term *t, const tw_term *batch,
                             const tw_term *one, const tw_term *other)
{
    tw_term order = joined(batch, one, other);
    x = permute(e, x, t, &order);
    tw_shape full = x ? x->shape : (tw_shape){.rank = 0};
    for (int i = 0; x && i < full.rank; i++)
        full.dim[i] = e->extent[(int)t->label[i]];
    int64_t dim[] = {extents(e, batch), extents(e, one), extents(e, other)};
    return tw_build_reshape(e->b, tw_build_expand(e->b, x, &full), 3, dim);
}

/* [B, M, K] times [B, K, N]. */
static tw_value *product(tw_einsum *e, tw_value *a, tw_value *b)
{
    tw_builder *build = e->b;
    if (!a || !b)
        return NULL;
    const int32_t *m = a->shape.dim, *n = b->shape.dim;
    if (m[2] == 1)
        return tw_build2(build, "Mul", a, b, NULL);
    if (m[0] > 1)
        return tw_build_matmul(build, e->op, a, b);
    const int64_t flat_a[] = {m[1], m[2]}, flat_b[] = {n[1], n[2]}, out[] = {1, m[1], n[2]};
    return tw_build_reshape(build,
                            tw_build_matmul(build, e->op, tw_build_reshape(build, a, 2, flat_a),
                                            tw_build_reshape(build, b, 2, flat_b)),
                            3, out);
}

static tw_value *contract(tw_einsum *e, tw_value *a, tw_term *t, int i)
{
    tw_term u = e->in[i];
    tw_value *b = diagonal(e, e->value[i], &u);
    if (!b)
        return NULL;
    a = sum_alone(e, a, t, &u, i);
    b = sum_alone(e, b, &u, t, i);
    tw_roles r = roles_of(e, t, &u, i);
    tw_term out = joined(&r.batch, &r.rows, &r.columns);
    if (out.rank > TW_MAX_RANK || r.batch.rank + r.columns.rank + r.depth.rank > TW_MAX_RANK) {
        UNSUPPORTED(e, "a product of rank %d on the way; at most %d is supported", out.rank,
                    TW_MAX_RANK);
        return NULL;
    }
    tw_value *y = product(e, as_matrices(e, a, t, &r.batch, &r.rows, &r.depth),
                          as_matrices(e, b, &u, &r.batch, &r.depth, &r.columns));
    int64_t dim[TW_MAX_RANK];
    for (int k = 0; k < out.rank; k++)
        dim[k] = e->extent[(int)out.label[k]];
    *t = out;
    return tw_build_reshape(e->b, y, out.rank, dim);
}

/* Integers of less than 32 bits, which wrap around, are computed in 32. */
static bool widen(tw_einsum *e)
{
    static const struct {
        tw_dtype narrow, wide;
    } types[] = {{TW_S8, TW_S32}, {TW_U8, TW_U32}, {TW_S16, TW_S32}, {TW_U16, TW_U32}};
    for (int i = 0; i < e->count; i++)
        for (size_t k = 0; k < sizeof types / sizeof *types; k++)
            if (e->value[i]->shape.dtype == types[k].narrow &&
                !(e->value[i] = tw_build_cast(e->b, e->value[i], types[k].wide)))
                return false;
    return true;
}

tw_value *tw_build_einsum(tw_builder *b, const char *op, const char *equation, tw_value *const *in,
                          int count)
{
    tw_einsum *e = tw_alloc(b->arena, sizeof *e);
    *e = (tw_einsum){.b = b, .op = op, .count = count};
    if (count < 1 || count > MOST_OPERANDS) {
        UNSUPPORTED(e, "%d operands; 1 to %d are supported", count, MOST_OPERANDS);
        return NULL;
    }
    for (int i = 0; i < count; i++)
        e->value[i] = in[i];
    if (!read_equation(e, equation) || !widen(e))
        return NULL;
    tw_term t = e->in[0];
    tw_value *y = diagonal(e, e->value[0], &t);
    if (y && count == 1)
        y = sum_alone(e, y, &t, NULL, 0);
    for (int i = 1; y && i < count; i++)
        y = contract(e, y, &t, i);
    /* What is left are the result's axes, but for those that an ellipsis has lost. */
    if (y && t.rank != e->out.rank) {
        UNSUPPORTED(e, "the ellipsis stands for no axes of the result");
        return NULL;
    }
    y = y ? permute(e, y, &t, &e->out) : NULL;
    return tw_build_cast(b, y, in[0]->shape.dtype);
}
