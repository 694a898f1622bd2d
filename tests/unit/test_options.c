/* The memories that -m names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tilewright/compiler.h"

static tw_memories parse(const char *text)
{
    tw_memories m;
    tw_diag diag = {0};
    if (!tw_parse_memories(text, &m, &diag))
        fail_msg("%s: %s", text, diag.message);
    return m;
}

static void test_sizes(void **state)
{
    (void)state;
    tw_memories m = parse("256K");
    assert_true(m.fast.given && m.fast.bounded && !m.slow.given && !m.flash.given);
    assert_int_equal(m.fast.bytes, 262144);
    m = parse("1000+4M");
    assert_int_equal(m.fast.bytes, 1000);
    assert_true(m.slow.given && m.slow.bounded && m.slow.cost > 1);
    assert_int_equal(m.slow.bytes, 4 << 20);
    m = parse("3g");
    assert_true(m.fast.bytes == 3u << 30);
}

static void test_names(void **state)
{
    (void)state;
    tw_memories m = parse("sram:128K,psram:8M@6,flash@4");
    assert_string_equal(m.fast.name, "sram");
    assert_int_equal(m.fast.bytes, 128 << 10);
    assert_true(m.fast.cost == 1 && m.slow.cost == 6 && m.flash.cost == 4);
    assert_string_equal(m.slow.name, "psram");
    assert_true(m.flash.given && !m.flash.bounded);
    m = parse("psram:8M@6,sram:128K"); /* the cheaper one is the fast one, in any order */
    assert_string_equal(m.fast.name, "sram");
    assert_string_equal(m.slow.name, "psram");
    m = parse("dtcm@1.5");
    assert_true(m.fast.given && !m.fast.bounded && m.fast.cost == 1.5);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "K",
                                        "4096M",
                                        "4G",
                                        "-1",
                                        "1K2",
                                        "1K+",
                                        "1K+1K+1K",
                                        "a:",
                                        "a:1K,b:1K,c:1K",
                                        "a:1K@0.5",
                                        "a:1K@nan",
                                        "a@",
                                        ":1K",
                                        "a:1K,",
                                        "flash@1,flash@2",
                                        "256KB",
                                        "averyveryverylongname:1K",
                                        "99999999999999999999999",
                                        "a:1K@1e99"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tw_memories m;
        tw_diag diag = {0};
        if (tw_parse_memories(texts[i], &m, &diag))
            fail_msg("%s was taken", texts[i]);
        assert_int_equal(diag.code, TW_CODE_USAGE);
        assert_non_null(strstr(diag.message, "256K+4M"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
