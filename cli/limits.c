/* What limits a plan and what would lower it: the fullest moment, and the budgets at which it changes. */
#include <string.h>

#include "report.h"

enum { SHOWN = 4 };

static bool is_live(const tw_report_buffer *b, const tw_report *r)
{
    uint32_t at = (uint32_t)r->tightest_step;
    return b->region == TW_REGION_FAST && b->first_step <= at && at <= b->last_step;
}

/* The next largest buffer that is live at the fullest moment, after `last`; null: none. */
static const tw_report_buffer *next_largest(const tw_report *r, const tw_report_buffer *last)
{
    const tw_report_buffer *next = NULL;
    for (int i = 0; i < r->buffer_count; i++) {
        const tw_report_buffer *b = &r->buffers[i];
        bool after = !last || b->bytes < last->bytes || (b->bytes == last->bytes && b > last);
        if (is_live(b, r) && after && (!next || b->bytes > next->bytes))
            next = b;
    }
    return next;
}

static uint64_t bytes_of(const tw_report_tensor *t)
{
    uint64_t bytes = tw_dtype_bytes(t->dtype);
    for (int i = 0; i < t->rank; i++)
        bytes *= (uint64_t)t->dim[i];
    return bytes;
}

/* Is this end of the network, whole, among what is live there? */
static bool is_whole_there(const tw_report *r, const tw_report_tensor *end)
{
    for (int i = 0; i < r->buffer_count; i++)
        if (is_live(&r->buffers[i], r) && strcmp(r->buffers[i].name, end->name) == 0)
            return r->buffers[i].bytes >= bytes_of(end);
    return false;
}

static void print_ends(const tw_report *r, const char *option, const tw_report_tensor *ends,
                       int count, FILE *file)
{
    char bytes[32], name[CLI_VISIBLE];
    for (int i = 0; i < count; i++)
        if (is_whole_there(r, &ends[i]))
            fprintf(file, "  to lower it: --%s %s, which is there whole with %s bytes\n", option,
                    cli_visible(ends[i].name, name), cli_grouped(bytes_of(&ends[i]), bytes));
}

void cli_report_limits(const tw_report *r, FILE *file)
{
    enum { NAME = 32 };
    char bytes[32], name[CLI_VISIBLE];
    if (r->step_count == 0)
        return;
    const tw_report_step *s = &r->steps[r->tightest_step];
    fprintf(file, "fullest at step %d (%s, %s):", r->tightest_step, cli_short(s->name, NAME, name),
            s->operator_name);
    const tw_report_buffer *b = next_largest(r, NULL);
    for (int i = 0; b && b->bytes && i < SHOWN; i++, b = next_largest(r, b))
        fprintf(file, "%s %s %s", i ? "," : "", cli_short(b->name, NAME, name),
                cli_grouped(b->bytes, bytes));
    fputs(b && b->bytes ? ", ...\n" : "\n", file);
    print_ends(r, "input-rows", r->inputs, r->input_count, file);
    print_ends(r, "output-rows", r->outputs, r->output_count, file);
    if (r->smallest_budget < r->memory.total - r->slow.bytes)
        fprintf(file, "  to lower it: --prefer memory, which takes %s bytes\n",
                cli_grouped(r->smallest_budget, bytes));
}

void cli_report_pareto(const tw_report *r, FILE *file)
{
    char bytes[32];
    if (r->pareto_count)
        fputs("\n    budget   estimated cost of a run\n", file);
    for (int i = 0; i < r->pareto_count; i++)
        fprintf(file, "%10s   %.3f\n", cli_grouped(r->pareto[i].budget, bytes), r->pareto[i].cost);
}
