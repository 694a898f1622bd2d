"""RAM and time per inference of whole networks, beside the peers that are installed: bench/models.

Every engine that can run a model runs in turn with the others, a few inferences each, several rounds; the
least processor time of one inference counts (one thread each). The last two columns are what to believe:
against tilewright with whole layers, its share of their RAM, and how many times as long they take. Inputs
are random; int8 outputs are compared with TensorFlow Lite Micro's byte for byte.
"""

import os
import subprocess
import sys
import tempfile

from peers import DATA, Micro, Runtime, Tigris, inputs_of, missing, require_models

import numpy as np  # behind peers, which says what to do where it is not there

import convolutions

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


class Ours:
    """A bench-model process."""

    def __init__(self, program, model, how, folder, x):
        self.name = "tilewright, " + ("default" if how == "default" else "whole layers")
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


def engines_for(program, model, folder, x, peers):
    """Those that take the model; what the others say is printed."""
    makers = [("tilewright", lambda: Ours(program, model, "whole", folder, x)),
              ("tilewright", lambda: Ours(program, model, "default", folder, x))]
    if model.endswith(".tflite") and "tflite_micro" in peers:
        makers.append((Micro.name, lambda: Micro(model, folder, x)))
    if model.endswith(".onnx") and "onnxruntime" in peers:
        makers.append((Runtime.name, lambda: Runtime(model, folder, x)))
    if "tigris" in peers:
        makers.append((Tigris.name, lambda: Tigris(model, folder, x)))
    engines = []
    for i, (name, make) in enumerate(makers):
        try:
            engines.append(make())
        except Exception as error:  # whatever a peer raises: it is left out and named
            print(f"  {name} is left out: {str(error).splitlines()[0][:90]}")
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
        print(f"  {'':28}{'RAM bytes':>12}{'us a run':>12}{'GMAC/s':>8}{'RAM':>8}{'time':>9}")
        for i, engine in enumerate(engines):
            ours = engine.name.startswith("tilewright")
            ram = f"{engine.ram:,}" if engine.ram else "-"
            line = f"  {engine.name:28}{ram:>12}{least[i] * 1e6:>12.1f}{engines[0].macs / least[i] * 1e-9:>8.2f}"
            if not ours:
                share = f"{engines[0].ram / engine.ram:.0%}" if engine.ram else "-"
                line += f"{share:>8}{least[i] / least[0]:>8.1f}x"
            print(line)
            if engine.name == Micro.name:
                if "int8" in path and engine.outputs != engines[0].outputs[:len(engine.outputs)]:
                    print("  ^ the outputs differ")
                if goals[0]:
                    print(f"  {'':28}wanted, whole layers against it: at most {goals[0]:.0%} of the RAM, "
                          f"{goals[1]} times as fast")
        for engine in engines:
            engine.close()


def bench_convolutions(program, quick):
    """Single int8 convolutions beside TiGrIS."""
    title = "int8 convolutions alone, against TiGrIS"
    print(f"{title}\n  {'':34}{'GMAC/s':>8}{'theirs':>8}{'time':>9}   (wanted: 3x)", flush=True)
    for name, *layer in convolutions.LAYERS:
        with tempfile.TemporaryDirectory() as work:
            model = os.path.join(work, "model.onnx")
            convolutions.write(model, *layer)
            x = [np.random.default_rng(1).integers(-100, 100, (1, layer[2], layer[0], layer[1])).astype("int8")]
            engines = [Ours(program, model, "nhwc", work, x), Tigris(model, work, x)]
            least = compare(engines, 3 if quick else 9, 0.01 if quick else 0.05)
            speed = [engines[0].macs / one * 1e-9 for one in least]
            print(f"  {name:34}{speed[0]:>8.2f}{speed[1]:>8.2f}{least[1] / least[0]:>8.1f}x", flush=True)
            engines[0].close()
    print()


def main():
    program, *rest = sys.argv[1:]
    quick = "--quick" in rest
    part = next((word for word in rest if not word.startswith("-")), "")
    peers = {m for m in ("tflite_micro", "onnxruntime", "tigris") if not missing(m)}
    require_models()
    for path, title, *goals in MODELS:
        if part not in path and part not in title:
            continue
        if not os.path.isdir(os.path.join(DATA, "models", path)):
            print(f"{title}\n  SKIPPED: no {path} in {DATA}")
            continue
        print(title, flush=True)
        bench(program, path, peers, quick, goals)
        print(flush=True)
    if "tigris" in peers and part in "int8 convolutions alone" and not missing("onnx"):
        bench_convolutions(program, quick)


if __name__ == "__main__":
    main()
