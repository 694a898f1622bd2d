/* Segments by columns: bands, windows and counters of pixels, row after row. plan.h and rows.h say what
 * pixels are. */
#include "runtime/parts.h"

/* ---- verifying ---- */

/* Can its pixels be counted: rows of columns behind each other, neither empty nor too many? */
static int has_pixels(const tw_tensor *t, const tw_plan_segment *g)
{
    return g->axis + 2u < t->rank && tw_rows_are_slices(t, g->axis) && t->dim[g->axis] >= 1 &&
           t->dim[g->axis + 1u] >= 1 &&
           (int64_t)t->dim[g->axis] * t->dim[g->axis + 1u] <= TW_MAX_ROW_OFFSET;
}

/* Of a segment by columns: mapped operands have a map of columns too, outputs all the pixels of the
 * step's first, and nothing accumulates. */
static tw_status check(const tw_model *m, const tw_plan_segment *g, uint32_t step,
                       const tw_plan_operand *o, int is_output)
{
    const tw_plan_operand *first = &m->operands[m->steps[g->first_step + step].first_operand +
                                                m->steps[g->first_step + step].input_count];
    const tw_plan_column *c;
    if (is_output)
        return o->column == 0 && o->rows == TW_ROWS_MAPPED &&
                       has_pixels(&m->tensors[o->tensor], g) && first->tensor < m->tensor_count &&
                       tw_width(&m->tensors[o->tensor], g) ==
                           tw_width(&m->tensors[first->tensor], g) &&
                       tw_units(&m->tensors[o->tensor], g) ==
                           tw_units(&m->tensors[first->tensor], g)
                   ? TW_OK
                   : TW_E_FORMAT;
    if (o->rows == TW_ROWS_WHOLE)
        return o->column == 0 && o->stream == TW_ABSENT ? TW_OK : TW_E_FORMAT;
    if (o->rows != TW_ROWS_MAPPED || o->column == 0 || o->column > m->column_count ||
        !has_pixels(&m->tensors[o->tensor], g))
        return TW_E_FORMAT;
    c = &m->columns[o->column - 1];
    return tw_is_map(c->num, c->den, c->off, c->off2) ? TW_OK : TW_E_FORMAT;
}

/* ---- executing ---- */

static tw_pixel_map pixel_map(const tw_runner *r, const tw_plan_step *s, const tw_plan_operand *o)
{
    tw_pixel_map m;
    m.rows = o;
    m.columns = &r->model->columns[o->column - 1];
    m.in = tw_width(tw_tensor_of(r, o), r->segment);
    m.out = tw_step_width(r, s);
    return m;
}

static int32_t allowed(const tw_runner *r, const tw_plan_step *s, const tw_plan_operand *o,
                       int32_t pixels)
{
    const tw_pixel_map m = pixel_map(r, s, o);
    return tw_pixels_allowed(&m, pixels);
}

static int32_t first(const tw_runner *r, const tw_plan_step *s, const tw_plan_operand *o,
                     int32_t pixel)
{
    const tw_pixel_map m = pixel_map(r, s, o);
    return tw_pixels_first(&m, pixel, tw_rows_of(r, o));
}

/* The view of a block: of rows [row, row + rows), `columns` columns from `column` on. False: its pixels
 * are not where the plan says. */
static int make_block(const tw_runner *r, const tw_plan_operand *o, int32_t row, int32_t rows,
                      int32_t column, int32_t columns, tw_view *v)
{
    const tw_tensor *t = tw_tensor_of(r, o);
    const int32_t base = o->stream == TW_ABSENT ? 0 : r->stream[tw_leader_of(r, o->stream)].a;
    const int32_t width = tw_width(t, r->segment);
    const int32_t first = row * width + column;
    const int32_t end = first + (rows - 1) * width + columns;
    tw_whole_view(r, t, v);
    v->row = v->fresh = row;
    if (columns <= 0 || rows <= 0) {
        v->rows = v->fresh_rows = 0;
        return 1;
    }
    if (first < base || (t->window != 0 && (uint32_t)(end - base) > t->window))
        return 0;
    /* Rows of a whole tensor may lie inside those of another. */
    v->data = (uint8_t *)v->data +
              (t->window != 0 ? (uint32_t)(first - base) * (uint32_t)t->stride[v->axis + 1]
                              : (uint32_t)row * (uint32_t)t->stride[v->axis] +
                                    (uint32_t)column * (uint32_t)t->stride[v->axis + 1]) *
                  tw_element_bytes[t->dtype];
    v->rows = v->fresh_rows = rows;
    v->column = column;
    v->columns = columns;
    return 1;
}

/* The view of what an operand is to give for output pixels [made, made + pixels), all of one row. */
static int make_input_block(const tw_runner *r, const tw_plan_step *s, const tw_plan_operand *o,
                            int32_t made, int32_t pixels, tw_view *v)
{
    const tw_pixel_map m = pixel_map(r, s, o);
    const int32_t extent = tw_extent(tw_tensor_of(r, o), r->segment->axis);
    const int32_t out = made / m.out, from = made % m.out;
    const int32_t row = tw_rows_first(o, out, extent), end = tw_rows_needed(o, out + 1, extent);
    const int32_t column = tw_columns_first(&m, from);
    return make_block(r, o, row, end - row, column, tw_columns_needed(&m, from + pixels) - column,
                      v) &&
           (v->rows == 0 || (row + v->rows - 1) * m.in + column + v->columns <=
                                tw_min32(tw_available(r, o), tw_rows_of(r, o)));
}

/* By columns: views of all operands for output pixels [made, made + pixels). */
static int make_views(const tw_runner *r, uint32_t index, int32_t pixels, tw_view *v)
{
    const tw_plan_step *s = &r->steps[index];
    const tw_plan_operand *o = tw_inputs_of(r, s), *outputs = tw_outputs_of(r, s);
    const tw_plan_operand *last = outputs + s->output_count;
    const int32_t made = r->step[index].a, width = tw_step_width(r, s);
    for (; o < last; o++, v++) {
        if (o->tensor == TW_ABSENT)
            *v = tw_absent_view;
        else if (o < outputs && o->column == 0)
            tw_whole_view(r, tw_tensor_of(r, o), v);
        else if (o < outputs ? !make_input_block(r, s, o, made, pixels, v)
                             : !make_block(r, o, made / width, 1, made % width, pixels, v))
            return 0;
    }
    return 1;
}

const tw_column_part tw_part_columns = {check, has_pixels, allowed, first, make_views};
