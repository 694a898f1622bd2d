/* A node of the IR with the attributes of the vocabulary's node. */
#include <string.h>

#include "import/foreign/tigris/tigris.h"

enum { MOST = 8 }; /* attributes of an operator that is passed on */

static tw_setting setting_of(tw_foreign_node *n, const tw_attribute *a)
{
    const tw_foreign_list ints = tw_foreign_ints(n, a->name);
    switch (a->kind) {
    case TW_ATTRIBUTE_INTS: return tw_set_ints(a->name, ints.count, ints.v);
    case TW_ATTRIBUTE_FLOAT: return tw_set_float(a->name, (float)tw_foreign_float(n, a->name));
    case TW_ATTRIBUTE_ENUM: return tw_set_word(a->name, tw_foreign_text(n, a->name));
    default: return tw_set_int(a->name, tw_foreign_int(n, a->name));
    }
}

tw_value *tw_tigris_node(tw_foreign_node *n, const char *name, tw_value *const *in, int in_count)
{
    const tw_opdef *op = tw_op_by_name(name);
    tw_setting settings[MOST + 1] = {{.name = NULL}};
    int count = 0;
    for (int i = 0; op && i < op->attribute_count && count < MOST; i++)
        if (tw_foreign_has(n, op->attributes[i].name))
            settings[count++] = setting_of(n, &op->attributes[i]);
    return tw_build(n->b, name, in, in_count, settings);
}
