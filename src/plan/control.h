/* Branches and loops among the steps of one plan. In: a graph with If and While nodes. Out: a graph
 * without them, whose nodes are those of the bodies in their places, and control entries that say
 * where each part begins.
 *
 *     If:     IF yes.. ELSE no.. END            each result is copied behind either body to one place
 *     While:  copies LOOP condition.. WHILE body.. copies REPEAT
 *                                               what a loop carries has one place, written before the
 *                                               loop and at the end of each round
 *
 *     Await:  AWAIT, and its result is its operand
 *
 * "One place" is value->into: the second value is written where the first lies. Bodies run a step at a
 * time; what is around them rolls. */
#ifndef TW_PLAN_CONTROL_H
#define TW_PLAN_CONTROL_H

#include "plan/schedule.h"

typedef struct tw_control {
    uint32_t kind;         /* TW_CONTROL_* (runtime/plan.h) */
    int at;                /* it stands before this node; in a schedule, before this step */
    int partner;           /* the entry that plan.h names, or -1 */
    const tw_value *value; /* IF and WHILE: the condition */
    uint32_t most;         /* WHILE: rounds */
    int buffer;            /* LOOP: of the rounds taken, in a schedule */
} tw_control;

/* Order the nodes by what they wait for (Await): first those that run every time, then, behind each
 * Await, those that depend on it. Outputs become values of the last of them, so that a run that
 * ends early leaves them as they were. */
bool tw_order_waits(tw_graph *graph, tw_diag *diag);
/* Lay the bodies out. most: rounds of loops that do not say themselves. */
bool tw_lay_out_bodies(tw_graph *graph, uint32_t most, tw_diag *diag);

/* ---- the planner's questions ---- */

/* The schedule's own entries, by step. */
void tw_plan_controls(tw_schedule *schedule);
/* Is the step part of a body, or does it write what a body writes too? */
bool tw_is_controlled(const tw_schedule *schedule, int step);
/* The last step at which a value made by `maker` (-1: there from the start) must be there, being read
 * at `reader`: what a loop takes from outside is read in every round. */
int tw_live_until(const tw_schedule *schedule, int maker, int reader);
/* Does an AWAIT stand before the step? No segment reaches across it. */
bool tw_is_awaited(const tw_schedule *schedule, int step);
/* Does an output lie here that must hold until the next, which a run that ends early does not give? */
bool tw_is_kept(const tw_schedule *schedule, const tw_value *value);
/* The step that makes the root of a value; -1: there from the start. */
int tw_maker_of(const tw_schedule *schedule, const tw_value *value);

#endif
