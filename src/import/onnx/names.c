/* Scopes: tensor names and what they stand for. */
#include <string.h>

#include "import/onnx/model.h"

const char *tw_onnx_domain(const char *domain)
{
    return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

tw_onnx_binding *tw_onnx_find(const tw_onnx *o, const char *name)
{
    tw_onnx_binding *binding = NULL;
    for (const tw_onnx_scope *s = o->scope; s && !binding; s = s->outer)
        binding = tw_map_get(&s->bindings, name);
    return binding;
}

tw_onnx_binding *tw_onnx_declare(tw_onnx *o, const char *name, int producer, const char *what)
{
    if (!*name) {
        tw_fail(o->b.diag, TW_CODE_FAILED, NULL, NULL, "%s has no name", what);
        return NULL;
    }
    if (tw_map_get(&o->scope->bindings, name)) {
        tw_fail(o->b.diag, TW_CODE_FAILED, name, NULL,
                "two tensors have this name; a name stands for one tensor");
        return NULL;
    }
    tw_arena *arena = o->b.arena;
    const char *full = tw_format(arena, "%s%s", o->scope->prefix, name);
    tw_onnx_binding *binding = tw_alloc(arena, sizeof *binding);
    *binding = (tw_onnx_binding){.name = tw_unique_name(o->b.graph, full),
                                 .depth = o->scope->depth,
                                 .producer = producer,
                                 .body = o->body};
    tw_map_put(arena, &o->scope->bindings, tw_strdup(arena, name), binding);
    return binding;
}

void tw_onnx_name(tw_onnx *o, tw_onnx_binding *binding, tw_value *value)
{
    value->name = binding->name;
    binding->value = value;
    tw_map_put(o->b.arena, &o->named, binding->name, binding);
}

int64_t tw_onnx_opset_of(const tw_onnx *o, const char *domain)
{
    const tw_onnx_scope *s = o->scope;
    for (size_t i = 0; i < s->opset_count; i++)
        if (strcmp(tw_onnx_domain(s->opsets[i]->domain), domain) == 0)
            return s->opsets[i]->version;
    /* Models before IR version 3 name none. */
    return !*domain && o->model->ir_version < 3 ? 1 : 0;
}
