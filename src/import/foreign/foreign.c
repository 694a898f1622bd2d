/* A node of a published vocabulary: checked against its row, attributes by name. */
#include "import/foreign/foreign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- parameters -------------------------------------------------------------------------------- */

typedef struct tw_parameter {
    char name[40], kind[12], initial[24];
    bool optional, has_initial;
} tw_parameter;

static void take(char *to, size_t bytes, const char *from, size_t length)
{
    size_t n = length < bytes ? length : bytes - 1;
    memcpy(to, from, n);
    to[n] = 0;
}

/* The parameter at *at, which moves behind it; false at the end. */
static bool next_parameter(const char **at, tw_parameter *p)
{
    const char *text = *at + strspn(*at, " ");
    if (!*text)
        return false;
    size_t name = strcspn(text, ":"), kind = strcspn(text + name + 1, "?= ");
    const char *rest = text + name + 1 + kind;
    *p = (tw_parameter){.optional = *rest == '?', .has_initial = *rest == '='};
    take(p->name, sizeof p->name, text, name);
    take(p->kind, sizeof p->kind, text + name + 1, kind);
    rest += *rest == '?' || *rest == '=';
    size_t initial = strcspn(rest, " ");
    take(p->initial, sizeof p->initial, rest, initial);
    *at = rest + initial;
    return true;
}

static bool find_parameter(const tw_foreign_row *row, const char *name, tw_parameter *p)
{
    for (const char *at = row->parameters; next_parameter(&at, p);)
        if (strcmp(p->name, name) == 0)
            return true;
    return false;
}

static const tw_foreign_attribute *find(const tw_foreign_node *n, const char *name)
{
    for (int i = 0; i < n->attribute_count; i++)
        if (strcmp(n->attributes[i].name, name) == 0)
            return &n->attributes[i];
    return NULL;
}

static bool is_kind(const tw_parameter *p, const char *kind)
{
    return strcmp(p->kind, kind) == 0;
}

/* --- checks ------------------------------------------------------------------------------------ */

static bool wrong_kind(const tw_foreign_node *n, const tw_parameter *p, const char *what)
{
    return TW_FOREIGN_FAIL(n, "the attribute %s must be %s", p->name, what);
}

static bool check_integers(const tw_foreign_node *n, const tw_parameter *p,
                           const tw_foreign_attribute *a)
{
    double least = is_kind(p, "count") ? 1 : is_kind(p, "size") ? 0 : -0x1p63;
    double most = is_kind(p, "ints") ? 0x1p63 : INT32_MAX;
    if (is_kind(p, "int"))
        least = INT32_MIN;
    for (int i = 0; i < a->count; i++)
        if (!(a->numbers[i] >= least && a->numbers[i] <= most) ||
            a->numbers[i] != floor(a->numbers[i]))
            return TW_FOREIGN_FAIL(n,
                                   "the attribute %s is %.9g; whole numbers from %.9g to %.9g "
                                   "are possible",
                                   p->name, a->numbers[i], least, most);
    return true;
}

static bool check_weight(const tw_foreign_node *n, const tw_parameter *p,
                         const tw_foreign_attribute *a)
{
    if (!a->value)
        return a->numbers || wrong_kind(n, p, "a constant");
    if (!tw_build_is_weight(a->value))
        return TW_FOREIGN_UNSUPPORTED(n,
                                      "the attribute %s must be a constant, %s is computed "
                                      "while the network runs",
                                      p->name, a->value->name);
    return true;
}

static bool check_attribute(const tw_foreign_node *n, const tw_foreign_attribute *a)
{
    tw_parameter p;
    if (!find_parameter(n->row, a->name, &p))
        return TW_FOREIGN_UNSUPPORTED(n, "the operator has no attribute %s", a->name);
    if (find(n, a->name) != a)
        return TW_FOREIGN_FAIL(n, "the attribute %s is given twice", a->name);
    bool list = is_kind(&p, "ints") || is_kind(&p, "floats") || is_kind(&p, "texts");
    if (is_kind(&p, "weight"))
        return check_weight(n, &p, a);
    if (a->value)
        return wrong_kind(n, &p, "written out, not a tensor");
    if (is_kind(&p, "text") || is_kind(&p, "texts")) {
        if (!a->texts && a->count)
            return wrong_kind(n, &p, "text");
    } else if (!a->numbers) {
        return wrong_kind(n, &p, "a number");
    }
    if (!list && a->count != 1)
        return TW_FOREIGN_FAIL(n, "the attribute %s must be one value, not %d", p.name, a->count);
    if (is_kind(&p, "bool") && a->numbers[0] != 0 && a->numbers[0] != 1)
        return wrong_kind(n, &p, "true or false");
    if (is_kind(&p, "float") && isnan(a->numbers[0]))
        return wrong_kind(n, &p, "a number");
    bool whole =
        is_kind(&p, "int") || is_kind(&p, "ints") || is_kind(&p, "count") || is_kind(&p, "size");
    return !whole || check_integers(n, &p, a);
}

static bool check_attributes(const tw_foreign_node *n)
{
    tw_parameter p;
    for (int i = 0; i < n->attribute_count; i++)
        if (!check_attribute(n, &n->attributes[i]))
            return false;
    for (const char *at = n->row->parameters; next_parameter(&at, &p);)
        if (!p.optional && !p.has_initial && !find(n, p.name))
            return TW_FOREIGN_FAIL(n, "the attribute %s is missing", p.name);
    return true;
}

static bool check_counts(const tw_foreign_node *n)
{
    const tw_foreign_row *row = n->row;
    int most = row->most_in < 0 ? INT32_MAX : row->most_in;
    if (n->in_count < row->least_in || n->in_count > most)
        return TW_FOREIGN_FAIL(n, "it has %d inputs, %d to %d are possible", n->in_count,
                               row->least_in, most);
    if (n->out_count < 1 || (row->most_out >= 0 && n->out_count > row->most_out))
        return TW_FOREIGN_FAIL(n, "it has %d outputs, 1 to %d are possible", n->out_count,
                               row->most_out);
    for (int i = 0; i < row->least_in; i++)
        if (!n->in[i])
            return TW_FOREIGN_FAIL(n, "input %d is missing", i);
    return true;
}

/* --- lowering ---------------------------------------------------------------------------------- */

static tw_value *real_of(tw_builder *b, tw_value *x)
{
    return x && x->quant.count ? tw_build1(b, "Dequantize", x, NULL) : x;
}

/* " NAME=1,2" behind the text of `bytes`. */
static void append_attribute(char *text, size_t bytes, const tw_foreign_attribute *a)
{
    size_t at = strlen(text);
    at += (size_t)snprintf(text + at, bytes - at, " %s=", a->name);
    for (int i = 0; i < a->count && i < 8 && at < bytes; i++) {
        const char *comma = i ? "," : "";
        if (a->numbers)
            at += (size_t)snprintf(text + at, bytes - at, "%s%.12g", comma, a->numbers[i]);
        else
            at += (size_t)snprintf(text + at, bytes - at, "%s%.40s", comma,
                                   a->texts ? a->texts[i] : a->value->name);
    }
}

/* Messages from below speak of IR operators; the user knows the vocabulary's, and what the node says. */
static bool name_failure(const tw_foreign_node *n)
{
    tw_diag *diag = n->b->diag;
    if (diag->code == TW_CODE_OK)
        return TW_FOREIGN_FAIL(n, "the operator cannot be imported");
    if (n->attribute_count && strcmp(diag->operator_name, n->op) != 0) {
        const size_t at = strlen(diag->message);
        snprintf(diag->message + at, sizeof diag->message - at, "; its attributes are");
        for (int i = 0; i < n->attribute_count; i++)
            if (strlen(diag->message) + 1 < sizeof diag->message)
                append_attribute(diag->message, sizeof diag->message, &n->attributes[i]);
    }
    take(diag->operator_name, sizeof diag->operator_name, n->op, strlen(n->op));
    take(diag->node, sizeof diag->node, n->b->node, strlen(n->b->node));
    return false;
}

bool tw_foreign_lower(tw_foreign_node *n)
{
    if (!n->row)
        return TW_FOREIGN_UNSUPPORTED(n,
                                      "the vocabulary has no such operator; `tilewright ops "
                                      "--system %s` lists them",
                                      n->vocabulary->name);
    if (!check_counts(n) || !check_attributes(n))
        return name_failure(n);
    for (int i = 0; i < n->in_count; i++)
        if (n->in[i] && !(n->in[i] = real_of(n->b, n->in[i])))
            return name_failure(n);
    return n->row->lower(n) && n->b->diag->code == TW_CODE_OK ? true : name_failure(n);
}

bool tw_foreign_result(tw_foreign_node *n, tw_value *value)
{
    n->out[0] = value;
    return value != NULL;
}

/* --- attributes -------------------------------------------------------------------------------- */

/* What stands in for an attribute that is not given. */
static const char *initial_of(const tw_foreign_node *n, const char *name, tw_parameter *p)
{
    return find_parameter(n->row, name, p) && p->has_initial ? p->initial : "";
}

/* Whole numbers beyond 64 bits are the nearest there is: bounds of slices are written that way. */
static int64_t whole(double number)
{
    return number >= 0x1p63 ? INT64_MAX : number <= -0x1p63 ? INT64_MIN : (int64_t)number;
}

bool tw_foreign_has(const tw_foreign_node *n, const char *name)
{
    tw_parameter p;
    return find(n, name) || (find_parameter(n->row, name, &p) && p.has_initial);
}

double tw_foreign_float(const tw_foreign_node *n, const char *name)
{
    const tw_foreign_attribute *a = find(n, name);
    tw_parameter p;
    if (a)
        return a->numbers && a->count ? a->numbers[0] : 0;
    const char *initial = initial_of(n, name, &p);
    return strcmp(initial, "true") == 0 ? 1 : strtod(initial, NULL);
}

int64_t tw_foreign_int(const tw_foreign_node *n, const char *name)
{
    return whole(tw_foreign_float(n, name));
}

bool tw_foreign_flag(const tw_foreign_node *n, const char *name)
{
    return tw_foreign_float(n, name) != 0;
}

const char *tw_foreign_text(const tw_foreign_node *n, const char *name)
{
    const tw_foreign_attribute *a = find(n, name);
    tw_parameter p;
    if (a)
        return a->texts && a->count ? a->texts[0] : "";
    return tw_strdup(n->b->arena, initial_of(n, name, &p));
}

tw_foreign_list tw_foreign_ints(const tw_foreign_node *n, const char *name)
{
    const tw_foreign_attribute *a = find(n, name);
    int count = a && a->numbers ? a->count : 0;
    int64_t *v = tw_alloc_array(n->b->arena, (size_t)count + 1, sizeof *v);
    for (int i = 0; i < count; i++)
        v[i] = whole(a->numbers[i]);
    return (tw_foreign_list){count, v};
}

int tw_foreign_floats(const tw_foreign_node *n, const char *name, float *out)
{
    const tw_foreign_attribute *a = find(n, name);
    int count = a && a->numbers ? a->count : 0;
    for (int i = 0; i < count && i < TW_MAX_RANK; i++)
        out[i] = (float)a->numbers[i];
    return count;
}

tw_value *tw_foreign_weight(const tw_foreign_node *n, const char *name)
{
    const tw_foreign_attribute *a = find(n, name);
    if (!a)
        return NULL;
    if (a->value)
        return real_of(n->b, a->value);
    float *data = tw_alloc_array(n->b->arena, (size_t)a->count + 1, sizeof *data);
    for (int i = 0; i < a->count; i++)
        data[i] = (float)a->numbers[i];
    return tw_build_data(n->b, tw_shape_of(TW_F32, 1, &(int32_t){a->count}), data);
}

bool tw_foreign_number(const tw_foreign_node *n, const char *name, float *number)
{
    tw_value *weight = tw_foreign_weight(n, name);
    *number = 0;
    if (!weight)
        return true;
    if (!tw_build_constant(n->b, weight) || tw_shape_elements(&weight->shape) != 1)
        return TW_FOREIGN_FAIL(n, "the attribute %s must be one number", name);
    *number = (float)tw_constant_at(weight, 0);
    return !isnan(*number) || TW_FOREIGN_FAIL(n, "the attribute %s must be a number", name);
}

/* --- parts ------------------------------------------------------------------------------------- */

tw_value *tw_foreign_stored(const tw_foreign_node *n, int i)
{
    const tw_node *source = n->in[i] ? n->in[i]->producer : NULL;
    if (!source || strcmp(source->op->name, "Dequantize") != 0)
        return NULL;
    return source->in[0]->quant.count == 1 ? source->in[0] : NULL;
}

const char *tw_foreign_main(const tw_foreign_node *n)
{
    return tw_strndup(n->b->arena, n->row->becomes, strcspn(n->row->becomes, " "));
}

bool tw_foreign_rank(const tw_foreign_node *n, const tw_value *x, int rank)
{
    return x->shape.rank == rank ||
           TW_FOREIGN_FAIL(n, "the input has rank %d, not %d", x->shape.rank, rank);
}

bool tw_foreign_axis(const tw_foreign_node *n, const char *name, int64_t axis, int rank, int *out)
{
    if (axis < -rank || axis >= rank)
        return TW_FOREIGN_FAIL(n, "the attribute %s names the axis %lld of %d", name,
                               (long long)axis, rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

int tw_foreign_axes(const tw_foreign_node *n, const char *name, int rank, int64_t *axes)
{
    const tw_foreign_list list = tw_foreign_ints(n, name);
    bool flag[TW_MAX_RANK] = {false};
    int axis, count = 0;
    for (int i = 0; i < list.count; i++) {
        if (!tw_foreign_axis(n, name, list.v[i], rank, &axis))
            return -1;
        if (flag[axis]) {
            TW_FOREIGN_FAIL(n, "the attribute %s names the axis %d twice", name, axis);
            return -1;
        }
        flag[axis] = true;
    }
    for (axis = 0; axis < rank; axis++)
        if (flag[axis])
            axes[count++] = axis;
    return count;
}
