/* See normalized.h. */
#include "support/normalized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "import/text/text.h"
#include "normalize/normalize.h"
#include "ops/op.h"
#include "support/reference.h"

#define RUNS 3

static void require(bool ok, const tw_diag *diag, const char *text)
{
    char message[2048];
    tw_diag_text(diag, message, sizeof message);
    if (!ok)
        fail_msg("%s\nin\n%s", message, text);
}

static void round_constants(tw_graph *graph, double step)
{
    for (int v = 0; v < graph->value_count; v++) {
        tw_value *value = graph->values[v];
        if (!value->data || value->shape.dtype != TW_F32 || step <= 0)
            continue;
        int64_t count = tw_shape_elements(&value->shape);
        float *rounded = tw_copy(graph->arena, value->data, tw_shape_bytes(&value->shape) + 1);
        for (int64_t i = 0; i < count; i++)
            rounded[i] = (float)(round((double)rounded[i] / step) * step);
        value->data = rounded;
    }
}

tw_graph *tw_parse_rounded(tw_arena *arena, const char *text, double step)
{
    tw_diag diag = {0};
    tw_graph *graph = tw_text_parse(arena, text, strlen(text), NULL, &diag);
    require(graph != NULL, &diag, text);
    require(tw_graph_check(graph, &diag), &diag, text);
    round_constants(graph, step);
    return graph;
}

/* Data of the model's value as the normalised graph's wants them. */
static const void *as_layout(tw_arena *arena, const tw_value *model, const tw_value *now,
                             const void *data)
{
    const tw_shape *from = &model->shape, *to = &now->shape;
    if (!now->channels_last) {
        if (!tw_shape_equal(from, to))
            fail_msg("%s changed its shape", model->name);
        return data;
    }
    assert_int_equal(from->rank, to->rank);
    size_t bytes = tw_dtype_bytes(from->dtype), n = 1, c = 1, inner = 1;
    char *moved = tw_alloc(arena, tw_shape_bytes(from) + 16);
    n = (size_t)from->dim[0];
    c = (size_t)from->dim[1];
    assert_int_equal(to->dim[to->rank - 1], from->dim[1]);
    for (int i = 2; i < from->rank; i++)
        inner *= (size_t)from->dim[i];
    for (size_t b = 0; b < n; b++)
        for (size_t k = 0; k < c; k++)
            for (size_t i = 0; i < inner; i++)
                memcpy(moved + ((b * inner + i) * c + k) * bytes,
                       (const char *)data + ((b * c + k) * inner + i) * bytes, bytes);
    return moved;
}

static double compare(tw_normalized *n, const tw_normalize_case *c, uint64_t *seed)
{
    const void *in[16], *moved[16], *want[16], *have[16];
    double largest = 0;
    tw_diag diag = {0};
    assert_in_range(n->before->input_count, 0, 16);
    assert_in_range(n->before->output_count, 1, 16);
    assert_int_equal(n->before->input_count, n->after->input_count);
    assert_int_equal(n->before->output_count, n->after->output_count);
    for (int i = 0; i < n->before->input_count; i++) {
        const tw_shape *shape = &n->before->inputs[i]->shape;
        assert_string_equal(n->before->inputs[i]->name, n->after->inputs[i]->name);
        double low = c->low, high = c->high;
        if (shape->dtype == TW_U8) {
            low = 0;
            high = 255;
        } else if (shape->dtype == TW_S8) {
            low = -128;
            high = 127;
        }
        in[i] = tw_reference_random(n->arena, shape, seed, low, high, c->step);
        moved[i] = as_layout(n->arena, n->before->inputs[i], n->after->inputs[i], in[i]);
    }
    require(tw_reference_run(n->before, n->arena, in, want, 0, &diag), &diag, c->text);
    require(tw_reference_run(n->after, n->arena, moved, have, 0, &diag), &diag, c->text);
    for (int i = 0; i < n->before->output_count; i++) {
        const tw_value *a = n->before->outputs[i], *b = n->after->outputs[i];
        assert_string_equal(a->name, b->name);
        const void *w = as_layout(n->arena, a, b, want[i]);
        largest = fmax(largest, tw_reference_difference(&b->shape, w, have[i]));
    }
    return largest;
}

tw_normalized tw_normalize_text(const tw_normalize_case *c)
{
    tw_normalized n = {tw_arena_new(), NULL, NULL, 0};
    tw_diag diag = {0};
    tw_compile_options options;
    tw_compile_options_default(&options);
    options.io_layout = c->io_layout;
    n.before = tw_parse_rounded(n.arena, c->text, c->step);
    n.after = tw_parse_rounded(n.arena, c->text, c->step);
    require(tw_normalize(n.after, &options, &diag), &diag, c->text);
    uint64_t seed = 1;
    for (int run = 0; run < RUNS; run++)
        n.difference = fmax(n.difference, compare(&n, c, &seed));
    return n;
}

void tw_normalized_free(tw_normalized *n)
{
    tw_arena_free(n->arena);
}

int tw_count_nodes(const tw_graph *graph, const char *op)
{
    int count = 0;
    for (int n = 0; n < graph->node_count; n++)
        count += !op || strcmp(graph->nodes[n]->op->name, op) == 0;
    return count;
}

tw_node *tw_find_node(const tw_graph *graph, const char *op)
{
    for (int n = 0; n < graph->node_count; n++)
        if (strcmp(graph->nodes[n]->op->name, op) == 0)
            return graph->nodes[n];
    return NULL;
}
