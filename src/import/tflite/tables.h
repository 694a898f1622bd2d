/* int8 functions of one element as the TensorFlow Lite Micro reference kernels compute them: tables
 * made at import. Where these fix their arithmetic in integers, the results differ from the rounded
 * float function, and so the table is not the one the compiler would make.
 *
 * table[x taken as unsigned] is the stored result for the stored x. docs/numerics.md has the
 * formulas. */
#ifndef TW_IMPORT_TFLITE_TABLES_H
#define TW_IMPORT_TFLITE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

/* Per-tensor quantisations of input and result; alpha: LEAKY_RELU's slope. */
typedef struct tw_tfl_table_call {
    float in_scale, out_scale;
    int32_t in_zero, out_zero;
    float alpha;
} tw_tfl_table_call;

typedef void (*tw_tfl_table)(const tw_tfl_table_call *call, int8_t table[256]);

void tw_tfl_table_logistic(const tw_tfl_table_call *call, int8_t table[256]);
void tw_tfl_table_tanh(const tw_tfl_table_call *call, int8_t table[256]);
void tw_tfl_table_hard_swish(const tw_tfl_table_call *call, int8_t table[256]);
void tw_tfl_table_relu(const tw_tfl_table_call *call, int8_t table[256]);
void tw_tfl_table_relu6(const tw_tfl_table_call *call, int8_t table[256]);
void tw_tfl_table_leaky_relu(const tw_tfl_table_call *call, int8_t table[256]);
void tw_tfl_table_elu(const tw_tfl_table_call *call, int8_t table[256]);
void tw_tfl_table_abs(const tw_tfl_table_call *call, int8_t table[256]);
void tw_tfl_table_rsqrt(const tw_tfl_table_call *call, int8_t table[256]);

#endif
