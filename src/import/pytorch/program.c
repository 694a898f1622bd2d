/* Exported programs (torch.export). */
#include "import/pytorch/torch.h"

bool tw_torch_program(tw_torch *t, const char *root)
{
    (void)root;
    return tw_fail(t->b.diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                   "exported programs (.pt2) are not supported yet; save the model with "
                   "torch.jit.trace");
}
