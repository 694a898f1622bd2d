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
    n->import->assignments++;
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

/* The state's shape and scale: the initial value's, or what the reader's tensor says. */
static bool make_state(tw_tfl_node *n, tw_tfl_variable *variable)
{
    const tw_tfl_tensor *tensor = tw_tfl_out_tensor(n, 0);
    tw_shape shape;
    tw_quant quant;
    if (variable->initial) {
        shape = variable->initial->shape;
        quant = variable->initial->quant;
    } else if (!tw_tfl_shape(n->import, tensor, &shape) ||
               !tw_tfl_quant(n->import, tensor, &quant)) {
        return false;
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
    if (!variable->now && !make_state(n, variable))
        return false;
    return tw_tfl_set(n, 0, variable->now);
}

bool tw_tfl_op_call_once(tw_tfl_node *n)
{
    tw_tfl_import *import = n->import;
    bool before = import->initialising;
    import->initialising = true;
    bool ok =
        tw_tfl_call(n, tw_tfl_int(n, TW_FIELD(CallOnce, init_subgraph_index), 0), NULL, 0, NULL, 0);
    import->initialising = before;
    return ok;
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
