/* Patterns: reading and matching. Matching goes from the result towards x and takes the first
 * alternative and order of operands that fits; what it has noted on a way that does not fit is
 * forgotten. */
#include "normalize/fuse_composed/pattern.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/axes.h"

enum { MOST = 4 }; /* operands of an operator, or alternatives */

typedef enum tw_pattern_kind { ANY_X, EPSILON, NUMBER, OPERATOR, ALTERNATIVES } tw_pattern_kind;

struct tw_pattern {
    tw_pattern_kind kind;
    float number[2]; /* the number, or alpha and beta */
    int number_count;
    int code; /* of the operator */
    const tw_pattern *part[MOST];
    int part_count;
};

/* ---- reading ---- */

typedef struct reader {
    tw_arena *arena;
    const char *at;
} reader;

static bool take(reader *r, char c)
{
    bool here = *r->at == c;
    r->at += here;
    return here;
}

static bool read_number(reader *r, tw_pattern *p)
{
    char *end;
    if (p->number_count == 2)
        return false;
    p->number[p->number_count++] = strtof(r->at, &end);
    bool any = end != r->at;
    r->at = end;
    return any;
}

static const tw_pattern *read_pattern(reader *r);

/* Patterns between `separator` up to the closing bracket. */
static bool read_parts(reader *r, tw_pattern *p, char separator)
{
    do {
        if (p->part_count == MOST)
            return false;
        p->part[p->part_count] = read_pattern(r);
        if (!p->part[p->part_count++])
            return false;
    } while (take(r, separator));
    return take(r, ')');
}

static bool read_operator(reader *r, tw_pattern *p)
{
    size_t length = 0;
    while (isalnum((unsigned char)r->at[length]))
        length++;
    const tw_opdef *op = tw_op_by_name(tw_strndup(r->arena, r->at, length));
    r->at += length;
    if (!op)
        return false;
    p->kind = OPERATOR;
    p->code = op->code;
    if (take(r, '[')) {
        if (!read_number(r, p) || (take(r, ',') && !read_number(r, p)) || !take(r, ']'))
            return false;
    }
    return take(r, '(') && read_parts(r, p, ',');
}

static const tw_pattern *read_pattern(reader *r)
{
    tw_pattern *p = tw_alloc(r->arena, sizeof *p);
    bool ok = true;
    if (take(r, '(')) {
        p->kind = ALTERNATIVES;
        ok = read_parts(r, p, '|');
    } else if (take(r, 'x')) {
        p->kind = ANY_X;
    } else if (take(r, 'e')) {
        p->kind = EPSILON;
    } else if (isupper((unsigned char)*r->at)) {
        ok = read_operator(r, p);
    } else {
        p->kind = NUMBER;
        ok = read_number(r, p);
    }
    return ok ? p : NULL;
}

const tw_pattern *tw_pattern_read(tw_arena *arena, const char *text)
{
    reader r = {arena, text};
    const tw_pattern *p = read_pattern(&r);
    return *r.at ? NULL : p;
}

/* ---- matching ---- */

/* Exporters round such constants to float at different places. */
static bool is_close(float a, float b)
{
    return fabsf(a - b) <= 1e-6f * fabsf(b);
}

static bool has_numbers(const tw_pattern *p, const tw_node *node)
{
    static const char *const names[] = {"alpha", "beta"};
    for (int i = 0; i < 2 && i < p->number_count; i++) {
        const float *value = tw_float_of(node, names[i]);
        if (!value || !is_close(*value, p->number[i]))
            return false;
    }
    return true;
}

/* Over the axes of the other reductions, which stay. */
static bool reduces_alike(const tw_node *node, tw_found *f)
{
    int rank = node->in[0]->shape.rank;
    int32_t mask = rank > 0 ? tw_axis_mask(tw_ints_of(node, "axes"), rank) : 0;
    if (mask <= 0 || !*tw_int_of(node, "keepdims") || (f->reduced && f->reduced != mask))
        return false;
    f->reduced = mask;
    return true;
}

static bool note(tw_found *f, tw_node *node)
{
    for (int i = 0; i < f->node_count; i++)
        if (f->node[i] == node)
            return true;
    if (f->node_count == TW_PATTERN_NODES)
        return false;
    f->node[f->node_count++] = node;
    return true;
}

static bool match_value(const tw_pattern *p, tw_value *value, tw_found *f);

static bool match_operands(const tw_pattern *p, const tw_node *node, bool swapped, tw_found *f)
{
    for (int i = 0; i < p->part_count; i++)
        if (!match_value(p->part[i], node->in[swapped ? 1 - i : i], f))
            return false;
    return true;
}

static bool commutes(int code)
{
    return code == TW_OPCODE_add || code == TW_OPCODE_mul || code == TW_OPCODE_max ||
           code == TW_OPCODE_min;
}

static bool match_node(const tw_pattern *p, tw_node *node, tw_found *f)
{
    if (!node || node->op->code != p->code || node->in_count != p->part_count ||
        node->out_count != 1 || node->out[0]->shape.dtype != TW_F32 || tw_has_clamp(node) ||
        !has_numbers(p, node) || (tw_is_reduce(node) && !reduces_alike(node, f)) || !note(f, node))
        return false;
    const tw_found before = *f;
    if (match_operands(p, node, false, f))
        return true;
    *f = before;
    return commutes(p->code) && match_operands(p, node, true, f);
}

static bool match_value(const tw_pattern *p, tw_value *value, tw_found *f)
{
    float element;
    switch (p->kind) {
    case ANY_X: f->x = f->x ? f->x : value; return f->x == value && !value->data;
    case EPSILON:
        if (!tw_is_uniform(value, &element) || !(element >= 0) ||
            (f->epsilon >= 0 && f->epsilon != element))
            return false;
        f->epsilon = element;
        return true;
    case NUMBER: return tw_is_uniform(value, &element) && is_close(element, p->number[0]);
    case OPERATOR: return !value->is_output && match_node(p, value->producer, f);
    case ALTERNATIVES: break;
    }
    const tw_found before = *f;
    for (int i = 0; i < p->part_count; i++) {
        if (match_value(p->part[i], value, f))
            return true;
        *f = before;
    }
    return false;
}

/* Do only nodes that were found read what each but the first of them computes? */
static bool is_closed(const tw_found *f)
{
    for (int i = 1; i < f->node_count; i++) {
        int reads = 0;
        for (int k = 0; k < f->node_count; k++)
            for (int j = 0; j < f->node[k]->in_count; j++)
                reads += f->node[k]->in[j] == f->node[i]->out[0];
        if (reads != f->node[i]->out[0]->index)
            return false;
    }
    return true;
}

/* Is what the reductions reduce of x's shape? */
static bool reduces_x(const tw_found *f)
{
    for (int i = 0; i < f->node_count; i++)
        if (tw_is_reduce(f->node[i]) && !tw_shape_equal(&f->node[i]->in[0]->shape, &f->x->shape))
            return false;
    return true;
}

bool tw_pattern_find(const tw_pattern *pattern, tw_node *root, tw_found *found)
{
    tw_found none = {.epsilon = -1};
    bool whole = false;
    /* At the root itself, being an output does not matter. */
    if (pattern->kind == ALTERNATIVES) {
        for (int i = 0; i < pattern->part_count && !whole; i++)
            whole = tw_pattern_find(pattern->part[i], root, found);
        return whole;
    }
    *found = none;
    return match_node(pattern, root, found) && found->x &&
           tw_shape_equal(&found->x->shape, &root->out[0]->shape) && reduces_x(found) &&
           is_closed(found);
}
