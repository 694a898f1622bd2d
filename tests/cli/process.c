/* Processes and files for the tests of the command line. */
#define _XOPEN_SOURCE 700
#include "process.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *last_out, *last_err;
static char folder[] = "/tmp/twcliXXXXXX";

static void stop(const char *what)
{
    perror(what);
    exit(99);
}

void tw_write(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        stop(path);
}

void tw_write_text(const char *path, const char *text)
{
    tw_write(path, text, strlen(text));
}

char *tw_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *data = malloc((size_t)size + 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size)
        stop(path);
    data[size] = 0;
    fclose(file);
    if (bytes)
        *bytes = (size_t)size;
    return data;
}

int tw_count_files(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count - 2;
}

static void redirect(const char *path, int to)
{
    int handle = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (handle < 0 || dup2(handle, to) < 0)
        _exit(98);
}

static int spawn(char *words)
{
    enum { MOST = 64 };
    char *program = getenv("TILEWRIGHT");
    char *argv[MOST] = {program ? program : "tilewright"};
    int count = 1, status;
    for (char *word = strtok(words, " "); word && count < MOST - 1; word = strtok(NULL, " "))
        argv[count++] = word;
    pid_t child = fork();
    if (child < 0)
        stop("fork");
    if (child == 0) {
        redirect("../twcli.out", STDOUT_FILENO);
        redirect("../twcli.err", STDERR_FILENO);
        execvp(argv[0], argv);
        _exit(97);
    }
    if (waitpid(child, &status, 0) != child)
        stop("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

tw_result tw_process(const char *format, ...)
{
    char words[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    free(last_out);
    free(last_err);
    tw_result result = {.status = spawn(words)};
    result.out = last_out = tw_read("../twcli.out", NULL);
    result.err = last_err = tw_read("../twcli.err", NULL);
    if (result.status == 97)
        stop("the program under test ($TILEWRIGHT) cannot be run");
    return result;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

void tw_enter_folder(void)
{
    if (!mkdtemp(folder) || chdir(folder) != 0 || mkdir("work", 0700) != 0 || chdir("work") != 0)
        stop(folder);
}

void tw_leave_folder(void)
{
    free(last_out);
    free(last_err);
    last_out = last_err = NULL;
    if (chdir("/") != 0 || nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
        stop(folder);
}
