/* The runtime with all its parts. */
#include "runtime/parts.h"

static const tw_parts all = {&tw_part_columns, &tw_part_controls, &tw_part_positions,
                             &tw_part_ends};

tw_status tw_load(tw_model *model, const void *plan, uint32_t bytes,
                  const tw_kernel *const *kernels, uint32_t kernel_count)
{
    return tw_load_with(model, plan, bytes, kernels, kernel_count, &all);
}
