/* What the tests of the command line expect, and the two networks they use: tiny.twir with x.bin, and
 * counter.twir. */
#ifndef TW_TESTS_EXPECT_H
#define TW_TESTS_EXPECT_H

#include <jansson.h>

#include "process.h"

/* An accumulator kept outside: n = relu(s), given back as the next step's s. */
extern const char counter[];

/* The test stops where something else is found. */
void expect_status(tw_result r, int status);
void expect_text(const char *text, const char *part);
void expect_pattern(const char *text, const char *pattern); /* extended regular expression */
void expect_keys(const json_t *object, const char *keys);   /* separated by spaces */
void expect_same_files(const char *a, const char *b);
json_t *parse_json(const char *text);
void expect_in_file(const char *path, const char *part);

/* How strictly firmware compiles. */
#define STRICT "-O0 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -ffp-contract=off"
/* A shell command that must end with `status`; what it printed is in shell.out. */
void expect_shell(int status, const char *format, ...);

/* For the group of tests: a folder with the networks and their data. */
int set_up(void **state);
int tear_down(void **state);

#endif
