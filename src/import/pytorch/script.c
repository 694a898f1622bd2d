/* TorchScript's code text to trees: a tokenizer that knows indentation, and a parser of what PyTorch
 * prints: functions, assignments, calls, if, for, while, with. */
#include "import/pytorch/script.h"

#include <stdlib.h>
#include <string.h>

#include "base/locale.h"

enum { DEPTH = 200 };

typedef enum tw_mark {
    MARK_NAME,
    MARK_NUMBER,
    MARK_TEXT,
    MARK_SIGN, /* one character, or "->" */
    MARK_NEWLINE,
    MARK_INDENT,
    MARK_DEDENT,
    MARK_END
} tw_mark;

typedef struct tw_reader {
    tw_arena *arena;
    const char *source, *at, *member;
    int line, brackets, depth;
    int indents[DEPTH], indent_count, dedents;
    bool line_start;
    /* the token in hand */
    tw_mark mark;
    const char *text; /* name or contents of a string */
    char sign;
    int64_t number;
    double real;
    bool is_real;
    tw_diag *diag;
} tw_reader;

const char *tw_script_line(tw_arena *arena, const char *source, int line)
{
    for (; line > 1 && *source; line--) {
        source += strcspn(source, "\n");
        source += *source == '\n';
    }
    source += strspn(source, " ");
    size_t length = strcspn(source, "\n");
    return tw_strndup(arena, source, length < 160 ? length : 160);
}

static bool fail(tw_reader *r, const char *what)
{
    return tw_fail(r->diag, TW_CODE_UNSUPPORTED, r->member, NULL, "line %d, '%s': %s", r->line,
                   tw_script_line(r->arena, r->source, r->line), what);
}

/* --- tokens ------------------------------------------------------------------------------------ */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* At the begin of a line: how far it is indented against the one before. */
static void begin_line(tw_reader *r)
{
    for (;;) {
        const size_t space = strspn(r->at, " ");
        const char next = r->at[space];
        if (next != '\n' && next != '#') {
            const int indent = next ? (int)space : 0, now = r->indents[r->indent_count - 1];
            r->at += space;
            r->line_start = false;
            if (indent > now && r->indent_count < DEPTH) {
                r->indents[r->indent_count++] = indent;
                r->dedents = -1;
            }
            while (indent < r->indents[r->indent_count - 1]) {
                r->indent_count--;
                r->dedents++;
            }
            return;
        }
        r->at += space;
        r->at += strcspn(r->at, "\n");
        r->at += *r->at == '\n';
        r->line++;
    }
}

static bool read_number(tw_reader *r)
{
    char *end;
    tw_locale locale = tw_locale_enter();
    r->number = strtoll(r->at, &end, 10);
    r->is_real = *end == '.' || *end == 'e';
    if (r->is_real)
        r->real = strtod(r->at, &end);
    tw_locale_leave(locale);
    r->at = end;
    r->mark = MARK_NUMBER;
    return true;
}

static bool read_text(tw_reader *r)
{
    const char quote = *r->at++, *end = r->at;
    while (*end && *end != quote && *end != '\n')
        end += *end == '\\' && end[1] && end[1] != '\n' ? 2 : 1;
    if (*end != quote)
        return fail(r, "a string without an end");
    char *to = tw_alloc(r->arena, (size_t)(end - r->at) + 1);
    r->text = to;
    while (r->at < end) {
        r->at += *r->at == '\\';
        *to++ = *r->at++;
    }
    r->at++;
    r->mark = MARK_TEXT;
    return true;
}

static bool next(tw_reader *r)
{
    if (r->line_start)
        begin_line(r);
    if (r->dedents != 0) {
        r->mark = r->dedents < 0 ? MARK_INDENT : MARK_DEDENT;
        r->dedents += r->dedents < 0 ? 1 : -1;
        return true;
    }
    for (;;) {
        r->at += strspn(r->at, " \r\t");
        if (*r->at == '#')
            r->at += strcspn(r->at, "\n");
        if (*r->at != '\n' || r->brackets == 0)
            break;
        r->at++;
        r->line++;
    }
    if (*r->at == '\n') {
        r->at++;
        r->line++;
        r->line_start = true;
        r->mark = MARK_NEWLINE;
        return true;
    }
    if (!*r->at) {
        r->mark = MARK_END;
        return true;
    }
    if (is_letter(*r->at)) {
        const char *from = r->at;
        while (is_letter(*r->at) || is_digit(*r->at))
            r->at++;
        r->text = tw_strndup(r->arena, from, (size_t)(r->at - from));
        r->mark = MARK_NAME;
        return true;
    }
    if (is_digit(*r->at) || (*r->at == '.' && is_digit(r->at[1])))
        return read_number(r);
    if (*r->at == '"' || *r->at == '\'')
        return read_text(r);
    r->mark = MARK_SIGN;
    r->sign = *r->at++;
    if (r->sign == '-' && *r->at == '>') {
        r->sign = '>';
        r->at++;
    }
    if (strchr("([{", r->sign))
        r->brackets++;
    if (strchr(")]}", r->sign) && r->brackets > 0)
        r->brackets--;
    return true;
}

static bool is_sign(const tw_reader *r, char sign)
{
    return r->mark == MARK_SIGN && r->sign == sign;
}

static bool is_word(const tw_reader *r, const char *word)
{
    return r->mark == MARK_NAME && strcmp(r->text, word) == 0;
}

static bool expect(tw_reader *r, char sign)
{
    if (is_sign(r, sign))
        return next(r);
    const char what[] = {'\'', sign, '\'', ' ', 'e', 'x', 'p', 'e', 'c', 't', 'e', 'd', 0};
    return fail(r, what);
}

static bool expect_newline(tw_reader *r)
{
    if (r->mark == MARK_NEWLINE)
        return next(r);
    return r->mark == MARK_END ||
           fail(r, "more than one statement, or an operator that TorchScript "
                   "does not print");
}

/* --- expressions ------------------------------------------------------------------------------- */

static tw_tree *new_tree(tw_reader *r, tw_tree_kind kind)
{
    tw_tree *t = tw_alloc(r->arena, sizeof *t);
    t->kind = kind;
    t->line = r->line;
    return t;
}

static void add(tw_reader *r, tw_tree *t, tw_tree *item)
{
    tw_grow(r->arena, &t->items, t->count, &t->capacity, sizeof(tw_tree *));
    t->items[t->count++] = item;
}

static tw_tree *expression(tw_reader *r);

/* Items up to `close`; a keyword may stand before each. comma: was there one? */
static bool items(tw_reader *r, tw_tree *t, char close, bool *comma)
{
    *comma = false;
    while (!is_sign(r, close)) {
        tw_tree *item = expression(r);
        if (!item)
            return false;
        if (is_sign(r, '=') && item->kind == TW_TREE_NAME) {
            tw_tree *keyword = new_tree(r, TW_TREE_KEYWORD);
            keyword->text = item->text;
            if (!next(r) || !(item = expression(r)))
                return false;
            add(r, keyword, item);
            item = keyword;
        }
        if (is_sign(r, ':') && close == '}') {
            add(r, t, item);
            if (!next(r) || !(item = expression(r)))
                return false;
        }
        add(r, t, item);
        if (!is_sign(r, ','))
            break;
        *comma = true;
        if (!next(r))
            return false;
    }
    return expect(r, close);
}

static char closing(char open)
{
    static const char pairs[] = "()[]{}";
    return strchr(pairs, open)[1];
}

static tw_tree *bracketed(tw_reader *r)
{
    const char open = r->sign;
    bool comma;
    tw_tree *t = new_tree(r, open == '['   ? TW_TREE_LIST
                             : open == '{' ? TW_TREE_DICT
                                           : TW_TREE_TUPLE);
    if (!next(r) || !items(r, t, closing(open), &comma))
        return NULL;
    return open == '(' && t->count == 1 && !comma ? t->items[0] : t;
}

static tw_tree *primary(tw_reader *r)
{
    tw_tree *t;
    if (is_sign(r, '-')) {
        t = new_tree(r, TW_TREE_NEGATIVE);
        if (++r->depth > DEPTH)
            return fail(r, "an expression nested too deeply"), NULL;
        tw_tree *item = next(r) ? primary(r) : NULL;
        r->depth--;
        if (item)
            add(r, t, item);
        return item ? t : NULL;
    }
    if (r->mark == MARK_SIGN && strchr("([{", r->sign))
        return bracketed(r);
    switch (r->mark) {
    case MARK_NAME:
        t = new_tree(r, TW_TREE_NAME);
        t->text = r->text;
        break;
    case MARK_NUMBER:
        t = new_tree(r, r->is_real ? TW_TREE_FLOAT : TW_TREE_INT);
        t->number = r->number;
        t->real = r->real;
        break;
    case MARK_TEXT:
        t = new_tree(r, TW_TREE_TEXT);
        t->text = r->text;
        break;
    default: fail(r, "an expression is expected"); return NULL;
    }
    return next(r) ? t : NULL;
}

/* What may stand behind: .name, [index], (arguments). */
static tw_tree *postfix(tw_reader *r)
{
    tw_tree *t = primary(r);
    bool comma;
    while (t && r->mark == MARK_SIGN && strchr(".[(", r->sign)) {
        const char sign = r->sign;
        tw_tree *outer = new_tree(r, sign == '.'   ? TW_TREE_ATTRIBUTE
                                     : sign == '[' ? TW_TREE_INDEX
                                                   : TW_TREE_CALL);
        add(r, outer, t);
        if (!next(r))
            return NULL;
        if (sign == '.') {
            if (r->mark != MARK_NAME)
                return fail(r, "a name is expected"), NULL;
            outer->text = r->text;
            if (!next(r))
                return NULL;
        } else if (!items(r, outer, closing(sign), &comma)) {
            return NULL;
        }
        t = outer;
    }
    return t;
}

static tw_tree *expression(tw_reader *r)
{
    if (++r->depth > DEPTH)
        return fail(r, "an expression nested too deeply"), NULL;
    tw_tree *t = postfix(r);
    if (t && is_word(r, "if")) {
        tw_tree *choice = new_tree(r, TW_TREE_CHOICE), *condition, *other;
        if (!next(r) || !(condition = postfix(r)))
            return NULL;
        if (!is_word(r, "else"))
            return fail(r, "'else' is expected"), NULL;
        if (!next(r) || !(other = expression(r)))
            return NULL;
        add(r, choice, t);
        add(r, choice, condition);
        add(r, choice, other);
        t = choice;
    }
    r->depth--;
    return t;
}

/* --- statements -------------------------------------------------------------------------------- */

static tw_tree *block(tw_reader *r);

/* a, b = ...: the names as a tuple; the first is read already. */
static tw_tree *targets(tw_reader *r, tw_tree *first)
{
    if (!is_sign(r, ','))
        return first;
    tw_tree *t = new_tree(r, TW_TREE_TUPLE);
    add(r, t, first);
    while (is_sign(r, ',')) {
        if (!next(r))
            return NULL;
        if (is_sign(r, '=') || r->mark == MARK_NEWLINE)
            break;
        tw_tree *item = expression(r);
        if (!item)
            return NULL;
        add(r, t, item);
    }
    return t;
}

static tw_tree *simple(tw_reader *r)
{
    tw_tree *first = expression(r), *t = NULL;
    if (!first || !(first = targets(r, first)))
        return NULL;
    if (is_sign(r, ':') && (!next(r) || !expression(r))) /* a type */
        return NULL;
    if (is_sign(r, '=')) {
        t = new_tree(r, TW_TREE_ASSIGN);
        add(r, t, first);
        tw_tree *value = next(r) ? expression(r) : NULL;
        if (!value || !(value = targets(r, value)))
            return NULL;
        add(r, t, value);
    } else {
        t = new_tree(r, TW_TREE_DO);
        add(r, t, first);
    }
    return expect_newline(r) ? t : NULL;
}

static tw_tree *compound(tw_reader *r, tw_tree_kind kind)
{
    tw_tree *t = new_tree(r, kind), *head, *body;
    if (!next(r))
        return NULL;
    if (kind == TW_TREE_FOR) {
        t->text = r->mark == MARK_NAME ? r->text : "";
        if (!next(r) || !is_word(r, "in") || !next(r))
            return fail(r, "a loop of another form than TorchScript prints"), NULL;
    }
    if (!(head = expression(r)))
        return NULL;
    if (kind == TW_TREE_WITH && is_word(r, "as"))
        return fail(r, "'with .. as' is not supported"), NULL;
    if (!(body = block(r)))
        return NULL;
    if (kind != TW_TREE_WITH)
        add(r, t, head);
    add(r, t, body);
    if (kind == TW_TREE_IF) {
        tw_tree *other = new_tree(r, TW_TREE_BLOCK);
        if (is_word(r, "else") && (!next(r) || !(other = block(r))))
            return NULL;
        add(r, t, other);
    }
    return t;
}

static tw_tree *statement(tw_reader *r)
{
    static const struct {
        const char *word;
        tw_tree_kind kind;
    } compounds[] = {
        {"if", TW_TREE_IF}, {"for", TW_TREE_FOR}, {"while", TW_TREE_WHILE}, {"with", TW_TREE_WITH}};
    for (size_t i = 0; i < sizeof compounds / sizeof *compounds; i++)
        if (is_word(r, compounds[i].word))
            return compound(r, compounds[i].kind);
    if (is_word(r, "pass")) {
        tw_tree *t = new_tree(r, TW_TREE_PASS);
        return next(r) && expect_newline(r) ? t : NULL;
    }
    if (is_word(r, "return")) {
        tw_tree *t = new_tree(r, TW_TREE_RETURN);
        if (!next(r))
            return NULL;
        if (r->mark != MARK_NEWLINE) {
            tw_tree *value = expression(r);
            if (!value || !(value = targets(r, value)))
                return NULL;
            add(r, t, value);
        }
        return expect_newline(r) ? t : NULL;
    }
    return simple(r);
}

/* ": NEWLINE INDENT statements DEDENT" */
static tw_tree *block(tw_reader *r)
{
    tw_tree *t = new_tree(r, TW_TREE_BLOCK);
    if (++r->depth > DEPTH)
        return fail(r, "blocks nested too deeply"), NULL;
    if (!expect(r, ':') || !expect_newline(r))
        return NULL;
    if (r->mark != MARK_INDENT)
        return fail(r, "an indented block is expected"), NULL;
    if (!next(r))
        return NULL;
    while (r->mark != MARK_DEDENT && r->mark != MARK_END) {
        tw_tree *s = statement(r);
        if (!s)
            return NULL;
        add(r, t, s);
    }
    r->depth--;
    return r->mark == MARK_END || next(r) ? t : NULL;
}

/* --- functions and classes --------------------------------------------------------------------- */

/* "def name(a: T, b: T=x) -> T: block", behind the def. */
static bool function(tw_reader *r, const char *owner, tw_map *functions)
{
    tw_function *f = tw_alloc(r->arena, sizeof *f);
    if (r->mark != MARK_NAME)
        return fail(r, "a function without a name");
    f->name = tw_format(r->arena, "%s.%s", owner, r->text);
    f->file = r->member;
    f->source = r->source;
    if (!next(r) || !expect(r, '('))
        return false;
    while (!is_sign(r, ')')) {
        tw_parameter_tree p = {.name = r->mark == MARK_NAME ? r->text : ""};
        if (!next(r))
            return false;
        if (is_sign(r, ':')) {
            if (!next(r) || !(p.type = expression(r)))
                return false;
        }
        if (is_sign(r, '=') && (!next(r) || !(p.otherwise = expression(r))))
            return false;
        tw_grow(r->arena, &f->parameters, f->count, &f->capacity, sizeof *f->parameters);
        f->parameters[f->count++] = p;
        if (is_sign(r, ',') && !next(r))
            return false;
        else if (!is_sign(r, ')') && r->mark != MARK_NAME)
            return fail(r, "a parameter list of another form than TorchScript prints");
    }
    if (!next(r) || (is_sign(r, '>') && (!next(r) || !expression(r))))
        return false;
    if (!(f->body = block(r)))
        return false;
    tw_map_put(r->arena, functions, f->name, f);
    return true;
}

/* "class Name(Module): block": its functions; the rest declares attributes, which the pickle holds. */
static bool class(tw_reader *r, const char *module, tw_map *functions)
{
    const char *name = tw_format(r->arena, "%s.%s", module, r->mark == MARK_NAME ? r->text : "");
    if (!expression(r) || !expect(r, ':') || !expect_newline(r))
        return false;
    if (r->mark != MARK_INDENT || !next(r))
        return fail(r, "a class without contents");
    while (r->mark != MARK_DEDENT && r->mark != MARK_END) {
        const bool is_function = is_word(r, "def");
        if (is_function ? !next(r) || !function(r, name, functions) : !statement(r))
            return false;
    }
    return r->mark == MARK_END || next(r);
}

bool tw_script_parse(tw_arena *arena, const char *source, const char *member, const char *module,
                     tw_map *functions, tw_diag *diag)
{
    tw_reader r = {.arena = arena, .source = source, .at = source, .member = member, .diag = diag};
    r.line = 1;
    r.indent_count = 1;
    r.line_start = true;
    if (!next(&r))
        return false;
    while (r.mark != MARK_END) {
        bool fine;
        r.depth = 0;
        if (is_word(&r, "class"))
            fine = next(&r) && class(&r, module, functions);
        else if (is_word(&r, "def"))
            fine = next(&r) && function(&r, module, functions);
        else
            fine =
                r.mark == MARK_NEWLINE || r.mark == MARK_DEDENT ? next(&r) : statement(&r) != NULL;
        if (!fine)
            return false;
    }
    return true;
}
