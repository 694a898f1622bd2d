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

/* What would lower the fullest moment: an option, the name it takes or null, and bytes: of what is there whole
 * without it, or of the memory with it. */
typedef struct cli_remedy {
    const char *option, *name;
    uint64_t bytes;
} cli_remedy;

enum { REMEDIES = 8 };
static const char by_columns[] = "-m"; /* a budget below what whole rows need */

static int add_ends(const tw_report *r, const char *option, const tw_report_tensor *ends, int count,
                    cli_remedy *remedies, int n)
{
    for (int i = 0; i < count && n < REMEDIES; i++)
        if (ends[i].by_rows && is_whole_there(r, &ends[i]))
            remedies[n++] = (cli_remedy){option, ends[i].name, bytes_of(&ends[i])};
    return n;
}

static int find_remedies(const tw_report *r, cli_remedy *remedies)
{
    int n = 0;
    if (!r->macs_recomputed) { /* what is computed again starts from inputs that are whole */
        n = add_ends(r, "--input-rows", r->inputs, r->input_count, remedies, n);
        n = add_ends(r, "--output-rows", r->outputs, r->output_count, remedies, n);
    }
    const uint32_t fast = r->memory.total - r->slow.bytes;
    if (r->smallest_by_rows && r->smallest_by_rows < fast && n < REMEDIES)
        remedies[n++] = (cli_remedy){"--prefer memory", NULL, r->smallest_by_rows};
    if (r->smallest_budget < r->smallest_by_rows && r->smallest_budget < fast && n < REMEDIES)
        remedies[n++] = (cli_remedy){by_columns, NULL, r->smallest_budget};
    return n;
}

void cli_report_limits(const tw_report *r, FILE *file)
{
    enum { NAME = 32 };
    char bytes[32], name[CLI_VISIBLE];
    cli_remedy remedies[REMEDIES];
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
    int count = find_remedies(r, remedies);
    for (int i = 0; i < count; i++)
        if (remedies[i].name)
            fprintf(file, "  to lower it: %s %s, which is there whole with %s bytes\n",
                    remedies[i].option, cli_visible(remedies[i].name, name),
                    cli_grouped(remedies[i].bytes, bytes));
        else if (remedies[i].option == by_columns)
            fprintf(file, "  to lower it: -m %u, by columns: more and smaller calls\n",
                    (unsigned)remedies[i].bytes);
        else
            fprintf(file, "  to lower it: %s, which takes %s bytes\n", remedies[i].option,
                    cli_grouped(remedies[i].bytes, bytes));
}

json_t *cli_json_limits(const tw_report *r)
{
    json_t *limits = json_object(), *largest = json_array(), *lower = json_array();
    cli_remedy remedies[REMEDIES];
    int count = r->step_count ? find_remedies(r, remedies) : 0;
    const tw_report_buffer *b = r->step_count ? next_largest(r, NULL) : NULL;
    for (int i = 0; b && b->bytes && i < SHOWN; i++, b = next_largest(r, b))
        json_array_append_new(largest, json_integer(b - r->buffers));
    for (int i = 0; i < count; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "option", json_string(remedies[i].option));
        if (remedies[i].name)
            json_object_set_new(one, "name", cli_json_text(remedies[i].name));
        json_object_set_new(one, "bytes", json_integer((json_int_t)remedies[i].bytes));
        json_array_append_new(lower, one);
    }
    json_object_set_new(limits, "step", json_integer(r->tightest_step));
    json_object_set_new(limits, "largest", largest);
    json_object_set_new(limits, "lower", lower);
    return limits;
}

void cli_report_pareto(const tw_report *r, FILE *file)
{
    char bytes[32];
    if (r->pareto_count)
        fputs("\n    budget   estimated cost of a run\n", file);
    for (int i = 0; i < r->pareto_count; i++)
        fprintf(file, "%10s   %.3f\n", cli_grouped(r->pareto[i].budget, bytes), r->pareto[i].cost);
}

void cli_report_states(const tw_report *r, FILE *file)
{
    char output[CLI_VISIBLE], input[CLI_VISIBLE];
    for (int i = 0; i < r->state_candidate_count; i++)
        fprintf(file, "looks like state carried by hand; to let the plan keep it: --state %s=%s\n",
                cli_visible(r->state_candidates[i].output, output),
                cli_visible(r->state_candidates[i].input, input));
}
