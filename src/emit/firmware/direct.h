/* What the two parts of a firmware without a plan share: direct.c writes steps and segments, direct_run.c
 * the run that calls them and what survives it. */
#ifndef TW_EMIT_FIRMWARE_DIRECT_H
#define TW_EMIT_FIRMWARE_DIRECT_H

#include "emit/firmware/make.h"

/* "FAST": what a region's first byte is called. */
const char *tw_direct_base(uint32_t region);

/* NAME_reset, NAME_run, and of caches NAME_tokens and NAME_rewind. made: by segment, is there a function
 * segment_N? The macro DO ends the run where that fails. */
void tw_write_direct_run(const tw_making *m, FILE *file, const bool *made);

#endif
