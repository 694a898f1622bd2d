/* The ledger of ONNX operators as a table, and what the IR's families bring without a row. */
#include <string.h>

#include "import/onnx/onnx.h"

static const tw_onnx_row rows[] = {
#define TW_ONNX(domain, Name, function, least_in, most_in, most_out, keeps, becomes, limits)       \
    {domain, #Name, tw_onnx_op_##function, least_in, most_in, most_out, keeps, becomes, limits},
#include "import/onnx/onnx.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

static bool has_row(const char *name, size_t length)
{
    for (int i = 0; i < ROWS; i++)
        if (!rows[i].domain[0] && strlen(rows[i].name) == length &&
            memcmp(rows[i].name, name, length) == 0)
            return true;
    return false;
}

/* The `index`th name in the families' lists that has no row of its own. */
static bool family_at(int index, tw_onnx_row *row)
{
    for (int i = 0; i < tw_op_count; i++) {
        const tw_opdef *op = tw_ops[i];
        for (const char *at = op->onnx ? op->onnx : ""; *at;) {
            size_t length = strcspn(at, " ");
            if (length && !has_row(at, length) && index-- == 0) {
                *row = (tw_onnx_row){"",         "",         tw_onnx_op_family,
                                     op->min_in, op->max_in, 1,
                                     PLAIN,      op->name,   op->limits ? op->limits : ""};
                memcpy(row->name, at, length < sizeof row->name ? length : sizeof row->name - 1);
                return true;
            }
            at += length + (at[length] == ' ');
        }
    }
    return false;
}

bool tw_onnx_row_at(int index, tw_onnx_row *row)
{
    if (index < ROWS) {
        *row = rows[index];
        return true;
    }
    return family_at(index - ROWS, row);
}

const char *tw_onnx_standard_name(int index)
{
    static const char *const names[] = {
#define TW_ONNX_NAME(Name) #Name,
#include "import/onnx/names.def"
    };
    return index < (int)(sizeof names / sizeof *names) ? names[index] : NULL;
}
