"""RAM and time per inference of whole networks, beside the peers that are installed: bench/models.

Every engine that can run a model runs in turn with the others, a few inferences each, several rounds; the
least processor time of one inference counts (one thread each). The ratios are what to believe. Inputs are
random; int8 outputs are compared with TensorFlow Lite Micro's byte for byte.
"""

import os
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    sys.exit("bench/models: no numpy: scripts/setup peers")

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.environ.get("TILEWRIGHT_TEST_DATA", os.path.join(ROOT, "..", "shared", "data"))

# Folder, name; of the first three also what RAM and time are to be, against TensorFlow Lite Micro.
MODELS = [
    ("tflite/mlperf_resnet_int8", "image classification, ResNet-8, int8", 0.86, 12),
    ("tflite/mlperf_kws_int8", "keyword spotting, DS-CNN, int8", 0.63, 8),
    ("tflite/mlperf_vww_int8", "visual wake words, MobileNetV1 0.25, int8", 0.53, 8),
    ("tflite/mlperf_ad01_int8", "anomaly detection, autoencoder, int8", None, None),
    ("tflite/person_detect", "person detection, MobileNetV1 0.25, int8", None, None),
    ("tflite/mlperf_resnet_fp32", "image classification, ResNet-8, float", None, None),
    ("tflite/mlperf_vww_fp32", "visual wake words, MobileNetV1 0.25, float", None, None),
    ("tflite/mlperf_ad01_fp32", "anomaly detection, autoencoder, float", None, None),
    ("onnx/ultraface_rfb320", "face detection, UltraFace 320, float", None, None),
    ("onnx/magika_v3_3", "file types, Magika, float", None, None),
    ("onnx/basic_pitch", "notes of music, Basic Pitch, float", None, None),
]


def seconds_of(run, count):
    """The least processor time of one of `count` runs."""
    least = 1e30
    for _ in range(count):
        begin = time.thread_time()
        run()
        least = min(least, time.thread_time() - begin)
    return least


class Ours:
    """A bench-model process."""

    def __init__(self, program, model, how, folder, x):
        self.name = "tilewright, " + ("whole layers" if how == "whole" else "default")
        given, out = os.path.join(folder, "in"), os.path.join(folder, "out-" + how)
        with open(given, "wb") as file:
            file.write(b"".join(one.tobytes() for one in x))
        self.process = subprocess.Popen([program, model, how, given, out], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = self.process.stdout.readline().split()
        if not first:
            raise RuntimeError(self.process.stderr.read().strip().splitlines()[-1])
        self.ram, self.flash, self.macs = int(first[1]), int(first[2]), int(first[3])
        with open(out, "rb") as file:
            self.outputs = file.read()

    def measure(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


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
    """TiGrIS's host runtime with its portable kernels, in a fast memory without limit."""

    name = "TiGrIS"
    outputs = None

    def __init__(self, model, folder, x):
        import tigris.runtime
        plan = os.path.join(folder, "plan.tgrs")
        if os.path.exists(plan):
            os.remove(plan)
        done = subprocess.run([os.path.join(os.path.dirname(sys.executable), "tigris"), "compile", model,
                               "-m", "64M", "-o", plan], capture_output=True, text=True)
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


def engines_for(program, model, folder, x, peers):
    """Those that take the model; what the others say is printed."""
    makers = [lambda: Ours(program, model, "whole", folder, x),
              lambda: Ours(program, model, "default", folder, x)]
    if model.endswith(".tflite") and "tflite_micro" in peers:
        makers.append(lambda: Micro(model, folder, x))
    if model.endswith(".onnx") and "onnxruntime" in peers:
        makers.append(lambda: Runtime(model, folder, x))
    if "tigris" in peers:
        makers.append(lambda: Tigris(model, folder, x))
    engines = []
    for i, make in enumerate(makers):
        try:
            engines.append(make())
        except Exception as error:  # whatever a peer raises: it is left out and named
            print(f"  left out: {str(error).splitlines()[0][:100]}")
            if i == 0:
                return []
    return engines


def compare(engines, rounds, slice_seconds):
    """The least seconds of each engine, run in turn."""
    once = [engine.measure(1) for engine in engines]
    least = list(once)
    for _ in range(rounds):
        for i, engine in enumerate(engines):
            count = max(1, min(200, int(slice_seconds / max(least[i], 1e-6))))
            least[i] = min(least[i], engine.measure(count))
    return least


def bench(program, path, peers, quick, goals):
    name = "model.onnx" if path.startswith("onnx") else "model.tflite"
    folder = os.path.join(DATA, "models", path)
    x = inputs_of(folder)
    with tempfile.TemporaryDirectory() as work:
        engines = engines_for(program, os.path.join(folder, name), work, x, peers)
        if not engines:
            return
        least = compare(engines, 3 if quick else 9, 0.01 if quick else 0.05)
        print(f"  {'':28}{'RAM bytes':>12}{'us a run':>12}{'GMAC/s':>8}{'their RAM':>11}{'their time':>12}")
        for i, engine in enumerate(engines):
            ours = engine.name.startswith("tilewright")
            ram = f"{engine.ram:,}" if engine.ram else "-"
            line = f"  {engine.name:28}{ram:>12}{least[i] * 1e6:>12.1f}{engines[0].macs / least[i] * 1e-9:>8.2f}"
            if not ours:
                share = f"{engines[0].ram / engine.ram:.0%}" if engine.ram else "-"
                line += f"{share:>11}{least[i] / least[0]:>11.1f}x"
            print(line)
            if engine.name == Micro.name:
                if "int8" in path and engine.outputs != engines[0].outputs[:len(engine.outputs)]:
                    print("  ^ the outputs differ")
                if goals[0]:
                    print(f"  {'':28}wanted, whole layers against it: at most {goals[0]:.0%} of the RAM, "
                          f"{goals[1]} times as fast")
        for engine in engines:
            engine.close()


def main():
    program, *rest = sys.argv[1:]
    quick = "--quick" in rest
    part = next((word for word in rest if not word.startswith("-")), "")
    peers = {m for m in ("tflite_micro", "onnxruntime", "tigris") if not missing(m)}
    if not os.path.isdir(os.path.join(DATA, "models")):
        print(f"SKIPPED: no models in {DATA} (set TILEWRIGHT_TEST_DATA)")
        sys.exit(77)
    for path, title, *goals in MODELS:
        if part not in path and part not in title:
            continue
        if not os.path.isdir(os.path.join(DATA, "models", path)):
            print(f"{title}\n  SKIPPED: no {path} in {DATA}")
            continue
        print(title, flush=True)
        bench(program, path, peers, quick, goals)
        print(flush=True)


main()
