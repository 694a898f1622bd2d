/* Running the command under test: $TILEWRIGHT, in a folder of its own. */
#ifndef TW_TESTS_PROCESS_H
#define TW_TESTS_PROCESS_H

#include <stddef.h>

typedef struct tw_result {
    int status;      /* exit status, or -1 when the process did not end by itself */
    char *out, *err; /* standard output and error; live until the next run */
} tw_result;

/* The words of the command line behind the program's name, separated by single spaces. */
tw_result tw_process(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Make, read and count files in the current folder. */
void tw_write(const char *path, const void *data, size_t bytes);
void tw_write_text(const char *path, const char *text);
char *tw_read(const char *path, size_t *bytes); /* null when it is not there; malloc'ed */
int tw_count_files(const char *folder);

/* Enter a new, empty folder; leave and remove it. */
void tw_enter_folder(void);
void tw_leave_folder(void);

#endif
