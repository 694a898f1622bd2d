/* The memory plan drawn in characters: addresses upwards, time to the right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { ROWS = 20, LABEL = 11 };

/* The part of memory that is drawn: one region. */
typedef struct tw_canvas {
    const tw_report *report;
    const cli_terminal *terminal;
    uint32_t region, top; /* bytes */
    int columns, rows;
    int *cell; /* buffer index + 1, or 0; row 0 is the lowest */
} tw_canvas;

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

static char letter_of(int number)
{
    return letters[number % (int)(sizeof letters - 1)];
}

/* Cells [first, end) that a range of `total` units covers when it is drawn on `cells`: at least one,
 * so that nothing disappears. */
static void span(uint64_t from, uint64_t to, uint64_t total, int cells, int *first, int *end)
{
    total = total ? total : 1;
    *first = (int)(from * (uint64_t)cells / total);
    *end = (int)((to * (uint64_t)cells + total - 1) / total);
    *end = *end > cells ? cells : *end;
    if (*end <= *first)
        *end = *first + 1;
}

static void paint(tw_canvas *canvas, const tw_report_buffer *b)
{
    uint64_t steps = (uint64_t)canvas->report->step_count;
    int left, right, low, high;
    if (b->region != canvas->region || b->bytes == 0 || b->first_step >= steps)
        return;
    uint64_t last = b->last_step >= steps ? steps - 1 : b->last_step;
    span(b->first_step, last + 1, steps, canvas->columns, &left, &right);
    span(b->offset, (uint64_t)b->offset + b->bytes, canvas->top, canvas->rows, &low, &high);
    for (int row = low; row < high && row < canvas->rows; row++)
        for (int column = left; column < right && column < canvas->columns; column++)
            canvas->cell[row * canvas->columns + column] = (int)(b - canvas->report->buffers) + 1;
}

static void print_cell(const tw_canvas *canvas, int cell, FILE *file)
{
    bool unicode = canvas->terminal->unicode;
    if (cell == 0) {
        fputs(unicode ? "·" : ".", file);
        return;
    }
    const tw_report_buffer *b = &canvas->report->buffers[cell - 1];
    if (canvas->terminal->colour)
        fprintf(file, "\033[30;48;5;%dm", 17 + (cell * 37) % 200 + 15);
    if (b->use == TW_BUFFER_ACTIVATION)
        fputc(letter_of(cell - 1), file);
    else
        fputc(b->use == TW_BUFFER_CONTEXT ? '=' : b->use == TW_BUFFER_SCRATCH ? '~' : '+', file);
    if (canvas->terminal->colour)
        fputs("\033[0m", file);
}

/* Step numbers below the columns in which the steps begin, as many as leave room between them. */
static void print_steps(const tw_canvas *canvas, FILE *file)
{
    char line[256];
    int steps = canvas->report->step_count, end = 0;
    memset(line, ' ', sizeof line);
    for (int i = 0; i < steps; i++) {
        char text[16];
        int column = (int)((int64_t)i * canvas->columns / steps);
        int n = snprintf(text, sizeof text, "%d", i);
        if ((end && column < end + 3) || column + n > (int)sizeof line)
            continue;
        memcpy(line + column, text, (size_t)n);
        end = column + n;
    }
    fprintf(file, "%*s%.*s\n", LABEL, "", end, line);
}

static void print_canvas(const tw_canvas *canvas, FILE *file)
{
    char text[32];
    const char *bar = canvas->terminal->unicode ? "│" : "|";
    for (int row = canvas->rows - 1; row >= 0; row--) {
        uint64_t address = (uint64_t)canvas->top * (uint64_t)(row + 1) / (uint64_t)canvas->rows;
        bool labelled = row == canvas->rows - 1 || (row + 1) % 5 == 0;
        fprintf(file, "%*s %s", LABEL - 2, labelled ? cli_grouped(address, text) : "", bar);
        for (int column = 0; column < canvas->columns; column++)
            print_cell(canvas, canvas->cell[row * canvas->columns + column], file);
        fputc('\n', file);
    }
    fprintf(file, "%*s ", LABEL - 2, "0");
    fputs(canvas->terminal->unicode ? "└" : "+", file);
    for (int column = 0; column < canvas->columns; column++)
        fputs(canvas->terminal->unicode ? "─" : "-", file);
    fputc('\n', file);
    print_steps(canvas, file);
}

/* The largest first, so that a small buffer is painted over a large one, never under it. */
static int compare_buffers(const void *left, const void *right)
{
    const tw_report_buffer *a = *(const tw_report_buffer *const *)left;
    const tw_report_buffer *b = *(const tw_report_buffer *const *)right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return a < b ? -1 : a > b;
}

/* Which letters stand for what: the largest activations, as many as fit on a few lines. */
static void print_legend(const tw_canvas *canvas, const tw_report_buffer *const *sorted, int count,
                         FILE *file)
{
    enum { MOST = 12, NAME = 24, COLUMN = 38 };
    int columns = canvas->terminal->width / (COLUMN + 2), shown = 0, activations = 0, used = 0;
    for (int i = 0; i < count; i++) {
        const tw_report_buffer *b = sorted[i];
        char bytes[32], text[96], room[CLI_VISIBLE];
        const char *name = cli_visible(b->name, room);
        int n = (int)strlen(name);
        activations += b->use == TW_BUFFER_ACTIVATION;
        if (b->use != TW_BUFFER_ACTIVATION || shown == MOST)
            continue;
        snprintf(text, sizeof text, "%c %.*s %s", letter_of((int)(b - canvas->report->buffers)),
                 NAME, n > NAME ? name + n - NAME : name, cli_grouped(b->bytes, bytes));
        if (shown++ % columns == 0)
            fprintf(file, "%s  %s", shown > 1 ? "\n" : "", text);
        else
            fprintf(file, "%*s%s", COLUMN > used ? COLUMN - used : 1, "", text);
        used = (int)strlen(text);
    }
    fprintf(file, "%s%s= context  ~ scratch  + accumulators and other step memory\n",
            shown ? "\n  " : "  ", activations > shown ? "...  " : "");
}

/* The region's buffers, the largest first, and the highest address. */
static int collect(const tw_report *r, uint32_t region, const tw_report_buffer **sorted,
                   uint32_t *top)
{
    int count = 0;
    for (int i = 0; i < r->buffer_count; i++) {
        const tw_report_buffer *b = &r->buffers[i];
        if (b->region != region || b->bytes == 0)
            continue;
        sorted[count++] = b;
        *top = b->offset + b->bytes > *top ? b->offset + b->bytes : *top;
    }
    qsort((void *)sorted, (size_t)count, sizeof *sorted, compare_buffers);
    return count;
}

static void draw_region(const tw_report *r, uint32_t region, const char *title,
                        const cli_terminal *terminal, FILE *file)
{
    enum { WIDEST = 6 };
    char text[32];
    tw_canvas canvas = {r, terminal, region, 0, 0, ROWS, NULL};
    const tw_report_buffer **sorted = calloc((size_t)r->buffer_count + 1, sizeof *sorted);
    int count = sorted ? collect(r, region, sorted, &canvas.top) : 0;
    if (count > 0 && r->step_count > 0) {
        int room = terminal->width - LABEL, each = room / r->step_count;
        each = each < 1 ? 1 : each > WIDEST ? WIDEST : each;
        canvas.columns = r->step_count * each < room ? r->step_count * each : room;
        canvas.cell = calloc((size_t)canvas.columns * ROWS, sizeof *canvas.cell);
    }
    if (canvas.cell) {
        for (int i = 0; i < count; i++)
            paint(&canvas, sorted[i]);
        fprintf(file, "%s: %s bytes, address upwards, step to the right\n", title,
                cli_grouped(canvas.top, text));
        print_canvas(&canvas, file);
        print_legend(&canvas, sorted, count, file);
    }
    free(canvas.cell);
    free((void *)sorted);
}

void cli_report_drawing(const tw_report *report, const cli_terminal *terminal, FILE *file)
{
    draw_region(report, TW_REGION_FAST, "memory over time", terminal, file);
    draw_region(report, TW_REGION_SLOW, "slow memory over time", terminal, file);
}
