/* TensorFlow models that are damaged, or ask for what is not supported: refused with a message that says
 * what. Graphs are put together here; the checkpoint's files are those of a fixture, taken away, cut and
 * changed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "graph/graph.h"
#include "import/tensorflow/tensorflow.h"
#include "import/wire.h"
#include "support/message_parts.h"

#ifndef TW_TEST_WORK
#define TW_TEST_WORK "build/work"
#endif

enum { FILE_BYTES = 1 << 20, MOST_NODES = 16 };

static const tw_import_options none;

/* --- graphs ------------------------------------------------------------------------------------ */

/* A frozen graph as it grows. */
typedef struct graph {
    tw_arena *arena;
    Tw__Tf__Graph message;
    Tw__Tf__Node *node[MOST_NODES];
    Tw__Tf__Library library;
    Tw__Tf__Function *function[1];
} graph;

static void begin(graph *g)
{
    memset(g, 0, sizeof *g);
    g->arena = tw_arena_new();
    tw__tf__graph__init(&g->message);
    g->message.node = g->node;
}

/* A node; inputs are separated by spaces. Attributes may follow with add_type and its like. */
static Tw__Tf__Node *new_node(graph *g, const char *op, const char *name, const char *inputs)
{
    Tw__Tf__Node *n = tw_alloc(g->arena, sizeof *n);
    tw__tf__node__init(n);
    n->op = tw_strdup(g->arena, op);
    n->name = tw_strdup(g->arena, name);
    n->input = tw_alloc_array(g->arena, strlen(inputs) + 1, sizeof *n->input);
    while (*inputs) {
        const size_t length = strcspn(inputs, " ");
        n->input[n->n_input++] = tw_strndup(g->arena, inputs, length);
        inputs += length + (inputs[length] == ' ');
    }
    n->attr = tw_alloc_array(g->arena, 4, sizeof(Tw__Tf__AttributeEntry *));
    return n;
}

static Tw__Tf__Node *add(graph *g, const char *op, const char *name, const char *inputs)
{
    assert_true(g->message.n_node < MOST_NODES);
    return g->node[g->message.n_node++] = new_node(g, op, name, inputs);
}

static Tw__Tf__Attribute *attribute(graph *g, Tw__Tf__Node *n, const char *key)
{
    Tw__Tf__AttributeEntry *entry = tw_alloc(g->arena, sizeof *entry);
    Tw__Tf__Attribute *value = tw_alloc(g->arena, sizeof *value);
    tw__tf__attribute_entry__init(entry);
    tw__tf__attribute__init(value);
    entry->key = tw_strdup(g->arena, key);
    entry->value = value;
    n->attr[n->n_attr++] = entry;
    return value;
}

static void add_type(graph *g, Tw__Tf__Node *n, const char *key, int type)
{
    Tw__Tf__Attribute *a = attribute(g, n, key);
    a->has_type = 1;
    a->type = type;
}

static void add_function(graph *g, Tw__Tf__Node *n, const char *key, const char *name)
{
    Tw__Tf__Attribute *a = attribute(g, n, key);
    a->func = tw_alloc(g->arena, sizeof *a->func);
    tw__tf__name_attrs__init(a->func);
    a->func->name = tw_strdup(g->arena, name);
}

static void add_input(graph *g)
{
    add_type(g, add(g, "Placeholder", "x", ""), "dtype", 1);
}

/* The graph is refused so. */
static void expect(graph *g, tw_code code, const char *says)
{
    const size_t bytes = protobuf_c_message_get_packed_size(&g->message.base);
    uint8_t *data = tw_alloc(g->arena, bytes + 1);
    tw_diag diag = {0};
    protobuf_c_message_pack(&g->message.base, data);
    if (tw_import_tensorflow(g->arena, data, bytes, "model", &none, &diag))
        fail_msg("accepted; expected '%s'", says);
    if (diag.code != code || !strstr(diag.message, says))
        fail_msg("%d: '%s' does not hold '%s'", diag.code, diag.message, says);
    tw_arena_free(g->arena);
}

/* Every operator that has a row to say why it is refused. */
static void refused_by_name(void **state)
{
    (void)state;
    tw_tf_row row;
    int refused = 0;
    for (int i = 0; tw_tf_row_at(i, &row); i++) {
        graph g;
        if (row.import)
            continue;
        refused++;
        begin(&g);
        add_input(&g);
        add(&g, row.name, "it", "x");
        add(&g, "Identity", "y", "it");
        assert_true(*row.limits);
        expect(&g, TW_CODE_UNSUPPORTED, row.limits);
    }
    assert_true(refused > 50);
    graph g;
    begin(&g);
    add_input(&g);
    add(&g, "Frobnicate", "it", "x");
    expect(&g, TW_CODE_UNSUPPORTED, "not supported");
}

static void broken_graphs(void **state)
{
    (void)state;
    graph g;
    begin(&g);
    add_input(&g);
    add(&g, "Add", "a", "x b");
    add(&g, "Add", "b", "x a");
    add(&g, "Identity", "y", "b");
    expect(&g, TW_CODE_FAILED, "needs its own result");
    begin(&g);
    add_input(&g);
    add(&g, "Relu", "y", "z");
    expect(&g, TW_CODE_FAILED, "no node has that name");
    begin(&g);
    add_input(&g);
    add_input(&g);
    add(&g, "Relu", "y", "x");
    expect(&g, TW_CODE_FAILED, "two nodes have this name");
    begin(&g);
    add_input(&g);
    add(&g, "Relu", "y", "x x");
    expect(&g, TW_CODE_FAILED, "inputs");
    begin(&g);
    add_input(&g);
    add_function(&g, add(&g, "PartitionedCall", "y", "x"), "f", "nothing");
    expect(&g, TW_CODE_FAILED, "does not exist");
    begin(&g);
    add_type(&g, add(&g, "Placeholder", "x", ""), "dtype", TW_TF_STRING);
    add(&g, "Relu", "y", "x");
    expect(&g, TW_CODE_UNSUPPORTED, "string");
}

/* A function that calls itself. */
static void endless_calls(void **state)
{
    (void)state;
    static const char *const keys[][2] = {{"f", NULL}, {"then_branch", "else_branch"}};
    static const char *const ops[] = {"PartitionedCall", "If"};
    for (int i = 0; i < 2; i++) {
        graph g;
        begin(&g);
        Tw__Tf__Function *f = tw_alloc(g.arena, sizeof *f);
        Tw__Tf__Signature *s = tw_alloc(g.arena, sizeof *s);
        Tw__Tf__Argument *argument[2];
        Tw__Tf__TextEntry *result = tw_alloc(g.arena, sizeof *result);
        tw__tf__function__init(f);
        tw__tf__signature__init(s);
        tw__tf__library__init(&g.library);
        tw__tf__text_entry__init(result);
        for (int k = 0; k < 2; k++) {
            argument[k] = tw_alloc(g.arena, sizeof *argument[k]);
            tw__tf__argument__init(argument[k]);
            argument[k]->name = tw_strdup(g.arena, k ? "out" : "in");
        }
        s->name = tw_strdup(g.arena, "again");
        s->n_input_arg = s->n_output_arg = 1;
        s->input_arg = &argument[0];
        s->output_arg = &argument[1];
        f->signature = s;
        Tw__Tf__Node *call = new_node(&g, ops[i], "call", i ? "in in" : "in");
        add_function(&g, call, keys[i][0], "again");
        if (keys[i][1])
            add_function(&g, call, keys[i][1], "again");
        f->n_node = 1;
        f->node = &call;
        result->key = tw_strdup(g.arena, "out");
        result->value = tw_strdup(g.arena, "call:output:0");
        f->n_ret = 1;
        f->ret = &result;
        g.function[0] = f;
        g.library.n_function = 1;
        g.library.function = g.function;
        g.message.library = &g.library;
        add_input(&g);
        add_function(&g, add(&g, "PartitionedCall", "y", "x"), "f", "again");
        expect(&g, TW_CODE_UNSUPPORTED, "inside each other");
    }
}

/* --- checkpoints ------------------------------------------------------------------------------- */

static const char fixture[] = "tests/data/tensorflow/tf_keras_cnn";
static const char place[] = TW_TEST_WORK "/tensorflow-hostile";
static const char shard[] = "variables.data-00000-of-00001", table[] = "variables.index";

static uint8_t *read_file(tw_arena *arena, const char *path, size_t *bytes)
{
    void *data;
    tw_diag diag = {0};
    if (!tw_read_file(arena, path, FILE_BYTES, &data, bytes, &diag))
        fail_msg("%s: %s", path, diag.message);
    return data;
}

static uint8_t *read_part(tw_arena *arena, const char *name, size_t *bytes)
{
    return read_file(arena, tw_format(arena, "%s/variables/%s", fixture, name), bytes);
}

/* A file of the copy; null data: none. */
static void put_part(tw_arena *arena, const char *name, const void *data, size_t bytes)
{
    const char *path = tw_format(arena, "%s/variables/%s", place, name);
    unlink(path);
    if (!data)
        return;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static bool import_copy(tw_arena *arena, tw_diag *diag)
{
    size_t bytes;
    const uint8_t *data = read_file(arena, tw_format(arena, "%s/saved_model.pb", fixture), &bytes);
    return tw_import_tensorflow(arena, data, bytes, tw_format(arena, "%s/saved_model.pb", place),
                                &none, diag) != NULL;
}

static void copy_all(tw_arena *arena)
{
    size_t bytes;
    mkdir(TW_TEST_WORK, 0777);
    mkdir(place, 0777);
    mkdir(tw_format(arena, "%s/variables", place), 0777);
    const uint8_t *data = read_part(arena, shard, &bytes);
    put_part(arena, shard, data, bytes);
    data = read_part(arena, table, &bytes);
    put_part(arena, table, data, bytes);
}

static void expect_copy(tw_arena *arena, const char *says)
{
    tw_diag diag = {0};
    if (import_copy(arena, &diag))
        fail_msg("accepted; expected '%s'", says);
    if (diag.code != TW_CODE_FAILED || !strstr(diag.message, says))
        fail_msg("%d: '%s' does not hold '%s'", diag.code, diag.message, says);
}

static void shards(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    size_t bytes;
    copy_all(arena);
    uint8_t *data = read_part(arena, shard, &bytes);
    if (!import_copy(arena, &diag))
        fail_msg("%s", diag.message);
    put_part(arena, shard, NULL, 0);
    expect_copy(arena, shard);
    put_part(arena, shard, data, 16);
    expect_copy(arena, "beyond the end");
    put_part(arena, shard, data, 0);
    expect_copy(arena, "beyond the end");
    for (size_t i = 0; i < bytes; i++)
        data[i] ^= 1;
    put_part(arena, shard, data, bytes);
    expect_copy(arena, "checksum");
    put_part(arena, shard, NULL, 0); /* what is elsewhere is not followed to */
    assert_int_equal(symlink("../../../../tests/data/tensorflow/tf_keras_cnn/variables/"
                             "variables.data-00000-of-00001",
                             tw_format(arena, "%s/variables/%s", place, shard)),
                     0);
    expect_copy(arena, "link");
    put_part(arena, shard, NULL, 0);
    put_part(arena, table, NULL, 0);
    expect_copy(arena, "no checkpoint");
    tw_arena_free(arena);
}

/* The index cut anywhere, and with any byte another: every block has a sum. */
static void damaged_index(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    size_t bytes;
    copy_all(arena);
    uint8_t *data = read_part(arena, table, &bytes);
    for (size_t i = 0; i < bytes; i += 1 + i % 7) {
        tw_arena *own = tw_arena_new();
        tw_diag diag = {0};
        put_part(own, table, data, i);
        expect_copy(own, i ? "damaged" : "");
        data[i] ^= 0x55;
        put_part(own, table, data, bytes);
        data[i] ^= 0x55;
        if (!import_copy(own, &diag)) /* a byte between blocks means nothing */
            assert_true(*diag.message);
        tw_arena_free(own);
    }
    tw_arena_free(arena);
}

/* Without its restoring operator a variable is found by the names that the saved objects have. */
static void objects(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    size_t bytes;
    const char *path = tw_format(arena, "%s/saved_model.pb", fixture);
    const uint8_t *data = read_file(arena, path, &bytes);
    Tw__Tf__SavedModel *model = tw__tf__saved_model__unpack(NULL, bytes, data);
    assert_non_null(model);
    for (size_t i = 0; i < model->n_meta_graph; i++) {
        tw__tf__saver__free_unpacked(model->meta_graph[i]->saver, NULL);
        model->meta_graph[i]->saver = NULL;
    }
    uint8_t *bare = tw_alloc(arena, bytes);
    const size_t bare_bytes = tw__tf__saved_model__pack(model, bare);
    tw__tf__saved_model__free_unpacked(model, NULL);
    if (!tw_import_tensorflow(arena, bare, bare_bytes, path, &none, &diag))
        fail_msg("%s", diag.message);
    tw_arena_free(arena);
}

/* --- any bytes --------------------------------------------------------------------------------- */

/* Models with bytes changed: a message, or a graph that is whole. */
static void damaged_models(void **state)
{
    (void)state;
    static const char *const models[] = {"tf_decided_state/saved_model.pb",
                                         "tf_tensor_list/saved_model.pb",
                                         "tf_frozen_switches/frozen.pb"};
    uint32_t random = 7;
    for (int i = 0; i < 180; i++) {
        tw_arena *arena = tw_arena_new();
        tw_diag diag = {0}, broken = {0};
        size_t bytes;
        const char *path = tw_format(arena, "tests/data/tensorflow/%s", models[i % 3]);
        uint8_t *data = read_file(arena, path, &bytes);
        for (int k = 0; k <= i % 5; k++) {
            random = random * 1664525u + 1013904223u;
            data[random % bytes] = (uint8_t)(random >> 24);
        }
        const tw_graph *g = tw_import_tensorflow(arena, data, bytes, path, &none, &diag);
        assert_true(g ? tw_graph_check(g, &broken) : *diag.message);
        tw_arena_free(arena);
    }
}

/* A model without one of its parts: a message, or a graph that is whole. False: it has no such part. */
static bool import_without(const uint8_t *data, size_t bytes, const char *path, int part)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0}, broken = {0};
    ProtobufCMessage *model =
        tw_wire_unpack(&tw__tf__saved_model__descriptor, "model", data, bytes, arena, &diag);
    assert_non_null(model);
    const bool there = tw_message_drop(model, part);
    uint8_t *rest = tw_alloc(arena, bytes + 1);
    const size_t left = protobuf_c_message_pack(model, rest);
    const tw_graph *g = tw_import_tensorflow(arena, rest, left, path, &none, &diag);
    if (g ? !tw_graph_check(g, &broken) : !*diag.message)
        fail_msg("%s without part %d: '%s'", path, part, broken.message);
    tw_arena_free(arena);
    return there;
}

static void missing_parts(void **state)
{
    (void)state;
    static const char *const models[] = {"tf_decided_state/saved_model.pb",
                                         "tf_compare/saved_model.pb",
                                         "tf_keras_cnn/saved_model.pb"};
    for (int i = 0; i < 3; i++) {
        tw_arena *arena = tw_arena_new();
        const char *path = tw_format(arena, "tests/data/tensorflow/%s", models[i]);
        size_t bytes;
        const uint8_t *data = read_file(arena, path, &bytes);
        for (int part = 0; import_without(data, bytes, path, part); part++)
            ;
        tw_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_by_name), cmocka_unit_test(broken_graphs),
        cmocka_unit_test(endless_calls),   cmocka_unit_test(shards),
        cmocka_unit_test(damaged_index),   cmocka_unit_test(objects),
        cmocka_unit_test(damaged_models),  cmocka_unit_test(missing_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
