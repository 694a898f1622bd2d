/* Variables: what their handles stand for, their first values, and what becomes of them in a run. A
 * variable that the signature never assigns is a constant; the others are states.
 */
#include <string.h>

#include "import/tensorflow/tensorflow.h"

enum { MOST_VARIABLES = 1 << 16 };

/* --- handles ----------------------------------------------------------------------------------- */

static tw_tf_variable *declare(tw_tf_node *n)
{
    tw_tf_import *import = n->import;
    const char *shared = tw_tf_text(n, "shared_name", ""), *node = n->b->node;
    /* This one stands for no name at all. */
    const bool named = *shared && strcmp(shared, "cd2c89b7-88b7-44c8-ad83-06c2a9158347") != 0;
    const char *name = named ? shared : node;
    tw_tf_variable *variable = tw_map_get(&import->variables, name);
    int64_t dim[TW_MAX_RANK];
    const int32_t *none = NULL;
    if (variable)
        return variable;
    if (import->variable_count == MOST_VARIABLES) {
        TW_TF_UNSUPPORTED(n, "more than %d variables", MOST_VARIABLES);
        return NULL;
    }
    variable = tw_alloc(import->scratch, sizeof *variable);
    *variable = (tw_tf_variable){.name = name, .node = node};
    const Tw__Tf__Attribute *shape = tw_tf_attribute(n, "shape");
    int rank;
    variable->shape = tw_shape_of(TW_NO_DTYPE, 0, none);
    if (!tw_tf_shape(shape ? shape->shape : NULL, node, &rank, dim, n->b->diag))
        return NULL;
    variable->shape.rank = rank;
    for (int i = 0; i < rank; i++)
        variable->shape.dim[i] = (int32_t)dim[i];
    tw_map_put(import->scratch, &import->variables, name, variable);
    tw_grow(import->scratch, &import->variable_list, import->variable_count,
            &import->variable_capacity, sizeof *import->variable_list);
    variable->index = import->variable_count;
    import->variable_list[import->variable_count++] = variable;
    return variable;
}

bool tw_tf_op_variable(tw_tf_node *n)
{
    tw_tf_variable *variable = declare(n);
    return variable &&
           tw_tf_set_item(n, 0, (tw_tf_item){.kind = TW_TF_HANDLE, .variable = variable});
}

static tw_tf_variable *handle(tw_tf_node *n)
{
    if (n->in[0].kind != TW_TF_HANDLE)
        TW_TF_FAIL(n, "input 0 is no variable's handle");
    return n->in[0].kind == TW_TF_HANDLE ? n->in[0].variable : NULL;
}

/* --- values ------------------------------------------------------------------------------------ */

/* The value in the checkpoint under a name that says which it is: for variables that the model's own
 * restoring operator does not mention. */
static const tw_tf_stored *stored_by_name(const tw_tf_import *import, const tw_tf_variable *v)
{
    const tw_tf_stored *stored = tw_tf_checkpoint_find(import->checkpoint, v->name);
    if (!stored)
        stored = tw_tf_checkpoint_find(
            import->checkpoint,
            tw_format(import->scratch, "%s/.ATTRIBUTES/VARIABLE_VALUE", v->name));
    return stored ? stored : tw_tf_checkpoint_variable(import->checkpoint, v->name);
}

static bool read_initial(tw_tf_node *n, tw_tf_variable *v)
{
    const tw_tf_stored *stored = v->stored ? v->stored : stored_by_name(n->import, v);
    if (!stored)
        return TW_TF_FAIL(n,
                          "the variable '%.200s' has no value: no checkpoint holds it, or several "
                          "of that name; save the model with its variables, or freeze it",
                          v->name);
    const tw_value *value = tw_tf_checkpoint_read(n, stored);
    if (!value)
        return false;
    v->stored_shape = value->shape;
    v->data = value->data;
    return true;
}

static tw_value *initial_value(tw_tf_node *n, tw_tf_variable *v)
{
    if (!v->data && !read_initial(n, v))
        return NULL;
    if (!v->initial)
        v->initial = tw_build_data(n->b, v->stored_shape, v->data);
    return v->initial;
}

tw_value *tw_tf_variable_read(tw_tf_node *n, tw_tf_variable *v)
{
    if (!v->now) {
        tw_value *initial = initial_value(n, v);
        if (!initial || !v->assigned)
            return v->now = initial;
        if (n->import->body)
            v->now = v->taken = tw_graph_input(n->b->graph, v->name, v->stored_shape);
        else
            v->now = v->state = tw_graph_state(n->b->graph, v->name, v->stored_shape, v->data);
    }
    return v->now;
}

bool tw_tf_op_read_variable(tw_tf_node *n)
{
    tw_tf_variable *v = handle(n);
    return v && tw_tf_set(n, 0, tw_tf_variable_read(n, v));
}

static bool assign(tw_tf_node *n, tw_tf_variable *v, tw_value *value)
{
    /* The state must be there: it also holds the value for the runs to come. */
    tw_value *before = value ? tw_tf_variable_read(n, v) : NULL;
    if (!before)
        return false;
    if (!tw_shape_equal(&before->shape, &value->shape))
        return TW_TF_UNSUPPORTED(n, "the variable '%.200s' changes its shape or type", v->name);
    if (n->branch)
        return TW_TF_UNSUPPORTED(n,
                                 "the variable '%.200s' is assigned in a branch of TensorFlow 1's "
                                 "control flow that the data decide; save the model with control "
                                 "flow v2",
                                 v->name);
    v->assigned = true;
    v->now = value;
    /* TensorFlow 1 gives the reference on, of which readers see the value. */
    return n->out_count == 0 || tw_tf_set(n, 0, value);
}

bool tw_tf_op_assign(tw_tf_node *n)
{
    tw_tf_variable *v = handle(n);
    if (!v)
        return false;
    if (!n->import->restoring)
        return assign(n, v, tw_tf_in(n, 1));
    if (n->in[1].kind == TW_TF_STORED_TENSOR)
        v->stored = n->in[1].stored;
    return true;
}

static bool assign_sum(tw_tf_node *n, const char *op)
{
    tw_tf_variable *v = handle(n);
    tw_value *delta = tw_tf_in(n, 1);
    return v && delta && assign(n, v, tw_build2(n->b, op, tw_tf_variable_read(n, v), delta, NULL));
}

bool tw_tf_op_assign_add(tw_tf_node *n)
{
    return assign_sum(n, "Add");
}

bool tw_tf_op_assign_sub(tw_tf_node *n)
{
    return assign_sum(n, "Sub");
}

/* --- the checkpoint's side --------------------------------------------------------------------- */

/* Result i is the tensor of the checkpoint that text i names. */
bool tw_tf_op_restore(tw_tf_node *n)
{
    const tw_tf_item *names = &n->in[1];
    if (names->kind != TW_TF_TEXT)
        return TW_TF_UNSUPPORTED(n, "the names of what it restores are not constant");
    size_t count = names->text->n_string_val;
    if (!tw_tf_results(n, (int64_t)count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const ProtobufCBinaryData *text = &names->text->string_val[i];
        const char *key =
            tw_strndup(n->import->scratch, text->len ? (const char *)text->data : "", text->len);
        const tw_tf_stored *stored = tw_tf_checkpoint_find(n->import->checkpoint, key);
        if (stored)
            n->out[i] = (tw_tf_item){.kind = TW_TF_STORED_TENSOR, .stored = stored};
    }
    return true;
}

/* --- the run ----------------------------------------------------------------------------------- */

bool tw_tf_variables_changed(const tw_tf_import *import)
{
    bool more = false;
    for (int i = 0; i < import->variable_count; i++)
        more |= import->variable_list[i]->assigned && !import->variable_list[i]->state;
    return more;
}

void tw_tf_variables_begin(tw_tf_import *import)
{
    for (int i = 0; i < import->variable_count; i++) {
        tw_tf_variable *v = import->variable_list[i];
        v->initial = v->now = v->taken = NULL;
    }
}

void tw_tf_variables_reset(tw_tf_import *import)
{
    tw_tf_variables_begin(import);
    for (int i = 0; i < import->variable_count; i++)
        import->variable_list[i]->state = NULL;
}

bool tw_tf_variables_finish(tw_tf_import *import)
{
    for (int i = 0; i < import->variable_count; i++) {
        tw_tf_variable *v = import->variable_list[i];
        if (v->state && v->now != v->state &&
            !tw_graph_state_next(import->b.graph, v->state, v->now, import->b.diag))
            return false;
    }
    return true;
}

/* --- bodies ------------------------------------------------------------------------------------ */

tw_tf_variables tw_tf_variables_save(const tw_tf_import *import)
{
    tw_tf_variables s = {.count = import->variable_count};
    const size_t room = (size_t)s.count + 1;
    s.initial = tw_alloc_array(import->scratch, room, sizeof *s.initial);
    s.state = tw_alloc_array(import->scratch, room, sizeof *s.state);
    s.now = tw_alloc_array(import->scratch, room, sizeof *s.now);
    s.taken = tw_alloc_array(import->scratch, room, sizeof *s.taken);
    for (int i = 0; i < s.count; i++) {
        const tw_tf_variable *v = import->variable_list[i];
        s.initial[i] = v->initial;
        s.state[i] = v->state;
        s.now[i] = v->now;
        s.taken[i] = v->taken;
    }
    return s;
}

/* Those that were first seen in a body are not known outside it. */
void tw_tf_variables_restore(tw_tf_import *import, const tw_tf_variables *saved)
{
    tw_tf_variables_begin(import);
    for (int i = 0; i < saved->count; i++) {
        tw_tf_variable *v = import->variable_list[i];
        v->initial = saved->initial[i];
        v->state = saved->state[i];
        v->now = saved->now[i];
        v->taken = saved->taken[i];
    }
}

tw_value *tw_tf_variable_inside(tw_graph *body, const tw_tf_variables *end, int index,
                                const tw_value *outer)
{
    if (index < end->count && end->taken[index])
        return end->taken[index];
    return tw_graph_input(body, outer->name, outer->shape);
}

void tw_tf_variable_becomes(tw_tf_variable *v, tw_value *value)
{
    v->assigned = true;
    v->now = value;
}
