/* What becomes of a schedule: the plan's bytes and the report. */
#ifndef TW_EMIT_EMIT_H
#define TW_EMIT_EMIT_H

#include "plan/schedule.h"

/* What the plan records of where it came from. */
typedef struct tw_origin {
    const char *format;  /* "onnx", "text", ... */
    uint8_t sha256[32];  /* of the model file */
    const char *options; /* as text */
    bool strip;          /* leave names and origin text out */
} tw_origin;

/* The plan file, in the schedule's arena, aligned to 16 bytes. */
bool tw_emit_plan(const tw_schedule *schedule, const tw_origin *origin, const void **plan,
                  uint32_t *bytes, tw_diag *diag);

/* Everything in the report that follows from the schedule. */
void tw_emit_report(const tw_schedule *schedule, uint32_t plan_bytes, uint32_t weight_bytes,
                    tw_report *report);

/* What each target makes of the plan's bytes. */
bool tw_report_targets(const tw_schedule *schedule, const void *plan, uint32_t bytes,
                       tw_report *report, tw_diag *diag);

/* Bytes of the constants that the plan carries: weights as kernels want them, and tables. */
uint32_t tw_constant_bytes(const void *plan);

#endif
