/* Writes small TensorFlow Lite models into a folder, sound and damaged ones, for the fuzzers to start
 * from. usage: tflite_seeds FOLDER */
#include <stdio.h>

#include "support/tflite_model.h"

static int write_file(const char *folder, const char *name, const void *data, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.tflite", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        return 0;
    size_t written = fwrite(data, 1, bytes, file);
    return fclose(file) == 0 && written == bytes;
}

int main(int argc, char **argv)
{
    /* A reference beyond the file, and nothing else. */
    static const unsigned char eight[8] = {0x18, 0, 0, 0, 'T', 'F', 'L', '3'};
    tw_tflt_model model;
    const char *name;
    int ok = argc == 2 && write_file(argv[1], "eight", eight, sizeof eight);
    for (int i = 0; ok && (name = tw_tflt_example(i, &model)); i++) {
        tw_flat flat;
        tw_tflt_places places;
        char other[64];
        tw_tflt_make(&model, &flat, &places);
        ok = write_file(argv[1], name, flat.data, flat.bytes);
        /* The same with a vector that is not aligned. */
        tw_flat_link(&flat, tw_flat_field(&flat, places.tensors[0], 0), places.shapes[0] - 2);
        snprintf(other, sizeof other, "%s-misaligned", name);
        ok = ok && write_file(argv[1], other, flat.data, flat.bytes);
        tw_flat_free(&flat);
    }
    if (!ok)
        fprintf(stderr, "usage: tflite_seeds FOLDER (that can be written to)\n");
    return !ok;
}
