/* Small questions about statuses, element types and tensors. */
#include "runtime/rows.h"

const char *tw_status_text(tw_status status)
{
    switch (status) {
#define TW_STATUS_CASE(name, value, meaning)                                                       \
    case name: return meaning;
        TW_STATUS_LIST(TW_STATUS_CASE)
#undef TW_STATUS_CASE
    }
    return "unknown status";
}

/* The list is in the order of the values, from 1 on, so that a type's value is its place. */
enum {
    TW_PLACE_none,
#define TW_DTYPE_PLACE(name, symbol, value, bytes) TW_PLACE_##name,
    TW_DTYPE_LIST(TW_DTYPE_PLACE)
#undef TW_DTYPE_PLACE
};
#define TW_DTYPE_ORDER(name, symbol, value, bytes)                                                 \
    typedef char tw_##name##_is_in_place[TW_PLACE_##name == (value) ? 1 : -1];
TW_DTYPE_LIST(TW_DTYPE_ORDER)
#undef TW_DTYPE_ORDER

const uint8_t tw_element_bytes[TW_ELEMENT_TYPES] = {0,
#define TW_DTYPE_BYTES(name, symbol, value, bytes) bytes,
                                                    TW_DTYPE_LIST(TW_DTYPE_BYTES)
#undef TW_DTYPE_BYTES
};

uint32_t tw_dtype_bytes(uint32_t dtype)
{
    return dtype < sizeof tw_element_bytes ? tw_element_bytes[dtype] : 0;
}

uint32_t tw_tensor_bytes(const tw_tensor *tensor)
{
    uint32_t bytes = tw_dtype_bytes(tensor->dtype);
    for (uint32_t i = 0; i < tensor->rank; i++)
        bytes *= (uint32_t)tensor->dim[i];
    return bytes;
}
