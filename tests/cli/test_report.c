/* report: one page, whole in itself, the same every time, in which no name of the model can become markup; drawn
 * and driven by the keyboard in a browser where there is one. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

/* Names that would end the page's script, begin markup, turn the text around. */
static const char hostile[] =
    "graph \"</title></script><script>window.broken=1</script>&amp;\" {\n"
    "  input  %\"<img src=x onerror=window.broken=2>\" : f32[1,8,8,3]\n"
    "  const  %w : f32[4,3,3,3] = random 7 -0.5 0.5\n"
    "  %y = Conv \"</SCRIPT ><!--<script>\" (%\"<img src=x onerror=window.broken=2>\", %w) "
    "{pad_begin=[1,1], pad_end=[1,1]}\n"
    "  %\"a\xe2\x80\xae"
    "b' onfocus='window.broken=3\" = Sigmoid(%y)\n"
    "  %z = MaxPool(%\"a\xe2\x80\xae"
    "b' onfocus='window.broken=3\") {kernel=[3,3], stride=[2,2], "
    "pad_begin=[1,1], pad_end=[1,1]}\n"
    "  output %z\n"
    "}\n";

static char *page_of(const char *words)
{
    expect_status(tw_process("report %s -o page.html", words), 0);
    char *page = tw_read("page.html", NULL);
    assert_non_null(page);
    return page;
}

/* ---- what the page is made of ---- */

/* The report inside the page. */
static json_t *data_of(const char *page)
{
    const char *begin = strstr(page, "<script type=\"application/json\" id=\"data\">");
    assert_non_null(begin);
    begin = strchr(begin, '>') + 1;
    const char *end = strstr(begin, "</script>");
    assert_non_null(end);
    for (const char *c = begin; c < end; c++)
        assert_true(*c != '<' && *c != '>' && *c != '&' && (unsigned char)*c < 127);
    char *text = strndup(begin, (size_t)(end - begin));
    json_t *data = parse_json(text);
    free(text);
    return data;
}

static int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (text = strstr(text, part); text; text = strstr(text + 1, part))
        count++;
    return count;
}

/* Nothing is fetched: no address but the name space of SVG, no way to ask for one. */
static void expect_self_contained(const char *page)
{
    static const char *const ways[] = {
        " src=",     "url(",        "@import",    "fetch(",    "XMLHttpRequest", "import(",
        "WebSocket", "EventSource", "sendBeacon", "innerHTML", "document.write", "eval("};
    char *code = strdup(page); /* without the data, in which names may say anything */
    char *data = strstr(code, "id=\"data\">"), *end = strstr(data, "</script>");
    memset(data, ' ', (size_t)(end - data));
    int addresses = occurrences(code, "://");
    assert_int_equal(addresses, occurrences(code, "http://www.w3.org/2000/svg"));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strstr(code, ways[i]))
            fail_msg("the page has \"%s\"", ways[i]);
    free(code);
    expect_text(page, "content=\"default-src 'none'; style-src 'unsafe-inline'; "
                      "script-src 'unsafe-inline'; img-src data:\"");
    assert_int_equal(occurrences(page, "<link "), 1);
    expect_text(page, "<link rel=\"icon\" href=\"data:,\">");
}

static bool is_void(const char *name)
{
    return strcmp(name, "meta") == 0 || strcmp(name, "link") == 0 || strcmp(name, "input") == 0;
}

/* Every element is closed in order; scripts and styles hold text. Returns the number of elements. */
static int expect_well_formed(const char *page)
{
    char open[64][16];
    int depth = 0, count = 0;
    assert_int_equal(strncmp(page, "<!DOCTYPE html>\n<html lang=\"en\">\n", 33), 0);
    for (const char *c = strchr(page + 1, '<'); c; c = strchr(c, '<')) {
        bool closes = c[1] == '/';
        char name[16] = "";
        sscanf(c + 1 + closes, "%15[a-z0-9]", name);
        if (!*name)
            fail_msg("\"<\" outside of a tag: %.40s", c);
        c = strchr(c, '>');
        assert_non_null(c);
        count++;
        if (closes && (depth == 0 || strcmp(open[--depth], name) != 0))
            fail_msg("</%s> closes <%s>", name, depth < 0 ? "" : open[depth]);
        if (closes || is_void(name))
            continue;
        assert_in_range(depth, 0, 62);
        memcpy(open[depth++], name, sizeof name);
        if (strcmp(name, "script") == 0 || strcmp(name, "style") == 0) {
            c = strstr(c, name[1] == 'c' ? "</script>" : "</style>");
            assert_non_null(c);
        }
    }
    assert_int_equal(depth, 0);
    return count;
}

/* Identifiers that the page refers to are there, once. */
static void expect_references(const char *page)
{
    static const char *const attributes[] = {"aria-labelledby=\"", "href=\"#", "byId(\""};
    for (size_t i = 0; i < 3; i++)
        for (const char *c = strstr(page, attributes[i]); c; c = strstr(c, attributes[i])) {
            char id[64], wanted[80];
            c += strlen(attributes[i]);
            if (sscanf(c, "%63[a-z-]", id) != 1)
                continue;
            snprintf(wanted, sizeof wanted, "id=\"%s\"", id);
            if (occurrences(page, wanted) != 1)
                fail_msg("%s is there %d times", wanted, occurrences(page, wanted));
        }
}

static void pages_are_whole(void **state)
{
    (void)state;
    char *page = page_of("tiny.twir -m 8K");
    assert_true(expect_well_formed(page) > 60);
    expect_self_contained(page);
    expect_references(page);
    expect_text(page, "prefers-color-scheme: dark");
    json_t *data = data_of(page);
    expect_keys(data,
                "model version options memory flash layerwise macs traffic calls cycles limits "
                "pareto segments steps buffers inputs outputs smallest_budget");
    assert_string_equal(json_string_value(json_object_get(data, "options")), "8K");
    assert_int_equal(json_array_size(json_object_get(data, "steps")), 3);
    json_decref(data);
    expect_status(tw_process("report tiny.twir -m 8K -o again.html"), 0);
    expect_same_files("page.html", "again.html");
    free(page);
}

static void mistakes_leave_no_page(void **state)
{
    (void)state;
    tw_result r = tw_process("report tiny.twir");
    expect_status(r, 2);
    expect_text(r.err, "-o FILE.html");
    r = tw_process("report tiny.twir -m 100 -o none.html");
    expect_status(r, 1);
    expect_text(r.err, "smallest budget");
    expect_status(tw_process("report absent.onnx -o none.html"), 1);
    assert_null(tw_read("none.html", NULL));
}

/* A plan tells the same of itself as the compiler tells of it. */
static void plans_are_shown_too(void **state)
{
    (void)state;
    static const char *const same[] = {"memory", "flash",  "macs", "traffic",
                                       "calls",  "cycles", "slow"};
    static const char *const of_step[] = {"name",      "operator", "shape",   "segment",
                                          "band_rows", "calls",    "traffic", "live",
                                          "constants", "macs",     "cycles"};
    expect_status(tw_process("compile tiny.twir --prefer memory -o tiny.twp"), 0);
    char *page = page_of("tiny.twp");
    json_t *plan = data_of(page);
    free(page);
    page = page_of("tiny.twir --prefer memory");
    json_t *model = data_of(page);
    free(page);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (!json_equal(json_object_get(plan, same[i]), json_object_get(model, same[i])))
            fail_msg("the plan says another \"%s\"", same[i]);
    json_t *steps = json_object_get(plan, "steps"), *others = json_object_get(model, "steps");
    assert_int_equal(json_array_size(steps), json_array_size(others));
    for (size_t s = 0; s < json_array_size(steps); s++)
        for (size_t i = 0; i < sizeof of_step / sizeof *of_step; i++)
            if (!json_equal(json_object_get(json_array_get(steps, s), of_step[i]),
                            json_object_get(json_array_get(others, s), of_step[i])))
                fail_msg("the plan says another \"%s\" of step %zu", of_step[i], s);
    assert_int_equal(json_array_size(json_object_get(plan, "buffers")),
                     json_array_size(json_object_get(model, "buffers")));
    json_decref(plan);
    json_decref(model);
}

static void names_stay_names(void **state)
{
    (void)state;
    tw_write_text("hostile.twir", hostile);
    char *page = page_of("hostile.twir");
    char *tame = page_of("tiny.twir");
    assert_int_equal(expect_well_formed(page), expect_well_formed(tame));
    expect_self_contained(page);
    expect_text(page, "<title>&lt;/title&gt;&lt;/script&gt;");
    json_t *data = data_of(page);
    assert_string_equal(json_string_value(json_object_get(data, "model")),
                        "</title></script><script>window.broken=1</script>&amp;");
    json_decref(data);
    free(page);
    free(tame);
}

/* ---- in a browser ---- */

/* Before everything: mistakes and refusals are kept. */
static const char watch[] = "<script>window.failures = [];\n"
                            "addEventListener('error', (e) => failures.push(String(e.message)));\n"
                            "addEventListener('securitypolicyviolation', (e) => "
                            "failures.push(e.violatedDirective));</script>";

/* After everything: the keyboard is used, and what is seen then is written into the page. */
static const char probe[] =
    "<script>{\n"
    "const seen = {}, focus = () => document.activeElement;\n"
    "const press = (key) => focus().dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: "
    "true, "
    "cancelable: true}));\n"
    "const step = () => document.querySelector('#detail .op').textContent.split(' ')[1];\n"
    "document.querySelector(\".step[tabindex='0']\").focus();\n"
    "seen.buffers = document.querySelectorAll('svg .buffer').length;\n"
    "seen.stops = document.querySelectorAll(\".step[tabindex='0']\").length;\n"
    "press('End'); seen.end = step(); seen.focused = focus().dataset.step;\n"
    "press('Home'); seen.home = step();\n"
    "press('ArrowRight'); seen.right = step();\n"
    "seen.tip = !document.getElementById('tip').hidden;\n"
    "press('ArrowDown'); seen.lit = document.querySelectorAll('.buffer.lit').length;\n"
    "press('Escape'); seen.hidden = document.getElementById('tip').hidden;\n"
    "press('Enter'); seen.button = focus().tagName + focus().dataset.step;\n"
    "const head = [...document.querySelectorAll('#steps thead button')].find((b) => "
    "b.textContent === 'live bytes');\n"
    "const order = () => [...document.querySelectorAll('#steps tbody tr')].map((r) => "
    "report.steps[r.dataset.step].live);\n"
    "head.click(); seen.down = order(); seen.sort = head.parentNode.getAttribute('aria-sort');\n"
    "head.click(); seen.up = order();\n"
    "document.querySelectorAll('input[name=width]')[1].click();\n"
    "seen.wide = document.documentElement.scrollWidth <= innerWidth;\n"
    "seen.title = document.title; seen.name = document.getElementById('name').textContent;\n"
    "seen.broken = window.broken === undefined; seen.images = document.images.length;\n"
    "seen.failures = failures;\n"
    "const told = document.createElement('pre'); told.id = 'told';\n"
    "told.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(seen)))); "
    "document.body.append(told);\n"
    "}</script>";

static const char *browser(void)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome"};
    static char command[64];
    for (size_t i = 0; i < 3; i++) {
        snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", names[i]);
        if (system(command) == 0)
            return names[i];
    }
    return NULL;
}

/* The page with both scripts, loaded; what it tells. */
static json_t *drive(const char *page, int width)
{
    char command[512];
    FILE *file = fopen("driven.html", "w");
    assert_non_null(file);
    const char *body = strstr(page, "<body>") + 6, *end = strstr(page, "</body>");
    fprintf(file, "%.*s%s%.*s%s%s", (int)(body - page), page, watch, (int)(end - body), body, probe,
            end);
    fclose(file);
    snprintf(
        command, sizeof command,
        "timeout 120 %s --headless --no-sandbox --disable-gpu --user-data-dir=browser "
        "--window-size=%d,900 --virtual-time-budget=4000 --dump-dom \"file://$PWD/driven.html\" "
        ">dom.html 2>browser.log",
        browser(), width);
    assert_int_equal(system(command), 0);
    char *dom = tw_read("dom.html", NULL);
    assert_non_null(dom);
    const char *told = strstr(dom, "<pre id=\"told\">");
    if (!told) {
        fail_msg("the page's script did not come to its end; see browser.log");
        return NULL;
    }
    file = fopen("told.b64", "w");
    fprintf(file, "%.*s", (int)strcspn(told + 15, "<"), told + 15);
    fclose(file);
    assert_int_equal(system("base64 -d told.b64 >told.json"), 0);
    char *text = tw_read("told.json", NULL);
    json_t *seen = parse_json(text);
    free(text);
    free(dom);
    return seen;
}

static void expect_sorted(const json_t *numbers, bool falls)
{
    for (size_t i = 1; i < json_array_size(numbers); i++) {
        json_int_t a = json_integer_value(json_array_get(numbers, i - 1));
        json_int_t b = json_integer_value(json_array_get(numbers, i));
        assert_true(falls ? a >= b : a <= b);
    }
}

static void expect_driven(const json_t *seen, int steps)
{
    char last[16];
    snprintf(last, sizeof last, "%d", steps - 1);
#define SEEN(key) json_object_get(seen, key)
    if (json_array_size(SEEN("failures")))
        fail_msg("a script failed: %s", json_string_value(json_array_get(SEEN("failures"), 0)));
    assert_true(json_integer_value(SEEN("buffers")) >= steps);
    assert_int_equal(json_integer_value(SEEN("stops")), 1);
    assert_string_equal(json_string_value(SEEN("end")), last);
    assert_string_equal(json_string_value(SEEN("focused")), last);
    assert_string_equal(json_string_value(SEEN("home")), "0");
    assert_string_equal(json_string_value(SEEN("right")), "1");
    assert_string_equal(json_string_value(SEEN("button")), "BUTTON1");
    assert_string_equal(json_string_value(SEEN("sort")), "descending");
    assert_int_equal(json_integer_value(SEEN("lit")), 1);
    assert_true(json_is_true(SEEN("tip")) && json_is_true(SEEN("hidden")));
    assert_true(json_is_true(SEEN("broken")) && json_integer_value(SEEN("images")) == 0);
    if (!json_is_true(SEEN("wide")))
        fail_msg("the page is wider than the window");
    expect_sorted(SEEN("down"), true);
    expect_sorted(SEEN("up"), false);
#undef SEEN
}

static void a_browser_shows_it(void **state)
{
    (void)state;
    if (!browser()) {
        print_error("SKIPPED: no chromium: the page is not opened in a browser\n");
        skip();
    }
    char *page = page_of("tiny.twir --prefer memory");
    json_t *seen = drive(page, 1400);
    expect_driven(seen, 3);
    json_decref(seen);
    free(page);
    tw_write_text("hostile.twir", hostile);
    page = page_of("hostile.twir");
    seen = drive(page, 480);
    expect_driven(seen, 3);
    expect_text(json_string_value(json_object_get(seen, "title")),
                "</title></script><script>window.broken=1</script>&amp;");
    json_decref(seen);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_whole),     cmocka_unit_test(mistakes_leave_no_page),
        cmocka_unit_test(plans_are_shown_too), cmocka_unit_test(names_stay_names),
        cmocka_unit_test(a_browser_shows_it),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
