/* A checkpoint: an index, which is a sorted table of keys and where their tensors lie, and the files of
 * data. The table's form is LevelDB's: blocks of entries whose keys share beginnings, an index block of
 * blocks, a footer. Every offset is checked against the file, every block and tensor against its sum.
 */
#include <snappy-c.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "import/tensor_file.h"
#include "import/tensorflow/tensorflow.h"
#include "import/wire.h"

#define MAGIC UINT64_C(0xdb4775248b80fb57)
enum { PLAIN = 0, SNAPPY = 1 }; /* kinds of block */
enum {
    FOOTER = 48,
    TRAILER = 5,
    BLOCK_BYTES = 64 << 20,
    INDEX_BYTES = 256 << 20,
    KEY_BYTES = 1 << 16,
    SHARDS = 100000
};

struct tw_tf_checkpoint {
    tw_arena *arena;
    const char *folder; /* of its files */
    int32_t shards;
    tw_map entries;   /* key -> tw_tf_stored */
    tw_map variables; /* full name -> key, of the objects; filled when first asked */
    bool listed;
    tw_diag *diag;
};

typedef struct tw_block {
    const uint8_t *data;
    size_t bytes;
} tw_block;

static bool damaged(const tw_tf_checkpoint *c, const char *what)
{
    return tw_fail(c->diag, TW_CODE_FAILED, NULL, NULL,
                   "the checkpoint's index (%.200s/variables.index) is damaged: %s", c->folder,
                   what);
}

/* --- sums -------------------------------------------------------------------------------------- */

/* CRC-32C (polynomial 0x1edc6f41, reflected), rotated and shifted as the format stores it. */
static uint32_t masked_crc(const uint8_t *data, size_t bytes)
{
    uint32_t table[256], crc = UINT32_MAX;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    for (size_t i = 0; i < bytes; i++)
        crc = crc >> 8 ^ table[(crc ^ data[i]) & 255];
    crc = ~crc;
    return (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
}

/* --- the table --------------------------------------------------------------------------------- */

static uint32_t read_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static bool read_varint(tw_block *in, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; in->bytes > 0 && shift < 64; shift += 7) {
        uint8_t byte = *in->data++;
        in->bytes--;
        *value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128))
            return true;
    }
    return false;
}

/* A compressed block, unpacked. */
static bool unpack(const tw_tf_checkpoint *c, tw_block *block)
{
    size_t bytes;
    const char *packed = (const char *)block->data;
    if (snappy_uncompressed_length(packed, block->bytes, &bytes) != SNAPPY_OK ||
        bytes > BLOCK_BYTES)
        return damaged(c, "a block does not say what it unpacks to");
    char *data = tw_alloc(c->arena, bytes + 1);
    if (snappy_uncompress(packed, block->bytes, data, &bytes) != SNAPPY_OK)
        return damaged(c, "a block cannot be unpacked");
    *block = (tw_block){(const uint8_t *)data, bytes};
    return true;
}

/* The block that the handle at the head of `handle` names, its trailer checked and off. */
static bool find_block(const tw_tf_checkpoint *c, tw_block file, tw_block *handle, tw_block *block)
{
    uint64_t offset, bytes;
    if (!read_varint(handle, &offset) || !read_varint(handle, &bytes))
        return damaged(c, "a block's place is cut off");
    if (offset > file.bytes || bytes > file.bytes - offset || file.bytes - offset - bytes < TRAILER)
        return damaged(c, "a block lies outside the file");
    *block = (tw_block){file.data + offset, (size_t)bytes};
    const uint8_t kind = block->data[bytes];
    if (masked_crc(block->data, block->bytes + 1) != read_u32(block->data + bytes + 1))
        return damaged(c, "a block's checksum is wrong");
    if (kind != PLAIN && kind != SNAPPY)
        return tw_fail(c->diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "the checkpoint's index is compressed in a way that is not known (%d)",
                       kind);
    return kind == PLAIN || unpack(c, block);
}

typedef bool (*tw_on_entry)(tw_tf_checkpoint *c, tw_block file, const char *key, tw_block value);

/* Every entry of the block, in order. Keys have a zero byte behind them. */
static bool walk_block(tw_tf_checkpoint *c, tw_block file, tw_block block, tw_on_entry on_entry)
{
    if (block.bytes < 4)
        return damaged(c, "a block is too short");
    uint64_t restarts = read_u32(block.data + block.bytes - 4);
    if (restarts > (block.bytes - 4) / 4)
        return damaged(c, "a block's list of restarts is longer than the block");
    tw_block in = {block.data, block.bytes - 4 - 4 * (size_t)restarts};
    char *key = tw_alloc(c->arena, KEY_BYTES + 1);
    size_t length = 0;
    while (in.bytes > 0) {
        uint64_t shared, rest, bytes;
        if (!read_varint(&in, &shared) || !read_varint(&in, &rest) || !read_varint(&in, &bytes))
            return damaged(c, "an entry is cut off");
        if (shared > length || rest > KEY_BYTES - shared || rest > in.bytes ||
            bytes > in.bytes - rest)
            return damaged(c, "an entry is longer than its block");
        memcpy(key + shared, in.data, (size_t)rest);
        length = (size_t)(shared + rest);
        key[length] = 0;
        tw_block value = {in.data + rest, (size_t)bytes};
        in.data += rest + bytes;
        in.bytes -= (size_t)(rest + bytes);
        if (!on_entry(c, file, key, value))
            return false;
    }
    return true;
}

/* --- what the table holds ---------------------------------------------------------------------- */

static bool read_header(tw_tf_checkpoint *c, tw_block value)
{
    const Tw__Tf__BundleHeader *header = (const Tw__Tf__BundleHeader *)tw_wire_unpack(
        &tw__tf__bundle_header__descriptor, "header", value.data, value.bytes, c->arena, c->diag);
    if (!header)
        return false;
    if (header->endianness != 0)
        return tw_fail(c->diag, TW_CODE_UNSUPPORTED, NULL, NULL,
                       "the checkpoint was written by a big-endian machine");
    c->shards = header->num_shards;
    return (c->shards > 0 && c->shards < SHARDS) || damaged(c, "it has no files of data");
}

static bool read_entry(tw_tf_checkpoint *c, tw_block file, const char *key, tw_block value)
{
    (void)file;
    if (!*key)
        return read_header(c, value);
    const Tw__Tf__BundleEntry *entry = (const Tw__Tf__BundleEntry *)tw_wire_unpack(
        &tw__tf__bundle_entry__descriptor, "entry", value.data, value.bytes, c->arena, c->diag);
    if (!entry)
        return false;
    tw_tf_stored *stored = tw_alloc(c->arena, sizeof *stored);
    *stored = (tw_tf_stored){.key = tw_strdup(c->arena, key),
                             .type = entry->dtype,
                             .sliced = entry->n_slices > 0,
                             .shard = entry->shard_id,
                             .offset = (uint64_t)entry->offset,
                             .bytes = (uint64_t)entry->size,
                             .crc = entry->crc32c};
    tw_diag quiet = {.code = TW_CODE_OK};
    stored->fits = tw_tf_shape(entry->shape, key, &stored->rank, stored->dim, &quiet);
    tw_map_put(c->arena, &c->entries, stored->key, stored);
    return true;
}

static bool read_block(tw_tf_checkpoint *c, tw_block file, const char *key, tw_block handle)
{
    tw_block block;
    (void)key;
    return find_block(c, file, &handle, &block) && walk_block(c, file, block, read_entry);
}

static bool read_table(tw_tf_checkpoint *c, tw_block file)
{
    uint64_t magic = 0;
    tw_block ignored, index;
    if (file.bytes < FOOTER)
        return damaged(c, "it is too short");
    tw_block footer = {file.data + file.bytes - FOOTER, FOOTER};
    for (int i = 0; i < 8; i++)
        magic |= (uint64_t)footer.data[FOOTER - 8 + i] << 8 * i;
    if (magic != MAGIC)
        return damaged(c, "it does not end as a table does");
    return find_block(c, file, &footer, &ignored) && find_block(c, file, &footer, &index) &&
           walk_block(c, file, index, read_block);
}

tw_tf_checkpoint *tw_tf_checkpoint_open(tw_arena *arena, const char *folder, bool *there,
                                        tw_diag *diag)
{
    tw_tf_checkpoint *c = tw_alloc(arena, sizeof *c);
    c->arena = arena;
    c->folder = tw_format(arena, "%s/variables", folder);
    c->diag = diag;
    const char *path = tw_format(arena, "%s/variables.index", c->folder);
    void *data;
    size_t bytes;
    *there = access(path, F_OK) == 0;
    if (!*there || !tw_read_file(arena, path, INDEX_BYTES, &data, &bytes, diag))
        return NULL;
    return read_table(c, (tw_block){data, bytes}) ? c : NULL;
}

const tw_tf_stored *tw_tf_checkpoint_find(const tw_tf_checkpoint *checkpoint, const char *key)
{
    return checkpoint ? tw_map_get(&checkpoint->entries, key) : NULL;
}

static const char *shard_name(const tw_tf_checkpoint *c, int32_t shard)
{
    return tw_format(c->arena, "variables.data-%05d-of-%05d", (int)shard, (int)c->shards);
}

/* --- objects ----------------------------------------------------------------------------------- */

/* The text of a stored tensor of one: its length, a sum of that, the bytes. Null without a message where
 * it is anything else. */
static const uint8_t *read_text(const tw_tf_checkpoint *c, const tw_tf_stored *stored,
                                size_t *bytes)
{
    tw_diag quiet = {.code = TW_CODE_OK};
    void *data;
    uint64_t file_bytes, length;
    if (stored->rank != 0 || stored->shard < 0 || stored->shard >= c->shards ||
        stored->bytes > INDEX_BYTES ||
        !tw_read_inside(c->arena, c->folder, shard_name(c, stored->shard), stored->offset,
                        (size_t)stored->bytes, &data, &file_bytes, &quiet))
        return NULL;
    tw_block in = {data, (size_t)stored->bytes};
    if (!read_varint(&in, &length) || in.bytes < 4 || length != in.bytes - 4)
        return NULL;
    *bytes = (size_t)length;
    return in.data + 4;
}

/* The variables that the objects hold, by their full names; a name of several is none's. */
static void list_variables(tw_tf_checkpoint *c)
{
    static char several[] = "";
    const tw_tf_stored *stored = tw_map_get(&c->entries, "_CHECKPOINTABLE_OBJECT_GRAPH");
    tw_diag quiet = {.code = TW_CODE_OK};
    size_t bytes;
    const uint8_t *data = stored ? read_text(c, stored, &bytes) : NULL;
    const Tw__Tf__ObjectGraph *objects =
        data ? (const Tw__Tf__ObjectGraph *)tw_wire_unpack(&tw__tf__object_graph__descriptor,
                                                           "objects", data, bytes, c->arena, &quiet)
             : NULL;
    c->listed = true;
    for (size_t i = 0; objects && i < objects->n_node; i++)
        for (size_t k = 0; k < objects->node[i]->n_attribute; k++) {
            const Tw__Tf__ObjectAttribute *a = objects->node[i]->attribute[k];
            if (!a->name || !a->full_name || !a->checkpoint_key ||
                strcmp(a->name, "VARIABLE_VALUE") != 0)
                continue;
            const char *known = tw_map_get(&c->variables, a->full_name);
            tw_map_put(c->arena, &c->variables, a->full_name,
                       known && strcmp(known, a->checkpoint_key) != 0 ? several
                                                                      : a->checkpoint_key);
        }
}

const tw_tf_stored *tw_tf_checkpoint_variable(tw_tf_checkpoint *c, const char *full_name)
{
    if (c && !c->listed)
        list_variables(c);
    const char *key = c ? tw_map_get(&c->variables, full_name) : NULL;
    return key && *key ? tw_tf_checkpoint_find(c, key) : NULL;
}

/* --- tensors ----------------------------------------------------------------------------------- */

tw_value *tw_tf_checkpoint_read(tw_tf_node *n, const tw_tf_stored *stored)
{
    const tw_tf_checkpoint *c = n->import->checkpoint;
    tw_dtype dtype = tw_tf_stored_dtype(stored->type);
    tw_shape shape;
    void *data;
    if (stored->sliced) {
        TW_TF_UNSUPPORTED(n,
                          "'%.200s' of the checkpoint is stored in pieces; save the model without "
                          "partitioned variables",
                          stored->key);
        return NULL;
    }
    if (dtype == TW_NO_DTYPE || !stored->fits || stored->rank < 0) {
        TW_TF_UNSUPPORTED(n,
                          "'%.200s' of the checkpoint is %s, or of more than %d axes, which is not "
                          "supported",
                          stored->key, tw_tf_type_name(stored->type), TW_MAX_RANK);
        return NULL;
    }
    if (!tw_shape_from_file("the stored tensor", dtype, (size_t)stored->rank, stored->dim, &shape,
                            n->b->diag))
        return NULL;
    if (stored->bytes != tw_shape_bytes(&shape) || stored->shard < 0 ||
        stored->shard >= c->shards) {
        TW_TF_FAIL(n,
                   "'%.200s' of the checkpoint has %llu bytes in file %d; its shape needs %u, and "
                   "there are %d files",
                   stored->key, (unsigned long long)stored->bytes, (int)stored->shard,
                   (unsigned)tw_shape_bytes(&shape), (int)c->shards);
        return NULL;
    }
    const char *name = shard_name(c, stored->shard);
    uint64_t file_bytes;
    if (!tw_read_inside(n->b->arena, c->folder, name, stored->offset, (size_t)stored->bytes, &data,
                        &file_bytes, n->b->diag))
        return NULL;
    if (masked_crc(data, (size_t)stored->bytes) != stored->crc) {
        TW_TF_FAIL(n, "'%.200s' of the checkpoint has the wrong checksum: %.200s/%s is damaged",
                   stored->key, c->folder, name);
        return NULL;
    }
    return tw_tf_from_stored(n, shape, data);
}
