/* If and While: what their bodies must be; Await. No kernels: the planner lays the bodies out among the
 * other steps, and the runtime follows the plan's control entries (plan/control.c). */
#include "ops/control.h"

#include "ops/ledger.h"

/* A body's inputs are the operands from `first` on; it gives `outputs` tensors. */
static bool check_body(const tw_shape_call *call, const char *what, const tw_graph *body, int first,
                       int outputs)
{
    if (body->input_count != call->in_count - first || body->output_count != outputs)
        return TW_SHAPE_FAIL(call, "%s takes %d and gives %d tensors, not %d and %d", what,
                             body->input_count, body->output_count, call->in_count - first,
                             outputs);
    for (int i = first; i < call->in_count; i++) {
        const tw_value *given = call->in[i], *taken = body->inputs[i - first];
        if (!given)
            return TW_SHAPE_FAIL(call, "input %d is missing", i);
        if (!tw_shape_equal(&given->shape, &taken->shape) ||
            !tw_quant_equal(&given->quant, &taken->quant))
            return TW_SHAPE_FAIL(call,
                                 "input %d (%s) differs in shape, type or scale from what %s takes",
                                 i, given->name, what);
    }
    return true;
}

static bool is_condition(const tw_shape_call *call, const tw_value *v)
{
    return (v->shape.dtype == TW_BOOL && tw_shape_elements(&v->shape) == 1) ||
           TW_SHAPE_FAIL(call, "the condition (%s) must be one BOOL", v->name);
}

static bool same(const tw_value *a, const tw_value *b)
{
    return tw_shape_equal(&a->shape, &b->shape) && tw_quant_equal(&a->quant, &b->quant);
}

static bool branch_shape(const tw_shape_call *call)
{
    if (!is_condition(call, call->in[0]) ||
        !check_body(call, "the branch for yes", call->body[0], 1, call->out_count) ||
        !check_body(call, "the branch for no", call->body[1], 1, call->out_count))
        return false;
    for (int i = 0; i < call->out_count; i++) {
        if (!same(call->body[0]->outputs[i], call->body[1]->outputs[i]))
            return TW_SHAPE_UNSUPPORTED(
                call, "result %d differs in shape, type or scale between the branches", i);
        call->out[i] = call->body[1]->outputs[i]->shape;
    }
    return true;
}

static bool loop_shape(const tw_shape_call *call)
{
    if (call->out_count > call->in_count)
        return TW_SHAPE_FAIL(call, "it has %d inputs and %d results; each result has an input",
                             call->in_count, call->out_count);
    if (!check_body(call, "the condition", call->body[0], 0, 1) ||
        !is_condition(call, call->body[0]->outputs[0]) ||
        !check_body(call, "the body", call->body[1], 0, call->out_count))
        return false;
    for (int i = 0; i < call->out_count; i++) {
        if (!same(call->body[1]->outputs[i], call->body[1]->inputs[i]))
            return TW_SHAPE_UNSUPPORTED(
                call,
                "tensor %d (%s) changes its shape, type or scale from round "
                "to round",
                i, call->in[i]->name);
        call->out[i] = call->in[i]->shape;
    }
    return true;
}

const tw_opdef tw_op_branch = {
    TW_OP_LEDGER(branch),
    .formula = "out = condition ? yes(x...) : no(x...)",
    .min_in = 1,
    .max_in = TW_MAX_NODE_OPERANDS,
    .min_out = 1,
    .max_out = TW_MAX_NODE_OPERANDS,
    .bodies = 2,
    .shape = branch_shape,
    .limits = "results of one shape, type and scale in both branches",
    .samples = "",
    .onnx = "",
};

TW_ATTRIBUTE_TABLE(loop, TW_LOOP_ATTRIBUTES);

const tw_opdef tw_op_loop = {
    TW_OP_LEDGER(loop),
    TW_OP_ATTRIBUTES(loop),
    .formula = "while condition(out..., x...): out = body(out..., x...)",
    .min_in = 1,
    .max_in = TW_MAX_NODE_OPERANDS,
    .min_out = 1,
    .max_out = TW_MAX_NODE_OPERANDS,
    .bodies = 2,
    .shape = loop_shape,
    .limits =
        "tensors keep their shape, type and scale from round to round; a stated number of rounds",
    .samples = "",
    .onnx = "",
};

static bool await_shape(const tw_shape_call *call)
{
    return is_condition(call, call->in[1]) && tw_shape_default(call);
}

const tw_opdef tw_op_await = {
    TW_OP_LEDGER(await),  .formula = "out = x; where ready is false the run ends without output",
    .min_in = 2,          .max_in = 2,
    .min_out = 1,         .max_out = 1,
    .shape = await_shape, .limits = "outside the bodies of If and While",
    .samples = "",        .onnx = "",
};
