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

const uint8_t tw_element_bytes[] = {0,
#define TW_DTYPE_BYTES(name, symbol, value, bytes) [value] = bytes,
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
