"""RAM of int8 networks at several budgets, beside the peers that are installed: bench/memory.

For every int8 model that all take: TensorFlow Lite Micro's arena, which has no budget; TiGrIS's fast and slow
memory at each budget; the total of a plan that prefers memory. Wanted: a plan wherever a peer has one, of at
most 60% of the better peer's bytes; where the input alone is more than 40% of those, of at most the input and
12 KB.
"""

import json
import os
import subprocess
import sys
import tempfile

from peers import DATA, Micro, Tigris, inputs_of, missing, require_models

BUDGETS = [256, 128, 64, 32, 16]  # KB


def ours(program, model, budget):
    """Bytes of the plan of least memory within the budget; None where there is none."""
    done = subprocess.run([program, "analyze", model, "-m", f"{budget}K", "--prefer", "memory", "--json"],
                          capture_output=True, text=True)
    report = json.loads(done.stdout)
    return report["memory"]["total"] if report.get("fits") else None


def tigris(model, work, x, budget):
    """Its fast and slow bytes; None where it finds no plan."""
    try:
        engine = Tigris(model, work, x, f"{budget}K")
        return engine.ram or 0, engine.slow or 0
    except Exception:  # whatever it raises: no plan
        return None


def verdict(total, better, input_bytes):
    if better is None:
        return "no peer fits", True
    if total is None:
        return "a peer fits, we do not", False
    most = max(0.6 * better, input_bytes + 12288 if input_bytes > 0.4 * better else 0)
    return f"{total / better:4.0%} of it", total <= most


def bench(program, folder, budgets):
    """Rows of one model; None where a peer does not take it."""
    model, x = os.path.join(folder, "model.tflite"), inputs_of(folder)
    if not x or any(one.dtype.name != "int8" for one in x):
        return None
    good = True
    with tempfile.TemporaryDirectory() as work:
        try:
            arena = Micro(model, work, x).ram
            Tigris(model, work, x)
        except Exception as error:
            print(f"{os.path.basename(folder)}\n  left out: a peer says: {str(error).splitlines()[0][:90]}\n")
            return None
        inputs = sum(one.nbytes for one in x)
        print(f"{os.path.basename(folder)}: input {inputs:,} bytes, TensorFlow Lite Micro's arena {arena:,}")
        for budget in budgets:
            theirs, total = tigris(model, work, x, budget), ours(program, model, budget)
            fitting = [arena] if arena <= budget * 1024 else []
            better = min(fitting + ([sum(theirs)] if theirs else []), default=None)
            words, ok = verdict(total, better, inputs)
            good &= ok
            peer = f"{theirs[0]:,} + {theirs[1]:,}" if theirs else "-"
            mine = f"{total:,}" if total else "-"
            print(f"  {budget:>4} KB   tilewright {mine:>9}   TiGrIS {peer:>19}   {words}{'' if ok else '   ABOVE'}", flush=True)
    print()
    return good


def main():
    program, *rest = sys.argv[1:]
    part = next((word for word in rest if not word.startswith("-")), "")
    if missing("tflite_micro") | missing("tigris"):
        sys.exit(77)
    require_models()
    root = os.path.join(DATA, "models", "tflite")
    found = [bench(program, os.path.join(root, name), BUDGETS[::2] if "--quick" in rest else BUDGETS)
             for name in sorted(os.listdir(root)) if part in name]
    taken = [good for good in found if good is not None]
    print(f"{sum(taken)} of {len(taken)} models within what is wanted at every budget")


if __name__ == "__main__":
    main()
