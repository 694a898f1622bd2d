/* Operators whose indices are data: gathering, scattering, sequences turned round; copies. */
#include <string.h>

#include "import/onnx/attention.h"

static bool is_index(tw_onnx_node *n, int i)
{
    tw_dtype type = n->in[i]->shape.dtype;
    return type == TW_S64 || type == TW_S32 ||
           TW_ONNX_FAIL(n, "input %d holds indices; they must be of type INT64 or INT32", i);
}

/* --- gather ------------------------------------------------------------------------------------ */

enum { MOST_RUNS = 8, MOST_INDICES = 4096 };

/* How many of the indices from `at` on are evenly spaced, and by what. */
static int run_length(const int64_t *index, int at, int count, int64_t *step)
{
    int run = 1;
    *step = at + 1 < count ? index[at + 1] - index[at] : 1;
    while (*step != 0 && at + run < count && index[at + run] - index[at + run - 1] == *step)
        run++;
    *step = run == 1 ? 1 : *step;
    return run;
}

/* A few runs of evenly spaced indices are slices, joined; null where there are more, or none. */
static tw_value *gather_runs(tw_onnx_node *n, tw_value *x, int axis, const int64_t *index,
                             int count)
{
    tw_value *parts[MOST_RUNS];
    int64_t step;
    int made = 0;
    for (int at = 0; at < count; made++)
        at += run_length(index, at, count, &step);
    if (made < 1 || made > MOST_RUNS)
        return NULL;
    made = 0;
    for (int at = 0; at < count;) {
        int run = run_length(index, at, count, &step);
        parts[made] = tw_build_slice(n->b, x, axis, index[at], run, step);
        if (!parts[made++])
            return NULL;
        at += run;
    }
    return tw_build_concat(n->b, parts, made, axis);
}

/* The indices as numbers from 0 on; null where they are not known now. Those outside the axis leave a
 * message. */
static const int64_t *known_indices(tw_onnx_node *n, tw_value *indices, int axis, int64_t extent)
{
    int64_t count = tw_shape_elements(&indices->shape);
    if (count > MOST_INDICES || !tw_build_known(n->b, indices))
        return NULL;
    int64_t *index = tw_alloc_array(n->b->arena, (size_t)count + 1, sizeof *index);
    for (int i = 0; i < count; i++) {
        int64_t at = tw_build_int_at(indices, i);
        if (at < -extent || at >= extent) {
            TW_ONNX_FAIL(n, "index %lld is outside axis %d of extent %lld", (long long)at, axis,
                         (long long)extent);
            return NULL;
        }
        index[i] = at < 0 ? at + extent : at;
    }
    return index;
}

bool tw_onnx_op_gather(tw_onnx_node *n)
{
    tw_value *x = n->in[0], *indices = n->in[1];
    const tw_shape *shape = &indices->shape;
    int axis, rank = 0;
    if (!tw_onnx_axis(n, tw_onnx_int(n, "axis", 0), x->shape.rank, &axis) || !is_index(n, 1))
        return false;
    const int64_t *index = known_indices(n, indices, axis, x->shape.dim[axis]);
    if (n->b->diag->code != TW_CODE_OK)
        return false;
    tw_value *y = index ? gather_runs(n, x, axis, index, (int)tw_shape_elements(shape)) : NULL;
    if (!y)
        return tw_onnx_bind(n, 0, tw_build_gather(n->b, x, indices, axis, 0));
    int64_t dim[2 * TW_MAX_RANK];
    for (int i = 0; i < axis; i++)
        dim[rank++] = x->shape.dim[i];
    for (int i = 0; i < shape->rank; i++)
        dim[rank++] = shape->dim[i];
    for (int i = axis + 1; i < x->shape.rank; i++)
        dim[rank++] = x->shape.dim[i];
    return tw_onnx_bind(n, 0, shape->rank == 1 ? y : tw_build_reshape(n->b, y, rank, dim));
}

bool tw_onnx_op_gather_elements(tw_onnx_node *n)
{
    int axis;
    return is_index(n, 1) &&
           tw_onnx_axis(n, tw_onnx_int(n, "axis", 0), n->in[0]->shape.rank, &axis) &&
           tw_onnx_bind(n, 0,
                        tw_build2(n->b, "GatherElements", n->in[0], n->in[1],
                                  TW_SETTINGS(tw_set_int("axis", axis))));
}

bool tw_onnx_op_gather_nd(tw_onnx_node *n)
{
    int64_t batch = tw_onnx_int(n, "batch_dims", 0);
    return is_index(n, 1) && tw_onnx_bind(n, 0,
                                          tw_build2(n->b, "GatherND", n->in[0], n->in[1],
                                                    TW_SETTINGS(tw_set_int("batch_dims", batch))));
}

/* --- scatter ----------------------------------------------------------------------------------- */

static bool read_reduction(tw_onnx_node *n, const char **how)
{
    static const char *const known[] = {"none", "add", "mul", "max", "min"};
    int64_t since = strcmp(n->op, "Scatter") == 0 ? INT64_MAX : 16; /* max and min from 18 on */
    *how = n->opset >= since ? tw_onnx_text(n, "reduction", "none") : "none";
    for (int i = 0; i < (n->opset >= 18 ? 5 : 3); i++)
        if (strcmp(*how, known[i]) == 0)
            return true;
    return TW_ONNX_FAIL(n, "reduction '%s' does not exist in opset %lld", *how,
                        (long long)n->opset);
}

bool tw_onnx_op_scatter_elements(tw_onnx_node *n)
{
    const char *how;
    int axis;
    if (!is_index(n, 1) || !read_reduction(n, &how) ||
        !tw_onnx_axis(n, tw_onnx_int(n, "axis", 0), n->in[0]->shape.rank, &axis))
        return false;
    return tw_onnx_bind(
        n, 0,
        tw_build(n->b, "ScatterElements", n->in, 3,
                 TW_SETTINGS(tw_set_int("axis", axis), tw_set_word("reduction", how))));
}

bool tw_onnx_op_scatter_nd(tw_onnx_node *n)
{
    const char *how;
    return is_index(n, 1) && read_reduction(n, &how) &&
           tw_onnx_bind(
               n, 0,
               tw_build(n->b, "ScatterND", n->in, 3, TW_SETTINGS(tw_set_word("reduction", how))));
}

/* A cache by heads, of one batch entry: what Append is for. */
static bool is_cache(const tw_value *cache, const tw_value *update, int axis)
{
    const int32_t *c = cache->shape.dim, *u = update->shape.dim;
    return cache->shape.rank == 4 && axis == 2 && c[0] == 1 && u[0] == 1 && u[1] == c[1] &&
           u[2] <= c[2] && u[3] == c[3] && update->shape.dtype == cache->shape.dtype;
}

/* Rows of the update go to where a cache has place, for each batch entry: ScatterElements at
 * write_indices[batch] + position, modulo the length where the cache is circular. */
bool tw_onnx_op_tensor_scatter(tw_onnx_node *n)
{
    tw_value *cache = n->in[0], *update = n->in[1], *begin = tw_onnx_in(n, 2);
    const char *mode = tw_onnx_text(n, "mode", "linear");
    bool circular = strcmp(mode, "circular") == 0;
    int axis, rank = cache->shape.rank;
    if (!circular && strcmp(mode, "linear") != 0)
        return TW_ONNX_FAIL(n, "mode is '%s'; linear and circular are possible", mode);
    if (!tw_onnx_axis(n, tw_onnx_int(n, "axis", -2), rank, &axis))
        return false;
    if (axis == 0 || update->shape.rank != rank)
        return TW_ONNX_FAIL(n, "cache and update must have one rank, and the axis stand behind the "
                               "batch");
    if (begin &&
        (begin->shape.rank != 1 || begin->shape.dim[0] != cache->shape.dim[0] || !is_index(n, 2)))
        return TW_ONNX_FAIL(n, "write_indices must be a list of %d", (int)cache->shape.dim[0]);
    if (begin && is_cache(cache, update, axis))
        return tw_onnx_bind(n, 0, tw_onnx_appended(n->b, cache, update, begin, circular));
    tw_value *at = tw_build_iota(n->b, TW_S64, rank, axis, update->shape.dim[axis]);
    if (begin) {
        int64_t dim[TW_MAX_RANK] = {cache->shape.dim[0], 1, 1, 1, 1, 1};
        begin = tw_build_reshape(n->b, tw_build_cast(n->b, begin, TW_S64), rank, dim);
        at = tw_build2(n->b, "Add", begin, at, NULL);
    }
    if (circular)
        at =
            tw_build2(n->b, "Mod", at, tw_build_scalar(n->b, TW_S64, cache->shape.dim[axis]), NULL);
    tw_shape shape = update->shape;
    shape.dtype = TW_S64;
    tw_value *in[] = {cache, tw_build_expand(n->b, at, &shape), update};
    return in[1] && tw_onnx_bind(n, 0,
                                 tw_build(n->b, "ScatterElements", in, 3,
                                          TW_SETTINGS(tw_set_int("axis", axis))));
}

/* --- sequences and copies ---------------------------------------------------------------------- */

bool tw_onnx_op_reverse_sequence(tw_onnx_node *n)
{
    int64_t time = tw_onnx_int(n, "time_axis", 0), batch = tw_onnx_int(n, "batch_axis", 1);
    if (time < 0 || time > 1 || batch != 1 - time)
        return TW_ONNX_FAIL(n, "time_axis and batch_axis must be 0 and 1, or 1 and 0");
    return is_index(n, 1) && tw_onnx_bind(n, 0,
                                          tw_build2(n->b, "ReverseSequence", n->in[0], n->in[1],
                                                    TW_SETTINGS(tw_set_int("axis", time),
                                                                tw_set_int("batch_axis", batch))));
}

/* Before opset 6: copies along one axis. */
static bool old_repeats(tw_onnx_node *n, int rank, int64_t *repeats)
{
    tw_onnx_list tiles, axis;
    int at;
    if (!tw_onnx_need(n, 2) || !tw_onnx_list_in(n, 1, "the number of copies", &tiles) ||
        !tw_onnx_list_in(n, 2, "the axis", &axis))
        return false;
    if (tiles.count != 1 || axis.count != 1)
        return TW_ONNX_FAIL(n, "one number of copies and one axis are needed");
    if (!tw_onnx_axis(n, axis.v[0], rank, &at))
        return false;
    repeats[at] = tiles.v[0];
    return true;
}

bool tw_onnx_op_tile(tw_onnx_node *n)
{
    int rank = n->in[0]->shape.rank;
    int64_t repeats[TW_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    tw_onnx_list list;
    if (n->opset < 6) {
        if (!old_repeats(n, rank, repeats))
            return false;
    } else if (!tw_onnx_list_in(n, 1, "the numbers of copies", &list)) {
        return false;
    } else if (list.count != rank) {
        return TW_ONNX_FAIL(n, "%d numbers of copies for %d axes", list.count, rank);
    } else {
        memcpy(repeats, list.v, sizeof *repeats * (size_t)rank);
    }
    for (int i = 0; i < rank; i++)
        if (repeats[i] < 0)
            return TW_ONNX_FAIL(n, "%lld copies along axis %d", (long long)repeats[i], i);
    return tw_onnx_bind(
        n, 0,
        tw_build1(n->b, "Tile", n->in[0], TW_SETTINGS(tw_set_ints("repeats", rank, repeats))));
}
