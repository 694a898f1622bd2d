/* --stream: what the command line says of it, and what the report says of what became of it. */
#include "streaming.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

/* Takes a whole number, maybe negative, and the colon before it, off the end of the text. */
static bool take_number(const char *text, size_t *length, long *number)
{
    size_t at = *length;
    while (at > 0 && isdigit((unsigned char)text[at - 1]))
        at--;
    if (at == *length || *length - at > 9)
        return false;
    if (at > 0 && text[at - 1] == '-')
        at--;
    if (at > 0 && text[at - 1] != ':')
        return false;
    *number = strtol(text + at, NULL, 10);
    *length = at > 0 ? at - 1 : 0;
    return true;
}

bool cli_stream_option(tw_cli *cli, tw_compile_options *options)
{
    const char *text = cli_value(cli, TW_OPTION_stream);
    int padding = 0;
    if (!cli_choice(cli, TW_OPTION_stream_padding, "zeros|history", &padding))
        return false;
    if (!text)
        return padding == 0 || cli_usage(cli, "--stream-padding needs --stream");
    size_t length = strlen(text);
    long last = 0, axis = 0, hop = 0;
    bool good = take_number(text, &length, &last);
    if (good && length > 0) {
        hop = last;
        good = take_number(text, &length, &axis) && hop > 0;
    } else {
        axis = last;
    }
    if (!good)
        return cli_usage(
            cli,
            "--stream %.100s: write AXIS, AXIS:HOP or NAME:AXIS:HOP, as in 1:10; HOP is "
            "at least 1",
            text);
    options->stream =
        (tw_stream_spec){.given = true,
                         .input = length ? tw_strndup(cli->arena, text, length) : NULL,
                         .axis = (int)axis,
                         .hop = (uint32_t)hop,
                         .history = padding == 1};
    return true;
}

json_t *cli_json_stream(const tw_report *r)
{
    const tw_report_stream *s = &r->stream;
    return json_pack("{s:o, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "input",
                     cli_json_text(s->input), "axis", s->axis, "hop", (json_int_t)s->hop, "clip",
                     (json_int_t)s->clip, "window", (json_int_t)s->window, "latency",
                     (json_int_t)s->latency, "first_run", (json_int_t)s->first_run, "macs_clip",
                     (json_int_t)s->clip_macs, "macs_hop", (json_int_t)r->macs, "padding",
                     s->history ? "history" : "zeros");
}

void cli_report_streaming(const tw_report *r, FILE *file)
{
    const tw_report_stream *s = &r->stream;
    char a[32], b[32], c[32];
    if (!s->given)
        return;
    fprintf(file, "stream %" PRIu32 " frames a run, of a window of %s; first result in run %s\n",
            s->hop, cli_grouped(s->window, a), cli_grouped(s->first_run, b));
    fprintf(file, "       latency %s frames; %s MACs a hop, %s a clip", cli_grouped(s->latency, a),
            cli_grouped(r->macs, b), cli_grouped(s->clip_macs, c));
    if (r->macs)
        fprintf(file, " (%.1f times)", (double)s->clip_macs / (double)r->macs);
    fprintf(file, "\n");
    if (s->history)
        fprintf(file,
                "       another function than the model's: frames that came before stand where "
                "it pads time with zeros\n");
}
