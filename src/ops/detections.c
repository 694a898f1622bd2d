/* Detections: record. Everything is needed whole. */
#include "ops/detections.h"

#include <math.h>

#include "ops/ledger.h"

TW_ATTRIBUTE_TABLE(detections, TW_DETECTIONS_ATTRIBUTES);

static bool shape(const tw_shape_call *call)
{
    const tw_detections_attributes *a = call->attributes;
    const tw_shape *x = &call->in[0]->shape, *s = &call->in[1]->shape, *n = &call->in[2]->shape;
    const int64_t most = tw_detections_room(a);
    if (x->dtype != TW_F32 || s->dtype != TW_F32 || n->dtype != TW_F32)
        return TW_SHAPE_UNSUPPORTED(call, "operands of %s, %s and %s; put Dequantize before them",
                                    tw_dtype_name(x->dtype), tw_dtype_name(s->dtype),
                                    tw_dtype_name(n->dtype));
    if (x->rank != 3 || s->rank != 3 || n->rank != 2 || x->dim[0] != 1 || s->dim[0] != 1 ||
        x->dim[1] != s->dim[1] || x->dim[1] != n->dim[0] || x->dim[2] < 4 || n->dim[1] != 4)
        return TW_SHAPE_FAIL(call,
                             "boxes [1, N, 4], scores [1, N, C] and anchors [N, 4] must agree");
    if (s->dim[2] != a->classes && s->dim[2] != a->classes + 1)
        return TW_SHAPE_FAIL(call, "%d scores a box for %d classes", (int)s->dim[2],
                             (int)a->classes);
    if (most > TW_DETECTIONS_MOST || tw_detections_scratch(a, x->dim[1]) > INT32_MAX)
        return TW_SHAPE_UNSUPPORTED(call, "%lld detections of %d boxes; at most %d are supported",
                                    (long long)most, (int)x->dim[1], TW_DETECTIONS_MOST);
    const int32_t dim[3] = {1, (int32_t)most, 4};
    for (int i = 0; i < call->out_count; i++)
        call->out[i] = tw_shape_of(TW_F32, i == 0 ? 3 : i == 3 ? 1 : 2, dim);
    return true;
}

static bool lower(const tw_node *node, tw_arena *arena, tw_lowering *lowering, tw_diag *diag)
{
    (void)arena;
    if (node->clamp.low > -INFINITY || node->clamp.high < INFINITY)
        return tw_fail(diag, TW_CODE_UNSUPPORTED, node->name, node->op->name,
                       "it has no clamp; put Clip behind it");
    lowering->kernel = node->op->kernels[0];
    lowering->scratch =
        (uint32_t)tw_detections_scratch(node->attributes, node->in[0]->shape.dim[1]);
    return true;
}

/* clang-format off */
#define SAMPLE(title, scores, attributes)                                                          \
    "graph \"" title "\" {\n  const %x : f32[1,7,4] = random 1 -1 1\n"                             \
    "  const %s : f32[1,7," scores "] = random 2 0 1\n  const %a : f32[7,4] = random 3 0.2 0.9\n"  \
    "  %b : f32[1,4,4], %c : f32[1,4], %p : f32[1,4], %n : f32[1] = Detections (%x, %s, %a) {"     \
    attributes ", overlap=0.4}\n  output %b\n  output %c\n  output %p\n  output %n\n}\n"
static const char samples[] =
    SAMPLE("fast", "3", "most=4, classes=2, threshold=0.3, y_scale=10, x_scale=10, h_scale=5, w_scale=5")
    SAMPLE("fast, two classes", "3", "most=2, classes=3, per_box=2")
    SAMPLE("regular", "3", "most=4, classes=2, regular=1, per_class=2, threshold=0.2");
/* clang-format on */

const tw_opdef tw_op_detections = {
    TW_OP_LEDGER(detections),
    TW_OP_ATTRIBUTES(detections),
    .formula = "boxes, classes, scores and number of what no better box overlaps",
    .min_in = 3,
    .max_in = 3,
    .min_out = 1,
    .max_out = 4,
    .shape = shape,
    .rows = tw_rows_at_once,
    .final_output = tw_final_but_first,
    .lower = lower,
    .limits = "f32; one image; up to 65536 detections",
    .samples = samples,
    .onnx = "",
};
