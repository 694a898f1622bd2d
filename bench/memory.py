"""RAM of int8 networks at several budgets, beside the peers that are installed: bench/memory.

For every int8 model that all take: TensorFlow Lite Micro's arena, which has no budget; TiGrIS's fast and slow
memory at each budget; the fast memory of a plan that prefers memory, and slow memory where it does not fit
without. Wanted: a plan wherever a peer has one, of at
most 60% of the better peer's bytes; where the input alone is more than 40% of those, of at most the input and
12 KB.

A peer answers in a process of its own within LIMIT seconds, so that one that hangs or crashes costs its answer
alone. What peers answer depends on their version, the model's bytes and the budget only: it is kept below the
build folder.
"""

import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile

from peers import DATA, ROOT, Micro, Tigris, inputs_of, missing, require_models

BUDGETS = [256, 128, 64, 32, 16]  # KB
LIMIT = 180  # seconds of a peer's process
KEPT = os.path.join(ROOT, "build", "bench-memory.json")


def answer(peer, folder, budget):
    """In a process of its own: the bytes as JSON on the last line."""
    model, x = os.path.join(folder, "model.tflite"), inputs_of(folder)
    with tempfile.TemporaryDirectory() as work:
        if peer == "tflite-micro":
            print("\n" + json.dumps([Micro(model, work, x).ram, 0]))
        else:
            engine = Tigris(model, work, x, budget)
            print("\n" + json.dumps([engine.ram or 0, engine.slow or 0]))


class Peers:
    """Answers of the peers: from the file where they are kept, or asked for."""

    def __init__(self, fresh):
        self.kept = {}
        self.versions = {name: importlib.metadata.version(name) for name in ("tflite-micro", "tigris-ml")}
        if os.path.exists(KEPT) and not fresh:
            with open(KEPT) as file:
                self.kept = json.load(file)

    def ask(self, peer, folder, budget=""):
        """(Bytes of fast and slow memory or None, what it says where it has none.)"""
        with open(os.path.join(folder, "model.tflite"), "rb") as file:
            model = hashlib.sha256(file.read()).hexdigest()[:16]
        key = f"{peer} {self.versions[peer]} {model} {budget}"
        if key not in self.kept:
            self.kept[key] = self.measure(peer, folder, budget)
            os.makedirs(os.path.dirname(KEPT), exist_ok=True)
            with open(KEPT, "w") as file:
                json.dump(self.kept, file, indent=1, sort_keys=True)
        return self.kept[key]

    @staticmethod
    def measure(peer, folder, budget):
        try:
            done = subprocess.run([sys.executable, __file__, "--answer", peer, folder, budget],
                                  capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return None, f"no answer in {LIMIT} s"
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
            return None, lines[-1][:100]
        return json.loads(done.stdout.splitlines()[-1]), ""


def ours(program, model, budget):
    """(Bytes of fast, of slow memory) of the plan of least memory within the budget; None where there is none."""
    for memory in (f"{budget}K", f"{budget}K+64M"):
        done = subprocess.run([program, "analyze", model, "-m", memory, "--prefer", "memory", "--json"],
                              capture_output=True, text=True)
        report = json.loads(done.stdout)
        if report.get("fits"):
            slow = report["slow"]["bytes"]
            return report["memory"]["total"] - slow, slow
    return None


def verdict(total, better, input_bytes):
    """What the totals come to, and whether that is what is wanted."""
    if better is None:
        return "no peer fits", True
    if total is None:
        return "a peer fits, we do not", False
    most = max(0.6 * better, input_bytes + 12288 if input_bytes > 0.4 * better else 0)
    return f"{sum(total) / better:.0%} of it", sum(total) <= most


def compare(program, folder, peers, budgets):
    """(Arena, input bytes, rows of (budget, TiGrIS's bytes, ours, words, good)) of one model; None and the reason
    where it is not one that all take."""
    model, x = os.path.join(folder, "model.tflite"), inputs_of(folder)
    if not x or any(one.dtype.name != "int8" for one in x):
        return None, ""
    arena, why = peers.ask("tflite-micro", folder)
    if not arena:
        return None, f"TensorFlow Lite Micro: {why}"
    taken, why = peers.ask("tigris-ml", folder, "64M")
    if not taken:
        return None, f"TiGrIS: {why}"
    inputs, rows = sum(one.nbytes for one in x), []
    for budget in budgets:
        theirs, _ = peers.ask("tigris-ml", folder, f"{budget}K")
        total = ours(program, model, budget)
        fitting = [arena[0]] if arena[0] <= budget * 1024 else []
        better = min(fitting + ([sum(theirs)] if theirs else []), default=None)
        rows.append((budget, theirs, total, *verdict(total, better, inputs)))
    return (arena[0], inputs, rows), ""


def amount(bytes_of):
    """Fast and slow memory in words."""
    if not bytes_of:
        return "-"
    return f"{bytes_of[0]:,} + {bytes_of[1]:,}" if bytes_of[1] else f"{bytes_of[0]:,}"


def show(name, arena, inputs, rows):
    print(f"{name}: input {inputs:,} bytes, TensorFlow Lite Micro's arena {arena:,}")
    for budget, theirs, total, words, good in rows:
        print(f"  {budget:>4} KB   tilewright {amount(total):>17}   TiGrIS {amount(theirs):>19}   {words}"
              f"{'' if good else '   ABOVE'}")
    print(flush=True)


def show_markdown(name, arena, inputs, rows):
    """A row a model: at each budget ours and, in bold where it is not what is wanted, its share of the better peer."""
    cells = []
    for _, _, total, words, good in rows:
        share = words.removesuffix(" of it").replace("no peer fits", "no peer").replace("a peer fits, we do not", "none")
        cells.append(f"{amount(total)} ({share if good else f'**{share}**'})" if total else share)
    print(f"| {name} | {inputs:,} | {arena:,} | " + " | ".join(cells) + " |", flush=True)


def main():
    program, *rest = sys.argv[1:]
    if program == "--answer":
        return answer(*rest)
    part = next((word for word in rest if not word.startswith("-")), "")
    if missing("tflite_micro") | missing("tigris"):
        sys.exit(77)
    require_models()
    root, peers, results, left_out = os.path.join(DATA, "models", "tflite"), Peers("--fresh" in rest), [], []
    budgets = BUDGETS[::2] if "--quick" in rest else BUDGETS
    if "--md" in rest:
        print("| model | input | Micro | " + " | ".join(f"{budget} KB" for budget in budgets) + " |")
        print("|---|" + "---:|" * (2 + len(budgets)))
    for name in sorted(os.listdir(root)):
        if part not in name or not os.path.exists(os.path.join(root, name, "model.tflite")):
            continue
        found, why = compare(program, os.path.join(root, name), peers, budgets)
        if found:
            (show_markdown if "--md" in rest else show)(name, *found)
            results.append(found[2])
        elif why:
            left_out.append(f"left out: {name}: {why}")
    print("\n" + "\n".join(left_out))
    rows = [row for result in results for row in result]
    print(f"{sum(all(row[4] for row in result) for result in results)} of {len(results)} models within what is wanted at "
          f"every budget, {sum(row[4] for row in rows)} of {len(rows)} rows")


if __name__ == "__main__":
    main()
