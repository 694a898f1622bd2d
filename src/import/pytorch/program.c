/* Exported programs (torch.export): a graph in JSON, tensors beside it. The archive of torch 2.8 and later
 * has them as raw bytes with a list of what they are, the files of before as archives of their own. */
#include <jansson.h>
#include <string.h>

#include "import/pytorch/program.h"

enum { OLDEST_SCHEMA = 1, SCHEMA = 8 };

#define PROGRAM_FAIL(p, ...) tw_fail((p)->t->b.diag, TW_CODE_FAILED, NULL, NULL, __VA_ARGS__)
#define PROGRAM_UNSUPPORTED(p, ...)                                                                \
    tw_fail((p)->t->b.diag, TW_CODE_UNSUPPORTED, NULL, NULL, __VA_ARGS__)

const char *tw_program_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* --- members ----------------------------------------------------------------------------------- */

static json_t *load_json(tw_program *p, int member)
{
    tw_torch *t = p->t;
    void *data;
    size_t bytes;
    json_error_t error;
    if (!tw_archive_read(t->place.archive, t->scratch, member, &data, &bytes, t->b.diag))
        return NULL;
    json_t *json = tw_program_parse(t->scratch, data, bytes, &error);
    if (!json)
        PROGRAM_FAIL(p, "'%.200s', line %d: %.200s", tw_archive_name(t->place.archive, member),
                     error.line, error.text);
    return json;
}

/* Number of an element type in the file, as PyTorch itself counts them. */
int tw_program_dtype(int64_t code)
{
    static const int types[] = {
        -1,           TW_TORCH_U8,  TW_TORCH_S8,      TW_TORCH_S16, TW_TORCH_S32,
        TW_TORCH_S64, TW_TORCH_F16, TW_TORCH_F32,     TW_TORCH_F64, -1,
        -1,           -1,           TW_TORCH_BOOLEAN, TW_TORCH_BF16};
    return code < 0 || code >= (int64_t)(sizeof types / sizeof *types) ? -1 : types[code];
}

/* --- tensors ----------------------------------------------------------------------------------- */

static bool read_extents(const json_t *list, int rank, int64_t *to)
{
    for (int i = 0; i < rank; i++) {
        const json_t *item = json_object_get(json_array_get(list, (size_t)i), "as_int");
        to[i] = json_integer_value(item);
        if (!json_is_integer(item) || to[i] < 0)
            return false;
    }
    return (int)json_array_size(list) == rank;
}

/* Sizes, strides and offset. False: they are not numbers, or do not fit each other. */
static bool read_layout(const json_t *meta, tw_torch_stored *s)
{
    const json_t *sizes = json_object_get(meta, "sizes");
    s->offset =
        json_integer_value(json_object_get(json_object_get(meta, "storage_offset"), "as_int"));
    s->rank = (int)json_array_size(sizes);
    return read_extents(sizes, s->rank, s->size) &&
           read_extents(json_object_get(meta, "strides"), s->rank, s->stride) && s->offset >= 0;
}

void tw_program_lay_out(const tw_program *p, const char *name, tw_torch_tensor *tensor)
{
    const json_t *meta = json_object_get(json_object_get(p->graph, "tensor_values"), name);
    tw_torch_stored s = {0};
    if (!tensor->value || json_array_size(json_object_get(meta, "sizes")) > TW_MAX_RANK)
        return;
    bool known = read_layout(meta, &s) && s.rank == tensor->value->shape.rank;
    for (int i = 0; known && i < s.rank; i++)
        known = s.size[i] == tensor->value->shape.dim[i];
    if (tensor->layout == TW_TORCH_NO_LAYOUT && known) {
        tensor->stored = s;
        tensor->layout = TW_TORCH_ONE_LAYOUT;
    } else if (!known || s.offset != tensor->stored.offset ||
               memcmp(s.stride, tensor->stored.stride, sizeof s.stride) != 0) {
        tensor->layout = TW_TORCH_LAYOUTS;
    }
}

static bool add_tensor(tw_program *p, const char *name, const json_t *entry, const char *folder)
{
    tw_torch *t = p->t;
    const json_t *meta = json_object_get(entry, "tensor_meta");
    const json_t *sizes = json_object_get(meta, "sizes");
    if (json_is_true(json_object_get(entry, "use_pickle")))
        return PROGRAM_UNSUPPORTED(p,
                                   "'%.200s' is a tensor subclass, which is not supported; turn "
                                   "it into a plain tensor before exporting",
                                   name);
    const size_t rank = json_array_size(sizes);
    if (rank > TW_MAX_RANK)
        return PROGRAM_UNSUPPORTED(p, "'%.200s' has rank %zu; at most %d are supported", name, rank,
                                   TW_MAX_RANK);
    tw_torch_object *o = tw_torch_new_tensor(t->scratch, NULL);
    tw_torch_stored *s = &o->tensor->stored;
    s->dtype = tw_program_dtype(json_integer_value(json_object_get(meta, "dtype")));
    s->key = tw_format(t->scratch, "%s%s", folder, tw_program_text(entry, "path_name"));
    if (!read_layout(meta, s))
        return PROGRAM_FAIL(p, "'%.200s' has sizes and strides that do not fit each other", name);
    tw_map_put(t->scratch, &p->tensors, tw_strdup(t->scratch, name), o);
    return true;
}

/* Every FOLDER/..config.json: what the files beside it are. */
static bool load_configs(tw_program *p, const char *folder)
{
    const tw_archive *a = p->t->place.archive;
    const size_t length = strlen(folder);
    for (int i = 0; i < tw_archive_count(a); i++) {
        const char *name = tw_archive_name(a, i);
        if (strncmp(name, folder, length) != 0 || !strstr(name + length, "config") ||
            strcmp(name + strlen(name) - 5, ".json") != 0)
            continue;
        json_t *json = load_json(p, i);
        const char *key;
        json_t *entry;
        bool fine = json != NULL;
        json_object_foreach(json_object_get(json, "config"), key, entry) fine =
            fine && add_tensor(p, key, entry, folder);
        json_decref(json);
        if (!fine)
            return false;
    }
    return true;
}

/* What an archive within the archive holds; where: its storages. Null with a message. */
static tw_torch_object *unpack(tw_program *p, const char *name, const void *data, size_t bytes,
                               tw_torch_place **where)
{
    tw_torch *t = p->t;
    void *pickle;
    size_t pickle_bytes, root = 0;
    tw_torch_place *place = tw_alloc(t->scratch, sizeof *place);
    if (p->inner_count == TW_PROGRAM_INNER) {
        PROGRAM_UNSUPPORTED(p, "more than %d constants; export with torch 2.2 or later",
                            TW_PROGRAM_INNER);
        return NULL;
    }
    place->archive = tw_archive_open(t->scratch, data, bytes, t->b.diag);
    if (!place->archive)
        return NULL;
    p->inner[p->inner_count++] = place->archive;
    const int at = tw_archive_find_below(place->archive, "data.pkl", &root);
    if (at < 0) {
        PROGRAM_FAIL(p, "'%.200s' has no data.pkl", name);
        return NULL;
    }
    place->prefix =
        tw_format(t->scratch, "%.*sdata/", (int)root, tw_archive_name(place->archive, at));
    *where = place;
    return tw_archive_read(place->archive, t->scratch, at, &pickle, &pickle_bytes, t->b.diag)
               ? tw_torch_unpickle(t->scratch, pickle, pickle_bytes, name, t->b.diag)
               : NULL;
}

/* A dictionary of tensors, whose storages are members of its own archive. torch 2.1 and 2.2 call it .json,
 * though it is none. */
static bool load_pickled(tw_program *p, const char *stem)
{
    tw_torch *t = p->t;
    const char *name = tw_format(t->scratch, "%s.pt", stem);
    tw_torch_place *place;
    void *data;
    size_t bytes;
    int member = tw_archive_find_below(t->place.archive, name, NULL);
    if (member < 0) {
        name = tw_format(t->scratch, "%s.json", stem);
        member = tw_archive_find_below(t->place.archive, name, NULL);
    }
    if (member < 0)
        return true;
    if (!tw_archive_read(t->place.archive, t->scratch, member, &data, &bytes, t->b.diag))
        return false;
    if (bytes == 0)
        return true;
    tw_torch_object *all = unpack(p, name, data, bytes, &place);
    for (int i = 0; all && all->kind == TW_TORCH_DICT && i + 1 < all->count; i += 2) {
        if (all->items[i]->kind != TW_TORCH_TEXT || all->items[i + 1]->kind != TW_TORCH_TENSOR)
            continue;
        all->items[i + 1]->tensor->stored.place = place;
        tw_map_put(t->scratch, &p->tensors, all->items[i]->text, all->items[i + 1]);
    }
    return all != NULL;
}

/* Tensors in the program's text, which torch 2.1 has there: archives again. */
static bool load_constants(tw_program *p)
{
    tw_torch *t = p->t;
    const char *name;
    json_t *text;
    json_object_foreach(json_object_get(p->graph, "constants"), name, text)
    {
        size_t bytes;
        tw_torch_place *place;
        const char *digits = json_string_value(text) ? json_string_value(text) : "";
        const void *data = tw_program_base64(t->scratch, digits, &bytes);
        if (!data || bytes == 0)
            return PROGRAM_FAIL(p, "the constant '%.200s' is no base64 text", name);
        tw_torch_object *o = unpack(p, name, data, bytes, &place);
        if (!o)
            return false;
        if (o->kind != TW_TORCH_TENSOR)
            return PROGRAM_FAIL(p, "the constant '%.200s' is %s, not a tensor", name,
                                tw_torch_kind_name(o->kind));
        o->tensor->stored.place = place;
        tw_map_put(t->scratch, &p->values, tw_strdup(t->scratch, name), o);
    }
    return true;
}

/* --- inputs ------------------------------------------------------------------------------------ */

/* "Symbol('s0', integer=True)", or before torch 2.6 "s0": one extent, not something computed of several. */
static bool is_symbol(const char *expression, const char **name, size_t *length)
{
    static const char head[] = "Symbol('";
    if (strncmp(expression, head, sizeof head - 1) != 0) {
        *name = expression;
        *length = strspn(expression, "abcdefghijklmnopqrstuvwxyz_0123456789");
        return *length > 0 && expression[*length] == 0;
    }
    *name = expression + sizeof head - 1;
    *length = strcspn(*name, "'");
    const char *end = strchr(*name, ')');
    return end && end[1] == 0;
}

static bool user_input(tw_program *p, const char *name)
{
    tw_torch *t = p->t;
    const json_t *meta = json_object_get(json_object_get(p->graph, "tensor_values"), name);
    const json_t *sizes = json_object_get(meta, "sizes");
    const int64_t code = json_integer_value(json_object_get(meta, "dtype"));
    tw_torch_declared d = {.name = tw_strdup(t->b.arena, name), .position = p->inputs++};
    d.dtype = tw_torch_dtype(tw_program_dtype(code));
    d.rank = (int)json_array_size(sizes);
    if (!meta || d.dtype == TW_NO_DTYPE || d.rank > TW_MAX_RANK)
        return PROGRAM_UNSUPPORTED(p,
                                   "the input '%.200s' has rank %d and elements of type %lld, "
                                   "which is not supported",
                                   name, d.rank, (long long)code);
    for (int i = 0; i < d.rank; i++) {
        const json_t *size = json_array_get(sizes, (size_t)i);
        const json_t *whole = json_object_get(size, "as_int");
        const char *symbol = "";
        size_t length = 0;
        d.dim[i] = json_is_integer(whole) ? json_integer_value(whole) : -1;
        if (d.dim[i] < 0 && is_symbol(tw_program_text(json_object_get(size, "as_expr"), "expr_str"),
                                      &symbol, &length))
            d.symbol[i] = tw_strndup(t->scratch, symbol, length);
    }
    tw_value *input = tw_torch_input(t, &d);
    if (input)
        tw_map_put(t->scratch, &p->values, d.name, tw_torch_new_tensor(t->scratch, input));
    return input != NULL;
}

/* A parameter, buffer or constant; changed: the program changes it, so that it is a state. */
static bool stored_input(tw_program *p, const char *argument, const char *name)
{
    tw_torch *t = p->t;
    tw_torch_object *o = tw_map_get(&p->tensors, name);
    argument = tw_strdup(t->scratch, argument);
    if (!o)
        return PROGRAM_FAIL(p, "the file has no tensor '%.200s'", name);
    if (tw_map_get(&p->changed, argument)) {
        tw_value *first = tw_torch_value(t, o->tensor);
        if (!first)
            return false;
        tw_value *state = tw_graph_state(t->b.graph, name, first->shape, first->data);
        o = tw_torch_new_tensor(t->scratch, state);
        tw_grow(t->scratch, &p->states, p->state_count, &p->state_capacity, sizeof *p->states);
        p->states[p->state_count++] = (tw_program_state){tw_strdup(t->scratch, name), state, o};
    }
    tw_map_put(t->scratch, &p->values, argument, o);
    return true;
}

static bool read_input(tw_program *p, const json_t *spec)
{
    static const struct {
        const char *kind, *name;
    } stored[] = {{"parameter", "parameter_name"},
                  {"buffer", "buffer_name"},
                  {"tensor_constant", "tensor_constant_name"}};
    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++) {
        const json_t *entry = json_object_get(spec, stored[i].kind);
        if (entry)
            return stored_input(p, tw_program_text(json_object_get(entry, "arg"), "name"),
                                tw_program_text(entry, stored[i].name));
    }
    const json_t *user = json_object_get(json_object_get(spec, "user_input"), "arg");
    const json_t *tensor = json_object_get(user, "as_tensor");
    if (tensor)
        return user_input(p, tw_program_text(tensor, "name"));
    if (user || json_object_get(spec, "constant_input"))
        return true; /* a number that was fixed when the program was exported */
    const char *kind = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)spec));
    return PROGRAM_UNSUPPORTED(p, "an input of kind '%.80s' is not supported", kind ? kind : "");
}

/* Which graph inputs does the program change: those that an operator works on in place, and those whose
 * next value is an output. */
static void find_changed(tw_program *p, const json_t *signature)
{
    size_t i;
    const json_t *node, *spec;
    json_array_foreach(json_object_get(p->graph, "nodes"), i, node)
    {
        const char *target = tw_program_text(node, "target");
        const char *dot = strrchr(target, '.');
        const json_t *first = json_array_get(json_object_get(node, "inputs"), 0);
        const json_t *arg = json_object_get(json_object_get(first, "arg"), "as_tensor");
        if (dot && dot > target + 1 && dot[-1] == '_' && dot[-2] != '_' && arg)
            tw_map_put(p->t->scratch, &p->changed, tw_program_text(arg, "name"), p);
    }
    json_array_foreach(json_object_get(signature, "output_specs"), i, spec)
    {
        const json_t *entry = json_object_get(spec, "buffer_mutation");
        size_t k;
        const json_t *input;
        json_array_foreach(json_object_get(signature, "input_specs"), k, input)
        {
            const json_t *buffer = json_object_get(input, "buffer");
            if (entry && buffer &&
                strcmp(tw_program_text(buffer, "buffer_name"),
                       tw_program_text(entry, "buffer_name")) == 0)
                tw_map_put(p->t->scratch, &p->changed,
                           tw_program_text(json_object_get(buffer, "arg"), "name"), p);
        }
    }
}

static bool check_ranges(tw_program *p, const json_t *ranges)
{
    const char *symbol;
    json_t *range;
    json_object_foreach((json_t *)(uintptr_t)ranges, symbol, range)
    {
        const int64_t *extent = tw_map_get(&p->t->symbols, symbol);
        const json_t *low = json_object_get(range, "min_val");
        const json_t *high = json_object_get(range, "max_val");
        if (extent && ((json_is_integer(low) && *extent < json_integer_value(low)) ||
                       (json_is_integer(high) && *extent > json_integer_value(high))))
            return tw_fail(p->t->b.diag, TW_CODE_USAGE, NULL, NULL,
                           "the extent %lld (%.40s) is outside of the range that the program was "
                           "exported for, %lld to %lld",
                           (long long)*extent, symbol, (long long)json_integer_value(low),
                           (long long)json_integer_value(high));
    }
    return true;
}

/* --- outputs ----------------------------------------------------------------------------------- */

static tw_program_state *state_of(tw_program *p, const char *name)
{
    for (int i = 0; i < p->state_count; i++)
        if (strcmp(p->states[i].name, name) == 0)
            return &p->states[i];
    return NULL;
}

static bool read_output(tw_program *p, const json_t *spec)
{
    const json_t *user = json_object_get(json_object_get(spec, "user_output"), "arg");
    const json_t *mutation = json_object_get(spec, "buffer_mutation");
    if (user) {
        tw_torch_object *o = tw_program_argument(p, user);
        return o && tw_torch_output(p->t, o);
    }
    if (mutation) {
        tw_program_state *state = state_of(p, tw_program_text(mutation, "buffer_name"));
        tw_torch_object *o =
            tw_map_get(&p->values, tw_program_text(json_object_get(mutation, "arg"), "name"));
        if (!state || !o)
            return PROGRAM_FAIL(p, "what a buffer becomes is not there");
        state->object = o;
        return true;
    }
    const char *kind = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)spec));
    return PROGRAM_UNSUPPORTED(p, "an output of kind '%.80s' is not supported", kind ? kind : "");
}

static bool settle_states(tw_program *p)
{
    for (int i = 0; i < p->state_count; i++) {
        tw_value *next = p->states[i].object->kind == TW_TORCH_TENSOR
                             ? tw_torch_value(p->t, p->states[i].object->tensor)
                             : NULL;
        if (!next || !tw_graph_state_next(p->t->b.graph, p->states[i].state, next, p->t->b.diag))
            return false;
    }
    return true;
}

/* --- the program ------------------------------------------------------------------------------- */

static bool import_graph(tw_program *p, const json_t *program)
{
    json_t *module = json_object_get(program, "graph_module");
    const json_t *signature = json_object_get(module, "signature");
    const json_t *version = json_object_get(program, "schema_version"), *item;
    const int64_t major =
        json_integer_value(json_is_object(version) ? json_object_get(version, "major") : version);
    size_t i;
    p->graph = json_object_get(module, "graph");
    if (major < OLDEST_SCHEMA || major > SCHEMA || !p->graph || !signature)
        return PROGRAM_UNSUPPORTED(p,
                                   "a program of schema %lld; %d to %d are read, as torch 2.1 and "
                                   "later write them",
                                   (long long)major, OLDEST_SCHEMA, SCHEMA);
    tw_program_renew(module);
    find_changed(p, signature);
    if (!load_constants(p))
        return false;
    json_array_foreach(json_object_get(signature, "input_specs"), i,
                       item) if (!read_input(p, item)) return false;
    if (!check_ranges(p, json_object_get(program, "range_constraints")))
        return false;
    json_array_foreach(json_object_get(p->graph, "nodes"), i,
                       item) if (!tw_program_node(p, item)) return false;
    json_array_foreach(json_object_get(signature, "output_specs"), i,
                       item) if (!read_output(p, item)) return false;
    return settle_states(p);
}

/* The first models/NAME.json. */
static int find_program(const tw_archive *a, const char *root)
{
    const size_t length = strlen(root);
    for (int i = 0; i < tw_archive_count(a); i++) {
        const char *name = tw_archive_name(a, i);
        if (strncmp(name, root, length) == 0 && strncmp(name + length, "models/", 7) == 0 &&
            strcmp(name + strlen(name) - 5, ".json") == 0)
            return i;
    }
    return -1;
}

bool tw_torch_program(tw_torch *t, const char *root)
{
    tw_program p = {.t = t};
    int member;
    bool fine;
    t->place.prefix = "";
    if (root) {
        member = find_program(t->place.archive, root);
        fine = load_configs(&p, tw_format(t->scratch, "%sdata/weights/", root)) &&
               load_configs(&p, tw_format(t->scratch, "%sdata/constants/", root));
    } else {
        member = tw_archive_find_below(t->place.archive, "serialized_exported_program.json", NULL);
        fine =
            load_pickled(&p, "serialized_state_dict") && load_pickled(&p, "serialized_constants");
    }
    if (fine && member < 0)
        fine = PROGRAM_FAIL(&p, "the archive has no program");
    json_t *program = fine ? load_json(&p, member) : NULL;
    fine = program && import_graph(&p, program);
    json_decref(program);
    for (int i = 0; i < p.inner_count; i++)
        tw_archive_close(p.inner[i]);
    return fine;
}
