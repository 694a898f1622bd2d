/* Row maps: see rows.h. */
#include "runtime/rows.h"

const tw_view tw_absent_view = {NULL, NULL, 0, 0, 0, 0, 0, 0, 0};

int32_t tw_map_rows(int32_t a, int32_t scale, int32_t add, int32_t div)
{
    int64_t v;
    if (scale == 1 && div == 1) /* most maps: |a| and |add| stay far below the limit */
        return a + add;
    v = tw_floor_div((int64_t)a * scale + add, div);
    return v < -INT32_MAX ? -INT32_MAX : v > INT32_MAX ? INT32_MAX : (int32_t)v;
}
