/* What of the runtime only some plans need: records of functions, of which a firmware has those that its
 * plan calls for. tw_load takes them all; tw_load_with refuses a plan that calls for one that is not
 * there. Hence the execution loop and the loader ask a part only where the plan has its entries. */
#ifndef TW_RUNTIME_PARTS_H
#define TW_RUNTIME_PARTS_H

#include "runtime/control.h"
#include "runtime/runner.h"

/* Segments by columns. columns.c. */
typedef struct tw_column_part {
    /* Verify an operand of such a segment, and of a stream with a window, that its pixels can be
     * counted. */
    tw_status (*check)(const tw_model *model, const tw_plan_segment *segment, uint32_t step,
                       const tw_plan_operand *operand, int is_output);
    int (*has_pixels)(const tw_tensor *tensor, const tw_plan_segment *segment);
    /* See runtime/rows.h. */
    int32_t (*allowed)(const tw_runner *r, const tw_plan_step *s, const tw_plan_operand *o,
                       int32_t pixels);
    int32_t (*first)(const tw_runner *r, const tw_plan_step *s, const tw_plan_operand *o,
                     int32_t pixel);
    /* Views of all operands for so many output pixels more. False: they are not where the plan says. */
    int (*views)(const tw_runner *r, uint32_t step, int32_t pixels, tw_view *views);
} tw_column_part;

/* Branches, loops and early ends. control.c. */
typedef struct tw_control_part {
    /* Verify the entries that stand before a segment. */
    tw_status (*at)(tw_nesting *nesting, uint32_t segment);
    /* Do these bytes of the fast arena lie beside the rounds of all loops around? */
    int (*spares)(const tw_nesting *nesting, uint32_t offset, uint32_t bytes);
    /* Execution has come to context->segment: follow the entries that stand there, and set it to the
     * segment that runs next, or to the number of segments. */
    tw_status (*follow)(tw_context *context, const tw_model *model);
} tw_control_part;

/* States that count the tokens that caches hold. position.c. */
typedef struct tw_position_part {
    tw_status (*check)(const tw_model *model);
    /* May a run begin: is there room for what it brings? TW_E_FULL; TW_E_DATA for a number of tokens
     * that is none. Changes nothing. */
    tw_status (*allow)(const tw_context *context, const tw_model *model);
} tw_position_part;

/* Inputs and outputs that go by rows. ends.c. */
typedef struct tw_end_part {
    /* Let rows of the source in: 1, or an error. */
    int32_t (*advance)(tw_runner *r);
    /* Give the caller what a step has made of outputs. */
    tw_status (*drain)(const tw_runner *r, uint32_t step, const tw_view *out);
} tw_end_part;

typedef struct tw_parts {
    const tw_column_part *columns;
    const tw_control_part *controls;
    const tw_position_part *positions;
    const tw_end_part *ends;
} tw_parts;

extern const tw_column_part tw_part_columns;
extern const tw_control_part tw_part_controls;
extern const tw_position_part tw_part_positions;
extern const tw_end_part tw_part_ends;

/* tw_load with these parts, which must outlive the model. TW_E_KERNEL: the plan needs another. */
tw_status tw_load_with(tw_model *model, const void *plan, uint32_t bytes,
                       const struct tw_kernel *const *kernels, uint32_t kernel_count,
                       const tw_parts *parts);

#endif
