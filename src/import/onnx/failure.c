/* What a node that is refused says of itself: its attributes, as the model spells them. A message from
 * below speaks of the operators that the node becomes, and of theirs. */
#include <stdio.h>
#include <string.h>

#include "import/onnx/model.h"

enum { MOST_SHOWN = 8 };

static void append(char *text, size_t bytes, const char *more)
{
    const size_t at = strlen(text);
    (void)snprintf(text + at, bytes - at, "%s", more);
}

/* "1,2,..." of numbers, the text of a word, nothing of a tensor or a graph. */
static void value_text(const Tw__Onnx__Attribute *a, char *text, size_t bytes)
{
    const int kind = tw_onnx_attribute_kind(a);
    const size_t count = kind == TW_ONNX_INTS     ? a->n_ints
                         : kind == TW_ONNX_FLOATS ? a->n_floats
                                                  : 0;
    char number[40];
    *text = 0;
    if (kind == TW_ONNX_INT)
        (void)snprintf(text, bytes, "=%lld", (long long)a->i);
    else if (kind == TW_ONNX_FLOAT)
        (void)snprintf(text, bytes, "=%.9g", (double)a->f);
    else if (kind == TW_ONNX_STRING)
        (void)snprintf(text, bytes, "=%.*s", (int)(a->s.len < 40 ? a->s.len : 40),
                       a->s.len ? (const char *)a->s.data : "");
    for (size_t i = 0; i < count && i <= MOST_SHOWN; i++) {
        if (kind == TW_ONNX_INTS)
            (void)snprintf(number, sizeof number, "%lld", (long long)a->ints[i]);
        else
            (void)snprintf(number, sizeof number, "%.9g", (double)a->floats[i]);
        append(text, bytes, i ? "," : "=");
        append(text, bytes, i < MOST_SHOWN ? number : "...");
    }
}

void tw_onnx_name_attributes(const tw_onnx_node *n)
{
    static const char head[] = "; its attributes are";
    tw_diag *diag = n->b->diag;
    /* A node of a body that was refused has said its own. */
    if (!diag || diag->code == TW_CODE_OK || strstr(diag->message, head) ||
        (diag->node[0] && strcmp(diag->node, n->b->node) != 0))
        return;
    bool begun = false;
    for (int i = 0; i < n->attribute_count; i++) {
        char value[200];
        if (strstr(diag->message, n->attributes[i].name))
            continue;
        value_text(n->attributes[i].value, value, sizeof value);
        tw_fail_more(diag, "%s %.60s%s", begun ? "" : head, n->attributes[i].name, value);
        begun = true;
    }
}
