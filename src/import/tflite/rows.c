/* The ledger as a table. */
#include <stddef.h>

#include "import/tflite/tflite.h"

#define BUILTIN(code, NAME, version, options, function, least_in, most_in, becomes, limits)        \
    {code,    #NAME,   version, TW_TFL_OPTIONS_##options, tw_tfl_op_##function, least_in,          \
     most_in, becomes, limits},

static const tw_tfl_row rows[] = {
#define TW_TFLITE(...) BUILTIN(__VA_ARGS__)
#define TW_TFLITE_CUSTOM(Name, function, least_in, most_in, becomes, limits)                       \
    {TW_TFL_BUILTIN_CUSTOM, #Name, 0, 0, tw_tfl_op_##function, least_in, most_in, becomes, limits},
#define TW_TFLITE_REFUSED(code, NAME) {code, #NAME, 0, 0, NULL, 0, -1, "", ""},
#include "import/tflite/tflite.def"
};

bool tw_tfl_row_at(int index, tw_tfl_row *row)
{
    if (index < 0 || (size_t)index >= sizeof rows / sizeof *rows)
        return false;
    *row = rows[index];
    return true;
}
