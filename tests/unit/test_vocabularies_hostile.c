/* Operators of the published vocabularies that are wrong: refused, with node, operator and attribute
 * named. And every number of every case replaced by numbers that hardly make sense: accepted or
 * refused in good order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>

#include "base/file.h"
#include "import/foreign/foreign.h"
#include "import/text/text.h"

/* ---- what must be refused, and how ---- */

#define CONVOLUTION                                                                                \
    "in_channels=2, out_channels=3, h_kernel=1, w_kernel=1, w_stride=1, h_dilation=1, "            \
    "w_dilation=1, west_padding=0, east_padding=0, south_padding=0, weight=%w"
#define RECURRENCE "W=%w, R=%w, input_mask=i, output_mask=o, lstm_group=g"

static const struct {
    const char
        *node; /* on %x : f32[1,4,4,2] and constants %w : f32[3,1,1,2], %r of random numbers */
    const char *attribute; /* that the message names; null: `message` alone */
    const char *message;
    tw_code code;
} wrong[] = {
    {"mobilint.Nothing (%x)", NULL, "no such operator", TW_CODE_UNSUPPORTED},
    {"mobilint.Relu (%x, %x)", NULL, "2 inputs", TW_CODE_FAILED},
    {"mobilint.Relu (_)", NULL, "input 0 is missing", TW_CODE_FAILED},
    {"mobilint.Relu (%x) {alpha=1}", "alpha", "no attribute", TW_CODE_UNSUPPORTED},
    {"mobilint.Celu (%x)", "alpha", "missing", TW_CODE_FAILED},
    {"mobilint.Celu (%x) {alpha=1, alpha=2}", "alpha", "twice", TW_CODE_FAILED},
    {"mobilint.Celu (%x) {alpha=word}", "alpha", "a number", TW_CODE_FAILED},
    {"mobilint.Celu (%x) {alpha=[1, 2]}", "alpha", "one value", TW_CODE_FAILED},
    {"mobilint.Celu (%x) {alpha=nan}", "alpha", "a number", TW_CODE_FAILED},
    {"mobilint.Celu (%x) {alpha=%w}", "alpha", "not a tensor", TW_CODE_FAILED},
    {"mobilint.Gelu (%x) {approximate=2}", "approximate", "true or false", TW_CODE_FAILED},
    {"mobilint.AddingConstant (%x) {constant=%x}", "constant", "must be a constant",
     TW_CODE_UNSUPPORTED},
    {"mobilint.AddingConstant (%x) {constant=word}", "constant", "a constant", TW_CODE_FAILED},
    {"mobilint.AddPartial (%x, %r) {is_input0_larger=false}", "is_input0_larger", "does not fit",
     TW_CODE_FAILED},
    {"mobilint.Convolution (%x) {h_stride=0, north_padding=0, group_number=1, " CONVOLUTION "}",
     "h_stride", "from 1", TW_CODE_FAILED},
    {"mobilint.Convolution (%x) {h_stride=1, north_padding=-1, group_number=1, " CONVOLUTION "}",
     "north_padding", "from 0", TW_CODE_FAILED},
    {"mobilint.Convolution (%x) {h_stride=1.5, north_padding=0, group_number=1, " CONVOLUTION "}",
     "h_stride", "whole numbers", TW_CODE_FAILED},
    {"mobilint.Convolution (%x) {h_stride=1, north_padding=0, group_number=2, " CONVOLUTION "}",
     "group_number", "must be 1", TW_CODE_FAILED},
    {"mobilint.DepthwiseConvolution (%x) {h_stride=1, north_padding=0, group_number=1, " CONVOLUTION
     "}",
     "group_number", "in_channels", TW_CODE_FAILED},
    {"mobilint.GroupConvolution (%x) {h_stride=1, north_padding=0, group_number=2, " CONVOLUTION
     "}",
     "group_number", "does not divide", TW_CODE_FAILED},
    {"mobilint.Convolution (%x) {h_stride=1, north_padding=2000000000, group_number=1, " CONVOLUTION
     "}",
     "north_padding=2000000000", "between", TW_CODE_FAILED},
    {"mobilint.Convolution (%x) {h_stride=1, north_padding=0, padding_list=[1,0,0,0], "
     "group_number=1, " CONVOLUTION "}",
     "padding_list", "other than", TW_CODE_FAILED},
    {"mobilint.Convolution (%x) {h_stride=1, north_padding=0, padding_list=[1,0,0], "
     "group_number=1, " CONVOLUTION "}",
     "padding_list", "3 entries", TW_CODE_FAILED},
    {"mobilint.Pooling (%x) {h_kernel=2, w_kernel=2, h_stride=1, w_stride=1, pool_type=median, "
     "pad_mode=valid}",
     "pool_type", "median", TW_CODE_FAILED},
    {"mobilint.Pooling (%x) {h_kernel=2, w_kernel=2, h_stride=1, w_stride=1, pool_type=max, "
     "pad_mode=odd}",
     "pad_mode", "odd", TW_CODE_FAILED},
    {"mobilint.Pad (%x) {pad_mode=constant}", "padding_list", "missing", TW_CODE_FAILED},
    {"mobilint.Pad (%x) {pad_mode=constant, north_padding=-2}", "north_padding", "0 or more",
     TW_CODE_FAILED},
    {"mobilint.Pad (%x) {pad_mode=reflect, padding_list=[0,-1,0,0,0,0,0,0]}", "padding_list",
     "negative", TW_CODE_UNSUPPORTED},
    {"mobilint.Pad (%x) {pad_mode=constant, padding_list=[0,-3,0,0,0,-2,0,0]}", "padding_list",
     "more than", TW_CODE_FAILED},
    {"mobilint.Pad (%x) {pad_mode=constant, padding_list=[0,2147483647,0,0,0,2147483647,0,0]}",
     "padding_list", "at most", TW_CODE_UNSUPPORTED},
    {"mobilint.Softmax (%x) {axis=4}", "axis", "4 of 4", TW_CODE_FAILED},
    {"mobilint.Transpose (%x) {transpose_axes=[0,1,2]}", "transpose_axes", "3 entries",
     TW_CODE_FAILED},
    {"mobilint.Transpose (%x) {transpose_axes=[0,1,2,2]}", "transpose_axes", "twice",
     TW_CODE_FAILED},
    {"mobilint.ReduceSum (%x) {keep_dims=true, reduce_axes=[-5], noop_with_empty_axes=0}",
     "reduce_axes", "-5 of 4", TW_CODE_FAILED},
    {"mobilint.Reshape (%x)", "new_shape", "missing", TW_CODE_UNSUPPORTED},
    {"mobilint.Reshape (%x) {new_shape=[-1,-1]}", "new_shape", "again", TW_CODE_FAILED},
    {"mobilint.Reshape (%x) {new_shape=[65536,65536]}", "new_shape", "elements", TW_CODE_FAILED},
    {"mobilint.Slice (%x) {axis=[1], start=[0], end=[2], step=[0]}", "step", "0", TW_CODE_FAILED},
    {"mobilint.Slice (%x) {axis=[1,1], start=[0,0], end=[2,2]}", "axis", "twice", TW_CODE_FAILED},
    {"mobilint.Resize (%x) {scales=[1,-1,1,1]}", "scales", "-1", TW_CODE_FAILED},
    {"mobilint.Resize (%x) {scales=[1,1,1,1], sizes=[1,4,4,2]}", "scales", "one of",
     TW_CODE_FAILED},
    {"mobilint.Resize (%x) {sizes=[1,0,4,2]}", "sizes", "0", TW_CODE_FAILED},
    {"mobilint.Resize (%x) {sizes=[1,4,4,2], resize_mode=odd}", "resize_mode", "odd",
     TW_CODE_FAILED},
    {"mobilint.GroupNormalization (%x) {num_groups=3, scale=1, epsilon=1}", "num_groups",
     "does not divide", TW_CODE_FAILED},
    {"mobilint.GroupNormalization (%x) {num_groups=1, scale=1, epsilon=1}", "scale", "1 elements",
     TW_CODE_FAILED},
    {"mobilint.LayerNormalization (%x) {scale=[1,1], epsilon=-1}", "epsilon", "negative",
     TW_CODE_FAILED},
    {"mobilint.LayerNormalization (%x) {scale=[1,1], epsilon=[1,1]}", "epsilon", "one number",
     TW_CODE_FAILED},
    {"mobilint.LayerNormalization (%x) {scale=1, epsilon=1, normalized_shape=[3]}",
     "normalized_shape", "3", TW_CODE_FAILED},
    {"mobilint.InstanceNormalization (%x) {scale=1, epsilon=1, num_groups=2, group_order=2}",
     "group_order", "2", TW_CODE_FAILED},
    {"mobilint.HeaderView (%x) {num_heads=3}", "num_heads", "does not divide", TW_CODE_FAILED},
    {"mobilint.HeaderView (%x) {num_heads=0}", "num_heads", "does not divide", TW_CODE_FAILED},
    {"mobilint.HeaderView (%x) {num_heads=2, batch_order=2}", "batch_order", "2", TW_CODE_FAILED},
    {"mobilint.HeaderView (%x) {num_heads=2, view_shape=[1,8,4,2]}", "view_shape", "2",
     TW_CODE_FAILED},
    {"mobilint.OrderedPatchify (%x) {h_kernel=3, w_kernel=2}", "h_kernel", "do not divide",
     TW_CODE_FAILED},
    {"mobilint.OrderedPatchify (%x) {h_kernel=2, w_kernel=2, order=3}", "order", "3",
     TW_CODE_FAILED},
    {"mobilint.StaggeredPadding (%x) {axis=0}", "axis", "rows in front", TW_CODE_FAILED},
    {"mobilint.MatMul (%x)", "constant", "missing", TW_CODE_FAILED},
    {"mobilint.MatMul (%x, %x) {repeat=[2,2]}", "repeat", "[2, 2]", TW_CODE_FAILED},
    /* The document's own example: neither operand is transposed, so 64 columns meet 52 rows. */
    {"mobilint.MatMul (%q, %k) {repeat=[0,4]}", NULL, "64 columns", TW_CODE_FAILED},
    {"mobilint.LSTM (%r) {hidden_size=2, " RECURRENCE ", direction=up}", NULL, "direction 'up'",
     TW_CODE_FAILED},
    {"mobilint.LSTM (%r) {hidden_size=2, W=%w, R=%w, input_mask=si, output_mask=o, lstm_group=g}",
     "input_mask", "si", TW_CODE_FAILED},
    {"mobilint.LSTM (%r) {hidden_size=2, W=%w, R=%w, input_mask=i, output_mask=oh, lstm_group=g}",
     "output_mask", "oh", TW_CODE_FAILED},
    {"mobilint.StatefulKVCacheWrapper (%x) {cache_name=k, max_cache_len=3}", "max_cache_len",
     "too many", TW_CODE_FAILED},
    {"mobilint.StatefulAttentionMaskWrapper (%x) {past_seqlen=5}", "past_seqlen", "columns",
     TW_CODE_FAILED},
    {"mobilint.StatefulAttentionMaskWrapper (%x) {mask_type=odd}", "mask_type", "odd",
     TW_CODE_FAILED},
    {"mobilint.StatefulRoPEWrapper (%x, %x, %x) {rope_type=2}", "rope_type", "2", TW_CODE_FAILED},
    {"mobilint.DeviceBridge (%x) {squeeze_axes=[1]}", "squeeze_axes", "extent 4", TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_size=6, buffer_dim=1, mode=1}", "buffer_size", "no multiple",
     TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_size=8, buffer_dim=4, mode=1}", "buffer_dim", "4",
     TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_size=8, buffer_dim=1, mode=1, stride=1}", "stride",
     "multiples of 4", TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_size=8, buffer_dim=1, mode=3}", "mode", "3", TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_size=8, buffer_dim=1, mode=1, buffer_padding=9}",
     "buffer_padding", "9", TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x, %x) {buffer_size=8, buffer_dim=1, mode=1}", NULL, "one boolean",
     TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_size=8, buffer_dim=1, mode=1, stride=12}", "stride",
     "multiples of 4 up to 8", TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_size=8, buffer_dim=1, mode=1, stride=6}", "stride",
     "multiples of 4", TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_size=0, buffer_dim=1}", "buffer_size", "from 1", TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_size=8, buffer_dim=-1}", "buffer_dim", "from 0", TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_size=8, buffer_dim=1, buffer_padding=-1}", "buffer_padding",
     "from 0", TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_size=8}", "buffer_dim", "missing", TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_dim=1}", "buffer_size", "missing", TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_size=2147483647, buffer_dim=2}", "buffer_size", "no multiple",
     TW_CODE_FAILED},
    {"qti_aisw.Buffer (%x) {buffer_size=2147483644, buffer_dim=1}", "buffer_size", "2147483644",
     TW_CODE_UNSUPPORTED},
    {"qti_aisw.MaskedSoftmax (%x, %m)", "mode", "3 columns, not 2", TW_CODE_FAILED},
    {"qti_aisw.MaskedSoftmax (%x, %m) {mode=1}", NULL, "as many columns", TW_CODE_FAILED},
    {"qti_aisw.MaskedSoftmax (%x, %m) {mode=2}", "mode", "0 and 1", TW_CODE_FAILED},
    {"qti_aisw.MaskedSoftmax (%s, %m) {mode=1}", NULL, "come to 7, there are 4", TW_CODE_FAILED},
    {"qti_aisw.MaskedSoftmax (%s, %n) {mode=1}", NULL, "negative length", TW_CODE_FAILED},
    {"qti_aisw.StatefulGru (%t, %u, %v) {hidden_size=3}", "hidden_size", "3", TW_CODE_FAILED},
    {"qti_aisw.StatefulGru (%t, %u, %v) {hidden_size=2, clip=-1}", "clip", "-1", TW_CODE_FAILED},
    {"qti_aisw.StatefulGru (%t, %u, %v) {hidden_size=2, linear_before_reset=2}",
     "linear_before_reset", "0 and 1", TW_CODE_FAILED},
    {"qti_aisw.StatefulGru (%t, %u, %v) {hidden_size=2, direction=bidirectional}", "direction", "",
     TW_CODE_FAILED},
    {"qti_aisw.StatefulGru (%t, %u, %v, _, _, _, %x) {hidden_size=2}", NULL, "one boolean",
     TW_CODE_FAILED},
    {"qti_aisw.StatefulGru (%t, %u, %v, _, %t) {hidden_size=2}", NULL, "INT32", TW_CODE_FAILED},
    {"qti_aisw.StatefulGru (%t, %u, %v) {hidden_size=2, input_forget=1}", "input_forget",
     "no attribute", TW_CODE_UNSUPPORTED},
    {"qti_aisw.StatefulLstm (%t, %u, %v) {hidden_size=2, input_forget=2}", "input_forget",
     "0 and 1", TW_CODE_FAILED},
    {"qti_aisw.StatefulLstm (%t, %u, %v) {hidden_size=2}", "hidden_size", "", TW_CODE_FAILED},
    {"qti_aisw.MaskedSoftmax (%x, %x)", NULL, "INT32", TW_CODE_FAILED},
    {"qti_aisw.StatefulGRU (%x, %w, %w) {hidden_size=2}", NULL, "rank 3", TW_CODE_FAILED},
    {"tigris.Conv (%x, %w) {stride=[0,1]}", NULL, "stride", TW_CODE_FAILED},
    {"tigris.Conv (%x, %w) {group=0}", "group", "from 1", TW_CODE_FAILED},
    {"tigris.Conv (%x, %w) {group=2}", NULL, "group", TW_CODE_FAILED},
    {"tigris.Pad (%x) {before=[0,-1,0,0]}", NULL, "before", TW_CODE_FAILED},
    {"tigris.Split (%x) {axis=1, split=[3]}", "split", "3", TW_CODE_FAILED},
    {"tigris.StridedSlice (%x) {begin=[0,0,0,0], end=[1,1,1,1], strides=[1,0,1,1]}", "strides", "0",
     TW_CODE_FAILED},
    {"tigris.Unsqueeze (%x) {axes=[9]}", "axes", "9", TW_CODE_FAILED},
    {"tigris.Squeeze (%x) {axes=[1]}", "axes", "extent 4", TW_CODE_FAILED},
    {"tigris.MirrorPad (%x) {mode=constant}", "mode", "constant", TW_CODE_FAILED},
    {"tigris.Cast (%x)", NULL, "bool", TW_CODE_UNSUPPORTED},
};

static tw_graph *parse(tw_arena *arena, const char *text, tw_diag *diag)
{
    *diag = (tw_diag){0};
    return tw_text_parse(arena, text, strlen(text), "t", diag);
}

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tw_arena *arena = tw_arena_new();
        tw_diag diag;
        char shown[2048];
        const char *text =
            tw_format(arena,
                      "graph \"g\" {\n  input %%x : f32[1,4,4,2]\n  input %%r : f32[1,1,2,2]\n"
                      "  input %%q : f32[1,8,52,64]\n  input %%k : f32[1,32,52,64]\n"
                      "  input %%s : f32[1,1,4,4]\n  const %%m : s32[1,3] = [3, 0, 4]\n"
                      "  const %%n : s32[1,2] = [-1, 2]\n  input %%t : f32[3,1,2]\n"
                      "  const %%u : f32[1,6,2] = random 2 -1 1\n"
                      "  const %%v : f32[1,6,2] = random 3 -1 1\n"
                      "  const %%w : f32[3,1,1,2] = random 1 -1 1\n  %%y = %s\n  output %%y\n}\n",
                      wrong[i].node);
        if (parse(arena, text, &diag))
            fail_msg("%s is accepted", wrong[i].node);
        tw_diag_text(&diag, shown, sizeof shown);
        const char *attribute = wrong[i].attribute ? wrong[i].attribute : "";
        if (diag.code != wrong[i].code || !strstr(shown, wrong[i].message) ||
            !strstr(diag.message, attribute) || strcmp(diag.node, "y") != 0 ||
            strncmp(diag.operator_name, wrong[i].node, strlen(diag.operator_name)) != 0 ||
            !strchr(diag.operator_name, '.'))
            fail_msg("%s is refused (%d) with: %s", wrong[i].node, (int)diag.code, shown);
        tw_arena_free(arena);
    }
}

/* ---- examples of the documents ---- */

static const char *const examples[] = {
    "  input %x : f32[1,192,192,64]\n"
    "  %a : f32[1,256,144,64] = mobilint.OrderedPatchify (%x) {h_kernel=12, w_kernel=12}\n"
    "  %b : f32[1,144,256,64] = mobilint.OrderedPatchify (%x) {h_kernel=12, w_kernel=12, order=1}\n"
    "  %c : f32[1,192,192,64] = mobilint.OrderedPatchify (%b) {h_kernel=12, w_kernel=16, order=2}\n"
    "  %d : f32[1,192,192,64] = mobilint.OrderedPatchify (%a) {h_kernel=16, w_kernel=12}\n"
    "  output %c\n  output %d\n",
    /* with the second operand transposed */
    "  input %q : f32[1,8,52,64]\n  input %k : f32[1,32,64,52]\n"
    "  %y : f32[1,32,52,52] = mobilint.MatMul (%q, %k) {repeat=[0,4]}\n  output %y\n",
    "  input %x : f32[1,2,5,12]\n"
    "  %v : f32[1,8,5,3] = mobilint.HeaderView (%x) {num_heads=4}\n"
    "  %y : f32[1,2,5,12] = mobilint.HeaderViewRevert (%v) {num_heads=4}\n  output %y\n",
    "  input %x : f32[1,1,52,6]\n"
    "  %o = mobilint.InstanceNormalization (%x) {num_groups=2, group_order=1, epsilon=0.001, "
    "scale=[1,2,3]}\n  output %o\n",
};

static void test_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        tw_arena *arena = tw_arena_new();
        tw_diag diag;
        char shown[2048];
        if (!parse(arena, tw_format(arena, "graph \"g\" {\n%s}\n", examples[i]), &diag)) {
            tw_diag_text(&diag, shown, sizeof shown);
            fail_msg("%s", shown);
        }
        tw_arena_free(arena);
    }
}

/* ---- groups of recurrent nodes, caches of one name ---- */

#define GRU(name, mask, more)                                                                      \
    "  %" name " = mobilint.GRU (%x) {W=%w, R=%r, gru_group=g, input_mask=i, output_mask=" mask    \
    ", hidden_size=2" more "}\n  output %" name "\n"
#define GRU_GRAPH                                                                                  \
    "graph \"g\" {\n  input %x : f32[3,1,2]\n  const %w : f32[1,6,2] = random 1 -1 1\n"            \
    "  const %r : f32[1,6,2] = random 2 -1 1\n"

static void test_groups(void **state)
{
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_diag diag;
    const char *both = GRU_GRAPH GRU("a", "o", "") GRU("b", "h", "") GRU("c", "o", "") "}\n";
    tw_graph *graph = parse(arena, both, &diag);
    int layers = 0;
    if (!graph)
        fail_msg("%s", diag.message);
    for (int i = 0; i < graph->node_count; i++)
        layers += strcmp(graph->nodes[i]->op->name, "Gru") == 0;
    assert_int_equal(layers, 1);
    const char *other =
        GRU_GRAPH GRU("a", "o", "") GRU("b", "h", ", linear_before_reset=true") "}\n";
    assert_null(parse(arena, other, &diag));
    assert_non_null(strstr(diag.message, "linear_before_reset"));
    const char *caches = "graph \"g\" {\n  input %x : f32[1,2,3,4]\n  input %y : f32[1,2,3,5]\n"
                         "  %a = mobilint.StatefulKVCacheWrapper (%x) {cache_name=k}\n"
                         "  %b = mobilint.StatefulKVCacheWrapper (%y) {cache_name=k}\n"
                         "  output %a\n  output %b\n}\n";
    assert_null(parse(arena, caches, &diag));
    assert_non_null(strstr(diag.message, "cache_name"));
    tw_arena_free(arena);
}

/* ---- every number of every case ---- */

static const char *const replacements[] = {"0",  "-1", "7", "2147483647", "-9223372036854775808",
                                           "0.5"};
enum { REPLACEMENTS = sizeof replacements / sizeof *replacements };

typedef struct tw_tally {
    int tried, refused, unnamed;
} tw_tally;

/* The graph with the number of `length` bytes at `at` replaced. */
static void try_number(const char *graph, const char *at, size_t length, const char *operator_name,
                       const char *attribute, tw_tally *tally)
{
    for (int i = 0; i < REPLACEMENTS; i++) {
        tw_arena *arena = tw_arena_new();
        tw_diag diag;
        const char *text =
            tw_format(arena, "%.*s%s%s", (int)(at - graph), graph, replacements[i], at + length);
        tally->tried++;
        if (!parse(arena, text, &diag)) {
            tally->refused++;
            /* A result's written type may be what no longer fits; then the node is named too. */
            if (!diag.node[0] || strcmp(diag.operator_name, operator_name) != 0)
                fail_msg("%s=%s of %s: %s", attribute, replacements[i], operator_name,
                         diag.message);
            if (!strstr(diag.message, attribute) && !strstr(diag.message, "the type")) {
                print_error("%s=%s of %s: %s\n", attribute, replacements[i], operator_name,
                            diag.message);
                tally->unnamed++;
            }
        }
        tw_arena_free(arena);
    }
}

/* NAME=NUMBER and NAME=[NUMBER, ...] between the braces behind `at`. */
static void try_attributes(const char *graph, const char *operator_name, const char *at,
                           tw_tally *tally)
{
    char name[60] = "";
    const char *end = at + strcspn(at, "}\n");
    while (at < end) {
        const size_t word =
            strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        if (*at == '"' || *at == '%') {
            at += 1 + strcspn(at + 1, "\", }");
        } else if (word && at[word] == '=') {
            snprintf(name, sizeof name, "%.*s", (int)word, at);
            at += word + 1;
        } else if (strchr("-0123456789", *at)) {
            const size_t number = strspn(at, "-0123456789.e");
            try_number(graph, at, number, operator_name, name, tally);
            at += number;
        } else {
            at += word ? word : 1;
        }
    }
}

static void try_file(const char *path, const char *vocabulary, tw_tally *tally)
{
    tw_arena *arena = tw_arena_new();
    const char *prefix = tw_format(arena, "= %s.", vocabulary);
    tw_diag diag = {0};
    void *data;
    size_t bytes;
    assert_true(tw_read_file(arena, path, 1 << 26, &data, &bytes, &diag));
    for (char *graph = strstr(data, "\ngraph "); graph; graph = strstr(graph + 1, "\ngraph ")) {
        const char *end = strstr(graph, "\n}\n");
        assert_non_null(end);
        const char *text = tw_strndup(arena, graph + 1, (size_t)(end - graph) + 2);
        const char *call = strstr(text, prefix), *open;
        if (!call || !(open = strchr(call, '{')) || open > strchr(call, '\n'))
            continue;
        const char *name = tw_strndup(arena, call + 2, strcspn(call + 2, " ("));
        try_attributes(text, name, open + 1, tally);
    }
    tw_arena_free(arena);
}

static void test_numbers(void **state)
{
    tw_tally tally = {0, 0, 0};
    (void)state;
    for (int i = 0; tw_vocabulary_at(i); i++) {
        char folder[200], path[600];
        snprintf(folder, sizeof folder, "src/import/foreign/%s", tw_vocabulary_at(i)->name);
        DIR *dir = opendir(folder);
        assert_non_null(dir);
        for (struct dirent *entry; (entry = readdir(dir));)
            if (strstr(entry->d_name, ".txt")) {
                snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
                try_file(path, tw_vocabulary_at(i)->name, &tally);
            }
        closedir(dir);
    }
    print_message("%d tried, %d refused, %d of them without the attribute\n", tally.tried,
                  tally.refused, tally.unnamed);
    assert_true(tally.refused > tally.tried / 4);
    assert_int_equal(tally.unnamed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
