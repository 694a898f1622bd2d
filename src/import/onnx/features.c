/* Features in front of a network: counts of n-grams, and the simplest operators of ai.onnx.ml. */
#include <string.h>

#include "import/onnx/onnx.h"

/* --- TfIdfVectorizer --------------------------------------------------------------------------- */

enum { LONGEST = 16, MOST_SKIPPED = 256 };

typedef struct tw_grams {
    tw_onnx_node *n;
    tw_builder *b;
    tw_value *x; /* [batch, 1, length], s64 */
    int64_t batch, length, skips;
    tw_onnx_list pool, counts, indexes;
    int64_t columns; /* of the result */
} tw_grams;

/* Element `at` of every n-gram of a part of the pool: [1, grams, 1]. */
static tw_value *pool_column(const tw_grams *g, int64_t begin, int64_t grams, int64_t length,
                             int64_t at)
{
    int32_t dim[] = {1, (int32_t)grams, 1};
    int64_t *column = tw_alloc_array(g->b->arena, (size_t)grams, sizeof *column);
    for (int64_t i = 0; i < grams; i++)
        column[i] = g->pool.v[begin + i * length + at];
    return tw_build_data(g->b, tw_shape_of(TW_S64, 3, dim), column);
}

/* How often each n-gram of a length stands in x with so many elements left out in between: [batch, grams]. */
static tw_value *occurrences(const tw_grams *g, int64_t begin, int64_t grams, int64_t length,
                             int64_t skip)
{
    static const int64_t axis = 2;
    int64_t windows = g->length - (length - 1) * (skip + 1);
    tw_value *found = NULL;
    for (int64_t k = 0; k < length; k++) {
        tw_value *part = tw_build_slice(g->b, g->x, 2, k * (skip + 1), windows, 1);
        tw_value *equal =
            tw_build2(g->b, "Equal", part, pool_column(g, begin, grams, length, k), NULL);
        found = found ? tw_build2(g->b, "And", found, equal, NULL) : equal;
        if (!found)
            return NULL;
    }
    return tw_build1(g->b, "ReduceSum", tw_build_cast(g->b, found, TW_F32),
                     TW_SETTINGS(tw_set_ints("axes", 1, &axis), tw_set_int("keepdims", 0)));
}

/* The same for every number left out that is allowed; of single elements there is nothing in between. */
static tw_value *all_occurrences(const tw_grams *g, int64_t begin, int64_t grams, int64_t length)
{
    int32_t dim[] = {(int32_t)g->batch, (int32_t)grams};
    tw_value *sum = NULL;
    for (int64_t skip = 0; skip <= (length == 1 ? 0 : g->skips); skip++) {
        if (g->length - (length - 1) * (skip + 1) < 1)
            break;
        tw_value *found = occurrences(g, begin, grams, length, skip);
        sum = sum ? tw_build2(g->b, "Add", sum, found, NULL) : found;
        if (!sum)
            return NULL;
    }
    return sum ? sum : tw_build_full(g->b, tw_shape_of(TW_F32, 2, dim), 0);
}

static bool read_pool(tw_grams *g)
{
    tw_onnx_node *n = g->n;
    g->pool = tw_onnx_ints(n, "pool_int64s");
    g->counts = tw_onnx_ints(n, "ngram_counts");
    g->indexes = tw_onnx_ints(n, "ngram_indexes");
    g->skips = tw_onnx_int(n, "max_skip_count", 0);
    if (tw_onnx_has(n, "pool_strings"))
        return TW_ONNX_UNSUPPORTED(n,
                                   "the attribute pool_strings is not supported; pool_int64s is");
    if (g->pool.count < 1)
        return TW_ONNX_FAIL(n, "there is no pool of n-grams");
    if (g->counts.count < 1 || g->counts.count > LONGEST || g->indexes.count < 1 || g->skips < 0 ||
        g->skips > MOST_SKIPPED)
        return TW_ONNX_UNSUPPORTED(n,
                                   "n-grams of at most %d elements, and at most %d left out "
                                   "between two, are supported",
                                   LONGEST, MOST_SKIPPED);
    for (int i = 0; i < g->counts.count; i++)
        if (g->counts.v[i] < (i ? g->counts.v[i - 1] : 0) || g->counts.v[i] > g->pool.count)
            return TW_ONNX_FAIL(n, "ngram_counts must ascend within the pool");
    for (int i = 0; i < g->indexes.count; i++) {
        if (g->indexes.v[i] < 0 || g->indexes.v[i] >= TW_BUILD_LIMIT / 4 / g->indexes.count)
            return TW_ONNX_FAIL(n, "ngram_indexes must not be negative, nor so large");
        g->columns = g->columns > g->indexes.v[i] ? g->columns : g->indexes.v[i] + 1;
    }
    return true;
}

/* x as [batch, 1, length]; a list is one sequence. */
static bool read_sequences(tw_grams *g)
{
    tw_value *x = g->n->in[0];
    int rank = x->shape.rank;
    if (rank < 1 || rank > 2 || (x->shape.dtype != TW_S32 && x->shape.dtype != TW_S64))
        return TW_ONNX_UNSUPPORTED(g->n, "lists and rows of INT32 or INT64 are supported");
    g->batch = rank == 2 ? x->shape.dim[0] : 1;
    g->length = x->shape.dim[rank - 1];
    int64_t dim[] = {g->batch, 1, g->length};
    g->x = tw_build_reshape(g->b, tw_build_cast(g->b, x, TW_S64), 3, dim);
    return g->x != NULL;
}

/* Counts of the pool's n-grams in its order, those that are too short or long counting nothing. */
static tw_value *count_grams(tw_grams *g)
{
    int64_t least = tw_onnx_int(g->n, "min_gram_length", 1),
            most = tw_onnx_int(g->n, "max_gram_length", g->counts.count), all = 0;
    tw_value *part[LONGEST];
    int parts = 0;
    for (int i = 0; i < g->counts.count; i++) {
        int64_t length = i + 1, begin = g->counts.v[i];
        int64_t end = i + 1 < g->counts.count ? g->counts.v[i + 1] : g->pool.count;
        int64_t grams = (end - begin) / length;
        int32_t dim[] = {(int32_t)g->batch, (int32_t)grams};
        if (grams * length != end - begin) {
            TW_ONNX_FAIL(g->n, "the pool does not hold whole n-grams of length %d", i + 1);
            return NULL;
        }
        if (grams == 0)
            continue;
        part[parts++] = length < least || length > most
                            ? tw_build_full(g->b, tw_shape_of(TW_F32, 2, dim), 0)
                            : all_occurrences(g, begin, grams, length);
        if (!part[parts - 1])
            return NULL;
        all += grams;
    }
    if (all != g->indexes.count) {
        TW_ONNX_FAIL(g->n, "the pool holds %lld n-grams, ngram_indexes %d", (long long)all,
                     g->indexes.count);
        return NULL;
    }
    return parts == 1 ? part[0] : tw_build_concat(g->b, part, parts, 1);
}

/* Each n-gram's weight, or 1, in the row of the n-gram and the column of its index: [columns, grams]. */
static tw_value *placement(const tw_grams *g, bool weighted)
{
    const Tw__Onnx__Attribute *weights = tw_onnx_attribute(g->n, "weights");
    int32_t dim[] = {(int32_t)g->columns, g->indexes.count};
    if (weighted && weights && weights->n_floats != (size_t)g->indexes.count) {
        TW_ONNX_FAIL(g->n, "there are %zu weights for %d n-grams", weights->n_floats, dim[1]);
        return NULL;
    }
    float *to = tw_alloc_array(g->b->arena, (size_t)dim[0] * (size_t)dim[1], sizeof *to);
    for (int i = 0; i < dim[1]; i++)
        to[g->indexes.v[i] * dim[1] + i] = weighted && weights ? weights->floats[i] : 1;
    return tw_build_data(g->b, tw_shape_of(TW_F32, 2, dim), to);
}

bool tw_onnx_op_tf_idf_vectorizer(tw_onnx_node *n)
{
    tw_grams g = {.n = n, .b = n->b};
    const char *mode = tw_onnx_text(n, "mode", "TF");
    if (!tw_onnx_word(n, "mode", mode, "TF IDF TFIDF") || !read_pool(&g) || !read_sequences(&g))
        return false;
    tw_value *counts = count_grams(&g);
    if (counts && mode[0] == 'I') {
        counts = tw_build2(n->b, "Greater", counts, tw_build_scalar(n->b, TW_F32, 0), NULL);
        counts = tw_build_cast(n->b, counts, TW_F32);
    }
    tw_value *by = placement(&g, strlen(mode) > 2);
    tw_value *y = counts && by ? tw_build2(n->b, "FullyConnected", counts, by, NULL) : NULL;
    return tw_onnx_bind(
        n, 0, y && n->in[0]->shape.rank == 1 ? tw_build_reshape(n->b, y, 1, &g.columns) : y);
}

/* --- ai.onnx.ml -------------------------------------------------------------------------------- */

bool tw_onnx_op_binarizer(tw_onnx_node *n)
{
    tw_value *x = n->in[0];
    tw_value *limit = tw_build_scalar(n->b, TW_F32, (double)tw_onnx_float(n, "threshold", 0));
    tw_value *above = tw_build2(n->b, "Greater", tw_build_cast(n->b, x, TW_F32), limit, NULL);
    return tw_onnx_bind(n, 0, above ? tw_build_cast(n->b, above, x->shape.dtype) : NULL);
}

/* Columns of the last axis, chosen by their numbers; a list becomes a row. */
bool tw_onnx_op_array_feature_extractor(tw_onnx_node *n)
{
    tw_value *x = n->in[0], *indices = n->in[1];
    int64_t count = tw_shape_elements(&indices->shape), row[] = {1, count};
    int rank = x->shape.rank;
    if (rank < 1)
        return TW_ONNX_FAIL(n, "the input has no axis to choose from");
    tw_value *list = tw_build_reshape(n->b, indices, 1, &count);
    tw_value *y = list ? tw_build_gather(n->b, x, list, rank - 1, 0) : NULL;
    return tw_onnx_bind(n, 0, rank == 1 ? tw_build_reshape(n->b, y, 2, row) : y);
}
