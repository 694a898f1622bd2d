/* Both kinds of B-trees, read whole: what is looked for in them is kept by its reader. In: the address of
 * the root or header. Out: each record once, in no certain order. Nodes that lead to each other in a circle
 * end when the work that the file's size explains is done. */
#include "import/hdf5/file.h"

typedef struct node {
    uint64_t at, records;
    int level; /* 0: a leaf */
} node;

/* Nodes still to be read. */
typedef struct pending {
    node *nodes;
    int count, capacity;
} pending;

static void push(tw_h5 *f, pending *p, node n)
{
    tw_grow(f->arena, &p->nodes, p->count, &p->capacity, sizeof *p->nodes);
    p->nodes[p->count++] = n;
}

/* --- version 1 --------------------------------------------------------------------------------- */

enum { ANY_LEVEL = -1 };

typedef struct old_tree {
    tw_h5_tree_kind kind;
    size_t record_bytes; /* a key and an address */
    tw_h5_visit *visit;
    void *context;
    pending pending;
} old_tree;

static bool read_old_node(tw_h5 *f, old_tree *tree, node n)
{
    static const char part[] = "tree";
    tw_h5_span s;
    if (!tw_h5_block(f, part, n.at, "TREE", &s))
        return false;
    const int kind = (int)tw_h5_take(&s, 1), level = (int)tw_h5_take(&s, 1);
    const uint64_t entries = tw_h5_take(&s, 2);
    tw_h5_skip(&s, 2 * (uint64_t)f->address_bytes); /* its neighbours */
    if (s.cut || kind != (int)tree->kind || (n.level != ANY_LEVEL && level != n.level))
        return tw_h5_damaged(f, part, n.at, "has a node of another kind");
    for (uint64_t i = 0; i < entries; i++) {
        tw_h5_span record = tw_h5_part(&s, tree->record_bytes);
        if (record.cut)
            return tw_h5_damaged(f, part, n.at, "is cut off");
        if (!tw_h5_charge(f, tree->record_bytes))
            return false;
        if (level == 0) {
            if (!tree->visit(f, tree->context, record))
                return false;
            continue;
        }
        tw_h5_skip(&record, tree->record_bytes - (size_t)f->address_bytes);
        push(f, &tree->pending, (node){tw_h5_take_address(f, &record), 0, level - 1});
    }
    return true;
}

bool tw_h5_old_tree(tw_h5 *f, uint64_t at, tw_h5_tree_kind kind, size_t key_bytes,
                    tw_h5_visit *visit, void *context)
{
    old_tree tree = {kind, key_bytes + (size_t)f->address_bytes, visit, context, {NULL, 0, 0}};
    push(f, &tree.pending, (node){at, 0, ANY_LEVEL});
    while (tree.pending.count > 0)
        if (!read_old_node(f, &tree, tree.pending.nodes[--tree.pending.count]))
            return false;
    return true;
}

/* --- version 2 --------------------------------------------------------------------------------- */

/* Nodes have no counts of their own: the node above says how many records there are, in as many bytes
 * as the largest node of that level needs. */
enum { MOST_LEVELS = 16, NODE_HEAD = 10 };

typedef struct new_tree {
    uint64_t at;
    int type;
    size_t record_bytes;
    int count_bytes;              /* of records in one node */
    int total_bytes[MOST_LEVELS]; /* of records below a node of that level */
    tw_h5_visit *visit;
    void *context;
    pending pending;
} new_tree;

static const char new_part[] = "tree (version 2)";

/* How many records fit into a node of each level, and with them the widths of counts. */
static bool measure(tw_h5 *f, new_tree *tree, uint64_t node_bytes, int depth)
{
    if (node_bytes < NODE_HEAD || tree->record_bytes == 0 ||
        (node_bytes - NODE_HEAD) / tree->record_bytes == 0)
        return tw_h5_damaged(f, new_part, tree->at, "has nodes without room for a record");
    uint64_t total = (node_bytes - NODE_HEAD) / tree->record_bytes;
    tree->count_bytes = tw_h5_number_bytes(total);
    for (int level = 1; level <= depth; level++) {
        const uint64_t pointer = (uint64_t)f->address_bytes + (uint64_t)tree->count_bytes +
                                 (uint64_t)tree->total_bytes[level - 1];
        if (node_bytes < NODE_HEAD + pointer)
            return tw_h5_damaged(f, new_part, tree->at, "has nodes without room for a record");
        const uint64_t most = (node_bytes - NODE_HEAD - pointer) / (tree->record_bytes + pointer);
        total = total > UINT64_MAX / (most + 2) ? UINT64_MAX : (most + 1) * total + most;
        tree->total_bytes[level] = tw_h5_number_bytes(total);
    }
    return true;
}

static bool read_new_node(tw_h5 *f, new_tree *tree, node n)
{
    tw_h5_span s;
    if (!tw_h5_block(f, new_part, n.at, n.level ? "BTIN" : "BTLF", &s))
        return false;
    tw_h5_skip(&s, 2); /* version and type, as in the header */
    for (uint64_t i = 0; i < n.records; i++) {
        const tw_h5_span record = tw_h5_part(&s, tree->record_bytes);
        if (record.cut)
            return tw_h5_damaged(f, new_part, n.at, "is cut off");
        if (!tw_h5_charge(f, tree->record_bytes) || !tree->visit(f, tree->context, record))
            return false;
    }
    for (uint64_t i = 0; n.level > 0 && i <= n.records; i++) {
        node child = {.level = n.level - 1};
        child.at = tw_h5_take_address(f, &s);
        child.records = tw_h5_take(&s, tree->count_bytes);
        tw_h5_skip(&s, (uint64_t)tree->total_bytes[child.level]);
        if (s.cut)
            return tw_h5_damaged(f, new_part, n.at, "is cut off");
        if (!tw_h5_charge(f, sizeof child))
            return false;
        push(f, &tree->pending, child);
    }
    return true;
}

bool tw_h5_new_tree(tw_h5 *f, uint64_t at, int type, tw_h5_visit *visit, void *context)
{
    new_tree tree = {.at = at, .visit = visit, .context = context};
    tw_h5_span s;
    if (!tw_h5_block(f, new_part, at, "BTHD", &s))
        return false;
    tw_h5_skip(&s, 1);
    tree.type = (int)tw_h5_take(&s, 1);
    const uint64_t node_bytes = tw_h5_take(&s, 4);
    tree.record_bytes = (size_t)tw_h5_take(&s, 2);
    const int depth = (int)tw_h5_take(&s, 2);
    tw_h5_skip(&s, 2); /* when nodes are split and joined */
    const uint64_t root = tw_h5_take_address(f, &s), records = tw_h5_take(&s, 2);
    if (s.cut || tree.type != type || depth >= MOST_LEVELS)
        return tw_h5_damaged(f, new_part, at, "is of another kind");
    if (records == 0)
        return true;
    if (!measure(f, &tree, node_bytes, depth))
        return false;
    push(f, &tree.pending, (node){root, records, depth});
    while (tree.pending.count > 0)
        if (!read_new_node(f, &tree, tree.pending.nodes[--tree.pending.count]))
            return false;
    return true;
}
