/* Branches and loops of a plan, and where a run may end early.
 *
 * What must hold, and is verified here: entries nest, each knows its partners, and at least one segment
 * lies between two parts of a branch or loop. So following them always comes to a segment, after no
 * more steps than there are entries, and every loop ends after the rounds its plan announces. */
#include "runtime/parts.h"

/* ---- verifying ---- */

static int is_condition(const tw_model *m, uint32_t tensor)
{
    const tw_tensor *t;
    if (tensor >= m->tensor_count)
        return 0;
    t = &m->tensors[tensor];
    return t->dtype == TW_BOOL && t->window == 0 && tw_element_count(t) == 1;
}

/* Fields that a kind has no use for hold what plan.h says. */
static int has_its_fields(const tw_model *m, const tw_plan_control *e)
{
    const int asks =
        e->kind == TW_CONTROL_IF || e->kind == TW_CONTROL_WHILE || e->kind == TW_CONTROL_AWAIT;
    const int counts = e->kind == TW_CONTROL_LOOP || e->kind == TW_CONTROL_WHILE;
    const uint32_t fast = m->header->region_bytes[TW_REGION_FAST];
    return e->kind >= TW_CONTROL_IF && e->kind <= TW_CONTROL_AWAIT && e->reserved[0] == 0 &&
           e->reserved[1] == 0 && (asks ? is_condition(m, e->tensor) : e->tensor == TW_ABSENT) &&
           (e->kind == TW_CONTROL_WHILE) == (e->most != 0) &&
           (counts ? e->counter % 4u == 0 && fast >= 4u && e->counter <= fast - 4u
                   : e->counter == 0);
}

/* Do these bytes of the fast arena lie beside the rounds of all loops around? */
static int spares(const tw_nesting *n, uint32_t offset, uint32_t bytes)
{
    uint32_t i;
    for (i = 0; i < n->depth; i++) {
        const tw_plan_control *e = &n->model->controls[n->open[i]];
        const int counts = e->kind == TW_CONTROL_LOOP || e->kind == TW_CONTROL_WHILE;
        if (counts && bytes != 0 && offset < e->counter + 4u && e->counter < offset + bytes)
            return 0;
    }
    return 1;
}

/* A branch or loop begins; the other entries of it are known by their partners, and verified there. */
static tw_status open_entry(tw_nesting *n, uint32_t index)
{
    const tw_plan_control *e = &n->model->controls[index];
    uint64_t rounds = n->rounds;
    if (n->depth == TW_MAX_NESTING || e->partner <= index || e->partner >= n->model->control_count)
        return TW_E_FORMAT;
    if (e->kind == TW_CONTROL_LOOP) {
        /* The condition is asked once more than the body runs. */
        const uint64_t most = (uint64_t)n->model->controls[e->partner].most + 1u;
        if (rounds > UINT64_MAX / most || !spares(n, e->counter, 4u))
            return TW_E_FORMAT;
        rounds *= most;
    }
    n->before[n->depth] = n->rounds;
    n->rounds = rounds;
    n->open[n->depth++] = index;
    return TW_OK;
}

/* What an entry of this kind follows within its branch or loop. */
static uint32_t kind_before(uint32_t kind)
{
    return kind == TW_CONTROL_ELSE    ? TW_CONTROL_IF
           : kind == TW_CONTROL_END   ? TW_CONTROL_ELSE
           : kind == TW_CONTROL_WHILE ? TW_CONTROL_LOOP
                                      : TW_CONTROL_WHILE;
}

/* The next entry of the innermost branch or loop. */
static tw_status continue_entry(tw_nesting *n, uint32_t index)
{
    const tw_plan_control *controls = n->model->controls, *e = &controls[index], *before;
    const int last = e->kind == TW_CONTROL_END || e->kind == TW_CONTROL_REPEAT;
    if (n->depth == 0)
        return TW_E_FORMAT;
    before = &controls[n->open[n->depth - 1u]];
    if (before->kind != kind_before(e->kind) || before->partner != index ||
        before->segment >= e->segment)
        return TW_E_FORMAT;
    if (e->kind == TW_CONTROL_WHILE && e->counter != before->counter)
        return TW_E_FORMAT;
    if (e->kind == TW_CONTROL_END && e->partner != TW_ABSENT)
        return TW_E_FORMAT;
    if (e->kind == TW_CONTROL_REPEAT && /* back to the LOOP of its WHILE */
        (e->partner >= index || controls[e->partner].kind != TW_CONTROL_LOOP ||
         controls[e->partner].partner != n->open[n->depth - 1u]))
        return TW_E_FORMAT;
    if (!last && (e->partner <= index || e->partner >= n->model->control_count))
        return TW_E_FORMAT;
    n->open[n->depth - 1u] = index;
    if (last)
        n->rounds = n->before[--n->depth];
    return TW_OK;
}

/* Verify the entries that stand before a segment. */
static tw_status at_segment(tw_nesting *n, uint32_t segment)
{
    const tw_model *m = n->model;
    for (; n->next < m->control_count && m->controls[n->next].segment == segment; n->next++) {
        const tw_plan_control *e = &m->controls[n->next];
        const int opens = e->kind == TW_CONTROL_IF || e->kind == TW_CONTROL_LOOP;
        tw_status status;
        if (!has_its_fields(m, e))
            return TW_E_FORMAT;
        if (e->kind == TW_CONTROL_AWAIT) {
            if (n->depth != 0 || e->partner != TW_ABSENT)
                return TW_E_FORMAT;
            continue;
        }
        status = opens ? open_entry(n, n->next) : continue_entry(n, n->next);
        if (status != TW_OK)
            return status;
    }
    return TW_OK;
}

/* ---- following ---- */

/* The first entry that stands before the segment or a later one. */
static uint32_t first_entry(const tw_model *m, uint32_t segment)
{
    uint32_t low = 0, high = m->control_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2u;
        if (m->controls[middle].segment < segment)
            low = middle + 1u;
        else
            high = middle;
    }
    return low;
}

static int is_true(const tw_context *context, const tw_model *m, const tw_plan_control *e)
{
    const tw_tensor *t = &m->tensors[e->tensor];
    const uint8_t *base = t->region == TW_REGION_CONSTANT
                              ? m->constants
                              : (const uint8_t *)context->region[t->region].pointer;
    return base[t->offset] != 0;
}

/* One round more. */
static tw_status count_round(const tw_context *context, const tw_plan_control *e)
{
    uint8_t *at = (uint8_t *)context->region[TW_REGION_FAST].pointer + e->counter;
    uint32_t rounds;
    memcpy(&rounds, at, sizeof rounds);
    if (rounds >= e->most)
        return TW_E_ROUNDS;
    rounds++;
    memcpy(at, &rounds, sizeof rounds);
    return TW_OK;
}

/* context->segment is where execution has come to: follow the entries that stand there, and set it to
 * the segment that runs next, or to the number of segments. */
static tw_status follow(tw_context *context, const tw_model *m)
{
    uint32_t at = first_entry(m, context->segment);
    while (at < m->control_count && m->controls[at].segment == context->segment) {
        const tw_plan_control *e = &m->controls[at];
        int leaps = e->kind == TW_CONTROL_ELSE || e->kind == TW_CONTROL_REPEAT;
        if (e->kind == TW_CONTROL_LOOP) {
            memset((uint8_t *)context->region[TW_REGION_FAST].pointer + e->counter, 0, 4);
        } else if (e->tensor != TW_ABSENT) {
            leaps = !is_true(context, m, e);
            if (leaps && e->kind == TW_CONTROL_AWAIT)
                return TW_NO_OUTPUT;
            if (!leaps && e->kind == TW_CONTROL_WHILE && count_round(context, e) != TW_OK)
                return TW_E_ROUNDS;
        }
        if (leaps) {
            at = e->partner;
            context->segment = m->controls[at].segment;
        }
        at++;
    }
    return TW_OK;
}

const tw_control_part tw_part_controls = {at_segment, spares, follow};
