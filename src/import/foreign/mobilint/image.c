/* Windows over images: convolution, pooling; padding. */
#include <string.h>

#include "import/foreign/mobilint/mobilint.h"

tw_value *tw_mobilint_image(tw_foreign_node *n)
{
    if (!tw_foreign_rank(n, n->in[0], 4))
        return NULL;
    return tw_foreign_flag(n, "channel_last") ? n->in[0] : tw_build_channels_last(n->b, n->in[0]);
}

bool tw_mobilint_image_result(tw_foreign_node *n, tw_value *y)
{
    return tw_foreign_result(
        n, tw_foreign_flag(n, "channel_last") ? y : tw_build_channels_first(n->b, y));
}

/* --- pads --------------------------------------------------------------------------------------- */

/* Rows, then columns. */
typedef struct tw_pads {
    int64_t begin[2], end[2];
} tw_pads;

static tw_pads pads_of(const int64_t *list)
{
    return (tw_pads){{list[0], list[1]}, {list[2], list[3]}};
}

/* A list of four: begins, then ends. count 0: absent. */
static bool read_pad_list(tw_foreign_node *n, const char *name, tw_foreign_list *list)
{
    *list = tw_foreign_ints(n, name);
    if (list->count != 0 && list->count != 4)
        return TW_FOREIGN_FAIL(n, "the attribute %s has %d entries, not 4", name, list->count);
    for (int i = 0; i < list->count; i++)
        if (list->v[i] < 0)
            return TW_FOREIGN_FAIL(n, "the attribute %s has the entry %lld; pads are 0 or more",
                                   name, (long long)list->v[i]);
    return true;
}

static bool read_pads(tw_foreign_node *n, tw_pads *p)
{
    tw_foreign_list list;
    *p = (tw_pads){{tw_foreign_int(n, "north_padding"), tw_foreign_int(n, "west_padding")},
                   {tw_foreign_int(n, "south_padding"), tw_foreign_int(n, "east_padding")}};
    if (!read_pad_list(n, "padding_list", &list))
        return false;
    if (list.count == 0)
        return true;
    tw_pads other = pads_of(list.v);
    return memcmp(p, &other, sizeof other) == 0 ||
           TW_FOREIGN_FAIL(n, "the attribute padding_list says other than north_padding, "
                              "west_padding, south_padding, east_padding");
}

/* --- windows ------------------------------------------------------------------------------------ */

typedef struct tw_window_of {
    int64_t kernel[2], stride[2], dilation[2];
    tw_pads pad;
} tw_window_of;

static void read_window(const tw_foreign_node *n, tw_window_of *w)
{
    *w = (tw_window_of){
        .kernel = {tw_foreign_int(n, "h_kernel"), tw_foreign_int(n, "w_kernel")},
        .stride = {tw_foreign_int(n, "h_stride"), tw_foreign_int(n, "w_stride")},
        .dilation = {tw_foreign_int(n, "h_dilation"), tw_foreign_int(n, "w_dilation")}};
}

/* What the attributes say of the channels, the input and the weights [out, h, w, in / groups] agree. */
static bool check_channels(tw_foreign_node *n, const tw_value *x, const tw_value *w)
{
    const int64_t in = tw_foreign_int(n, "in_channels"), out = tw_foreign_int(n, "out_channels");
    const int64_t groups = tw_foreign_int(n, "group_number");
    if (in % groups != 0 || out % groups != 0)
        return TW_FOREIGN_FAIL(n,
                               "the attribute group_number %lld does not divide in_channels %lld "
                               "and out_channels %lld",
                               (long long)groups, (long long)in, (long long)out);
    if (x->shape.dim[3] != in)
        return TW_FOREIGN_FAIL(n, "the attribute in_channels is %lld, the input has %d channels",
                               (long long)in, (int)x->shape.dim[3]);
    const int64_t want[4] = {out, tw_foreign_int(n, "h_kernel"), tw_foreign_int(n, "w_kernel"),
                             in / groups};
    bool fit = w->shape.rank == 4;
    for (int k = 0; fit && k < 4; k++)
        fit = w->shape.dim[k] == want[k];
    return fit || TW_FOREIGN_FAIL(n,
                                  "the attribute weight must be [%lld,%lld,%lld,%lld] by "
                                  "out_channels, h_kernel, w_kernel, in_channels / group_number",
                                  (long long)want[0], (long long)want[1], (long long)want[2],
                                  (long long)want[3]);
}

/* output_pad null: a convolution. */
static bool convolve(tw_foreign_node *n, const tw_window_of *w, const int64_t *output_pad)
{
    tw_value *x = tw_mobilint_image(n), *weight = tw_foreign_weight(n, "weight");
    if (!x || !weight || !check_channels(n, x, weight))
        return false;
    tw_value *in[] = {x, weight, tw_foreign_weight(n, "bias")};
    const int count = in[2] ? 3 : 2;
    tw_setting settings[] = {tw_set_ints("stride", 2, w->stride),
                             tw_set_ints("dilation", 2, w->dilation),
                             tw_set_ints("pad_begin", 2, w->pad.begin),
                             tw_set_ints("pad_end", 2, w->pad.end),
                             tw_set_int("group", tw_foreign_int(n, "group_number")),
                             {.name = NULL},
                             {.name = NULL}};
    if (output_pad)
        settings[5] = tw_set_ints("output_pad", 2, output_pad);
    return tw_mobilint_image_result(
        n, tw_build(n->b, output_pad ? "ConvTranspose" : "Conv", in, count, settings));
}

bool tw_mobilint_group_convolution(tw_foreign_node *n)
{
    tw_window_of w;
    read_window(n, &w);
    return read_pads(n, &w.pad) && convolve(n, &w, NULL);
}

bool tw_mobilint_convolution(tw_foreign_node *n)
{
    if (tw_foreign_int(n, "group_number") != 1)
        return TW_FOREIGN_FAIL(n, "the attribute group_number must be 1; GroupConvolution has "
                                  "groups");
    return tw_mobilint_group_convolution(n);
}

bool tw_mobilint_depthwise_convolution(tw_foreign_node *n)
{
    if (tw_foreign_int(n, "group_number") != tw_foreign_int(n, "in_channels"))
        return TW_FOREIGN_FAIL(n, "the attribute group_number must be in_channels");
    return tw_mobilint_group_convolution(n);
}

/* The original framework's pads count where they are given; else the others are those of ONNX's
 * ConvTranspose, which is also how the IR counts. */
bool tw_mobilint_transpose_convolution(tw_foreign_node *n)
{
    tw_window_of w;
    tw_foreign_list list, out = tw_foreign_ints(n, "og_out_padding_list");
    int64_t output_pad[2] = {0, 0};
    read_window(n, &w);
    if (!read_pads(n, &w.pad) || !read_pad_list(n, "og_padding_list", &list))
        return false;
    if (list.count)
        w.pad = pads_of(list.v);
    if (out.count != 0 && out.count != 2)
        return TW_FOREIGN_FAIL(n, "the attribute og_out_padding_list has %d entries, not 2",
                               out.count);
    for (int i = 0; i < out.count; i++) {
        output_pad[i] = out.v[i];
        if (out.v[i] < 0)
            return TW_FOREIGN_FAIL(n, "the attribute og_out_padding_list has a negative entry");
    }
    return convolve(n, &w, output_pad);
}

/* --- pooling ------------------------------------------------------------------------------------ */

static bool is_one_of(const char *word, const char *first, const char *second)
{
    return strcmp(word, first) == 0 || strcmp(word, second) == 0;
}

/* Without pads the mode says them: so many that there is an output for each stride. */
static bool read_pool_pads(tw_foreign_node *n, const tw_value *x, tw_window_of *w)
{
    const char *mode = tw_foreign_text(n, "pad_mode");
    const bool given = tw_foreign_has(n, "north_padding") || tw_foreign_has(n, "west_padding") ||
                       tw_foreign_has(n, "south_padding") || tw_foreign_has(n, "east_padding");
    const bool same = is_one_of(mode, "same_upper", "same_lower");
    if (!same && !is_one_of(mode, "constant", "valid") && strcmp(mode, "notset") != 0)
        return TW_FOREIGN_FAIL(n,
                               "the attribute pad_mode is '%.40s'; constant, valid, notset, "
                               "same_upper and same_lower are possible",
                               mode);
    if (given || !same)
        return read_pads(n, &w->pad);
    for (int i = 0; i < 2; i++) {
        const int64_t in = x->shape.dim[1 + i], out = (in + w->stride[i] - 1) / w->stride[i];
        int64_t pad = (out - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1 - in;
        pad = pad < 0 ? 0 : pad;
        w->pad.begin[i] = strcmp(mode, "same_upper") == 0 ? pad / 2 : pad - pad / 2;
        w->pad.end[i] = pad - w->pad.begin[i];
    }
    return true;
}

bool tw_mobilint_pooling(tw_foreign_node *n)
{
    const char *type = tw_foreign_text(n, "pool_type");
    const bool average = is_one_of(type, "avg", "average");
    tw_value *x = tw_mobilint_image(n);
    tw_window_of w;
    if (!average && strcmp(type, "max") != 0)
        return TW_FOREIGN_FAIL(n,
                               "the attribute pool_type is '%.40s'; max, avg and average are "
                               "possible",
                               type);
    if (!x)
        return false;
    read_window(n, &w);
    if (!read_pool_pads(n, x, &w))
        return false;
    tw_setting settings[] = {tw_set_ints("kernel", 2, w.kernel),
                             tw_set_ints("stride", 2, w.stride),
                             tw_set_ints("dilation", 2, w.dilation),
                             tw_set_ints("pad_begin", 2, w.pad.begin),
                             tw_set_ints("pad_end", 2, w.pad.end),
                             tw_set_int("ceil", tw_foreign_flag(n, "is_ceil_mode")),
                             {.name = NULL},
                             {.name = NULL}};
    if (average)
        settings[6] = tw_set_int("count_include_pad", tw_foreign_flag(n, "is_include_pad"));
    return tw_mobilint_image_result(
        n, tw_build1(n->b, average ? "AveragePool" : "MaxPool", x, settings));
}

bool tw_mobilint_global_average_pooling(tw_foreign_node *n)
{
    tw_value *x = n->in[0];
    const bool last = tw_foreign_flag(n, "channel_last");
    const int64_t axes[] = {last ? 1 : 2, last ? 2 : 3};
    if (!tw_foreign_rank(n, x, 4))
        return false;
    return tw_foreign_result(
        n, tw_build1(n->b, "ReduceMean", x, TW_SETTINGS(tw_set_ints("axes", 2, axes))));
}

/* --- padding ------------------------------------------------------------------------------------ */

static const char *const compass[] = {"north_padding", "west_padding", "south_padding",
                                      "east_padding"};

/* Of each axis, from the list or (-1: not given) from the four directions of the image. */
static bool read_all_pads(tw_foreign_node *n, int rank, int64_t *before, int64_t *after)
{
    const tw_foreign_list list = tw_foreign_ints(n, "padding_list");
    bool given = false;
    for (int i = 0; i < 4; i++) {
        const int64_t pad = tw_foreign_int(n, compass[i]);
        if (pad < -1)
            return TW_FOREIGN_FAIL(n, "the attribute %s is %lld; pads are 0 or more", compass[i],
                                   (long long)pad);
        given = given || pad >= 0;
        *(i < 2 ? &before[1 + i] : &after[i - 1]) = pad > 0 ? pad : 0;
    }
    if (given && !tw_foreign_rank(n, n->in[0], 4))
        return false;
    if (!tw_foreign_has(n, "padding_list") || list.count == 0)
        return given || TW_FOREIGN_FAIL(n, "the attribute padding_list is missing, and so are the "
                                           "pads of the four directions");
    if (list.count != 2 * rank)
        return TW_FOREIGN_FAIL(n, "the attribute padding_list has %d entries, not %d", list.count,
                               2 * rank);
    for (int i = 0; i < list.count; i++)
        if (list.v[i] < -INT32_MAX || list.v[i] > INT32_MAX)
            return TW_FOREIGN_FAIL(n, "the attribute padding_list has the entry %lld",
                                   (long long)list.v[i]);
    for (int k = 0; k < rank; k++) {
        const bool differs = before[k] != list.v[k] || after[k] != list.v[rank + k];
        if (given && differs)
            return TW_FOREIGN_FAIL(n, "the attribute padding_list says other than the pads of the "
                                      "four directions");
        before[k] = list.v[k];
        after[k] = list.v[rank + k];
    }
    return true;
}

/* Take away what negative pads name, and leave none. */
static tw_value *cropped(tw_foreign_node *n, int64_t *before, int64_t *after)
{
    tw_value *x = n->in[0];
    for (int k = 0; x && k < n->in[0]->shape.rank; k++) {
        const int64_t extent = x->shape.dim[k];
        const int64_t begin = before[k] < 0 ? -before[k] : 0, end = after[k] < 0 ? -after[k] : 0;
        if (begin > extent || end > extent - begin) {
            TW_FOREIGN_FAIL(n, "the attribute padding_list takes more than axis %d has", k);
            return NULL;
        }
        if (begin || end)
            x = tw_build_slice(n->b, x, k, begin, extent - begin - end, 1);
        before[k] = before[k] < 0 ? 0 : before[k];
        after[k] = after[k] < 0 ? 0 : after[k];
    }
    return x;
}

bool tw_mobilint_pad(tw_foreign_node *n)
{
    static const char *const modes[][2] = {{"constant", "constant"},   {"reflect", "reflect"},
                                           {"edge", "edge"},           {"replicate", "edge"},
                                           {"symmetric", "symmetric"}, {"wrap", "wrap"},
                                           {"circular", "wrap"}};
    const char *word = tw_foreign_text(n, "pad_mode"), *mode = NULL;
    const int rank = n->in[0]->shape.rank;
    int64_t before[TW_MAX_RANK + 4] = {0}, after[TW_MAX_RANK + 4] = {0};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i][0], word) == 0)
            mode = modes[i][1];
    if (!mode)
        return TW_FOREIGN_FAIL(n,
                               "the attribute pad_mode is '%.40s'; constant, reflect, edge, "
                               "replicate, symmetric, wrap and circular are possible",
                               word);
    if (!read_all_pads(n, rank, before, after))
        return false;
    for (int k = 0; k < rank; k++)
        if ((before[k] < 0 || after[k] < 0) && strcmp(mode, "constant") != 0)
            return TW_FOREIGN_UNSUPPORTED(n,
                                          "the attribute padding_list has negative entries in "
                                          "mode %s",
                                          mode);
    tw_value *x = cropped(n, before, after);
    return tw_foreign_result(
        n, tw_build1(n->b, "Pad", x,
                     TW_SETTINGS(tw_set_ints("before", rank, before),
                                 tw_set_ints("after", rank, after), tw_set_word("mode", mode),
                                 tw_set_float("value", (float)tw_foreign_float(n, "constant")))));
}
