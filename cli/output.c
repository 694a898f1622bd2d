/* Errors, warnings, progress and JSON. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* struct winsize */
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* ---- errors ---- */

void cli_print_warning(void *user, const char *text)
{
    (void)user;
    cli_progress_end();
    fprintf(stderr, "tilewright: warning: %s\n", text);
}

static json_t *json_error(const tw_diag *diag)
{
    json_t *error = json_object();
    json_object_set_new(error, "code", json_integer((json_int_t)diag->code));
    json_object_set_new(error, "message", cli_json_text(diag->message));
    json_object_set_new(error, "file", cli_json_text(diag->file));
    json_object_set_new(error, "node", cli_json_text(diag->node));
    json_object_set_new(error, "operator", cli_json_text(diag->operator_name));
    if (diag->line > 0) {
        json_object_set_new(error, "line", json_integer(diag->line));
        json_object_set_new(error, "column", json_integer(diag->column));
    }
    return error;
}

void cli_finish(tw_cli *cli)
{
    char text[2560];
    cli_progress_end();
    if (cli->diag.code != TW_CODE_OK)
        json_object_set_new(cli->json, "error", json_error(&cli->diag));
    if (cli->json_wanted) {
        size_t form = cli->json_lines ? JSON_COMPACT : JSON_INDENT(2);
        json_dumpf(cli->json, stdout, form | JSON_REAL_PRECISION(9));
        putchar('\n');
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL, "standard output cannot be written");
    if (cli->diag.code == TW_CODE_OK || !cli->diag.message[0])
        return;
    tw_diag_text(&cli->diag, text, sizeof text);
    fprintf(stderr, "tilewright: %s\n", text);
}

/* ---- progress ---- */

static bool progress_shown; /* of this process's terminal */

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void cli_progress(void *user, const char *stage, double fraction)
{
    static double start, last;
    (void)user;
    double now = cli_seconds();
    if (start == 0)
        start = now;
    if (now - start < 1 || now - last < 0.1 || !isatty(STDERR_FILENO))
        return;
    last = now;
    progress_shown = true;
    fprintf(stderr, "\r\033[K%s %3.0f%%", stage, 100 * fraction);
    fflush(stderr);
}

void cli_progress_end(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

/* ---- JSON ---- */

json_t *cli_json_text(const char *text)
{
    json_t *string = json_string(text ? text : "");
    if (string)
        return string;
    /* Not UTF-8: every byte beyond ASCII is shown as one character of its own value. */
    size_t n = strlen(text), at = 0;
    char *latin = malloc(2 * n + 1);
    for (size_t i = 0; latin && i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x80)
            latin[at++] = (char)(0xC0 | c >> 6);
        latin[at++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3F) : c);
    }
    string = latin ? json_stringn(latin, at) : NULL;
    free(latin);
    return string ? string : json_null();
}

json_t *cli_json_shape(int rank, const int32_t *dim)
{
    json_t *shape = json_array();
    for (int i = 0; i < rank; i++)
        json_array_append_new(shape, json_integer(dim[i]));
    return shape;
}

/* ---- the terminal ---- */

cli_terminal cli_terminal_of_stdout(void)
{
    cli_terminal terminal = {.is_terminal = isatty(STDOUT_FILENO) == 1, .width = 80};
    const char *columns = getenv("COLUMNS"), *term = getenv("TERM"), *plain = getenv("NO_COLOR");
    const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    struct winsize size;
    if (terminal.is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        terminal.width = size.ws_col;
    else if (columns && strtol(columns, NULL, 10) > 0)
        terminal.width = (int)(strtol(columns, NULL, 10) % 10000);
    terminal.width = terminal.width < 40 ? 40 : terminal.width > 200 ? 200 : terminal.width;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (!value || !*value)
            continue; /* the first that is set decides */
        terminal.unicode = strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8");
        break;
    }
    terminal.unicode = terminal.unicode && terminal.is_terminal;
    terminal.colour =
        terminal.is_terminal && (!plain || !*plain) && term && strcmp(term, "dumb") != 0;
    return terminal;
}

const char *cli_visible(const char *text, char room[CLI_VISIBLE])
{
    size_t n = strlen(text), skip = n >= CLI_VISIBLE ? n - CLI_VISIBLE + 3 : 0, at = 0;
    json_t *valid = json_string(text); /* UTF-8? */
    if (skip)
        room[at++] = '.', room[at++] = '.';
    for (size_t i = skip; i < n; i++) {
        unsigned char c = (unsigned char)text[i], next = (unsigned char)text[i + 1];
        bool control = c < ' ' || c == 127 || (c == 0xC2 && next >= 0x80 && next < 0xA0) ||
                       (c >= 0x80 && !valid);
        if (control)
            c = '?';
        memcpy(&room[at++], &c, 1);
    }
    room[at] = 0;
    json_decref(valid);
    return room;
}

const char *cli_short(const char *text, int width, char room[CLI_VISIBLE])
{
    cli_visible(text, room);
    int n = (int)strlen(room);
    if (n <= width)
        return room;
    char *end = room + n - width + 2;
    while (((unsigned char)*end & 0xC0) == 0x80)
        end++; /* whole characters */
    end[-1] = end[-2] = '.';
    return end - 2;
}

const char *cli_grouped(uint64_t number, char *text)
{
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, number), at = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return text;
}

const char *cli_shape_text(int rank, const int32_t *dim, char *text)
{
    int at = 0;
    if (rank == 0)
        memcpy(text, "scalar", sizeof "scalar");
    for (int i = 0; i < rank && i < TW_MAX_RANK; i++)
        at += sprintf(text + at, "%s%d", i ? "x" : "", (int)dim[i]);
    return text;
}
