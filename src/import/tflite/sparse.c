/* Sparse constants as dense ones. A tensor's elements are stored in a tree: a level for each of its axes,
 * in the traversal's order, then one for each blocked axis, whose places inside a block it counts. A dense
 * level has all its places, a sparse one those that its indices list, from segments[k] up to segments[k + 1]
 * below the k-th place of the level before. Values follow in the order in which the tree is walked. */
#include <string.h>

#include "import/tflite/tflite.h"

enum { MOST_LEVELS = 2 * TW_MAX_RANK, LEVEL_DENSE = 0, LEVEL_SPARSE = 1 };

/* Numbers of 32, 16 or 8 bits. */
typedef struct tw_tfl_numbers {
    int size;
    uint32_t count;
    const void *data;
} tw_tfl_numbers;

typedef struct tw_tfl_level {
    bool sparse;
    int32_t extent; /* of a dense level */
    tw_tfl_numbers segments, indices;
} tw_tfl_level;

typedef struct tw_tfl_sparse {
    tw_tfl_import *import;
    const tw_tfl_tensor *tensor;
    int rank, levels;
    int32_t axis[MOST_LEVELS];  /* of the tensor, by level */
    int32_t block[MOST_LEVELS]; /* places in a block, of the levels behind the first `rank` */
    tw_tfl_level level[MOST_LEVELS];
    int32_t dim[TW_MAX_RANK];
    size_t element; /* bytes */
    const uint8_t *from, *end;
    uint8_t *to;
    int64_t budget; /* places that may still be visited */
} tw_tfl_sparse;

static bool damaged(const tw_tfl_sparse *s, const char *what)
{
    return tw_fb_fail(s->tensor->sparsity.file, s->tensor->sparsity.path, NULL, "%s", what);
}

static int64_t number(const tw_tfl_numbers *v, int64_t i)
{
    switch (v->size) {
    case 4: return ((const int32_t *)v->data)[i];
    case 2: return ((const uint16_t *)v->data)[i];
    default: return ((const uint8_t *)v->data)[i];
    }
}

static bool read_numbers(const tw_fb_table *level, tw_fb_field type_field, tw_fb_field field,
                         tw_tfl_numbers *to)
{
    static const int sizes[] = {0, 4, 2, 1};
    tw_fb_table table;
    tw_fb_vector vector;
    uint8_t type = 0;
    if (!tw_fb_union_in(level, type_field, field, &type, &table))
        return false;
    if (type < 1 || type > 3)
        return tw_fb_fail(level->file, level->path, field.name, "a list of an unknown kind");
    if (!tw_fb_vector_in(&table, TW_FIELD(SparseVector, values), (size_t)sizes[type], &vector))
        return false;
    *to = (tw_tfl_numbers){sizes[type], vector.count, vector.data};
    return true;
}

static bool read_level(const tw_fb_table *table, tw_tfl_level *level)
{
    int8_t format = LEVEL_DENSE;
    level->extent = 0;
    if (!tw_fb_s8(table, TW_FIELD(DimensionMetadata, format), &format) ||
        !tw_fb_s32(table, TW_FIELD(DimensionMetadata, dense_size), &level->extent))
        return false;
    level->sparse = format == LEVEL_SPARSE;
    if (!level->sparse)
        return level->extent >= 0 || tw_fb_fail(table->file, table->path, "dense_size",
                                                "an extent of %d", (int)level->extent);
    return read_numbers(table, TW_FIELD(DimensionMetadata, array_segments_type),
                        TW_FIELD(DimensionMetadata, array_segments), &level->segments) &&
           read_numbers(table, TW_FIELD(DimensionMetadata, array_indices_type),
                        TW_FIELD(DimensionMetadata, array_indices), &level->indices);
}

/* The tree's description; its numbers are looked at when it is walked. */
static bool read_tree(tw_tfl_sparse *s)
{
    const tw_fb_table *table = &s->tensor->sparsity;
    tw_fb_vector order, blocks, levels;
    if (!tw_fb_vector_in(table, TW_FIELD(SparsityParameters, traversal_order), 4, &order) ||
        !tw_fb_vector_in(table, TW_FIELD(SparsityParameters, block_map), 4, &blocks) ||
        !tw_fb_tables_in(table, TW_FIELD(SparsityParameters, dim_metadata), &levels))
        return false;
    if (levels.count != order.count || levels.count != (uint32_t)s->rank + blocks.count ||
        levels.count > MOST_LEVELS)
        return damaged(s, "its levels, axes and blocks do not fit together");
    s->levels = (int)levels.count;
    for (int i = 0; i < s->levels; i++) {
        const int32_t axis = ((const int32_t *)order.data)[i];
        tw_fb_table level;
        if (!tw_fb_table_at(&levels, (uint32_t)i, &level) || !read_level(&level, &s->level[i]))
            return false;
        if (i < s->rank ? axis < 0 || axis >= s->rank : axis < s->rank || axis >= s->levels)
            return damaged(s, "an axis of its traversal does not exist");
        s->axis[i] = i < s->rank ? axis : ((const int32_t *)blocks.data)[axis - s->rank];
        if (s->axis[i] < 0 || s->axis[i] >= s->rank)
            return damaged(s, "a blocked axis does not exist");
        s->block[i] = s->level[i].extent;
    }
    return true;
}

/* Store the next value at the place that the levels' indices tell. */
static bool put(tw_tfl_sparse *s, const int32_t *index)
{
    int64_t place[TW_MAX_RANK] = {0}, flat = 0;
    for (int i = 0; i < s->levels; i++)
        place[s->axis[i]] = i < s->rank ? index[i] : place[s->axis[i]] * s->block[i] + index[i];
    for (int k = 0; k < s->rank; k++) {
        if (place[k] < 0 || place[k] >= s->dim[k])
            return damaged(s, "an element lies outside the tensor");
        flat = flat * s->dim[k] + place[k];
    }
    if ((size_t)(s->end - s->from) < s->element)
        return damaged(s, "it lists more elements than its buffer holds");
    memcpy(s->to + (size_t)flat * s->element, s->from, s->element);
    s->from += s->element;
    return true;
}

/* What hangs below place `above` of the level before. */
static bool walk(tw_tfl_sparse *s, int depth, int64_t above, int32_t *index)
{
    if (depth == s->levels)
        return put(s, index);
    const tw_tfl_level *level = &s->level[depth];
    int64_t first = 0, last = level->extent;
    if (level->sparse) {
        if (above + 1 >= level->segments.count)
            return damaged(s, "a level has too few segments");
        first = number(&level->segments, above);
        last = number(&level->segments, above + 1);
        if (first < 0 || last < first || last > level->indices.count)
            return damaged(s, "a segment lies outside its indices");
    }
    for (int64_t i = first; i < last; i++) {
        if (--s->budget < 0)
            return damaged(s, "it has more places than the tensor has elements");
        const int64_t at = level->sparse ? number(&level->indices, i) : i;
        index[depth] = at < 0 || at > INT32_MAX ? -1 : (int32_t)at;
        if (!walk(s, depth + 1, level->sparse ? i : above * level->extent + i, index))
            return false;
    }
    return true;
}

bool tw_tfl_densify(tw_tfl_import *import, const tw_tfl_tensor *tensor, const tw_shape *shape,
                    tw_tfl_buffer buffer, void *to)
{
    tw_tfl_sparse s = {.import = import, .tensor = tensor, .rank = shape->rank, .to = to};
    int32_t index[MOST_LEVELS] = {0};
    int64_t elements = tw_shape_elements(shape);
    s.element = tw_dtype_bytes(shape->dtype);
    s.from = buffer.data;
    s.end = s.from + buffer.bytes;
    s.budget = (elements + 16) * (2 * TW_MAX_RANK);
    memcpy(s.dim, shape->dim, sizeof s.dim);
    memset(to, 0, (size_t)elements * s.element);
    return read_tree(&s) && walk(&s, 0, 0, index);
}

/* Sparse constants are dense when they are read. */
bool tw_tfl_op_densify(tw_tfl_node *n)
{
    tw_value *x = tw_tfl_in(n, 0);
    return x && tw_tfl_set(n, 0, tw_build1(n->b, "Identity", x, NULL));
}
