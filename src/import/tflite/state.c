/* Resource variables: named tensors that survive a run, as states of the graph. A handle is a name;
 * what stands under it is the last value assigned in this run, at first what the run before left,
 * and before the first run what the subgraph of CALL_ONCE assigns. */
#include <string.h>

#include "import/tflite/tflite.h"

struct tw_tfl_variable {
    const char *name;
    tw_value *initial; /* a constant; null: zeros */
    tw_value *state;   /* null until it is read */
    tw_value *now;     /* null until it is read or assigned */
};

bool tw_tfl_op_var_handle(tw_tfl_node *n)
{
    tw_tfl_import *import = n->import;
    const char *container = tw_tfl_text(n, TW_FIELD(VarHandle, container));
    const char *shared = tw_tfl_text(n, TW_FIELD(VarHandle, shared_name));
    const char *name = tw_format(import->scratch, "%s/%s", container, shared);
    if (!tw_tfl_wants(n, 0))
        return true;
    tw_tfl_variable *variable = tw_map_get(&import->variables, name);
    if (!variable && import->variable_count == TW_TFL_VARIABLES)
        return TW_TFL_UNSUPPORTED(n, "more than %d variables", TW_TFL_VARIABLES);
    if (!variable) {
        variable = tw_alloc(import->scratch, sizeof *variable);
        variable->name = *shared ? shared : "state";
        tw_map_put(import->scratch, &import->variables, name, variable);
        tw_grow(import->scratch, &import->variable_list, import->variable_count,
                &import->variable_capacity, sizeof *import->variable_list);
        import->variable_list[import->variable_count++] = variable;
    }
    import->handles[n->operator->out[0]] = variable;
    return true;
}

static tw_tfl_variable *variable_of(tw_tfl_node *n)
{
    tw_tfl_variable *variable = n->import->handles[n->operator->in[0]];
    if (!variable)
        TW_TFL_FAIL(n, "input 0 ('%s') is not a variable's handle", tw_tfl_in_tensor(n, 0)->name);
    return variable;
}

bool tw_tfl_op_assign_variable(tw_tfl_node *n)
{
    tw_tfl_variable *variable = variable_of(n);
    tw_value *value = tw_tfl_in(n, 1);
    if (!variable || !value)
        return false;
    if (!n->import->initialising) {
        if (n->import->gate_count && !variable->now)
            return TW_TFL_UNSUPPORTED(n, "'%s' is assigned in some runs and never read before",
                                      variable->name);
        variable->now = tw_tfl_gated(n, value, variable->now);
        return variable->now != NULL;
    }
    if (!tw_build_known(n->b, value))
        return TW_TFL_UNSUPPORTED(n, "the initial value of '%s' is not constant", variable->name);
    variable->initial = value;
    return true;
}

/* A value that the variable is anywhere: it says shape and scale. */
static const tw_value *known_value(const tw_tfl_import *import, int i)
{
    const tw_tfl_variable *variable = import->variable_list[i];
    const tw_value *known = variable->initial ? variable->initial : variable->state;
    for (const tw_tfl_body *body = import->body; body && !known; body = body->around)
        if (i < body->variables)
            known = body->before[i];
    return known ? known : variable->now;
}

static int index_of(const tw_tfl_import *import, const tw_tfl_variable *variable)
{
    int i = 0;
    while (import->variable_list[i] != variable)
        i++;
    return i;
}

/* The variable as it is when the run, or the body in hand, begins. */
static bool make_current(tw_tfl_node *n, tw_tfl_variable *variable, tw_shape shape, tw_quant quant)
{
    const int i = index_of(n->import, variable);
    const tw_value *known = known_value(n->import, i);
    if (known) {
        shape = known->shape;
        quant = known->quant;
    }
    if (n->import->body) {
        const tw_value like = {.shape = shape, .quant = quant};
        variable->now = tw_tfl_variable_taken(n->import, n->import->body, i, &like);
        return true;
    }
    const void *data = variable->initial ? variable->initial->data : NULL;
    if (quant.count > 1)
        return TW_TFL_UNSUPPORTED(n, "a variable with more than one scale");
    variable->state = tw_graph_state(n->b->graph, variable->name, shape, data);
    variable->state->quant = quant;
    variable->now = variable->state;
    return true;
}

bool tw_tfl_op_read_variable(tw_tfl_node *n)
{
    tw_tfl_variable *variable = variable_of(n);
    if (!variable || !tw_tfl_wants(n, 0))
        return variable != NULL;
    tw_shape shape;
    tw_quant quant;
    if (!variable->now && (!tw_tfl_shape(n->import, tw_tfl_out_tensor(n, 0), &shape) ||
                           !tw_tfl_quant(n->import, tw_tfl_out_tensor(n, 0), &quant) ||
                           !make_current(n, variable, shape, quant)))
        return false;
    return tw_tfl_set(n, 0, variable->now);
}

bool tw_tfl_op_call_once(tw_tfl_node *n)
{
    tw_tfl_import *import = n->import;
    bool before = import->initialising;
    import->initialising = true;
    const tw_tfl_arguments none = {NULL, NULL, 0};
    bool ok =
        tw_tfl_call(n, tw_tfl_int(n, TW_FIELD(CallOnce, init_subgraph_index), 0), &none, NULL, 0);
    import->initialising = before;
    return ok;
}

/* ---- in branches and loops ---- */

tw_value **tw_tfl_variables_now(const tw_tfl_import *import)
{
    tw_value **now =
        tw_alloc_array(import->scratch, (size_t)import->variable_count + 1, sizeof *now);
    for (int i = 0; i < import->variable_count; i++)
        now[i] = import->variable_list[i]->now;
    return now;
}

void tw_tfl_variables_restore(tw_tfl_import *import, tw_value *const *now, int count)
{
    for (int i = 0; i < import->variable_count; i++) {
        tw_tfl_variable *variable = import->variable_list[i];
        variable->now = i < count && now[i] ? now[i] : import->body ? NULL : variable->state;
    }
}

tw_value *tw_tfl_variable_taken(tw_tfl_import *import, tw_tfl_body *body, int i,
                                const tw_value *like)
{
    if (!body->taken[i]) {
        body->taken[i] = tw_graph_input(body->graph, import->variable_list[i]->name, like->shape);
        body->taken[i]->quant = like->quant;
        body->taken[i]->index = 1; /* it keeps its scale */
    }
    return body->taken[i];
}

tw_value *tw_tfl_variable_read(tw_tfl_node *n, int i, const tw_value *like)
{
    tw_tfl_variable *variable = n->import->variable_list[i];
    return variable->now || make_current(n, variable, like->shape, like->quant) ? variable->now
                                                                                : NULL;
}

bool tw_tfl_variable_assign(tw_tfl_node *n, int i, tw_value *value)
{
    tw_tfl_variable *variable = n->import->variable_list[i];
    variable->now = tw_tfl_gated(n, value, variable->now);
    return variable->now != NULL;
}

/* What each variable that was read is in the next run. */
bool tw_tfl_finish_states(tw_tfl_import *import)
{
    for (int i = 0; i < import->variable_count; i++) {
        tw_tfl_variable *variable = import->variable_list[i];
        if (!variable->state || variable->now == variable->state)
            continue;
        tw_value *next = tw_build_with_quant(&import->b, variable->now, variable->state->quant);
        if (!next || !tw_graph_state_next(import->b.graph, variable->state, next, import->b.diag))
            return false;
    }
    return true;
}
