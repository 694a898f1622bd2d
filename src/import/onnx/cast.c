/* Cast and CastLike, between all types that tensors have. */
#include <string.h>

#include "import/onnx/model.h"

/* A type as the operators name it. */
typedef struct tw_target {
    tw_dtype dtype;
    const tw_onnx_narrow *narrow; /* of few bits, or null */
} tw_target;

static bool cast_to(tw_onnx_node *n, tw_target to)
{
    bool saturate = tw_onnx_int(n, "saturate", 1) != 0;
    const char *mode = tw_onnx_text(n, "round_mode", "up");
    const tw_onnx_narrow *from = tw_onnx_narrow_of(n->onnx, n->in[0]);
    if (!tw_onnx_word(n, "round_mode", mode, "up down nearest"))
        return false;
    tw_value *y = n->in[0];
    if (from == to.narrow && to.narrow)
        y = tw_build1(n->b, "Identity", y, NULL);
    else if (from)
        y = tw_onnx_decoded(n, y, from);
    if (to.narrow && from != to.narrow)
        y = tw_onnx_encoded(n, y, to.narrow, saturate, mode);
    else if (!to.narrow)
        y = tw_build_cast(n->b, y, to.dtype);
    if (y == n->in[0] && from) /* held the same way, but of another type */
        y = tw_build1(n->b, "Identity", y, NULL);
    tw_onnx_note_type(n->onnx, y, to.narrow);
    return tw_onnx_bind(n, 0, y);
}

bool tw_onnx_op_cast(tw_onnx_node *n)
{
    int64_t to;
    if (n->opset < 6) {
        const char *name = tw_onnx_text(n, "to", "");
        to = tw_onnx_dtype_by_name(name, strlen(name));
        if (to == 0)
            return TW_ONNX_FAIL(n, "the type '%s' (attribute to) does not exist", name);
    } else {
        to = tw_onnx_int(n, "to", 0);
    }
    tw_target target = {tw_onnx_held_as(to), tw_onnx_narrow_type(to)};
    return target.dtype == TW_NO_DTYPE ? tw_onnx_refuse_dtype(to, "the result", n->b->diag)
                                       : cast_to(n, target);
}

bool tw_onnx_op_cast_like(tw_onnx_node *n)
{
    const tw_value *like = n->in[1];
    return cast_to(n, (tw_target){like->shape.dtype, tw_onnx_narrow_of(n->onnx, like)});
}
