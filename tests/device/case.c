/* The files of the case's folder (TW_CASE) as constant arrays. */
#define EMBED(name, file)                                                                          \
    __asm__(".section .rodata\n .balign 16\n .global " name "\n" name ":\n .incbin \"" TW_CASE     \
            "/" file "\"\n .global " name "_end\n" name "_end:\n .byte 0\n .balign 16\n")

EMBED("case_plan", "plan.twp");
EMBED("case_input", "input.bin");
EMBED("case_expected", "expected.bin");

typedef int case_translation_unit_is_not_empty;
