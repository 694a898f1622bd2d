/* A model tensor by tensor: per_node.h. */
#include "per_node.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "import/import.h"
#include "ops/op.h"
#include "output.h"
#include "testcase.h"

/* ---- names ---- */

const char *cli_tensor_file(tw_cli *cli, const char *folder, const char *name)
{
    static const char *const suffixes[] = {".npy", ".bin", ".pb"};
    char *plain = tw_strdup(cli->arena, name);
    for (char *c = plain; *c; c++) {
        bool letter = (*c | 32) >= 'a' && (*c | 32) <= 'z', digit = *c >= '0' && *c <= '9';
        if (!letter && !digit && !strchr(".-_", *c))
            *c = '_';
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const char *path = tw_format(cli->arena, "%s/%s%s", folder, plain, suffixes[i]);
        FILE *file = fopen(path, "rb");
        if (file) {
            fclose(file);
            return path;
        }
    }
    return NULL;
}

void cli_place(const tw_shape *shape, int64_t index, char *text, size_t bytes)
{
    int64_t place[TW_MAX_RANK] = {0};
    for (int i = shape->rank - 1; i >= 0; i--) {
        place[i] = index % (shape->dim[i] ? shape->dim[i] : 1);
        index /= shape->dim[i] ? shape->dim[i] : 1;
    }
    size_t n = (size_t)snprintf(text, bytes, "[");
    for (int i = 0; i < shape->rank && n < bytes; i++)
        n += (size_t)snprintf(text + n, bytes - n, "%s%" PRId64, i ? "," : "", place[i]);
    if (n < bytes)
        snprintf(text + n, bytes - n, "]");
}

/* ---- the model's tensors ---- */

/* The operator that does a foreign node's work: importers put moves around it. */
static const char *operator_of(const tw_graph *graph, const char *node)
{
    const char *op = "";
    for (int i = 0; i < graph->node_count; i++) {
        const tw_opdef *def = graph->nodes[i]->op;
        bool moves = def->kind == TW_MOVE || def->kind == TW_VIEW;
        if (strcmp(graph->nodes[i]->name, node) == 0 && (!moves || !*op))
            op = def->name;
    }
    return op;
}

static tw_graph *import(tw_cli *cli, const char *path, const tw_compile_options *options)
{
    const tw_import_options import = tw_import_options_of(options);
    const char *format;
    cli->diag.warn = NULL; /* they have been given */
    return tw_import(cli->arena, path, &import, &format, &cli->diag);
}

/* ---- one tensor ---- */

/* Compile a model up to a tensor, run it on the job's inputs. *bytes: what it computes, dense. */
static bool compute(tw_cli *cli, const char *path, const char *tensor, tw_compile_options *options,
                    const cli_job *job, tw_shape *shape, const void **bytes)
{
    cli_model model;
    options->only = tensor;
    cli->diag.file[0] = 0;
    bool ok = cli_model_open(cli, path, options, &model);
    cli_progress_end();
    if (ok) {
        cli_job part = cli_job_new(cli, &model.session, 1);
        uint32_t inputs = model.session.model.input_count;
        ok = inputs == job->session->model.input_count ||
             tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                     "the two models have other inputs; they must be alike");
        if (ok) {
            const tw_tensor *out = tw_output_tensor(&model.session.model, 0);
            memcpy(part.inputs, job->inputs, sizeof *job->inputs * inputs);
            *shape = tw_shape_of((tw_dtype)out->dtype, out->rank, out->dim);
            ok = cli_job_run(cli, &part);
            *bytes = part.outputs[0];
        }
    }
    cli_model_close(&model);
    return ok;
}

static bool read_expected(tw_cli *cli, const char *path, const tw_shape *shape, const void **bytes)
{
    tw_tensor like = {.dtype = (uint8_t)shape->dtype, .rank = (uint8_t)shape->rank};
    cli_stream stream;
    memcpy(like.dim, shape->dim, sizeof *like.dim * (size_t)shape->rank);
    if (!cli_read_stream(cli, path, &like, 1, &stream))
        return false;
    *bytes = stream.data;
    return true;
}

typedef struct tw_sides {
    const char *model, *against; /* paths */
    bool folder;                 /* `against` is one */
    tw_compile_options own, other;
} tw_sides;

/* Both sides of one tensor. *skipped: there is nothing to compare it with. */
static bool compare_tensor(tw_cli *cli, tw_sides *sides, const cli_job *job, const char *tensor,
                           const tw_tolerance *tolerance, cli_parting *parting, bool *skipped)
{
    const char *file = sides->folder ? cli_tensor_file(cli, sides->against, tensor) : NULL;
    const void *got, *want;
    tw_shape shape, other;
    *skipped = sides->folder && !file;
    if (*skipped)
        return true;
    if (!compute(cli, sides->model, tensor, &sides->own, job, &shape, &got))
        return false;
    if (file ? !read_expected(cli, file, &shape, &want)
             : !compute(cli, sides->against, tensor, &sides->other, job, &other, &want))
        return false;
    if (!file && !tw_shape_equal(&shape, &other))
        return tw_fail(&cli->diag, TW_CODE_FAILED, NULL, NULL,
                       "tensor %.80s has another type or shape in the other model", tensor);
    parting->tensors++;
    parting->difference = tw_no_difference();
    if (!tw_compare(shape.dtype, tw_shape_elements(&shape), got, want, tolerance, 0,
                    &parting->difference)) {
        parting->found = true;
        parting->elements = tw_shape_elements(&shape);
        cli_place(&shape, parting->difference.first, parting->place, sizeof parting->place);
    }
    return true;
}

/* Is the tensor worth looking at? What only moves elements is as right as what it moves; but a file for
 * it is a wish. */
static bool is_candidate(tw_cli *cli, const tw_sides *sides, const tw_node *node)
{
    if (!node->out[0])
        return false;
    bool moves = node->op->kind == TW_MOVE || node->op->kind == TW_VIEW;
    return sides->folder ? cli_tensor_file(cli, sides->against, node->out[0]->name) != NULL
                         : !moves;
}

bool cli_verify_per_node(tw_cli *cli, const cli_job *job, const char *against,
                         const tw_tolerance *tolerance, cli_parting *parting)
{
    tw_sides sides = {.model = cli->operands[0], .against = against};
    *parting = (cli_parting){.found = false};
    sides.folder = cli_is_folder(against);
    if (!cli_compile_options(cli, &sides.own))
        return false;
    /* A tensor that is an output is whole: what the whole model fits into may be too little. */
    tw_memories_default(&sides.own.memories);
    sides.other = sides.own;
    sides.other.random_bands = 0;
    tw_graph *graph = import(cli, sides.model, &sides.own);
    for (int i = 0; graph && i < graph->node_count && !parting->found; i++) {
        const tw_node *node = graph->nodes[i];
        bool skipped;
        if (!is_candidate(cli, &sides, node))
            continue;
        parting->tensor = node->out[0]->name;
        parting->node = node->name;
        parting->op = operator_of(graph, node->name);
        if (!compare_tensor(cli, &sides, job, parting->tensor, tolerance, parting, &skipped))
            return false;
    }
    return graph != NULL;
}
