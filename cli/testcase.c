/* Test folders. Files that are missing or contradict each other are refused by name. */
#include "testcase.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "import/tensor_file.h"

enum { MAX_FIXTURES = 256, MAX_SETS = 1000 };

bool cli_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool cli_is_saved_model(const char *path)
{
    char model[4096], goldens[4096];
    return snprintf(model, sizeof model, "%s/saved_model.pb", path) < (int)sizeof model &&
           snprintf(goldens, sizeof goldens, "%s/io.tsv", path) < (int)sizeof goldens &&
           access(model, F_OK) == 0 && access(goldens, F_OK) != 0;
}

static bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static bool fail(tw_cli *cli, const char *path, const char *what)
{
    snprintf(cli->diag.file, sizeof cli->diag.file, "%s", path);
    return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL, "%s", what);
}

/* ---- ONNX test-case folders ---- */

/* FOLDER/ROLE_N.pb from 0 up. */
static bool read_pb_tensors(tw_cli *cli, const char *folder, const char *role,
                            cli_fixture **fixtures, int *count)
{
    *fixtures = tw_alloc_array(cli->arena, MAX_FIXTURES, sizeof **fixtures);
    for (*count = 0; *count < MAX_FIXTURES; ++*count) {
        tw_tensor_data tensor;
        char *path = tw_format(cli->arena, "%s/%s_%d.pb", folder, role, *count);
        if (!exists(path))
            return true;
        if (!tw_tensor_read(cli->arena, path, NULL, &tensor, &cli->diag))
            return false;
        (*fixtures)[*count] = (cli_fixture){
            .name = tensor.name, .shape = tensor.shape, .data = tensor.data, .steps = 1};
    }
    return fail(cli, folder, "more than 256 tensors in one data set");
}

static bool read_onnx_folder(tw_cli *cli, const char *path, cli_testdir *dir)
{
    int capacity = 0;
    dir->offers = true;
    for (; dir->count < MAX_SETS; dir->count++) {
        char *folder = tw_format(cli->arena, "%s/test_data_set_%d", path, dir->count);
        if (!cli_is_folder(folder))
            break;
        tw_grow(cli->arena, &dir->cases, dir->count, &capacity, sizeof *dir->cases);
        cli_testcase *one = &dir->cases[dir->count];
        *one = (cli_testcase){.name = folder, .steps = 1};
        if (!read_pb_tensors(cli, folder, "input", &one->inputs, &one->input_count) ||
            !read_pb_tensors(cli, folder, "output", &one->outputs, &one->output_count))
            return false;
        if (one->output_count == 0)
            return fail(cli, folder, "the data set holds no output_0.pb, so nothing is tested");
    }
    return dir->count > 0 ||
           fail(cli, path, "the folder holds neither test_data_set_0/ nor io.tsv");
}

/* ---- folders with io.tsv ---- */

/* NumPy's type names. */
static tw_dtype dtype_by_long_name(const char *name)
{
    static const struct {
        const char *name;
        tw_dtype dtype;
    } names[] = {{"float32", TW_F32}, {"int8", TW_S8},   {"uint8", TW_U8},    {"int16", TW_S16},
                 {"uint16", TW_U16},  {"int32", TW_S32}, {"uint32", TW_U32},  {"int64", TW_S64},
                 {"uint64", TW_U64},  {"bool", TW_BOOL}, {"float16", TW_F16}, {"float64", TW_F64}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].dtype;
    return TW_NO_DTYPE;
}

/* "1x3x32", "scalar". Leading extents of 1 that are more than a tensor's axes are left out, as importers
 * do. */
static bool parse_extents(const char *text, tw_dtype dtype, tw_shape *shape)
{
    int32_t dim[TW_MAX_RANK];
    int rank = 0;
    int64_t bytes = tw_dtype_bytes(dtype);
    if (strcmp(text, "scalar") != 0)
        for (const char *at = text;; at++) {
            char *end;
            long extent = strtol(at, &end, 10);
            if (rank == TW_MAX_RANK && dim[0] == 1)
                memmove(dim, dim + 1, (size_t)--rank * sizeof *dim);
            if (end == at || extent < 0 || rank == TW_MAX_RANK || (*end && *end != 'x'))
                return false;
            bytes *= extent ? extent : 1;
            if (bytes > INT32_MAX)
                return false;
            dim[rank++] = (int32_t)extent;
            at = end;
            if (!*end)
                break;
        }
    *shape = tw_shape_of(dtype, rank, dim);
    return true;
}

enum { ROLE, NAME, DTYPE, SHAPE, STEPS, FILE_NAME, COLUMNS };

static int split_columns(char *line, char *column[COLUMNS])
{
    int count = 0;
    for (char *at = line; at && count < COLUMNS; count++) {
        column[count] = at;
        at = strchr(at, '\t');
        if (at)
            *at++ = 0;
    }
    return count;
}

static bool read_data(tw_cli *cli, const char *folder, const char *name, const tw_shape *shape,
                      cli_fixture *fixture)
{
    tw_tensor_data tensor;
    char *path = tw_path_inside(cli->arena, folder, name, &cli->diag);
    if (!path || !tw_tensor_read(cli->arena, path, shape, &tensor, &cli->diag))
        return false;
    size_t one = tw_shape_bytes(shape);
    fixture->data = tensor.data;
    fixture->steps = one ? tensor.bytes / one : 1;
    return true;
}

/* The data of a row that says no shape: as many tensors as its steps, all of the file. */
static bool read_steps(tw_cli *cli, const char *folder, char *const *column, cli_fixture *fixture)
{
    const int32_t one = 1;
    const tw_shape element = tw_shape_of(fixture->shape.dtype, 1, &one);
    char *end;
    long steps = strtol(column[STEPS], &end, 10);
    if (end == column[STEPS] || *end || steps < 1)
        return fail(cli, folder, "a row of io.tsv without a shape does not say how many steps");
    if (!read_data(cli, folder, column[FILE_NAME], &element, fixture))
        return false;
    if (fixture->steps % (uint64_t)steps != 0)
        return fail(cli, folder, "a file of io.tsv does not divide into its steps");
    const int32_t elements = (int32_t)(fixture->steps / (uint64_t)steps);
    fixture->shape = tw_shape_of(element.dtype, 1, &elements);
    fixture->any_shape = true;
    fixture->steps = (uint64_t)steps;
    return true;
}

/* One row into the test. */
static bool read_row(tw_cli *cli, const char *folder, char *column[COLUMNS], int columns,
                     cli_testcase *one)
{
    tw_shape shape;
    bool state = strcmp(column[ROLE], "state") == 0, out = strcmp(column[ROLE], "out") == 0;
    if (columns < FILE_NAME ||
        !(state || out || strcmp(column[ROLE], "in") == 0 || strcmp(column[ROLE], "const") == 0))
        return fail(cli, folder,
                    "a row of io.tsv does not have the columns role, name, dtype, "
                    "shape, steps, file");
    tw_dtype dtype = dtype_by_long_name(column[DTYPE]);
    bool open = !column[SHAPE][0] && !state;
    shape = tw_shape_of(dtype, 0, NULL);
    if (dtype == TW_NO_DTYPE || (!open && !parse_extents(column[SHAPE], dtype, &shape)))
        return fail(cli, folder, "a type or shape in io.tsv cannot be read");
    if (one->input_count == MAX_FIXTURES || one->output_count == MAX_FIXTURES)
        return fail(cli, folder, "io.tsv has more than 256 rows");
    cli_fixture fixture = {.name = column[NAME],
                           .shape = shape,
                           .steps = 1,
                           .constant = strcmp(column[ROLE], "const") == 0};
    bool file = columns > FILE_NAME && column[FILE_NAME][0];
    if (file && !(open ? read_steps(cli, folder, column, &fixture)
                       : read_data(cli, folder, column[FILE_NAME], &shape, &fixture)))
        return false;
    if (state) {
        char *arrow = strchr(column[NAME], '>');
        if (!arrow)
            return fail(cli, folder, "a state in io.tsv is not written OUTPUT>INPUT");
        *arrow = 0;
        one->links[one->link_count++] = (cli_test_link){one->output_count, one->input_count};
        one->inputs[one->input_count++] =
            (cli_fixture){.name = arrow + 1, .shape = shape, .steps = 1};
        one->outputs[one->output_count++] = fixture;
        return true;
    }
    if (!file)
        return fail(cli, folder, "a row of io.tsv names no file");
    if (fixture.steps > one->steps)
        one->steps = fixture.steps;
    if (out)
        one->outputs[one->output_count++] = fixture;
    else
        one->inputs[one->input_count++] = fixture;
    return true;
}

static bool read_table(tw_cli *cli, const char *folder, cli_testdir *dir)
{
    void *text;
    size_t bytes;
    char *path = tw_format(cli->arena, "%s/io.tsv", folder), *column[COLUMNS] = {NULL};
    cli_testcase *one = dir->cases = tw_alloc(cli->arena, sizeof *one);
    dir->count = 1;
    *one = (cli_testcase){.name = folder, .steps = 1};
    one->inputs = tw_alloc_array(cli->arena, MAX_FIXTURES + 1, sizeof *one->inputs);
    one->outputs = tw_alloc_array(cli->arena, MAX_FIXTURES + 1, sizeof *one->outputs);
    one->links = tw_alloc_array(cli->arena, MAX_FIXTURES + 1, sizeof *one->links);
    if (!tw_read_file(cli->arena, path, 1 << 20, &text, &bytes, &cli->diag))
        return false;
    bool header = true;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        line[strcspn(line, "\r")] = 0;
        if (*line == '#' || !*line)
            continue;
        int columns = split_columns(line, column);
        if (!header && !read_row(cli, folder, column, columns, one))
            return false;
        header = false;
    }
    return one->output_count > 0 || fail(cli, path, "no output is listed, so nothing is tested");
}

/* The model in the folder: the first suffix of the list that some file has. */
static const char *find_model(tw_cli *cli, const char *folder)
{
    static const char *const suffixes[] = {".onnx", ".tflite", ".twir", ".twp", ".pt2",
                                           ".pt",   ".keras",  ".h5",   ".pb"};
    if (access(folder, F_OK) != 0) {
        snprintf(cli->diag.file, sizeof cli->diag.file, "%s", folder);
        tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL, "the folder cannot be read: %s",
                strerror(errno));
        return NULL;
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *found = NULL;
        DIR *dir = opendir(folder);
        for (struct dirent *entry; dir && (entry = readdir(dir));) {
            size_t n = strlen(entry->d_name), m = strlen(suffixes[i]);
            if (n > m && strcmp(entry->d_name + n - m, suffixes[i]) == 0 &&
                (!found || strcmp(entry->d_name, found) < 0))
                found = tw_strdup(cli->arena, entry->d_name);
        }
        if (dir)
            closedir(dir);
        if (found)
            return tw_format(cli->arena, "%s/%s", folder, found);
    }
    snprintf(cli->diag.file, sizeof cli->diag.file, "%s", folder);
    tw_fail(&cli->diag, TW_CODE_UNSUPPORTED, NULL, NULL,
            "the folder holds no model of a known kind (.onnx, .tflite, .twir, .twp, .pt2, .pt, "
            ".keras, "
            ".h5, .pb)");
    return NULL;
}

bool cli_testdir_read(tw_cli *cli, const char *path, cli_testdir *dir)
{
    *dir = (cli_testdir){.count = 0};
    dir->model = find_model(cli, path);
    if (!dir->model)
        return false;
    return exists(tw_format(cli->arena, "%s/io.tsv", path)) ? read_table(cli, path, dir)
                                                            : read_onnx_folder(cli, path, dir);
}
