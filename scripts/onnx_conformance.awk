# onnx-suite.tsv (tests/unit/test_onnx_suite.c says what is in it) to docs/onnx-conformance.md.
# Input sorted bytewise, so that the page does not depend on the order of the tests.
BEGIN { FS = "\t" }

# The refusal without names, numbers of opsets and remedies: what several tests have in common.
function short(message) {
    sub(/;.*/, "", message)
    sub(/, which is not supported.*/, "", message)
    gsub(/ \('[^']*'\)| \(opset [0-9]+\)|^graph /, "", message)
    gsub(/ '[^']*' has/, " has", message)
    gsub(/\|/, "\\|", message)
    return message
}

function why(operator, refused, message) {
    if (message ~ /^the operator .* of domain .* is not supported/)
        return refused == last_part(operator) ? "not imported" : refused ": not imported"
    return (refused != "" && refused != last_part(operator) ? refused ": " : "") short(message)
}

function last_part(operator) {
    sub(/.*\./, "", operator)
    return operator
}

function of(part, whole) { return whole ? part + 0 "/" whole : "" }

{
    suite[$1]; count[$1, $3]++; types[$1, $3, $4]++
    if ($3 == "EXCLUDED")
        excluded[$7] = excluded[$7] (excluded[$7] ? ", " : "") "`" $2 "` (" $1 ")"
}

$1 == "current node" {
    operators[$5]
    all[$5, $4]++
    passed[$5, $4] += $3 == "PASS"
    if ($3 != "PASS") {
        reason = why($5, $6, $7)
        if (!(($5, reason) in times))
            reasons[$5] = reasons[$5] (reasons[$5] ? SUBSEP : "") reason
        times[$5, reason]++
    }
}

# The keys of `set`, sorted, as list[1..]. Operators of the standard domain stand first.
function sorted(set, list,    n, key, i, k) {
    n = 0
    for (key in set) {
        for (i = n++; i > 0 && rank(list[i]) > rank(key); i--)
            list[i + 1] = list[i]
        list[i + 1] = key
    }
    return n
}

function rank(name) { return (name ~ /\./ ? "1" : "0") name }

function print_reasons(operator,    list, n, i, text) {
    n = split(reasons[operator], list, SUBSEP)
    for (i = 1; i <= n; i++)
        text = text (text ? "; " : "") list[i] (times[operator, list[i]] > 1 ? " (" times[operator, list[i]] ")" : "")
    return text
}

END {
    print "# ONNX conformance"
    print ""
    print "What becomes of the ONNX project's own operator tests. Each is compiled and run as a user would do it, whole"
    print "and with every step split into random bands, which must not change a bit; a result must be within 1e-3 relative"
    print "or 1e-7 absolute of the expected one. Inputs that fix a shape, an axis, a count or a pad are bound when compiling,"
    print "data never. A test passes, or its model is refused by name with exit status 3; no other outcome is accepted."
    print ""
    print "Written by `scripts/docs fix` from a run of `test_onnx_suite`; `scripts/docs` compares."
    print ""
    print "*current*: the tests of ONNX 1.23 (opset 28). *Debian*: those of `libonnx-testdata` (opset 17). Plain tests have"
    print "inputs and outputs of float32, int8, uint8, int32, int64 and bool only."
    print ""
    print "| suite | pass | of them plain | unsupported | of them plain | excluded |"
    print "|---|---|---|---|---|---|"
    n = sorted(suite, list)
    for (i = 1; i <= n; i++) {
        s = list[i]
        printf "| %s | %d | %d | %d | %d | %d |\n", s, count[s, "PASS"], types[s, "PASS", "plain"], \
            count[s, "UNSUPPORTED"], types[s, "UNSUPPORTED", "plain"], count[s, "EXCLUDED"]
    }
    print ""
    print "## Excluded"
    print ""
    n = sorted(excluded, list)
    for (i = 1; i <= n; i++)
        print "- " excluded[list[i]] ": " list[i] "."
    print ""
    print "## The current tests by operator"
    print ""
    print "Passed of all, with plain types and with others, and why the rest is refused (how often). Tests of a function's"
    print "expansion count for the operator. What is said of another operator than the row's is what the expansion needs."
    print ""
    print "| operator | plain | other types | unsupported |"
    print "|---|---|---|---|"
    n = sorted(operators, list)
    for (i = 1; i <= n; i++) {
        o = list[i]
        printf "| %s | %s | %s | %s |\n", o == "" ? "(no node)" : o, of(passed[o, "plain"], all[o, "plain"]), \
            of(passed[o, "other"], all[o, "other"]), print_reasons(o)
    }
}
