/* Reading HDF5 with libhdf5, which is told nothing that leads out of the file. Every identifier is closed
 * where it was opened; libhdf5's own messages are kept silent, ours name the path. */
#include "import/keras/hdf5.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"

enum {
    MOST_TEXT = 64 << 20,  /* bytes of an attribute, all pieces together */
    MOST_TEXTS = 1 << 16,  /* of a list */
    MOST_PIECES = 4096,    /* of an attribute */
    MOST_DEPTH = 64,       /* names in a path */
    MOST_RATIO = 1100,     /* deflate makes no more than 1032 bytes of one */
    MOST_CHUNK = 64 << 20, /* bytes of a chunk, which libhdf5 holds in memory */
    MOST_NAME = 1024
};

struct tw_h5 {
    tw_arena *arena;
    hid_t file;
    size_t bytes;
    tw_diag *diag;
    H5E_auto2_t report; /* what libhdf5 did with its messages before */
    void *report_data;
};

#define H5_FAIL(f, path, ...) tw_fail((f)->diag, TW_CODE_FAILED, path, NULL, __VA_ARGS__)
#define H5_UNSUPPORTED(f, path, ...)                                                               \
    tw_fail((f)->diag, TW_CODE_UNSUPPORTED, path, NULL, __VA_ARGS__)

/* --- the file ---------------------------------------------------------------------------------- */

/* Texts of any length lie in heaps, collections of numbered objects, and are referred to by length, address
 * of the collection and number. libhdf5 takes memory for the length and copies the whole object, so that a
 * file in which the two differ would write beyond it. Every such reference must therefore stand in the
 * file with the length that its object has. */
enum { HEAP_HEAD = 16, OBJECT_HEAD = 16, REFERENCE = 16, MOST_HEAPS = 1 << 16 };

static uint64_t number_at(const uint8_t *p, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes; i-- > 0;)
        value = value << 8 | p[i];
    return value;
}

static bool is_heap(const uint8_t *data, size_t bytes, uint64_t at)
{
    return bytes >= HEAP_HEAD && at <= bytes - HEAP_HEAD && memcmp(data + at, "GCOL", 4) == 0;
}

/* The size of object `wanted` of the collection; false where it has none. */
static bool find_object(const uint8_t *data, size_t bytes, uint64_t heap, uint64_t wanted,
                        uint64_t *size)
{
    const uint64_t length = number_at(data + heap + 8, 8);
    const uint64_t end = length <= bytes - heap ? heap + length : bytes;
    for (uint64_t at = heap + HEAP_HEAD; at + OBJECT_HEAD <= end;) {
        *size = number_at(data + at + 8, 8);
        if (number_at(data + at, 2) == wanted)
            return true;
        if (*size > end - at - OBJECT_HEAD)
            return false;
        at += OBJECT_HEAD + (*size + 7) / 8 * 8;
    }
    return false;
}

/* Do the objects of the collection follow each other to its end? What is free is object 0, whose size has
 * its own head in it: one of no size would keep libhdf5 reading it for ever. */
static bool is_sound_heap(const uint8_t *data, size_t bytes, uint64_t heap)
{
    const uint64_t length = number_at(data + heap + 8, 8);
    if (length > bytes - heap)
        return false;
    const uint64_t end = heap + length;
    for (uint64_t at = heap + HEAP_HEAD; at + OBJECT_HEAD <= end;) {
        const uint64_t size = number_at(data + at + 8, 8), left = end - at;
        const bool is_free = number_at(data + at, 2) == 0;
        if (is_free ? size < OBJECT_HEAD || size > left : size > left - OBJECT_HEAD)
            return false;
        at += is_free ? size : OBJECT_HEAD + (size + 7) / 8 * 8;
    }
    return true;
}

/* Addresses and lengths of eight bytes that count from the file's begin: how Keras's files are. */
static bool is_plain(const uint8_t *data, size_t bytes)
{
    if (bytes < 96)
        return false;
    const int version = data[8];
    const uint8_t *sizes = data + (version < 2 ? 13 : 9);
    const size_t base = version == 0 ? 24 : version == 1 ? 28 : 12;
    return version <= 3 && sizes[0] == 8 && sizes[1] == 8 && number_at(data + base, 8) == 0;
}

/* The part of an attribute message behind `at`, so long, in versions 1 filled up to 8 bytes. */
static size_t behind(size_t at, uint64_t length, bool filled)
{
    return at + (size_t)(filled ? (length + 7) / 8 * 8 : length);
}

/* How many elements the dataspace message says; none where it is no such message. */
static uint64_t elements_of(const uint8_t *data, size_t bytes, size_t at)
{
    uint64_t count = 1;
    if (at + 8 > bytes || data[at] < 1 || data[at] > 2 || data[at + 1] > 32)
        return 0;
    const size_t dims = at + (data[at] == 1 ? 8 : 4);
    for (size_t i = 0; i < data[at + 1]; i++) {
        if (dims + 8 * i + 8 > bytes)
            return 0;
        const uint64_t extent = number_at(data + dims + 8 * i, 8);
        if (extent == 0 || count > bytes / extent)
            return extent == 0 ? 0 : bytes; /* more than there is room for */
        count *= extent;
    }
    return count;
}

/* libhdf5 takes a reference's word for which object of a heap it means. Is `at` the head of an attribute of
 * variable lengths, each of its references must name an object that is there. */
static bool check_attribute(const uint8_t *data, size_t bytes, size_t at, long *seen)
{
    enum { VARIABLE = 9 }; /* class of datatype */
    const int version = data[at];
    if (version < 1 || version > 3)
        return true;
    const bool filled = version == 1;
    const size_t name = at + (version == 3 ? 9 : 8);
    const size_t type = behind(name, number_at(data + at + 2, 2), filled);
    const size_t space = behind(type, number_at(data + at + 4, 2), filled);
    const size_t first = behind(space, number_at(data + at + 6, 2), filled);
    if (type + 8 > bytes || (data[type] & 15) != VARIABLE ||
        number_at(data + type + 4, 4) != REFERENCE)
        return true;
    const uint64_t count = elements_of(data, bytes, space);
    for (uint64_t i = 0; i < count && count <= MOST_TEXTS && first + REFERENCE * (i + 1) <= bytes;
         i++) {
        const uint8_t *p = data + first + REFERENCE * i;
        const uint64_t length = number_at(p, 4), heap = number_at(p + 4, 8);
        uint64_t size;
        if (length == 0 || !is_heap(data, bytes, heap))
            continue; /* nothing, or refused by libhdf5 */
        if (++*seen > MOST_HEAPS || !find_object(data, bytes, heap, number_at(p + 12, 4), &size) ||
            size != length)
            return false;
    }
    return true;
}

static bool check_heaps(const uint8_t *data, size_t bytes, tw_diag *diag)
{
    uint64_t size, sound = 0; /* the heap that has been walked last */
    long seen = 0;
    if (!is_plain(data, bytes))
        return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                       "the HDF5 file is damaged, or not as Keras writes it; save the model again");
    for (size_t at = 0; at + REFERENCE <= bytes; at++) {
        if (!check_attribute(data, bytes, at, &seen))
            return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                           "the HDF5 file is damaged: an attribute names a text that is not there");
        const uint64_t length = number_at(data + at, 4), heap = number_at(data + at + 4, 8);
        const uint64_t index = number_at(data + at + 12, 4);
        /* Of no length is nothing read. Object 0 is what is free. */
        if (length == 0 || heap == 0 || index == 0 || !is_heap(data, bytes, heap))
            continue;
        if (heap != sound && !is_sound_heap(data, bytes, heap))
            return tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
                           "the HDF5 file is damaged: its heap of texts is no sequence of objects");
        sound = heap;
        /* What names no object is no reference, but a number that happens to be a heap's address. */
        if (!find_object(data, bytes, heap, index, &size))
            continue;
        if (++seen > MOST_HEAPS || size != length)
            return tw_fail(
                diag, TW_CODE_FAILED, NULL, NULL,
                "the HDF5 file is damaged: a text's length is not that of what is stored");
    }
    return true;
}

tw_h5 *tw_h5_open(tw_arena *arena, const void *data, size_t bytes, tw_diag *diag)
{
    tw_h5 *f = tw_alloc(arena, sizeof *f);
    *f = (tw_h5){.arena = arena, .file = -1, .bytes = bytes, .diag = diag};
    if (!check_heaps(data, bytes, diag))
        return NULL;
    H5Eget_auto2(H5E_DEFAULT, &f->report, &f->report_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0); /* no filter is looked for in folders */
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    /* The image is the file: the core driver then opens none, and writes none back. */
    if (access >= 0 && H5Pset_fapl_core(access, 1 << 16, 0) >= 0 &&
        H5Pset_file_image(access, (void *)(uintptr_t)data, bytes) >= 0)
        f->file = H5Fopen("model", H5F_ACC_RDONLY, access);
    if (access >= 0)
        H5Pclose(access);
    if (f->file >= 0)
        return f;
    tw_h5_close(f);
    tw_fail(diag, TW_CODE_FAILED, NULL, NULL,
            "the HDF5 file is damaged: its structure cannot be read; save the model again");
    return NULL;
}

void tw_h5_close(tw_h5 *f)
{
    if (!f)
        return;
    if (f->file >= 0)
        H5Fclose(f->file);
    f->file = -1;
    H5Eset_auto2(H5E_DEFAULT, f->report, f->report_data);
}

/* Open the object at a path, name by name: only hard links are followed, which stay in the file. */
static hid_t open_path(const tw_h5 *f, const char *path)
{
    char name[MOST_NAME];
    hid_t at = H5Gopen2(f->file, "/", H5P_DEFAULT);
    for (int depth = 0; at >= 0 && *path; depth++) {
        size_t length = strcspn(path, "/");
        H5L_info_t link;
        hid_t next = -1;
        if (length < sizeof name && depth < MOST_DEPTH) {
            memcpy(name, path, length);
            name[length] = 0;
            bool inside = length > 0 && strcmp(name, ".") != 0 &&
                          H5Lget_info(at, name, &link, H5P_DEFAULT) >= 0 &&
                          link.type == H5L_TYPE_HARD;
            next = inside ? H5Oopen(at, name, H5P_DEFAULT) : -1;
        }
        H5Oclose(at);
        at = next;
        path += length + (path[length] == '/');
    }
    return at;
}

static hid_t open_group(const tw_h5 *f, const char *path)
{
    hid_t object = open_path(f, path);
    if (object >= 0 && H5Iget_type(object) == H5I_GROUP)
        return object;
    if (object >= 0)
        H5Oclose(object);
    return -1;
}

bool tw_h5_has(tw_h5 *f, const char *path)
{
    hid_t object = f ? open_path(f, path) : -1;
    if (object >= 0)
        H5Oclose(object);
    return object >= 0;
}

int tw_h5_children(tw_h5 *f, const char *path, const char *const **names)
{
    hid_t group = open_group(f, path);
    H5G_info_t info;
    int count = -1;
    if (group < 0)
        return -1;
    if (H5Gget_info(group, &info) >= 0 && info.nlinks <= MOST_TEXTS) {
        const char **list = tw_alloc_array(f->arena, (size_t)info.nlinks + 1, sizeof *list);
        count = 0;
        for (hsize_t i = 0; i < info.nlinks; i++) {
            char name[MOST_NAME];
            ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name,
                                                sizeof name, H5P_DEFAULT);
            if (length > 0 && (size_t)length < sizeof name)
                list[count++] = tw_strdup(f->arena, name);
        }
        *names = list;
    }
    H5Gclose(group);
    return count;
}

/* --- attributes of text ------------------------------------------------------------------------ */

typedef struct texts {
    const char **text;
    int count, capacity;
    size_t bytes; /* so far */
} texts;

static bool add_text(const tw_h5 *f, texts *t, const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    t->bytes += length + 1;
    if (t->bytes > MOST_TEXT || t->count == MOST_TEXTS)
        return false;
    tw_grow(f->arena, &t->text, t->count, &t->capacity, sizeof *t->text);
    t->text[t->count++] = tw_strndup(f->arena, text, length);
    return true;
}

/* Texts of one length, padded. */
static bool read_fixed(const tw_h5 *f, hid_t attribute, hid_t type, size_t count, texts *t)
{
    size_t size = H5Tget_size(type);
    if (size == 0 || size > MOST_TEXT || count > MOST_TEXT / size || count * size > f->bytes)
        return false;
    char *data = tw_alloc(f->arena, count * size + 1);
    bool ok = H5Aread(attribute, type, data) >= 0;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_text(f, t, data + i * size, size);
    return ok;
}

/* Texts that libhdf5 allocates. */
static bool read_variable(const tw_h5 *f, hid_t attribute, hid_t space, size_t count, texts *t)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    char **data = tw_alloc_array(f->arena, count + 1, sizeof *data);
    bool ok = type >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0;
    hid_t own = ok ? H5Aget_type(attribute) : -1;
    ok =
        own >= 0 && H5Tset_cset(type, H5Tget_cset(own)) >= 0 && H5Aread(attribute, type, data) >= 0;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_text(f, t, data[i] ? data[i] : "", MOST_TEXT);
    if (own >= 0)
        H5Tclose(own);
    if (type >= 0) {
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, data);
        H5Tclose(type);
    }
    return ok;
}

/* Append the texts of one attribute. 0: it is damaged, -1: it is not there. */
static int read_attribute(const tw_h5 *f, hid_t object, const char *name, texts *t)
{
    if (H5Aexists(object, name) <= 0)
        return -1;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0)
        return 0;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    bool ok = type >= 0 && count >= 0 && count <= MOST_TEXTS;
    /* An empty list has NumPy's default type, which is a number's. */
    if (ok && count > 0)
        ok =
            H5Tget_class(type) == H5T_STRING &&
            (H5Tis_variable_str(type) > 0 ? (size_t)count * 16 <= f->bytes &&
                                                read_variable(f, attribute, space, (size_t)count, t)
                                          : read_fixed(f, attribute, type, (size_t)count, t));
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    H5Aclose(attribute);
    return ok;
}

/* All texts of an attribute, in pieces or not. */
static bool read_texts(tw_h5 *f, const char *path, const char *name, texts *t)
{
    hid_t object = open_path(f, path);
    if (object < 0)
        return false;
    int found = read_attribute(f, object, name, t);
    if (found < 0) {
        char piece[MOST_NAME];
        int result = 1;
        for (int i = 0; i < MOST_PIECES && result > 0; i++) {
            snprintf(piece, sizeof piece, "%.900s%d", name, i);
            result = read_attribute(f, object, piece, t);
            found = result > 0 ? 1 : result == 0 ? 0 : found;
        }
    }
    H5Oclose(object);
    if (found == 0)
        H5_FAIL(f, path, "the attribute %s of the HDF5 file cannot be read", name);
    return found > 0;
}

const char *tw_h5_text(tw_h5 *f, const char *path, const char *attribute)
{
    texts t = {.text = NULL};
    if (!read_texts(f, path, attribute, &t) || t.count == 0)
        return NULL;
    if (t.count == 1)
        return t.text[0];
    char *whole = tw_alloc(f->arena, t.bytes + 1), *at = whole;
    for (int i = 0; i < t.count; i++) {
        size_t length = strlen(t.text[i]);
        memcpy(at, t.text[i], length);
        at += length;
    }
    return whole;
}

int tw_h5_texts(tw_h5 *f, const char *path, const char *attribute, const char *const **list)
{
    texts t = {.text = NULL};
    if (!read_texts(f, path, attribute, &t))
        return -1;
    *list = t.text;
    return t.count;
}

/* --- tensors ----------------------------------------------------------------------------------- */

/* A dataset that has been looked at. */
typedef struct dataset {
    hid_t id, layout; /* layout: its creation properties */
    hid_t memory;     /* the type its elements are read as */
    hid_t type;       /* as they are stored */
    tw_shape shape;   /* of what is read */
    tw_dtype stored;  /* f16, bf16 and f64 are read as they are and widened */
} dataset;

static void close_dataset(dataset *d)
{
    if (d->layout >= 0)
        H5Pclose(d->layout);
    if (d->type >= 0)
        H5Tclose(d->type);
    if (d->id >= 0)
        H5Dclose(d->id);
}

/* Only storage that lies in this file, through filters of our own library. */
static bool check_storage(tw_h5 *f, const char *path, const dataset *d)
{
    H5D_layout_t layout = H5Pget_layout(d->layout);
    if (layout == H5D_VIRTUAL ||
        (layout == H5D_CONTIGUOUS && H5Pget_external_count(d->layout) != 0))
        return H5_UNSUPPORTED(
            f, path,
            "the weights lie in another file (virtual or external storage), which is "
            "not read; save the model in one file");
    if (layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED && layout != H5D_COMPACT)
        return H5_FAIL(f, path, "the weights' layout in the HDF5 file is damaged");
    int filters = layout == H5D_CHUNKED ? H5Pget_nfilters(d->layout) : 0;
    for (int i = 0; i < filters; i++) {
        unsigned flags, values[8];
        size_t count = sizeof values / sizeof *values;
        H5Z_filter_t filter =
            H5Pget_filter2(d->layout, (unsigned)i, &flags, &count, values, 0, NULL, NULL);
        if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
            filter != H5Z_FILTER_FLETCHER32)
            return H5_UNSUPPORTED(f, path,
                                  "the weights are packed with HDF5 filter %d; gzip is supported",
                                  (int)filter);
    }
    return filters >= 0 || H5_FAIL(f, path, "the weights' filters in the HDF5 file are damaged");
}

/* Keras stores bfloat16 as bytes in pairs, or as uint16, with an attribute that says so. */
static bool is_bfloat(tw_h5 *f, const dataset *d)
{
    texts t = {.text = NULL};
    return read_attribute(f, d->id, "dtype", &t) > 0 && t.count == 1 &&
           strcmp(t.text[0], "bfloat16") == 0;
}

static bool find_type(tw_h5 *f, const char *path, dataset *d)
{
    const hid_t type = d->type = H5Dget_type(d->id);
    H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    size_t size = type >= 0 ? H5Tget_size(type) : 0;
    bool is_signed = class == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
    bool pairs = size == 2 && is_bfloat(f, d);
    /* NumPy's half too: libhdf5 makes floats of it itself. */
    if (class == H5T_FLOAT && (size == 2 || size == 4 || size == 8)) {
        d->stored = TW_F32;
        d->memory = H5T_NATIVE_FLOAT;
    } else if (pairs && (class == H5T_INTEGER || class == H5T_OPAQUE)) {
        d->stored = TW_BF16;
        d->memory = class == H5T_OPAQUE ? type : H5T_NATIVE_UINT16;
    } else if (class == H5T_INTEGER) {
        d->stored = size == 8   ? (is_signed ? TW_S64 : TW_U64)
                    : size == 4 ? (is_signed ? TW_S32 : TW_U32)
                    : size == 2 ? (is_signed ? TW_S16 : TW_U16)
                    : size == 1 ? (is_signed ? TW_S8 : TW_U8)
                                : TW_NO_DTYPE;
        d->memory = size == 8   ? (is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64)
                    : size == 4 ? (is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32)
                    : size == 2 ? (is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16)
                                : (is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8);
    } else {
        d->stored = TW_NO_DTYPE;
    }
    return d->stored != TW_NO_DTYPE ||
           H5_UNSUPPORTED(
               f, path,
               "the weights' type (class %d, %zu bytes) is not supported; float16, bfloat16, "
               "float32, float64 and integers are",
               (int)class, size);
}

static bool find_extents(tw_h5 *f, const char *path, dataset *d)
{
    hid_t space = H5Dget_space(d->id);
    hsize_t dim[H5S_MAX_RANK];
    int64_t wide[H5S_MAX_RANK];
    int rank = space >= 0 && H5Sis_simple(space) > 0 ? H5Sget_simple_extent_ndims(space) : -1;
    bool ok = rank >= 0 && rank <= H5S_MAX_RANK && H5Sget_simple_extent_type(space) != H5S_NULL &&
              (rank == 0 || H5Sget_simple_extent_dims(space, dim, NULL) == rank);
    if (space >= 0)
        H5Sclose(space);
    if (!ok)
        return H5_FAIL(f, path, "the weights' extents in the HDF5 file are damaged");
    int64_t elements = 1;
    d->shape = tw_shape_of(d->stored == TW_BF16 ? TW_F32 : d->stored, 0, NULL);
    if (rank > TW_MAX_RANK)
        return H5_UNSUPPORTED(f, path, "weights of %d axes; at most %d are supported", rank,
                              TW_MAX_RANK);
    for (int i = 0; i < rank; i++) {
        wide[i] = dim[i] > INT32_MAX ? INT32_MAX : (int64_t)dim[i];
        elements *= wide[i];
        if (elements > INT32_MAX / 8 || (dim[i] > INT32_MAX))
            return H5_FAIL(f, path, "the weights are larger than a tensor may be");
        d->shape.dim[i] = (int32_t)wide[i];
    }
    d->shape.rank = rank;
    return true;
}

/* What is announced must be able to come out of what is there. */
static bool check_size(tw_h5 *f, const char *path, const dataset *d)
{
    const uint64_t each = H5Tget_size(d->type);
    const uint64_t bytes = (uint64_t)tw_shape_elements(&d->shape) * each;
    const uint64_t stored = H5Dget_storage_size(d->id);
    bool packed = H5Pget_layout(d->layout) == H5D_CHUNKED;
    bool fits = stored <= f->bytes && bytes <= (packed ? stored * MOST_RATIO : stored);
    if (packed && fits) {
        hsize_t chunk[H5S_MAX_RANK];
        uint64_t size = each;
        int rank = H5Pget_chunk(d->layout, H5S_MAX_RANK, chunk);
        fits = rank == d->shape.rank;
        for (int i = 0; fits && i < rank; i++) {
            fits = chunk[i] > 0 && chunk[i] <= MOST_CHUNK;
            size *= fits ? chunk[i] : 1;
            fits = fits && size <= MOST_CHUNK;
        }
    }
    return fits ||
           H5_FAIL(f, path,
                   "the file announces %llu bytes of weights and cannot hold them (%llu are "
                   "stored); it is cut off or damaged",
                   (unsigned long long)bytes, (unsigned long long)stored);
}

static bool open_dataset(tw_h5 *f, const char *path, dataset *d)
{
    *d = (dataset){.id = open_path(f, path), .layout = -1, .type = -1};
    if (d->id >= 0 && H5Iget_type(d->id) != H5I_DATASET) {
        H5Oclose(d->id);
        d->id = -1;
    }
    if (d->id < 0)
        return H5_FAIL(f, path, "the file has no weights of this name");
    d->layout = H5Dget_create_plist(d->id);
    if (d->layout < 0)
        return H5_FAIL(f, path, "the weights' description in the HDF5 file is damaged");
    return check_storage(f, path, d) && find_type(f, path, d) && find_extents(f, path, d) &&
           check_size(f, path, d);
}

bool tw_h5_shape(tw_h5 *f, const char *path, tw_shape *shape)
{
    dataset d;
    bool ok = open_dataset(f, path, &d);
    *shape = d.shape;
    close_dataset(&d);
    return ok;
}

const void *tw_h5_data(tw_h5 *f, const char *path, tw_shape *shape)
{
    dataset d;
    void *data = NULL;
    if (open_dataset(f, path, &d)) {
        const size_t count = (size_t)tw_shape_elements(&d.shape);
        *shape = d.shape;
        data = tw_alloc(f->arena, count * tw_dtype_bytes(d.shape.dtype) + 1);
        if (count > 0 && H5Dread(d.id, d.memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
            H5_FAIL(f, path, "the weights cannot be read: the file is cut off or damaged");
            data = NULL;
        }
        /* Widened from the last element on: both stand in the same memory. */
        for (size_t i = count; data && d.stored == TW_BF16 && i-- > 0;) {
            uint16_t half;
            memcpy(&half, (char *)data + 2 * i, sizeof half);
            float wide = tw_float_from_bfloat(half);
            memcpy((char *)data + 4 * i, &wide, sizeof wide);
        }
    }
    close_dataset(&d);
    return data;
}
