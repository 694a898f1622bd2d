/* Element types that nothing computes with: floats of 16 bits, which are f32 between the model's inputs and
 * outputs, and types of few bits, which are held one to a byte. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "import/onnx/model.h"

/* Values have their names later than this, so they are found by address. */
static const char *address_of(tw_onnx *o, const tw_value *value)
{
    return tw_format(o->b.arena, "%p", (const void *)value);
}

/* --- few bits ---------------------------------------------------------------------------------- */

void tw_onnx_note_type(tw_onnx *o, tw_value *value, const tw_onnx_narrow *type)
{
    if (value && type)
        tw_map_put(o->b.arena, &o->narrow, address_of(o, value), (void *)(uintptr_t)type);
}

const tw_onnx_narrow *tw_onnx_narrow_of(const tw_onnx *o, const tw_value *value)
{
    char text[32];
    if (!o->narrow.count)
        return NULL;
    snprintf(text, sizeof text, "%p", (const void *)value);
    return tw_map_get(&o->narrow, text);
}

/* What the code of a sign, an exponent and a fraction stands for. The larger bias of a format without
 * a negative zero leaves that code to the NaN. */
static float number_of(const char *format, unsigned code)
{
    bool eight = format[1] != '2', unsigned_zero = strlen(format) == 8;
    if (format[1] == '8')
        return code == 255 ? NAN : ldexpf(1, (int)code - 127);
    int fraction_bits = format[3] - '0', exponent_bits = format[1] - '0';
    int bias = (1 << (exponent_bits - 1)) - 1 + unsigned_zero;
    int sign = eight ? 0x80 : 8, magnitude = (int)code & (sign - 1);
    int exponent = magnitude >> fraction_bits, fraction = magnitude & ((1 << fraction_bits) - 1);
    int least = exponent ? 1 << fraction_bits : 0;
    float value =
        ldexpf((float)(fraction + least), (exponent ? exponent : 1) - bias - fraction_bits);
    if (unsigned_zero && code == 0x80)
        return NAN;
    if (eight && !unsigned_zero && fraction_bits == 2 && exponent == 31)
        value = fraction ? NAN : INFINITY;
    if (eight && !unsigned_zero && fraction_bits == 3 && magnitude == 0x7F)
        value = NAN;
    return (int)code & sign ? -value : value;
}

tw_value *tw_onnx_decoded(tw_onnx_node *n, tw_value *x, const tw_onnx_narrow *type)
{
    if (!type || !type->format || !x)
        return x;
    int32_t count = 1 << type->bits;
    float *table = tw_alloc_array(n->b->arena, (size_t)count, sizeof *table);
    for (int i = 0; i < count; i++)
        table[i] = number_of(type->format, (unsigned)i);
    tw_value *numbers = tw_build_data(n->b, tw_shape_of(TW_F32, 1, &count), table);
    return tw_build_gather(n->b, numbers, tw_build_cast(n->b, x, TW_S32), 0, 0);
}

/* The low bits, of signed ones with the sign of the highest. */
static tw_value *wrapped(tw_onnx_node *n, tw_value *x, const tw_onnx_narrow *type)
{
    tw_value *y = tw_build_cast(n->b, x, TW_S32);
    y = tw_build2(n->b, "BitwiseAnd", y, tw_build_scalar(n->b, TW_S32, (1 << type->bits) - 1),
                  NULL);
    if (type->unpacked == TW_S8) {
        tw_value *sign = tw_build_scalar(n->b, TW_S32, 1 << (type->bits - 1));
        y = tw_build2(n->b, "Sub", tw_build2(n->b, "BitwiseXor", y, sign, NULL), sign, NULL);
    }
    return tw_build_cast(n->b, y, type->unpacked);
}

tw_value *tw_onnx_encoded(tw_onnx_node *n, tw_value *x, const tw_onnx_narrow *type, bool saturate,
                          const char *power)
{
    if (!type->format)
        return wrapped(n, x, type);
    return tw_build1(n->b, "ToSmallFloat", tw_build_cast(n->b, x, TW_F32),
                     TW_SETTINGS(tw_set_word("format", type->format),
                                 tw_set_int("saturate", saturate), tw_set_word("power", power)));
}

/* --- 16 bits ------------------------------------------------------------------------------ */

bool tw_onnx_is_widened(tw_dtype dtype)
{
    return dtype == TW_F16 || dtype == TW_BF16;
}

/* A constant is converted now, so that weights are weights. */
static tw_value *constant_as_float(tw_onnx *o, const tw_value *x)
{
    tw_shape shape = x->shape;
    int64_t count = tw_shape_elements(&shape);
    float *data = tw_alloc_array(o->b.arena, (size_t)count + 1, sizeof *data);
    for (int64_t i = 0; i < count; i++)
        data[i] = (float)tw_constant_at(x, i);
    shape.dtype = TW_F32;
    return tw_graph_constant(o->b.graph, x->name, shape, data);
}

tw_value *tw_onnx_widened(tw_onnx *o, tw_value *x)
{
    if (!tw_onnx_is_widened(x->shape.dtype))
        return x;
    tw_value *known = tw_map_get(&o->wide, address_of(o, x));
    if (!known) {
        known = x->data ? constant_as_float(o, x) : tw_build_cast(&o->b, x, TW_F32);
        if (known)
            tw_map_put(o->b.arena, &o->wide, address_of(o, x), known);
    }
    return known;
}
