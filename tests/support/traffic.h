/* What a run reads and writes, held against what the report of its plan predicts. */
#ifndef TW_TESTS_SUPPORT_TRAFFIC_H
#define TW_TESTS_SUPPORT_TRAFFIC_H

#include "host/session.h"
#include "host/traffic.h"

typedef struct tw_test_traffic {
    const tw_model *model;
    tw_traffic *step; /* in the session's arena */
    uint32_t *calls;
} tw_test_traffic;

/* Measure the runs of a session from here on; takes its hook. */
void tw_test_measure(tw_session *session, tw_test_traffic *traffic);

/* One run has been measured: stops the test where a step moved other bytes, or was called more or less
 * often, than the report says. `what` stands in the message. */
void tw_test_expect_traffic(const tw_test_traffic *traffic, const tw_report *report,
                            const char *what);

#endif
