/* Failures and warnings as values. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
}

bool(tw_fail)(tw_diag *diag, tw_code code, const char *node, const char *op, const char *format,
              ...)
{
    if (!diag || diag->code != TW_CODE_OK)
        return false;
    va_list args;
    va_start(args, format);
    char message[sizeof diag->message];
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diag->code = code;
    copy_text(diag->message, sizeof diag->message, message);
    copy_text(diag->node, sizeof diag->node, node);
    copy_text(diag->operator_name, sizeof diag->operator_name, op);
    return false;
}

void tw_fail_more(tw_diag *diag, const char *format, ...)
{
    char more[sizeof diag->message];
    const size_t at = strlen(diag->message);
    va_list args;
    va_start(args, format);
    vsnprintf(more, sizeof more, format, args);
    va_end(args);
    copy_text(diag->message + at, sizeof diag->message - at, more);
}

void tw_fail_within(tw_diag *diag, const char *node, const char *op)
{
    if (*diag->node || *diag->operator_name)
        return;
    copy_text(diag->node, sizeof diag->node, node);
    copy_text(diag->operator_name, sizeof diag->operator_name, op);
}

static void join(char *text, unsigned bytes, const char *file, int line, int column,
                 const char *node, const char *op, const char *message)
{
    char place[32] = "";
    if (*file && line > 0)
        snprintf(place, sizeof place, ":%d:%d", line, column);
    snprintf(text, bytes, "%s%s%s%s%s%s%s%s%s", file, place, *file ? ": " : "", node,
             *node && *op ? " (" : "", op, *node && *op ? ")" : "", *node || *op ? ": " : "",
             message);
}

void tw_warn(tw_diag *diag, const char *node, const char *op, const char *format, ...)
{
    if (!diag)
        return;
    diag->warnings++;
    if (!diag->warn)
        return;
    char message[1024], clean[1024], text[2048], clean_node[256], clean_op[64];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    copy_text(clean, sizeof clean, message);
    copy_text(clean_node, sizeof clean_node, node);
    copy_text(clean_op, sizeof clean_op, op);
    join(text, sizeof text, diag->file, 0, 0, clean_node, clean_op, clean);
    diag->warn(diag->warn_user, text);
}

void tw_diag_text(const tw_diag *diag, char *text, unsigned bytes)
{
    join(text, bytes, diag->file, diag->line, diag->column, diag->node, diag->operator_name,
         diag->message);
}
