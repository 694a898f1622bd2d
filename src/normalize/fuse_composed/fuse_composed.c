/* fuse_composed: operators that exporters write out in many become the one they are: activations
 * such as Gelu and HardSwish (one pass over the data, and a table in int8), normalisations (two
 * passes over the data, and digits kept). Constant factors and terms behind a normalisation become
 * its scale and bias. Float operators only; results differ by rounding. */
#include "normalize/fuse_composed/pattern.h"

#include "ops/norm.h"

static const struct {
    const char *name, *pattern;
} composed[] = {
#define TW_COMPOSED(Name, pattern) {#Name, pattern},
#include "normalize/fuse_composed/composed.def"
#undef TW_COMPOSED
};
enum { COMPOSED = sizeof composed / sizeof *composed };

/* Put `made` where the result of `old` was. */
static bool replace(tw_node *made, tw_node *old)
{
    if (!made)
        return false;
    tw_set_output(made, old->out[0]);
    for (int i = 0; i < made->in_count; i++)
        if (made->in[i])
            made->in[i]->index++;
    return true;
}

static bool put(tw_graph *graph, int code, const tw_found *found, tw_diag *diag)
{
    tw_node *root = found->node[0];
    tw_norm_attributes norm = {.epsilon = found->epsilon < 0 ? 0 : found->epsilon};
    for (int k = 0; k < TW_MAX_RANK; k++)
        if (found->reduced >> k & 1)
            norm.axes.v[norm.axes.count++] = k;
    tw_node *made = tw_append(graph, code, root->name, (tw_value *[]){found->x}, 1,
                              found->reduced ? &norm : NULL, diag);
    for (int i = 0; i < found->node_count; i++)
        tw_remove(found->node[i]);
    return replace(made, root);
}

/* ---- scale and bias ---- */

/* The operand of a Mul or Add that is the result of a normalisation which can take the other one;
 * -1: neither. */
static int taking_operand(const tw_node *node)
{
    bool is_scale = tw_is(node, TW_OPCODE_mul);
    if ((!is_scale && !tw_is(node, TW_OPCODE_add)) || tw_has_clamp(node))
        return -1;
    for (int i = 0; i < 2; i++) {
        const tw_value *y = node->in[i], *other = node->in[1 - i];
        const tw_node *norm = y->producer;
        if (!tw_is_norm(norm) || y->index != 1 || y->is_output || tw_has_clamp(norm) ||
            !other->data || other->shape.dtype != TW_F32 ||
            !tw_shape_equal(&y->shape, &node->out[0]->shape))
            continue;
        bool scaled = norm->in_count > 1 && norm->in[1], biased = norm->in_count > 2 && norm->in[2];
        if (!biased && !(is_scale && scaled) && other->shape.rank <= y->shape.rank)
            return i;
    }
    return -1;
}

static bool take_operand(tw_graph *graph, tw_node *node, int i, tw_diag *diag)
{
    tw_node *norm = node->in[i]->producer;
    tw_value *other = node->in[1 - i], *x = norm->in[0];
    tw_value *scale = norm->in_count > 1 ? norm->in[1] : NULL;
    bool is_scale = tw_is(node, TW_OPCODE_mul);
    tw_value *in[] = {x, is_scale ? other : scale, is_scale ? NULL : other};
    tw_node *made =
        tw_append(graph, norm->op->code, norm->name, in, is_scale ? 2 : 3, norm->attributes, diag);
    tw_remove(norm);
    tw_remove(node);
    return replace(made, node);
}

/* ---- the pass ---- */

bool tw_pass_fuse_composed(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    tw_arena *scratch = tw_arena_new();
    const tw_pattern *patterns[COMPOSED];
    bool ok = true;
    for (int i = 0; ok && i < COMPOSED; i++) {
        patterns[i] = tw_pattern_read(scratch, composed[i].pattern);
        if (!patterns[i])
            ok = tw_fail(diag, TW_CODE_FAILED, NULL, composed[i].name,
                         "the pattern '%s' cannot be read: composed.def is damaged",
                         composed[i].pattern);
    }
    tw_count_reads(graph);
    int count = graph->node_count;
    for (int n = 0; ok && n < count; n++) {
        tw_node *node = graph->nodes[n];
        tw_found found;
        if (node->removed)
            continue;
        int i = taking_operand(node);
        if (i >= 0) {
            ok = take_operand(graph, node, i, diag);
            continue;
        }
        for (int k = 0; k < COMPOSED; k++)
            if (tw_pattern_find(patterns[k], node, &found)) {
                ok = put(graph, tw_op_by_name(composed[k].name)->code, &found, diag);
                break;
            }
    }
    tw_arena_free(scratch);
    return ok && tw_finish(graph, diag);
}
