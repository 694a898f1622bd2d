"""What the bench programs share: the peers they compare with, where models are, what goes into them.

Peers come from the Python registry (scripts/setup peers). One that is not there is left out, and said.
"""

import os
import subprocess
import sys
import time

try:
    import numpy as np
except ImportError:
    sys.exit("bench: no numpy: scripts/setup peers")

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.environ.get("TILEWRIGHT_TEST_DATA", os.path.join(ROOT, "..", "shared", "data"))


def seconds_of(run, count):
    """The least processor time of one of `count` runs."""
    least = 1e30
    for _ in range(count):
        begin = time.thread_time()
        run()
        least = min(least, time.thread_time() - begin)
    return least


class Micro:
    """TensorFlow Lite Micro's interpreter with its reference kernels."""

    name = "TensorFlow Lite Micro"

    def __init__(self, model, folder, x):
        from tflite_micro.python.tflite_micro import runtime
        self.interpreter = runtime.Interpreter.from_file(model, arena_size=16 << 20)
        for i, one in enumerate(x):
            self.interpreter.set_input(one, i)
        self.interpreter.invoke()
        self.outputs = self.interpreter.get_output(0).tobytes()
        self.ram = self.arena(os.path.join(folder, "allocations"))

    def arena(self, log):
        """Bytes, from what the interpreter prints."""
        kept = os.dup(2)
        with open(log, "w") as file:
            os.dup2(file.fileno(), 2)
            self.interpreter.print_allocations()
            os.dup2(kept, 2)
        os.close(kept)
        with open(log) as file:
            for line in file:
                if "Arena allocation total" in line:
                    return int(line.split("total")[1].split()[0])
        return None

    def measure(self, count):
        return seconds_of(self.interpreter.invoke, count)

    def close(self):
        pass


class Runtime:
    """ONNX Runtime, one thread. What memory it takes is not known."""

    name = "ONNX Runtime, one thread"
    ram = outputs = None

    def __init__(self, model, folder, x):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
        self.feed = {i.name: one for i, one in zip(self.session.get_inputs(), x)}
        self.session.run(None, self.feed)

    def measure(self, count):
        return seconds_of(lambda: self.session.run(None, self.feed), count)

    def close(self):
        pass


class Tigris:
    """TiGrIS's host runtime with its portable kernels, in a fast memory of so many bytes."""

    name = "TiGrIS"
    outputs = None

    def __init__(self, model, folder, x, budget="64M"):
        import tigris.runtime
        plan = os.path.join(folder, "plan.tgrs")
        if os.path.exists(plan):
            os.remove(plan)
        done = subprocess.run([os.path.join(os.path.dirname(sys.executable), "tigris"), "compile", model,
                               "-m", budget, "-o", plan], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1])
        self.session = tigris.runtime.Session(plan)
        self.feed = {}
        for info, one in zip(self.session.inputs, x):
            if one.size * one.itemsize != info["size_bytes"]:
                raise RuntimeError("its input has another size")
            self.feed[info["name"]] = one.reshape(info["shape"])
        self.session.run(self.feed)
        self.ram = self.session.memory["fast_peak_bytes"]
        self.slow = self.session.memory["slow_peak_bytes"]

    def measure(self, count):
        return seconds_of(lambda: self.session.run(self.feed), count)

    def close(self):
        pass


def missing(module):
    try:
        __import__(module)
        return False
    except ImportError:
        print(f"SKIPPED: {module} is not installed (scripts/setup peers)")
        return True


def inputs_of(folder):
    """Random arrays for a model's inputs, by its io.tsv."""
    random = np.random.default_rng(1)
    result = []
    with open(os.path.join(folder, "io.tsv")) as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    for role, _, dtype, shape, *_ in rows[1:]:
        if role != "in":
            continue
        shape = [] if shape == "scalar" else [int(n) for n in shape.split("x")]
        if dtype == "float32":
            result.append(random.random(shape, np.float32))
        else:
            result.append(random.integers(-100, 100, shape).astype(dtype))
    return result


def require_models():
    """End the program where there are no models to run."""
    if not os.path.isdir(os.path.join(DATA, "models")):
        print(f"SKIPPED: no models in {DATA} (set TILEWRIGHT_TEST_DATA)")
        sys.exit(77)
