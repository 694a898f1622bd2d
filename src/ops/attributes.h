/* Attributes: one list an operator, read by the text IR, the checker, the docs, the plan writer and,
 * as a structure of 32-bit words, by the kernels.
 *
 *     #define TW_CONV_ATTRIBUTES(A, T)                                                    \
 *         A(T, INTS, stride, 0, 1, 1 << 16, "step on each spatial axis")                  \
 *         A(T, INT, group, 1, 1, INT32_MAX, "channel groups")
 *     TW_ATTRIBUTE_STRUCT(conv, TW_CONV_ATTRIBUTES);   // in conv.h: type tw_conv_attributes
 *     TW_ATTRIBUTE_TABLE(conv, TW_CONV_ATTRIBUTES);    // in conv.c: tw_conv_attribute_table
 *     ... = {TW_OP_LEDGER(conv), TW_OP_ATTRIBUTES(conv), ...}   // in the record
 *
 * Columns: kind, name, default, least, greatest, meaning. For ENUM the meaning begins with the
 * names in order of value, "half_even|half_away: ...".
 */
#ifndef TW_OPS_ATTRIBUTES_H
#define TW_OPS_ATTRIBUTES_H

#include <stddef.h>
#include <stdint.h>

#include "tilewright/runtime.h"

/* Up to TW_MAX_RANK integers. As a default, count 0 (each operator says what empty means). */
typedef struct tw_ints {
    int32_t count;
    int32_t v[TW_MAX_RANK];
} tw_ints;

typedef struct tw_floats {
    int32_t count;
    float v[TW_MAX_RANK];
} tw_floats;

typedef enum tw_attribute_kind {
    TW_ATTRIBUTE_INT,
    TW_ATTRIBUTE_BOOL,
    TW_ATTRIBUTE_ENUM,
    TW_ATTRIBUTE_DTYPE,
    TW_ATTRIBUTE_FLOAT,
    TW_ATTRIBUTE_INTS,
    TW_ATTRIBUTE_FLOATS
} tw_attribute_kind;

typedef struct tw_attribute {
    tw_attribute_kind kind;
    const char *name;
    uint32_t offset;        /* in the structure */
    double initial;         /* default; of a list: unused, it starts empty */
    double least, greatest; /* of each element */
    const char *meaning;
} tw_attribute;

#define TW_CTYPE_INT int32_t
#define TW_CTYPE_BOOL int32_t
#define TW_CTYPE_ENUM int32_t
#define TW_CTYPE_DTYPE int32_t
#define TW_CTYPE_FLOAT float
#define TW_CTYPE_INTS tw_ints
#define TW_CTYPE_FLOATS tw_floats

#define TW_ATTRIBUTE_FIELD(T, kind, name, initial, least, greatest, meaning) TW_CTYPE_##kind name;
#define TW_ATTRIBUTE_STRUCT(op, LIST)                                                              \
    typedef struct tw_##op##_attributes {                                                          \
        LIST(TW_ATTRIBUTE_FIELD, _)                                                                \
    } tw_##op##_attributes

#define TW_ATTRIBUTE_ROW(T, kind, name, initial, least, greatest, meaning)                         \
    {TW_ATTRIBUTE_##kind, #name, offsetof(T, name), initial, least, greatest, meaning},
#define TW_ATTRIBUTE_TABLE(op, LIST)                                                               \
    static const tw_attribute tw_##op##_attribute_table[] = {                                      \
        LIST(TW_ATTRIBUTE_ROW, tw_##op##_attributes)}
#define TW_OP_ATTRIBUTES(op)                                                                       \
    .attributes = tw_##op##_attribute_table,                                                       \
    .attribute_count = (int)(sizeof tw_##op##_attribute_table / sizeof(tw_attribute)),             \
    .attribute_bytes = (uint32_t)sizeof(tw_##op##_attributes)

#endif
