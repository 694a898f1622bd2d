/* Keras models that are damaged or ask for what is not supported: refused, with a message that names the
 * layer and says what to do. Configurations come without weights; files are cut and changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "graph/graph.h"
#include "import/keras/keras.h"

enum { FILE_BYTES = 1 << 20 };

static const tw_import_options none;

/* A chain of layers behind an input of 4 x 6. */
#define CHAIN(layers)                                                                              \
    "{\"class_name\":\"Sequential\",\"config\":{\"name\":\"net\",\"layers\":["                     \
    "{\"class_name\":\"InputLayer\",\"config\":{\"batch_shape\":[1,4,6],\"dtype\":\"float32\","    \
    "\"name\":\"in\"}}," layers "]}}"
#define LAYER(class, config) "{\"class_name\":\"" class "\",\"config\":{\"name\":\"it\"" config "}}"

static const char *words(tw_arena *arena, const tw_diag *diag)
{
    return tw_format(arena, "%s (%s): %s", diag->node, diag->operator_name, diag->message);
}

static tw_graph *read_config(tw_arena *arena, const char *text, tw_diag *diag)
{
    return tw_kr_import_config(arena, text, strlen(text), 3, &none, diag);
}

static void expect(const char *text, tw_code code, const char *part)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    if (read_config(arena, text, &diag))
        fail_msg("accepted; expected '%s'", part);
    if (diag.code != code || !strstr(words(arena, &diag), part))
        fail_msg("%d: '%s' does not hold '%s'", diag.code, words(arena, &diag), part);
    tw_arena_free(arena);
}

static void sound(void **state)
{
    (void)state;
    static const char *const models[] = {
        CHAIN(LAYER("Dense", ",\"units\":3,\"activation\":\"relu\"")),
        CHAIN(LAYER("LSTM", ",\"units\":2,\"stateful\":true")),
        CHAIN(LAYER("Conv1D", ",\"filters\":2,\"kernel_size\":[3],\"padding\":\"same\"")),
        CHAIN(LAYER("Flatten", "") "," LAYER("Dense", ",\"units\":1")),
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        tw_arena *arena = tw_arena_new();
        tw_diag diag = {0};
        tw_graph *graph = read_config(arena, models[i], &diag);
        if (!graph)
            fail_msg("%s: %s", models[i], words(arena, &diag));
        /* What a stateful LSTM carries over: its hidden state and its cell. */
        assert_int_equal(graph ? graph->state_count : -1, i == 1 ? 2 : 0);
        tw_arena_free(arena);
    }
}

static void refused(void **state)
{
    (void)state;
    expect(CHAIN(LAYER("Lambda", ",\"function\":\"x\"")), TW_CODE_UNSUPPORTED, "it (Lambda)");
    expect(CHAIN(LAYER("MyLayer", "")), TW_CODE_UNSUPPORTED, "it (MyLayer)");
    expect(CHAIN(LAYER("Activation", ",\"activation\":\"mine\"")), TW_CODE_UNSUPPORTED, "'mine'");
    expect(CHAIN(LAYER("ConvLSTM1D", "")), TW_CODE_FAILED, "batch, steps and images");
    expect(CHAIN(LAYER("RNN", ",\"cell\":{\"class_name\":\"MyCell\",\"config\":{}}")),
           TW_CODE_UNSUPPORTED, "MyCell");
    expect("{\"class_name\":\"MyModel\",\"config\":{}}", TW_CODE_UNSUPPORTED, "Functional");
}

/* Layers that compare and resample by what their configuration says. */
static void prepared(void **state)
{
    (void)state;
#define IMAGE(layer) CHAIN(LAYER("Reshape", ",\"target_shape\":[4,3,2]") "," layer)
#define SIZE(height, width) ",\"height\":" height ",\"width\":" width
    expect(CHAIN(LAYER("AdaptiveMaxPooling1D", ",\"output_size\":0")), TW_CODE_FAILED,
           "output_size");
    expect(CHAIN(LAYER("AdaptiveMaxPooling1D", ",\"output_size\":[2,2]")), TW_CODE_FAILED,
           "output_size");
    expect(CHAIN(LAYER("AdaptiveAveragePooling1D", ",\"output_size\":65")), TW_CODE_UNSUPPORTED,
           "divides 4");
    expect(CHAIN(LAYER("AdaptiveAveragePooling1D", ",\"output_size\":2147483647")),
           TW_CODE_UNSUPPORTED, "divides 4");
    expect(IMAGE(LAYER("RandomCrop", SIZE("2", "0"))), TW_CODE_FAILED, "0 columns");
    expect(IMAGE(LAYER("AutoContrast", ",\"value_range\":[3,3]")), TW_CODE_FAILED, "is empty");
    expect(IMAGE(LAYER("Equalization", "")), TW_CODE_UNSUPPORTED, "before the network");
    expect(IMAGE(LAYER("Pipeline", ",\"layers\":[{\"class_name\":\"Mine\",\"config\":{}}]")),
           TW_CODE_UNSUPPORTED, "it (Mine)");
    expect(IMAGE(LAYER("CenterCrop", SIZE("0", "2"))), TW_CODE_FAILED, "0 rows");
    expect(IMAGE(LAYER("Resizing", SIZE("2", "-1"))), TW_CODE_FAILED, "-1 columns");
    expect(IMAGE(LAYER("Resizing", SIZE("2", "2") ",\"interpolation\":\"lanczos3\"")),
           TW_CODE_UNSUPPORTED, "lanczos3");
    expect(IMAGE(LAYER("Resizing", SIZE("2147483647", "1") ",\"pad_to_aspect_ratio\":true")),
           TW_CODE_UNSUPPORTED, "");
    expect(CHAIN(LAYER("Discretization", ",\"num_bins\":3")), TW_CODE_UNSUPPORTED,
           "bin_boundaries");
    expect(CHAIN(LAYER("Discretization", ",\"bin_boundaries\":[1,\"a\"]")), TW_CODE_FAILED,
           "list of numbers");
    expect(CHAIN(LAYER("Discretization", ",\"bin_boundaries\":[1],\"output_mode\":\"count\"")),
           TW_CODE_UNSUPPORTED, "use one_hot");
    expect(CHAIN(LAYER("CategoryEncoding", ",\"num_tokens\":0")), TW_CODE_FAILED, "num_tokens");
    expect(CHAIN(LAYER("CategoryEncoding", ",\"num_tokens\":9223372036854775807,"
                                           "\"output_mode\":\"one_hot\"")),
           TW_CODE_UNSUPPORTED, "depth");
    expect(CHAIN(LAYER("IntegerLookup", ",\"vocabulary\":[9999999999]")), TW_CODE_UNSUPPORTED,
           "32 bits");
    expect(CHAIN(LAYER("IntegerLookup", ",\"vocabulary\":[1],\"num_oov_indices\":2")),
           TW_CODE_UNSUPPORTED, "num_oov_indices");
    expect(CHAIN(LAYER("IntegerLookup", ",\"vocabulary\":[1],\"output_mode\":\"tf_idf\"")),
           TW_CODE_UNSUPPORTED, "tf_idf");
}

/* Kernels that fit no image, and weights of more bytes than there are. */
static void local(void **state)
{
    (void)state;
#define LOCAL(config) CHAIN(LAYER("LocallyConnected1D", ",\"filters\":2" config))
    expect(LOCAL(",\"kernel_size\":[5]"), TW_CODE_FAILED, "a kernel of 5 on 4");
    expect(LOCAL(",\"kernel_size\":[2],\"strides\":[0]"), TW_CODE_UNSUPPORTED, "in steps of 0");
    expect(LOCAL(",\"kernel_size\":[2],\"padding\":\"same\""), TW_CODE_FAILED,
           "implementation 1 has no");
    expect(LOCAL(",\"kernel_size\":[2],\"padding\":\"causal\""), TW_CODE_FAILED, "'causal'");
    expect(LOCAL(",\"kernel_size\":[2],\"implementation\":4"), TW_CODE_FAILED,
           "none of 1, 2 and 3");
    expect(LOCAL(",\"kernel_size\":[2000],\"implementation\":2,\"padding\":\"same\""),
           TW_CODE_UNSUPPORTED, "up to 1024");
    expect(CHAIN(LAYER("LocallyConnected1D", ",\"filters\":0,\"kernel_size\":[2]")), TW_CODE_FAILED,
           "0 filters");
    expect(CHAIN(LAYER("LocallyConnected1D", ",\"filters\":2147483647,\"kernel_size\":[2]")),
           TW_CODE_UNSUPPORTED, "weights of more than");
}

/* Frames and transforms of no sense, and signals that have no room for one. */
static void spectrograms(void **state)
{
    (void)state;
#define STFT(config) CHAIN(LAYER("STFTSpectrogram", config))
#define MEL(config) CHAIN(LAYER("Flatten", "") "," LAYER("MelSpectrogram", config))
    expect(STFT(",\"frame_length\":0"), TW_CODE_FAILED, "frames of 0");
    expect(STFT(",\"frame_length\":8,\"fft_length\":4"), TW_CODE_FAILED, "a transform of 4");
    expect(STFT(",\"frame_length\":9223372036854775807"), TW_CODE_FAILED, "frames of");
    expect(STFT(",\"frame_length\":2,\"mode\":\"mine\""), TW_CODE_UNSUPPORTED, "'mine'");
    expect(STFT(",\"frame_length\":4,\"padding\":\"causal\""), TW_CODE_FAILED, "'causal'");
    expect(STFT(",\"frame_length\":8"), TW_CODE_FAILED, "");
    expect(MEL(",\"fft_length\":64"), TW_CODE_FAILED, "more than half as many");
    expect(MEL(",\"fft_length\":8,\"sequence_length\":9"), TW_CODE_FAILED, "frames of 9 points");
    expect(MEL(",\"fft_length\":8,\"sequence_stride\":0"), TW_CODE_FAILED, "0 apart");
    expect(MEL(",\"fft_length\":8,\"max_freq\":10"), TW_CODE_FAILED, "from 20 to 10 Hz");
    expect(MEL(",\"fft_length\":8,\"window\":\"kaiser\""), TW_CODE_UNSUPPORTED, "'kaiser'");
    expect(MEL(",\"fft_length\":8,\"window\":[1,2]"), TW_CODE_FAILED, "no list of 8 numbers");
    expect(MEL(",\"fft_length\":32,\"num_mel_bins\":1048576"), TW_CODE_UNSUPPORTED, "");
    expect(CHAIN(LAYER("LSTMCell", ",\"units\":2")), TW_CODE_FAILED, "");
}

static void damaged(void **state)
{
    (void)state;
    expect("{", TW_CODE_FAILED, "JSON");
    expect("{\"class_name\":\"Sequential\",\"config\":3}", TW_CODE_FAILED, "layers");
    expect(CHAIN(LAYER("Dense", ",\"units\":-3")), TW_CODE_FAILED, "");
    expect(CHAIN(LAYER("Dense", ",\"units\":9999999999")), TW_CODE_UNSUPPORTED, "2 GB");
    expect(CHAIN(LAYER("Conv1D", ",\"filters\":2,\"kernel_size\":[3,3]")), TW_CODE_FAILED,
           "kernel_size");
    expect(CHAIN(LAYER("Conv1D", ",\"filters\":2,\"kernel_size\":[0]")), TW_CODE_FAILED,
           "positive");
    expect(CHAIN(LAYER("Reshape", ",\"target_shape\":[-1,-1]")), TW_CODE_FAILED, "target shape");
    expect(CHAIN(LAYER("Cropping1D", ",\"cropping\":[9,9]")), TW_CODE_FAILED, "nothing is left");
    expect(CHAIN(LAYER("LayerNormalization", ",\"axis\":[1,1]")), TW_CODE_FAILED, "twice");
    expect(CHAIN(LAYER("Conv2D", ",\"filters\":2,\"kernel_size\":1")), TW_CODE_FAILED, "axes");
}

/* Two layers that wait for each other, one that waits for nobody, and a model in a model in a model. */
static void circles(void **state)
{
    (void)state;
#define NODE(name, from)                                                                           \
    "{\"class_name\":\"ReLU\",\"name\":\"" name "\",\"config\":{},\"inbound_nodes\":[[[\"" from    \
    "\",0,0,{}]]]}"
#define NETWORK(layers, out)                                                                       \
    "{\"class_name\":\"Functional\",\"config\":{\"name\":\"net\",\"layers\":[{\"class_name\":"     \
    "\"InputLayer\",\"name\":\"in\",\"config\":{\"batch_shape\":[1,4],\"name\":\"in\"},"           \
    "\"inbound_nodes\":[]}," layers "],\"input_layers\":[[\"in\",0,0]],\"output_layers\":[[\"" out \
    "\",0,0]]}}"
    expect(NETWORK(NODE("a", "b") "," NODE("b", "a"), "b"), TW_CODE_FAILED, "circle");
    expect(NETWORK(NODE("a", "c"), "a"), TW_CODE_FAILED, "no layer of this name");
    expect(NETWORK(NODE("a", "in") "," NODE("a", "in"), "a"), TW_CODE_FAILED, "two layers");
    tw_arena *arena = tw_arena_new();
    const char *inner = LAYER("ReLU", "");
    for (int i = 0; i < 40; i++)
        inner = tw_format(
            arena, "{\"class_name\":\"Sequential\",\"config\":{\"name\":\"m%d\",\"layers\":[%s]}}",
            i, inner);
    expect(tw_format(arena,
                     "{\"class_name\":\"Sequential\",\"config\":{\"layers\":[{\"class_name\":"
                     "\"InputLayer\",\"config\":{\"batch_shape\":[1,4],\"name\":\"in\"}},%s]}}",
                     inner),
           TW_CODE_UNSUPPORTED, "inside one another");
    tw_arena_free(arena);
}

static uint8_t *read_file(tw_arena *arena, const char *path, size_t *bytes)
{
    tw_diag diag = {0};
    void *data;
    if (!tw_read_file(arena, path, FILE_BYTES, &data, bytes, &diag))
        fail_msg("%s", diag.message);
    return data;
}

/* Whatever is read of it, nothing may happen but a message. */
static void import_quietly(const uint8_t *data, size_t bytes)
{
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    if (!tw_import_keras(arena, data, bytes, "model", &none, &diag) && !*diag.message)
        fail_msg("refused without a message");
    tw_arena_free(arena);
}

static void files(void **state)
{
    (void)state;
    static const char *const paths[] = {"tests/data/keras/dense-keras2.h5",
                                        "tests/data/keras/dense-keras3.keras"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        tw_arena *arena = tw_arena_new();
        size_t bytes;
        uint8_t *data = read_file(arena, paths[i], &bytes);
        uint32_t random = 1;
        for (int k = 1; k < 12; k++)
            import_quietly(data, bytes * (size_t)k / 12);
        for (int k = 0; k < 300; k++) {
            random = random * 1664525u + 1013904223u;
            /* Where the structure is: HDF5 has its heaps and trees in front of what they hold. */
            const size_t at = (size_t)(random >> 8) % bytes;
            const uint8_t before = data[at];
            data[at] = (uint8_t)(k % 3 == 0 ? 0xff : before ^ (1u << (random & 7)));
            import_quietly(data, bytes);
            data[at] = before;
        }
        tw_arena_free(arena);
    }
}

/* Free space of no size, where a reader might stay for ever: every heap of texts ends so. */
static void endless_heap(void **state)
{
    enum { HEAD = 16 };
    (void)state;
    tw_arena *arena = tw_arena_new();
    tw_diag diag = {0};
    size_t bytes, heap = 0;
    uint8_t *data = read_file(arena, "tests/data/keras/dense-keras2.h5", &bytes);
    while (heap + HEAD < bytes && memcmp(data + heap, "GCOL", 4) != 0)
        heap++;
    assert_true(heap + 2 * HEAD < bytes);
    memset(data + heap + HEAD, 0, HEAD); /* its first object: index 0, size 0 */
    assert_null(tw_import_keras(arena, data, bytes, "model", &none, &diag));
    assert_int_equal(diag.code, TW_CODE_FAILED);
    assert_non_null(strstr(diag.message, "the HDF5 file is damaged"));
    tw_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endless_heap), cmocka_unit_test(sound),   cmocka_unit_test(refused),
        cmocka_unit_test(prepared),     cmocka_unit_test(local),   cmocka_unit_test(spectrograms),
        cmocka_unit_test(damaged),      cmocka_unit_test(circles), cmocka_unit_test(files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
