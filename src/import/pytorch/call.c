/* Calls of operators: the row whose signature the arguments fit, and the arguments as rows want them.
 *
 * A signature is written as PyTorch documents it: types, names, defaults. Types: Tensor, Scalar (a number),
 * Value (either), int, float, bool, str, type (of elements), any; T[] a list of T, int[] also a single
 * number; T? also None. A default is a number, True, False, None or []. */
#include <stdlib.h>
#include <string.h>

#include "import/pytorch/torch.h"

static const tw_torch_row rows[] = {
#define TW_ATEN(name, signature, function, view, becomes, limits)                                  \
    {name, signature, tw_torch_op_##function, view, becomes, limits},
#include "import/pytorch/pytorch.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

const tw_torch_row *tw_torch_row_at(int index)
{
    return index < ROWS ? &rows[index] : NULL;
}

/* --- signatures -------------------------------------------------------------------------------- */

typedef struct tw_parameter {
    const char *type, *name,
        *otherwise; /* into the signature; otherwise: null where there is none */
    size_t type_length, name_length;
} tw_parameter;

static int parse_signature(const char *text, tw_parameter *p)
{
    int count = 0;
    for (const char *at = text; *at && count < TW_TORCH_ARGUMENTS; count++) {
        const size_t length = strcspn(at, ","), type = strcspn(at, " ");
        const char *name = at + type + 1;
        const char *equals = memchr(name, '=', (size_t)(at + length - name));
        p[count] = (tw_parameter){at, name, equals ? equals + 1 : NULL, type, 0};
        p[count].name_length = (size_t)((equals ? equals : at + length) - name);
        at += length;
        at += strspn(at, ", ");
    }
    return count;
}

static tw_torch_object *default_of(tw_torch *t, const tw_parameter *p)
{
    const char *text = p->otherwise;
    if (!text)
        return NULL;
    if (*text == 'N')
        return tw_torch_new(t->scratch, TW_TORCH_NONE);
    if (*text == 'T' || *text == 'F')
        return tw_torch_new_bool(t->scratch, *text == 'T');
    if (*text == '[')
        return tw_torch_new(t->scratch, TW_TORCH_LIST);
    if (*text == '\'')
        return tw_torch_new_text(t->scratch,
                                 tw_strndup(t->scratch, text + 1, strcspn(text + 1, "'")));
    char *end;
    const long whole = strtol(text, &end, 10);
    return *end == '.' || *end == 'e' ? tw_torch_new_float(t->scratch, strtod(text, NULL))
                                      : tw_torch_new_int(t->scratch, whole);
}

static bool is_one(const tw_torch_object *o, const char *type, size_t length)
{
    static const struct {
        const char *name;
        unsigned kinds;
    } types[] = {
        {"Tensor", 1u << TW_TORCH_TENSOR},
        {"Scalar", 1u << TW_TORCH_INT | 1u << TW_TORCH_FLOAT | 1u << TW_TORCH_BOOL},
        {"Value",
         1u << TW_TORCH_TENSOR | 1u << TW_TORCH_INT | 1u << TW_TORCH_FLOAT | 1u << TW_TORCH_BOOL},
        {"int", 1u << TW_TORCH_INT | 1u << TW_TORCH_BOOL},
        {"float", 1u << TW_TORCH_INT | 1u << TW_TORCH_FLOAT},
        {"bool", 1u << TW_TORCH_BOOL | 1u << TW_TORCH_INT},
        {"str", 1u << TW_TORCH_TEXT},
        {"type", 1u << TW_TORCH_INT},
        {"any", ~0u},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, type, length) == 0)
            return types[i].kinds >> o->kind & 1;
    return false;
}

static bool is_of(const tw_torch_object *o, const tw_parameter *p)
{
    const char *type = p->type;
    size_t length = p->type_length;
    if (type[length - 1] == '?') {
        if (o->kind == TW_TORCH_NONE)
            return true;
        length--;
    }
    if (type[length - 1] != ']')
        return is_one(o, type, length);
    length -= 2;
    bool optional = type[length - 1] == '?';
    length -= optional;
    if (o->kind != TW_TORCH_LIST && o->kind != TW_TORCH_TUPLE)
        return type[0] == 'i' && is_one(o, type, length);
    for (int i = 0; i < o->count; i++)
        if (!is_one(o->items[i], type, length) && !(optional && o->items[i]->kind == TW_TORCH_NONE))
            return false;
    return true;
}

/* --- binding ----------------------------------------------------------------------------------- */

static bool is_named(const tw_parameter *p, const char *name)
{
    return strlen(name) == p->name_length && memcmp(name, p->name, p->name_length) == 0;
}

/* The position that parameter i takes; -1: none. */
static int position_of(const tw_parameter *p, int count, int i, const tw_torch_given *given)
{
    if (!given->called)
        return i < given->positions ? i : -1;
    for (int k = 0; k < given->positions; k++)
        if (is_named(&p[i], given->called[k]))
            return k;
    for (int k = 0; k < count && i < given->positions; k++)
        if (is_named(&p[k], given->called[i]))
            return -1; /* another parameter's */
    return i < given->positions ? i : -1;
}

/* Does the row take these arguments? Then they are in call->arg. */
static bool bind(tw_torch_call *c, const tw_torch_row *row, const tw_torch_given *given)
{
    tw_parameter p[TW_TORCH_ARGUMENTS];
    const int count = parse_signature(row->signature, p);
    bool used[TW_TORCH_ARGUMENTS] = {false};
    if (given->positions > count)
        return false;
    for (int i = 0; i < count; i++) {
        const int at = position_of(p, count, i, given);
        tw_torch_object *o = at >= 0 ? given->position[at] : NULL;
        for (int k = 0; k < given->names && !o; k++)
            if (is_named(&p[i], given->name[k]) && k < TW_TORCH_ARGUMENTS) {
                o = given->named[k];
                used[k] = true;
            }
        if (!o)
            o = default_of(c->t, &p[i]);
        if (!o || !is_of(o, &p[i]))
            return false;
        c->arg[i] = o;
    }
    for (int k = 0; k < given->names; k++)
        if (k >= TW_TORCH_ARGUMENTS || !used[k])
            return false;
    c->count = count;
    return true;
}

static const tw_torch_row *find(tw_torch_call *c, const char *name, size_t length,
                                const tw_torch_given *given, bool *known)
{
    for (int i = 0; i < ROWS; i++) {
        if (strlen(rows[i].name) != length || memcmp(rows[i].name, name, length) != 0)
            continue;
        *known = true;
        if (bind(c, &rows[i], given))
            return &rows[i];
    }
    return NULL;
}

/* What the arguments are, for a message. */
static const char *described(tw_torch *t, const tw_torch_given *given)
{
    const char *text = "";
    for (int i = 0; i < given->positions && i < TW_TORCH_ARGUMENTS; i++)
        text = tw_format(t->scratch, "%s%s%s", text, i ? ", " : "",
                         tw_torch_kind_name(given->position[i]->kind));
    for (int i = 0; i < given->names && i < TW_TORCH_ARGUMENTS; i++)
        text = tw_format(t->scratch, "%s%s%.40s: %s", text, *text ? ", " : "", given->name[i],
                         tw_torch_kind_name(given->named[i]->kind));
    return text;
}

static bool ends_in_place(const char *name, size_t length)
{
    return length > 1 && name[length - 1] == '_' && name[length - 2] != '_';
}

/* The result takes the place of the first argument, under all its names. */
static bool store_back(tw_torch_call *c)
{
    tw_torch_object *self = c->arg[0];
    if (self->kind != TW_TORCH_TENSOR || c->result->kind != TW_TORCH_TENSOR)
        return TW_TORCH_UNSUPPORTED(c, "in place of something that is not a tensor");
    if (c->result->tensor == self->tensor)
        return true;
    if (self->tensor->shares)
        return TW_TORCH_UNSUPPORTED(c, "it changes elements that another view shows, which is not "
                                       "supported; work on a copy (clone) in the model, or export "
                                       "it with run_decompositions()");
    self->tensor->value = tw_build_cast(c->b, tw_torch_value(c->t, c->result->tensor),
                                        tw_torch_value(c->t, self->tensor)->shape.dtype);
    self->tensor->changed = true;
    c->result = self;
    return self->tensor->value != NULL;
}

static void note_views(tw_torch_call *c)
{
    tw_torch_object *self = c->count ? c->arg[0] : NULL;
    if (!c->row->view || !self || self->kind != TW_TORCH_TENSOR)
        return;
    self->tensor->shares = true;
    if (c->result->kind == TW_TORCH_TENSOR)
        c->result->tensor->shares = true;
    else
        for (int i = 0; i < c->result->count; i++)
            if (c->result->items[i]->kind == TW_TORCH_TENSOR)
                c->result->items[i]->tensor->shares = true;
}

/* What is refused for a reason that names can be told from, and what to do instead. */
static const struct {
    const char *names, *words;
} refused[] = {
    {"rand randn randint randperm rand_like randn_like randint_like bernoulli multinomial normal "
     "uniform",
     "it takes random numbers; make them an input of the model"},
    {"masked_select unique _unique2 unique_dim unique_consecutive nonzero_numpy",
     "how many elements it has depends on what is computed while the network runs; keep the mask "
     "and use torch.where"},
    {"item _local_scalar_dense", "it takes an element's value while the network runs; compute with "
                                 "the tensor instead"},
    {"_fft_r2c _fft_c2c _fft_c2r fft_fft fft_ifft fft_rfft fft_irfft stft istft complex polar "
     "view_as_complex view_as_real",
     "there are no complex numbers; write the transform as a product with cosines and sines"},
    {"stride sym_stride sym_storage_offset",
     "where elements lie is not known; use sizes, and contiguous() before views"},
    {"linalg_inv linalg_inv_ex inverse linalg_solve linalg_solve_ex linalg_svd svd linalg_qr "
     "linalg_cholesky linalg_cholesky_ex linalg_eigh linalg_det det",
     "matrices are not decomposed; of weights, compute it before exporting"},
};

static const char *reason_of(const char *name)
{
    static const char backward[] = "_backward";
    const size_t all = strlen(name), length = all - ends_in_place(name, all);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        for (const char *at = refused[i].names; *at; at += strspn(at, " ")) {
            const size_t word = strcspn(at, " ");
            if (word == length && memcmp(at, name, length) == 0)
                return refused[i].words;
            at += word;
        }
    if (length >= sizeof backward && strcmp(name + all - (sizeof backward - 1), backward) == 0)
        return "it belongs to training; export in eval() and without gradients";
    return NULL;
}

static void refuse(tw_torch_call *c)
{
    const char *reason = reason_of(c->name);
    TW_TORCH_UNSUPPORTED(c, "the operator %s%s is not supported%s%s",
                         strstr(c->name, "::") ? "" : "aten::", c->name, reason ? ": " : "",
                         reason ? reason : "");
}

tw_torch_object *tw_torch_operator(tw_torch *t, const char *name, const tw_torch_given *given)
{
    tw_torch_call c = {.t = t, .b = &t->b, .name = name};
    const size_t length = strlen(name);
    bool known = false, in_place = false;
    c.row = find(&c, name, length, given, &known);
    if (!c.row && !known && ends_in_place(name, length)) {
        c.row = find(&c, name, length - 1, given, &known);
        in_place = true;
    }
    if (!c.row) {
        if (known)
            TW_TORCH_UNSUPPORTED(&c, "called with (%s), which is not supported here",
                                 described(t, given));
        else
            refuse(&c);
        return NULL;
    }
    const char *before = t->b.node, *space = strstr(c.row->name, "::");
    t->operators++;
    t->b.node = tw_format(t->b.arena, "%s_%d", space ? space + 2 : c.row->name, t->operators);
    bool fine = c.row->import(&c) && c.result;
    if (!fine && t->b.diag->code == TW_CODE_OK)
        TW_TORCH_FAIL(&c, "its arguments do not fit each other");
    if (fine)
        note_views(&c);
    if (fine && in_place)
        fine = store_back(&c);
    if (fine && t->b.options && t->b.options->reached)
        t->b.options->reached[c.row - rows] = true;
    t->b.node = before;
    return fine && t->b.diag->code == TW_CODE_OK ? c.result : NULL;
}
