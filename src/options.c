/* Compile options: defaults, and the memories that `-m` names. In: text. Out: at most a fast and a
 * slow memory and the flash, every size within 32 bits. */
#include "tilewright/compiler.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/locale.h"

enum { SLOW_COST = 4 }; /* of external RAM where the user names no cost */

static bool fail_usage(tw_diag *diag, const char *text, const char *what)
{
    return tw_fail(diag, TW_CODE_USAGE, NULL, NULL,
                   "-m %.100s: %s; write a size (256K), fast+slow (256K+4M), or names with sizes "
                   "and costs (sram:128K,psram:8M@6,flash@4)",
                   text, what);
}

void tw_memories_default(tw_memories *memories)
{
    *memories = (tw_memories){.fast = {.name = "fast", .cost = 1},
                              .slow = {.name = "slow", .cost = SLOW_COST},
                              .flash = {.name = "flash", .cost = 1}};
}

void tw_compile_options_default(tw_compile_options *options)
{
    *options = (tw_compile_options){.io_layout = TW_IO_KEEP, .loop_limit = 65536};
    tw_memories_default(&options->memories);
}

/* "256K" at *at; moves past it. */
static bool take_size(const char **at, uint32_t *bytes)
{
    static const char units[] = "KMG";
    if (**at < '0' || **at > '9')
        return false;
    char *end;
    unsigned long long value = strtoull(*at, &end, 10);
    const char *unit = *end ? strchr(units, *end >= 'a' ? *end - 32 : *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (value > UINT32_MAX || value << shift > UINT32_MAX)
        return false;
    *bytes = (uint32_t)(value << shift);
    *at = end + (unit != NULL);
    return true;
}

/* NAME[:SIZE][@COST] at *at; moves past it. */
static bool take_named(const char **at, tw_memory_spec *memory)
{
    size_t n = strcspn(*at, ":@,");
    if (n == 0 || n >= sizeof memory->name)
        return false;
    *memory = (tw_memory_spec){.given = true, .cost = 1};
    memcpy(memory->name, *at, n);
    *at += n;
    if (**at != ':' && **at != '@') /* a bare word is more likely a size mistyped */
        return false;
    if (**at == ':') {
        ++*at;
        memory->bounded = true;
        if (!take_size(at, &memory->bytes))
            return false;
    }
    if (**at == '@') {
        char *end;
        memory->cost = strtod(++*at, &end);
        if (end == *at || !(memory->cost >= 1 && memory->cost <= 1e6))
            return false;
        *at = end;
    }
    return true;
}

static bool parse_named(const char *text, tw_memories *memories, tw_diag *diag)
{
    for (const char *at = text;; at++) {
        tw_memory_spec memory;
        if (!take_named(&at, &memory) || (*at && *at != ','))
            return fail_usage(diag, text, "not NAME:SIZE@COST (sizes below 4G, costs from 1)");
        tw_memory_spec *place = strcmp(memory.name, "flash") == 0 ? &memories->flash
                                : !memories->fast.given           ? &memories->fast
                                                                  : &memories->slow;
        if (place->given)
            return fail_usage(diag, text,
                              place == &memories->flash ? "flash is named twice"
                                                        : "more than two memories beside flash");
        *place = memory;
        if (!*at)
            break;
    }
    if (memories->slow.given && memories->slow.cost < memories->fast.cost) {
        tw_memory_spec cheap = memories->slow;
        memories->slow = memories->fast;
        memories->fast = cheap;
    }
    return true;
}

/* SIZE[+SIZE] */
static bool parse_sizes(const char *text, tw_memories *memories, tw_diag *diag)
{
    const char *at = text;
    memories->fast.given = memories->fast.bounded = true;
    if (!take_size(&at, &memories->fast.bytes))
        return fail_usage(diag, text, "not a size below 4G");
    if (*at == '+') {
        at++;
        memories->slow.given = memories->slow.bounded = true;
        if (!take_size(&at, &memories->slow.bytes))
            return fail_usage(diag, text, "the second size is not one below 4G");
    }
    return *at == 0 || fail_usage(diag, text, "something stands behind the size");
}

bool tw_parse_memories(const char *text, tw_memories *memories, tw_diag *diag)
{
    tw_memories_default(memories);
    tw_locale locale = tw_locale_enter();
    bool ok = *text >= '0' && *text <= '9' ? parse_sizes(text, memories, diag)
                                           : parse_named(text, memories, diag);
    tw_locale_leave(locale);
    return ok;
}
