/* Names from outside made into C: identifiers that no keyword, header or other name is in the way of,
 * and text that a comment can hold. */
#include "emit/firmware/make.h"

#include <string.h>

/* Names that would not do: keywords of C and C++, headers of C and POSIX (a NAME.h on the include
 * path would stand in for <NAME.h>), targets of CMake and libraries that -l names, prefixes of the C
 * library and of the runtime, our own files. */
static const char reserved[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl "
    "const "
    "const_cast constexpr continue decltype default delete do double dynamic_cast else enum "
    "explicit "
    "export extern false float for friend goto if inline int long mutable namespace new noexcept "
    "not "
    "not_eq nullptr operator or or_eq private protected public register reinterpret_cast restrict "
    "return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using virtual void "
    "volatile "
    "wchar_t while xor xor_eq "
    "assert complex ctype errno fenv inttypes iso646 limits locale math setjmp signal stdalign "
    "stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time "
    "uchar wchar wctype aio cpio dirent dlfcn fcntl fmtmsg fnmatch ftw glob grp iconv langinfo "
    "libgen memory monetary mqueue ndbm netdb nl_types poll pthread pwd regex sched search "
    "semaphore "
    "spawn strings stropts syslog tar termios trace ulimit unistd utime utmpx wordexp "
    "all clean help install preinstall test package package_source edit_cache rebuild_cache m c "
    "gcc dl "
    "rt "
    "atomic thrd mtx cnd tss main port vectors plan tw runtime ops src tilewright errno stdin "
    "stdout "
    "stderr linux unix i386 arm ";

enum { LONGEST = 48 };

static bool is_reserved(const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = reserved; (at = strstr(at, word)); at += 1)
        if (at[-1] == ' ' && at[n] == ' ')
            return true;
    return strncmp(word, "tw_", 3) == 0;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char lower(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c;
}

const char *tw_in_capitals(tw_arena *arena, const char *text)
{
    char *copy = tw_strdup(arena, text);
    for (char *c = copy; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    return copy;
}

/* Letters and digits, everything between them one underscore; "" where there are none. */
char *tw_word_of(tw_arena *arena, const char *text)
{
    char *word = tw_alloc(arena, LONGEST + 8);
    int n = 0;
    for (; *text && n < LONGEST; text++) {
        if (is_letter(*text) || (*text >= '0' && *text <= '9'))
            word[n++] = lower(*text);
        else if (n > 0 && word[n - 1] != '_')
            word[n++] = '_';
    }
    while (n > 0 && word[n - 1] == '_')
        word[--n] = 0;
    return word;
}

bool tw_firmware_name_is_safe(const char *name)
{
    if (!is_letter(name[0]) || strlen(name) > LONGEST)
        return false;
    char small[LONGEST + 1] = {0};
    for (size_t i = 0; name[i]; i++) {
        if (!is_letter(name[i]) && !(name[i] >= '0' && name[i] <= '9') && name[i] != '_')
            return false;
        small[i] = lower(name[i]);
    }
    return !is_reserved(small);
}

const char *tw_firmware_name(tw_arena *arena, const char *text)
{
    const char *word = tw_word_of(arena, text);
    if (!is_letter(word[0]))
        word = *word ? tw_format(arena, "model_%s", word) : "model";
    return tw_firmware_name_is_safe(word) ? word : tw_format(arena, "model_%.40s", word);
}

/* Only what no compiler reads anything into: no ends of comments, no continued lines, no trigraphs. */
const char *tw_comment_text(tw_arena *arena, const char *text)
{
    enum { LONGEST_TITLE = 80 };
    char *copy = tw_strndup(arena, text, strnlen(text, LONGEST_TITLE));
    for (char *c = copy; *c; c++)
        if (*c < ' ' || *c > '~' || *c == '*' || *c == '\\' || *c == '?')
            *c = '.';
    return copy;
}

static bool is_taken(const tw_port *ports, uint32_t count, const char *word)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(ports[i].c, word) == 0)
            return true;
    return false;
}

tw_port *tw_name_ports(const tw_making *m, bool outputs)
{
    const tw_model *model = &m->session->model;
    const uint32_t count = outputs ? model->output_count : model->input_count;
    const char **names = outputs ? m->session->output_names : m->session->input_names;
    tw_port *ports = tw_alloc_array(m->arena, (size_t)count + 1, sizeof *ports);
    for (uint32_t i = 0; i < count; i++) {
        tw_port *p = &ports[i];
        const char *word = tw_word_of(m->arena, names[i]);
        p->tensor = outputs ? tw_output_tensor(model, i) : tw_input_tensor(model, i);
        p->title = tw_comment_text(m->arena, names[i]);
        p->c = *word ? word : tw_format(m->arena, "%u", i);
        for (uint32_t n = i; is_taken(ports, i, p->c); n += count)
            p->c = tw_format(m->arena, "%.36s%s%u", word, *word ? "_" : "", n);
        p->big = tw_in_capitals(m->arena, p->c);
        p->row_bytes = (int32_t)(outputs ? tw_session_output_row_bytes(m->session, i)
                                         : tw_session_row_bytes(m->session, i));
    }
    return ports;
}
