/* The cost table. */
#include "backends/cost.h"

#include "ops/codes.h"

typedef struct tw_cost {
    int code; /* of an operator, or -1: of a kind */
    tw_op_kind kind;
    double s8, f32;
} tw_cost;

static const tw_cost costs[] = {
#define TW_COST(symbol, s8, f32) {TW_OPCODE_##symbol, TW_MATH, s8, f32},
#define TW_COST_KIND(kind, s8, f32) {-1, TW_##kind, s8, f32},
#include "backends/costs.def"
};

double tw_cost_of_work(const tw_opdef *op, tw_dtype dtype, uint64_t work)
{
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        if (costs[i].code == (int)op->code || (costs[i].code < 0 && costs[i].kind == op->kind))
            return (double)work * (dtype == TW_S8 ? costs[i].s8 : costs[i].f32);
    return (double)work;
}

double tw_cost_of_step(const tw_opdef *op, const tw_report_step *step, const tw_memories *memories)
{
    double cost = tw_cost_of_work(op, step->dtype, step->work) + (double)step->calls * TW_COST_CALL;
    if (!memories)
        return cost;
    const tw_traffic *t = &step->traffic;
    double slow = (double)(t->read[TW_REGION_SLOW] + t->written[TW_REGION_SLOW]);
    double flash = (double)t->read[TW_REGION_CONSTANT];
    return cost + TW_COST_BYTE * (slow * (memories->slow.cost - memories->fast.cost) +
                                  flash * (memories->flash.cost - memories->fast.cost));
}
