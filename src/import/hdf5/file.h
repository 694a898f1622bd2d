/* What the parts of the HDF5 reader share. Addresses count from where the superblock begins. */
#ifndef TW_IMPORT_HDF5_FILE_H
#define TW_IMPORT_HDF5_FILE_H

#include "base/map.h"
#include "import/hdf5/hdf5.h"

#define TW_H5_NOWHERE UINT64_MAX /* the address of what is not there */

struct tw_h5 {
    tw_arena *arena;
    tw_diag *diag;
    const uint8_t *data; /* from the superblock on */
    size_t bytes;
    int address_bytes, length_bytes; /* 2, 4 or 8 */
    uint64_t root;                   /* the root group's object */
    uint64_t work;                   /* bytes of structure that may still be looked at */
    uint64_t room;                   /* bytes of elements that may still be unpacked */
    const char *path;                /* what is looked at, for messages */
    tw_map objects, heaps;           /* by address: each is read once */
};

/* --- bytes: file.c ------------------------------------------------------------------------------- */

/* A piece of the file that is read from its begin. Behind its end everything is 0, and it is `cut`. */
typedef struct tw_h5_span {
    const uint8_t *at;
    size_t left;
    bool cut;
} tw_h5_span;

/* False with a message: damaged is what the format forbids, refused what it allows. part: "group's tree",
 * why: "lies outside of the file". */
bool tw_h5_damaged(tw_h5 *file, const char *part, uint64_t at, const char *why);
bool tw_h5_refuse(tw_h5 *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define tw_h5_damaged(...) tw_false(tw_h5_damaged(__VA_ARGS__))
#define tw_h5_refuse(...) tw_false(tw_h5_refuse(__VA_ARGS__))

/* Has nothing failed yet? */
bool tw_h5_sound(const tw_h5 *file);
/* Count work. False with a message where the file asks for more than its size explains. */
bool tw_h5_charge(tw_h5 *file, uint64_t bytes);
bool tw_h5_charge_room(tw_h5 *file, uint64_t bytes);

/* The bytes at an address: the one function by which anything in the file is reached. */
bool tw_h5_at(tw_h5 *file, const char *part, uint64_t at, uint64_t bytes, tw_h5_span *span);
/* The bytes from an address to the file's end; the signature, four letters, must stand first and is
 * taken. */
bool tw_h5_block(tw_h5 *file, const char *part, uint64_t at, const char *signature,
                 tw_h5_span *span);

/* A number of up to 8 bytes, little-endian. */
uint64_t tw_h5_take(tw_h5_span *span, int bytes);
uint64_t tw_h5_take_address(const tw_h5 *file, tw_h5_span *span);
uint64_t tw_h5_take_length(const tw_h5 *file, tw_h5_span *span);
/* So many bytes; null, and cut, where there are fewer. */
const uint8_t *tw_h5_skip(tw_h5_span *span, uint64_t bytes);
tw_h5_span tw_h5_part(tw_h5_span *span, uint64_t bytes);
/* How many bits a number needs, 0 for 0; and how many bytes the format gives it. */
int tw_h5_bits(uint64_t number);
int tw_h5_number_bytes(uint64_t number);

/* --- objects: object.c --------------------------------------------------------------------------- */

typedef enum tw_h5_message_type {
    TW_H5_SPACE = 1,
    TW_H5_LINK_INFO = 2,
    TW_H5_TYPE = 3,
    TW_H5_OLD_FILL = 4,
    TW_H5_FILL = 5,
    TW_H5_LINK = 6,
    TW_H5_EXTERNAL = 7,
    TW_H5_LAYOUT = 8,
    TW_H5_FILTERS = 11,
    TW_H5_ATTRIBUTE = 12,
    TW_H5_CONTINUATION = 16,
    TW_H5_SYMBOLS = 17,
    TW_H5_ATTRIBUTE_INFO = 21
} tw_h5_message_type;

typedef struct tw_h5_message {
    uint8_t type;
    bool shared; /* the body says where it is */
    tw_h5_span body;
} tw_h5_message;

typedef struct tw_h5_object {
    uint64_t at;
    tw_h5_message *messages;
    int count, capacity;
    bool linked, attributed; /* the maps below are filled */
    tw_map links, attributes;
    const char **names; /* of links */
    int name_count, name_capacity;
} tw_h5_object;

/* Null with a message. */
tw_h5_object *tw_h5_object_at(tw_h5 *file, uint64_t at);
/* The first message of a type, or null. */
const tw_h5_message *tw_h5_message_of(const tw_h5_object *object, int type);
/* The body of a message that may be shared: then it is another object's, of the same type. */
bool tw_h5_body(tw_h5 *file, const tw_h5_message *message, tw_h5_span *body);

/* --- trees: tree.c ------------------------------------------------------------------------------- */

/* One record; false ends the walk. */
typedef bool tw_h5_visit(tw_h5 *file, void *context, tw_h5_span record);

typedef enum tw_h5_tree_kind { TW_H5_GROUP_TREE = 0, TW_H5_CHUNK_TREE = 1 } tw_h5_tree_kind;

/* The old trees: records are a key and the address of what it leads to. */
bool tw_h5_old_tree(tw_h5 *file, uint64_t at, tw_h5_tree_kind kind, size_t key_bytes,
                    tw_h5_visit *visit, void *context);
/* The new ones, whose header must say that they hold records of this type. */
bool tw_h5_new_tree(tw_h5 *file, uint64_t at, int type, tw_h5_visit *visit, void *context);

/* --- heaps: heap.c, fractal.c -------------------------------------------------------------------- */

/* A name in a group's heap; null with a message. */
const char *tw_h5_heap_text(tw_h5 *file, uint64_t heap, uint64_t offset);
/* Object `index` of a collection of texts. */
bool tw_h5_collected(tw_h5 *file, uint64_t heap, uint64_t index, tw_h5_span *object);

/* The heap of a group's links or an object's attributes. */
typedef struct tw_h5_fractal {
    uint64_t at, root, huge; /* huge: the tree of objects that lie outside of the heap */
    int offset_bytes, length_bytes;
    uint64_t start,
        most_direct;     /* bytes of the smallest blocks, and of the largest that hold objects */
    uint64_t width;      /* blocks in a row */
    int heap_bits, rows; /* rows: of the root; 0 where it holds objects itself */
} tw_h5_fractal;

bool tw_h5_open_fractal(tw_h5 *file, uint64_t at, tw_h5_fractal *heap);
/* The object that an identifier leads to. */
bool tw_h5_fractal_object(tw_h5 *file, const tw_h5_fractal *heap, tw_h5_span id,
                          tw_h5_span *object);

/* What a group's links or an object's attributes are where they are many: a message says which heap has
 * them and which tree their identifiers. */
typedef struct tw_h5_dense {
    tw_h5_object *object;
    tw_h5_fractal heap;
} tw_h5_dense;

/* Every record of the tree; the visit's context is a tw_h5_dense. records: the tree's type;
 * counter_bytes: of the message, where the order of creation is kept; `part` is for messages. */
bool tw_h5_each_dense(tw_h5 *file, const char *part, tw_h5_object *object, tw_h5_span body,
                      int records, size_t counter_bytes, tw_h5_visit *visit);

/* --- groups: group.c; attributes: attribute.c ----------------------------------------------------- */

/* The object at a path from the root; null where there is none, or with a message. */
tw_h5_object *tw_h5_find(tw_h5 *file, const char *path);

/* --- types and extents: type.c -------------------------------------------------------------------- */

typedef struct tw_h5_extents {
    int rank;
    uint64_t dim[TW_H5_MOST_RANK], most[TW_H5_MOST_RANK]; /* most: it may grow to */
    uint64_t count;                                       /* of elements; below 2^48 */
} tw_h5_extents;

/* what: "attribute", "dataset", for messages. A class that is not read is left for the caller to refuse,
 * by its name. */
bool tw_h5_parse_type(tw_h5 *file, tw_h5_span body, tw_h5_type *type);
bool tw_h5_parse_extents(tw_h5 *file, tw_h5_span body, tw_h5_extents *extents);
const char *tw_h5_class_name(int class);

/* --- datasets: dataset.c, chunk.c, filter.c ------------------------------------------------------- */

enum { TW_H5_MOST_FILTERS = 8 };

typedef struct tw_h5_filters {
    int count;
    struct {
        int id;
        uint32_t value; /* the first of its parameters */
    } filter[TW_H5_MOST_FILTERS];
} tw_h5_filters;

bool tw_h5_parse_filters(tw_h5 *file, tw_h5_span body, tw_h5_filters *filters);
/* A chunk as it is stored, unpacked. `bytes` of it must come out; `work` has two buffers that hold
 * tw_h5_filter_room(bytes) each. skipped: filters, by bit, that were left out. Null with a message. */
const uint8_t *tw_h5_unpack(tw_h5 *file, const tw_h5_filters *filters, uint32_t skipped,
                            tw_h5_span stored, size_t bytes, uint8_t *const work[2]);
size_t tw_h5_filter_room(size_t bytes);

/* Where a dataset's chunks are, and of what form. */
typedef struct tw_h5_chunks {
    uint64_t at; /* of the index, or of the one chunk */
    int index;   /* 0: the old tree; else as layouts of version 4 number them */
    int rank;    /* without the elements' axis */
    bool whole;  /* filters only touch chunks that lie in the dataset whole */
    uint64_t dim[TW_H5_MOST_RANK];
    uint64_t stored; /* of a single chunk that is filtered: its bytes and filters */
    uint32_t skipped;
    size_t bytes; /* of a whole chunk */
} tw_h5_chunks;

enum { TW_H5_SINGLE = 1, TW_H5_IMPLICIT, TW_H5_FIXED_ARRAY, TW_H5_EXTENSIBLE, TW_H5_NEW_TREE };

/* Writes every chunk that is there into `to`, where all elements have a place. */
bool tw_h5_read_chunks(tw_h5 *file, const tw_h5_chunks *chunks, const tw_h5_filters *filters,
                       const tw_h5_dataset *dataset, uint8_t *to);

#endif
