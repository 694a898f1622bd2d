/* The files of the case's folder (TW_CASE) as constant arrays: plan.twp, input.bin and expected.bin, or, with
 * TW_PACK, the many of pack.bin (see pack.c). */
#include "case.h"

#define EMBED(name, file)                                                                          \
    __asm__(".section .rodata.case,\"a\"\n .balign 16\n .global " name "\n" name                   \
            ":\n .incbin \"" TW_CASE "/" file "\"\n .global " name "_end\n" name                   \
            "_end:\n .byte 0\n .balign 16\n .previous\n")

#ifdef TW_PACK
EMBED("case_pack", "pack.bin");
extern const uint8_t case_pack[];

static uint32_t padded(uint32_t bytes)
{
    return (bytes + 15u) & ~15u;
}

int case_get(uint32_t index, tw_case *c)
{
    const uint8_t *at = case_pack;
    for (;; index--) {
        const uint32_t *head = (const uint32_t *)(const void *)at;
        c->plan_bytes = head[0];
        c->input_bytes = head[1];
        c->expected_bytes = head[2];
        c->plan = at + 16;
        c->input = c->plan + padded(head[0]);
        c->expected = c->input + padded(head[1]);
        at = c->expected + padded(head[2]);
        if (head[0] == 0 || index == 0)
            return head[0] != 0;
    }
}
#else
EMBED("case_plan", "plan.twp");
EMBED("case_input", "input.bin");
EMBED("case_expected", "expected.bin");
extern const uint8_t case_plan[], case_plan_end[];
extern const uint8_t case_input[], case_input_end[];
extern const uint8_t case_expected[], case_expected_end[];

int case_get(uint32_t index, tw_case *c)
{
    c->plan = case_plan;
    c->input = case_input;
    c->expected = case_expected;
    c->plan_bytes = (uint32_t)(case_plan_end - case_plan);
    c->input_bytes = (uint32_t)(case_input_end - case_input);
    c->expected_bytes = (uint32_t)(case_expected_end - case_expected);
    return index == 0;
}
#endif
