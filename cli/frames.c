/* Frames of a stream. In: bytes that come in their own time. Out: whole frames, zeros before the first
 * sample. What a WAV file claims of its size is believed only as an upper bound. */
#include "frames.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "graph/number.h"

enum { RIFF_HEAD = 12, CHUNK_HEAD = 8, FORMAT_BYTES = 16, PCM = 1, SAMPLE = 2 };

static bool fail(tw_cli *cli, const cli_frames *f, const char *what)
{
    snprintf(cli->diag.file, sizeof cli->diag.file, "%s", f->path);
    return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL, "%s", what);
}

static uint32_t word(const uint8_t *at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint32_t)at[i] << 8 * i;
    return value;
}

static bool skip(FILE *file, uint64_t bytes)
{
    char away[512];
    while (bytes > 0) {
        size_t n = bytes < sizeof away ? (size_t)bytes : sizeof away;
        if (fread(away, 1, n, file) != n)
            return false;
        bytes -= n;
    }
    return true;
}

static bool read_format(tw_cli *cli, cli_frames *f, uint32_t bytes)
{
    uint8_t format[FORMAT_BYTES];
    if (bytes < FORMAT_BYTES || fread(format, 1, FORMAT_BYTES, f->file) != FORMAT_BYTES ||
        !skip(f->file, (uint64_t)bytes - FORMAT_BYTES + (bytes & 1)))
        return fail(cli, f, "the WAV file ends within its format");
    if (word(format, 2) != PCM || word(format + 2, 2) != 1 || word(format + 14, 2) != 8 * SAMPLE)
        return fail(
            cli, f,
            "the WAV file is not 16-bit PCM with one channel; convert it, for instance with "
            "`sox in.wav -c 1 -b 16 out.wav`");
    f->rate = word(format + 4, 4);
    return true;
}

/* Behind "RIFF....WAVE": up to the first sample. */
static bool open_wave(tw_cli *cli, cli_frames *f)
{
    uint8_t head[CHUNK_HEAD];
    for (;;) {
        if (fread(head, 1, CHUNK_HEAD, f->file) != CHUNK_HEAD)
            return fail(cli, f, "the WAV file ends before its samples");
        uint32_t bytes = word(head + 4, 4);
        if (memcmp(head, "data", 4) == 0) {
            /* A writer that did not know the length leaves 0 or all ones: then to the end. */
            f->left = bytes == 0 || bytes == UINT32_MAX ? UINT64_MAX : bytes;
            return f->rate != 0 || fail(cli, f, "the WAV file has samples before their format");
        }
        if (memcmp(head, "fmt ", 4) == 0) {
            if (!read_format(cli, f, bytes))
                return false;
        } else if (!skip(f->file, (uint64_t)bytes + (bytes & 1))) {
            return fail(cli, f, "the WAV file ends before its samples");
        }
    }
}

static bool takes_samples(const tw_tensor *t)
{
    return t->dtype == TW_F32 || (t->scale > 0 && (t->dtype == TW_S8 || t->dtype == TW_S16)) ||
           t->dtype == TW_S16;
}

/* Read what a WAV file would begin with; if it is none, the bytes belong to the first frame. */
static bool begin(tw_cli *cli, cli_frames *f)
{
    uint8_t head[RIFF_HEAD];
    size_t got = 0;
    while (got < RIFF_HEAD) { /* a pipe may give less at a time */
        size_t n = fread(head + got, 1, RIFF_HEAD - got, f->file);
        if (n == 0)
            break;
        got += n;
    }
    f->is_wave =
        got == RIFF_HEAD && memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "WAVE", 4) == 0;
    if (!f->is_wave) {
        memcpy(f->ahead, head, got);
        f->ahead_bytes = (uint32_t)got;
        return true;
    }
    if (!takes_samples(f->tensor))
        return fail(cli, f, "a WAV file is for a float32, int16 or quantised int8 input");
    return open_wave(cli, f);
}

bool cli_frames_open(tw_cli *cli, const char *path, const tw_tensor *tensor, uint64_t hop,
                     cli_frames *frames)
{
    *frames = (cli_frames){.path = path, .tensor = tensor};
    cli_frames *f = frames;
    f->each = tw_dtype_bytes((tw_dtype)tensor->dtype);
    f->bytes = tw_tensor_bytes(tensor);
    f->hop = hop == 0 ? f->bytes : (uint32_t)hop * f->each;
    if (f->bytes == 0 || hop > f->bytes / f->each)
        return cli_usage(cli, "--hop: a frame of the input has %u elements", f->bytes / f->each);
    f->frame = tw_alloc(cli->arena, f->bytes);
    f->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!f->file)
        return fail(cli, f, tw_format(cli->arena, "cannot be opened: %s", strerror(errno)));
    /* Before the first sample there was silence. */
    if (tensor->dtype == TW_S8 || tensor->dtype == TW_S16)
        for (uint32_t at = 0; at < f->bytes; at += f->each)
            tw_number_store((tw_dtype)tensor->dtype, tensor->zero_point, f->frame + at);
    return begin(cli, f);
}

static size_t take(cli_frames *f, uint8_t *to, size_t bytes)
{
    size_t got = f->ahead_bytes < bytes ? f->ahead_bytes : bytes;
    memcpy(to, f->ahead, got);
    memmove(f->ahead, f->ahead + got, f->ahead_bytes - got);
    f->ahead_bytes -= (uint32_t)got;
    return got + fread(to + got, 1, bytes - got, f->file);
}

/* One sample, -1 to 1, in the input's own terms. */
static void store_sample(const tw_tensor *t, int16_t sample, uint8_t *to)
{
    double value = sample;
    if (t->dtype == TW_F32) {
        value /= 32768;
    } else if (t->scale > 0) {
        const double most = t->dtype == TW_S8 ? INT8_MAX : INT16_MAX;
        value = nearbyint(value / 32768 / (double)t->scale) + t->zero_point;
        value = fmin(fmax(value, -most - 1), most);
    }
    tw_number_store((tw_dtype)t->dtype, value, to);
}

static bool next_samples(cli_frames *f, uint8_t *to, size_t *got)
{
    uint32_t count = f->hop / f->each;
    *got = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t sample[SAMPLE];
        if (f->left < SAMPLE || take(f, sample, SAMPLE) != SAMPLE)
            return false;
        f->left -= SAMPLE;
        store_sample(f->tensor, (int16_t)word(sample, SAMPLE), to + i * f->each);
        *got += f->each;
    }
    return true;
}

bool cli_frames_next(tw_cli *cli, cli_frames *f, bool *more)
{
    size_t got;
    uint8_t *fresh = f->frame + (f->bytes - f->hop);
    memmove(f->frame, f->frame + f->hop, f->bytes - f->hop);
    if (f->is_wave) {
        *more = next_samples(f, fresh, &got);
    } else {
        got = take(f, fresh, f->hop);
        *more = got == f->hop;
    }
    f->dropped = *more ? 0 : got;
    return !ferror(f->file) || fail(cli, f, "cannot be read");
}

void cli_frames_close(cli_frames *f)
{
    if (f->file && f->file != stdin)
        fclose(f->file);
    f->file = NULL;
}
