/* The operators as a table. */
#include "import/tensorflow/tensorflow.h"

bool tw_tf_row_at(int index, tw_tf_row *row)
{
    static const tw_tf_row rows[] = {
#define TW_TENSORFLOW(Name, function, least_in, most_in, results, becomes, limits)                 \
    {#Name, tw_tf_op_##function, least_in, most_in, results, becomes, limits},
#define TW_TENSORFLOW_REFUSED(Name, instead) {#Name, NULL, 0, -1, "", "", instead},
#include "import/tensorflow/tensorflow.def"
    };
    const int count = (int)(sizeof rows / sizeof *rows);
    if (index < count)
        *row = rows[index];
    return index < count;
}
