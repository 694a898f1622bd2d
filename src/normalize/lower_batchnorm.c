/* lower_batchnorm: y = (x - mean) / sqrt(variance + epsilon) * scale + bias, channels last.
 *
 * With constant statistics it is y = x * k + t. Behind a convolution or fully connected layer of
 * constant weights that nothing else reads, k and t go into weights (of quantised ones, into the
 * scales) and bias, computed in double and rounded once. Otherwise it becomes Mul and Add, k and t in double as well; where the
 * statistics are computed by the graph, the arithmetic is written out. */
#include <math.h>

#include "normalize/scale_layer.h"

typedef struct statistics {
    int32_t channels;
    double *k, *t;
} statistics;

static bool read_statistics(const tw_node *node, tw_arena *arena, statistics *s)
{
    for (int i = 1; i < 5; i++)
        if (!node->in[i]->data || node->in[i]->shape.dtype != TW_F32)
            return false;
    s->channels = node->in[1]->shape.dim[0];
    s->k = tw_alloc_array(arena, (size_t)s->channels + 1, sizeof *s->k);
    s->t = tw_alloc_array(arena, (size_t)s->channels + 1, sizeof *s->t);
    double epsilon = (double)*tw_float_of(node, "epsilon");
    for (int32_t c = 0; c < s->channels; c++) {
        s->k[c] = tw_constant_at(node->in[1], c) / sqrt(tw_constant_at(node->in[4], c) + epsilon);
        s->t[c] = tw_constant_at(node->in[2], c) - tw_constant_at(node->in[3], c) * s->k[c];
        if (!isfinite(s->k[c]) || !isfinite(s->t[c]))
            return false;
    }
    return true;
}

/* One node of the arithmetic; null operands have failed before. */
static tw_value *step(tw_graph *graph, int code, const tw_node *node, tw_value *a, tw_value *b,
                      tw_diag *diag)
{
    if (!a || !b)
        return NULL;
    tw_node *made = tw_append(graph, code, node->name, (tw_value *[]){a, b}, 2, NULL, diag);
    return made ? made->out[0] : NULL;
}

static bool finish(tw_node *node, tw_value *y)
{
    if (!y)
        return false;
    tw_set_output(y->producer, node->out[0]);
    node->removed = true;
    return true;
}

/* x * k + t with constants by channel. */
static bool scale_and_shift(tw_graph *graph, tw_node *node, const statistics *s, tw_diag *diag)
{
    float *k, *t;
    const char *scale_name = tw_format(graph->arena, "%s/scale", node->name);
    const char *shift_name = tw_format(graph->arena, "%s/shift", node->name);
    tw_value *scale = tw_float_constant(graph, scale_name, 1, &s->channels, &k);
    tw_value *shift = tw_float_constant(graph, shift_name, 1, &s->channels, &t);
    for (int32_t c = 0; c < s->channels; c++) {
        k[c] = (float)s->k[c];
        t[c] = (float)s->t[c];
    }
    tw_value *y = step(graph, TW_OPCODE_mul, node, node->in[0], scale, diag);
    return finish(node, step(graph, TW_OPCODE_add, node, y, shift, diag));
}

static bool write_out(tw_graph *graph, tw_node *node, tw_diag *diag)
{
    float *e;
    const char *name = tw_format(graph->arena, "%s/epsilon", node->name);
    tw_value *epsilon = tw_float_constant(graph, name, 0, NULL, &e);
    *e = *tw_float_of(node, "epsilon");
    tw_value *variance = step(graph, TW_OPCODE_add, node, node->in[4], epsilon, diag);
    tw_node *root =
        variance ? tw_append(graph, TW_OPCODE_sqrt, node->name, &variance, 1, NULL, diag) : NULL;
    tw_value *k = step(graph, TW_OPCODE_div, node, node->in[1], root ? root->out[0] : NULL, diag);
    tw_value *y = step(graph, TW_OPCODE_sub, node, node->in[0], node->in[3], diag);
    y = step(graph, TW_OPCODE_mul, node, y, k, diag);
    return finish(node, step(graph, TW_OPCODE_add, node, y, node->in[2], diag));
}

bool tw_pass_lower_batchnorm(tw_graph *graph, const tw_compile_options *options, tw_diag *diag)
{
    (void)options;
    tw_arena *scratch = tw_arena_new();
    tw_count_reads(graph);
    bool ok = true;
    int count = graph->node_count;
    for (int n = 0; ok && n < count; n++) {
        tw_node *node = graph->nodes[n];
        tw_follow(node);
        if (!tw_is(node, TW_OPCODE_batch_norm))
            continue;
        statistics s;
        tw_value *x = node->in[0];
        if (!read_statistics(node, scratch, &s)) {
            ok = write_out(graph, node, diag);
        } else if (x->producer && x->index == 1 && tw_layer_takes_factor(x->producer, s.k) &&
                   tw_forward(graph, node->out[0], x)) {
            ok = tw_scale_layer(graph, x->producer, s.k, s.t, diag);
            tw_remove(node);
        } else {
            ok = scale_and_shift(graph, node, &s, diag);
        }
    }
    tw_arena_free(scratch);
    return ok && tw_finish(graph, diag);
}
