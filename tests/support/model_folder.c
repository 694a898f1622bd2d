/* Folders with a model and goldens, see model_folder.h. */
#include "support/model_folder.h"

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "host/session.h"

#ifndef TW_TEST_WORK
#define TW_TEST_WORK "build/work"
#endif

static bool exists(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0;
}

const char *tw_test_data(tw_arena *arena, const char *part)
{
    const char *given = getenv("TILEWRIGHT_TEST_DATA");
    const char *data = given ? given : "../shared/data";
    const char *path = tw_format(arena, "%s/%s", data, part);
    if (exists(path))
        return data;
    fprintf(stderr,
            "SKIPPED: %s is not there; set TILEWRIGHT_TEST_DATA to the folder that has it\n", path);
    return NULL;
}

const char *tw_test_archive(tw_arena *arena, const char *archive)
{
    const char *data = tw_test_data(arena, archive);
    if (!data)
        return NULL;
    const char *name = strrchr(archive, '/') ? strrchr(archive, '/') + 1 : archive;
    const char *place = tw_format(arena, "%s/%.*s", TW_TEST_WORK, (int)strcspn(name, "."), name);
    if (exists(place))
        return place;
    /* Beside the final place, then renamed: other test programs may be doing the same. */
    const char *own = tw_format(arena, "%s.%ld", place, (long)getpid());
    if (strchr(data, '\'') || system(tw_format(arena, "mkdir -p '%s' && tar -xJf '%s/%s' -C '%s'",
                                               own, data, archive, own)) != 0) {
        fprintf(stderr, "SKIPPED: %s cannot be unpacked (are tar and xz installed?)\n", archive);
        return NULL;
    }
    if (rename(own, place) != 0 && system(tw_format(arena, "rm -rf '%s'", own)) != 0)
        return NULL;
    return exists(place) ? place : NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **tw_test_folders(tw_arena *arena, const char *folder)
{
    const char **names = NULL;
    int count = 0, capacity = 0;
    DIR *d = opendir(folder);
    for (struct dirent *entry = d ? readdir(d) : NULL; entry; entry = readdir(d)) {
        tw_grow(arena, &names, count, &capacity, sizeof *names);
        if (entry->d_name[0] != '.')
            names[count++] = tw_strdup(arena, entry->d_name);
    }
    if (d)
        closedir(d);
    if (count)
        qsort(names, (size_t)count, sizeof *names, by_name);
    tw_grow(arena, &names, count, &capacity, sizeof *names);
    names[count] = NULL;
    return names;
}

/* ---- io.tsv ---- */

static void *read_file(tw_arena *arena, const char *path, size_t *bytes)
{
    void *data;
    tw_diag diag = {0};
    if (!tw_read_file(arena, path, 1 << 28, &data, bytes, &diag))
        fail_msg("%s: %s", path, diag.message);
    return data;
}

/* The k-th field of a line that ends in zero, copied. */
static const char *field(tw_arena *arena, const char *line, int k)
{
    for (; k > 0 && line; k--)
        line = strchr(line, '\t') ? strchr(line, '\t') + 1 : NULL;
    return line ? tw_strndup(arena, line, strcspn(line, "\t")) : "";
}

static tw_dtype dtype_of(const char *name)
{
    static const struct {
        const char *name;
        tw_dtype dtype;
    } types[] = {{"float32", TW_F32}, {"float16", TW_F16}, {"float64", TW_F64}, {"int32", TW_S32},
                 {"uint32", TW_U32},  {"int64", TW_S64},   {"uint64", TW_U64},  {"int16", TW_S16},
                 {"uint16", TW_U16},  {"int8", TW_S8},     {"uint8", TW_U8},    {"bool", TW_BOOL}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return types[i].dtype;
    fail_msg("io.tsv names the type '%s'", name);
    return TW_NO_DTYPE;
}

static size_t element_bytes(const char *dtype)
{
    return tw_dtype_bytes(dtype_of(dtype));
}

/* "1x3x32", "scalar" */
static void read_extents(tw_io_row *row, const char *text)
{
    for (char *end; *text >= '0' && *text <= '9' && row->rank < TW_MAX_RANK; text = end) {
        row->dim[row->rank++] = (int)strtol(text, &end, 10);
        end += *end == 'x';
    }
}

static void read_row(tw_arena *arena, tw_model_folder *folder, const char *line)
{
    static const char *const roles[] = {"in", "const", "out", "state"};
    tw_io_row *row = &folder->rows[folder->row_count];
    const char *role = field(arena, line, 0), *file = field(arena, line, 5);
    int r = 0;
    while (r < 4 && strcmp(roles[r], role) != 0)
        r++;
    if (r == 4)
        return; /* the header */
    *row = (tw_io_row){(tw_io_role)r, field(arena, line, 1), field(arena, line, 2), .steps = 1};
    read_extents(row, field(arena, line, 3));
    if (row->role != TW_IO_STATE)
        row->steps = atoi(field(arena, line, 4));
    if (*file && row->role != TW_IO_STATE) {
        row->data = read_file(arena, tw_format(arena, "%s/%s", folder->path, file), &row->bytes);
        if (row->steps < 1 || row->bytes % (size_t)row->steps != 0)
            fail_msg("%s: %s does not hold %d tensors", folder->path, file, row->steps);
        row->bytes /= (size_t)row->steps;
    }
    if (row->steps > folder->steps)
        folder->steps = row->steps;
    folder->row_count++;
}

void tw_model_folder_read(tw_arena *arena, const char *path, const char *model,
                          tw_model_folder *folder)
{
    size_t bytes;
    char *text = read_file(arena, tw_format(arena, "%s/io.tsv", path), &bytes), *end;
    int lines = 1;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    *folder = (tw_model_folder){.path = path, .oracle = "", .steps = 1};
    folder->model = tw_format(arena, "%s/%s", path, model);
    folder->rows = tw_alloc_array(arena, (size_t)lines, sizeof *folder->rows);
    for (char *line = text; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end)
            *end++ = 0;
        if (*line == '#')
            folder->oracle = tw_strdup(arena, line);
        else if (*line)
            read_row(arena, folder, line);
    }
}

/* ---- running ---- */

/* Of 16 bits: a sign, 5 of the exponent, 10 behind the point. */
static double half_number(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    if (exponent == 31)
        value = fraction ? (double)NAN : (double)INFINITY;
    return bits >> 15 ? -value : value;
}

static double number(const char *dtype, const uint8_t *at)
{
    union {
        float f;
        double e;
        int8_t b;
        int16_t h;
        uint16_t u;
        int32_t w;
        uint32_t v;
        int64_t d;
    } x;
    memcpy(&x, at, element_bytes(dtype));
    switch (dtype[0]) {
    case 'f':
        return element_bytes(dtype) == 2   ? half_number(x.u)
               : element_bytes(dtype) == 8 ? x.e
                                           : (double)x.f;
    case 'b': /* false or true, whatever byte says so */ return x.b != 0;
    case 'u':
        return element_bytes(dtype) == 1   ? (double)(uint8_t)x.b
               : element_bytes(dtype) == 2 ? x.u
                                           : (double)x.v;
    default:
        return element_bytes(dtype) == 1   ? x.b
               : element_bytes(dtype) == 2 ? x.h
               : element_bytes(dtype) == 4 ? x.w
                                           : (double)x.d;
    }
}

static void compare(const tw_io_row *row, const uint8_t *have, int step, tw_tolerance tolerance,
                    tw_folder_result *result)
{
    const uint8_t *want = row->data + row->bytes * (size_t)(row->steps > 1 ? step : 0);
    size_t size = element_bytes(row->dtype);
    bool is_float = row->dtype[0] == 'f';
    for (size_t at = 0; at < row->bytes; at += size) {
        double a = number(row->dtype, have + at), b = number(row->dtype, want + at);
        double off = fabs(a - b), allowed = tolerance.lsb;
        if (is_float)
            allowed = tolerance.atol + tolerance.rtol * fabs(b);
        result->compared++;
        bool same = (isnan(a) && isnan(b)) || a == b;
        double size_of = is_float ? off / (fabs(b) + tolerance.atol) : off;
        if (!same && size_of > result->worst)
            result->worst = size_of;
        if (same || off <= allowed)
            continue;
        if (result->differing++ == 0)
            result->first_step = step;
    }
}

/* The row's place among the plan's tensors: by name, else by order. */
static int place_of(const tw_io_row *row, int order, const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(names[i], row->name) == 0)
            return (int)i;
    return order;
}

static bool has_name(const tw_io_row *row, const char *const *names, uint32_t count)
{
    return place_of(row, -1, names, count) >= 0;
}

/* "OUTPUT>INPUT": what comes out, copied, and where it goes in at the next step. False: no such pair. */
static bool take_state(const tw_io_row *row, tw_session *s, void **copy, uint32_t *input)
{
    const char *split = strchr(row->name, '>');
    for (uint32_t o = 0; split && o < s->model.output_count; o++)
        for (uint32_t i = 0; i < s->model.input_count; i++)
            if (strlen(s->output_names[o]) == (size_t)(split - row->name) &&
                strncmp(s->output_names[o], row->name, (size_t)(split - row->name)) == 0 &&
                strcmp(s->input_names[i], split + 1) == 0) {
                size_t bytes = tw_tensor_bytes(tw_input_tensor(&s->model, i));
                *copy = malloc(bytes + 1);
                assert_non_null(*copy);
                memcpy(*copy, tw_output(&s->context, o), bytes);
                *input = i;
                return true;
            }
    return false;
}

enum { STATES = 64 };

/* Inputs may lie where outputs do: all are taken before the first is given back. */
static void feed_back(const tw_model_folder *f, tw_session *s)
{
    void *copy[STATES];
    uint32_t input[STATES];
    int count = 0;
    for (int i = 0; i < f->row_count && count < STATES; i++)
        if (f->rows[i].role == TW_IO_STATE)
            count += take_state(&f->rows[i], s, &copy[count], &input[count]);
    for (int i = 0; i < count; i++) {
        memcpy(tw_session_input(s, input[i]), copy[i],
               tw_tensor_bytes(tw_input_tensor(&s->model, input[i])));
        free(copy[i]);
    }
}

static bool check_bytes(const tw_model_folder *f, const tw_io_row *row, const tw_tensor *tensor,
                        tw_diag *diag)
{
    if (tensor && tw_tensor_bytes(tensor) == row->bytes)
        return true;
    snprintf(diag->message, sizeof diag->message, "%s: %s has %zu bytes, the plan says %u", f->path,
             row->name, row->bytes, tensor ? tw_tensor_bytes(tensor) : 0);
    diag->code = TW_CODE_FAILED;
    return false;
}

static bool run_step(const tw_model_folder *f, tw_session *s, int step, tw_tolerance tolerance,
                     uint8_t *keep, tw_folder_result *result, tw_diag *diag)
{
    int order = 0;
    for (int i = 0; i < f->row_count; i++) {
        const tw_io_row *row = &f->rows[i];
        if ((row->role != TW_IO_IN && row->role != TW_IO_CONST) || !row->data)
            continue;
        if (row->role == TW_IO_CONST && !has_name(row, s->input_names, s->model.input_count))
            continue; /* it has become part of the plan */
        int at = place_of(row, order++, s->input_names, s->model.input_count);
        const tw_tensor *tensor = tw_input_tensor(&s->model, (uint32_t)at);
        if (!check_bytes(f, row, tensor, diag))
            return false;
        memcpy(tw_session_input(s, (uint32_t)at),
               row->data + row->bytes * (size_t)(row->steps > 1 ? step : 0), row->bytes);
    }
    if (!tw_session_run(s, diag))
        return false;
    order = 0;
    for (int i = 0; i < f->row_count; i++) {
        const tw_io_row *row = &f->rows[i];
        if (row->role != TW_IO_OUT || !row->data)
            continue;
        int at = place_of(row, order++, s->output_names, s->model.output_count);
        const tw_tensor *tensor = tw_output_tensor(&s->model, (uint32_t)at);
        if (!check_bytes(f, row, tensor, diag))
            return false;
        compare(row, tw_session_output(s, (uint32_t)at), step, tolerance, result);
        memcpy(keep + result->output_bytes, tw_session_output(s, (uint32_t)at), row->bytes);
        result->output_bytes += row->bytes;
    }
    feed_back(f, s);
    return true;
}

/* The extents of the inputs, for axes that the model leaves open. */
static void offer_shapes(tw_arena *arena, const tw_model_folder *folder,
                         tw_compile_options *options)
{
    tw_offered_input *offered =
        tw_alloc_array(arena, (size_t)folder->row_count + 1, sizeof *offered);
    options->offered = offered;
    for (int i = 0; i < folder->row_count; i++) {
        const tw_io_row *row = &folder->rows[i];
        tw_offered_input *o = &offered[options->offered_count];
        if (row->role == TW_IO_OUT || row->rank > TW_MAX_RANK)
            continue;
        *o = (tw_offered_input){.name = row->name, .rank = row->rank};
        if (row->role == TW_IO_CONST) {
            o->dtype = dtype_of(row->dtype);
            o->data = row->data;
            o->fixed = true;
        }
        if (row->role == TW_IO_STATE && strchr(row->name, '>'))
            o->name = strchr(row->name, '>') + 1;
        memcpy(o->dim, row->dim, sizeof o->dim);
        options->offered_count++;
    }
}

bool tw_model_folder_run(tw_arena *arena, const tw_model_folder *folder,
                         const tw_compile_options *options, tw_tolerance tolerance,
                         tw_folder_result *result, tw_diag *diag)
{
    tw_compile_options own;
    tw_compiled compiled;
    tw_session session;
    size_t bytes = 1;
    tw_compile_options_default(&own);
    own = options ? *options : own;
    offer_shapes(arena, folder, &own);
    *result = (tw_folder_result){.compared = 0};
    for (int i = 0; i < folder->row_count; i++)
        if (folder->rows[i].role == TW_IO_OUT)
            bytes += folder->rows[i].bytes * (size_t)folder->steps;
    uint8_t *keep = tw_alloc(arena, bytes);
    result->outputs = keep;
    bool ok = tw_compile_file(folder->model, &own, &compiled, diag);
    result->transposes = ok ? compiled.report.transposes : 0;
    if (ok && tw_session_open(&session, compiled.plan, compiled.plan_bytes, diag)) {
        for (int step = 0; ok && step < folder->steps; step++)
            ok = run_step(folder, &session, step, tolerance, keep, result, diag);
        tw_session_close(&session);
    } else {
        ok = false;
    }
    tw_compiled_free(&compiled);
    return ok;
}

enum { SEEDS = 3 };

void tw_model_folder_must_pass(tw_arena *arena, const tw_model_folder *folder,
                               tw_tolerance tolerance)
{
    tw_diag diag = {0};
    tw_folder_result whole, banded;
    tw_compile_options options;
    tw_compile_options_default(&options);
    if (!tw_model_folder_run(arena, folder, NULL, tolerance, &whole, &diag))
        fail_msg("%s: %s (%s): %s", folder->model, diag.node, diag.operator_name, diag.message);
    if (whole.differing)
        fail_msg("%s: %ld of %ld elements differ, by up to %g, from step %d on", folder->model,
                 whole.differing, whole.compared, whole.worst, whole.first_step);
    for (options.random_bands = 1; options.random_bands <= SEEDS; options.random_bands++) {
        if (!tw_model_folder_run(arena, folder, &options, tolerance, &banded, &diag))
            fail_msg("%s: bands: %s", folder->model, diag.message);
        if (banded.output_bytes != whole.output_bytes ||
            memcmp(banded.outputs, whole.outputs, whole.output_bytes) != 0)
            fail_msg("%s: bands of seed %d change the result", folder->model,
                     (int)options.random_bands);
    }
}
