/* Groups: names and what they lead to. A group has a tree of tables of names (old), links as messages, or
 * links in a heap with a tree of what is in it (new). In: an object or a path. Out: the object behind it.
 * The links of a group are read once, and kept. */
#include <stdlib.h>
#include <string.h>

#include "import/hdf5/file.h"

enum {
    LINK_WORK = 128,      /* what keeping a link costs */
    STEP_WORK = 16,       /* a name of a path */
    MOST_SOFT = 16,       /* links by name that lead to each other */
    MOST_NAMES = 1 << 16, /* in a group */
    MOST_NAME = 1 << 12
};

typedef enum link_kind { HARD, SOFT, OUTSIDE } link_kind;

typedef struct link {
    link_kind kind;
    uint64_t at;        /* hard */
    const char *target; /* soft: a path from the group or from the root */
} link;

static bool add_link(tw_h5 *f, tw_h5_object *group, const char *name, link l)
{
    if (!tw_h5_charge(f, LINK_WORK))
        return false;
    if (group->name_count == MOST_NAMES)
        return tw_h5_refuse(f, "an HDF5 group of more than %d names", (int)MOST_NAMES);
    /* A name that cannot stand in a path leads nowhere, and one that comes twice to the first. */
    if (!*name || strchr(name, '/') || tw_map_get(&group->links, name))
        return true;
    tw_map_put(f->arena, &group->links, name, tw_copy(f->arena, &l, sizeof l));
    tw_grow(f->arena, &group->names, group->name_count, &group->name_capacity,
            sizeof *group->names);
    group->names[group->name_count++] = name;
    return true;
}

/* --- the old form ------------------------------------------------------------------------------ */

typedef struct old_group {
    tw_h5_object *object;
    uint64_t heap;
} old_group;

static bool read_symbol(tw_h5 *f, const old_group *group, tw_h5_span *s)
{
    enum { SOFT_ENTRY = 2 };
    const uint64_t name_at = tw_h5_take_length(f, s);
    link l = {HARD, tw_h5_take_address(f, s), NULL};
    const uint64_t kind = tw_h5_take(s, 4);
    tw_h5_skip(s, 4);
    tw_h5_span rest = tw_h5_part(s, 16);
    if (rest.cut)
        return tw_h5_damaged(f, "table of names of the group", group->object->at, "is cut off");
    const char *name = tw_h5_heap_text(f, group->heap, name_at);
    if (name && kind == SOFT_ENTRY) {
        l.kind = SOFT;
        l.target = tw_h5_heap_text(f, group->heap, tw_h5_take(&rest, 4));
    }
    return name && (l.kind == HARD || l.target) && add_link(f, group->object, name, l);
}

static bool read_table(tw_h5 *f, void *context, tw_h5_span record)
{
    const old_group *group = context;
    tw_h5_span s;
    tw_h5_take_length(f, &record); /* the key, a name */
    if (!tw_h5_block(f, "table of names", tw_h5_take_address(f, &record), "SNOD", &s))
        return false;
    tw_h5_skip(&s, 2);
    const uint64_t count = tw_h5_take(&s, 2);
    for (uint64_t i = 0; i < count; i++)
        if (!read_symbol(f, group, &s))
            return false;
    return true;
}

static bool read_old(tw_h5 *f, tw_h5_object *object, tw_h5_span body)
{
    old_group group = {.object = object};
    const uint64_t tree = tw_h5_take_address(f, &body);
    group.heap = tw_h5_take_address(f, &body);
    return !body.cut ? tw_h5_old_tree(f, tree, TW_H5_GROUP_TREE, (size_t)f->length_bytes,
                                      read_table, &group)
                     : tw_h5_damaged(f, "group", object->at, "is cut off");
}

/* --- the new form ------------------------------------------------------------------------------ */

static bool parse_link(tw_h5 *f, tw_h5_object *object, tw_h5_span s)
{
    enum { SIZE = 3, ORDER = 4, KIND = 8, CHARSET = 16, SOFT_LINK = 1 };
    tw_h5_skip(&s, 1);
    const uint64_t flags = tw_h5_take(&s, 1);
    const uint64_t kind = flags & KIND ? tw_h5_take(&s, 1) : 0;
    tw_h5_skip(&s, (flags & ORDER ? 8 : 0) + (flags & CHARSET ? 1 : 0));
    const tw_h5_span name = tw_h5_part(&s, tw_h5_take(&s, 1 << (flags & SIZE)));
    link l = {kind == 0 ? HARD : kind == SOFT_LINK ? SOFT : OUTSIDE, TW_H5_NOWHERE, NULL};
    if (l.kind == HARD)
        l.at = tw_h5_take_address(f, &s);
    if (l.kind == SOFT) {
        const tw_h5_span target = tw_h5_part(&s, tw_h5_take(&s, 2));
        l.target = tw_strndup(f->arena, (const char *)target.at, target.left);
    }
    if (s.cut || name.cut || name.left > MOST_NAME || !tw_h5_charge(f, name.left))
        return tw_h5_damaged(f, "link in the group", object->at, "is cut off");
    return add_link(f, object, tw_strndup(f->arena, (const char *)name.at, name.left), l);
}

static bool read_link(tw_h5 *f, void *context, tw_h5_span record)
{
    tw_h5_dense *dense = context;
    tw_h5_span s;
    tw_h5_skip(&record, 4); /* what its name hashes to */
    return tw_h5_fractal_object(f, &dense->heap, record, &s) && parse_link(f, dense->object, s);
}

/* --- both -------------------------------------------------------------------------------------- */

static bool is_group(const tw_h5_object *object)
{
    return tw_h5_message_of(object, TW_H5_SYMBOLS) || tw_h5_message_of(object, TW_H5_LINK_INFO) ||
           tw_h5_message_of(object, TW_H5_LINK);
}

static bool read_links(tw_h5 *f, tw_h5_object *object)
{
    enum { BY_NAME = 5, COUNTER = 8 };
    bool ok = tw_h5_sound(f);
    for (int i = 0; ok && !object->linked && i < object->count; i++) {
        const tw_h5_message *m = &object->messages[i];
        if (m->type == TW_H5_SYMBOLS)
            ok = read_old(f, object, m->body);
        else if (m->type == TW_H5_LINK)
            ok = parse_link(f, object, m->body);
        else if (m->type == TW_H5_LINK_INFO)
            ok = tw_h5_each_dense(f, "group", object, m->body, BY_NAME, COUNTER, read_link);
    }
    object->linked = true;
    return ok;
}

/* The walk along a path. Links by name add theirs in front of what is left. */
static tw_h5_object *walk(tw_h5 *f, const char *path)
{
    tw_h5_object *at = tw_h5_object_at(f, f->root);
    for (int soft = 0; at && *path;) {
        const size_t length = strcspn(path, "/");
        const char *name = tw_strndup(f->arena, path, length), *rest = path + length;
        rest += strspn(rest, "/");
        if (!tw_h5_charge(f, STEP_WORK + length) || !read_links(f, at))
            return NULL;
        const link *l = tw_map_get(&at->links, name);
        if (!l)
            return NULL;
        if (l->kind == OUTSIDE) {
            tw_h5_refuse(f,
                         "a link to another file, which is not read; save the model in one file");
            return NULL;
        }
        if (l->kind == SOFT) {
            const char *target = l->target + strspn(l->target, "/");
            if (++soft > MOST_SOFT) {
                tw_h5_damaged(f, "link at", at->at, "leads through too many others");
                return NULL;
            }
            if (!tw_h5_charge(f, strlen(target) + strlen(rest)))
                return NULL;
            path = *rest ? tw_format(f->arena, "%s/%s", target, rest) : target;
            at = *l->target == '/' ? tw_h5_object_at(f, f->root) : at;
            continue;
        }
        at = tw_h5_object_at(f, l->at);
        path = rest;
    }
    return at;
}

tw_h5_object *tw_h5_find(tw_h5 *f, const char *path)
{
    if (!f || !tw_h5_sound(f))
        return NULL;
    f->path = path;
    return walk(f, path + strspn(path, "/"));
}

bool tw_h5_has(tw_h5 *f, const char *path)
{
    return tw_h5_find(f, path) != NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int tw_h5_children(tw_h5 *f, const char *path, const char *const **names)
{
    tw_h5_object *object = tw_h5_find(f, path);
    if (!object || !is_group(object) || !read_links(f, object))
        return -1;
    if (object->name_count > 0)
        qsort(object->names, (size_t)object->name_count, sizeof *object->names, by_name);
    *names = object->names;
    return object->name_count;
}
