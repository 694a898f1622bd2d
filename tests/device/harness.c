/* Test firmware: runs embedded plans on embedded inputs and compares every output byte with what the
 * host computed. All kernels of the ledger are linked and offered, and with TW_WITH_CMSIS_NN those
 * of that back end.
 *
 * Exit status: 0 equal, 1 different, 2 the runtime refuses, 3 the plan wrote outside its arenas,
 * or an arena 16 bytes smaller was accepted. */
#include "board.h"
#include "case.h"
#ifdef TW_WITH_CMSIS_NN
#include "backends/cmsis_nn/kernels.h"
#endif
#include "ops/codes.h"
#include "runtime/plan.h"

/* --- reporting ---------------------------------------------------------------------------------- */

static void print_number(uint32_t value)
{
    char text[12], *at = text + sizeof text - 1;
    *at = 0;
    do {
        *--at = (char)('0' + value % 10u);
        value /= 10u;
    } while (value);
    board_print(at);
}

static void say(const char *what, uint32_t value)
{
    board_print(what);
    print_number(value);
    board_print("\n");
}

static int refuse(const char *stage, tw_status status, uint32_t step)
{
    board_print(stage);
    board_print(": ");
    board_print(tw_status_text(status));
    board_print("\n");
    if (step != UINT32_MAX)
        say("step ", step);
    return 2;
}

/* --- kernels ------------------------------------------------------------------------------------ */

static const tw_kernel *const every_kernel[] = {
#define TW_K(symbol, signature) &tw_k_##symbol##_##signature,
#define TW_OP(code, Name, symbol, KIND, ...) __VA_ARGS__
#include "ops/ops.def"
#ifdef TW_WITH_CMSIS_NN
#define TW_CMSIS_NN(name, operator_symbol, signature, variant) &tw_cmsis_nn_##name,
#include "backends/cmsis_nn/kernels.def"
#endif
};
enum { EVERY_KERNEL = sizeof every_kernel / sizeof *every_kernel };

/* The plan's kernel list, in its order. Unknown ids stay null and are refused by tw_load. */
static const tw_kernel *table[EVERY_KERNEL];

static uint32_t find_kernels(const uint8_t *plan)
{
    const tw_plan_header *header = (const tw_plan_header *)(const void *)plan;
    const tw_plan_section *section = (const tw_plan_section *)(const void *)(header + 1);
    const uint32_t *ids;
    uint32_t count;
    if (header->section_count == 0 || section->kind != TW_SECTION_KERNELS)
        return 0;
    ids = (const uint32_t *)(const void *)(plan + section->offset);
    count = section->bytes / 4u;
    if (count > EVERY_KERNEL)
        count = EVERY_KERNEL;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < EVERY_KERNEL; k++)
            if (every_kernel[k]->id == ids[i])
                table[i] = every_kernel[k];
    return count;
}

/* --- memory ------------------------------------------------------------------------------------- */

enum { ARENA = 96 * 1024, GUARD = 4096, PAINT = 0xA5 };
static uint8_t arena[TW_MAX_REGIONS][ARENA + GUARD] __attribute__((aligned(16)));

static int guards_intact(const tw_model *model)
{
    for (uint32_t region = 0; region < TW_MAX_REGIONS; region++)
        for (uint32_t i = tw_region_bytes(model, region); i < ARENA + GUARD; i++)
            if (arena[region][i] != PAINT)
                return 0;
    return 1;
}

/* --- the test ----------------------------------------------------------------------------------- */

/* Where element number `i`, last axis first, of a tensor of any strides lies. */
static uint8_t *element(const tw_tensor *tensor, void *data, uint32_t i)
{
    uint32_t offset = 0;
    for (int axis = (int)tensor->rank - 1; axis >= 0; axis--) {
        offset += i % (uint32_t)tensor->dim[axis] * (uint32_t)tensor->stride[axis];
        i /= (uint32_t)tensor->dim[axis];
    }
    return (uint8_t *)data + offset * tw_dtype_bytes(tensor->dtype);
}

static void set_input(const tw_tensor *tensor, void *data, const uint8_t *dense)
{
    const uint32_t bytes = tw_dtype_bytes(tensor->dtype);
    for (uint32_t i = 0; i * bytes < tw_tensor_bytes(tensor); i++)
        memcpy(element(tensor, data, i), dense + i * bytes, bytes);
}

static int output_is(const tw_tensor *tensor, void *data, const uint8_t *dense, uint32_t run)
{
    const uint32_t bytes = tw_dtype_bytes(tensor->dtype);
    for (uint32_t i = 0; i * bytes < tw_tensor_bytes(tensor); i++)
        if (memcmp(element(tensor, data, i), dense + i * bytes, bytes) != 0) {
            say("differs in run ", run);
            say("at element ", i);
            return 0;
        }
    return 1;
}

/* Runs the plan on every input. 0, or the exit status. */
static int run_case(const tw_case *c, uint32_t *runs)
{
    static tw_model model;
    static tw_context context;
    tw_memory memory[TW_MAX_REGIONS - 1];
    const uint8_t *input = c->input, *expected = c->expected;
    uint32_t in_bytes, out_bytes;
    tw_status status;

    memset(arena, PAINT, sizeof arena);
    status = tw_load(&model, c->plan, c->plan_bytes, table, find_kernels(c->plan));
    if (status != TW_OK)
        return refuse("load", status, model.error_step);
    for (uint32_t region = 1; region < TW_MAX_REGIONS; region++) {
        memory[region - 1].base = arena[region];
        memory[region - 1].bytes = tw_region_bytes(&model, region);
        if (memory[region - 1].bytes > ARENA)
            return refuse("arena", TW_E_MEMORY, UINT32_MAX);
    }
    if (memory[0].bytes >= 16) {
        memory[0].bytes -= 16;
        if (tw_init(&context, &model, memory, TW_MAX_REGIONS - 1) != TW_E_MEMORY) {
            board_print("an arena that is too small was accepted\n");
            return 3;
        }
        memory[0].bytes += 16;
    }
    status = tw_init(&context, &model, memory, TW_MAX_REGIONS - 1);
    if (status != TW_OK)
        return refuse("init", status, UINT32_MAX);

    in_bytes = tw_tensor_bytes(tw_input_tensor(&model, 0));
    out_bytes = tw_tensor_bytes(tw_output_tensor(&model, 0));
    if (model.input_count != 1 || model.output_count != 1 || in_bytes == 0 || out_bytes == 0)
        return refuse("harness wants one input and one output", TW_E_ARGUMENT, UINT32_MAX);
    for (; input < c->input + c->input_bytes; input += in_bytes, expected += out_bytes, ++*runs) {
        set_input(tw_input_tensor(&model, 0), tw_input(&context, 0), input);
        status = tw_run(&context);
        if (status != TW_OK)
            return refuse("run", status, context.error_step);
        if (!output_is(tw_output_tensor(&model, 0), tw_output(&context, 0), expected, *runs)) {
            say("operator ", model.steps[0].operator_code);
            return 1;
        }
    }
    if (input != c->input + c->input_bytes || expected != c->expected + c->expected_bytes)
        return refuse("inputs and outputs do not match in number", TW_E_ARGUMENT, UINT32_MAX);
    if (!guards_intact(&model)) {
        board_print("bytes outside the arenas were written\n");
        return 3;
    }
    return 0;
}

int main(void)
{
    uint32_t runs = 0, cases = 0;
    tw_case c;
    while (case_get(cases, &c)) {
        int status = run_case(&c, &runs);
        if (status != 0) {
            say("case ", cases);
            return status;
        }
        cases++;
    }
    if (runs == 0)
        return refuse("there are no cases", TW_E_ARGUMENT, UINT32_MAX);
    say("plans: ", cases);
    say("runs equal to the host: ", runs);
    say("stack bytes: ", board_stack_used());
    return 0;
}
