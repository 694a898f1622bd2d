/* TFLite_Detection_PostProcess: quantised operands become floats in front of it. */
#include "import/tflite/tflite.h"
#include "ops/detections.h"

static tw_value *real(tw_tfl_node *n, int i)
{
    tw_value *x = tw_tfl_in(n, i);
    if (!x || x->quant.count == 0)
        return x;
    return tw_build1(n->b, "Dequantize", x, NULL);
}

bool tw_tfl_op_detection_postprocess(tw_tfl_node *n)
{
    const tw_detections_attributes a = {.most = tw_tfl_option(n, "max_detections"),
                                        .classes = tw_tfl_option(n, "num_classes"),
                                        .per_box = tw_tfl_option(n, "max_classes_per_detection"),
                                        .per_class =
                                            tw_tfl_option_or(n, "detections_per_class", 100),
                                        .regular = tw_tfl_option_or(n, "use_regular_nms", 0),
                                        .threshold = tw_tfl_real_option(n, "nms_score_threshold"),
                                        .overlap = tw_tfl_real_option(n, "nms_iou_threshold"),
                                        .y_scale = tw_tfl_real_option(n, "y_scale"),
                                        .x_scale = tw_tfl_real_option(n, "x_scale"),
                                        .h_scale = tw_tfl_real_option(n, "h_scale"),
                                        .w_scale = tw_tfl_real_option(n, "w_scale")};
    tw_value *in[] = {real(n, 0), real(n, 1), real(n, 2)};
    const tw_opdef *op = tw_op_by_name("Detections");
    if (!in[0] || !in[1] || !in[2] || !op || n->b->diag->code != TW_CODE_OK)
        return false;
    tw_node *node = tw_graph_node(n->b->graph, op, n->b->node, in, 3, 4, NULL, &a, n->b->diag);
    for (int i = 0; node && i < 4; i++)
        if ((uint32_t)i < n->operator->out_count && tw_tfl_wants(n, i) &&
            !tw_tfl_set(n, i, node->out[i]))
            return false;
    return node != NULL;
}
