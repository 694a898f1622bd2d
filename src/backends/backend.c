/* The back end table, the portable back end (every operator's own `lower`), and what all the others
 * have in common. */
#include "backends/backend.h"

#include <string.h>

#include "backends/native.h"
#include "base/diag.h"

/* ---- the table ---- */

static const tw_native *const no_natives[] = {NULL};
static const tw_native_cpu no_cpus[] = {{NULL, 0, 0}};

const tw_backend tw_backend_reference = {
    .name = "reference",
    .summary = "portable C kernels, on every target",
    .cpus = no_cpus,
    .natives = no_natives,
};

const tw_backend *const tw_backends[] = {
#define TW_BACKEND(symbol) &tw_backend_##symbol,
#include "backends/backends.def"
};
const int tw_backend_count = (int)(sizeof tw_backends / sizeof *tw_backends);

/* ---- names ---- */

static bool is_word(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && strncmp(name, text, length) == 0;
}

static const char *all_names(tw_arena *arena)
{
    const char *all = "";
    for (int i = 0; i < tw_backend_count; i++)
        all = tw_format(arena, "%s%s%s", all, i ? ", " : "", tw_backends[i]->name);
    return all;
}

static bool parse_cpu(tw_arena *arena, const char *text, size_t length, tw_target *target,
                      tw_diag *diag)
{
    const char *all = "";
    for (const tw_native_cpu *c = target->backend->cpus; c->name; c++) {
        if (is_word(c->name, text, length)) {
            target->cpus = c->bit;
            target->pace = c->pace;
            return true;
        }
        all = tw_format(arena, "%s%s%s", all, *all ? ", " : "", c->name);
    }
    return tw_fail(diag, TW_CODE_USAGE, NULL, NULL,
                   "back end %s knows no processor \"%.*s\"; there %s", target->backend->name,
                   (int)length, text, *all ? tw_format(arena, "are: %s", all) : "is none to name");
}

bool tw_target_parse(tw_arena *arena, const char *text, size_t length, tw_target *target,
                     tw_diag *diag)
{
    enum { LONGEST = 31 }; /* what a plan has room for */
    const char *colon = memchr(text, ':', length);
    const size_t name = colon ? (size_t)(colon - text) : length;
    *target = (tw_target){.text = tw_strndup(arena, text, length)};
    for (int i = 0; i < tw_backend_count; i++)
        if (is_word(tw_backends[i]->name, text, name)) {
            target->backend = tw_backends[i];
            target->number = (uint32_t)i;
        }
    if (!target->backend || length > LONGEST)
        return tw_fail(diag, TW_CODE_USAGE, NULL, NULL, "unknown back end \"%.*s\"; there are: %s",
                       (int)name, text, all_names(arena));
    if (colon)
        return parse_cpu(arena, colon + 1, length - name - 1, target, diag);
    for (const tw_native_cpu *c = target->backend->cpus; c->name; c++) {
        target->cpus |= c->bit;
        target->pace = c->pace > target->pace ? c->pace : target->pace;
    }
    return true;
}

static bool is_listed(const tw_target *targets, int count, const tw_target *target)
{
    for (int i = 0; i < count; i++)
        if (targets[i].number == target->number && targets[i].cpus == target->cpus)
            return true;
    return false;
}

bool tw_targets_parse(tw_arena *arena, const char *list, tw_target **targets, int *count,
                      tw_diag *diag)
{
    const char *at = list ? list : "reference";
    *targets = tw_alloc_array(arena, strlen(at) + 2, sizeof **targets);
    *count = 0;
    if (!tw_target_parse(arena, "reference", strlen("reference"), &(*targets)[(*count)++], diag))
        return false;
    for (size_t n; *at; at += n + (at[n] == ',')) {
        tw_target target;
        n = strcspn(at, ",");
        if (!tw_target_parse(arena, at, n, &target, diag))
            return false;
        if (!is_listed(*targets, *count, &target))
            (*targets)[(*count)++] = target;
    }
    return true;
}

/* ---- lowering ---- */

bool tw_lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    const tw_opdef *op = node->op;
    if (op->kind == TW_HOST)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, op->name,
                       "the operator could not be folded or lowered; its attributes must be "
                       "constant");
    return tw_lower_portable(node, arena, lowering, diag);
}

static uint32_t operator_of(const tw_native *native)
{
    return native->kernel->id >> 8 & 0xFFFFu;
}

/* The axis on which bands of the output are cut: the first with more than one row. */
static int band_axis(const tw_shape *out)
{
    int axis = 0;
    while (axis < out->rank - 1 && out->dim[axis] == 1)
        axis++;
    return axis;
}

/* The most scratch of the first, a middle and the last band, of one row and of many, and of the whole. */
static uint32_t most_scratch(const tw_native *native, const tw_native_node *n)
{
    const tw_shape *out = &n->node->out[0]->shape;
    const int axis = band_axis(out);
    const int32_t extent = out->rank ? out->dim[axis] : 1, half = extent / 2;
    const tw_native_band bands[] = {
        {axis, 0, extent, extent},         {axis, 0, 1, extent},
        {axis, half, 1, extent},           {axis, extent - 1, 1, extent},
        {axis, 0, extent - half, extent},  {axis, half, extent - half, extent},
        {axis, half / 2, half + 1, extent}};
    uint32_t most = 0;
    for (size_t i = 0; native->scratch && extent > 0 && i < sizeof bands / sizeof *bands; i++) {
        const uint32_t bytes = native->scratch(n, &bands[i]);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Scratch for 2, 4, 8... parts. */
static void find_parts(const tw_native *native, const tw_native_node *n, tw_lowering *lowering)
{
    uint32_t least = lowering->scratch;
    for (int i = 0; native->parts && i < TW_MAX_HALVINGS - 1; i++) {
        const uint32_t bytes = native->parts(n, 2 << i);
        if (bytes == 0)
            return;
        least = bytes < least ? bytes : least;
        lowering->in_parts[i] = least;
    }
}

/* Do the rows of every activation begin where the kernel wants them? */
static bool is_aligned(const tw_native *native, const tw_node *node)
{
    for (int i = 0; i < node->in_count + node->out_count; i++) {
        const tw_value *v = i < node->in_count ? node->in[i] : node->out[i - node->in_count];
        if (!v || v->data || native->align < 2)
            continue;
        uint64_t bytes = tw_dtype_bytes(v->shape.dtype);
        for (int a = band_axis(&v->shape) + 1; a < v->shape.rank; a++)
            bytes *= (uint64_t)v->shape.dim[a];
        if (bytes % native->align)
            return false;
    }
    return true;
}

static const char *cannot(const tw_native *native, const tw_native_node *n)
{
    const char *why = native->can ? native->can(n) : NULL;
    return why ? why
           : !is_aligned(native, n->node)
               ? "rows of a tensor do not begin where the library wants them aligned"
               : NULL;
}

/* Why a back end has no kernel for an operator. */
static const char *why_left(const tw_backend *backend, const tw_opdef *op)
{
    for (const tw_native_left *left = backend->left; left && left->why; left++)
        if (left->code == op->code)
            return left->why;
    return tw_backend_has(backend, op) ? "the library's kernels are for other types"
                                       : "the library has no kernel for this operator";
}

/* Is a kernel of the back end for the types that the node's portable kernel is for? */
static bool is_of_types(const tw_native *native, const tw_lowering *portable)
{
    return ((native->kernel->id ^ portable->kernel->id) & TW_SIGNATURE_BITS) == 0;
}

const char *tw_lower_native(const tw_target *target, const tw_node *node,
                            const tw_lowering *portable, tw_arena *arena, tw_lowering *lowering,
                            uint32_t *aliases)
{
    const tw_native_node n = {node, target->cpus, portable};
    const char *why = why_left(target->backend, node->op);
    *lowering = *portable;
    lowering->kernel = NULL;
    lowering->overlap.may = false; /* unless `prepare` knows better */
    for (const tw_native *const *at = target->backend->natives; *at; at++) {
        const tw_native *native = *at;
        if (operator_of(native) != node->op->code || !is_of_types(native, portable) ||
            (why = cannot(native, &n)) != NULL)
            continue;
        lowering->kernel = native->kernel;
        lowering->scratch = most_scratch(native, &n);
        find_parts(native, &n, lowering);
        if (native->prepare)
            native->prepare(&n, arena, lowering);
        *aliases = 0;
        for (int i = 0; native->alias && i < node->in_count; i++)
            *aliases |= (uint32_t)native->alias(&n, i) << i;
        return NULL;
    }
    return why;
}

bool tw_backend_has(const tw_backend *backend, const tw_opdef *op)
{
    for (const tw_native *const *at = backend->natives; *at; at++)
        if (operator_of(*at) == op->code)
            return true;
    return false;
}

/* ---- kernels ---- */

const tw_kernel *tw_any_kernel_by_id(uint32_t id)
{
    const uint32_t number = id >> 24;
    if (number == 0)
        return tw_kernel_by_id(id);
    if (number >= (uint32_t)tw_backend_count)
        return NULL;
    for (const tw_native *const *at = tw_backends[number]->natives; *at; at++)
        if ((*at)->kernel->id == id)
            return (*at)->kernel;
    return NULL;
}

const char *tw_native_kernel_name(const tw_kernel *kernel)
{
    for (int i = 0; i < tw_backend_count; i++)
        for (const tw_native *const *at = tw_backends[i]->natives; *at; at++)
            if ((*at)->kernel == kernel)
                return (*at)->name;
    return NULL;
}
