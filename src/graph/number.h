/* One element of a tensor as text, in the form the text IR reads back to the same bits. */
#ifndef TW_GRAPH_NUMBER_H
#define TW_GRAPH_NUMBER_H

#include <stdbool.h>

#include "tilewright/runtime.h"

enum { TW_NUMBER_TEXT = 40 }; /* bytes that hold any number with its final zero */

/* Writes the element; floats in the shortest decimal form, a NaN other than the usual one as
 * nan(0xBITS). The current locale must have a decimal point. */
void tw_number_print(tw_dtype dtype, const void *element, char text[TW_NUMBER_TEXT]);

/* What came of reading a number. */
typedef enum tw_number_result {
    TW_NUMBER_OK,
    TW_NUMBER_MALFORMED,
    TW_NUMBER_RANGE /* well formed, but the type cannot hold it */
} tw_number_result;

/* Reads what tw_number_print writes, besides other decimals, C99 hexadecimal floats and integers,
 * inf, true, false. Integers must be exact. */
tw_number_result tw_number_parse(tw_dtype dtype, const char *text, void *element);

/* Stores a number that is in the type's range; integers whole. */
void tw_number_store(tw_dtype dtype, double value, void *element);

/* "a whole number such as 1, -2 or 0x1F" and so on, for messages. */
const char *tw_number_form(tw_dtype dtype);

#endif
