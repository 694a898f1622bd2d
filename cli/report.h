/* A compile report as JSON and as text. */
#ifndef TW_CLI_REPORT_H
#define TW_CLI_REPORT_H

#include "output.h"
#include "tilewright/compiler.h"

/* Sets the keys that scripts may rely on: fits, memory, flash, layerwise, ... */
void cli_report_json(const tw_report *report, json_t *object);

json_t *cli_json_traffic(const tw_traffic *traffic);

/* What an input or output is: {name, dtype, shape, scale, zero_point}. */
json_t *cli_json_tensors(const tw_report_tensor *tensors, int count);

/* Memory and flash in a few lines; `head` stands before them. */
void cli_report_totals(const tw_report *report, FILE *file);

/* What a run reads and writes, by memory. */
void cli_report_traffic(const tw_report *report, FILE *file);
void cli_report_again(const tw_report *report, FILE *file);

/* The segments that roll, a line each; and all segments as a table: how each runs, its calls, work, bytes moved
 * and held. */
void cli_report_rolling(const tw_report *report, FILE *file);

/* What a quantised network computes in float32 all the same, a line each. */
void cli_report_float_steps(const tw_report *report, FILE *file);
void cli_report_segments(const tw_report *report, FILE *file);

/* A row a step: name, operator, output, band, bytes alive, multiply-accumulates. */
void cli_report_steps(const tw_report *report, const cli_terminal *terminal, FILE *file);

/* What is there at the fullest moment, and what would lower it. */
void cli_report_limits(const tw_report *report, FILE *file);

/* The same: {step, largest [..], lower [{option, name, bytes}]}. */
json_t *cli_json_limits(const tw_report *report);

/* Ends that look like a state carried by hand, with the option that makes the plan carry it. */
void cli_report_states(const tw_report *report, FILE *file);

/* Budgets and what the plan within each costs, where the report has them. */
void cli_report_pareto(const tw_report *report, FILE *file);

/* Memory over time: addresses upwards, steps to the right, a letter a buffer. */
void cli_report_drawing(const tw_report *report, const cli_terminal *terminal, FILE *file);

#endif
