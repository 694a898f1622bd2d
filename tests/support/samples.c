/* The samples of the operator records: samples.h. */
#include "support/samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "import/text/text.h"

/* Where the graph behind `text` begins, or the end of the text. */
static const char *next_graph(const char *text)
{
    const char *at = strstr(text, "\ngraph ");
    return at ? at + 1 : text + strlen(text);
}

int tw_each_graph(const char *text, void (*visit)(tw_node *node, tw_arena *arena, void *user),
                  void *user)
{
    int count = 0;
    for (const char *at = text; at && *at; count++) {
        const char *end = next_graph(at);
        tw_arena *arena = tw_arena_new();
        tw_diag diag = {0};
        char message[2048];
        tw_graph *graph = tw_text_parse(arena, at, (size_t)(end - at), NULL, &diag);
        if (!graph) {
            tw_diag_text(&diag, message, sizeof message);
            fail_msg("%s\n%.*s", message, (int)(end - at), at);
        }
        assert_int_equal(graph->node_count, 1);
        visit(graph->nodes[0], arena, user);
        tw_arena_free(arena);
        at = end;
    }
    return count;
}

typedef struct tw_sample_visit {
    const tw_opdef *op;
    void (*visit)(tw_node *node, tw_arena *arena, void *user);
    void *user;
} tw_sample_visit;

static void visit_own(tw_node *node, tw_arena *arena, void *user)
{
    const tw_sample_visit *v = user;
    assert_true(node->op == v->op);
    v->visit(node, arena, v->user);
}

int tw_each_sample(const tw_opdef *op, void (*visit)(tw_node *node, tw_arena *arena, void *user),
                   void *user)
{
    tw_sample_visit v = {op, visit, user};
    return tw_each_graph(op->samples, visit_own, &v);
}
