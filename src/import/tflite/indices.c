/* Operators by index: gathering, scattering, extremes, running sums, masks. */
#include <string.h>

#include "import/tflite/tflite.h"

/* Indices as the graph has them: s32 or s64. */
static tw_value *index_in(tw_tfl_node *n, int i)
{
    tw_value *x = tw_tfl_in(n, i);
    if (!x || x->shape.dtype == TW_S64 || x->shape.dtype == TW_S32)
        return x;
    if (x->shape.dtype == TW_S16 || x->shape.dtype == TW_S8 || x->shape.dtype == TW_U8)
        return tw_build_cast(n->b, x, TW_S32);
    TW_TFL_FAIL(n, "input %d holds indices; they must be integers, not %s", i,
                tw_dtype_name(x->shape.dtype));
    return NULL;
}

/* One known number. */
static bool number_in(tw_tfl_node *n, int i, const char *what, int64_t *number)
{
    if (!tw_tfl_known(n, i, what))
        return false;
    tw_value *x = tw_tfl_in(n, i);
    if (tw_shape_elements(&x->shape) != 1)
        return TW_TFL_FAIL(n, "%s (input %d) must be a single element", what, i);
    *number = tw_build_int_at(x, 0);
    return true;
}

static tw_value *as_scalar(tw_tfl_node *n, tw_value *x)
{
    return x && x->shape.rank ? tw_build_reshape(n->b, x, 0, NULL) : x;
}

/* The stored elements, without the scale that says what they mean. */
static tw_value *bare(tw_tfl_node *n, tw_value *x)
{
    return tw_build_with_quant(n->b, x, (tw_quant){0, 0, NULL, NULL});
}

/* --- gather ------------------------------------------------------------------------------------ */

bool tw_tfl_op_gather(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0), *indices = index_in(n, 1);
    int32_t batch = tw_tfl_int(n, TW_FIELD(Gather, batch_dims), 0);
    int axis;
    if (!x || !indices ||
        !tw_tfl_axis(n, tw_tfl_int(n, TW_FIELD(Gather, axis), 0), x->shape.rank, &axis))
        return false;
    batch += batch < 0 ? indices->shape.rank : 0;
    return tw_tfl_set(n, 0, tw_build_gather(n->b, x, indices, axis, batch));
}

bool tw_tfl_op_gather_nd(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0), *indices = index_in(n, 1);
    return x && indices && tw_tfl_set(n, 0, tw_build2(n->b, "GatherND", x, indices, NULL));
}

/* Rows of a table. Of a quantised table into floats, the rows are scaled after they are found. */
bool tw_tfl_op_embedding_lookup(tw_tfl_node *n)
{
    tw_value *ids = index_in(n, 0), *table = tw_tfl_in(n, 1);
    if (!ids || !table || !tw_tfl_wants(n, 0))
        return ids && table;
    if (ids->shape.rank != 1 || table->shape.rank < 2)
        return TW_TFL_FAIL(n, "a list of rows and a table are needed");
    tw_quant quant = table->quant;
    bool scaled = quant.count && tw_tfl_dtype(tw_tfl_out_tensor(n, 0)) == TW_F32;
    if (quant.count > 1 && (!scaled || quant.axis != 0))
        return TW_TFL_UNSUPPORTED(n, "scales by column are not supported");
    if (quant.count <= 1) {
        tw_value *rows = tw_build_gather(n->b, table, ids, 0, 0);
        return tw_tfl_set(n, 0, scaled ? tw_build1(n->b, "Dequantize", rows, NULL) : rows);
    }
    /* (stored - zero point) * scale, each found by the row. */
    int64_t dim[TW_MAX_RANK] = {ids->shape.dim[0], 1, 1, 1, 1, 1};
    const int32_t count[1] = {quant.count};
    tw_value *scale = tw_build_data(n->b, tw_shape_of(TW_F32, 1, count), quant.scale);
    for (int i = 0; i < quant.count; i++)
        if (quant.zero_point[i] != 0)
            return TW_TFL_UNSUPPORTED(n, "zero points other than 0 by row are not supported");
    scale = tw_build_gather(n->b, scale, ids, 0, 0);
    scale = tw_build_reshape(n->b, scale, table->shape.rank, dim);
    tw_value *rows = tw_build_gather(n->b, bare(n, table), ids, 0, 0);
    return tw_tfl_set(n, 0, tw_build2(n->b, "Mul", tw_build_cast(n->b, rows, TW_F32), scale, NULL));
}

/* --- scatter ----------------------------------------------------------------------------------- */

static tw_value *scatter_nd(tw_tfl_node *n, tw_value *x, tw_value *indices, tw_value *updates,
                            const char *how)
{
    tw_value *in[] = {x, indices, updates};
    return x && indices && updates
               ? tw_build(n->b, "ScatterND", in, 3, TW_SETTINGS(tw_set_word("reduction", how)))
               : NULL;
}

/* Into zeros; what meets is added, as it is stored. */
bool tw_tfl_op_scatter_nd(tw_tfl_node *n)
{
    tw_value *indices = index_in(n, 0), *updates = bare(n, tw_tfl_in(n, 1));
    tw_shape shape;
    if (!indices || !updates || !tw_tfl_shape_in(n, 2, updates->shape.dtype, &shape))
        return false;
    return tw_tfl_set(n, 0, scatter_nd(n, tw_build_full(n->b, shape, 0), indices, updates, "add"));
}

/* Values at places, a default elsewhere. */
bool tw_tfl_op_sparse_to_dense(tw_tfl_node *n)
{
    tw_value *indices = index_in(n, 0), *values = bare(n, tw_tfl_in(n, 2));
    tw_value *rest = as_scalar(n, bare(n, tw_tfl_in(n, 3)));
    tw_shape shape, update;
    if (!indices || !values || !rest || !tw_tfl_shape_in(n, 1, values->shape.dtype, &shape))
        return false;
    int rank = indices->shape.rank;
    int64_t dim[2] = {rank ? indices->shape.dim[0] : 1, rank == 2 ? indices->shape.dim[1] : 1};
    if (rank > 2 || dim[1] != shape.rank)
        return TW_TFL_FAIL(n, "tuples of %lld indices for a result of rank %d", (long long)dim[1],
                           shape.rank);
    update = tw_shape_of(values->shape.dtype, 1, (const int32_t[]){(int32_t)dim[0]});
    values = tw_build_expand(n->b, values, &update);
    return tw_tfl_set(n, 0,
                      scatter_nd(n, tw_build_expand(n->b, rest, &shape),
                                 tw_build_reshape(n->b, indices, 2, dim), values, "none"));
}

/* Sums of rows with one number. The numbers fix the shape: they are known, and rise. */
bool tw_tfl_op_segment_sum(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    tw_tfl_list ids;
    if (!x || !tw_tfl_list_in(n, 1, "the segments", &ids))
        return false;
    if (x->shape.rank < 1 || ids.count != x->shape.dim[0])
        return TW_TFL_FAIL(n, "a segment for each row is needed");
    for (int i = 0; i < ids.count; i++)
        if (ids.v[i] < (i ? ids.v[i - 1] : 0) || ids.v[i] >= INT32_MAX)
            return TW_TFL_FAIL(n, "segment %lld at row %d does not follow the one before it",
                               (long long)ids.v[i], i);
    tw_shape shape = x->shape;
    shape.dim[0] = ids.count ? (int32_t)ids.v[ids.count - 1] + 1 : 0;
    int64_t dim[] = {ids.count, 1};
    tw_value *indices = tw_build_reshape(n->b, tw_build_list(n->b, ids.count, ids.v), 2, dim);
    return tw_tfl_set(n, 0, scatter_nd(n, tw_build_full(n->b, shape, 0), indices, x, "add"));
}

/* Of rows with one number, the sum, product, greatest or least; numbers below 0 count nowhere: they go to
 * a row of their own, which is cut off. */
static bool unsorted_segments(tw_tfl_node *n, const char *how, double initial)
{
    tw_value *x = bare(n, tw_tfl_in(n, 0)), *ids = index_in(n, 1);
    int64_t count, dim[TW_MAX_RANK + 1];
    if (!x || !ids || !number_in(n, 2, "the number of segments", &count))
        return false;
    int lead = ids->shape.rank, rank = x->shape.rank - lead + 1;
    if (lead < 1 || rank < 1 || count < 1 || count > TW_BUILD_LIMIT)
        return TW_TFL_FAIL(n, "%lld segments of a tensor of rank %d by numbers of rank %d",
                           (long long)count, x->shape.rank, lead);
    tw_shape shape = tw_shape_of(x->shape.dtype, rank, x->shape.dim + lead - 1);
    shape.dim[0] = (int32_t)count + 1;
    for (int i = 0; i < lead; i++)
        dim[i] = ids->shape.dim[i];
    dim[lead] = 1;
    tw_dtype type = ids->shape.dtype;
    tw_value *in[] = {tw_build2(n->b, "Less", ids, tw_build_scalar(n->b, type, 0), NULL),
                      tw_build_scalar(n->b, type, (double)count), ids};
    if (!in[0] || lead == TW_MAX_RANK)
        return TW_TFL_FAIL(n, "the numbers have too many axes");
    ids = tw_build_reshape(n->b, tw_build(n->b, "Where", in, 3, NULL), lead + 1, dim);
    tw_value *y = scatter_nd(n, tw_build_full(n->b, shape, initial), ids, x, how);
    return tw_tfl_set(n, 0, tw_build_slice(n->b, y, 0, 0, count, 1));
}

static double extreme(tw_tfl_node *n, bool least)
{
    tw_value *x = tw_tfl_in(n, 0);
    if (x && x->shape.dtype == TW_F32)
        return least ? -3.4028234663852886e38 : 3.4028234663852886e38;
    return least ? INT32_MIN : INT32_MAX;
}

bool tw_tfl_op_unsorted_segment_sum(tw_tfl_node *n)
{
    return unsorted_segments(n, "add", 0);
}

bool tw_tfl_op_unsorted_segment_prod(tw_tfl_node *n)
{
    return unsorted_segments(n, "mul", 1);
}

bool tw_tfl_op_unsorted_segment_max(tw_tfl_node *n)
{
    return unsorted_segments(n, "max", extreme(n, true));
}

bool tw_tfl_op_unsorted_segment_min(tw_tfl_node *n)
{
    return unsorted_segments(n, "min", extreme(n, false));
}

bool tw_tfl_op_dynamic_update_slice(tw_tfl_node *n)
{
    tw_value *in[] = {tw_tfl_in(n, 0), tw_tfl_in(n, 1), index_in(n, 2)};
    return in[0] && in[1] && in[2] && tw_tfl_set(n, 0, tw_build(n->b, "UpdateSlice", in, 3, NULL));
}

bool tw_tfl_op_reverse_sequence(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0), *lengths = index_in(n, 1);
    int axis = tw_tfl_int(n, TW_FIELD(ReverseSequence, seq_dim), 0);
    int batch = tw_tfl_int(n, TW_FIELD(ReverseSequence, batch_dim), 0);
    return x && lengths &&
           tw_tfl_set(
               n, 0,
               tw_build2(n->b, "ReverseSequence", x, lengths,
                         TW_SETTINGS(tw_set_int("axis", axis), tw_set_int("batch_axis", batch))));
}

/* --- extremes and running sums ----------------------------------------------------------------- */

static tw_value *top_indices(tw_tfl_node *n, tw_value *x, int axis, int64_t k, bool largest)
{
    return tw_build1(n->b, "TopIndices", x,
                     TW_SETTINGS(tw_set_int("axis", axis), tw_set_int("k", k),
                                 tw_set_int("largest", largest), tw_set_int("dtype", TW_S32)));
}

/* Indices in the type that the file gives result i. */
static bool set_indices(tw_tfl_node *n, int i, tw_value *indices)
{
    if (!tw_tfl_wants(n, i))
        return indices != NULL;
    tw_dtype type = tw_tfl_dtype(tw_tfl_out_tensor(n, i));
    if (type != TW_S32 && type != TW_S64 && type != TW_S16)
        return TW_TFL_FAIL(n, "result %d holds indices; it must be of an integer type", i);
    return tw_tfl_set(n, i, tw_build_cast(n->b, indices, type));
}

static bool arg_extreme(tw_tfl_node *n, bool largest)
{
    tw_value *x = tw_tfl_in(n, 0);
    int64_t given, dim[TW_MAX_RANK];
    int axis, rank = 0;
    if (!x || !number_in(n, 1, "the axis", &given) || !tw_tfl_axis(n, given, x->shape.rank, &axis))
        return false;
    for (int i = 0; i < x->shape.rank; i++)
        if (i != axis)
            dim[rank++] = x->shape.dim[i];
    tw_value *where = top_indices(n, x, axis, 1, largest);
    return set_indices(n, 0, tw_build_reshape(n->b, where, rank, dim));
}

bool tw_tfl_op_arg_max(tw_tfl_node *n)
{
    return arg_extreme(n, true);
}

bool tw_tfl_op_arg_min(tw_tfl_node *n)
{
    return arg_extreme(n, false);
}

bool tw_tfl_op_topk_v2(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    int64_t k;
    if (!x || !number_in(n, 1, "the number of elements", &k))
        return false;
    int last = x->shape.rank - 1;
    if (last < 0 || k < 0 || k > x->shape.dim[last])
        return TW_TFL_FAIL(n, "%lld elements of the last axis are asked for", (long long)k);
    tw_value *where = top_indices(n, x, last, k, true);
    tw_value *best =
        tw_build2(n->b, "GatherElements", x, where, TW_SETTINGS(tw_set_int("axis", last)));
    return best && tw_tfl_set(n, 0, best) && set_indices(n, 1, where);
}

bool tw_tfl_op_cumsum(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    int64_t given;
    int axis;
    if (!x || !number_in(n, 1, "the axis", &given) || !tw_tfl_axis(n, given, x->shape.rank, &axis))
        return false;
    /* The reference's sums of int8 begin at minus the zero point. */
    bool scaled = x->shape.dtype == TW_S8 && x->quant.count == 1;
    const tw_setting *settings = TW_SETTINGS(
        tw_set_int("axis", axis), tw_set_int("start", scaled ? -x->quant.zero_point[0] : 0),
        tw_set_int("exclusive", tw_tfl_flag(n, TW_FIELD(Cumsum, exclusive))),
        tw_set_int("reverse", tw_tfl_flag(n, TW_FIELD(Cumsum, reverse))));
    return tw_tfl_set(n, 0, tw_tfl_compute(n, 0, "CumSum", &x, 1, settings, tw_tfl_no_clamp()));
}

/* --- masks ------------------------------------------------------------------------------------- */

/* `on` where the index along a new axis is the one given, `off` elsewhere. */
bool tw_tfl_op_one_hot(tw_tfl_node *n)
{
    tw_value *indices = index_in(n, 0), *on = as_scalar(n, tw_tfl_in(n, 2));
    tw_value *off = as_scalar(n, tw_tfl_in(n, 3));
    int64_t depth;
    int axis;
    if (!indices || !on || !off || !number_in(n, 1, "the depth", &depth) ||
        !tw_tfl_axis(n, tw_tfl_int(n, TW_FIELD(OneHot, axis), 0), indices->shape.rank + 1, &axis))
        return false;
    tw_value *in[] = {tw_build_hot(n->b, n->op, indices, axis, depth), on, off};
    return in[0] && tw_tfl_set(n, 0, tw_tfl_compute(n, 0, "Where", in, 3, NULL, tw_tfl_no_clamp()));
}

/* The diagonal on zeros: of each row of the last axis a square. */
bool tw_tfl_op_matrix_diag(tw_tfl_node *n)
{
    tw_value *x = bare(n, tw_tfl_in(n, 0));
    int64_t dim[TW_MAX_RANK + 1];
    if (!x)
        return false;
    int rank = x->shape.rank;
    if (rank < 1 || rank == TW_MAX_RANK)
        return TW_TFL_UNSUPPORTED(n, "a diagonal of rank %d; 1 to %d are supported", rank,
                                  TW_MAX_RANK - 1);
    for (int i = 0; i < rank; i++)
        dim[i + (i == rank - 1)] = x->shape.dim[i];
    dim[rank - 1] = 1;
    int32_t extent = x->shape.dim[rank - 1];
    tw_value *in[] = {tw_build_band(n->b, extent, extent, 0, 0),
                      tw_build_reshape(n->b, x, rank + 1, dim),
                      tw_build_scalar(n->b, x->shape.dtype, 0)};
    return in[0] && in[1] && in[2] && tw_tfl_set(n, 0, tw_build(n->b, "Where", in, 3, NULL));
}

bool tw_tfl_op_matrix_set_diag(tw_tfl_node *n)
{
    tw_value *x = bare(n, tw_tfl_in(n, 0)), *diagonal = bare(n, tw_tfl_in(n, 1));
    int64_t dim[TW_MAX_RANK];
    if (!x || !diagonal)
        return false;
    int rank = x->shape.rank;
    if (rank < 2 || diagonal->shape.rank != rank - 1)
        return TW_TFL_FAIL(n, "matrices and their diagonals are needed");
    int32_t rows = x->shape.dim[rank - 2], columns = x->shape.dim[rank - 1];
    int32_t least = rows < columns ? rows : columns;
    if (diagonal->shape.dim[rank - 2] != least)
        return TW_TFL_FAIL(n, "a diagonal of %d elements for matrices of %d rows and %d columns",
                           (int)diagonal->shape.dim[rank - 2], (int)rows, (int)columns);
    for (int i = 0; i < rank - 2; i++)
        dim[i] = x->shape.dim[i];
    dim[rank - 2] = columns <= rows ? 1 : least; /* along the shorter of the two */
    dim[rank - 1] = columns <= rows ? least : 1;
    tw_value *in[] = {tw_build_band(n->b, rows, columns, 0, 0),
                      tw_build_reshape(n->b, diagonal, rank, dim), x};
    return in[0] && in[1] && tw_tfl_set(n, 0, tw_build(n->b, "Where", in, 3, NULL));
}

/* The places where a known condition holds: one row each. */
bool tw_tfl_op_where(tw_tfl_node *n)
{
    return tw_tfl_known(n, 0, "the condition") &&
           tw_tfl_set(n, 0, tw_build_places(n->b, tw_tfl_in(n, 0), true));
}

/* --- bits -------------------------------------------------------------------------------------- */

bool tw_tfl_op_bitcast(tw_tfl_node *n)
{
    tw_value *x = bare(n, tw_tfl_in(n, 0));
    if (!x || !tw_tfl_wants(n, 0))
        return x != NULL;
    tw_dtype dtype = tw_tfl_dtype(tw_tfl_out_tensor(n, 0));
    if (dtype == TW_NO_DTYPE)
        return TW_TFL_UNSUPPORTED(n, "type %s is not supported",
                                  tw_tfl_type_name(tw_tfl_out_tensor(n, 0)->type));
    return tw_tfl_set(n, 0, tw_build1(n->b, "BitCast", x, TW_SETTINGS(tw_set_int("dtype", dtype))));
}
