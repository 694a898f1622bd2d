#!/usr/bin/env python3
"""src/ops/control.txt: branches and loops whose condition is an input's. What they yield is worked out in
Python's own integers; no library is asked."""

HEAD = "# Made by scripts/vectors/control.py.\n"

BRANCH = """graph "g" {
  input  %c : bool[1]
  input  %x : s32[3]
  %y, %z = If (%c, %x)
    graph "yes" {
      input  %x : s32[3]
      %n = Neg (%x)
      output %n
      output %x
    }
    graph "no" {
      input  %x : s32[3]
      %d = Add (%x, %x)
      output %x
      output %d
    }
  output %y
  output %z
}
"""

FIBONACCI = """graph "g" {
  input  %n : s32[1]
  const  %zero : s32[1] = [0]
  const  %first : s32[1] = [1]
  %left, %a, %b = While (%n, %zero, %first) {most=50}
    graph "more" {
      input  %left : s32[1]
      input  %a : s32[1]
      input  %b : s32[1]
      const  %zero : s32[1] = [0]
      %m = Greater (%left, %zero)
      output %m
    }
    graph "round" {
      input  %left : s32[1]
      input  %a : s32[1]
      input  %b : s32[1]
      const  %one : s32[1] = [1]
      %l = Sub (%left, %one)
      %s = Add (%a, %b)
      output %l
      output %b
      output %s
    }
  output %a
}
"""


def collatz():
    with open("../../tests/data/collatz.twir") as file:
        return "".join(line for line in file if not line.startswith("#"))


def case(title, graph, feeds, wanted):
    lines = ['case "%s" oracle "Python integers" rtol 0 atol 0\n%s' % (title, graph)]
    lines += ["feed   %%%s = %s\n" % (name, value) for name, value in feeds]
    lines += ["expect %%%s = %s\n" % (name, value) for name, value in wanted]
    return "".join(lines)


def branch(taken, x):
    y, z = ([-v for v in x], x) if taken else (x, [2 * v for v in x])
    return case("If, the condition %s" % str(taken).lower(), BRANCH,
                [("c", "[%s]" % str(taken).lower()), ("x", x)], [("y", y), ("z", z)])


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return case("While, %d rounds" % n, FIBONACCI, [("n", [n])], [("a", [a])])


def steps_to_one(n):
    start, count = n, 0
    while n > 1:
        n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
    return case("While with an If in it, from %d" % start, collatz(), [("n", [start])], [("k", [count])])


cases = [branch(True, [3, -4, 0]), branch(False, [3, -4, 0])]
cases += [fibonacci(n) for n in (0, 1, 10, 46)]
cases += [steps_to_one(n) for n in (1, 3, 11)]
with open("../../src/ops/control.txt", "w") as out:
    out.write(HEAD + "\n" + "\n".join(cases))
