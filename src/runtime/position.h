/* Positions: states that count the tokens that caches hold. */
#ifndef TW_RUNTIME_POSITION_H
#define TW_RUNTIME_POSITION_H

#include "runtime/plan.h"

/* May a run begin: is there room for what it brings? TW_E_FULL; TW_E_DATA for a number of tokens that is
 * none. Changes nothing. */
tw_status tw_positions_allow(const tw_context *context, const tw_model *model);

#endif
