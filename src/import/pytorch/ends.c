/* Inputs and outputs of a program: their extents, and the tensors in what it gives back. */
#include <stdio.h>
#include <string.h>

#include "import/pytorch/torch.h"

enum { DEPTH = 16, OUTPUTS = 1024 };

/* The extents that the user gives an input: by name, or without one for the first input. */
static const int32_t *given_extents(const tw_torch *t, const char *name, int position, int *rank)
{
    const tw_import_options *options = t->b.options;
    for (int i = 0; i < options->input_shape_count; i++) {
        const char *given = options->input_shapes[i].name;
        if (given && *given ? strcmp(given, name) == 0 : position == 0) {
            *rank = options->input_shapes[i].rank;
            return options->input_shapes[i].dim;
        }
    }
    const tw_offered_input *offer = tw_map_get(&t->b.offered, name);
    if (!offer && position < options->offered_count)
        offer = &options->offered[position];
    *rank = offer ? offer->rank : -1;
    return offer ? offer->dim : NULL;
}

/* An axis that the program leaves open. */
static bool bind_axis(tw_torch *t, const tw_torch_declared *d, int axis, const int32_t *given,
                      int64_t *extent)
{
    const char *symbol = d->symbol[axis];
    const int64_t *known = symbol ? tw_map_get(&t->symbols, symbol) : NULL;
    if (known && given && *known != given[axis])
        return tw_fail(t->b.diag, TW_CODE_FAILED, d->name, NULL,
                       "axis %d of the input is to have %d elements, another of the same extent "
                       "(%s) has %lld",
                       axis, (int)given[axis], symbol, (long long)*known);
    if (!known && !given)
        return tw_fail(t->b.diag, TW_CODE_USAGE, d->name, NULL,
                       "axis %d of the input is open; give its shape with --input-shape", axis);
    *extent = known ? *known : given[axis];
    if (symbol && !known)
        tw_map_put(t->scratch, &t->symbols, symbol, tw_copy(t->scratch, extent, sizeof *extent));
    return true;
}

tw_value *tw_torch_input(tw_torch *t, const tw_torch_declared *d)
{
    int given_rank;
    const int32_t *given = given_extents(t, d->name, d->position, &given_rank);
    const int rank = d->rank < 0 ? given_rank : d->rank;
    int64_t dim[TW_MAX_RANK] = {0};
    tw_shape shape;
    if (rank < 0) {
        tw_fail(t->b.diag, TW_CODE_USAGE, d->name, NULL,
                "TorchScript does not say the shapes of inputs; give --input-shape %.100s:1x3x8 or "
                "whatever it is",
                d->name);
        return NULL;
    }
    if (given && given_rank != rank) {
        tw_fail(t->b.diag, TW_CODE_FAILED, d->name, NULL,
                "the input has rank %d, the shape given has rank %d", rank, given_rank);
        return NULL;
    }
    for (int i = 0; i < rank; i++) {
        const bool fixed = d->rank >= 0 && d->dim[i] >= 0;
        if (fixed && given && given[i] != d->dim[i]) {
            tw_fail(t->b.diag, TW_CODE_FAILED, d->name, NULL,
                    "axis %d of the input has extent %lld, the shape given says %d", i,
                    (long long)d->dim[i], (int)given[i]);
            return NULL;
        }
        dim[i] = d->dim[i];
        if (!fixed && !bind_axis(t, d, i, given, &dim[i]))
            return NULL;
    }
    if (!tw_torch_shape(t, d->dtype, rank, dim, &shape))
        return NULL;
    tw_value *input = tw_graph_input(t->b.graph, d->name, shape);
    return tw_fix_given_input(t->b.graph, input, t->b.options, t->b.diag) ? input : NULL;
}

bool tw_torch_inputs_used(tw_torch *t)
{
    const tw_import_options *options = t->b.options;
    for (int i = 0; i < options->input_shape_count; i++) {
        const char *name = options->input_shapes[i].name;
        bool found = !name || !*name;
        for (int k = 0; k < t->b.graph->input_count && !found; k++)
            found = strcmp(t->b.graph->inputs[k]->name, name) == 0;
        for (int k = 0; k < t->b.graph->fixed_count && !found; k++)
            found = strcmp(t->b.graph->fixed[k], name) == 0;
        if (!found)
            return tw_fail(t->b.diag, TW_CODE_USAGE, NULL, NULL,
                           "a shape is given for '%s', which is not an input of the model", name);
    }
    return true;
}

static bool output(tw_torch *t, const tw_torch_object *o, int depth)
{
    if (depth == DEPTH || t->b.graph->output_count > OUTPUTS)
        return tw_fail(t->b.diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "the model's result is nested too deeply");
    if (o->kind == TW_TORCH_TENSOR) {
        tw_value *value = tw_torch_value(t, o->tensor);
        if (value)
            tw_graph_output(t->b.graph, value);
        return value != NULL;
    }
    const int step = o->kind == TW_TORCH_DICT ? 2 : 1;
    if (o->kind == TW_TORCH_LIST || o->kind == TW_TORCH_TUPLE || o->kind == TW_TORCH_DICT) {
        for (int i = step - 1; i < o->count; i += step)
            if (!output(t, o->items[i], depth + 1))
                return false;
        return true;
    }
    return o->kind == TW_TORCH_NONE || tw_torch_is_number(o) ||
           tw_fail(t->b.diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                   "the model gives back %s; only tensors are supported",
                   tw_torch_kind_name(o->kind));
}

bool tw_torch_output(tw_torch *t, const tw_torch_object *result)
{
    return output(t, result, 0);
}
