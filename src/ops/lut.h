/* Lut: out[i] = table[x[i]], x and out of 8 bits. As an IR operator it carries its table as a
 * constant of 256 elements, indexed by x's stored byte taken as unsigned; as a kernel it serves
 * every unary operator on 8-bit types with scales, with a table prepared by the compiler. */
#ifndef TW_OPS_LUT_H
#define TW_OPS_LUT_H

#define TW_LUT_SIZE 256

#endif
